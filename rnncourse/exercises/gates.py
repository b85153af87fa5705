"""Unit 10: gates, the LSTM and the GRU. Its exercises, their cases, hints and misconceptions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rnncourse import gates
from rnncourse.checks.callables import Named
from rnncourse.checks.compare import kind_of
from rnncourse.checks.exercise import Case, Draw, Unit, case, edge, normal, weights
from rnncourse.checks.parameters import recurrent
from rnncourse.checks.plain import Plain
from rnncourse.fixtures.gates import left_in_place, small_lstm
from rnncourse.gates_backward import gru_step_backward, lstm_step_backward

# The unit's own module is always forbidden; its other half has a name of its own.
unit = Unit("10_gates", "Gates: LSTM and GRU", gates, forbids=("torch", "scipy"))


ex = unit.exercise(
    "gate",
    points=2,
    takes="x (N, D), h (N, H), U (D, G), W (H, G), b (G,)",
    gives="gate (N, G)",
    hints=(
        "It is a hidden layer like that of unit 03, the same sum of three terms. What is new is only what the sum goes "
        "through.",
        "The sigmoid is 1 / (1 + exp(-a)), of the whole sum. For a = -1000 this is 1 / inf = 0, which is right; for "
        "which way of writing it do you get inf / inf?",
        "`a = x @ U + h @ W + b`, then `1 / (1 + np.exp(-a))`. (A form that does not even warn: "
        "`0.5 + 0.5 * np.tanh(0.5 * a)`.)",
    ),
)
ex.draws()


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    x, h, U, W, _ = draw(G=6)
    x[0], h[0] = 0, 0
    yield edge("sums of 0, and near 1000 and -1000", x, h, U, W, 1000.0 * np.array([1, -1, 0, 1, -1, 0]))


ex.mistakes(r"""
tanh_for_sigmoid: The sum goes through a tanh, from -1 to 1. A gate goes from 0, closed, to 1, open: it takes the
  sigmoid.
+ return np.tanh(x @ U + h @ W + b)

no_nonlinearity: There is no sigmoid: what you return is the sum that goes into it, which may be of any size.
+ return x @ U + h @ W + b

sign_turned: Your gate is open where it should be closed, and closed where it should be open. It is 1 / (1 + exp(-a)).
+ return 1 / (1 + np.exp(x @ U + h @ W + b))

bias_forgotten: The bias b is missing from the sum. It decides whether a gate is open or closed when nothing else
  speaks.
+ return 1 / (1 + np.exp(-(x @ U + h @ W)))

bias_outside: The bias stands outside the sigmoid, so that the result leaves the range from 0 to 1. Add it to the sum.
+ return 1 / (1 + np.exp(-(x @ U + h @ W))) + b

state_ignored: Your gate does not look at the state: `h @ W` is missing from the sum.
+ return 1 / (1 + np.exp(-(x @ U + b)))

sigmoid_of_each_term: The sigmoid is taken of each product by itself. Add input, state and bias first, then take one
  sigmoid of the sum.
+ return 1 / (1 + np.exp(-(x @ U))) + 1 / (1 + np.exp(-(h @ W))) + b

straight_lines: You take a straight line that is cut off at 0 and 1, the "hard" sigmoid of some libraries. A gate is the
  smooth 1 / (1 + exp(-a)), which has a slope everywhere.
+ return np.clip(0.2 * (x @ U + h @ W + b) + 0.5, 0, 1)

open_or_closed: Your gate is a switch: 0 or 1 and nothing between. A switch has no slope, so that nothing could be
  learnt through it; a gate is the sigmoid of the sum.
+ return (x @ U + h @ W + b > 0).astype(x.dtype)

softmax_for_sigmoid: Your gates share one whole: each row adds up to 1, as after a softmax. Every entry of a gate is
  open or closed by itself: a sigmoid of each.
+ a = x @ U + h @ W + b
+ E = np.exp(a - a.max(axis=1, keepdims=True))
+ return E / E.sum(axis=1, keepdims=True)

tanh_not_halved: Your gate is too steep, σ(2a) for σ(a). By a tanh it is 0.5 + 0.5 * tanh(a / 2): halve inside, too.
+ return 0.5 + 0.5 * np.tanh(x @ U + h @ W + b)

exp_overflows: A large sum gives nan: exp(1000) is inf, and inf / inf is nan. Write the sigmoid as 1 / (1 + exp(-a)), or
  by a tanh: 0.5 + 0.5 * tanh(a / 2).
+ E = np.exp(x @ U + h @ W + b)
+ return E / (1 + E)

stack_for_concatenate: `np.stack` lays arrays of one shape on each other, along a new axis. `np.concatenate` joins them:
  x and h side by side with axis=1, W below U.
+ return 1 / (1 + np.exp(-(np.stack([x, h], axis=1) @ np.concatenate([U, W]) + b)))

minus_before_one_term: The minus stands before x @ U alone: -x @ U + h @ W + b is not -(x @ U + h @ W + b). Put the sum
  in brackets.
+ return 1 / (1 + np.exp(-x @ U + h @ W + b))

never_below_a_half: A negative sum gives the same gate as a positive one of its size, so that yours is never below a
  half. With e = exp(-|a|), the sigmoid is 1 / (1 + e) where a is positive and e / (1 + e) where it is negative.
+ return 1 / (1 + np.exp(-np.abs(x @ U + h @ W + b)))
""")


ex = unit.exercise(
    "lstm_step",
    points=4,
    takes="x (N, D), h (N, H), c (N, H), U (D, 4H), W (H, 4H), b (4H,)",
    gives="h (N, H), c (N, H)",
    uses=(gates.gate,),
    hints=(
        "One product gives all four sums side by side: x U + h W + b is (N, 4H). The first H columns are those of i, "
        "then come f, g and o.",
        "`np.split(a, 4, axis=1)` cuts it into four arrays (N, H). i, f and o go through a sigmoid (your `gate` of all "
        "columns has it done), g through a tanh.",
        "`i, f, _, o = np.split(gate(x, h, U, W, b), 4, axis=1)`; `g = np.tanh(…)` of the third part of the sum; "
        "`c_next = f * c + i * g`; `return o * np.tanh(c_next), c_next`.",
    ),
)
ex.draws()


ex.mistakes(r"""
order_i_f_o_g: You take the columns in the order i, f, o, g. Here, as in PyTorch, they stand in the order i, f, g, o:
  the third part goes through the tanh.
- i, f, _, o = np.split(gate(x, h, U, W, b), 4, axis=1)
- g = np.tanh(np.split(x @ U + h @ W + b, 4, axis=1)[2])
+ i, f, o, _ = np.split(gate(x, h, U, W, b), 4, axis=1)
+ g = np.tanh(np.split(x @ U + h @ W + b, 4, axis=1)[3])

sigmoid_on_the_candidate: All four parts go through the sigmoid. The candidate g goes through a tanh: what is written
  into c must be able to be negative, and a sigmoid never is.
- i, f, _, o = np.split(gate(x, h, U, W, b), 4, axis=1)
- g = np.tanh(np.split(x @ U + h @ W + b, 4, axis=1)[2])
+ i, f, g, o = np.split(gate(x, h, U, W, b), 4, axis=1)

no_tanh_on_the_cell: Your h is o * c. The cell's value goes through a tanh on its way out: h = o * tanh(c), which stays
  between -1 and 1 however large c has become.
- return o * np.tanh(c_next), c_next
+ return o * c_next, c_next

tanh_in_the_cell: Your new c has gone through a tanh. c itself is never bent, that is its whole point; only what is
  shown of it is: h = o * tanh(c).
- c_next = f * c + i * g
- return o * np.tanh(c_next), c_next
+ c_next = np.tanh(f * c + i * g)
+ return o * c_next, c_next

input_and_forget_swapped: The input gate and the forget gate have changed places. f stands first, with the old c; i
  stands with the new candidate; among the columns i comes before f.
- i, f, _, o = np.split(gate(x, h, U, W, b), 4, axis=1)
+ f, i, _, o = np.split(gate(x, h, U, W, b), 4, axis=1)

candidate_forgotten_too: The forget gate is put on the new candidate as well: f * (c + i * g). It belongs to the old c
  alone: f * c + i * g.
- c_next = f * c + i * g
+ c_next = f * (c + i * g)

nothing_forgotten: The forget gate is not used: your c only has things added. (So it was in 1997; the gate came three
  years later.) The old c is multiplied by f.
