"""Right answers to unit 02 as students write them, each in another style. All must get full marks."""

import functools
import itertools

import numpy as np

from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


# --- unfold


@answers("unfold")
def with_a_list(f, s0, theta, steps):
    states = [s0]
    for _ in range(steps):
        states.append(f(states[-1], theta))
    return np.stack(states)


@answers("unfold")
def with_accumulate(f, s0, theta, steps):
    return np.array(list(itertools.accumulate(range(steps), lambda s, _: f(s, theta), initial=s0)))


@answers("unfold")
def by_keyword_into_an_array(f, s0, theta, steps):
    s = np.array(s0)
    states = np.empty((steps + 1, *s.shape), dtype=s.dtype if s.dtype.kind == "f" else float)
    states[0] = s
    for t in range(1, steps + 1):
        states[t] = f(s=states[t - 1], theta=theta)
    return states


# --- compose


@answers("compose")
def reduced(f, times):
    return lambda s: functools.reduce(lambda state, _: f(state), range(times), s)


@answers("compose")
class WithAClass:
    def __init__(self, f, times):
        self.f = f
        self.times = times

    def __call__(self, s):
        left = self.times
        while left > 0:
            s, left = self.f(s), left - 1
        return s


@answers("compose")
def by_halves(f, times):
    if times == 0:
        return lambda s: s
    if times == 1:
        return f
    first, second = by_halves(f, times // 2), by_halves(f, times - times // 2)
    return lambda s: second(first(s))


# --- unfold_driven


@answers("unfold_driven")
def driven_accumulate(f, s0, xs, theta):
    return np.array(list(itertools.accumulate(xs, lambda s, x: f(s, x, theta), initial=s0)))


@answers("unfold_driven")
def driven_by_index(f, s0, xs, theta):
    s = np.array(s0)
    states = np.empty((len(xs) + 1, *s.shape), dtype=s.dtype if s.dtype.kind == "f" else float)
    states[0] = s
    for t in range(1, len(xs) + 1):
        states[t] = f(s=states[t - 1], x=xs[t - 1], theta=theta)
    return states


@answers("unfold_driven")
def driven_through_unfold(f, s0, xs, theta):
    """A driven system is a free one whose state carries the time as well."""
    states = [(0, s0)]
    while states[-1][0] < len(xs):
        t, s = states[-1]
        states.append((t + 1, f(s, xs[t], theta)))
    return np.stack([s for _, s in states])


# --- depends_on


@answers("depends_on")
def nested_lists(model, xs, eps=1e-3):
    T, D = np.shape(xs)
    answer = [[False] * T for _ in range(T)]
    before = [np.ravel(row).tolist() for row in model(xs)]
    for k, d in itertools.product(range(T), range(D)):
        raised = np.array(xs)
        raised[k][d] = raised[k][d] + eps
        for t, row in enumerate(model(raised)):
            answer[t][k] = answer[t][k] or np.ravel(row).tolist() != before[t]
    return answer


@answers("depends_on")
def largest_change(model, xs, eps=1e-3):
    T, D = xs.shape
    change = np.zeros((T, T))
    for k, d in np.ndindex(T, D):
        raised = xs.copy()
        raised[k, d] += eps
        size = np.abs(model(raised) - model(xs)).reshape(T, -1).max(axis=1)
        change[:, k] = np.maximum(change[:, k], size)
    return change > 1e-10


@answers("depends_on")
def in_float64(model, xs, eps=1e-3):
    xs = np.array(xs, dtype=np.float64)
    T, D = xs.shape
    tries = np.repeat(xs[None], T * D, axis=0)
    tries.reshape(T * D, T * D)[np.diag_indices(T * D)] += eps
    changed = np.array([model(one) != model(xs) for one in tries])
    return changed.reshape(T, D, T, -1).any(axis=(1, 3)).T


# --- the counts


@answers("shared_parameter_count")
def by_shapes(D, H):
    return sum(np.zeros(shape, dtype=np.int8).size for shape in ((D, H), (H, H), (H,))) if D < 1000 else H * (D + H + 1)


@answers("shared_parameter_count")
def bracketed(D, H):
    return H * (D + H + 1)


@answers("shared_parameter_count")
def by_products(D, H):
    return np.prod([D, H], dtype=np.int64) + np.prod([H, H], dtype=np.int64) + np.int64(H)
