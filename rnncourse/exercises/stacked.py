"""Unit 08: stacked recurrent layers. Its exercises, their cases, hints and misconceptions.

Nothing here imports torch before an `nn.Module` is built.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rnncourse import stacked
from rnncourse.checks.drive import stochastic
from rnncourse.checks.exercise import Case, Draw, Unit, case, cell_weights, edge, normal
from rnncourse.checks.parameters import recurrent
from rnncourse.checks.plain import Plain
from rnncourse.fixtures.stacked import generator

unit = Unit("08_stacked", "Stacked recurrent networks", stacked, forbids=("torch",))


def stack(
    rng: np.random.Generator, D: int, H: int, L: int, dtype: Any = np.float64
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Draw the (U, W, b) of L layers."""
    return [cell_weights(rng, H if l else D, H, dtype) for l in range(L)]


def run(
    rng: np.random.Generator, T: int, N: int, D: int, H: int, L: int, dtype: Any = np.float64
) -> tuple[np.ndarray, np.ndarray, list[tuple[np.ndarray, np.ndarray, np.ndarray]]]:
    """Draw X, h0 and layers."""
    return normal(rng, T, N, D, dtype=dtype), normal(rng, L, N, H, dtype=dtype), stack(rng, D, H, L, dtype)


ex = unit.exercise(
    "stacked_forward",
    points=3,
    takes="X (T, N, D), h0 (L, N, H), layers",
    gives="H_top (T, N, H), h_n (L, N, H)",
    hints=(
        "A layer turns a sequence into a sequence, and you have a function that runs one. What is the input of the "
        "second layer?",
        "Loop over the layers with one array in hand, `inputs`, which is X at first. Each layer runs over all of it, "
        "from its own start state h0[l]; its states are the `inputs` of the next layer. Keep the last state of each.",
        "`inputs, last = X, []`; `for start, (U, W, b) in zip(h0, layers):` then "
        "`inputs = rnn_forward(inputs, start, U, W, b)` and `last.append(inputs[-1])`; "
        "return `inputs, np.stack(last)`.",
    ),
)
ex.draws(run, L=(3, 4, 2))


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield case(*draw(D=5, H=5, L=4))  # here a layer may read the wrong thing and no shape complains
    yield edge("one layer", *draw(L=1))


@ex.holds("A later input never changes an earlier state")
def _(call: Any, rng: np.random.Generator) -> str | None:
    X, h0, layers = run(rng, 6, 2, 3, 4, 3)
    later = X.copy()
    later[4] += 1
    before, after = np.asarray(call(X, h0, layers)[0]), np.asarray(call(later, h0, layers)[0])
    return None if np.allclose(before[:4], after[:4]) else "with another X[4] the states before step 4 change."


@ex.holds("Two runs in a row give what one run gives")
def _(call: Any, rng: np.random.Generator) -> str | None:
    X, h0, layers = run(rng, 6, 2, 3, 4, 3)
    whole, end = call(X, h0, layers)
    _, middle = call(X[:2], h0, layers)
    rest, last = call(X[2:], np.asarray(middle), layers)
    if np.allclose(np.asarray(whole)[2:], rest) and np.allclose(end, last):
        return None
    return "start the second run from the h_n of the first, and it does not go on as if nothing had happened."


ex.mistakes(r"""
every_layer_reads_X: Every layer reads X, so that you have L networks side by side. Only the first layer reads X; each
  other one reads the states of the layer below it.
- inputs = rnn_forward(inputs, start, U, W, b)
+ inputs = rnn_forward(X, start, U, W, b)

one_W_for_all_layers: All your layers use the W and b of the first one. Parameters are shared over time, not over depth:
  layer l has `layers[l]` to itself.
- for start, (U, W, b) in zip(h0, layers):
+ _, W, b = layers[0]
+ for start, (U, _, _) in zip(h0, layers):

first_layer_repeated: You run the first layer again and again. Each layer has its own (U, W, b): take `layers[l]`.
- inputs = rnn_forward(inputs, start, U, W, b)
+ inputs = rnn_forward(inputs, start, *layers[0])

one_state_for_all_layers: There is one state for all layers, and each layer overwrites it. Each layer goes on from its
  *own* state of the step before: keep L states.
+ h, states = h0[0], []
+ for x in X:
+     for U, W, b in layers:
+         x = h = rnn_step(x, h, U, W, b)
+     states.append(h)
+ return np.stack(states), np.stack([h for _ in layers])

starts_where_the_layer_below_ended: A layer starts from the state in which the one below it ended. Each layer starts
  from its own row of h0, `h0[l]`, at the beginning of time.
- inputs = rnn_forward(inputs, start, U, W, b)
+ inputs = rnn_forward(inputs, last[-1] if last else start, U, W, b)

first_h0_for_all: All layers start from `h0[0]`. The first axis of h0 is the layer: layer l starts from `h0[l]`.
- inputs = rnn_forward(inputs, start, U, W, b)
+ inputs = rnn_forward(inputs, h0[0], U, W, b)

starts_from_zeros: Your states start from zeros: the h0 that was given is not used. Layer l starts from `h0[l]`.
- inputs = rnn_forward(inputs, start, U, W, b)
+ inputs = rnn_forward(inputs, np.zeros_like(h0[0]), U, W, b)

only_first_layer_starts_from_h0: Only the first layer starts from h0; the others start from zeros. h0 has a start state
  for each of the L layers.
- inputs = rnn_forward(inputs, start, U, W, b)
+ inputs = rnn_forward(inputs, np.zeros_like(start) if last else start, U, W, b)

reads_the_step_before: A layer reads what the layer below it said one step *earlier*. Within a step go from the bottom
  to the top: layer l reads the state that the layer below has just computed.
+ h, states = list(h0), []
+ for x in X:
+     h = [rnn_step(h[l - 1] if l else x, h[l], *layers[l]) for l in range(len(layers))]
+     states.append(h[-1])
+ return np.stack(states), np.stack(h)

h_n_of_the_top_only: Your h_n has the last state of one layer only. To go on later, every layer needs its own: h_n is
  (L, N, H), as h0 is.
- return inputs, np.stack(last)
+ return inputs, last[-1]

h_n_of_the_bottom_only = h_n_of_the_top_only
- return inputs, np.stack(last)
+ return inputs, last[0]

h_n_of_the_top_repeated: All rows of your h_n are the top layer's last state. Keep the last state of each layer when it
  has run.
- return inputs, np.stack(last)
+ return inputs, np.stack([last[-1]] * len(layers))

h_n_from_the_top_down: Your h_n begins with the top layer. It is in the order of h0: the bottom layer first.
- return inputs, np.stack(last)
+ return inputs, np.stack(last[::-1])

bottom_states_returned: You return the states of the bottom layer. H_top are those of the last layer of the list.
-     last.append(inputs[-1])
- return inputs, np.stack(last)
+     last.append(inputs)
+ return last[0], np.stack([states[-1] for states in last])

states_of_all_layers_returned: You return the states of all layers. H_top is (T, N, H): those of the top layer alone.
-     last.append(inputs[-1])
- return inputs, np.stack(last)
+     last.append(inputs)
+ return np.stack(last), np.stack([states[-1] for states in last])

h0_overwritten: Your numbers are right, but the caller's h0 is changed, as where `h = h0` gives it a second name, and
  `h[l] = …` writes into it. Start from `h0.copy()`.
+ h, states = h0, []
+ for x in X:
+     for l, (U, W, b) in enumerate(layers):
+         h[l] = rnn_step(x, h[l], U, W, b)
+         x = h[l]
+     states.append(x.copy())
+ return np.stack(states), h.copy()

h0_returned = h0_overwritten
- inputs, last = X, []
- for start, (U, W, b) in zip(h0, layers):
-     inputs = rnn_forward(inputs, start, U, W, b)
-     last.append(inputs[-1])
- return inputs, np.stack(last)
+ inputs = X
+ for l, (U, W, b) in enumerate(layers):
+     inputs = rnn_forward(inputs, h0[l], U, W, b)
+     h0[l] = inputs[-1]
+ return inputs, h0
""")


