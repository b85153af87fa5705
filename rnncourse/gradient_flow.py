r"""Unit 05. Gradient flow: how errors vanish and explode on their way through time, and what can be done.

An error that is read at step T reaches step t through one Jacobian for each step between them:

    dh_{t-1} = (dh_t * (1 - h_t^2)) W^T         ||dh_t|| grows or shrinks like rho^(T-t), times what tanh' takes away

where rho is the spectral radius of W, the largest |eigenvalue|. Below 1 the error vanishes; above 1 it explodes, unless
tanh, whose slope is at most 1, saturates. An orthogonal W keeps every length, so that tanh alone shrinks.

Three answers, of which none makes a lost error come back:

    clipping        g <- g max_norm / ||g||  for all gradients as one vector, if ||g|| > max_norm: a shorter step that
                    points the same way
    truncation      the state is carried from each chunk of k steps to the next, the error is not: O(k) memory for
                    errors, and no example that is longer than a chunk teaches what to keep
    checkpoints     one state in `every` is kept, the others are computed a second time, chunk by chunk from the end:
                    the exact gradient in O(T / every + every) memory, least for every = sqrt(T)

Sources: Y. Bengio, P. Simard, P. Frasconi, "Learning Long-Term Dependencies with Gradient Descent is Difficult", IEEE
Transactions on Neural Networks 5, 1994; R. Pascanu, T. Mikolov, Y. Bengio, "On the Difficulty of Training Recurrent
Neural Networks", ICML 2013; R. J. Williams, J. Peng, "An Efficient Gradient-Based Algorithm for On-Line Training of
Recurrent Network Trajectories", Neural Computation 2, 1990; T. Chen, B. Xu, C. Zhang, C. Guestrin, "Training Deep Nets
with Sublinear Memory Cost", arXiv:1604.06174, 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np
from jaxtyping import Float, Real

from rnncourse.bptt import rnn_backward
from rnncourse.cell import as_floats, rnn_forward


def state_gradient_norms(
    dh_last: Real[np.ndarray, "N H"] | Sequence,
    H: Real[np.ndarray, "T N H"] | Sequence,
    W: Real[np.ndarray, "H H"] | Sequence,
) -> Float[np.ndarray, "T"]:
    """Compute the norm of dL/dh_t at every step, when the loss is read at the last one, where its gradient is dh_last.

    H holds the states of `rnn_forward`. A norm is the root of the sum of squares over batch and units; the last entry
    is that of dh_last itself.

    >>> state_gradient_norms([[3.0, 4.0]], np.zeros((3, 1, 2)), 0.5 * np.eye(2))
    array([1.25, 2.5 , 5.  ])
    """
    dh, H, W = as_floats(dh_last, H, W)
    norms = np.empty(len(H), dtype=dh.dtype)
    norms[-1] = _norm([dh])
    for t in range(len(H) - 1, 0, -1):
        dh = (dh * (1 - H[t] * H[t])) @ W.T
        norms[t - 1] = _norm([dh])
    return norms


def _norm(arrays: Sequence[np.ndarray]) -> float:
    """Return the norm of all entries as one vector, in float64: squares leave the range of float32 too soon."""
    return float(np.sqrt(sum(np.square(array, dtype=np.float64).sum() for array in arrays)))


def spectral_radius(W: Real[np.ndarray, "H H"] | Sequence) -> float:
    """Find the largest absolute value among the eigenvalues of W, which may be complex.

    >>> round(spectral_radius([[0.0, -2.0], [2.0, 0.0]]), 6)  # the eigenvalues are 2i and -2i
    2.0
    """
    return float(np.abs(np.linalg.eigvals(np.asarray(W, dtype=np.float64))).max())


def with_spectral_radius(W: Real[np.ndarray, "H H"] | Sequence, rho: SupportsFloat) -> Float[np.ndarray, "H H"]:
    """Scale W so that its spectral radius is rho. A ValueError if the radius is 0, which no factor changes.

    >>> with_spectral_radius([[-2.0, 8.0], [0.0, 1.0]], 0.5)
    array([[-0.5 ,  2.  ],
           [ 0.  ,  0.25]])
    """
    (W,) = as_floats(W)
    radius = spectral_radius(W)
    if radius == 0:
        raise ValueError("The spectral radius of W is 0 and stays 0 however W is scaled: draw another W.")
    return W * (float(rho) / radius)


def clip_by_global_norm(
    gradients: Sequence[Real[np.ndarray, "..."] | Sequence | SupportsFloat], max_norm: SupportsFloat
) -> tuple[list[Float[np.ndarray, "..."]], float]:
    """Scale all gradients by one factor, max_norm / norm, if their norm as one vector is greater than max_norm.

    The gradients may be of any shapes. Returns new arrays, and the norm before clipping. One factor for all keeps the
    direction of the step; a factor for each would turn it.

    >>> clip_by_global_norm([[3.0], [[4.0]]], max_norm=2.5)
    ([array([1.5]), array([[2.]])], 5.0)
    >>> clip_by_global_norm([[3.0], [[4.0]]], max_norm=10)
    ([array([3.]), array([[4.]])], 5.0)
    """
    clipped = [gradient.copy() for gradient in as_floats(*gradients)]
    norm, limit = _norm(clipped), float(max_norm)
    if norm > limit:
        for gradient in clipped:
            gradient *= limit / norm
    return clipped, norm


def truncated_bptt(
    dH: Real[np.ndarray, "T N H"] | Sequence,
    X: Real[np.ndarray, "T N D"] | Sequence,
    h0: Real[np.ndarray, "N H"] | Sequence,
    H: Real[np.ndarray, "T N H"] | Sequence,
    U: Real[np.ndarray, "D H"] | Sequence,
    W: Real[np.ndarray, "H H"] | Sequence,
    k: SupportsIndex,
) -> tuple[Float[np.ndarray, "D H"], Float[np.ndarray, "H H"], Float[np.ndarray, "H"]]:
    """Go back through `rnn_forward` in chunks of k steps that no error leaves: from dH to (dU, dW, db).

    Chunks start at step 0, and the last may be shorter. Each starts from the true state of the step before it. The
    gradients are sums over chunks; for k >= T they are those of `rnn_backward`. A ValueError if k is less than 1.

    >>> H = rnn_forward([[[1.0]], [[0.0]]], [[0.0]], [[0.5]], [[2.0]], [0.0])
    >>> arguments = [[[0.0]], [[1.0]]], [[[1.0]], [[0.0]]], [[0.0]], H, [[0.5]], [[2.0]]
    >>> [gradient.round(3).item() for gradient in truncated_bptt(*arguments, k=1)]
    [0.0, 0.217, 0.47]
    >>> [gradient.round(3).item() for gradient in truncated_bptt(*arguments, k=2)]
    [0.74, 0.217, 1.21]
    """
    dH, X, h0, H, U, W = as_floats(dH, X, h0, H, U, W)
    starts = _chunk_starts(len(H), k)
    totals = [np.zeros_like(U), np.zeros_like(W), np.zeros_like(W[0])]
    for start in starts:
        chunk = slice(start, start + starts.step)
        h_start = H[start - 1] if start else h0
        _, _, *gradients = rnn_backward(dH[chunk], X[chunk], h_start, H[chunk], U, W)
        _add(totals, gradients)
    dU, dW, db = totals
    return dU, dW, db


def checkpointed_bptt(
    loss_grad: Callable[[int, Any], Any],
    X: Real[np.ndarray, "T N D"] | Sequence,
    h0: Real[np.ndarray, "N H"] | Sequence,
    U: Real[np.ndarray, "D H"] | Sequence,
    W: Real[np.ndarray, "H H"] | Sequence,
    b: Real[np.ndarray, "H"] | Sequence,
    every: SupportsIndex,
) -> tuple[Float[np.ndarray, "D H"], Float[np.ndarray, "H H"], Float[np.ndarray, "H"]]:
    """Run forwards and backwards with one state in `every` kept: the (dU, dW, db) of full BPTT.

    `loss_grad(t, h_t)` gives the error (N, H) that reaches h_t from its own output. It is asked once for each step, t
    from 0 to T-1, where h_0 is the state after the first input; the chunks come in order from the last to the first.
    It gets a copy of the state, and its answer is not written to. A ValueError if `every` is less than 1.

    >>> X, h0, U, W, b = np.ones((9, 1, 1)), [[0.0]], [[0.5]], [[2.0]], [0.0]
    >>> for every in (1, 3, 9):
    ...     print([gradient.round(3).item() for gradient in checkpointed_bptt(lambda t, h: h, X, h0, U, W, b, every)])
    [1.101, 0.304, 1.101]
    [1.101, 0.304, 1.101]
    [1.101, 0.304, 1.101]
    """
    X, h0, U, W, b = as_floats(X, h0, U, W, b)
    starts = _chunk_starts(len(X), every)
    kept = [h0]  # the state that each chunk starts from
    for start in starts[:-1]:
        H = rnn_forward(X[start : start + starts.step], kept[-1], U, W, b)
        kept.append(H[-1].copy())  # a view would keep the whole chunk alive
    totals = [np.zeros_like(U), np.zeros_like(W), np.zeros_like(b)]
    dh = np.zeros_like(h0)
    for start in reversed(starts):
        inputs, h_start = X[start : start + starts.step], kept.pop()
        H = rnn_forward(inputs, h_start, U, W, b)
        dH = np.empty_like(H)
        for t, h in enumerate(H):
            dH[t] = loss_grad(start + t, h.copy())
        dH[-1] += dh  # what reaches the chunk's last state from the chunk after it
        _, dh, *gradients = rnn_backward(dH, inputs, h_start, H, U, W)
        _add(totals, gradients)
    dU, dW, db = totals
    return dU, dW, db


def _chunk_starts(steps: int, size: SupportsIndex) -> range:
    """Return the first step of each chunk when so many steps are cut into chunks of a size; the last may be shorter."""
    length = int(size)
    if length < 1:
        raise ValueError(f"A chunk needs at least one step, and was given {length}.")
    return range(0, steps, length)


def _add(totals: Sequence[np.ndarray], parts: Sequence[np.ndarray]) -> None:
    """Add each part to its total, in place."""
    for total, part in zip(totals, parts):
        total += part


def orthogonal(rng: np.random.Generator, n: SupportsIndex) -> Float[np.ndarray, "n n"]:
    """Draw an orthogonal matrix, whose rows and columns have length 1 and stand at right angles; all equally likely.

    It is the Q of the QR decomposition of a matrix of normal draws, each column with the sign of R's diagonal: the
    decomposition leaves the signs open, and LAPACK's choice would favour some matrices (F. Mezzadri, "How to Generate
    Random Matrices from the Classical Compact Groups", Notices of the AMS 54, 2007).

    >>> Q = orthogonal(np.random.default_rng(0), 4)
    >>> bool(np.allclose(Q @ Q.T, np.eye(4)))
    True
    """
    size = int(n)
    Q, R = np.linalg.qr(rng.standard_normal((size, size)))
    return Q * np.copysign(1.0, np.diagonal(R))
