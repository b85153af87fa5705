"""Unit 11: one core, five architectures. Its exercises, their cases, hints and misconceptions."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rnncourse import heads
from rnncourse.checks.callables import Named
from rnncourse.checks.drive import layer, module
from rnncourse.checks.exercise import LENGTHS, Case, Draw, Unit, case, edge, normal, weights
from rnncourse.checks.parameters import Parameters, embedding, linear, recurrent
from rnncourse.fixtures.heads import (
    asked_again,
    classifying_model,
    clock_model,
    cut_off_model,
    delaying_model,
    gathering_model,
    opposite_model,
    tagging_model,
    truncated_model,
    two_way_model,
    window_model,
)

unit = Unit("11_heads", "One core, five architectures", heads)


def core_parameters(rng: np.random.Generator, D: int, H: int, Q: int, dtype: Any = np.float64) -> Parameters:
    """Draw the parameters of an nn.RNN and of the head upon it, by name."""
    return recurrent(rng, "rnn", D, H, dtype) | linear(rng, "head", H, Q, dtype)


ex = unit.exercise(
    "architecture",
    points=1,
    takes="T_x, T_y",
    gives="name",
    hints=(
        "There are five answers. Which of them can be told by looking at one of the two numbers, and which only by "
        "looking at both?",
        "Ask for the ones first: does `T_x` equal 1, does `T_y`? Only what is left is many-to-many, and there the two "
        "numbers are compared.",
        '`if T_x == 1: return "one-to-one" if T_y == 1 else "one-to-many"`, then `if T_y == 1: return "many-to-one"`, '
        "and at the end the comparison of T_x with T_y.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    few = int(rng.integers(3, 20))
    many = 2 * few
    yield case(1, 1)
    yield case(1, many)
    yield case(many, 1)
    yield case(few, few)
    yield case(many, few)
    yield case(few, many)
    large = int(rng.integers(300, 900))  # a number beyond 256 that is made twice is two objects, which `is` tells apart
    yield case(large, int(str(large)))
    yield edge("two is many", 1, 2)
    yield edge("two is many", 2, 1)
    yield edge("two is many", 2, 2)
    yield edge("off by one", many + 1, many)


ex.mistakes(r"""
larger_is_many: Which of the two numbers is larger says nothing. Nine words with a translation of eight are
  many-to-many, too: many-to-one has one output.
- if T_x == 1:
-     return "one-to-one" if T_y == 1 else "one-to-many"
- if T_y == 1:
-     return "many-to-one"
+ if T_x > T_y:
+     return "many-to-one"
+ if T_x == 1:
+     return "one-to-one" if T_y == 1 else "one-to-many"

compared_before_counted: One input and one output are as many as each other, but one is not many: they are one-to-one.
- if T_x == 1:
+ if T_x == T_y:
+     return "many-to-many (equal)"
+ if T_x == 1:

one_input_is_one_to_many: With one input you say one-to-many whatever comes out. With one output as well it is
  one-to-one.
- return "one-to-one" if T_y == 1 else "one-to-many"
+ return "one-to-many"

one_output_is_many_to_one: With one output you say many-to-one whatever goes in. With one input as well it is
  one-to-one.
- return "one-to-one" if T_y == 1 else "one-to-many"
+ return "many-to-one" if T_y == 1 else "one-to-many"

inputs_and_outputs_swapped: The first word counts the inputs and the second the outputs: a first note and a melody are
  one-to-many.
- return "one-to-one" if T_y == 1 else "one-to-many"
+ return "one-to-one" if T_y == 1 else "many-to-one"
- return "many-to-one"
+ return "one-to-many"

unequal_is_many_to_many: Where the numbers differ you say many-to-many, even if one of them is 1. One is not many.
+ if T_x != T_y:
+     return "many-to-many (different)"
+ return "one-to-one" if T_x == 1 else "many-to-many (equal)"

one_many_to_many: There are two kinds of many-to-many, and the name says which: "many-to-many (equal)" if there are as
  many outputs as inputs, else "many-to-many (different)".
- return "many-to-many (equal)" if T_x == T_y else "many-to-many (different)"
+ return "many-to-many"

one_object: `is` asks whether two values are one and the same object, which equal numbers need not be: beyond 256, most
  are not. Ask whether they are equal, with `==`.
- return "many-to-many (equal)" if T_x == T_y else "many-to-many (different)"
+ return "many-to-many (equal)" if T_x is T_y else "many-to-many (different)"

longer_is_equal: More outputs than inputs are a different number too, as in a translation that is longer than its
  original.
- return "many-to-many (equal)" if T_x == T_y else "many-to-many (different)"
+ return "many-to-many (different)" if T_y < T_x else "many-to-many (equal)"

compared_with_each_other: You compare the two numbers with each other, where each is to be compared with 1: nine words
  and a translation of eight are many-to-many.
