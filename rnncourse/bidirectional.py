r"""Unit 09. Bidirectional layers: a state that knows the past, beside one that knows the future.

Two layers with parameters of their own read the same sequence, one from each end, both from a state of zeros:

    forward    f_t = tanh(x_t U_f + f_{t-1} W_f + b_f)        t = 1 ... T
    backward   g_t = tanh(x_t U_b + g_{t+1} W_b + b_b)        t = T ... 1
    together   h_t = [f_t, g_t]    or  f_t + g_t    or  f_t * g_t

The backward layer is the forward one on the reversed sequence, with its states reversed again, so that f_t and g_t both
belong to x_t. In a batch of sequences of several lengths each is reversed within its own length: reversed as a whole,
the backward layer would begin in the padding.

The whole sequence has been read by f at its last real step, and by g at its first.

Hidden Markov models had two such chains before: alpha from the left, beta from the right. Their state is one of K, and
what alpha carries is how likely each of them is, given what has been observed:

    alpha_t = (alpha_{t-1} transition) * emission[:, x_t]        filtered_t = alpha_t / sum(alpha_t)

Sources: L. R. Rabiner, "A Tutorial on Hidden Markov Models and Selected Applications in Speech Recognition",
Proceedings of the IEEE 77, 1989; M. Schuster, K. K. Paliwal, "Bidirectional Recurrent Neural Networks", IEEE
Transactions on Signal Processing 45, 1997; A. Graves, J. Schmidhuber, "Framewise Phoneme Classification with
Bidirectional LSTM and Other Neural Network Architectures", Neural Networks 18, 2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Integer, Real, Shaped

from rnncourse.bptt import rnn_backward
from rnncourse.cell import as_floats, rnn_forward

if TYPE_CHECKING:
    from rnncourse.bidirectional_torch import BiTagger as BiTagger

# The (U, W, b) of one direction.
Direction = Sequence[Real[np.ndarray, "..."] | Sequence]
DirectionGradients = tuple[Float[np.ndarray, "D _"], Float[np.ndarray, "_ _"], Float[np.ndarray, "_"]]


def __getattr__(name: str) -> Any:
    # Loaded at first use: whoever stays with NumPy does not wait for torch.
    if name == "BiTagger":
        from rnncourse.bidirectional_torch import BiTagger

        return BiTagger
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def reverse_sequence(
    X: Shaped[np.ndarray, "T N ..."] | Sequence, lengths: Integer[np.ndarray, "N"] | Sequence | None = None
) -> Shaped[np.ndarray, "T N ..."]:
    """Reverse each sequence of a batch in time, within its length; the padding stays where and what it is.

    Without `lengths` all are T steps long. Reversing twice gives X again.

    >>> reverse_sequence([[1, 5], [2, 6], [3, 0]], lengths=[3, 2]).T
    array([[3, 2, 1],
           [6, 5, 0]])
    """
    X = np.asarray(X)
    if lengths is None:
        return X[::-1].copy()
    ends, t = np.asarray(lengths, dtype=np.int64), np.arange(len(X))[:, None]
    return X[np.where(t < ends, ends - 1 - t, t), np.arange(X.shape[1])]


def combine(
    H_f: Real[np.ndarray, "*axes _"] | Sequence, H_b: Real[np.ndarray, "*axes _"] | Sequence, how: str
) -> Float[np.ndarray, "*axes _"]:
    """Join the states of both directions, aligned with time, by "concat" (along the last axis), "sum" or "product".

    The shapes are (T, N, H), or (N, H) for summaries. A ValueError for any other `how`.

    >>> [combine([[1.0, 2.0]], [[3.0, 4.0]], how).tolist() for how in ("concat", "sum", "product")]
    [[[1.0, 2.0, 3.0, 4.0]], [[4.0, 6.0]], [[3.0, 8.0]]]
    """
    H_f, H_b = as_floats(H_f, H_b)
    if how == "concat":
        return np.concatenate([H_f, H_b], axis=-1)
    if how == "sum":
        return H_f + H_b
    if how == "product":
        return H_f * H_b
    raise _unknown(how)


def _unknown(how: str) -> ValueError:
    return ValueError(f'how must be "concat", "sum" or "product", and is {how!r}.')


def bidirectional_forward(
    X: Real[np.ndarray, "T N D"] | Sequence,
    forward: Direction,
    backward: Direction,
    how: str = "concat",
    lengths: Integer[np.ndarray, "N"] | Sequence | None = None,
) -> Float[np.ndarray, "T N _"]:
    """Run both directions from zeros and combine their states: (T, N, 2H) for "concat", else (T, N, H).

    `forward` and `backward` are (U, W, b). With `lengths` the padding reaches no real step; what comes out at padded
    steps means nothing.

    >>> add_up = [[1.0]], [[1.0]], [0.0]
    >>> bidirectional_forward([[[0.1]], [[0.0]], [[0.0]]], add_up, add_up).round(2).tolist()
    [[[0.1, 0.1]], [[0.1, 0.0]], [[0.1, 0.0]]]
    """
    return combine(*both_states(X, forward, backward, lengths), how)


def both_states(
    X: Real[np.ndarray, "T N D"] | Sequence,
    forward: Direction,
    backward: Direction,
    lengths: Integer[np.ndarray, "N"] | Sequence | None = None,
) -> tuple[Float[np.ndarray, "T N _"], Float[np.ndarray, "T N _"]]:
    """Run both directions from zeros and return the states of each, H_f and H_b, both aligned with time.

    >>> add_up = [[1.0]], [[1.0]], [0.0]
    >>> H_f, H_b = both_states([[[0.1]], [[0.0]], [[0.0]]], add_up, add_up)
    >>> H_f.ravel().round(2).tolist(), H_b.ravel().round(2).tolist()
    ([0.1, 0.1, 0.1], [0.1, 0.0, 0.0])
    """
    X, *parameters = as_floats(X, *forward, *backward)
    H_f = rnn_forward(X, _zeros(X, parameters[1]), *parameters[:3])
    H_b = rnn_forward(reverse_sequence(X, lengths), _zeros(X, parameters[4]), *parameters[3:])
    return H_f, reverse_sequence(H_b, lengths)


def _zeros(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return the start state of a direction, (N, H)."""
    return np.zeros((X.shape[1], len(W)), dtype=X.dtype)


