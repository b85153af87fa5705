"""Unit 09: bidirectional layers. Its exercises, their cases, hints and misconceptions.

Nothing here imports torch before an `nn.Module` is built: the reference of `BiTagger` is a function that makes one.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rnncourse import bidirectional
from rnncourse.checks.drive import padded, padded_module
from rnncourse.checks.exercise import LENGTHS, Case, Draw, Option, Unit, case, cell_weights, edge, normal
from rnncourse.checks.parameters import Parameters, embedding, linear, recurrent

unit = Unit("09_bidirectional", "Reading both ways", bidirectional, forbids=("torch",))


ex = unit.exercise(
    "reverse_sequence",
    points=3,
    takes="X (T, N, D), lengths (N,)",
    gives="reversed (T, N, D)",
    hints=(
        "Time is the first axis. For one sequence of L steps: which of its steps belongs at step 0 of the answer, and "
        "which at step t?",
        "Begin with a copy of X, then write into column n its first lengths[n] steps, turned round. What lies beyond "
        "stays, since you do not touch it.",
        "Without lengths: `X[::-1].copy()`. With them: `out = X.copy()` and for each n "
        "`out[: lengths[n], n] = X[: lengths[n], n][::-1]`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(normal(rng, 5, 3, 4))
    yield case(normal(rng, 4, 6, 3), np.array([2, 4, 1, 3, 2, 4]))  # more rows than steps, and equal lengths apart
    yield case(normal(rng, 7, 3, 2), np.array([2, 5, 4]))  # nobody is as long as the batch
    yield edge("lengths=None, float32", normal(rng, 4, 3, 2, dtype=np.float32), None)
    for note, (T, lengths) in LENGTHS.items():
        yield edge(note, normal(rng, T, len(lengths), 2), lengths)
    yield edge("two axes, whole numbers", rng.permutation(np.arange(24)).reshape(6, 4), np.array([2, 6, 5, 3]))
    yield edge("four axes", normal(rng, 5, 3, 2, 4), np.array([5, 2, 4]))
    yield edge("float32", normal(rng, 5, 2, 3, dtype=np.float32), np.array([3, 5]))


@ex.holds("Reversing twice gives X again")
def _(call: Any, rng: np.random.Generator) -> str | None:
    X, lengths = normal(rng, 7, 4, 2), rng.permutation([2, 7, 5, 4])
    again = call(call(X, lengths), lengths)
    return None if np.array_equal(again, X) else "reversed twice with the same lengths, X came back changed."


ex.mistakes(r"""
starts_in_the_padding: You reverse the whole batch as one block, so the short sequences now begin with their padding.
  Reverse each row within its own length.
+ return X[::-1].copy()

batch_reversed: You reverse axis 1. That is the batch: the sequences have changed places, and each still runs forwards.
  Time is axis 0.
+ return X[:, ::-1].copy()

features_reversed: You reverse the last axis: the numbers within each x_t. It is the steps that change their order, axis
  0.
+ return X[..., ::-1].copy()

padding_set_to_zero: The real steps are right, but the padding is now zero. It stays what it was, so that reversing
  twice gives X back: begin with a copy of X, and write nothing into the padding.
- reversed_X = X.copy()
+ reversed_X = np.zeros_like(X)

padding_reversed_too: The real steps are right, but you have turned the padding round as well. It stays as it is: touch
  only the first `length` steps of each row.
- reversed_X[:length, n] = X[:length, n][::-1]
+ reversed_X[:length, n] = X[:length, n][::-1]
+ reversed_X[length:, n] = X[length:, n][::-1]

first_step_lost: The first step of the sequence is missing at the end of the answer: of n steps the last one in the
  answer is that of index 0. (A slice such as `X[end:0:-1]`, or a `range` that ends one too early, stops before it.)
- return X[::-1].copy()
+ lengths = [len(X)] * X.shape[1]
- reversed_X[:length, n] = X[:length, n][::-1]
+ reversed_X[: length - 1, n] = X[length - 1 : 0 : -1, n]

one_length_for_all: All rows are reversed within the same length, so the shorter ones begin with padding. Each row has
  its own: lengths[n].
+ longest = len(X) if lengths is None else max(lengths)
+ out = X.copy()
+ out[:longest] = X[:longest][::-1]
+ return out

first_length_for_all: All rows are reversed within the length of row 0. Each row has its own: lengths[n].
+ first = len(X) if lengths is None else lengths[0]
+ out = X.copy()
+ out[:first] = X[:first][::-1]
+ return out

read_from_what_was_written: The second half mirrors the first: you read from the array that you are writing to, where
  the early steps are overwritten already. Read from X and write into a copy.
- return X[::-1].copy()
+ lengths = [len(X)] * X.shape[1]
- reversed_X[:length, n] = X[:length, n][::-1]
+ for t in range(length):
+     reversed_X[t, n] = reversed_X[length - 1 - t, n]

view_returned: Without lengths, what you return is X's own memory, as a slice and `np.flip` give it: whoever writes to
  one changes the other. Return a copy.
- return X[::-1].copy()
+ return X[::-1]

X_overwritten: X itself comes out reversed, which belongs to whoever called. Write into a copy.
+ if lengths is None:
+     lengths = [len(X)] * X.shape[1]
+ for n, length in enumerate(lengths):
+     X[:length, n] = X[:length, n][::-1].copy()
+ return X.copy()

turned_twice: Nothing is turned round: what comes back is X. (Whoever swaps the first with the last, the second with the
  last but one, has to stop in the middle: beyond it each pair is swapped back.)