- return "many-to-many (equal)" if T_x == T_y else "many-to-many (different)"
+ if T_x == T_y:
+     return "many-to-many (equal)"
+ return "many-to-one" if T_x > T_y else "one-to-many"
""")


ex = unit.exercise(
    "OneToOne",
    points=2,
    takes="sizes, parameters, x",
    gives="logits [logits (N, Q)], gradients, input_gradients [the gradient with respect to x (N, D)]",
    drive=layer,
    hints=(
        "Nothing comes before and nothing after: what is left of the cell when there is no h_{t-1}?",
        "Two linear layers, `hidden` from D to H and `head` from H to Q, and one tanh. Where does it stand?",
        "`self.hidden = nn.Linear(input_size, hidden_size)`, `self.head = nn.Linear(hidden_size, output_size)`, and "
        "`return self.head(torch.tanh(self.hidden(x)))`.",
    ),
)


def mlp_parameters(rng: np.random.Generator, D: int, H: int, Q: int, dtype: Any = np.float64) -> Parameters:
    """Draw the parameters of a `OneToOne` by name."""
    return linear(rng, "hidden", D, H, dtype) | linear(rng, "head", H, Q, dtype)


def mlp_calls(rng: np.random.Generator, N: int, D: int, H: int, Q: int, dtype: Any = np.float64) -> tuple[Any, ...]:
    """Draw sizes, parameters and two calls."""
    calls = [(normal(rng, N, D, dtype=dtype),) for _ in range(2)]
    return (D, H, Q), mlp_parameters(rng, D, H, Q, dtype), calls


ex.draws(mlp_calls)


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield edge("one output", *draw(Q=1))


ex.mistakes(r"""
a_recurrence_kept: There is an nn.RNN in it. With one input there is no step before, so that its W would never meet
  anything but zeros: `hidden` is an nn.Linear.
- self.hidden = nn.Linear(input_size, hidden_size)
+ self.rnn = nn.RNN(input_size, hidden_size)

rows_read_as_steps: The answer for one row of the batch hangs on the rows before it. The rows are N inputs that have
  nothing to do with each other: there is no recurrence here at all.
- return self.head(torch.tanh(self.hidden(x)))
+ h, outputs = torch.zeros(()), []
+ for row in x:
+     h = torch.tanh(self.hidden(row) + h)
+     outputs.append(self.head(h))
+ return torch.stack(outputs)

no_tanh: No tanh acts between the two layers. Two linear layers in a row are one linear layer, with more parameters and
  no more ability.
- return self.head(torch.tanh(self.hidden(x)))
+ return self.head(self.hidden(x))

tanh_at_the_end: The tanh stands behind the head. It belongs between the two layers; logits are not bounded.
- return self.head(torch.tanh(self.hidden(x)))
+ return torch.tanh(self.head(self.hidden(x)))

tanh_twice: There is a second tanh, behind the head. A logit may be any number: nothing stands behind the last linear
  layer.
- return self.head(torch.tanh(self.hidden(x)))
+ return torch.tanh(self.head(torch.tanh(self.hidden(x))))

relu_for_tanh: There is a ReLU between the layers. That is a fine network, but another one: here it is the tanh of the
  cell.
- return self.head(torch.tanh(self.hidden(x)))
+ return self.head(torch.relu(self.hidden(x)))

probabilities_from_one: You return probabilities. All heads of this unit give logits: `cross_entropy` takes the softmax
  itself.
- return self.head(torch.tanh(self.hidden(x)))
+ return torch.softmax(self.head(torch.tanh(self.hidden(x))), dim=-1)

a_time_axis_kept: Your answer is (1, N, Q), with an axis for time. One input gives one output a row: (N, Q).
- return self.head(torch.tanh(self.hidden(x)))
+ return self.head(torch.tanh(self.hidden(x[None])))

squeezed: Axes of length 1 are gone: a batch of one row, or a single output, loses an axis that it should keep, as after
  `squeeze`. The answer is (N, Q) for every N and Q.
- return self.head(torch.tanh(self.hidden(x)))
+ return self.head(torch.tanh(self.hidden(x))).squeeze()

hidden_layer_cut_off: The logits are right, but no gradient reaches the hidden layer: a `detach`, `.data` or `no_grad`
  cuts the graph below the head, and only the head would learn.
- return self.head(torch.tanh(self.hidden(x)))
+ return self.head(torch.tanh(self.hidden(x)).detach())
""")


ex = unit.exercise(
    "SequenceTagger",
    points=3,
    takes="sizes, parameters, inputs",
    gives="logits [logits (T, N, Q)], gradients, "
    "input_gradients [the gradient with respect to x (T, N, D), the gradient with respect to h0 (1, N, H)]",
    drive=layer,
    hints=(
        "nn.RNN answers with two things. One of them has a state for every step: from there an output for every step "
        "can come.",
        "`nn.Linear` takes the last axis and leaves all axes before it as they are: it needs no loop over time. And "
        "nn.RNN takes None for a state of zeros.",
        "`states, _ = self.rnn(x, h0)` and `return self.head(states)`.",
    ),
)


def core_calls(
    rng: np.random.Generator, T: int, N: int, D: int, H: int, Q: int, dtype: Any = np.float64
) -> tuple[Any, ...]:
    """Draw sizes, parameters, a call with h0 and one without."""
    call = normal(rng, T, N, D, dtype=dtype), normal(rng, 1, N, H, dtype=dtype)
    return (D, H, Q), core_parameters(rng, D, H, Q, dtype), [call, call[:1]]


ex.draws(core_calls)


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    # Without h0, so that it shows where the start state is to blame.
    x = normal(rng, 5, 3, 4)
    yield case((4, 2, 6), core_parameters(rng, 4, 2, 6), [(x,), (normal(rng, 4, 3, 4),), (x[:, :2],), (x, None)])
    yield edge("one output", *draw(Q=1))


ex.mistakes(r"""
h0_dropped: The h0 that is handed in is not used: every call starts from zeros. `self.rnn(x, h0)` takes it, None
  included.
- states, _ = self.rnn(x, h0)
+ states, _ = self.rnn(x)

last_output_only: You give one output, that of the last state. A tagger says something at every step: its head reads the
  first thing that nn.RNN returns, all states (T, N, H).
- states, _ = self.rnn(x, h0)
+ _, states = self.rnn(x, h0)

last_output_repeated: Every step gets the same logits, those of the last state. Each step has its own state: give the
  head all of them.
- states, _ = self.rnn(x, h0)
- return self.head(states)
+ states, h_n = self.rnn(x, h0)
+ return self.head(h_n).expand(len(states), -1, -1)

