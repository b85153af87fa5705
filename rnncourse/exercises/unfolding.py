"""Unit 02: dynamical systems and their graphs. Its exercises, their cases, hints and misconceptions."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rnncourse import unfolding
from rnncourse.checks.callables import named
from rnncourse.checks.drive import chain
from rnncourse.checks.exercise import Case, Option, Unit, case, edge, normal, weights
from rnncourse.checks.plain import Plain

unit = Unit("02_unfolding", "Dynamical systems and their graphs", unfolding)


# --- transitions f(s, theta): each minds the order of its arguments


@named
def logistic(shift: float) -> Callable[[Any, Any], Any]:
    """A number, or an array of them: theta s (1 - s) + shift."""
    return lambda s, theta: theta * s * (1 - s) + shift


@named
def towards(goal: float) -> Callable[[Any, Any], Any]:
    """A number that keeps the share theta of its distance to `goal`."""
    return lambda s, theta: goal + theta * (s - goal)


@named
def bent_mix(gain: float) -> Callable[[Any, Any], Any]:
    """An array (..., H) that goes through a matrix theta (H, H) and a tanh."""
    return lambda s, theta: gain * np.tanh(s @ theta) + 0.25 * s


@named
def swing(step: float) -> Callable[[Any, Any], Any]:
    """A pendulum, s = [angle, speed], with theta = {"pull": …, "drag": …}."""

    def f(s: Any, theta: Any) -> Any:
        speed = s[1] - step * (theta["pull"] * np.sin(s[0]) + theta["drag"] * s[1])
        return np.array([s[0] + step * speed, speed])

    return f


ex = unit.exercise(
    "unfold",
    points=2,
    takes="f, s0, theta, steps",
    gives="states (steps + 1, …)",
    counts_calls=True,
    hints=(
        "Hold one state in your hand. Each step turns it into the next one, and you write down every state that "
        "you meet, s0 included.",
        "Begin with `s = s0` and a list with s0 in it. Then `steps` times: replace s by `f(s, theta)` and append it.",
        "`states = [s0]`, then `for _ in range(steps): states.append(f(states[-1], theta))`, and at the end "
        "`np.stack(states)`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(bent_mix(gain=float(rng.uniform(0.8, 1.2))), normal(rng, 3, 4), weights(rng, 4, 4), 6)
    shift = float(rng.uniform(0.01, 0.05))
    yield case(logistic(shift=shift), float(rng.uniform(0.2, 0.4)), float(rng.uniform(2.6, 3.4)), 5)
    theta = {"pull": float(rng.uniform(3, 5)), "drag": float(rng.uniform(0.2, 0.5))}
    yield case(swing(step=0.1), normal(rng, 2), theta, 8)
    yield edge("no step at all", bent_mix(gain=1.0), normal(rng, 2, 3), weights(rng, 3, 3), 0)
    yield edge("one step", bent_mix(gain=1.1), normal(rng, 3), weights(rng, 3, 3), 1)
    f = towards(goal=float(rng.uniform(1, 2)))
    yield edge("s0 is a whole number, the later states are not", f, 8, 0.3, 4)
    yield edge("a state with three axes, at first of whole numbers", f, rng.integers(2, 9, (2, 3, 4)), 0.3, 4)
    single = np.float32
    yield edge("float32", bent_mix(gain=1.0), normal(rng, 2, 5, dtype=single), weights(rng, 5, 5, single), 4)


@ex.holds("A run can be cut in two")
def _(call: Callable[..., Plain], rng: np.random.Generator) -> str | None:
    f, s0, theta = bent_mix(gain=1.0), normal(rng, 2, 3), weights(rng, 3, 3)
    whole, first = np.asarray(call(f, s0, theta, 7)), np.asarray(call(f, s0, theta, 4))
    second = np.asarray(call(f, first[-1], theta, 3))
    if np.allclose(whole, np.concatenate([first, second[1:]])):
        return None
    return "4 steps, and 3 more from the state where they ended, do not give the states of 7 steps."


ex.mistakes(r"""
s0_left_out: s0 is missing: your first state is s_1. The result begins with s0, so that it has steps + 1 states.
- return np.stack(states)
+ return np.array(states[1:])

