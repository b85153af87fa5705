"""What every function of arrays keeps to, whatever it computes: a suite that the units' tests inherit."""

from __future__ import annotations

from itertools import chain, combinations, repeat

import numpy as np

FLOATS = np.float32, np.float64


def arrays_in(value):
    """All arrays in nested tuples, lists and dicts, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    return [array for item in value for array in arrays_in(item)] if isinstance(value, (list, tuple)) else [value]


def change_all(value, change):
    """The same nested tuples and lists with every array changed."""
    if isinstance(value, (list, tuple)):
        return type(value)(change_all(item, change) for item in value)
    return change(value)


def scattered(array):
    """The same array in another order in memory, or with gaps."""
    return np.asfortranarray(array) if array.ndim > 1 else np.repeat(array, 2)[::2]


def first_of(dtype, other):
    """A change: the first array of floats gets the dtype, all after it the other one."""
    dtypes = chain([dtype], repeat(other))
    return lambda array: array.astype(next(dtypes)) if array.dtype.kind == "f" else array


class ArrayFunctionsSuite:
    """To inherit, with `calls`: for each name a function and the names of its arguments; and with `draw_arguments`, a
    method that takes a dtype and any of `extents`, and draws them all, by name.
    """

    calls: dict[str, tuple]
    extents = ({"steps": 1}, {"steps": 4})

    def pytest_generate_tests(self, metafunc):
        for name, values in (("name", self.calls), ("extents", self.extents), ("dtype", FLOATS)):
            if name in metafunc.fixturenames:
                metafunc.parametrize(name, values, ids=str if name == "extents" else None)

    def call(self, name, change=np.copy, dtype=np.float64, **extents):
        """The arrays in what a function returns, and those in its arguments, each changed before the call."""
        function, names = self.calls[name]
        drawn = self.draw_arguments(dtype, **extents)
        arguments = [change_all(drawn[argument], change) for argument in names]
        return arrays_in(function(*arguments)), arrays_in(arguments)

    def test_results_keep_the_dtype_and_the_first_float_array_decides_among_several(self, name, dtype):
        for other in FLOATS:
            results, _ = self.call(name, first_of(dtype, other))
            np.testing.assert_equal({result.dtype for result in results}, {np.dtype(dtype)})

    def test_lists_will_do_for_arrays(self, name):
        for result, expected in zip(self.call(name, np.ndarray.tolist)[0], self.call(name)[0], strict=True):
            np.testing.assert_equal(result.dtype, np.float64)
            np.testing.assert_array_equal(result, expected)

    def test_arguments_are_left_as_they_were_and_may_be_read_only(self, name, extents):
        def read_only(array):
            array.flags.writeable = False
            return array

        _, arguments = self.call(name, read_only, **extents)
        drawn = self.draw_arguments(np.float64, **extents)
        expected = arrays_in([drawn[argument] for argument in self.calls[name][1]])
        for argument, array in zip(arguments, expected, strict=True):
            np.testing.assert_array_equal(argument, array)

    def test_results_share_no_memory_with_arguments_or_with_each_other(self, name, extents):
        results, arguments = self.call(name, **extents)
        shared = [np.shares_memory(result, argument) for result in results for argument in arguments]
        shared += [np.shares_memory(*pair) for pair in combinations(results, 2)]
        assert not any(shared)

    def test_arrays_may_lie_in_memory_in_any_order(self, name):
        for result, expected in zip(self.call(name, scattered)[0], self.call(name)[0], strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-10, atol=1e-12)
