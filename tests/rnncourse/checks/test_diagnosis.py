"""The diagnosis: two mistakes at once are named, and what is said is so."""

import inspect
import random
from collections import Counter
from itertools import islice

import numpy as np
import pytest

from rnncourse import check, exercises
from rnncourse.checks import diagnosis
from rnncourse.checks.diagnosis import TWO
from rnncourse.checks.engine import judge
from rnncourse.checks.exercise import Exercise, case, normal
from rnncourse.checks.local import Local
from rnncourse.checks.merge import changes, merged
from rnncourse.checks.pairs import both, changes_of
from tests.rnncourse.checks.made import judged, made

CODE = [e for unit in exercises.units() for e in unit if isinstance(e, Exercise)]


@pytest.fixture(autouse=True)
def time_enough(monkeypatch):
    """What is found does not hang on how busy the machine is."""
    for budget, seconds in {"SECONDS_TO_CONFIRM": 60.0, "SECONDS_FOR_PAIRS": 60.0, "SECONDS_A_TRIAL": 5.0}.items():
        monkeypatch.setattr(diagnosis, budget, seconds)


def drawn_pairs(seed):
    """Two mistakes of one exercise and an answer that makes both, drawn without end."""
    rng = random.Random(seed)
    several = [e for e in CODE if e.drive.is_plain and any(part.axes for part in e.gives)]
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
    assert found["other"] <= 2


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
    assert verdict.message.startswith(f"Two things are wrong. (1) {first} (2) {second}")
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
    def cases(rng):
        return [case(*rng.integers(2, 99, 2).tolist()) for _ in range(3)]

    ex = made("area", lambda a, b: a * b, cases, takes="a, b", model="def area(a, b):\n    return a * b")
    ex.misconception(half_of_a)
    ex.misconception(half_of_b)
    answer = both(ex, *ex.misconceptions).answer
    assert answer(8, 6) == 12
    assert judged(ex, answer).diagnosis is None


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

    def cases(rng):
        return [case(normal(rng, 9)) for _ in range(2)]

    model = "def walk(x):\n    i = 0\n    while i != 9:\n        i += 1\n    return x"
    ex = made("walk", lambda x: x + 0, cases, takes="x (N,)", model=model)
    for mistake in (three_at_a_time, from_one):
        ex.misconception(mistake)
    assert both(ex, *ex.misconceptions)
    assert judged(ex, lambda x: 2 * x).diagnosis is None


def on_arrays(change):
    """The change made to every array of an answer."""

    def changed(answer):
        if isinstance(answer, np.ndarray):
            return change(answer)
        if isinstance(answer, (list, tuple)):
            return type(answer)(changed(a) for a in answer)
        return answer

    return changed


def in_time(change):
    """The change made to every array with an axis of time, which comes first of three."""
    return on_arrays(lambda array: change(array) if array.ndim == 3 else array)


BROKEN = {
    "sign": on_arrays(lambda a: -a),
    "constant_factor": on_arrays(lambda a: 2 * a),
    "all_zero": on_arrays(np.zeros_like),
    "other_dtype": on_arrays(lambda a: a.astype(np.float64)),
    "transposed": on_arrays(lambda a: a.T.copy() if a.ndim == 2 else a),
    "time_and_batch_exchanged": in_time(lambda a: a.swapaxes(0, 1).copy()),
    "time_reversed": in_time(lambda a: a[::-1].copy()),
    "one_step_late": in_time(lambda a: np.concatenate([np.zeros_like(a[:1]), a[:-1]])),
    "one_step_early": in_time(lambda a: np.concatenate([a[1:], np.zeros_like(a[:1])])),
    "first_step_lost": in_time(lambda a: a[1:].copy()),
    "last_step_lost": in_time(lambda a: a[:-1].copy()),
    "first_step_only": in_time(lambda a: a[:1].copy()),
    "last_step_everywhere": in_time(lambda a: np.repeat(a[-1:], len(a), axis=0)),
}
# Their answers have one number of axes in all cases, and all their axes are named.
NAMED = [
    "rnn_step",
    "rnn_forward",
    "nll_backward",
    "rnn_step_backward",
    "lstm_step",
    "min_gru_forward",
    "linear_recurrence",
]
# What a generic mistake is in these: the catalogue has a word of its own for it.
OWN_WORDS = {
    ("nll_backward", "sign"): "sign_turned",
    ("rnn_forward", "last_step_everywhere"): "one_array_for_all_states",
}


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("mistake", BROKEN)
def test_a_generic_mistake_is_named_as_itself_or_in_the_catalogues_words(name, mistake):
    exercise = exercises.find(name)
    with Local(lambda *args: BROKEN[mistake](exercise.reference(*args)), exercise.uses) as answer:
        verdict = judge(exercise, answer)
    if verdict.passed:
        assert mistake not in ("sign", "constant_factor", "all_zero", "other_dtype")
        return
    if name == "linear_recurrence" and mistake in ("transposed", "time_and_batch_exchanged"):
        return  # some of its cases have two axes
    if mistake.startswith("time_and") or mistake == "transposed" or exercise.gives[0].axes[0] == "T":
        assert verdict.diagnosis in (mistake, OWN_WORDS.get((name, mistake)))


