r"""Unit 11. Heads: one core, five architectures.

One recurrent core, h_t = tanh(x_t U + h_{t-1} W + b), and one linear layer upon it serve every shape of a task. What
changes is which steps have an input, and which have an output:

    T_x  T_y   architecture                      output                                       example
    1    1     one-to-one                        head(tanh(hidden(x)))                        one image, one label
    1    many  one-to-many                       y_t = head(h_t), x_{t+1} = y_t               a first note, a melody
    many 1     many-to-one                       head(h_T), or head of the mean of all h_t    a review, its sentiment
    many same  many-to-many (equal)              y_t = head(h_t)                              words, their tags
    many other many-to-many (different)          unit 12's encoder and decoder                a date, the same in ISO

All heads give logits. Which inputs an output can learn from is no matter of opinion: the gradient says it, and
`gradient_support` asks it.

Time is the first axis and batches are rows: x (T, N, D), states (1, N, H), outputs (T, N, Q).

Sources: A. Karpathy, "The Unreasonable Effectiveness of Recurrent Neural Networks", 2015 (the table); A. Graves,
"Supervised Sequence Labelling with Recurrent Neural Networks", Springer 2012, chapters 2 and 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import SupportsIndex

import numpy as np
import torch
from jaxtyping import Bool, Float, Integer, Real
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

Lengths = Integer[Tensor, "N"] | Integer[np.ndarray, "N"] | Sequence


def architecture(T_x: SupportsIndex, T_y: SupportsIndex) -> str:
    """Name the architecture for T_x inputs and T_y outputs; a ValueError if either is less than 1.

    >>> architecture(1, 9), architecture(9, 9), architecture(9, 8)
    ('one-to-many', 'many-to-many (equal)', 'many-to-many (different)')
    """
    inputs, outputs = int(T_x), int(T_y)
    if inputs < 1 or outputs < 1:
        raise ValueError(f"There must be at least one input and one output, not {inputs} and {outputs}.")
    if inputs == 1:
        return "one-to-one" if outputs == 1 else "one-to-many"
    if outputs == 1:
        return "many-to-one"
    return "many-to-many (equal)" if inputs == outputs else "many-to-many (different)"


class OneToOne(nn.Module):
    """One input, one output, no recurrence: `hidden`, an nn.Linear, then tanh, then `head`, another.

    >>> OneToOne(input_size=3, hidden_size=5, output_size=4)(torch.zeros(2, 3)).shape
    torch.Size([2, 4])
    """

    def __init__(self, input_size: int, hidden_size: int, output_size: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(input_size, hidden_size)
        self.head = nn.Linear(hidden_size, output_size)

    def forward(self, x: Float[Tensor, "*N D"]) -> Float[Tensor, "*N Q"]:
        """Return the logits for x (N, D)."""
        return self.head(torch.tanh(self.hidden(x)))


class Core(nn.Module):
    """What the recurrent heads share: `rnn`, an nn.RNN, and `head`, an nn.Linear from a state to an output."""

    def __init__(self, input_size: int, hidden_size: int, output_size: int) -> None:
        super().__init__()
        self.rnn = nn.RNN(input_size, hidden_size)
        self.head = nn.Linear(hidden_size, output_size)


class SequenceTagger(Core):
    """Many-to-many of equal length: one output a step.

    >>> SequenceTagger(input_size=3, hidden_size=5, output_size=4)(torch.zeros(7, 2, 3)).shape
    torch.Size([7, 2, 4])
    """

    def forward(self, x: Float[Tensor, "T N D"], h0: Float[Tensor, "1 N H"] | None = None) -> Float[Tensor, "T N Q"]:
        """Return the logits of every step, from the state h0 or from zeros."""
        states, _ = self.rnn(x, h0)
        return self.head(states)


class SequenceClassifier(Core):
    """Many-to-one: one output for a sequence, from its last state or, with pool="mean", from the mean of all states.

    >>> classify = SequenceClassifier(input_size=3, hidden_size=5, output_size=4, pool="mean")
    >>> classify(torch.zeros(7, 2, 3), lengths=[7, 5]).shape
    torch.Size([2, 4])
    """

    def __init__(self, input_size: int, hidden_size: int, output_size: int, pool: str = "last") -> None:
        super().__init__(input_size, hidden_size, output_size)
        if pool not in ("last", "mean"):
            raise ValueError(f'pool must be "last" or "mean", and is {pool!r}.')
        self.pool = pool

    def forward(self, x: Float[Tensor, "T N D"], lengths: Lengths | None = None) -> Float[Tensor, "N Q"]:
        """Return the logits of each sequence.

        With `lengths`, each from 1 to T, only real steps count: the last of them, or the mean over them.
        """
        states, h_n = run_padded(self.rnn, x, lengths)
        if self.pool == "last":
            return self.head(h_n[0])
        real = len(x) if lengths is None else _as_counts(lengths).to(x)[:, None]
        return self.head(states.sum(dim=0) / real)  # states under the padding are 0


class BidirectionalClassifier(nn.Module):
    """Many-to-one from ids, read from both ends: `embedding`, `rnn` in both directions, `head`.

    The head reads each direction's state after it has read everything, combined as in unit 09 by "concat", "sum" or
    "product".

    >>> classify = BidirectionalClassifier(vocabulary_size=9, embedding_size=4, hidden_size=5, output_size=2, how="sum")
    >>> classify(torch.zeros(7, 3, dtype=torch.int64), lengths=[7, 5, 1]).shape
    torch.Size([3, 2])
    """

    def __init__(
        self, vocabulary_size: int, embedding_size: int, hidden_size: int, output_size: int, how: str = "concat"
    ) -> None:
        super().__init__()
        if how not in ("concat", "sum", "product"):
            raise ValueError(f'how must be "concat", "sum" or "product", and is {how!r}.')
        self.how = how
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.RNN(embedding_size, hidden_size, bidirectional=True)
        self.head = nn.Linear(2 * hidden_size if how == "concat" else hidden_size, output_size)

    def forward(self, ids: Integer[Tensor, "T N"], lengths: Lengths | None = None) -> Float[Tensor, "N Q"]:
        """Return the logits of each sequence; with `lengths`, each from 1 to T, only real steps count."""
        _, (last_f, last_b) = run_padded(self.rnn, self.embedding(ids), lengths)
        if self.how == "concat":
            return self.head(torch.cat([last_f, last_b], dim=-1))
        return self.head(last_f + last_b if self.how == "sum" else last_f * last_b)


class SequenceGenerator(Core):
    """One-to-many: a first input starts it, and each output is the next input, so that Q = D.

    >>> SequenceGenerator(input_size=3, hidden_size=5, output_size=3)(torch.zeros(2, 3), steps=7).shape
    torch.Size([7, 2, 3])
    """

    def __init__(self, input_size: int, hidden_size: int, output_size: int) -> None:
        super().__init__(input_size, hidden_size, output_size)
        if input_size != output_size:
            raise ValueError(f"An output is the next input: output_size {output_size} must be input_size {input_size}.")

    def forward(self, x: Float[Tensor, "N D"], steps: SupportsIndex) -> Float[Tensor, "steps N D"]:
        """Return the outputs y_1 to y_steps that follow the first input x, from a state of zeros.

        The state is carried from step to step; x itself is not among the outputs. A ValueError for no step at all.
        """
        count = int(steps)
        if count < 1:
            raise ValueError(f"steps must be at least 1, and is {count}.")
        state, outputs = None, []
        for _ in range(count):
            states, state = self.rnn(x[None], state)
            x = self.head(states[0])
            outputs.append(x)
        return torch.stack(outputs)


def run_padded(
    rnn: nn.RNNBase, x: Float[Tensor, "T N D"], lengths: Lengths | None = None
) -> tuple[Float[Tensor, "T N states"], Float[Tensor, "directions N H"]]:
    """Run an nn.RNN or nn.GRU over a padded batch without reading the padding: (all states, last real state).

    Each of `lengths` is from 1 to T; without them all are T. States under the padding are 0. Since the padding is never
    read, whatever stands in it, nan too, reaches neither a state nor a gradient.

    >>> states, h_n = run_padded(nn.RNN(3, 5), torch.ones(4, 2, 3), lengths=[2, 4])
    >>> bool((states[1, 0] == h_n[0, 0]).all()), states[2:, 0].abs().max().item()
    (True, 0.0)
    """
    if lengths is None:
        return rnn(x)
    packed, h_n = rnn(pack_padded_sequence(x, _as_counts(lengths), enforce_sorted=False))
    states, _ = pad_packed_sequence(packed, total_length=len(x))
    return states, h_n


def _as_counts(lengths: Lengths) -> Integer[Tensor, "N"]:
    """Turn lengths of any kind into int64 on the CPU, where packing wants them."""
    return torch.as_tensor(lengths if isinstance(lengths, Tensor) else np.array(lengths, dtype=np.int64)).long().cpu()


def gradient_support(
    model: Callable[[Float[Tensor, "T N D"]], Float[Tensor, "..."]], x: Real[Tensor, "T N D"], t: SupportsIndex
) -> Bool[Tensor, "T"]:
    """Find out which inputs get gradient from output t: entry k says whether any entry of x[k] does.

    `model` maps x (T, N, D) to one tensor (T, …), time first. What is differentiated is a sum of the entries of
    model(x)[t] with weights drawn at random: a plain sum is 1 for every softmax, and its gradient rounding error.
    The draw is the same at each call and leaves PyTorch's generator as it was; so are x and the gradients of the
    model's parameters. An input whose gradient has become smaller than the dtype can hold counts as one without.

    >>> gradient_support(SequenceTagger(3, 5, 4), torch.ones(4, 2, 3), t=1)
    tensor([ True,  True, False, False])
    """
    with torch.enable_grad():
        leaf = x.detach().to(x.dtype if x.is_floating_point() else torch.get_default_dtype()).requires_grad_()
        output = model(leaf.clone())[int(t)]  # a copy, since a model may write to its input
        # On the CPU and in float64 first, so that the weights are the same on every device and for every dtype.
        generator = torch.Generator().manual_seed(0)
        weights = torch.randn(output.shape, generator=generator, dtype=torch.float64).to(output)
        total = (weights * output).sum()
    if not total.requires_grad:
        return torch.zeros(len(x), dtype=torch.bool, device=x.device)
    (gradient,) = torch.autograd.grad(total, leaf, allow_unused=True, materialize_grads=True)
    return (gradient != 0).reshape(len(x), -1).any(dim=1)