- c_next = f * c + i * g
+ c_next = c + i * g

candidate_not_gated: The input gate is not used: the whole candidate g is written into c at every step. It is i * g.
- c_next = f * c + i * g
+ c_next = f * c + g

gates_read_the_cell: Your gates read c where they should read h: W is multiplied with the state that the cell has shown,
  not with what it keeps to itself.
- i, f, _, o = np.split(gate(x, h, U, W, b), 4, axis=1)
- g = np.tanh(np.split(x @ U + h @ W + b, 4, axis=1)[2])
+ i, f, _, o = np.split(gate(x, c, U, W, b), 4, axis=1)
+ g = np.tanh(np.split(x @ U + c @ W + b, 4, axis=1)[2])

old_cell_shown: Your h shows the old c. It shows the new one, after this step has forgotten and written: h = o *
  tanh(c_next).
- c_next = f * c + i * g
- return o * np.tanh(c_next), c_next
+ return o * np.tanh(c), f * c + i * g

cell_before_state: Your two results have changed places: it is (h, c), first what is shown, then what is kept.
- return o * np.tanh(c_next), c_next
+ return c_next, o * np.tanh(c_next)

columns_interleaved: You take every fourth column for one gate. The columns of a gate stand together: the first H are i,
  the next H are f, and so on; `np.split(a, 4, axis=1)` cuts there.
- i, f, _, o = np.split(gate(x, h, U, W, b), 4, axis=1)
- g = np.tanh(np.split(x @ U + h @ W + b, 4, axis=1)[2])
+ i, f, o = (gate(x, h, U[:, k::4], W[:, k::4], b[k::4]) for k in (0, 1, 3))
+ g = np.tanh(x @ U[:, 2::4] + h @ W[:, 2::4] + b[2::4])

bias_forgotten: The bias b is missing. Without it no gate could be open, or closed, by default.
- i, f, _, o = np.split(gate(x, h, U, W, b), 4, axis=1)
- g = np.tanh(np.split(x @ U + h @ W + b, 4, axis=1)[2])
+ i, f, _, o = np.split(gate(x, h, U, W, 0 * b), 4, axis=1)
+ g = np.tanh(np.split(x @ U + h @ W, 4, axis=1)[2])

order_i_g_f_o: You take the columns in the order i, g, f, o. Here, as in PyTorch, they stand in the order i, f, g, o.
- i, f, _, o = np.split(gate(x, h, U, W, b), 4, axis=1)
- g = np.tanh(np.split(x @ U + h @ W + b, 4, axis=1)[2])
+ i, _, f, o = np.split(gate(x, h, U, W, b), 4, axis=1)
+ g = np.tanh(np.split(x @ U + h @ W + b, 4, axis=1)[1])

tanh_of_a_gate: Your candidate goes through the sigmoid and then through the tanh, as the third part of `gate` does. It
  goes through the tanh alone.
- g = np.tanh(np.split(x @ U + h @ W + b, 4, axis=1)[2])
+ g = np.tanh(np.split(gate(x, h, U, W, b), 4, axis=1)[2])

candidate_times_f: The candidate is multiplied by f. It is the input gate that says how much of it is written: i * g.
- c_next = f * c + i * g
+ c_next = f * c + f * g

one_gate_for_two: What is written is (1 - f) * g: the input gate is not used. So it is in the GRU; here i is a gate of
  its own, i * g.
- c_next = f * c + i * g
+ c_next = f * c + (1 - f) * g

candidate_without_a_bias: The candidate has no bias: its part of b is missing. It is the third quarter.
- g = np.tanh(np.split(x @ U + h @ W + b, 4, axis=1)[2])
+ g = np.tanh(np.split(x @ U + h @ W, 4, axis=1)[2])

tanh_and_sigmoid_exchanged: Your third part goes through the sigmoid and your fourth through the tanh. The third is the
  candidate: it has the tanh, and the three gates have the sigmoid.
- i, f, _, o = np.split(gate(x, h, U, W, b), 4, axis=1)
- g = np.tanh(np.split(x @ U + h @ W + b, 4, axis=1)[2])
+ i, f, g, _ = np.split(gate(x, h, U, W, b), 4, axis=1)
+ o = np.tanh(np.split(x @ U + h @ W + b, 4, axis=1)[3])

gates_without_the_state: Your gates do not look at h: their part of h W is missing. All four sums have it.
- i, f, _, o = np.split(gate(x, h, U, W, b), 4, axis=1)
+ i, f, _, o = np.split(gate(x, 0 * h, U, W, b), 4, axis=1)

sigmoid_of_the_cell: Your h is o * σ(c). The cell is shown through a tanh: o * tanh(c).
- return o * np.tanh(c_next), c_next
+ return o / (1 + np.exp(-c_next)), c_next
""")


ex = unit.exercise(
    "lstm_forward",
    points=3,
    takes="X (T, N, D), h0 (N, H), c0 (N, H), U (D, 4H), W (H, 4H), b (4H,)",
    gives="H (T, N, H), last",
    ends={"X": "whole"},
    uses=(gates.gate, gates.lstm_step),
    hints=(
        "The loop of `rnn_forward` in unit 03, with two things in your hands where there was one.",
        "`h, c = lstm_step(x, h, c, U, W, b)` for each x in X, from h0 and c0 on. Only h goes into the list.",
        "`H = np.stack(states)`; the answer is `H, (h, c)`, with the h and c that are left after the loop.",
    ),
)
ex.draws()


@ex.holds("Two runs in a row give what one run gives")
def _(call: Callable[..., Any], rng: np.random.Generator) -> str | None:
    X, h0, c0 = normal(rng, 6, 2, 3), normal(rng, 2, 4), normal(rng, 2, 4)
    parameters = weights(rng, 3, 16), weights(rng, 4, 16), normal(rng, 16)
    whole, end = call(X, h0, c0, *parameters)
    _, (h, c) = call(X[:4], h0, c0, *parameters)
    rest, last = call(X[4:], np.asarray(h), np.asarray(c), *parameters)
    if np.allclose(np.asarray(whole)[4:], rest) and np.allclose(end, last):
        return None
    return (
        "started from the (h, c) that the first run ended with, the second does not go on as if nothing had happened."
    )


ex.mistakes(r"""
cell_not_carried: Every step starts from the same c: what the last step has kept is lost. Carry both on: `h, c =
  lstm_step(x, h, c, …)`.
- h, c = lstm_step(x, h, c, U, W, b)
+ h, c = lstm_step(x, h, c0, U, W, b)

state_not_carried: Every step reads the same h: the gates do not see what the last step has shown. Carry both on: `h, c
  = lstm_step(x, h, c, …)`.
- h, c = lstm_step(x, h, c, U, W, b)
+ h, c = lstm_step(x, h0, c, U, W, b)

starts_from_zeros: Your run starts from zeros: h0 and c0 are not used.
- h, c, states = h0, c0, []
+ h, c, states = np.zeros_like(h0), np.zeros_like(c0), []

c0_replaced_by_zeros: Your run starts from h0, but from a c of zeros: c0 is not used.
- h, c, states = h0, c0, []
+ h, c, states = h0, np.zeros_like(c0), []

cells_for_states: You collect c. What a network shows to the layer above is h; c stays inside, and only its last value
  is handed out.
- states.append(h)
+ states.append(c)

last_two_swapped: The last two have changed places: it is (h_n, c_n), h first, as in h0, c0.
- return np.stack(states), (h, c)
+ return np.stack(states), (c, h)

states_one_late: Your states are one step late: they begin with the start, and the last one, h_T, is missing. The result
  is h_1 to h_T.
- for x in X:
+ for x in X:
+     states.append(h.copy())
- states.append(h)

time_backwards: Time runs backwards: the last input is read first. Step t reads X[t], from t = 0 on.
- for x in X:
+ for x in X[::-1]:

sequences_interleaved: The sequences of the batch are interleaved: a reshape of (N, T, H) into (T, N, H) cuts the
  numbers anew. Stack along axis 0, or transpose.
- return np.stack(states), (h, c)
+ return np.stack(states, axis=1).reshape(len(X), len(h), -1), (h, c)

three_results: You return three things. It is two: all states, and the pair of the last ones, `H, (h_n, c_n)`, as
  PyTorch does it; so the pair can go into the next run as it is.
- return np.stack(states), (h, c)
+ return np.stack(states), h, c

h0_for_the_first_state: Your first state is the start itself, and X[0] is never read. It is what the first step starts
  from, and no state of the result.
