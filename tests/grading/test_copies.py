"""Copies: a hidden copy is found, nobody who worked alone is accused, and what is handed in cannot stop the search."""

from __future__ import annotations

import functools
import itertools
import json
import math
import random
from collections import OrderedDict

import numpy as np
import pytest

from benchmarks import copies as benchmark
from rnncourse import check, exercises
from rnncourse.checks.exercise import Exercise
from rnngrade.core.desk import Desk
from rnngrade.core.errors import Failures
from rnngrade.core.record import Record
from rnngrade.pages.report import write_reports
from rnngrade.pages.report.alike import OWN, common_to_all
from rnngrade.reading.copies import ENOUGH, FEWEST, LONGEST, find_copies
from rnngrade.reading.normalised import tokens
from tests.grading import styles

UNIT = "03_cell"
COURSE = benchmark.ROOT


@pytest.fixture(scope="module")
def common():
    return common_to_all(COURSE, exercises.unit(UNIT))


@pytest.fixture(scope="module")
def alone():
    return styles.independent(UNIT, 60, 4)


def test_nine_of_ten_copies_are_found_and_none_of_two_hundred_is_accused():
    found, wrong, _ = benchmark.judged(UNIT, 4)
    assert not wrong
    assert found.total() >= 0.9 * benchmark.TIMES * len(benchmark.HOW)
    assert set(found) == set(benchmark.HOW)


def test_those_who_work_alone_are_right_and_write_in_ways_of_their_own(alone):
    rng = random.Random(1)
    texts = [(name, text) for answers in rng.sample(list(alone.values()), 3) for name, text in answers.items()]
    given = {e.name: e.reference for e in exercises.unit(UNIT) if isinstance(e, Exercise)}
    given |= {"np": np, "math": math, "itertools": itertools, "reduce": functools.reduce, "OrderedDict": OrderedDict}
    for name, text in texts:
        space = dict(given)
        exec(text, space)
        assert check(space[name], name, hidden=True).passed, text
    for name in alone["alone0000"]:
        assert len({tuple(t for t, _ in tokens(answers[name], name)) for answers in alone.values()}) >= 4


@pytest.mark.parametrize("how", styles.DISGUISES)
def test_a_disguise_leaves_the_normal_form_as_it_was(how, alone):
    rng = random.Random(how)
    same = total = 0
    for answers in list(alone.values())[:20]:
        for name, text in answers.items():
            hidden = styles.DISGUISES[how](text, name, rng)
            same += [t for t, _ in tokens(hidden, name)] == [t for t, _ in tokens(text, name)]
            total += 1
    assert same >= 0.9 * total


def test_what_the_course_has_shown_is_nobodys_own(alone, common):
    everything_known = {name: texts[0] for name, texts in styles.beginnings(UNIT).items()}
    mistaken = {e.name: e.misconceptions[0].source_for(e.name) for e in exercises.unit(UNIT) if e.misconceptions}
    answers = alone | dict.fromkeys(("a", "b"), everything_known) | dict.fromkeys(("c", "d"), mistaken)
    assert not find_copies(answers, common)


def test_few_exercises_accuse_nobody_however_long_they_are(alone, common):
    long = "def {}(x):\n" + "".join(f"    x = x.step_{i}(x, {i})[{i}]\n" for i in range(200)) + "    return x"
    names = list(alone["alone0000"])[: FEWEST - 1]
    answers = dict(alone)
    for student in ("alone0000", "alone0001"):
        answers[student] = alone[student] | {n: long.format(n) for n in names}
    assert not find_copies(answers, common)


def test_in_a_small_class_nothing_can_be_told(alone, common):
    few = dict(list(alone.items())[: ENOUGH - 2])
    assert not find_copies(few | {"copy": few["alone0000"]}, common)


ODD = {
    "no Python": "def f(:",
    "null bytes": "x = '\0'",
    "nested deeply": "x = " + "(" * 5_000 + ")" * 5_000,
    "a long chain": "x = " + "-" * 5_000 + "1",
    "a long sum": "x = " + " + ".join(["a"] * 4_000),
    "half a surrogate": "x = '\ud800'",
    "too long": "x = 1\n" * LONGEST,
    "many statements": "\n".join(f"a{i} = a{i - 1} + b" for i in range(900)),
    "names that stand for each other": "a = b\nb = a\nprint(a)\nf(a, b)",
    "empty": "",
    "match": "match x:\n    case {'a': [1, *b]} if b:\n        y = b\n    case _:\n        y = 1",
    "handlers": "try:\n    x = 1\nexcept (A, B) as e:\n    x = e\nelse:\n    pass\nfinally:\n    y = x",
    "magic": "%%bash\nls",
    "async": "async def f():\n    async for x in y:\n        await x\n    async with z as q:\n        yield q",
}


@pytest.mark.parametrize("what", ODD)
def test_whatever_is_handed_in_the_others_are_compared(what, alone, common):
    answers = {s: dict(given) for s, given in itertools.islice(alone.items(), 20)}
    answers["odd"] = dict.fromkeys(answers["alone0000"], ODD[what])
    answers["odder"] = {OWN: ODD[what]}
    answers["copy"] = answers["alone0000"]
    found = find_copies(answers, common)
    assert frozenset({"alone0000", "copy"}) in {pair for copy in found for pair in copy.pairs}


def test_the_order_of_students_does_not_matter(alone, common):
    answers = alone | {"copy": alone["alone0007"]}
    backwards = dict(reversed(answers.items()))
    assert find_copies(answers, common) == find_copies(backwards, common) != []


def test_the_report_shows_the_lines_that_match_side_by_side(tmp_path, alone):
    desk = Desk(COURSE, tmp_path / "desk")
    answers = alone | {"copy": alone["alone0007"]}
    for student, given in answers.items():
        cells = [
            {"cell_type": "code", "source": text, "metadata": {"nbgrader": {"grade_id": name, "solution": True}}}
            for name, text in given.items()
        ]
        desk.keep(Record(student, UNIT, "key", "0" * 64), json.dumps({"cells": cells}).encode())
    (path,) = write_reports(desk, [UNIT], Failures())
    page = path.read_text()
    shown = page[page.index('id="copies"') :]
    assert "alone0007" in shown[: shown.index("</details>")]
    assert "copy" in shown[: shown.index("</details>")]
    assert "<mark>" in shown
