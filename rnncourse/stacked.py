r"""Unit 08. Stacked recurrent layers: the states of one layer are the inputs of the next.

With h_t^0 = x_t, layer l of L has a U, a W, a b and a start state of its own:

    h_t^l = tanh(h_t^{l-1} U^l + h_{t-1}^l W^l + b^l)        U^1 (D, H), every other U^l (H, H), W^l (H, H), b^l (H,)

so that a state has two parents, one step earlier and one layer lower, and its error comes from two sides as well:
through W^l from the step after it, and through U^{l+1} from the layer above. Going back, what is dX for one layer is dH
for the layer under it. A layer can run over all steps before the next one starts, forwards and backwards.

Dropout stands between layers only: what is dropped from layer to layer is missed at one step, while what would be
dropped from step to step would be missed at all that follow. Unless the same is missing at all steps: one mask for the
whole sequence ("locked", or variational, dropout) may stand along time as well.

Layer normalisation gives the numbers that a tanh reads a mean and a size that do not depend on the weights.

Sources: J. Schmidhuber, "Learning Complex, Extended Sequences Using the Principle of History Compression", Neural
Computation 4, 1992; R. Pascanu, C. Gulcehre, K. Cho, Y. Bengio, "How to Construct Deep Recurrent Neural Networks", ICLR
2014; W. Zaremba, I. Sutskever, O. Vinyals, "Recurrent Neural Network Regularization", arXiv:1409.2329, 2014; Y. Gal,
Z. Ghahramani, "A Theoretically Grounded Application of Dropout in Recurrent Neural Networks", NeurIPS 2016; J. L. Ba,
J. R. Kiros, G. E. Hinton, "Layer Normalization", arXiv:1607.06450, 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

import numpy as np
from jaxtyping import Bool, Float, Real

from rnncourse.bptt import rnn_backward
from rnncourse.cell import as_floats, rnn_forward

if TYPE_CHECKING:
    from rnncourse.stacked_torch import StackedRNN as StackedRNN

# The (U, W, b) of one layer.
Layer = Sequence[Real[np.ndarray, "..."] | Sequence]
LayerGradients = tuple[Float[np.ndarray, "_ H"], Float[np.ndarray, "H H"], Float[np.ndarray, "H"]]


def __getattr__(name: str) -> Any:
    # Loaded at first use: whoever stays with NumPy does not wait for torch.
    if name == "StackedRNN":
        from rnncourse.stacked_torch import StackedRNN

        return StackedRNN
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def stacked_forward(
    X: Real[np.ndarray, "T N D"] | Sequence, h0: Real[np.ndarray, "L N H"] | Sequence, layers: Sequence[Layer]
) -> tuple[Float[np.ndarray, "T N H"], Float[np.ndarray, "L N H"]]:
    """Run the layers over a sequence: the states of the top layer, and the last state of each.

    `layers` holds one (U, W, b) a layer, from the bottom to the top, and `h0` one start state a layer.

    >>> layer = [[1.0]], [[1.0]], [0.0]
    >>> H_top, h_n = stacked_forward([[[1.0]], [[0.0]]], [[[0.0]], [[0.0]]], [layer, layer])
    >>> H_top.ravel().round(3).tolist(), h_n.ravel().round(3).tolist()
    ([0.642, 0.858], [0.642, 0.858])
    """
    states = stacked_states(X, h0, layers)
    return states[-1], np.stack([H[-1] for H in states])


def stacked_states(
    X: Real[np.ndarray, "T N D"] | Sequence, h0: Real[np.ndarray, "L N H"] | Sequence, layers: Sequence[Layer]
) -> list[Float[np.ndarray, "T N H"]]:
    """Run the layers over a sequence and return the states of every one, from the bottom to the top.

    >>> layer = np.eye(5), np.eye(5), np.zeros(5)
    >>> [H.shape for H in stacked_states(np.ones((4, 2, 5)), np.zeros((3, 2, 5)), [layer, layer, layer])]
    [(4, 2, 5), (4, 2, 5), (4, 2, 5)]
    """
    (X, h0), layers = _all_as_floats([X, h0], layers)
    states: list[np.ndarray] = []
    if len(h0) != len(layers):
        raise ValueError(f"h0 needs a start state for each layer, and has {len(h0)} for {len(layers)}.")
    for start, (U, W, b) in zip(h0, layers):
        states.append(rnn_forward(states[-1] if states else X, start, U, W, b))
    return states


def _all_as_floats(
    arrays: Sequence[Any], layers: Sequence[Layer]
) -> tuple[list[np.ndarray], list[tuple[np.ndarray, np.ndarray, np.ndarray]]]:
    """Turn arrays and layers into float arrays, in the dtype of the first float array among all of them."""
    flat = as_floats(*arrays, *(parameter for layer in layers for parameter in layer))
    parameters = iter(flat[len(arrays) :])
    return flat[: len(arrays)], list(zip(parameters, parameters, parameters))


def stacked_backward(
    dH_top: Real[np.ndarray, "T N H"] | Sequence,
    X: Real[np.ndarray, "T N D"] | Sequence,
    h0: Real[np.ndarray, "L N H"] | Sequence,
    layers: Sequence[Layer],
) -> tuple[Float[np.ndarray, "T N D"], Float[np.ndarray, "L N H"], list[LayerGradients]]:
    """Run forwards, and go back: from the errors of the top layer's states to dX, dh0 and each layer's (dU, dW, db).

    Who has the states already goes on from them with `backward_from_states`.

    >>> layer = [[1.0]], [[1.0]], [0.0]
    >>> dH_top, X, h0 = [[[0.0]], [[1.0]]], [[[1.0]], [[0.0]]], [[[0.0]], [[0.0]]]
    >>> dX, dh0, gradients = stacked_backward(dH_top, X, h0, [layer, layer])
    >>> dX.ravel().round(3).tolist(), dh0.ravel().round(3).tolist()
    ([0.131, 0.156], [0.131, 0.156])
    >>> [[gradient.round(3).item() for gradient in layer] for layer in gradients]
    [[0.131, 0.118, 0.286], [0.288, 0.17, 0.42]]
    """
    (dH_top, X, h0), layers = _all_as_floats([dH_top, X, h0], layers)
    return backward_from_states(dH_top, X, h0, stacked_states(X, h0, layers), layers)


def backward_from_states(
    dH_top: Real[np.ndarray, "T N H"] | Sequence,
    X: Real[np.ndarray, "T N D"] | Sequence,
    h0: Real[np.ndarray, "L N H"] | Sequence,
    states: Sequence[Real[np.ndarray, "T N H"] | Sequence],
    layers: Sequence[Layer],
) -> tuple[Float[np.ndarray, "T N D"], Float[np.ndarray, "L N H"], list[LayerGradients]]:
    """Go back through `stacked_states`, whose result is `states`; as `stacked_backward`, without its forward pass.

    >>> X, h0, layers = np.ones((4, 2, 5)), np.zeros((1, 2, 5)), [(np.eye(5), np.eye(5), np.zeros(5))]
    >>> dX, dh0, gradients = backward_from_states(X, X, h0, stacked_states(X, h0, layers), layers)
    >>> dX.shape, dh0.shape, len(gradients)
    ((4, 2, 5), (1, 2, 5), 1)
    """
    (dH, X, h0, *states), layers = _all_as_floats([dH_top, X, h0, *states], layers)
    dh0 = np.empty_like(h0)
    gradients = []
    for l in reversed(range(len(layers))):
        U, W, _ = layers[l]
        # what is dX for this layer is dH for the one under it
        dH, dh0[l], dU, dW, db = rnn_backward(dH, states[l - 1] if l else X, h0[l], states[l], U, W)
        gradients.append((dU, dW, db))
    return dH, dh0, gradients[::-1]


def stacked_parameter_count(D: SupportsIndex, H: SupportsIndex, L: SupportsIndex) -> int:
    """Count the entries of U, W and b in all L layers; PyTorch, with a second bias a layer, has L H more.

    >>> stacked_parameter_count(D=300, H=100, L=2)
    60200
    """
    inputs, hidden, depth = int(D), int(H), int(L)
    return inputs * hidden + (depth - 1) * hidden * hidden + depth * (hidden * hidden + hidden)


def dropout_between(
    H: Real[np.ndarray, "*axes"] | Sequence,
    p: SupportsFloat,
    mask: Bool[np.ndarray, "*axes"] | Real[np.ndarray, "*axes"] | Sequence,
) -> Float[np.ndarray, "*axes"]:
    """Drop what the mask does not keep and scale up the rest by 1 / (1 - p), on the way from one layer to the next.

    `mask` has H's shape, bool or 0/1; True is kept. If each entry is kept with probability 1 - p, the expectation is H:
    so nothing needs to be scaled when the network is used (inverted dropout). A ValueError unless 0 <= p < 1.

    >>> dropout_between([[1.0, 2.0, 3.0]], 0.5, [[True, False, True]])
    array([[2., 0., 6.]])
    """
    probability = _dropped(p)
    (H,) = as_floats(H)
    return np.where(np.asarray(mask).astype(bool), H / (1 - probability), H.dtype.type(0))


def locked_dropout(
    X: Real[np.ndarray, "T N D"] | Sequence, p: SupportsFloat, rng: np.random.Generator
) -> Float[np.ndarray, "T N D"]:
    """Drop the same entries at all steps: one mask (N, D), drawn from `rng`, with the rest scaled up by 1 / (1 - p).

    A ValueError unless 0 <= p < 1.

    >>> locked_dropout(np.ones((3, 1, 4)), 0.5, np.random.default_rng(0))[:, 0]
    array([[2., 0., 0., 0.],
           [2., 0., 0., 0.],
           [2., 0., 0., 0.]])
    """
    probability = _dropped(p)
    (X,) = as_floats(X)
    return dropout_between(X, p, np.broadcast_to(rng.random(X.shape[1:]) >= probability, X.shape))


def _dropped(p: SupportsFloat) -> float:
    """Return p as a number, if it is a probability of being dropped."""
    probability = float(p)
    if not 0 <= probability < 1:
        raise ValueError(f"The probability of being dropped must be at least 0 and less than 1, and is {probability}.")
    return probability


def layer_norm(
    x: Real[np.ndarray, "*axes D"] | Sequence,
    gain: Real[np.ndarray, "D"] | Sequence,
    shift: Real[np.ndarray, "D"] | Sequence,
    eps: SupportsFloat = 1e-5,
) -> Float[np.ndarray, "*axes D"]:
    """Give the entries of the last axis mean 0 and variance 1, then a gain and a shift of their own.

    The variance is the mean square distance from the mean, without correction; `eps` is added to it.

    >>> layer_norm([[1.0, 3.0], [10.0, 30.0]], gain=[1.0, 1.0], shift=[0.0, 0.5], eps=0.0)
    array([[-1. ,  1.5],
           [-1. ,  1.5]])
    """
    x, gain, shift = as_floats(x, gain, shift)
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.mean(centred * centred, axis=-1, keepdims=True)
    centred /= np.sqrt(variance + float(eps))
    centred *= gain
    centred += shift
    return centred
