"""Unit 04: backpropagation through time. Its exercises, their cases, hints and misconceptions."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rnncourse import bptt, cell
from rnncourse.checks.callables import Named, named
from rnncourse.checks.exercise import Case, Draw, Unit, case, cell_weights, edge, normal

unit = Unit("04_bptt", "Backpropagation through time", bptt)


def scored(rng: np.random.Generator, T: int, N: int, Q: int, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
    """Draw logits (T, N, Q) and targets (T, N)."""
    return normal(rng, T, N, Q, dtype=dtype), rng.integers(0, Q, size=(T, N))


def sure_and_wrong(rng: np.random.Generator, T: int, N: int, Q: int) -> tuple[np.ndarray, np.ndarray]:
    """Logits (T, N, Q) of 1000 at a symbol that is not the target, 0 elsewhere, and targets (T, N)."""
    targets = rng.integers(0, Q, size=(T, N))
    return 1000.0 * (np.arange(Q) == ((targets + 1) % Q)[..., None]), targets


def padding(rng: np.random.Generator, T: int, N: int) -> np.ndarray:
    """A mask (T, N): rows of different lengths whose first step does not count, the last row nothing but padding."""
    lengths = np.append(rng.integers(2, T, size=N - 1), 0)
    steps = np.arange(T)[:, None]
    return (steps > 0) & (steps < lengths)


def passed_through(
    rng: np.random.Generator, T: int, N: int, D: int, H: int, dtype: Any = np.float64
) -> tuple[np.ndarray, ...]:
    """Draw what a backward pass is given: dH, X, h0, the states H of a forward pass, U, W."""
    X, h0 = normal(rng, T, N, D, dtype=dtype), normal(rng, N, H, dtype=dtype)
    U, W, b = cell_weights(rng, D, H, dtype)
    return normal(rng, T, N, H, dtype=dtype), X, h0, cell.rnn_forward(X, h0, U, W, b), U, W


ex = unit.exercise(
    "sequence_nll",
    points=3,
    takes="logits (T, N, Q), targets (T, N), mask (T, N)",
    gives="loss",
    hints=(
        "One number for each step of each row: minus the log of the probability that the model gave to what came next. "
        "Those that count are added up, and the sum is divided by the number of rows.",
        "With `shifted = logits - logits.max(axis=-1, keepdims=True)` no exp overflows. Of each row of Q numbers you "
        "want the one at the target: `picked = np.take_along_axis(shifted, targets[..., None], axis=-1)[..., 0]`.",
        "`losses = np.log(np.exp(shifted).sum(axis=-1)) - picked`, `if mask is not None: losses = losses * mask`, "
        "`return losses.sum() / logits.shape[1]`.",
    ),
)
ex.draws(scored, without=["float32"])


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield case(*scored(rng, 6, 4, 3), padding(rng, 6, 4))
    yield case(*scored(rng, 5, 4, 3), padding(rng, 5, 4).astype(np.int64))
    logits, targets = draw()
    yield edge("logits near 1000", logits + 1000, targets)
    yield edge("sure and wrong: logits 0 and 1000", *sure_and_wrong(rng, 4, 2, 3))
    # The largest logit of all rows, or the mean of each, taken away in place of each row's largest.
    logits, targets = draw(N=2)
    logits += np.array([2000, -2000, 0, 1000])[:, None, None]
    logits[0, :, 1] += 3000
    yield edge("each row has logits of its own size", logits, targets)
    yield edge("a mask of zeros", *draw(T=4, N=2), np.zeros((4, 2), dtype=np.int64))


ex.mistakes(r"""
mean_over_steps: You take the mean over the steps as well. This loss is summed over the steps and divided by the number
  of rows N alone, so that a longer text weighs more.
- return losses.sum() / logits.shape[1]
+ return losses.mean()

not_divided: Your sum is not divided by N. Without that the loss of a batch doubles when its rows are put in twice.
- return losses.sum() / logits.shape[1]
+ return losses.sum()

divided_by_real_tokens: You divide by the number of steps that count. Here it is divided by N, the number of rows,
  whatever the mask says.
- return losses.sum() / logits.shape[1]
+ return losses.sum() / (losses.size if mask is None else max(mask.sum(), 1))

divided_by_rows_that_count: You leave rows that are all padding out of N. N counts every row of the batch, masked or
  not: `logits.shape[1]`.
- return losses.sum() / logits.shape[1]
+ return losses.sum() / (logits.shape[1] if mask is None else max(mask.any(axis=0).sum(), 1))

mask_ignored: The mask has no effect: steps under a 0 are counted like all others. Multiply the losses by the mask
  before you add them up.
- if mask is not None:
-     losses = losses * mask

mask_used_as_index: A mask of 0 and 1 is taken for step numbers, as in `losses[mask]`, which does what you want with a
  mask of bool only. Multiply by the mask, or turn it into bool first.
- losses = losses * mask
+ losses = losses[mask]

mask_inverted: You count the steps under a 0 and leave out those under a 1. A 1 in the mask means that the step counts.
- losses = losses * mask
+ losses = losses * (1 - mask.astype(int))

minus_forgotten: The sign is missing: your loss is negative, and the better the model the larger it is. It is minus the
  log.
- losses = np.log(np.exp(shifted).sum(axis=-1)) - picked
+ losses = picked - np.log(np.exp(shifted).sum(axis=-1))

logits_for_log_probabilities: You pick the target's logit. A logit is no log-probability yet: take the softmax along the
  last axis first, then the log.
- losses = np.log(np.exp(shifted).sum(axis=-1)) - picked
+ losses = -np.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]

best_for_target: You score the symbol that the model likes best, not the target. What counts is the probability of what
  really came next.
- picked = np.take_along_axis(shifted, targets[..., None], axis=-1)[..., 0]
+ picked = shifted.max(axis=-1)

softmax_over_the_batch: Your softmax runs over the rows of the batch. It runs over the Q symbols, the last axis: the
  probabilities of one prediction add up to 1.
- shifted = logits - logits.max(axis=-1, keepdims=True)
+ shifted = logits - logits.max(axis=1, keepdims=True)
+ shifted = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
- losses = np.log(np.exp(shifted).sum(axis=-1)) - picked
+ losses = -picked

log_of_a_softmax_that_is_zero: You take the log of a softmax. Where the network is sure and wrong, that softmax is
  exactly 0, and its log -inf. Take the log by hand, before anything is rounded to 0: with the largest logit subtracted,
  log of the sum of exp, minus the target's logit.
- losses = np.log(np.exp(shifted).sum(axis=-1)) - picked
+ losses = -np.log(np.take_along_axis(softmax(logits), targets[..., None], axis=-1)[..., 0])

largest_of_all: A row far below what you subtract vanishes: its sum of exp is 0, and the log of that -inf. Subtract from
  each row its own largest logit.
