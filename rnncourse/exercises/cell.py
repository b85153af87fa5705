"""Unit 03: the recurrent cell. Its exercises, their cases, hints and misconceptions."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rnncourse import cell
from rnncourse.checks.drive import methods
from rnncourse.checks.exercise import Case, Draw, Option, Unit, case, cell_weights, edge, normal, weights
from rnncourse.checks.plain import Plain

unit = Unit("03_cell", "The recurrent cell", cell)

ex = unit.exercise(
    "hidden_layer",
    points=1,
    takes="x (N, D), W_xh (D, H), b_h (H,)",
    gives="h (N, H)",
    ends={"x": "whole"},
    hints=(
        "Each row of x becomes one row of the result. Which product takes (N, D) and (D, H) to (N, H)?",
        "First the weighted sum with its bias, `x @ W_xh + b_h`. NumPy adds b_h to every row by itself.",
        "Bend the whole sum: `np.tanh(x @ W_xh + b_h)`.",
    ),
)
ex.draws()


ex.mistakes(r"""
no_nonlinearity: What you return has not been through the tanh: it is the sum that goes into it.
+ return x @ W_xh + b_h

bias_outside: The bias stands outside the tanh. Add it to the sum first, then take the tanh: the result must stay
  between -1 and 1.
+ return np.tanh(x @ W_xh) + b_h

bias_for_each_input: The bias is added once for each entry of the input. It belongs to the sum once: add it when the
  inputs are summed up.
+ return np.tanh(x @ W_xh + x.shape[1] * b_h)

bias_forgotten: The bias b_h is missing from the sum.
+ return np.tanh(x @ W_xh)

sigmoid_for_tanh: The sum goes through a sigmoid, which lies between 0 and 1. This layer takes the tanh, between -1 and
  1.
+ return 1 / (1 + np.exp(-(x @ W_xh + b_h)))

relu_for_tanh: The sum goes through a ReLU: negative sums became 0. This layer takes the tanh, which keeps their sign.
+ return np.maximum(0, x @ W_xh + b_h)

tanh_of_the_input: The tanh is taken of x, before the product. It comes last: it bends the sum that the layer has made.
+ return np.tanh(x) @ W_xh + b_h

tanh_of_each_term: The tanh is taken of product and bias one by one. Add them first, then take one tanh of the sum.
+ return np.tanh(x @ W_xh) + np.tanh(b_h)

matrix_on_the_left: Some shapes do not fit. Inputs are rows here, so the matrix stands on the right: (N, D) @ (D, H) is
  (N, H).
+ return np.tanh(W_xh @ x + b_h)
""")


ex = unit.exercise(
    "rnn_step",
    points=3,
    takes="x (N, D), h_prev (N, H), U (D, H), W (H, H), b (H,)",
    gives="h (N, H)",
    uses=(cell.hidden_layer,),
    forbids=("torch",),
    hints=(
        "Two things flow into the new state: the input of this step and the state of the last one. Each goes "
        "through its own matrix.",
        "With row vectors the matrix stands on the right: (N, D) @ (D, H) is (N, H). Add both products and "
        "the bias, then bend.",
        "`np.tanh(x @ U + h_prev @ W + b)`: the bias is inside.",
    ),
)
ex.draws(H=(5, 6, 4))

ex.mistakes(r"""
state_ignored: The old state has no say: your new state does not depend on h_prev. Without `h_prev @ W` this is a plain
  hidden layer.
+ return np.tanh(x @ U + b)

bias_outside: The bias stands outside the tanh. It is added before the tanh is taken, so that every state stays between
  -1 and 1.
+ return np.tanh(x @ U + h_prev @ W) + b

tanh_of_each_term: The tanh is taken of each term on its own. Add input, state and bias first, then take one tanh of the
  sum.
+ return np.tanh(x @ U) + np.tanh(h_prev @ W) + b

state_outside: What comes from the old state is added after the tanh. It belongs inside, in the sum, or the state can
  grow from step to step.
+ return np.tanh(x @ U + b) + h_prev @ W

state_without_weights: The old state is added as it is: W is not used. `h_prev @ W` says how each old unit acts on each
  new one.
+ return np.tanh(x @ U + h_prev + b)

recurrent_matrix_transposed: W is transposed. For row vectors it is `h_prev @ W`. Other books write W h for columns, but
  their W is the transpose of ours.
+ return np.tanh(x @ U + h_prev @ W.T + b)

no_nonlinearity: What you return has not been through the tanh: it is the sum that goes into it.
+ return x @ U + h_prev @ W + b

sigmoid_for_tanh: The sum goes through a sigmoid, which lies between 0 and 1. This cell takes the tanh, between -1 and
  1.
+ return 1 / (1 + np.exp(-(x @ U + h_prev @ W + b)))

bias_forgotten: The bias b has no part in your answer.
+ return np.tanh(x @ U + h_prev @ W)

