"""Right answers to unit 07 as students write them, each in another style. All must get full marks."""

import heapq
import itertools
import math
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import clip_grad_norm_

from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


# --- Var


@answers("Var")
class WithClosuresAndADepthFirstOrder:
    __array_priority__ = 100.0
    __array_ufunc__ = None

    def __init__(self, data, made_of=()):
        self.data = np.asarray(data).astype(np.float64)
        self.grad, self.parts = np.zeros(self.data.shape), tuple(made_of)
        self.hand_on = lambda error: ()

    @classmethod
    def of(cls, value):
        return value if type(value) is cls else cls(value)

    def __add__(self, other):
        other = self.of(other)
        out = self.of(self.data + other.data)
        out.parts = self, other

        def share(error, data):
            while error.ndim > data.ndim:
                error = error.sum(axis=0)
            return error

        out.hand_on = lambda error: (share(error, self.data), share(error, other.data))
        return out

    def __radd__(self, other):
        return self + other

    def __matmul__(self, other):
        other = self.of(other)
        out = self.of(np.matmul(self.data, other.data))
        out.parts = self, other
        out.hand_on = lambda error: (error.dot(other.data.T), self.data.T.dot(error))
        return out

    def __rmatmul__(self, other):
        return self.of(other).__matmul__(self)

    def tanh(self):
        out = self.of(np.tanh(self.data))
        out.parts, out.hand_on = (self,), lambda error: (error * (1 - out.data**2),)
        return out

    def sum(self):
        out = self.of(np.sum(self.data))
        out.parts, out.hand_on = (self,), lambda error: (np.full(self.data.shape, error),)
        return out

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) not in seen:
                seen.add(id(node))
                for part in node.parts:
                    visit(part)
                order.append(node)

        visit(self)
        errors = {id(node): np.zeros(node.data.shape) for node in order}
        errors[id(self)] += 1.0
        for node in order[::-1]:
            node.grad = node.grad + errors[id(node)]
            for part, error in zip(node.parts, node.hand_on(errors[id(node)])):
                errors[id(part)] = errors[id(part)] + error


@answers("Var")
class WithNamesOfOperations:
    __array_ufunc__ = None

    def __init__(self, data, made_of=()):
        self.data = np.array(data, dtype=float)
        self.grad = 0 * self.data
        self.operation, self.parts = made_of or ("leaf", ())

    def __add__(self, other):
        cls = type(self)
        other = other if isinstance(other, cls) else cls(other)
        return cls(self.data + other.data, ("add", (self, other)))

    def __matmul__(self, other):
        cls = type(self)
        other = other if isinstance(other, cls) else cls(other)
        return cls(self.data @ other.data, ("matmul", (self, other)))

    __radd__ = __add__

    def __rmatmul__(self, other):
        return type(self)(other) @ self

    def tanh(self):
        return type(self)(np.tanh(self.data), ("tanh", (self,)))

    def sum(self):
        return type(self)(self.data.sum(), ("sum", (self,)))

    def errors(self, e):
        a = self.parts[0] if self.parts else None
        if self.operation == "add":
            return [e if v.data.ndim == e.ndim else np.sum(e, axis=0) for v in self.parts]
        if self.operation == "matmul":
            return [e @ self.parts[1].data.T, a.data.T @ e]
        if self.operation == "tanh":
            return [(1 - self.data * self.data) * e]
        return [e + np.zeros_like(a.data)] if self.operation == "sum" else []

    def backward(self):
        waiting, todo, seen = {}, [self], {self}
        while todo:
            for part in todo.pop().parts:
                waiting[part] = waiting.get(part, 0) + 1
                if part not in seen:
                    seen.add(part)
                    todo.append(part)
        errors, ready = {self: np.ones_like(self.data)}, [self]
        while ready:
            v = ready.pop()
            v.grad += errors[v]
            for part, e in zip(v.parts, v.errors(errors[v])):
                errors[part] = errors[part] + e if part in errors else e
                waiting[part] -= 1
                if not waiting[part]:
                    ready.append(part)


