"""Unit 09 in PyTorch: a tagger that reads in both directions, and a hidden Markov model that can be trained.

The first is `rnncourse.bidirectional.BiTagger`. They have a file of their own so that the NumPy part of the unit needs
no torch.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Integer
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class BiTagger(nn.Module):
    """One label a step, from what stands before and after it: `embedding`, `rnn` in both directions, `output`.

    >>> tagger = BiTagger(vocabulary_size=10, embedding_size=4, hidden_size=5, tags=3)
    >>> tagger(torch.zeros(7, 2, dtype=torch.int64)).shape
    torch.Size([7, 2, 3])
    """

    def __init__(self, vocabulary_size: int, embedding_size: int, hidden_size: int, tags: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.RNN(embedding_size, hidden_size, bidirectional=True)
        self.output = nn.Linear(2 * hidden_size, tags)

    def forward(
        self,
        ids: Integer[torch.Tensor, "T N"],
        lengths: Integer[torch.Tensor, "N"] | Integer[np.ndarray, "N"] | Sequence | None = None,
    ) -> Float[torch.Tensor, "T N tags"]:
        """Return the logits of every step.

        With `lengths`, each from 1 to T, the padding reaches no real step; ids under it are valid ids, whichever, and
        logits there mean nothing.
        """
        embedded = self.embedding(ids)
        if lengths is None:
            states, _ = self.rnn(embedded)
        else:
            ends = torch.as_tensor(lengths, dtype=torch.int64, device="cpu")  # where packing wants them
            states, _ = self.rnn(pack_padded_sequence(embedded, ends, enforce_sorted=False))
            states, _ = pad_packed_sequence(states, total_length=len(ids))
        return self.output(states)


class HiddenMarkov(nn.Module):
    """A hidden Markov model with K states and Q symbols, to be trained as a network is.

    `start` (K,), `transition` (K, K) and `emission` (K, Q) are logits: a softmax over the last axis makes probabilities
    of them.

    >>> log_p = HiddenMarkov(states=3, symbols=4)(torch.zeros(7, 2, dtype=torch.int64))
    >>> log_p.shape, bool((log_p < 0).all())
    (torch.Size([7, 2]), True)
    """

    def __init__(self, states: int, symbols: int) -> None:
        super().__init__()
        self.start = nn.Parameter(torch.randn(states))
        self.transition = nn.Parameter(2 * torch.randn(states, states))
        self.emission = nn.Parameter(torch.randn(states, symbols))

    def forward(self, ids: Integer[torch.Tensor, "T N"]) -> Float[torch.Tensor, "T N"]:
        """Return log P(symbol t | all symbols before it), by the forward algorithm."""
        transition, emission = self.transition.softmax(dim=-1), self.emission.softmax(dim=-1)
        belief = self.start.softmax(dim=-1)
        chances = []
        for seen in ids:
            joint = belief * emission.T[seen]
            chances.append(joint.sum(dim=-1))
            belief = joint / chances[-1][:, None] @ transition
        return torch.stack(chances).log()