batch_taken_for_time: The rows of the batch are taken for time steps, as with `batch_first=True`. x is (T, N, D), and
  time first is what nn.RNN expects by itself.
- self.rnn = nn.RNN(input_size, hidden_size)
+ self.rnn = nn.RNN(input_size, hidden_size, batch_first=True)

sequences_interleaved: The numbers are right and stand in wrong places: a reshape has cut (N, T) into (T, N). To swap
  two axes, use `transpose`; and nn.Linear needs no flattening at all, since it works on the last axis.
- return self.head(states)
+ return self.head(states.transpose(0, 1).reshape(states.shape))

output_before_reading: Your output t is made from the state before x_t was read: the first is that of h0. Step t reads
  x_t first, and then says something.
- return self.head(states)
+ start = torch.zeros_like(states[:1]) if h0 is None else h0
+ return self.head(torch.cat([start, states[:-1]]))

state_remembered: A call without h0 starts where the call before it ended. Without h0 it starts from zeros: keep nothing
  in `self` but the two layers.
- self.head = nn.Linear(hidden_size, output_size)
+ self.head = nn.Linear(hidden_size, output_size)
+ self.state = None
- states, _ = self.rnn(x, h0)
+ states, self.state = self.rnn(x, self.state if h0 is None else h0)

state_returned_too: You return two things, the logits and a state. Here the logits alone are asked for.
- states, _ = self.rnn(x, h0)
- return self.head(states)
+ states, h_n = self.rnn(x, h0)
+ return self.head(states), h_n

tag_probabilities: You return probabilities. A head gives logits: `cross_entropy` takes the softmax itself, and with a
  second one before it the network learns slowly and badly.
- return self.head(states)
+ return torch.softmax(self.head(states), dim=-1)

core_cut_off: The logits are right, but no gradient reaches the core: a `detach`, `.data` or `no_grad` stands between
  the states and the head. Only the head would learn.
- return self.head(states)
+ return self.head(states.detach())

tanh_once_more: There is a tanh on the states before the head. nn.RNN has applied it already: its states are tanh(x_t U
  + h_{t-1} W + b).
- return self.head(states)
+ return self.head(torch.tanh(states))

every_step_from_h0: Every step starts from the same state: what was read before is forgotten. Hand the state that nn.RNN
  returns to its next call, or let it read the whole sequence at once.
- states, _ = self.rnn(x, h0)
+ states = torch.cat([self.rnn(x_t[None], h0)[0] for x_t in x])

remembered_for_as_many_rows = state_remembered
- self.head = nn.Linear(hidden_size, output_size)
+ self.head = nn.Linear(hidden_size, output_size)
+ self.state = None
- states, _ = self.rnn(x, h0)
+ if self.state is not None:
+     self.state = self.state.detach() if self.state.shape[1] == x.shape[1] else None
+ states, self.state = self.rnn(x, self.state if h0 is None else h0)
""")


ex = unit.exercise(
    "SequenceClassifier",
    points=5,
    takes="sizes, parameters, inputs",
    gives="logits [logits (N, Q)], gradients, input_gradients [the gradient with respect to x (T, N, D), lengths]",
    drive=layer,
    hints=(
        "The head is the easy part. What must it read, when row n has only lengths[n] real steps: which state, or the "
        "mean over which states, divided by what?",
        "Packing does it for both: `self.rnn(pack_padded_sequence(x, lengths, enforce_sorted=False))`. Its h_n is the "
        "last real state of each row, and the states that `pad_packed_sequence` gives back are 0 at padded steps, so "
        "that their sum over time is the sum over the real ones.",
        'Let `states, h_n` be what the core gives, packed or not. For "last": `return self.head(h_n[0])`. For "mean": '
        "`return self.head(states.sum(dim=0) / lengths[:, None])`, where without lengths all T steps count.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def x(T: int, N: int, D: int, dtype: Any = np.float64) -> np.ndarray:
        return normal(rng, T, N, D, dtype=dtype)  # what stands in the padding is not zero

    for pool in ((), ("mean",)):
        yield case((4, 2, 6, *pool), core_parameters(rng, 4, 2, 6), [(x(5, 3, 4),), (x(7, 3, 4), None)])
        calls = [(x(6, 4, 3), np.array([2, 6, 1, 4])), (x(7, 3, 3), np.array([2, 5, 3]))]  # nobody is as long as T
        yield case((3, 5, 2, *pool), core_parameters(rng, 3, 5, 2), calls)
    single = np.float32
    for pool in (("last",), ("mean",)):
        init = (2, 4, 1, *pool)
        for note, (T, lengths) in LENGTHS.items():
            yield edge(note, init, core_parameters(rng, 2, 4, 1), [(x(T, len(lengths), 2), lengths)])
        still = core_parameters(rng, 2, 4, 1)
        still |= {name: 0 * value for name, value in still.items() if name.startswith("rnn.bias")}
        calls = [(x(5, 2, 2) * (np.arange(5) > 1)[:, None, None], np.array([4, 3]))]
        yield edge("states that are 0, of real steps", init, still, calls)
        calls = [(x(5, 3, 2, single), np.array([2, 5, 4]))]
        yield edge("float32", init, core_parameters(rng, 2, 4, 1, single), calls)


ex.mistakes(r"""
padding_read: With pool="last" you take the state after the last step of the batch. For a shorter row that is a state
  from inside the padding: row n ends at step lengths[n] - 1.
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ summary = self.rnn(x)[1][0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]

end_of_the_longest: With pool="last" you read all rows at the step at which the longest one ends. For a shorter row that
  is a state from inside the padding: row n ends at step lengths[n] - 1.
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ last = self.rnn(x)[0][int(max(lengths)) - 1]
+ summary = last if self.pool == "last" else states.sum(dim=0) / lengths[:, None]