- h, c, states = h0, c0, []
- for x in X:
+ h, c, states = h0, c0, [h0]
+ for x in X[1:]:

cell_from_zeros_at_every_step: Every step starts from a c of zeros: what the last step has kept is lost, and c0 is not
  used. Carry both on: `h, c = lstm_step(x, h, c, …)`.
- h, c = lstm_step(x, h, c, U, W, b)
+ h, c = lstm_step(x, h, np.zeros_like(c), U, W, b)
""")


# --- machines by hand: counter, latch, parity

TWO_BITS = {"nothing": (0, 0), "set": (1, 0), "reset": (0, 1)}
LONGEST = 50


def stored(machine: Any, X: np.ndarray) -> np.ndarray:
    """What stands in c[:, 0] after each step, (T, N), for inputs X (T, N, D) and a start from zeros."""
    U, W, b = (np.asarray(part, dtype=np.float64) for part in machine)
    zeros = np.zeros((X.shape[1], len(W)))
    with np.errstate(all="ignore"):
        cells: np.ndarray = gates.lstm_states(X.astype(np.float64), zeros, zeros, U, W, b)[1]
    return cells[:, :, 0]


def rough(value: float) -> str:
    """A number as far as a machine is judged by it: "1" if it is within 0.1 of 1, else what it lies between.

    >>> [rough(v) for v in (0.93, -0.02, 0.5, -1.4, float("nan"))]
    ['1', '0', 'between 0 and 1', 'between -2 and -1', 'nan']
    """
    if not np.isfinite(value) or abs(value) > 1e6:
        return f"{value:.0g}"
    nearest = round(value)
    if abs(value - nearest) <= 0.1:
        return str(nearest)
    return f"between {int(np.floor(value))} and {int(np.ceil(value))}"


class Read(str):
    """What is read off a memory: a rough text, which is compared; messages show the numbers."""

    numbers: str

    def __repr__(self) -> str:
        return self.numbers


def read_off(values: np.ndarray) -> Read:
    """Stored numbers as they are compared, and as they are shown.

    >>> read_off(np.array([0.5, 1.02])) == read_off(np.array([0.31, 0.97])), read_off(np.array([0.5, 1.02]))
    (True, 0.5, 1.02)
    """
    read = Read(", ".join(map(rough, values)))
    read.numbers = ", ".join(f"{round(v, 2) + 0:g}" for v in values.tolist())  # + 0 makes 0 of -0
    return read


def shapes_of(machine: Plain, inputs: int) -> str:
    """ "U (1, 4H), W (H, 4H), b (4H,)" if the three fit together and take so many inputs; else the shapes they have."""
    if not isinstance(machine, (list, tuple)) or len(machine) != 3:
        return kind_of(machine)
    try:
        shapes = [np.asarray(part, dtype=np.float64).shape for part in machine]
    except (TypeError, ValueError):
        return "not three arrays of numbers"
    units = shapes[1][0] if len(shapes[1]) == 2 else 0
    if units and shapes == [(inputs, 4 * units), (units, 4 * units), (4 * units,)]:
        return f"U ({inputs}, 4H), W (H, 4H), b (4H,)"
    return ", ".join(f"{name} {shape}" for name, shape in zip("UWb", shapes, strict=True))


Probes = Mapping[str, Sequence[str]]


def behaviour(inputs: Mapping[str, Sequence[float]], probes: Probes) -> Callable[[Plain], Plain]:
    """What a machine is judged by: the shapes of its weights, and what it stores while it reads each probe.

    All weights that do the same are the same answer. A probe is a list of names in `inputs`; if it is long, only what
    is stored at its end is told.
    """

    def canonical(machine: Plain) -> Plain:
        width = len(next(iter(inputs.values())))
        shapes, memory = shapes_of(machine, width), {}
        if "4H" in shapes:
            length = max(map(len, probes.values()))
            X = np.zeros((length, len(probes), width))  # what follows a probe's end is read by nobody
            for n, names in enumerate(probes.values()):
                X[: len(names), n] = [inputs[name] for name in names]
            cells = stored(machine, X)
            for n, (title, names) in enumerate(probes.items()):
                read = cells[: len(names), n]
                memory[title] = read_off(read if len(names) <= 8 else read[-1:])
        return shapes, memory

    return canonical


def spelled(*sequences: str) -> dict[str, list[str]]:
    """Probes that are named by what they read: "1 1 0"."""
    return {sequence: sequence.split() for sequence in sequences}


def first_wrong(machine: Any, X: np.ndarray, right: np.ndarray, reads: Callable[[np.ndarray], str]) -> str | None:
    """A sentence on the first step at which what is stored is not `right`, (T, N), within 0.1; else None."""
    wrong = ~(np.abs(stored(machine, X) - right) <= 0.1)
    if not wrong.any():
        return None
    t = int(np.argmax(wrong.any(axis=1)))
    n = int(np.argmax(wrong[t]))
    came = stored(machine, X)[t, n]
    return f"after {t + 1} steps, {reads(X[: t + 1, n])}, c[:, 0] is {came:.3g} and should be {right[t, n]:g}."


def drawn_bits(rng: np.random.Generator, rows: int = 60) -> np.ndarray:
    """Draw bits (50, rows, 1): rows with few ones, with many, with ones in a run, and with none but zeros or ones."""
    bits = rng.random((LONGEST, rows)) < rng.random(rows)
    bits[:, :2] = 0, 1
    bits[:25, 2:6] = rng.random((25, 4)) < 0.5
    bits[25:, 2:6] = False
    return bits[..., None].astype(np.float64)


def ones_read(bits: np.ndarray) -> str:
    """How many of the inputs were ones: "7 of them ones"."""
    return f"{int(bits.sum())} of them ones"


ex = unit.exercise(
    "counter",
    points=2,
    gives="shapes, memory",
    canonical=behaviour(
        {"0": (0,), "1": (1,)},
        spelled("1", "1 1 1", "0 0 1", "1 0 0 1 0 1")
        | {"50 ones": ["1"] * 50, "a 1, then 49 zeros": ["1"] + ["0"] * 49},
    ),
    uses=(gates.gate, gates.lstm_step, gates.lstm_forward),
    hints=(
        "c_t = f c_{t-1} + i g. To count, you need f = 1 and i = 1 all the time, and a g that is 1 when x is 1 and 0 "
        "when x is 0.",
        "A gate is open all the time if its bias is large, say 20, and its weights are 0. g = tanh(w x) is 0 for x = "
        "0; for which w is it 1, to many digits, for x = 1?",
        "One unit: U = [[0, 0, 20, 0]], W = [[0, 0, 0, 0]], b = [20, 20, 0, 20], in the order i, f, g, o.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case()
    yield case()


@ex.holds("It counts on drawn sequences of 50 steps")
def _(call: Callable[..., Any], rng: np.random.Generator) -> str | None:
    X = drawn_bits(rng)
    return first_wrong(call(), X, X[..., 0].cumsum(axis=0), ones_read)


ex.mistakes(r"""
half_is_forgotten: Your count fades: some of c is lost at each step, for the forget gate is not open wide. Without a
  bias it is σ(0), a half. Give it a bias of, say, 20.
- b = np.array([20.0, 20.0, 0.0, 20.0])
+ b = np.array([20.0, 0.0, 0.0, 20.0])

candidate_too_small: Each one adds less than 1, as where the candidate is tanh(1) = 0.76; tanh(20) is 1, to 15 digits.
  The input gate has to be open as wide.
- U = np.array([[0.0, 0.0, 20.0, 0.0]])
+ U = np.array([[0.0, 0.0, 1.0, 0.0]])

half_is_written: Each one adds a half. So it does where the input gate has no bias: σ(0) is a half. Give it a bias of,
  say, 20, or let x open it wide.
- b = np.array([20.0, 20.0, 0.0, 20.0])
+ b = np.array([0.0, 20.0, 0.0, 20.0])

steps_counted: You count steps, not ones: i and g are 1 at every step. One of the two must be 0 when x is 0. (If you
  meant that: the third column is g and the fourth is o.)
- U = np.array([[0.0, 0.0, 20.0, 0.0]])
+ U = np.zeros((1, 4))
- b = np.array([20.0, 20.0, 0.0, 20.0])
+ b = np.array([20.0, 20.0, 20.0, 20.0])

ones_make_it_forget: Your c is never more than 1: the next one takes the old count away, as it does where it closes the
  forget gate. To count, keep f open at all times.
