"""Right answers to unit 05 as students write them, each in another style. All must get full marks."""

import math
from functools import reduce

import numpy as np

from rnncourse.bptt import rnn_backward, rnn_step_backward
from rnncourse.cell import rnn_forward, rnn_step
from rnncourse.gradient_flow import spectral_radius
from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


# --- state_gradient_norms


@answers("state_gradient_norms")
def a_list_turned_round(dh_last, H, W):
    dh, norms = dh_last, [np.linalg.norm(dh_last)]
    for h in H[:0:-1]:
        dh = np.dot(dh * (1 - h**2), W.T)
        norms.append(np.linalg.norm(dh))
    return np.array(norms[::-1])


@answers("state_gradient_norms")
def plain_numbers(dh_last, H, W):
    T, N, units = H.shape
    dh = dh_last.tolist()
    norms = [0.0] * T
    for t in range(T - 1, -1, -1):
        norms[t] = math.sqrt(sum(e * e for row in dh for e in row))
        dh = [
            [sum(dh[n][j] * (1 - H[t, n, j] ** 2) * W[i, j] for j in range(units)) for i in range(units)]
            for n in range(N)
        ]
        dh = [[float(e) for e in row] for row in dh]
    return norms


@answers("state_gradient_norms")
def all_errors_first(dh_last, H, W):
    dH = np.zeros_like(H)
    dH[-1] = dh_last
    for t in range(1, len(H))[::-1]:
        # rnn_step_backward needs an input and its weights, which play no part here
        dH[t - 1] = rnn_step_backward(dH[t], H[t], H[t - 1], H[t], W, W)[1]
    return np.sqrt((dH**2).sum(axis=(1, 2)))


# --- spectral_radius


@answers("spectral_radius")
def loop_over_eigenvalues(W):
    largest = 0.0
    for value in np.linalg.eigvals(W):
        largest = max(largest, math.hypot(value.real, value.imag))
    return largest


@answers("spectral_radius")
def with_eigenvectors_and_numpy_scalar(W):
    values, _ = np.linalg.eig(W.T)
    return np.sort(np.absolute(values))[-1]


@answers("spectral_radius")
def gelfand(W):
    """The radius is the limit of the k-th root of the norm of W^k: square W again and again."""
    power, logarithm = W, 0.0
    for doubling in range(60):
        size = np.linalg.norm(power)
        if size == 0:
            return 0.0
        logarithm += math.log(size) / 2**doubling
        power = (power / size) @ (power / size)
    return math.exp(logarithm)


# --- with_spectral_radius


@answers("with_spectral_radius")
def own_eigenvalues(W, rho):
    values = np.abs(np.linalg.eigvals(W))
    if not np.any(values):
        raise ValueError
    return (rho * W / values.max()).astype(W.dtype)


@answers("with_spectral_radius")
def a_list_of_rows(W, rho):
    radius = spectral_radius(W)
    if radius < 1e-12:
        raise ValueError("there is nothing to scale")
    return [row * (float(rho) / radius) for row in W]


class NoRadius(ValueError):
    pass


@answers("with_spectral_radius")
def an_error_of_its_own(W, rho):
    try:
        factor = rho / float(spectral_radius(W))
    except ZeroDivisionError as error:
        raise NoRadius("a radius of 0 stays 0") from error
    scaled = np.copy(W)
    scaled *= factor
    return scaled


# --- clip_by_global_norm


@answers("clip_by_global_norm")
def norm_of_norms_and_a_tuple(gradients, max_norm):
    norm = float(np.linalg.norm([np.linalg.norm(g) for g in gradients]))
    if norm > max_norm:
        return tuple(g / g.dtype.type(norm) * g.dtype.type(max_norm) for g in gradients), norm
    return tuple(map(np.copy, gradients)), norm


@answers("clip_by_global_norm")
def entry_by_entry(gradients, max_norm):
    total = 0.0
    for g in gradients:
        for entry in g.ravel():
            total += float(entry) ** 2
    norm = math.sqrt(total)
    clipped = [g.copy() for g in gradients]
    if norm >= max_norm:
        for g in clipped:
            for i in np.ndindex(g.shape):
                g[i] = g[i] * max_norm / norm
    return clipped, norm


@answers("clip_by_global_norm")
def a_pair_as_a_list(gradients, max_norm):
    norm = reduce(math.hypot, (np.sqrt(np.vdot(g, g)) for g in gradients))
    scale = 1.0 if norm <= max_norm else max_norm / norm
    return [[np.multiply(g, g.dtype.type(scale)) for g in gradients], norm]


# --- truncated_bptt


@answers("truncated_bptt")
def chunks_from_the_last(dH, X, h0, H, U, W, k):
    starts = list(range(0, len(X), k))
    before = np.concatenate([h0[None], H])
    parts = [rnn_backward(dH[s : s + k], X[s : s + k], before[s], H[s : s + k], U, W)[2:] for s in starts[::-1]]
    return tuple(sum(one) for one in zip(*parts))