matrices_on_the_left: Some shapes do not fit. Inputs and states are rows here: `x @ U` is (N, D) @ (D, H), `h_prev @ W`
  is (N, H) @ (H, H), and both are (N, H). The forms U x and W h are for columns.
+ return np.tanh(U @ x + W @ h_prev + b)

each_unit_by_itself: Of the old state, each unit has a say in its own new value alone. In the product `h_prev @ W` every
  unit of the new state hears every unit of the old one.
+ return np.tanh(x @ U + h_prev * np.diag(W) + b)

each_unit_by_the_sum_of_a_column = each_unit_by_itself
+ return np.tanh(x @ U + h_prev * W.sum(axis=0) + b)

input_through_its_own_tanh: What comes from the input goes through a tanh of its own before the state is added. There is
  one tanh, of the whole sum.
+ return np.tanh(np.tanh(x @ U + b) + h_prev @ W)
""")


ex = unit.exercise(
    "rnn_step_concat",
    points=2,
    takes="x (N, D), h_prev (N, H), UW (D+H, H), b (H,)",
    gives="h (N, H)",
    uses=(cell.hidden_layer, cell.rnn_step),
    forbids=("torch",),
    ends={"x": "whole"},
    hints=(
        "The first D rows of UW wait for the entries of x, the last H rows for those of h_prev. Put the two "
        "side by side in that order.",
        "`np.concatenate` joins along the first axis unless told otherwise. Here each row of x goes on with "
        "the same row of h_prev: axis=1.",
        "`np.tanh(np.concatenate([x, h_prev], axis=1) @ UW + b)`",
    ),
)
ex.draws()

ex.mistakes(r"""
state_before_input: The two halves are in the wrong order: U is on top in UW, so x comes first, then h_prev. The shapes
  fit either way, the numbers do not.
+ return np.tanh(np.concatenate([h_prev, x], axis=1) @ UW + b)

rows_mixed: The rows of the batch are mixed: a reshape cuts a flat list anew, it does not set row n of h_prev beside row
  n of x. Join along axis 1.
+ return np.tanh(np.concatenate([x.ravel(), h_prev.ravel()]).reshape(len(x), -1) @ UW + b)

state_ignored: Only the upper part of UW is used: your new state does not depend on h_prev.
+ return np.tanh(x @ UW[: x.shape[1]] + b)

recurrent_matrix_transposed: The lower part of UW, which is W, is transposed. It is used as it stands: `h_prev @ W`.
+ return np.tanh(x @ UW[: x.shape[1]] + h_prev @ UW[x.shape[1] :].T + b)

tanh_of_each_term: The tanh is taken of both products on their own. Add them and the bias first, then take one tanh.
+ return np.tanh(x @ UW[: x.shape[1]]) + np.tanh(h_prev @ UW[x.shape[1] :]) + b

tanh_of_both = tanh_of_each_term
+ D = x.shape[1]
+ return np.tanh(x @ UW[:D]) + np.tanh(h_prev @ UW[D:] + b)

bias_outside: The bias stands outside the tanh. It is added before the tanh is taken.
+ return np.tanh(np.concatenate([x, h_prev], axis=1) @ UW) + b

bias_forgotten: The bias b has no part in your answer.
+ return np.tanh(np.concatenate([x, h_prev], axis=1) @ UW)

no_nonlinearity: What you return has not been through the tanh: it is the sum that goes into it.
+ return np.concatenate([x, h_prev], axis=1) @ UW + b

joined_below: h_prev is put below x, along axis 0. It belongs beside x, row by row: `np.concatenate([x, h_prev],
  axis=1)`, so that each row has D + H entries.
+ return np.tanh(np.concatenate([x, h_prev]) @ UW + b)

recurrent_rows_from_the_top: The old state is multiplied by the first H rows of UW. Those rows begin with U; W is what
  comes after the first D rows.
+ W = UW[: h_prev.shape[1]]
+ return np.tanh(x @ UW[: x.shape[1]] + h_prev @ W + b)
""")


ex = unit.exercise(
    "rnn_forward",
    points=4,
    takes="X (T, N, D), h0 (N, H), U (D, H), W (H, H), b (H,)",
    gives="H (T, N, H)",
    uses=(cell.hidden_layer, cell.rnn_step, cell.rnn_step_concat),
    forbids=("torch",),
    hints=(
        "Walk through time with one state in hand. Each step turns it into the next one, which you also keep.",
        "Start with `h = h0`. In a loop over `x in X`, replace h by `rnn_step(x, h, U, W, b)` and append it "
        "to a list. h0 itself is not in the result.",
        "`np.stack(states)` of the T states of shape (N, H) is (T, N, H).",
    ),
)
ex.draws()


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    _, *others = draw(N=2, D=4, H=3)
    yield edge("inputs of whole numbers, one-hot", np.eye(4, dtype=np.int64)[rng.integers(0, 4, (5, 2))], *others)


ex.mistakes(r"""
h0_replaced_by_zeros: Your states start from zeros: the h0 that was given is not used.
- h, states = h0, []
+ h, states = np.zeros_like(h0), []