- U = np.array([[0.0, 0.0, 20.0, 0.0]])
+ U = np.array([[0.0, -40.0, 20.0, 0.0]])

zeros_count_down: Each zero takes 1 away: for x = 0 your candidate is tanh of a large negative number, which is -1 and
  not 0. A tanh needs no bias to be 0 at 0. (Or close the input gate for x = 0.)
- U = np.array([[0.0, 0.0, 20.0, 0.0]])
+ U = np.array([[0.0, 0.0, 40.0, 0.0]])
- b = np.array([20.0, 20.0, 0.0, 20.0])
+ b = np.array([20.0, 20.0, -20.0, 20.0])

nearly_open: A gate of yours is nearly open, and nearly is not enough for 50 steps: σ(5) is 0.993, and 0.993 to the
  power 50 is 0.7. Take 10 or 20.
+ return np.array([[0.0, 0.0, 5.0, 0.0]]), np.zeros((1, 4)), np.array([5.0, 5.0, 0.0, 5.0])

as_pytorch_stores_them: Your matrices stand as PyTorch stores them, (4H, D) and (4H, H). In this course inputs are rows:
  U is (D, 4H) and W is (H, 4H).
+ return np.array([[0.0], [0.0], [20.0], [0.0]]), np.zeros((4, 1)), np.array([20.0, 20.0, 0.0, 20.0])

zeros_count_half: Each zero that is read adds a half, as where the candidate is 1 all the time, and the input gate at x
  = 0 is σ(0), a half. Close it there, with a bias far below 0; or let g be 0 at x = 0.
- U = np.array([[0.0, 0.0, 20.0, 0.0]])
+ U = np.array([[20.0, 0.0, 0.0, 0.0]])
- b = np.array([20.0, 20.0, 0.0, 20.0])
+ b = np.array([0.0, 20.0, 20.0, 20.0])
""")


ex = unit.exercise(
    "latch",
    points=3,
    gives="shapes, memory",
    canonical=behaviour(
        TWO_BITS,
        {
            ", ".join(names): names
            for names in (
                ["nothing", "nothing"],
                ["set", "nothing", "nothing"],
                ["set", "set"],
                ["set", "reset"],
                ["reset", "reset", "set"],
                ["set", "reset", "nothing", "set", "nothing"],
            )
        }
        | {
            "set, then 49 times nothing": ["set"] + ["nothing"] * 49,
            "25 times set, 25 times nothing": ["set"] * 25 + ["nothing"] * 25,
            "set, reset, then 48 times nothing": ["set", "reset"] + ["nothing"] * 48,
        },
    ),
    uses=(gates.gate, gates.lstm_step, gates.lstm_forward),
    hints=(
        "Write a table: for each of the three inputs, nothing, set and reset, what should f and i g be, so that c "
        "stays, becomes 1, becomes 0?",
        "Nothing: f = 1 and i g = 0. Set: f = 0 and i g = 1. Reset: f = 0 and i g = 0. So f has a large bias, and both "
        "inputs pull it far below zero; and g = tanh(20 set), with i open.",
        "One unit: U = [[0, -40, 20, 0], [0, -40, 0, 0]], W = [[0, 0, 0, 0]], b = [20, 20, 0, 20]: f is σ(20) with "
        "nothing, σ(-20) with either.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case()
    yield case()


@ex.holds("It stores the last of set and reset, on drawn sequences of 50 steps")
def _(call: Callable[..., Any], rng: np.random.Generator) -> str | None:
    rows = 60
    busy = rng.random((LONGEST, rows)) < rng.random(rows)  # some rows are told much, some hardly anything
    is_set = rng.random((LONGEST, rows)) < rng.random(rows)
    X = np.stack([busy & is_set, busy & ~is_set], axis=2).astype(np.float64)
    right, now = np.zeros((LONGEST, rows)), np.zeros(rows)
    for t in range(LONGEST):
        now = np.where(busy[t], is_set[t], now)
        right[t] = now

    def reads(seen: np.ndarray) -> str:
        told = np.flatnonzero(seen.any(axis=1))
        if not len(told):
            return "all of them nothing"
        return f"the last thing told being a {'set' if seen[told[-1], 0] else 'reset'} in step {told[-1] + 1}"

    return first_wrong(call(), X, right, reads)


ex.mistakes(r"""
order_i_f_o_g: A 1 is written at every step: i and g are open all the time. One of the two has to be 0 where nothing is
  to be written. (The columns are those of i, f, g, o.)
- U = np.array([[0.0, -40.0, 20.0, 0.0], [0.0, -40.0, 0.0, 0.0]])
+ U = np.array([[0.0, -40.0, 0.0, 20.0], [0.0, -40.0, 0.0, 0.0]])
- b = np.array([20.0, 20.0, 0.0, 20.0])
+ b = np.array([20.0, 20.0, 20.0, 0.0])

half_is_forgotten: What was set fades: with no input your forget gate is not open wide. Without a bias it is σ(0), a
  half. Give it a bias of, say, 20, which the inputs then have to overcome.
- b = np.array([20.0, 20.0, 0.0, 20.0])
+ b = np.array([20.0, 0.0, 0.0, 20.0])

reset_does_nothing: A reset leaves the old c as it was. It has to close the forget gate.
- U = np.array([[0.0, -40.0, 20.0, 0.0], [0.0, -40.0, 0.0, 0.0]])
+ U = np.array([[0.0, -40.0, 20.0, 0.0], [0.0, 0.0, 0.0, 0.0]])

inputs_exchanged: Your first input resets and your second one sets. It is the other way round: the rows of U stand in
  the order of the inputs, set and then reset.
- U = np.array([[0.0, -40.0, 20.0, 0.0], [0.0, -40.0, 0.0, 0.0]])
+ U = np.array([[0.0, -40.0, 0.0, 0.0], [0.0, -40.0, 20.0, 0.0]])

sets_add_up: A second set makes 2: a set adds 1 to what is there. It should write 1 in its place, so close the forget
  gate at a set, too.
- U = np.array([[0.0, -40.0, 20.0, 0.0], [0.0, -40.0, 0.0, 0.0]])
+ U = np.array([[0.0, 0.0, 20.0, 0.0], [0.0, -40.0, 0.0, 0.0]])

reset_writes_minus_one: A reset stores -1. It should store 0: close the forget gate, and write nothing.
- U = np.array([[0.0, -40.0, 20.0, 0.0], [0.0, -40.0, 0.0, 0.0]])
+ U = np.array([[0.0, -40.0, 20.0, 0.0], [0.0, -40.0, -20.0, 0.0]])

reset_subtracts: A set adds 1 and a reset takes 1 away, with the forget gate open throughout. Two sets make 2, and a
  reset of nothing makes -1: forget what was there, then write.
- U = np.array([[0.0, -40.0, 20.0, 0.0], [0.0, -40.0, 0.0, 0.0]])
+ U = np.array([[0.0, 0.0, 20.0, 0.0], [0.0, 0.0, -20.0, 0.0]])

half_is_written: A set stores a part of 1 only: the input gate is not open wide, or the candidate is not near 1. A gate
  without a bias is σ(0), a half, and tanh(1) is 0.76: a pre-activation of 20 opens both.
- b = np.array([20.0, 20.0, 0.0, 20.0])
+ b = np.array([0.0, 20.0, 0.0, 20.0])

forgets_unless_told: What was set is gone one step later: with no input your forget gate is closed. "Forget gate" is a
  misleading name; 1 means *keep*. Its bias must be large and positive.
- U = np.array([[0.0, -40.0, 20.0, 0.0], [0.0, -40.0, 0.0, 0.0]])
+ U = np.array([[0.0, 40.0, 20.0, 0.0], [0.0, 40.0, -20.0, 0.0]])
- b = np.array([20.0, 20.0, 0.0, 20.0])
+ b = np.array([20.0, -20.0, 0.0, 20.0])

forgets_unless_set = forgets_unless_told
- U = np.array([[0.0, -40.0, 20.0, 0.0], [0.0, -40.0, 0.0, 0.0]])
+ U = np.array([[0.0, 40.0, 20.0, 0.0], [0.0, 40.0, 0.0, 0.0]])
- b = np.array([20.0, 20.0, 0.0, 20.0])
+ b = np.array([20.0, -20.0, 0.0, 20.0])

nearly_open: A gate of yours is nearly open, and nearly is not enough for 50 steps: σ(5) is 0.993, and 0.993 to the
  power 50 is 0.7. Take 10 or 20.
