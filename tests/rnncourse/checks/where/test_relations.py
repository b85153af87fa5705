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
from rnncourse.checks.where.relations import holds, relations, words

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
    space = Judge(name).space
    return Looked(found, _Candidate(textwrap.dedent(source), name, space))


def said_of(name, source):
    found = looked_at(name, source)
    return [words(one, found.exercise) for one in found.said]


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
    seed = random.randrange(10**6)
    rng = random.Random(seed)
    tasks = [rng.choice(mutants_of(e.name)) for e in rng.sample(CODE, 30)]
    spaces = {task: {} for task in tasks}
    spaces |= dict(strangers(rng, 15))
    results = list(each(list(spaces), lambda mutant: false_statements(mutant, spaces[mutant]), 1))
    assert len(results) == len(spaces)
    assert [(seed, str(mutant), said) for mutant, said in results if said] == []


# --- what is found


FOUND = [
    (
        "rnn_forward",
        "def rnn_forward(X, h0, U, W, b):\n return np.tanh(X @ U + h0 @ W + b)",
        "H is right at the first step; every later one is wrong.",
    ),
]


@pytest.mark.parametrize(("name", "source", "sentence"), FOUND)
def test_a_relation_is_found(name, source, sentence):
    assert sentence in said_of(name, source)
