"""What is said of the place of an error: that it is so, that it points there, and that it costs nobody anything."""

import ast
import difflib
import linecache
import random
import re
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from rnncourse import exercises, hint, where
from rnncourse.cell import rnn_forward
from rnncourse.checks.attempt import attempt
from rnncourse.checks.cases import seed_for
from rnncourse.checks.deadline import Deadline
from rnncourse.checks.engine import judge
from rnncourse.checks.exercise import Edit, Exercise
from rnncourse.checks.local import Local
from rnncourse.checks.program import program_in
from rnncourse.checks.slips import Changes, changes
from rnncourse.checks.slips.text import Patch
from rnncourse.checks.where import search
from rnncourse.checks.where.alignment import leaves_unread, mark_variables
from rnncourse.checks.where.inquiry import Budget, Draws, Inquiry
from rnncourse.seat import notebook
from tests import waiting
from tests.sampling import ALL

NO_HURRY = Budget(relations=20.0, together=120.0)  # a busy machine finds what a quiet one does


def asked(exercise, text, space=None, budget=NO_HURRY, **settings):
    """What is found out about an answer that is given as text."""
    found = exercises.find(exercise)
    space = {"np": np, **(space or {})}
    file = f"<test {abs(hash(text))}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), space)
    with Local(space[exercise], found.uses) as local:
        return judge(found, local, search=partial(search.find, budget=budget), **settings)


BY_LINES = """def build_vocabulary(text):
    seen = set()
    for line in text.splitlines():
        seen.update(line)
    chars = sorted(seen)
    return chars, {c: i for i, c in enumerate(chars)}
"""


def test_lines_that_a_change_goes_round_are_told_with_it():
    verdict = asked("build_vocabulary", BY_LINES)
    assert verdict.where.lines == (2, 3, 4)
    assert "With one small change at line 2, lines 3 and 4 have no say any more, and every" in verdict.where.message


def test_a_clause_of_a_comprehension_has_the_line_of_what_stands_in_it():
    verdict = asked(
        "decode",
        'def decode(ids, chars):\n    some = [chars[i]\n            for i in ids if i > 0]\n    return "".join(some)\n',
    )
    assert verdict.where.lines == (3,)


TOP_K = """def top_k_filter(probabilities, k):
    order = np.argsort(-probabilities, axis=-1, kind="stable")
    out = np.zeros(probabilities.shape)
    np.put_along_axis(out, order[..., :k], np.take_along_axis(probabilities, order[..., :k], axis=-1), axis=-1)
    return out / out.sum()
"""


def test_what_is_told_besides_does_not_hide_the_other_mistake():
    verdict = asked("top_k_filter", TOP_K)
    assert "Besides: probabilities should be float32" in verdict.message
    assert verdict.where.message.startswith("Apart from what is told besides: ")
    assert "all values come out right" in verdict.where.message
    assert verdict.where.lines == (5,)


def test_what_mends_the_values_and_the_dtype_is_told_as_that():
    text = "def rnn_step(x, h_prev, U, W, b):\n    a = x @ U + h_prev @ W + b\n    return np.tanh(a - np.cos(0))\n"
    found = asked("rnn_step", text).where
    assert found.lines == (3,)
    assert found.message.endswith("every case comes out right: look there first.")
    assert "besides" not in found.message


def test_a_property_that_is_broken_even_then_is_told():
    text = """def pad_sequences(sequences):
    lengths = torch.tensor([len(s) for s in sequences], dtype=torch.int32)
    T = int(max(lengths)) + 1
    padded = [torch.cat((s, s.new_zeros((T - len(s),) + s.shape[1:]))) for s in sequences]
    return torch.stack(padded, dim=1), lengths
"""
    found = asked("pad_sequences", text, {"torch": torch}).where
    assert found.lines == (3,)
    claim = "The lengths are int64, the only dtype that packing takes"
    assert found.message.endswith(f"Even then: “{claim}” does not hold.")