pool_ignored_without_lengths: Without `lengths` you read the last state, whatever `pool` says. No lengths only means
  that all T steps are real: pool="mean" takes the mean over them.
- if lengths is None:
-     lengths = torch.full((x.shape[1],), len(x))
+ if lengths is None:
+     return self.head(self.rnn(x)[1][0])

padding_averaged: With pool="mean" the states of the padding are in the mean. Only real steps count: those below
  lengths[n].
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ summary = h_n[0] if self.pool == "last" else self.rnn(x)[0].mean(dim=0)

lengths_ignored: The answer for a short row depends on what stands in its padding, for the last state and for the mean:
  `lengths` makes no difference.
- packed, h_n = self.rnn(pack_padded_sequence(x, lengths, enforce_sorted=False))
- states, _ = pad_packed_sequence(packed, total_length=len(x))
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ states, h_n = self.rnn(x)
+ summary = h_n[0] if self.pool == "last" else states.mean(dim=0)

divided_by_all_steps: With pool="mean" you divide the sum over the real steps by T. Row n has lengths[n] real steps:
  divide by that.
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ summary = h_n[0] if self.pool == "last" else states.mean(dim=0)

bias_of_the_padding: The bias of the head is counted T times and divided by lengths[n]: at padded steps the states are
  0, but the head of 0 is its bias. Take the mean first, then the head; or mask the logits.
- return self.head(summary)
+ return self.head(summary) if self.pool == "last" else self.head(states).sum(dim=0) / lengths[:, None]

sum_for_mean: With pool="mean" you add the real states up and do not divide: a long sequence gets large numbers only
  because it is long.
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ summary = h_n[0] if self.pool == "last" else states.sum(dim=0)

pool_ignored: `pool` changes nothing: it is always the last state that is read. With pool="mean" the head reads the mean
  of the real states.
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ summary = h_n[0]

always_the_mean: You always take the mean. Unless it is told otherwise, the classifier reads the last real state:
  `pool="last"` is what a call with three arguments means.
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ summary = states.sum(dim=0) / lengths[:, None]

last_sequence_for_last_step: Your states are those of the last *sequence* at every step, `states[:, -1]`, for here time
  comes first. In programs with `batch_first=True` that index is the last step.
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ summary = states[:, -1] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]

one_state_early: You take the state one step too early: a row of length 3 ends at step 2. And for length 1, `lengths -
  2` is -1, which is the last step of all.
- if lengths is None:
-     lengths = torch.full((x.shape[1],), len(x))
+ last = len(x) - 1 if lengths is None else lengths - 2
+ lengths = torch.full((x.shape[1],), len(x)) if lengths is None else lengths
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ one_early = self.rnn(x)[0][last, torch.arange(x.shape[1])]
+ summary = one_early if self.pool == "last" else states.sum(dim=0) / lengths[:, None]

end_of_what_was_unpacked: Short rows get the bias of the head and nothing else: their states at the last step are 0, as
  unpacking makes them. Row n ends at step lengths[n] - 1; after packing, h_n holds that state.
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ summary = states[-1] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]

end_of_the_longest_unpacked = end_of_what_was_unpacked
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ summary = states[lengths.max() - 1] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]

sorted_rows_expected: Packing expects the longest row first unless told otherwise, and here they come in any order. With
  `enforce_sorted=False` it sorts them itself, and puts them back afterwards.
- packed, h_n = self.rnn(pack_padded_sequence(x, lengths, enforce_sorted=False))
+ packed, h_n = self.rnn(pack_padded_sequence(x, lengths))

sorted_and_left_so: The answers come out sorted by length: row n answers for another sequence. Put them back with
  `order.argsort()`, or leave the sorting to `enforce_sorted=False`.
- packed, h_n = self.rnn(pack_padded_sequence(x, lengths, enforce_sorted=False))
+ lengths, order = lengths.sort(descending=True, stable=True)
+ packed, h_n = self.rnn(pack_padded_sequence(x[:, order], lengths))

layer_axis_left: Your answer has one axis too many, as h_n, (1, N, H), has one for layers. Give the head h_n[0].
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ summary = h_n if self.pool == "last" else states.sum(dim=0) / lengths[:, None]

class_probabilities: You return probabilities. A head gives logits: `cross_entropy` takes the softmax itself, and with a
  second one before it the network learns slowly and badly.
- return self.head(summary)
+ return torch.softmax(self.head(summary), dim=-1)

one_state_late: You take the state one step too late, in the padding: a row of length 3 ends at step 2, lengths - 1.
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ late = self.rnn(x)[0][lengths.clamp(max=len(x) - 1), torch.arange(len(lengths))]
+ summary = late if self.pool == "last" else states.sum(dim=0) / lengths[:, None]

last_step_not_averaged: With pool="mean" the last real state is left out of the mean. All lengths[n] of them count: a
  slice ends before its end.
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ means = [states[: max(l - 1, 1), n].mean(dim=0) for n, l in enumerate(lengths.tolist())]
+ summary = h_n[0] if self.pool == "last" else torch.stack(means)

one_padded_step_averaged: With pool="mean" the first step of the padding is added to the real ones. Row n ends at step
  lengths[n] - 1: real are the steps below lengths[n].
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ within = torch.arange(len(x))[:, None] <= lengths
+ mean = (self.rnn(x)[0] * within[:, :, None]).sum(dim=0) / lengths[:, None]
+ summary = h_n[0] if self.pool == "last" else mean