last_state_missing: The last state is missing. Count the arrows of the unfolded graph, not its circles: there are
  `steps` of them, between steps + 1 states.
- for _ in range(steps):
+ for _ in range(1, steps):

last_state_only: You return the last state alone. All steps + 1 states are asked for.
- return np.stack(states)
+ return np.stack(states)[-1]

always_from_s0: All your later states are s_1. Each step must give f the state that the step before it returned.
+ return np.stack([s0] + [f(s0, theta) for _ in range(steps)])

arguments_swapped: f gets its arguments in the wrong order: it is `f(s, theta)`, the state first and the parameters
  second.
- states.append(f(states[-1], theta))
+ states.append(f(theta, states[-1]))

step_number_for_theta: f gets the number of the step where theta belongs. A dynamical system has the same theta at every
  step.
- states.append(f(states[-1], theta))
+ states.append(f(states[-1], len(states) - 1))

f_called_twice: The states are right, but f is called twice as often as there are steps. Call it once in each and keep
  what it returns.
- states.append(f(states[-1], theta))
+ f(states[-1], theta)
+ states.append(f(states[-1], theta))

from_the_start_each_time: The states are right, but each state is computed from s0 on: t calls of f for s_t, and in all
  steps (steps + 1) / 2. Go on from the state that you have.
- states.append(f(states[-1], theta))
+ s = s0
+ for _ in range(len(states)):
+     s = f(s, theta)
+ states.append(s)

float64_always: Your array is float64 whatever the states are, so that float32 states change their dtype. `np.stack`
  of the states as they are keeps it.
- states = [s0]
+ states = [np.asarray(s0, dtype=float)]

dtype_of_s0: When s0 is a whole number, so are your states: each loses its decimals, 3.7 becomes 3. Let np.stack find
  the dtype.
- states.append(f(states[-1], theta))
+ states.append(np.asarray(f(states[-1], theta)).astype(np.asarray(s0).dtype))

array_taken_for_granted: Only arrays have a `.copy()`. A state may be a plain number too, and so may theta: `np.copy`
  takes both.
- states = [s0]
+ states = [s0.copy()]

s0_itself_in_the_list: You return a list that holds the caller's own s0: whoever changes it later changes your result
  too. `np.stack(states)` makes a copy.
- return np.stack(states)
+ return states

called_once_more: The states are right, but f is called once more than there are steps. Keep what each call gives: it is
  the next state.
- return np.stack(states)
+ f(states[-1], theta)
+ return np.stack(states)
""")


ex = unit.exercise(
    "compose",
    points=2,
    takes="f, s",
    gives="result",
    drive=chain,
    counts_calls=True,
    may_share=True,
    hints=(
        "The answer is a function: inside `compose`, define a function of s, and return it without calling it.",
        "The inner function applies f to s, then f to what came out, `times` times in all. With times = 0 its "
        "loop does not run once.",
        "`def composed(s):`, in it `for _ in range(times): s = f(s)` and `return s`; then, in compose itself, "
        "`return composed`.",
    ),
)


@named
def congruence(factor: int, step: int, modulus: int) -> Callable[[Any], Any]:
    """A whole number that jumps about among `modulus` of them."""
    return lambda s: (factor * s + step) % modulus


@named
def turn_and_shift(angle: float, shift: np.ndarray) -> Callable[[Any], Any]:
    """A point (2,) that is turned about the origin and moved."""

    def f(s: Any) -> Any:
        turned = [np.cos(angle) * s[0] - np.sin(angle) * s[1], np.sin(angle) * s[0] + np.cos(angle) * s[1]]
        return np.array(turned) + shift

    return f


@named
def turned_round() -> Callable[[Any], Any]:
    """A text whose first letter goes to its end."""
    return lambda s: s[1:] + s[:1]


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def jumping() -> Any:
        return congruence(factor=int(rng.integers(5, 50)), step=int(rng.integers(3, 90)), modulus=1009)

    def turning() -> Any:
        return turn_and_shift(angle=float(rng.uniform(0.7, 1.1)), shift=normal(rng, 2))

    for times, f, s in ((3, jumping(), int(rng.integers(2, 100))), (5, turning(), normal(rng, 2))):
        yield Case(((f, times), (s,)), f"times={times}")
    yield edge("times=0, the identity", (turning(), 0), (normal(rng, 2),))
    yield edge("times=4, f leaves s as it is", (congruence(factor=1, step=0, modulus=1009), 4), (7,))
    yield edge("times=1", (jumping(), 1), (int(rng.integers(2, 100)),))
    yield edge("times=2, of a text", (turned_round(), 2), ("state",))
    yield edge("times=200", (turning(), 200), (normal(rng, 2),))
    # What is used up by the first call, an iterator or a count, is missing in the second.
    yield edge("times=4, called twice", (turning(), 4), (normal(rng, 2),), (normal(rng, 2),))


ex.mistakes(r"""
one_too_many: f is applied once too often. Begin with s, to which nothing has been done yet, and apply f `times` times.
- for _ in range(times):
+ for _ in range(times + 1):

