"""The term as one number: weights, dropped units, extra credit, who is excused and what is not due yet."""

from datetime import UTC, datetime
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncourse import exercises
from rnngrade.gradebook import exporting
from rnngrade.gradebook.exporting import UnitGrades, total, total_of
from rnngrade.gradebook.marks import Mark, Marks
from rnngrade.roster.rules import Term, read_rules
from rnngrade.roster.students import ClassList, Person
from tests.grading.made import rnngrade, rows
from tests.grading.ruled import RULES

UNITS = exercises.STEMS[1:9]
units = st.sampled_from(UNITS)
shares = st.dictionaries(units, st.floats(0, 1.2), max_size=len(UNITS))
weights = st.dictionaries(units, st.floats(0.001, 10) | st.sampled_from([0.0, 0.5, 1.0, 2.0]))
terms = st.builds(
    Term,
    weights=weights,
    only=st.booleans(),
    drop_lowest=st.integers(0, 4),
    extra_credit=st.frozensets(units, max_size=2),
)


def mean(shares, term, dropped=()):
    """The total with these units dropped, by the formula."""
    kept = [u for u in shares if u not in term.extra_credit and u not in dropped and term.weight(u) > 0]
    above = sum(term.weight(u) * shares[u] for u in (*kept, *(u for u in shares if u in term.extra_credit)))
    below = sum(term.weight(u) for u in kept)
    return 100 * above / below if below else None


@given(shares, terms)
def test_the_total_is_the_best_that_can_be_had_by_dropping_as_many_as_may_be(shares, term):
    found, dropped = total(shares, term)
    asked = [u for u in shares if u not in term.extra_credit and term.weight(u) > 0]
    if not asked:
        assert (found, dropped) == (None, ())
        return
    assert found >= 0
    assert len(dropped) == min(term.drop_lowest, len(asked) - 1)
    assert found == pytest.approx(mean(shares, term, dropped), abs=0.006)
    every = [mean(shares, term, some) for some in combinations(asked, len(dropped))]
    assert found == pytest.approx(max(every), abs=0.006)
    assert found >= mean(shares, term) - 0.006, "to drop the lowest costs nobody anything"


TERM = """\
timezone = "UTC"
[due]
01 = "2026-11-01 12:00"
02 = "2026-11-08 12:00"
03 = "2026-11-15 12:00"
[extensions.emmy]
03 = "10 days"
[term]
weights = {03 = 2}
[term.excused]
ada = ["02"]
"""


def graded(number, grades, handed_in=(), waits=()):
    unit = exercises.unit(number).stem
    found = {s: Marks({"check_x": Mark(points, 10.0, waits=s in waits)}) for s, points in grades.items()}
    return UnitGrades(unit, [], 10.0, found, frozenset({*grades, *handed_in}))


def test_what_counts_for_whom():
    rules = read_rules(TERM)
    people = ClassList({id: Person(id, id) for id in ("ada", "alan", "emmy")})
    tables = [
        graded("01", {"ada": 10, "alan": 4}),
        graded("02", {"alan": 8}),
        graded("03", {"ada": 7}, ["alan"], waits=["ada"]),
        graded("04", {}),
    ]
    first, second, third = (table.name for table in tables[:3])

    def of(student, day):
        return total_of(student, tables, rules, people, datetime(2026, 11, day, tzinfo=UTC))

    ada = of("ada", 30)
    assert (ada.shares, ada.excused, ada.waits) == ({first: 1.0, third: 0.7}, (second,), True)
    assert ada.percent == 80
    alan = of("alan", 30)
    assert (alan.shares, alan.waits) == ({first: 0.4, second: 0.8}, True), "03 is handed in, and not graded yet"
    assert of("emmy", 20).shares == {first: 0, second: 0}, "03 is not due for her"
    assert of("emmy", 30).shares == {first: 0, second: 0, third: 0}
    assert (of("emmy", 1).percent, of("emmy", 30).percent) == (None, 0)


def test_the_readme_says_what_every_column_of_a_table_is(root):
    text = (root / "grading" / "README.md").read_text(encoding="utf-8")
    columns = [*exporting.WHO, *exporting.COLUMNS, *exporting.TERM_COLUMNS, *Person.__dataclass_fields__]
    assert [name for name in columns if f"`{name}`" not in text] == []


def test_the_term_goes_into_one_table(ruled):
    (ruled.folder / "desk.toml").write_text(f'{RULES}[term]\nweights = {{02 = 3}}\n[term.excused]\nemmy = ["02"]\n')

    def exported(*options):
        return rows(rnngrade(ruled, "return", "csv", "--total", *options).stdout)

    header, *lines = exported()
    assert header == ["student", "last_name", "first_name", "email", "section", "02_unfolding",
                      "dropped", "excused", "total", "waits_for_a_person", "status"]  # fmt: skip
    found = {line[0]: dict(zip(header, line, strict=True)) for line in lines}
    assert list(found)[-1] == "eve"
    assert found["ada"]["total"] == "", "her written answer waits"
    _, ada, *_ = exported("--provisional")
    assert float(ada[header.index("total")]) == pytest.approx(100 * 0.9 * 12 / 15, abs=0.01)
    assert (found["emmy"]["total"], found["emmy"]["excused"]) == ("", "02_unfolding")
    assert (found["sofia"]["total"], found["sofia"]["status"]) == ("0", "handed in nothing")
    assert (found["ada"]["waits_for_a_person"], found["eve"]["status"]) == ("yes", "not on the class list")
