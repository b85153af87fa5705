"""Unit 05: gradient flow. Its exercises, their cases, hints and misconceptions."""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from rnncourse import bptt, cell, gradient_flow
from rnncourse.checks.callables import Named
from rnncourse.checks.exercise import Case, Draw, Unit, case, cell_weights, edge, normal, weights
from rnncourse.checks.plain import Plain
from rnncourse.fixtures.gradient_flow import generator, memory, pull_to, pull_to_kept

unit = Unit("05_gradient_flow", "Gradient flow", gradient_flow, forbids=("torch",))


def inputs(rng: np.random.Generator, T: int, N: int, D: int, H: int, dtype: Any = np.float64) -> tuple[np.ndarray, ...]:
    """Draw what a forward pass is given: X, h0, U, W, b."""
    X, h0 = normal(rng, T, N, D, dtype=dtype), normal(rng, N, H, dtype=dtype)
    return X, h0, *cell_weights(rng, D, H, dtype)


def passed_through(
    rng: np.random.Generator, T: int, N: int, D: int, H: int, dtype: Any = np.float64
) -> tuple[np.ndarray, ...]:
    """Draw what a backward pass is given: dH, X, h0, the states H of a forward pass, U, W."""
    X, h0, U, W, b = inputs(rng, T, N, D, H, dtype)
    return normal(rng, T, N, H, dtype=dtype), X, h0, cell.rnn_forward(X, h0, U, W, b), U, W


ex = unit.exercise(
    "state_gradient_norms",
    points=3,
    takes="dh_last (N, H), H (T, N, H), W (H, H)",
    gives="norms (T,)",
    hints=(
        "There is one error, and it starts at the last step. Walk back with it, one step at a time, and measure it at "
        "each stop.",
        "From h_t to h_{t-1} the error passes the tanh of step t, whose slope is 1 - h_t², and then W transposed. "
        "No other error joins it: the loss is read at the last step only.",
        "`norms[-1] = np.sqrt((dh_last**2).sum())`; then for t from T-1 down to 1: "
        "`dh = (dh * (1 - H[t] ** 2)) @ W.T` and `norms[t - 1] = np.sqrt((dh**2).sum())`.",
    ),
)


def error_at_the_end(rng: np.random.Generator, T: int, N: int, H: int, dtype: Any = np.float64) -> tuple[Any, ...]:
    """Draw dh_last, states as a tanh leaves them, and W."""
    return normal(rng, N, H, dtype=dtype), np.tanh(normal(rng, T, N, H, dtype=dtype)), weights(rng, H, H, dtype)


ex.draws(error_at_the_end)

ex.mistakes(r"""
through_W_itself: You send the error back through W. Forwards it was h W, so backwards it is W transposed; W is square,
  so no shape warns you.
- dh = (dh * (1 - H[t] ** 2)) @ W.T
+ dh = (dh * (1 - H[t] ** 2)) @ W

tanh_left_out: The tanh is missing: each step back is a product with the slope 1 - h_t², and then with Wᵀ. Without the
  slope you follow a linear cell.
- dh = (dh * (1 - H[t] ** 2)) @ W.T
+ dh = dh @ W.T

slope_one_step_early: You take the slope at the state where the error is going. The tanh that it passes is the one that
  made the later state, where it comes from: its slope is 1 less that state squared.
- dh = (dh * (1 - H[t] ** 2)) @ W.T
+ dh = (dh * (1 - H[t - 1] ** 2)) @ W.T

W_before_the_slope: You go through Wᵀ first and through the tanh after it. Forwards the tanh came last, so backwards it
  comes first, at step t: `(dh * (1 - H[t] ** 2)) @ W.T`.
- dh = (dh * (1 - H[t] ** 2)) @ W.T
+ dh = (dh @ W.T) * (1 - H[t] ** 2)

slope_where_it_arrives: You go through Wᵀ first, and then through the tanh of the step before. The first tanh on the way
  is the one that made h_T itself: at each step first 1 - h_t², then Wᵀ.
- dh = (dh * (1 - H[t] ** 2)) @ W.T
+ dh = (dh @ W.T) * (1 - H[t - 1] ** 2)

before_the_tanh: You measure da_t, the error before the tanh. What is wanted is the error of the state itself, dL/dh_t;
  the last entry is the norm of dh_last.
- norms[-1] = np.sqrt((dh**2).sum())
+ norms[-1] = np.sqrt(((dh * (1 - H[-1] ** 2)) ** 2).sum())
- norms[t - 1] = np.sqrt((dh**2).sum())
+ norms[t - 1] = np.sqrt(((dh * (1 - H[t - 1] ** 2)) ** 2).sum())

one_step_too_far: Each entry is one step too far back: you take the step first and measure afterwards. Entry t belongs
  to h_t, and the last entry is the norm of dh_last as it is.
- for t in range(len(H) - 1, 0, -1):
+ for t in range(len(H) - 1, -1, -1):
- norms[t - 1] = np.sqrt((dh**2).sum())
+ norms[t] = np.sqrt((dh**2).sum())

by_distance: Your norms run from the last step to the first. Entry t belongs to step t, so the norm of dh_last comes
  last: turn the order round.
- return norms
+ return norms[::-1]

root_forgotten: These are the squares of the norms. A norm is the root of the sum of squares.
- return norms
+ return norms**2

mean_over_rows: You take a norm for each row and then their mean. Here all rows and units of a step make one vector: one
  sum of squares over both axes.
- norms[-1] = np.sqrt((dh**2).sum())
+ norms[-1] = np.sqrt((dh**2).sum(axis=1)).mean()
- norms[t - 1] = np.sqrt((dh**2).sum())
+ norms[t - 1] = np.sqrt((dh**2).sum(axis=1)).mean()

mean_of_squares: You take the root of the mean of the squares. A norm is the root of their sum.
- return norms
+ return norms / np.sqrt(dh.size).astype(dh.dtype)

norm_of_a_matrix: You take the largest singular value of the error, as `np.linalg.norm(dh, 2)` of a matrix does. What is
  wanted is the root of the sum of all squares: `np.sqrt((dh**2).sum())`.
- norms[-1] = np.sqrt((dh**2).sum())
+ norms[-1] = np.linalg.norm(dh, 2)
- norms[t - 1] = np.sqrt((dh**2).sum())
+ norms[t - 1] = np.linalg.norm(dh, 2)

loss_at_every_step: At each step you add dh_last once more, as if there were a loss at every step. It is read at the
  last step only: one error walks back, alone.
- dh = (dh * (1 - H[t] ** 2)) @ W.T
+ dh = dh_last + (dh * (1 - H[t] ** 2)) @ W.T

as_shares: You divide by the norm of dh_last, so that the last entry is 1. Give the norms as they are.
- return norms
+ return norms / norms[-1]

dh_last_overwritten: Your norms are right, but dh_last is changed, as by a `*=` on it, or on another name for it. `dh =
  dh * …` makes a new one.
- dh = (dh * (1 - H[t] ** 2)) @ W.T
+ dh *= 1 - H[t] ** 2
+ dh = dh @ W.T
""")