one_padded_step_averaged_and_counted = one_padded_step_averaged
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ within = torch.arange(len(x))[:, None] <= lengths
+ mean = (self.rnn(x)[0] * within[:, :, None]).sum(dim=0) / within.sum(dim=0)[:, None]
+ summary = h_n[0] if self.pool == "last" else mean

greatest_for_the_mean: With pool="mean" you take the greatest of each unit's real states. The mean is asked.
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ padding = torch.arange(len(x))[:, None, None] >= lengths[:, None]
+ greatest = states.masked_fill(padding, -torch.inf).amax(dim=0)
+ summary = h_n[0] if self.pool == "last" else greatest

divided_by_the_longest: With pool="mean" you divide the sum over the real steps by the longest length. Row n has
  lengths[n] real steps: divide by that.
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths.max()

padding_added_up = padding_averaged
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ summary = h_n[0] if self.pool == "last" else self.rnn(x)[0].sum(dim=0) / lengths[:, None]

padding_zeroed_and_added_up: With pool="mean" the states of the padding are in the sum. To set its inputs to zero does
  not make its states zero, since W and the biases still change them: leave these states out.
- summary = h_n[0] if self.pool == "last" else states.sum(dim=0) / lengths[:, None]
+ zeroed = x * (torch.arange(len(x))[:, None] < lengths)[:, :, None]
+ summary = h_n[0] if self.pool == "last" else self.rnn(zeroed)[0].sum(dim=0) / lengths[:, None]
""")


ex = unit.exercise(
    "BidirectionalClassifier",
    points=4,
    takes="sizes, parameters, inputs",
    gives="logits [logits (N, Q)], gradients",
    drive=module,
    hints=(
        "Three layers in `__init__`. How wide is what the head reads, for each of the three ways to combine? And where "
        "has each direction read everything?",
        "After packing, `h_n` of a bidirectional nn.RNN is (2, N, H): `h_n[0]` is the forward state at each row's last "
        "real step, `h_n[1]` the backward one at step 0. These two are the summary.",
        "`packed = pack_padded_sequence(self.embedding(ids), lengths, enforce_sorted=False)`, `_, (f, g) = "
        "self.rnn(packed)`, then `torch.cat([f, g], dim=-1)`, `f + g` or `f * g`, and the head.",
    ),
)


def both_ways_parameters(
    rng: np.random.Generator, V: int, E: int, H: int, Q: int, how: str = "concat", dtype: Any = np.float64
) -> Parameters:
    """Draw the parameters of a BidirectionalClassifier by name."""
    read = embedding(rng, "embedding", V, E, dtype) | recurrent(rng, "rnn", E, H, dtype, ways=2)
    return read | linear(rng, "head", 2 * H if how == "concat" else H, Q, dtype)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def ids(V: int, T: int, N: int) -> np.ndarray:
        return rng.integers(V, size=(T, N))

    yield case((7, 3, 5, 4), both_ways_parameters(rng, 7, 3, 5, 4), [(ids(7, 6, 3),), (ids(7, 4, 2), None)])
    calls = [(ids(6, 6, 4), np.array([2, 6, 1, 4])), (ids(6, 7, 3), np.array([2, 5, 3]))]  # nobody is as long as T
    for how in ("concat", "sum", "product"):
        yield case((6, 4, 3, 2, how), both_ways_parameters(rng, 6, 4, 3, 2, how), calls)
    for how in ("sum", "product"):
        init, drawn = (5, 2, 4, 1, how), both_ways_parameters(rng, 5, 2, 4, 1, how)
        for note, (T, lengths) in LENGTHS.items():
            yield edge(note, init, drawn, [(ids(5, T, len(lengths)), lengths)])
        yield edge("no lengths", init, drawn, [(ids(5, 5, 2),)])
    single = both_ways_parameters(rng, 5, 2, 4, 3, "concat", np.float32)
    yield edge("float32", (5, 2, 4, 3), single, [(ids(5, 5, 3), np.array([2, 5, 4]))])


ex.mistakes(r"""
out_at_the_last_step: You read the states of the last real step in both directions. There the backward direction has
  read one word: it has read everything at step 0, and h_n holds both final states.
- _, (f, g) = self.rnn(packed)
+ states, _ = pad_packed_sequence(self.rnn(packed)[0])
+ f, g = states[lengths - 1, torch.arange(len(lengths))].chunk(2, dim=-1)

begins_in_the_padding: The padding of the short rows is read: `lengths` makes no difference. What `self.rnn` is given
  are the embedded ids, packed with their lengths.
- packed = pack_padded_sequence(self.embedding(ids), lengths, enforce_sorted=False)
+ packed = self.embedding(ids)

rows_in_sorted_order: The answers come out sorted by length: row n answers for another sequence. Leave the sorting to
  `enforce_sorted=False`, which puts the rows back.
- packed = pack_padded_sequence(self.embedding(ids), lengths, enforce_sorted=False)
+ lengths, order = lengths.sort(descending=True, stable=True)
+ packed = pack_padded_sequence(self.embedding(ids[:, order]), lengths)

forward_direction_twice: The forward direction stands in for both. h_n[1] is the backward one.
- _, (f, g) = self.rnn(packed)
+ f = g = self.rnn(packed)[1][0]

directions_exchanged: For "concat" your backward state stands first. Forward first, as in unit 09.
- summary = torch.cat([f, g], dim=-1)
+ summary = torch.cat([g, f], dim=-1)

reshaped_not_joined: For "concat" you reshape h_n, (2, N, H), to (N, 2H): that mixes the rows, so that the first half of
  the batch gets two forward states. Join h_n[0] and h_n[1] along the last axis.
- summary = torch.cat([f, g], dim=-1)
+ summary = torch.stack([f, g]).reshape(len(f), -1)

mean_taken_for_sum: Your "sum" is a mean: there is a factor of one half in it.
- summary = f + g
+ summary = (f + g) / 2