h0_fed_at_every_step: Every step starts from the same state. Hand each step the state of the step before it: `h =
  rnn_step(x, h, …)`.
- h = rnn_step(x, h, U, W, b)
+ h = rnn_step(x, h0, U, W, b)

states_one_late: Your states are one step late: they begin with the start, and the last one, h_T, is missing. The result
  is h_1 to h_T.
- h = rnn_step(x, h, U, W, b)
- states.append(h)
+ states.append(h.copy())
+ h = rnn_step(x, h, U, W, b)

first_input_skipped: Your first state is the start itself, and X[0] is never read. The first state is h_1, made of X[0]
  and h0.
- h, states = h0, []
- for x in X:
+ h, states = h0, [h0.copy()]
+ for x in X[1:]:

one_array_for_all_states: All your states are the last one, as when each step writes into one array that is kept T
  times. Keep a new array at each step, or a copy.
- h, states = h0, []
+ h, states = h0.copy(), []
- h = rnn_step(x, h, U, W, b)
+ h[:] = rnn_step(x, h, U, W, b)

sequences_interleaved: The sequences of the batch are interleaved: a reshape of (N, T, H) into (T, N, H) cuts the
  numbers anew. To swap two axes, transpose; or stack along axis 0.
- return np.stack(states)
+ return np.stack(states, axis=1).reshape(len(X), len(h0), -1)

time_backwards: Time runs backwards: the last input is read first. Step t reads X[t], from t = 0 on.
- for x in X:
+ for x in X[::-1]:

recurrent_matrix_transposed: W is transposed, as in `W @ h`. For row vectors it is `h @ W`.
- h = rnn_step(x, h, U, W, b)
+ h = rnn_step(x, h, U, W.T, b)

state_ignored: Each state depends on its own input only: W and the state before have no say. This is a plain layer,
  applied at every step.
- h = rnn_step(x, h, U, W, b)
+ h = np.tanh(x @ U + b)

h0_in_front: Your states begin with the start, so that there is one too many. The first of the result is h_1, which has
  read `X[0]`.
- h, states = h0, []
+ h, states = h0, [h0]

on_through_the_batch: Each sequence but the first goes on where the one before it ended. Each has its own row of h0.
+ h, H = h0[:1], np.zeros((len(X), *h0.shape), dtype=h0.dtype)
+ for n in range(len(h0)):
+     for t in range(len(X)):
+         h = rnn_step(X[t, n : n + 1], h, U, W, b)
+         H[t, n] = h[0]
+ return H
""")


unit.choice(
    "quiz_rnn_facts",
    points=2,
    hints=(
        "For each statement, find the line of `rnn_forward` that speaks for it or against it.",
        "Does anything in `rnn_forward` ask what the vectors in X mean? Does any of U, W, b have an axis of length T?",
        "Three of the five hold. Count the parameters for T = 10 and for T = 1,000, and look at the shape of "
        "X once more.",
    ),
    options=Option.parse(r"""
A true, no_memory: The hidden state is the one thing that a step hands to the next: that is how the past gets to the
  present.
B false, text_only: An RNN reads any sequence of vectors: sound, weather, rows of an image, moves of a game.
C true, weights_per_step: W is the same matrix at every step; that is why one model serves every length.
D false, parameters_grow: The parameters are shared over time: their number depends on D, H and Q, never on T.
E true, input_is_flat: Time, sequence, feature: n sequences of T vectors of size D make an array (T, n, D).
"""),
)


ex = unit.exercise(
    "output_layer",
    points=1,
    takes="H (T, N, H), V (H, Q), c (Q,)",
    gives="O ()",
    hints=(
        "V contracts the last axis of H, the one over the hidden units. Every axis before it stays as it is.",
        "`@` with an array of three axes on the left treats the first one as a stack of matrices: (T, N, H) @ "
        "(H, Q) is (T, N, Q).",
        "`H @ V + c`, for two axes and for three; there is nothing after it.",
    ),
)
ex.draws()


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    H, V, c = draw()
    yield edge("states of one step, (N, H)", H[0], V, c)


ex.mistakes(r"""
bias_forgotten: The bias c has no part in your answer.
+ return H @ V

tanh_on_the_logits: There is a tanh on the output. Logits are plain sums: bent between -1 and 1, they could never say
  "very sure".
+ return np.tanh(H @ V + c)

softmax_on_the_logits: You return probabilities. This layer gives the logits o = h V + c; the softmax is a step of its
  own.
+ E = np.exp(H @ V + c)
+ return E / E.sum(axis=-1, keepdims=True)

sigmoid_on_the_logits: There is a sigmoid on the output. Logits are plain sums, of any size and sign.
+ return 1 / (1 + np.exp(-(H @ V + c)))