+ return X.copy()
""")


ex = unit.exercise(
    "combine",
    points=2,
    takes="H_f (T, N, H), H_b (T, N, H), how",
    gives="H",
    hints=(
        "Both arrays are aligned with time already: whatever you do, you do it step by step and row by row.",
        '`np.concatenate` needs an axis: the units are the last one. "sum" and "product" work entry by entry.',
        "`np.concatenate([H_f, H_b], axis=-1)`, `H_f + H_b`, `H_f * H_b`; and after the third `if`: "
        '`raise ValueError(f"how is {how!r}")`.',
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def states(*shape: int, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
        return normal(rng, *shape, dtype=dtype), normal(rng, *shape, dtype=dtype)

    for how in ("concat", "sum", "product"):
        yield case(*states(5, 3, 4), how)
    yield case(*states(4, 2, 3), "concat")
    for how in ("concat", "sum", "product"):
        yield edge("one state a row, (N, H)", *states(3, 2), how)
        yield edge("float32", *states(4, 3, 2, dtype=np.float32), how)
    yield edge("one step, one row", *states(1, 1, 3), "concat")
    yield edge("all sizes alike", *states(3, 3, 3), "product")
    for how in ("mean", "", "SUM", " sum", "sums", "products", "con", "concatenate"):
        yield edge(f'how="{how}", which is none of the three', *states(4, 3, 2), how)


ex.mistakes(r"""
joined_along_time: The backward states come after the forward ones in time, axis 0. At each step both stand side by
  side: join along the last axis, the units.
- return np.concatenate([H_f, H_b], axis=-1)
+ return np.concatenate([H_f, H_b])

joined_along_the_batch: You join along axis 1, which makes twice as many sequences. Join along the last axis: each step
  of each sequence has twice as many units.
- return np.concatenate([H_f, H_b], axis=-1)
+ return np.concatenate([H_f, H_b], axis=1)

stacked_on_a_new_axis: Your array has a new axis of length 2, as `np.stack` makes one. Here the units become twice as
  many, and no axis is added: `np.concatenate` with axis=-1.
- return np.concatenate([H_f, H_b], axis=-1)
+ return np.stack([H_f, H_b], axis=-2)

backward_first: Your backward units stand before the forward ones. Forward first: whoever splits the array later relies
  on it.
- return np.concatenate([H_f, H_b], axis=-1)
+ return np.concatenate([H_b, H_f], axis=-1)

units_interleaved: The units of both directions alternate, as stack and reshape shuffles them together. First all
  forward units, then all backward ones.
- return np.concatenate([H_f, H_b], axis=-1)
+ return np.stack([H_f, H_b], axis=-1).reshape(*H_f.shape[:-1], -1)

flipped_once_more: You reverse H_b before you join. It is aligned with time already: H_b[t] belongs to the same step as
  H_f[t].
- if how == "concat":
+ H_b = H_b[::-1]
+ if how == "concat":

mean_for_sum: Your "sum" is a mean: there is a factor of one half in it.
- return H_f + H_b
+ return (H_f + H_b) / 2

product_of_matrices: Your "product" is a product of matrices. Here entry meets entry, `H_f * H_b`, and the shape stays.
- return H_f * H_b
+ return H_f @ H_b.swapaxes(-1, -2)

else_is_product: Every other word is taken for "product". A slip such as "mean" then trains the wrong network without a
  word: raise a ValueError for what you do not know.
- if how == "product":
-     return H_f * H_b
- raise ValueError(f'how should be "concat", "sum" or "product", not {how!r}')
+ return H_f * H_b

nothing_for_an_unknown_word: For a word that is none of the three, you return None, as a function does that ends without
  a return; it breaks somewhere else much later. Raise a ValueError.
- raise ValueError(f'how should be "concat", "sum" or "product", not {how!r}')

piece_of_a_word: A piece of a word passes for the word, and so does the empty one: of a string, `in` asks whether the
  other stands somewhere in it. Ask with `==`.
- if how == "concat":
+ if how in "concat":

error_returned: For a word that is none of the three, you return the error. `raise` it.
- raise ValueError(f'how should be "concat", "sum" or "product", not {how!r}')
+ return ValueError(how)
""")


ex = unit.exercise(
    "bidirectional_forward",
    points=4,
    takes="X (T, N, D), forward, backward, how, lengths (N,)",
    gives="states (T, N, units)",
    drive=padded,
    uses=(bidirectional.reverse_sequence, bidirectional.combine),
    hints=(
        "The backward layer is an ordinary layer that reads a reversed sequence. What it says comes out in the order "
        "in which it has read.",
        "Three lines: the forward states; the states over the reversed X, reversed again; both combined. With "
        "`lengths` both reversals are made within the lengths.",
        "`H_f = rnn_forward(X, zeros, *forward)`, then `H_b = reverse_sequence(rnn_forward(reverse_sequence(X, "
        "lengths), zeros, *backward), lengths)` with `zeros = np.zeros((X.shape[1], len(forward[1])), X.dtype)`, and "
        "`return combine(H_f, H_b, how)`.",
    ),
)


def both_ways(rng: np.random.Generator, T: int, N: int, D: int, H: int, dtype: Any = np.float64) -> tuple[Any, ...]:
    """Draw X and both directions."""
    return normal(rng, T, N, D, dtype=dtype), cell_weights(rng, D, H, dtype), cell_weights(rng, D, H, dtype)


ex.draws(both_ways)


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield case(*draw(), "sum")
    yield case(*draw(T=6), "product")
    yield case(*draw(T=7), "concat", np.array([4, 2, 6]))  # nobody is as long as the batch
    yield case(*draw(T=6, N=4), "sum", np.array([3, 6, 1, 5]))
    yield edge("lengths=None", *draw(), "concat", None)
    for note, (T, lengths) in LENGTHS.items():
        yield edge(note, *draw(T=T, N=len(lengths), D=4, H=4), "product", lengths)
    yield edge("float32", *draw(T=5, N=2, dtype=np.float32), "sum", np.array([3, 5]))


@ex.holds("What stands in the padding reaches no real step")
def _(call: Any, rng: np.random.Generator) -> str | None:
    X, forward, backward = both_ways(rng, 6, 3, 2, 4)
    lengths = np.array([4, 1, 5])
    is_padding = np.arange(6)[:, None] >= lengths
    other = np.where(is_padding[..., None], 10 * normal(rng, 6, 3, 2), X)
    before, after = (call(x, forward, backward, "concat", lengths) for x in (X, other))
    same = np.allclose(np.asarray(before), np.asarray(after), atol=1e-9)
    return None if same else "with other numbers in the padding, states of real steps came out different."


ex.mistakes(r"""
not_flipped_back: The backward states stand in the order in which they were read, the last step first. Reverse them
  again, so that both states at step t have read x_t.