one_too_few: f is applied one time too few. (`range(1, times)` has times - 1 numbers in it.)
- for _ in range(times):
+ for _ in range(1, times):

once_for_zero: For times = 0 nothing must happen to s: compose(f, 0) is the identity. Yours applies f at least once.
- for _ in range(times):
+ for _ in range(max(times, 1)):

always_of_s: What comes back is f(s), however large `times` is. Each time give f what it returned before, `s = f(s)`,
  and return s only after the last time.
- def composed(s):
+ def composed(start):
+     s = start
- s = f(s)
+ s = f(start)

result_dropped: s comes back as it was: f is not called, or what it returns is lost. Do `s = f(s)`, `times` times.
- s = f(s)
+ f(s)

used_up: Your function is right when it is called for the first time. Then a counter, or an iterator, is used up, and it
  does less, or nothing. Begin to count inside the inner function, at each call anew.
- def composed(s):
+ rounds = iter(range(times))
+
+ def composed(s):
- for _ in range(times):
+ for _ in rounds:

multiplied: You multiply the result of one application. To apply f three times is f(f(f(s))), not 3 f(s).
+ return lambda s: times * f(s)

calls_itself_for_ever: Your function calls itself for ever: its recursion comes to no end, or a name in it stands for
  the newest function by the time of the call. A loop inside one inner function has no such trap.
+ composed = lambda s: s
+ for _ in range(times):
+     composed = lambda s: f(composed(s))
+ return composed

halved_without_the_rest: For 3 times you apply f twice, for 5 times four times. Half of an odd number is rounded down,
  so that two halves are one too few: apply f once more where the number is odd.
