"""The diagnosis: two mistakes at once are named, and what is said is so."""

import random
from collections import Counter
from itertools import islice

import numpy as np
import pytest

from rnncourse import check, exercises
from rnncourse.checks import diagnosis
from rnncourse.checks.diagnosis import TWO
from rnncourse.checks.engine import judge
from rnncourse.checks.exercise import Exercise, Unit, case, normal
from rnncourse.checks.local import Local
from rnncourse.checks.merge import changes, merged
from rnncourse.checks.pairs import both, changes_of

CODE = [e for unit in exercises.units() for e in unit if isinstance(e, Exercise)]


@pytest.fixture(autouse=True)
def time_enough(monkeypatch):
    """What is found does not hang on how busy the machine is."""
    for budget, seconds in {"SECONDS_TO_CONFIRM": 60.0, "SECONDS_FOR_PAIRS": 60.0, "SECONDS_A_TRIAL": 5.0}.items():
        monkeypatch.setattr(diagnosis, budget, seconds)


def drawn_pairs(seed):
    """Two mistakes of one exercise and an answer that makes both, drawn without end."""
    rng = random.Random(seed)
    several = [e for e in CODE if e.drive == "call" and any(part.axes for part in e.gives)]
    while True:
        exercise = rng.choice(several)
        one, other = rng.sample(exercise.misconceptions, 2)
        if pair := both(exercise, one, other):
            yield exercise, {one.name, other.name}, pair


def test_two_mistakes_at_once_are_both_named_or_one_is():
    """Or a third that has the same effect; rarely none, where the search does not see what they have in common."""
    found = Counter()
    for exercise, names, pair in islice(drawn_pairs(0), 20):
        verdict = check(pair.answer, exercise.name)
        said = set((verdict.diagnosis or "").split(TWO)) - {""}
        if not verdict.passed:  # they may cancel
            found[
                "both" if said == names else "one" if said and said <= names else "none" if not said else "other"
            ] += 1
    assert found["both"] >= 12
    assert found["both"] + found["one"] >= 16
    assert found["other"] <= 1


def test_both_messages_stand_in_the_order_of_the_code():
    def rnn_forward(X, h0, U, W, b):
        h, H = np.zeros_like(h0), []
        for x in X:
            h = np.tanh(x @ U + h @ W)
            H.append(h)
        return H

    def late(X, h0, U, W, b):
        h, H = np.zeros_like(h0), []
        for x in X:
            H.append(h)
            h = np.tanh(x @ U + h @ W + b)
        return H

    exercise = exercises.find("rnn_forward")
    messages = {m.name: m.message for m in exercise.misconceptions}
    verdict = check(late, "rnn_forward")
    assert verdict.diagnosis == "h0_replaced_by_zeros+states_one_late"
    first, second = (messages[name] for name in verdict.diagnosis.split(TWO))
    assert verdict.message.startswith(f"Two things are wrong. {first} {second}")
    assert check(rnn_forward).diagnosis in (None, "h0_replaced_by_zeros")


def test_changes_of_one_place_do_not_go_together_and_all_others_do():
    right = "def f(a, b):\n    c = a + b\n    return c"
    first, second, last = (
        changes(right, right.replace(*edit))
        for edit in (("a + b", "a - b"), ("a + b", "a * b"), ("return c", "return -c"))
    )
    assert merged(first, second, right) is None
    assert merged(first, first, right) is None
    space = {}
    exec(merged(first, last, right), space)
    assert space["f"](5, 3) == -2


@pytest.mark.parametrize("exercise", CODE, ids=lambda e: e.name)
def test_what_a_mistake_changes_makes_it_of_the_model_answer(exercise):
    """A mistake merged with a comment is the mistake: tokens lose nothing, f-strings and layout included."""
    for mistake in exercise.misconceptions:
        edit = changes_of(exercise, mistake)
        source = merged(edit, changes(exercise.source, f"{exercise.source}\n...\n"), exercise.source)
        if source is not None:
            compile(source, "merged", "exec")
    assert changes(exercise.source, exercise.source) == ()


def test_a_single_number_is_no_place_for_two_mistakes():
    unit = Unit("99_test", "test")
    model = "def area(a, b):\n    return a * b"
    ex = unit.exercise("area", reference=lambda a, b: a * b, points=2, takes="a, b", hints=("",) * 3, model=model)
    ex.cases(lambda rng: [case(*rng.integers(2, 99, 2).tolist()) for _ in range(3)])
    ex.misconception(half_of_a)
    ex.misconception(half_of_b)
    answer = both(ex, *ex.misconceptions).answer
    assert answer(8, 6) == 12
    with Local(answer, {}) as candidate:
        assert judge(ex, candidate).diagnosis is None


def half_of_a(a, b):
    """Half of a."""
    return a // 2 * b


def half_of_b(a, b):
    """Half of b."""
    return a * (b // 2)


def three_at_a_time(x):
    """Three at a time."""
    i = 0
    while i != 9:
        i += 3
    return x


def from_one(x):
    """From one."""
    i = 1
    while i != 9:
        i += 1
    return x


def test_two_mistakes_that_together_never_end_are_given_up(monkeypatch):
    monkeypatch.setattr(diagnosis, "SECONDS_A_TRIAL", 0.1)
    unit = Unit("99_test", "test")
    model = "def walk(x):\n    i = 0\n    while i != 9:\n        i += 1\n    return x"
    ex = unit.exercise("walk", reference=lambda x: x + 0, points=2, takes="x (N,)", hints=("",) * 3, model=model)
    ex.cases(lambda rng: [case(normal(rng, 9)) for _ in range(2)])
    for mistake in (three_at_a_time, from_one):
        ex.misconception(mistake)
    assert both(ex, *ex.misconceptions)
    with Local(lambda x: 2 * x, {}) as candidate:
        assert judge(ex, candidate).diagnosis is None