- return combine(H_f, reverse_sequence(H_b, lengths), how)
+ return combine(H_f, H_b, how)

only_flipped_back: Your second layer reads from left to right like the first; only its states are turned round. Reverse
  what it reads, too.
- H_b = rnn_forward(reverse_sequence(X, lengths), zeros, *backward)
+ H_b = rnn_forward(X, zeros, *backward)

both_read_from_the_left: Both layers read from left to right: nothing is reversed along axis 0, which is time. (Axis 1 is
  the batch.)
- H_b = rnn_forward(reverse_sequence(X, lengths), zeros, *backward)
- return combine(H_f, reverse_sequence(H_b, lengths), how)
+ H_b = rnn_forward(X, zeros, *backward)
+ return combine(H_f, H_b, how)

starts_in_the_padding: The backward layer begins in the padding of the short sequences, and arrives at their words with
  a state that the padding made. It begins at each row's last real step: `reverse_sequence` takes lengths.
- H_b = rnn_forward(reverse_sequence(X, lengths), zeros, *backward)
- return combine(H_f, reverse_sequence(H_b, lengths), how)
+ H_b = rnn_forward(X[::-1], zeros, *backward)
+ return combine(H_f, H_b[::-1], how)

padding_zeroed_and_read: The backward layer reads zeros in the padding. Zeros are an input too: tanh(0 U + h W + b) is
  not zero, so the state is spoilt before the first real step. Reverse within the lengths.
- zeros = np.zeros((X.shape[1], len(forward[1])), dtype=X.dtype)
+ zeros = np.zeros((X.shape[1], len(forward[1])), dtype=X.dtype)
+ if lengths is not None:
+     X = X * (np.arange(len(X))[:, None] < lengths)[..., None]
- H_b = rnn_forward(reverse_sequence(X, lengths), zeros, *backward)
- return combine(H_f, reverse_sequence(H_b, lengths), how)
+ H_b = rnn_forward(X[::-1], zeros, *backward)
+ return combine(H_f, H_b[::-1], how)

flipped_back_as_a_block: X is reversed within the lengths, as it should be, but the states are flipped back as a whole.
  In short sequences they stand too late, some in the padding. Both reversals need `lengths`.
- return combine(H_f, reverse_sequence(H_b, lengths), how)
+ return combine(H_f, H_b[::-1], how)

one_set_of_parameters: Both directions run with the parameters of `forward`. The backward layer has its own: `backward`.
- H_b = rnn_forward(reverse_sequence(X, lengths), zeros, *backward)
+ H_b = rnn_forward(reverse_sequence(X, lengths), zeros, *forward)

directions_exchanged: `backward` runs from left to right and `forward` from right to left: the two are exchanged.
- H_f = rnn_forward(X, zeros, *forward)
- H_b = rnn_forward(reverse_sequence(X, lengths), zeros, *backward)
+ H_f = rnn_forward(X, zeros, *backward)
+ H_b = rnn_forward(reverse_sequence(X, lengths), zeros, *forward)

starts_where_forward_ended: Your backward layer starts from the forward layer's last state. The two never meet before
  they are combined: both start from zeros.
- H_b = rnn_forward(reverse_sequence(X, lengths), zeros, *backward)
+ H_b = rnn_forward(reverse_sequence(X, lengths), H_f[-1], *backward)

always_concat: You always concatenate: `how` makes no difference. Hand it on to `combine`.
- return combine(H_f, reverse_sequence(H_b, lengths), how)
+ return combine(H_f, reverse_sequence(H_b, lengths), "concat")

features_reversed: For the backward direction you reverse the last axis: the numbers within each x_t. It is time that
  runs backwards, axis 0.
