"""Unit 12: from one sequence to another. Its exercises, their cases, hints and misconceptions."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rnncourse import encoder_decoder
from rnncourse.checks.callables import Named, named
from rnncourse.checks.compare import difference
from rnncourse.checks.drive import layer, module, padded_module
from rnncourse.checks.exercise import LENGTHS, Case, Draw, Unit, case, edge, normal, weights
from rnncourse.checks.parameters import Parameters, embedding, linear, recurrent
from rnncourse.checks.plain import Plain

try:
    from rnncourse.encoder_decoder_torch import Decoder, Encoder, ImageCaptioner, Seq2Seq
    from rnncourse.fixtures.encoder_decoder import (
        array_or_tensor,
        captioner_module,
        small_decoder,
        small_encoder,
    )
except ModuleNotFoundError:  # in a browser there is no torch, and the unit there is without these exercises
    array_or_tensor = captioner_module = None  # type: ignore
    Decoder = Encoder = ImageCaptioner = Seq2Seq = small_decoder = small_encoder = None  # type: ignore

unit = Unit("12_encoder_decoder", "From one sequence to another", encoder_decoder)


def encoding(rng: np.random.Generator, V: int, E: int, H: int, dtype: Any = np.float64) -> Parameters:
    """Draw the parameters of an Encoder by name."""
    return embedding(rng, "embedding", V, E, dtype) | recurrent(rng, "rnn", E, H, dtype, gates=3)


def decoding(rng: np.random.Generator, V: int, E: int, H: int, dtype: Any = np.float64) -> Parameters:
    """Draw the parameters of a Decoder by name."""
    return encoding(rng, V, E, H, dtype) | linear(rng, "output", H, V, dtype)


def small_decoding(rng: np.random.Generator, V: int, E: int, H: int, dtype: Any = np.float64) -> Parameters:
    """Draw the parameters of a `SmallDecoder`, as part of a larger module."""
    drawn = {"E": normal(rng, V, E, dtype=dtype), "A": weights(rng, E, H, dtype), "W": weights(rng, H, H, dtype)}
    return {f"decoder.{name}": value for name, value in (drawn | {"V": weights(rng, H, V, dtype)}).items()}


def told_apart(
    draw: Callable[[], list[tuple[Any, ...]]], reference: Any, wrong: Sequence[Any]
) -> list[tuple[Any, ...]]:
    """Draw cases until the reference and all wrong answers differ, each from each."""
    while True:
        cases = draw()
        answers = [[result(f, args) for args in cases] for f in (reference, *wrong)]
        if all(difference(a, b) for a, b in itertools.combinations(answers, 2)):
            return cases


def result(function: Any, args: tuple[Any, ...]) -> Any:
    """The answer to a case, whose named callables are made for it."""
    return function(*(a.make() if isinstance(a, Named) else a for a in args))


ex = unit.exercise(
    "Encoder",
    reference=Encoder,
    points=3,
    takes="sizes, parameters, inputs",
    gives="returned [outputs (T, N, H), state (1, N, H)], gradients",
    drive=padded_module,
    hints=(
        "Two layers, used one after the other. A GRU gives a pair already; without lengths that pair is the answer. "
        "What must be different when some sequences are shorter: which state is the last one?",
        "`nn.GRU(embedding_size, hidden_size)` returns (all states, last state). With lengths, pack the embedded ids "
        "before it, with `enforce_sorted=False`, and unpack its states after it; its second result is right as it is.",
        "`packed = pack_padded_sequence(self.embedding(ids), lengths, enforce_sorted=False)`, `states, state = "
        "self.rnn(packed)`, `outputs, _ = pad_packed_sequence(states, total_length=len(ids))`; return outputs and "
        "state.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def ids(V: int, T: int, N: int) -> np.ndarray:
        return rng.integers(0, V, size=(T, N))

    yield case((7, 3, 5), encoding(rng, 7, 3, 5), [(ids(7, 6, 3),), (ids(7, 4, 2), None)])
    yield case((6, 4, 2), encoding(rng, 6, 4, 2), [(ids(6, 6, 4), np.array([3, 6, 1, 4]))])
    yield case((5, 2, 4), encoding(rng, 5, 2, 4), [(ids(5, 7, 3), np.array([2, 5, 4]))])
    yield edge("one step, one row", (4, 2, 3), encoding(rng, 4, 2, 3), [(ids(4, 1, 1),)])
    for note, (T, lengths) in LENGTHS.items():
        yield edge(note, (4, 4, 4), encoding(rng, 4, 4, 4), [(ids(4, T, len(lengths)), lengths)])
    single = encoding(rng, 5, 2, 3, np.float32)
    yield edge("float32", (5, 2, 3), single, [(ids(5, 4, 2),), (ids(5, 4, 2), np.array([4, 2]))])


@ex.holds("Other ids under the padding change no state")
def _(call: Any, rng: np.random.Generator) -> str | None:
    parameters, lengths = encoding(rng, 9, 3, 4), np.array([4, 1, 6, 3])
    ids = rng.integers(0, 9, size=(7, 4))
    other = np.where(np.arange(7)[:, None] >= lengths, (ids + 1 + rng.integers(0, 8, size=ids.shape)) % 9, ids)
    before, after = (call((9, 3, 4), parameters, [(x, lengths)])[0][0] for x in (ids, other))
    same = all(np.allclose(a, b, atol=1e-9) for a, b in zip(before, after, strict=True))
    return None if same else "with other ids there, states of real steps changed."


ex.mistakes(r"""
lengths_not_used: The state of a short sequence has read all of its padding: `lengths` makes no difference to it. Pack
  the embedded ids with their lengths, so that the layer stops at the last real step.
- states, state = self.rnn(pack_padded_sequence(embedded, lengths, enforce_sorted=False))
- outputs, _ = pad_packed_sequence(states, total_length=len(ids))
+ outputs, state = self.rnn(embedded)

state_of_the_last_padded_step: Your state is the last row of the outputs. For a sequence that is shorter than the batch,
  that is padding, all zeros after unpacking. The second thing that the GRU returns has each sequence's own last state.
- return outputs, state
+ return outputs, outputs[-1:]

padding_zeroed_and_read: The padding's vectors are zero, and the layer reads on all the same: with zeros as inputs, its
  gates and biases still change the state. Pack the sequence, so that the padding is never read.
- states, state = self.rnn(pack_padded_sequence(embedded, lengths, enforce_sorted=False))
- outputs, _ = pad_packed_sequence(states, total_length=len(ids))
+ outputs, state = self.rnn(embedded * (torch.arange(len(ids))[:, None] < lengths)[..., None])

mean_for_the_last_state: Your state is the mean of all real states. The decoder is to start from the last one, which
  alone has read everything.
- if lengths is None:
-     return self.rnn(embedded)
+ lengths = torch.full(ids.shape[1:], len(ids)) if lengths is None else lengths
- return outputs, state
+ return outputs, outputs.sum(dim=0, keepdim=True) / lengths[:, None]

batch_read_as_time: The layer takes axis 0 for the batch, as `batch_first=True` says, but ids are (T, N): it reads
  across the sequences, and its state has a row for each step. Leave time first.
- self.rnn = nn.GRU(embedding_size, hidden_size)
+ self.rnn = nn.GRU(embedding_size, hidden_size, batch_first=True)

steps_cut_off: Where no sequence is as long as the batch, your outputs have fewer steps than the ids: as many as the
  longest sequence. `pad_packed_sequence` gives as many as you want with `total_length=len(ids)`.
- outputs, _ = pad_packed_sequence(states, total_length=len(ids))
+ outputs, _ = pad_packed_sequence(states)

sorted_lengths_expected: Packing expects the longest sequence first unless told otherwise, and here they come in any
  order. With `enforce_sorted=False` it sorts them itself, and puts them back afterwards.
- states, state = self.rnn(pack_padded_sequence(embedded, lengths, enforce_sorted=False))
+ states, state = self.rnn(pack_padded_sequence(embedded, lengths))

left_in_sorted_order: Your sequences come out sorted by length: row n of the answer belongs to another sequence. Put
  both results back with `order.argsort()`, or leave the sorting to `enforce_sorted=False`.
- states, state = self.rnn(pack_padded_sequence(embedded, lengths, enforce_sorted=False))
+ order = lengths.argsort(descending=True)
+ states, state = self.rnn(pack_padded_sequence(embedded[:, order], lengths[order]))

state_in_sorted_order: Your outputs are in the old order again, and your state is still sorted by length: row n of it
  belongs to another sequence. Put it back with `order.argsort()`, too, on its second axis.
- states, state = self.rnn(pack_padded_sequence(embedded, lengths, enforce_sorted=False))
+ order = lengths.argsort(descending=True)
+ states, state = self.rnn(pack_padded_sequence(embedded[:, order], lengths[order]))
- return outputs, state
+ return outputs[:, order.argsort()], state

layer_axis_dropped: Your state is (N, H). The decoder's GRU takes (1, N, H), with a first axis over its layers.
-     return self.rnn(embedded)
+     outputs, state = self.rnn(embedded)
+     return outputs, state[0]
- return outputs, state
+ return outputs, state[0]

id_0_never_learns: The states are right, but the vector of id 0 gets no gradient and never learns: `padding_idx=0` has
  this effect. Here 0 is a symbol like any other; it is the lengths that say what is padding.
- self.embedding = nn.Embedding(vocabulary_size, embedding_size)
+ self.embedding = nn.Embedding(vocabulary_size, embedding_size, padding_idx=0)

embedding_detached: The states are right, but no gradient reaches the embedding: the symbols keep the vectors they were
  drawn with. Something between it and the GRU cuts the graph, a `detach`, `.data` or `no_grad`.
- embedded = self.embedding(ids)
+ embedded = self.embedding(ids).detach()

state_one_step_late: Your state is one step late, that of the first padded step: a sequence of length 3 ends at step 2,
  `lengths - 1`.