relu_on_the_logits: There is a ReLU on the output. Logits are plain sums, of any size and sign.
+ return np.maximum(0, H @ V + c)

states_bent_again: The tanh is taken of H once more. The states went through it when they were made; use them as they
  are.
+ return np.tanh(H) @ V + c

sequences_interleaved: The rows come out in another order than they went in: you flatten with two axes swapped and do
  not swap them back. `H @ V` needs neither.
+ rows = np.swapaxes(H, 0, -2).reshape(-1, H.shape[-1])
+ return (rows @ V + c).reshape(*H.shape[:-1], -1)

bias_added_to_V: c is added to V, and so it is multiplied by the states. Take the product first, and then add c to it.
+ return H @ (V + c)
""")


ex = unit.exercise(
    "softmax",
    points=3,
    takes="O ()",
    gives="Y ()",
    forbids=("torch", "scipy"),
    hints=(
        "e to the power 1000 is too large for a float. Which number can you subtract from all logits of a row "
        "without changing any quotient?",
        "Subtract each row's own largest logit, take exp, divide by the row's sum. A row runs along the last "
        "axis: axis=-1, and keepdims=True lets the shapes fit.",
        "`E = np.exp(O - O.max(axis=-1, keepdims=True))`, then `E / E.sum(axis=-1, keepdims=True)`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(normal(rng, 3, 5))
    yield case(normal(rng, 4, 3, 2))
    yield edge("one row, without further axes", normal(rng, 4))
    yield edge("four axes", normal(rng, 2, 3, 2, 4))
    yield edge("logits around 1000", normal(rng, 3, 4) + 1000)
    yield edge("logits around -1000", normal(rng, 3, 4) - 1000)
    yield edge("rows far apart", normal(rng, 3, 4) + np.array([[-900.0], [0.0], [900.0]]))
    impossible = normal(rng, 3, 4)
    impossible[0, 1] = impossible[1, 0] = impossible[1, 3] = -np.inf
    yield edge("-inf beside finite entries", impossible)
    yield edge("one output", normal(rng, 3, 1))
    yield edge("whole numbers", rng.permutation(np.arange(-3, 3)).reshape(2, 3))
    yield edge("float32", normal(rng, 2, 3, 4, dtype=np.float32))


@ex.holds("Each row sums to 1, up to rounding, and -inf gives 0, to the last digit")
def _(call: Callable[..., Any], rng: np.random.Generator) -> str | None:
    O = normal(rng, 5, 4)
    O[2, 3] = -np.inf
    Y = np.asarray(call(O))
    if Y[2, 3] != 0:
        return f"-inf gives {Y[2, 3]:.0e}"
    off = np.abs(Y.sum(axis=-1) - 1).max()
    return f"a row's sum is off by {off:.0e}, where float64 rounds at 1e-16" if off > 1e-13 else None


ex.mistakes(r"""
overflow: exp of a large logit overflows, and if all are very negative, every exp is 0: inf / inf and 0 / 0 are nan.
  Subtract each row's largest logit first, which changes no quotient.
+ return np.exp(O) / np.exp(O).sum(axis=-1, keepdims=True)

clipped: You cut off what lies beyond a bound, so that logits around 1000 all become the same. Subtract the largest
  logit of the row: that changes no quotient, however large they are.
- E = np.exp(O - O.max(axis=-1, keepdims=True))
+ E = np.exp(np.clip(O, -500, 500))

largest_of_all_rows: A row far below what you subtract vanishes: 0 / 0 is nan. Subtract from each row its own largest
  logit.
- E = np.exp(O - O.max(axis=-1, keepdims=True))
+ E = np.exp(O - O.max())

over_the_first_axis: Your probabilities sum to one along the first axis, over rows or steps. They must do so along the
  last, over the outputs.
+ E = np.exp(O - O.max(axis=0, keepdims=True))
+ return E / E.sum(axis=0, keepdims=True)

divided_by_the_first_axis: You divide the exponentials by their sum along the first axis, over rows or steps. A row is
  divided by its own sum, along the last.
- return E / E.sum(axis=-1, keepdims=True)
+ return E / E.sum(axis=0)

over_axis_one: You sum along axis 1. That is the last axis of (N, Q) but the batch of (T, N, Q); axis=-1 is right for
  both.
+ E = np.exp(O - O.max(axis=1, keepdims=True))
+ return E / E.sum(axis=1, keepdims=True)

over_everything: You divide by the sum over the whole array, so all rows together sum to one. Each row does so by
  itself: axis=-1, keepdims=True.
+ E = np.exp(O - O.max())
+ return E / E.sum()

without_exp: The logits themselves are divided by their sum. They can be negative: exp makes them positive first.
+ return O / O.sum(axis=-1, keepdims=True)

logarithm_of_it: You return the logarithms of the probabilities, not the probabilities.
+ shifted = O - O.max(axis=-1, keepdims=True)
+ return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))

