"""Unit 14: scans. Its exercises, their cases, hints and misconceptions."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from rnncourse import scans
from rnncourse.checks.drive import steps
from rnncourse.checks.exercise import Case, Draw, Unit, case, edge, normal, weights
from rnncourse.checks.plain import Plain

unit = Unit("14_scans", "Scans: what need not wait", scans, forbids=("torch", "scipy"))


ex = unit.exercise(
    "linear_recurrence",
    points=2,
    takes="a (T, N, H), b (T, N, H), h0 (N, H)",
    gives="states (T, N, H)",
    hints=(
        "It is the loop of `rnn_forward` with another step in it. What is carried from step to step?",
        "Start with `h = h0`. At each step make a *new* h from a[t], the old h and b[t], and keep it. h0 itself is not "
        "among the states.",
        "`H = np.empty_like(b)`; `h = h0`; then for each t: `h = a[t] * h + b[t]` and `H[t] = h`; return H.",
    ),
)


def recurrence(rng: np.random.Generator, T: int, *shape: int, dtype: Any = np.float64) -> tuple[Any, ...]:
    """Draw a, b (T, …) and h0 (…): factors between -1.1 and 1.1, but not close to 0. Without axes, h0 is a number."""
    a = rng.uniform(0.4, 1.1, (T, *shape)) * rng.choice([-1, 1], (T, *shape))
    h0 = (normal(rng, *shape) + 2).astype(dtype) if shape else float(rng.uniform(1, 2))
    return a.astype(dtype), normal(rng, T, *shape, dtype=dtype), h0


def with_zeros(rng: np.random.Generator, T: int, *shape: int) -> tuple[Any, ...]:
    """The same, where a sequence forgets everything at its first step and in its middle: the factors are 0 there."""
    a, b, h0 = recurrence(rng, T, *shape)
    a.reshape(T, -1)[[0, T // 2], 0] = 0
    return a, b, h0


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(*recurrence(rng, 5, 3, 4))
    yield case(*recurrence(rng, 7, 2))
    yield case(*recurrence(rng, 6))
    yield edge("one step", *recurrence(rng, 1, 3, 2))
    yield edge("one row", *recurrence(rng, 4, 1, 3))
    yield edge("four axes, all sizes alike", *recurrence(rng, 4, 4, 4, 4))
    yield edge("factors of 0", *with_zeros(rng, 6, 2, 3))
    yield edge("factors of 0", *with_zeros(rng, 5))
    yield edge("float32", *recurrence(rng, 5, 2, 3, dtype=np.float32))


@ex.holds("A split run is the whole run")
def _(call: Any, rng: np.random.Generator) -> str | None:
    a, b, h0 = recurrence(rng, 7, 2, 3)
    whole = np.asarray(call(a, b, h0))
    first = np.asarray(call(a[:3], b[:3], h0))
    second = np.asarray(call(a[3:], b[3:], first[-1]))
    same = np.allclose(np.concatenate([first, second]), whole)
    return None if same else "cut after three steps and run on from the state there, other states came out."


ex.mistakes(r"""
h0_is_zero: You start from zeros. The first state is a_1 h_0 + b_1, with the h0 that you are given.
- h = h0
+ h = np.zeros_like(b[0])

h0_among_the_states: The start is in your result, which has one step too many. The states are h_1 to h_T, one for each
  step.
- return H
+ return np.concatenate([np.asarray(h0, dtype=b.dtype)[None], H])

one_step_early: You keep the state from before each step. Make the step first, then keep what came out.
- h = a[t] * h + b[t]
- H[t] = h
+ H[t] = h
+ h = a[t] * h + b[t]

a_and_b_exchanged: You multiply the state by b and add a. It is a that multiplies.
- h = a[t] * h + b[t]
+ h = b[t] * h + a[t]

b_multiplied_too: You add b to the state before you multiply, so b is multiplied by a as well. Only the state is.
- h = a[t] * h + b[t]
+ h = a[t] * (h + b[t])

no_memory: The old state has no say: your states are b. Each is a_t times the state before it, plus b_t.
+ return b.copy()

h0_at_every_step: Every step starts from the same state. Step t starts from the state that step t - 1 left.
+ return a * h0 + b

backwards_in_time: You walk from the last step to the first. h0 is where the *first* step starts.
- for t in range(len(a)):
+ for t in reversed(range(len(a))):

a_share_of_b: You take the share 1 - a of b, as a leaky average does. Here b is added whole; whoever wants a share puts
  it into b.
- h = a[t] * h + b[t]
+ h = a[t] * h + (1 - a[t]) * b[t]

one_array_many_times: All your states are the last one, as where one array is updated in place and kept T times. Make
  a new array at each step, and keep it at its own place.
+ h, states = np.array(h0, dtype=b.dtype), []
+ for factor, term in zip(a, b):
+     h *= factor
+     h += term
+     states.append(h)
+ return np.stack(states)

divided_by_the_product: You divide by the product of all factors so far. One factor of 0, or many small ones, and that
  is a division by 0. The loop never divides.
