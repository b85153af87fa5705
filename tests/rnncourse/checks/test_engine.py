"""Whatever a candidate does is a verdict with a sentence: never an exception, never a hang, never a pass."""

import functools
import os
import sys
import threading
import zlib
from unittest import mock

import numpy as np
import pytest

from rnncourse import check, hint, progress, use
from rnncourse.cell import rnn_step as reference
from rnncourse.checks.callables import named
from rnncourse.checks.cases import drawn_afresh, seed_for
from rnncourse.checks.compare import Axes, difference
from rnncourse.checks.diagnosis import DRAWS, same
from rnncourse.checks.drive import call, driver_named, observe, turned, with_tensors
from rnncourse.checks.engine import judge
from rnncourse.checks.exercise import Unit, case, edge, normal
from rnncourse.checks.local import Local
from rnncourse.checks.wire import decode, encode
from rnncourse.exercises import find
from rnncourse.seat import notebook
from tests.rnncourse.checks.made import judged, made


def right(x, h_prev, U, W, b):
    return np.tanh(x @ U + h_prev @ W + b)


def of(change):
    """The right answer, changed."""
    return lambda *args: change(right(*args))


class AlwaysEqual:
    def __eq__(self, other):
        return True

    __hash__ = None
    shape = (3, 5)
    dtype = np.dtype(float)

    def __array__(self, dtype=None, copy=None):
        return np.zeros((3, 5))


def raises(error):
    def answer(*args):
        raise error

    return answer


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no words")


