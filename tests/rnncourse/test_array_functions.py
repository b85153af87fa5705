"""What a function of arrays keeps to, whatever it computes: asked of each exercise's reference, on its own cases."""

from itertools import chain, combinations, product, repeat

import numpy as np
import pytest

from rnncourse.checks.callables import Named
from rnncourse.checks.cases import drawn, seed_for
from tests.rnncourse.exercises.catalogue import CODE
from tests.rnncourse.oracles import leaves

FLOATS = np.float32, np.float64


def arrays_in(value):
    return [leaf for leaf in leaves(value) if isinstance(leaf, np.ndarray)]


def change_all(value, change):
    """The same nested tuples and lists with every array changed. (Named parameters, in a dict, are always arrays.)"""
    if isinstance(value, (list, tuple)):
        return type(value)(change_all(item, change) for item in value)
    return change(value) if isinstance(value, np.ndarray) else value


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def scattered(array):
    """The same array in another order in memory, or with gaps."""
    return np.asfortranarray(array) if array.ndim != 1 else np.repeat(array, 2)[::2]


def first_of(dtype, other):
    """A change: the first array of floats gets the dtype, all after it the other one."""
    dtypes = chain([dtype], repeat(other))
    return lambda array: array.astype(next(dtypes)) if array.dtype.kind == "f" else array


ARRAY_FUNCTIONS = [
    exercise
    for exercise in CODE
    if exercise.unit.chapter and exercise.drive.is_plain
    if any(part.axes is not None for part in exercise.takes)
]


def cases_of(exercise):
    """The arguments of the exercise's cases, but of those that are an error or hold a function by its name."""
    for case, wanted in zip(*drawn(exercise, seed_for(exercise, False)), strict=True):
        if wanted.error is None and not any(isinstance(value, Named) for value in case.args):
            yield case.args


@pytest.mark.parametrize("exercise", ARRAY_FUNCTIONS, ids=lambda exercise: exercise.name)
def test_a_function_keeps_the_dtype_takes_lists_and_any_layout_and_shares_no_memory(exercise):
    def called(change, args):
        given = change_all(args, change)
        return arrays_in(exercise.reference(*given)), arrays_in(given)

    for args in cases_of(exercise):
        results, given = called(np.copy, args)
        pairs = chain(product(results, given), combinations(results, 2))
        assert not any(np.shares_memory(*pair) for pair in pairs)
        called(read_only, args)
        for dtype, other in product(FLOATS, FLOATS) if any(array.dtype.kind == "f" for array in given) else ():
            found, _ = called(first_of(dtype, other), args)
            assert {result.dtype for result in found if result.dtype.kind == "f"} <= {np.dtype(dtype)}
        for change in (np.ndarray.tolist, scattered):
            for result, expected in zip(called(change, args)[0], results, strict=True):
                np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-5)