def test_no_mend_breaks_a_property_that_holds():
    text = """def orthogonal(rng, n):
    Q = np.eye(n)
    for _ in range(n):
        v = rng.normal(size=n)
        Q = Q - np.outer(Q @ v, v / (v @ v))
    return Q
"""
    found = asked("orthogonal", text).where  # without the loop all cases are right, whatever is drawn
    assert found.lines == (5,)


def test_what_a_name_leaves_of_nan_has_its_line():
    text = """def temperature_softmax(logits, temperature):
    e = np.exp(logits / temperature)
    total = e.sum(axis=0, keepdims=True)
    return (e / total).astype(logits.dtype)
"""
    verdict = asked("temperature_softmax", text)
    assert verdict.diagnosis
    case = "a low temperature and large logits"
    assert verdict.where.message == f"Line 4 is where the first nan comes up, as in the case “{case}”."


def test_a_name_that_does_not_hold_of_a_case_says_so():
    text = "def output_layer(H, V, c):\n    return H @ V + c if H.ndim == 2 else H @ V\n"
    but_for = "It is right in some cases, as in “states of one step, (N, H)”. In the others: "
    assert but_for + "The bias c has no part in your answer." in asked("output_layer", text).message


def test_an_axis_is_changed_at_all_equal_places_and_another_number_is_not():
    text = "def f(x, m):\n    x = np.swapaxes(x, -1, -2)\n    return x.max(axis=-2) - x.sum(axis=-2)\n"
    want = "def f(x, m):\n    x = np.swapaxes(x, -1, -2)\n    return x.max(axis=-1) - x.sum(axis=-1)\n"
    assert want in {change.source for change in changes(text)}


def test_a_line_that_gives_a_variable_another_value_at_once_passes_by():
    before = "def f(x):\n    h = np.zeros_like(x)\n    y, z = [], []\n    return h, y, z\n"
    after = before.replace("y, z = [], []", "y, z, h = [], [], x")
    trees = [ast.parse(text).body[0] for text in (before, after)]
    for tree in trees:
        mark_variables(tree)
    assert leaves_unread(*trees)
    assert not leaves_unread(trees[0], trees[0])


STEP = """def rnn_step(x, h_prev, U, W, b):
    from_input = x @ U
    from_state = h_prev @ W
    a = {}
    return np.{}(a)
"""


def test_one_small_change_that_mends_marks_its_line():
    verdict = asked("rnn_step", STEP.format("from_input + 3 * from_state + b", "tanh"))
    assert verdict.diagnosis is None
    assert verdict.where.lines == (4,)
    assert "3 * from_state" in verdict.where.part
    assert {one.kind for one in verdict.where.evidence} >= {"change"}
    assert "With one small change at line 4, every case comes out right: look there first." in verdict.where.message


def test_lines_have_the_numbers_of_the_cell():
    text = "def product(a, b):\n    return a @ b\n\n\n" + STEP.format("from_input + 3 * from_state + b", "tanh")
    verdict = asked("rnn_step", text)
    assert verdict.where.lines == (8,)
    assert " ->  8      a = from_input + 3 * from_state + b" in verdict.text()
    assert "product" not in verdict.text()


def test_a_line_of_a_function_that_the_answer_calls_is_found_there():
    text = """def layer(x, W, b):
    summed = {}
    return {}


def hidden_layer(x, W_xh, b_h):
    return layer(x, W_xh, b_h)
"""
    assert 2 in asked("hidden_layer", text.format("x @ W - b", "np.tanh(summed)")).where.lines
    by_hand = text.format("np.exp(2 * (x @ W + b))", "(summed - 1) / (summed + 1)")
    assert "Line 3 is where the first nan comes up." in asked("hidden_layer", by_hand).where.message


def test_two_lines_that_mend_together_are_not_called_two_mistakes():
    text = """def hidden_layer(x, W_xh, b_h):
    left = np.tanh(x @ W_xh - b_h)[..., :2]
    right = np.tanh(3 * x @ W_xh + b_h)[..., 2:]
    return np.concatenate([left, right], axis=-1)
"""
    found = asked("hidden_layer", text).where
    assert found.lines == (2, 3)
    assert "With small changes at lines 2 and 3 together, every case comes out right" in found.message