+ product = np.cumprod(a, axis=0)
+ return product * (h0 + np.cumsum(b / product, axis=0))

h0_overwritten: The states are right, but h0 is changed, which belongs to whoever called, as by `h *= …` and `h += …`.
  Write `h = a[t] * h + b[t]`, which makes a new array.
- h = a[t] * h + b[t]
+ h *= a[t]
+ h += b[t]

b_overwritten: The states are right, but b is changed, as by states written into it, and it belongs to whoever called.
  Write into an array of your own: `np.empty_like(b)`, or `b.copy()` if you add to it.
- H = np.empty_like(b)
+ H = b
""")


ex = unit.exercise(
    "combine_affine",
    points=2,
    takes="first, second",
    gives="a (T, N), b (T, N)",
    hints=(
        "Write the two steps out for a state h: first a_1 h + b_1. Put that into the second map in place of h.",
        "a_2 (a_1 h + b_1) + b_2. Multiply out: what stands before h, and what stands alone?",
        "`a_1, b_1 = first`; `a_2, b_2 = second`; `return a_2 * a_1, a_2 * b_1 + b_2`.",
    ),
)


def affine(rng: np.random.Generator, *shape: int, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
    """Draw a pair (a, b)."""
    a = rng.uniform(0.4, 1.6, shape) * rng.choice([-1, 1], shape)
    return a.astype(dtype), (normal(rng, *shape) + 2).astype(dtype)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(affine(rng, 5, 3), affine(rng, 5, 3))
    yield case(affine(rng, 4), affine(rng, 4))
    yield edge("two numbers each", *[tuple(rng.uniform(1.5, 3, 2).tolist()) for _ in range(2)])
    yield edge("one entry", affine(rng, 1), affine(rng, 1))
    yield edge("three axes", affine(rng, 3, 2, 4), affine(rng, 3, 2, 4))
    yield edge("float32", affine(rng, 3, 2, dtype=np.float32), affine(rng, 3, 2, dtype=np.float32))


@ex.holds("Three maps in a row may be bracketed either way")
def _(call: Any, rng: np.random.Generator) -> str | None:
    p, q, r = (affine(rng, 4) for _ in range(3))
    left, right = call(tuple(call(p, q)), r), call(p, tuple(call(q, r)))
    same = all(np.allclose(x, y) for x, y in zip(left, right))
    return None if same else "(p, q) and then r is not p and then (q, r)."


ex.mistakes(r"""
second_applied_first: You apply `second` first. In a_2 (a_1 h + b_1) + b_2 it is the b of the *first* map that goes
  through the second one and is multiplied by its a.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_1 * a_2, a_1 * b_2 + b_1

b_of_the_first_not_multiplied: b_1 stands in your b as it is. The b of the first map goes through the second one, too:
  it has to be multiplied by a_2.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 * a_1, b_1 + b_2

first_a_on_first_b: You multiply b_1 by a_1. Within the first map b_1 is added after the product; it is the second map
  that multiplies it, by a_2.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 * a_1, a_1 * b_1 + b_2

both_b_multiplied: You multiply both b by a_2. b_2 is added last, and nothing comes after it.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 * a_1, a_2 * (b_1 + b_2)

b_of_the_second_lost: b_2 is missing: it is added at the end of the second map.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 * a_1, a_2 * b_1

as_a_product_rule: Your b has a part from each map multiplied by the other's a, as in the derivative of a product. But
  the maps come one after the other: b_2 is not multiplied by anything.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 * a_1, a_2 * b_1 + a_1 * b_2

factors_added: You add the factors. h is multiplied by a_1 and then by a_2, so it is multiplied by their product.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 + a_1, a_2 * b_1 + b_2

a_of_the_first_lost: Your a is that of the second map alone. h goes through both: it is a_2 a_1.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 * np.ones_like(a_1), a_2 * b_1 + b_2

b_before_a: You return (b, a). A pair is (a, b), what multiplies first, or the result cannot be combined further.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 * b_1 + b_2, a_2 * a_1

first_overwritten: The values are right, but the arrays of `first` are changed, as by `*=` and `+=`, and somebody still
  needs them: make new arrays.
- return a_2 * a_1, a_2 * b_1 + b_2
+ b_1 *= a_2
+ b_1 += b_2
+ a_1 *= a_2
+ return np.copy(a_1), np.copy(b_1)

multiplied_in_pairs: You multiply pair by pair, a_1 a_2 and b_1 b_2. Put one map into the other: a_2 (a_1 h + b_1) +
  b_2.
