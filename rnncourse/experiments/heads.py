"""Unit 11: what it trains and measures: digits, names, reviews, mails and tunes, by one core asked in five ways.

Every function that trains takes the student's classes and a seed. A `view` says how a model reads pictures or notes:

    view(model, pictures (N, 8, 8)) -> logits (N, 10)        at_a_glance, row_by_row
    view(model, notes (T, N, D))    -> outputs (…, N, D)     corrected, alone, after_two

The data are the course's own (`rnncourse.data`); the update is Adam (D. P. Kingma, J. Ba, ICLR 2015) with clipped
gradients, at a rate that falls to nearly nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from rnncourse import exercises
from rnncourse.data import (
    Tune,
    decode_melody,
    digits,
    draw_mails,
    encode_melody,
    encode_reviews,
    encode_tagged,
    melodies,
    pitches,
    sentiment_sentences,
    tagging_ceiling,
    teddy_sentences,
)
from rnncourse.data.claims import claimed
from rnncourse.experiments.training import build, fit
from rnncourse.heads import (
    BidirectionalClassifier,
    OneToOne,
    SequenceClassifier,
    SequenceGenerator,
    SequenceTagger,
    gradient_support,
)

Numbers = dict[str, float]
View = Callable[[Any, Tensor], Tensor]
FALLING: dict[str, Any] = {
    "end": 0.02,
    "label": "training",
}  # how `fit` trains here


# --- digits: at a glance, row by row, asked at the end or at every row


@cache
def pictures() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Digits to train on and their labels, held-out digits and theirs."""
    train, held_out = digits()
    return tuple(torch.tensor(array) for part in (train, held_out) for array in part)  # type: ignore[return-value]


def at_a_glance(model: Any, shown: Tensor) -> Tensor:
    """All 64 pixels at once."""
    return model(shown.flatten(1))


def row_by_row(model: Any, shown: Tensor) -> Tensor:
    """A row of 8 pixels at each of 8 steps, from the top."""
    return model(shown.transpose(0, 1))


