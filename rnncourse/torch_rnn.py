r"""Unit 07. The same in PyTorch: a tape, own modules, batches of unequal length, a training epoch.

A tape is what autograd is made of. Each result remembers what it was made of, and how its own error becomes theirs;
they are numbered as they come, so that the way back is the way there reversed:

    a + b: da = e, db = e       a @ b: da = e b^T, db = a^T e       tanh(a) = h: da = e (1 - h^2)      sum(a): da = e

A module holds its parameters and says how an output is computed; autograd does unit 04's work. `ScratchRNN` is unit
03's cell, in this course's notation, with the interface of `nn.RNN`, which holds the same numbers transposed and adds
two biases:

    h_t = tanh(x_t U + h_{t-1} W + b)           weight_ih_l0 = U^T,  weight_hh_l0 = W^T,  bias_ih_l0 + bias_hh_l0 = b

Sequences of unequal length are padded with zeros to a batch of the longest, T steps. What stands in the padding must
not count, in the loss or in a final state; a mask, True at real steps, says what does:

    mask_tn = (t < length_n)        loss = sum over t, n of mask_tn loss_tn / sum over t, n of mask_tn

A long text is trained on in pieces. The state goes on from one batch to the next, detached: its value, not its history.

Time is the first axis and batches are rows, as in the other units: x (T, N, D), ids (T, N), states (1, N, H).

Sources: A. G. Baydin et al., "Automatic Differentiation in Machine Learning: a Survey", JMLR 18, 2018; PyTorch's
documentation of `torch.nn.RNN`, `torch.nn.utils.rnn` and `torch.nn.utils.clip_grad_norm_`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, SupportsFloat, SupportsIndex

import numpy as np
import torch
from jaxtyping import Bool, Float, Integer, Real, Shaped
from torch import Tensor, nn
from torch.nn import functional


class Var:
    """An array of float64 that remembers how it was made, so that errors find their way back: a tape.

    `data` is the array; `grad`, of its shape, is zeros until `backward()` of something made of it adds to it.
    There are `+` (also of a row (H,) onto rows (N, H)), `@` of two matrices, `tanh()` and `sum()`; either side of `+`
    and `@` may be an array.

    >>> W, h = Var([[2.0]]), Var([[0.5]])
    >>> ((h @ W).tanh() + h).sum().backward()
    >>> W.grad.round(3), h.grad.round(3)
    (array([[0.21]]), array([[1.84]]))
    """

    __array_ufunc__ = None  # so that `array + Var` asks Var, and does not add entry by entry
    _numbers: ClassVar[Iterable[int]] = itertools.count()

    def __init__(
        self,
        data: Real[np.ndarray, "..."] | Sequence | SupportsFloat,
        made_of: Sequence[tuple[Var, Callable[[np.ndarray], np.ndarray]]] = (),
    ) -> None:
        self.data = np.array(data, dtype=np.float64)
        self.grad = np.zeros_like(self.data)
        self._made_of = made_of  # each part, with the function that turns the error here into the error there
        self._number = next(iter(Var._numbers))

    def __add__(self, other: Any) -> Var:
        one, two = self, _as_var(other)
        return Var(one.data + two.data, [(one, lambda e: _onto(one.data, e)), (two, lambda e: _onto(two.data, e))])

    def __matmul__(self, other: Any) -> Var:
        one, two = self, _as_var(other)
        return Var(one.data @ two.data, [(one, lambda e: e @ two.data.T), (two, lambda e: one.data.T @ e)])

    def __radd__(self, other: Any) -> Var:
        return _as_var(other) + self

    def __rmatmul__(self, other: Any) -> Var:
        return _as_var(other) @ self

    def tanh(self) -> Var:
        """Apply the hyperbolic tangent to each entry."""
        h = np.tanh(self.data)
        return Var(h, [(self, lambda e: e * (1 - h * h))])

    def sum(self) -> Var:
        """Add up all entries: a Var of shape ()."""
        return Var(self.data.sum(), [(self, lambda e: np.broadcast_to(e, self.data.shape))])

    def backward(self) -> None:
        """Add to the `grad` of all that this number was made of, and to its own, its derivative with respect to it.

        A ValueError if it is not a single number.
        """
        if self.data.size != 1:
            raise ValueError(f"backward starts from a single number, and this has the shape {self.data.shape}: sum it.")
        found, todo = {self}, [self]
        while todo:
            parts = {part for part, _ in todo.pop()._made_of} - found
            found |= parts
            todo += parts
        errors: dict[Var, np.ndarray] = {self: np.ones_like(self.data)}
        for var in sorted(found, key=lambda var: var._number, reverse=True):
            var.grad += errors[var]
            for part, back in var._made_of:
                errors[part] = errors.get(part, np.zeros_like(part.data)) + back(errors[var])


def _as_var(value: Any) -> Var:
    return value if isinstance(value, Var) else Var(value)


def _onto(data: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Sum an error over the axes along which `data` was repeated to meet the other summand."""
    error = error.sum(axis=tuple(range(error.ndim - data.ndim)))
    repeated = tuple(axis for axis, size in enumerate(data.shape) if size == 1 and error.shape[axis] > 1)
    return np.asarray(error.sum(axis=repeated, keepdims=True))