- return a_2 * a_1, a_2 * b_1 + b_2
+ return a_2 * a_1, b_2 * b_1
""")


# --- associative_scan


def depth_allowed(T: int) -> int:
    """How many operations may wait for one another. The scans that are known take at most 4 ceil(log2(T)) + 2."""
    return 4 * math.ceil(math.log2(T)) + 4


def few_enough(answer: Plain) -> Plain:
    """Of a depth, what counts: whether it is one that is allowed, or about how large it is."""
    if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], int)):
        return answer
    values, depth = answer
    allowed = depth_allowed(len(values))
    return values, f"at most {allowed}" if depth <= allowed else f"about {float(f'{depth:.1g}'):.0f}"


ex = unit.exercise(
    "associative_scan",
    points=5,
    takes="a (T, N, H), b (T, N, H), h0 (N, H), count",
    gives="states (T, N, H), depth",
    drive=steps,
    canonical=few_enough,
    uses=(scans.combine_affine, scans.linear_recurrence),
    hints=(
        "Think of a row of maps. In one round, combine each of them with its left neighbour, all at a time. How many "
        "maps does each entry stand for now? And after a second round, with the entry two to the left?",
        "Keep A and B, where entry t stands for the last `step` maps up to t. In a round, entries from `step` on "
        "become the combination of entry t - step, applied first, with entry t; the first `step` entries stay. Then "
        "double `step`. When it has reached T, every entry stands for all maps from the start: apply them to h0.",
        "`A, B, step = a, b, 1`; `while step < len(a):` `new_A, new_B = combine_affine((A[:-step], B[:-step]), "
        "(A[step:], B[step:]))`, then `A = np.concatenate([A[:step], new_A])`, the same for B, and `step *= 2`; at the "
        "end `return A * h0 + B`.",
    ),
)


def slow_decay(rng: np.random.Generator, T: int) -> tuple[Any, ...]:
    """Draw a, b (T,) and h0 for a long run: no product of factors gets lost in zeros."""
    a = rng.uniform(0.99, 1.0, T) * rng.choice([-1, 1], T)
    return a, normal(rng, T), float(rng.uniform(1, 2))


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(*recurrence(rng, 5, 3, 4))
    yield case(*recurrence(rng, 8, 2, 3))
    yield case(*recurrence(rng, 13, 2))
    yield case(*with_zeros(rng, 6))
    yield case(*slow_decay(rng, 1100), "count")
    for T in range(1, 18):
        yield edge(f"T = {T}", *recurrence(rng, T, 3, 2))
    yield edge("one row", *recurrence(rng, 4, 1, 3))
    yield edge("four axes, all sizes alike", *recurrence(rng, 4, 4, 4, 4))
    yield edge("factors of 0", *with_zeros(rng, 9, 2, 3))
    yield edge("float32", *recurrence(rng, 7, 2, 3, dtype=np.float32))
    yield edge("a long run of small factors", np.full(700, 0.1), normal(rng, 700), 2.0)


ex.mistakes(r"""
plain_loop: The states are right, but each state waits for the one before: with T = 1000 that is 2,000 operations in a
  row. Combine the maps in pairs, all pairs at a time.
+ H = np.empty_like(b)
+ h = h0
+ for t in range(len(a)):
+     h = a[t] * h + b[t]
+     H[t] = h
+ return H

in_blocks: The states are right, and you have cut the sequence into blocks, which is a good idea once. Within a block,
  and from block to block, one still waits for the other: do the same with the blocks, and again.
+ size = math.ceil(math.sqrt(len(a)))
+ H = np.empty_like(b)
+ h = h0
+ for start in range(0, len(a), size):
+     A, B = a[start : start + size].copy(), b[start : start + size].copy()
+     for t in range(1, len(A)):
+         A[t], B[t] = combine_affine((A[t - 1], B[t - 1]), (A[t], B[t]))
+     H[start : start + size] = A * h + B
+     h = H[start + len(A) - 1]
+ return H

one_step_further: Each round reaches one step further back, so with T steps there are T rounds, each of which waits for
  the one before. Two maps of as many steps make one of twice as many: double the reach in each round.
+ A, B = a.copy(), b.copy()
+ for t in range(1, len(a)):
+     A[t:], B[t:] = combine_affine((A[t - 1 : -1], B[t - 1 : -1]), (a[t:], b[t:]))
+ return A * h0 + B

division_by_the_product: You divide by the product of all factors so far: a factor of 0, or many small ones, make that a
  division by 0. And a cumulative product waits for the one before as well. Combine maps; no division is needed.
+ product = np.cumprod(a, axis=0)
+ return product * (h0 + np.cumsum(b / product, axis=0))

started_from_zero: h0 is missing: your states are those of a run from zeros. The map of all steps up to t has an a, too:
  h_t is A_t h0 + B_t.
- return A * h0 + B
+ return B.copy()

h0_added_as_it_is: You add h0 to every state. It is multiplied by all factors on the way: h_t is A_t h0 + B_t.
- return A * h0 + B
+ return h0 + B

h0_only_in_the_first_state: h0 reaches your first state and none behind it. Put it into b[0] *before* the scan, or apply
  every prefix to it at the end.
- return A * h0 + B
+ H = B.copy()
+ H[0] = a[0] * h0 + b[0]
+ return H

later_maps_first: You combine in the wrong order: the entry further left was earlier, so it is the `first` argument of
  `combine_affine`.
- new_A, new_B = combine_affine((A[:-step], B[:-step]), (A[step:], B[step:]))
+ new_A, new_B = combine_affine((A[step:], B[step:]), (A[:-step], B[:-step]))

