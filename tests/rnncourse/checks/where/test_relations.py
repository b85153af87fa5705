"""Statements on how wrong answers are related to right ones: each has to be so on cases that it was not made from."""

import ast
import importlib
import inspect
import random
import textwrap

import numpy as np
import pytest

from mutants.edits import edits
from mutants.running import Judge, Mutant, _Candidate, each, mutants_of
from rnncourse import exercises
from rnncourse.checks.cases import drawn, quiet_observe, seed_for
from rnncourse.checks.engine import judge
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.faults import faults_of
from rnncourse.checks.where.inquiry import Asked
from rnncourse.checks.where.place import Statement
from rnncourse.checks.where.relations import holds, relations, words
from rnncourse.checks.wire import decode, encode
from tests.sampling import ALL

CODE = [e for unit in exercises.units() for e in unit if isinstance(e, Exercise)]
TO_CONFIRM, DRAWS = 3, 10


def asked(exercise, candidate, cases):
    wanted = [quiet_observe(exercise.reference, exercise.drive, one.args) for one in cases]
    seen = [candidate.observe(exercise.drive, one.args) for one in cases]
    return [Asked(c, w, s, bool(faults_of(exercise, c, w, s))) for c, w, s in zip(cases, wanted, seen, strict=True)]


class Looked:
    """A wrong answer, and what is said of it: what a few fresh draws confirm, as for a student."""

    def __init__(self, exercise, candidate):
        self.exercise, self.candidate = exercise, candidate
        self.seed = seed_for(exercise, False)
        self.visible = asked(exercise, candidate, drawn(exercise, self.seed)[0])
        made = relations(exercise, self.visible, self.ask)
        self.said = [s for s in made if all(self.is_so(s, draw) for draw in range(1, TO_CONFIRM + 1))]

    def ask(self, case):
        return self.candidate.observe(self.exercise.drive, case.args)

    def is_so(self, statement, draw):
        cases = self.exercise.draw(np.random.default_rng((*self.seed, draw)))
        return holds(statement, self.exercise, asked(self.exercise, self.candidate, cases), self.ask)


def looked_at(name, source):
    found = exercises.find(name)
    return Looked(found, _Candidate(source, name, {"np": np, **Judge(name).space}))


# --- no statement is false