- shifted = logits - logits.max(axis=-1, keepdims=True)
+ shifted = logits - logits.max()

logits_masked: You put the mask on the logits. A step whose logits are all 0 costs log Q all the same: the mask belongs
  on the losses.
- shifted = logits - logits.max(axis=-1, keepdims=True)
+ logits = logits if mask is None else logits * mask[..., None]
+ shifted = logits - logits.max(axis=-1, keepdims=True)
- losses = losses * mask
+ pass

exp_overflows: Large logits give inf or nan, since `np.exp(1000)` overflows. Subtract each row's largest logit first:
  that changes no probability.
- shifted = logits - logits.max(axis=-1, keepdims=True)
+ shifted = logits

inverted_bit_by_bit: `~` makes of a mask of 0 and 1 the numbers -1 and -2, which are indices of whole steps. It inverts
  truth values only: `mask == 0` says which steps do not count, whatever the mask is made of.
- losses = losses * mask
+ losses[~mask] = 0

tiny_number_under_the_log: You take the log of a softmax, and a small number keeps it finite. Where the network is
  sure and wrong, the softmax is rounded to 0, and the loss is that of the small number. Take the log by hand, before
  anything is rounded: with the largest logit subtracted, log of the sum of exp, minus the target's logit.
- losses = np.log(np.exp(shifted).sum(axis=-1)) - picked
+ losses = -np.log(np.take_along_axis(softmax(logits), targets[..., None], axis=-1)[..., 0] + 1e-12)
""")


ex = unit.exercise(
    "nll_backward",
    points=3,
    takes="logits (T, N, Q), targets (T, N), mask (T, N)",
    gives="dO (T, N, Q)",
    hints=(
        "For one prediction the gradient is what the model said minus what it should have said: y minus a vector "
        "with a 1 at the target.",
        "Whatever multiplies a term of the loss multiplies its gradient too: the mask, which is 0 or 1, and 1/N.",
        "`dO = softmax(logits)`; subtract 1 at the targets, `dO[np.arange(T)[:, None], np.arange(N), targets] -= 1`; "
        "if there is a mask, `dO *= mask[..., None]`; return `dO / N`.",
    ),
)
ex.draws(scored)


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield case(*scored(rng, 6, 4, 3), padding(rng, 6, 4))
    yield case(*scored(rng, 5, 4, 3), padding(rng, 5, 4).astype(np.int64))
    logits, targets = draw()
    yield edge("logits near 1000", logits + 1000, targets)  # exp alone overflows
    yield edge("float32, with a mask of bool", *scored(rng, 4, 2, 3, np.float32), padding(rng, 4, 2))
    whole = padding(rng, 4, 2).astype(np.int64)
    yield edge("float32, with a mask of 0 and 1", *scored(rng, 4, 2, 3, np.float32), whole)
    yield edge("sure and wrong: logits 0 and 1000", *sure_and_wrong(rng, 4, 2, 3))


ex.mistakes(r"""
not_divided_by_rows: The 1/N of the loss is missing from its gradient. Whatever the loss is divided by, its gradient is
  divided by too.
- return dO / N
+ return dO

divided_by_steps_too: You divide by T N, as if the loss were a mean over the steps. It is a sum over the steps, divided
  by N alone.
- return dO / N
+ return dO / (T * N)

gradient_divided_by_real_tokens: You divide by the number of steps that count. The loss is divided by N, the number of
  all rows, and so is its gradient.
- return dO / N
+ return dO / (T * N if mask is None else max(mask.sum(), 1))

padding_gets_gradient: Steps under a 0 of the mask get a gradient. What does not count in the loss cannot change it:
  there the gradient is 0.
- if mask is not None:
-     dO *= np.asarray(mask, dtype=bool)[..., None]

target_not_subtracted: Your gradient is the softmax itself: nothing in it depends on the target. Subtract 1 at the
  symbol that came next.
- dO[np.arange(T)[:, None], np.arange(N), targets] -= 1

sign_turned: The sign is wrong: you have onehot - y. A step against this gradient would make the loss grow.
- return dO / N
+ return -dO / N

only_the_target: Only the target's logit gets a gradient. Raising any other logit takes probability from the target, so
  that each of the Q entries has one: y - onehot.
- dO[np.arange(T)[:, None], np.arange(N), targets] -= 1
+ dO = (dO - 1) * (np.arange(logits.shape[-1]) == targets[..., None])

softmax_counted_twice: You multiply y - onehot by the derivative of the softmax. That is in there already: y - onehot is
  the gradient at the logits.
- return dO / N
+ y = softmax(logits)
+ return dO * y * (1 - y) / N

gradient_at_probabilities: You give the gradient at the probabilities, -1/p at the target. The gradient at the logits is
  asked for: go one step further back, through the softmax.
- dO[np.arange(T)[:, None], np.arange(N), targets] -= 1
+ dO = -1 / dO * (np.arange(logits.shape[-1]) == targets[..., None])

only_the_softmax_masked: The mask is put on the softmax before the 1 is subtracted, so that masked steps keep a -1. Mask
  the whole difference.
- dO[np.arange(T)[:, None], np.arange(N), targets] -= 1

- return dO / N
+ dO[np.arange(T)[:, None], np.arange(N), targets] -= 1
+ return dO / N

one_subtracted_everywhere: A row has the 1 subtracted at the targets of other rows, too. `dO[..., targets] -= 1` does
  that, and so does `dO[t][:, targets[t]] -= 1`; the steps and rows have to be indexed along with the targets.
- dO[np.arange(T)[:, None], np.arange(N), targets] -= 1
+ dO[..., targets] -= 1

only_the_target_masked: The mask is put on the one-hot targets only, so that masked steps keep the whole softmax. Mask
  the whole difference.
- if mask is not None:
-     dO *= np.asarray(mask, dtype=bool)[..., None]

- dO[np.arange(T)[:, None], np.arange(N), targets] -= 1
+ dO[np.arange(T)[:, None], np.arange(N), targets] -= 1 if mask is None else np.asarray(mask, dtype=bool)

one_subtracted_in_every_row = one_subtracted_everywhere
- dO[np.arange(T)[:, None], np.arange(N), targets] -= 1
+ for error, target in zip(dO, targets):
+     error[:, target] -= 1
""")


ex = unit.exercise(
    "output_backward",
    points=2,
    takes="dO (T, N, Q), H (T, N, H), V (H, Q)",
    gives="dH (T, N, H), dV (H, Q), dc (Q,)",
    hints=(
        "This layer has no time in it: every step of every row is one more example of o = h V + c. "
        "What is different for each of them keeps its axes, what they share is summed over them.",
        "The shapes leave one way only: dH (T, N, H) from dO (T, N, Q) and V (H, Q); dV (H, Q) from H and dO, "
        "summed over T and N.",
        "`dH = dO @ V.T`, `dV = np.einsum('tnh,tnq->hq', H, dO)`, `dc = dO.sum(axis=(0, 1))`.",
    ),
)
ex.draws()

ex.mistakes(r"""
averaged_over_rows: dV and dc are averaged over the rows. The 1/N stands in dO already: here you only add up.
- return dH, dV, dc
+ return dH, dV / dO.shape[1], dc / dO.shape[1]