product_taken_for_sum: Your "sum" is a product. Add the two states.
- summary = f + g
+ summary = f * g

sum_taken_for_product: Your "product" is a sum. Multiply the two states, entry by entry.
- summary = f * g
+ summary = f + g

softmax_returned: You return probabilities. A head gives logits: `cross_entropy` takes the softmax itself, and with a
  second one before it the network learns slowly and badly.
- return self.head(summary)
+ return torch.softmax(self.head(summary), dim=-1)

no_gradient_for_the_words: The logits are right, but no gradient reaches the embedding: a `detach`, `.data` or `no_grad`
  cuts it, and the words keep the vectors that they were drawn with.
- packed = pack_padded_sequence(self.embedding(ids), lengths, enforce_sorted=False)
+ packed = pack_padded_sequence(self.embedding(ids).detach(), lengths, enforce_sorted=False)

head_of_both_whatever_how: Your head reads 2H numbers whatever `how` is. A sum and a product of two states have H.
- self.head = nn.Linear(2 * hidden_size if how == "concat" else hidden_size, output_size)
+ self.head = nn.Linear(2 * hidden_size, output_size)

backward_begins_in_the_padding: The forward half is right, and the backward direction has read the padding before the
  sequence: it begins at the end of the batch. Pack the embedded ids with their lengths.
- _, (f, g) = self.rnn(packed)
+ states = self.rnn(self.embedding(ids))[0]
+ f = states[lengths - 1, torch.arange(len(lengths)), : self.rnn.hidden_size]
+ g = states[0, :, self.rnn.hidden_size :]

padding_zeroed_and_read: The padding's vectors are zero, and both directions read on all the same: with zeros as
  inputs, W and the biases still change their states. Pack the embedded ids with their lengths.
- packed = pack_padded_sequence(self.embedding(ids), lengths, enforce_sorted=False)
+ packed = self.embedding(ids) * (torch.arange(len(ids))[:, None] < lengths)[:, :, None]

out_at_the_last_step_without_lengths: Without lengths you read the states of the last step in both directions, as
  `out[-1]` has them. There the backward direction has read one word: h_n holds both final states.
- if lengths is None:
-     lengths = torch.full((ids.shape[1],), len(ids))
+ whole = lengths is None
+ lengths = torch.full((ids.shape[1],), len(ids)) if whole else lengths
- _, (f, g) = self.rnn(packed)
+ states, (f, g) = self.rnn(packed)
+ if whole:
+     f, g = pad_packed_sequence(states)[0][-1].chunk(2, dim=-1)

id_0_never_learns: The logits are right, but the vector of id 0 gets no gradient and never learns: `padding_idx=0` has
  this effect. Here 0 is a word like any other.
- self.embedding = nn.Embedding(vocabulary_size, embedding_size)
+ self.embedding = nn.Embedding(vocabulary_size, embedding_size, padding_idx=0)
""")


ex = unit.exercise(
    "SequenceGenerator",
    points=4,
    takes="sizes, parameters, x",
    gives="outputs [outputs (T, N, D)], gradients, input_gradients [the gradient with respect to x, steps]",
    drive=layer,
    hints=(
        "At every step two things go on to the next one. What are they, and where does each go in?",
        "nn.RNN wants an axis for time: give it `x[None]`, one step. It gives back the states of that one step, and "
        "the state for the next call. At the first step the state is None.",
        "In a loop over `range(steps)`: `states, h = self.rnn(x[None], h)`, `x = self.head(states[0])`, "
        "`outputs.append(x)`. At the end `torch.stack(outputs)`.",
    ),
)


def generator_calls(
    rng: np.random.Generator, T: int, N: int, D: int, H: int, dtype: Any = np.float64
) -> tuple[Any, ...]:
    """Draw sizes, parameters and three calls of T steps, of one more and of T again, the last one the first again."""
    x = normal(rng, N, D, dtype=dtype)
    calls = [(x, T), (normal(rng, N, D, dtype=dtype), T + 1), (x, T)]
    return (D, H, D), core_parameters(rng, D, H, D, dtype), calls


ex.draws(generator_calls)


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield edge("one number a step", *draw(D=1))


ex.mistakes(r"""
first_input_again_and_again: The same first input goes in at every step, and no output is ever fed back: the generator
  does not hear what it has said. After the first step, x is the output before.
- x = self.head(states[0])
- outputs.append(x)
+ outputs.append(self.head(states[0]))

state_reset_at_every_step: The state starts from zeros at every step: the generator knows its last output and nothing
  before it. Hand the state that nn.RNN returns to its next call.
- states, h = self.rnn(x[None], h)
+ states, _ = self.rnn(x[None])

silence_after_the_first: After the first step zeros go in. The state goes on by itself, but the generator never hears
  its own outputs: each is the next input.
- x = self.head(states[0])
- outputs.append(x)
+ outputs.append(self.head(states[0]))
+ x = torch.zeros_like(x)

first_input_among_the_outputs: Your first output is the input itself, and so the last one is missing. The outputs are
  those that follow x.
- h, outputs = None, []
+ h, outputs = None, [x]
- return torch.stack(outputs)
+ return torch.stack(outputs[:steps])

one_output_too_many: You give steps + 1 outputs: the first input stands in front of them. `steps` counts what follows
  it.
- h, outputs = None, []
+ h, outputs = None, [x]

one_output_repeated: All your outputs are the first one. A generator takes a step for each of them, with the output
  before as its input.
- states, h = self.rnn(x[None], h)
- x = self.head(states[0])
- outputs.append(x)
+ outputs.append(self.head(self.rnn(x[None])[0][0]))