- H_b = rnn_forward(reverse_sequence(X, lengths), zeros, *backward)
- return combine(H_f, reverse_sequence(H_b, lengths), how)
+ H_b = rnn_forward(X[..., ::-1], zeros, *backward)
+ return combine(H_f, H_b, how)
""")


ex = unit.exercise(
    "bidirectional_backward",
    points=5,
    takes="dH (T, N, units), X (T, N, D), forward, backward, how",
    gives="dX (T, N, D), forward_gradients, backward_gradients",
    uses=(bidirectional.reverse_sequence, bidirectional.combine, bidirectional.bidirectional_forward),
    hints=(
        "Two questions, one after the other. What does `combine` do on the way back: which part of dH is the forward "
        "states' error, and which the backward ones'? And then: what did the backward layer read?",
        "`rnn_backward` wants everything in the order in which that layer read it. For the backward layer these are "
        "dH_b, X and its states, all reversed. Its dX comes out in that order too. Each direction sends a dX: x_t was "
        "read by both.",
        "With `H_b` as `rnn_forward(X[::-1], zeros, *backward)` gives it, not flipped back: `dX_b, _, *g_b = "
        "rnn_backward(dH_b[::-1], X[::-1], zeros, H_b, *backward[:2])` and `dX = dX_f + dX_b[::-1]`. For the product "
        "`dH_f = dH * H_b[::-1]` and `dH_b = dH * H_f`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def with_errors(T: int, N: int, D: int, H: int, Q: int, dtype: Any = np.float64) -> tuple[Any, ...]:
        return normal(rng, T, N, Q, dtype=dtype), *both_ways(rng, T, N, D, H, dtype)

    yield case(*with_errors(5, 3, 4, 2, 4))
    yield case(*with_errors(4, 2, 3, 5, 5), "sum")
    yield case(*with_errors(6, 4, 2, 3, 3), "product")
    yield case(*with_errors(4, 3, 5, 4, 8), "concat")
    yield edge("one step", *with_errors(1, 3, 4, 2, 2), "product")
    yield edge("one row", *with_errors(5, 1, 2, 3, 6))
    yield edge("all sizes alike", *with_errors(4, 4, 4, 4, 4), "product")
    yield edge("float32", *with_errors(5, 2, 3, 4, 4, np.float32), "sum")
    yield edge("float32", *with_errors(4, 2, 3, 4, 8, np.float32))


ex.mistakes(r"""
errors_not_reversed: The errors of the backward layer go in as time has them, while its inputs and states are in the
  order in which it read. All three belong in that order: reverse dH_b, too.
- dX_b, _, *backward_gradients = rnn_backward(dH_b[::-1], X[::-1], zeros, G, *backward[:2])
+ dX_b, _, *backward_gradients = rnn_backward(dH_b, X[::-1], zeros, G, *backward[:2])

dX_not_flipped_back: The backward layer's part of dX comes out in the order in which that layer read, the last step
  first. Reverse it before you add: the parameters' gradients are right already.
- return dX_f + dX_b[::-1], tuple(forward_gradients), tuple(backward_gradients)
+ return dX_f + dX_b, tuple(forward_gradients), tuple(backward_gradients)

dX_of_the_forward_layer: Your dX is the forward layer's alone. x_t was read by both layers, so it gets the sum of what
  both send back.
- return dX_f + dX_b[::-1], tuple(forward_gradients), tuple(backward_gradients)
+ return dX_f, tuple(forward_gradients), tuple(backward_gradients)

dX_of_the_backward_layer: Your dX is the backward layer's alone. x_t was read by both layers, so it gets the sum of
  what both send back.
- return dX_f + dX_b[::-1], tuple(forward_gradients), tuple(backward_gradients)
+ return dX_b[::-1].copy(), tuple(forward_gradients), tuple(backward_gradients)

nothing_reversed: The backward layer is treated like the forward one, with nothing reversed on the way back. It has read
  X from its end: hand `rnn_backward` the errors, inputs and states in that order.
- dX_b, _, *backward_gradients = rnn_backward(dH_b[::-1], X[::-1], zeros, G, *backward[:2])
- return dX_f + dX_b[::-1], tuple(forward_gradients), tuple(backward_gradients)
+ dX_b, _, *backward_gradients = rnn_backward(dH_b, X, zeros, G[::-1], *backward[:2])
+ return dX_f + dX_b, tuple(forward_gradients), tuple(backward_gradients)

states_not_reversed: The backward layer's errors and inputs are reversed, but its states go in as time has them.
  `rnn_backward` looks for h_{t-1} one place earlier, so the states must stand in the order in which the layer made
  them.
- dX_b, _, *backward_gradients = rnn_backward(dH_b[::-1], X[::-1], zeros, G, *backward[:2])
+ dX_b, _, *backward_gradients = rnn_backward(dH_b[::-1], X[::-1], zeros, G[::-1], *backward[:2])

both_read_from_the_left: In your answer both layers read from left to right, forwards as well as on the way back. Nothing
  is reversed along axis 0, which is time. (Axis 1 is the batch.)
- G = rnn_forward(X[::-1], zeros, *backward)
+ H_b = rnn_forward(X, zeros, *backward)
- dH_f, dH_b = dH * G[::-1], dH * H_f
+ dH_f, dH_b = dH * H_b, dH * H_f
- dX_b, _, *backward_gradients = rnn_backward(dH_b[::-1], X[::-1], zeros, G, *backward[:2])
- return dX_f + dX_b[::-1], tuple(forward_gradients), tuple(backward_gradients)
+ dX_b, _, *backward_gradients = rnn_backward(dH_b, X, zeros, H_b, *backward[:2])
+ return dX_f + dX_b, tuple(forward_gradients), tuple(backward_gradients)

halves_exchanged: For "concat", each layer gets the other one's half of dH. The forward units come first.
- dH_f, dH_b = dH[..., :hidden], dH[..., hidden:]
+ dH_b, dH_f = dH[..., :hidden], dH[..., hidden:]

product_taken_for_sum: For "product", dH goes to both layers as it is, as for a sum. The slope of f g with respect to f
  is g: each layer's error is dH times the states of the other one.
- dH_f, dH_b = dH * G[::-1], dH * H_f
+ dH_f, dH_b = dH, dH

times_its_own_states: For "product", each layer's error is multiplied by its own states. It is the other one's that
  stand beside it: the slope of f g with respect to f is g.