averaged_over_steps: dV and dc are averaged over the steps. The loss is the sum of the steps' losses, so the steps'
  gradients are added up.
- return dH, dV, dc
+ return dH, dV / len(dO), dc / len(dO)

last_step_only: dV and dc hold what one step gave, the last, as with `=` for `+=`. V and c are used at every step, and
  each use adds its part.
- dV = np.einsum("tnh,tnq->hq", H, dO)
- dc = dO.sum(axis=(0, 1))
+ dV = H[-1].T @ dO[-1]
+ dc = dO[-1].sum(axis=0)

tanh_too_early: dH has gone through the tanh already. This is the gradient at h, after the tanh; the factor 1 - h²
  belongs to the next step of the way back.
- dH = dO @ V.T
+ dH = dO @ V.T * (1 - H**2)

states_of_the_step_before: dV pairs each error with the state of the step before. The output o_t was made from h_t, so
  its error meets h_t.
- dV = np.einsum("tnh,tnq->hq", H, dO)
+ dV = np.einsum("tnh,tnq->hq", H[:-1], dO[1:])

axes_flattened_differently: In dV the errors of one row meet the states of another: if you flatten H and dO, flatten
  both in the same order, (T, N, ·) to (T N, ·).
- dV = np.einsum("tnh,tnq->hq", H, dO)
+ dV = H.transpose(1, 0, 2).reshape(-1, H.shape[-1]).T @ dO.reshape(-1, dO.shape[-1])

H_reshaped: In dV, H is reshaped where its axes should change places: its numbers keep their order, and states of
  several units come to stand in one row. Flatten it to (T N, H), and then transpose.
- dV = np.einsum("tnh,tnq->hq", H, dO)
+ dV = H.reshape(H.shape[-1], -1) @ dO.reshape(-1, dO.shape[-1])

error_of_last_output_only: Only the last state gets an error. Every step has an output here, and every output sends its
  error back to its own state.
- dH = dO @ V.T
+ dH = np.zeros_like(H)
+ dH[-1] = dO[-1] @ V.T
""")


ex = unit.exercise(
    "rnn_step_backward",
    points=3,
    takes="dh (N, H), x (N, D), h_prev (N, H), h (N, H), U (D, H), W (H, H)",
    gives="dx (N, D), dh_prev (N, H), dU (D, H), dW (H, H), db (H,)",
    hints=(
        "Go back in two stages: first through the tanh, from dh to da; then through the sum a = x U + h_prev W + "
        "b, from da to all five.",
        "The slope of the tanh is 1 - tanh², and tanh(a) is the h that you were given: `da = dh * (1 - h**2)`. "
        "In a product, an input's gradient is da times the other factor, transposed.",
        "`return da @ U.T, da @ W.T, x.T @ da, h_prev.T @ da, da.sum(axis=0)`",
    ),
)


def one_step(rng: np.random.Generator, N: int, D: int, H: int, dtype: Any = np.float64) -> tuple[np.ndarray, ...]:
    """Draw the arguments of one step back."""
    dH, X, h0, states, U, W = passed_through(rng, 1, N, D, H, dtype)
    return dH[0], X[0], h0, states[0], U, W


ex.draws(one_step)

ex.mistakes(r"""
tanh_slope_missing: The way back skips the tanh: `da` is `dh` times the slope of the tanh, 1 - h².
- da = dh * (1 - h**2)
+ da = dh

slope_at_h_prev: You take the slope of the tanh at h_prev. The tanh that you go back through made h, so its slope is 1 -
  h².
- da = dh * (1 - h**2)
+ da = dh * (1 - h_prev**2)

tanh_taken_again: You take the tanh of h, which is a tanh already. The slope at a is 1 - tanh(a)², and tanh(a) is h
  itself: 1 - h².
- da = dh * (1 - h**2)
+ da = dh * (1 - np.tanh(h) ** 2)

slope_of_a_sigmoid: h (1 - h) is the slope of a sigmoid. This cell has a tanh, whose slope is 1 - h².
- da = dh * (1 - h**2)
+ da = dh * h * (1 - h)

square_misplaced: You have (1 - h)². The slope of the tanh is 1 - h²: square h first, then subtract.
- da = dh * (1 - h**2)
+ da = dh * (1 - h) ** 2

W_not_transposed: dh_prev goes through W where it should go through its transpose. The shapes fit both ways, since W is
  square; the numbers do not.
- return da @ U.T, da @ W.T, x.T @ da, h_prev.T @ da, da.sum(axis=0)
+ return da @ U.T, da @ W, x.T @ da, h_prev.T @ da, da.sum(axis=0)

dW_from_h: dW is built from h. What was multiplied by W was the state before, h_prev.
- return da @ U.T, da @ W.T, x.T @ da, h_prev.T @ da, da.sum(axis=0)
+ return da @ U.T, da @ W.T, x.T @ da, h.T @ da, da.sum(axis=0)

dW_transposed: Your dW is the transpose of the right one. Rows of W belong to h_prev, columns to a: `h_prev.T @ da`.
- return da @ U.T, da @ W.T, x.T @ da, h_prev.T @ da, da.sum(axis=0)
+ return da @ U.T, da @ W.T, x.T @ da, da.T @ h_prev, da.sum(axis=0)

db_averaged: db is averaged over the rows. b was added to every row, so its gradient is the sum; the 1/N came with the
  loss.
- return da @ U.T, da @ W.T, x.T @ da, h_prev.T @ da, da.sum(axis=0)
+ return da @ U.T, da @ W.T, x.T @ da, h_prev.T @ da, da.mean(axis=0)

dh_for_da_in_the_weights: The gradients of the parameters are built from dh. U, W and b stand inside the tanh: it is da
  that meets them.
- return da @ U.T, da @ W.T, x.T @ da, h_prev.T @ da, da.sum(axis=0)
+ return da @ U.T, da @ W.T, x.T @ dh, h_prev.T @ dh, dh.sum(axis=0)