ex = unit.exercise(
    "spectral_radius",
    points=1,
    takes="W (H, H)",
    gives="radius",
    hints=(
        "NumPy finds the eigenvalues. What is left is to say how large each of them is.",
        "`np.linalg.eigvals(W)` may be complex. The size of a complex number is its absolute value, and `np.abs` knows "
        "that.",
        "`float(np.abs(np.linalg.eigvals(W)).max())`.",
    ),
)


def leaning(rng: np.random.Generator, *eigenvalues: float) -> np.ndarray:
    """A triangular matrix with these eigenvalues, and large entries above them: far from symmetric."""
    size = len(eigenvalues)
    return np.diag(np.array(eigenvalues)) + np.triu(rng.uniform(1, 2, (size, size)), 1)


def turning(rng: np.random.Generator, size: int) -> np.ndarray:
    """A matrix whose largest eigenvalues are a complex pair: a turn among shrinking directions, seen askew."""
    angle, length = rng.uniform(0.7, 1.2), rng.uniform(1.5, 2.0)
    core = 0.3 * np.eye(size)
    core[:2, :2] = length * np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    basis = np.eye(size) + np.triu(rng.uniform(0.5, 1.0, (size, size)), 1)
    return basis @ core @ np.linalg.inv(basis)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(turning(rng, 4))
    yield case(leaning(rng, 0.3, 0.8, -1.4 - rng.random()))
    yield case(leaning(rng, 0.4, -0.5, 0.2, 1.1 + rng.random()))
    yield case(weights(rng, 5, 5))
    yield edge("one unit", np.array([[-0.5 - rng.random()]]))
    yield edge("a radius of 0", leaning(rng, 0.0, 0.0, 0.0))
    yield edge("all zeros", np.zeros((3, 3)))
    yield edge("one eigenvalue, six times", float(rng.uniform(0.5, 2)) * np.eye(6))  # a polynomial's roots are far off


ex.mistakes(r"""
largest_without_sign: You take the largest eigenvalue, and in this way a negative or complex one may lose. It is the
  size that counts: take the absolute values first, and then the largest.
+ return float(np.linalg.eigvals(W).real.max())

imaginary_part_dropped: You drop the imaginary parts. A complex eigenvalue a + bi turns and stretches, by the root of a²
  + b²: `np.abs` of a complex number gives that.
+ return float(np.abs(np.linalg.eigvals(W).real).max())

spectral_norm: This is the spectral norm, the largest singular value: the most that W can stretch in one step. The
  radius is the largest |eigenvalue|, what it stretches by in the long run.
+ return float(np.linalg.norm(W, 2))

frobenius_norm: This is the root of the sum of W's squares. The spectral radius is made of eigenvalues:
  `np.linalg.eigvals`.
+ return float(np.linalg.norm(W))

as_if_symmetric: Only one half of W is read, as if W were symmetric: `eigvalsh` and `eigh` do that. W is not symmetric:
  use `np.linalg.eigvals`.
+ return float(np.abs(np.linalg.eigvalsh(W)).max())

mean_of_eigenvalues: You take the mean of the absolute values. In the long run the largest one wins.
+ return float(np.abs(np.linalg.eigvals(W)).mean())

smallest_of_eigenvalues: You take the smallest absolute value. In the long run the largest one wins.
+ return float(np.abs(np.linalg.eigvals(W)).min())

power_iteration: Power iteration needs one eigenvalue that is larger than all others. A complex pair turns the vector
  for ever, and the iteration never settles: take `np.linalg.eigvals`.
+ v = np.ones(len(W)) / np.sqrt(len(W))
+ size = 0.0
+ for _ in range(100):
+     v = W @ v
+     size = float(np.sqrt(v @ v))
+     if size == 0:
+         return 0.0
+     v = v / size
+ return size

complex_for_its_size: Your answer is complex where the eigenvalues are. The size of each is asked, and of these the
  largest: `np.abs` of all of them first.
+ return np.linalg.eigvals(W).max()

largest_real_part_and_then_its_size = largest_without_sign
+ return float(abs(max(np.linalg.eigvals(W), key=lambda eigenvalue: eigenvalue.real)))

first_eigenvalue: You take the first eigenvalue. `np.linalg.eigvals` gives them in no order: take the largest of all
  absolute values.
+ return float(np.abs(np.linalg.eigvals(W)[0]))

largest_row_sum: You take the largest sum of a row's absolute values. That is a bound, which the radius never exceeds;
  the radius itself is made of eigenvalues: `np.linalg.eigvals`.
+ return float(np.linalg.norm(W, np.inf))

power_iteration_twice_as_long = power_iteration
+ v = np.ones(len(W)) / np.sqrt(len(W))
+ size = 0.0
+ for _ in range(200):
+     v = W @ v
+     size = float(np.sqrt(v @ v))
+     if size == 0:
+         return 0.0
+     v = v / size
+ return size
""")


