"""Right answers to unit 14 in other styles."""

import functools
import itertools
import math

import numpy as np

from rnncourse.scans import associative_scan, combine_affine
from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


# --- linear_recurrence


@answers("linear_recurrence")
def with_a_list(a, b, h0):
    states = []
    h = h0
    for t in range(len(a)):
        h = a[t] * h + b[t]
        states.append(h)
    return states


@answers("linear_recurrence")
def with_accumulate(a, b, h0):
    steps = itertools.accumulate(zip(a, b), lambda h, step: step[0] * h + step[1], initial=h0)
    return np.array(list(steps)[1:])


@answers("linear_recurrence")
def into_a_copy_of_b(a, b, h0):
    H = b.copy()
    H[0] += a[0] * h0
    for t in range(1, a.shape[0]):
        H[t] += a[t] * H[t - 1]
    return H


# --- combine_affine


@answers("combine_affine")
def by_asking_the_maps(first, second):
    def both(h):
        return second[0] * (first[0] * h + first[1]) + second[1]

    b = both(0.0 * first[0])
    return both(1.0 + 0.0 * first[0]) - b, b


@answers("combine_affine")
def as_matrices(first, second):
    def matrix(pair):
        a, b = (np.asarray(part) for part in pair)
        one = np.ones_like(a)
        return np.stack([np.stack([a, b], -1), np.stack([0 * one, one], -1)], -2)

    product = matrix(second) @ matrix(first)
    return product[..., 0, 0].copy(), product[..., 0, 1].copy()


@answers("combine_affine")
def as_a_list(first, second):
    (a, b), (c, d) = first, second
    return [np.multiply(a, c), np.add(np.multiply(c, b), d)]


# --- associative_scan


@answers("associative_scan")
def hillis_and_steele_in_place(a, b, h0):
    A, B = np.array(a), np.array(b)
    B[0] = A[0] * h0 + B[0]
    shift = 1
    while shift < A.shape[0]:
        B[shift:] = A[shift:] * B[:-shift] + B[shift:]
        A[shift:] = A[shift:] * A[:-shift]
        shift = 2 * shift
    return B


@answers("associative_scan")
def blelloch(a, b, h0):
    T = len(a)
    P = 2 ** math.ceil(math.log2(T))
    A, B = np.ones((P, *a.shape[1:]), dtype=a.dtype), np.zeros((P, *b.shape[1:]), dtype=b.dtype)
    A[:T], B[:T] = a, b
    width = 1
    while width < P:  # up: each node becomes the product of what is below it
        left, right = slice(width - 1, None, 2 * width), slice(2 * width - 1, None, 2 * width)
        A[right], B[right] = combine_affine((A[left], B[left]), (A[right], B[right]))
        width *= 2
    A[-1], B[-1] = 1, 0
    while width > 1:  # down: each node hands what is before it to the left, and to the right that and the left
        width //= 2
        left, right = slice(width - 1, None, 2 * width), slice(2 * width - 1, None, 2 * width)
        before = A[right].copy(), B[right].copy()
        both = combine_affine(before, (A[left], B[left]))
        A[left], B[left] = before
        A[right], B[right] = both
    A, B = combine_affine((A[:T], B[:T]), (a, b))
    return A * h0 + B


@answers("associative_scan")
def two_halves(a, b, h0):
    def prefixes(A, B):
        middle = len(A) // 2
        if middle == 0:
            return A, B
        (A_1, B_1), (A_2, B_2) = prefixes(A[:middle], B[:middle]), prefixes(A[middle:], B[middle:])
        A_2, B_2 = combine_affine((A_1[-1:], B_1[-1:]), (A_2, B_2))
        return np.concatenate([A_1, A_2]), np.concatenate([B_1, B_2])

    A, B = prefixes(a, b)
    return A * h0 + B


# --- backward_by_scan


@answers("backward_by_scan")
def turned_round(dH, H, W):
    """From the last step to the first, with zeros for what comes after the end."""
    A = np.zeros((*H.shape, H.shape[-1]), dtype=H.dtype)
    A[1:] = ((1 - H**2)[..., None] * W.T)[:0:-1] if H.dtype != object else ((1 - H * H)[..., None] * W.T)[:0:-1]
    B, step = dH[::-1][..., None, :], 1
    while step < len(H):
        B = np.concatenate([B[:step], B[:-step] @ A[step:] + B[step:]])
        A = np.concatenate([A[:step], A[:-step] @ A[step:]])
        step *= 2
    return B[::-1, ..., 0, :].copy()