dh_for_da_in_the_inputs: dx and dh_prev are built from dh. The way to them leads through the tanh first: use da.
- return da @ U.T, da @ W.T, x.T @ da, h_prev.T @ da, da.sum(axis=0)
+ return dh @ U.T, dh @ W.T, x.T @ da, h_prev.T @ da, da.sum(axis=0)
""")


ex = unit.exercise(
    "rnn_backward",
    points=5,
    takes="dH (T, N, H), X (T, N, D), h0 (N, H), H (T, N, H), U (D, H), W (H, H)",
    gives="dX (T, N, D), dh0 (N, H), dU (D, H), dW (H, H), db (H,)",
    uses=(bptt.rnn_step_backward,),
    hints=(
        "Walk from the last step to the first with one array in hand: what the later steps send back to this "
        "state. After the last step that is zero.",
        "At step t: `dh = dH[t] + from_later`, then one `rnn_step_backward`, whose dh_prev is the next `from_later`. "
        "What it gives for U, W and b is added to what is there: the same U, W and b are used at every step.",
        "The state before step t is `H[t - 1]`, but `h0` for t = 0. The loop is `for t in reversed(range(len(X)))`; "
        "when it is done, `from_later` is dh0. Start it as `np.zeros_like(h0)`, and do not write `+=` on a part of dH.",
    ),
)
ex.draws(passed_through)

ex.mistakes(r"""
next_step_ignored: The arrow from step t+1 is missing: each state gets the error of its own output only. Walk from the
  last step back, and add the dh_prev that step t+1 gave.
- dh = dH[t] + from_later
+ dh = dH[t]

own_output_ignored: Only the last output's error goes back. At each step the error of that step's own output, dH[t],
  joins what comes from step t+1.
- dh = dH[t] + from_later
+ dh = from_later if t < len(X) - 1 else dH[t]

overwritten: dU, dW and db hold what one step gave, the first one. U, W and b are used at every step, so the parts add
  up: `+=`, not `=`.
- dU += dU_t
- dW += dW_t
- db += db_t
+ dU, dW, db = dU_t, dW_t, db_t

dW_from_h_t: dW is built from the states h_t. At step t it was h_{t-1} that met W: the states one step earlier, with h0
  as the first.
- dX[t], from_later, dU_t, dW_t, db_t = rnn_step_backward(dh, X[t], h_prev, H[t], U, W)
+ dX[t], from_later, dU_t, dW_t, db_t = rnn_step_backward(dh, X[t], H[t], H[t], U, W)

W_for_its_transpose: The error goes back through W where it should go through W's transpose. Forwards it was h W, so
  backwards it is da Wᵀ; W is square, so no shape warns you.
- dX[t], from_later, dU_t, dW_t, db_t = rnn_step_backward(dh, X[t], h_prev, H[t], U, W)
+ dX[t], from_later, dU_t, dW_t, db_t = rnn_step_backward(dh, X[t], h_prev, H[t], U, W.T)

tanh_skipped: The way back skips the tanh. At each step dh becomes da = dh (1 - h_t²) before it goes on to anything
  else.
- dX[t], from_later, dU_t, dW_t, db_t = rnn_step_backward(dh, X[t], h_prev, H[t], U, W)
+ dX[t], from_later, dU_t, dW_t, db_t = dh @ U.T, dh @ W.T, X[t].T @ dh, h_prev.T @ dh, dh.sum(axis=0)

tanh_slope_at_h_prev: You take the slope of the tanh at h_{t-1}. The tanh of step t made h_t, so the factor is 1 - h_t².
- dX[t], from_later, dU_t, dW_t, db_t = rnn_step_backward(dh, X[t], h_prev, H[t], U, W)
+ dX[t], from_later, dU_t, dW_t, db_t = rnn_step_backward(dh, X[t], h_prev, h_prev, U, W)

tanh_skipped_between_steps: What you hand to the step before is dh Wᵀ. It has to pass this step's tanh first: hand on da
  Wᵀ.
- dX[t], from_later, dU_t, dW_t, db_t = rnn_step_backward(dh, X[t], h_prev, H[t], U, W)
+ dX[t], _, dU_t, dW_t, db_t = rnn_step_backward(dh, X[t], h_prev, H[t], U, W)
+ from_later = dh @ W.T

time_forwards: You walk through time forwards. A state's error needs that of the state after it, so the last step comes
  first: `reversed(range(T))`.
- for t in reversed(range(len(X))):
+ for t in range(len(X)):

db_mean: db is averaged over the rows. Rows are added up, as in dU and dW; the 1/N is in dH already.
- db += db_t
+ db += db_t / len(h0)

dh0_zero: dh0 is zero. The first state depends on h0 as each state depends on the one before: dh0 is what the first step
  sends back, its dh_prev.
- return dX, from_later, dU, dW, db
+ return dX, np.zeros_like(h0), dU, dW, db

dH_overwritten: Your numbers are right, but dH is changed, as by a `+=` on dH[t], or on another name for it. `dh = dH[t]
  + …` makes a new one.
- dh = dH[t] + from_later
+ dh = dH[t]
+ dh += from_later

h0_taken_as_zero: In dW the part of the first step is missing, as if h0 were zero. There h_{t-1} is the h0 that you were
  given.
- h_prev = H[t - 1] if t > 0 else h0
+ h_prev = H[t - 1] if t > 0 else np.zeros_like(h0)

index_wraps_round: At the first step the last state is taken for the state before, as `H[t - 1]` does for t = 0: there
  it is `H[-1]`. The state before the first step is h0.
- h_prev = H[t - 1] if t > 0 else h0
+ h_prev = H[t - 1]

averaged_over_time: dU, dW and db are divided by T. Each step's use of a parameter adds its part to the gradient: sums
  over time, no means.
- return dX, from_later, dU, dW, db
+ return dX, from_later, dU / len(X), dW / len(X), db / len(X)

errors_pile_up: What comes from later steps is added to what came from steps later still. Each dh_prev holds the whole
  future already: it takes the place of the old one.
- dX[t], from_later, dU_t, dW_t, db_t = rnn_step_backward(dh, X[t], h_prev, H[t], U, W)
+ dX[t], dh_prev, dU_t, dW_t, db_t = rnn_step_backward(dh, X[t], h_prev, H[t], U, W)
+ from_later = from_later + dh_prev

dh0_before_W: What you return as dh0 is da of the first step, behind its tanh. h0 entered that sum through W, so the
  error reaches it through Wᵀ: one product more.