ex = unit.exercise(
    "with_spectral_radius",
    points=2,
    takes="W (H, H), rho",
    gives="scaled (H, H)",
    uses=(gradient_flow.spectral_radius,),
    hints=(
        "Twice the matrix has twice the eigenvalues. So one factor for the whole matrix is enough: which one?",
        "The factor that leads from the present radius to rho is rho / radius. There is one radius from which it leads "
        "nowhere.",
        "`radius = spectral_radius(W)`; `if radius == 0: raise ValueError(...)`; `return W * (rho / radius)`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(turning(rng, 4), float(rng.uniform(0.4, 0.6)))
    yield case(leaning(rng, 0.3, 0.8, -1.4 - rng.random()), float(rng.uniform(3.5, 4.5)))
    yield case(weights(rng, 5, 5), float(rng.uniform(1.3, 1.7)))
    yield edge("one unit, negative", np.array([[-1.5 - rng.random()]]), 0.9)
    yield edge("a whole number", weights(rng, 3, 3), 3)
    yield edge("float32", weights(rng, 4, 4, np.float32), 0.7)
    yield edge("a radius of 0", np.zeros((3, 3)), 0.9)
    yield edge("a tiny radius", 1e-9 * weights(rng, 3, 3), 0.9)
    yield edge("the radius that it has", np.diag([0.5, -0.5, 0.0]), 0.5)
    yield edge("a radius of 0, though not all entries are 0", leaning(rng, 0.0, 0.0, 0.0), 0.9)


@ex.holds("The result has the radius that was asked for")
def _(call: Callable[..., Plain], rng: np.random.Generator) -> str | None:
    radius = gradient_flow.spectral_radius(np.asarray(call(turning(rng, 5), 0.75)))
    return None if abs(radius - 0.75) < 1e-6 else f"asked for 0.75, it is {radius:.4g}."


ex.mistakes(r"""
only_multiplied: You multiply by rho, which is right only if the radius was 1. Divide by the radius that W has first.
- return W * (rho / radius)
+ return W * rho

by_spectral_norm: You divide by the spectral norm, the largest singular value. It is never smaller than the radius, and
  mostly larger, which leaves the radius of your result below rho: divide by the largest |eigenvalue|.
- return W * (rho / radius)
+ return W * (rho / float(np.linalg.norm(W, 2)))

by_frobenius_norm: You divide by the root of the sum of W's squares. That is no radius: divide by the largest
  |eigenvalue|.
- return W * (rho / radius)
+ return W * (rho / float(np.linalg.norm(W)))

by_signed_eigenvalue: You divide by the largest real part of an eigenvalue, not by the largest absolute value. With a
  large negative or complex eigenvalue that is another number.
- return W * (rho / radius)
+ return W * (rho / float(np.linalg.eigvals(W).real.max()))

made_orthogonal: You set every singular value to rho. The radius is right, but it is another matrix. What is wanted is W
  itself, all its entries times one factor.
- return W * (rho / radius)
+ left, _, right = np.linalg.svd(W)
+ return left @ right * W.dtype.type(rho)

only_shrunk: You scale only when the radius is too large. It may be too small as well: the factor rho / radius may be
  above 1.
- return W * (rho / radius)
+ return W * min(1.0, rho / radius)

turned_upside_down: Your factor is radius / rho, upside down. To get from the radius to rho, multiply by rho / radius.
- return W * (rho / radius)
+ return W * (radius / rho)

divided_by_zero: A radius of 0 gets no ValueError. No factor can help such a W: look at the radius first, and raise one
  that says so.
- if radius == 0:
-     raise ValueError("The spectral radius of W is 0, and no factor changes that.")

zero_radius_gives_nan: With a radius of 0 you give back nan or inf, which nobody notices until much later. Look at the
  radius first, and raise a ValueError that says so.
+ with np.errstate(all="ignore"):
+     return W / W.dtype.type(spectral_radius(W)) * W.dtype.type(rho)

zero_radius_let_through: With a radius of 0 you give W back as it was, and its radius is not rho. There is no right
  answer here: raise a ValueError.
- raise ValueError("The spectral radius of W is 0, and no factor changes that.")
+ return W.copy()

W_overwritten: The numbers are right, but the caller's W is changed, as by `W *= ...`. `W * ...` makes a new array.
- return W * (rho / radius)
+ W *= rho / radius
+ return W
""")


ex = unit.exercise(
    "clip_by_global_norm",
    points=3,
    takes="gradients, max_norm",
    gives="clipped, norm",
    hints=(
        "Think of all gradients, of whatever shape, as laid out in one long vector. Its length decides, and one factor "
        "goes for all of them.",
        "The norm is the root of the sum of all squares in all arrays. The factor is max_norm / norm if the norm is "
        "above max_norm, and 1 if not; below the threshold you still return copies.",
        "`norm = float(np.sqrt(sum((g**2).sum() for g in gradients)))`; `factor = max_norm / norm if norm > max_norm "
        "else 1.0`; `return [g * factor for g in gradients], norm`.",
    ),
)


def exact_single(rng: np.random.Generator) -> list[np.ndarray]:
    """Gradients in float32 whose norm, 13, comes out exactly in whatever order the squares are added."""
    dW = rng.permutation([1.0, -2.0, 2.0, 4.0]).reshape(2, 2)
    return [g.astype(np.float32) for g in (dW, rng.permutation([4.0, -8.0, 8.0]), np.zeros((1, 3)))]


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def gradients() -> list[np.ndarray]:
        return [normal(rng, 3, 4), 4 * normal(rng, 4, 4), 0.3 * normal(rng, 4)]

    yield case(gradients(), 5.0)
    yield case(gradients()[::-1], 0.5)
    yield case([normal(rng, 2, 3, 4), 9 + rng.random(2)], 2.5)
    yield edge("below the threshold", gradients(), 1000.0)
    yield edge("none alone is above it", [n * g / np.linalg.norm(g) for n, g in zip((3, 2, 4), gradients())], 5.0)
    yield edge("one gradient", [normal(rng, 6)], 0.25)
    yield edge("a whole number", gradients(), 2)
    yield edge("all zeros", [np.zeros((2, 3)), np.zeros(3)], 1.0)
    yield edge("tiny gradients", [1e-8 * g for g in gradients()], 1e-9)
    yield edge("float32", exact_single(rng), 2.0)


ex.mistakes(r"""
each_by_its_own_norm: Each gradient is clipped by a norm of its own, which turns the direction of the step. One norm
  over all of them gives one factor for all.
- return [g * factor for g in gradients], norm
+ own = [float(np.sqrt((g**2).sum())) for g in gradients]
+ return [g * (max_norm / n if n > max_norm else 1.0) for g, n in zip(gradients, own)], norm

clipped_by_value: You cut each entry to the range from -max_norm to max_norm. That is clipping by value, and it turns
  the direction; here all entries are multiplied by the same factor.
- return [g * factor for g in gradients], norm
+ return [np.clip(g, -max_norm, max_norm) for g in gradients], norm

always_scaled: Gradients below the threshold are made longer, up to max_norm. Clipping only shortens: if the norm is not
  above max_norm, the values stay.
- factor = max_norm / norm if norm > max_norm else 1.0
+ factor = max_norm / norm if norm > 0 else 1.0

large_entries_zeroed: You set large entries to zero: where the loss is steepest, nothing moves any more. Multiply all
  entries by one factor.
- return [g * factor for g in gradients], norm
+ cut = max_norm / sum(g.size for g in gradients) ** 0.5 if norm > max_norm else norm
+ return [g * (np.abs(g) <= cut) for g in gradients], norm

sign_dropped: You cut the absolute values, and the signs are gone: negative entries come out positive. Multiply by one
  positive factor, which keeps them.
- return [g * factor for g in gradients], norm
+ return [np.minimum(np.abs(g), max_norm) for g in gradients], norm

epsilon_added: You add an epsilon to the norm, as some libraries do. For tiny gradients it
  spoils the factor. Where the norm is above max_norm, it is not 0 and needs none: take max_norm / norm there.
- factor = max_norm / norm if norm > max_norm else 1.0
+ factor = min(1.0, max_norm / (norm + 1e-6))

norm_after_clipping: The norm that you return is not the one before clipping. That one is wanted: it tells whether
  training is about to explode.
- return [g * factor for g in gradients], norm
+ return [g * factor for g in gradients], norm * factor

squared_norm: This is the square of the norm: the root of the sum is missing.
- norm = float(np.sqrt(sum((g**2).sum() for g in gradients)))
+ norm = float(sum((g**2).sum() for g in gradients))

sum_of_norms: You add up the norms of the single arrays. The norm of the long vector is the root of the sum of their
  squares: 3 and 4 make 5, not 7.
- norm = float(np.sqrt(sum((g**2).sum() for g in gradients)))
+ norm = float(sum(np.sqrt((g**2).sum()) for g in gradients))

largest_norm: You take the largest of the norms. All arrays together make one vector: the root of the sum of all
  squares.
- norm = float(np.sqrt(sum((g**2).sum() for g in gradients)))
+ norm = float(max(np.sqrt((g**2).sum()) for g in gradients))

root_of_the_mean: You take the root of the mean of the squares. The norm is the root of their sum; it grows with the
  number of entries.
- norm = float(np.sqrt(sum((g**2).sum() for g in gradients)))
+ norm = float(np.sqrt(sum((g**2).sum() for g in gradients) / sum(g.size for g in gradients)))

zeros_divide: Gradients that are all zero make you divide by zero. They are below any threshold: divide only if the norm
  is above max_norm.
- factor = max_norm / norm if norm > max_norm else 1.0
+ factor = min(1.0, max_norm / norm)

gradients_overwritten: Your numbers are right, but you wrote into the arrays that you were given, as `g *= factor` does.
  `g * factor` makes a new one.
- return [g * factor for g in gradients], norm
+ for g in gradients:
+     g *= factor
+ return [g.copy() for g in gradients], norm

same_arrays_returned: Below the threshold you hand back the very arrays that you were given, so that changing the result
  changes them too. Return copies.
- return [g * factor for g in gradients], norm
+ return [g * factor for g in gradients] if norm > max_norm else gradients, norm
""")


ex = unit.exercise(
    "truncated_bptt",
    points=4,
    takes="dH (T, N, H), X (T, N, D), h0 (N, H), H (T, N, H), U (D, H), W (H, H), k",
    gives="dU (D, H), dW (H, H), db (H,)",
    uses=(bptt.rnn_backward, bptt.rnn_step_backward),
    hints=(
        "Cut the sequence into chunks of k steps, beginning at step 0. Each is a short sequence of its own, for which "
        "you have had a backward pass since unit 04.",
        "A chunk needs the state that it started from: h0 for the first, and for all others the state of the step "
        "before. The error that it sends further back is thrown away; the gradients of all chunks are added up.",
        "`for s in range(0, len(X), k):` `h_start = H[s - 1] if s > 0 else h0`; "
        "`_, _, *parts = rnn_backward(dH[s : s + k], X[s : s + k], h_start, H[s : s + k], U, W)`; add the three parts "
        "to three totals.",
    ),
)


def in_windows(
    rng: np.random.Generator, T: int, N: int, D: int, H: int, k: int, dtype: Any = np.float64
) -> tuple[Any, ...]:
    """Draw what a backward pass is given, and the length of a window."""
    return *passed_through(rng, T, N, D, H, dtype), k


ex.draws(in_windows, T=(7, 6, 5), N=(2, 3, 3), D=(4, 5, 2), H=(5, 4, 4), k=(3, 2, 2))


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield edge("k = 1", *draw(k=1))
    yield edge("k = T, which is full BPTT", *draw(k=5))
    yield edge("k > T, which is full BPTT", *draw(k=9))


ex.mistakes(r"""
not_truncated: Nothing is cut: this is the whole gradient. At the border between two chunks the error must stop; only
  the state goes on.
+ _, _, dU, dW, db = rnn_backward(dH, X, h0, H, U, W)
+ return dU, dW, db

cut_at_every_step: The error is cut at every step, whatever k is. Inside a chunk it walks back as always; only at the
  chunk's first step does it stop.
- for s in range(0, len(X), k):
+ k = 1
+ for s in range(0, len(X), k):

state_cut_too: You take the state before each later chunk as zero. Only the gradient is cut: the state was carried
  across, and at the chunk's first step it met W. It is `H[s - 1]`.
- h_start = H[s - 1] if s > 0 else h0
+ h_start = h0 if s == 0 else np.zeros_like(h0)

h0_before_every_chunk: You take h0 as the state before every chunk. That is right for the first only; any other chunk
  started from the last state of the chunk before it.
- h_start = H[s - 1] if s > 0 else h0
+ h_start = h0

index_wraps_round: The first chunk starts from the last state of all, as `H[s - 1]` does for s = 0: there it is `H[-1]`.
  The first chunk starts from h0.
- h_start = H[s - 1] if s > 0 else h0
+ h_start = H[s - 1]

starts_from_its_own_first_state: Your later chunks start from `H[s]`, the state after their first step. What W met at
  step s is the state of the step before, `H[s - 1]`.
- h_start = H[s - 1] if s > 0 else h0
+ h_start = H[s] if s > 0 else h0

short_chunk_dropped: A short last chunk is lost. It counts like the others: let the loop run over `range(0, T, k)`, or
  round the number of chunks up.
- for s in range(0, len(X), k):
+ for i in range(len(X) // k):
+     s = i * k

chunks_from_the_end: You count the chunks from the end, so that the first one is the short one. They start at step 0, as
  the sequence is read; the last may be shorter.
- for s in range(0, len(X), k):
+ for end in range(len(X), 0, -k):
+     s = max(end - k, 0)
- _, _, dU_chunk, dW_chunk, db_chunk = rnn_backward(dH[s : s + k], X[s : s + k], h_start, H[s : s + k], U, W)
+ _, _, dU_chunk, dW_chunk, db_chunk = rnn_backward(dH[s:end], X[s:end], h_start, H[s:end], U, W)

cut_one_step_early: You cut between a chunk's first step and its second. The first step, t = 0, k, 2k, …, still gets the
  error of the steps after it; what it sends back is cut.
- for s in range(0, len(X), k):
+ for end in range(1, len(X) + k, k):
+     s = max(end - k, 0)
- _, _, dU_chunk, dW_chunk, db_chunk = rnn_backward(dH[s : s + k], X[s : s + k], h_start, H[s : s + k], U, W)
+ _, _, dU_chunk, dW_chunk, db_chunk = rnn_backward(dH[s:end], X[s:end], h_start, H[s:end], U, W)

window_for_each_output: You follow the error of each output back through k steps. That is another kind of truncation,
  and a costlier one: here the cuts lie at fixed places, every k steps from step 0 on.
+ dU, dW, db = np.zeros_like(U), np.zeros_like(W), np.zeros_like(W[0])
+ for t in range(len(X)):
+     dh = dH[t]
+     for s in range(t, max(t - k, -1), -1):
+         h_prev = H[s - 1] if s > 0 else h0
+         _, dh, dU_s, dW_s, db_s = rnn_step_backward(dh, X[s], h_prev, H[s], U, W)
+         dU, dW, db = dU + dU_s, dW + dW_s, db + db_s
+ return dU, dW, db

last_chunk_only: You return the gradients of the last chunk alone. Add up those of all chunks.
- dU += dU_chunk
- dW += dW_chunk
- db += db_chunk
+ dU, dW, db = dU_chunk, dW_chunk, db_chunk

averaged_over_chunks: You divide by the number of chunks. The loss is a sum over steps, so the gradients of all chunks
  are added up.
- return dU, dW, db
+ chunks = len(range(0, len(X), k))
+ return dU / chunks, dW / chunks, db / chunks

loss_at_the_end_of_each_chunk: Only the error of each chunk's last step walks back. There is an error at every step,
  dH[t], and each of them joins in on the way.
- _, _, dU_chunk, dW_chunk, db_chunk = rnn_backward(dH[s : s + k], X[s : s + k], h_start, H[s : s + k], U, W)
+ ends = np.zeros_like(dH[s : s + k])
+ ends[-1] = dH[s : s + k][-1]
+ _, _, dU_chunk, dW_chunk, db_chunk = rnn_backward(ends, X[s : s + k], h_start, H[s : s + k], U, W)

dH_overwritten: Your numbers are right, but dH is changed, as by a `+=` on dH[t], or on another name for it. `dh = dH[t]
  + …` makes a new one.
+ dU, dW, db = np.zeros_like(U), np.zeros_like(W), np.zeros_like(W[0])
+ from_later = np.zeros_like(h0)
+ for t in reversed(range(len(X))):
+     h_prev = H[t - 1] if t > 0 else h0
+     dh = dH[t]
+     dh += from_later
+     _, from_later, dU_t, dW_t, db_t = rnn_step_backward(dh, X[t], h_prev, H[t], U, W)
+     if t % k == 0:
+         from_later = np.zeros_like(h0)
+     dU, dW, db = dU + dU_t, dW + dW_t, db + db_t
+ return dU, dW, db
""")


ex = unit.exercise(
    "checkpointed_bptt",
    points=5,
    takes="loss_grad, X (T, N, D), h0 (N, H), U (D, H), W (H, H), b (H,), every",
    gives="dU (D, H), dW (H, H), db (H,)",
    uses=(cell.rnn_forward, bptt.rnn_backward, bptt.rnn_step_backward),
    drive=memory,
    counts_calls=True,
    hints=(
        "Two walks. Forwards, run chunk after chunk and keep nothing but the state that each chunk starts from. Then "
        "take the chunks from the last to the first, and run each of them again before you go back through it.",
        "Going back through a chunk is `rnn_backward`. Its dH holds the answers of `loss_grad`, asked with the step's "
        "number in the whole sequence; to the last entry you add the dh0 that the chunk after it sent back.",
        "Forwards: `starts.append(h)`, then `h = rnn_forward(X[s : s + every], h, U, W, b)[-1].copy()`. Back, with "
        "`dh = np.zeros_like(h0)`: `H = rnn_forward(chunk, start, U, W, b)`; `dH = np.stack([loss_grad(s + i, h) for "
        "i, h in enumerate(H)])`; `dH[-1] += dh`; `_, dh, *parts = rnn_backward(dH, chunk, start, H, U, W)`; add up.",
    ),
)


def pulled(
    rng: np.random.Generator,
    T: int,
    N: int,
    D: int,
    H: int,
    every: int,
    dtype: Any = np.float64,
    factory: Any = pull_to,
) -> tuple[Any, ...]:
    """Draw what `checkpointed_bptt` is given."""
    loss_grad: Named = factory(goals=normal(rng, T, N, H, dtype=dtype), mix=weights(rng, H, H, dtype))
    return loss_grad, *inputs(rng, T, N, D, H, dtype), every


ex.draws(pulled, T=(7, 6, 5), N=(2, 3, 3), D=(4, 5, 2), H=(5, 4, 4), every=(3, 2, 2))


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield edge("every = 1", *draw(every=1))
    yield edge("every = T", *draw(every=5))
    yield edge("every > T", *draw(every=9))
    yield edge("what loss_grad answers is its own", *pulled(rng, 5, 3, 2, 4, 2, factory=pull_to_kept))


@ex.holds("Not every state is kept")
def _(call: Any, rng: np.random.Generator) -> str | None:
    T, N, H = 900, 8, 64
    args = pulled(rng, T, N, 2, H, every=30)
    all_states, peak = T * N * H * 8, call(*args, "peak")
    if peak < all_states / 2:
        return None
    return (
        f"for {T} steps in chunks of 30 your answer holds {peak // 1000} kB at its peak, and all states together are "
        f"{all_states // 1000} kB."
    )


ex.mistakes(r"""
all_states_kept: Your gradients are right, but at its peak your answer holds as much as one that keeps every state. Keep
  the states that chunks start from alone, as copies (a view keeps its whole array), and no errors of earlier chunks.
- kept, h = [], h0
+ everything = rnn_forward(X, h0, U, W, b)
+ kept, h = [], h0

steps_counted_anew: In each chunk you ask loss_grad for steps 0, 1, …, as if the sequence began there. It wants the
  step's number in the whole sequence: the chunk's start plus i.
- dH = np.stack([loss_grad(s + i, h) for i, h in enumerate(H)])
+ dH = np.stack([loss_grad(i, h) for i, h in enumerate(H)])

error_not_carried: The error stops where a chunk begins: this is truncated BPTT. Checkpoints give the whole gradient:
  what a chunk sends back, its dh0, is added to the last error of the chunk before it.
- dH[-1] += dh

carried_to_the_first_step: What the later chunk sends back is added to the wrong step, the chunk's first. It reaches the
  state next to it, the last one: `dH[-1] += dh`.
- dH[-1] += dh
+ dH[0] += dh

carried_to_every_step: What the later chunk sends back is added to every step of the chunk. It reaches one state, the
  last: `dH[-1] += dh`; the way back through the chunk takes it on from there.
- dH[-1] += dh
+ dH += dh

every_chunk_from_h0: Every chunk is run again, and gone back through, from h0. Only the first began there: keep for each
  other one the last state of the chunk before it.
- chunk, h_start = X[s : s + every], kept.pop()
+ chunk, h_start = X[s : s + every], h0

way_back_to_h0: On the way back through a chunk its first step is taken to come from h0. Only the first chunk's does:
  `rnn_backward` gets the state that the chunk started from.
- _, dh, dU_chunk, dW_chunk, db_chunk = rnn_backward(dH, chunk, h_start, H, U, W)
+ _, dh, dU_chunk, dW_chunk, db_chunk = rnn_backward(dH, chunk, h0, H, U, W)

kept_one_step_late: The states that you keep are one step too late: the state after a chunk's first step instead of the
  one before it. A chunk that starts at step s starts from h_{s-1}.
- kept.append(h)
+ kept.append(rnn_forward(X[s : s + 1], h, U, W, b)[0] if s > 0 else h)

asked_with_the_state_before: You hand loss_grad the state before step t. The error of step t belongs to the state that
  has read X[t]: ask with the state after the step.
- dH = np.stack([loss_grad(s + i, h) for i, h in enumerate(H)])
+ dH = np.stack([loss_grad(s + i, h) for i, h in enumerate([h_start, *H[:-1]])])

asked_for_kept_states_only: You ask loss_grad at the end of each chunk only. Every step has an error of its own: ask
  once for each of the T steps.
- dH = np.stack([loss_grad(s + i, h) for i, h in enumerate(H)])
+ dH = np.zeros_like(H)
+ dH[-1] = loss_grad(s + len(H) - 1, H[-1])

short_chunk_dropped_here: A short last chunk is lost. Let the chunks start at `range(0, T, every)`, to the end.
- starts = range(0, len(X), every)
+ starts = range(0, len(X) - every + 1, every)

first_chunk_only: You return the gradients of the first chunk alone. Add up those of all chunks.
- dU += dU_chunk
- dW += dW_chunk
- db += db_chunk
+ dU, dW, db = dU_chunk, dW_chunk, db_chunk

chunks_taken_forwards: You take the chunks from the first to the last and carry the error that way. Errors flow back:
  the last chunk comes first.
- for s in reversed(starts):
-     chunk, h_start = X[s : s + every], kept.pop()
+ for s in starts:
+     chunk, h_start = X[s : s + every], kept.pop(0)

asked_on_both_walks: Your numbers are right, but you ask loss_grad twice for each step. It may be slow, or keep count of
  its calls: ask once for each step.
- h = rnn_forward(X[s : s + every], h, U, W, b)[-1].copy()
+ for i, h in enumerate(rnn_forward(X[s : s + every], h, U, W, b)):
+     loss_grad(s + i, h)

answer_written_to: You write into the array that loss_grad answered with, as a `+=` on it does. It belongs to loss_grad:
  `dh = loss_grad(t, h) + …` makes a new one.
- dH = np.stack([loss_grad(s + i, h) for i, h in enumerate(H)])
+ dH = [loss_grad(s + i, h) for i, h in enumerate(H)]

run_again_from_h0: Every chunk is run again from h0, as if the sequence began with it. It goes on from the state that
  you kept for it.
- H = rnn_forward(chunk, h_start, U, W, b)
+ H = rnn_forward(chunk, h0, U, W, b)
""")


# --- orthogonal


def lengths_and_angles(answer: Plain) -> Plain:
    """Q Q^T, which is the same for all orthogonal matrices of a size: the lengths of the rows and their angles."""
    Q = np.asarray(answer)
    return Q @ Q.T if Q.ndim == 2 and Q.shape[0] == Q.shape[1] and Q.dtype.kind in "biuf" else answer


ex = unit.exercise(
    "orthogonal",
    points=2,
    takes="rng, n",
    gives="QQᵀ (n, n)",
    canonical=lengths_and_angles,
    forbids=("torch", "scipy"),
    hints=(
        "Draw any square matrix, and let linear algebra find directions at right angles in it.",
        "The QR decomposition writes a matrix as Q R, with Q orthogonal and R triangular. The singular value "
        "decomposition has two orthogonal factors, and either will do.",
        "`Q, R = np.linalg.qr(rng.normal(size=(n, n)))`, and return Q.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    for n in (4, 7):
        yield case(generator(seed=int(rng.integers(2**31))), n)
    yield edge("n = 1", generator(seed=int(rng.integers(2**31))), 1)
    yield edge("n = 2", generator(seed=int(rng.integers(2**31))), 2)


@ex.holds("The matrix is drawn from rng")
def _(call: Callable[..., Plain], rng: np.random.Generator) -> str | None:
    seeds = [int(seed) for seed in rng.integers(2**31, size=2)]
    first, other = (np.asarray(call(generator(seed=seed), 8)) for seed in seeds)
    later = np.asarray(call(generator(seed=seeds[0], drawn=64), 8))
    again = np.asarray(call(generator(seed=seeds[0]), 8))
    if not np.allclose(first, again):
        return "two generators in the same state gave different matrices: their numbers come from elsewhere."
    if np.allclose(first, other):
        return "two generators with different seeds gave the same matrix."
    if np.allclose(first, later):
        return "a second draw from the same generator gave the same matrix again."
    return None


@ex.holds("Different seeds give different matrices")
def _(call: Callable[..., Plain], rng: np.random.Generator) -> str | None:
    small = [np.asarray(call(generator(seed=int(seed)), 2)) for seed in rng.integers(2**31, size=12)]
    if any(np.allclose(a, b, rtol=0, atol=1e-12) for a, b in combinations(small, 2)):
        return "for n = 2, two of twelve generators with different seeds gave the same matrix."
    return None


ex.mistakes(r"""
not_from_rng: Your matrix is orthogonal, but does not go by rng, the generator that you are given. Draw its numbers with
  `rng.normal(size=(n, n))`.
+ return np.linalg.qr(np.random.default_rng(0).normal(size=(n, n)))[0]

permuted_rows_of_the_identity: Your matrix is orthogonal, but two seeds may give the same one. Let `np.linalg.qr` make
  one of normal draws.
+ return np.eye(n)[rng.permutation(n)]

normal_draws_as_they_are: These are normal draws as they are. Let `np.linalg.qr` make their columns of length 1 and at
  right angles.
+ return rng.normal(size=(n, n))

normal_draws_scaled: Draws divided by the root of n have columns of length 1 on average only, and no right angles. Let
  `np.linalg.qr` make them orthogonal.
+ return rng.normal(size=(n, n)) / np.sqrt(n)

columns_of_length_one: Your columns have length 1, but they do not stand at right angles. The QR decomposition does
  both.
+ A = rng.normal(size=(n, n))
+ return A / np.sqrt((A**2).sum(axis=0))

rows_of_length_one: Your rows have length 1, but they do not stand at right angles. The QR decomposition does both.
+ A = rng.normal(size=(n, n))
+ return A / np.sqrt((A**2).sum(axis=1, keepdims=True))

right_angles_only: Your columns stand at right angles, but their lengths are not 1. Divide each by its own length.
- Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
+ Q = rng.normal(size=(n, n))
+ for i in range(n):
+     for j in range(i):
+         Q[:, i] -= (Q[:, i] @ Q[:, j]) / (Q[:, j] @ Q[:, j]) * Q[:, j]

radius_of_one: A spectral radius of 1 is not enough: such a matrix stretches some vectors and shrinks others. An
  orthogonal one keeps every length.
+ A = rng.normal(size=(n, n))
+ return A / np.abs(np.linalg.eigvals(A)).max()

largest_stretch_of_one: Your matrix stretches no vector, but it shrinks most of them: its largest singular value is 1,
  and in an orthogonal matrix all singular values are 1.
+ A = rng.normal(size=(n, n))
+ return A / np.linalg.norm(A, 2)

R_for_Q: `np.linalg.qr` gives two matrices, and you return R, the triangular one. The orthogonal one is the first, Q.
+ return np.linalg.qr(rng.normal(size=(n, n)))[1]

symmetric_draws: A symmetric matrix is not orthogonal. Its eigenvectors would be: `np.linalg.eigh(A + A.T)[1]`; or take
  the Q of `np.linalg.qr(A)`.
+ A = rng.normal(size=(n, n))
+ return (A + A.T) / 2

both_factors_returned: `np.linalg.qr` gives two matrices, Q and R, and you return both. The orthogonal one is Q.
+ return np.linalg.qr(rng.normal(size=(n, n)))

projected_on_raw_columns: Your columns have length 1, but from the third on they do not stand at right angles: what you
  subtract are projections on the drawn columns. Project on the columns that are made already.
- Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
+ A = rng.normal(size=(n, n))
+ Q = A.copy()
+ for i in range(n):
+     for j in range(i):
+         Q[:, i] -= (A[:, j] @ A[:, i]) / (A[:, j] @ A[:, j]) * A[:, j]
+     Q[:, i] /= np.linalg.norm(Q[:, i])
""")