def strangers(rng, count):
    """Right answers of others with one change."""
    found = []
    for exercise in rng.sample(CODE, count):
        module = importlib.import_module(
            f"tests.rnncourse.exercises.alternatives.{exercise.unit.stem.partition('_')[2]}"
        )
        function = rng.choice(module.ALTERNATIVES[exercise.name])
        try:
            (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
        except (OSError, TypeError, SyntaxError):
            continue
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            node.decorator_list, node.name = [], exercise.name
            source = rng.choice(list(edits(node)))
            found.append((Mutant(exercise.name, source, source), vars(module)))
    return found


def false_statements(mutant, space):
    judge_ = Judge(mutant.exercise)
    candidate = _Candidate(mutant.source, mutant.exercise, {**space, **judge_.space})
    verdict = judge(judge_.exercise, candidate)
    if verdict.passed or verdict.diagnosis:
        return []
    found = Looked(judge_.exercise, candidate)
    return [
        words(one, found.exercise)
        for one in found.said
        if not holds(one, found.exercise, found.visible, found.ask)
        or not all(found.is_so(one, draw) for draw in range(1, DRAWS + 1))
    ]


def test_what_is_said_of_mutants_and_strangers_is_so_on_ten_fresh_draws():
    seed = random.randrange(10**6) if ALL else 1
    rng = random.Random(seed)
    tasks = [rng.choice(mutants_of(e.name)) for e in rng.sample(CODE, 24)]
    spaces = {task: {} for task in tasks}
    spaces |= dict(strangers(rng, 12))
    results = list(each(list(spaces), lambda mutant: false_statements(mutant, spaces[mutant]), 1))
    assert len(results) == len(spaces)
    assert [(seed, str(mutant), said) for mutant, said in results if said] == []


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
        "part: generic",
        "rnn_step_backward",
        "return {dx}, {dh}, -{dU}, {dW}, {db} * np.sin({db})",
        "dU: the sign is wrong. Each entry is minus what it should be.",
    ),
    (
        "part: instead",
        "rnn_step_backward",
        "return {dx}, dh, {dU}, {dW}, {db}",
        "Where dh_prev is wrong, it holds exactly dh. The other results are right.",
    ),
    (
        "part: term",
        "rnn_step",
        "return np.tanh(x @ U + h_prev @ W + 2 * b)",
        "Before the tanh, h is what it should be plus b.",
    ),
    ("part: term", "leaky_average", "return keep * state", "new_state is what it should be minus (1 - keep) · x."),
    (
        "part: factor",
        "leaky_average",
        "return (keep * state + (1 - keep) * x) * x",
        "new_state is what it should be, multiplied by x.",
    ),
    (
        "part: function",
        "perplexity",
        "return -np.mean(log_probabilities)",
        "Wherever perplexity is wrong, it is the logarithm of what it should be.",
    ),
    (
        "part: scaled",
        "shared_parameter_count",
        "return D * (D + H + 1)",
        "count is what it should be, multiplied by D and divided by H.",
    ),
    (
        "part: combination",
        "rnn_parameter_count",
        "return D * H + H * H + H",
        "count is too small by H·Q + Q, whatever the sizes are.",
    ),
    (
        "part: form",
        "unfold_driven",
        "H = [s0]\n for x in xs: H.append(f(H[-1], x, theta))\n return np.array([*H, H[-1]])",
        "states is right, but has one more entry at its end, along the axis T + 1.",
    ),
    (
        "part: shape",
        "output_layer",
        "return (H @ V + c).ravel()",
        "O has the right values in the right order, but another shape.",
    ),
    (
        "part: each by its own",
        "softmax",
        "return np.exp(O - O.max(axis=-1, keepdims=True)) / 2",
        "Y is right up to one factor, the same for all entries of a row, another in each row.",
    ),
    (
        "part: invariant",
        "softmax",
        "return np.exp(np.minimum(O, 0)) / 2",
        "Wherever it is wrong, Y should sum to 1 along its last axis, and does not.",
    ),
    (
        "depends",
        "rnn_forward",
        "return np.tanh(np.cumsum(X @ U + b, axis=0))",
        "H stays the same when h0 is set to zero, and should not.",
    ),
    (
        "region",
        "rnn_forward",
        "return np.tanh(X @ U + h0 @ W + b)",
        "H is right at the first step in every case; what is wrong comes later.",
    ),
    (
        "region",
        "state_gradient_norms",
        "return np.arange(len(H)) * 1.0 + np.sqrt((dh_last**2).sum()) - len(H) + 1",
        "norms is right at the last step in every case; what is wrong comes before.",
    ),
    (
        "cases",
        "combine",
        "if how == 'concat': return np.concatenate([H_f, H_b], axis=-1)\n"
        " if how == 'sum': return H_f - H_b * H_f\n if how == 'product': return H_f * H_b\n raise ValueError(how)",
        "All cases with how = 'sum' fail; all others pass.",
    ),
    (
        "items",
        "decode",
        "return ''.join(chars[i] for i in list(ids)[1:])",
        "Wherever text is wrong, it is right, but the first character is missing.",
    ),
    (
        "changed cases",
        "rnn_step",
        "return np.tanh(x @ U + b) + np.sin(h_prev @ W)",
        "With h_prev set to zero, every case comes out right.",
    ),
    ("smallest", "edit_distance", "return abs(len(a) - len(b))", "A small case: edit_distance("),
    (
        "only",
        "rnn_step_backward",
        "return {dx}, {dh}, {dU}, np.sin({dW}) * np.cos(np.sum({dU})), {db}",
        "Only dW is wrong; dx, dh_prev, dU and db are right in every case.",
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