- return dX, from_later, dU, dW, db
+ return dX, dh * (1 - H[0] ** 2), dU, dW, db
""")


# --- numerical_gradient


@named
def quadratic_form(A: np.ndarray, b: np.ndarray) -> Callable[[Any], float]:
    """f(x) = x A x + b x, of all entries of x: large off its diagonal, so that entries do not stand alone."""

    def f(x: Any) -> float:
        flat = np.asarray(x).reshape(-1)
        return float(flat @ A @ flat + b @ flat)

    return f


@named
def cubic(a: np.ndarray, b: np.ndarray) -> Callable[[Any], float]:
    """f(x) = (a x)³ / 3 + b x², bent enough that one-sided differences, and another eps, are seen."""

    def f(x: Any) -> float:
        flat = np.asarray(x).reshape(-1)
        return float((a @ flat) ** 3 / 3 + b @ flat**2)

    return f


@named
def rows(a: np.ndarray) -> Callable[[Any], float]:
    """f(x) = |x a|² of x (N, D) and a (D,), as it is: f is called with arrays of the shape of x."""

    def f(x: Any) -> float:
        return float(np.sum((np.asarray(x) @ a) ** 2))

    return f


@named
def wave(a: np.ndarray, b: np.ndarray) -> Callable[[Any], float]:
    """f(x) = sin(a x) + b x² over all entries of x."""

    def f(x: Any) -> float:
        flat = np.asarray(x).reshape(-1)
        return float(np.sin(a @ flat) + b @ flat**2)

    return f


def curvature(rng: np.random.Generator, size: int) -> np.ndarray:
    """Draw `size` numbers from 5 to 15, of either sign."""
    return rng.uniform(5, 15, size) * rng.choice([-1, 1], size)


ex = unit.exercise(
    "numerical_gradient",
    points=3,
    takes="f, x (), eps",
    gives="gradient ()",
    ends={"eps": "none"},
    hints=(
        "One entry at a time: move it up a little, then down a little, all others as they were, and see how much "
        "f changes.",
        "`np.ndindex(x.shape)` goes through all indices of an array of any shape, and `x.copy()` is an array "
        "that you may write to.",
        "In the loop: `above, below = x.copy(), x.copy()`, `above[i] += eps`, `below[i] -= eps`, "
        "`gradient[i] = (f(above) - f(below)) / (2 * eps)`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    some = normal(rng, 4) * (np.arange(4) != rng.integers(4))  # one is 0
    yield case(quadratic_form(A=rng.uniform(5, 15, (4, 4)), b=normal(rng, 4)), some)
    yield case(wave(a=rng.uniform(2, 4, 6), b=curvature(rng, 6)), normal(rng, 2, 3))
    yield case(cubic(a=rng.uniform(1, 2, 6), b=curvature(rng, 6)), normal(rng, 3, 2), 0.1)
    yield edge("three axes", quadratic_form(A=rng.uniform(5, 15, (12, 12)), b=normal(rng, 12)), normal(rng, 2, 3, 2))
    yield edge("no axes", cubic(a=rng.uniform(1, 2, 1), b=curvature(rng, 1)), np.asarray(rng.uniform(1, 2)))
    yield edge("f looks at the rows of x", rows(a=curvature(rng, 3)), normal(rng, 2, 3))
    yield edge("one entry", cubic(a=rng.uniform(1, 2, 1), b=curvature(rng, 1)), normal(rng, 1, 1), 0.01)


ex.mistakes(r"""
forward_difference: You look to one side only, (f(x + eps) - f(x)) / eps. That is off by about eps; from both sides,
  (f(x + eps) - f(x - eps)) / (2 eps), by eps² only.
- gradient[i] = (f(above) - f(below)) / (2 * eps)
+ gradient[i] = (f(above) - f(x)) / eps

backward_difference: You look to one side only, (f(x) - f(x - eps)) / eps. Go eps to either side: (f(x + eps) - f(x -
  eps)) / (2 eps).
- gradient[i] = (f(above) - f(below)) / (2 * eps)
+ gradient[i] = (f(x) - f(below)) / eps

twice_too_large: Every entry is twice too large: from x - eps to x + eps is a distance of 2 eps, so divide by that.
- gradient[i] = (f(above) - f(below)) / (2 * eps)
+ gradient[i] = (f(above) - f(below)) / eps

all_moved_at_once: You move all entries at once, so that you get a single number, the sum of the gradient. Move one
  entry at a time and leave the others where they are.
+ return np.full_like(x, (f(x + eps) - f(x - eps)) / (2 * eps))

rows_moved_at_once: A whole row of x moves at once, so that its entries all get the row's sum. Move one entry at a time:
  `np.ndindex(x.shape)` runs over all of them.
- for i in np.ndindex(x.shape):
+ for i in range(len(x)):

not_moved_back: An entry that was moved stays moved while the next ones are looked at. Start from a fresh copy of x for
  each entry.
+ gradient, moved = np.zeros_like(x), x.copy()
+ for i in np.ndindex(x.shape):
+     moved[i] += eps
+     above = f(moved)
+     moved[i] -= 2 * eps
+     gradient[i] = (above - f(moved)) / (2 * eps)
+ return gradient

x_written_to: You move the entries of x itself. Even if each is put back, x is wrong for a while, and rounding may leave
  it changed for good: move a copy.
+ gradient = np.zeros_like(x)
+ for i in np.ndindex(x.shape):
+     x[i] += eps
+     above = f(x)
+     x[i] -= 2 * eps
+     below = f(x)
+     x[i] += eps
+     gradient[i] = (above - below) / (2 * eps)
+ return gradient

downhill: The sign is wrong: it is f above minus f below, so that the gradient points uphill.
- gradient[i] = (f(above) - f(below)) / (2 * eps)
+ gradient[i] = (f(below) - f(above)) / (2 * eps)

eps_not_used: The eps that was given has no effect. Move each entry by eps, and divide by 2 eps.
- gradient = np.zeros_like(x)
+ gradient = np.zeros_like(x)
+ eps = 1e-5

multiplied_by_eps: You multiply by eps. The difference is that over a distance of 2 eps: divide by it. (`a / 2 * eps` is
  `(a / 2) * eps`.)
- gradient[i] = (f(above) - f(below)) / (2 * eps)
+ gradient[i] = (f(above) - f(below)) / 2 * eps