sigmoid_of_each: Each logit goes through a sigmoid by itself, so that a row does not sum to one. Divide by the row's sum
  of exponentials.
+ return 1 / (1 + np.exp(-O))

sign_turned: The largest logit gets the smallest probability, as if each had the other sign. The exponent is o -
  largest.
- E = np.exp(O - O.max(axis=-1, keepdims=True))
+ E = np.exp(O.min(axis=-1, keepdims=True) - O)

one_for_the_largest: The largest logit gets all of the probability. That is an argmax; softmax gives every finite logit
  its share.
+ return (O.max(axis=-1, keepdims=True) == O).astype(float)

axis_dropped: Some shapes do not fit. `max` and `sum` along an axis drop that axis; with keepdims=True it stays, with
  size 1, and NumPy stretches it over the row.
+ E = np.exp(O - O.max(axis=-1))
+ return E / E.sum(axis=-1)

argument_overwritten: The probabilities are right, but you write into the array that you were given, as `O -= …` does,
  so the caller's logits are gone. `O - …` makes a new array.
- E = np.exp(O - O.max(axis=-1, keepdims=True))
+ O -= O.max(axis=-1, keepdims=True)
+ E = np.exp(O)
""")


ex = unit.exercise(
    "rnn_predict",
    points=2,
    takes="X (T, N, D), h0 (N, H), U (D, H), W (H, H), b (H,), V (H, Q), c (Q,)",
    gives="Y (T, N, Q), H (T, N, H)",
    uses=(cell.hidden_layer, cell.rnn_step, cell.rnn_step_concat, cell.rnn_forward, cell.output_layer, cell.softmax),
    forbids=("torch", "scipy"),
    ends={"X": "whole"},
    hints=(
        "You have all three parts already: they only need to be put one after the other.",
        "States from `rnn_forward`, logits from `output_layer`, probabilities from `softmax`. Return the "
        "probabilities first, then the states.",
        "`H = rnn_forward(X, h0, U, W, b)`, then `return softmax(output_layer(H, V, c)), H`.",
    ),
)
ex.draws()


ex.mistakes(r"""
logits_for_probabilities: The first thing that you return are logits. Y holds probabilities: the softmax is missing.
- return softmax(output_layer(H, V, c)), H
+ return output_layer(H, V, c), H

states_first: The two results are swapped: the probabilities Y come first, then the states H.
- return softmax(output_layer(H, V, c)), H
+ return H, softmax(output_layer(H, V, c))

last_state_only: You return the last state only. H holds all T of them, (T, N, H).
- return softmax(output_layer(H, V, c)), H
+ return softmax(output_layer(H, V, c)), H[-1]

output_from_the_state_before: Your outputs are one step late: y_t is read off h_{t-1}, which has not seen x_t yet. It is
  read off h_t.
- return softmax(output_layer(H, V, c)), H
+ return softmax(output_layer(np.concatenate([h0[None], H[:-1]]), V, c)), H

h0_replaced_by_zeros: Your states start from zeros: the h0 that was given is not used.
- H = rnn_forward(X, h0, U, W, b)
+ H = rnn_forward(X, np.zeros_like(h0), U, W, b)

softmax_over_the_batch: Your probabilities sum to one over the rows of the batch, axis 1. Each row is a prediction of
  its own: they sum to one over the outputs, the last axis.
- return softmax(output_layer(H, V, c)), H
+ return np.swapaxes(softmax(np.swapaxes(output_layer(H, V, c), 1, 2)), 1, 2), H

softmax_over_time: Your probabilities sum to one over time, axis 0. There is a prediction at each step: they sum to one
  over the outputs, the last axis.
- return softmax(output_layer(H, V, c)), H
+ return np.swapaxes(softmax(np.swapaxes(output_layer(H, V, c), 0, 2)), 0, 2), H

output_bias_forgotten: The bias c has no effect on Y. Each of the Q logits gets its own entry of c: `H @ V + c`.
- return softmax(output_layer(H, V, c)), H
+ return softmax(H @ V), H

tanh_on_the_logits: There is a tanh between output layer and softmax. The tanh makes states; logits enter the softmax as
  they are.
- return softmax(output_layer(H, V, c)), H
+ return softmax(np.tanh(output_layer(H, V, c))), H

one_softmax_for_all: Your probabilities sum to 1 over all steps and sequences together. There is a choice at each step
  of each sequence: sum along the last axis alone.
