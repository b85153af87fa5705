"""Right answers to unit 04 as students write them, each in another style. All must get full marks."""

import itertools
import math

import numpy as np

from rnncourse.cell import rnn_forward, rnn_step, softmax
from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


# --- sequence_nll


@answers("sequence_nll")
def three_loops(logits, targets, mask=None):
    T, N, Q = logits.shape
    total = 0.0
    for t in range(T):
        for n in range(N):
            if mask is not None and not mask[t][n]:
                continue
            top = max(logits[t, n])
            total += (
                math.log(sum(math.exp(logits[t, n, q] - top) for q in range(Q))) + top - logits[t, n, targets[t, n]]
            )
    return total / N


@answers("sequence_nll")
def fancy_index(logits, targets, mask=None):
    T, N, _ = logits.shape
    m = logits.max(axis=2)
    picked = logits[np.arange(T)[:, None], np.arange(N)[None, :], targets]
    mask = np.ones((T, N)) if mask is None else mask
    return np.sum((m + np.log(np.exp(logits - m[:, :, None]).sum(axis=2)) - picked) * mask) / N


@answers("sequence_nll")
def onehot_and_einsum(logits, targets, mask=None):
    onehot = np.eye(logits.shape[2])[targets]
    if mask is not None:
        onehot = np.where(np.asarray(mask, dtype=bool)[:, :, None], onehot, 0)
    log_y = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    return -np.einsum("tnq,tnq->", onehot, log_y) / targets.shape[1]


# --- nll_backward


@answers("nll_backward")
def entry_by_entry(logits, targets, mask=None):
    y, (T, N, Q) = softmax(logits), logits.shape
    dO = np.zeros_like(logits)
    for t in range(T):
        for n in range(N):
            if mask is None or mask[t, n]:
                for q in range(Q):
                    dO[t, n, q] = (y[t, n, q] - (q == targets[t, n])) / N
    return dO


@answers("nll_backward")
def put_along_axis(logits, targets, mask=None):
    dO = softmax(logits)
    at = targets[..., np.newaxis]
    np.put_along_axis(dO, at, np.take_along_axis(dO, at, -1) - 1, -1)
    if mask is not None:
        dO[~mask.astype(bool)] = 0
    dO /= logits.shape[1]
    return dO


@answers("nll_backward")
def flat_with_own_softmax(logits, targets, mask=None):
    T, N, Q = logits.shape
    flat = logits.reshape(T * N, Q)
    e = np.exp(flat - flat.max(1, keepdims=True))
    e = e / e.sum(1, keepdims=True)
    e[range(T * N), targets.flatten()] -= 1
    if mask is not None:
        e[mask.flatten() == 0, :] = 0
    return e.reshape(T, N, Q) / N


# --- output_backward


@answers("output_backward")
def step_by_step(dO, H, V):
    dH, dV, dc = np.zeros_like(H), np.zeros_like(V), np.zeros_like(V[0])
    for t in range(len(H)):
        dH[t] = dO[t] @ V.T
        dV += H[t].T @ dO[t]
        dc += dO[t].sum(axis=0)
    return dH, dV, dc


@answers("output_backward")
def three_einsums(dO, H, V):
    return np.einsum("tnq,hq->tnh", dO, V), np.einsum("tnh,tnq->hq", H, dO), np.einsum("tnq->q", dO)


@answers("output_backward")
def tensordot_in_a_list(dO, H, V):
    return [np.tensordot(dO, V, axes=(2, 1)), np.tensordot(H, dO, axes=((0, 1), (0, 1))), np.sum(np.sum(dO, 0), 0)]


# --- rnn_step_backward


@answers("rnn_step_backward")
def with_einsum(dh, x, h_prev, h, U, W):
    da = (1 + h) * (1 - h) * dh
    dx, dh_prev = np.einsum("nh,dh->nd", da, U), np.einsum("nh,kh->nk", da, W)
    return dx, dh_prev, np.einsum("nd,nh->dh", x, da), np.einsum("nk,nh->kh", h_prev, da), np.einsum("nh->h", da)