left_in_one_row: Your numbers are right, but the gradient comes back in one long row. It has the shape of x: reshape it.
- return gradient
+ return gradient.ravel()
""")


# --- find_broken

KINDS = (
    "next step ignored",
    "own output ignored",
    "overwritten",
    "dW from h_t",
    "W not transposed",
    "no tanh",
    "slope at h_prev",
    "time forwards",
    "db averaged",
    "dU averaged",
    "dh0 zero",
    "h0 as zero",
    "dX without tanh",
)
RARER = "dW transposed", "one step back only", "dH of the step before", "dX cut above", "dX cut below"
PEOPLE = (
    "ada",
    "alan",
    "barbara",
    "charles",
    "donald",
    "edsger",
    "emmy",
    "grace",
    "kurt",
    "margaret",
    "niklaus",
    "radia",
)


@named
def backward_pass(kind: str) -> Callable[..., tuple[np.ndarray, ...]]:
    """`rnn_backward`, with one mistake of the kind that is named, or with none: "loop" and "sums" are two right
    ones.
    """

    def backward(dH: Any, X: Any, h0: Any, H: Any, U: Any, W: Any) -> tuple[np.ndarray, ...]:
        T, N, _ = H.shape
        dX, dh = np.zeros_like(X), np.zeros_like(h0)
        dU, dW, db = np.zeros_like(U), np.zeros_like(W), np.zeros_like(W[0])
        for t in range(T) if kind == "time forwards" else reversed(range(T)):
            h_prev = H[t - 1] if t else h0
            if kind == "next step ignored":
                dh = dH[t]
            elif kind == "one step back only" and t < T - 1:
                dh = dH[t] + dH[t + 1] * (1 - H[t + 1] ** 2) @ W.T
            elif kind != "own output ignored" or t == T - 1:
                dh = dH[t - (kind == "dH of the step before")] + dh
            slope = 1 - (h_prev if kind == "slope at h_prev" else H[t]) ** 2
            da = dh if kind == "no tanh" else dh * slope
            dX[t] = (dh if kind == "dX without tanh" else da) @ U.T
            dh = da @ (W if kind == "W not transposed" else W.T)
            if kind == "h0 as zero" and t == 0:
                h_prev = np.zeros_like(h0)
            kept = 0 if kind == "overwritten" else 1
            dU = kept * dU + X[t].T @ da / (N if kind == "dU averaged" else 1)
            dW_t = (H[t] if kind == "dW from h_t" else h_prev).T @ da
            dW = kept * dW + (dW_t.T if kind == "dW transposed" else dW_t)
            db = kept * db + da.sum(axis=0) / (N if kind == "db averaged" else 1)
        if kind.startswith("dX cut"):  # what is wrong is too small everywhere, or too large
            dX = (np.minimum if kind == "dX cut above" else np.maximum)(dX, dX.mean())
        return dX, np.zeros_like(h0) if kind == "dh0 zero" else dh, dU, dW, db

    def with_sums(dH: Any, X: Any, h0: Any, H: Any, U: Any, W: Any) -> tuple[np.ndarray, ...]:
        dA, from_later = np.empty_like(H), np.zeros_like(h0)
        for t in range(len(H) - 1, -1, -1):
            dA[t] = (dH[t] + from_later) * (1 - H[t] * H[t])
            from_later = np.dot(dA[t], W.T)
        before = np.concatenate([h0[None], H[:-1]])
        dU, dW = np.einsum("tnd,tnh->dh", X, dA), np.einsum("tnk,tnh->kh", before, dA)
        return dA @ U.T, from_later, dU, dW, dA.sum(axis=(0, 1))

    return with_sums if kind == "sums" else backward


def people(rng: np.random.Generator, kinds: list[str]) -> dict[str, Named]:
    """Give each backward pass the name of somebody, in an order that tells nothing."""
    names = rng.permutation(PEOPLE)[: len(kinds)].tolist()
    return {n: backward_pass(kind=kind) for n, kind in zip(names, rng.permutation(kinds).tolist(), strict=True)}


ex = unit.exercise(
    "find_broken",
    points=4,
    takes="backwards",
    gives="broken",
    uses=(bptt.numerical_gradient, bptt.rnn_backward, bptt.rnn_step_backward),
    hints=(
        "You need a loss whose gradient with respect to the states you know. "
        "The sum of dH * H is one: its gradient with respect to H is dH, whatever dH you draw.",
        "Draw X, h0, U, W, b, dH once, with T, N, D, H all different, at least 2, and h0 not zero. "
        "For each of X, h0, U, W, b take the `numerical_gradient` of `(dH * rnn_forward(X, h0, U, W, b)).sum()`.",
        "A backward pass is broken if any of its five gradients fails `np.allclose(its, numerical, atol=1e-6)`. "
        "For W: `numerical_gradient(lambda W: (dH * rnn_forward(X, h0, U, W, b)).sum(), W)`; four more like it.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    kinds = rng.permutation([*KINDS, *RARER]).tolist()
    yield case(people(rng, ["loop", "sums", *kinds[:9]]))
    yield case(people(rng, ["loop", "sums", "loop", *kinds[9:]]))
    # The majority makes one mistake: who compares them with each other takes it for the truth.
    yield edge("several make the same mistake", people(rng, ["loop", *kinds[:1] * 3, "sums"]))
    yield edge("none is broken", people(rng, ["loop", "sums"]))
    yield edge("all are broken", people(rng, kinds[:4]))
    yield edge("nobody is there", {})


ex.mistakes(r"""
the_right_ones: You name those that are right. The broken ones are asked for, those that differ from the numerical
  gradients.
- if not all(np.allclose(g, n, rtol=1e-5, atol=1e-6) for g, n in zip(gradients, numerical)):
+ if all(np.allclose(g, n, rtol=1e-5, atol=1e-6) for g, n in zip(gradients, numerical)):

everybody_passes: You let everybody pass. A broken gradient has the right shape, raises nothing, and often makes the
  loss fall: compare its numbers with numerical gradients, and let the outcome decide.
- if not all(np.allclose(g, n, rtol=1e-5, atol=1e-6) for g, n in zip(gradients, numerical)):
+ if not all(g.shape == n.shape for g, n in zip(gradients, numerical)):

nothing_agrees_exactly: You call everybody broken. A numerical gradient is never right to the last digit: compare with a
  tolerance, `np.allclose`, and make sure that its loss is the one that your H and dH belong to.
- if not all(np.allclose(g, n, rtol=1e-5, atol=1e-6) for g, n in zip(gradients, numerical)):
+ if not all(np.array_equal(g, n) for g, n in zip(gradients, numerical)):

only_dW_compared: Only a wrong dW is caught. Some passes have their mistake in dX, dh0, dU or db: compare all five.
- if not all(np.allclose(g, n, rtol=1e-5, atol=1e-6) for g, n in zip(gradients, numerical)):
+ if not np.allclose(gradients[3], numerical[3], rtol=1e-5, atol=1e-6):

only_parameters_compared: A wrong dX or dh0 is not caught. They are gradients as dU, dW and db are: a layer below, or
  the step before, would learn from them.
- if not all(np.allclose(g, n, rtol=1e-5, atol=1e-6) for g, n in zip(gradients, numerical)):
+ if not all(np.allclose(g, n, rtol=1e-5, atol=1e-6) for g, n in zip(gradients[2:], numerical[2:])):

tried_with_h0_zero: A pass that forgets h0 in dW is not caught. If h0 is zero, its part of dW is 0 anyway: draw h0.
- dH = rng.normal(size=(5, 3, 4))
+ dH = rng.normal(size=(5, 3, 4))
+ arguments[1] = np.zeros((3, 4))

stops_at_the_first: You return with the first pass that is wrong, and look at no other. Several may be: collect their
  names, and return the set when the loop has ended.
- broken.add(name)
+ return {name}

tried_with_one_row: A pass that averages over the batch is not caught. The mean over one row is its sum: try them with N
  of at least 2.
- shapes = (5, 3, 2), (3, 4), (2, 4), (4, 4), (4,)
+ shapes = (5, 1, 2), (1, 4), (2, 4), (4, 4), (4,)
- dH = rng.normal(size=(5, 3, 4))
+ dH = rng.normal(size=(5, 1, 4))