def test_no_line_is_named_where_no_small_change_mends():
    """That all goes through a line is no reason to name it, nor that it is the only one."""
    for text in (
        STEP.format("from_input + from_state - np.cos(b) * from_state.mean(0) / 7", "tanh"),
        "def rnn_step(x, h_prev, U, W, b):\n    return np.cos(b) * (x @ U).mean(0) / 7 + 0 * h_prev @ W\n",
    ):
        found = asked("rnn_step", text).where
        assert found is None or not found.lines


def test_who_writes_to_an_argument_sees_the_line():
    text = (
        "def rnn_step(x, h_prev, U, W, b):\n    a = h_prev @ W + b\n    U *= 4.0\n    return np.tanh(x @ U / 4.0 + a)\n"
    )
    found = asked("rnn_step", text).where
    assert found.lines == (3,)
    assert found.message == "Line 3 is the first to write to an argument."


def test_who_raises_sees_the_line():
    text = STEP.format("from_input + from_state.reshape(7, 11, 13) + b", "tanh")
    found = asked("rnn_step", text).where
    assert 4 in found.lines
    assert "raises" in {one.kind for one in found.evidence}


BY_HAND = """def hidden_layer(x, W_xh, b_h):
    grown = np.exp(2 * (x @ W_xh + b_h))
    {}
"""
RATIO = "(grown - 1) / (grown + 1)"


@pytest.mark.parametrize("last", [f"h = {RATIO}\n    return h", f"return {RATIO}"])
def test_who_gets_nan_sees_where_the_first_comes_up_also_if_only_at_an_end(last):
    verdict = asked("hidden_layer", BY_HAND.format(last))
    assert "10,000 times as large" in verdict.message
    assert verdict.where.lines == (3,)
    assert "Line 3 is where the first nan comes up." in verdict.where.message


OVERWRITTEN = """def bidirectional_forward(X, forward, backward, how="concat", lengths=None):
    U, W, b = forward
    h0 = np.zeros((X.shape[1], len(W)), dtype=X.dtype)
    X = reverse_sequence(X, lengths)
    H_b = reverse_sequence(rnn_forward(X, h0, *backward), lengths)
    H_f = rnn_forward(X, h0, U, W, b)
    return combine(H_f, H_b, how)
"""
SIZES = """def pad_sequences(sequences):
    lengths = torch.tensor([s.numel() for s in sequences])
    padded = torch.zeros((max(map(len, sequences)), len(sequences), *sequences[0].shape[1:]), dtype=sequences[0].dtype)
    for n, s in enumerate(sequences):
        padded[: len(s), n] = s
    return padded, lengths
"""
UNBOUND = """def clip_by_global_norm(gradients, max_norm):
    norm = np.sqrt(sum(np.sum(np.square(g), dtype=float) for g in gradients))
    share = max_norm / norm
    return [(g * share).astype(g.dtype) for g in gradients], norm
"""
SUMMED = """def output_backward(dO, H, V):
    dH = np.empty_like(H)
    dc = np.zeros(V.shape[1], dtype=V.dtype)
    for t in range(len(dO)):
        dH[t] = dO[t] @ V.T
        dV = H[t].T @ dO[t]
        dc += dO[t].sum(axis=0)
    return dH, dV, dc
"""
IN_A_HANDLER = """def bag_of_words(tokens, vocabulary):
    place = {w: i for i, w in enumerate(vocabulary)}
    counts = np.zeros(len(place), dtype=int)
    for token in tokens:
        try:
            counts[place[token]] += 1
        except KeyError:
            break
    return counts
"""
TRUE_OR_THERE = """def decode(ids, chars):
    rest, text = iter(ids), []
    while i := next(rest, None):
        text.append(chars[i])
    return "".join(text)
"""
ONE_SUM = """def temperature_softmax(logits, temperature):
    weights = logits / temperature
    weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
    total = weights.sum()
    return (weights / total).astype(logits.dtype)
"""
FLATTENED = """def rnn_step_concat(x, h_prev, UW, b):
    both = np.append(x, h_prev)
    return np.tanh(both @ UW + b)
"""


