"""What unit 12 trains and measures: a translator of dates, searches, copied digits, captions, and tunes.

Time is axis 0: sources (S, N), targets (T, N), each answer with EOS behind it, padded with 0. What is trained is small
enough to be run over many seeds: GRUs of 32 to 128 units, Adam, a rate that rises and falls (one-cycle), gradients
clipped to a norm of 1. A student's own answers come in as keyword arguments, with the textbook's as defaults.

Sources: I. Sutskever, O. Vinyals, Q. V. Le, NeurIPS 2014 (the pair); S. Bengio et al., "Scheduled Sampling", NeurIPS
2015 (training on wrong inputs); F. Stahlberg, B. Byrne, EMNLP 2019 (whose mistake it is: the search's or the model's);
O. Vinyals et al., CVPR 2015 (captions); A. Graves et al., ICML 2006 (CTC).
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from rnncourse import track
from rnncourse.data import (
    BOS,
    EOS,
    ISO_VOCABULARY,
    WrittenDate,
    date_vocabulary,
    digits,
    encode_dates,
    written_dates,
)
from rnncourse.encoder_decoder import (
    Step,
    beam_search,
    bleu,
    exact_match,
    greedy_decode,
    normalised_beam_search,
    shift_right,
)
from rnncourse.encoder_decoder_torch import Decoder, Encoder, ImageCaptioner, Seq2Seq, decoder_step
from rnncourse.experiments.training import fit, train

Pair = Any  # a Seq2Seq, the student's own or the course's: what has an `encoder` and a `decoder`
Batch = tuple[Tensor, Tensor | None, Tensor]  # source (S, N), its lengths (N,) or None, targets (T, N)
ONE_CYCLE: dict[str, Any] = {"one_cycle": True, "label": "training"}  # how `fit` trains here


def cross_entropy(logits: Float[Tensor, "T N V"], targets: Int[Tensor, "T N"]) -> Tensor:
    """The mean loss per token, padding (0) left out."""
    return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)


def write_greedily(model: Pair, source: Int[Tensor, "S N"], lengths: Tensor | None, steps: int) -> Int[Tensor, "T N"]:
    """The most probable token at each step, for all sequences of a batch at once."""
    with torch.no_grad():
        _, state = model.encoder(source, lengths)
        token, written = torch.full((1, source.shape[1]), BOS), []
        for _ in range(steps):
            logits, state = model.decoder(token, state)
            token = logits.argmax(dim=-1)
            written.append(token)
    return torch.cat(written)


# Dates


def batches_by_length(dates: Sequence[WrittenDate], size: int) -> Iterator[Batch]:
    """Batches of dates of nearly the same length: sorted, then cut. Lengths are None where nothing is padded."""
    ordered = sorted(dates, key=lambda written: len(written.text))
    for k in range(0, len(ordered), size):
        source, lengths, targets = (torch.from_numpy(a) for a in encode_dates(ordered[k : k + size]))
        yield source, lengths if lengths.min() < len(source) else None, targets


def unseen_dates(count: int = 500) -> list[WrittenDate]:
    """Dates of held-out days, always the same."""
    return written_dates(np.random.default_rng(1), count, held_out=True)


def parts_right(model: Pair, dates: Sequence[WrittenDate]) -> dict[str, float]:
    """The share of dates of which the whole answer, the year, the month and the day are right, written greedily."""
    places = {"date": slice(None), "year": slice(0, 4), "month": slice(5, 7), "day": slice(8, 10)}
    right = [
        write_greedily(model, source, lengths, len(targets)) == targets
        for source, lengths, targets in batches_by_length(dates, 250)
    ]
    matches = torch.cat(right, dim=1)
    return {name: matches[part].all(dim=0).double().mean().item() for name, part in places.items()}


class Translated(NamedTuple):
    """A trained translator, a copy of it when it was still poor, and the share of unseen dates right, by update."""

    model: Pair
    poor: Pair
    losses: list[float]
    curve: dict[int, float]


def learn_to_translate(
    seed: int = 0,
    keep: float | tuple[float, float] = 2.0,
    updates: int = 500,
    *,
    size: int = 24,
    hidden: int = 128,
    rate: float = 0.014,
    points: int = 5,
    encoder: Callable[..., nn.Module] = Encoder,
    decoder: Callable[..., nn.Module] = Decoder,
    seq2seq: Callable[..., nn.Module] = Seq2Seq,
) -> Translated:
    """Train on `updates * size` written dates, each shown once; the poor copy is put aside after 0.6 of the updates.

    keep: what is added at the start to the bias of the update gate z, in both networks, or in encoder and decoder.
    """
    batches = list(batches_by_length(written_dates(np.random.default_rng(seed), size * updates), size))
    order = np.random.default_rng(seed + 2).permutation(updates)
    torch.manual_seed(seed)
    model: Pair = seq2seq(encoder(len(date_vocabulary()), 32, hidden), decoder(len(ISO_VOCABULARY), 16, hidden), BOS)
    with torch.no_grad():
        for rnn, added in zip((model.encoder.rnn, model.decoder.rnn), np.broadcast_to(keep, 2), strict=True):
            rnn.bias_hh_l0[hidden : 2 * hidden] += added  # PyTorch has the gates in the order r, z, n
    unseen, curve, poor, losses = unseen_dates(), {}, model, []

    def loss_of(k: int) -> Tensor:
        source, lengths, targets = batches[k]
        return cross_entropy(model(source, lengths, targets), targets)

    for loss in train(model, loss_of, order, rate, **ONE_CYCLE):
        losses.append(loss)
        if len(losses) % (updates // points) == 0:
            curve[len(losses)] = parts_right(model, unseen)["date"]
        if len(losses) == 3 * updates // 5:
            poor = copy.deepcopy(model)
    return Translated(model, poor, losses, curve)


# Searches

VOCABULARY, STEPS, WIDTHS = 5, 5, (1, 2, 3, 4, 6, 8)  # of the random models; token 0 is bos and eos


def random_model(rng: np.random.Generator, spread: float = 1.5) -> Step:
    """A model as a `step`: a table of three states. The greater the spread, the surer it is of each token."""
    scores = spread * rng.normal(size=(3, VOCABULARY, VOCABULARY))
    following = rng.integers(0, 3, size=(3, VOCABULARY))
    scores[..., 0] -= 2.0  # so that few answers are short
    table = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
    return lambda token, state: (table[state, token], following[state, token])


class Searched(NamedTuple):
    """Of random models: the share in which each width found the best answer, and that in which the best is empty."""

    found: dict[int, float]
    best_is_empty: float


def search_random_models(
    seed: int = 0, models: int = 150, spread: float = 1.5, search: Callable[..., Any] = beam_search
) -> Searched:
    """Search small models with beams of several widths, and with one so wide that nothing is ever cut off."""
    rng = np.random.default_rng(seed)
    found, empty = [], []
    for _ in track(range(models), "searching"):
        step = random_model(rng, spread)
        best, score = search(step, 0, 0, 0, STEPS, VOCABULARY**STEPS)[0]
        found.append([score - search(step, 0, 0, 0, STEPS, width)[0][1] < 1e-9 for width in WIDTHS])
        empty.append(len(best) == 0)
    return Searched(dict(zip(WIDTHS, np.mean(found, axis=0).tolist(), strict=True)), float(np.mean(empty)))


def summary_of(model: Pair, written: WrittenDate) -> Float[Tensor, "1 1 H"]:
    """The state in which the encoder leaves one date."""
    with torch.no_grad():
        state: Tensor = model.encoder(torch.from_numpy(encode_dates([written]).source))[1]
    return state


def as_text(ids: Sequence[int]) -> str:
    """An answer's characters."""
    return "".join(ISO_VOCABULARY[i] for i in ids)


