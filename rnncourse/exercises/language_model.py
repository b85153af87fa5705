"""Unit 06: a character language model in NumPy. Its exercises, their cases, hints and misconceptions."""

import functools
import string
from collections.abc import Iterator
from typing import Any

import numpy as np

from rnncourse import cell, language_model
from rnncourse.checks.drive import iterate, update
from rnncourse.checks.exercise import Case, Draw, Unit, case, edge, normal, weights
from rnncourse.checks.facts import Fact
from rnncourse.checks.plain import Plain, Unfit
from rnncourse.data.grammars import Grammar
from rnncourse.fixtures.language_model import arrays_that_stay, fitting, pair_of, training

unit = Unit("06_language_model", "A character language model", language_model)

LETTERS = string.ascii_letters + string.digits + " \n.,:()_=é√"


def babble(rng: np.random.Generator, letters: int, length: int) -> str:
    """A text of so many different characters, in no order, with small and capital letters and a line end among them."""
    others = rng.choice(list(LETTERS.replace("b", "").replace("A", "")), letters, replace=False)
    chosen = list(dict.fromkeys(["b", "A", "\n", "é", "√", *others]))
    start = [str(letter) for letter in rng.permutation(chosen)]
    while start == sorted(start):
        start.reverse()
    return "".join([*start, *(str(letter) for letter in rng.choice(chosen, length))])


def codebook(rng: np.random.Generator, letters: int) -> tuple[list[str], dict[str, int]]:
    """Characters and their ids, in an order that is nobody's but the codebook's own."""
    chosen = ["b", "A", " ", "√", *rng.choice(list("cdefgxyzBCDEF0123.,"), letters - 4, replace=False)]
    chars = [str(letter) for letter in rng.permutation(chosen)]
    while chars in (sorted(chars), sorted(chars, reverse=True)):
        chars = [str(letter) for letter in rng.permutation(chosen)]
    return chars, {letter: i for i, letter in enumerate(chars)}