one_round_short: One round is missing: the last entries do not yet stand for all maps from the start. Go on while the
  reach of an entry is below T, not only while twice the reach is.
- while step < len(a):
+ while 2 * step < len(a):

step_grows_by_one: Your step grows by one from round to round. After a round each entry stands for *twice* as many maps,
  so the step has to double; else some maps are applied twice.
- step = 1
- while step < len(a):
+ for step in range(1, min(len(a), 12)):

new_a_used_for_b: You replace A before you compute B, which then is made with factors of this round. Both need those of
  the round before: compute both, then replace both.
- new_A, new_B = combine_affine((A[:-step], B[:-step]), (A[step:], B[step:]))
- A, B = np.concatenate([A[:step], new_A]), np.concatenate([B[:step], new_B])
+ A = np.concatenate([A[:step], A[step:] * A[:-step]])
+ B = np.concatenate([B[:step], A[step:] * B[:-step] + B[step:]])

only_powers_of_two: Where the number of maps is odd, in the first round or in a later one, the last of them is left
  over: its state is that of a run which began there. Only lengths 2, 4, 8, … come out right.
+ def prefixes(A, B):
+     half = len(A) // 2
+     if half == 0:
+         return A, B
+     pairs = slice(0, 2 * half, 2), slice(1, 2 * half, 2)
+     odd_A, odd_B = prefixes(*combine_affine((A[pairs[0]], B[pairs[0]]), (A[pairs[1]], B[pairs[1]])))
+     between = slice(2, 2 * half, 2)
+     even_A, even_B = combine_affine((odd_A[:-1], odd_B[:-1]), (A[between], B[between]))
+     A, B = A.copy(), B.copy()
+     A[pairs[1]], B[pairs[1]], A[between], B[between] = odd_A, odd_B, even_A, even_B
+     return A, B
+
+ A, B = prefixes(a, b)
+ return A * h0 + B

h0_written_into_b: The states are right, but b is changed, as by h0 put into `b[0]`: the next run with it comes out
  wrong. Copy b first.
- A, B = a, b
+ b[0] = a[0] * h0 + b[0]
+ A, B = a, b
- return A * h0 + B
+ return B.copy()

rounds_rounded_down: Where T is no power of two your last round is missing, as with `int(log2(T))` rounds. Go on while
  the reach of an entry is below T.
- while step < len(a):
+ while 2 * step <= len(a):

reach_grows_by_one: The reach grows by one in each round, so that maps are combined that have steps in common. After a
  round each map covers twice as many steps: the reach doubles.
- step *= 2
+ step += 1
""")


def walks_not(answer: Plain) -> Plain:
    """Of a depth, what counts: whether it is one that is allowed, or about how large it is."""
    if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], int)):
        return answer
    values, depth = answer
    T, _, H = np.shape(values)
    allowed = 2 * (H + 2) * math.ceil(math.log2(T)) + 8  # a combination is a product of matrices: H + 1 at most
    return values, f"at most {allowed}" if depth <= allowed else f"about {float(f'{depth:.1g}'):.0f}"


ex = unit.exercise(
    "backward_by_scan",
    points=4,
    takes="dH (T, N, H), H (T, N, H), W (H, H), count",
    gives="errors (T, N, H), depth",
    drive=steps,
    canonical=walks_not,
    may_share=True,  # with one step the answer is dH
    hints=(
        "Write the step as a map of the later error: e_t = e_{t+1} A + B. What is A, and what is B? Then it is the "
        "scan from before, with products of matrices, and from the end: entry t takes in the entry `step` *later*.",
        "A of step t is `(1 - H[t+1]**2)[..., :, None] * W.T`, one (H, H) for each row of the batch; after the last "
        "step nothing comes, so a matrix of zeros will do. B is `dH[t]`. Two maps, the later one first: (A_2, B_2) "
        "then (A_1, B_1) give A_2 A_1 and B_2 A_1 + B_1.",
        "`A = (1 - H * H)[..., :, None] * W.T`; `A = np.concatenate([A[1:], np.zeros_like(A[:1])])`; `B, step = dH, "
        "1`; `while step < len(H):` `new_B = (B[step:, :, None] @ A[:-step])[:, :, 0] + B[:-step]` and `new_A = "
        "A[step:] @ A[:-step]`, then put the last `step` entries of the old ones behind them, and `step *= 2`; return "
        "B.",
    ),
)


def walked(rng: np.random.Generator, T: int, N: int, H: int, dtype: Any = np.float64) -> tuple[np.ndarray, ...]:
    """Draw dH, states and W; the slopes are not all near 1."""
    states = np.tanh(normal(rng, T, N, H)).astype(dtype)
    return normal(rng, T, N, H, dtype=dtype), states, 1.5 * weights(rng, H, H, dtype)


ex.draws(walked)


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield case(*walked(rng, 8, 2, 3))
    yield case(*walked(rng, 13, 3, 2))
    dH, states, W = walked(rng, 70, 1, 2)
    turn = rng.uniform(0.5, 1)  # what stands seventy steps later still counts, where slopes are near 1
    W[:] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    yield case(dH, 0.1 * states, W, "count")
    for T in range(2, 10):
        yield edge(f"T = {T}", *walked(rng, T, 3, 2))
    dH, states, W = walked(rng, 9, 2, 3)
    states[4] = np.sign(states[4])
    yield edge("states at their ends", dH, states, W)


@ex.holds("The error of the last step alone reaches all states, each later one more directly")
def _(call: Any, rng: np.random.Generator) -> str | None:
    dH, states, W = walked(rng, 6, 2, 3)
    dH[:-1] = 0
    whole = np.asarray(call(dH, states, W))
    shorter = np.asarray(call(dH[2:], states[2:], W))
    return None if np.allclose(whole[2:], shorter) else "without the first two steps, the errors of the others changed."


ex.mistakes(r"""
walked_back: The errors are right, but each error waits for the one after it: that is the walk of unit 04. Combine the
  maps of all steps in pairs, as in your scan.