- U = np.array([[0.0, -40.0, 20.0, 0.0], [0.0, -40.0, 0.0, 0.0]])
+ U = np.array([[0.0, -10.0, 5.0, 0.0], [0.0, -10.0, 0.0, 0.0]])
- b = np.array([20.0, 20.0, 0.0, 20.0])
+ b = np.array([5.0, 5.0, 0.0, 5.0])

as_pytorch_stores_them: Your matrices stand as PyTorch stores them, (4H, D) and (4H, H). In this course inputs are rows:
  U is (D, 4H) and W is (H, 4H).
+ U = np.array([[0.0, 0.0], [-40.0, -40.0], [20.0, 0.0], [0.0, 0.0]])
+ return U, np.zeros((4, 1)), np.array([20.0, 20.0, 0.0, 20.0])

reset_takes_one_away: A reset takes 1 away from what is there. That is right where it is 1, but a reset of nothing makes
  -1. Close the forget gate at a reset, and write nothing.
- U = np.array([[0.0, -40.0, 20.0, 0.0], [0.0, -40.0, 0.0, 0.0]])
+ U = np.array([[0.0, -40.0, 20.0, 0.0], [0.0, 0.0, -20.0, 0.0]])
""")


ex = unit.exercise(
    "parity",
    points=4,
    gives="shapes, memory",
    canonical=behaviour(
        {"0": (0,), "1": (1,)},
        spelled("0 0 0", "1", "1 0 0", "1 1", "1 1 1 1", "0 1 0 1 1 0")
        | {
            "50 ones": ["1"] * 50,
            "49 ones": ["1"] * 49,
            "a 1, then 49 zeros": ["1"] + ["0"] * 49,
            "50 zeros": ["0"] * 50,
        },
    ),
    uses=(gates.gate, gates.lstm_step, gates.lstm_forward),
    hints=(
        "A zero must leave c as it is; a one must turn 0 into 1 and 1 into 0. The cell can look at its own state: h is "
        "tanh(c) if o is open, 0 or 0.76. That is what W is for.",
        "A one closes f: the old c is gone. What is written in its place is 1 - c: let g be 1 at all times, and open i "
        "only if x is 1 and h is 0.",
        "f: U = -40, b = 20. g: b = 20. o: b = 20. i: U = 40, b = -20, and W so negative that h = 0.76 keeps it "
        "closed: 20 + 0.76 W must be far below 0, so W = -80.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case()
    yield case()


@ex.holds("It is right on drawn sequences of 50 steps")
def _(call: Callable[..., Any], rng: np.random.Generator) -> str | None:
    X = drawn_bits(rng)
    return first_wrong(call(), X, X[..., 0].cumsum(axis=0) % 2, ones_read)


ex.mistakes(r"""
ones_are_counted: Your c counts the ones: each adds to it. The second one must take it back to 0, so a step has to know
  what c was. It sees it in h, through W.
+ return np.array([[0.0, 0.0, 20.0, 0.0]]), np.zeros((1, 4)), np.array([20.0, 20.0, 0.0, 20.0])

a_one_is_for_ever: A second one does not take the first one back: c stays as it was. At that step f must be 0, and
  i or g as well, to which the product of h and W has to see. Print them there.
- W = np.array([[-80.0, 0.0, 0.0, 0.0]])
+ W = np.zeros((1, 4))

turns_at_every_step: Your c turns over at every step, whether x is 1 or 0. A zero has to leave it as it is: f open and i
  closed, unless x says otherwise.
- U = np.array([[40.0, -40.0, 0.0, 0.0]])
+ U = np.zeros((1, 4))
- b = np.array([-20.0, 20.0, 20.0, 20.0])
+ b = np.array([20.0, -20.0, 20.0, 20.0])

last_input_only: Your c is just the last input: a zero, too, clears what was there. Only a one may; at a zero f is open.
- U = np.array([[40.0, -40.0, 0.0, 0.0]])
+ U = np.array([[40.0, 40.0, 0.0, 0.0]])
- b = np.array([-20.0, 20.0, 20.0, 20.0])
+ b = np.array([-20.0, -20.0, 20.0, 20.0])

even_is_minus_one: After two ones your c is -1. An even number of ones is 0: write nothing then, and not the opposite.
- W = np.array([[-80.0, 0.0, 0.0, 0.0]])
+ W = np.array([[0.0, 0.0, -60.0, 0.0]])

half_is_forgotten: What is stored fades while zeros are read: the forget gate is not open wide. Without a bias it is
  σ(0), a half. Give it a bias of, say, 20, which a one overcomes.
- b = np.array([-20.0, 20.0, 20.0, 20.0])
+ b = np.array([-20.0, 0.0, 20.0, 20.0])

nearly_open: A gate of yours is nearly open or nearly closed, and over 50 steps what leaks adds up: σ(5) is 0.993, and
  0.993 to the power 50 is 0.7. Take 10 or 20.
+ U, W = np.array([[10.0, -10.0, 0.0, 0.0]]), np.array([[-20.0, 0.0, 0.0, 0.0]])
+ return U, W, np.array([-5.0, 5.0, 5.0, 5.0])

zeros_are_written: Your c changes when zeros are read: at x = 0 the input gate is open. A zero leaves c as it is: close
  i there, with a bias far below 0 that a one overcomes.
- U = np.array([[40.0, -40.0, 0.0, 0.0]])
- W = np.array([[-80.0, 0.0, 0.0, 0.0]])
+ U = np.array([[0.0, -40.0, 0.0, 0.0]])
+ W = np.array([[0.0, 0.0, -40.0 / np.tanh(1.0), 0.0]])
- b = np.array([-20.0, 20.0, 20.0, 20.0])
+ b = np.array([20.0, 20.0, 20.0, 20.0])
""")


ex = unit.exercise(
    "lstm_step_backward",
    reference=lstm_step_backward,
    points=5,
    takes="dh (N, H), dc (N, H), x (N, D), h_prev (N, H), c_prev (N, H), U (D, 4H), W (H, 4H), b (4H,)",
    gives="dx (N, D), dh_prev (N, H), dc_prev (N, H), dU (D, 4H), dW (H, 4H), db (4H,)",
    uses=(gates.gate, gates.lstm_step, gates.lstm_forward),
    hints=(
        "Run the step forwards again, so that you have i, f, g, o and the new c. Then go back line by line, the last "
        "line first: h = o * tanh(c).",
        "Two ways lead into the new c: the `dc` that you were given, and the way through h. First add them up, dc + dh "
        "* o * (1 - tanh(c)²); from then on use only this sum. A sigmoid y has the slope y (1 - y), a tanh 1 - y².",
        "da_i = dc g i (1-i), da_f = dc c_prev f (1-f), da_g = dc i (1-g²), da_o = dh tanh(c) o (1-o), side by side "
        "with `np.concatenate(…, axis=1)`; then `da @ U.T`, `da @ W.T`, `dc * f`, `x.T @ da`, `h_prev.T @ da`, "
        "`da.sum(axis=0)`.",
    ),
)
ex.draws()

ex.mistakes(r"""
way_through_h_ignored: The error of the new c has two parts. You use the one that you were given; the one that comes
  through h is missing: dc + dh * o * (1 - tanh(c)²).
- dc = dc + dh * o * (1 - shown**2)

way_through_c_ignored: The `dc` that you were given is not used. The new c is read by the next step, too, and this is
  what comes back from there: add it to the part that comes through h.
- dc = dc + dh * o * (1 - shown**2)
+ dc = dh * o * (1 - shown**2)

given_dc_handed_on: What you hand on to c_prev is the `dc` that you were given, times f. It should be the whole error of
  the new c, with the part that came through h, times f.
- dc = dc + dh * o * (1 - shown**2)
+ given, dc = dc, dc + dh * o * (1 - shown**2)
- return da @ U.T, da @ W.T, dc * f, x.T @ da, h_prev.T @ da, da.sum(axis=0)
+ return da @ U.T, da @ W.T, given * f, x.T @ da, h_prev.T @ da, da.sum(axis=0)

order_i_f_o_g: Your parts stand in the order i, f, o, g. The columns of U, W and b are those of i, f, g, o.
- parts = [dc * g * i * (1 - i), dc * c_prev * f * (1 - f), dc * i * (1 - g**2), dh * shown * o * (1 - o)]
+ parts = [dc * g * i * (1 - i), dc * c_prev * f * (1 - f), dh * shown * o * (1 - o), dc * i * (1 - g**2)]