def score_of(step: Step, state: Any, tokens: Sequence[int]) -> float:
    """The log-probability of an answer, its eos included."""
    total, last = 0.0, BOS
    for token in [*tokens, EOS]:
        log_probabilities, state = step(last, state)
        total, last = total + float(log_probabilities[token]), token
    return total


def whose_mistakes(
    model: Pair,
    dates: Sequence[WrittenDate],
    *,
    width: int = 5,
    greedy: Callable[..., list[int]] = greedy_decode,
    search: Callable[..., Any] = beam_search,
) -> dict[str, dict[str, int]]:
    """For greedy search and a beam: how many dates are wrong, and in how many of these the model knew better.

    It knew better where it gives the true answer more than the answer found: the search missed it. Where not, the model
    believes in its mistake. `better` counts dates for which the beam's answer is more probable than greedy's.
    """
    step, found = decoder_step(model.decoder), {"greedy": [], "beam": []}  # type: ignore[var-annotated]
    better = 0
    for written in track(dates, "searching"):
        state, truth = summary_of(model, written), [ISO_VOCABULARY.index(c) for c in written.iso]
        answers = {"greedy": greedy(step, state, BOS, EOS, 20), "beam": search(step, state, BOS, EOS, 20, width)[0][0]}
        scores = {name: score_of(step, state, tokens) for name, tokens in answers.items()}
        better += scores["beam"] > scores["greedy"] + 1e-4
        for name, tokens in answers.items():
            if list(tokens) != truth:
                found[name].append(score_of(step, state, truth) > scores[name] + 1e-4)
    wrong = {name: {"wrong": len(missed), "missed by the search": sum(missed)} for name, missed in found.items()}
    return wrong | {"beam against greedy": {"more probable": better}}