def bidirectional_backward(
    dH: Real[np.ndarray, "T N _"] | Sequence,
    X: Real[np.ndarray, "T N D"] | Sequence,
    forward: Direction,
    backward: Direction,
    how: str = "concat",
) -> tuple[Float[np.ndarray, "T N D"], DirectionGradients, DirectionGradients]:
    """Run forwards, and go back: from the errors of the combined states to dX and each direction's (dU, dW, db).

    Who has the states already goes on from them with `backward_from_both`.

    >>> add_up = [[1.0]], [[1.0]], [0.0]
    >>> dX, *gradients = bidirectional_backward([[[0.0, 0.0]], [[1.0, 1.0]]], [[[0.5]], [[0.0]]], add_up, add_up)
    >>> dX.ravel().round(3).tolist()
    [0.64, 1.814]
    """
    dH, X, *parameters = as_floats(dH, X, *forward, *backward)
    forward, backward = parameters[:3], parameters[3:]
    return backward_from_both(dH, X, *both_states(X, forward, backward), forward, backward, how)


def backward_from_both(
    dH: Real[np.ndarray, "T N _"] | Sequence,
    X: Real[np.ndarray, "T N D"] | Sequence,
    H_f: Real[np.ndarray, "T N _"] | Sequence,
    H_b: Real[np.ndarray, "T N _"] | Sequence,
    forward: Direction,
    backward: Direction,
    how: str = "concat",
) -> tuple[Float[np.ndarray, "T N D"], DirectionGradients, DirectionGradients]:
    """Go back from the states of `both_states`; as `bidirectional_backward`, without its forward pass.

    >>> add_up, X = ([[1.0]], [[1.0]], [0.0]), np.ones((4, 2, 1))
    >>> dX, *gradients = backward_from_both(X, X, *both_states(X, add_up, add_up), add_up, add_up, how="sum")
    >>> dX.shape
    (4, 2, 1)
    """
    dH, X, H_f, H_b, *parameters = as_floats(dH, X, H_f, H_b, *forward, *backward)
    if how == "concat":
        hidden = H_f.shape[-1]
        dH_f, dH_b = dH[..., :hidden], dH[..., hidden:]
    elif how == "sum":
        dH_f = dH_b = dH
    elif how == "product":
        dH_f, dH_b = dH * H_b, dH * H_f
    else:
        raise _unknown(how)
    U_f, W_f, _, U_b, W_b, _ = parameters
    dX, _, dU_f, dW_f, db_f = rnn_backward(dH_f, X, _zeros(X, W_f), H_f, U_f, W_f)
    dX_b, _, dU_b, dW_b, db_b = rnn_backward(dH_b[::-1], X[::-1], _zeros(X, W_b), H_b[::-1], U_b, W_b)
    dX += dX_b[::-1]
    return dX, (dU_f, dW_f, db_f), (dU_b, dW_b, db_b)