@answers("rnn_step_backward")
def row_by_row(dh, x, h_prev, h, U, W):
    dx, dh_prev = np.empty_like(x), np.empty_like(h_prev)
    dU, dW, db = np.zeros_like(U), np.zeros_like(W), np.zeros_like(W[0])
    for n in range(len(x)):
        da = dh[n] * (1 - h[n] ** 2)
        dx[n], dh_prev[n] = U @ da, W @ da
        dU, dW, db = dU + np.outer(x[n], da), dW + np.outer(h_prev[n], da), db + da
    return [dx, dh_prev, dU, dW, db]


@answers("rnn_step_backward")
def stacked_into_one_matrix(dh, x, h_prev, h, U, W):
    da = dh - dh * h * h
    D = len(U)
    both = da @ np.concatenate([U, W]).T
    gradient = np.concatenate([x, h_prev, np.ones_like(x[:, :1])], axis=1).T @ da
    return both[:, :D], both[:, D:], gradient[:D], gradient[D:-1], gradient[-1]


# --- rnn_backward


@answers("rnn_backward")
def with_the_step(dH, X, h0, H, U, W):
    states = [h0, *H]
    dX, dU, dW, db = [None] * len(X), 0, 0, 0
    dh = np.zeros_like(h0)
    for t in range(len(X) - 1, -1, -1):
        dX[t], dh, *parts = rnn_step_backward(dH[t] + dh, X[t], states[t], states[t + 1], U, W)
        dU, dW, db = dU + parts[0], dW + parts[1], db + parts[2]
    return dX, dh, dU, dW, db


@answers("rnn_backward")
def by_recursion(dH, X, h0, H, U, W):
    if len(X) == 0:
        return X.copy(), np.zeros_like(h0), np.zeros_like(U), np.zeros_like(W), np.zeros_like(W[0])
    dX, dh, dU, dW, db = by_recursion(dH[1:], X[1:], H[0], H[1:], U, W)
    dx, dh0, dU0, dW0, db0 = rnn_step_backward(dH[0] + dh, X[0], h0, H[0], U, W)
    return np.concatenate([dx[None], dX]), dh0, dU + dU0, dW + dW0, db + db0


@answers("rnn_backward")
def with_a_working_copy(dH, X, h0, H, U, W):
    dH, dX = dH.copy(), np.zeros_like(X)
    dU, dW, db = np.zeros_like(U), np.zeros_like(W), np.zeros(W.shape[1], W.dtype)
    for t in range(len(X))[::-1]:
        da = dH[t] * (1 - H[t] ** 2)
        dX[t] += da @ U.T
        dU += X[t].T @ da
        db += da.sum(0)
        if t > 0:
            dH[t - 1] += da @ W.T
            dW += H[t - 1].T @ da
        else:
            dh0 = da @ W.T
            dW += h0.T @ da
    return dX, dh0, dU, dW, db


# --- numerical_gradient


@answers("numerical_gradient")
def with_nditer(f, x, eps=1e-5):
    work, gradient = x.copy(), np.zeros_like(x)
    entries = np.nditer(x, flags=["multi_index"])
    for value in entries:
        i = entries.multi_index
        work[i] = value + eps
        above = f(work)
        work[i] = value - eps
        below = f(work)
        work[i] = value
        gradient[i] = (above - below) / (2 * eps)
    return gradient


@answers("numerical_gradient")
def flat_list(f, x, eps=1e-5):
    entries = []
    for i in range(x.size):
        nudge = np.zeros(x.size)
        nudge[i] = eps
        nudge = nudge.reshape(x.shape)
        entries.append((f(x + nudge) - f(x - nudge)) / (2 * eps))
    return np.array(entries).reshape(x.shape)


@answers("numerical_gradient")
def with_flat(f, x, eps=1e-5):
    def moved(i, by):
        y = np.array(x)
        y.flat[i] += by
        return f(y)

    gradient = np.zeros(x.shape)
    for i, _ in enumerate(x.flat):
        gradient.flat[i] = 0.5 * (moved(i, eps) - moved(i, -eps)) / eps
    return gradient