- dH_f, dH_b = dH * G[::-1], dH * H_f
+ dH_f, dH_b = dH * H_f, dH * G[::-1]

times_states_not_aligned: For "product", the forward layer's error is multiplied by backward states in the order in
  which they were read. dH runs with time: flip H_b back before you multiply.
- dH_f, dH_b = dH * G[::-1], dH * H_f
+ dH_f, dH_b = dH * G, dH * H_f

sum_shared_out: For "sum", each layer gets half of dH. An error that reaches f + g reaches f in full, and g in full.
- dH_f, dH_b = dH, dH
+ dH_f, dH_b = dH / 2, dH / 2

gradients_added_up: Both layers get the sum of both layers' gradients, as if they shared their parameters. Each has its
  own.
- return dX_f + dX_b[::-1], tuple(forward_gradients), tuple(backward_gradients)
+ both = tuple(a + b for a, b in zip(forward_gradients, backward_gradients))
+ return dX_f + dX_b[::-1], both, both

dH_overwritten: For "product", the caller's array dH is written into, as by `dH *= …`: the second use of dH finds it
  changed, and so does the caller. Write `dH * H_b`, which makes a new one.
- dH_f, dH_b = dH * G[::-1], dH * H_f
+ dH *= G[::-1]
+ dH_f, dH_b = dH, dH * H_f
""")


ex = unit.exercise(
    "final_summary",
    points=2,
    takes="H_f (T, N, H), H_b (T, N, H), lengths (N,), how",
    gives="summary",
    uses=(bidirectional.combine,),
    hints=(
        "For each direction: at which step t has it read the whole sequence? The two answers lie at opposite ends.",
        "H_b is aligned with time, and the backward layer reads towards step 0, where it is done. H_f is done at the "
        "last real step, a different one in each row.",
        "`H_f[lengths - 1, np.arange(len(lengths))]` picks one state a row, and `H_b[0]` is the other one. Hand both "
        "to `combine`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def states(*shape: int, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
        return normal(rng, *shape, dtype=dtype), normal(rng, *shape, dtype=dtype)

    # In the first no sequence reaches T; in the second one does, where an index one too high is an error.
    yield case(*states(7, 4, 3), np.array([3, 5, 2, 6]))
    yield case(*states(6, 3, 2), np.array([2, 6, 4]), "concat")
    yield case(*states(5, 3, 4), np.array([4, 2, 3]), "sum")
    yield case(*states(6, 2, 5), np.array([3, 5]), "product")
    for note, (T, lengths) in LENGTHS.items():
        yield edge(note, *states(T, len(lengths), 4), lengths)
    yield edge("a sequence of one step", *states(5, 3, 2), np.array([4, 1, 2]))
    yield edge("float32", *states(5, 3, 4, dtype=np.float32), np.array([1, 4, 3]))


ex.mistakes(r"""
last_of_both: You take the last array index for both, the famous `out[-1]`. There the forward layer is in the padding of
  the short sequences, and the backward layer has only just begun. It is done at step 0.
+ return combine(H_f[-1], H_b[-1], how)

last_real_step_of_both: The forward half is right. But at the last real step the backward layer has read just one
  symbol: it comes from the right, and is done at step 0.
- return combine(H_f[lengths - 1, rows], H_b[0], how)
+ return combine(H_f[lengths - 1, rows], H_b[lengths - 1, rows], how)

forward_from_the_padding: The backward half is right. But the forward one is, for shorter sequences, a state from deep
  inside the padding: take each row at its own last real step.
+ return combine(H_f[-1], H_b[0], how)

first_of_both: The backward half is right. But at step 0 the forward layer has read one symbol only: it is done at the
  last real step.
+ return combine(H_f[0], H_b[0], how)

ends_exchanged: Both halves come from where that layer began, and have read one symbol each. Exchange the ends: forward
  is done at the last real step, backward at step 0.
- return combine(H_f[lengths - 1, rows], H_b[0], how)
+ return combine(H_f[0], H_b[lengths - 1, rows], how)

one_step_late: You are one step late: a sequence of length 3 ends at step 2. At index 3 stands the first state of the
  padding, or nothing at all.
- return combine(H_f[lengths - 1, rows], H_b[0], how)
+ return combine(H_f[lengths, rows], H_b[0], how)

longest_for_all: You take the step at which the longest sequence ends, for every row. Each row has its own last step.
+ return combine(H_f[lengths.max() - 1], H_b[0], how)

every_row_at_every_end: Your forward half is (N, N, H), as `H_f[lengths - 1]` is: all rows, at each of the ends. You
  want the pairs: index with the steps and with the rows, `np.arange(N)`.
+ return combine(H_f[lengths - 1], np.broadcast_to(H_b[0], H_f[lengths - 1].shape), how)

every_row_at_every_end_as_it_is = every_row_at_every_end
+ return combine(H_f[lengths - 1], H_b[0], how)

mean_over_time: You average over the real steps. That is a summary too, but another one: here each direction's final
  state is wanted.
+ real = (np.arange(len(H_f))[:, None] < lengths)[..., None]
+ mean_f, mean_b = ((H * real).sum(axis=0) / real.sum(axis=0).astype(H.dtype) for H in (H_f, H_b))
+ return combine(mean_f, mean_b, how)

always_concat: You always concatenate: `how` makes no difference. Hand it on to `combine`.
- return combine(H_f[lengths - 1, rows], H_b[0], how)
+ return combine(H_f[lengths - 1, rows], H_b[0], "concat")