def final_summary(
    H_f: Real[np.ndarray, "T N _"] | Sequence,
    H_b: Real[np.ndarray, "T N _"] | Sequence,
    lengths: Integer[np.ndarray, "N"] | Sequence,
    how: str = "concat",
) -> Float[np.ndarray, "N _"]:
    """Combine each direction's state after it has read everything, for one decision about a whole sequence.

    For H_f that is the state of the last real step, lengths - 1; for H_b, which is aligned with time, it is H_b[0].

    >>> final_summary([[[1.0]], [[2.0]], [[0.0]]], [[[5.0]], [[4.0]], [[0.0]]], lengths=[2])
    array([[2., 5.]])
    """
    H_f, H_b = as_floats(H_f, H_b)
    ends = np.asarray(lengths, dtype=np.int64) - 1
    return combine(H_f[ends, np.arange(len(ends))], H_b[0], how)


def hmm_forward(
    start: Real[np.ndarray, "K"] | Sequence,
    transition: Real[np.ndarray, "K K"] | Sequence,
    emission: Real[np.ndarray, "K Q"] | Sequence,
    observations: Integer[np.ndarray, "T"] | Sequence,
) -> tuple[Float[np.ndarray, "T K"], float]:
    """Run the forward algorithm of a hidden Markov model: (filtered, the natural logarithm of P(observations)).

    `start` holds the probabilities of the first state, `transition` those from a row's state to a column's, `emission`
    those of each observation in each state. filtered[t] is P(state_t | observations up to t). Scaled at each step, so
    that nothing underflows however long the sequence is. A ValueError if the model cannot give these observations.

    >>> filtered, log_likelihood = hmm_forward([0.5, 0.5], [[0.8, 0.2], [0.4, 0.6]], [[0.9, 0.1], [0.5, 0.5]], [0, 1])
    >>> filtered.round(3).tolist(), round(log_likelihood, 3)
    ([[0.643, 0.357], [0.277, 0.723]], -1.796)
    """
    start, transition, emission = as_floats(start, transition, emission)
    likely = emission.T[np.asarray(observations, dtype=np.int64)]  # of what was observed at t, in each state
    filtered, chances = np.empty_like(likely), np.empty_like(likely[:, 0])
    predicted = start
    for t in range(len(likely)):
        joint = np.multiply(predicted, likely[t], out=filtered[t])
        chances[t] = joint.sum()
        if not chances[t] > 0:
            raise ValueError(f"The model cannot give what was observed at step {t}: give it a probability above 0.")
        joint /= chances[t]
        predicted = joint @ transition
    return filtered, float(np.log(chances.astype(np.float64)).sum())