- outputs, _ = pad_packed_sequence(states, total_length=len(ids))
- return outputs, state
+ outputs, _ = self.rnn(embedded)
+ return outputs, outputs[lengths.clamp(max=len(ids) - 1), torch.arange(len(lengths))][None]
""")


ex = unit.exercise(
    "Decoder",
    reference=Decoder,
    points=2,
    takes="sizes, parameters, inputs",
    gives="returned [logits (T, N, V), state (1, N, H)], gradients, "
    "input_gradients [ids, the gradient with respect to state (1, N, H)]",
    drive=layer,
    hints=(
        "It is the character model of unit 07 with a GRU in it, and one thing is new: where does its state begin?",
        "Three layers: `embedding`, `rnn`, `output`. The GRU takes the first state as its second argument, in just the "
        "shape in which you get it.",
        "`states, state = self.rnn(self.embedding(ids), state)`, and `return self.output(states), state`.",
    ),
)


def decoder_call(
    rng: np.random.Generator, T: int, N: int, V: int, E: int, H: int, dtype: Any = np.float64
) -> tuple[Any, ...]:
    """Draw sizes, parameters and three calls, of which two are of one size and the first has a row less."""
    sizes = N, N + 1, N + 1
    calls = [(rng.integers(0, V, size=(T, n)), normal(rng, 1, n, H, dtype=dtype)) for n in sizes]
    return (V, E, H), decoding(rng, V, E, H, dtype), calls


ex.draws(decoder_call, V=(7, 6, 5), E=(6, 4, 2))


ex.mistakes(r"""
start_state_ignored: The decoder starts from zeros: the state that it is given is not used, so it knows nothing of what
  the encoder read. Hand it to the GRU as its second argument.
- states, state = self.rnn(self.embedding(ids), state)
+ states, state = self.rnn(self.embedding(ids))

start_state_detached: The logits are right, but no gradient reaches the start state: the encoder, which made it, would
  never learn. Use it as it comes, neither detached nor put into a new `torch.tensor`.
- states, state = self.rnn(self.embedding(ids), state)
+ states, state = self.rnn(self.embedding(ids), state.detach())

started_anew_at_every_step: Every step starts from the same state, and not from that of the step before: the decoder
  knows its last token and nothing before it. Hand the whole sequence to the GRU, or each step's state to the next.
- states, state = self.rnn(self.embedding(ids), state)
- return self.output(states), state
+ steps = [self.rnn(embedded[None], state) for embedded in self.embedding(ids)]
+ return self.output(torch.cat([step[0] for step in steps])), steps[-1][1]

relu_on_the_embedding: A ReLU on the embedding throws the negative half of every vector away. An embedding's output goes
  into the GRU as it is, which has its own nonlinearities.
- states, state = self.rnn(self.embedding(ids), state)
+ states, state = self.rnn(torch.relu(self.embedding(ids)), state)

probabilities_returned: You return probabilities. Logits are wanted: `cross_entropy` takes the softmax itself, and a
  second one on top makes it learn slowly and badly.
- return self.output(states), state
+ return torch.softmax(self.output(states), dim=-1), state

log_probabilities_returned: You return log-probabilities. Plain logits are wanted, what comes out of the last layer:
  whoever needs log-probabilities takes them from there.
- return self.output(states), state
+ return torch.log_softmax(self.output(states), dim=-1), state

last_step_only: You return the logits of the last step alone. Every step predicts a token: (T, N, V).
- return self.output(states), state
+ return self.output(states[-1]), state

old_state_returned: The second thing to return is the state that you were given. Return the one that the GRU ends in: a
  next call goes on from there.
- states, state = self.rnn(self.embedding(ids), state)
+ states, _ = self.rnn(self.embedding(ids), state)

all_states_for_the_last: The second thing to return is the state after the last step, (1, N, H), from which a next call
  goes on. You return the states of all steps.
- return self.output(states), state
+ return self.output(states), states

logits_one_step_late: The logits of step t are made from the state before it has read token t: the first ones come from
  the start state alone. Read first, then predict.
- states, state = self.rnn(self.embedding(ids), state)
- return self.output(states), state
+ states, last = self.rnn(self.embedding(ids), state)
+ return self.output(torch.cat([state, states[:-1]])), last

id_0_never_learns_to_be_read: The logits are right, but the vector of id 0 gets no gradient and never learns:
  `padding_idx=0` has this effect. Here 0 is a token like any other.
- self.embedding = nn.Embedding(vocabulary_size, embedding_size)
+ self.embedding = nn.Embedding(vocabulary_size, embedding_size, padding_idx=0)

layer_axis_dropped: Your state is (N, H). A GRU takes (1, N, H), with a first axis over its layers, and a next call
  starts from it.
- return self.output(states), state
+ return self.output(states), state[0]
""")


ex = unit.exercise(
    "shift_right",
    points=2,
    takes="kind, targets (T, N), bos",
    gives="kind, shifted (T, N)",
    drive=array_or_tensor,
    hints=(
        "Write the targets of one sequence down as a column, and beside it what the decoder has just read when it is "
        "to predict each of them. What stands at the top?",
        "Make a new array, or tensor, of the same shape and dtype: `np.empty_like` or `torch.empty_like`, or simply a "
        "copy. Its first row is bos, the others are all rows of the targets but the last.",
        "`shifted = targets.copy() if isinstance(targets, np.ndarray) else targets.clone()`, then `shifted[0] = bos` "
        "and `shifted[1:] = targets[:-1]`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def targets(*shape: int, dtype: Any = np.int64) -> np.ndarray:
        """Ids, in which neighbours differ along all axes, so that every shift shows."""
        while True:
            drawn = rng.integers(0, 10, size=shape).astype(dtype)
            if all((np.diff(drawn, axis=axis) != 0).all() for axis in range(len(shape))):
                return drawn

    yield case("array", targets(5, 3), 1)
    yield case("tensor", targets(4, 2), 2)
    yield case("array", targets(6, 4), 2)
    for kind in ("array", "tensor"):
        yield edge("one step", kind, targets(1, 3), 1)
        yield edge("one row", kind, targets(5, 1), 2)
        yield edge("one sequence, without a batch axis", kind, targets(5), 1)
        yield edge("a third axis", kind, targets(4, 3, 2), 2)
    yield edge("as many steps as rows", "tensor", targets(4, 4), 1)
    yield edge("int32", "array", targets(4, 3, dtype=np.int32), 2)
    first_is_bos = targets(4, 3)
    first_is_bos[0] = 0
    yield edge("bos is 0, and the first target too", "array", first_is_bos, 0)


@ex.holds("The dtype stays")
def _(call: Callable[..., Plain], rng: np.random.Generator) -> str | None:
    for kind, dtype in itertools.product(("array", "tensor"), ("int32", "float32")):
        _, shifted = call(kind, rng.integers(3, 20, size=(4, 3)).astype(dtype), 2)
        if np.asarray(shifted).dtype != dtype:
            return f"the {kind} of {dtype} came back as one of {np.asarray(shifted).dtype}."
    return None


ex.mistakes(r"""
not_shifted: These are the targets, not shifted: at each step the decoder reads the very token that it is to predict. It
  will learn to copy that token; in use, where nobody knows it, it will write nonsense.
+ return targets.copy() if isinstance(targets, np.ndarray) else targets.clone()

shifted_left: You shifted to the left: at each step the decoder reads the token after the one that it is to predict. The
  inputs come later in time than the targets; bos stands first.
- shifted[0] = bos
- shifted[1:] = targets[:-1]
+ shifted[:-1] = targets[1:]
+ shifted[-1] = bos

wrapped_round: The last target has come round to the front, where bos should stand: the first step would read the end of
  the answer.
+ return np.roll(targets, 1, axis=0) if isinstance(targets, np.ndarray) else torch.roll(targets, 1, dims=0)

first_replaced: You put bos over the first target and left the others where they are. All of them move by one step, and
  the last drops out.
- shifted[1:] = targets[:-1]

grown_by_one: Your answer has a step too many: the last target must drop out. Nothing is predicted after it.
+ if isinstance(targets, np.ndarray):
+     return np.concatenate([np.full_like(targets[:1], bos), targets])
+ return torch.cat([torch.full_like(targets[:1], bos), targets])

bos_everywhere: All of your inputs are bos, as where an array is shifted into itself from the front: each row takes over
  the row before it, which is bos by then. Read from the targets, write to another array.
- shifted[1:] = targets[:-1]
+ shifted[1:] = bos

rolled_as_one_row: Your sequences are mixed: all entries move as if they stood in one long row, as by `roll` without
  an axis. Time is axis 0.
- shifted = targets.clone() if isinstance(targets, torch.Tensor) else targets.copy()
- shifted[0] = bos
- shifted[1:] = targets[:-1]
+ shifted = torch.roll(targets, 1) if isinstance(targets, torch.Tensor) else np.roll(targets, 1)
+ shifted[0] = bos

array_rolled_as_one_row = rolled_as_one_row
- shifted = targets.clone() if isinstance(targets, torch.Tensor) else targets.copy()
- shifted[0] = bos
- shifted[1:] = targets[:-1]
+ shifted = torch.roll(targets, 1, 0) if isinstance(targets, torch.Tensor) else np.roll(targets, 1)
+ shifted[0] = bos

int64_always: An array of another dtype does not come back as it was: int32 as int64, as where a row of bos has a dtype
  of its own. Fill a copy of the targets, or give that row their dtype.
- shifted = targets.clone() if isinstance(targets, torch.Tensor) else targets.copy()
+ shifted = targets.long() if isinstance(targets, torch.Tensor) else targets.astype(np.int64)
+ shifted = shifted + 0

shifted_along_the_batch: You shifted along the last axis, from one sequence to the next. Time is axis 0.
- shifted[0] = bos
- shifted[1:] = targets[:-1]
+ shifted[..., 0] = bos
+ shifted[..., 1:] = targets[..., :-1]

shifted_twice: You shifted by two steps: the first target is to be read at the second step.
- shifted[0] = bos
- shifted[1:] = targets[:-1]
+ shifted[:2] = bos
+ shifted[2:] = targets[:-2]

zero_for_bos: The first row is 0. It should be `bos`, which is whatever id the caller says.
- shifted[0] = bos
+ shifted[0] = 0

always_an_array: The numbers are right, but a tensor comes back as an array. Give back what you were given: a tensor for
  a tensor, an array for an array.
- shifted = targets.clone() if isinstance(targets, torch.Tensor) else targets.copy()
+ shifted = np.array(targets)