class ScratchRNN(nn.Module):
    """The recurrent cell over a sequence, with parameters U (D, H), W (H, H), b (H,) and the interface of `nn.RNN`.

    >>> rnn = ScratchRNN(input_size=3, hidden_size=5)
    >>> output, h_n = rnn(torch.zeros(4, 2, 3))
    >>> output.shape, h_n.shape
    (torch.Size([4, 2, 5]), torch.Size([1, 2, 5]))
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(hidden_size)
        self.U = nn.Parameter(torch.empty(input_size, hidden_size).uniform_(-bound, bound))
        self.W = nn.Parameter(torch.empty(hidden_size, hidden_size).uniform_(-bound, bound))
        self.b = nn.Parameter(torch.empty(hidden_size).uniform_(-bound, bound))

    def forward(
        self, x: Float[Tensor, "T N D"], h0: Float[Tensor, "1 N H"] | None = None
    ) -> tuple[Float[Tensor, "T N H"], Float[Tensor, "1 N H"]]:
        """Return the states of all steps and the last one, from h0 or from zeros; gradients flow through all steps."""
        h = x.new_zeros(x.shape[1], len(self.b)) if h0 is None else h0[0]
        states = []
        for driven in x @ self.U + self.b:  # one product for the inputs of all steps
            h = torch.tanh(driven + h @ self.W)
            states.append(h)
        return torch.stack(states), h[None]


def as_torch_rnn(
    U: Real[Tensor, "D H"] | Real[np.ndarray, "D H"] | Sequence,
    W: Real[Tensor, "H H"] | Real[np.ndarray, "H H"] | Sequence,
    b: Real[Tensor, "H"] | Real[np.ndarray, "H"] | Sequence,
) -> nn.RNN:
    """Build the `nn.RNN` that computes the same; its parameters are copies, in the dtype of U.

    Of its two biases only the sum counts: here one is b and the other zero. Lists are taken as float64.

    >>> rnn = as_torch_rnn([[0.5]], [[2.0]], [0.0])
    >>> rnn(torch.tensor([[[1.0]], [[0.0]]], dtype=torch.float64))[0].flatten()
    tensor([0.4621, 0.7279], dtype=torch.float64, grad_fn=...)
    """
    tensors = [_as_tensor(array).detach() for array in (U, W, b)]
    dtype = next((tensor.dtype for tensor in tensors if tensor.is_floating_point()), torch.float64)
    U, W, b = tensors
    rnn = nn.RNN(*U.shape, device=U.device, dtype=dtype)
    biases = {"bias_ih_l0": b, "bias_hh_l0": torch.zeros_like(b)}
    rnn.load_state_dict({"weight_ih_l0": U.T, "weight_hh_l0": W.T, **biases})
    return rnn


class CharRNN(nn.Module):
    """A character language model: ids become vectors, `nn.RNN` reads them, a linear layer gives the next id's logits.

    >>> model = CharRNN(vocabulary_size=7, embedding_size=3, hidden_size=5)
    >>> logits, state = model(torch.zeros(4, 2, dtype=torch.int64))
    >>> logits.shape, state.shape
    (torch.Size([4, 2, 7]), torch.Size([1, 2, 5]))
    """

    def __init__(self, vocabulary_size: int, embedding_size: int, hidden_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.RNN(embedding_size, hidden_size)
        self.output = nn.Linear(hidden_size, vocabulary_size)

    def forward(
        self, ids: Integer[Tensor, "T N"], state: Float[Tensor, "1 N H"] | None = None
    ) -> tuple[Float[Tensor, "T N V"], Float[Tensor, "1 N H"]]:
        """Return the logits of every step and the state after the last, from `state` or from zeros."""
        states, state = self.rnn(self.embedding(ids), state)
        return self.output(states), state


def pad_sequences(
    sequences: Sequence[Shaped[Tensor, "..."] | Shaped[np.ndarray, "..."] | Sequence],
) -> tuple[Shaped[Tensor, "T N ..."], Integer[Tensor, "N"]]:
    """Lay N sequences, each (length, ...), side by side: (padded (T, N, ...), lengths (N,)), with zeros at the end.

    T is the greatest length; order and dtype are kept, lengths are int64. A ValueError if there is no sequence.

    >>> padded, lengths = pad_sequences([[1, 2, 3], [4]])
    >>> padded.tolist(), lengths.tolist()
    ([[1, 4], [2, 0], [3, 0]], [3, 1])
    """
    tensors = [_as_tensor(sequence) for sequence in sequences]
    if not tensors:
        raise ValueError("pad_sequences needs at least one sequence.")
    lengths = torch.tensor([len(tensor) for tensor in tensors], dtype=torch.int64)
    padded = tensors[0].new_zeros(int(lengths.max()), len(tensors), *tensors[0].shape[1:])
    for n, tensor in enumerate(tensors):
        padded[: len(tensor), n] = tensor
    return padded, lengths


def length_mask(
    lengths: Integer[Tensor, "N"] | Integer[np.ndarray, "N"] | Sequence[SupportsIndex], T: SupportsIndex
) -> Bool[Tensor, "T N"]:
    """Say which of T steps are real: entry [t, n] is True where t < lengths[n]. T may exceed every length.

    >>> length_mask([3, 1], 4).int().tolist()
    [[1, 1], [1, 0], [1, 0], [0, 0]]
    """
    lengths = _as_tensor(lengths)
    return torch.arange(int(T), device=lengths.device)[:, None] < lengths


def masked_cross_entropy(
    logits: Float[Tensor, "T N Q"], targets: Integer[Tensor, "T N"], mask: Bool[Tensor, "T N"] | Real[Tensor, "T N"]
) -> Float[Tensor, ""]:
    """Average -log p(target) over the real tokens, those where the mask is True (or 1).

    The padding is left out before anything is computed, so that whatever stands in it, nan too, changes nothing.

    >>> logits = torch.zeros(2, 1, 4)
    >>> logits[1] = float("nan")
    >>> round(masked_cross_entropy(logits, torch.tensor([[3], [0]]), torch.tensor([[True], [False]])).item(), 4)
    1.3863
    """
    real = mask.bool()
    return functional.cross_entropy(logits[real], targets[real].long())


def last_states(
    H: Real[Tensor, "T N H"], lengths: Integer[Tensor, "N"] | Integer[np.ndarray, "N"] | Sequence[SupportsIndex]
) -> Real[Tensor, "N H"]:
    """Pick from all states (T, N, H) the one after each row's last real step, (N, H); each length is at least 1.

    >>> last_states(torch.arange(6.0).reshape(3, 2, 1), [3, 1]).tolist()
    [[4.0], [1.0]]
    """
    last = _as_tensor(lengths).to(H.device) - 1
    return H[last, torch.arange(H.shape[1], device=H.device)]


def train_epoch(
    model: nn.Module, batches: Iterable[tuple[Any, Any]], optimizer: torch.optim.Optimizer, max_norm: SupportsFloat
) -> float:
    """Go through the batches once, training, and return the mean loss per token over all of them.

    `batches` holds pairs (inputs, targets), each (T, N), such as those of `contiguous_batches`; `model(inputs, state)`
    gives (logits, state), as `CharRNN` does. The state starts as None and is carried from batch to batch, detached, so
    that no gradient reaches into the batch before. Each update follows the gradient of the batch's mean loss, clipped
    to the global norm `max_norm`. A ValueError if there is no batch.

    >>> _ = torch.manual_seed(0)
    >>> model = CharRNN(vocabulary_size=2, embedding_size=3, hidden_size=5)
    >>> optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    >>> batches = 30 * [(torch.tensor([[0], [1]]), torch.tensor([[1], [0]]))]  # 0 1 0 1 ...
    >>> train_epoch(model, batches, optimizer, max_norm=1.0) > train_epoch(model, batches, optimizer, max_norm=1.0)
    True
    """
    state = None
    total, tokens = 0.0, 0
    for inputs, targets in batches:
        inputs, targets = _as_tensor(inputs), _as_tensor(targets)
        logits, state = model(inputs, state)
        state = state.detach()
        loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), float(max_norm))
        optimizer.step()
        total += loss.item() * targets.numel()
        tokens += targets.numel()
    if not tokens:
        raise ValueError("train_epoch needs at least one batch.")
    return total / tokens


def _as_tensor(array: Any) -> Tensor:
    """Return a tensor as it is, and an array or a list as a tensor of NumPy's dtype for it, which shares no memory."""
    return array if isinstance(array, Tensor) else torch.from_numpy(np.array(array))