slope_of_the_output_missing: The slope of the tanh between c and h is missing: dh * o is what reaches tanh(c), and on
  its way to c it is multiplied by 1 - tanh(c)².
- dc = dc + dh * o * (1 - shown**2)
+ dc = dc + dh * o

slope_of_h: For the tanh between c and h you take the slope 1 - h². But h is o * tanh(c), not tanh(c): the slope is 1 -
  tanh(c)².
- dc = dc + dh * o * (1 - shown**2)
+ dc = dc + dh * o * (1 - (o * shown) ** 2)

output_gate_missing: The error passes from h to c without the output gate. In h = o * tanh(c) the tanh is multiplied by
  o, so that its error is dh * o.
- dc = dc + dh * o * (1 - shown**2)
+ dc = dc + dh * (1 - shown**2)

slope_at_the_old_cell: The slope of the tanh is taken at the old c. The tanh that made h had the new one in it: f *
  c_prev + i * g.
- dc = dc + dh * o * (1 - shown**2)
+ dc = dc + dh * o * (1 - np.tanh(c_prev) ** 2)

new_cell_for_old: The forget gate's part has the new c in it. f was multiplied by the old one, c_prev, and so is its
  error.
- parts = [dc * g * i * (1 - i), dc * c_prev * f * (1 - f), dc * i * (1 - g**2), dh * shown * o * (1 - o)]
+ c = f * c_prev + i * g
+ parts = [dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g**2), dh * shown * o * (1 - o)]

factors_of_i_and_g_swapped: In i * g each factor's error has the *other* one in it: that of i is dc * g, that of g is dc
  * i. Yours have their own.
- parts = [dc * g * i * (1 - i), dc * c_prev * f * (1 - f), dc * i * (1 - g**2), dh * shown * o * (1 - o)]
+ parts = [dc * i * i * (1 - i), dc * c_prev * f * (1 - f), dc * g * (1 - g**2), dh * shown * o * (1 - o)]

slopes_of_the_gates_missing: The slopes of the sigmoids and of the tanh are missing from da. dc * g is what reaches i;
  what reaches the sum below it is that times i (1 - i).
- parts = [dc * g * i * (1 - i), dc * c_prev * f * (1 - f), dc * i * (1 - g**2), dh * shown * o * (1 - o)]
+ parts = [dc * g, dc * c_prev, dc * i, dh * shown]

slope_of_a_sigmoid_for_g: All four have the slope y (1 - y). That is a sigmoid's; g comes from a tanh, whose slope is 1
  - g².
- parts = [dc * g * i * (1 - i), dc * c_prev * f * (1 - f), dc * i * (1 - g**2), dh * shown * o * (1 - o)]
+ parts = [dc * g * i * (1 - i), dc * c_prev * f * (1 - f), dc * i * g * (1 - g), dh * shown * o * (1 - o)]

nothing_forgotten: What goes back to c_prev is not multiplied by f. The old c was, and what was forgotten is not to
  blame.
- return da @ U.T, da @ W.T, dc * f, x.T @ da, h_prev.T @ da, da.sum(axis=0)
+ return da @ U.T, da @ W.T, dc, x.T @ da, h_prev.T @ da, da.sum(axis=0)

averaged_over_rows: Your dU, dW and db are means over the rows. What is used by every row gets the sum; the 1/N of the
  loss is in dh and dc already.
- return da @ U.T, da @ W.T, dc * f, x.T @ da, h_prev.T @ da, da.sum(axis=0)
+ return da @ U.T, da @ W.T, dc * f, x.T @ da / len(x), h_prev.T @ da / len(x), da.mean(axis=0)

dc_overwritten: The numbers are right, but the caller's dc is changed, as by `dc += …`, and its owner still needs it.
  `dc = dc + …` makes a new one.
- dc = dc + dh * o * (1 - shown**2)
+ dc += dh * o * (1 - shown**2)

slope_without_its_tanh: On the way back through h = o tanh(c) you take 1 - c² for the slope. It is 1 - tanh(c)².
- dc = dc + dh * o * (1 - shown**2)
+ dc = dc + dh * o * (1 - (f * c_prev + i * g) ** 2)

cell_without_its_tanh: In the output gate's part stands c. What o was multiplied with is tanh(c): that is the factor.
- parts = [dc * g * i * (1 - i), dc * c_prev * f * (1 - f), dc * i * (1 - g**2), dh * shown * o * (1 - o)]
+ c = f * c_prev + i * g
+ parts = [dc * g * i * (1 - i), dc * c_prev * f * (1 - f), dc * i * (1 - g**2), dh * c * o * (1 - o)]

input_gate_on_the_way_to_c: What goes back to c_prev is multiplied by i. It went through the forget gate: f.
- return da @ U.T, da @ W.T, dc * f, x.T @ da, h_prev.T @ da, da.sum(axis=0)
+ return da @ U.T, da @ W.T, dc * i, x.T @ da, h_prev.T @ da, da.sum(axis=0)

db_averaged: Your db is a mean over the rows. Every row uses b, so its errors are summed; the 1/N of the loss is in dh
  and dc already.
- return da @ U.T, da @ W.T, dc * f, x.T @ da, h_prev.T @ da, da.sum(axis=0)
+ return da @ U.T, da @ W.T, dc * f, x.T @ da, h_prev.T @ da, da.mean(axis=0)
""")


# --- set_forget_bias


def set_forget_bias(lstm: Any, value: float) -> None:
    """The textbook's `set_forget_bias`, for which torch is loaded here and not before."""
    from rnncourse import gates_torch

    gates_torch.set_forget_bias(lstm, value)


def pytorchs_lstm(rng: np.random.Generator, D: int, H: int, layers: int, ways: int, dtype: Any = np.float32) -> Named:
    """Draw an nn.LSTM with parameters of its own, of which none is zero."""
    drawn = recurrent(rng, "", D, H, dtype, gates=4, layers=layers, ways=ways)
    return small_lstm(parameters=drawn, num_layers=layers, bidirectional=ways == 2)