- return softmax(output_layer(H, V, c)), H
+ e = np.exp(output_layer(H, V, c))
+ return e / e.sum(), H
""")


quiz = unit.question(
    "quiz_output_size",
    answer=7,
    points=1,
    example="42",
    hints=(
        "What does the network say after each character: one thing, or how probable each possible thing is?",
        "There is one output for each *different* character that could come next. Is the space one of them?",
        "`len(set(text))` counts the different characters of a text.",
    ),
)
quiz.wrong(
    12,
    "length_for_vocabulary",
    "12 is the length of the text. Length is T; Q counts the different characters, of which the text repeats some.",
)
quiz.wrong(
    11,
    "predictions_for_vocabulary",
    "11 is the number of predictions that the text allows, one after each character but the last. How many "
    "outputs does each one need?",
)
quiz.wrong(
    6,
    "space_left_out",
    "Nearly: the space between the words is a character too, and must be predicted like any other.",
)
quiz.wrong(
    1,
    "one_output",
    "With one output the network could name no probabilities. A softmax over Q outputs gives each possible "
    "character its share.",
)
quiz.wrong(
    26,
    "whole_alphabet",
    "The vocabulary is what occurs in the text: characters that are never seen need no output, and the space "
    "needs one.",
)
quiz.wrong(
    100,
    "hidden_for_output",
    "100 is H, the size of the hidden state. V turns it into Q logits, one for each character of the vocabulary.",
)


ex = unit.exercise(
    "rnn_parameter_count",
    points=1,
    takes="D, H, Q",
    gives="count",
    hints=(
        "Write the shapes of U, W, b, V and c below one another. How many numbers are in each?",
        "A matrix (r, s) holds r * s numbers. Three matrices and two biases; the length T of a sequence is in "
        "none of the shapes.",
        "`D * H + H * H + H + H * Q + Q`",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    for _ in range(3):
        D, H, Q = (int(n) for n in rng.permutation(np.arange(2, 60))[:3])
        yield case(D, H, Q)
    yield case(300, 100, 10_000)
    yield edge("one of each", 1, 1, 1)


ex.mistakes(r"""
output_bias_forgotten: The output bias c is not counted: it has Q entries.
+ return D * H + H * H + H + H * Q

biases_forgotten: The biases are not counted: b has H entries, c has Q.
+ return D * H + H * H + H * Q

recurrent_matrix_forgotten: W is not counted: you have counted a network without a state. W adds H times H.
+ return D * H + H + H * Q + Q

second_recurrent_bias: Your count is too large by H. The cell has one bias b, with H entries (PyTorch has two), and the
  state itself is no parameter.
+ return D * H + H * H + 2 * H + H * Q + Q

output_reads_the_input: V is counted as D times Q, as if it read the input. It reads the state: H times Q.
+ return D * H + H * H + H + D * Q + Q

output_bias_of_the_units: The bias of the output is counted with H numbers. c is added to the outputs: it has Q.
+ return D * H + H * H + H + H * Q + H

equal_sizes_counted_once: Two arrays with equally many numbers are counted once, as a set keeps them. Each of the five
  counts: add them up one by one.
+ return sum({D * H, H * H, H, H * Q, Q})
""")


quiz = unit.question(
    "quiz_shapes",
    answer={"U": (300, 100), "V": (100, 10_000), "W": (100, 100)},
    points=1,
    example='{"U": (1, 2), "V": (3, 4), "W": (5, 6)}',
    hints=(
        "Each matrix stands between two things. What goes into it has as many entries as it has rows; what "
        "comes out, as it has columns.",
        "What enters the cell at one step is the word's embedding, not its number in the vocabulary. The "
        "vocabulary counts only where a word is predicted.",
        "U leads from embedding to hidden, W from hidden to hidden, V from hidden to vocabulary.",
    ),
)
quiz.wrong(
    {"U": (100, 300), "V": (10_000, 100), "W": (100, 100)},
    "column_form",
    (
        "These are the shapes for column vectors, U x, as other books have them. In this course rows stand on the "
        "left, x U: the rows of a matrix are what goes in."
    ),
)
quiz.wrong(
    {"U": (10_000, 100), "V": (100, 10_000), "W": (100, 100)},
    "embedding_left_out",
    (
        "Your U reads a one-hot word of 10,000 entries. Here the word has become an embedding before it reaches "
        "the cell: x_t has 300 entries."
    ),
)
quiz.wrong(
    {"U": (300, 100), "V": (100, 300), "W": (100, 100)},
    "embedding_predicted",
    (
        "Your V gives 300 outputs, an embedding. The network says how probable each word is, so there is one "
        "output for each word of the vocabulary."
    ),
)
quiz.wrong(
    {"U": (300, 100), "V": (300, 10_000), "W": (100, 100)},
    "output_reads_the_input",
    "Your V reads the embedding. It reads the hidden state, o_t = h_t V + c: as many rows as there are hidden units.",
)
quiz.wrong(
    {"U": (300, 100), "V": (100, 10_000), "W": (300, 100)},
    "recurrent_reads_the_input",
    "Your W reads the embedding. It reads the state before, h_{t-1} W: from hidden to hidden.",
)
quiz.wrong(
    {"U": (300, 100), "V": (100, 10_000), "W": (400, 100)},
    "stacked_matrix",
    "Your W is [U; W] stacked, as `rnn_step_concat` takes it. W alone leads from hidden to hidden.",
)


# --- to_torch_state


def one_bias(state: Plain) -> Plain:
    """The form in which two states are compared: the sum of PyTorch's two biases, and of each its shape and dtype."""
    first, second = np.asarray(state["bias_ih_l0"]), np.asarray(state["bias_hh_l0"])
    if first.dtype.kind not in "iuf" or second.dtype.kind not in "iuf":
        return state
    total = (first + second if first.shape == second.shape else first).astype(first.dtype)
    empty = {"bias_ih_l0": np.zeros_like(first), "bias_hh_l0": np.zeros_like(second)}
    return {**state, **empty, "bias_ih_l0 + bias_hh_l0": total}


