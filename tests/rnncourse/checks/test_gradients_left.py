"""The caller's tensors come back as they went in: without a gradient, and without asking for one."""

import numpy as np
import pytest
import torch

from rnncourse.checks.cases import seed_for
from rnncourse.checks.engine import judge
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.local import Local
from rnncourse.checks.modules import tensors
from rnncourse.exercises import units


def floating(value):
    """The floating tensors in a value that are no results of others."""
    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() and value.is_leaf else []
    if isinstance(value, (list, tuple)):
        return [tensor for v in value for tensor in floating(v)]
    return []


def takes_floating_tensors(exercise):
    """Whether there are such in a case."""
    cases = exercise.draw(np.random.default_rng(seed_for(exercise, False)))
    return any(floating(tensors(one.args)) for one in cases)


DRIVEN = [
    exercise
    for unit in units()
    for exercise in unit
    if isinstance(exercise, Exercise) and exercise.drive.tensors and takes_floating_tensors(exercise)
]


def asks(tensor):
    tensor.requires_grad_()


def leaves_one(tensor):
    tensor.grad = torch.ones_like(tensor)


def marking(mark, function):
    """The function, which does this to each tensor that it is given."""

    def marked(*args):
        for tensor in floating(args):
            mark(tensor)
        return function(*args)

    return marked


def answer_that(mark, exercise):
    """The model answer, which does this to each tensor that it is given, be it a function or a module."""
    made = exercise.made_of(exercise.source, f"<{exercise.name}: marks>")
    if not isinstance(made, type):
        return marking(mark, made)
    made.forward = marking(mark, made.forward)
    return made


ONE_OF_EACH_DRIVER = {exercise.drive: exercise for exercise in DRIVEN}.values()
MARKED = [(exercise, leaves_one) for exercise in DRIVEN] + [(exercise, asks) for exercise in ONE_OF_EACH_DRIVER]


@pytest.mark.parametrize(("exercise", "mark"), MARKED, ids=lambda value: getattr(value, "name", None) or value.__name__)
def test_a_gradient_left_on_an_argument_costs_the_purity_only_and_is_named(exercise, mark):
    with Local(answer_that(mark, exercise), {}) as candidate:
        verdict = judge(exercise, candidate)
    if exercise.name == "gradient_support":  # its text says what x comes with, and nothing of how it is left
        assert verdict.passed
        return
    assert [name for name, met in verdict.criteria.items() if not met] == ["purity"]
    assert "asks for a gradient" in verdict.message