+ errors = dH.copy()
+ for t in range(len(H) - 2, -1, -1):
+     errors[t] = errors[t] + (errors[t + 1] * (1 - H[t + 1] * H[t + 1])) @ W.T
+ return errors

W_not_transposed: W is not transposed. Forwards a state is multiplied by W, so an error on its way back is by `W.T`.
- A = (1 - H * H)[..., :, None] * W.T
+ A = (1 - H * H)[..., :, None] * W

slopes_left_out: The slopes are missing: on its way back an error passes the tanh of each step, whose slope is 1 - h^2.
- A = (1 - H * H)[..., :, None] * W.T
+ A = np.ones_like(H)[..., :, None] * W.T

slopes_behind_W: The slopes stand behind W, on the columns. An error first meets the slope of h_t, and then W.T: entry i
  of the error goes with *row* i.
- A = (1 - H * H)[..., :, None] * W.T
+ A = (1 - H * H)[..., None, :] * W.T

slope_of_the_wrong_step: Your map of step t has the slope of h_t. What comes from step t + 1 passes the tanh of *that*
  step, so it is the slope of h_{t+1}: move A by one.
- A = np.concatenate([A[1:], np.zeros_like(A[:1])])

matrices_in_the_wrong_order: Two matrices are multiplied in the wrong order. The error meets that of the later step
  first: `A[step:] @ A[:-step]`.
- new_A = A[step:] @ A[:-step]
+ new_A = A[:-step] @ A[step:]

from_the_past: Your errors come from *earlier* steps. On the way back entry t takes in the one `step` later.
+ A, B = (1 - H * H)[..., :, None] * W.T, dH
+ step = 1
+ while step < len(H):
+     new_B = (B[:-step, :, None] @ A[step:])[:, :, 0] + B[step:]
+     new_A = A[:-step] @ A[step:]
+     A, B = np.concatenate([A[:step], new_A]), np.concatenate([B[:step], new_B])
+     step *= 2
+ return B

one_round_missing: One round is missing: the first states do not yet hear of the last steps. Go on while the reach of
  an entry is below T.
- while step < len(H):
+ while 2 * step < len(H):

matrices_not_combined: You combine the errors and leave the matrices as they are: from the second round on, an entry
  stands for two steps, and its matrix for one.
- new_A = A[step:] @ A[:-step]
+ new_A = A[:-step]

own_error_only: You return the error that each state gets from its own output. What reaches it from later steps is to be
  added.
+ return dH.copy()

error_before_the_tanh: You return the error of what goes into the tanh. Asked for is that of the state: the slope of its
  own step comes later.
- return B
+ return B * (1 - H * H)

own_error_counted_twice: dH is added at each round. It is in B from the start: a combination adds what stands there.
- new_B = (B[step:, :, None] @ A[:-step])[:, :, 0] + B[:-step]
+ new_B = (B[step:, :, None] @ A[:-step])[:, :, 0] + B[:-step] + dH[:-step]

last_step_first: Your errors come out with the last step first. If you turned time round for the scan, turn the result
  round as well: errors[t] is that of step t.
- return B
+ return B[::-1].copy()
""")


ex = unit.exercise(
    "min_gru_forward",
    points=3,
    takes="X (T, N, D), h0 (N, H), Wz (D, H), Wh (D, H)",
    gives="states (T, N, H)",
    uses=(scans.associative_scan, scans.linear_recurrence),
    hints=(
        "Neither the gate nor the candidate needs the state: compute both for all steps at once. What is left is a "
        "linear recurrence. What are its a and its b?",
        "Compare h_t = (1 - z_t) h_{t-1} + z_t h̃_t with h_t = a_t h_{t-1} + b_t: a is 1 - z and b is z times h̃, both "
        "(T, N, H).",
        "`z = 1 / (1 + np.exp(-(X @ Wz)))`, then `return associative_scan(1 - z, z * (X @ Wh), h0)`.",
    ),
)


def gru_arguments(
    rng: np.random.Generator, T: int, N: int, D: int, H: int, dtype: Any = np.float64
) -> tuple[np.ndarray, ...]:
    """Draw X, h0, Wz and Wh; h0 is large, so that it is not overlooked."""
    h0 = (normal(rng, N, H) + 2).astype(dtype)
    return normal(rng, T, N, D, dtype=dtype), h0, weights(rng, D, H, dtype), weights(rng, D, H, dtype)


ex.draws(gru_arguments)


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield edge("one row, one input, one unit", *gru_arguments(rng, 6, 1, 1, 1))
    X, h0, Wz, Wh = draw()
    yield edge("gates wide open or shut", X, h0, 1e4 * Wz, Wh)


ex.mistakes(r"""
z_inverted: Your gate works the wrong way round: z is the share of the *new*, 1 - z that of the old state.
- return associative_scan(1 - z, z * (X @ Wh), h0)
+ return associative_scan(z, (1 - z) * (X @ Wh), h0)