ex = unit.exercise(
    "to_torch_state",
    points=3,
    takes="U (D, H), W (H, H), b (H,)",
    gives="state",
    canonical=one_bias,
    hints=(
        "PyTorch computes x A.T with A of shape (H, D). Which A makes this our x U? And is W, being square, exempt?",
        "Both matrices are transposed. PyTorch adds both of its biases, so together they must make b once. "
        "And `U.T` alone is a view: it shares U's memory.",
        (
            '`{"weight_ih_l0": U.T.copy(), "weight_hh_l0": W.T.copy(), "bias_ih_l0": b.copy(), "bias_hh_l0": '
            "np.zeros_like(b)}`"
        ),
    ),
)
ex.draws()


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield edge("one input", *draw(D=1, H=3))


ex.mistakes(r"""
nothing_transposed: The matrices are not transposed. PyTorch's weights have the outputs first: weight_ih_l0 is (H, D),
  and weight_hh_l0 is the transpose of W too, though its shape does not show it.
- "weight_ih_l0": U.T.copy(),
- "weight_hh_l0": W.T.copy(),
+ "weight_ih_l0": U.copy(),
+ "weight_hh_l0": W.copy(),

recurrent_matrix_not_transposed: U is transposed and W is not. W is square, so nothing complains, and every state that
  comes of one other than zeros is wrong: PyTorch computes h A.T, so A must be W.T.
- "weight_hh_l0": W.T.copy(),
+ "weight_hh_l0": W.copy(),

reshaped_for_transposed: U is reshaped where it must be transposed. A reshape gives the right shape, but it cuts the
  numbers anew; `U.T` swaps the axes. W must be transposed too.
- "weight_ih_l0": U.T.copy(),
- "weight_hh_l0": W.T.copy(),
+ "weight_ih_l0": U.copy().reshape(len(b), -1),
+ "weight_hh_l0": W.copy().reshape(len(b), -1),

bias_twice: Your two biases add up to 2 b. PyTorch adds them, so together they must make b: put b into one and zeros
  into the other.
- "bias_hh_l0": np.zeros_like(b),
+ "bias_hh_l0": b.copy(),

second_bias_forgotten: PyTorch has two biases, bias_ih_l0 and bias_hh_l0. A state without one of them does not load;
  zeros will do for the second.
- "bias_hh_l0": np.zeros_like(b),

bias_lost: Your two biases add up to zero: b is lost. The two together must make b.
- "bias_ih_l0": b.copy(),
+ "bias_ih_l0": np.zeros_like(b),

matrices_swapped: The two matrices are swapped: ih is input to hidden, our U; hh is hidden to hidden, our W.
- "weight_ih_l0": U.T.copy(),
- "weight_hh_l0": W.T.copy(),
+ "weight_ih_l0": W.T.copy(),
+ "weight_hh_l0": U.T.copy(),

views: The numbers are right, but some arrays share memory with your arguments: a transposed array is a view, and b
  without a copy is b itself. Whoever goes on training with this dict would change your weights: `.copy()` each.
- "weight_ih_l0": U.T.copy(),
- "weight_hh_l0": W.T.copy(),
- "bias_ih_l0": b.copy(),
+ "weight_ih_l0": U.T,
+ "weight_hh_l0": W.T,
+ "bias_ih_l0": b,

U_reshaped: U is reshaped, not transposed: its numbers keep their order and are cut into other rows. In `U.T` rows
  become columns.
- "weight_ih_l0": U.T.copy(),
+ "weight_ih_l0": U.copy().reshape(U.T.shape),
""")


ex = unit.exercise(
    "Network",
    points=4,
    takes="parameters, calls",
    gives="logits (T, N, Q)",
    drive=methods,
    uses=(
        cell.hidden_layer,
        cell.rnn_step,
        cell.rnn_step_concat,
        cell.rnn_forward,
        cell.output_layer,
        cell.softmax,
        cell.rnn_predict,
    ),
    forbids=("torch",),
    hints=(
        "There are two bugs. Call forward twice with the same X: what should the second call give, and what "
        "does it give?",
        "What lives in `self` outlives the call. And which axis of the states does V contract: the one over "
        "the hidden units, or the one over the rows?",
        "Make the zeros at the start of forward, under a local name. The logits are `H @ V + c`: (T, N, H) @ (H, Q).",
    ),
)


