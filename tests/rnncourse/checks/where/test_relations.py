"""Statements on how wrong answers are related to right ones: each has to be so on cases that it was not made from."""

import ast
import random

import numpy as np
import pytest

from mutants.edits import edits
from mutants.running import Judge, Mutant, _Candidate, answer_to, each
from rnncourse import check, exercises
from rnncourse.checks.cases import Asked, drawn, quiet_observe, seed_for
from rnncourse.checks.exercise import Case, Unit
from rnncourse.checks.faults import faults_of
from rnncourse.checks.place import Statement
from rnncourse.checks.relations import TABLE, Given, Part, row_of, sentence
from rnncourse.checks.where.relations import holds, relations, words
from rnncourse.checks.wire import decode, encode
from tests.rnncourse.exercises.catalogue import CODE, shelf
from tests.sampling import ALL

TO_CONFIRM, DRAWS = 3, 10
LONG = 1500  # characters of a model answer: to change it takes long, and no more is said of it


def asked(exercise, candidate, cases):
    wanted = [quiet_observe(exercise.reference, exercise.drive, one.args) for one in cases]
    seen = [candidate.observe(exercise.drive, one.args) for one in cases]
    return [Asked(c, w, s, bool(faults_of(exercise, c, w, s))) for c, w, s in zip(cases, wanted, seen, strict=True)]


class Looked:
    """A wrong answer, and what is said of it: what a few fresh draws confirm, as for a student."""

    def __init__(self, exercise, candidate):
        self.exercise, self.candidate = exercise, candidate
        self.seed, self.draws = seed_for(exercise, False), {}
        self.visible = asked(exercise, candidate, drawn(exercise, self.seed)[0])
        made = relations(exercise, self.visible, self.ask)
        self.said = [s for s in made if all(self.is_so(s, draw) for draw in range(1, TO_CONFIRM + 1))]

    def ask(self, case):
        return self.candidate.observe(self.exercise.drive, case.args)

    def is_so(self, statement, draw):
        if draw not in self.draws:
            cases = self.exercise.draw(np.random.default_rng((*self.seed, draw)))
            self.draws[draw] = asked(self.exercise, self.candidate, cases)
        return holds(statement, self.exercise, self.draws[draw], self.ask)


def looked_at(name, source):
    found = exercises.find(name)
    return Looked(found, _Candidate(source, name, {"np": np, "model": found.reference, **Judge(name).space}))


# --- the table: each relation with an example


A = np.arange(1.0, 61).reshape(5, 3, 4) ** 1.5  # H (T, N, 4H)
MASK = np.arange(15).reshape(5, 3) % 2
WORD = "abcde"
COUNTS = {"a": 1, "b": 2}
EXAMPLES = {  # of each: what it should be, what it is
    "time_reversed": (A, A[::-1]),
    "flipped": (A, A[:, ::-1]),
    "first_step_lost": (A, A[1:]),
    "last_step_lost": (A, A[:-1]),
    "first_step_only": (A, A[:1]),
    "last_step_everywhere": (A, np.repeat(A[-1:], 5, axis=0)),
    "one_more_behind": (A[:-1], A),
    "one_more_before": (A[1:], A),
    "one_step_late": (A, np.concatenate([A[:1], A[:-1]])),
    "one_step_early": (A, np.concatenate([A[1:], A[:1]])),
    "in_another_order": (A, A[:, [1, 2, 0]]),
    "time_and_batch_exchanged": (A, A.swapaxes(0, 1)),
    "transposed": (A, A.T),
    "of_another_shape": (A, A.reshape(15, 4)),
    "other_dtype": (A, A.astype(np.float32)),
    "all_zero": (A, 0 * A),
    "sign": (A, -A),
    "times_size": (A, 3 * A),
    "divided_by_size": (A, A / 3),
    "constant_factor": (A, 2.5 * A),
    "row_factor": (A, A * np.arange(2.0, 17).reshape(5, 3, 1)),
    "too_large": (A, A + 1),
    "too_small": (A, A - 1),
    "instead": (A, np.cos(A)),
    "term": (A, A + np.cos(A)),
    "multiplied": (A, A * np.cos(A)),
    "not_multiplied": (A, A / np.cos(A)),
    "wrong_only": (A, A * (1 - 2 * MASK[..., None])),
    "right_first": (A, np.concatenate([A[:1], np.sin(A[1:])])),
    "right_last": (A, np.concatenate([np.sin(A[:-1]), A[-1:]])),
    "constant": (A, 0 * A + 7),
    "not_finite": (A, np.where(A[2, 2, 2] == A, np.nan, A)),
    "not_summing_to_1": (np.full((3, 4), 0.25), np.eye(3, 4) * 2),
    "reversed": (WORD, WORD[::-1]),
    "first_missing": (WORD, WORD[1:]),
    "last_missing": ([3, 1, 2], [3, 1]),
    "one_more_at_end": (np.array([3, 1]), np.array([3, 1, 2])),
    "one_more_at_start": (WORD, "x" + WORD),
    "ends_too_soon": (WORD, WORD[:2]),
    "goes_on": (WORD, WORD * 2),
    "last_wrong": (WORD, "abcdx"),
    "first_wrong": (WORD, "xbcde"),
    "shuffled": (WORD, "baced"),
    "empty": (WORD, ""),
    "lacks": ({1, 2, 3}, {2}),
    "extra": (COUNTS, COUNTS | {"c": 3}),
    "other_keys": (COUNTS, {"x": 1, "y": 2}),
}