in_the_order_of_time: Your forward half has the shortest sequence first, as a table of True and False or a sort puts
  it. Index with the steps and with the rows, `H_f[lengths - 1, np.arange(N)]`.
+ ends = np.arange(1, len(H_f) + 1)[:, None] == lengths
+ return combine(H_f[ends], H_b[0], how)

mean_of_the_forward_half: Your forward half is the mean of the real states. What is asked is the state in which that
  direction has read everything: the one at the sequence's last real step.
- return combine(H_f[lengths - 1, rows], H_b[0], how)
+ return combine(np.stack([H_f[: lengths[n], n].mean(axis=0) for n in rows]), H_b[0], how)
""")


ex = unit.exercise(
    "hmm_forward",
    points=3,
    takes="start (K,), transition (K, K), emission (K, Q), observations (T,)",
    gives="filtered (T, K), log_likelihood",
    ends=dict.fromkeys(("start", "transition", "emission"), "none"),  # they hold probabilities
    hints=(
        "Carry one belief along, K numbers that sum to 1. At each step it does two things: it moves on to the next "
        "state, and it takes in what was observed. The first step has nowhere to come from.",
        "Moving on is a row vector times `transition`. Taking in is a product, entry by entry, with the column "
        "`emission[:, seen]`. The sum of what comes out is the probability of this observation given all before it: "
        "divide by it, and keep its logarithm.",
        "From `belief = start`, for each `t, seen`: `if t > 0: belief = belief @ transition`, then `joint = belief * "
        "emission[:, seen]`, `belief = joint / joint.sum()`, and `log_likelihood += np.log(joint.sum())`.",
    ),
)


def hidden_markov(rng: np.random.Generator, K: int, Q: int, T: int, dtype: Any = np.float64) -> tuple[Any, ...]:
    """Draw a hidden Markov model of K states, and T observations."""
    start, transition, emission = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(K), K), rng.dirichlet(np.ones(Q), K)
    return *(p.astype(dtype) for p in (start, transition, emission)), rng.integers(Q, size=T)


ex.draws(hidden_markov, K=(3, 4, 2), Q=(4, 2, 3), T=(6, 5, 5))


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield case(*draw(K=2, Q=5, T=9))
    yield edge("one state", *draw(K=1))
    # where it starts is certain, and no state is ever left for one before it, so that one is never reached: a logarithm
    # must stand a 0. That one alone is likely to show what is seen first, and again: nothing may stand for the 0
    _, transition, emission, observations = draw(K=3, Q=4, T=7)
    upwards = np.triu(transition) / np.triu(transition).sum(axis=1, keepdims=True)
    observations[3], emission[1:, observations[0]] = observations[0], 1e-30
    emission /= emission.sum(axis=1, keepdims=True)
    yield edge("some probabilities are 0", np.array([0.0, 1.0, 0.0]), upwards, emission, observations)
    yield edge("T = 5,000", *draw(K=3, Q=4, T=5000))


ex.mistakes(r"""
transition_transposed: The belief moves against the arrows: `transition` leads from its row to its column, so a row
  vector stands on its left, belief @ transition.
- belief = belief @ transition
+ belief = transition @ belief

moved_before_the_first_step: Your belief moves on once before anything was observed. `start` is the probability of the
  state at the first observation: only from the second step on there is a step before.
- if t > 0:
-     belief = belief @ transition
+ belief = belief @ transition

every_step_from_the_start: Each step begins at `start` again: what was observed before is forgotten. Go on from the
  belief of the step before.
- belief = belief @ transition
+ belief = start @ transition

never_moves: The belief takes in what is observed, but never moves on: `transition` is not used. From the second step
  on, `belief @ transition` comes first.
- if t > 0:
-     belief = belief @ transition

predicted_returned: You return what is believed before the observation of step t comes in. filtered[t] has read it: keep
  the belief after the product with `emission[:, seen]`.
- joint = belief * emission[:, seen]
+ filtered.append(belief)
+ joint = belief * emission[:, seen]
- filtered.append(belief)

not_divided: Your rows do not sum to 1: they are the probabilities of the state together with all observations so far,
  and over thousands of steps they become 0. Divide by their sum at each step.
- belief = joint / chance
+ belief = joint
- log_likelihood += np.log(chance)
+ log_likelihood = np.log(chance)

divided_at_the_end: Over thousands of steps the probabilities of all that was observed become 0, and 0 divided by 0 is
  not a number. Divide at each step, before you go on, and not once at the end.
+ alpha = [start * emission[:, observations[0]]]
+ for seen in observations[1:]:
+     alpha.append(alpha[-1] @ transition * emission[:, seen])
+ alpha = np.stack(alpha)
+ return alpha / alpha.sum(axis=1, keepdims=True), np.log(alpha[-1].sum())

best_path_only: You keep the best way into each state in place of the sum over all ways: that is the algorithm that
  looks for the single most probable path. Here every path counts: `belief @ transition`.
- belief = belief @ transition
+ belief = (belief[:, None] * transition).max(axis=0)

likelihood_of_the_last_step: Your second result is the logarithm of the last observation's probability alone. The
  probability of all of them is the product over the steps: add up the logarithms.
- log_likelihood += np.log(chance)
+ log_likelihood = np.log(chance)

mean_over_the_steps: Your log-likelihood is a mean over the steps. It is a sum here.
- return np.stack(filtered), log_likelihood
+ return np.stack(filtered), log_likelihood / len(observations)

sign_turned: Your log-likelihood has its sign turned: that is a loss. A probability is at most 1, so its logarithm is at
  most 0.
- return np.stack(filtered), log_likelihood
+ return np.stack(filtered), -log_likelihood