always_a_tensor: The numbers are right, but an array comes back as a tensor. Give back what you were given: an array for
  an array, a tensor for a tensor.
+ targets = torch.as_tensor(targets)
+ return torch.cat([torch.full_like(targets[:1], bos), targets[:-1]])

targets_overwritten: The targets themselves are shifted: the loss would now be taken against the decoder's own inputs.
  Write to a copy.
- shifted[1:] = targets[:-1]
+ shifted[1:] = targets[:-1]
+ targets[:] = shifted
""")


ex = unit.exercise(
    "Seq2Seq",
    reference=Seq2Seq,
    points=3,
    takes="sizes, parameters, inputs",
    gives="logits [logits (T, N, V)], gradients",
    drive=module,
    uses=(encoder_decoder.shift_right,),
    hints=(
        "Two modules that you have, and one thing that passes from the first to the second. What does the decoder read "
        "while it is being trained?",
        "The encoder returns a pair, and the decoder starts from its second part. The decoder's inputs are "
        "`shift_right(targets, self.bos)`: the true tokens, each one step late.",
        "`_, state = self.encoder(source, source_lengths)`, `logits, _ = self.decoder(shift_right(targets, self.bos), "
        "state)`, and `return logits`. In `__init__` keep `encoder`, `decoder` and `bos` under these names.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def translating(V: int, Q: int, E: int, H: int, bos: int, dtype: Any = np.float64) -> tuple[Any, Any]:
        encoder = small_encoder(vocabulary_size=V, hidden_size=H)
        decoder = small_decoder(vocabulary_size=Q, embedding_size=E, hidden_size=H)
        reading = {"encoder.E": normal(rng, V, H, dtype=dtype), "encoder.W": weights(rng, H, H, dtype)}
        return (encoder, decoder, bos), reading | small_decoding(rng, Q, E, H, dtype)

    def call(S: int, T: int, N: int, V: int, Q: int, lengths: Any = None) -> tuple[Any, ...]:
        return rng.integers(0, V, size=(S, N)), lengths, rng.integers(2, Q, size=(T, N))

    lengths = np.array([3, 7, 5])
    yield case(*translating(8, 6, 4, 5, 1), [call(7, 4, 3, 8, 6, lengths), call(5, 6, 2, 8, 6)])
    yield case(*translating(5, 7, 2, 3, 0), [call(4, 6, 2, 5, 7, np.array([2, 3]))])
    yield edge("one step each, one row", *translating(4, 5, 3, 2, 1), [call(1, 1, 1, 4, 5)])
    yield edge("as long as the source", *translating(6, 6, 3, 4, 1), [call(5, 5, 4, 6, 6, np.array([5, 2, 1, 4]))])
    yield edge("float32", *translating(5, 6, 3, 4, 1, np.float32), [call(4, 5, 2, 5, 6, np.array([3, 3]))])


ex.mistakes(r"""
targets_not_shifted: The decoder reads the target that it is to predict, at the same step. The loss will go to zero and
  the model will have learned to copy. Feed it `shift_right(targets, self.bos)`.
- logits, _ = self.decoder(shift_right(targets, self.bos), state)
+ logits, _ = self.decoder(targets, state)

targets_shifted_left: The decoder reads the token after the one that it is to predict: the targets are shifted to the
  left. Its inputs begin with bos, then come the targets, and the last drops out.
- logits, _ = self.decoder(shift_right(targets, self.bos), state)
+ logits, _ = self.decoder(torch.cat([targets[1:], torch.full_like(targets[:1], self.bos)]), state)

targets_wrapped_round: The targets are rolled round: the decoder's first input is the last target, and bos is never
  read. In use it will begin with bos, and know nothing about it.
- logits, _ = self.decoder(shift_right(targets, self.bos), state)
+ logits, _ = self.decoder(targets.roll(1, dims=0), state)

own_predictions_fed_back: The decoder reads its own best guesses. That is how it will be used; in training with teacher
  forcing it reads the true tokens, shifted right, whatever it would have said.
- logits, _ = self.decoder(shift_right(targets, self.bos), state)
- return logits
+ token, logits = torch.full_like(targets[:1], self.bos), []
+ for _ in targets:
+     scores, state = self.decoder(token, state)
+     token = scores.argmax(dim=-1)
+     logits.append(scores)
+ return torch.cat(logits)

bos_read_at_every_step: The decoder reads bos at every step and never learns what came before. It is to read the true
  tokens, shifted right.
- logits, _ = self.decoder(shift_right(targets, self.bos), state)
+ logits, _ = self.decoder(torch.full_like(targets, self.bos), state)

source_lengths_not_used: The encoder works without the lengths: the summary of a short source has read its padding. Hand
  `source_lengths` on to it.
- _, state = self.encoder(source, source_lengths)
+ _, state = self.encoder(source)

summary_from_the_last_output: The decoder starts from the encoder's last output, which for a short source is padding.
  Start from the state, the second thing that the encoder returns.
- _, state = self.encoder(source, source_lengths)
+ outputs, _ = self.encoder(source, source_lengths)
+ state = outputs[-1:]

started_from_zeros: The decoder starts from zeros: nothing of the source reaches it, and it is a language model of the
  answers. It starts from the encoder's state.
- logits, _ = self.decoder(shift_right(targets, self.bos), state)
+ logits, _ = self.decoder(shift_right(targets, self.bos), torch.zeros_like(state))

summary_detached: The logits are right, but no gradient reaches the encoder, which stays as it was drawn: something cuts
  the graph on the state's way to the decoder, a `detach`, `.data` or `no_grad`.
- logits, _ = self.decoder(shift_right(targets, self.bos), state)
+ logits, _ = self.decoder(shift_right(targets, self.bos), state.detach())

started_from_the_summary_each_step: Every step of the decoder starts from the same state, so that it forgets what it has
  written. Hand it all inputs at once, or carry its state from step to step.
- logits, _ = self.decoder(shift_right(targets, self.bos), state)
+ logits = torch.cat([self.decoder(ids[None], state)[0] for ids in shift_right(targets, self.bos)])

softmax_on_the_logits: You return probabilities. Logits are wanted: `cross_entropy` takes the softmax itself.
- return logits
+ return torch.softmax(logits, dim=-1)

state_returned_too: You return all that the decoder returns, logits and a state. Only the logits are wanted.
- logits, _ = self.decoder(shift_right(targets, self.bos), state)
+ logits = self.decoder(shift_right(targets, self.bos), state)
""")


ex = unit.exercise(
    "exact_match",
    points=1,
    takes="predictions, targets",
    gives="share",
    hints=(
        "For each pair there are only two outcomes. What is the mean of ones and zeros?",
        "Go through both lists at once with `zip` and count where a prediction equals its target.",
        "`return sum(p == t for p, t in zip(predictions, targets)) / len(targets)`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def dates(count: int, changed: Sequence[int]) -> tuple[list[str], list[str]]:
        """Different dates, of which predictions at these places have two neighbouring digits swapped."""
        days = rng.choice(28 * 12, size=count, replace=False)
        targets = [f"{rng.integers(1950, 1990)}-{1 + d // 28:02}-{1 + d % 28:02}" for d in days]
        predictions = [
            t[:2] + t[3] + t[2] + t[4:] if i in changed and t[2] != t[3] else t for i, t in enumerate(targets)
        ]
        predictions = [
            "2" + t[1:] if i in changed and p == t else p for i, (p, t) in enumerate(zip(predictions, targets))
        ]
        return predictions, targets

    def shortened(answers: list[str], place: int) -> list[str]:
        return [*answers[:place], answers[place][:-1], *answers[place + 1 :]]

    predictions, targets = dates(9, (1, 4))
    yield case(shortened(predictions, 2), targets)
    predictions, targets = dates(8, (0, 3, 5))
    # Here the swapped digits are two that any date has, so that counted letters do not give the mistake away.
    turned = targets[6][:8] + targets[6][9] + targets[6][8]
    yield case([*predictions[:6], turned if turned != targets[6] else "x", predictions[7]], targets)
    ids = [[int(i) for i in rng.integers(3, 13, size=n)] for n in (4, 2, 5, 3, 6)]
    yield case([[3, *ids[0]], ids[1], ids[2][:-1], [*ids[3], 3], [*ids[4], 3], ids[1]], [*ids, ids[1]])  # a pair twice
    yield edge("one prediction, right", *([list(targets[:1])] * 2))
    yield edge("one prediction, wrong", predictions[:1], targets[:1])
    yield edge("none is right", targets[1:5], targets[:4])
    yield edge("an empty answer", [[], [4, 5], [0]], [[], [4, 5], []])
    # As an array, answers of one length would be compared entry by entry.
    alike = [[int(i) for i in rng.integers(3, 13, size=4)] for _ in range(3)]
    yield edge("answers of one length", [alike[0], [*alike[1][:3], 2], alike[2]], alike)
    yield edge("the same digits in a row", [[11, 1], [3, 45], [12]], [[1, 11], [34, 5], [1, 2]])
    yield edge("capitals and blanks count", ["May ", "june", "July"], ["May", "June", "July"])


ex.mistakes(r"""
per_symbol: You count single symbols. A date with one wrong digit is another date: a prediction is right from beginning
  to end, or it is wrong.
+ right = sum(a == b for p, t in zip(predictions, targets) for a, b in zip(p, t))
+ return right / max(1, sum(map(len, targets)))

share_of_the_symbols: What you give is the share of single symbols that agree, of all that you compare. A date with one
  wrong digit is another date: a prediction is right from beginning to end, or it is wrong.
+ pairs = [a == b for p, t in zip(predictions, targets) for a, b in zip(p, t)]
+ return sum(pairs) / max(1, len(pairs))

share_of_the_places = share_of_the_symbols
+ places = sum(max(len(p), len(t)) for p, t in zip(predictions, targets))
+ return sum(a == b for p, t in zip(predictions, targets) for a, b in zip(p, t)) / max(1, places)

number_of_matches: You return how many are right. The answer is a share, from 0 to 1: divide by the number of pairs.
+ return float(sum(p == t for p, t in zip(predictions, targets)))

in_per_cent: You return per cent. The answer is a share, from 0 to 1.
+ return 100 * sum(p == t for p, t in zip(predictions, targets)) / len(targets)