# Copying digits

DIGITS = 10  # ids 3 to 12, behind padding, bos and eos
READS = ("the true tokens", "its own guesses", "not shifted", "a fifth wrong")


def strings(length: int, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Random digits (length, count), and the same with eos behind them."""
    drawn = torch.randint(3, 3 + DIGITS, (length, count), generator=generator)
    return drawn, torch.cat([drawn, torch.full((1, count), EOS)])


def cut_short(targets: Int[Tensor, "T N"], share: float, generator: torch.Generator) -> Int[Tensor, "T N"]:
    """Targets of which this share ends too early: eos at a random place, and padding behind it."""
    steps, count = targets.shape
    is_cut = torch.rand(count, generator=generator) < share
    ends = torch.where(is_cut, torch.randint(0, steps - 1, (count,), generator=generator), steps)
    place = torch.arange(steps)[:, None]
    return torch.where(place < ends, targets, torch.where(place == ends, EOS, 0))


def some_wrong(tokens: Int[Tensor, "T N"], share: float, generator: torch.Generator) -> Int[Tensor, "T N"]:
    """The decoder's inputs, of which this share is replaced by a random digit; bos stays."""
    wrong = torch.rand(tokens.shape, generator=generator) < share
    wrong[0] = False
    return torch.where(wrong, torch.randint(3, 3 + DIGITS, tokens.shape, generator=generator), tokens)


class Copied(NamedTuple):
    """A trained copier, the loss of each update, and the share of its longest strings copied, by update."""

    model: Pair
    losses: list[float]
    curve: dict[int, float]


def learn_to_copy(
    reads: str = "the true tokens",
    seed: int = 0,
    *,
    hidden: int = 64,
    longest: int = 5,
    updates: int = 250,
    cut: float = 0.0,
    rate: float = 0.01,
    points: int = 5,
    encoder: Callable[..., nn.Module] = Encoder,
    decoder: Callable[..., nn.Module] = Decoder,
    seq2seq: Callable[..., nn.Module] = Seq2Seq,
) -> Copied:
    """Train on copying strings of 1 to `longest` digits, 64 of one length at each update.

    reads: what the decoder reads in training, one of READS. cut: the share of answers that break off too early.
    """
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    lengths = np.random.default_rng(seed).integers(1, longest + 1, updates).tolist()
    model: Pair = seq2seq(encoder(3 + DIGITS, 16, hidden), decoder(3 + DIGITS, 16, hidden), BOS)
    curve, losses = {}, []

    def loss_of(k: int) -> Tensor:
        source, targets = strings(lengths[k], 64, generator)
        if cut:
            targets = cut_short(targets, cut, generator)
        return cross_entropy(_logits(model, source, targets, reads, generator), targets)

    for loss in train(model, loss_of, range(updates), rate, **ONE_CYCLE):
        losses.append(loss)
        if len(losses) % (updates // points) == 0:
            curve[len(losses)] = copies(model, longest)
    return Copied(model, losses, curve)


def _logits(model: Pair, source: Tensor, targets: Tensor, reads: str, generator: torch.Generator) -> Tensor:
    """The logits of all targets, after what the decoder is given to read."""
    if reads not in READS:
        raise ValueError(f"A decoder may read one of {', '.join(READS)}; {reads!r} is none of them.")
    logits: Tensor
    if reads == "the true tokens":
        logits = model(source, None, targets)
        return logits
    _, state = model.encoder(source)
    if reads == "its own guesses":
        token, found = torch.full_like(targets[:1], BOS), []
        for _ in targets:
            scores, state = model.decoder(token, state)
            token = scores.argmax(dim=-1)
            found.append(scores)
        return torch.cat(found)
    read = targets if reads == "not shifted" else some_wrong(shift_right(targets, BOS), 0.2, generator)
    logits, _ = model.decoder(read, state)
    return logits


def copies(model: Pair, length: int) -> float:
    """The share of 400 unseen strings of this length that are copied without a mistake."""
    source, targets = strings(length, 400, torch.Generator().manual_seed(1))
    return (write_greedily(model, source, None, length + 1) == targets).all(dim=0).double().mean().item()


def after_one_wrong(model: Pair, wrong: int = 1, length: int = 5) -> dict[str, list[float]]:
    """The share of right digits at each position, where the decoder reads the truth, and the truth with one mistake.

    wrong: which digit is replaced by the next greater one when it is read back, counted from 0.
    """
    source, targets = strings(length, 1000, torch.Generator().manual_seed(2))
    read = torch.from_numpy(shift_right(targets.numpy(), BOS))
    one_wrong = read.clone()
    one_wrong[wrong + 1] = 3 + (read[wrong + 1] - 3 + 1) % DIGITS
    found = {}
    with torch.no_grad():
        _, state = model.encoder(source)
        for name, tokens in (("after the truth", read), ("after one wrong digit", one_wrong)):
            right = model.decoder(tokens, state)[0].argmax(dim=-1) == targets
            found[name] = right[:-1].double().mean(dim=1).tolist()
    return found


class Beams(NamedTuple):
    """What beams write: by width, the mean number of tokens of an answer, and the mean BLEU of the orders 1 and 2."""

    lengths: dict[int, float]
    bleu: dict[int, float]


def beams_on_strings(
    model: Pair,
    widths: Sequence[int] = (1, 4, 16),
    alpha: float = 0.0,
    *,
    count: int = 20,
    length: int = 8,
    search: Callable[..., Any] = normalised_beam_search,
    score: Callable[..., float] = bleu,
) -> Beams:
    """Let beams of these widths copy strings of digits; alpha is the power of the length that scores are divided by."""
    source, _ = strings(length, count, torch.Generator().manual_seed(5))
    with torch.no_grad():
        _, states = model.encoder(source)
    step, truths = decoder_step(model.decoder), source.T.tolist()
    lengths, scores = {}, {}
    for width in track(widths, "searching"):
        starts = [state.contiguous() for state in states.split(1, dim=1)]
        answers = [search(step, state, BOS, EOS, 20, width, alpha)[0][0] for state in starts]
        lengths[width] = float(np.mean([len(tokens) for tokens in answers]))
        scores[width] = float(np.mean([score(a, truth, 2) for a, truth in zip(answers, truths, strict=True)]))
    return Beams(lengths, scores)


# Captions

NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
WORDS = ("<pad>", "<bos>", "<eos>", "a", "an", "upright", "leaning", "to", "the", "left", "right", *NAMES)


def lean(images: Float[np.ndarray, "N 8 8"]) -> Float[np.ndarray, "N"]:
    """How many columns the ink moves to the right for each row upwards: the slope of a regression, weighted by ink."""
    rows, columns = np.mgrid[:8, :8]
    ink = images.sum(axis=(1, 2))
    down = rows - ((images * rows).sum(axis=(1, 2)) / ink)[:, None, None]
    right = columns - ((images * columns).sum(axis=(1, 2)) / ink)[:, None, None]
    return -(images * down * right).sum(axis=(1, 2)) / (images * down**2).sum(axis=(1, 2))


def caption(label: int, slope: float) -> str:
    """What is true of a digit: beyond a slope of 0.1 either way it leans."""
    if abs(slope) <= 0.1:
        return f"an upright {NAMES[label]}"
    return f"{'an' if label == 8 else 'a'} {NAMES[label]} leaning to the {'right' if slope > 0 else 'left'}"


GRAMMAR = {caption(label, slope) for label in range(10) for slope in (-1, 0, 1)}


class Pictures(NamedTuple):
    """Images (N, 8, 8) and their true captions."""

    images: Float[np.ndarray, "N 8 8"]
    captions: list[str]


def captioned_digits() -> tuple[Pictures, Pictures]:
    """Handwritten digits with their captions: those to learn from, and those of other writers."""
    return tuple(  # type: ignore[return-value]
        Pictures(d.images, [caption(int(label), slope) for label, slope in zip(d.labels, lean(d.images), strict=True)])
        for d in digits()
    )


def learn_to_caption(
    pictures: Pictures,
    seed: int = 0,
    epochs: int = 15,
    *,
    captioner: Callable[..., nn.Module] = ImageCaptioner,
    shift: Callable[..., Tensor] = shift_right,
) -> nn.Module:
    """Train a captioner on pictures, 64 at each update."""
    torch.manual_seed(seed)
    features = torch.from_numpy(pictures.images).flatten(1)
    spelled = [torch.tensor([WORDS.index(word) for word in c.split()] + [EOS]) for c in pictures.captions]
    targets = nn.utils.rnn.pad_sequence(spelled)
    model = captioner(64, len(WORDS), 16, 96)
    batches = [rows for _ in range(epochs) for rows in torch.randperm(len(features)).split(64)]

    def loss_of(rows: Tensor) -> Tensor:
        answers = targets[:, rows]
        return cross_entropy(model(features[rows], shift(answers, BOS)), answers)

    fit(model, loss_of, batches, 0.005, **ONE_CYCLE)
    return model


def describe(
    model: Any, images: Float[np.ndarray, "N 8 8"], greedy: Callable[..., list[int]] = greedy_decode
) -> list[str]:
    """What a captioner says of images."""
    with torch.no_grad():
        states = torch.tanh(model.prime(torch.as_tensor(images, dtype=torch.float32).flatten(1)))
    step = decoder_step(model.decoder)
    return [" ".join(WORDS[i] for i in greedy(step, state[None, None], BOS, EOS, 8)) for state in states]


def shares_true(said: Sequence[str], truths: Sequence[str]) -> dict[str, float]:
    """The share of captions that are true in every word, and of those that are sentences of the grammar."""
    true = exact_match(said, truths)
    return {"true": true, "sentences": float(np.mean([words in GRAMMAR for words in said]))}


def dealt_anew(pictures: Pictures, seed: int = 0) -> Pictures:
    """The same captions, each with another's picture."""
    order = np.random.default_rng(seed).permutation(len(pictures.images))
    return Pictures(pictures.images[order], pictures.captions)


# Tunes of which nobody says when a note begins

NOTES = ("–", "do", "re", "mi", "fa", "so")  # 0 is the blank


class Tune(NamedTuple):
    """What somebody whistles: sound (T, 12), notes (L,), and for each step the note that sounds, 0 for none."""

    sound: Float[np.ndarray, "T 12"]
    notes: Int[np.ndarray, "L"]
    sounding: Int[np.ndarray, "T"]


def whistle(rng: np.random.Generator) -> Tune:
    """Three to five of five notes, two to five steps each, with noise; between two equal notes there is a breath."""
    notes = rng.integers(1, 6, size=rng.integers(3, 6))
    steps = [0] * int(rng.integers(0, 3))
    for k, note in enumerate(notes):
        must_breathe = k > 0 and notes[k - 1] == note
        steps += [0] * int(rng.integers(1 if must_breathe else 0, 3)) + [int(note)] * int(rng.integers(2, 6))
    sounding = np.array(steps + [0] * int(rng.integers(0, 3)))
    pitch = 2.0 * sounding + 0.3 * rng.normal(size=len(sounding))
    peak = np.exp(-((np.arange(12) - pitch[:, None]) ** 2) / 2) * (sounding > 0)[:, None]
    return Tune(peak + 0.25 * rng.normal(size=peak.shape), notes, sounding)


def unseen_tunes(count: int = 200) -> list[Tune]:
    """Tunes to judge by, always the same."""
    return [whistle(np.random.default_rng([7, n])) for n in range(count)]


class Listener(nn.Module):
    """One GRU over the sound (T, N, 12), and log-probabilities of the notes (T, N, 6)."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(12, 48)
        self.output = nn.Linear(48, len(NOTES))

    def forward(self, sounds: Float[Tensor, "T N 12"]) -> Float[Tensor, "T N 6"]:
        """Return the log-probabilities of each step."""
        return torch.log_softmax(self.output(self.rnn(sounds)[0]), dim=-1)


def learn_to_listen(labels: str = "ctc", seed: int = 0, updates: int = 130, size: int = 16) -> Listener:
    """Train a listener on fresh tunes: with "ctc", or on a label for each step, "equal parts" of the recording."""
    torch.manual_seed(seed)
    rng, model = np.random.default_rng(seed), Listener()

    def loss_of(_: int) -> Tensor:
        tunes = [whistle(rng) for _ in range(size)]
        log_p = model(nn.utils.rnn.pad_sequence([torch.tensor(t.sound, dtype=torch.float32) for t in tunes]))
        if labels == "ctc":
            steps = torch.tensor([len(tune.sound) for tune in tunes])
            written = torch.cat([torch.from_numpy(tune.notes) for tune in tunes])
            loss: Tensor = nn.functional.ctc_loss(
                log_p, written, steps, torch.tensor([len(tune.notes) for tune in tunes]), zero_infinity=True
            )
            return loss
        parts = [torch.from_numpy(_equal_parts(len(tune.sound), tune.notes)) for tune in tunes]
        padded = nn.utils.rnn.pad_sequence(parts, padding_value=-1)
        return nn.functional.cross_entropy(log_p.flatten(0, 1), padded.flatten(), ignore_index=-1)

    fit(model, loss_of, range(updates), 0.02, **ONE_CYCLE)
    return model


def _equal_parts(steps: int, notes: Int[np.ndarray, "L"]) -> Int[np.ndarray, "T"]:
    """The notes, each for an equal part of the steps, the last step of which is the blank that ends it."""
    ends = np.linspace(0, steps, len(notes) + 1).astype(int)
    labels = np.zeros(steps, dtype=int)
    for note, start, end in zip(notes, ends, ends[1:], strict=False):
        labels[start : max(start + 1, end - 1)] = note
    return labels


def heard(model: nn.Module, tune: Tune) -> Float[np.ndarray, "T 6"]:
    """The log-probabilities of the notes at each step of one tune."""
    with torch.no_grad():
        found: np.ndarray = model(torch.tensor(tune.sound, dtype=torch.float32)[:, None])[:, 0].numpy()
    return found


def collapse(path: Sequence[int]) -> list[int]:
    """Merge equal neighbours, then drop the blanks.

    >>> collapse([0, 1, 1, 0, 1, 2, 2, 0])
    [1, 1, 2]
    """
    return [int(now) for before, now in zip([0, *path], path, strict=False) if now != before and now != 0]


def is_read(model: nn.Module, tune: Tune) -> bool:
    """Whether a model reads this tune without a mistake: the best symbol of each step, collapsed."""
    return collapse(heard(model, tune).argmax(axis=-1).tolist()) == tune.notes.tolist()


def share_read(model: nn.Module, count: int = 200) -> float:
    """The share of unseen tunes that are read without a mistake."""
    return float(np.mean([is_read(model, tune) for tune in unseen_tunes(count)]))