@answers("truncated_bptt")
def one_walk_with_a_cut(dH, X, h0, H, U, W, k):
    dU, dW, db = np.zeros_like(U), np.zeros_like(W), np.zeros_like(W[0])
    later = np.zeros_like(h0)
    for t in reversed(range(len(X))):
        h_prev = H[t - 1] if t else h0
        _, later, *parts = rnn_step_backward(dH[t] + later, X[t], h_prev, H[t], U, W)
        for total, part in zip((dU, dW, db), parts):
            total += part
        if t % k == 0:
            later = np.zeros_like(later)
    return [dU, dW, db]


@answers("truncated_bptt")
def all_errors_then_three_einsums(dH, X, h0, H, U, W, k):
    T = len(X)
    dA = np.zeros_like(H)
    for t in range(T - 1, -1, -1):
        last_of_chunk = t == T - 1 or (t + 1) % k == 0
        dh = dH[t] if last_of_chunk else dH[t] + dA[t + 1] @ W.T
        dA[t] = dh * (1 - H[t] * H[t])
    before = np.concatenate((h0[np.newaxis], H[:-1]))
    return np.einsum("tnd,tnh->dh", X, dA), np.einsum("tni,tnj->ij", before, dA), dA.sum((0, 1))


# --- checkpointed_bptt


@answers("checkpointed_bptt")
def step_by_step(loss_grad, X, h0, U, W, b, every):
    kept, h = {}, h0
    for t, x in enumerate(X):
        if t % every == 0:
            kept[t] = h
        h = rnn_step(x, h, U, W, b)
    sums, dh = [0, 0, 0], 0
    for start in sorted(kept, reverse=True):
        states = [kept.pop(start)]
        for x in X[start : start + every]:
            states.append(rnn_step(x, states[-1], U, W, b))
        for i in range(len(states) - 2, -1, -1):
            dh = dh + loss_grad(start + i, states[i + 1])
            _, dh, *parts = rnn_step_backward(dh, X[start + i], states[i], states[i + 1], U, W)
            sums = [a + p for a, p in zip(sums, parts)]
    return tuple(sums)


@answers("checkpointed_bptt")
def kept_in_one_array(loss_grad, X, h0, U, W, b, every):
    starts = list(range(0, len(X), every))
    kept = np.empty((len(starts) + 1, *h0.shape), dtype=h0.dtype)
    kept[0] = h0
    for i, s in enumerate(starts):
        kept[i + 1] = rnn_forward(X[s : s + every], kept[i], U, W, b)[-1]
    dh, sums = np.zeros_like(h0), None
    for i in reversed(range(len(starts))):
        chunk = X[starts[i] : starts[i] + every]
        H = rnn_forward(chunk, kept[i], U, W, b)
        dH = np.array([loss_grad(starts[i] + j, H[j]) for j in range(len(H))])
        dH[-1] += dh
        _, dh, *parts = rnn_backward(dH, chunk, kept[i], H, U, W)
        sums = parts if sums is None else [a + p for a, p in zip(sums, parts)]
    return tuple(sums)


@answers("checkpointed_bptt")
def recursion_into_the_last_chunk(loss_grad, X, h0, U, W, b, every):
    def walk(start, h):
        """The error that reaches h, and the three sums of all steps from `start` on."""
        if start >= len(X):
            return np.zeros_like(h), np.zeros_like(U), np.zeros_like(W), np.zeros_like(b)
        chunk = X[start : start + every]
        dh, dU, dW, db = walk(start + every, rnn_forward(chunk, h, U, W, b)[-1].copy())
        H = rnn_forward(chunk, h, U, W, b)
        dH = np.stack([loss_grad(start + i, state) for i, state in enumerate(H)])
        dH[-1] += dh
        _, dh, dU_c, dW_c, db_c = rnn_backward(dH, chunk, h, H, U, W)
        return dh, dU + dU_c, dW + dW_c, db + db_c

    return walk(0, h0)[1:]


# --- orthogonal


@answers("orthogonal")
def product_of_two_factors(rng, n):
    left, _, right = np.linalg.svd(rng.standard_normal((n, n)))
    return left @ right


@answers("orthogonal")
def gram_schmidt_twice(rng, n):
    rows = []
    for row in rng.normal(size=(n, n)):
        for _ in range(2):  # the second time takes away what rounding left
            for other in rows:
                row = row - (row @ other) * other
        rows.append(row / np.linalg.norm(row))
    return [list(row) for row in rows]


@answers("orthogonal")
def reflections(rng, n):
    Q = np.eye(n)
    for _ in range(n):
        v = rng.uniform(-1, 1, n)
        Q -= 2 / (v @ v) * np.outer(v, v @ Q)
    return Q
