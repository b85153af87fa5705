r"""Unit 12. The encoder, the decoder and what is made of them, in PyTorch.

They have a file of their own so that the search, `rnncourse.encoder_decoder`, needs no torch.
Time is the first axis: ids (T, N), logits (T, N, V), states (1, N, H).

A picture has no time. Its features f become the decoder's first state, s_0 = tanh(prime(f)), and the decoder tells what
it sees.

Source of the captions: O. Vinyals, A. Toshev, S. Bengio, D. Erhan, "Show and Tell: A Neural Image Caption Generator",
CVPR 2015.
"""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np
import torch
from jaxtyping import Float, Integer
from torch import Tensor, nn

from rnncourse.encoder_decoder import Step, shift_right
from rnncourse.heads import Lengths, run_padded


class Encoder(nn.Module):
    """Read a sequence of ids: `embedding`, then `rnn`, an nn.GRU.

    >>> encoder = Encoder(vocabulary_size=9, embedding_size=4, hidden_size=5)
    >>> outputs, state = encoder(torch.zeros(7, 2, dtype=torch.int64), lengths=[7, 3])
    >>> outputs.shape, state.shape
    (torch.Size([7, 2, 5]), torch.Size([1, 2, 5]))
    """

    def __init__(self, vocabulary_size: int, embedding_size: int, hidden_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size)

    def forward(
        self, ids: Integer[Tensor, "T N"], lengths: Lengths | None = None
    ) -> tuple[Float[Tensor, "T N H"], Float[Tensor, "1 N H"]]:
        """Return the states of all steps, and that of each sequence's last real step.

        With `lengths`, each from 1 to T, the padding is not read: ids under it are valid ids, whichever, and the
        outputs there are 0.
        """
        return run_padded(self.rnn, self.embedding(ids), lengths)


class Decoder(nn.Module):
    """A language model that starts from a given state: `embedding`, `rnn`, an nn.GRU, and `output`, an nn.Linear.

    >>> decoder = Decoder(vocabulary_size=9, embedding_size=4, hidden_size=5)
    >>> logits, state = decoder(torch.zeros(7, 2, dtype=torch.int64), torch.zeros(1, 2, 5))
    >>> logits.shape, state.shape
    (torch.Size([7, 2, 9]), torch.Size([1, 2, 5]))
    """

    def __init__(self, vocabulary_size: int, embedding_size: int, hidden_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = nn.GRU(embedding_size, hidden_size)
        self.output = nn.Linear(hidden_size, vocabulary_size)

    def forward(
        self, ids: Integer[Tensor, "T N"], state: Float[Tensor, "1 N H"]
    ) -> tuple[Float[Tensor, "T N V"], Float[Tensor, "1 N H"]]:
        """Return the logits of every step and the state after the last. A call for each step gives the same."""
        states, state = self.rnn(self.embedding(ids), state)
        return self.output(states), state


class Seq2Seq(nn.Module):
    """An encoder and a decoder, trained together with teacher forcing.

    >>> model = Seq2Seq(Encoder(9, 4, 5), Decoder(6, 3, 5), bos=1)
    >>> source, targets = torch.zeros(7, 2, dtype=torch.int64), torch.zeros(8, 2, dtype=torch.int64)
    >>> model(source, [7, 3], targets).shape
    torch.Size([8, 2, 6])
    """

    def __init__(self, encoder: nn.Module, decoder: nn.Module, bos: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.bos = bos

    def forward(
        self, source: Integer[Tensor, "S N"], source_lengths: Lengths | None, targets: Integer[Tensor, "T N"]
    ) -> Float[Tensor, "T N V"]:
        """Return the logits of every target, given the source and the true targets before it."""
        _, state = self.encoder(source, source_lengths)
        logits, _ = self.decoder(shift_right(targets, self.bos), state)
        return logits


class ImageCaptioner(nn.Module):
    """A decoder whose first state is made from features of a picture: `prime`, an nn.Linear, then tanh; `decoder`.

    >>> captioner = ImageCaptioner(feature_size=64, vocabulary_size=9, embedding_size=4, hidden_size=5)
    >>> captioner(torch.zeros(2, 64), torch.zeros(7, 2, dtype=torch.int64)).shape
    torch.Size([7, 2, 9])
    """

    def __init__(self, feature_size: int, vocabulary_size: int, embedding_size: int, hidden_size: int) -> None:
        super().__init__()
        self.prime = nn.Linear(feature_size, hidden_size)
        self.decoder = Decoder(vocabulary_size, embedding_size, hidden_size)

    def forward(self, features: Float[Tensor, "N F"], ids: Integer[Tensor, "T N"]) -> Float[Tensor, "T N V"]:
        """Return the logits of every step; `ids` are the decoder's inputs, bos first."""
        logits, _ = self.decoder(ids, torch.tanh(self.prime(features))[None])
        return logits


def decoder_step(decoder: nn.Module) -> Step:
    """Turn a decoder into the `step` of `greedy_decode` and `beam_search`, for one sequence and without gradients.

    The state is the decoder's, (1, 1, H); the log-probabilities are an array, so that a search needs no torch.

    >>> step = decoder_step(Decoder(vocabulary_size=9, embedding_size=4, hidden_size=5))
    >>> log_probabilities, state = step(3, torch.zeros(1, 1, 5))
    >>> log_probabilities.shape, state.shape
    ((9,), torch.Size([1, 1, 5]))
    """

    @torch.no_grad()
    def step(token: SupportsIndex, state: Any) -> tuple[Float[np.ndarray, "V"], Any]:
        logits, state = decoder(torch.full((1, 1), int(token), device=next(decoder.parameters()).device), state)
        return torch.log_softmax(logits[0, 0], dim=-1).cpu().numpy(), state

    return step
