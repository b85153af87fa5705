r"""Unit 13. Attention in PyTorch, where it can be trained.

`AttentionDecoder` is unit 12's decoder with one thing more. At each step its state s_t asks all states h_j of the
encoder, and what comes back stands beside it when the next symbol is chosen:

    e_tj = s_t W_a h_j^T / sqrt(H)        alpha_t = softmax(e_t)        c_t = sum_j alpha_tj h_j
    logits_t = tanh([s_t, c_t] W_c + b_c) V + c

Time is the first axis: ids (T, N), states (T, N, H).

Source: M.-T. Luong, H. Pham, C. D. Manning, "Effective Approaches to Attention-based Neural Machine Translation",
EMNLP 2015.
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