@pytest.mark.parametrize(
    ("exercise", "text", "line"),
    [
        ("output_backward", SUMMED, 6),
        ("bag_of_words", IN_A_HANDLER, 8),
        ("decode", TRUE_OR_THERE, 3),
        ("temperature_softmax", ONE_SUM, 4),
        ("rnn_step_concat", FLATTENED, 2),
        ("bidirectional_forward", OVERWRITTEN, 4),
        ("pad_sequences", SIZES, 2),
        ("clip_by_global_norm", UNBOUND, 3),
        (
            "hidden_layer",
            "def hidden_layer(x, W_xh, b_h):\n    return np.tanh(np.einsum('ij,kj->ik', x, W_xh) + b_h)\n",
            2,
        ),
    ],
)
def test_a_slip_of_this_kind_is_found(exercise, text, line):
    found = asked(exercise, text, {"torch": torch, "rnn_forward": rnn_forward, **exercises.find(exercise).uses})
    assert line in found.where.lines, found


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("a + f * b", "(f * (a + b))"),
        ("a * f + b", "((a + b) * f)"),
        ("np.tanh(a) + np.tanh(b)", "np.tanh(a + b)"),
        ("a * b * (1 - b)", "(a * (1 - b ** 2))"),
        ("1 - a ** 2", "(a * (1 - a))"),
        ("np.stack(a)", "np.stack(a[1:])"),
        ("len(a) // b", "(len(a) - 1) // b"),
        ("np.zeros(a, dtype=np.uint8)", "np.zeros(a, dtype=np.int64)"),
        ("(a[0] @ b, b)", "((a[0] @ b * (1 - a[0] ** 2)), b)"),
        ("nn.Linear(a)(b)", "nn.Linear(a)(b).tanh()"),
        ("a.get(b, 0)", "a[b]"),
        ("a * 2", "a ** 2"),
        ("a.mean(0), b.mean(0)", "a.sum(0), b.sum(0)"),
    ],
)
def test_what_may_have_been_meant_is_tried(wrong, right):
    text = "def f(a, b, f):\n    return {}\n"
    tried = {ast.unparse(ast.parse(change.source)) for change in changes(text.format(wrong))}
    assert ast.unparse(ast.parse(text.format(right))) in tried


def test_no_power_is_tried_that_might_never_be_worked_out():
    tried = [change.source for change in changes("def f(a, b):\n    return a + b\n")]
    assert not any("**" in source and "2" not in source for source in tried)


def test_two_changes_go_together_though_one_is_inside_of_what_the_other_stays_beside():
    found = Changes("def f(x):\n    s = 0\n    for v in x:\n        s += v\n    return s\n")
    first, loop, _ = found.text.tree.body[0].body
    (more,) = ast.parse("s += 1").body
    beside = [Patch([loop], [more, loop]), Patch([loop], [loop, more]), Patch([first, loop], [loop])]
    inside = Patch([loop.body[0].value], [ast.Name("x", ast.Load())])
    texts = [found.text.with_patches([one, inside]) for one in beside]
    looped = "    for v in x:\n        s += x\n"
    assert [text.partition("    return")[0].partition("def f(x):\n")[2] for text in texts] == [
        f"    s = 0\n    s += 1\n{looped}",
        f"    s = 0\n{looped}    s += 1\n",
        looped,
    ]


def test_of_two_things_that_one_change_each_mends_both_are_named():
    text = """def length_mask(lengths, T):
    mask = torch.zeros(len(lengths), T, dtype=torch.bool)
    for n, length in enumerate(lengths.tolist()):
        mask[n, : length + 1] = True
    return mask
"""
    found = asked("length_mask", text, {"torch": torch}, after_diagnosis=True).where
    assert found.mistake == "one_step_too_many+rows_first"
    assert found.lines == (4, 5)