def test_a_sum_for_a_mean_is_named_with_its_axis():
    def cases(rng):
        return [case(normal(rng, N, 3)) for N in (2, 3, 5)]

    settings = {"takes": "X (N, D)", "gives": "mean (D,)", "model": "def means(X):\n    return X.mean(axis=0)"}
    ex = made("means", lambda X: X.mean(axis=0), cases, **settings)
    verdict = judged(ex, lambda X: X.sum(axis=0))
    assert verdict.diagnosis == "times_size"
    assert "N times" in verdict.message
    assert judged(ex, lambda X: X.sum(axis=0) / 2).diagnosis is None


def test_what_keeps_something_between_calls_is_named():
    kept = []

    def rnn_forward(X, h0, U, W, b):
        kept.append(h0)
        H = []
        for x in X:
            H.append(np.tanh(x @ U + (H or kept)[-1] @ W + b) * len(kept))
        return np.stack(H)

    assert check(rnn_forward).diagnosis == "other_when_called_again"


def test_a_return_inside_the_loop_is_named():
    def last_states(X, h0, U, W, b):
        h, states = h0, []
        for x in X:
            h = np.tanh(x @ U + h @ W + b)
            states.append(h)
            if len(states) == 1:
                break
        return np.stack(states)

    assert check(last_states, "rnn_forward").diagnosis == "first_step_only"
    assert check(table_of_the_first, "count_ngrams").diagnosis == "returns_in_the_loop"
    space = {"Counter": Counter}
    exec(inspect.getsource(table_of_the_first), space)  # no text to be read
    assert check(space["table_of_the_first"], "count_ngrams").diagnosis == "ends_after_one_round"


def table_of_the_first(tokens, n):
    """The table as it is after one window."""
    counts = {}
    for i in range(len(tokens) - n + 1):
        counts.setdefault(tuple(tokens[i : i + n - 1]), Counter())[tokens[i + n - 1]] += 1
        return counts
    return counts


def test_an_error_says_the_shapes_of_the_terms_and_whether_they_fit_the_other_way_round():
    class Layer:
        def __init__(self, W):
            self.W = W

    def rnn_step(x, h_prev, U, W, b):
        layer = Layer(U)
        return layer.W @ x

    message = check(rnn_step).message
    assert "where layer.W is (4, 5) and x is (3, 4); the other way round, x @ layer.W, they fit" in message

    def rnn_step(x, h_prev, U, W, b):
        return x + h_prev

    message = check(rnn_step).message
    assert "(in the line `return x + h_prev`, where x is (3, 4) and h_prev is (3, 5))" in message

    def rnn_step(x, h_prev, U, W, b, mask=None):
        return x @ U * mask

    assert "(in the line `return x @ U * mask`, where mask is None)" in check(rnn_step).message


class Trap:
    """Counts what is called on it."""

    asked = 0

    @property
    def W(self):
        Trap.asked += 1
        return np.ones((2, 2))


def test_nothing_is_called_to_say_the_shapes_of_the_terms():
    exercise = exercises.find("rnn_step")

    def asked(answer):
        Trap.asked = 0
        with Local(answer, exercise.uses) as one:
            judge(exercise, one)
        return Trap.asked

    def rnn_step(x, h_prev, U, W, b):
        trap = Trap()
        return trap.W @ x

    times = asked(rnn_step)

    def rnn_step(x, h_prev, U, W, b):
        W = Trap().W
        return W @ x

    assert asked(rnn_step) == times