ex = unit.exercise(
    "set_forget_bias",
    reference=set_forget_bias,
    points=4,
    takes="lstm, value",
    gives="parameters",
    drive=left_in_place,
    forbids=(),
    hints=(
        "Print `[name for name, _ in lstm.named_parameters()]` for an `nn.LSTM(3, 2, num_layers=2, "
        "bidirectional=True)`. Which of these are biases, and which of their numbers are those of f?",
        'All biases have "bias" in their names, and a quarter of each, from H to 2H - 1, belongs to f. Two of them are '
        'added up for each layer and direction: the one with "_ih_" can take the value, the one with "_hh_" a 0.',
        '`with torch.no_grad():` and `for name, bias in lstm.named_parameters():` and `if "bias" in name:`, then '
        '`bias[H : 2 * H] = value if "_ih_" in name else 0`, with H = lstm.hidden_size.',
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(pytorchs_lstm(rng, 3, 2, 2, 1), 3.0)
    yield case(pytorchs_lstm(rng, 2, 4, 1, 2), 5.0)
    yield case(pytorchs_lstm(rng, 4, 3, 3, 2), float(rng.uniform(1, 6)))
    yield edge("one layer, one direction", pytorchs_lstm(rng, 4, 3, 1, 1), 4.0)
    yield edge("one unit", pytorchs_lstm(rng, 3, 1, 2, 2), 2.0)
    yield edge("a negative bias", pytorchs_lstm(rng, 2, 3, 2, 1), -1.5)
    yield edge("a bias of 0", pytorchs_lstm(rng, 3, 2, 1, 2), 0.0)
    yield edge("float64", pytorchs_lstm(rng, 2, 3, 2, 2, np.float64), 1 / 3)


ex.mistakes(r"""
in_both_biases: You set both biases of f, and they are added up: the forget bias is twice what was asked for. Set one,
  and the other to 0.
- bias[H : 2 * H] = value if "_ih_" in name else 0
+ bias[H : 2 * H] = value

other_bias_left: You set one of the two biases of f and leave the other as it was drawn. They are added up: the sum is
  `value` only if the other one is 0.
- if "bias" in name:
-     bias[H : 2 * H] = value if "_ih_" in name else 0
+ if "bias_ih" in name:
+     bias[H : 2 * H] = value

first_layer_only: You set the first layer only. An `nn.LSTM` of several layers has `bias_ih_l1` and so on, one pair for
  each; go through `lstm.named_parameters()`.
- if "bias" in name:
+ if "bias" in name and "_l0" in name:

one_direction_only: You leave out the direction that reads backwards. Its biases end in `_reverse`, and it forgets as
  fast.
- if "bias" in name:
+ if "bias" in name and "reverse" not in name:

first_of_everything_only: You set `bias_ih_l0` and `bias_hh_l0`. With more layers, or with two directions, there are
  more of them: go through `lstm.named_parameters()`.
+ H = lstm.hidden_size
+ with torch.no_grad():
+     lstm.bias_ih_l0[H : 2 * H] = value
+     lstm.bias_hh_l0[H : 2 * H] = 0

input_gate_set: You set the first quarter of the biases. That is the input gate's: the order is i, f, g, o, and f has
  the numbers from H to 2H - 1.
- bias[H : 2 * H] = value if "_ih_" in name else 0
+ bias[:H] = value if "_ih_" in name else 0

candidate_set: You set the third quarter of the biases. That is the candidate's: the order is i, f, g, o, and f has the
  numbers from H to 2H - 1.
- bias[H : 2 * H] = value if "_ih_" in name else 0
+ bias[2 * H : 3 * H] = value if "_ih_" in name else 0

candidate_set_by_halves = candidate_set
- bias[H : 2 * H] = value if "_ih_" in name else 0
+ bias[2 * H : 3 * H] = value / 2

all_gates_set: You set the biases of all four, so that the input gate lets everything in. Only the numbers from H to 2H
  - 1 are those of f.
- bias[H : 2 * H] = value if "_ih_" in name else 0
+ bias[:] = value if "_ih_" in name else 0

every_fourth_set: You set every fourth number. The H numbers of a gate stand together: those of f are H to 2H - 1.
- bias[H : 2 * H] = value if "_ih_" in name else 0
+ bias[1::4] = value if "_ih_" in name else 0

added_to_what_was_drawn: You add `value` to what the biases were drawn as. It is the sum of the two that is to be
  `value`: set the one, and clear the other.
- bias[H : 2 * H] = value if "_ih_" in name else 0
+ bias[H : 2 * H] += value if "_ih_" in name else 0

second_bias_cleared: You clear the whole of `bias_hh`, and with it what i, g and o were drawn as. Only the part of f is
  yours, from H to 2H - 1.
- bias[H : 2 * H] = value if "_ih_" in name else 0
+ bias[H : 2 * H] = value
+ if "_hh_" in name:
+     bias.zero_()

weights_set_too: You write into the weights as well: their rows from H to 2H - 1 are those of f, too. Take the
  parameters with "bias" in their names.
- if "bias" in name:
+ if name:

nothing_changed: The LSTM is as it was. Was a copy changed, was a name bound anew (`forget = value` lets go of the
  slice), or is the slice empty? Write into the parameter itself: `bias[H : 2 * H] = …`.
- bias[H : 2 * H] = value if "_ih_" in name else 0
+ forget = bias[H : 2 * H]
+ forget = value if "_ih_" in name else 0

lstm_returned: The LSTM is as it should be, but you return something. Who works in place returns nothing, like
  `list.sort`: so nobody takes what comes back for a copy.
- for name, bias in lstm.named_parameters():
-     if "bias" in name:
-         bias[H : 2 * H] = value if "_ih_" in name else 0
+ for name, bias in lstm.named_parameters():
+     if "bias" in name:
+         bias[H : 2 * H] = value if "_ih_" in name else 0
+ return lstm

parameters_replaced: The numbers are right, but the LSTM has new parameters. An optimizer that was made before holds the
  old ones, and would train what nobody uses: write into those that are there.
- for name, bias in lstm.named_parameters():
+ for name, bias in list(lstm.named_parameters()):
- bias[H : 2 * H] = value if "_ih_" in name else 0
+ changed = bias.clone()
+ changed[H : 2 * H] = value if "_ih_" in name else 0
+ setattr(lstm, name, torch.nn.Parameter(changed))

input_gate_set_too: You set the first half of the biases, and with f the input gate. Those of f alone are the numbers
  from H to 2H - 1.
- bias[H : 2 * H] = value if "_ih_" in name else 0
+ bias[: 2 * H] = value if "_ih_" in name else 0

half_each_in_i_too = input_gate_set_too
- bias[H : 2 * H] = value if "_ih_" in name else 0
+ bias[: 2 * H] = value / 2
""")


ex = unit.exercise(
    "gru_step",
    points=4,
    takes="x (N, D), h (N, H), U (D, 3H), W (H, 3H), b_i (3H,), b_h (3H,)",
    gives="h (N, H)",
    uses=(gates.gate,),
    hints=(
        "Keep the two halves of the sum apart this time, `x @ U + b_i` and `h @ W + b_h`: for r and z they are added, "
        "but between those of n the reset gate comes in.",
        "Split each half into three, in the order r, z, n. r and z are sigmoids of sums. In n, only the half that "
        "comes from h is multiplied by r, its bias included.",
        "`r, z, _ = np.split(gate(x, h, U, W, b_i + b_h), 3, axis=1)`; with `x_n` and `h_n` the third parts of the "
        "halves: `n = np.tanh(x_n + r * h_n)`; `return (1 - z) * n + z * h`.",
    ),
)
ex.draws()


ex.mistakes(r"""
z_inverted: Your z is the other way round: z * n + (1 - z) * h, as in Chung et al. 2014 and in many lectures. Here, as
  in PyTorch, z = 1 keeps the old state: (1 - z) * n + z * h.
- return (1 - z) * n + z * h
+ return z * n + (1 - z) * h

reset_before_the_product: Your reset gate acts on h before the product with W, as in Cho et al. 2014. Here, as in
  PyTorch, it acts on what the product gives: r * (h W_n + b_hn).
- n = np.tanh(x_n + r * h_n)
+ n = np.tanh(x_n + np.split((r * h) @ W + b_h, 3, axis=1)[2])

bias_outside_the_reset: The third part of b_h stands outside the reset. It belongs to the product with W, inside the
  bracket that r is put on: r * (h W_n + b_hn). That is why the GRU needs two biases.
- n = np.tanh(x_n + r * h_n)
+ b_n = np.split(b_h, 3)[2]
+ n = np.tanh(x_n + r * (h_n - b_n) + b_n)

reset_on_the_whole_sum: Your reset gate is put on the whole sum, the input's part included. It says how much of the
  *state* the candidate sees; the input is seen in full.
- n = np.tanh(x_n + r * h_n)
+ n = np.tanh(r * (x_n + h_n))

order_z_r_n: You take the columns in the order z, r, n. Here, as in PyTorch, they stand in the order r, z, n.
- r, z, _ = np.split(gate(x, h, U, W, b_i + b_h), 3, axis=1)
+ z, r, _ = np.split(gate(x, h, U, W, b_i + b_h), 3, axis=1)

sigmoid_on_the_candidate: All three parts go through the sigmoid. The candidate n is a new state, from -1 to 1: it goes
  through a tanh.
- n = np.tanh(x_n + r * h_n)
+ n = 1 / (1 + np.exp(-(x_n + r * h_n)))

no_reset: The reset gate is not used: your candidate sees the whole state. Its part of the sum is r * (h W_n + b_hn).
- n = np.tanh(x_n + r * h_n)
+ n = np.tanh(x_n + h_n)

candidate_for_state: You return the candidate n. The new state is a mixture of it and of the old one: (1 - z) * n + z *
  h.
- return (1 - z) * n + z * h
+ return n

nothing_given_up: Your two weights do not add up to 1: the candidate comes in whole, n + z * h. What is kept of the old
  state leaves only the rest for the new: (1 - z) * n + z * h.
- return (1 - z) * n + z * h
+ return n + z * h

only_b_i: Only b_i is used. The state's half of the sums has a bias of its own, b_h.
- r, z, _ = np.split(gate(x, h, U, W, b_i + b_h), 3, axis=1)
- x_n, h_n = np.split(x @ U + b_i, 3, axis=1)[2], np.split(h @ W + b_h, 3, axis=1)[2]
+ r, z, _ = np.split(gate(x, h, U, W, b_i), 3, axis=1)
+ x_n, h_n = np.split(x @ U + b_i, 3, axis=1)[2], np.split(h @ W, 3, axis=1)[2]

tanh_on_the_new_state: Your new state goes through a tanh once more. It is a mixture of n and h as they are; a tanh
  would wear away what is to be kept.
- return (1 - z) * n + z * h
+ return np.tanh((1 - z) * n + z * h)

b_i_inside_the_reset: Your candidate's part of b_i stands inside the reset. There only the product with W and its b_h
  stand: x U + b_i + r * (h W + b_h).
- n = np.tanh(x_n + r * h_n)
+ n_bias = np.split(b_i, 3)[2]
+ n = np.tanh(x_n - n_bias + r * (h_n + n_bias))

gates_without_b_h: Your gates r and z have b_i alone. They have both biases: b_i + b_h.
- r, z, _ = np.split(gate(x, h, U, W, b_i + b_h), 3, axis=1)
+ r, z, _ = np.split(gate(x, h, U, W, b_i), 3, axis=1)

b_h_missing_in_the_candidate: The candidate's part of b_h is missing. Inside the bracket that r is put on stands h W +
  b_h.
- x_n, h_n = np.split(x @ U + b_i, 3, axis=1)[2], np.split(h @ W + b_h, 3, axis=1)[2]
+ x_n, h_n = np.split(x @ U + b_i, 3, axis=1)[2], np.split(h @ W, 3, axis=1)[2]
""")


ex = unit.exercise(
    "gru_step_backward",
    reference=gru_step_backward,
    points=4,
    takes="dh (N, H), x (N, D), h_prev (N, H), U (D, 3H), W (H, 3H), b_i (3H,), b_h (3H,)",
    gives="dx (N, D), dh_prev (N, H), dU (D, 3H), dW (H, 3H), db_i (3H,), db_h (3H,)",
    uses=(gates.gate, gates.gru_step),
    hints=(
        "Run the step forwards again, so that you have r, z, n, and h_n, the part of the candidate's sum that r was "
        "multiplied with. Then go back line by line, the last line first: h = (1 - z) * n + z * h_prev.",
        "U's side and W's side of the sums get the same errors for r and z, but not for n: what goes to W has passed "
        "the product with r. And three ways lead back to h_prev: along z, and through W to the two gates and to n.",
        "da_n = dh (1-z) (1-n²), da_z = dh (h_prev - n) z (1-z), da_r = da_n h_n r (1-r). Side by side: da_r, da_z, "
        "da_n for x, U and b_i; da_r, da_z, da_n * r for W and b_h. `dh_prev = dh * z + to_h @ W.T`.",
    ),
)
ex.draws()

ex.mistakes(r"""
way_along_z_missing: The way along z is missing: h_prev stands in the new state as z * h_prev, so that dh * z comes back
  to it at once, without any W. It is the way that the GRU is made for.
- dh_prev = dh * z + to_h @ W.T
+ dh_prev = to_h @ W.T

way_through_W_missing: Your dh_prev has the way along z alone. The gates and the candidate have read h_prev, too: their
  errors come back through W.
- dh_prev = dh * z + to_h @ W.T
+ dh_prev = dh * z

dW_from_the_other_side: dW is made of the errors on the input's side. On the state's side the third part has the
  factor r.
- return to_x @ U.T, dh_prev, x.T @ to_x, h_prev.T @ to_h, to_x.sum(axis=0), to_h.sum(axis=0)
+ return to_x @ U.T, dh_prev, x.T @ to_x, h_prev.T @ to_x, to_x.sum(axis=0), to_h.sum(axis=0)

reset_missing_on_the_way_to_W: The candidate's error goes to W as it is. On that side stands r * (h W + b_h): what comes
  through the product is multiplied by r.
- to_h = np.concatenate([da_r, da_z, da_n * r], axis=1)
+ to_h = np.concatenate([da_r, da_z, da_n], axis=1)

reset_on_the_inputs_side_too: The candidate's error goes to x, U and b_i times r. r is put on the state's side of the
  sum only: what the input adds is seen in full.
- to_x = np.concatenate([da_r, da_z, da_n], axis=1)
+ to_x = np.concatenate([da_r, da_z, da_n * r], axis=1)

z_inverted: You go back through z * n + (1 - z) * h. In PyTorch's convention z keeps: (1 - z) * n + z * h.
- da_n = dh * (1 - z) * (1 - n**2)
- da_z = dh * (h_prev - n) * z * (1 - z)
+ da_n = dh * z * (1 - n**2)
+ da_z = dh * (n - h_prev) * z * (1 - z)
- dh_prev = dh * z + to_h @ W.T
+ dh_prev = dh * (1 - z) + to_h @ W.T

sign_of_z: The sign of z's part is turned. More z means more of h_prev and less of n: the factor is h_prev - n.
- da_z = dh * (h_prev - n) * z * (1 - z)
+ da_z = dh * (n - h_prev) * z * (1 - z)

candidate_missing_in_z: z stands in the new state twice, in z * h_prev and in (1 - z) * n. You have the first; the
  second takes n away: h_prev - n.
- da_z = dh * (h_prev - n) * z * (1 - z)
+ da_z = dh * h_prev * z * (1 - z)

slope_of_the_candidate_missing: The slope of the candidate's tanh is missing: what reaches its sum is dh * (1 - z) times
  1 - n².
- da_n = dh * (1 - z) * (1 - n**2)
+ da_n = dh * (1 - z)

slope_of_a_sigmoid_for_n: All three have the slope y (1 - y). That is a sigmoid's; n comes from a tanh, whose slope is 1
  - n².
- da_n = dh * (1 - z) * (1 - n**2)
+ da_n = dh * (1 - z) * n * (1 - n)

slopes_of_the_gates_missing: The slopes of the two sigmoids are missing: what reaches the sum below a gate y is its
  error times y (1 - y).
- da_z = dh * (h_prev - n) * z * (1 - z)
- da_r = da_n * h_n * r * (1 - r)
+ da_z = dh * (h_prev - n)
+ da_r = da_n * h_n

gate_instead_of_slope: Your gates' parts have y in place of the slope y (1 - y).
- da_z = dh * (h_prev - n) * z * (1 - z)
- da_r = da_n * h_n * r * (1 - r)
+ da_z = dh * (h_prev - n) * z
+ da_r = da_n * h_n * r

state_for_what_was_reset: In r's part stands h_prev. What r was multiplied with is the product, h_prev W_n + b_hn: that
  is the other factor.
- da_r = da_n * h_n * r * (1 - r)
+ da_r = da_n * h_prev * r * (1 - r)

bias_missing_in_what_was_reset: In r's part stands h_prev W_n without its bias. The bias b_hn is inside the bracket that
  r was put on.
- da_r = da_n * h_n * r * (1 - r)
+ da_r = da_n * (h_n - np.split(b_h, 3)[2]) * r * (1 - r)

order_z_r_n: Your parts stand in the order z, r, n. The columns of U, W and both biases are those of r, z, n.
- to_x = np.concatenate([da_r, da_z, da_n], axis=1)
- to_h = np.concatenate([da_r, da_z, da_n * r], axis=1)
+ to_x = np.concatenate([da_z, da_r, da_n], axis=1)
+ to_h = np.concatenate([da_z, da_r, da_n * r], axis=1)

one_bias_for_two: Your db_h is db_i. They differ where the candidate is: b_h stands inside the reset, so that its error
  has passed r.
- return to_x @ U.T, dh_prev, x.T @ to_x, h_prev.T @ to_h, to_x.sum(axis=0), to_h.sum(axis=0)
+ return to_x @ U.T, dh_prev, x.T @ to_x, h_prev.T @ to_h, to_x.sum(axis=0), to_x.sum(axis=0)

averaged_over_rows: Your dU, dW and biases are means over the rows. What is used by every row gets the sum; the 1/N of
  the loss is in dh already.
- return to_x @ U.T, dh_prev, x.T @ to_x, h_prev.T @ to_h, to_x.sum(axis=0), to_h.sum(axis=0)
+ return to_x @ U.T, dh_prev, x.T @ to_x / len(x), h_prev.T @ to_h / len(x), to_x.mean(axis=0), to_h.mean(axis=0)

dh_overwritten: The numbers are right, but the caller's dh is changed, as where `dh_prev = dh` gives it a second name,
  and `*=` writes into it. `dh * z` makes a new array.
- dh_prev = dh * z + to_h @ W.T
+ dh_prev = dh
+ dh_prev *= z
+ dh_prev += to_h @ W.T

dh_prev_from_the_other_side: Your dh_prev is made of the errors on the input's side. On the state's side the third part
  has the factor r.
- dh_prev = dh * z + to_h @ W.T
+ dh_prev = dh * z + to_x @ W.T
""")