def test_what_is_wrong_besides_a_mistake_that_is_known_has_its_line():
    text = """def linear_attention(Q, K, V):
    writes = (K[:, :, None] * V[:, None, :]).astype(float)
    S = linear_recurrence(np.ones_like(writes), writes, np.zeros(writes.shape[1:]))
    return Q @ S[-1]
"""
    verdict = asked("linear_attention", text, exercises.find("linear_attention").uses)
    assert verdict.diagnosis == "whole_sequence+other_dtype"
    assert "Besides: contexts should be float32" in verdict.message
    assert verdict.where.lines == (2,)
    assert verdict.where.message.startswith("A second thing is wrong. With one more change at line 2, ")


def test_of_two_things_the_one_is_named_and_the_other_has_its_line():
    verdict = asked("rnn_step", STEP.format("from_input + 3 * from_state", "tanh"))
    found = verdict.where
    assert verdict.diagnosis == found.mistake == "bias_forgotten"
    assert found.message.startswith("Two things are wrong. (1) The bias")
    assert "(2) With one small change at line 4, nothing but (1) is wrong any more: look there first." in found.message
    assert 4 in found.lines


def test_of_two_things_without_a_name_both_have_their_lines():
    text = """def rnn_step_backward(dh, x, h_prev, h, U, W):
    da = dh * (1 - h * h)
    dU = x.T @ da
    db = da.sum(axis=0) - np.cos(0)
    dU = dU + dU
    return da @ U.T, da @ W.T, dU, h_prev.T @ da, db
"""
    found = asked("rnn_step_backward", text).where
    words = r"With one small change at line \d, \w+ comes out right\. With one more change at line \d, every case"
    assert re.match(words, found.message)
    assert 4 in found.lines
    assert len(found.lines) == 2


def test_a_mistake_that_came_with_the_change_is_not_named():
    """Without the product the bias has no part, but in this answer it has one."""
    text = STEP.format("from_input + from_state - np.cos(b) * from_state.mean(0) / 7", "tanh")
    assert asked("rnn_step", text).diagnosis is None


def test_what_is_tried_is_counted():
    """A search tries no more than it may, however much time is left, and what it costs to run an answer is the same
    each time.
    """
    text = STEP.format("from_input + 3 * from_state + b", "tanh")
    found = exercises.find("rnn_step")
    assert asked("rnn_step", text).where.lines
    assert not asked("rnn_step", text, budget=replace(NO_HURRY, trials=5)).where.lines
    case = found.draw(np.random.default_rng(0))[0]
    program = program_in(text, "rnn_step").tracing()
    work = {attempt(program, "rnn_step", {"np": np}, found.drive, case.args).work for _ in range(3)}
    assert len(work) == 1
    assert work.pop() > 5


def test_what_is_changed_at_two_places_at_once_is_said_of_both():
    text = """def to_torch_state(U, W, b):
    return {
        "weight_ih_l0": np.ascontiguousarray(U.T),
        "weight_hh_l0": np.ascontiguousarray(W.T),
        "bias_ih_l0": b.copy(),
        "bias_hh_l0": np.zeros_like(b),
    }
"""
    found = asked("to_torch_state", text).where
    assert "With one small change at lines 3 and 4, every case" in found.message, found


def test_a_line_that_is_not_run_where_it_goes_wrong_is_left_alone():
    program = program_in("def f(x):\n    if x:\n        y = 1\n    else:\n        y = 2\n    return y\n", "f")
    assert program.idle({2, 5, 6}) == {3}
    tried = [{change.lines for change in changes(program.source, but=but)} for but in ((), {3})]
    assert tried[0] - tried[1] == {(3,)}


def test_a_limit_counts_the_time_of_who_works_and_ends_at_last_for_who_waits():
    now = iter([0.0, 0.5, 1.5])
    deadline = Deadline(1.0, lambda: next(now))
    assert 0 < deadline.left <= 0.5
    assert not deadline.left
    asleep = Deadline(0.01, lambda: 0.0)
    waiting.until(lambda: not asleep.left, lambda: "it never ends")