def test_every_relation_has_an_example():
    assert set(EXAMPLES) == {name for row in TABLE for name in row.sentences}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_relation_is_so_of_its_example_and_not_of_the_right_answer(name):
    unit = Unit("99_test", "test")
    takes, gives = "V (T, N, D), mask (T, N)", "H (T, N, 4H)"
    exercise = unit.exercise("f", reference=abs, points=1, takes=takes, gives=gives, hints=("",) * 3)
    right, own = EXAMPLES[name]
    part = Part(exercise.gives[0], right, own, False, Given(exercise, Case((np.cos(A), MASK))))
    row = row_of(name)
    found = [key for key in part.keys(row) if key[0] == name]
    assert any(part.says(row, key) for key in found)
    assert not any(part.as_it_should_be.says(row, key) for key in found)
    assert sentence(found[0], ["H"]).startswith("H is ")


# --- nothing weak is said


def test_a_dtype_that_the_check_takes_is_no_mistake():
    """A norm in float64 for one in float32 is none; that the gradients are written to is all that is wrong."""

    def clip_by_global_norm(gradients, max_norm):
        norm = np.sqrt(sum((np.asarray(g) ** 2).sum() for g in gradients))
        for g in gradients if norm > max_norm else ():
            g *= max_norm / norm
        return gradients, norm

    message = check(clip_by_global_norm).message
    assert "changed its argument" in message
    assert "dtype" not in message


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("count_ngrams", "return None"),
        ("count_ngrams", "return {}"),
        ("edit_distance", "return len(a) + len(b) + 1"),
        ("perplexity", "return 1e6 - np.mean(log_probabilities)"),
        ("perplexity", "return 1.00002 * model(log_probabilities)"),  # "1 times what it should be"
    ],
)
def test_a_direction_alone_and_what_is_not_there_are_not_worth_a_sentence(name, body):
    arguments = ", ".join(axes.name for axes in exercises.find(name).takes)
    found = looked_at(name, f"def {name}({arguments}):\n {body}\n")
    assert [words(one, found.exercise) for one in found.said if one.kind.startswith("part")] == []


# --- no statement is false


def changed(rng, exercise, node, space):
    """An answer with one change, and the names that it uses."""
    source = rng.choice(list(edits(ast.unparse(node))))
    return Mutant(exercise.name, source, source), space


def others(rng, drawn):
    """Other right answers to these exercises, with one change."""
    for exercise in drawn:
        answer = rng.choice([one for one in shelf("right") if one.exercise == exercise.name])
        node, *more = ast.parse(answer.text).body
        if not more:
            yield changed(rng, exercise, node, answer.space(exercise, "<other>"))


def said_and_false(mutant, space):
    """How much is said of a wrong answer, and what of it is not so."""
    judge = Judge(mutant.exercise)
    found = Looked(judge.exercise, _Candidate(mutant.source, mutant.exercise, {**space, **judge.space}))
    draws = range(TO_CONFIRM + 1, DRAWS + 1)
    false = [words(s, found.exercise) for s in found.said if not all(found.is_so(s, draw) for draw in draws)]
    return len(found.said), false


def test_what_is_said_of_mutants_and_of_changed_other_answers_is_so_on_ten_fresh_draws():
    seed = random.randrange(10**6) if ALL else 1
    rng = random.Random(seed)
    of_arrays = [e for e in CODE if e.drive.is_plain and e.gives and e.gives[0].axes and len(e.source) < LONG]
    spaces = dict(changed(rng, e, answer_to(e.name)[0], {}) for e in rng.sample(of_arrays, 24 if ALL else 12))
    spaces |= dict(others(rng, rng.sample([e for e in CODE if len(e.source) < LONG], 12 if ALL else 6)))
    results = list(each(list(spaces), lambda mutant: said_and_false(mutant, spaces[mutant]), 1))
    assert len(results) == len(spaces)
    assert sum(found[0] for _, found in results if found) >= 5, seed
    assert [(seed, str(mutant), found[1]) for mutant, found in results if found and found[1]] == []


# --- what is found


