r"""Unit 13. Attention and the minimal GRU in PyTorch, where they can be trained.

`AttentionDecoder` is unit 12's decoder with one thing more. At each step its state s_t asks all states h_j of the
encoder, and what comes back stands beside it when the next symbol is chosen:

    e_tj = s_t W_a h_j^T / sqrt(H)        alpha_t = softmax(e_t)        c_t = sum_j alpha_tj h_j
    logits_t = tanh([s_t, c_t] W_c + b_c) V + c

`MinGRU` computes all of its gates at once and then all of its states by a scan, `scan`, through which gradients flow.
Time is the first axis: ids (T, N), states (T, N, H).

Sources: M.-T. Luong, H. Pham, C. D. Manning, "Effective Approaches to Attention-based Neural Machine Translation",
EMNLP 2015; L. Feng et al., "Were RNNs All We Needed?", arXiv:2410.01201, 2024.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float, Integer
from torch import Tensor, nn

from rnncourse.encoder_decoder import shift_right
from rnncourse.encoder_decoder_torch import Seq2Seq
from rnncourse.heads import Lengths


class AttentionDecoder(nn.Module):
    """A decoder that looks back at what was read: `embedding`, `rnn`, `query`, `combine` and `output`.

    >>> decoder = AttentionDecoder(vocabulary_size=9, embedding_size=4, hidden_size=5)
    >>> ids, keys = torch.zeros(7, 2, dtype=torch.int64), torch.zeros(6, 2, 5)
    >>> logits, state, weights = decoder(ids, torch.zeros(1, 2, 5), keys)
    >>> logits.shape, state.shape, weights.shape
    (torch.Size([7, 2, 9]), torch.Size([1, 2, 5]), torch.Size([2, 7, 6]))
    """

    def __init__(self, vocabulary_size: int, embedding_size: int, hidden_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size)
        self.query = nn.Linear(hidden_size, hidden_size, bias=False)
        self.combine = nn.Linear(2 * hidden_size, hidden_size)
        self.output = nn.Linear(hidden_size, vocabulary_size)

    def forward(
        self,
        ids: Integer[Tensor, "T N"],
        state: Float[Tensor, "1 N H"],
        keys: Float[Tensor, "S N H"],
        mask: Bool[Tensor, "N S"] | None = None,
    ) -> tuple[Float[Tensor, "T N V"], Float[Tensor, "1 N H"], Float[Tensor, "N T S"]]:
        """Return the logits of every step, the state after the last, and how each step shared out its attention.

        `keys` are the encoder's states, and the values too; `mask` is True where one is that of a real step. A call
        for each step gives the same as one for all.
        """
        states, state = self.rnn(self.embedding(ids), state)
        queries, keys = self.query(states).transpose(0, 1), keys.transpose(0, 1)  # (N, T, H) and (N, S, H)
        scores = queries @ keys.transpose(1, 2) / math.sqrt(keys.shape[2])
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None], -math.inf)
        weights = torch.softmax(scores, dim=-1)
        context = (weights @ keys).transpose(0, 1)
        return self.output(torch.tanh(self.combine(torch.cat([states, context], dim=-1)))), state, weights


class AttentionSeq2Seq(Seq2Seq):
    """An encoder and a decoder with attention, trained together with teacher forcing, as unit 12's `Seq2Seq`.

    >>> from rnncourse.encoder_decoder_torch import Encoder
    >>> model = AttentionSeq2Seq(Encoder(9, 4, 5), AttentionDecoder(6, 3, 5), bos=1)
    >>> source, targets = torch.zeros(7, 2, dtype=torch.int64), torch.zeros(8, 2, dtype=torch.int64)
    >>> model(source, [7, 3], targets).shape
    torch.Size([8, 2, 6])
    """

    def forward(
        self, source: Integer[Tensor, "S N"], source_lengths: Lengths | None, targets: Integer[Tensor, "T N"]
    ) -> Float[Tensor, "T N V"]:
        """Return the logits of every target, given the source and the true targets before it."""
        keys, state = self.encoder(source, source_lengths)
        logits, _, _ = self.decoder(shift_right(targets, self.bos), state, keys, look_at(source, source_lengths))
        return logits

    @torch.no_grad()
    def answer(
        self, source: Integer[Tensor, "S N"], source_lengths: Lengths | None, steps: int
    ) -> tuple[Integer[Tensor, "T N"], Float[Tensor, "N T S"]]:
        """Decode greedily, all sequences at once: `steps` ids each, and the attention with which each was chosen."""
        keys, state = self.encoder(source, source_lengths)
        mask = look_at(source, source_lengths)
        ids = torch.full((1, source.shape[1]), self.bos, device=source.device)
        chosen, looks = [], []
        for _ in range(steps):
            logits, state, weights = self.decoder(ids, state, keys, mask)
            ids = logits.argmax(dim=-1)
            chosen.append(ids)
            looks.append(weights)
        return torch.cat(chosen), torch.cat(looks, dim=1)


def look_at(source: Integer[Tensor, "S N"], lengths: Lengths | None) -> Bool[Tensor, "N S"] | None:
    """Make the mask of a padded batch: True at each sequence's real steps. Without lengths there is none.

    >>> look_at(torch.zeros(3, 2, dtype=torch.int64), [3, 1]).tolist()
    [[True, True, True], [True, False, False]]
    """
    if lengths is None:
        return None
    ends = torch.as_tensor(lengths, device=source.device)
    return torch.arange(len(source), device=source.device) < ends[:, None]


def scan(a: Float[Tensor, "T *axes"], b: Float[Tensor, "T *axes"]) -> Float[Tensor, "T *axes"]:
    """Compute h_t = a_t h_{t-1} + b_t from h_0 = 0 in 2 log2(T) rounds, as `rnncourse.beyond.associative_scan` does.

    Put a_1 h_0 into b_1 to start elsewhere.

    >>> scan(torch.tensor([0.5, 0.5, 2.0]), torch.tensor([2.0, 1.0, 0.0]))
    tensor([2., 2., 4.])
    """
    return _prefixes(a, b)[1]


def _prefixes(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Combine the maps 0 to t, for every t: pairs first, then the prefixes of the pairs, then what lies between."""
    steps = len(a)
    if steps == 1:
        return a, b
    half = steps // 2
    odd_a, odd_b = _prefixes(a[1::2] * a[: 2 * half : 2], a[1::2] * b[: 2 * half : 2] + b[1::2])
    before = (steps - 1) // 2
    even_a = torch.cat([a[:1], a[2::2] * odd_a[:before]])
    even_b = torch.cat([b[:1], a[2::2] * odd_b[:before] + b[2::2]])
    return _woven(even_a, odd_a), _woven(even_b, odd_b)