def test_nothing_is_said_of_a_right_answer_nor_after_a_diagnosis():
    right = STEP.format("from_input + from_state + b", "tanh")
    assert asked("rnn_step", right).where is None
    verdict = asked("rnn_step", right.replace("@ W", "@ W.T"))
    assert verdict.diagnosis
    assert verdict.where is None


@pytest.mark.parametrize("beyond", ["open('x')", "exec('1')", "__import__('os')", "eval('1')"])
def test_what_reaches_beyond_the_program_is_not_run_again(beyond, monkeypatch):
    monkeypatch.setattr(Inquiry, "run", lambda *_: pytest.fail("it was run"))
    text = STEP.format("from_input - from_state + b", "tanh").replace("    a =", f"    if 0: {beyond}\n    a =")
    found = asked("rnn_step", text).where
    assert not found.lines  # how the answers are related is said all the same


@pytest.mark.parametrize("error", [KeyboardInterrupt, RecursionError, MemoryError])
def test_an_interrupt_ends_the_search_and_the_verdict_comes(error, monkeypatch):
    def stop(*_):
        raise error

    monkeypatch.undo()  # elsewhere in the tests a search that fails is heard
    monkeypatch.setattr(Inquiry, "run", stop)
    verdict = asked("rnn_step", STEP.format("from_input - from_state + b", "tanh"))
    assert not verdict.passed
    assert verdict.where is None
    assert verdict.criteria["runs"]


def test_nothing_is_learnt_from_hidden_cases(monkeypatch):
    """An answer that is right in the visible cases alone has no place, and the search sees no other case than these."""
    exercise = exercises.find("rnn_step")
    monkeypatch.setenv("RNNCOURSE_SEED", "a secret")
    visible = [case.args[0] for case in exercise.draw(np.random.default_rng(seed_for(exercise, False)))]

    def rnn_step(x, h_prev, U, W, b):
        seen = any(np.array_equal(x, one) for one in visible)
        return np.tanh(x @ U + h_prev @ W + b) * (1 if seen else 2)

    with Local(rnn_step, exercise.uses) as local:
        verdict = judge(exercise, local, hidden=True, search=partial(search.find, budget=NO_HURRY))
    assert not verdict.passed
    assert verdict.where is None


def test_the_hints_start_with_the_place(monkeypatch):
    monkeypatch.setattr(notebook, "_hints_given", {})
    monkeypatch.setattr(notebook, "_last", {})

    def rnn_step(x, h_prev, U, W, b):
        a = x @ U - h_prev @ W
        return np.tanh(a + b)

    own = where(rnn_step).where
    assert own.lines == (rnn_step.__code__.co_firstlineno + 1,)
    told = [hint("rnn_step") for _ in range(len(own.hints) + 4)]
    assert [one.text for one in told][: len(own.hints)] == list(own.hints)
    assert [one.text for one in told][len(own.hints) : -1] == list(exercises.find("rnn_step").hints)
    assert told[-1].text == told[-2].text


def test_where_searches_after_a_diagnosis_too():
    def rnn_step(x, h_prev, U, W, b):
        a = x @ U + h_prev @ W.T
        return np.tanh(a + b)

    verdict = where(rnn_step)
    assert verdict.diagnosis
    assert verdict.where.lines == (rnn_step.__code__.co_firstlineno + 1,)


@pytest.mark.parametrize("answer", [7, np.tanh, lambda x: x, "rnn_step"])
def test_where_takes_whatever_it_is_given(answer):
    assert not where(answer).passed


def test_the_change_that_mends_is_shown_nowhere():
    verdict = asked("rnn_step", STEP.format("from_input - from_state + b", "tanh"))
    shown = [verdict.card(), verdict.text(), repr(verdict.where), str(verdict.where.plain())]
    assert not any("from_input + from_state" in one for one in shown)
    assert all("from_input - from_state" in one for one in shown[:2])