# --- find_broken


@answers("find_broken")
def all_five_by_position(backwards):
    rng = np.random.default_rng(1)
    inputs = [rng.normal(size=s) for s in ((4, 3, 2), (3, 5), (2, 5), (5, 5), (5,))]
    dH = rng.normal(size=(4, 3, 5))

    def loss_of(i):
        return lambda value: np.sum(dH * rnn_forward(*inputs[:i], value, *inputs[i + 1 :]))

    wanted = [numerical_gradient(loss_of(i), inputs[i]) for i in range(5)]
    X, h0, U, W, _ = inputs
    broken = set()
    for name in backwards:
        gradients = backwards[name](dH, X, h0, rnn_forward(*inputs), U, W)
        for got, want in zip(gradients, wanted, strict=True):
            error = np.abs(got - want).max() / (np.abs(want).max() + np.abs(got).max() + 1e-12)
            if error > 1e-5:
                broken.add(name)
    return broken


@answers("find_broken")
def with_the_real_loss(backwards):
    rng = np.random.default_rng(2)
    X, h0, U, W = rng.normal(size=(6, 2, 3)), rng.normal(size=(2, 4)), rng.normal(size=(3, 4)), rng.normal(size=(4, 4))
    b, target = rng.normal(size=4), rng.normal(size=(6, 2, 4))

    def loss(X, h0, U, W, b):
        return 0.5 * ((rnn_forward(X, h0, U, W, b) - target) ** 2).sum()

    H = rnn_forward(X, h0, U, W, b)
    checks = {
        0: numerical_gradient(lambda v: loss(v, h0, U, W, b), X),
        1: numerical_gradient(lambda v: loss(X, v, U, W, b), h0),
        2: numerical_gradient(lambda v: loss(X, h0, v, W, b), U),
        3: numerical_gradient(lambda v: loss(X, h0, U, v, b), W),
        4: numerical_gradient(lambda v: loss(X, h0, U, W, v), b),
    }
    found = []
    for name, backward in backwards.items():
        answer = backward(H - target, X, h0, H, U, W)
        if any(not np.allclose(answer[i], checks[i], rtol=1e-4, atol=1e-6) for i in checks):
            found.append(name)
    return frozenset(found)


@answers("find_broken")
def along_random_directions(backwards):
    """The slope along one drawn direction in all arguments at once, several times over."""
    rng = np.random.default_rng(3)
    broken = set()
    for _ in range(3):
        shapes = ((4, 3, 2), (3, 5), (2, 5), (5, 5), (5,))
        at, way = ([0.5 * rng.normal(size=s) for s in shapes] for _ in range(2))
        dH = rng.normal(size=(4, 3, 5))
        slope = numerical_gradient(
            lambda s, at=at, way=way, dH=dH: (dH * rnn_forward(*(a + s[0] * w for a, w in zip(at, way)))).sum(),
            np.zeros(1),
        )[0]
        H = rnn_forward(*at)
        for name, backward in backwards.items():
            gradients = backward(dH, at[0], at[1], H, at[2], at[3])
            if abs(sum((g * w).sum() for g, w in zip(gradients, way)) - slope) > 1e-6 * (1 + abs(slope)):
                broken.add(name)
    return broken


# --- recurrent_gradient_by_lag


@answers("recurrent_gradient_by_lag")
def one_error_at_a_time(dH, X, h0, H, U, W):
    T = len(H)
    parts = np.zeros((T, *W.shape), W.dtype)
    for t in range(T):
        dh = dH[t]
        for lag in range(t + 1):
            s = t - lag
            before = h0 if s == 0 else H[s - 1]
            _, dh, _, dW, _ = rnn_step_backward(dh, X[s], before, H[s], U, W)
            parts[lag] += dW
    return parts