share_of_errors: That is the share of wrong predictions. Count the right ones.
+ return sum(p != t for p, t in zip(predictions, targets)) / len(targets)

all_or_none: You give 0 as soon as one pair is wrong. Compare each prediction with its own target, and take the mean:
  `//` would drop what is behind the point.
+ return float(predictions == targets)

the_shorter_decides: A prediction that breaks off too early, or goes on too long, counts as right. Compare the whole
  answers: `zip` stops at the end of the shorter.
+ return sum(all(a == b for a, b in zip(p, t)) for p, t in zip(predictions, targets)) / len(targets)

order_ignored: You compare which symbols occur, not where: 1989 and 1998 would be the same. Compare the answers
  themselves.
+ return sum(sorted(p) == sorted(t) for p, t in zip(predictions, targets)) / len(targets)

any_target_will_do: A prediction counts if it is among the targets at all. Each has its own: compare it with the target
  at the same place.
- return sum(p == t for p, t in zip(predictions, targets)) / len(targets)
+ return sum(p in targets for p in predictions) / len(targets)

end_is_enough: A prediction that has something more in front of its target counts as right, for you look at its end
  alone. Compare the whole answers.
+ return sum(p[max(0, len(p) - len(t)) :] == t for p, t in zip(predictions, targets)) / len(targets)
""")


ex = unit.exercise(
    "edit_distance",
    points=3,
    takes="a, b",
    gives="distance",
    hints=(
        "Fill the table for two short words by hand. Its first row and its first column are easy: what does it cost to "
        "make a word out of nothing?",
        "`d = np.zeros((len(a) + 1, len(b) + 1), dtype=int)`; d[i, 0] = i and d[0, j] = j. Then two loops; each entry "
        "is the least of three: from above, from the left, both plus 1, and diagonally, plus 1 only if the two items "
        "differ.",
        "`d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (a[i - 1] != b[j - 1]))`; return "
        "`int(d[-1, -1])`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def pair() -> tuple[str, str]:
        """A word and what became of it: a letter lost, one replaced, two swapped, one put in."""
        word = [str(c) for c in rng.choice(list("abcde"), size=rng.integers(6, 9))]
        other = list(word)
        del other[rng.integers(len(other))]
        other[rng.integers(len(other))] = "x"
        i = rng.integers(len(other) - 1)
        other[i], other[i + 1] = other[i + 1], other[i]
        other.insert(rng.integers(len(other)), str(rng.choice(list("abcde"))))
        if rng.random() < 0.7:
            other.append("c")
        return "".join(word), "".join(other)

    wrong = [m.answer for m in edit_distance_exercise.misconceptions]
    for args in told_apart(lambda: [pair(), pair(), pair()[::-1]], encoder_decoder.edit_distance, wrong):
        yield case(*args)
    a, b = pair()
    yield case([ord(c) for c in a], [ord(c) for c in b])
    # As long as each other, and yet letters are lost at one end and put in at the other: an answer that knows no
    # deletions, or no insertions, replaces every letter.
    turned = "".join(rng.permutation(list("abcdefgh")))
    yield case(turned, turned[3:] + turned[:3])
    yield case(turned, turned[-3:] + turned[:-3])
    yield edge("equal", a, a)
    yield edge("the first is empty", "", b)
    yield edge("the second is empty", a, "")
    yield edge("both are empty", [], [])
    yield edge("nothing in common: capitals and blanks count", "abc  ", "ABC")
    for _ in range(8):
        yield edge("two letters", *("".join(rng.choice(["a", "b"], length)) for length in rng.integers(1, 5, 2)))
    yield edge("one is the beginning of the other, and its end", "aa", "a")
    yield edge("words in a list", ["a", "seven", "upright"], ["a", "nine", "upright"])
    yield edge("farther apart than a byte can count", "no", "".join(rng.choice(list("abc"), 300)))


edit_distance_exercise = ex


ex.mistakes(r"""
corner_overwritten: Your third way comes from the left and not from the corner, which is of the row above and the
  column before. In a single row it is lost as soon as you write: keep it.
+ row = list(range(len(b) + 1))
+ for i, x in enumerate(a, start=1):
+     row[0] = i
+     for j, y in enumerate(b, start=1):
+         row[j] = min(row[j] + 1, row[j - 1] + 1, row[j - 1] + (x != y))
+ return row[-1]

one_list_for_all_rows: All rows of your table are one and the same list, as in `[[0] * n] * m`: what is written into one
  stands in all. Make a new list for each row.
+ d = [[0] * (len(b) + 1)] * (len(a) + 1)
+ for j in range(len(b) + 1):
+     d[0][j] = j
+ for i in range(len(a) + 1):
+     d[i][0] = i
+ for i in range(1, len(a) + 1):
+     for j in range(1, len(b) + 1):
+         cost = int(a[i - 1] != b[j - 1])
+         d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + cost)
+ return d[-1][-1]

insertions_forgotten: The least is taken of two ways only: an item put in is missing among them. There are three
  neighbours: above, on the left, and the corner.
- row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
+ row.append(min(above[j] + 1, above[j - 1] + (x != y)))

replacement_costs_two: A replacement costs you 2, as one item taken out and another put in. It is an edit of its own, at
  cost 1: for "cat" and "cut" the answer is 1.
- row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
+ row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + 2 * (x != y)))

place_by_place: Your distance is the number of places that differ, plus the difference in length. One item put in at the
  front then makes everything after it wrong: "abc" and "xabc" are one edit apart.
+ return sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b))

first_fit: Your distance is that of a single walk through both, decided at each difference on the spot. What is cheapest
  shows only later: fill the whole table.
+ i = j = edits = 0
+ while i < len(a) and j < len(b):
+     if a[i] == b[j]:
+         i, j = i + 1, j + 1
+     else:
+         edits += 1
+         if i + 1 < len(a) and a[i + 1] == b[j]:
+             i += 1
+         elif j + 1 < len(b) and a[i] == b[j + 1]:
+             j += 1
+         else:
+             i, j = i + 1, j + 1
+ return edits + len(a) - i + len(b) - j

swap_is_one_edit: You count two neighbours that changed places as one edit. There are three edits, and a swap is none of
  them: it takes two.
- above = list(range(len(b) + 1))
+ above = earlier = list(range(len(b) + 1))
-     above = row
+         if i > 1 and j > 1 and (x, y) == (b[j - 2], a[i - 2]):
+             row[j] = min(row[j], earlier[j - 2] + 1)
+     earlier, above = above, row

free_at_the_front: A beginning can be left out for nothing. The first row of the table is 0, 1, 2, … and so is its
  first column: that is what it costs to make a word from nothing, or nothing from a word.
- above = list(range(len(b) + 1))
+ above = [0] * (len(b) + 1)
- row = [i]
+ row = [0]

free_at_the_front_of_a = free_at_the_front
- row = [i]
+ row = [0]

free_at_the_front_of_b = free_at_the_front
- above = list(range(len(b) + 1))
+ above = [0] * (len(b) + 1)

one_row_short: The last item of each is left out. The table has len(a) + 1 rows and len(b) + 1 columns, and the answer
  is in its last corner.
- for i, x in enumerate(a, start=1):
+ for i, x in enumerate(a[:-1], start=1):
- return above[-1]
+ return above[max(0, len(b) - 1)]

diagonal_always_costs: A replacement costs you 1 even where the two items are equal: then everything is replaced by
  itself. It costs 1 only where they differ.
- row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
+ row.append(min(above[j], row[-1], above[j - 1]) + 1)

divided_by_the_length: You divided by the length. That is an error rate, and a useful thing; asked for is the number of
  edits.
- return above[-1]
+ return above[-1] / max(1, len(a), len(b))

free_at_the_end: You take the least of the last row, so that the end of b costs nothing. The answer is the row's last
  entry, where both are at their end.
- return above[-1]
+ return min(above)
""")


# --- greedy_decode


@named
def table_step(
    table: np.ndarray, following: np.ndarray, unread: int = -1
) -> Callable[[int, int], tuple[np.ndarray, int]]:
    """A model with states 0 … S-1: log-probabilities table[state, token] (V,), next state following[state, token]."""

    def step(token: int, state: int) -> tuple[np.ndarray, int]:
        if token == unread:
            raise ValueError("step was called with eos, for what has ended")
        return table[state, token].copy(), int(following[state, token])

    return step


@named
def recurrent_step(
    E: np.ndarray, W: np.ndarray, V: np.ndarray, c: np.ndarray
) -> Callable[[int, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """A recurrent network with a state (H,): h' = tanh(E[token] + h W), log-softmax of h' V + c."""

    def step(token: int, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        h = np.tanh(E[token] + state @ W)
        logits = h @ V + c
        return logits - np.log(np.exp(logits).sum()), h

    return step


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """Scores as log-probabilities, over the last axis."""
    return scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))


NEVER = -25.0  # what is added to the score of a token that a model practically never says


def drawn_table(
    rng: np.random.Generator, S: int, V: int, bos: int, eos: int, end: float, spread: float = 1.5, again: float = NEVER
) -> Named:
    """Draw a `table_step`. `end` is added to eos's scores, and `again` to those of bos, unless it is eos too."""
    scores = spread * normal(rng, S, V, V)
    scores[..., eos] += end
    if bos != eos:
        scores[..., bos] += again
    following = rng.integers(0, S, size=(S, V))
    return table_step(table=log_softmax(scores), following=following)


def drawn_network(rng: np.random.Generator, V: int, H: int, bos: int, eos: int, end: float) -> Named:
    """Draw a `recurrent_step`, with eos and bos as in `drawn_table`."""
    c = normal(rng, V)
    c[eos] += end
    c[bos] += NEVER
    return recurrent_step(E=normal(rng, V, H), W=2 * weights(rng, H, H), V=3 * weights(rng, H, V), c=c)