feedback_detached: The outputs are right, but no gradient runs from a later output through an earlier one: what is fed
  back is cut off. The generator would not learn to say what helps it later on.
- outputs.append(x)
+ outputs.append(x)
+ x = x.detach()

state_cut_at_every_step: The outputs are right, but the state is cut off at every step: gradients run through what is
  said, and none through what is remembered.
- outputs.append(x)
+ outputs.append(x)
+ h = h.detach()

softmax_fed_back: You feed back the softmax of the output. This generator's outputs are plain numbers, and each goes in
  again just as it came out.
- outputs.append(x)
+ outputs.append(x)
+ x = torch.softmax(x, dim=-1)

choice_fed_back: You feed back a one-hot vector of the largest entry. A language model does so with what it has drawn;
  here the output itself, unrounded, is the next input.
- outputs.append(x)
+ outputs.append(x)
+ x = nn.functional.one_hot(x.argmax(dim=-1), x.shape[-1]).to(x.dtype)

output_added_to_the_input: You add the output to the input before. The next input is the output itself.
- x = self.head(states[0])
- outputs.append(x)
+ outputs.append(self.head(states[0]))
+ x = x + outputs[-1]

output_is_the_sum = output_added_to_the_input
- x = self.head(states[0])
+ x = x + self.head(states[0])

batch_before_time: Your answer is (N, steps, D). Time comes first in this course: `torch.stack(outputs)`, on axis 0.
- return torch.stack(outputs)
+ return torch.stack(outputs, dim=1)

last_output_alone: You return the last output only, (N, D). All of them are wanted: collect them in a list as they come.
- return torch.stack(outputs)
+ return outputs[-1]

goes_on_where_it_stopped: A second call goes on from the state in which the first one ended. Every call starts from
  zeros: keep the state in a local name, not in `self`.
- self.head = nn.Linear(hidden_size, output_size)
+ self.head = nn.Linear(hidden_size, output_size)
+ self.h = None
- states, h = self.rnn(x[None], h)
+ states, self.h = self.rnn(x[None], self.h)

rows_read_as_steps: x is `(N, D)`, and nn.RNN takes two axes for one sequence without a batch: your rows are read one
  after another, as steps. `x[None]`, or `x.unsqueeze(0)`, has an axis for time.
- states, h = self.rnn(x[None], h)
+ states, h = self.rnn(x, h)
- x = self.head(states[0])
+ x = self.head(states)

second_bias_lost: Something of the cell is missing: nn.RNN has two biases, `bias_ih_l0` and `bias_hh_l0`, and both are
  added. Let `self.rnn` take the step.
- states, h = self.rnn(x[None], h)
+ h = torch.zeros(len(x), self.rnn.hidden_size, dtype=x.dtype) if h is None else h
+ h = torch.tanh(x @ self.rnn.weight_ih_l0.T + self.rnn.bias_ih_l0 + h @ self.rnn.weight_hh_l0.T)
- x = self.head(states[0])
+ x = self.head(h)

tanh_fed_back: You feed back the tanh of the output. This generator's outputs are plain numbers, and each goes in again
  just as it came out.
- outputs.append(x)
+ outputs.append(x)
+ x = torch.tanh(x)

relu_on_the_outputs: Your outputs go through a ReLU, so that none is negative. They are what the head gives.
- x = self.head(states[0])
+ x = torch.relu(self.head(states[0]))
""")


ex = unit.exercise(
    "gradient_support",
    points=4,
    takes="model, x (T, N, D), t",
    gives="support (T,)",
    ends={"x": "none"},
    drive=asked_again,
    hints=(
        "Gradients are of one number. Which number do you make of output t, so that no two of its entries can cancel "
        "each other? And where does PyTorch leave the gradient of it by x?",
        "`leaf = x.clone().requires_grad_()`, then `output = model(leaf)[t]`. A sum with random weights, "
        "`(torch.randn_like(output) * output).sum()`, is the number. Its gradient by leaf has the shape (T, N, D).",
        "`(gradient,) = torch.autograd.grad(total, leaf, allow_unused=True)`. If it is None, nothing gets any; else "
        "`(gradient != 0).flatten(1).any(dim=1)`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def made(model: Callable[..., Named], D: int, H: int, Q: int, dtype: Any = np.float64, **settings: Any) -> Named:
        U, W, V = (weights(rng, *shape, dtype) for shape in ((D, H), (H, H), (H, Q)))
        return model(U=U, W=W, V=V, **settings)

    yield case(made(tagging_model, 3, 4, 2), normal(rng, 6, 2, 3), 3)
    yield case(made(opposite_model, 4, 3, 2), normal(rng, 5, 2, 4), 3)
    yield case(made(two_way_model, 2, 5, 4), normal(rng, 6, 3, 2), 2)
    yield case(window_model(V=weights(rng, 3, 4), before=2, after=1), normal(rng, 7, 2, 3), 4)
    yield case(made(truncated_model, 3, 4, 5, cut=2), normal(rng, 6, 2, 3), 4)
    # The rows end at different steps, and the first and the last are neither the longest nor the shortest.
    yield case(made(classifying_model, 3, 5, 2, lengths=np.array([3, 5, 2, 4])), normal(rng, 7, 4, 3), 0)
    yield edge("more outputs than inputs", delaying_model(V=weights(rng, 2, 3), steps=3), normal(rng, 4, 3, 2), 5)
    yield edge("the last output", made(tagging_model, 2, 3, 4), normal(rng, 5, 3, 2), 4)
    yield edge("the first output", window_model(V=weights(rng, 2, 3), before=2, after=1), normal(rng, 6, 3, 2), 0)
    yield edge("one step, one row, one number", made(tagging_model, 1, 3, 1), normal(rng, 1, 1, 1), 0)
    yield edge("no gradient reaches x", made(cut_off_model, 3, 4, 2), normal(rng, 5, 2, 3), 3)
    yield edge("the output hangs on nothing", clock_model(), normal(rng, 5, 2, 3), 3)
    # The gradients of one input's entries cancel; they are tiny, and yet not 0.
    V = normal(rng, 2, 3)
    cancelling = window_model(V=V[:1] * [[1], [-1]], before=2, after=1)
    yield edge("the gradients of an input sum to 0", cancelling, normal(rng, 6, 1, 2), 3)
    # Where the outputs are 0, their squares have no gradient, and the exp of one cancels that of its negative.
    yield edge("x is all zeros", made(opposite_model, 2, 4, 3), np.zeros((6, 3, 2)), 3)
    # One entry of the output, or the inputs whose gradient is positive, are but some of these.
    yield edge("each entry of an output has read another input", gathering_model(), normal(rng, 20, 1, 1), 3)
    tiny = window_model(V=[[0], [1e-30]] * V, before=1, after=2)
    yield edge("tiny gradients, and of one entry", tiny, normal(rng, 6, 3, 2), 2)
    single = np.float32
    yield edge("float32", made(tagging_model, 3, 4, 2, single), normal(rng, 5, 2, 3, dtype=single), 1)


ex.mistakes(r"""
plain_sum: Where entries of output t always add up to the same, as after a softmax, your number has no gradient,
  although each of them has one. Give each entry a weight of its own, drawn at random.