tried_with_one_step: A pass that goes wrong on its way from step to step is not caught. With one step there is no such
  way: try them with T of at least 3.
- shapes = (5, 3, 2), (3, 4), (2, 4), (4, 4), (4,)
+ shapes = (1, 3, 2), (3, 4), (2, 4), (4, 4), (4,)
- dH = rng.normal(size=(5, 3, 4))
+ dH = rng.normal(size=(1, 3, 4))

tried_with_two_steps: A pass that lets an error go back one step and no further is not caught. With two steps there is
  no further: try them with T of at least 3.
- shapes = (5, 3, 2), (3, 4), (2, 4), (4, 4), (4,)
+ shapes = (2, 3, 2), (3, 4), (2, 4), (4, 4), (4,)
- dH = rng.normal(size=(5, 3, 4))
+ dH = rng.normal(size=(2, 3, 4))

tried_with_one_error_for_all: A pass that takes the error of another step is not caught. If dH is the same everywhere,
  as that of `H.sum()` is, nobody sees which one is taken: draw it.
- dH = rng.normal(size=(5, 3, 4))
+ dH = np.ones((5, 3, 4))

sums_compared: A dW that is transposed is not caught: its sum is right, and so are its mean and its norm. Compare entry
  by entry, with `np.allclose`.
- if not all(np.allclose(g, n, rtol=1e-5, atol=1e-6) for g, n in zip(gradients, numerical)):
+ if not all(np.isclose(g.sum(), n.sum(), rtol=1e-5, atol=1e-6) for g, n in zip(gradients, numerical)):

tried_with_the_last_error_only: A pass that forgets the errors of all outputs but the last is not caught. Draw dH at
  every step.
- dH = rng.normal(size=(5, 3, 4))
+ dH = rng.normal(size=(5, 3, 4))
+ dH[:-1] = 0

dh0_not_compared: A wrong dh0 is not caught. It is a gradient as the others are: the step before, or what made h0, would
  learn from it.
- if not all(np.allclose(g, n, rtol=1e-5, atol=1e-6) for g, n in zip(gradients, numerical)):
+ if not all(np.allclose(gradients[i], numerical[i], rtol=1e-5, atol=1e-6) for i in (0, 2, 3, 4)):
""")


ex = unit.exercise(
    "recurrent_gradient_by_lag",
    points=4,
    takes="dH (T, N, H), X (T, N, D), h0 (N, H), H (T, N, H), U (D, H), W (H, H)",
    gives="parts (k, H, H)",
    uses=(bptt.rnn_step_backward, bptt.rnn_backward),
    hints=(
        "Follow one output's error at a time. Start with dH[t] at step t, alone, and walk back to the first "
        "step; do not let other errors join.",
        "The error of output t, when it has arrived at step s, gives a part of dW, as in `rnn_step_backward`. "
        "That part belongs to lag t - s.",
        "Two loops: for each t, `dh = dH[t]`; for s from t down to 0, one `rnn_step_backward` at step s; add its "
        "dW to `parts[t - s]` and go on with its dh_prev.",
    ),
)
ex.draws(passed_through)

ex.mistakes(r"""
sorted_by_step: Your parts are sorted by the step in which W was used. They should be sorted by how far the error has
  come: from output t to step s is a lag of t - s.
- parts[t - s] += dW
+ parts[s] += dW

sorted_by_output: Your parts are sorted by the output that the error came from. They should be sorted by how far it has
  come: from output t to step s is a lag of t - s.
- parts[t - s] += dW
+ parts[t] += dW

lags_added_up: Entry k holds all lags up to k. Each lag has an entry of its own, so that their sum is dW.
- return parts
+ return np.cumsum(parts, axis=0)

longest_first: Your order is reversed: entry 0 is the shortest way, from an output to W as used in the same step.
- parts[t - s] += dW
+ parts[len(H) - 1 - (t - s)] += dW

lag_zero_left_out: Lag 0 is missing, and every other lag stands one place too early. The error of output t meets W in
  step t itself: that is lag 0.
- parts[t - s] += dW
+ if s < t:
+     parts[t - s - 1] += dW

errors_joined: On its way back, an error is joined by those of the outputs that it passes, which are then counted again.
  Follow one output's error alone.
- error = dH[t]
+ error = np.zeros_like(h0)
- _, error, _, dW, _ = rnn_step_backward(error, X[s], h_prev, H[s], U, W)
+ _, error, _, dW, _ = rnn_step_backward(dH[s] + error, X[s], h_prev, H[s], U, W)

averaged_per_lag: Each entry is a mean over the pairs of steps that are k apart. Their sum is asked for: only then do
  the parts add up to dW.
- parts[t - s] += dW
+ parts[t - s] += dW / (len(H) - (t - s))

slopes_on_the_way_missing: The error passes one tanh, that of the step where it ends. On its way it passes that of every
  step: at each it is multiplied by 1 - h² and then by Wᵀ.
- _, error, _, dW, _ = rnn_step_backward(error, X[s], h_prev, H[s], U, W)
+ _, _, _, dW, _ = rnn_step_backward(error, X[s], h_prev, H[s], U, W)
+ error = error @ W.T

through_W_itself: From step to step the error goes back through the transpose of W; you take W itself.
- _, error, _, dW, _ = rnn_step_backward(error, X[s], h_prev, H[s], U, W)
+ _, error, _, dW, _ = rnn_step_backward(error, X[s], h_prev, H[s], U, W.T)

first_step_without_h0: The first step's use of W is left out. There it was h0 that met W, and h0 is not zero.
- for s in reversed(range(t + 1)):
+ for s in reversed(range(1, t + 1)):

last_pair_only: Each lag holds what one pair of output and step gave, the last. Many pairs are k steps apart, and each
  adds its part: `+=`, not `=`.
- parts[t - s] += dW
+ parts[t - s] = dW

lags_added_up_on_the_way = lags_added_up
+ parts, before = np.zeros((len(H), *W.shape), dtype=W.dtype), [h0, *H]
+ for t in range(len(H)):
+     error, so_far = dH[t], 0
+     for s in reversed(range(t + 1)):
+         _, error, _, dW, _ = rnn_step_backward(error, X[s], before[s], H[s], U, W)
+         so_far = so_far + dW
+         parts[t - s] += so_far
+ return parts

slope_of_the_output_alone: On its way back the error never passes the tanh of an earlier step: the only slope that you
  take is that of the step it comes from. At each step it is multiplied by that step's 1 - h² and then by Wᵀ.
- error = dH[t]
+ error = dH[t] * (1 - H[t] ** 2)
- _, error, _, dW, _ = rnn_step_backward(error, X[s], h_prev, H[s], U, W)
+ dW, error = h_prev.T @ error, error @ W.T