+ def build(count):
+     if count < 2:
+         return f if count else lambda s: s
+     half = build(count // 2)
+     return lambda s: half(half(s))
+ return build(times)
""")


# --- unfold_driven


@named
def leak(gain: float) -> Callable[[Any, Any, Any], Any]:
    """A number, or an array like x: it keeps the share theta and takes in x."""
    return lambda s, x, theta: theta * s + gain * x


@named
def bent_pair(lean: float) -> Callable[[Any, Any, Any], Any]:
    """A state (H,) driven by x (D,), with theta = (U (D, H), W (H, H))."""

    def f(s: Any, x: Any, theta: Any) -> Any:
        U, W = theta
        return np.tanh(x @ U + s @ W + lean)

    return f


@named
def spring(step: float) -> Callable[[Any, Any, Any], Any]:
    """s = [place, speed], pushed by the number x; theta is the spring's strength."""

    def f(s: Any, x: Any, theta: Any) -> Any:
        speed = s[1] + step * (x - theta * s[0])
        return np.array([s[0] + step * speed, speed])

    return f


ex = unit.exercise(
    "unfold_driven",
    points=2,
    takes="f, s0, xs (T, …), theta",
    gives="states (T + 1, …)",
    counts_calls=True,
    hints=(
        "It is `unfold` with one thing more: at each step, the next entry of the signal goes into f as well. The "
        "signal says how many steps there are.",
        "Loop over the signal itself: `for x in xs`. Its first entry, xs[0], is the x_1 of the formula and drives "
        "the first step, from s_0 to s_1.",
        "`states = [s0]`, then `for x in xs: states.append(f(states[-1], x, theta))`, and at the end "
        "`np.stack(states)`.",
    ),
)


def _pair(rng: np.random.Generator, D: int, H: int, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
    return weights(rng, D, H, dtype), weights(rng, H, H, dtype)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    lean = float(rng.uniform(-0.2, 0.2))
    yield case(bent_pair(lean=lean), normal(rng, 4), normal(rng, 6, 3), _pair(rng, 3, 4))
    gain = float(rng.uniform(1.5, 2.5))
    yield case(leak(gain=gain), float(rng.uniform(1, 2)), normal(rng, 5), float(rng.uniform(0.5, 0.9)))
    yield case(spring(step=0.2), normal(rng, 2), normal(rng, 7), float(rng.uniform(1, 2)))
    yield edge("one step", bent_pair(lean=0.1), normal(rng, 3), normal(rng, 1, 2), _pair(rng, 2, 3))
    yield edge("one input for each row", leak(gain=1.3), normal(rng, 2, 3), normal(rng, 4, 2, 3), 0.6)
    # States in the dtype of the first one, or of the inputs, lose their fractions.
    f, xs = leak(gain=1.3), rng.integers(1, 9, 5)
    yield edge("s0 and the inputs are whole numbers, the later states are not", f, 3, xs, 0.7)
    yield edge("a state of one entry, at first a whole number", f, np.array([2]), xs[:, None], 0.7)
    single = np.float32
    s0, xs = normal(rng, 4, dtype=single), normal(rng, 5, 2, dtype=single)
    yield edge("float32", bent_pair(lean=0.0), s0, xs, _pair(rng, 2, 4, single))


@ex.holds("A later input never changes an earlier state")
def _(call: Callable[..., Plain], rng: np.random.Generator) -> str | None:
    f, s0, xs, theta = bent_pair(lean=0.0), normal(rng, 3), normal(rng, 6, 2), _pair(rng, 2, 3)
    before = np.asarray(call(f, s0, xs, theta))
    xs[4] += 1.0
    after = np.asarray(call(f, s0, xs, theta))
    if not np.array_equal(before[:5], after[:5]):
        return "the fifth input was changed, and one of the states s_0 to s_4 with it."
    if np.allclose(before[5], after[5]):
        return "the fifth input was changed, and s_5 is what it was."
    return None


ex.mistakes(r"""
state_not_carried: Every step starts from s0 again, so that each state knows one input only. Give f the state that the
  step before it returned.
+ return np.stack([s0] + [f(s0, x, theta) for x in xs])

s0_left_out: s0 is missing: your first state is s_1. T inputs make T steps, between T + 1 states.
- return np.stack(states)
+ return np.stack(states[1:])

last_state_only: You return the last state alone. All T + 1 states are asked for.
- return np.stack(states)
+ return np.stack(states)[-1]

first_input_skipped: The first input drives nothing, and the last state is missing. The x_1 of the formula is `xs[0]`,
  for Python counts from 0.
- for x in xs:
+ for x in xs[1:]:

one_past_the_end: An index is one too large: the inputs end with `xs[T-1]`, and the T + 1 states with `states[T]`. Loop
  over `xs` itself, collect in a list, and no index can go wrong.
- for x in xs:
-     states.append(f(states[-1], x, theta))
+ for t in range(1, len(xs) + 1):
+     states.append(f(states[-1], xs[t], theta))

input_and_parameters_swapped: f gets x and theta in each other's place: it is `f(s, x, theta)`.
- states.append(f(states[-1], x, theta))
+ states.append(f(states[-1], theta, x))

state_and_input_swapped: f gets state and input in each other's place: it is `f(s, x, theta)`, the state first.
- states.append(f(states[-1], x, theta))
+ states.append(f(x, states[-1], theta))

signal_backwards: The signal is read from its end. `xs[0]` comes first in time and drives the step from s_0 to s_1.
- for x in xs:
+ for x in xs[::-1]:

same_input_at_each_step: The first input is fed at every step. f and theta are the same all the time; the signal is what
  changes.
- states.append(f(states[-1], x, theta))
+ states.append(f(states[-1], xs[0], theta))

dtype_of_s0: When s0 and the inputs are whole numbers, your states are too: each loses its decimals. Let np.stack find
  the dtype.
- states.append(f(states[-1], x, theta))
+ states.append(np.asarray(f(states[-1], x, theta)).astype(np.asarray(s0).dtype))

array_taken_for_granted: Only arrays have a `.copy()`. A state may be a plain number too, and so may x and theta:
  `np.copy` takes both.
- states = [s0]
+ states = [s0.copy()]

f_called_twice: The states are right, but f is called twice as often as there are steps. Call it once in each and keep
  what it returns.
- states.append(f(states[-1], x, theta))
+ f(states[-1], x, theta)
+ states.append(f(states[-1], x, theta))
""")


unit.choice(
    "quiz_exact_state",
    points=1,
    hints=(
        "Look for two pasts that lead to the same state and after which different things can come. One such pair is "
        "enough to rule a state out.",
        "In C, write the first few h_t in binary: what do their digits say? In D, ask what the rule that makes the "
        "text looks at.",
        "Three of the five are exact: two that keep everything, and one that keeps all that matters.",
    ),
    options=Option.parse(r"""
A true, a_list_is_no_state: A state may be anything, a growing list too: it holds the whole past, so nothing is lost.
B false, order_does_not_matter: 'The dog bit the' and 'the bit dog the' have one bag, and after them comes not the same.
C true, a_number_is_too_small: In binary, h_t is a 1 followed by the whole text: no two pasts have one number, so it
  stores everything.
D true, the_rest_must_be_kept_too: What comes next depends on whether a bracket is open, and on nothing else: the count
  is enough.
E false, the_last_one_is_enough: After '()' no bracket is open, after '(()' one is: the last bracket is the same, and
  the next may not be.
"""),
)


# --- depends_on: models (T, D) -> (T, ...)


@named
def window(kernel: np.ndarray, left: int) -> Callable[[Any], Any]:
    """A convolution, (T, D) -> (T, Q): output t sees the inputs from t - left on, as many as `kernel` (width, D, Q) is
    wide.
    """

    def model(xs: Any) -> Any:
        T = len(xs)
        taps = [[(j, t - left + j) for j in range(len(kernel)) if 0 <= t - left + j < T] for t in range(T)]
        return np.stack([sum(xs[k] @ kernel[j].astype(xs.dtype) for j, k in seen) for seen in taps])

    return model


@named
def fading(keep: float) -> Callable[[Any], Any]:
    """A leaky sum of all entries so far, (T, D) -> (T, 1): an input of long ago matters little, but it matters."""

    def model(xs: Any) -> Any:
        s, states = 0.0, []
        for x in xs:
            s = keep * s + x.sum()
            states.append([s])
        return np.array(states)

    return model


@named
def differences(share: float) -> Callable[[Any], Any]:
    """How far apart the first two entries of an input are, now and one step ago, (T, D) -> (T,)."""

    def model(xs: Any) -> Any:
        apart = np.round(xs[:, 0] - xs[:, 1], 9)
        return apart + share * np.concatenate([[0.0], apart[:-1]])

    return model


@named
def table(scale: float) -> Callable[[Any], Any]:
    """Tables of each input and the next, (T, D) -> (T, 1, 2, 3): some of it never changes, the rest adds up to 0."""
    signs = np.array([[[0.0, 1.0, -1.0], [0.0, -2.0, 2.0]]])

    def model(xs: Any) -> Any:
        mixed = scale * xs[:, 0] + 2 * np.append(xs[1:, -1], 0.0)
        return mixed[:, None, None, None] * signs

    return model


@named
def threshold(level: float) -> Callable[[Any], Any]:
    """Which entries have reached a level, (T, D) -> (T, D): most small changes change nothing."""

    def model(xs: Any) -> Any:
        return (xs >= level).astype(float)

    return model


@named
def only_the_second(level: float) -> Callable[[Any], Any]:
    """Whether the second entry of an input has reached a level, and the first has not, nor any of the input before,
    (T, D) -> (T,): what was raised once and stays so hides what is raised next.
    """

    def model(xs: Any) -> Any:
        first, second = xs[:, 0] >= level, xs[:, 1] >= level
        before = np.concatenate([[False], (first | second)[:-1]])
        return (second & ~first & ~before).astype(float)

    return model


ex = unit.exercise(
    "depends_on",
    points=4,
    takes="model, xs (T, D), eps",
    gives="depends (t, k)",
    hints=(
        "Run the model once on xs as it is. Then poke: raise one single entry, run it again, and look which rows "
        "of the output have changed.",
        "Two loops, over k and over the D entries of input k. Each time: a fresh `raised = xs.copy()`, then "
        "`raised[k, d] += eps`. "
        "Every output row that changed becomes True in column k, and none becomes False again.",
        "`changed = model(raised) != base` has the shape of the output; `changed.reshape(T, -1).any(axis=1)` is "
        "(T,), whatever that shape. "
        "Then `depends[:, k] |= …`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def kernel(width: int, D: int, Q: int) -> np.ndarray:
        return rng.uniform(0.5, 1.5, (width, D, Q))

    yield case(window(kernel=kernel(3, 2, 4), left=2), normal(rng, 5, 2))
    yield case(differences(share=float(rng.uniform(0.3, 0.6))), normal(rng, 4, 3))
    xs = normal(rng, 6, 3)
    xs[int(rng.integers(1, 5)), -1] = 0.0  # an entry that is 0 can be raised, but not scaled
    yield case(table(scale=float(rng.uniform(0.5, 2))), xs)
    yield case(fading(keep=0.1), rng.uniform(1, 2, (5, 2)))
    # What is raised, lowers: != is not >. And the second entry of an input has no say.
    yield case(window(kernel=-kernel(2, 2, 3) * [[1], [0]], left=1), normal(rng, 5, 2))
    yield edge("T = 1", window(kernel=kernel(1, 3, 2), left=0), normal(rng, 1, 3))
    yield edge("D = 1", window(kernel=kernel(2, 1, 3), left=0), normal(rng, 4, 1))
    # Nothing depends on 0.5, 1.125 and 1.5, unless they are raised by more than eps, or lowered.
    near = rng.permutation([[0.875, 0.5], [1.5, 0.875], [0.875, 0.875], [0.5, 1.125], [1.5, 0.5]])
    yield edge("only a large eps reaches the next level", threshold(level=1.0), near, 0.25)
    below = rng.uniform(0.8, 0.95, (4, 2))
    yield edge("an entry that is raised hides another", only_the_second(level=1.0), below, 0.25)
    yield edge("hardly anything is left of the first input", fading(keep=0.002), rng.uniform(1, 2, (5, 2)))
    tiny = 1e-4 * rng.uniform(1, 2, (5, 2))  # x + eps - eps is not x
    yield edge("entries far smaller than eps", window(kernel=kernel(1, 2, 3), left=0), tiny)
    single = np.float32
    yield edge("float32", window(kernel=kernel(3, 2, 2), left=1), normal(rng, 5, 2, dtype=single))


ex.mistakes(r"""
whole_vector_raised: All entries of an input are raised at once. A model that takes the difference of two of them does
  not notice: raise one entry at a time.
- raised[k, d] += eps
+ raised[k] += eps

only_the_first_entry: Not every entry of an input is raised. A model may look at any of them: try all D, one at a time.
- raised[k, d] += eps
+ raised[k, 0] += eps

only_the_last_entry_counts: Only the last entry of input k counts, as when column k is written anew for each. Combine
  what all of them say: `depends[:, k] |= …`.
- depends[:, k] |= changed.reshape(T, -1).any(axis=1)
+ depends[:, k] = changed.reshape(T, -1).any(axis=1)

transposed: Rows and columns are swapped: entry [t, k] speaks of output t and input k, so raising input k fills column
  k.
- depends[:, k] |= changed.reshape(T, -1).any(axis=1)
+ depends[k] |= changed.reshape(T, -1).any(axis=1)

raised_for_good: Entries stay raised: when input k has its turn, all those before it are still changed. Take a fresh
  copy of xs for every try.
- base = model(xs)
+ base, raised = model(xs), xs.copy()
- raised = xs.copy()

xs_written_to: The matrix is right, but you write into the caller's xs. Even if the old value is put back, an error in
  between leaves it changed: raise an entry of a copy.
- raised = xs.copy()
+ raised, before = xs, xs[k, d]
- changed = model(raised) != base
+ changed = model(raised) != base
+ xs[k, d] = before

two_axes_taken_for_granted: Your code assumes that the output has two axes, (T, Q). It may have one, or more than two:
  `.reshape(T, -1)` makes two of any number.
- depends[:, k] |= changed.reshape(T, -1).any(axis=1)
+ depends[:, k] |= changed.any(axis=1)

row_taken_for_a_number: You ask whether one output differs from another as if they were numbers. `out[t] != base[t]` is
  an array of truth values, one for each entry: ask `np.any(out[t] != base[t])`.
- depends[:, k] |= changed.reshape(T, -1).any(axis=1)
+ for t in range(T):
+     if changed[t]:
+         depends[t, k] = True

past_taken_for_granted: You only look at the outputs from k on, as if no model could look ahead. Some do: compare all T
  outputs.
- depends[:, k] |= changed.reshape(T, -1).any(axis=1)
+ depends[k:, k] |= changed.reshape(T, -1).any(axis=1)[k:]

all_entries_must_change: You demand that all entries of output t change. One is enough: `any`, not `all`.
- depends[:, k] |= changed.reshape(T, -1).any(axis=1)
+ depends[:, k] |= changed.reshape(T, -1).all(axis=1)

sums_compared: When one entry of an output goes up and another goes down, you see no change: their sum stays, and their
  mean. Compare entry by entry.
- changed = model(raised) != base
+ changed = model(raised).reshape(T, -1).sum(axis=1) != base.reshape(T, -1).sum(axis=1)

small_changes_overlooked: Small changes are overlooked, as `np.isclose` and `np.allclose` do: they call two numbers
  equal when they differ only in the sixth digit. A faint dependence is still a dependence: compare with `!=`.
- changed = model(raised) != base
+ changed = ~np.isclose(model(raised), base)

scaled_for_raised: You multiply an entry. One that is 0 stays 0 and seems to have no influence: add eps.
- raised[k, d] += eps
+ raised[k, d] *= 1 + eps

eps_ignored: The eps that was given has no effect. Raise by eps: a model with steps in it answers only to a large one.
- raised[k, d] += eps
+ raised[k, d] += 1e-3

replaced_for_raised: The entry is replaced by eps, `=`, where it should be raised by eps, `+=`.
- raised[k, d] += eps
+ raised[k, d] = eps

numbers_for_truth_values: The pattern is right, but your table holds the numbers 0 and 1. Truth values are asked for:
  start from `np.zeros((T, T), dtype=bool)`.
- return depends
+ return depends.astype(float)
""")


ex = unit.exercise(
    "shared_parameter_count",
    points=1,
    takes="D, H",
    gives="count",
    hints=(
        "Three arrays are stored: U, W and b. How many numbers are in each?",
        "U takes D numbers to H, W takes H numbers to H, and b has one number for each of the H units.",
        "`D * H + H * H + H`",
    ),
)


def _sizes(rng: np.random.Generator, count: int) -> list[int]:
    """Sizes from 2 to 40, all different, so that no two formulas agree."""
    return [int(n) for n in rng.choice(np.arange(2, 41), count, replace=False)]


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    for _ in range(3):
        yield case(*_sizes(rng, 2))
    yield edge("one input", 1, int(rng.integers(3, 20)))
    yield edge("as many inputs as units", *[int(rng.integers(3, 20))] * 2)
    yield edge("large", 50_000_001, 100_000_003)


ex.mistakes(r"""
recurrent_matrix_forgotten: W is not counted: the H numbers of the old state go through a matrix too, and it is (H, H).
+ return D * H + H

bias_forgotten: Your count is too small by H, as if there were no bias: b has a number for each of the H units.
+ return D * H + H * H

two_biases: Your count is too large by H. This cell has one b, with H numbers (PyTorch keeps two), and the state is no
  parameter.
+ return D * H + H * H + 2 * H

bias_of_the_inputs: The bias has one number for each unit of the state, so H of them, not D.
+ return D * H + H * H + D

recurrent_matrix_between_inputs: W joins the old state to the new one: it is (H, H), not (D, D).
+ return D * H + D * D + H

one_square_matrix: You count one square matrix over input and state together. What comes out of a step is the new state
  alone: U over W is a matrix (D + H, H).
+ return (D + H) * (D + H) + H

recurrent_matrix_from_the_inputs: W is counted as if it were another U, (D, H). It joins the old state to the new one:
  it is (H, H).
+ return 2 * D * H + H
""")