@answers("recurrent_gradient_by_lag")
def all_outputs_together(dH, X, h0, H, U, W):
    before, slope = np.concatenate([h0[None], H[:-1]]), 1 - H * H
    parts, errors = [], dH
    for _ in range(len(H)):
        da = errors * slope[: len(errors)]
        parts.append(np.einsum("tnk,tnh->kh", before[: len(da)], da))
        errors = (da @ W.T)[1:]
    return parts


@answers("recurrent_gradient_by_lag")
def differences_of_truncated_passes(dH, X, h0, H, U, W):
    """dW of a chain that is cut after k steps back, for each k; what one step more adds is one lag."""

    def within(k):
        total = np.zeros_like(W)
        for s in range(len(H)):
            dh = np.zeros_like(h0)
            for t in range(min(s + k, len(H) - 1), s - 1, -1):
                da = (dH[t] + dh) * (1 - H[t] ** 2)
                dh = da @ W.T
            total = total + (H[s - 1] if s else h0).T @ da
        return total

    sums = [within(k) for k in range(len(H))]
    return np.stack([sums[0]] + [b - a for a, b in itertools.pairwise(sums)])


# --- rtrl


@answers("rtrl")
def three_sensitivities(X, h0, U, W, b, dH):
    (N, H), D = h0.shape, len(U)
    SU, SW, Sb = (np.zeros((N, H, *shape), dtype=h0.dtype) for shape in ((D, H), (H, H), (H,)))
    dU, dW, db, one, h = np.zeros_like(U), np.zeros_like(W), np.zeros_like(b), np.eye(H, dtype=h0.dtype), h0
    for t in range(len(X)):
        new = np.tanh(X[t] @ U + h @ W + b)
        slope = 1 - new * new
        SU = np.einsum("nj,njik->njik", slope, np.einsum("mj,nmik->njik", W, SU) + np.einsum("ni,jk->njik", X[t], one))
        SW = np.einsum("nj,njik->njik", slope, np.einsum("mj,nmik->njik", W, SW) + np.einsum("ni,jk->njik", h, one))
        Sb = slope[:, :, None] * (np.einsum("mj,nmk->njk", W, Sb) + one)
        h = new
        dU += np.einsum("nj,njik->ik", dH[t], SU)
        dW += np.einsum("nj,njik->ik", dH[t], SW)
        db += np.einsum("nj,njk->k", dH[t], Sb)
    return dU, dW, db


@answers("rtrl")
def row_by_row_with_jacobians(X, h0, U, W, b, dH):
    """One row of the batch at a time: a matrix (H, all parameters) goes along."""
    D, H = U.shape
    total = np.zeros((D + H + 1) * H, dtype=h0.dtype)
    for n in range(len(h0)):
        h, J = h0[n].copy(), np.zeros((H, total.size), dtype=h0.dtype)
        for t in range(len(X)):
            read = np.concatenate([X[t, n], h, [1]]).astype(h0.dtype)
            h = np.tanh(X[t, n] @ U + h @ W + b)
            J = np.diag(1 - h**2) @ (W.T @ J + np.kron(read, np.eye(H, dtype=h0.dtype)))
            total += dH[t, n] @ J
    theta = total.reshape(D + H + 1, H)
    return [theta[:D], theta[D : D + H], theta[D + H]]


@answers("rtrl")
def parameter_by_parameter(X, h0, U, W, b, dH):
    """A loop over all parameters, each with how much the state owes to it."""
    gradients = np.zeros_like(U), np.zeros_like(W), np.zeros_like(b)
    for which, gradient in enumerate(gradients):
        for place in np.ndindex(gradient.shape):
            h, owes = h0, np.zeros_like(h0)
            for x, dh in zip(X, dH, strict=True):
                owes = owes @ W
                owes[:, place[-1]] += x[:, place[0]] if which == 0 else h[:, place[0]] if which == 1 else 1
                h = rnn_step(x, h, U, W, b)
                owes = owes * (1 - h**2)
                gradient[place] += np.sum(dh * owes)
    return gradients
