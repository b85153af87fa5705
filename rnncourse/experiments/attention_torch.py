"""Unit 13, with PyTorch: pairs with and without attention that repeat digits and read dates, and one layer of
self-attention that is asked for an order, or for two things at once.

`Decoder` is the student's `AttentionDecoder` where a function takes one. Time is the first axis: ids (T, N).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rnncourse.attention_torch import AttentionDecoder, AttentionSeq2Seq
from rnncourse.data.dates import (
    BOS,
    EOS,
    ISO_VOCABULARY,
    WrittenDate,
    date_vocabulary,
    encode_dates,
    written_dates,
)
from rnncourse.encoder_decoder_torch import Decoder, Encoder, Seq2Seq
from rnncourse.experiments.encoder_decoder import Batch, batches_by_length, unseen_dates, write_greedily
from rnncourse.experiments.training import fit

KINDS = "without attention", "all states alike", "with attention"
ORDERED = {"neither": (False, False), "positions": (True, False), "causal": (False, True)}


# --- an encoder and a decoder


def _digits(rng: np.random.Generator, length: int, rows: int) -> Batch:
    """Sequences of so many digits, as ids from 3 to 12: (source (S, N), None, targets (S + 1, N))."""
    source = torch.tensor(rng.integers(3, 13, (length, rows)))
    return source, None, torch.cat([source, torch.full((1, rows), EOS)])


def _pair(kind: str, inputs: int, outputs: int, looking: Callable[..., Any]) -> Any:
    """An encoder and a decoder of one of `KINDS`, or "without the root". The pair without attention has more units."""
    if kind == "without attention":
        return Seq2Seq(Encoder(inputs, 32, 80), Decoder(outputs, 16, 80), BOS)
    decoder = looking(outputs, 16, 64)
    if kind == "all states alike":  # it asks nothing: all scores are 0, all weights equal
        nn.init.zeros_(decoder.query.weight)
        decoder.query.requires_grad_(False)
    if kind == "without the root":  # what the decoder divides by is multiplied in before
        decoder.query.register_forward_hook(lambda module, given, made: made * math.sqrt(64))
    return AttentionSeq2Seq(Encoder(inputs, 32, 64), decoder, BOS)


def _train(model: Any, draw: Callable[[], Batch], updates: int, label: str) -> Any:
    """Train on fresh batches, with teacher forcing and a rate that falls."""

    def loss_of(_: int) -> Tensor:
        source, lengths, targets = draw()
        return nn.functional.cross_entropy(model(source, lengths, targets).flatten(0, 1), targets.flatten())

    fit(model, loss_of, range(updates), 0.01, end=0.05, label=label)
    return model


def _answers(model: Any, source: Tensor, lengths: Tensor | None, steps: int) -> Tensor:
    """What the model says when it is fed its own answers: ids (steps, N)."""
    if isinstance(model, AttentionSeq2Seq):
        return model.answer(source, lengths, steps)[0]
    return write_greedily(model, source, lengths, steps)


def train_to_repeat(
    kind: str, decoder: Callable[..., Any] = AttentionDecoder, updates: int = 250, seed: int = 0
) -> Any:
    """A pair of that kind, trained on 1 to 12 digits, one length an update; 64 units, and 80 without attention."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    return _train(_pair(kind, 13, 13, decoder), lambda: _digits(rng, int(rng.integers(1, 13)), 64), updates, kind)


def repeated(model: Any, length: int, rows: int = 200) -> float:
    """The share of sequences of so many digits that the model repeats without a mistake."""
    source, lengths, targets = _digits(np.random.default_rng(99), length, rows)
    return float((_answers(model, source, lengths, length + 1) == targets).all(dim=0).float().mean())


def train_to_read(decoder: Callable[..., Any] = AttentionDecoder, updates: int = 200, seed: int = 0) -> Any:
    """A pair with attention, trained to read dates in eleven languages, but for held-out days."""
    batches = list(batches_by_length(written_dates(np.random.default_rng(seed), 64 * updates), 64))
    order = iter(np.random.default_rng(seed).permutation(updates))
    torch.manual_seed(seed)
    model = _pair("with attention", len(date_vocabulary()), len(ISO_VOCABULARY), decoder)
    return _train(model, lambda: batches[next(order)], updates, "dates")


def dates_right(model: Any) -> tuple[float, float]:
    """The shares of 500 dates of held-out days that are read right: those of up to 20 characters, and the longer."""
    dates, shares = unseen_dates(), []
    for part in ([d for d in dates if len(d.text) <= 20], [d for d in dates if len(d.text) > 20]):
        source, lengths, targets = (torch.from_numpy(x) for x in encode_dates(part))
        right = _answers(model, source, lengths, len(targets)) == targets
        shares.append(right.all(dim=0).double().mean().item())
    return shares[0], shares[1]


