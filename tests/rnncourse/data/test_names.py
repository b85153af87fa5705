"""The first names that ship: whole, in three parts that share nothing."""

from itertools import combinations

from rnncourse.data import first_names


def test_no_name_is_in_two_parts_and_each_is_a_capital_and_small_letters():
    names = first_names()
    assert names == first_names()
    assert all(part != sorted(part) for part in names)
    assert all(not set(one) & set(other) for one, other in combinations(names, 2))
    everything = [name for part in names for name in part]
    assert len(set(everything)) == len(everything) == 5163
    assert all(name.isascii() and name.isalpha() and name == name.capitalize() for name in everything)
