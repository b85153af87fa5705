r"""Unit 14. Scans: recurrences that do not take one step after the other.

A tanh around h_{t-1} leaves no short cut from one state to a later one. A recurrence that is linear in the state does:

    h_t = a_t h_{t-1} + b_t

Each step is a map h -> a h + b, and two of them in a row are again such a map, (a, b) then (a', b'): (a' a, a' b + b').
That is associative, so the steps may be bracketed as one likes: in pairs, all pairs at a time. After about 2 log2(T)
rounds every prefix is known, from fewer than 2 T combinations. No division is needed, so nothing blows up as a product
of many a_t goes to zero. The minimal GRU is a gated cell made to fit: its gates look at x_t alone.

    z_t = sigma(x_t W_z)        h_t = (1 - z_t) h_{t-1} + z_t x_t W_h

Two more are the same recurrence. Attention without its softmax keeps one matrix in place of all keys and values, and a
diagonal state space is a bank of leaky sums that are weighed together:

    S_t = S_{t-1} + k_t^T v_t,  out_t = q_t S_t             s_t = a s_{t-1} + b x_t,  y_t = sum_n c_n s_tn

The way back of a tanh cell is linear in the errors, whatever it was forwards, so it is a scan as well, of matrices:

    e_t = dh_t + e_{t+1} diag(1 - h_{t+1}^2) W^T

Sources: G. E. Blelloch, "Prefix Sums and Their Applications", CMU-CS-90-190, 1990; E. Martin, C. Cundy, "Parallelizing
Linear Recurrent Neural Nets Over Sequence Length", ICLR 2018; A. Katharopoulos et al., "Transformers are RNNs: Fast
Autoregressive Transformers with Linear Attention", ICML 2020; A. Gu et al., "On the Parameterization and Initialization
of Diagonal State Space Models", NeurIPS 2022; L. Feng et al., "Were RNNs All We Needed?", arXiv:2410.01201, 2024.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Real, Shaped

from rnncourse.cell import as_floats


def linear_recurrence(
    a: Shaped[np.ndarray, "T *axes"] | Sequence, b: Shaped[np.ndarray, "T *axes"] | Sequence, h0: Any
) -> Shaped[np.ndarray, "T *axes"]:
    """Run h_t = a_t * h_{t-1} + b_t, entry by entry and step by step, and return h_1 to h_T, (T, …).

    a and b have one shape, (T, …), else a ValueError; h0 is (…), and not in the result. Arrays of objects that can
    be multiplied and added are taken as they are.

    >>> linear_recurrence([0.5, 0.5, 2.0], [0.0, 1.0, 0.0], h0=4.0)
    array([2., 2., 4.])
    """
    a, b, h0 = _operands(a, b, h0)
    _require_one_shape(a, b)
    H = np.empty(a.shape, dtype=a.dtype)
    rows = (len(a), -1)  # each step one flat row: an array, even where a step is a number
    h = np.broadcast_to(h0, a.shape[1:]).ravel()
    for state, factor, term in zip(H.reshape(rows), a.reshape(rows), b.reshape(rows)):
        np.multiply(factor, h, out=state)
        state += term
        h = state
    return H


def combine_affine(first: Sequence[Any], second: Sequence[Any]) -> tuple[Any, Any]:
    """Make one map h -> a h + b of two, each a pair (a, b), of which `first` is applied first.

    a and b may be arrays of any shapes that broadcast, numbers, or objects that can be multiplied and added.

    >>> a, b = combine_affine((2.0, 1.0), (3.0, 5.0))  # h -> 2h + 1 -> 3(2h + 1) + 5
    >>> float(a), float(b)
    (6.0, 8.0)
    """
    a_1, b_1, a_2, b_2 = _operands(*first, *second)
    return np.multiply(a_2, a_1), np.add(np.multiply(a_2, b_1), b_2)  # for single objects too, which `+` would unpack


def associative_scan(
    a: Shaped[np.ndarray, "T *axes"] | Sequence, b: Shaped[np.ndarray, "T *axes"] | Sequence, h0: Any
) -> Shaped[np.ndarray, "T *axes"]:
    """Compute what `linear_recurrence` computes, in O(log T) dependent steps.

    Arguments and result are the same. Each of at most 2 log2(T) rounds is one call of `combine_affine` on arrays, so
    that all its combinations could run at a time; together they are fewer than 2 T. Where |a| stays above 1 for long,
    products of a alone may overflow before the states do.

    >>> associative_scan([0.5, 0.5, 2.0], [0.0, 1.0, 0.0], h0=4.0)
    array([2., 2., 4.])
    """
    a, b, h0 = _operands(a, b, h0)
    _require_one_shape(a, b)
    b = b.copy()
    b[:1] += a[:1] * h0  # the first map knows where it starts, and so does every prefix
    return _prefixes(a, b)[1]


def _prefixes(
    a: Shaped[np.ndarray, "T *axes"], b: Shaped[np.ndarray, "T *others"], matrices: bool = False
) -> tuple[Shaped[np.ndarray, "T *axes"], Shaped[np.ndarray, "T *others"]]:
    """Combine the maps 0 to t, for every t: pairs first, then the prefixes of the pairs, then what lies between."""
    steps = len(a)
    if steps == 1:
        return a, b
    combine = _combine_matrices if matrices else combine_affine
    pairs = combine((a[: steps - 1 : 2], b[: steps - 1 : 2]), (a[1::2], b[1::2]))
    odd = _prefixes(*pairs, matrices)  # those up to 1, 3, 5, ...
    before = (steps - 1) // 2
    even = combine((odd[0][:before], odd[1][:before]), (a[2::2], b[2::2]))  # up to 2, 4, 6, ...
    prefixes = []
    for given, at_odd, at_even in zip((a, b), odd, even):
        woven = np.empty(given.shape, dtype=given.dtype)
        woven[0], woven[1::2], woven[2::2] = given[0], at_odd, at_even
        prefixes.append(woven)
    return prefixes[0], prefixes[1]


def matrix_scan(
    A: Shaped[np.ndarray, "T *batch H H"], B: Shaped[np.ndarray, "T *batch H"]
) -> Shaped[np.ndarray, "T *batch H"]:
    """Run the rows e_t = e_{t-1} A_t + B_t from e_0 = 0 by a scan, and return e_1 to e_T; A_1 has no part in it.

    A combination is a product of two matrices, H^3 products, where a step of the loop takes H^2.

    >>> turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> matrix_scan(np.array([turn, turn, turn]), np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])).tolist()
    [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]
    """
    return np.ascontiguousarray(_prefixes(A, B[..., None, :], matrices=True)[1][..., 0, :])


def _combine_matrices(first: Sequence[Any], second: Sequence[Any]) -> tuple[Any, Any]:
    """Make one map e -> e A + B of two, each a pair of a matrix and a row, of which `first` is applied first."""
    (A_1, B_1), (A_2, B_2) = first, second
    return A_1 @ A_2, B_1 @ A_2 + B_2


def backward_by_scan(
    dH: Shaped[np.ndarray, "T N H"] | Sequence,
    H: Shaped[np.ndarray, "T N H"] | Sequence,
    W: Shaped[np.ndarray, "H H"] | Sequence,
) -> Shaped[np.ndarray, "T N H"]:
    """Take errors back through a plain tanh cell in O(log T) rounds, and return the whole error of each state.

    Entry t of `dH` is the error that reaches h_t from its own output, H are the states that the cell went through. What
    comes back is what `rnn_backward` has in hand at each step of its walk. A combination is a product of two matrices:
    O(N T H^3) products in all, where the walk takes N T H^2, and N T H^2 numbers at a time.

    >>> backward_by_scan(dH=[[[0.0]], [[0.0]], [[1.0]]], H=[[[0.9]], [[0.5]], [[0.0]]], W=[[2.0]]).ravel()
    array([3., 2., 1.])
    """
    dH, H, W = _operands(dH, H, W)
    jacobians = (1 - H * H)[..., None] * W.T  # (T, N, H, H): from an error of h_t to one of h_{t-1}
    # Nothing comes from behind the end, so the first matrix may be any.
    later_first = np.concatenate([jacobians[:1], jacobians[:0:-1]])
    return matrix_scan(later_first, dH[::-1])[::-1].copy()


def min_gru_forward(
    X: Real[np.ndarray, "T N D"] | Sequence,
    h0: Real[np.ndarray, "N H"] | Sequence,
    Wz: Real[np.ndarray, "D H"] | Sequence,
    Wh: Real[np.ndarray, "D H"] | Sequence,
) -> Float[np.ndarray, "T N H"]:
    """Run the minimal GRU over a sequence by a scan and return the states h_1 to h_T; h0 is not among them.

    >>> min_gru_forward([[[1.0]], [[0.0]]], h0=[[8.0]], Wz=[[0.0]], Wh=[[4.0]]).ravel()
    array([6., 3.])
    """
    X, h0, Wz, Wh = as_floats(X, h0, Wz, Wh)
    inputs = X.reshape(-1, X.shape[-1])
    gate = 0.5 * np.tanh(0.5 * (inputs @ Wz)) + 0.5  # the logistic function, in a form that never overflows
    shape = (*X.shape[:-1], Wz.shape[1])
    return associative_scan((1 - gate).reshape(shape), (gate * (inputs @ Wh)).reshape(shape), h0)


def linear_attention(
    Q: Real[np.ndarray, "T d"] | Sequence,
    K: Real[np.ndarray, "T d"] | Sequence,
    V: Real[np.ndarray, "T d_v"] | Sequence,
) -> Float[np.ndarray, "T d_v"]:
    """Attend to all steps up to one's own without a softmax, and return q_t sum_{s <= t} k_s^T v_s, (T, d_v).

    The sum is a state of shape (d, d_v), which the scan carries: its size does not grow with T.

    >>> linear_attention(Q=[[1.0, 0.0], [0.0, 2.0]], K=[[0.0, 1.0], [0.0, 1.0]], V=[[3.0], [4.0]]).ravel()
    array([ 0., 14.])
    """
    Q, K, V = as_floats(Q, K, V)
    pairs = K[:, :, None] * V[:, None, :]  # (T, d, d_v)
    states = _prefixes(np.ones_like(pairs), pairs)[1]  # from 0, where a prefix is its own state
    return (Q[:, None, :] @ states)[:, 0]


def diagonal_ssm(
    x: Shaped[np.ndarray, "T"] | Sequence,
    a: Shaped[np.ndarray, "N"] | Sequence,
    b: Shaped[np.ndarray, "N"] | Sequence,
    c: Shaped[np.ndarray, "N"] | Sequence,
) -> Shaped[np.ndarray, "T"]:
    """Run a diagonal state space over a signal by a scan: s_t = a s_{t-1} + b x_t from 0, y_t = sum of c s_t, (T,).

    Arrays of objects that can be multiplied and added are taken as they are.

    >>> diagonal_ssm([1.0, 0.0, 0.0], a=[0.5, 0.0], b=[1.0, 1.0], c=[4.0, 1.0])
    array([5., 2., 1.])
    """
    x, a, b, c = _operands(x, a, b, c)
    terms = x[:, None] * b
    return np.asarray(_prefixes(np.broadcast_to(a, terms.shape), terms)[1] @ c)


def _operands(*arguments: Any) -> list[np.ndarray]:
    """Turn all arguments into arrays: of floats, by the course's rule, or of objects if there are any."""
    arrays = [np.asarray(argument) for argument in arguments]
    if any(array.dtype == object for array in arrays):
        return [array.astype(object) for array in arrays]
    return as_floats(*arguments)


def _require_one_shape(a: np.ndarray, b: np.ndarray) -> None:
    if a.shape != b.shape:
        raise ValueError(f"a and b must have one shape, and have {a.shape} and {b.shape}.")