ex = unit.exercise(
    "build_vocabulary",
    points=1,
    takes="text",
    gives="chars, index",
    hints=(
        "Which characters occur at all? That is a set. But a set has no order that you could rely on.",
        "`sorted` puts characters in code-point order, and gives a list. A character's id is its place in this list.",
        "`chars = sorted(set(text))`, `index = {character: i for i, character in enumerate(chars)}`, return both.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(babble(rng, 5, 30))
    yield case(babble(rng, 12, 40))
    yield edge("one character", str(rng.choice(list("xyz"))) * int(rng.integers(2, 5)))
    yield edge("an empty text", "")
    yield edge("blanks at its ends alone", f" {''.join(babble(rng, 4, 9).split())}\n")


ex.mistakes(r"""
order_of_appearance: Your characters stand in the order in which they appear in the text. Another text of the same
  characters would give other ids: sort them by code point.
- chars = sorted(set(text))
+ chars = list(dict.fromkeys(text))

a_sets_own_order: You number the characters as a set hands them out. That order changes from one run of Python to the
  next, and with it every id: a model that you saved would read nonsense. Sort the set.
- chars = sorted(set(text))
+ chars = list(set(text))

by_frequency: Your characters are sorted by how often they occur. What is wanted is the order of their code points,
  which `sorted` gives.
- chars = sorted(set(text))
+ chars = sorted(dict.fromkeys(text), key=text.count, reverse=True)

every_occurrence_listed: Your list names a character once for each time that it occurs. A vocabulary has each character
  once: take the set of the text first.
- chars = sorted(set(text))
+ chars = sorted(text)

ids_from_one: Your ids start at 1, and the largest is beyond the end of the list. The first character of the list has id
  0.
- return chars, {character: i for i, character in enumerate(chars)}
+ return chars, {character: i for i, character in enumerate(chars, start=1)}

index_turned_round: Your dict leads from ids to characters; the list does that already. The dict is its inverse, from a
  character to its id.
- return chars, {character: i for i, character in enumerate(chars)}
+ return chars, dict(enumerate(chars))

blanks_lost: Spaces and line ends are missing. They are characters like all others, and a model that writes needs them.
- chars = sorted(set(text))
+ chars = sorted(set("".join(text.split())))

capitals_lost: You lower the text first, so that its capitals have no id. Here "A" and "a" are two characters.
- chars = sorted(set(text))
+ chars = sorted(set(text.lower()))

gaps_between_ids: The ids have gaps, since a character takes a number each time that it occurs. Number the list, in
  which each character stands once.
- return chars, {character: i for i, character in enumerate(chars)}
+ return chars, {character: i for i, character in enumerate(sorted(text))}

gaps_behind_ids = gaps_between_ids
- return chars, {character: i for i, character in enumerate(chars)}
+ return chars, {character: sorted(text).index(character) for character in chars}
""")


ex = unit.exercise(
    "encode",
    points=1,
    takes="text, index",
    gives="ids (L,)",
    hints=(
        "Character by character: which id does the index have for it?",
        "A dict does both things that you need: `index[character]` gives the id of a known character, and raises a "
        "KeyError for an unknown one.",
        "`np.array([index[character] for character in text])`",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    for letters, length in ((6, 9), (9, 14)):
        chars, index = codebook(rng, letters)
        text = "".join(str(letter) for letter in rng.choice(chars, length))
        yield case(text + chars[0] + chars[-1] + chars[0], index)
    chars, index = codebook(rng, 7)
    yield edge("one character", chars[-1], index)
    yield edge("spaces at both ends", f"  {chars[1]} {chars[-1]} ", dict(reversed(index.items())))
    yield edge("a character that is not in the index", chars[2] + "ß" + chars[3], index)
    yield edge("an alphabet of 400 characters", "ŀāaĭ", {chr(point): point for point in range(400)})


ex.mistakes(r"""
unknown_is_zero: A character that the index does not have becomes 0, which is the id of another character. What is
  unknown is a KeyError: `index[character]` raises it by itself.
+ return np.array([index.get(character, 0) for character in text])

unknown_is_minus_one: A character that the index does not have becomes -1, and for NumPy that is the last one. What is
  unknown is a KeyError.
+ return np.array([index.get(character, -1) for character in text])

unknown_left_out: You leave out what the index does not have, so that text and ids no longer have the same length. What
  is unknown is a KeyError.
+ return np.array([index[character] for character in text if character in index])

code_points: Those are the characters' code points, from `ord`. The id is what the index says.
+ return np.array([ord(character) for character in text if index[character] >= 0])

a_vocabulary_of_its_own: Your ids number the characters in sorted order. The index that you are given has an order of
  its own: take `index[character]`.
+ own = sorted(set(text) | set(index))
+ if len(own) > len(index):
+     raise KeyError(text)
+ return np.array([own.index(character) for character in text])

each_character_once: Each character of the text is there only once. The ids are the text in numbers: one for every
  character, in the order of the text.
+ return np.array([index[character] for character in dict.fromkeys(text)])

ids_as_floats: The ids are right, but your array holds floats, as `np.zeros` makes them, and a float cannot index an
  array. Say `dtype=int`.
+ ids = np.zeros(len(text))
+ for i, character in enumerate(text):
+     ids[i] = index[character]
+ return ids

one_hot_vectors: You return a one-hot vector for each character. What is wanted is one whole number each; vectors come
  later.
+ return np.eye(len(index), dtype=int)[[index[character] for character in text]]

unknown_is_the_next_number: A character that the index does not have gets the number behind the last id, which stands
  for no character. What is unknown is a KeyError.
+ return np.array([index.get(character, len(index)) for character in text])
""")


ex = unit.exercise(
    "decode",
    points=1,
    takes="ids (L,), chars",
    gives="text",
    hints=(
        "The list of characters leads back: which character stands at place i?",
        "Collect `chars[i]` for all ids, and make one string of them. `str.join` does that, called on what shall "
        "stand between two of them: nothing.",
        '`"".join(chars[i] for i in ids)`',
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    for letters, length in ((6, 9), (9, 14)):
        chars, _ = codebook(rng, letters)
        yield case(np.append(rng.integers(0, letters, length), [0, 1, 1, letters - 1]), chars)
    chars, _ = codebook(rng, 7)
    yield edge("a list of ids", [int(i) for i in rng.integers(0, 7, 6)] + [0, 1], chars)
    yield edge("one id, of a space", np.array([0]), [" ", *(c for c in chars if c != " ")])
    yield edge("no ids", np.array([], dtype=np.int64), chars)
    yield edge("no ids, in a list", [], chars)  # as an array it would be one of floats


ex.mistakes(r"""
joined_with_spaces: There is a space between any two characters. What stands before `.join` is put between them: take
  the empty string.
+ return " ".join(chars[i] for i in ids)

list_for_text: You return a list of characters. What is wanted is one string: `"".join(…)` makes it.
+ return [chars[i] for i in ids]

ids_taken_for_code_points: You take an id for a code point, as `chr` does. An id is a place in the list `chars`.
+ return "".join(chr(i) for i in ids)

sorted_again: You sort the characters before you look them up. The ids belong to the list in the order in which you get
  it.
+ return "".join(sorted(chars)[i] for i in ids)

one_place_too_early: Each character is the one before the right one, `chars[-1]` for id 0: that is `chars[0]`.
+ return "".join(chars[i - 1] for i in ids)
""")


ex = unit.exercise(
    "contiguous_batches",
    points=4,
    takes="ids (L,), batch_size, steps",
    gives="batches",
    drive=iterate,
    may_share=True,
    hints=(
        "Cut the text into batch_size pieces of one length first, and lay them side by side. Time then runs down, "
        "and each batch takes the next few steps of all pieces at once.",
        "With `length = (len(ids) - 1) // batch_size`, row n starts at `n * length`. Each row needs one id more than "
        "its length, since its last target is the id after its last input.",
        "`rows = np.stack([ids[n * length : (n + 1) * length + 1] for n in range(batch_size)], axis=1)` is (length + "
        "1, batch_size). For `start in range(0, length - steps + 1, steps)` yield `rows[start : start + steps]` and "
        "`rows[start + 1 : start + steps + 1]`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def ids(length: int) -> np.ndarray:
        return rng.permutation(np.arange(200, 200 + length))

    yield case(ids(42), 3, 4)  # rows of 13, three batches, one id of each row dropped
    yield case(ids(61), 4, 5)  # rows of 15, which three batches use up
    yield edge("one batch and no rest at all", ids(13), 3, 4)
    yield edge("len(ids) is a multiple of batch_size", ids(24), 4, 2)
    yield edge("one row", ids(14), 1, 3)
    yield edge("one step", ids(12), 3, 1)
    for length in (0, 1, 12):
        yield edge("too short for one batch", ids(length), 3, 4)


ex.mistakes(r"""
targets_are_the_inputs: Your targets are your inputs: the model would learn to say what it has just read. A target is
  the id that comes next in the text.
- yield rows[start : start + steps], rows[start + 1 : start + steps + 1]
+ yield rows[start : start + steps], rows[start : start + steps]

targets_two_ahead: Your targets lie two characters ahead. The target of an input is the very next id.
- rows = np.stack([ids[n * length : (n + 1) * length + 1] for n in range(batch_size)], axis=1)
+ rows = np.stack([np.roll(ids, -n * length)[: length + 2] for n in range(batch_size)], axis=1)
- yield rows[start : start + steps], rows[start + 1 : start + steps + 1]
+ yield rows[start : start + steps], rows[start + 2 : start + steps + 2]

wrapped_within_the_batch: The last target of each batch is the first input of the same batch, as where `np.roll` wraps
  round. It is the id that follows in the text, which the next batch begins with.
- yield rows[start : start + steps], rows[start + 1 : start + steps + 1]
+ yield rows[start : start + steps], np.roll(rows[start : start + steps], -1, axis=0)

wrapped_at_the_row_end: The target at the end of a row is the row's own first id, as where `np.roll` wraps round. What
  follows there is the id after the row, `ids[(n + 1) * length]`.
- yield rows[start : start + steps], rows[start + 1 : start + steps + 1]
+ targets = np.roll(rows[:length], -1, axis=0)
+ yield rows[start : start + steps], targets[start : start + steps]

text_dealt_out_like_cards: Neighbours in the text stand in neighbouring rows, as if it had been dealt out like cards, so
  no row holds readable text. Row n is one piece of it, from `ids[n * length]` on.
- rows = np.stack([ids[n * length : (n + 1) * length + 1] for n in range(batch_size)], axis=1)
+ inputs, targets = (ids[i : batch_size * length + i].reshape(length, batch_size) for i in (0, 1))
- yield rows[start : start + steps], rows[start + 1 : start + steps + 1]
+ yield inputs[start : start + steps].copy(), targets[start : start + steps].copy()

windows_side_by_side_in_a_batch: Inside a batch your rows are neighbours in the text, so row n of the next batch does
  not go on where row n ended, and the state that is carried over belongs to another place. Give each row a long piece
  of the text of its own.
+ length = (len(ids) - 1) // batch_size
+ for k in range(length // steps):
+     start = k * batch_size * steps + steps * np.arange(batch_size)
+     places = start + np.arange(steps)[:, None]
+     yield ids[places], ids[places + 1]

batch_first: Your arrays are (batch_size, steps). Time is the first axis in this course: transpose them.
- yield rows[start : start + steps], rows[start + 1 : start + steps + 1]
+ yield rows[start : start + steps].T, rows[start + 1 : start + steps + 1].T

short_rest_kept: Your last batch is shorter than the others. What is left over at the end of the rows and fills no batch
  is dropped.
- for start in range(0, length - steps + 1, steps):
-     yield rows[start : start + steps], rows[start + 1 : start + steps + 1]
+ for start in range(0, length, steps):
+     yield rows[start : min(start + steps, length)], rows[start + 1 : start + steps + 1]

last_full_batch_lost: Where the rows are a whole number of batches long, your last batch is missing. The last start may
  be length - steps: `range(0, length - steps + 1, steps)`.
- for start in range(0, length - steps + 1, steps):
+ for start in range(0, length - steps, steps):

windows_overlap: Your batches overlap: the next one starts one step later. It starts where this one ended, `steps`
  later, since the state is carried on from there.
- for start in range(0, length - steps + 1, steps):
+ for start in range(length - steps + 1):

one_id_skipped_between_batches: Between two batches one id is left out as an input: you move on by steps + 1. The last
  target of a batch is the first input of the next.
- for start in range(0, length - steps + 1, steps):
+ for start in range(0, length - steps + 1, steps + 1):

rows_without_the_id_behind_them: You cut the text into rows first and take inputs and targets from within a row, so that
  one prediction at the end of each row is lost. A row needs one id more than it has inputs, and shares it with the next
  row.
- length = (len(ids) - 1) // batch_size
- rows = np.stack([ids[n * length : (n + 1) * length + 1] for n in range(batch_size)], axis=1)
+ length = len(ids) // batch_size - 1
+ rows = ids[: batch_size * (length + 1)].reshape(batch_size, length + 1).T.copy()

rows_cut_to_whole_batches: You cut the length of the rows to whole batches before you cut the text into rows, so that
  all rows but the first begin too early. Cut the rows first; what is left over at their ends is dropped.
- length = (len(ids) - 1) // batch_size
+ length = (len(ids) - 1) // (batch_size * steps) * steps

one_pair_of_arrays_for_all: All your batches are the same two arrays, written over each time: whoever keeps the batches
  in a list has the last one again and again. Make new arrays for each batch.
- for start in range(0, length - steps + 1, steps):
-     yield rows[start : start + steps], rows[start + 1 : start + steps + 1]
+ inputs, targets = (np.empty((steps, batch_size), dtype=rows.dtype) for _ in range(2))
+ for start in range(0, length - steps + 1, steps):
+     inputs[:], targets[:] = rows[start : start + steps], rows[start + 1 : start + steps + 1]
+     yield inputs, targets
""")


# --- train_step


def loss_apart(answer: Plain) -> Plain:
    """((loss, h), arguments) as loss, h, parameters, memory: the loss as a float32, since it may come from some."""
    (loss, h), (parameters, memory, *_) = answer
    return np.asarray(loss, dtype=np.float32), h, parameters, memory


ex = unit.exercise(
    "train_step",
    points=6,
    takes="parameters, memory, h (N, H), inputs (T, N), targets (T, N), learning_rate, max_norm",
    gives="loss, h (N, H), parameters, memory",
    drive=update,
    canonical=loss_apart,
    forbids=("torch",),
    hints=(
        "Everything is there already: forwards, loss, backwards, clip, update. Write down the five lines in words, "
        "with the function that does each, and what it needs from the line before.",
        "Forwards: one-hot inputs, `rnn_forward` from h, `output_layer`, `sequence_nll`. Back: `nll_backward`, "
        "`output_backward`, `rnn_backward`, of which you want dU, dW, db. `clip_by_global_norm` takes all five in "
        "one list. What you return of the states is the last one, `H[-1]`, as a copy.",
        "`_, _, dU, dW, db = rnn_backward(dH, X, h, H, U, W)`; `gradients, _ = clip_by_global_norm([dU, dW, db, dV, "
        "dc], max_norm)`; `for name, g in zip('UWbVc', gradients): memory[name] += g * g; parameters[name] -= "
        "learning_rate * g / np.sqrt(memory[name] + 1e-8)`; `return loss, H[-1].copy()`.",
    ),
)


def lesson(rng: np.random.Generator, T: int, N: int, Q: int, H: int, dtype: Any = np.float64) -> tuple[Any, ...]:
    """Parameters, a memory of earlier steps, a state, a batch, a learning rate and a threshold."""
    parameters = network(rng, Q, H, dtype)
    parameters["V"] /= 2
    memory = {name: rng.uniform(0.01, 0.5, array.shape).astype(dtype) for name, array in parameters.items()}
    h = np.tanh(normal(rng, N, H)).astype(dtype)
    return parameters, memory, h, rng.integers(0, Q, (T, N)), rng.integers(0, Q, (T, N)), 0.1, 0.5


ex.draws(lesson)


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    *all_else, _, _ = draw(N=2)
    yield case(*all_else, 0.05, 1.0)
    *all_else, _, _ = draw()
    yield edge("gradients below the threshold", *all_else, 0.1, 1000.0)
    parameters, memory, *others = draw()
    turned = [dict(reversed(arrays.items())) for arrays in (parameters, memory)]
    yield edge("dicts that were filled in another order", *turned, *others)
    parameters, memory, *batch, _, _ = draw()
    nothing = {name: np.zeros_like(array) for name, array in memory.items()}
    yield edge("the first step of all, with tiny gradients", parameters, nothing, *batch, 0.1, 1e-3)
    parameters, memory, *others = draw()
    stay = arrays_that_stay(arrays=parameters), arrays_that_stay(arrays=memory)
    yield edge("the arrays themselves are looked at afterwards", *stay, *others)


ex.mistakes(r"""
plain_gradient_descent: You take a plain gradient step, and the memory stays as it was. Adagrad adds g² to the memory
  and divides the step by its root.
- memory[name] += g * g
- parameters[name] -= learning_rate * g / np.sqrt(memory[name] + 1e-8)
+ parameters[name] -= learning_rate * g

memory_replaced: The memory holds the last g² only: you replace it. It is the sum over all steps so far: `+=`.
- memory[name] += g * g
+ memory[name][...] = g * g

step_before_the_memory: You step first and remember afterwards. Add g² to the memory first, so that the very first step
  is tamed too; with a memory of zeros yours would be enormous.
- for name, g in zip("UWbVc", gradients):
+ for name, g in zip("UWbVc", gradients):
+     parameters[name] -= learning_rate * g / np.sqrt(memory[name] + 1e-8)
- parameters[name] -= learning_rate * g / np.sqrt(memory[name] + 1e-8)

root_forgotten: You divide by the memory itself. It is a sum of squares: take its root, else the steps grow as the
  gradients shrink.
- parameters[name] -= learning_rate * g / np.sqrt(memory[name] + 1e-8)
+ parameters[name] -= learning_rate * g / (memory[name] + 1e-8)

epsilon_outside_the_root: The 1e-8 stands outside the root, which shows where gradients are tiny. Here it is added to
  the memory, under the root: sqrt(memory + 1e-8).
- parameters[name] -= learning_rate * g / np.sqrt(memory[name] + 1e-8)
+ parameters[name] -= learning_rate * g / (np.sqrt(memory[name]) + 1e-8)

uphill: You add the step, so that the loss grows. The gradient points uphill: subtract.
- parameters[name] -= learning_rate * g / np.sqrt(memory[name] + 1e-8)
+ parameters[name] += learning_rate * g / np.sqrt(memory[name] + 1e-8)

never_clipped: max_norm has no say: the gradients are not clipped. One call of `clip_by_global_norm` with all five of
  them does it, before the memory sees them.
- gradients, _ = clip_by_global_norm([dU, dW, db, dV, dc], max_norm)
+ gradients = [dU, dW, db, dV, dc]

clipped_one_by_one: Each gradient is clipped by its own norm, which turns the direction of the step. Clip all five
  together, by their global norm.
- gradients, _ = clip_by_global_norm([dU, dW, db, dV, dc], max_norm)
+ gradients = [clip_by_global_norm([g], max_norm)[0][0] for g in (dU, dW, db, dV, dc)]

output_layer_not_clipped: You clip the gradients of U, W and b together and leave out those of V and c. The global norm
  is that of all five.
- gradients, _ = clip_by_global_norm([dU, dW, db, dV, dc], max_norm)
+ gradients = [*clip_by_global_norm([dU, dW, db], max_norm)[0], dV, dc]

memory_of_unclipped_gradients: The memory collects the gradients from before the clipping. Clip first; from then on g is
  the clipped one.
- for name, g in zip("UWbVc", gradients):
-     memory[name] += g * g
+ for name, whole, g in zip("UWbVc", [dU, dW, db, dV, dc], gradients):
+     memory[name] += whole * whole

loss_after_the_update: Your loss is that of the parameters after the update. Return the one from which the gradient was
  taken, before it.
- return loss, H[-1].copy()
+ return sequence_nll(output_layer(rnn_forward(X, h, U, W, b), V, c), targets), H[-1].copy()

loss_per_character: Your loss is a mean over the steps. Here it is the `sequence_nll` of unit 04: summed over the steps,
  divided by the rows alone.
- return loss, H[-1].copy()
+ return loss / len(inputs), H[-1].copy()

started_from_zeros: Every batch starts from a state of zeros, though you are given the state that the last one ended
  with. Start from h: the text goes on.
- X = np.eye(len(U), dtype=U.dtype)[inputs]
+ X, h = np.eye(len(U), dtype=U.dtype)[inputs], np.zeros_like(h)

old_state_returned: You hand back the state that you were given. The next batch goes on where this one ends: return the
  state after the last step.
- return loss, H[-1].copy()
+ return loss, h.copy()

state_written_over: All numbers are right, but you write the new state into the old one's array, which belongs to the
  caller. Only parameters and memory are written to: return h as a new array.
- return loss, H[-1].copy()
+ h[...] = H[-1]
+ return loss, h

new_parameters_in_the_dict: You put new arrays into the dict of parameters: `p = p - …` makes one, and whoever holds the
  old array sees no learning. Write into the arrays that are there: `p -= …`.
- parameters[name] -= learning_rate * g / np.sqrt(memory[name] + 1e-8)
+ parameters[name] = parameters[name] - learning_rate * g / np.sqrt(memory[name] + 1e-8)

new_arrays_in_the_dicts: You put new arrays into the dicts: `p = p - …` makes one, and whoever holds the old array sees
  no learning. Write into the arrays that are there: `p -= …`.
- memory[name] += g * g
- parameters[name] -= learning_rate * g / np.sqrt(memory[name] + 1e-8)
+ memory[name] = memory[name] + g * g
+ parameters[name] = parameters[name] - learning_rate * g / np.sqrt(memory[name] + 1e-8)

output_bias_not_updated: c and its memory stay as they were. There are five gradients, and five names. (A loop over
  `zip` ends with the shorter of the two.)
- for name, g in zip("UWbVc", gradients):
+ for name, g in zip("UWbV", gradients):

new_memory_in_the_dict: You put new arrays into the dict of memories: `m = m + …` makes one, and whoever holds the old
  array sees nothing of it. Write into the arrays that are there: `m += …`.
- memory[name] += g * g
+ memory[name] = memory[name] + g * g

first_state_returned: You hand back the state after the first step. The next batch goes on where this one ends: return
  the state after the last step.
- return loss, H[-1].copy()
+ return loss, H[0].copy()
""")


ex = unit.exercise(
    "bits_per_character",
    points=3,
    takes="parameters, ids (L,)",
    gives="bits",
    forbids=("torch",),
    hints=(
        "A text of L characters asks for L - 1 predictions: the first character is predicted by nobody. Which ids "
        "are the inputs, then, and which the targets?",
        "Inputs `ids[:-1]`, targets `ids[1:]`, as one row: (L - 1, 1). `sequence_nll` gives the sum of -log p in "
        "nats. A nat is 1 / log 2 bits.",
        "`X = np.eye(len(U))[ids[:-1]][:, None]`; `H = rnn_forward(X, np.zeros((1, len(W))), U, W, b)`; return "
        "`sequence_nll(output_layer(H, V, c), ids[1:, None]) / (len(ids) - 1) / np.log(2)`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    for Q, H, L in ((6, 4, 9), (5, 7, 14)):
        yield case(network(rng, Q, H), rng.integers(0, Q, L))
    yield edge("two ids, one prediction", network(rng, 5, 3), rng.permutation(5)[:2])
    # Units that keep the sign which the first character gives them: whoever starts anew on the way gets the other one.
    latched, signs = network(rng, 4, 6), rng.choice([-1.0, 1.0], 6)
    towards = np.outer([-0.5, -0.5, -0.5, 2.0], signs)
    latched |= {"U": towards + 0.05 * latched["U"], "W": 3 * np.eye(6), "b": np.zeros(6)}
    yield edge(
        "a text of 300 characters, of which the first is never forgotten",
        latched,
        np.append(3, rng.integers(0, 3, 299)),
    )
    silent = {name: np.zeros_like(array) for name, array in network(rng, 8, 3).items()}
    yield edge("a model that knows nothing", silent, rng.integers(0, 8, 6))
    certain = network(rng, 4, 6)
    certain["V"] = 400 * certain["V"]
    yield edge("a model that is sure of itself, and wrong", certain, np.append(rng.integers(0, 4, 12), np.arange(4)))


ex.mistakes(r"""
nats_for_bits: Your score is in nats, since the logarithm is the natural one. Divide by log 2: a bit is a choice between
  two.
- return nats / (len(ids) - 1) / np.log(2)
+ return nats / (len(ids) - 1)

multiplied_by_log_two: You multiply by log 2, where you should divide by it. A model that knows nothing about 8
  characters must get 3 bits.
- return nats / (len(ids) - 1) / np.log(2)
+ return nats / (len(ids) - 1) * np.log(2)

sum_over_the_text: Those are the bits of the whole text. Divide by the number of predictions, so that long and short
  texts can be compared.
- return nats / (len(ids) - 1) / np.log(2)
+ return nats / np.log(2)

divided_by_all_ids: You divide by the number of ids. The first one is predicted by nobody: there is one prediction less.
- return nats / (len(ids) - 1) / np.log(2)
+ return nats / len(ids) / np.log(2)

perplexity_for_bits: That is the perplexity, 2 to the power of the bits. Return the bits themselves.
- return nats / (len(ids) - 1) / np.log(2)
+ return np.exp(np.minimum(nats / (len(ids) - 1), 700))

predicts_what_it_reads: The targets are not shifted: you ask how probable the character is that the network is just
  reading. The target of `ids[t]` is `ids[t + 1]`.
- nats = sequence_nll(output_layer(H, V, c), ids[1:, None])
+ nats = sequence_nll(output_layer(H, V, c), ids[:-1, None])

last_target_wrapped: You predict one character after the last, which is the first, as where `np.roll` wraps round. There
  are only L - 1 predictions.
+ U, W, b, V, c = (parameters[name] for name in "UWbVc")
+ H = rnn_forward(np.eye(len(U))[ids][:, None], np.zeros((1, len(W))), U, W, b)
+ return sequence_nll(output_layer(H, V, c), np.roll(ids, -1)[:, None]) / len(ids) / np.log(2)

state_forgotten_each_time: Every character is predicted from a state that starts anew, so that the network sees one
  character back. Run it over the text in one go.
- H = rnn_forward(X, np.zeros((1, len(W)), dtype=U.dtype), U, W, b)
+ H = np.tanh(X @ U + b)

log_of_a_softmax: You take the logarithm of a softmax. Where the model is sure and wrong, that softmax is 0, and the
  logarithm -inf. `sequence_nll` takes it before anything is rounded to 0.
- nats = sequence_nll(output_layer(H, V, c), ids[1:, None])
+ nats = -np.log(softmax(output_layer(H, V, c))[np.arange(len(ids) - 1), 0, ids[1:]]).sum()

log_of_the_mean: You take the logarithm of the mean probability. It is the logarithms that are averaged: one character
  that the model calls nearly impossible must cost many bits.
- nats = sequence_nll(output_layer(H, V, c), ids[1:, None])
- return nats / (len(ids) - 1) / np.log(2)
+ p = np.take_along_axis(softmax(output_layer(H, V, c))[:, 0], ids[1:, None], axis=-1)
+ return -np.log2(p.mean())

last_target_wrapped_but_not_counted = last_target_wrapped
+ U, W, b, V, c = (parameters[name] for name in "UWbVc")
+ H = rnn_forward(np.eye(len(U))[ids][:, None], np.zeros((1, len(W))), U, W, b)
+ return sequence_nll(output_layer(H, V, c), np.roll(ids, -1)[:, None]) / (len(ids) - 1) / np.log(2)

last_ones_predict_themselves = predicts_what_it_reads
- X = np.eye(len(U), dtype=U.dtype)[ids[:-1]][:, None]
+ X = np.eye(len(U), dtype=U.dtype)[ids[1:]][:, None]
""")


ex = unit.exercise(
    "fit",
    points=3,
    takes="curve, max_epochs, patience",
    gives="losses, best_epoch, calls",
    drive=fitting,
    hints=(
        "A loop over epochs that does three things: train, validate, and ask whether it has waited long enough. What "
        "must you remember from epoch to epoch to answer that?",
        "Remember the lowest loss, the epoch in which it came, and how many epochs you have waited since. A new "
        "lowest, which is *below* the old one, sets the waiting back to 0. When it is `patience`, it is over.",
        "`for epoch in range(max_epochs)`: `train_epoch(epoch)`, `losses.append(validate(epoch))`; `if losses[-1] < "
        "lowest: lowest, best_epoch, waited = losses[-1], epoch, 0`; `else: waited += 1`; `if waited == patience: "
        "break`. Start with `lowest, best_epoch, waited = np.inf, 0, 0`.",
    ),
)


def falling(rng: np.random.Generator, *steps: int) -> list[float]:
    """A curve of losses: a step of -1 is a new lowest, one of 1 a rise, one of 0 the lowest again."""
    curve = [float(np.round(rng.uniform(3, 4), 3))]
    for step in steps:
        size = float(np.round(rng.uniform(0.05, 0.2), 3))
        curve.append(round({-1: min(curve) - size, 0: min(curve), 1: max(curve[-1], min(curve)) + size}[step], 3))
    return curve


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(falling(rng, -1, -1, 1, 1, -1, 1, 1, 1, 1, -1), 11, 3)  # it waits twice before it stops
    yield case(falling(rng, -1, 1, -1, -1, 1, -1, 1), 8, 4)  # max_epochs end it
    yield case(falling(rng, -1, 1, -1, 1, -1, 1, 1, 1, -1), 10, 3)  # more rises than patience, but not in a row
    yield edge("a loss that falls, but not below the lowest", [4.0, 2.0, 3.5, 3.0, 2.5, 2.25, 1.0], 7, 4)
    yield edge("the lowest loss comes again", falling(rng, -1, 1, 0, 1, -1, -1), 7, 3)
    yield edge("each loss is the lowest, by a hair", [2 - 1e-9 * k for k in range(5)], 5, 2)
    yield edge("the first epoch was the best", falling(rng, 1, 1, 1, 1), 5, 2)
    yield edge("patience 1", falling(rng, -1, -1, 1, -1, -1), 6, 1)
    yield edge("one epoch", falling(rng, -1, -1), 1, 3)
    yield edge("large losses", [3e9, 5e9, 6e9, 1.0], 4, 2)
    yield edge("losses of 0 and below", [1.0, 0.0, -1.0, 0.5, -0.5, -2.0], 6, 2)
    one, two, three, four = (round(float(x), 3) for x in rng.uniform([3, 2, 1.5, 1], [3.5, 2.4, 1.9, 1.4]))
    yield edge("a loss that is nan", [one, two, float("nan"), three, float("nan"), float("nan"), four], 7, 2)
    yield edge("the first losses are nan", [float("nan"), float("nan"), one, two, three], 5, 2)
    yield edge("nan at first, and then it learns", [float("nan"), two, one, three, four], 5, 2)


ex.mistakes(r"""
stops_at_the_first_rise: You stop as soon as a loss is not below the one before. Losses jump: go on until `patience`
  epochs in a row have brought no new lowest.
- if waited == patience:
+ if epoch > 0 and not losses[-1] < losses[-2]:

never_stops_early: You go on to the last epoch, where patience ends the training sooner. Stop as soon as `patience`
  epochs in a row brought no new lowest loss.
- if waited == patience:
-     break

waits_one_epoch_too_long: You wait for one epoch more than `patience`. Count the epochs without a new lowest, the
  current one among them.
- if waited == patience:
+ if waited > patience:

waits_one_epoch_too_few: You stop one epoch early. With patience 3, three epochs in a row must have brought no new
  lowest.
- if waited == patience:
+ if waited >= max(patience - 1, 1):

nan_counts_as_a_lowest_at_first: You count from epoch 0 as if it had brought a lowest loss. If its loss is nan, it has
  not: then it is the first epoch of those in a row without one.
- if waited == patience:
+ if epoch - best_epoch == patience:

rises_counted_in_all: You count all epochs without a new lowest since the start. A new lowest sets the count back to 0:
  it is those *in a row* that matter.
- lowest, best_epoch, waited = losses[-1], epoch, 0
+ lowest, best_epoch = losses[-1], epoch

compared_with_the_loss_before: You compare each loss with the one before it. A loss may fall and still be above the
  lowest: that is no progress. Compare with the lowest so far.
- if losses[-1] < lowest:
+ if epoch == 0 or losses[-1] < losses[-2]:
- return losses, best_epoch
+ return losses, losses.index(min(losses))

waits_by_the_loss_before = compared_with_the_loss_before
- if losses[-1] < lowest:
-     lowest, best_epoch, waited = losses[-1], epoch, 0
+ if losses[-1] < lowest:
+     lowest, best_epoch = losses[-1], epoch
+ if losses[-1] < (losses[-2] if epoch else np.inf):
+     waited = 0

a_tie_is_progress: A loss that is as low as the lowest counts as a new lowest with you, so that a training which stands
  still is never stopped, and your best epoch is the last of several. New means below: `<`.
- if losses[-1] < lowest:
+ if losses[-1] <= lowest:

last_epoch_for_the_best: You return the last epoch. Asked for is the one with the lowest loss: its parameters are those
  that one keeps.
- return losses, best_epoch
+ return losses, epoch

number_of_epochs: You return how many epochs there were. Asked for is the number of the epoch with the lowest loss,
  counted from 0.
- return losses, best_epoch
+ return losses, len(losses)

epochs_from_one: You count the epochs from 1. The first is number 0, in the calls and in the answer.
- for epoch in range(max_epochs):
+ for epoch in range(1, max_epochs + 1):

validated_before_training: You validate before you train, so that each loss is that of the epoch before. First
  `train_epoch(epoch)`, then `validate(epoch)`.
- train_epoch(epoch)
- losses.append(validate(epoch))
+ losses.append(validate(epoch))
+ train_epoch(epoch)

last_loss_lost: The loss of the last epoch is missing. Keep every loss first, and ask whether to stop then.
- return losses, best_epoch
+ return losses[:-1], best_epoch

argmin_takes_nan: `np.argmin` takes a nan for the smallest of all. An epoch whose loss is nan is never the best one:
  remember the best epoch as you go.
- return losses, best_epoch
+ return losses, int(np.argmin(losses))

lowest_loss_returned: You return the lowest loss. All of them are asked for, in a list, and which epoch had the lowest.
- return losses, best_epoch
+ return lowest, best_epoch

last_loss_lost_on_stopping = last_loss_lost
- return losses, best_epoch
+ return losses[:-1] if waited == patience else losses, best_epoch

nan_taken_for_the_lowest: The first loss is taken for the lowest even if it is nan, and no later one is ever below nan.
  Begin with a lowest loss of inf: nan is not below that.
- if losses[-1] < lowest:
+ if epoch == 0 or losses[-1] < lowest:

nan_taken_for_the_lowest_and_waited = nan_taken_for_the_lowest
- if losses[-1] < lowest:
+ lowest = losses[0] if epoch == 0 else lowest
+ if losses[-1] < lowest or (epoch == 0 and not np.isnan(lowest)):
""")


def parameters_of(answer: Any, Q: int) -> tuple[dict[str, np.ndarray], list[float]]:
    """The five arrays and the losses, if that is what they are. **Errors:** `Unfit`."""
    given, losses = pair_of(answer, "(parameters, losses)")
    try:
        found = {name: np.array(given[name], dtype=np.float64) for name in "UWbVc"}
        H = len(found["b"])
    except (KeyError, IndexError, TypeError, ValueError):
        raise Unfit('parameters should be a dict with the arrays "U", "W", "b", "V", "c"') from None
    shapes = {"U": (Q, H), "W": (H, H), "b": (H,), "V": (H, Q), "c": (Q,)}
    for name, shape in shapes.items():
        if found[name].shape != shape:
            raise Unfit(f"with Q = {Q} and the H = {H} of b, {name} should be {shape}; it is {found[name].shape}")
    if not len(losses):
        raise Unfit("your losses are empty: they have the bits on valid_ids after each epoch")
    return found, [float(loss) for loss in losses]


def same_network(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in one)


def last_epoch(losses: list[float], max_epochs: int, patience: int) -> int:
    """After how many epochs a training ends that has these losses."""
    waited, lowest = 0, np.inf
    for done, loss in enumerate(losses, start=1):
        waited, lowest = (0, loss) if loss < lowest else (waited + 1, lowest)
        if waited == patience:
            return done
    return max_epochs


def facts_of_training(args: tuple[Any, ...], answers: list[Plain]) -> Iterator[Fact]:
    """What a case of `training` shows."""
    train_ids, valid_ids, Q, max_epochs, patience, _, unseen_ids = args
    (parameters, losses), *of_one_epoch = [parameters_of(answer, Q) for answer in answers]
    bits = functools.partial(language_model.bits_per_character, parameters)
    is_empty = not any(parameters[name].any() for name in "UWV")  # what starts at 0 stays there
    if len(unseen_ids):
        reached, lowest = bits(unseen_ids), float(np.log2(REBER.perplexity()))
        words = (
            f"On a text that it has never seen your network needs {reached:.2f} bits per character. No network needs "
        )
        words += f"fewer than {lowest:.2f}; less than a fifth more is asked."
        cause = "started_at_zero" if is_empty else "hardly_any_step" if reached > NEXT_TO_NOTHING else ""
        yield Fact("what was learned", reached < 1.2 * lowest, "" if cause else words, cause)
    end = last_epoch(losses, max_epochs, patience)
    cause = "all_epochs_whatever_comes" if len(losses) == max_epochs else ""
    words = f"Your losses are of {len(losses)} epochs. By these losses, patience "
    words += f"ends the training after {end}." if len(losses) > end else "does not end the training there."
    yield Fact("how long", len(losses) == end, "" if cause else words, cause)
    longest = max((len(one) for _, one in of_one_epoch), default=1)
    yield Fact("how long", longest == 1, f"With max_epochs = 1 your losses are of {longest} epochs.")
    score = bits(valid_ids)
    scores = {
        "": (score, min(losses)),
        "parameters_of_the_last_epoch": (score, losses[-1]),
        "losses_in_nats": (score * float(np.log(2)), min(losses)),
        "scored_on_what_was_learned": (bits(train_ids), min(losses)),
    }
    holding = [cause for cause, (one, other) in scores.items() if abs(one - other) < 1e-3]
    words = f"The parameters that you return need {score:.3f} bits on valid_ids, and the lowest of your losses is "
    words += f"{min(losses):.3f}. "
    if abs(score - [np.inf, *losses][int(np.argmin(losses))]) < 1e-3:
        words += "The epoch before the best needed as many: return what the updates of the best have made of them."
    else:
        words += "Return the parameters of the best epoch, and losses that are measured on valid_ids."
    cause = holding[0] if holding else ""
    yield Fact("the best epoch", "" in holding, "" if cause else words, cause)
    if of_one_epoch:
        once, again, other, turned = [one for one, _ in of_one_epoch]
        words = "Two rngs of the same seed give two different networks: something is drawn that does not come from rng."
        repeats = same_network(once, again)
        yield Fact("the same seed", repeats, words)
        cause = "started_at_zero" if is_empty else "start_not_drawn_from_rng"
        yield Fact("another seed", not same_network(once, other) if repeats else None, cause=cause)
        apart = same_network(once, turned) if repeats else None
        yield Fact("validation apart", apart, cause="learns_from_the_validation_text")


ex = unit.exercise(
    "train_model",
    points=6,
    takes="train_ids (L,), valid_ids (M,), Q, max_epochs, patience, seed, unseen_ids (K,)",
    gives="facts",
    drive=training,
    facts=facts_of_training,
    calls_own=True,
    forbids=("torch",),
    uses=(
        language_model.contiguous_batches,
        language_model.train_step,
        language_model.bits_per_character,
        language_model.fit,
    ),
    hints=(
        "Four things, in this order: the parameters and their memory; what one epoch does; what validating does; and "
        "`fit`, which calls the two. Which of them needs the state h, and when does it start anew?",
        "An epoch starts from a state of zeros, goes through `contiguous_batches(train_ids, …)`, and hands the state "
        "that `train_step` returns to the next batch. Validating is `bits_per_character(parameters, valid_ids)`. The "
        "parameters change in place: what you want to keep, you must copy, in each epoch.",
        "Draw with `rng.uniform(-0.2, 0.2, shape)` for U (Q, 24), W (24, 24), b, V, c; memory `np.full_like(p, 0.1)`; "
        "8 rows, 16 steps, rate 0.1, max_norm 5. In `validate`: `kept.append({name: p.copy() for name, p in "
        "parameters.items()})`. At the end `losses, best_epoch = fit(…)`, and return `kept[best_epoch], losses`.",
    ),
)

REBER = Grammar(
    "begin",
    {
        "begin": [(1.0, "B", 0)],
        0: [(0.5, "T", 1), (0.5, "P", 2)],
        1: [(0.5, "S", 1), (0.5, "X", 3)],
        2: [(0.5, "T", 2), (0.5, "V", 4)],
        3: [(0.5, "X", 2), (0.5, "S", "end")],
        4: [(0.5, "P", 3), (0.5, "V", "end")],
        "end": [(1.0, "E", None)],
    },
)
NEXT_TO_NOTHING = 2.0  # bits per character of Reber's grammar: a bigram has about 1.3


def sentences(rng: np.random.Generator, names: np.ndarray, length: int) -> np.ndarray:
    """So many tokens of Reber's grammar, sentence by sentence, by ids that are drawn for them."""
    tokens: list[str] = []
    while len(tokens) < length:
        tokens += REBER.sample(rng)
    return names[[REBER.vocabulary.index(token) for token in tokens[:length]]]


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    Q = len(REBER.vocabulary)
    names = rng.permutation(Q)
    read, checked, unseen = (sentences(rng, names, length) for length in (2000, 400, 1000))
    yield case(read, checked, Q, 16, 3, int(rng.integers(1000)), unseen)
    # So little text that losses rise now and then before the last time: patience counts those in a row.
    read, checked, none = (sentences(rng, names, length) for length in (400, 20, 0))
    yield case(read, checked, Q, 40, 4, int(rng.integers(1000)), none)
    # Nothing can be learned here but by heart, so that the best epoch is among the first.
    Q = int(rng.integers(5, 9))
    read, checked, none = (rng.integers(0, Q - rare, length) for length, rare in ((150, 1), (200, 0), (0, 0)))
    yield case(read, checked, Q, 40, 4, int(rng.integers(1000)), none)


ex.mistakes(r"""
parameters_of_the_last_epoch: The parameters that you return are those of the last epoch, which was not the best on
  valid_ids. If you did keep the best ones, you kept the same arrays, which went on changing: copy them.
- return kept[best_epoch], losses
+ return parameters, losses

scored_on_what_was_learned: Your losses are not those of the parameters on valid_ids. Those on train_ids say little
  about unseen text: validate with `bits_per_character(parameters, valid_ids)`.
- return bits_per_character(parameters, valid_ids)
+ return bits_per_character(parameters, train_ids)

learns_from_the_validation_text: Other valid_ids give another network, in a single epoch, in which there is nothing to
  choose. What is learned from them, or drawn by them, makes their loss say less about unseen text.
- for inputs, targets in contiguous_batches(train_ids, 8, 16):
+ for inputs, targets in contiguous_batches(np.concatenate([train_ids, valid_ids]), 8, 16):

start_not_drawn_from_rng: Another rng gives the same network. The start must be drawn from the rng that you are given,
  or nobody can say what one seed is worth.
- parameters = {name: rng.uniform(-0.2, 0.2, shape).astype(np.float32) for name, shape in shapes.items()}
+ rng = np.random.default_rng(0)
+ parameters = {name: rng.uniform(-0.2, 0.2, shape).astype(np.float32) for name, shape in shapes.items()}

started_at_zero: Your network learns how often each character comes, and nothing else. If all parameters start at 0, no
  error reaches U, W or V: draw them at random, from rng.
- parameters = {name: rng.uniform(-0.2, 0.2, shape).astype(np.float32) for name, shape in shapes.items()}
+ parameters = {name: np.zeros(shape, dtype=np.float32) for name, shape in shapes.items()}

hardly_any_step: The network that you return has learned next to nothing. Are its parameters those of the start? Is the
  rate too small or too large, or the memory too large at its start? Look for the rate in steps of ten.
- _, h = train_step(parameters, memory, h, inputs, targets, 0.1, 5.0)
+ _, h = train_step(parameters, memory, h, inputs, targets, 0.0005, 5.0)

all_epochs_whatever_comes: You train on where patience ends the training. `fit` takes care of that.
- losses, best_epoch = fit(train_epoch, validate, max_epochs, patience)
+ losses, best_epoch = fit(train_epoch, validate, max_epochs, max_epochs)

losses_in_nats: Your losses are in nats. `bits_per_character` divides by log 2.
- return bits_per_character(parameters, valid_ids)
+ return bits_per_character(parameters, valid_ids) * np.log(2)
""")


ex = unit.exercise(
    "temperature_softmax",
    points=2,
    takes="logits (), temperature",
    gives="probabilities ()",
    hints=(
        "Low temperature, strong contrast: differences between logits must grow when the temperature falls.",
        "Divide the logits by the temperature, then take the softmax along the last axis, as in unit 03.",
        "`softmax(logits / temperature)`, with the `softmax` that is imported.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(normal(rng, 3, 5), 0.5)
    yield case(normal(rng, 4, 3, 2), 2.5)
    yield edge("one row, without further axes", normal(rng, 4), 0.7)
    yield edge("temperature 1", normal(rng, 2, 4), 1.0)
    yield edge("a whole number", normal(rng, 2, 4), 3)
    yield edge("a temperature near 0", 1e-9 * normal(rng, 3, 5), 1e-9)
    yield edge("a low temperature and large logits", 100 * normal(rng, 3, 4) + 1000, 0.05)
    impossible = normal(rng, 3, 4)
    impossible[0, 1] = impossible[1, 0] = impossible[1, 3] = -np.inf
    yield edge("-inf beside finite entries", impossible, 2.0)
    # A power of the softmax at temperature 1 has lost all that was below 1e-308 there.
    yield edge("a high temperature and large logits", 100 * normal(rng, 3, 4) + [[0, 900, 1800, -900]], 900.0)
    yield edge("float32", normal(rng, 2, 1, 4, dtype=np.float32), 0.5)


ex.mistakes(r"""
temperature_multiplied: You multiply by the temperature, so that heat makes the model sure and cold makes it careless.
  Divide.
+ return softmax(logits * temperature)

temperature_ignored: The temperature has no say: that is the plain softmax. (If you divide after the exponential, it
  cancels against the sum.) Divide the logits, before the softmax.
+ return softmax(logits)

probabilities_divided: You divide the probabilities by the temperature, so that they no longer sum to 1. Divide the
  logits, before the softmax.
+ return softmax(logits) / temperature

softmax_twice: You take the softmax of something that is a softmax already, which makes everything nearly equal. Divide
  the logits themselves.
+ return softmax(softmax(logits) / temperature)

along_the_first_axis: Your probabilities sum to 1 along the first axis. They do so along the last, over the characters.
+ E = np.exp((logits - logits.max(axis=0, keepdims=True)) / temperature)
+ return E / E.sum(axis=0, keepdims=True)

largest_of_all_rows: A row far below what you subtract vanishes: 0 / 0 is nan. Subtract from each row its own largest
  logit.
+ E = np.exp((logits - logits.max()) / temperature)
+ return E / E.sum(axis=-1, keepdims=True)

cold_logits_overflow: At a low temperature exp overflows, and inf / inf is nan. Subtract each row's largest logit first,
  or call `softmax`, which does.
+ E = np.exp(logits / temperature)
+ return E / E.sum(axis=-1, keepdims=True)

not_normalised: Your numbers do not sum to 1: the division by their sum is missing. `softmax` does it.
+ return np.exp((logits - logits.max(axis=-1, keepdims=True)) / temperature)

powers_of_the_probabilities: You start from probabilities at temperature 1: right on paper, but where one of them, or
  its power, is rounded to 0, its logit is lost. Divide the logits, before the softmax.
+ powers = softmax(logits) ** (1 / temperature)
+ return powers / powers.sum(axis=-1, keepdims=True)
""")


ex = unit.exercise(
    "top_k_filter",
    points=3,
    takes="probabilities (), k",
    gives="probabilities ()",
    ends={"probabilities": "none"},
    hints=(
        "Which ids may stay? Sort the ids, not the probabilities, and let the first k of them stay where they are.",
        "Ids, most probable first, ties to the lower id: `order = np.argsort(-probabilities, axis=-1, "
        'kind="stable")`. Put the probabilities of the first k into an array of zeros, then divide by the sum of '
        "each row.",
        "`best = order[..., :k]`; `kept = np.zeros_like(probabilities)`; `np.put_along_axis(kept, best, "
        "np.take_along_axis(probabilities, best, axis=-1), axis=-1)`; return `kept / kept.sum(axis=-1, "
        "keepdims=True)`.",
    ),
)


def shares(rng: np.random.Generator, *shape: int, dtype: Any = np.float64) -> np.ndarray:
    """Distributions over the last axis, whose probabilities are far from equal, in no order: the largest neither first
    nor last.
    """
    Q = shape[-1]
    ladder = 0.62 ** np.arange(Q) * rng.uniform(0.95, 1.05, shape)
    p = rng.permuted(ladder, axis=-1).reshape(-1, Q)
    for row in p:
        middle, top = int(rng.integers(1, Q - 1)), int(row.argmax())
        row[[middle, top]] = row[[top, middle]]
    p = p.reshape(shape)
    return (p / p.sum(axis=-1, keepdims=True)).astype(dtype)


def many_ties(rng: np.random.Generator) -> np.ndarray:
    """192 ids with two probabilities in no order, as many as a sort that is not stable mixes up; sums are exact."""
    return rng.permutation([4 / 512] * 64 + [2 / 512] * 128)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    yield case(shares(rng, 3, 6), 3)
    yield case(shares(rng, 4, 3, 5), 2)
    yield case(shares(rng, 7), 4)
    yield edge("one id stays", shares(rng, 2, 5), 1)
    yield edge("k is the number of ids", shares(rng, 2, 5), 5)
    yield edge("k is beyond the number of ids", shares(rng, 2, 5), 9)
    yield edge("ties", np.array([[0.125, 0.25, 0.125, 0.25, 0.25], [0.5, 0.125, 0.125, 0.125, 0.125]]), 2)
    yield edge("all alike", np.full(4000, 1 / 4000), 1)
    yield edge("ties among many", many_ties(rng), 80)
    yield edge("fewer than k have a probability above 0", np.array([[0, 0.75, 0, 0.25, 0], [0.25, 0, 0.75, 0, 0]]), 3)
    yield edge("float32", shares(rng, 2, 1, 5, dtype=np.float32), 2)


ex.mistakes(r"""
kept_not_renormalised: What you keep no longer sums to 1. Divide it by its own sum, row by row.
- return kept / kept.sum(axis=-1, keepdims=True)
+ return kept

ties_all_kept: You keep all ids that are at least as probable as the k-th, so that a tie lets more than k stay. The
  lower ids win a tie.
- np.put_along_axis(kept, best, np.take_along_axis(probabilities, best, axis=-1), axis=-1)
+ smallest = np.take_along_axis(probabilities, best, axis=-1).min(axis=-1, keepdims=True)
+ kept = np.where(probabilities >= smallest, probabilities, 0)

ties_to_the_higher_id: In a tie the higher id stays. The lower one wins, as in a stable sort of the negative
  probabilities.
- best = np.argsort(-probabilities, axis=-1, kind="stable")[..., :k]
+ best = np.argsort(probabilities, axis=-1, kind="stable")[..., ::-1][..., :k]

least_probable_kept: You keep the k least probable ids: a sort puts the smallest first. Sort by the negative
  probabilities.
- best = np.argsort(-probabilities, axis=-1, kind="stable")[..., :k]
+ best = np.argsort(probabilities, axis=-1, kind="stable")[..., :k]

one_more_than_k: You keep k + 1 ids. If you compare ranks with k: they start at 0, so those *below* k are k of them
  already.
- best = np.argsort(-probabilities, axis=-1, kind="stable")[..., :k]
+ best = np.argsort(-probabilities, axis=-1, kind="stable")[..., : k + 1]

nothing_cut_off: All ids stay, so that the probabilities come back as they were. Only the k most probable stay; all
  others become 0.
- best = np.argsort(-probabilities, axis=-1, kind="stable")[..., :k]
+ best = np.argsort(-probabilities, axis=-1, kind="stable")

best_of_all_rows: You keep the k best of the whole array, and some rows may be left with nothing. Each row, along the
  last axis, keeps its own k.
- best = np.argsort(-probabilities, axis=-1, kind="stable")[..., :k]
+ best = np.argsort(-probabilities, axis=None, kind="stable")[:k]
- np.put_along_axis(kept, best, np.take_along_axis(probabilities, best, axis=-1), axis=-1)
+ kept.flat[best] = probabilities.flat[best]

only_the_kept_returned: You return the k probabilities alone, and nobody knows any more whose they are. Return one for
  each id, with zeros for those that are cut off.
- kept = np.zeros_like(probabilities)
- np.put_along_axis(kept, best, np.take_along_axis(probabilities, best, axis=-1), axis=-1)
+ kept = np.take_along_axis(probabilities, best, axis=-1)

sorted_for_good: Your probabilities stand in falling order. Place i belongs to id i: those that stay, stay where they
  were.
- np.put_along_axis(kept, best, np.take_along_axis(probabilities, best, axis=-1), axis=-1)
+ kept[..., :k] = np.take_along_axis(probabilities, best, axis=-1)

k_beyond_the_end: For a k that is larger than the number of ids there is no k-th largest probability. Then all stay:
  slices such as `order[..., :k]` take care of that by themselves.
- best = np.argsort(-probabilities, axis=-1, kind="stable")[..., :k]
+ best = np.argsort(-probabilities, axis=-1, kind="stable")[..., np.arange(k)]

cut_off_in_place: The answer is right, but the caller's array is changed. Work on a copy.
+ rest = np.argsort(-probabilities, axis=-1, kind="stable")[..., k:]
+ np.put_along_axis(probabilities, rest, 0, axis=-1)
+ return probabilities / probabilities.sum(axis=-1, keepdims=True)

ids_for_ranks: You compare the ids that `argsort` gives with k. What stands at place i is the id of rank i, and not the
  rank of id i: the first k of them are the ids that stay.
+ order = np.argsort(-probabilities, axis=-1, kind="stable")
+ kept = np.where(order < k, probabilities, 0)
+ return kept / kept.sum(axis=-1, keepdims=True)
""")


ex = unit.exercise(
    "nucleus_filter",
    points=4,
    takes="probabilities (), p",
    gives="probabilities ()",
    ends={"probabilities": "none", "p": "none"},
    hints=(
        "Go down from the most probable id and add up. When the sum reaches p you have enough; the id that made it "
        "reach p is still in.",
        "An id stays if the ids *before* it, in falling order, have a mass below p. Before the first there is "
        "nothing, so the first always stays. Take care that p = 1 keeps all, though a sum of floats may miss 1 by a "
        "hair.",
        '`order = np.argsort(-probabilities, axis=-1, kind="stable")`; `ranked = np.take_along_axis(probabilities, '
        "order, axis=-1)`; `before = np.cumsum(ranked, axis=-1) - ranked`; `stays = (before < p) | (p >= 1)`; "
        "`stays[..., 0] = True`. Put `np.where(stays, ranked, 0)` back to the places in `order` and divide by each "
        "row's sum.",
    ),
)


def between(p: np.ndarray, count: int) -> float:
    """A mass that just `count` of the most probable ids reach, in every row if need be, away from any boundary."""
    ends = np.cumsum(-np.sort(-p, axis=-1), axis=-1)
    low, high = (ends[..., count - 2].max() if count > 1 else 0.0), ends[..., count - 1].min()
    return float(round(0.5 * (low + high), 6))


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    p = shares(rng, 3, 6)
    yield case(p, between(p, 3))
    p = shares(rng, 4, 3, 5)
    yield case(p, between(p, 2))
    p = shares(rng, 7)
    yield case(p, between(p, 4))
    yield edge("rows that need different numbers of ids", np.array([[0.05, 0.9, 0.05], [0.4, 0.25, 0.35]]), 0.7)
    yield edge("p is below the largest probability", shares(rng, 2, 5), 0.125)
    yield edge("p is reached exactly", np.array([0.125, 0.25, 0.5, 0.125]), 0.75)
    yield edge("ties", np.array([[0.125, 0.25, 0.125, 0.25, 0.25], [0.5, 0.125, 0.125, 0.125, 0.125]]), 0.5)
    yield edge("all alike", np.full(64, 1 / 64), 0.25)
    yield edge("ties among many, of which p needs one more by a hair", many_ties(rng), 0.625 + 2**-20)
    yield edge("p = 0, and one id stays", np.array([0.125, 0.25, 0.125, 0.25, 0.25]), 0.0)
    yield edge("p = 1", shares(rng, 1, 5), 1.0)
    # In float32 the sum of so many is above 1 long before the last of them.
    yield edge("p = 1, thousands of ids in float32", np.full(5000, 1 / 4990, dtype=np.float32), 1.0)
    yield edge("p = 1, and the sum of the floats falls short of it", np.full((2, 10), 0.1), 1.0)
    p = shares(rng, 2, 3, 5, dtype=np.float32)
    yield edge("float32", p, between(p, 3))


ex.mistakes(r"""
one_id_too_few: The id with which the mass reaches p is missing: you ask for the mass with it. Keep it if the mass
  *before* it is below p.
- stays = (before < p) | (p >= 1)
+ stays = (before + ranked <= p) | (p >= 1)

one_more_when_reached_exactly: Where the mass is exactly p already, you take one id more. "At least p" is reached then:
  the mass before an id must be below p, not equal to it.
- stays = (before < p) | (p >= 1)
+ stays = (before <= p) | (p >= 1)

nothing_left: Where the most probable id alone is above p, nothing stays, and 0 / 0 is nan. At least one id stays,
  always; and the one with which the mass reaches p belongs in.
- stays = (before < p) | (p >= 1)
- stays[..., 0] = True
+ stays = (before + ranked <= p) | (p >= 1)

summed_in_the_order_of_ids: You add up in the order of the ids. Start with the most probable one and go down: sort by
  probability first.
- order = np.argsort(-probabilities, axis=-1, kind="stable")
+ order = np.broadcast_to(np.arange(probabilities.shape[-1]), probabilities.shape)

summed_from_the_least_probable: You add up from the least probable id on: a sort puts the smallest first. Sort by the
  negative probabilities.
- order = np.argsort(-probabilities, axis=-1, kind="stable")
+ order = np.argsort(probabilities, axis=-1, kind="stable")

threshold_for_each_id: Only the most probable id stays, or those that are above p by themselves. p is a mass: ids stay
  until their sum reaches it.
- stays = (before < p) | (p >= 1)
+ stays = (ranked >= p) | (p >= 1)

nothing_cut_off: All ids stay, so that the probabilities come back as they were. Only the most probable stay, until
  their sum reaches p; all others become 0.
- stays = (before < p) | (p >= 1)
+ stays = before < np.inf

nucleus_not_renormalised: What you keep sums to about p, not to 1. Divide it by its own sum, row by row.
- return kept / kept.sum(axis=-1, keepdims=True)
+ return kept

divided_by_p: You divide by p. The ids that stay have at least this mass and mostly some more: divide by their own sum.
- return kept / kept.sum(axis=-1, keepdims=True)
+ return kept / p

not_put_back: Your probabilities stand in falling order. Place i belongs to id i: put each one back to where it came
  from.
- np.put_along_axis(kept, order, np.where(stays, ranked, 0), axis=-1)
+ kept = np.where(stays, ranked, 0)

who_stays_not_put_back: Who stays is found out in falling order, and then asked of the ids as they stand. Place i of the
  sorted row is another id: bring the answer back to the ids' own order first.
- kept = np.zeros_like(probabilities)
- np.put_along_axis(kept, order, np.where(stays, ranked, 0), axis=-1)
+ kept = np.where(stays, probabilities, 0)

ties_kept_together: Ids as probable as the last one that you keep stay too, so that a tie lets in more than are needed.
  The lower ids win a tie: keep by rank, not by value.
- np.put_along_axis(kept, order, np.where(stays, ranked, 0), axis=-1)
+ smallest = np.where(stays, ranked, 2).min(axis=-1, keepdims=True)
+ kept = np.where(probabilities >= smallest, probabilities, 0)

p_one_never_reached: p = 1 keeps all, and yours goes by the sum: that of floats may pass 1 too soon, so that ids are
  dropped, or end a hair below it, so that no place reaches p, and `argmax` of nothing but False is 0.
- stays = (before < p) | (p >= 1)
+ count = np.argmax(np.cumsum(ranked, axis=-1) >= p, axis=-1)[..., None] + 1
+ stays = np.arange(probabilities.shape[-1]) < count

one_id_too_few_though_one_stays = one_id_too_few
- stays = (before < p) | (p >= 1)
+ stays = (before + ranked < p) | (p >= 1)

nothing_left_at_zero: At p = 0 nothing stays, since no mass is below 0, and 0 / 0 is nan. At least one id stays, always.
- stays[..., 0] = True

put_back_by_taking: You bring back who stays by taking with `order`, which leads from a place to an id once more. Put it
  where it came from, with `np.put_along_axis`, or take with the inverse, `np.argsort(order)`.
- kept = np.zeros_like(probabilities)
- np.put_along_axis(kept, order, np.where(stays, ranked, 0), axis=-1)
+ kept = np.where(np.take_along_axis(stays, order, axis=-1), probabilities, 0)
""")


# --- generate


def network(rng: np.random.Generator, Q: int, H: int, dtype: Any = np.float64) -> dict[str, np.ndarray]:
    """A network over Q characters whose weights are strong: what it says depends on all that it has read."""
    drawn = {
        "U": 1.2 * normal(rng, Q, H),
        "W": 1.3 * weights(rng, H, H),
        "b": 0.5 * normal(rng, H),
        "V": 2.5 * weights(rng, H, Q),
        "c": 0.5 * normal(rng, Q),
    }
    return {name: array.astype(dtype) for name, array in drawn.items()}


def uniforms_for(
    rng: np.random.Generator, parameters: dict[str, np.ndarray], prompt: Any, length: int, temperature: float
) -> np.ndarray:
    """Uniform numbers that draw one character after the other, each likely and not always the likeliest; every one lies
    well inside its character's piece, so that rounding decides nothing.
    """
    U, W, b, V, c = (parameters[name].astype(np.float64) for name in "UWbVc")
    h = np.zeros((1, len(W)))
    for i in prompt:
        h = np.tanh(U[i] + h @ W + b)
    uniforms = []
    for _ in range(length):
        p = cell.softmax((h @ V + c)[0] / temperature)
        chosen = int(rng.choice(np.flatnonzero(p >= min(0.12, p.max()))))
        uniforms.append(p[:chosen].sum() + p[chosen] * rng.uniform(0.3, 0.7))
        h = np.tanh(U[chosen] + h @ W + b)
    return np.array(uniforms)


ex = unit.exercise(
    "generate",
    points=6,
    takes="parameters, prompt (L,), length, uniforms (K,), temperature",
    gives="ids",
    ends={"uniforms": "none"},
    forbids=("torch",),
    uses=(language_model.temperature_softmax,),
    hints=(
        "Two loops. The first reads the prompt and draws nothing. The second draws, writes down, and reads what it "
        "has just drawn. Where exactly does the first end and the second begin?",
        "After the prompt the state has read its last id already. So the second loop begins with an output: "
        "probabilities from the state, draw, append; then one step of the cell with the new id, for the next round.",
        "`h = np.zeros((1, len(W)))`; `for i in prompt: h = rnn_step(onehot[[i]], h, U, W, b)`; then for each u: `p "
        "= temperature_softmax(output_layer(h, V, c), temperature)[0]`, `i = sample_index(p, u)`, `new.append(i)`, "
        "`h = rnn_step(onehot[[i]], h, U, W, b)`, where `onehot = np.eye(len(U))`.",
    ),
)


generating = ex


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def writing(Q: int, H: int, read: int, length: int, temperature: float, dtype: Any = np.float64) -> tuple[Any, ...]:
        parameters = network(rng, Q, H, dtype)
        prompt = rng.integers(0, Q, read)
        return parameters, prompt, length, uniforms_for(rng, parameters, prompt, length, temperature)

    def telling(Q: int, H: int, read: int, length: int, temperature: float) -> tuple[Any, ...]:
        """Drawn until it matters what was read before the prompt's last id, and that this one is read just once."""
        while True:
            args = (*writing(Q, H, read, length, temperature), temperature)
            wrong = ["last_of_the_prompt_fed_twice", "prompt_not_read", "state_thrown_away_after_the_prompt"]
            if temperature != 1:
                wrong += ["temperature_without_effect", "logits_times_temperature"]
            answers = (m.answer for m in generating.misconceptions if m.name in wrong)
            if all(answer(*args) != language_model.generate(*args) for answer in answers):
                return args

    yield case(*telling(7, 5, 4, 20, 1.0)[:-1])
    yield case(*telling(6, 9, 5, 18, 0.5))
    yield case(*telling(8, 6, 6, 22, 2.0))
    yield edge("a prompt of one id", *writing(6, 5, 1, 9, 1.0), 1.0)
    # Units that keep the sign that the first id gives them, which is another one for each id, and for a start of ones.
    latched = network(rng, 6, 8)
    signs = rng.permuted(np.tile([-1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0], (6, 1)), axis=1)
    latched |= {"U": 2 * signs + 0.1 * latched["U"], "W": 5 * np.eye(8), "b": np.zeros(8)}
    uniforms = uniforms_for(rng, latched, [2], 40, 1.0)
    yield edge("a network that never forgets its start", latched, np.array([2]), 40, uniforms, 1.0)
    parameters, prompt, length, uniforms = writing(5, 6, 3, 8, 1.0)
    yield edge("the prompt is a list", parameters, [int(i) for i in prompt], length, uniforms)
    yield edge("one new id", *writing(6, 7, 4, 1, 1.0))
    yield edge("no new id", *writing(6, 7, 4, 0, 1.0))
    never = network(rng, 5, 4)
    never["c"] = never["c"] - 2000.0 * (np.arange(5) == 0)
    yield edge("a draw of 0, and an id of probability 0", never, np.array([2, 3]), 6, np.array([0.0, 0.4] * 3), 1.0)
    yield edge("float32", *writing(6, 5, 3, 9, 0.8, np.float32), 0.8)


ex.mistakes(r"""
last_of_the_prompt_fed_twice: The prompt's last id is read twice: once by the warm-up, and again as the first input of
  the loop that draws. After the warm-up the state is ready: draw from it first, then read what was drawn.
- for k in range(length):
+ h = rnn_step(onehot[[i]], h, U, W, b)
+ for k in range(length):

sample_never_fed_back: What you draw is never read: the network goes on reading the prompt's last id. The input of the
  next step is the id that was just drawn.
- h = rnn_step(onehot[[new[-1]]], h, U, W, b)
+ h = rnn_step(onehot[[prompt[-1]]], h, U, W, b)

state_stands_still: All your ids come from one and the same distribution, that after the prompt. Read each id that was
  drawn with one step of the cell, and draw the next one by the new state.
- h = rnn_step(onehot[[new[-1]]], h, U, W, b)

zeros_fed_back: After the prompt the network reads zeros: it never gets to know what was drawn. The next input is the
  one-hot vector of the id that was just drawn.
- h = rnn_step(onehot[[new[-1]]], h, U, W, b)
+ h = rnn_step(0 * onehot[[new[-1]]], h, U, W, b)

state_reset_at_each_character: The state starts from zeros at every character, so that the network knows the last one
  only: a bigram model. Start from zeros once, before the prompt.
- h = rnn_step(onehot[[i]], h, U, W, b)
+ h = rnn_step(onehot[[i]], np.zeros_like(h), U, W, b)
- h = rnn_step(onehot[[new[-1]]], h, U, W, b)
+ h = rnn_step(onehot[[new[-1]]], np.zeros_like(h), U, W, b)

prompt_not_read: The network reads only the last id of the prompt before it writes. Run it over the whole prompt first,
  so that the state knows all of it.
- for i in prompt:
+ for i in prompt[-1:]:

state_thrown_away_after_the_prompt: The prompt is read, its first successor drawn, and then the state starts from zeros
  again: what the prompt had left in it is gone after one character. Carry h on.
- h = rnn_step(onehot[[new[-1]]], h, U, W, b)
+ h = rnn_step(onehot[[new[-1]]], np.zeros_like(h) if k == 0 else h, U, W, b)

last_of_the_prompt_unread: Your first id is drawn before the prompt's last one was read. The first new id comes from the
  state *after* the whole prompt.
- for i in prompt:
+ for i in prompt[:-1]:
- h = rnn_step(onehot[[new[-1]]], h, U, W, b)
+ h = rnn_step(onehot[[[prompt[-1], *new][k]]], h, U, W, b)

first_new_id_lost: The first id that was drawn is read by the network, but is missing in the answer. Write every id
  down, the one right after the prompt too.
- return new
+ return new[1:]

prompt_returned_too: Your answer begins with the prompt. Only the new ids come back, `length` of them.
- onehot, h, new = np.eye(len(U), dtype=U.dtype), np.zeros((1, len(W)), dtype=U.dtype), []
+ onehot, h, new = np.eye(len(U), dtype=U.dtype), np.zeros((1, len(W)), dtype=U.dtype), list(prompt)

most_probable_each_time: You take the most probable id each time, whatever the uniform numbers say. Draw with
  `sample_index(p, uniforms[k])`.
- new.append(sample_index(p, uniforms[k]))
+ new.append(int(np.argmax(p)))

most_probable_fed_back: You write down the id that was drawn, but let the network read the most probable one. It must
  read its own writing: feed back the id that was drawn.
- h = rnn_step(onehot[[new[-1]]], h, U, W, b)
+ h = rnn_step(onehot[[int(np.argmax(p))]], h, U, W, b)

probabilities_fed_back: The network reads the whole distribution as its next input. It has only ever read one-hot
  vectors: feed back that of the id that was drawn.
- h = rnn_step(onehot[[new[-1]]], h, U, W, b)
+ h = rnn_step(p[None], h, U, W, b)

one_uniform_for_all: Every id is drawn with the first uniform number. The k-th one is drawn with `uniforms[k]`.
- new.append(sample_index(p, uniforms[k]))
+ new.append(sample_index(p, uniforms[0]))

temperature_without_effect: The temperature has no effect on what you draw. Use `temperature_softmax(logits,
  temperature)`, at every step.
- p = temperature_softmax(output_layer(h, V, c), temperature)[0]
+ p = softmax(output_layer(h, V, c))[0]

logits_times_temperature: Your logits are multiplied by the temperature, where they should be divided by it: heat makes
  your model timid. `temperature_softmax` does it right.
- p = temperature_softmax(output_layer(h, V, c), temperature)[0]
+ p = softmax(output_layer(h, V, c) * temperature)[0]

last_of_the_prompt_never_read = last_of_the_prompt_unread
- for i in prompt:
+ for i in prompt[:-1]:

state_thrown_away_each_time = state_thrown_away_after_the_prompt
- h = rnn_step(onehot[[new[-1]]], h, U, W, b)
+ h = rnn_step(onehot[[new[-1]]], np.zeros_like(h), U, W, b)

prompt_written_to: The new ids are right, but a prompt that is a list is changed, as by appending to it. Begin a list
  for the new ones, or copy the prompt first.
- onehot, h, new = np.eye(len(U), dtype=U.dtype), np.zeros((1, len(W)), dtype=U.dtype), []
+ onehot, h, new = np.eye(len(U), dtype=U.dtype), np.zeros((1, len(W)), dtype=U.dtype), prompt
+ if not isinstance(prompt, list):
+     new = list(prompt)
- return new
+ return new[-length:] if length else []
""")