@answers("Var")
class WithAHeap:
    __array_ufunc__ = None

    def __init__(self, data, made_of=()):
        self.data, self.grad, self.made_of = (
            np.float64(data) * np.ones(np.shape(data)),
            np.zeros(np.shape(data)),
            made_of,
        )
        self.number = next(COUNTER)

    def _with(self, other):
        return other if isinstance(other, WithAHeap) else WithAHeap(other)

    def __add__(self, other):
        other = self._with(other)
        made = self.data + other.data
        as_is, summed = (lambda e: e), (lambda e: e.sum(0))
        return WithAHeap(made, [(v, as_is if v.data.ndim == made.ndim else summed) for v in (self, other)])

    def __radd__(self, other):
        return self._with(other) + self

    def __matmul__(self, other):
        other = self._with(other)
        return WithAHeap(
            self.data @ other.data,
            [
                (self, lambda e: np.einsum("nh,dh->nd", e, other.data)),
                (other, lambda e: np.einsum("nd,nh->dh", self.data, e)),
            ],
        )

    def __rmatmul__(self, other):
        return self._with(other) @ self

    def tanh(self):
        out = WithAHeap(np.tanh(self.data))
        out.made_of = [(self, lambda e: e / np.cosh(self.data) ** 2)]
        return out

    def sum(self):
        return WithAHeap(np.sum(self.data), [(self, lambda e: np.tile(e, self.data.shape))])

    def backward(self):
        heap, errors = [(-self.number, self)], {self: np.ones(())}
        while heap:
            _, var = heapq.heappop(heap)
            error = errors.pop(var)
            var.grad = var.grad + error
            for part, back in var.made_of:
                if part in errors:
                    errors[part] = errors[part] + back(error)
                else:
                    errors[part] = back(error)
                    heapq.heappush(heap, (-part.number, part))


COUNTER = itertools.count()


# --- ScratchRNN