def calls_of_one_object(
    rng: np.random.Generator, T: int, N: int, D: int, H: int, Q: int, dtype: Any = np.float64
) -> tuple[Any, ...]:
    """Draw the five parameters, and three calls, the second one the first again."""
    parameters = cell_weights(rng, D, H, dtype)
    X, longer = normal(rng, T, N, D, dtype=dtype), normal(rng, T + 1, N, D, dtype=dtype)
    output = weights(rng, H, Q, dtype), normal(rng, Q, dtype=dtype)
    return (*parameters, *output), [("forward", (x,)) for x in (X, X, longer)]


# The second has as many rows as units, where a contraction over the rows runs and has the right shape.
ex.draws(calls_of_one_object, H=(2, 2, 4))


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    parameters, _ = draw(D=2)
    batches = [normal(rng, 3, N, 2) for N in (5, 2, 5)]
    yield edge("another number of rows at each call", parameters, [("forward", (X,)) for X in batches])
    onehot = np.eye(2, dtype=np.int64)[rng.integers(0, 2, (4, 3))]
    yield edge("inputs of whole numbers, one-hot", parameters, [("forward", (onehot,))])


ex.mistakes(r"""
both_bugs: Both bugs are still there: V contracts the rows of the batch where it must contract the hidden units, and the
  state of one call is where the next one starts.
- h = np.zeros((X.shape[1], self.W.shape[0]), dtype=X.dtype)
+ h = getattr(self, "h", np.zeros((X.shape[1], self.W.shape[0]), dtype=X.dtype))
- return np.stack(states) @ self.V + self.c
+ self.h = h
+ return np.tensordot(np.stack(states), self.V, axes=(1, 0)) + self.c

contracts_the_batch: One bug is left: V contracts the rows of the batch, so each output mixes all sequences. It must
  contract the last axis of the states, the hidden units: `H @ V + c`.
- return np.stack(states) @ self.V + self.c
+ return np.tensordot(np.stack(states), self.V, axes=(1, 0)) + self.c

state_outlives_the_call: One bug is left: a second call starts where the first one ended, as where the state is kept in
  the object. Each call starts from zeros, in a local name.
- h = np.zeros((X.shape[1], self.W.shape[0]), dtype=X.dtype)
+ h = getattr(self, "h", np.zeros((X.shape[1], self.W.shape[0]), dtype=X.dtype))
- return np.stack(states) @ self.V + self.c
+ self.h = h
+ return np.stack(states) @ self.V + self.c

state_reset_at_every_step: Nothing is remembered: each step goes as from zeros. Only the first one starts from zeros;
  each other reads the state of the step before.
- h = rnn_step(x, h, self.U, self.W, self.b)
+ h = rnn_step(x, np.zeros_like(h), self.U, self.W, self.b)

rows_in_a_row: The rows are read one after the other, and each goes on from the last state of the row before. They are
  sequences of their own: each starts from zeros.
- states = []
- for x in X:
-     h = rnn_step(x, h, self.U, self.W, self.b)
-     states.append(h)
- return np.stack(states) @ self.V + self.c
+ rows, h = [], h[:1]
+ for row in X.swapaxes(0, 1):
+     states = []
+     for x in row:
+         h = rnn_step(x[None], h, self.U, self.W, self.b)
+         states.append(h[0])
+     rows.append(np.stack(states))
+ return np.stack(rows, axis=1) @ self.V + self.c

output_from_the_state_before: The outputs are one step late: o_t is read off h_{t-1}, before x_t was seen. It is read
  off h_t.
- h = rnn_step(x, h, self.U, self.W, self.b)
- states.append(h)
+ states.append(h)
+ h = rnn_step(x, h, self.U, self.W, self.b)

output_bias_forgotten: The output bias c is missing from the logits.
- return np.stack(states) @ self.V + self.c
+ return np.stack(states) @ self.V

probabilities_for_logits: You return probabilities. forward gives logits, before the softmax.
- return np.stack(states) @ self.V + self.c
+ return softmax(np.stack(states) @ self.V + self.c)

states_for_logits: You return the hidden states. The output layer is missing: logits are `H @ V + c`.
- return np.stack(states) @ self.V + self.c
+ return np.stack(states)

logits_of_the_last_step: Your logits are those of the last step alone. Every step has an output: return (T, N, Q).
- return np.stack(states) @ self.V + self.c
+ return h @ self.V + self.c

outputs_pile_up: The logits of the earlier calls come back with those of the new one: the list that collects them
  outlives the call. Begin an empty one in `forward`.
- self.U, self.W, self.b, self.V, self.c = U, W, b, V, c
+ self.U, self.W, self.b, self.V, self.c, self.states = U, W, b, V, c, []
- states = []
+ states = self.states
""")