def _woven(even: Tensor, odd: Tensor) -> Tensor:
    """Lay two tensors into one another along time: even[0], odd[0], even[1], …"""
    pairs = torch.stack([even[: len(odd)], odd], dim=1).flatten(0, 1)
    return pairs if len(even) == len(odd) else torch.cat([pairs, even[-1:]])


class MinGRU(nn.Module):
    """A minimal GRU: `gate` and `candidate`, each an nn.Linear of the input alone. It is called like an nn.GRU.

    The gate's bias starts at `gate_bias`: where it is negative, a state is kept for about exp(-gate_bias) steps.

    >>> output, h_n = MinGRU(input_size=3, hidden_size=5)(torch.zeros(7, 2, 3))
    >>> output.shape, h_n.shape
    (torch.Size([7, 2, 5]), torch.Size([1, 2, 5]))
    """

    def __init__(self, input_size: int, hidden_size: int, gate_bias: float = 0.0) -> None:
        super().__init__()
        self.gate = nn.Linear(input_size, hidden_size)
        self.candidate = nn.Linear(input_size, hidden_size)
        nn.init.constant_(self.gate.bias, gate_bias)

    def forward(
        self, x: Float[Tensor, "T N D"], h0: Float[Tensor, "1 N H"] | None = None
    ) -> tuple[Float[Tensor, "T N H"], Float[Tensor, "1 N H"]]:
        """Return the states of all steps, and the last one."""
        z = torch.sigmoid(self.gate(x))
        keep, term = 1 - z, z * self.candidate(x)
        if h0 is not None:
            term = torch.cat([term[:1] + keep[:1] * h0, term[1:]])
        output = scan(keep, term)
        return output, output[-1:]
