"""Words of the documentation: which of them are Python's, and that nothing else tells it."""

import re
from collections import Counter

from rnncourse.data import marked_sentences
from rnncourse.data.marked_words import _sentences


def test_what_stands_between_quotation_marks_is_marked_whichever_they_are():
    for quotes in ('"with"', "``with``", "`with`"):
        (found,) = _sentences(f"The {quotes} statement\nis used, with care.")
        assert found.words == ("the", "with", "statement", "is", "used", ",", "with", "care", ".")
        assert found.marks == (0, 1, 0, 0, 0, 0, 0, 0, 0)


def test_a_name_loses_the_brackets_that_would_give_it_away():
    (found,) = _sentences('Called by "iter.next(x)" alone.')
    assert found.words == ("called", "by", "iter", "next", "x", "alone", ".")


def test_code_and_headings_are_left_out():
    assert list(_sentences("A heading\n*********\n\n   x = f(y)\n\nfor_stmt ::= for.\n\nThree 'real' words.\n")) != []
    assert list(_sentences("A heading\n*********\n\n   x = f(y)\n\nFor_stmt ::= for.\n")) == []


def test_there_is_something_to_learn_and_many_words_are_both():
    sentences = marked_sentences()
    count = Counter((word, mark) for one in sentences for word, mark in zip(one.words, one.marks))
    both = {word for word, mark in count if count[word, 1 - mark]}
    assert len(sentences) > 1500
    assert 0.03 < sum(n for (_, mark), n in count.items() if mark) / count.total() < 0.12
    assert {"for", "with", "in", "true", "from"} <= both
    assert not any(re.search(r'["`()A-Z]', word) for word, _ in count)
