"""Right answers to unit 11 as students write them, each in another style. All must get full marks."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from tests.rnncourse.exercises.alternatives import collector

ALTERNATIVES, answers = collector()


class NetworkAndHead(nn.Module):
    """What a tagger and a generator are made of, in whatever way they run."""

    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.rnn = nn.RNN(input_size, hidden_size)
        self.head = nn.Linear(hidden_size, output_size)


# --- architecture


@answers("architecture")
def by_words(T_x, T_y):
    name = f"{'one' if T_x == 1 else 'many'}-to-{'one' if T_y == 1 else 'many'}"
    if name == "many-to-many":
        name += " (equal)" if T_x == T_y else " (different)"
    return name


@answers("architecture")
def by_cases(T_x, T_y):
    match (T_x, T_y):
        case (1, 1):
            return "one-to-one"
        case (1, _):
            return "one-to-many"
        case (_, 1):
            return "many-to-one"
    return "many-to-many (equal)" if T_x == T_y else "many-to-many (different)"


@answers("architecture")
def by_table(T_x, T_y):
    table = {(False, True): "one-to-many", (True, False): "many-to-one", (False, False): "one-to-one"}
    kinds = ["many-to-many (different)", "many-to-many (equal)"]
    return table.get((T_x > 1, T_y > 1), kinds[T_x == T_y])


# --- OneToOne


@answers("OneToOne")
class HeadFirstInInit(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.head = nn.Linear(in_features=hidden_size, out_features=output_size)
        self.hidden = nn.Linear(in_features=input_size, out_features=hidden_size)

    def forward(self, x):
        h = self.hidden(x).tanh()
        return self.head(h)


@answers("OneToOne")
class WithFunctionals(nn.Module):
    def __init__(self, D, H, Q):
        super().__init__()
        self.hidden, self.head = nn.Linear(D, H), nn.Linear(H, Q)

    def forward(self, x):
        a = F.linear(x, self.hidden.weight, self.hidden.bias)
        return F.linear(2 * torch.sigmoid(2 * a) - 1, self.head.weight, self.head.bias)


@answers("OneToOne")
class RowByRow(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.hidden = nn.Linear(input_size, hidden_size)
        self.activation = nn.Tanh()
        self.head = nn.Linear(hidden_size, output_size)

    def forward(self, x):
        return torch.stack([self.head(self.activation(self.hidden(row))) for row in x])


# --- SequenceTagger


@answers("SequenceTagger")
class StepByStep(NetworkAndHead):
    def forward(self, x, h0=None):
        h, outputs = h0, []
        for t in range(x.shape[0]):
            out, h = self.rnn(x[t : t + 1], h)
            outputs.append(self.head(out[0]))
        return torch.stack(outputs)


@answers("SequenceTagger")
class BatchFirstAndBack(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.rnn = nn.RNN(input_size, hidden_size, batch_first=True)
        self.head = nn.Linear(hidden_size, output_size)

    def forward(self, x, h0=None):
        if h0 is None:
            h0 = x.new_zeros(1, x.shape[1], self.rnn.hidden_size)
        out, _ = self.rnn(x.transpose(0, 1).contiguous(), h0)
        return self.head(out).transpose(0, 1)


@answers("SequenceTagger")
class WithEinsum(NetworkAndHead):
    def forward(self, x, h0=None):
        return torch.einsum("tnh,qh->tnq", self.rnn(x, h0)[0], self.head.weight) + self.head.bias


# --- SequenceClassifier


@answers("SequenceClassifier")
class ByTwoIndicesAndAMask(nn.Module):
    def __init__(self, input_size, hidden_size, output_size, pool="last"):
        super().__init__()
        self.rnn = nn.RNN(input_size, hidden_size)
        self.head = nn.Linear(hidden_size, output_size)
        self.pool = pool

    def forward(self, x, lengths=None):
        T, N, _ = x.shape
        states, _ = self.rnn(x)
        if lengths is None:
            lengths = torch.full((N,), T)
        if self.pool == "mean":
            mask = (torch.arange(T)[:, None] < lengths).unsqueeze(-1).to(states.dtype)
            return self.head((states * mask).sum(0) / mask.sum(0))
        return self.head(states[lengths - 1, torch.arange(N)])


@answers("SequenceClassifier")
class MeanOfTheLogits(nn.Module):
    """The head is linear, so that the mean of the logits is the logit of the mean."""

    def __init__(self, input_size, hidden_size, output_size, pool="last"):
        super().__init__()
        self.rnn = nn.RNN(input_size, hidden_size)
        self.head = nn.Linear(hidden_size, output_size)
        self.pool = pool

    def forward(self, x, lengths=None):
        logits = self.head(self.rnn(x)[0])
        if lengths is None:
            return logits[-1] if self.pool == "last" else logits.mean(dim=0)
        if self.pool == "last":
            index = (lengths - 1)[None, :, None].expand(1, -1, logits.shape[-1])
            return logits.gather(0, index)[0]
        padding = torch.arange(len(x)).unsqueeze(1) >= lengths
        return logits.masked_fill(padding.unsqueeze(-1), 0).sum(0) / lengths.unsqueeze(1)


@answers("SequenceClassifier")
class OneSequenceAtATime(nn.Module):
    def __init__(self, input_size, hidden_size, output_size, pool="last"):
        super().__init__()
        self.rnn = nn.RNN(input_size, hidden_size)
        self.head = nn.Linear(hidden_size, output_size)
        self.summary = {"last": lambda states: states[-1], "mean": lambda states: states.mean(0)}[pool]

    def forward(self, x, lengths=None):
        lengths = [len(x)] * x.shape[1] if lengths is None else lengths.tolist()
        rows = [self.summary(self.rnn(x[:length, n])[0]) for n, length in enumerate(lengths)]
        return self.head(torch.stack(rows))


# --- BidirectionalClassifier


@answers("BidirectionalClassifier")
class FromAllStates(nn.Module):
    def __init__(self, vocabulary_size, embedding_size, hidden_size, output_size, how="concat"):
        super().__init__()
        self.how, self.hidden_size = how, hidden_size
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.RNN(embedding_size, hidden_size, bidirectional=True)
        self.head = nn.Linear(hidden_size * (2 if how == "concat" else 1), output_size)

    def forward(self, ids, lengths=None):
        T, N = ids.shape
        if lengths is None:
            lengths = torch.full((N,), T)
        states, _ = self.rnn(pack_padded_sequence(self.embedding(ids), lengths, enforce_sorted=False))
        states, _ = pad_packed_sequence(states, total_length=T)
        f, g = states[lengths - 1, torch.arange(N), : self.hidden_size], states[0, :, self.hidden_size :]
        ways = {"concat": lambda: torch.hstack([f, g]), "sum": lambda: f + g, "product": lambda: f * g}
        return self.head(ways[self.how]())


@answers("BidirectionalClassifier")
class RowAfterRow(nn.Module):
    def __init__(self, vocabulary_size, embedding_size, hidden_size, output_size, how="concat"):
        super().__init__()
        self.how = how
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.RNN(embedding_size, hidden_size, bidirectional=True)
        if how == "concat":
            self.head = nn.Linear(2 * hidden_size, output_size)
        else:
            self.head = nn.Linear(hidden_size, output_size)

    def forward(self, ids, lengths=None):
        rows = []
        for n in range(ids.shape[1]):
            end = len(ids) if lengths is None else int(lengths[n])
            _, h_n = self.rnn(self.embedding(ids[:end, n]))
            if self.how == "concat":
                rows.append(torch.cat([h_n[0], h_n[1]]))
            else:
                rows.append(h_n.sum(0) if self.how == "sum" else h_n.prod(0))
        return self.head(torch.stack(rows))


@answers("BidirectionalClassifier")
class BatchFirstAndTransposed(nn.Module):
    def __init__(self, vocabulary_size, embedding_size, hidden_size, output_size, how="concat"):
        super().__init__()
        self.how = how
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.RNN(embedding_size, hidden_size, batch_first=True, bidirectional=True)
        self.head = nn.Linear([hidden_size, 2 * hidden_size][how == "concat"], output_size)

    def forward(self, ids, lengths=None):
        x = self.embedding(ids.T)
        if lengths is not None:
            x = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        forwards, backwards = self.rnn(x)[1].unbind(0)
        if self.how == "sum":
            return self.head(forwards.add(backwards))
        if self.how == "product":
            return self.head(forwards.mul(backwards))
        return self.head(torch.cat((forwards, backwards), 1))


# --- SequenceGenerator


@answers("SequenceGenerator")
class WithUnsqueeze(NetworkAndHead):
    def forward(self, x, steps):
        x = x.unsqueeze(0)
        h = torch.zeros(1, x.size(1), self.rnn.hidden_size, dtype=x.dtype)
        outputs = []
        for _ in range(steps):
            _, h = self.rnn(x, h)
            x = self.head(h)
            outputs.append(x)
        return torch.cat(outputs)


@answers("SequenceGenerator")
class WithTheFormula(NetworkAndHead):
    def forward(self, x, steps):
        W_ih, W_hh, b_ih, b_hh = self.rnn._flat_weights
        h, outputs = 0 * b_hh, []
        while len(outputs) < steps:
            h = torch.tanh(x @ W_ih.T + b_ih + h @ W_hh.T + b_hh)
            x = self.head(h)
            outputs += [x]
        return torch.stack(outputs, dim=0)


@answers("SequenceGenerator")
class ByRecursion(NetworkAndHead):
    def go_on(self, x, h, steps):
        if steps == 0:
            return []
        _, h = self.rnn(x[None], h)
        y = self.head(h[0])
        return [y, *self.go_on(y, h, steps - 1)]

    def forward(self, x, steps):
        return torch.stack(self.go_on(x, None, steps))


# --- gradient_support


@answers("gradient_support")
def with_backward(model, x, t):
    leaf = x.detach().clone()
    leaf.requires_grad = True
    output = model(leaf)[t]
    loss = (output * torch.randn(output.shape, dtype=output.dtype)).sum()
    if loss.requires_grad:
        loss.backward()
    if leaf.grad is None:
        return torch.zeros(len(x), dtype=torch.bool)
    return leaf.grad.abs().sum(dim=(1, 2)) > 0


@answers("gradient_support")
def as_a_list(model, x, t):
    leaf = x.clone().requires_grad_(True)
    output = model(leaf)[t].flatten()
    weights = torch.cos(torch.arange(len(output)) + 0.5)
    (gradient,) = torch.autograd.grad(torch.dot(weights.to(output.dtype), output + 0 * leaf.sum()), leaf)
    return [bool(step.count_nonzero()) for step in gradient]


@answers("gradient_support")
def with_a_gradient_of_the_output(model, x, t):
    x = x.requires_grad_()
    output = model(x)
    if not output.requires_grad:
        return np.zeros(len(x), dtype=bool)
    weights = torch.zeros_like(output)
    weights[t] = torch.rand_like(weights[t]) + 0.5
    (gradient,) = torch.autograd.grad(output, x, weights, allow_unused=True)
    gradient = torch.zeros_like(x) if gradient is None else gradient
    return np.array([bool(gradient[k].any()) for k in range(len(x))])


@answers("gradient_support")
def by_the_jacobian(model, x, t):
    jacobian = torch.autograd.functional.jacobian(lambda z: model(z)[t].flatten(), x)
    return (jacobian != 0).any(dim=0).flatten(1).any(dim=1)