def alignment(model: Any, written: WrittenDate) -> tuple[str, np.ndarray]:
    """What the model makes of one written date, and where it looks for each character: (10, S)."""
    encoded = encode_dates([written])
    ids, weights = model.answer(torch.tensor(encoded.source), torch.tensor(encoded.lengths), 11)
    return "".join(ISO_VOCABULARY[i] for i in ids[:10, 0]), weights[0, :10].numpy()


# --- one layer of self-attention


class _OneLayer(nn.Module):
    """Self-attention over 12 symbols of 10, averaged; with a vector for each place or without, causal or not."""

    def __init__(self, places: bool, causal: bool) -> None:
        super().__init__()
        self.embedding, self.causal = nn.Embedding(10, 32), causal
        self.places = nn.Parameter(torch.randn(12, 1, 32), requires_grad=places)
        self.Wq, self.Wk, self.Wv = (nn.Linear(32, 32, bias=False) for _ in range(3))
        self.output = nn.Linear(32, 2)

    def forward(self, ids: Tensor) -> Any:
        x = self.embedding(ids) + self.places * self.places.requires_grad
        q, k, v = (layer(x).transpose(0, 1) for layer in (self.Wq, self.Wk, self.Wv))
        context = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.output(context.mean(dim=1))


def _fit(model: nn.Module, draw: Callable[..., tuple[Any, Tensor]], updates: int, seed: int, label: str) -> Any:
    """Train on fresh batches of 64, and return what the model answers to 1,000 new ones, with the targets."""
    generator = torch.Generator().manual_seed(seed)

    def loss_of(_: int) -> Tensor:
        given, targets = draw(generator, 64)
        return nn.functional.cross_entropy(model(*given).flatten(0, -2), targets.flatten())

    fit(model, loss_of, range(updates), 0.01, max_norm=math.inf, label=label)
    given, targets = draw(torch.Generator().manual_seed(99), 1000)
    with torch.no_grad():
        return model(*given).argmax(dim=-1), targets


def _which_first(generator: torch.Generator, rows: int) -> tuple[Any, Tensor]:
    """Symbols from 2 to 9, and one 0 and one 1 among them: ids (12, rows), and which of the two came first."""
    ids = torch.randint(2, 10, (12, rows), generator=generator)
    two = torch.rand(12, rows, generator=generator).argsort(dim=0)[:2]
    ids.scatter_(0, two, torch.tensor([[0], [1]]).expand(2, rows))
    return (ids,), (two[0] > two[1]).long()


def order_learned(name: str, updates: int = 200, seed: int = 0) -> float:
    """The share of right answers of one layer, of `ORDERED`, on 1,000 new sequences; a guess is right in half."""
    torch.manual_seed(seed)
    said, first = _fit(_OneLayer(*ORDERED[name]), _which_first, updates, seed, name)
    return float((said == first).float().mean())


class _TwoPlaces(nn.Module):
    """Attention over ten digits with a vector for each place; one query, made of the two places that are asked for."""

    def __init__(self, heads: int, size: int = 32) -> None:
        super().__init__()
        self.heads = heads
        self.digit, self.place = nn.Embedding(10, size), nn.Embedding(10, size)
        self.Wq = nn.Linear(2 * size, size, bias=False)
        self.Wk, self.Wv = (nn.Linear(size, size, bias=False) for _ in range(2))
        self.output = nn.Linear(size, 20)

    def forward(self, ids: Tensor, asked: Tensor) -> Any:
        x = self.digit(ids) + self.place.weight
        made = self.Wq(self.place(asked).flatten(1))[:, None], self.Wk(x), self.Wv(x)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in made)  # (N, heads, steps, size)
        context = nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(1)
        return self.output(context).unflatten(-1, (2, 10))


def _two_asked(generator: torch.Generator, rows: int) -> tuple[Any, Tensor]:
    """Ten digits a row, two places, and the digits that stand there, in the order in which they were asked for."""
    ids = torch.randint(10, (rows, 10), generator=generator)
    asked = torch.rand(rows, 10, generator=generator).argsort(dim=1)[:, :2]
    return (ids, asked), ids.gather(1, asked)


def two_places(heads: int, updates: int = 250, seed: int = 0) -> float:
    """The share of 1,000 new rows of which both digits are told right, by one layer with so many heads."""
    torch.manual_seed(seed)
    said, digits = _fit(_TwoPlaces(heads), _two_asked, updates, seed, f"{heads} heads")
    return float((said == digits).all(dim=1).float().mean())