@answers("backward_by_scan")
def in_halves(dH, H, W):
    """The errors of the later half first in form, then what they send into the earlier half."""
    A = (1 - H * H)[..., :, None] * W.T

    def whole(start, end):
        if end - start == 1:
            return A[start:end], dH[start:end]
        middle = (start + end) // 2
        (A_early, B_early), (A_late, B_late) = whole(start, middle), whole(middle, end)
        B_early = np.matmul(B_late[:1, :, None, :], _shifted(A_early, A[middle]))[:, :, 0] + B_early
        return np.concatenate([np.matmul(A_late[0], A_early), A_late]), np.concatenate([B_early, B_late])

    def _shifted(products, crossing):
        """From an error of the first state behind the middle to one of each state before it."""
        one = np.broadcast_to(np.eye(H.shape[-1]), products[:1].shape).astype(H.dtype)
        after = np.concatenate([products[1:], one])
        return np.matmul(crossing, after)

    return whole(0, len(H))[1].copy()


@answers("backward_by_scan")
def with_einsum(dH, H, W):
    steps = len(H)
    A = np.concatenate([(1 - H[1:] * H[1:])[..., None] * W.T, 0 * (H[:1][..., None] * W.T)])
    B = dH + 0
    step = 1
    while step < steps:
        A_late, B_late, A_early = A[step:], B[step:], A[: steps - step]
        B = np.concatenate([B[: steps - step] + np.einsum("tni,tnij->tnj", B_late, A_early), B[steps - step :]])
        A = np.concatenate([np.einsum("tnij,tnjk->tnik", A_late, A_early), A[steps - step :]])
        step *= 2
    return B


# --- min_gru_forward


@answers("min_gru_forward")
def with_tanh_for_sigma(X, h0, Wz, Wh):
    z = 0.5 + 0.5 * np.tanh(0.5 * np.einsum("tnd,dh->tnh", X, Wz))
    candidate = np.einsum("tnd,dh->tnh", X, Wh)
    return associative_scan(a=1 - z, b=z * candidate, h0=h0)


@answers("min_gru_forward")
def step_by_step(X, h0, Wz, Wh):
    def step(h, x):
        z = 1 / (1 + np.exp(-np.dot(x, Wz)))
        return h + z * (np.dot(x, Wh) - h)

    return [functools.reduce(step, X[: t + 1], h0) for t in range(len(X))]


@answers("min_gru_forward")
def the_keep_gate_from_minus_x(X, h0, Wz, Wh):
    keep = 1 / (1 + np.exp(X @ Wz))
    return associative_scan(keep, X @ Wh - keep * (X @ Wh), h0)


# --- linear_attention


@answers("linear_attention")
def with_cumsum(Q, K, V):
    return (Q[:, None, :] @ np.cumsum(K[:, :, None] * V[:, None, :], axis=0))[:, 0]


@answers("linear_attention")
def with_a_growing_state(Q, K, V):
    S = np.zeros((K.shape[1], V.shape[1]), dtype=K.dtype)
    contexts = []
    for q, k, v in zip(Q, K, V):
        S = S + np.outer(k, v)
        contexts.append(q @ S)
    return contexts


@answers("linear_attention")
def as_a_table_of_scores(Q, K, V):
    return np.tril(Q @ K.T) @ V


# --- diagonal_ssm


@answers("diagonal_ssm")
def a_unit_at_a_time(x, a, b, c):
    y = 0
    for n in range(len(a)):
        factors = np.empty_like(x)
        factors[:] = a[n]
        y = y + c[n] * associative_scan(factors, b[n] * x, 0.0)
    return y


@answers("diagonal_ssm")
def with_c_at_the_start(x, a, b, c):
    terms = x[:, None] * (b * c)
    return associative_scan(a * np.ones_like(terms), terms, a * 0.0).sum(axis=1)


@answers("diagonal_ssm")
def doubling(x, a, b, c):
    A, B = np.tile(a, (len(x), 1)), x[:, None] * b
    step = 1
    while step < len(x):
        B = np.concatenate([B[:step], A[step:] * B[:-step] + B[step:]])
        A = np.concatenate([A[:step], A[step:] * A[:-step]])
        step *= 2
    return (c * B).sum(axis=-1)