- total = (torch.randn_like(output) * output).sum()
+ total = output.sum()

all_outputs_at_once: You differentiate all outputs together, and so you see every input that any output learns from.
  Pick output t first, `model(leaf)[t]`, and then make a number of it.
- output = model(leaf)[t]
+ output = model(leaf)

outputs_up_to_t: You differentiate all outputs up to t together, as if a loss were read at each of them. For a tagger
  that makes no difference; for others it does. Output t alone is meant.
- output = model(leaf)[t]
+ output = model(leaf)[: t + 1]

last_output_for_output_t: You look at the last output, whatever t is. Output t is `model(leaf)[t]`.
- output = model(leaf)[t]
+ *_, output = model(leaf)

first_row_only: Only row 0 of the batch counts in your answer. An input step gets gradient if any row does: in a padded
  batch the rows end at different steps.
- return (gradient != 0).flatten(1).any(dim=1)
+ return (gradient[:, 0] != 0).any(dim=1)

all_for_any: You say True only where all entries of x[k] get gradient. One is enough: `any`, not `all`.
- return (gradient != 0).flatten(1).any(dim=1)
+ return (gradient != 0).flatten(1).all(dim=1)

over_the_wrong_axes: Your answer has an entry for each row of the batch. Time is axis 0: what you ask for is one entry
  for each *step*, so that `any` goes over all other axes.
- return (gradient != 0).flatten(1).any(dim=1)
+ return (gradient != 0).any(dim=2).any(dim=0)

positive_gradients_only: A negative gradient is a gradient too: ask for `!= 0`, not for `> 0`.
- total = (torch.randn_like(output) * output).sum()
+ weights = torch.cos(torch.arange(output.numel(), dtype=x.dtype) + 0.5).reshape(output.shape)
+ total = (weights * output).sum()
- return (gradient != 0).flatten(1).any(dim=1)
+ return gradient.flatten(1).sum(dim=1) > 0

changed_instead_of_differentiated: You change each input and look whether the output moves. That is what an output
  *depends* on. What it can *learn* from is another question, and the answers differ where a graph is cut: ask for the
  gradient.
+ with torch.no_grad():
+     before = model(x)[t]
+     support = torch.zeros(len(x), dtype=torch.bool)
+     for k in range(len(x)):
+         changed = x.clone()
+         changed[k] += 1.0
+         support[k] = bool((model(changed)[t] != before).any())
+ return support

the_past_taken_for_granted: You say that an output learns from its past and from nothing else, without asking the model.
  For a tagger that is true. For the others it is not: let the gradient say it.
+ return torch.arange(len(x)) <= t

gradients_pile_up: `backward` adds to what stands in `x.grad`. Asked once more about the same x, you answer for the
  output of before as well. Let a copy collect them, `x.clone().requires_grad_()`, or ask `torch.autograd.grad`.
+ x.requires_grad_()
+ output = model(x)[t]
+ total = (torch.randn_like(output) * output).sum()
+ if total.requires_grad:
+     total.backward()
+ if x.grad is None:
+     return torch.zeros(len(x), dtype=torch.bool)
+ return (x.grad != 0).flatten(1).any(dim=1)

summed_before_asked: You add up the gradients of an input's entries before you ask whether there is one. They may
  cancel: ask of each entry, `!= 0`, and then whether any is.
- return (gradient != 0).flatten(1).any(dim=1)
+ return gradient.flatten(1).sum(dim=1) != 0

sizes_for_yes_and_no: You return how large the gradients are. The question is whether there is one: an array of True and
  False.
- total = (torch.randn_like(output) * output).sum()
+ weights = torch.cos(torch.arange(output.numel(), dtype=x.dtype) + 0.5).reshape(output.shape)
+ total = (weights * output).sum()
- return (gradient != 0).flatten(1).any(dim=1)
+ return gradient.flatten(1).norm(dim=1)

a_way_back_expected: Where no way leads from the output back to x, PyTorch has no gradient to give, and you take that
  for an error. With `allow_unused=True` it gives None (as `.grad` is None after `backward`), and the answer is all
  False.
- (gradient,) = torch.autograd.grad(total + 0 * leaf.sum(), leaf)
+ (gradient,) = torch.autograd.grad(total, leaf)
""")