ex = unit.exercise(
    "stacked_parameter_count",
    points=1,
    takes="D, H, L",
    gives="count",
    hints=(
        "Write down the shapes of U, W and b for the first layer, and then for the second.",
        "The first layer has D H + H H + H numbers. The others read states, of size H: what takes the place of D?",
        "`D * H + H * H + H` for the first layer, and `L - 1` times `H * H + H * H + H` for the others.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(300, 100, 2)
    yield case(3, 5, 4)
    for _ in range(3):
        D, H, L = rng.integers((2, 2, 3), (40, 40, 9))
        yield case(int(D), int(H) + (int(D) == int(H)), int(L))
    yield edge("one layer", int(rng.integers(4, 9)), int(rng.integers(10, 20)), 1)
    yield edge("one unit", int(rng.integers(4, 9)), 1, 3)
    yield edge("all sizes alike", *[int(rng.integers(3, 9))] * 3)


ex.mistakes(r"""
every_layer_reads_D_inputs: You count D inputs for every layer. Only the first one reads X; the others read states, and
  their U is (H, H).
+ return L * (D * H + H * H + H)

two_biases: Your count is too large by H for each layer. A layer has one bias of H numbers (PyTorch has two), and its
  state is no parameter.
+ return D * H + H * H + 2 * H + (L - 1) * (2 * H * H + 2 * H)

biases_forgotten: The biases are missing: each layer has a b of H numbers.
+ return D * H + H * H + (L - 1) * 2 * H * H

one_bias_in_all: You count one bias for the whole stack. Each layer has a b of its own.
+ return D * H + H * H + (L - 1) * 2 * H * H + H

one_matrix_in_upper_layers: Above the first layer you count one matrix a layer. There are two, both (H, H): W, for the
  layer's own past, and U, for what it reads from the layer below.
+ return D * H + L * (H * H + H)

first_layer_like_the_others: You count the first layer like the others, with a U of (H, H). It reads X, which has D
  features: its U is (D, H).
+ return L * (2 * H * H + H)

first_layer_left_out: You count L layers above the first one. The first is one of the L: there are L - 1 others.
+ return D * H + H * H + H + L * (2 * H * H + H)

W_counted_as_a_row: You count H numbers for W. It leads from each of H units to each of H units: it has H · H.
+ return D * H + H + H + (L - 1) * (H * H + H + H)
""")


ex = unit.exercise(
    "stacked_backward",
    points=5,
    takes="dH_top (T, N, H), X (T, N, D), h0 (L, N, H), layers",
    gives="dX (T, N, D), dh0 (L, N, H), gradients",
    uses=(stacked.stacked_forward,),
    hints=(
        "First run forwards and keep the states of *every* layer. Then go down from the top layer to the bottom one. "
        "For one layer you have the whole way back already.",
        "`rnn_backward` of a layer takes the error of its states, what it read, its start state and its states. What "
        "it gives as dX is the error of what the layer read, and that is the error of the states of the layer below.",
        "With `read = [X, H_1, …, H_L]`: for l from L-1 down to 0, "
        "`dH, dh0[l], dU, dW, db = rnn_backward(dH, read[l], h0[l], read[l + 1], U, W)`, with `dH = dH_top` at first. "
        "The (dU, dW, db) come from the top down: turn their list round. What is left in dH is dX.",
    ),
)


def run_with_errors(
    rng: np.random.Generator, T: int, N: int, D: int, H: int, L: int, dtype: Any = np.float64
) -> tuple[Any, ...]:
    """Draw dH_top, X, h0 and layers."""
    return normal(rng, T, N, H, dtype=dtype), *run(rng, T, N, D, H, L, dtype)


ex.draws(run_with_errors, L=(3, 4, 2))


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield case(*draw(D=5, H=5, L=3))
    yield edge("one layer", *draw(L=1))


ex.mistakes(r"""
dH_top_for_every_layer: Every layer gets dH_top as its error. That is the error of the *top* layer's states; each layer
  below gets what the layer above it found as its dX.
- dH, dh0[l], dU, dW, db = rnn_backward(dH, read[l], h0[l], read[l + 1], U, W)
+ dH, dh0[l], dU, dW, db = rnn_backward(dH_top, read[l], h0[l], read[l + 1], U, W)

dH_top_joins_every_layer: You add dH_top to the error of every layer. Only the top layer's states are read by the loss:
  the error of a layer below is the dX of the layer above it, and nothing else.
- gradients.append((dU, dW, db))
+ gradients.append((dU, dW, db))
+ if l > 0:
+     dH = dH + dH_top

lower_layers_get_nothing: The layers below the top one get no gradient: their error is zero. The top layer's dX is the
  error of the states of the layer below, so hand it down.
- gradients.append((dU, dW, db))
+ gradients.append((dU, dW, db))
+ if l > 0:
+     dH = np.zeros_like(dH_top)

only_the_last_step_handed_down: Only the last step's error goes down to the next layer. The layer above read a state at
  *every* step, so all of its dX, (T, N, H), is the error of the layer below.
- gradients.append((dU, dW, db))
+ gradients.append((dU, dW, db))
+ if l > 0:
+     dH[:-1] = 0

layers_in_forward_order: You go up through the layers, the first one first. An error starts at the top and comes down:
  `reversed(range(L))`.
- for l in reversed(range(len(layers))):
+ for l in range(len(layers)):
- return dH, dh0, gradients[::-1]
+ return dH, dh0, gradients

gradients_from_the_top_down: Your list of gradients begins with the top layer. It is in the order of `layers`: turn it
  round.
- return dH, dh0, gradients[::-1]
+ return dH, dh0, gradients

dh0_from_the_top_down: Your dh0 begins with the top layer. Its first axis is in the order of h0, the bottom layer first.
- return dH, dh0, gradients[::-1]
+ return dH, dh0[::-1].copy(), gradients[::-1]

dh0_of_one_layer: Your dh0 is that of the bottom layer alone. Every layer started from a row of h0 and has a dh0: the
  result is (L, N, H).
- dH, dh0[l], dU, dW, db = rnn_backward(dH, read[l], h0[l], read[l + 1], U, W)
+ dH, dh0, dU, dW, db = rnn_backward(dH, read[l], h0[l], read[l + 1], U, W)

dX_of_the_top_layer: Your dX is that of the top layer, the error of what *it* read. X was read by the bottom layer:
  return the dX that comes out of that one.
-     gradients.append((dU, dW, db))
- return dH, dh0, gradients[::-1]
+     gradients.append((dU, dW, db))
+     if l == len(layers) - 1:
+         dX = dH
+ return dX, dh0, gradients[::-1]

own_states_taken_as_input: In the upper layers dU is built from the layer's own states. What met U were the states of
  the layer *below*.
- dH, dh0[l], dU, dW, db = rnn_backward(dH, read[l], h0[l], read[l + 1], U, W)
+ dH, dh0[l], dU, dW, db = rnn_backward(dH, read[l + 1] if l > 0 else X, h0[l], read[l + 1], U, W)

first_h0_for_all_layers: All layers are run, and gone back through, from `h0[0]`. Layer l started from `h0[l]`.
- read.append(rnn_forward(read[-1], start, U, W, b))
+ read.append(rnn_forward(read[-1], h0[0], U, W, b))
- dH, dh0[l], dU, dW, db = rnn_backward(dH, read[l], h0[l], read[l + 1], U, W)
+ dH, dh0[l], dU, dW, db = rnn_backward(dH, read[l], h0[0], read[l + 1], U, W)

h0_taken_as_zero: You run forwards from zeros, and not from the h0 that you were given: the states are others, and so
  are all gradients.
- read.append(rnn_forward(read[-1], start, U, W, b))
+ read.append(rnn_forward(read[-1], np.zeros_like(start), U, W, b))
- dH, dh0[l], dU, dW, db = rnn_backward(dH, read[l], h0[l], read[l + 1], U, W)
+ dH, dh0[l], dU, dW, db = rnn_backward(dH, read[l], np.zeros_like(h0[l]), read[l + 1], U, W)

dH_top_overwritten: Your numbers are right, but the caller's dH_top is changed, as where `dH = dH_top` gives it a second
  name, and `dH[:] = …` writes into it. Give the error of the next layer a new name or a new array.
-     dH, dh0[l], dU, dW, db = rnn_backward(dH, read[l], h0[l], read[l + 1], U, W)
-     gradients.append((dU, dW, db))
- return dH, dh0, gradients[::-1]
+     dX, dh0[l], dU, dW, db = rnn_backward(dH, read[l], h0[l], read[l + 1], U, W)
+     gradients.append((dU, dW, db))
+     if l > 0:
+         dH[:] = dX
+ return dX, dh0, gradients[::-1]

dh0_is_the_first_steps_error: Your dh0 is the error of the first step's states. h0 stands one step before them: its
  error is what comes back through the first step, as `rnn_backward` gives it.
- dH, dh0[l], dU, dW, db = rnn_backward(dH, read[l], h0[l], read[l + 1], U, W)
+ dh0[l] = dH[0]
+ dH, _, dU, dW, db = rnn_backward(dH, read[l], h0[l], read[l + 1], U, W)

states_of_the_same_step_in_dW: Your dW meets each step's error with the state of that step. W was multiplied by the
  state before it, which for the first step is h0.
- dH, dh0[l], dU, dW, db = rnn_backward(dH, read[l], h0[l], read[l + 1], U, W)
+ dW = rnn_backward(dH, read[l + 1], h0[l], read[l + 1], W, W)[2]
+ dH, dh0[l], dU, _, db = rnn_backward(dH, read[l], h0[l], read[l + 1], U, W)

first_h0_on_the_way_back: On the way back every layer gets `h0[0]`, the start state of the bottom one. It is what W read
  at the first step, and so it stands in dW: layer l started from `h0[l]`.
- dH, dh0[l], dU, dW, db = rnn_backward(dH, read[l], h0[l], read[l + 1], U, W)
+ dH, dh0[l], dU, dW, db = rnn_backward(dH, read[l], h0[0], read[l + 1], U, W)
""")


ex = unit.exercise(
    "dropout_between",
    points=2,
    takes="H (T, N, H), p, mask (T, N, H)",
    gives="dropped (T, N, H)",
    hints=(
        "Two things happen to an entry: it is kept or it becomes 0, and if it is kept it grows, to make up for those "
        "that are gone.",
        "A share 1 - p survives on average. What must the survivors be multiplied by, so that the mean over many masks "
        "is the old value?",
        "`H * mask / (1 - p)`. A product with a mask of bool keeps the dtype of H; write the result to a new array.",
    ),
)


def keep_most(rng: np.random.Generator, p: float, *shape: int) -> np.ndarray:
    """A mask: True with probability 1 - p, with at least one entry of each kind, and no two steps alike."""
    while True:
        mask = rng.random(shape) >= p
        alike = len(np.unique(mask.reshape(len(mask), -1), axis=0)) < len(mask)
        if mask.any() and not mask.all() and not alike and abs(mask.mean() - (1 - p)) > 0.01:
            return mask


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    for T, N, H, p in ((5, 3, 4, 0.2), (4, 2, 6, 0.7), (4, 3, 2, float(rng.uniform(0.3, 0.45)))):
        yield case(normal(rng, T, N, H), p, keep_most(rng, p, T, N, H))
    yield edge("p = 0", normal(rng, 4, 3, 2), 0.0, np.ones((4, 3, 2), dtype=bool))
    yield edge("one step of one row", normal(rng, 1, 1, 12), 0.4, keep_most(rng, 0.4, 1, 1, 12))
    yield edge("everything dropped", normal(rng, 4, 2, 3), 0.8, np.zeros((4, 2, 3), dtype=bool))
    yield edge("float32, nothing dropped", normal(rng, 4, 2, 5, dtype=np.float32), 0.3, np.ones((4, 2, 5), dtype=bool))


ex.mistakes(r"""
not_scaled: What is kept is not scaled up. A share p is gone, so that the next layer gets less than it will get when
  nothing is dropped: divide by 1 - p.
+ return H * mask

scaled_down: You multiply by 1 - p. The survivors have to make up for those that are gone: divide by it.
+ return H * mask * (1 - p)

divided_by_p: You scale by p, the share that is dropped. Divide by the share that is kept, 1 - p.
+ return H * mask / p if p > 0 else H * mask

multiplied_by_p = divided_by_p
+ return H * mask * p if p > 0 else H * mask

mask_inverted: You drop what the mask keeps. True means that the entry is kept.
+ return H * ~mask / (1 - p)

everything_scaled: Nothing is dropped, all is scaled up. Where the mask is False the result is 0.
+ return H / (1 - p)

nothing_done: You return H as it was. Where the mask is False the result is 0, and the rest is divided by 1 - p.
+ return H.copy()

dropped_entries_untouched: Where the mask is False you leave the entry as it was. It is dropped: 0.
+ return np.where(mask, H / (1 - p), H)

scaled_by_this_mask: You divide by the share that this very mask keeps. With it, what becomes of an entry hangs on what
  else was dropped. Divide by 1 - p, the share that is kept on average.
+ return H * mask / max(mask.mean(), 1e-12)

one_mask_for_all_steps: You use the mask's first step for all steps. The mask has an entry of its own for every entry of
  H.
+ return H * mask[0] / (1 - p)

only_survivors_returned: You return the survivors alone, in a row. The result has H's shape: what is dropped is 0, not
  gone.
+ return H[mask] / (1 - p)

dtype_of_the_mask: float32 becomes float64: something wider has come in and wins over H, as `mask / (1 - p)`, a mask of
  whole numbers or `np.zeros(H.shape)` does.
+ return H * (mask / (1 - p))

H_overwritten: Your numbers are right, but the caller's H is changed, as by `H[~mask] = 0`, or by a 0 put into a view of
  it. Work on a copy, or build a new array with a product.
+ H[~mask] = 0
+ return H / (1 - p)

H_itself_for_p_zero: For p = 0 you return H itself, so that whoever writes to the result writes to H. Return a copy.
+ return H if p == 0 else H * mask / (1 - p)

scaled_by_one_plus_p: You multiply by 1 + p. The share 1 - p is kept, so that 1 / (1 - p) makes up for the rest: for
  p = 0.5 that is 2, and not 1.5.
+ return H * mask * (1 + p)
""")


# --- locked_dropout

MANY = 2000  # rows alike, among which each pattern of what is dropped is sure to be there


def what_chance_makes(answer: Plain) -> Plain:
    """What does not hang on the draws: of many rows alike, the most frequent, and then all that differ, each once.

    Of few rows, in which nothing is dropped, all are kept as they are.
    """
    rows = np.asarray(answer).transpose(1, 0, 2)
    if len(rows) != MANY:
        return rows
    rows = rows + 0  # -0.0 is 0.0
    counts = Counter(row.tobytes() for row in rows)  # `np.unique` takes ten times as long, and this is asked often
    found = np.array([np.frombuffer(row, rows.dtype).reshape(rows.shape[1:]) for row, _ in counts.most_common()])
    order = np.lexsort(found.reshape(len(found), -1).T[::-1])
    return np.concatenate([found[:1], found[order]])


ex = unit.exercise(
    "locked_dropout",
    points=2,
    takes="X (T, N, D), p, rng",
    gives="rows (row, T, D)",
    canonical=what_chance_makes,
    uses=(stacked.dropout_between,),
    hints=(
        "Draw once, before anything is done to any step. Which shape has a mask that says nothing about time?",
        "`rng.random((N, D))` gives numbers from 0 to 1: the share of them that is at least p is 1 - p. NumPy repeats "
        "a mask (N, D) along the first axis of X by itself.",
        "`mask = rng.random(X.shape[1:]) >= p`, and then `X * mask / (1 - p)`.",
    ),
)


def rows_alike(rng: np.random.Generator, T: int, D: int, dtype: Any = np.float64) -> np.ndarray:
    """A sequence (T, MANY, D) whose rows are all the same, with no entry near 0."""
    one = rng.uniform(0.5, 2, size=(T, 1, D)) * rng.choice([-1, 1], size=(T, 1, D))
    return np.repeat(one, MANY, axis=1).astype(dtype)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def drawn() -> Any:
        return generator(seed=int(rng.integers(2**31)))

    # Few steps and entries, so that each pattern is there; p far from 1/2, so that the most frequent one is known.
    yield case(rows_alike(rng, 2, 3), 0.3, drawn())
    yield case(rows_alike(rng, 4, 2), 0.2, drawn())
    yield case(rows_alike(rng, 3, 2), 0.7, drawn())
    yield edge("p = 0: nothing is dropped", normal(rng, 4, 3, 2), 0.0, drawn())
    yield edge("one step", rows_alike(rng, 1, 3), 0.3, drawn())
    yield edge("float32", rows_alike(rng, 4, 2, np.float32), 0.3, drawn())
    yield edge("float32, p = 0", normal(rng, 5, 3, 2, dtype=np.float32), 0.0, drawn())


@ex.holds("The mask is drawn from rng")
def _(call: Callable[..., Plain], rng: np.random.Generator) -> str | None:
    X, seeds = rng.uniform(1, 2, size=(4, 8, 16)), [int(seed) for seed in rng.integers(2**31, size=2)]
    first, other = (np.asarray(call(X, 0.5, generator(seed=seed))) for seed in seeds)
    later = np.asarray(call(X, 0.5, generator(seed=seeds[0], drawn=64)))
    again = np.asarray(call(X, 0.5, generator(seed=seeds[0])))
    if not np.allclose(first, again):
        return "two generators in the same state dropped different entries: the draws come from elsewhere."
    if np.allclose(first, other):
        return "two generators with different seeds dropped the same entries."
    if np.allclose(first, later):
        return "a second draw from the same generator dropped the same entries again."
    return None


@ex.holds("An entry is dropped with probability p")
def _(call: Callable[..., Plain], rng: np.random.Generator) -> str | None:
    dropped = np.asarray(call(np.ones((1, MANY, 2)), 0.2, generator(seed=int(rng.integers(2**31)))))
    share = float((dropped == 0).mean())  # its standard deviation is 0.006
    return None if abs(share - 0.2) < 0.05 else f"with p = 0.2, {share:.2f} of the entries were dropped."


@ex.holds("Each entry is dropped by a draw of its own")
def _(call: Callable[..., Plain], rng: np.random.Generator) -> str | None:
    of_seeds = [call(np.ones((1, 6, 5)), 0.5, generator(seed=int(seed))) for seed in rng.integers(2**31, size=12)]
    counts = {int((np.asarray(one) == 0).sum()) for one in of_seeds}
    if len(counts) == 1:
        return "each time the same number of entries was dropped."
    single = [call(np.ones((2, 1, 1)), 0.9, generator(seed=int(seed))) for seed in rng.integers(2**31, size=12)]
    return None if any(not np.any(one) for one in single) else "with p = 0.9, an entry that is alone was never dropped."


@ex.holds("Each entry stays at its place: it is 0, or divided by 1 - p")
def _(call: Callable[..., Plain], rng: np.random.Generator) -> str | None:
    X = normal(rng, 4, 6, 5)
    dropped = np.asarray(call(X, 0.4, generator(seed=int(rng.integers(2**31)))))
    if dropped.shape == X.shape and np.isclose(np.where(dropped == 0, 0, X / 0.6), dropped).all():
        return None
    return "with rows that all differ, some entries are neither 0 nor X / (1 - p) at that place."


ex.mistakes(r"""
a_fixed_number: How many entries are dropped is not left to chance alone. Each entry is dropped with probability p by a
  draw of its own, whatever becomes of the others.
- mask = rng.random(X.shape[1:]) >= p
+ mask = np.ones(X.shape[1:], dtype=bool)
+ mask.flat[rng.permutation(mask.size)[: round(p * mask.size)]] = False

mask_of_every_step: You draw anew for each step: that is the dropout of exercise 8.4. Locked means that one mask (N, D)
  is drawn, and holds for all steps.
- mask = rng.random(X.shape[1:]) >= p
+ mask = rng.random(X.shape) >= p

one_mask_for_all_rows: One mask serves all rows of the batch, so the network has seen one choice of units only in each
  update. Each row has its own: (N, D).
- mask = rng.random(X.shape[1:]) >= p
+ mask = rng.random(X.shape[2:]) >= p

whole_rows_dropped: You draw one number a row, which drops a whole sequence, or nothing of it. The mask is (N, D): each
  feature of each row has a draw of its own.
- mask = rng.random(X.shape[1:]) >= p
+ mask = rng.random((X.shape[1], 1)) >= p

kept_with_probability_p: You keep an entry with probability p. p is the probability that it is *dropped*: keep where the
  draw is at least p.
- mask = rng.random(X.shape[1:]) >= p
+ mask = (rng.random(X.shape[1:]) < p) | (p == 0)

not_from_rng: The mask does not come from rng: whoever hands you a generator wants to be able to repeat the run. Draw it
  with `rng.random`.
- mask = rng.random(X.shape[1:]) >= p
+ mask = np.random.default_rng(0).random(X.shape[1:]) >= p

not_scaled: What is kept is not scaled up: divide by 1 - p, as in exercise 8.4.
- return X * mask / (1 - p)
+ return X * mask

scaled_down: You multiply by 1 - p. The survivors have to make up for those that are gone: divide by it.
- return X * mask / (1 - p)
+ return X * mask * (1 - p)

normal_draws: Another share than p is dropped, as with normal draws. `rng.random` draws evenly from 0 to 1, so that a
  share of p lies below p.
- mask = rng.random(X.shape[1:]) >= p
+ mask = (rng.normal(size=X.shape[1:]) >= p) | (p == 0)

dtype_of_the_mask: float32 becomes float64: something wider has come in and wins over X, as `mask / (1 - p)`, a mask of
  whole numbers or `np.zeros(X.shape)` does.
- return X * mask / (1 - p)
+ return X * (mask / (1 - p))

X_overwritten: Your numbers are right, but the caller's X is changed, as by `X *= mask`, or by a 0 put into a view of
  it. Build a new array.
- return X * mask / (1 - p)
+ X *= mask
+ return X / (1 - p)

one_mask_for_each_step: Each step has a mask, and all rows of the batch share it. It is the other way round: each row
  has a mask of its own, (N, D), and keeps it for all steps.
- mask = rng.random(X.shape[1:]) >= p
+ mask = rng.random((len(X), 1, X.shape[2])) >= p
""")


ex = unit.exercise(
    "layer_norm",
    points=3,
    takes="x (…, D), gain (D,), shift (D,), eps",
    gives="y (…, D)",
    hints=(
        "Each row is treated by itself, whatever the other rows hold. Which axis are the mean and the variance taken "
        "over, and how do they keep a shape that can be subtracted?",
        "Three steps: subtract the mean; divide by the square root of the variance plus eps; then the gain times it, "
        "plus the shift. `keepdims=True` keeps the axis.",
        "`centred = x - x.mean(axis=-1, keepdims=True)`, `variance = (centred**2).mean(axis=-1, keepdims=True)`, "
        "`gain * centred / np.sqrt(variance + eps) + shift`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def norm(*shape: int, dtype: Any = np.float64) -> tuple[np.ndarray, ...]:
        x = normal(rng, *shape, dtype=dtype) * 2 + 3
        return x.astype(dtype), normal(rng, shape[-1], dtype=dtype) + 2, normal(rng, shape[-1], dtype=dtype)

    yield case(*norm(3, 5))
    yield case(*norm(5, 3, 4))
    yield case(*norm(4, 6), 0.5)  # so large that its place shows
    yield edge("one row, one axis", *norm(7))
    yield edge("all sizes alike", *norm(4, 4, 4), 0.1)
    yield edge("one entry", *norm(3, 1))
    x, gain, shift = norm(4, 3)
    x[1] = x[1, 0]
    yield edge("a row of equal numbers", x, gain, shift)
    x, gain, shift = norm(5, 4)
    yield edge("numbers as small as eps", x / 300, gain, shift)
    yield edge("float32", *norm(4, 3, 5, dtype=np.float32))


@ex.holds("Ten times the numbers, or a number added to all, give the same")
def _(call: Callable[..., Plain], rng: np.random.Generator) -> str | None:
    x, gain, shift = normal(rng, 4, 6), normal(rng, 6), normal(rng, 6)
    once, other = (np.asarray(call(a, gain, shift, 1e-12)) for a in (x, 10 * x + 1e8))
    return None if np.allclose(once, other) else "with 10 x + 10**8 in place of x, eps nearly 0, another result came."


ex.mistakes(r"""
over_the_batch: You take mean and variance over the first axis, so that what a row becomes hangs on the other rows. That
  is batch normalisation. Take them over the last axis, each row by itself.
- centred = x - x.mean(axis=-1, keepdims=True)
- variance = (centred**2).mean(axis=-1, keepdims=True)
+ centred = x - x.mean(axis=0, keepdims=True)
+ variance = (centred**2).mean(axis=0, keepdims=True)

over_everything: You take one mean and one variance of all entries. Each row has its own: take them over the last axis.
- centred = x - x.mean(axis=-1, keepdims=True)
- variance = (centred**2).mean(axis=-1, keepdims=True)
+ centred = x - x.mean()
+ variance = (centred**2).mean()

not_centred: The mean is not subtracted from x before you divide.
- centred = x - x.mean(axis=-1, keepdims=True)
- variance = (centred**2).mean(axis=-1, keepdims=True)
+ centred = x
+ variance = x.var(axis=-1, keepdims=True)

divided_by_the_variance: You divide by the variance. Divide by its square root, so that the result has variance 1.
- return gain * centred / np.sqrt(variance + eps) + shift
+ return gain * centred / (variance + eps) + shift

variance_with_correction: You divide the sum of squares by D - 1. Here it is divided by D, a plain mean, as PyTorch's
  LayerNorm does it.
- variance = (centred**2).mean(axis=-1, keepdims=True)
+ variance = (centred**2).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1)

eps_outside_the_root: You add eps to the standard deviation. It belongs under the root, to the variance.
- return gain * centred / np.sqrt(variance + eps) + shift
+ return gain * centred / (np.sqrt(variance) + eps) + shift

without_eps: eps is not added to the variance, under the root. In a row of equal numbers that is 0, and 0 / 0 is nan.
- return gain * centred / np.sqrt(variance + eps) + shift
+ return gain * centred / np.sqrt(variance) + shift

always_the_usual_eps: Your eps is always 1e-5. It is an argument, and that is only its default.
- return gain * centred / np.sqrt(variance + eps) + shift
+ return gain * centred / np.sqrt(variance + 1e-5) + shift

gain_forgotten: The gain is not used. What has mean 0 and variance 1 is multiplied by it, feature by feature.
- return gain * centred / np.sqrt(variance + eps) + shift
+ return centred / np.sqrt(variance + eps) + shift

shift_forgotten: The shift is not used. It is added at the end, feature by feature.
- return gain * centred / np.sqrt(variance + eps) + shift
+ return gain * centred / np.sqrt(variance + eps)

shifted_before_the_gain: The shift is added before the gain is applied, so it is multiplied as well. First the gain,
  then the shift.
- return gain * centred / np.sqrt(variance + eps) + shift
+ return gain * (centred / np.sqrt(variance + eps) + shift)

x_overwritten: Your numbers are right, but the caller's x is changed, as by `x -= …`. Make a new array.
- centred = x - x.mean(axis=-1, keepdims=True)
+ x -= x.mean(axis=-1, keepdims=True)
+ centred = x

mean_distance: You divide by the mean distance from the mean. The standard deviation is the root of the mean of the
  *squared* distances.
- return gain * centred / np.sqrt(variance + eps) + shift
+ return gain * centred / (np.abs(centred).mean(axis=-1, keepdims=True) + eps) + shift

mean_distance_without_eps = mean_distance
- return gain * centred / np.sqrt(variance + eps) + shift
+ return gain * centred / np.abs(centred).mean(axis=-1, keepdims=True) + shift
""")


# --- StackedRNN


def build_stacked_rnn(input_size: int, hidden_size: int, num_layers: int = 1, dropout: float = 0.0) -> Any:
    """The textbook's `StackedRNN`, for which torch is loaded here and not before."""
    from rnncourse.stacked_torch import StackedRNN

    return StackedRNN(input_size, hidden_size, num_layers, dropout)


ex = unit.exercise(
    "StackedRNN",
    reference=build_stacked_rnn,
    points=5,
    gives="returned [outputs (T, N, H), state (L, N, H)], gradients, while_training",
    drive=stochastic,
    forbids=(
        *(f"torch.nn.{name}" for name in ("RNN", "RNNCell", "RNNBase", "RNNCellBase")),
        "torch.rnn_tanh",
        "torch.rnn_tanh_cell",
    ),
    hints=(
        "It is your `stacked_forward` once more: an outer loop over the layers, an inner one over the steps. What is "
        "new is where the parameters live, and one line between two layers.",
        'In `__init__`, for each l: `self.register_parameter(f"weight_ih_l{l}", nn.Parameter(…))` and so on, with '
        '`torch.empty(hidden_size, reads)` for a start; in `forward`: `self.get_parameter(f"weight_ih_l{l}")`. '
        "A step is `torch.tanh(x_t @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh)`.",
        "Before each layer but the first: `x = nn.functional.dropout(x, self.dropout, self.training)`. Then run the "
        "layer from `h0[l]`, `x = torch.stack(states)`, and keep its last state. Without an h0: "
        "`h0 = x.new_zeros(self.num_layers, x.shape[1], self.hidden_size)`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def x_and_h0(T: int, N: int, D: int, H: int, L: int, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
        return normal(rng, T, N, D, dtype=dtype), normal(rng, L, N, H, dtype=dtype)

    x = normal(rng, 5, 5, 4)  # more rows than layers: start states made with these two exchanged do not fit
    yield case((4, 3, 2), recurrent(rng, "", 4, 3, layers=2), [(x,), (x + 1,), x_and_h0(6, 5, 4, 3, 2)], 0)
    yield case((5, 5, 3), recurrent(rng, "", 5, 5, layers=3), [x_and_h0(4, 3, 5, 5, 3)], 0)
    yield edge("dropout, eval mode", (5, 5, 3, 0.4), recurrent(rng, "", 5, 5, layers=3), [x_and_h0(4, 3, 5, 5, 3)], 0)
    # Few units and steps, so that among 2,000 rows each pattern of what is dropped is sure to be there. One unit, and p
    # far from 1/2: how often it is dropped shows. Two units and two steps: which draws are one and the same shows.
    note = "training mode, two layers of one unit, p = 0.2, one step"
    yield edge(note, (3, 1, 2, 0.2), recurrent(rng, "", 3, 1, layers=2), [x_and_h0(1, 1, 3, 1, 2)], 2000)
    note = "training mode, two layers of two units, p = 0.5, two steps"
    yield edge(note, (3, 2, 2, 0.5), recurrent(rng, "", 3, 2, layers=2), [x_and_h0(2, 1, 3, 2, 2)], 2000)
    note = "training mode, three layers of two units, p = 0.5, one step"
    yield edge(note, (4, 2, 3, 0.5), recurrent(rng, "", 4, 2, layers=3), [x_and_h0(1, 1, 4, 2, 3)], 2000)
    note = "training mode, one layer, p = 0.5: nothing is dropped"
    yield edge(note, (4, 2, 1, 0.5), recurrent(rng, "", 4, 2, layers=1), [x_and_h0(2, 1, 4, 2, 1)], 200)
    note = "training mode, nothing said of dropout: nothing is dropped"
    yield edge(note, (4, 3, 2), recurrent(rng, "", 4, 3, layers=2), [x_and_h0(2, 1, 4, 3, 2)], 100)
    # Start states of (N, H), or of as many layers as there are units, are too few here.
    note = "more layers than rows and units, no h0"
    yield edge(note, (3, 1, 11), recurrent(rng, "", 3, 1, layers=11), [(normal(rng, 4, 1, 3),)], 0)
    yield edge("only two settings", (3, 5), recurrent(rng, "", 3, 5, layers=1), [(normal(rng, 4, 2, 3),)], 0)
    yield edge("one step", (3, 4, 2), recurrent(rng, "", 3, 4, layers=2), [x_and_h0(1, 2, 3, 4, 2)], 0)
    single = recurrent(rng, "", 3, 4, np.float32, layers=2)
    yield edge("float32", (3, 4, 2), single, [x_and_h0(4, 2, 3, 4, 2, np.float32)], 0)


ex.mistakes(r"""
every_layer_reads_x: Every layer reads x. Only the first one does; each other one reads the states of the layer below
  it, so that its weight_ih is (H, H).
- last = []
- for l in range(self.num_layers):
-     if l > 0:
-         x = nn.functional.dropout(x, self.dropout, self.training)
+ last, inputs = [], x
+ for l in range(self.num_layers):
+     x = inputs

one_weight_hh_for_all: All layers use weight_hh_l0. The others are there, but nothing uses them, and so they get no
  gradient. Layer l has one of its own: `self.get_parameter(f"weight_hh_l{l}")`.
- h = torch.tanh(x_t @ weight_ih.T + h @ weight_hh.T + b)
+ h = torch.tanh(x_t @ weight_ih.T + h @ self.weight_hh_l0.T + b)

second_bias_forgotten: bias_hh is never used. nn.RNN has two biases a layer and adds both.
- b = self.get_parameter(f"bias_ih_l{l}") + self.get_parameter(f"bias_hh_l{l}")
+ b = self.get_parameter(f"bias_ih_l{l}")

recurrent_matrix_not_transposed: weight_hh stands in the product as it is. PyTorch keeps its matrices as (to, from):
  with rows on the left, as here, both have to be transposed.
- h = torch.tanh(x_t @ weight_ih.T + h @ weight_hh.T + b)
+ h = torch.tanh(x_t @ weight_ih.T + h @ weight_hh + b)

h0_not_used: Your states start from zeros: the h0 that was given is not used. Layer l starts from `h0[l]`.
- if h0 is None:
-     h0 = x.new_zeros(self.num_layers, x.shape[1], self.hidden_size)
+ h0 = x.new_zeros(self.num_layers, x.shape[1], self.hidden_size)

first_h0_for_all_layers: All layers start from `h0[0]`. Layer l starts from `h0[l]`.
- h, states = h0[l], []
+ h, states = h0[0], []

start_state_of_float32: Without an h0 you start from float32 zeros, whatever x is. `x.new_zeros(…)` makes zeros of the
  dtype, and on the device, of x.
- h0 = x.new_zeros(self.num_layers, x.shape[1], self.hidden_size)
+ h0 = torch.zeros(self.num_layers, x.shape[1], self.hidden_size)

h_n_of_the_top_layer: Your h_n has the last state of the top layer only. It is (L, N, H), as h0 is: the last state of
  each layer.
- return x, torch.stack(last)
+ return x, last[-1][None]

no_gradient_between_layers: The values are right, but no gradient comes down from layer to layer: a `detach`, `.data`,
  `no_grad` or a way through NumPy cuts it. Hand on the states themselves.
- x = nn.functional.dropout(x, self.dropout, self.training)
+ x = nn.functional.dropout(x.detach(), self.dropout, self.training)

state_kept_between_calls: Your states go on from the call before. Without an h0 each call starts from zeros; whoever
  wants to go on hands h_n in as h0.
- super().__init__()
+ super().__init__()
+ self.kept = None
- if h0 is None:
+ if h0 is None and self.kept is not None and self.kept.shape[1] == x.shape[1]:
+     h0 = self.kept
+ if h0 is None:
- return x, torch.stack(last)
+ self.kept = torch.stack(last)
+ return x, self.kept

no_dropout: Nothing is ever dropped. In training mode the states that a layer hands to the next one go through dropout
  first.
- if l > 0:
-     x = nn.functional.dropout(x, self.dropout, self.training)

dropout_in_eval_mode: You drop in eval mode too, as `nn.functional.dropout(x, p)` does without `self.training`, or an
  nn.Dropout that is made in `forward`. One that is made in `__init__` knows by itself.
- x = nn.functional.dropout(x, self.dropout, self.training)
+ x = nn.functional.dropout(x, self.dropout)

dropout_after_the_last_layer: The top layer's states are dropped as well. Dropout stands between layers only: with L
  layers there are L - 1 such places, with one layer none.
- if l > 0:
-     x = nn.functional.dropout(x, self.dropout, self.training)

- x = torch.stack(states)
+ x = nn.functional.dropout(torch.stack(states), self.dropout, self.training)

dropout_before_the_first_layer: The inputs x are dropped as well. Dropout stands between layers only: the first layer
  reads x as it is.
- if l > 0:
-     x = nn.functional.dropout(x, self.dropout, self.training)
+ x = nn.functional.dropout(x, self.dropout, self.training)

dropout_on_the_way_through_time: You drop the state that goes on to the next time step. What is lost there is missing at
  the next step, with a trace in all that follow: drop only what goes up to the next layer.
- if l > 0:
-     x = nn.functional.dropout(x, self.dropout, self.training)

- h = torch.tanh(x_t @ weight_ih.T + h @ weight_hh.T + b)
+ h = torch.tanh(x_t @ weight_ih.T + h @ weight_hh.T + b)
+ if l < self.num_layers - 1:
+     h = nn.functional.dropout(h, self.dropout, self.training)

survivors_not_scaled: What is kept is not scaled up while training. Divide by 1 - p, as `dropout_between` does, or the
  next layer gets more in eval mode than it has learned to expect.
- if l > 0:
-     x = nn.functional.dropout(x, self.dropout, self.training)
+ if l > 0 and self.training:
+     x = x * (torch.rand_like(x) >= self.dropout)

scaled_in_eval_mode: You scale by 1 - p in eval mode. Here the survivors are scaled up while training (inverted
  dropout), so that nothing is left to do in eval mode.
- x = nn.functional.dropout(x, self.dropout, self.training)
+ x = x * (torch.rand_like(x) >= self.dropout) if self.training else x * (1 - self.dropout)

kept_with_probability_p: You keep an entry with probability p. p is the probability that it is *dropped*: keep where
  `torch.rand_like(x) >= p`.
- if l > 0:
-     x = nn.functional.dropout(x, self.dropout, self.training)
+ if l > 0 and self.training:
+     x = x * (torch.rand_like(x) < self.dropout) / (1 - self.dropout)

one_mask_for_all_rows: One mask is drawn for the whole batch. Every entry of (T, N, H) is dropped or kept by a draw of
  its own.
- if l > 0:
-     x = nn.functional.dropout(x, self.dropout, self.training)
+ if l > 0 and self.training:
+     x = x * (torch.rand(len(x), 1, self.hidden_size) >= self.dropout) / (1 - self.dropout)

one_mask_for_all_steps: One mask is drawn for all time steps. Every entry of (T, N, H) is dropped or kept by a draw of
  its own.
- if l > 0:
-     x = nn.functional.dropout(x, self.dropout, self.training)
+ if l > 0 and self.training:
+     x = x * (torch.rand_like(x[0]) >= self.dropout) / (1 - self.dropout)

whole_states_dropped: You drop whole states: one draw for all H units of a row. Every entry of (T, N, H) is dropped or
  kept by a draw of its own.
- if l > 0:
-     x = nn.functional.dropout(x, self.dropout, self.training)
+ if l > 0 and self.training:
+     x = x * (torch.rand(*x.shape[:2], 1) >= self.dropout) / (1 - self.dropout)

every_state_dropped: Each state goes through dropout where it is made, so it goes on in time without what was lost, and
  what the top layer returns is dropped too. Drop only what one layer hands up to the next.
- if l > 0:
-     x = nn.functional.dropout(x, self.dropout, self.training)

- h = torch.tanh(x_t @ weight_ih.T + h @ weight_hh.T + b)
+ h = nn.functional.dropout(torch.tanh(x_t @ weight_ih.T + h @ weight_hh.T + b), self.dropout, self.training)

starts_where_the_layer_below_ended: A layer starts from the state in which the one below it ended. Each layer starts
  from its own row of h0; without an h0 all of them start from zeros.
- h, states = h0[l], []
+ h, states = last[-1] if last else h0[l], []

starts_there_without_h0 = starts_where_the_layer_below_ended
- if h0 is None:
-     h0 = x.new_zeros(self.num_layers, x.shape[1], self.hidden_size)
+ given = h0
+ if h0 is None:
+     h0 = x.new_zeros(self.num_layers, x.shape[1], self.hidden_size)
- h, states = h0[l], []
+ h, states = last[-1] if last and given is None else h0[l], []

h_n_after_the_dropout: Your h_n has been through dropout. Only what a layer hands up is dropped: h_n holds its last
  state as it is.
- if l > 0:
-     x = nn.functional.dropout(x, self.dropout, self.training)

- x = torch.stack(states)
- last.append(h)
+ x = torch.stack(states)
+ if l < self.num_layers - 1:
+     x = nn.functional.dropout(x, self.dropout, self.training)
+ last.append(x[-1])

dropout_below_the_top_only: Only what the top layer reads goes through dropout. So does what every layer but the first
  reads.
- if l > 0:
+ if l > 0 and l == self.num_layers - 1:
""")