tanh_on_the_candidate: You bend the candidate with a tanh, as the GRU does. The minimal GRU leaves it as it is: x_t Wh.
- return associative_scan(1 - z, z * (X @ Wh), h0)
+ return associative_scan(1 - z, z * np.tanh(X @ Wh), h0)

weights_exchanged: The matrices have changed places: Wz makes the gate, Wh the candidate.
+ z = 1 / (1 + np.exp(-(X @ Wh)))
+ return associative_scan(1 - z, z * (X @ Wz), h0)

h0_left_out: Your states start from zeros, whatever h0 is. It is the scan's third argument.
- return associative_scan(1 - z, z * (X @ Wh), h0)
+ return associative_scan(1 - z, z * (X @ Wh), np.zeros_like(h0))

candidate_not_gated: The candidate enters whole. Its share is z: b is z times the candidate.
- return associative_scan(1 - z, z * (X @ Wh), h0)
+ return associative_scan(1 - z, X @ Wh, h0)

nothing_forgotten: The old state stays whole while the new is added, so nothing is ever forgotten. Its share is 1 - z.
- return associative_scan(1 - z, z * (X @ Wh), h0)
+ return associative_scan(np.ones_like(z), z * (X @ Wh), h0)

gate_without_sigma: There is no σ: your gate is any number, and 1 - z with it, so states may grow without end. A share
  lies between 0 and 1.
- z = 1 / (1 + np.exp(-(X @ Wz)))
+ z = X @ Wz

gate_with_tanh: Your gate is a tanh, from -1 to 1. A share lies between 0 and 1: σ(a) = 1 / (1 + exp(-a)).
- z = 1 / (1 + np.exp(-(X @ Wz)))
+ z = np.tanh(X @ Wz)

candidate_with_sigma: You take σ of the candidate as well, so no state can be negative. Only the gate has a σ.
- return associative_scan(1 - z, z * (X @ Wh), h0)
+ return associative_scan(1 - z, z / (1 + np.exp(-(X @ Wh))), h0)

states_bent: You bend the states with a tanh. The recurrence stays linear in the state: that is what lets a scan run it.
- return associative_scan(1 - z, z * (X @ Wh), h0)
+ return np.tanh(associative_scan(1 - z, z * (X @ Wh), h0))

each_step_from_h0: Every step mixes its candidate with h0. Step t goes on from the state of step t - 1, as a scan does.
- return associative_scan(1 - z, z * (X @ Wh), h0)
+ return (1 - z) * h0 + z * (X @ Wh)

gate_overflows: Where the gate's sum is large, you get nan: exp overflows, and infinity divided by infinity is nan. In
  the form 1 / (1 + exp(-s)), s the gate's sum, the overflow does no harm.
- z = 1 / (1 + np.exp(-(X @ Wz)))
+ grown = np.exp(X @ Wz)
+ z = grown / (1 + grown)
""")


ex = unit.exercise(
    "linear_attention",
    points=3,
    takes="Q (T, d), K (T, d), V (T, d_v)",
    gives="contexts (T, d_v)",
    uses=(scans.associative_scan, scans.linear_recurrence),
    hints=(
        "The state S is a matrix (d, d_v). Which matrix does step t add to it, and how much of the old one stays?",
        "All that is added, for all steps at once: `pairs = K[:, :, None] * V[:, None, :]`, (T, d, d_v). Nothing is "
        "forgotten, so every factor of the recurrence is 1. Then each q_t meets its own S_t.",
        "`S = associative_scan(np.ones_like(pairs), pairs, np.zeros_like(pairs[0]))`, and for the product of each "
        'query with its state `np.einsum("td,tdv->tv", Q, S)`.',
    ),
)


def linear_arguments(
    rng: np.random.Generator, T: int, d: int, d_v: int, dtype: Any = np.float64
) -> tuple[np.ndarray, ...]:
    """Draw Q, K and V."""
    return normal(rng, T, d, dtype=dtype), normal(rng, T, d, dtype=dtype), normal(rng, T, d_v, dtype=dtype)


ex.draws()


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield edge("two steps", *draw(T=2, d=4, d_v=3))
    yield edge("keys of one number", *draw(d=1))
    yield edge("values of one number", *draw(d_v=1))


@ex.holds("What comes later changes nothing")
def _(call: Any, rng: np.random.Generator) -> str | None:
    Q, K, V = linear_arguments(rng, 6, 3, 4)
    same = np.allclose(np.asarray(call(Q[:4], K[:4], V[:4])), np.asarray(call(Q, K, V))[:4])
    return None if same else "with two steps more at the end, the first four answers came out different."


ex.mistakes(r"""
whole_sequence: Every query meets the sum over all steps. It may only know those up to its own: S_t, not S_T.
- return np.einsum("td,tdv->tv", Q, S)
+ return Q @ S[-1]