@answers("ScratchRNN")
class WithPreallocatedStates(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        scale = 1 / math.sqrt(hidden_size)
        self.U = nn.Parameter((2 * torch.rand(input_size, hidden_size) - 1) * scale)
        self.W = nn.Parameter((2 * torch.rand(hidden_size, hidden_size) - 1) * scale)
        self.b = nn.Parameter((2 * torch.rand(hidden_size) - 1) * scale)

    def forward(self, x, h0=None):
        T, N, _ = x.shape
        if h0 is None:
            h0 = torch.zeros(1, N, self.hidden_size, dtype=x.dtype, device=x.device)
        output = torch.empty(T, N, self.hidden_size, dtype=x.dtype)
        h = h0.squeeze(0)
        for t in range(T):
            h = (x[t].matmul(self.U) + h.matmul(self.W) + self.b).tanh()
            output[t] = h
        return output, output[-1].unsqueeze(0)


@answers("ScratchRNN")
class WithAHelperMethod(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        for name, rows in (("U", [input_size]), ("W", [hidden_size]), ("b", [])):
            drawn = nn.init.uniform_(torch.empty(*rows, hidden_size), -(hidden_size**-0.5), hidden_size**-0.5)
            self.register_parameter(name, nn.Parameter(drawn))

    def step(self, h, x):
        return torch.tanh(torch.addmm(self.b, x, self.U) + torch.mm(h, self.W))

    def forward(self, x, h0=None):
        h0 = h0[0] if h0 is not None else torch.zeros_like(x[0, :, :1]).repeat(1, len(self.b))
        states = list(itertools.accumulate(x, self.step, initial=h0))[1:]
        return torch.stack(states, dim=0), torch.stack(states[-1:])


@answers("ScratchRNN")
class WithFunctionalsAndEinsum(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        from_state = nn.Linear(hidden_size, hidden_size)  # which draws just so
        self.U = nn.Parameter(nn.Linear(hidden_size, input_size).weight.detach().clone())
        self.W = nn.Parameter(from_state.weight.detach().clone())
        self.b = nn.Parameter(from_state.bias.detach().clone())

    def forward(self, x, h0=None):
        projected = torch.einsum("tnd,dh->tnh", x, self.U)
        if h0 is None:
            h0 = torch.zeros((1, x.size(1), self.W.size(0))).to(x)
        states = [h0]
        for t in range(x.size(0)):
            states.append(torch.tanh(projected[t : t + 1] + F.linear(states[-1], self.W.t(), self.b)))
        return torch.cat(states[1:]), states[-1]


# --- as_torch_rnn


@answers("as_torch_rnn")
def with_copy(U, W, b):
    U, W, b = (torch.as_tensor(a) for a in (U, W, b))
    D, H = U.shape
    rnn = nn.RNN(D, H).to(U.dtype)
    with torch.no_grad():
        rnn.weight_ih_l0.copy_(U.T)
        rnn.weight_hh_l0.copy_(W.T)
        rnn.bias_ih_l0.copy_(b)
        rnn.bias_hh_l0.zero_()
    return rnn


@answers("as_torch_rnn")
def with_parameters_of_clones(U, W, b):
    U, W, b = [torch.as_tensor(a).detach().clone() for a in (U, W, b)]
    rnn = nn.RNN(input_size=U.size(0), hidden_size=U.size(1))
    rnn.weight_ih_l0 = nn.Parameter(U.t().contiguous().clone())
    rnn.weight_hh_l0 = nn.Parameter(W.t().contiguous())
    rnn.bias_ih_l0 = nn.Parameter(b / 2)
    rnn.bias_hh_l0 = nn.Parameter(b / 2)
    return rnn


@answers("as_torch_rnn")
def through_numpy(U, W, b):
    arrays = [np.array(a.detach() if isinstance(a, torch.Tensor) else a) for a in (U, W, b)]
    state = {
        "weight_ih_l0": arrays[0].T,
        "weight_hh_l0": arrays[1].T,
        "bias_ih_l0": arrays[2],
        "bias_hh_l0": 0 * arrays[2],
    }
    rnn = nn.RNN(arrays[0].shape[0], arrays[0].shape[1])
    rnn = rnn.double() if arrays[0].dtype == np.float64 else rnn.float()
    rnn.load_state_dict({name: torch.tensor(a) for name, a in state.items()})
    return rnn.train()


# --- CharRNN


@answers("CharRNN")
class InOneExpression(nn.Module):
    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.RNN(embedding_size, hidden_size)
        self.output = nn.Linear(hidden_size, vocabulary_size)

    def forward(self, ids, state=None):
        H, state = self.rnn(self.embedding(ids), state)
        return self.output(H), state


@answers("CharRNN")
class WithBatchFirstInside(nn.Module):
    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(num_embeddings=vocabulary_size, embedding_dim=embedding_size)
        self.rnn = nn.RNN(embedding_size, hidden_size, num_layers=1, batch_first=True, nonlinearity="tanh")
        self.output = nn.Linear(hidden_size, vocabulary_size, bias=True)

    def forward(self, ids, state=None):
        vectors = self.embedding(ids.transpose(0, 1))
        states, last = self.rnn(vectors, state) if state is not None else self.rnn(vectors)
        return self.output(states).transpose(0, 1), last


@answers("CharRNN")
class StepByStep(nn.Module):
    def __init__(self, vocabulary_size, embedding_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.output = nn.Linear(hidden_size, vocabulary_size)
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.RNN(embedding_size, hidden_size)

    def forward(self, ids, state=None):
        if state is None:
            state = torch.zeros(1, ids.shape[1], self.hidden_size, dtype=self.embedding.weight.dtype)
        logits = []
        for row in ids:
            _, state = self.rnn(self.embedding(row)[None], state)
            logits.append(self.output(state[0]))
        return torch.stack(logits), state


# --- pad_sequences


@answers("pad_sequences")
def by_columns(sequences):
    lengths = [s.shape[0] for s in sequences]
    longest = max(lengths)
    columns = []
    for s in sequences:
        zeros = torch.zeros((longest - s.shape[0], *s.shape[1:]), dtype=s.dtype)
        columns.append(torch.cat((s, zeros), dim=0))
    return torch.stack(columns, dim=1), torch.tensor(lengths, dtype=torch.int64)


@answers("pad_sequences")
def by_rows_then_transposed(sequences):
    lengths = torch.LongTensor([len(s) for s in sequences])
    padded = torch.zeros(len(sequences), lengths.max(), *sequences[0].shape[1:], dtype=sequences[0].dtype)
    for row, s in zip(padded, sequences, strict=True):
        row[: len(s)] = s
    return padded.transpose(0, 1), lengths


@answers("pad_sequences")
def with_functional_pad(sequences):
    T = max(s.size(0) for s in sequences)
    grown = [F.pad(s, [0, 0] * (s.dim() - 1) + [0, T - s.size(0)]) for s in sequences]
    return torch.stack(grown, 1), torch.as_tensor([s.size(0) for s in sequences])


# --- length_mask


@answers("length_mask")
def mask_by_slices(lengths, T):
    mask = torch.zeros(T, len(lengths), dtype=torch.bool)
    for n, length in enumerate(lengths):
        mask[:length, n] = True
    return mask


@answers("length_mask")
def mask_transposed(lengths, T):
    return (torch.arange(T).expand(len(lengths), T) < lengths.unsqueeze(1)).t()


@answers("length_mask")
def mask_of_lists(lengths, T):
    return torch.tensor([[t < length for length in lengths.tolist()] for t in range(T)])


# --- masked_cross_entropy


@answers("masked_cross_entropy")
def with_losses_times_mask(logits, targets, mask):
    losses = F.cross_entropy(logits.permute(0, 2, 1), targets, reduction="none")
    return (losses * mask).sum() / mask.sum()


@answers("masked_cross_entropy")
def with_log_softmax_and_gather(logits, targets, mask):
    logs = torch.log_softmax(logits, dim=2).gather(2, targets.unsqueeze(2)).squeeze(2)
    return -logs[mask].mean()


@answers("masked_cross_entropy")
def with_ignored_targets(logits, targets, mask):
    hidden = torch.where(mask, targets, torch.tensor(-100))
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), hidden.reshape(-1))


# --- last_states


@answers("last_states")
def states_row_by_row(H, lengths):
    return torch.stack([H[length - 1, n] for n, length in enumerate(lengths)])


@answers("last_states")
def states_gathered(H, lengths):
    index = (lengths - 1).view(1, -1, 1).expand(1, H.shape[1], H.shape[2])
    return H.gather(0, index).squeeze(0)


@answers("last_states")
def states_by_a_mask(H, lengths):
    last = torch.arange(H.shape[0])[:, None] == lengths - 1
    return (H * last.unsqueeze(-1)).sum(0)


# --- train_epoch


@answers("train_epoch")
def epoch_with_class_axis_one(model, batches, optimizer, max_norm):
    model.train()
    losses, counts, state = [], [], None
    for x, y in batches:
        if state is not None:
            state = state.detach()
        optimizer.zero_grad()
        logits, state = model(x, state)
        loss = F.cross_entropy(logits.transpose(1, 2), y)
        loss.backward()
        clip_grad_norm_(model.parameters(), max_norm=max_norm)
        optimizer.step()
        losses.append(loss.item())
        counts.append(y.numel())
    return np.average(losses, weights=counts)


@answers("train_epoch")
def epoch_with_own_clipping(model, batches, optimizer, max_norm):
    criterion = nn.CrossEntropyLoss(reduction="sum")
    state, total, tokens = None, torch.zeros(()), 0
    parameters = [p for p in model.parameters() if p.requires_grad]
    for inputs, targets in batches:
        logits, state = model(inputs, state)
        summed = criterion(logits.reshape(-1, logits.size(-1)), targets.reshape(-1))
        for p in parameters:
            p.grad = None
        (summed / targets.numel()).backward()
        norm = torch.sqrt(sum((p.grad**2).sum() for p in parameters))
        if norm > max_norm:
            for p in parameters:
                p.grad *= max_norm / norm
        optimizer.step()
        state = state.data
        total = total + summed.detach()
        tokens += targets.shape[0] * targets.shape[1]
    return (total / tokens).item()


def update(model, optimizer, max_norm, batch, state):
    inputs, targets = batch
    logits, state = model(inputs, state)
    loss = -torch.log_softmax(logits, dim=-1).gather(-1, targets[..., None]).mean()
    model.zero_grad()
    loss.backward()
    clip_grad_norm_(list(model.parameters()), max_norm)
    optimizer.step()
    return float(loss.detach()), state.detach()


@answers("train_epoch")
def epoch_with_a_helper(model, batches, optimizer, max_norm):
    one = partial(update, model, optimizer, max_norm)
    state, total = None, 0.0
    for batch in batches:
        loss, state = one(batch, state)
        total += loss * batch[1].numel()
    return total / sum(batch[1].numel() for batch in batches)