STEP_BACK = {
    "dx": "(dh * (1 - h**2)) @ U.T",
    "dh": "(dh * (1 - h**2)) @ W.T",
    "dU": "x.T @ (dh * (1 - h**2))",
    "dW": "h_prev.T @ (dh * (1 - h**2))",
    "db": "(dh * (1 - h**2)).sum(axis=0)",
}
FOUND = [  # the kind of the statement, the exercise, the body of a wrong answer, the sentence
    (
        "part: sign",
        "rnn_step_backward",
        "return {dx}, {dh}, -{dU}, {dW}, {db} * np.sin({db})",
        "dU is minus what it should be: the sign is wrong.",
    ),
    (
        "part: instead",
        "rnn_step_backward",
        "return {dx}, dh, {dU}, {dW}, {db}",
        "dh_prev is exactly dh. The other results are right in every case.",
    ),
    (
        "part: term",
        "rnn_step",
        "return np.tanh(x @ U + h_prev @ W + 2 * b)",
        "h is what it should be plus b, before the tanh.",
    ),
    ("part: term", "leaky_average", "return keep * state", "it is what it should be minus (1 - keep) · x."),
    (
        "part: multiplied",
        "leaky_average",
        "return (keep * state + (1 - keep) * x) * x",
        "new_state is what it should be, multiplied by x.",
    ),
    (
        "part: too_small",
        "rnn_parameter_count",
        "return D * H + H * H + H",
        "count is too small by H·Q + Q.",
    ),
    (
        "part: one_more_behind",
        "unfold_driven",
        "H = [s0]\n for x in xs: H.append(f(H[-1], x, theta))\n return np.array([*H, H[-1]])",
        "states is right, but with one more entry at the end of the axis T + 1.",
    ),
    (
        "part: of_another_shape",
        "output_layer",
        "return (H @ V + c).ravel()",
        "O is made of the right values in the right order, but of another shape.",
    ),
    (
        "part: row_factor",
        "softmax",
        "return np.exp(O - O.max(axis=-1, keepdims=True)) / 2",
        "Y is right, in each row, up to a factor.",
    ),
    (
        "part: not_summing_to_1",
        "softmax",
        "return np.exp(np.minimum(O, 0)) / 2",
        "Y is made of rows that do not sum to 1 along the last axis, and should.",
    ),
    (
        "part: right_first",
        "rnn_forward",
        "return np.tanh(X @ U + h0 @ W + b)",
        "H is right at the first step in every case; what is wrong is in those behind it.",
    ),
    (
        "part: right_last",
        "state_gradient_norms",
        "return np.arange(len(H)) * 1.0 + np.sqrt((dh_last**2).sum()) - len(H) + 1",
        "norms is right at the last step in every case; what is wrong is in those before it.",
    ),
    (
        "part: first_missing",
        "decode",
        "return ''.join(chars[i] for i in list(ids)[1:])",
        "text is right, but the first character is missing.",
    ),
    (
        "part: lacks",
        "count_ngrams",
        "counts = model(tokens, n)\n return dict(list(counts.items())[:1])",
        "it is right in what is there, but lacks some keys that belong there.",
    ),
    (
        "depends",
        "rnn_forward",
        "return np.tanh(np.cumsum(X @ U + b, axis=0))",
        "H stays the same when h0 is set to zero, and should not.",
    ),
    (
        "cases",
        "combine",
        "if how == 'concat': return np.concatenate([H_f, H_b], axis=-1)\n"
        " if how == 'sum': return H_f - H_b * H_f\n if how == 'product': return H_f * H_b\n raise ValueError(how)",
        "Only the cases with how = 'sum' fail; all others pass.",
    ),
    (
        "changed cases",
        "rnn_step",
        "return np.tanh(x @ U + b) + np.sin(h_prev @ W)",
        "With h_prev set to zero, every case comes out right.",
    ),
    (
        "only",
        "rnn_step_backward",
        "return {dx}, {dh}, {dU}, np.sin({dW}) * np.cos(np.sum({dU})), {db}",
        "dW is wrong; dx, dh_prev, dU and db are right in every case.",
    ),
]


@pytest.mark.parametrize(("kind", "name", "body", "sentence"), FOUND)
def test_a_relation_is_found(kind, name, body, sentence):
    arguments = ", ".join(axes.name for axes in exercises.find(name).takes)
    body = body.format(**STEP_BACK) if "{" in body else body
    found = looked_at(name, f"def {name}({arguments}):\n {body}\n")
    # A statement can be sent, kept, and verified again.
    sent = [Statement(one.kind, decode(encode(one.parameters))) for one in found.said]
    assert all(found.is_so(one, DRAWS + 1) for one in sent)
    said = [words(one, found.exercise) for one in sent if one.kind == kind]
    assert any(sentence in text for text in said), (said, [words(one, found.exercise) for one in found.said])