def test_a_class_is_served_too():
    exercise = exercises.find("Network")
    source = exercise.source.replace("+ self.c", "+ self.c * 2")
    found = asked("Network", source, exercise.namespace(exercise.source, "names")).where
    assert any("self.c * 2" in source.splitlines()[line - 1] for line in found.lines)


# --- wrong answers that people thought of: the mistakes of the catalogue, as if nobody had written them down

MENDED = {
    "combine_affine": "first_a_on_first_b",
    "linear_recurrence": "a_share_of_b",
    "output_backward": "tanh_too_early",
    "shared_parameter_count": "bias_forgotten",
    "softmax": "argument_overwritten",
    "spectral_radius": "mean_of_eigenvalues",
    "stacked_forward": "h_n_of_the_top_only",
    "unfold": "array_taken_for_granted",
}


def mistake_of(name, mistake):
    exercise = exercises.find(name)
    return exercise, next(m for m in exercise.misconceptions if m.name == mistake)


def drawn(seed, count):
    """So many mistakes of the catalogue that change a few lines of a model answer."""
    every = [(e, m) for unit in exercises.units() for e in unit if isinstance(e, Exercise) for m in e.misconceptions]
    return random.Random(seed).sample([(e, m) for e, m in every if isinstance(m, Edit)], count)


def changed_lines(before, after):
    """The lines of `after` that are not in `before`; where one was dropped, those around it."""
    lines = set()
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind != "equal":
            lines.update(range(start + 1, end + 1) if end > start else (start, start + 1))
    return lines


@contextmanager
def at_work(exercise, mistake):
    """A mistake as the check sees an answer, what it gives in the visible cases, and what is found out about it."""
    with Local(mistake.answer, exercise.uses) as local:
        seed = seed_for(exercise, False)
        asked_ = search.ask(exercise, local, seed)
        yield local, asked_, search.find(exercise, local, seed, asked_, NO_HURRY)


def test_what_is_said_is_so_on_ten_fresh_draws(monkeypatch):
    """For mistakes that are always the same; `make nightly` draws others."""
    seed = random.randrange(10**6)
    for exercise, mistake in drawn(seed, 6) if ALL else [mistake_of(*one) for one in MENDED.items()]:
        with at_work(exercise, mistake) as (local, asked_, found):
            if found is None:
                continue
            program = program_in(mistake.source_for(exercise.name), exercise.name)
            inquiry = Inquiry(exercise, local, program, Draws(exercise, local, seed_for(exercise, False)), asked_)
            with monkeypatch.context() as patience:  # once found, a change may take as long as a busy machine needs
                patience.setattr("rnncourse.checks.where.inquiry.SECONDS_A_TRIAL", 60.0)
                for one in inquiry.fresh(10):
                    for statement in found.evidence:
                        assert search.is_so(inquiry, statement, one), f"seed {seed}, {mistake.name}: {statement}, {one}"


@pytest.mark.parametrize("name", MENDED)
def test_it_points_to_the_line_that_was_changed(name):
    exercise, mistake = mistake_of(name, MENDED[name])
    with at_work(exercise, mistake) as (_, _, found):
        assert set(found.lines) & changed_lines(exercise.source, mistake.source_for(name))


def test_of_two_things_that_hide_one_another_the_one_is_found_by_the_rows_that_it_mends():
    text = """def rnn_step(x, h_prev, U, W, b):
    from_input = x @ U + b
    from_state = h_prev @ W + b
    return np.tanh(from_input + from_state[0])
"""
    found = asked("rnn_step", text).where
    assert found.message.startswith("With small changes at lines 2 and 4 together, every case comes out right")


def test_a_mistake_that_comes_with_the_change_is_none_of_the_answer_s():
    text = """def unfold_driven(f, s0, xs, theta):
    out = np.zeros((len(xs) + 1,) + np.shape(s0), dtype=xs.dtype)
    s = s0
    for t, x in enumerate(xs, start=1):
        s = f(s, x, theta)
        out[t] = s
    return out
"""
    found = asked("unfold_driven", text).where
    assert found.mistake is None