HOSTILE = {
    "raises": (raises(ValueError("no")), "ValueError: no"),
    "raises without words": (raises(KeyError()), "KeyError"),
    "raises what cannot be printed": (raises(Unprintable()), "Unprintable"),
    "exits": (raises(SystemExit(0)), "SystemExit"),
    "interrupts": (raises(KeyboardInterrupt()), "KeyboardInterrupt"),
    "ends a generator": (raises(StopIteration()), "StopIteration"),
    "recurs without end": (lambda *a: right.__globals__["HOSTILE"]["recurs without end"][0](*a), "RecursionError"),
    "returns None": (lambda *a: None, "returned None"),
    "returns a string": (lambda *a: "0.5", "the text '0.5'"),
    "returns an object that equals everything": (lambda *a: AlwaysEqual(), "an AlwaysEqual"),
    "returns itself": (lambda *a: HOSTILE, "no plain value"),
    "returns a generator": (lambda *a: (h for h in right(*a)), "a generator"),
    "returns objects": (of(lambda h: h.astype(object)), "dtype object"),
    "returns strings": (of(lambda h: h.astype(str)), "dtype <U"),
    "returns complex": (of(lambda h: h.astype(complex)), "dtype complex128"),
    "returns nan": (of(lambda h: h * np.nan), "got nan"),
    "returns inf": (of(lambda h: h * np.inf), "inf"),
    "returns whole numbers": (of(lambda h: h.astype(int)), "an array of floats"),
    "returns a scalar": (of(lambda h: float(h[0, 0])), "shape"),
    "returns one row too many": (of(lambda h: np.vstack([h, h[:1]])), "should have the shape (N, H) = (3, 5)"),
    "returns it turned round": (of(lambda h: h.T), "turned round"),
    "returns a pair": (of(lambda h: (h, h)), "should have the shape"),
    "returns a ragged list": (of(lambda h: [h[0], h[1][:2]]), "different lengths"),
    "takes too few": (lambda x, h_prev: x, "TypeError"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_a_candidate_does_is_a_verdict_with_a_sentence(what):
    answer, words = HOSTILE[what]
    verdict = check(answer, "rnn_step")
    assert not verdict.passed
    assert verdict.score < 1
    assert words in verdict.message
    assert "\n" not in verdict.message
    assert verdict.message.rstrip()[-1] in ".?!)"


def test_an_untouched_stub_scores_zero_and_is_told_so():
    verdict = check(raises(NotImplementedError()), "rnn_step")
    assert verdict.points == 0
    assert "not written yet" in verdict.message


@pytest.mark.parametrize(
    "loop",
    [
        "while True: pass",
        "import time\n  while True: time.sleep(1000)",
        # the stubborn one goes on whatever is thrown into it, until the test has seen its verdict
        "while not is_over():\n    try:\n      while not is_over(): pass\n    except BaseException: pass",
        "for _ in iter(int, 1): pass",
    ],
)
def test_a_candidate_that_never_returns_is_a_verdict(loop, monkeypatch):
    monkeypatch.setattr(notebook, "SECONDS_A_CALL", 0.1)
    over = threading.Event()
    space = {"is_over": over.is_set}
    exec(f"def rnn_step(x, h_prev, U, W, b):\n  {loop}", space)
    verdict = check(space["rnn_step"])
    over.set()
    assert not verdict.passed
    assert verdict.score == 0
    assert "in time" in verdict.message


def test_printing_is_swallowed_and_costs_nothing(capsys):
    def rnn_step(*args):
        print("noise" * 100)
        print("more", file=sys.stderr)
        return right(*args)

    assert check(rnn_step).passed
    assert capsys.readouterr() == ("", "")


def test_a_warning_is_no_failure(recwarn):
    import warnings

    def rnn_step(*args):
        warnings.warn("careful", stacklevel=1)
        np.log(np.zeros(1))
        return right(*args)

    assert check(rnn_step).passed
    assert not recwarn.list


def test_a_changed_argument_costs_the_purity_only_and_is_named():
    def rnn_step(x, h_prev, U, W, b):
        h = right(x, h_prev, U, W, b)
        U *= 2
        return h

    verdict = check(rnn_step)
    assert "changed its argument U" in verdict.message
    assert [name for name, met in verdict.criteria.items() if not met] == ["purity"]
    assert verdict.score == pytest.approx(0.85)


def test_a_fault_of_another_kind_is_no_misconception_that_is_right_on_ordinary_cases():
    """A changed argument is all that is wrong here: no mistake about edge cases is made up for it."""

    def sample_index(p, u):
        index = min(int(np.searchsorted(np.cumsum(p), u, side="right")), int(np.flatnonzero(p)[-1]))
        p[0] += 1
        return index

    verdict = check(sample_index)
    assert not verdict.passed
    assert verdict.diagnosis is None
    assert "changed its argument" in verdict.message


def test_an_answer_that_shares_memory_with_an_argument_is_found():
    def cases(rng):
        return [case(normal(rng, 4, 3)), edge("two rows", normal(rng, 2, 3))]

    ex = made("first_rows", lambda x: x[:2].copy(), cases, takes="x (N, D)", gives="rows (K, D)")
    verdict = judged(ex, lambda x: x[:2])
    assert not verdict.passed
    assert "shares memory" in verdict.message


def test_float32_turned_into_float64_costs_the_edge_cases():
    verdict = check(of(lambda h: h.astype(np.float64)), "rnn_step")
    assert verdict.criteria["edges"] is False
    assert verdict.criteria["values"] is True
    assert "float32" in verdict.message


def test_lists_and_lists_of_numbers_will_do_for_arrays():
    assert check(of(list), "rnn_step").passed
    assert check(of(lambda h: h.tolist()), "rnn_step").passed
    assert check(of(np.asfortranarray), "rnn_step").passed


def test_candidates_that_are_no_plain_functions_are_taken():
    class Cell:
        def __call__(self, *args):
            return right(*args)

        def step(self, *args):
            return right(*args)

    assert check(functools.partial(right), "rnn_step").passed
    assert check(Cell(), "rnn_step").passed
    assert check(Cell().step, "rnn_step").passed


def test_the_message_names_the_first_difference_and_the_case():
    def late(X, h0, U, W, b):
        H, h = [], h0
        for t, x in enumerate(X):
            h = right(x, h, U, W, b) if t < 2 else h
            H.append(h)
        return np.stack(H)

    verdict = check(late, "rnn_forward")
    assert "H[t=2, n=0, h=0]: expected" in verdict.message
    assert "T=" in verdict.message
    assert verdict.expected[2, 0, 0] != verdict.got[2, 0, 0]
    np.testing.assert_array_equal(late(*verdict.inputs), verdict.got)


def test_a_message_calls_a_tuple_inside_an_answer_by_its_name():
    found = difference([(1.0, 2.0), (3.0, 4.0)], [(1.0, 2.0), 3.0], (Axes("answers"),))
    assert found.words == "answers[1] should be 2 values; yours is the number 3.0."
    found = difference((1.0, 2.0), 3.0, (Axes("h"), Axes("c")))
    assert found.words == "The answer should be 2 values: h, c; yours is the number 3.0."


def test_writing_to_what_can_be_looked_at_changes_no_later_check():
    wrong = of(np.sin)
    before = check(wrong, "rnn_step")
    before.expected[:] = before.got
    before.inputs[0][:] = 0
    after = check(wrong, "rnn_step")
    assert not after.passed
    assert after.inputs[0].any()
    assert check(right, "rnn_step").passed


def test_what_can_be_looked_at_is_not_shown_for_hidden_cases():
    verdict = check(of(np.sin), "rnn_step", hidden=True)
    assert not verdict.inputs
    assert verdict.expected is None
    assert verdict.got is None


TWO_STEPS = """
def rnn_step(x, h_prev, U, W, b):
    return 0 * h_prev

def rnn_forward(X, h0, U, W, b):
    states = [h0]
    for x in X:
        states.append(rnn_step(x, states[-1], U, W, b))
    return np.stack(states[1:])
"""


def test_an_earlier_exercise_is_the_references_while_a_later_one_is_checked():
    space = {"np": np}
    exec(TWO_STEPS, space)
    own = space["rnn_step"]
    assert check(space["rnn_forward"]).passed
    assert space["rnn_step"] is own
    assert not check(own).passed


def test_hidden_cases_follow_the_instructors_seed():
    seen = []

    def rnn_step(*args):
        seen.append(float(args[0][0, 0]))
        return right(*args)

    for seed in ("spring term", "spring term", "2"):  # any text is one
        with mock.patch.dict(os.environ, RNNCOURSE_SEED=seed):
            assert check(rnn_step, hidden=True).passed
    once = len(seen) // 3
    assert seen[:once] == seen[once : 2 * once] != seen[2 * once :]


def test_all_of_the_secret_seed_counts_and_each_unit_and_exercise_has_its_own():
    def seed(text, exercise="rnn_step"):
        with mock.patch.dict(os.environ, RNNCOURSE_SEED=text):
            return seed_for(find(exercise), True)

    assert zlib.crc32(b"plumless") == zlib.crc32(b"buckeroo")
    assert seed("plumless") != seed("buckeroo")
    assert max(seed("spring")) > 2**200
    here, there = (Unit(name, "").exercise("same", reference=abs, points=1, takes="n", gives="m", hints=("",) * 3)
                   for name in ("98_here", "99_there"))  # fmt: skip
    with mock.patch.dict(os.environ, RNNCOURSE_SEED="spring"):
        assert seed_for(here, True) != seed_for(there, True)
        assert seed_for(here, False) == seed_for(there, False)
    assert seed("spring") != seed("spring", "rnn_forward")
    assert seed("\udcff") != seed("\udcfe"), "bytes that are no text, as an environment can have them"


HIDES = {  # what an answer does with the secret of a hidden case, so that it would stand in the verdict
    "text": lambda secret: raises(ValueError(f"it is {secret}"))(),
    "name of the error": lambda secret: raises(type(f"it_is_{secret}", (ValueError,), {}))(),
    "line of the error": lambda secret: exec(compile(f"it_is_{secret} = 1 / 0", "own", "exec")),
    "answer": lambda secret: secret + 2,
    "shape": lambda secret: np.zeros((secret, 0)),
    "words": lambda secret: f"it is {secret}",
    "kind": lambda secret: type(f"it_is_{secret}", (), {})(),
    "nothing": lambda secret: None,
}


def _with_a_secret():
    """An exercise that gives its argument back: 1 in the visible case, a secret in the hidden one."""
    draws = iter((1, 987123))
    return made("give", float, lambda rng: [case(next(draws, 987123))], takes="n", gives="same")


@pytest.mark.parametrize("how", HIDES)
def test_a_verdict_on_a_hidden_case_tells_nothing_that_the_answer_chose_and_nothing_that_was_expected(how):
    verdict = judged(_with_a_secret(), lambda n: 1.0 if n == 1 else HIDES[how](n), hidden=True)
    assert not verdict.passed
    assert "hidden case" in verdict.message
    assert "98712" not in f"{verdict.message} {verdict.card()} {verdict.criteria}"
    if how in ("text", "name of the error"):
        assert "give raised ValueError." in verdict.message


def test_what_an_answer_says_in_a_visible_case_stays_in_a_hidden_check():
    def give(n):
        raise ValueError("of my own")

    assert "ValueError: of my own" in judged(_with_a_secret(), give, hidden=True).message


def test_visible_properties_are_asked_before_any_hidden_case_and_hidden_ones_tell_the_claim_alone():
    seen = []

    def give(n):
        seen.append(n)
        if n < 0 and 987123 in seen:
            raise ValueError(f"it is {max(seen)}")
        return float(n)

    ex = _with_a_secret()
    ex.holds("Minus one is minus one")(lambda call, rng: None if call(-1) == -1 else "it is not")
    verdict = judged(ex, give, hidden=True)
    assert seen[:4] == [1, -1, 987123, -1]
    assert not verdict.passed
    assert "Minus one is minus one" in verdict.message
    assert "98712" not in verdict.message


def test_a_hidden_check_refuses_what_the_visible_one_refuses():
    seen = set()

    def rnn_step(*args):
        seen.add(args[0].tobytes())
        return right(*args)

    def wrong_where_it_was_shown(x, *args):
        return right(x, *args) + (x.tobytes() in seen)

    assert check(rnn_step).passed
    assert not check(wrong_where_it_was_shown, "rnn_step").passed
    assert not check(wrong_where_it_was_shown, "rnn_step", hidden=True).passed


@pytest.mark.parametrize("name", [None, "rnn_stp", 3, ""])
def test_an_exercise_that_does_not_exist_is_a_sentence(name):
    verdict = check(3, name)
    assert not verdict.passed
    assert verdict.max_points == 0
    if name == "rnn_stp":
        assert "'rnn_step'" in verdict.message
        assert "'rnn_step'" in str(hint(name))


def test_hints_come_one_at_a_time_and_the_last_stays(monkeypatch):
    monkeypatch.setattr(notebook, "_hints_given", {})
    assert [hint("rnn_step").number for _ in range(5)] == [1, 2, 3, 3, 3]


def test_use_takes_the_students_own_only_if_it_passes(capsys):
    def rnn_step(*args):
        return right(*args)

    assert use(rnn_step).__wrapped__ is rnn_step
    assert "yours" in capsys.readouterr().out

    def rnn_step(*args):
        return 0

    assert use(rnn_step) is reference
    assert "does not pass" in capsys.readouterr().out


def test_a_list_for_an_array_is_one_where_an_experiment_uses_it():
    def rnn_step(*args):
        return right(*args).tolist()

    x = np.ones((2, 3))
    assert use(rnn_step)(x, np.ones((2, 4)), np.ones((3, 4)), np.ones((4, 4)), np.ones(4))[:, 0].shape == (2,)


def test_a_question_takes_any_plain_value_without_raising():
    shapes = {"U": np.array([300, 100]), "V": [100, 10_000], "W": None}
    assert not check(shapes, "quiz_shapes").passed
    assert not check({"A", 3, (1, 2)}, "quiz_rnn_facts").passed
    assert not check({frozenset("A")}, "quiz_rnn_facts").passed


def test_progress_counts_what_passed_in_this_session():
    check(right, "rnn_step")
    shown = progress("03_cell")
    assert ("rnn_step", 3.0, 3) in shown.rows
    assert "rnn_step" in shown._repr_html_()
    assert progress("03").title == shown.title


class Shy:
    """Raises whenever somebody looks at it."""

    def __getattribute__(self, name):
        raise RuntimeError(f"hands off {name}")

    def __call__(self, *args):
        return right(*args)


def test_a_candidate_that_will_not_be_looked_at_is_checked_all_the_same():
    assert check(Shy(), "rnn_step").passed
    assert not check(Shy()).passed
    assert not check(Shy(), "quiz_rnn_facts").passed


def test_a_function_that_wraps_itself_is_no_endless_loop():
    def rnn_step(*args):
        return right(*args)

    rnn_step.__wrapped__ = rnn_step
    assert check(rnn_step).passed


def test_what_an_object_calls_is_replaced_and_searched_like_a_functions_code():
    class Cell:
        def __call__(self, X, h0, U, W, b):
            states = [h0]
            for x in X:
                states.append(rnn_step(x, states[-1], U, W, b))
            return states[1:]

    assert check(Cell(), "rnn_forward").passed
    assert check(Cell().__call__, "rnn_forward").passed


class Wired:
    """A candidate behind the wire: arguments and answers go through bytes, as they do between two processes."""

    def __init__(self, function):
        self.function = function

    def observe(self, how, args):
        seen = observe(self.function, how, decode(encode(args)))
        return type(seen)(**{**vars(seen), "answer": decode(encode(seen.answer))})


@pytest.mark.parametrize("name", ["rnn_step", "rnn_forward", "Network", "leaky_average"])
def test_a_candidate_behind_the_wire_gets_the_same_verdicts(name):
    exercise = find(name)
    for answer in (exercise.reference, *(m.answer for m in exercise.misconceptions)):
        with Local(answer, exercise.uses) as candidate:
            here = judge(exercise, candidate)
        there = judge(exercise, Wired(answer))
        assert (here.points, here.diagnosis, here.message) == (there.points, there.diagnosis, there.message)


def test_a_property_that_does_not_hold_fails_the_values():
    settings = {"takes": "n", "gives": "even", "canonical": lambda a: 0}
    ex = made("any_even", lambda n: 2 * n, lambda rng: [case(3), case(4)], **settings)

    @ex.holds("The number is even")
    def _(call, rng):
        n = int(rng.integers(1, 9))
        return None if call(n) % 2 == 0 else f"{call(n)} is odd."

    for answer, passes in ((lambda n: 4 * n, True), (lambda n: 2 * n + 1, False)):
        verdict = judged(ex, answer)
        assert verdict.passed is passes
    assert "is odd" in verdict.message


@named
def doubling(factor):
    """x -> factor x"""
    return lambda x: factor * x


def test_a_function_that_is_called_too_often_is_found():
    def cases(rng):
        return [case(doubling(factor=2.0), normal(rng, 3)), case(doubling(factor=3.0), normal(rng, 4))]

    ex = made("once", lambda f, x: f(x), cases, takes="f, x (N,)", gives="y (N,)", counts_calls=True)

    def twice(f, x):
        f(x)
        return f(x)

    def scribbling(f, x):
        x *= 2
        y = f(x / 2)
        x /= 2
        return y

    for answer, words in ((twice, "2 times, it takes 1"), (scribbling, "while it works")):
        verdict = judged(ex, answer)
        assert not verdict.passed
        assert words in verdict.message


def test_a_wrong_answer_that_is_a_mistake_on_the_drawn_cases_only_is_not_called_that_mistake():
    """Fresh draws tell apart what is the same by chance."""

    def cases(rng):
        return [case(2 + int(rng.integers(0, 1000) > 900)) for _ in range(2)]

    ex = made("double", lambda n: 2 * n, cases, takes="n", gives="twice")

    @ex.misconception
    def added(n):
        "You add 3."
        return n + 3

    told_apart = 0
    for answer, diagnosis in ((lambda n: n + 3, "added"), (lambda n: 5, None)):
        for seed in range(9):
            with mock.patch.dict(os.environ, RNNCOURSE_SEED=str(seed)):
                hidden = seed_for(ex, True)
                if all(one.args == (2,) for draw in range(1, DRAWS + 1) for one in drawn_afresh(ex, hidden, draw)):
                    continue  # by chance nothing tells the two apart
                told_apart += 1
                verdict = judged(ex, answer, hidden=True)
            assert verdict.diagnosis == diagnosis
    assert told_apart > 4


def test_what_is_wrong_elsewhere_too_is_said():
    """A mistake that explains the ordinary cases alone is said as such."""

    def rnn_step(x, h_prev, U, W, b):
        return np.tanh(x @ U + h_prev @ W) if len(x) > 1 else right(x, h_prev, U, W, b) + 1

    verdict = check(rnn_step)
    assert verdict.diagnosis == "bias_forgotten"
    assert "Look at the case “one row” as well." in verdict.message
    assert "something else" not in check(lambda x, h_prev, U, W, b: np.tanh(x @ U + h_prev @ W), "rnn_step").message


@pytest.mark.parametrize(("one", "other"), [(1.0, 1), (3, 0), ([1.0, 2.0], np.array([1.0, 2.0])), ((1, 2), [1, 2])])
def test_whether_two_answers_are_the_same_does_not_depend_on_which_comes_first(one, other):
    one, other = (observe(lambda a: a, call, (a,)) for a in (one, other))
    for strict in (True, False):
        assert same(find("rnn_step"), one, other, strict=strict) == same(find("rnn_step"), other, one, strict=strict)


def test_the_draws_that_confirm_a_visible_diagnosis_know_nothing_of_the_hidden_seed():
    seen = []

    def rnn_step(x, h_prev, U, W, b):
        seen.append(x.tobytes())
        return np.tanh(x @ U + h_prev @ W)

    def calls(seed, hidden):
        del seen[:]
        with mock.patch.dict(os.environ, RNNCOURSE_SEED=seed):
            assert check(rnn_step, hidden=hidden).diagnosis == "bias_forgotten"
        return list(seen)

    visible = calls("1", hidden=False)
    assert calls("2", hidden=False) == visible
    # A hidden check judges the visible cases too, and confirms on draws of its own.
    one, other = (set(calls(seed, hidden=True)) for seed in "12")
    assert one & other < set(visible)


def in_the_order_of_memory(x, h_prev, U, W, b):
    return right(x.ravel(order="K").reshape(x.shape), h_prev, U, W, b)


def written_into_a_copy(x, h_prev, U, W, b):
    sums = np.zeros_like(h_prev)
    sums.reshape(-1)[:] = (x @ U + h_prev @ W + b).reshape(-1)
    return np.tanh(sums)


@pytest.mark.parametrize("answer", [in_the_order_of_memory, written_into_a_copy])
@pytest.mark.parametrize("hidden", [False, True])
def test_an_answer_that_hangs_on_how_arrays_lie_in_memory_is_refused_and_told_so(answer, hidden):
    verdict = check(answer, "rnn_step", hidden=hidden)
    assert not verdict.passed
    assert verdict.message.startswith("With the same numbers laid out otherwise in memory")
    assert verdict.criteria["values"]
    assert not verdict.criteria["edges"]
    assert check(right, "rnn_step", hidden=hidden).passed


def no_bias_at_first(x, h_prev, U, W, b):
    return np.tanh(x @ U + h_prev @ W + b * h_prev.any())


def empty_rows_left_out(x, h_prev, U, W, b):
    return np.where(x.any(axis=1, keepdims=True), right(x, h_prev, U, W, b), h_prev)


def tanh_by_hand(x, h_prev, U, W, b):
    a = x @ U + h_prev @ W + b
    return (np.exp(a) - np.exp(-a)) / (np.exp(a) + np.exp(-a))


def small_is_nothing(x, h_prev, U, W, b):
    return right(x, h_prev, U, np.where(abs(W) < 1e-6, 0, W), np.where(abs(b) < 1e-6, 1, b))


@pytest.mark.parametrize(
    ("answer", "where"),
    [
        (no_bias_at_first, "h_prev is 0 everywhere"),
        (empty_rows_left_out, "x is 0 everywhere"),
        (tanh_by_hand, "x is 10,000 times as large"),
        (small_is_nothing, "b is smaller by 1e-8"),
    ],
)
@pytest.mark.parametrize("hidden", [False, True])
def test_an_answer_that_is_wrong_only_at_an_end_of_a_range_is_refused_and_told_where(answer, where, hidden):
    with np.errstate(all="ignore"):
        verdict = check(answer, "rnn_step", hidden=hidden)
    assert not verdict.passed
    assert verdict.message.startswith(f"It is right in all cases that were drawn, but not where {where}")
    assert verdict.criteria["values"]
    assert not verdict.criteria["edges"]


def test_whole_numbers_are_asked_where_the_statement_has_them():
    def hidden_layer(x, W_xh, b_h):
        h = np.empty((len(x), len(b_h)), x.dtype)
        h[:] = np.tanh(x @ W_xh + b_h)
        return h

    assert "x holds whole numbers" in check(hidden_layer).message


def test_tensors_are_laid_out_otherwise_too():
    seen = []
    args = ((np.arange(6.0).reshape(2, 3), {"w": np.ones((2, 3, 4))}),)
    observe(lambda pair: seen.extend([pair[0], pair[1]["w"]]), turned(with_tensors), args)
    assert [t.is_contiguous() for t in seen] == [False, False]
    assert all(np.array_equal(t.numpy(), a) for t, a in zip(seen, (args[0][0], args[0][1]["w"]), strict=True))
    assert driver_named(turned(with_tensors).name).name == turned(with_tensors).name