logarithm_to_the_base_two: Your log-likelihood is in bits. Here it is the natural logarithm, `np.log`.
- log_likelihood += np.log(chance)
+ log_likelihood += np.log2(chance)

likelihood_without_logarithm: Your second result is the probability itself. Over 5,000 steps it is 0 for a computer: add
  up the logarithms instead.
- return np.stack(filtered), log_likelihood
+ return np.stack(filtered), np.exp(log_likelihood)

first_step_not_counted: The first observation is missing in your log-likelihood. It has a probability as well: the sum
  of start times emission.
- log_likelihood += np.log(chance)
+ log_likelihood += np.log(chance) if t > 0 else 0

product_underflows: For a long sequence your log-likelihood is -inf: the product of some thousand probabilities is
  smaller than any float. Take the logarithm at each step, and add.
- filtered, log_likelihood = [], 0.0
+ filtered, product = [], 1.0
- log_likelihood += np.log(chance)
+ product *= chance
- return np.stack(filtered), log_likelihood
+ return np.stack(filtered), np.log(product)
""")


# --- BiTagger


def build_bi_tagger(vocabulary_size: int, embedding_size: int, hidden_size: int, tags: int) -> Any:
    """The textbook's `BiTagger`, for which torch is loaded here and not before."""
    from rnncourse.bidirectional_torch import BiTagger

    return BiTagger(vocabulary_size, embedding_size, hidden_size, tags)


ex = unit.exercise(
    "BiTagger",
    reference=build_bi_tagger,
    points=4,
    takes="sizes, parameters, inputs",
    gives="logits [logits (T, N, Q)], gradients",
    drive=padded_module,
    forbids=(),
    hints=(
        "Three layers in `__init__`, used one after the other in `forward`. How wide is what the recurrent layer hands "
        "on, when it reads in both directions?",
        "`nn.RNN(…, bidirectional=True)` gives (T, N, 2H). With lengths it wants a packed sequence: "
        "`pack_padded_sequence(embedded, lengths, enforce_sorted=False)` before it and `pad_packed_sequence` after it, "
        "both from `torch.nn.utils.rnn`.",
        "`states, _ = self.rnn(pack_padded_sequence(embedded, lengths, enforce_sorted=False))`, then `states, _ = "
        "pad_packed_sequence(states, total_length=len(ids))`, and `return self.output(states)`. Without lengths: "
        "`states, _ = self.rnn(embedded)`.",
    ),
)


def tagger_parameters(rng: np.random.Generator, V: int, E: int, H: int, Q: int, dtype: Any = np.float64) -> Parameters:
    """Draw the parameters of a BiTagger by name."""
    read = embedding(rng, "embedding", V, E, dtype) | recurrent(rng, "rnn", E, H, dtype, ways=2)
    return read | linear(rng, "output", 2 * H, Q, dtype)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def ids(V: int, T: int, N: int) -> np.ndarray:
        return rng.integers(0, V, size=(T, N))

    yield case((7, 3, 5, 4), tagger_parameters(rng, 7, 3, 5, 4), [(ids(7, 6, 3),), (ids(7, 4, 2), None)])
    lengths = np.array([3, 6, 1, 4])
    yield case((6, 4, 3, 2), tagger_parameters(rng, 6, 4, 3, 2), [(ids(6, 6, 4), lengths)])
    yield case((5, 3, 4, 3), tagger_parameters(rng, 5, 3, 4, 3), [(ids(5, 7, 3), np.array([2, 5, 4]))])
    yield edge("one step, one row, one tag", (4, 2, 3, 1), tagger_parameters(rng, 4, 2, 3, 1), [(ids(4, 1, 1),)])
    for note, (T, lengths) in LENGTHS.items():
        yield edge(note, (4, 4, 4, 4), tagger_parameters(rng, 4, 4, 4, 4), [(ids(4, T, len(lengths)), lengths)])
    single = tagger_parameters(rng, 5, 2, 3, 4, np.float32)
    yield edge("float32", (5, 2, 3, 4), single, [(ids(5, 4, 2),), (ids(5, 4, 2), np.array([2, 3]))])


@ex.holds("Other ids under the padding change no real logit")
def _(call: Any, rng: np.random.Generator) -> str | None:
    parameters, lengths = tagger_parameters(rng, 9, 3, 4, 2), np.array([4, 1, 6, 3])
    ids = rng.integers(0, 9, size=(7, 4))
    other = np.where(np.arange(7)[:, None] >= lengths, (ids + 1 + rng.integers(0, 8, size=ids.shape)) % 9, ids)
    (before,), (after,) = (call((9, 3, 4, 2), parameters, [(x, lengths)])[0] for x in (ids, other))
    return None if np.allclose(before, after, atol=1e-9) else "with other ids there, logits of real steps changed."