step_itself_left_out: Step t looks at the steps before it, and not at itself. S_t has k_t and v_t in it already.
- return np.einsum("td,tdv->tv", Q, S)
+ return np.einsum("td,tdv->tv", Q, S - pairs)

nothing_added_up: Each query meets the pair of its own step alone. What it meets is the sum of all pairs up to there: a
  recurrence with factors of 1.
- S = associative_scan(np.ones_like(pairs), pairs, np.zeros_like(pairs[0]))
+ S = pairs

from_the_end: You sum from the last step to the first: each query meets its own pair and those that come later.
- S = associative_scan(np.ones_like(pairs), pairs, np.zeros_like(pairs[0]))
+ S = associative_scan(np.ones_like(pairs), pairs[::-1], np.zeros_like(pairs[0]))[::-1]

softmax_left_in: You take a softmax over the scores. It is the softmax that would need all scores of a row at once: here
  there is none.
+ scores = np.where(np.tri(len(Q), dtype=bool), Q @ K.T, -np.inf)
+ return softmax(scores) @ V

scaled_by_the_root: You divide by the root of d. That was for the softmax, and here there is none: the scores are taken
  as they come.
- return np.einsum("td,tdv->tv", Q, S)
+ return np.einsum("td,tdv->tv", Q, S) / math.sqrt(K.shape[1])

divided_by_the_steps: You take the mean of the pairs. They are summed, and nothing is divided.
- return np.einsum("td,tdv->tv", Q, S)
+ return np.einsum("td,tdv->tv", Q, S) / np.arange(1, len(Q) + 1, dtype=Q.dtype)[:, None]

normalised_by_the_keys: You divide by the sum of the scores. Some forms of linear attention do, this one does not.
- return np.einsum("td,tdv->tv", Q, S)
+ return np.einsum("td,tdv->tv", Q, S) / np.einsum("td,td->t", Q, np.cumsum(K, axis=0))[:, None]

keys_ask: Queries and keys have changed places: what is stored with a value is its key, and the query asks.
- pairs = K[:, :, None] * V[:, None, :]
+ pairs = Q[:, :, None] * V[:, None, :]

- return np.einsum("td,tdv->tv", Q, S)
+ return np.einsum("td,tdv->tv", K, S)

stored_with_the_query: You store each value under the query of its step. It is stored under its key.
- pairs = K[:, :, None] * V[:, None, :]
+ pairs = Q[:, :, None] * V[:, None, :]

half_forgotten: Your state forgets. Nothing is forgotten here: the factor of every step is 1.
- S = associative_scan(np.ones_like(pairs), pairs, np.zeros_like(pairs[0]))
+ S = associative_scan(np.full_like(pairs, 0.5), pairs, np.zeros_like(pairs[0]))

first_query_asks: Every step asks with the query of the first one. Row t of Q asks the state of step t: pair them, by an
  `einsum` or a loop.