def fit_digits(
    model: nn.Module,
    view: View,
    seed: int = 0,
    updates: int = 500,
    rows: int = 32,
    rate: float = 0.012,
    kept_back: int = 0,
) -> list[float]:
    """Train on random batches of digits and return the losses; the last `kept_back` digits are left out.

    A view that gives logits for each row, (8, N, 10), is asked for the digit at each row.
    """
    images, labels = pictures()[:2]
    generator = torch.Generator().manual_seed(seed)

    def loss_of(_: int) -> Tensor:
        i = torch.randint(0, len(labels) - kept_back, (rows,), generator=generator)
        logits = view(model, images[i])
        return nn.functional.cross_entropy(logits.flatten(0, -2), labels[i].repeat(logits[..., 0].numel() // rows))

    return fit(model, loss_of, range(updates), rate, **FALLING)


def share_of_digits(model: Any, view: View, kept_back: int = 0) -> float:
    """The share of held-out digits that is read right; or of the last `kept_back` of the others."""
    images, labels, unseen, truth = pictures()
    if kept_back:
        unseen, truth = images[-kept_back:], labels[-kept_back:]
    with torch.no_grad():
        return float((view(model, unseen).argmax(dim=-1) == truth).float().mean())


def feed_forward_head(units: int, width: int, outputs: int) -> nn.Module:
    """A head of one hidden layer, where a classifier's is linear."""
    return nn.Sequential(nn.Linear(units, width), nn.Tanh(), nn.Linear(width, outputs))


# By name: which summary is read, the units of the core, those of the head's hidden layer, the learning rate. All have
# about 5,000 parameters. The rate is the best of 0.006, 0.012 and 0.024 on 300 digits that were kept back from training
# (`right_on_kept_back`, the mean of three development seeds).
LAST, MEAN, LAST_DEEP, MEAN_DEEP = "last, linear", "mean, linear", "last, hidden layer", "mean, hidden layer"
READERS: dict[str, tuple[str, int, int, float]] = {
    LAST: ("last", 64, 0, 0.012),
    LAST_DEEP: ("last", 44, 48, 0.024),
    MEAN: ("mean", 64, 0, 0.024),
    MEAN_DEEP: ("mean", 44, 48, 0.024),
}


def digit_reader(
    name: str = LAST,
    kind: Any = SequenceClassifier,
    seed: int = 0,
    updates: int = 500,
    rate: float | None = None,
    kept_back: int = 0,
) -> Any:
    """Your classifier as one of `READERS`, trained on digits row by row."""
    pool, units, width, best = READERS[name]
    model = build(kind, 8, units, 10, pool, seed=seed)
    if width:
        model.head = feed_forward_head(units, width, 10)
    fit_digits(model, row_by_row, seed, updates, rate=rate or best, kept_back=kept_back)
    return model


def right_on_kept_back(name: str, rate: float, seed: int, kept_back: int = 300) -> float:
    """The share of digits that are right of those that were kept back from training: by this the rates were chosen."""
    return share_of_digits(digit_reader(name, seed=seed, rate=rate, kept_back=kept_back), row_by_row, kept_back)


def asked_at_every_row(
    tagger: Any = SequenceTagger, kind: Any = SequenceClassifier, seed: int = 0, updates: int = 500
) -> Any:
    """A classifier whose core and head were trained as a tagger, with the digit as the label of every row."""
    often = build(tagger, 8, 64, 10, seed=seed)
    fit_digits(often, row_by_row, seed, updates, rate=0.024)
    return loaded(kind, often, 8, 64, 10)


def loaded(kind: Any, model: nn.Module, *sizes: int) -> Any:
    """A module of this kind and these sizes with the weights of another, whose layers have the same names."""
    other = kind(*sizes)
    other.load_state_dict(model.state_dict())
    return other


def right_after(model: Any, rows: int) -> float:
    """The share of held-out digits that a classifier has right after so many of the eight rows."""
    return share_of_digits(
        model, lambda m, shown: m(shown.transpose(0, 1), torch.full((len(shown),), rows, dtype=torch.int64))
    )


def spread_of_votes(model: Any) -> Float[np.ndarray, "8"]:
    """How far the logits that a linear head gives each state differ from one held-out digit to the next, row by row.

    A state that abstains says the same of every digit: its spread is 0. Logits are taken less their mean over classes.
    """
    with torch.no_grad():
        logits = model.head(model.rnn(pictures()[2].transpose(0, 1))[0])
    logits = logits - logits.mean(dim=-1, keepdim=True)
    return np.asarray((logits - logits.mean(dim=1, keepdim=True)).square().mean(dim=(1, 2)).sqrt())


def misread(model: Any, count: int = 7) -> tuple[np.ndarray, list[str]]:
    """Some of the held-out digits that are misread, and what each is and was taken for."""
    _, _, unseen, truth = pictures()
    with torch.no_grad():
        said = row_by_row(model, unseen).argmax(dim=-1)
    missed = torch.nonzero(said != truth)[:count, 0]
    return unseen[missed].numpy(), [f"{truth[i]}, read\nas {said[i]}" for i in missed]


def one_of_each() -> list[int]:
    """The place of the first held-out digit of each kind."""
    return [int(np.argmax(pictures()[3].numpy() == digit)) for digit in range(10)]


def loss_with_wrong_axis(kind: Any = SequenceClassifier, seed: int = 0) -> float:
    """The mean loss of the last 50 of 200 updates on batches of 8 digits: 8 rows of the batch, and 8 steps."""
    losses = fit_digits(build(kind, 8, 64, 10, seed=seed), row_by_row, seed, 200, rows=8, rate=0.006)
    return float(np.mean(losses[-50:]))


def last_sequence_for_last_step() -> Any:
    """The classifier that takes `states[:, -1]` for the last state, as the catalogue has it."""
    return next(
        one.answer
        for one in exercises.find("SequenceClassifier").misconceptions
        if one.name == "last_sequence_for_last_step"
    )


# --- names, marked from left to right


@cache
def names_task() -> tuple[Tensor, Tensor, Tensor]:
    """Unit 09's sentences: words as one-hot vectors (T, N, V), their labels (T, N), and how likely each word is."""
    sentences = teddy_sentences()
    ids, tags, lengths, vocabulary = encode_tagged(sentences)
    is_real = np.arange(len(ids))[:, None] < lengths
    chance = is_real * np.array([s.probability for s in sentences])
    words = nn.functional.one_hot(torch.tensor(ids), len(vocabulary)).float() * torch.tensor(is_real)[..., None]
    return words, torch.tensor(tags), torch.tensor(chance / chance.sum())


def names_ceiling() -> float:
    """The share of words that a tagger can have right at most if it reads from left to right and is asked at once."""
    return float(tagging_ceiling(teddy_sentences()))


def fit_tagger(
    delay: int, kind: Any = SequenceTagger, seed: int = 0, hidden: int = 24, updates: int = 100
) -> list[float]:
    """Ask for the label of word t at step t + delay; return the share of words that is right before each update."""
    words, tags, chance = names_task()
    model = build(kind, words.shape[-1], hidden, 2, seed=seed)
    longer = torch.cat([words, words.new_zeros(delay, *words.shape[1:])])
    right: list[float] = []

    def loss_of(_: int) -> Tensor:
        logits = model(longer)[delay:]  # what is said before the first word has come does not count
        right.append(float((chance * (logits.argmax(dim=-1) == tags)).sum()))
        return (nn.functional.cross_entropy(logits.movedim(-1, 1), tags, reduction="none") * chance).sum()

    fit(model, loss_of, range(updates), 0.02, **FALLING)
    return right


# --- what the mean is good for


def gradient_at_inputs(
    pool: str, kind: Any = SequenceClassifier, seed: int = 0, orthogonal: bool = False, steps: int = 40
) -> Float[np.ndarray, "T"]:
    """The norm of the gradient at each input of an untrained classifier, from PyTorch's start or an orthogonal W."""
    model = build(kind, 8, 64, 2, pool, seed=seed).double()
    if orthogonal:
        nn.init.orthogonal_(model.rnn.weight_hh_l0)
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(steps, 32, 8, dtype=torch.float64, generator=generator).requires_grad_()
    (gradient,) = torch.autograd.grad(nn.functional.cross_entropy(model(inputs), torch.arange(32) % 2), inputs)
    return np.asarray(gradient.flatten(1).norm(dim=1))


def right_on_first(
    pool: str,
    first_only: bool,
    kind: Any = SequenceClassifier,
    seed: int = 0,
    steps: int = 40,
    updates: int = 200,
) -> float:
    """Train on noise in which one step matters, and ask where it is the first: the share of right answers.

    Of two channels that are 0 elsewhere, one is 1 at that step; which one is the answer. In training the step is always
    the first one, or any.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(rows: int, latest: int) -> tuple[Tensor, Tensor]:
        x = 0.3 * torch.randn(steps, rows, 8, generator=generator)
        answer = torch.randint(0, 2, (rows,), generator=generator)
        at = torch.randint(0, latest, (rows,), generator=generator)
        x[:, :, :2] = 0
        x[at, torch.arange(rows), answer] = 1
        return x, answer

    model = build(kind, 8, 32, 2, pool, seed=seed)

    def loss_of(_: int) -> Tensor:
        x, answer = draw(32, 1 if first_only else steps)
        return nn.functional.cross_entropy(model(x), answer)

    fit(model, loss_of, range(updates), 0.006, **FALLING)
    x, answer = draw(400, 1)
    with torch.no_grad():
        return float((model(x).argmax(dim=-1) == answer).float().mean())


# --- reviews


@cache
def reviews() -> tuple[list[str], Tensor, Tensor, Tensor, Tensor]:
    """All sentences: their texts, words (T, N, V), labels, lengths, and how likely each is."""
    sentences = sentiment_sentences()
    words, labels, lengths, _ = encode_reviews(sentences)
    texts = [" ".join(r.tokens) for r in sentences]
    chance = torch.tensor([r.probability for r in sentences])
    return texts, torch.tensor(words), torch.tensor(labels), torch.tensor(lengths), chance


def fit_on_bags(model: Any, updates: int = 500) -> Bool[Tensor, "N"]:
    """Train on how often each word occurs, on all sentences at once; return which of them are right."""
    _, words, labels, _, chance = reviews()
    bags = words.sum(dim=0)  # the padding is zero

    def loss_of(_: int) -> Tensor:
        return (nn.functional.cross_entropy(model(bags), labels, reduction="none") * chance).sum()

    fit(model, loss_of, range(updates), 0.02, **FALLING)
    return model(bags).argmax(dim=-1) == labels


def fit_in_order(model: Any, seed: int = 0, updates: int = 400, left_out: Tensor | None = None) -> Bool[Tensor, "N"]:
    """Train on sentences that are drawn, word by word, without those `left_out`; return which of all are right."""
    _, words, labels, lengths, chance = reviews()
    weight = chance if left_out is None else chance * ~left_out
    generator = torch.Generator().manual_seed(seed)

    def loss_of(_: int) -> Tensor:
        i = torch.multinomial(weight, 64, replacement=True, generator=generator)
        return nn.functional.cross_entropy(model(words[:, i], lengths[i]), labels[i])

    fit(model, loss_of, range(updates), 0.012, **FALLING)
    with torch.no_grad():
        return model(words, lengths).argmax(dim=-1) == labels


def share_of_reviews(right: Bool[Tensor, "N"], kind: str = "all") -> float:
    """The share of sentences that are right, each as likely as it is: of "all", of "one part", or of "contrasts"."""
    texts, _, _, _, chance = reviews()
    has_but = torch.tensor([" but " in text for text in texts])
    among = {"all": torch.ones_like(has_but), "one part": ~has_but, "contrasts": has_but}[kind]
    return float((chance * right)[among].sum() / chance[among].sum())


def right_on_unread(kind: Any = SequenceClassifier, seed: int = 0, updates: int = 400) -> float:
    """Train without a fifth of the sentences: the share of these that is right."""
    texts, words = reviews()[:2]
    left_out = torch.rand(len(texts), generator=torch.Generator().manual_seed(seed)) < 0.2
    right = fit_in_order(build(kind, words.shape[-1], 32, 2, seed=seed), seed, updates, left_out)
    return float(right[left_out].float().mean())


def beliefs_on_the_way(model: Any, text: str) -> Float[np.ndarray, "T"]:
    """The probability of "positive" that a classifier gives after each word of a sentence of `reviews`."""
    texts, words, _, lengths, _ = reviews()
    if text not in texts:
        raise ValueError(f"The world of these reviews has no sentence {text!r}.")
    i = texts.index(text)
    steps = int(lengths[i])
    with torch.no_grad():
        return np.asarray(torch.softmax(model(words[:, [i] * steps], torch.arange(1, steps + 1)), dim=-1)[:, 1])


def beliefs_of_bags(model: Any, sentences: Sequence[str]) -> list[float]:
    """The probability of "positive" that a model of bags gives to each of these sentences."""
    texts, words = reviews()[:2]
    with torch.no_grad():
        logits = model(words.sum(dim=0)[[texts.index(text) for text in sentences]])
    return torch.softmax(logits, dim=-1)[:, 1].tolist()


# --- mails, read from both ends


class OneWay(nn.Module):
    """An embedding below a classifier: ids (T, N), lengths (N,) -> logits (N, Q)."""

    def __init__(self, kind: Any, vocabulary_size: int, embedding_size: int, hidden_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.classifier = kind(embedding_size, hidden_size, 2)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """The logits of each sequence."""
        logits: Tensor = self.classifier(self.embedding(ids), lengths)
        return logits


@cache
def mails(seed: int, count: int) -> Any:
    """So many mails of 20 to 28 words."""
    return draw_mails(np.random.default_rng(seed), count, 20, 28)


HOW = {"one way": 48, "concat": 24, "sum": 32, "product": 32}  # units, so that all are about equally large


def fit_mails(
    question: str,
    how: str,
    one_way: Any = SequenceClassifier,
    both_ways: Any = BidirectionalClassifier,
    seed: int = 0,
    updates: int = 150,
) -> float:
    """Train on mails for "is_advert" or "is_forged", with a summary as `HOW` has it: the share right of new ones."""
    seen, unseen = mails(0, 2000), mails(1, 500)
    size = len(seen.vocabulary)
    if how == "one way":
        model = build(OneWay, one_way, size, 16, HOW[how], seed=seed)
    else:
        model = build(both_ways, size, 16, HOW[how], 2, how, seed=seed)
    ids, lengths, answers = (torch.tensor(a) for a in (seen.ids, seen.lengths, getattr(seen, question)))
    generator = torch.Generator().manual_seed(seed)

    def loss_of(_: int) -> Tensor:
        i = torch.randint(0, len(answers), (64,), generator=generator)
        return nn.functional.cross_entropy(model(ids[:, i], lengths[i]), answers[i])

    fit(model, loss_of, range(updates), 0.015, **FALLING)
    with torch.no_grad():
        said = model(torch.tensor(unseen.ids), torch.tensor(unseen.lengths)).argmax(dim=-1)
    return float((said == torch.tensor(getattr(unseen, question))).float().mean())


# --- films of digits

WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def films(shown: Tensor, ways: Tensor) -> Tensor:
    """Five frames of each picture, a pixel further in each, (5, N, 64); what leaves at one side enters at the other."""
    moves = [list(WAYS.values())[way] for way in ways.tolist()]
    frames = [
        torch.stack([p.roll((t * dy, t * dx), dims=(0, 1)) for p, (dy, dx) in zip(shown, moves, strict=True)])
        for t in (-2, -1, 0, 1, 2)
    ]
    return torch.stack(frames).flatten(2)


def fit_films(in_order: bool, kind: Any, seed: int = 0, updates: int = 200) -> float:
    """Train to say which way a digit moves, in order or from the mean of the frames: the share right, unseen."""
    images, _, unseen, _ = pictures()
    model = build(kind, 64, 32, 4, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    ways = torch.randint(0, 4, (len(images),), generator=generator)
    seen, asked = films(images, ways), torch.arange(len(unseen)) % 4

    def read(frames: Tensor) -> Tensor:
        logits: Tensor = model(frames if in_order else frames.mean(dim=0))
        return logits

    def loss_of(_: int) -> Tensor:
        i = torch.randint(0, len(images), (32,), generator=generator)
        return nn.functional.cross_entropy(read(seen[:, i]), ways[i])

    fit(model, loss_of, range(updates), 0.006, **FALLING)
    with torch.no_grad():
        return float((read(films(unseen, asked)).argmax(dim=-1) == asked).float().mean())


# --- names of digits, from the last layer of a convolutional network


class SmallCNN(nn.Module):
    """Digits (N, 8, 8) -> logits (N, 10), by way of 64 features between -1 and 1."""

    def __init__(self) -> None:
        super().__init__()
        block = [nn.ReLU(), nn.MaxPool2d(2)]
        self.features = nn.Sequential(
            *(nn.Conv2d(1, 8, 3, padding=1), *block, nn.Conv2d(8, 16, 3, padding=1), *block),
            *(nn.Flatten(), nn.Linear(64, 64), nn.Tanh()),
        )
        self.head = nn.Linear(64, 10)

    def forward(self, shown: Tensor) -> Tensor:
        """The logits of each picture."""
        logits: Tensor = self.head(self.features(shown[:, None]))
        return logits


DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
ALPHABET = [".", *sorted(set("".join(DIGITS)))]


def as_letters(ids: Tensor) -> Tensor:
    """Letters as one-hot vectors."""
    return nn.functional.one_hot(ids, len(ALPHABET)).float()


def fit_captions(kind: Any = SequenceTagger, seed: int = 0, updates: int = 200) -> tuple[Any, Any]:
    """Train a SmallCNN on digits, freeze it, and train a tagger to write their names from its last layer; both."""
    images, labels = pictures()[:2]
    cnn = build(SmallCNN, seed=seed)
    fit_digits(cnn, lambda model, shown: model(shown), seed, 2 * updates, rate=0.006)
    with torch.no_grad():
        first_states = cnn.features(images[:, None])
    spelled = torch.tensor([[ALPHABET.index(letter) for letter in name.ljust(6, ".")] for name in DIGITS]).T
    writer = build(kind, len(ALPHABET), 64, len(ALPHABET), seed=seed)
    generator = torch.Generator().manual_seed(seed)

    def loss_of(_: int) -> Tensor:
        i = torch.randint(0, len(labels), (32,), generator=generator)
        letters = spelled[:, labels[i]]
        read = torch.cat([torch.zeros_like(letters[:1]), letters[:-1]])  # a full stop, then the letters so far
        logits = writer(as_letters(read), first_states[None, i])
        return nn.functional.cross_entropy(logits.flatten(0, 1), letters.flatten())

    fit(writer, loss_of, range(updates), 0.006, **FALLING)
    return cnn, writer


def written_names(cnn: Any, writer: Any) -> list[str]:
    """The name that is written for each held-out digit: the likeliest letter each time, up to the full stop."""
    with torch.no_grad():
        first_states = cnn.features(pictures()[2][:, None])[None]
        ids = torch.zeros(1, first_states.shape[1], dtype=torch.int64)
        for _ in range(6):
            ids = torch.cat([ids, writer(as_letters(ids), first_states)[-1:].argmax(dim=-1)])
    return ["".join(ALPHABET[i] for i in column[1:]).partition(".")[0] for column in ids.T.tolist()]


def shares_of_names(written: Sequence[str]) -> Numbers:
    """Of the held-out digits: the share whose name is right, and the share for which any digit's name is written."""
    truth = [DIGITS[digit] for digit in pictures()[3].tolist()]
    right = np.mean([a == b for a, b in zip(written, truth, strict=True)])
    return {"right": float(right), "a name": float(np.mean([name in DIGITS for name in written]))}


# --- tunes from their first notes


@cache
def beginnings() -> list[Tune]:
    """The first 16 notes of each tune of the course."""
    return [tune._replace(notes=tune.notes[:16]) for tune in melodies()]


@cache
def old_tunes(count: int = 6) -> tuple[Tensor, Tensor]:
    """How the first tunes begin: their notes as vectors (T, N, D), and where there is one (T, N)."""
    vectors = [torch.tensor(encode_melody(tune.notes, pitches(beginnings()))) for tune in beginnings()[:count]]
    notes = nn.utils.rnn.pad_sequence(vectors)
    return notes, torch.arange(len(notes))[:, None] < torch.tensor([len(v) for v in vectors])


def corrected(model: Any, notes: Tensor) -> Tensor:
    """The true note goes in at each step."""
    return model(notes[:-1])


def alone(model: Any, notes: Tensor) -> Tensor:
    """Only the first note goes in."""
    return model(notes[0], len(notes) - 1)


def after_two(model: Any, notes: Tensor) -> Tensor:
    """The first two notes go in, and then no more."""
    return model(notes[:2], len(notes) - 2)


class ReadThenWrite(nn.Module):
    """Your generator, but it reads all of x (T_x, N, D) first: x, steps -> outputs (steps, N, D)."""

    def __init__(self, kind: Any, *sizes: int) -> None:
        super().__init__()
        self.generator = kind(*sizes)

    def forward(self, x: Tensor, steps: int) -> Tensor:
        """Read everything; the first output comes from the last state; then each output is the next input."""
        states, h = self.generator.rnn(x)
        outputs = [self.generator.head(states[-1])]
        while len(outputs) < steps:
            states, h = self.generator.rnn(outputs[-1][None], h)
            outputs.append(self.generator.head(states[-1]))
        return torch.stack(outputs)


def taught(
    kind: Any, view: View, *before: Any, count: int = 6, updates: int = 250, noise: float = 0.0, seed: int = 0
) -> Any:
    """A network of 64 units that was trained to give the notes of the first tunes that come after those it was given.

    The loss is the mean squared difference. noise: of the notes that it is given in training. `before` stands before
    the sizes where the kind wants more than these.
    """
    notes, is_note = old_tunes(count)
    size = notes.shape[-1]
    model = build(kind, *before, size, 64, size, seed=seed)
    generator = torch.Generator().manual_seed(seed)

    def loss_of(_: int) -> Tensor:
        given = notes + noise * torch.randn(notes.shape, generator=generator) if noise else notes
        outputs = view(model, given)
        squares = ((outputs - notes[-len(outputs) :]) ** 2).mean(dim=-1)
        return squares[is_note[-len(outputs) :]].mean()

    fit(model, loss_of, range(updates), 0.012, **FALLING)
    return model


def played(model: Any, view: View, count: int = 6) -> Tensor:
    """What it gives for the first tunes, (…, N, D)."""
    with torch.no_grad():
        return view(model, old_tunes(count)[0])


def used_as(kind: Any, model: nn.Module) -> Any:
    """The same weights in a network of another kind."""
    size = old_tunes()[0].shape[-1]
    return loaded(kind, model, size, 64, size)


def as_heard(outputs: Tensor, n: int) -> list[tuple[str, float]]:
    """Tune n as it is heard: the notes that were given, then at each step the largest pitch, for so many quarters."""
    notes, given = beginnings()[n].notes, given_of(outputs)
    return [*notes[:given], *decode_melody(outputs[: len(notes) - given, n].numpy(), pitches(beginnings()))]


def given_of(outputs: Tensor) -> int:
    """How many notes of each tune were given, where these outputs follow."""
    return len(old_tunes(outputs.shape[1])[0]) - len(outputs)


def notes_right(outputs: Tensor, tunes: Sequence[int] | None = None) -> float:
    """The share of notes of these tunes, or of all, whose pitch and duration are both right, those given aside."""
    hits, total, given = 0, 0, given_of(outputs)
    for n in range(outputs.shape[1]) if tunes is None else tunes:
        true = beginnings()[n].notes
        hits += sum(a == b for a, b in zip(as_heard(outputs, n)[given:], true[given:], strict=True))
        total += len(true) - given
    return hits / total


TWINS = [0, 6]  # two tunes that begin with the same note


def off_the_mean(outputs: Tensor) -> tuple[float, float]:
    """How far what is given after the twins' first note is from the mean of the two tunes, and how far these are."""
    notes, is_note = old_tunes(7)
    both = is_note[1:, TWINS].all(dim=1)
    middle = notes[1:, TWINS].mean(dim=1)[both]
    away = (one[both] - middle for one in (outputs[:, 0], notes[1:, 0]))
    given, tunes = (float(difference.square().mean().sqrt()) for difference in away)
    return given, tunes


def between(model: Any, one: int, other: int, mix: float, steps: int = 15) -> list[tuple[str, float]]:
    """What a generator plays from a first note between those of two tunes: at 0 that of the one, at 1 of the other."""
    notes = old_tunes()[0]
    with torch.no_grad():
        first = (1 - mix) * notes[0, [one]] + mix * notes[0, [other]]
        return decode_melody(torch.cat([first[None], model(first, steps)])[:, 0].numpy(), pitches(beginnings()))


# --- who learns from whom

Support = Callable[..., Any]


def support_grid(support: Support, model: Any, x: Tensor, outputs: int) -> Bool[np.ndarray, "T_y T_x"]:
    """Which inputs (columns) each output (rows) gets gradient from."""
    return np.array([np.asarray(support(model, x, t)) for t in range(outputs)])


def five_supports(
    support: Support = gradient_support,
    one_to_one: Any = OneToOne,
    tagger: Any = SequenceTagger,
    classifier: Any = SequenceClassifier,
    generator: Any = SequenceGenerator,
) -> dict[str, Bool[np.ndarray, "T_y T_x"]]:
    """The grid of each of the five architectures, with five inputs or five outputs where there are many."""
    torch.manual_seed(0)
    one, tag, classify, sing = one_to_one(3, 8, 4), tagger(3, 8, 4), classifier(3, 8, 4), generator(3, 8, 3)
    write = ReadThenWrite(generator, 3, 8, 3)
    x_one, x_five = torch.randn(1, 2, 3), torch.randn(5, 2, 3)
    return {
        "one-to-one": support_grid(support, one, x_one, 1),
        "one-to-many": support_grid(support, lambda x: sing(x[0], 5), x_one, 5),
        "many-to-one": support_grid(support, lambda x: classify(x)[None], x_five, 1),
        "many-to-many\n(equal)": support_grid(support, tag, x_five, 5),
        "many-to-many\n(different)": support_grid(support, lambda x: write(x, 4), x_five, 4),
    }


def batch_first_by_mistake(
    support: Support = gradient_support, tagger: Any = SequenceTagger
) -> dict[str, Bool[np.ndarray, "T_y T_x"]]:
    """The grid of a tagger, and of one whose nn.RNN takes the rows of the batch for time."""
    torch.manual_seed(0)
    right, wrong = tagger(3, 8, 4), tagger(3, 8, 4)
    wrong.rnn = nn.RNN(3, 8, batch_first=True)
    x = torch.randn(5, 2, 3)
    named = {"time first": right, "batch first,\nby mistake": wrong}
    return {name: support_grid(support, model, x, 5) for name, model in named.items()}


# --- what our seeds gave


def ours(experiment: str, places: Mapping[str, tuple[str, str]]) -> dict[str, list[float]]:
    """What our seeds measured, by name, where a place is (setting, number)."""
    found = claimed("11_heads")[experiment].values
    return {name: found[setting][number] for name, (setting, number) in places.items()}