ex = unit.exercise(
    "greedy_decode",
    points=3,
    takes="step, state, bos, eos, max_length",
    gives="tokens",
    counts_calls=True,
    forbids=("torch",),
    hints=(
        "It is `generate` of unit 06 without dice: read a token, look at what comes out, choose, read what you chose. "
        "What is read first, and what are the two reasons to stop?",
        "A loop of at most max_length rounds. Each calls `step(token, state)` once, keeps both things that come back, "
        "and takes the argmax. If that is eos, stop before you write it down.",
        "`token, tokens = bos, []`; `for _ in range(max_length): log_p, state = step(token, state); token = "
        "int(np.argmax(log_p))`; `if token == eos: break`; `tokens.append(token)`. Return tokens.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def draw() -> list[tuple[Any, ...]]:
        return [
            (drawn_table(rng, 4, 6, 1, 2, 0.0), int(rng.integers(4)), 1, 2, 12),  # ends by itself
            (drawn_network(rng, 7, 5, 0, 3, 0.0), normal(rng, 5), 0, 3, 15),
            (drawn_table(rng, 5, 7, 4, 0, -1.5), int(rng.integers(5)), 4, 0, 6),  # is cut off
        ]

    def lengths(cases: list[tuple[Any, ...]]) -> list[int]:
        return [len(result(encoder_decoder.greedy_decode, args)) for args in cases]

    def telling() -> list[tuple[Any, ...]]:
        while True:
            cases = draw()
            first, second, third = lengths(cases)
            if 3 <= first < 12 and 3 <= second < 15 and third == 6:
                return cases

    wrong = [m.answer for m in greedy_exercise.misconceptions]
    for args in told_apart(telling, encoder_decoder.greedy_decode, wrong):
        yield case(*args)
    yield edge("eos at once, of 300 ids", drawn_network(rng, 300, 5, 1, 299, 30.0), normal(rng, 5), 1, 299, 5)
    # Any id up to eos would end it here.
    yield edge("no end, and eos is the last of the ids", drawn_table(rng, 4, 6, 0, 5, -20.0), 1, 0, 5, 6)
    yield edge("one call at most", drawn_table(rng, 3, 5, 1, 2, -20.0), 2, 1, 2, 1)
    yield edge("no call at all", drawn_table(rng, 3, 5, 1, 2, 0.0), 1, 1, 2, 0)
    yield edge("one mark for both, bos and eos", drawn_table(rng, 3, 4, 0, 0, 0.0), 1, 0, 0, 7)


greedy_exercise = ex


@ex.holds("Only eos ends an answer")
def _(call: Callable[..., Any], rng: np.random.Generator) -> str | None:
    """Whether a bos that is said later is written down, the statement leaves open."""
    said: list[int] = []
    while not (1 in said and set(said[said.index(1) :]) > {1}):
        args = drawn_table(rng, 4, 5, 1, 2, 0.0, again=1.0), int(rng.integers(4)), 1, 2, 6
        said = result(encoder_decoder.greedy_decode, args)
    own = list(call(*args))
    if [token for token in own if token != 1] == [token for token in said if token != 1]:
        return None
    return f"where 1 is bos and a model says {said}, it gives {own}"


ex.mistakes(r"""
begins_with_bos: bos is in your answer. It is what the decoder reads first, not something that it says.
- token, tokens = bos, []
+ token, tokens = bos, [bos]

ends_with_eos: eos is in your answer. It says that the answer is over and is no part of it: look before you append.
- token = int(np.argmax(log_probabilities))
+ token = int(np.argmax(log_probabilities))
+ tokens.append(token)
- tokens.append(token)

state_not_carried: Every call of `step` gets the first state: the new state that it returns is not used, so that the
  decoder knows its last token and nothing before it.
- log_probabilities, state = step(token, state)
+ log_probabilities, _ = step(token, state)

choice_not_fed_back: Every call of `step` gets bos. The token that you chose is what the decoder reads next.
- log_probabilities, state = step(token, state)
+ log_probabilities, state = step(bos, state)

each_token_read_twice: The decoder reads every token twice, as it does if you call `step` once for the probabilities and
  once for the state. One call gives both.
- log_probabilities, state = step(token, state)
+ log_probabilities, _ = step(token, state)
- tokens.append(token)
+ tokens.append(token)
+ _, state = step(token, state)

goes_on_after_eos: You do not stop at eos, and write down what comes after it as if nothing had happened. An answer ends
  before eos.
- break
+ continue

eos_is_a_token_like_others = goes_on_after_eos
- if token == eos:
-     break

one_call_too_many: An answer that does not end by itself is one token too long: `step` may be called max_length times,
  and gives one token each time.
- for _ in range(max_length):
+ for _ in range(max_length + 1):

one_call_too_few: An answer that does not end by itself is one token too short. It has max_length new tokens, of which
  the last one counts too; bos is none of them.
- for _ in range(max_length):
+ for _ in range(max_length - 1):

least_probable: Your answer is bos again and again, the least probable token of all here. Take the argmax of what `step`
  gives, write it down, and hand it to the next call.
- token = int(np.argmax(log_probabilities))
+ token = int(np.argmin(log_probabilities))
""")


# --- beam_search


def closed(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same search, in a table that has no row for eos."""
    return table_step(**args[0].settings, unread=args[3]), *args[1:]


ex = unit.exercise(
    "beam_search",
    points=5,
    takes="step, state, bos, eos, max_length, width",
    gives="hypotheses",
    forbids=("torch",),
    hints=(
        "What must you know about a hypothesis to go on from it, and to compare it with others? Make a tuple of that. "
        "One round turns a list of them into a longer one, and then cuts it.",
        "A hypothesis is (tokens, score, last token, state, whether it has ended). In a round, one that has ended is a "
        "candidate as it is; any other is replaced by V candidates, one for each next token, all with the state that "
        "its own call of `step` returned. Sort all candidates by score, keep `width`.",
        "The round: `for tokens, score, last, s, ended in beam:` if ended, `candidates.append((tokens, score, last, s, "
        "True))`; else `log_p, s = step(last, s)` and for each v `candidates.append((tokens if v == eos else tokens + "
        "[v], score + float(log_p[v]), v, s, v == eos))`. Then `beam = sorted(candidates, key=lambda c: "
        "-c[1])[:width]`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def plain(args: tuple[Any, ...]) -> bool:
        """Whether no answer says bos, and there is no tie."""
        found = result(encoder_decoder.beam_search, args)
        scores = [score for _, score in found]
        apart = all(a - b > 1e-3 for a, b in itertools.pairwise(scores))
        return apart and (args[2] == args[3] or not any(args[2] in tokens for tokens, _ in found))

    def best_outlasts(args: tuple[Any, ...]) -> bool:
        """Whether of two answers the best is by three tokens the longer, with tokens below eos and above it."""
        (best, _), (other, _) = result(encoder_decoder.beam_search, args)
        return len(best) >= len(other) + 3 and min(best) < args[3] < max(best)

    def best_is_outlasted(args: tuple[Any, ...]) -> bool:
        """Whether of two answers the best is first as soon as it ends, and the other goes on."""
        (best, _), other = result(encoder_decoder.beam_search, args)
        (first, _), second = result(encoder_decoder.beam_search, (*args[:4], len(best) + 1, 2))
        return len(best) + 1 < args[4] and first == best and second != other

    def draw(make: Callable[[], tuple[Any, ...]], suits: Callable[[tuple[Any, ...]], bool] = plain) -> tuple[Any, ...]:
        while True:
            args = make()
            if plain(args) and suits(args):
                return args

    def telling() -> list[tuple[Any, ...]]:
        return [draw(lambda: (drawn_table(rng, 3, 5, 1, 2, 0.3), int(rng.integers(3)), 1, 2, 4, 3))]

    wrong = {m.name: m.answer for m in beam_exercise.misconceptions if m.name != "probabilities_underflow"}
    stays = wrong.pop("finished_never_pushed_out")

    def pushes_out(args: tuple[Any, ...]) -> bool:
        """Whether something better takes the place of what has ended."""
        return bool(result(stays, args) != result(encoder_decoder.beam_search, args))

    for args in told_apart(telling, encoder_decoder.beam_search, list(wrong.values())):
        yield case(*args)
    yield case(*draw(lambda: (drawn_table(rng, 3, 5, 1, 2, 0.3), int(rng.integers(3)), 1, 2, 6, 2), pushes_out))
    # One of two ends early, the worse and then the better: nothing may end with it, or take it for open.
    yield case(*draw(lambda: (drawn_network(rng, 7, 5, 0, 3, 0.5), normal(rng, 5), 0, 3, 8, 2), best_outlasts))
    best = draw(lambda: (drawn_table(rng, 4, 6, 5, 0, -0.5), int(rng.integers(4)), 5, 0, 6, 2), best_is_outlasted)
    yield case(*best)
    yield edge("what has ended cannot be read on", *closed(best))
    yield edge("width 1", *draw(lambda: (drawn_table(rng, 4, 5, 1, 2, 0.0), 3, 1, 2, 9, 1)))
    yield edge("one call at most", *draw(lambda: (drawn_table(rng, 3, 6, 1, 2, 0.0), 2, 1, 2, 1, 3)))
    yield edge("eos at once, of 300 ids", drawn_network(rng, 300, 5, 1, 299, 30.0), normal(rng, 5), 1, 299, 6, 1)
    yield edge("room for more than there is", *draw(lambda: (drawn_table(rng, 3, 3, 0, 0, 0.0), 1, 0, 0, 2, 9)))
    long = draw(lambda: (drawn_table(rng, 1, 100, 1, 2, NEVER, 0.1), 0, 1, 2, 180, 1))
    yield edge("a long answer, each token at about 1/80", *long)


beam_exercise = ex


ex.mistakes(r"""
bos_in_the_answers: bos is in your answers. It is what the decoder reads first, not something that it says.
- beam = [([], 0.0, bos, state, False)]
+ beam = [([bos], 0.0, bos, state, False)]

eos_in_the_answers: eos is in your answers. Its log-probability counts, but the token itself does not stand in the
  result.
- longer = tokens if token == eos else [*tokens, token]
+ longer = [*tokens, token]

end_costs_nothing: The log-probability of eos is left out, so that to stop costs nothing and short answers win. The end
  is a token like any other: it has a probability.
- candidates.append((longer, score + float(log_probability), token, after, token == eos))
+ candidates.append((longer, score + (token != eos) * float(log_probability), token, after, token == eos))

one_state_for_all: All hypotheses go on from one state, that of the last call. Each has read other tokens, so each needs
  a state of its own: keep it in the hypothesis.
- log_probabilities, after = step(last, before)
+ log_probabilities, state = step(last, state)
+ after = state

state_of_the_last_call: After a round all hypotheses have one state, that of the round's last call of `step`. Each goes
  on from the state that came with it: keep it in the candidate.
- beam = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
+ best = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
+ beam = [(tokens, score, last, after, ended) for tokens, score, last, _, ended in best]

states_thrown_away: Every call of `step` gets the first state. A hypothesis goes on from the state that the call before,
  along its own path, returned.
- log_probabilities, after = step(last, before)
+ log_probabilities, after = step(last, state)

scores_are_probabilities: Your scores are probabilities, multiplied. The score is the sum of the log-probabilities: the
  same order, and it does not become 0 when an answer is long.
- beam = [([], 0.0, bos, state, False)]
+ beam = [([], 1.0, bos, state, False)]
- candidates.append((longer, score + float(log_probability), token, after, token == eos))
+ candidates.append((longer, score * float(np.exp(log_probability)), token, after, token == eos))

probabilities_underflow: A long answer has the score -inf. The product of some hundred probabilities is smaller than any
  float and becomes 0; a logarithm at the end comes too late. Add logarithms from the start.
- beam = [([], 0.0, bos, state, False)]
+ beam = [([], 1.0, bos, state, False)]
- candidates.append((longer, score + float(log_probability), token, after, token == eos))
+ candidates.append((longer, score * float(np.exp(log_probability)), token, after, token == eos))
- return [(tokens, score) for tokens, score, *_ in beam]
+ return [(tokens, float(np.log(score))) for tokens, score, *_ in beam]

each_goes_its_own_way: Each hypothesis keeps its own best continuation, and they never compete. Two continuations of the
  best may both beat the only one of the worst: sort the candidates of all hypotheses together.
- for token, log_probability in enumerate(log_probabilities):
+ best = np.argsort(-log_probabilities)[: 1 if tokens else width]
+ for token, log_probability in zip(best.tolist(), log_probabilities[best]):

divided_by_length: Your scores are divided by the length. Many systems do that, since it favours longer answers; here
  the score is the sum, which is the logarithm of the answer's probability.
- beam = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
+ beam = sorted(candidates, key=lambda candidate: -candidate[1] / (len(candidate[0]) + candidate[4]))[:width]
- return [(tokens, score) for tokens, score, *_ in beam]
+ return [(tokens, score / (len(tokens) + ended)) for tokens, score, _, _, ended in beam]

worst_kept: You keep the hypotheses with the lowest scores. Keep the highest: `sorted` puts the smallest first.
- beam = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
+ beam = sorted(candidates, key=lambda candidate: candidate[1])[:width]

one_round_too_many: You search one round too long: along one path `step` is called max_length times at most, and the
  call that eos comes out of is one of them.
- for _ in range(max_length):
+ for _ in range(max_length + 1):

one_round_too_few: What has not ended by itself comes one token too short, or not at all: `step` may be called
  max_length times along one path, and what has not ended then is returned as it is.
- for _ in range(max_length):
+ for _ in range(max_length - 1):

finished_put_aside: You put finished hypotheses aside and give their places to others: with each end one more lives on
  than was asked for. Here a finished one takes up one of the `width` places.
- beam = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
+ ranked = sorted(candidates, key=lambda candidate: -candidate[1])
+ beam = [c for c in ranked if c[4]] + [c for c in ranked if not c[4]][:width]
- return [(tokens, score) for tokens, score, *_ in beam]
+ return [(tokens, score) for tokens, score, *_ in sorted(beam, key=lambda c: -c[1])[:width]]

finished_never_pushed_out: What has ended keeps its place in your beam for good. It competes like any other: a candidate
  with a better score pushes it out.
- beam = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
+ beam = sorted(candidates, key=lambda c: (not any(c[0] is h[0] and h[4] for h in beam), -c[1]))[:width]
- return [(tokens, score) for tokens, score, *_ in beam]
+ return [(tokens, score) for tokens, score, *_ in sorted(beam, key=lambda h: -h[1])]

finished_hold_no_place: What has ended is put aside and holds no place in the rounds that follow: others live on that it
  would have beaten. It stays in the beam, as one of the `width`.
- beam = [([], 0.0, bos, state, False)]
+ beam, finished = [([], 0.0, bos, state, False)], []
- beam = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
+ kept = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
+ finished += [c for c in kept if c[4]]
+ beam = [c for c in kept if not c[4]]
- return [(tokens, score) for tokens, score, *_ in beam]
+ return [(tokens, score) for tokens, score, *_ in sorted(finished + beam, key=lambda c: -c[1])[:width]]

stops_at_the_first_end: You stop as soon as the best hypothesis has ended. It will stay the best, but the others are
  returned before they are done: go on until all of them have ended, or max_length is reached.
- if all(ended for *_, ended in beam):
+ if beam[0][4]:

goes_on_behind_the_end: You go on from hypotheses that have ended: eos is read, and tokens are written behind it. An
  ended hypothesis stays in the beam as it is.
- candidates.append((longer, score + float(log_probability), token, after, token == eos))
+ candidates.append((longer, score + float(log_probability), token, after, False))

only_finished_ones: You return only what has ended. What is still open after max_length calls is returned too, as it is,
  with the score that it has.
- return [(tokens, score) for tokens, score, *_ in beam]
+ return [(tokens, score) for tokens, score, _, _, ended in beam if ended]

worst_first: Your beam keeps the right hypotheses and returns them the wrong way round: the best comes first, the one
  whose score is nearest to 0.
- beam = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
+ beam = sorted(candidates, key=lambda candidate: candidate[1])[-width:]

one_list_of_tokens: All continuations of a hypothesis share one list of tokens: `append` writes into it for all of them.
  Make a new list for each, `tokens + [token]`.
- longer = tokens if token == eos else [*tokens, token]
+ longer = tokens
+ if token != eos:
+     tokens.append(token)

cut_without_sorting: You keep the first candidates, and not the best ones: they are cut without being sorted by score.
- beam = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
+ beam = candidates[:width]
""")


ex = unit.exercise(
    "bleu",
    points=3,
    takes="prediction, reference, max_n",
    gives="score",
    hints=(
        "Do n = 1 by hand for two short sentences: count the words of each, and ask of every word how many of its "
        "occurrences in the prediction find one of their own in the reference.",
        "`Counter(tuple(tokens[k : k + n]) for k in range(len(tokens) - n + 1))` counts n-grams. A match counts at "
        "most as often as it stands in the reference: `min(count, true[ngram])`. Sum the logarithms of the precisions, "
        "divide by max_n, and take exp; 0 as soon as one order has no match.",
        "In the loop over n: `matches = sum(min(count, true[g]) for g, count in said.items())`; `if matches == 0: "
        "return 0.0`; `total += np.log(matches / sum(said.values()))`. Behind it: `min(1.0, np.exp(1 - len(reference) "
        "/ len(prediction))) * np.exp(total / max_n)`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def sentences(shorter: bool) -> tuple[list[int], list[int]]:
        """A sentence and one like it: something lost or put in, something said twice, two neighbours swapped."""
        true = rng.integers(3, 8, size=int(rng.integers(9, 12))).tolist()
        said = list(true)
        place = int(rng.integers(1, len(said) - 2))
        said[place : place + 2] = said[place : place + 2][::-1]
        said[-2:] = [said[-1]] if shorter else [said[-1], said[-2], said[-1], said[-1]]
        return said, true

    def telling() -> list[tuple[Any, ...]]:
        return [(*sentences(shorter=True), 2), (*sentences(shorter=False), 3), (*sentences(shorter=True),)]

    wrong = [m.answer for m in bleu_exercise.misconceptions]
    for args in told_apart(telling, encoder_decoder.bleu, wrong):
        yield case(*args)
    said, true = sentences(shorter=False)
    yield case([f"w{i}" for i in said], [f"w{i}" for i in true], 1)
    yield edge("equal", true, list(true))
    yield edge("equal, and as short as max_n", true[:3], true[:3], 3)
    yield edge("equal, and shorter than max_n", true[:3], true[:3])
    yield edge("one token", [4], [4, 5], 1)
    yield edge("an empty prediction", [], true[:5], 2)
    yield edge("an empty reference", true[:5], [], 2)
    yield edge("pairs match, triples do not", [3, 4, 9, 5, 6], [3, 4, 5, 6, 7], 3)
    yield edge("the same word again and again", ["the"] * 7, ["The", "cat", "sat", "on", "the", "mat"], 1)
    yield edge("letters and a blank", "A translation", "a transaction", 2)
    for _ in range(8):
        yield edge("two letters", *("".join(rng.choice(["a", "b"], length)) for length in rng.integers(2, 6, 2)), 2)
    words = ["ab", "c", "d", "e f", "g"], ["a", "bc", "d", "e", "f g"]
    yield edge("other words of the same letters: “ab”, “c” and “a”, “bc”", *words, 2)


bleu_exercise = ex


ex.mistakes(r"""
not_clipped: A word that stands once in the reference counts for you as often as it is said. Each n-gram matches at
  most as often as it stands in the reference.
- matches = sum(min(count, true[ngram]) for ngram, count in said.items())
+ matches = sum(count for ngram, count in said.items() if ngram in true)

each_kind_once: You count each n-gram once, however often it is said. It is occurrences that count, up to the number of
  them in the reference.
- matches = sum(min(count, true[ngram]) for ngram, count in said.items())
+ matches = sum(ngram in true for ngram in said)
- total += np.log(matches / sum(said.values()))
+ total += np.log(matches / len(said))

recall: You divide by the number of n-grams in the reference. BLEU is a precision: what share of what was *said* is
  right? That too little was said is for the brevity penalty.
- total += np.log(matches / sum(said.values()))
+ total += np.log(matches / sum(true.values()))

no_penalty: A prediction that is too short is not punished: who says one sure word would get full marks. It is
  multiplied by exp(1 - r/c), where c is its own length.
- penalty = min(1.0, np.exp(1 - len(reference) / len(prediction)))
+ penalty = 1.0

long_ones_are_paid: Your penalty rises above 1 where the prediction is longer than the reference. It is at most 1: what
  is said too much has lowered the precisions already.
- penalty = min(1.0, np.exp(1 - len(reference) / len(prediction)))
+ penalty = np.exp(1 - len(reference) / len(prediction))

penalty_the_wrong_way_round: You punish what is longer than the reference, and not what is shorter. In exp(1 - r/c), c
  is the length of the prediction.
- penalty = min(1.0, np.exp(1 - len(reference) / len(prediction)))
+ penalty = min(1.0, np.exp(1 - len(prediction) / len(reference)))

penalty_is_the_ratio: Your penalty is the ratio of the lengths, c/r. BLEU's is exp(1 - r/c).
- penalty = min(1.0, np.exp(1 - len(reference) / len(prediction)))
+ penalty = min(1.0, len(prediction) / len(reference))

arithmetic_mean: You take the arithmetic mean of the precisions. BLEU's is the geometric one, the exp of the mean of
  their logarithms.
- total += np.log(matches / sum(said.values()))
+ total += matches / sum(said.values())
- return penalty * np.exp(total / max_n)
+ return penalty * total / max_n

arithmetic_mean_of_all_orders: You take the arithmetic mean of the precisions, so that an order without a match only
  makes it smaller. The geometric mean of anything and 0 is 0: take the exp of the mean of the logarithms.
- if matches == 0:
-     return 0.0
- total += np.log(matches / sum(said.values()))
+ total += matches / max(1, sum(said.values()))
- return penalty * np.exp(total / max_n)
+ return penalty * total / max_n if len(prediction) >= max_n else 0.0

product_without_a_root: You multiply the precisions and take no root: the more orders, the smaller it gets. Take the
  root of order max_n.
- return penalty * np.exp(total / max_n)
+ return penalty * np.exp(total)

the_highest_order_alone: Only the n-grams of the highest order count for you. All orders from 1 to max_n do.
- for n in range(1, max_n + 1):
+ for n in range(max_n, max_n + 1):
- return penalty * np.exp(total / max_n)
+ return penalty * np.exp(total)

highest_order_left_out: The highest order is left out: orders go from 1 up to max_n, and `range` stops before its end.
- for n in range(1, max_n + 1):
+ for n in range(1, max_n):

no_match_left_out: An order without a match is left out of your mean. The geometric mean of anything and 0 is 0.
- return 0.0
+ continue

ngrams_short_at_the_end: The last n-gram of each sentence is not counted. A sentence of c tokens has c - n + 1 of them.
- said = Counter(tuple(prediction[k : k + n]) for k in range(len(prediction) - n + 1))
- true = Counter(tuple(reference[k : k + n]) for k in range(len(reference) - n + 1))
+ said = Counter(tuple(prediction[k : k + n]) for k in range(len(prediction) - n))
+ true = Counter(tuple(reference[k : k + n]) for k in range(len(reference) - n))

in_per_cent: You return per cent, as papers print it. Asked for is a number from 0 to 1.
- return penalty * np.exp(total / max_n)
+ return 100 * penalty * np.exp(total / max_n)

tokens_for_ngrams: You divide by the number of tokens for all orders. Of c tokens there are c - n + 1 n-grams of order
  n.
- total += np.log(matches / sum(said.values()))
+ total += np.log(matches / len(prediction))
""")


ex = unit.exercise(
    "normalised_beam_search",
    points=2,
    takes="step, state, bos, eos, max_length, width, alpha",
    gives="hypotheses",
    forbids=("torch",),
    hints=(
        "What does your `beam_search` compare, and where? It is only there that anything changes.",
        "The sum stays what it is and goes on being added to. Only where candidates are compared, and at the very end, "
        "is it divided, by (number of tokens, plus 1 if it has ended) ** alpha.",
        "`def normalised(c): return c[1] / (len(c[0]) + c[4]) ** alpha`, then `sorted(candidates, key=lambda c: "
        "-normalised(c))[:width]`, and return `[(c[0], normalised(c)) for c in beam]`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def plain(args: tuple[Any, ...]) -> bool:
        """Whether no two scores tie."""
        scores = [score for _, score in result(encoder_decoder.normalised_beam_search, args)]
        return all(a - b > 1e-3 for a, b in itertools.pairwise(scores))

    def draw(*, end: float, max_length: int, width: int, alpha: float) -> tuple[Any, ...]:
        while True:
            args = (drawn_table(rng, 3, 5, 1, 2, end), int(rng.integers(3)), 1, 2, max_length, width, alpha)
            if plain(args):
                return args

    def telling() -> list[tuple[Any, ...]]:
        return [
            draw(end=0.3, max_length=4, width=3, alpha=1.0),
            draw(end=0.8, max_length=6, width=4, alpha=0.6),
            draw(end=0.0, max_length=5, width=3, alpha=1.0),
            (drawn_network(rng, 7, 5, 0, 3, 0.5), normal(rng, 5), 0, 3, 7, 4, 0.5),
        ]

    wrong = [m.answer for m in normalised_exercise.misconceptions]
    for args in told_apart(telling, encoder_decoder.normalised_beam_search, wrong):
        yield case(*args)
    yield edge("alpha 0: sums, as in beam_search", *draw(end=0.3, max_length=5, width=3, alpha=0.0))
    yield edge("width 1", *draw(end=0.0, max_length=7, width=1, alpha=1.0))
    yield edge("one call at most", *draw(end=0.5, max_length=1, width=3, alpha=1.0))
    yield edge("what has ended cannot be read on", *closed(draw(end=0.8, max_length=6, width=4, alpha=1.5)))


normalised_exercise = ex


ex.mistakes(r"""
not_normalised: Hypotheses of different lengths are compared as sums, or as if all had one length: short ones win
  because they are short. Divide the sum of each by its own length ** alpha.
- return score / (len(tokens) + ended) ** alpha
+ return score

alpha_not_used: You divide by the length itself. It is to be raised to the power of alpha first: alpha = 0 is no
  normalisation, alpha = 1 the mean.
- return score / (len(tokens) + ended) ** alpha
+ return score / (len(tokens) + ended)

alpha_as_a_factor: Alpha is a factor in what you divide by. It is a power: length ** alpha.
- return score / (len(tokens) + ended) ** alpha
+ return score / (1 + alpha * (len(tokens) + ended))

end_is_no_token: The length leaves eos out, though its log-probability is in the sum. What was added was one token more.
- return score / (len(tokens) + ended) ** alpha
+ return score / max(1, len(tokens)) ** alpha

one_too_long: The length counts one token too many in a hypothesis that has not ended, or bos: only what was scored
  counts, the tokens and eos.
- return score / (len(tokens) + ended) ** alpha
+ return score / (len(tokens) + 1) ** alpha

multiplied: You multiply by the length. Scores are negative, so that makes long ones still worse: divide.
- return score / (len(tokens) + ended) ** alpha
+ return score * (len(tokens) + ended) ** alpha

ranked_at_the_end_only: Only the last beam is ordered by the normalised score; on the way the sums decided, and the long
  ones were lost there. Compare normalised scores in every round.
- beam = sorted(candidates, key=lambda candidate: -normalised(*candidate))[:width]
+ beam = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
- return [(candidate[0], normalised(*candidate)) for candidate in beam]
+ beam = sorted(beam, key=lambda candidate: -normalised(*candidate))
+ return [(candidate[0], normalised(*candidate)) for candidate in beam]

sums_returned: The order is right, and the scores that you return are the plain sums. Return what was compared.
- return [(candidate[0], normalised(*candidate)) for candidate in beam]
+ return [(candidate[0], candidate[1]) for candidate in beam]

divided_again_and_again: The sum is replaced by its quotient in each round, and divided again in the next. Keep the sum,
  and divide only where you compare.
- candidates.append((longer, score + float(log_probability), token, after, token == eos))
+ divided = (score + float(log_probability)) / (len(longer) + (token == eos)) ** alpha
+ candidates.append((longer, divided, token, after, token == eos))
- beam = sorted(candidates, key=lambda candidate: -normalised(*candidate))[:width]
+ beam = sorted(candidates, key=lambda candidate: -candidate[1])[:width]
- return [(candidate[0], normalised(*candidate)) for candidate in beam]
+ return [(candidate[0], candidate[1]) for candidate in beam]
""")


ex = unit.exercise(
    "ImageCaptioner",
    reference=ImageCaptioner,
    points=2,
    takes="sizes, parameters, inputs",
    gives="logits [logits (T, N, V)], gradients, input_gradients [the gradient with respect to features, ids]",
    drive=captioner_module,
    hints=(
        "A picture has no time, so there is nothing to encode step by step. All that the decoder needs from it is a "
        "first state: how do (N, F) numbers become (1, N, H)?",
        "`prime` is an nn.Linear from feature_size to hidden_size. A tanh keeps its result where a GRU's states live, "
        "between -1 and 1; `[None]` or `unsqueeze(0)` adds the axis of layers. The rest the decoder does.",
        "`state = torch.tanh(self.prime(features))[None]`, `logits, _ = self.decoder(ids, state)`, and return logits.",
    ),
)


def captioning(rng: np.random.Generator, F: int, V: int, E: int, H: int, dtype: Any = np.float64) -> Parameters:
    """Draw the parameters of an ImageCaptioner by name."""
    return linear(rng, "prime", F, H, dtype) | small_decoding(rng, V, E, H, dtype)


def captioner_call(
    rng: np.random.Generator, T: int, N: int, F: int, V: int, E: int, H: int, dtype: Any = np.float64
) -> tuple[Any, ...]:
    """Draw sizes, parameters and one call, with pictures and ids."""
    call = normal(rng, N, F, dtype=dtype), rng.integers(0, V, size=(T, N))
    return (F, V, E, H), captioning(rng, F, V, E, H, dtype), [call]


ex.draws(captioner_call, F=(6, 4, 3), V=(7, 5, 6), E=(4, 8, 7), without=["one row"])


@ex.cases
def _(rng: np.random.Generator, draw: Draw) -> Iterator[Case]:
    yield edge("one picture", *draw(N=1))


ex.mistakes(r"""
no_tanh: There is no tanh between `prime` and the decoder: the first state may lie far outside of -1 to 1, where no
  state of a GRU ever is.
- state = torch.tanh(self.prime(features)).unsqueeze(0)
+ state = self.prime(features).unsqueeze(0)

sigmoid_for_tanh: You have a sigmoid where the statement has a tanh: half of the states that a GRU can be in are out of
  reach.
- state = torch.tanh(self.prime(features)).unsqueeze(0)
+ state = torch.sigmoid(self.prime(features)).unsqueeze(0)

relu_for_tanh: You have a ReLU where the statement has a tanh: no first state is negative, and some may be larger than
  any state of a GRU.
- state = torch.tanh(self.prime(features)).unsqueeze(0)
+ state = torch.relu(self.prime(features)).unsqueeze(0)

tanh_of_the_features: The tanh comes before the linear layer. It is meant for the result: the first state is
  tanh(prime(features)).
- state = torch.tanh(self.prime(features)).unsqueeze(0)
+ state = self.prime(torch.tanh(features)).unsqueeze(0)

primed_at_every_step: Every step starts from the picture again: the decoder forgets each word as soon as it is said. The
  picture makes the first state, and after that the state goes on by itself.
- logits, _ = self.decoder(ids, state)
+ logits = torch.cat([self.decoder(step[None], state)[0] for step in ids])

picture_added_at_every_step: The picture is added to the state again before every step. It comes in once, as the first
  state, and after that the state goes on by itself.
- logits, _ = self.decoder(ids, state)
- return logits
+ picture, logits = state, []
+ state = torch.zeros_like(picture)
+ for step in ids:
+     of_step, state = self.decoder(step[None], state + picture)
+     logits.append(of_step)
+ return torch.cat(logits)

picture_added_to_the_last_state: The decoder starts from zeros, and the picture comes in for the last word only. It is
  to be the first state, so that all words can depend on it.
- logits, _ = self.decoder(ids, state)
- return logits
+ if len(ids) == 1:
+     return self.decoder(ids, state)[0]
+ before, middle = self.decoder(ids[:-1], torch.zeros_like(state))
+ return torch.cat([before, self.decoder(ids[-1:], middle + state)[0]])

picture_not_used: The decoder starts from zeros: all pictures get the same caption. Its first state is made from the
  features.
- logits, _ = self.decoder(ids, state)
+ logits, _ = self.decoder(ids, torch.zeros_like(state))

prime_never_learns: The logits are right, but no gradient reaches `prime`, or the features and what may have made them:
  something cuts the graph at the first state, a `detach`, `.data` or `no_grad`.
- logits, _ = self.decoder(ids, state)
+ logits, _ = self.decoder(ids, state.detach())

inputs_shifted_again: You shift the ids. They are the decoder's inputs already, with bos in front: whoever calls the
  captioner has seen to that.
- logits, _ = self.decoder(ids, state)
+ logits, _ = self.decoder(torch.cat([ids[:1], ids[:-1]]), state)

probabilities_of_words: You return probabilities. Logits are wanted: `cross_entropy` takes the softmax itself.
- return logits
+ return torch.softmax(logits, dim=-1)

layer_axis_missing: All pictures get the first state of the first, as where it is handed over as `(N, H)`. The
  decoder's is `(1, N, H)`: `unsqueeze(0)` gives it its first axis.
- state = torch.tanh(self.prime(features)).unsqueeze(0)
+ state = torch.tanh(self.prime(features))

state_returned_too: You return all that the decoder returns, logits and a state. Only the logits are wanted.
- logits, _ = self.decoder(ids, state)
- return logits
+ return self.decoder(ids, state)
""")


ex = unit.exercise(
    "ctc_log_likelihood",
    points=3,
    takes="log_probabilities (T, Q), targets (L,), blank",
    gives="log_likelihood",
    ends={"log_probabilities": "none"},
    forbids=("torch",),
    hints=(
        "Fill the table by hand for T = 3 and the target a: its rows are blank, a, blank. Where may a path begin, "
        "where may it come from at each step, and where may it end?",
        "`u` is the target with a blank before, between and behind. A column holds one logarithm for each place of u. "
        "The first: the first two places. Each next one: from the same place, from the one before, and, if u[k] "
        "differs from u[k - 2], from two before; add these up with np.logaddexp, then add the log-probability of u[k].",
        "`ways = [before[k]]`, `if k >= 1: ways.append(before[k - 1])`, `if k >= 2 and u[k] != u[k - 2]: "
        "ways.append(before[k - 2])`, `A[k] = np.logaddexp.reduce(ways) + row[u[k]]`; at the end "
        "`np.logaddexp.reduce(A[-2:])`.",
    ),
)


@ex.cases
def _(rng: np.random.Generator) -> Iterator[Case]:
    def drawn(T: int, Q: int, targets: Sequence[int], blank: int = 0) -> tuple[Any, ...]:
        return log_softmax(normal(rng, T, Q)), np.array(targets, dtype=np.int64), blank

    def telling() -> list[tuple[Any, ...]]:
        """One with a symbol twice in a row, one with it again after another, one whose blank is the last symbol."""
        a, b, c = (int(i) for i in rng.permutation(np.arange(1, 5))[:3])
        return [
            drawn(7, 5, [a, b, b]),
            drawn(6, 5, [a, b, a]),
            drawn(8, 4, [1, 0, 2, 2], 3),
            drawn(9, 6, [c, a]),
        ]

    wrong = [m.answer for m in ctc_exercise.misconceptions if m.name != "probabilities_underflow"]
    for args in told_apart(telling, encoder_decoder.ctc_log_likelihood, wrong):
        yield case(*args)
    rows, targets, _ = drawn(5, 4, [2, 1])
    yield case(rows, targets)
    yield edge("one step", *drawn(1, 4, [2]))
    yield edge("no target: blanks alone", *drawn(4, 3, []))
    yield edge("just steps enough", *drawn(4, 5, [1, 1, 2]))
    yield edge("a step too few, for the blank between", *drawn(3, 5, [1, 1, 2]))
    yield edge("more targets than steps", *drawn(2, 4, [1, 2, 3]))
    never, half = -np.inf, -np.log(2)
    certain = np.array([[never, 0, never], [half, half, never], [0, never, never], [never, never, 0]])
    for order in ([1, 2], [2, 1]):
        yield edge("a model that is sure", certain, np.array(order), 0)
    yield edge("a long one", *drawn(600, 9, [3, 1, 4, 1, 5]))


ctc_exercise = ex


ex.mistakes(r"""
no_blank_between_equals: You skip the blank between two equal symbols. Merged, they would be one: "aa" needs a blank
  between its letters. A skip is allowed only where u[k] differs from u[k - 2].
- if k >= 2 and u[k] != u[k - 2]:
+ if k >= 2 and u[k] != blank:

any_place_skipped: Your paths may skip any place, and so leave out symbols. Only a blank may be skipped, and only
  between two different symbols.
- if k >= 2 and u[k] != u[k - 2]:
+ if k >= 2:

blanks_never_left_out: Every blank has to be passed in your table. Between two different symbols it may be left out: a
  path may come from two places before.
- if k >= 2 and u[k] != u[k - 2]:
+ if False:

best_path_alone: Your number is that of the most probable path. All paths that collapse to the target count: add their
  probabilities up, np.logaddexp in place of max.
- A[k] = np.logaddexp.reduce(ways) + row[u[k]]
+ A[k] = max(ways) + row[u[k]]
- return np.logaddexp.reduce(A[-2:])
+ return max(A[-2:])

best_way_to_each_place: Of the ways to a place you keep only the best, as the edit distance does. Here all of them
  count: add their probabilities up, np.logaddexp in place of max.
- A[k] = np.logaddexp.reduce(ways) + row[u[k]]
+ A[k] = max(ways) + row[u[k]]

must_end_in_a_blank: Your paths end in the last blank alone. They may as well end in the last symbol: add up both.
- return np.logaddexp.reduce(A[-2:])
+ return A[-1]

must_end_in_the_symbol: Your paths end in the last symbol alone. They may as well end in the blank behind it: add up
  both.
- return np.logaddexp.reduce(A[-2:])
+ return A[-2:][0]

must_begin_with_a_blank: Your paths begin with a blank. They may as well begin with the first symbol.
- A[:2] = log_probabilities[0][u[:2]]
+ A[:1] = log_probabilities[0][u[:1]]

begins_anywhere: Your paths may begin at any place of the target. They begin with the first blank or the first symbol.
- A[:2] = log_probabilities[0][u[:2]]
+ A = log_probabilities[0][u]

ends_anywhere: You add up the whole last column. Only its last two places have all of the target behind them.
- return np.logaddexp.reduce(A[-2:])
+ return np.logaddexp.reduce(A)

cannot_stay: A path never stays where it is: each symbol lasts one step. It may last any number of steps; merging makes
  them one.
- ways = [before[k]]
+ ways = [-np.inf]

blank_is_zero: Your blank is 0, whatever the third argument says.
- u = [blank]
+ blank, u = 0, [0]

minus_the_logarithm: You return the loss, -log p. Asked for is the log-likelihood, which is at most 0.
- return np.logaddexp.reduce(A[-2:])
+ return -np.logaddexp.reduce(A[-2:])

probability_returned: You return the probability. Asked for is its natural logarithm.
- return np.logaddexp.reduce(A[-2:])
+ return np.exp(np.logaddexp.reduce(A[-2:]))

logarithms_added: You add logarithms where probabilities are to be added. The sum of p and q has the logarithm
  np.logaddexp(log p, log q).
- A[k] = np.logaddexp.reduce(ways) + row[u[k]]
+ A[k] = sum(way for way in ways if way > -np.inf) + row[u[k]] if max(ways) > -np.inf else -np.inf

probabilities_underflow: A long recording has the score -inf. You add up probabilities, and the product of some hundred
  of them is smaller than any float: keep logarithms, and add with np.logaddexp.
- A[k] = np.logaddexp.reduce(ways) + row[u[k]]
+ A[k] = np.log(np.sum(np.exp(ways)) * np.exp(row[u[k]]))

read_from_what_was_written: You write into the row that you read from: at places k - 1 and k - 2 stands what step t has
  just put there. Keep the row of the step before until the new one is done.
- before, A = A, np.full(len(u), -np.inf)
+ before = A
""")