- return np.einsum("td,tdv->tv", Q, S)
+ return np.einsum("d,tdv->tv", Q[0], S)
""")


# --- diagonal_ssm


def few_enough_with_sum(answer: Plain) -> Plain:
    """As `few_enough`, with room for the products with b and c and the sum over two units."""
    if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], int)):
        return answer
    values, depth = answer
    allowed = depth_allowed(len(values)) + 2 + 4
    return values, f"at most {allowed}" if depth <= allowed else f"about {float(f'{depth:.1g}'):.0f}"


ex = unit.exercise(
    "diagonal_ssm",
    points=3,
    takes="x (T), a (H), b (H), c (H), count",
    gives="y (T), depth",
    drive=steps,
    canonical=few_enough_with_sum,
    uses=(scans.associative_scan, scans.combine_affine, scans.linear_recurrence),
    hints=(
        "For each of the H units it is a linear recurrence over T steps. The scan wants its factors and its terms as "
        "two arrays of one shape: which?",
        "The terms are `x[:, None] * b`, (T, H). The factor is the same at each step, so repeat a: T rows of it. y_t "
        "is the sum of c times the state, over the units.",
        "`terms = x[:, None] * b`; `factors = np.broadcast_to(a, terms.shape)`; `states = associative_scan(factors, "
        "terms, np.zeros(len(a)))`, in the dtype of x; `return states @ c`.",
    ),
)


def state_space(rng: np.random.Generator, T: int, N: int, dtype: Any = np.float64) -> tuple[Any, ...]:
    """Draw x, a, b and c; the factors have either sign and none is close to 0."""
    a = rng.uniform(0.5, 0.95, N) * rng.choice([-1, 1], N)
    a[0] = abs(a[0])
    b, c = (rng.uniform(0.5, 1.5, N) * rng.choice([-1, 1], N) for _ in range(2))
    return normal(rng, T, dtype=dtype), a.astype(dtype), b.astype(dtype), c.astype(dtype)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(*state_space(rng, 5, 3))
    yield case(*state_space(rng, 7, 4))
    yield case(*state_space(rng, 6, 2))
    x, a, b, c = state_space(rng, 300, 2)
    yield case(x, rng.uniform(0.95, 1.0, 2) * [1, -1], b, c, "count")
    for T in (1, 2):
        yield edge(f"T = {T}", *state_space(rng, T, 3))
    yield edge("one unit", *state_space(rng, 5, 1))
    yield edge("as many units as steps", *state_space(rng, 4, 4))
    x, a, b, c = state_space(rng, 6, 3)
    yield edge("a factor of 0", x, a * [1, 0, 1], b, c)
    x, a, b, c = state_space(rng, 700, 2)
    yield edge("a long run of small factors", x, a * 0.1, b, c)
    yield edge("float32", *state_space(rng, 6, 3, np.float32))


@ex.holds("What comes one step later is answered one step later")
def _(call: Any, rng: np.random.Generator) -> str | None:
    x, a, b, c = state_space(rng, 8, 3)
    late = np.asarray(call(np.concatenate([[0.0], x]), a, b, c))
    same = abs(late[0]) < 1e-12 and np.allclose(late[1:], np.asarray(call(x, a, b, c)))
    return None if same else "with a 0 put before the signal, the answer was not only moved by one step."


ex.mistakes(r"""
one_after_the_other: The answer is right, but each state waits for the one before: with T = 300 that is 600 operations
  in a row. Hand all factors and all terms to your scan.
- states = associative_scan(factors, terms, np.zeros_like(a))
+ states = linear_recurrence(factors, terms, np.zeros_like(a))

b_left_out: b is missing: the input reaches each unit with its own weight, b x_t.
- terms = x[:, None] * b
+ terms = x[:, None] * np.ones_like(b)

c_left_out: c is missing: you add all units up, each as heavy as the others. y_t is the sum of c times the state.
- return states @ c
+ return states.sum(axis=1)

a_for_b: a and b have changed places: a is what a unit keeps of its state, b what it takes in of x.
- terms = x[:, None] * b
- factors = np.broadcast_to(a, terms.shape)
+ terms = x[:, None] * a
+ factors = np.broadcast_to(b, terms.shape)

input_times_a: The input is multiplied by a, and not by b: s_t = a s_{t-1} + b x_t.
- terms = x[:, None] * b
+ terms = x[:, None] * a

read_out_by_a: Your y has a in the place of c. y_t is the sum of c times the state.
- return states @ c
+ return states @ a

not_summed: You return a column for each unit. The network's output is one number a step: sum over the units.
- return states @ c
+ return states * c

averaged: You take the mean over the units. y_t is their sum.
- return states @ c
+ return states @ c / len(c)

state_of_the_step_before: y_t is made from the state of the step before, so it does not know x_t yet. Step first, then
  read the state out.
- return states @ c
+ return np.concatenate([np.zeros_like(x[:1]), (states @ c)[:-1]])

input_fades_at_once: The input is multiplied by a in the very step in which it comes. Only the old state is: s_t = a
  s_{t-1} + b x_t.
- terms = x[:, None] * b
+ terms = x[:, None] * b * a

a_share_of_the_input: You take the share 1 - a of the input, as a leaky average does. Here b says how much comes in.
- terms = x[:, None] * b
+ terms = x[:, None] * b * (1 - a)

no_memory: Your units keep nothing: each step is answered from its own input alone. The states come out of the scan.
- states = associative_scan(factors, terms, np.zeros_like(a))
+ states = terms

nothing_fades: Your units keep everything: the factor of each step is a, not 1.
- factors = np.broadcast_to(a, terms.shape)
+ factors = np.ones_like(terms)

powers_divided_out: Powers of a, and sums over all steps so far, are a row of operations that wait for one another.
  The scan makes neither, and divides by nothing: a factor of 0, or a long run of small ones, would be a division by
  0.
- states = associative_scan(factors, terms, np.zeros_like(a))
+ powers = np.cumprod(factors, axis=0)
+ states = powers * np.cumsum(terms / powers, axis=0)

scan_over_the_units: Your scan runs over the units, since your factors and terms are (H, T). The scan's first axis is
  time: (T, H).
- states = associative_scan(factors, terms, np.zeros_like(a))
- return states @ c
+ states = associative_scan(factors.T, terms.T, np.zeros_like(x))
+ return c @ states

factors_are_powers: Your factors are powers of a. At each step the factor is a itself: it is the scan that multiplies
  them.
- factors = np.broadcast_to(a, terms.shape)
+ factors = a ** np.arange(1, len(x) + 1)[:, None]

factors_are_powers_from_zero = factors_are_powers
- factors = np.broadcast_to(a, terms.shape)
+ factors = a ** np.arange(len(x))[:, None]
""")
