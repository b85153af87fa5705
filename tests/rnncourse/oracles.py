"""What the tests of the textbook share: drawn sizes, and comparison with what PyTorch gives for the same arrays."""

import numpy as np
import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st

from rnncourse.cell import to_torch_state

drawn = settings(max_examples=12)
seeds = st.integers(0, 2**32 - 1)
float_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])
torch_types = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def leaves(value):
    """All that nested tuples, lists and dicts hold, in order."""
    if isinstance(value, (dict, list, tuple)):
        items = value.values() if isinstance(value, dict) else value
        return [leaf for item in items for leaf in leaves(item)]
    return [value]


def different_sizes(count):
    """Sizes of which no two are the same, so that an axis taken for another one is an error and no luck."""
    return st.lists(st.integers(1, 7), min_size=count, max_size=count, unique=True)


def pick(p, *names):
    """The named values of a dict, in the order of the names."""
    return [p[name] for name in names]


def tensors(p, *names):
    """The named arrays as tensors that collect gradients."""
    return [torch.tensor(p[name], requires_grad=True) for name in names]


def loaded_rnn(parameters, kind=torch.nn.RNN, **settings):
    """PyTorch's RNN with the (U, W, b) of each layer and direction, b split unevenly between its two biases."""
    U = parameters[0][0]
    module = kind(*U.shape, **settings).to(torch.from_numpy(U).dtype)
    converted = [array for one in parameters for array in to_torch_state(*one).values()]
    for parameter, array in zip(module.parameters(), converted, strict=True):
        parameter.data = torch.from_numpy(array)
    for name, parameter in module.named_parameters():
        parameter.data += 0.25 * (name.startswith("bias_ih") - name.startswith("bias_hh"))
    return module


def assert_close(results, expected):
    """Nested arrays and tensors are the same in shape and dtype, and in value up to rounding in the dtype."""
    for pair in zip(leaves(results), leaves(expected), strict=True):
        result, array = (np.asarray(one.detach() if isinstance(one, torch.Tensor) else one) for one in pair)
        assert (result.shape, result.dtype) == (array.shape, array.dtype)
        rtol, atol = (1e-3, 1e-4) if array.dtype == np.float32 else (1e-9, 1e-10)
        np.testing.assert_allclose(result, array, rtol, atol)