slope_of_the_output_again = slope_of_the_output_alone
- _, error, _, dW, _ = rnn_step_backward(error, X[s], h_prev, H[s], U, W)
+ _, error, _, dW, _ = rnn_step_backward(error, X[s], h_prev, H[t], U, W)

wrong_end_cut: Of the errors that have gone back one step you drop the last, and so each one stays at the step that it
  has just left. It is the first that has nowhere to go: keep `error[1:]`, not `error[:-1]`.
+ before, error, parts = np.concatenate([h0[None], H[:-1]]), dH, []
+ for k in range(len(H)):
+     da = error * (1 - H[: len(H) - k] ** 2)
+     parts.append(np.einsum("tnh,tnk->hk", before[: len(H) - k], da))
+     error = (da @ W.T)[:-1]
+ return np.stack(parts)

new_state_for_old: Each error meets the state of its own step, H[s]. What was multiplied by W in step s is the state
  before, H[s - 1], and h0 in the first step.
- h_prev = H[s - 1] if s > 0 else h0
+ h_prev = H[s]

first_step_missed_by_later_outputs: No error of a later output reaches the first step: your walk back stops one step
  before it. In that step W met h0: go on down to s = 0.
- for s in reversed(range(t + 1)):
+ for s in reversed(range(min(t, 1), t + 1)):

index_wraps_round: At the first step the last state is taken for the state before, as `H[s - 1]` does for s = 0: there
  it is `H[-1]`. The state before the first step is h0.
- h_prev = H[s - 1] if s > 0 else h0
+ h_prev = H[s - 1]
""")


ex = unit.exercise(
    "rtrl",
    points=3,
    takes="X (T, N, D), h0 (N, H), U (D, H), W (H, H), b (H,), dH (T, N, H)",
    gives="dU (D, H), dW (H, H), db (H,)",
    hints=(
        "One loop over the steps, from the first to the last. Two things go along with it: the state h, and the "
        "sensitivity S, which is zero at the start, since h0 hangs on no parameter.",
        "With v = [x, h, 1], (N, D + H + 1), made before h is renewed, and S of shape (N, H, D + H + 1, H): first "
        "`S = np.einsum('nmik,mj->njik', S, W)`, then add v[n, i] at every S[n, j, i, j], then multiply by the slope "
        "of the new h. What the step gives to the gradient is the sum over n and j of dh[n, j] S[n, j].",
        "`S[:, units, :, units] += v` with `units = np.arange(H)` adds the direct part, `S *= (1 - h**2)[:, :, None, "
        "None]` the slope, `total += np.einsum('nj,njik->ik', dh, S)` the gradient; at the end `total[:D]`, "
        "`total[D:-1]`, `total[-1]`.",
    ),
)
ex.draws()

ex.mistakes(r"""
sensitivity_not_carried: Each step starts from a sensitivity of zero: you get what each output owes to its own step, and
  nothing of what came through the state before.
- S = np.einsum("nmik,mj->njik", S, W)
+ S = np.zeros_like(S)

direct_part_missing: Everything is zero: nothing is ever added to the sensitivity, or to the gradient. In each step
  every parameter acts directly, as often as v says, and what the step gives is added up.
- S[:, units, :, units] += v

slope_missing: The slope of the tanh is missing. What reaches a_t reaches h_t times 1 - h_t².
- S *= (1 - h**2)[:, :, None, None]

slope_before_the_direct_part: The slope is put on what came from before only. The direct part goes through the same
  tanh: add first, then multiply.
- S = np.einsum("nmik,mj->njik", S, W)
+ S = np.einsum("nmik,mj->njik", S, W) * (1 - h**2)[:, :, None, None]
- S *= (1 - h**2)[:, :, None, None]

slope_of_the_old_state: You take the slope of the state before, 1 - h_{t-1}². The tanh of step t made h_t.
- h = rnn_step(x, h, U, W, b)
+ old, h = h, rnn_step(x, h, U, W, b)
- S *= (1 - h**2)[:, :, None, None]
+ S *= (1 - old**2)[:, :, None, None]

through_the_transpose: From step to step the sensitivity goes forwards, through W itself: unit m of the old state enters
  unit j with W[m, j]. You have W[j, m]; the transpose belongs to the way back.
- S = np.einsum("nmik,mj->njik", S, W)
+ S = np.einsum("nmik,jm->njik", S, W)

new_state_for_old: v holds the new state. What was multiplied by W in step t is h_{t-1}: make v before h is renewed.
- v = np.concatenate([x, h, np.ones((N, 1))], axis=1)
- h = rnn_step(x, h, U, W, b)
+ h = rnn_step(x, h, U, W, b)
+ v = np.concatenate([x, h, np.ones((N, 1))], axis=1)

starts_from_zeros: Your run starts from zeros: h0 is not used.
- theta, h, units = np.concatenate([U, W, b[None]]), h0, np.arange(H)
+ theta, h, units = np.concatenate([U, W, b[None]]), np.zeros_like(h0), np.arange(H)

last_error_only: Only the error of the last step is used. Each step has its own, dH[t]: add what it gives as you go.
- total += np.einsum("nj,njik->ik", dh, S)
+ total = np.einsum("nj,njik->ik", dh, S)

errors_gathered: You add up the errors on the way, and so count the early ones at every later step again. Here no error
  travels: each meets the sensitivity of its own step, once.
- total += np.einsum("nj,njik->ik", dh, S)
+ total += np.einsum("nj,njik->ik", dH[: len(seen)].sum(axis=0), S)
- for x, dh in zip(X, dH):
+ seen = []
+ for x, dh in zip(X, dH):
+     seen.append(x)

averaged_over_rows: Your gradients are means over the rows. What is used by every row gets the sum; the 1/N of the loss
  is in dH already.
- total += np.einsum("nj,njik->ik", dh, S)
+ total += np.einsum("nj,njik->ik", dh, S) / N

gradient_before_the_sensitivity: Each error meets the sensitivity of the step before. dh[t] is the error of the new
  state: bring S up to date first, then add what the step gives.
- total += np.einsum("nj,njik->ik", dh, S)

- S = np.einsum("nmik,mj->njik", S, W)
+ total += np.einsum("nj,njik->ik", dh, S)
+ S = np.einsum("nmik,mj->njik", S, W)

direct_part_for_all: The direct part takes the place of what has come through the state, `=`. What a parameter does in
  this step is added to what it did before: `+=`.
- S[:, units, :, units] += v
+ S[:, units, :, units] = v

slope_of_the_direct_part_only: The slope is put on the direct part only. What came through the old state goes through
  the same tanh: add first, then multiply.
- S[:, units, :, units] += v
- S *= (1 - h**2)[:, :, None, None]
+ S[:, units, :, units] += (1 - h**2).T[:, :, None] * v
""")