ex.mistakes(r"""
lengths_not_used: In the short sequences the backward layer begins in the padding and carries it into the real steps:
  `lengths` makes no difference. Let it read real steps only, as when the embedded ids are packed with their lengths.
- states, _ = self.rnn(pack_padded_sequence(embedded, lengths, enforce_sorted=False))
- states, _ = pad_packed_sequence(states, total_length=len(ids))
+ states, _ = self.rnn(embedded)

padding_zeroed_and_read: The padding's vectors are zero, but the backward layer still reads them: W and the biases
  change its state, which then arrives at the real steps. Pack the sequence, so that the layer never sees the padding.
- states, _ = self.rnn(pack_padded_sequence(embedded, lengths, enforce_sorted=False))
- states, _ = pad_packed_sequence(states, total_length=len(ids))
+ states, _ = self.rnn(embedded * (torch.arange(len(ids))[:, None] < lengths)[..., None])

batch_read_as_time: The layer takes axis 0 for the batch, as with `batch_first=True`, but ids are (T, N): it reads
  across the sequences, from one row to the next. The shape comes out right all the same. Leave time first.
- self.rnn = nn.RNN(embedding_size, hidden_size, bidirectional=True)
+ self.rnn = nn.RNN(embedding_size, hidden_size, bidirectional=True, batch_first=True)

steps_cut_off: Where no sequence is as long as the batch, your logits have fewer steps than the ids: as many as the
  longest sequence. `pad_packed_sequence` gives as many as you want with `total_length=len(ids)`.
- states, _ = pad_packed_sequence(states, total_length=len(ids))
+ states, _ = pad_packed_sequence(states)

sorted_lengths_expected: Packing expects the longest sequence first unless told otherwise, and here they come in any
  order. With `enforce_sorted=False` it sorts them itself, and puts them back afterwards.
- states, _ = self.rnn(pack_padded_sequence(embedded, lengths, enforce_sorted=False))
+ states, _ = self.rnn(pack_padded_sequence(embedded, lengths))

left_in_sorted_order: The logits come out sorted by length: row n answers for another sequence. Put them back with
  `order.argsort()`, or leave the sorting to `enforce_sorted=False`.
- states, _ = self.rnn(pack_padded_sequence(embedded, lengths, enforce_sorted=False))
+ order = lengths.argsort(descending=True)
+ states, _ = self.rnn(pack_padded_sequence(embedded[:, order], lengths[order]))

order_for_its_inverse: You put the rows back with `order` itself, which sorts them once more. What undoes it is its
  inverse, `order.argsort()`.
- states, _ = self.rnn(pack_padded_sequence(embedded, lengths, enforce_sorted=False))
- states, _ = pad_packed_sequence(states, total_length=len(ids))
+ order = lengths.argsort(descending=True)
+ states, _ = self.rnn(pack_padded_sequence(embedded[:, order], lengths[order]))
+ states = pad_packed_sequence(states, total_length=len(ids))[0][:, order]

one_summary_for_all_steps: Every step gets the same logits, made from the final states of both directions, a summary of
  the sentence. A label for each step comes from the states of that step, the first thing that nn.RNN returns.
- states, _ = self.rnn(embedded)
+ _, h_n = self.rnn(embedded)
- states, _ = self.rnn(pack_padded_sequence(embedded, lengths, enforce_sorted=False))
- states, _ = pad_packed_sequence(states, total_length=len(ids))
+ _, h_n = self.rnn(pack_padded_sequence(embedded, lengths, enforce_sorted=False))
- return self.output(states)
+ return self.output(torch.cat([*h_n], dim=-1)).expand(len(ids), -1, -1)

probabilities_returned: You return probabilities. Logits are wanted: `cross_entropy` takes the softmax itself, and a
  second one on top makes it learn slowly and badly.
- return self.output(states)
+ return torch.softmax(self.output(states), dim=-1)

id_0_never_learns: The logits are right, but the vector of id 0 gets no gradient and never learns: `padding_idx=0` has
  this effect. Here 0 is a word like any other; it is the lengths that say what is padding.
- self.embedding = nn.Embedding(vocabulary_size, embedding_size)
+ self.embedding = nn.Embedding(vocabulary_size, embedding_size, padding_idx=0)

embedding_detached: The logits are right, but no gradient reaches the embedding: the words keep the vectors they were
  drawn with. Something between it and the recurrent layer cuts the graph, a `detach`, `.data` or `no_grad`.
- embedded = self.embedding(ids)
+ embedded = self.embedding(ids).detach()

backward_half_not_flipped: Your backward half runs against time: its first step is the last. What nn.RNN returns is
  aligned with time already: out[t] belongs to step t in both directions.
- return self.output(states)
+ forwards, backwards = states.chunk(2, dim=-1)
+ return self.output(torch.cat([forwards, backwards.flip(0)], dim=-1))
""")


unit.choice(
    "quiz_bidirectional",
    points=1,
    hints=(
        "A left-to-right language model gives p(x_{t+1} | x_1 … x_t). For each statement: what has the state that "
        "makes the prediction already read?",
        "To generate is to use a model where no future exists yet. And the product of conditional probabilities is the "
        "probability of the sequence only if each condition is the past, and nothing but the past.",
        "B and D multiply probabilities whose conditions hold more than the past. In one of them the network may have "
        "seen the answer, in the other it has not; neither product is the probability of the sequence.",
    ),
    options=Option.parse(r"""
A true, leak_overlooked: The backward state of step t has read all from the end down to step t, so x_{t+1}, the symbol
  to predict, is in it. Copying is the easiest thing to learn.
B false, low_loss_taken_for_knowledge: The chain rule multiplies p(x_t | past). A probability that was given with the
  answer in view is near 1 and says nothing about the sequence.
C true, future_taken_for_granted: While a text is being written, what comes after it does not exist, and the backward
  layer begins just there.
D false, both_sides_taken_for_the_past: The target no longer leaks, so this is a fair task to train on. But p(x_t | all
  the others) multiplied over t counts each dependence twice: for a fair coin and its copy it gives 1, and the truth is
  1/2.
E true, forward_layer_thrown_away: The state f_t has read x_1 … x_t and nothing else; with an output of its own it
  predicts x_{t+1} as in unit 06.
F false, more_data_expected_to_help: More data or units make it copy more surely. What is wrong is the question that it
  is asked, not how well it answers.
"""),
)
