"""Unit 09, what is trained: taggers that read one way and both ways, and a word that is said twice.

A tagger is built as the unit's `BiTagger` is, `tagger(vocabulary_size, embedding_size, hidden_size, tags)`, and called
as it is, `model(ids (T, N), lengths)` -> logits (T, N, tags): yours, the course's, or `OneWayTagger`.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import nn

from rnncourse.bidirectional import bidirectional_forward, final_summary
from rnncourse.bidirectional_torch import HiddenMarkov
from rnncourse.cell import to_torch_state
from rnncourse.data import (
    AMBIGUOUS_NAMES,
    TOKEN_LABELS,
    encode_tagged,
    label_python,
    labelled_python,
    tagging_ceiling,
    teddy_sentences,
    word_vectors,
)
from rnncourse.data.python_tokens import LabelledText
from rnncourse.experiments.bidirectional import (
    UNITS,
    Sentences,
    as_ids,
    drawn,
    split_marked,
    vocabulary_of,
)
from rnncourse.experiments.training import build, fit, train


class OneWayTagger(nn.Module):
    """`BiTagger` with one chain, and with any core: ids (T, N) -> logits (T, N, tags).

    It reads no padding before a real step, so that it can do without the lengths.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_size: int,
        hidden_size: int,
        tags: int,
        core: Callable[[int, int], nn.Module] = nn.RNN,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding_size)
        self.rnn = core(embedding_size, hidden_size)
        self.output = nn.Linear(hidden_size, tags)

    def forward(self, ids: torch.Tensor, lengths: Any = None) -> torch.Tensor:
        """The logits of every step."""
        logits: torch.Tensor = self.output(self.rnn(self.embedding(ids))[0])
        return logits


# --- PyTorch's layer beside yours


def layer_beside_torch(
    both_ways: Callable[..., Any] = bidirectional_forward, summary: Callable[..., Any] = final_summary
) -> dict[str, float]:
    """`nn.RNN` in both directions with the same weights: how far what it gives is from your states and your summary."""
    X, forward, backward = drawn(steps=5, rows=3)
    layer = nn.RNN(2, UNITS, bidirectional=True, dtype=torch.float64)
    names = to_torch_state(*forward) | {f"{k}_reverse": v for k, v in to_torch_state(*backward).items()}
    layer.load_state_dict({name: torch.tensor(value) for name, value in names.items()})
    with torch.no_grad():
        out, h_n = (tensor.numpy() for tensor in layer(torch.tensor(X)))
    states = both_ways(X, forward, backward)
    summed_up = summary(states[..., :UNITS], states[..., UNITS:], np.full(3, 5))
    pairs = {
        "out, and your states": (out, states),
        "h_n, and your summary": (np.concatenate(h_n, axis=-1), summed_up),
        "out[-1], and your summary": (out[-1], summed_up),
    }
    return {name: float(np.abs(a - b).max()) for name, (a, b) in pairs.items()}


# --- Teddy


class Teddy(NamedTuple):
    """All sentences as tensors: ids and labels (T, N), lengths (N,), how likely each token is to be met (T, N)."""

    ids: torch.Tensor
    labels: torch.Tensor
    lengths: torch.Tensor
    weight: torch.Tensor
    vocabulary: list[str]


@cache
def teddy() -> Teddy:
    """The small world of `teddy_sentences`."""
    sentences = teddy_sentences()
    ids, labels, lengths, vocabulary = encode_tagged(sentences)
    weight = (np.arange(len(ids))[:, None] < lengths) * np.array([s.probability for s in sentences])
    weight /= weight.sum()
    return Teddy(torch.tensor(ids), torch.tensor(labels), torch.tensor(lengths), torch.tensor(weight), vocabulary)


def teddy_ceiling() -> float:
    """The best that any tagger can do from left to right."""
    return tagging_ceiling(teddy_sentences())


def train_on_teddy(tagger: Callable[..., Any], hidden_size: int, updates: int = 80, seed: int = 0) -> tuple[Any, list]:
    """Train on all sentences at once: the tagger, and the share of tokens that was right before each update."""
    world = teddy()
    model = build(tagger, len(world.vocabulary), 8, hidden_size, 2, seed=seed)
    right = []

    def loss_of(_: int) -> torch.Tensor:
        logits = model(world.ids, world.lengths)
        right.append(float(((logits.argmax(dim=-1) == world.labels) * world.weight).sum()))
        losses = nn.functional.cross_entropy(logits.movedim(-1, 1), world.labels, reduction="none")
        return (losses * world.weight.float()).sum()

    fit(model, loss_of, range(updates), 0.02)
    return model, right


def right_at_names(model: nn.Module) -> float:
    """Of the ambiguous names, the share that is labelled right."""
    world = teddy()
    at_names = torch.isin(world.ids, torch.tensor([world.vocabulary.index(name) for name in AMBIGUOUS_NAMES]))
    weight = world.weight * at_names
    with torch.no_grad():
        right = model(world.ids, world.lengths).argmax(dim=-1) == world.labels
    return float((right * weight).sum() / weight.sum())


def person_beliefs(model: nn.Module, words: str) -> Float[np.ndarray, "T"]:
    """The probability of PERSON at each word of a sentence; it knows the words of this small world only."""
    vocabulary = teddy().vocabulary
    column = torch.tensor([[vocabulary.index(word)] for word in words.split()])
    with torch.no_grad():
        return np.asarray(torch.softmax(model(column)[:, 0], dim=-1)[:, 1])


# --- English or Python?


class TrainedMarker(NamedTuple):
    """A trained tagger, and the places of the words that it knows."""

    model: Any
    vocabulary: dict[str, int]

    def marks(self, words: Sequence[str]) -> Int[np.ndarray, "T"]:
        """The likelier mark of each word."""
        with torch.no_grad():
            logits = self.model(torch.tensor(as_ids(self.vocabulary, words))[:, None])
        return np.asarray(logits[:, 0].argmax(dim=-1))


def train_marker(
    tagger: Callable[..., Any], vectors: bool = True, hidden_size: int = 16, epochs: int = 6, seed: int = 0
) -> TrainedMarker:
    """Train a tagger on the marks of the documentation, and keep it as it was after its best epoch on validation.

    vectors: whether the words that `word_vectors` has start with those. A tenth of all words are shown as unknown, so
    that it learns what to make of unknown ones.
    """
    known, validation, _ = split_marked(seed)
    table = word_vectors()
    vocabulary = vocabulary_of(known, also=table.words)
    model = build(tagger, len(vocabulary), table.vectors.shape[1], hidden_size, 2, seed=seed)
    if vectors:
        model.embedding.weight.data[as_ids(vocabulary, table.words)] = torch.tensor(table.vectors)
    kept, fewest = model, np.inf
    unseen_ids, unseen_marks, unseen_lengths = _batch(validation, vocabulary)
    order: list[torch.Tensor] = []

    def loss_of(_: int) -> torch.Tensor:
        if not order:
            order.extend(torch.randperm(len(known)).split(32))
        ids, marks, lengths = _batch([known[i] for i in order.pop(0)], vocabulary)
        ids = torch.where(torch.rand(ids.shape) < 0.1, 0, ids)
        return nn.functional.cross_entropy(model(ids, lengths).flatten(0, 1), marks.flatten())

    for _ in train(model, loss_of, range(epochs * -(-len(known) // 32)), 0.02, end=0.05):
        if order:
            continue
        with torch.no_grad():
            found = model(unseen_ids, unseen_lengths).argmax(dim=-1)
        if (wrong := int(((found != unseen_marks) & (unseen_marks != -100)).sum())) < fewest:
            kept, fewest = copy.deepcopy(model), wrong
    return TrainedMarker(kept, vocabulary)


def _batch(sentences: Sentences, vocabulary: dict[str, int]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Ids and marks (T, N), -100 in the padding, where no loss is read; lengths (N,)."""
    ids = [torch.tensor(as_ids(vocabulary, one.words)) for one in sentences]
    marks = [torch.tensor(one.marks) for one in sentences]
    padded = nn.utils.rnn.pad_sequence(ids), nn.utils.rnn.pad_sequence(marks, padding_value=-100)
    return *padded, torch.tensor([len(one) for one in ids])


# --- a word, said twice


class NextLetter(nn.Module):
    """A cell that reads letters: log p of each letter, given those before it; ids (T, N) -> (T, N)."""

    def __init__(self, hidden_size: int, letters: int) -> None:
        super().__init__()
        self.letters = letters
        self.rnn = nn.RNN(letters, hidden_size)
        self.output = nn.Linear(hidden_size, letters)
        nn.init.orthogonal_(self.rnn.all_weights[0][1])

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Log p of each letter."""
        read = nn.functional.one_hot(ids, self.letters).float()
        before = torch.cat([torch.zeros_like(read[:1]), read[:-1]])
        log_p = torch.log_softmax(self.output(self.rnn(before)[0]), dim=-1)
        return log_p.gather(-1, ids[..., None])[..., 0]


def said_again(kind: str, size: int, updates: int = 250, seed: int = 0) -> float:
    """Train an "HMM" or a "cell" on all 256 words of four letters, each said twice.

    The probability of the right second word, a mean over all words.
    """
    words = torch.tensor(list(product(range(4), repeat=4))).T  # (4, 256)
    twice = torch.cat([words, words])
    model = build(HiddenMarkov if kind == "HMM" else NextLetter, size, 4, seed=seed)
    rate = 0.2 if kind == "HMM" else 0.02
    fit(model, lambda _: -model(twice).sum(dim=0).mean(), range(updates), rate, end=0.05)
    with torch.no_grad():
        return float(model(twice)[4:].sum(dim=0).exp().mean())


# --- a syntax highlighter

LETTERS = 100_000  # of Python source, on which a tagger is trained
COMMENT, STRING, SPACE = (TOKEN_LABELS.index(label) for label in ("comment", "string", "space"))


@cache
def python_source() -> tuple[LabelledText, LabelledText, list[str]]:
    """The labelled text to train on, what is held out, and the characters."""
    return labelled_python(LETTERS)


def ids_of(text: str) -> Int[np.ndarray, "L"]:
    """The places of a text's characters; those that were not met share the last one."""
    characters = python_source()[2]
    place = {character: i for i, character in enumerate(characters)}
    return np.array([place.get(character, len(characters) - 1) for character in text])


def new_highlighter(tagger: Callable[..., Any], seed: int = 0) -> Any:
    """An untrained one: 96 units one way, else 64 in each direction, which is not fewer numbers."""
    hidden_size = 96 if tagger is OneWayTagger else 64
    return build(tagger, len(python_source()[2]), 16, hidden_size, len(TOKEN_LABELS), seed=seed)


def train_highlighter(model: Any, text: LabelledText | None = None, epochs: int = 4) -> Any:
    """Train a tagger on windows of 100 characters, 16 at a time, with Adam and steps that get smaller; the tagger.

    text: what it reads, if not the training part of `python_source`. The order of the windows is drawn from where
    torch's generator stands after `build`.
    """
    ids, labels = (torch.tensor(array) for array in (text or python_source()[0]).windows(100))
    batches = [columns for _ in range(epochs) for columns in torch.randperm(ids.shape[1]).split(16)]

    def loss_of(columns: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(model(ids[:, columns]).flatten(0, 1), labels[:, columns].flatten())

    fit(model, loss_of, batches, 0.006, end=0.02)
    return model


def held_out_windows() -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and labels of the held-out files, in windows of 100 characters, (100, N)."""
    ids, labels = (torch.tensor(array) for array in python_source()[1].windows(100))
    return ids, labels


def label_frequencies() -> dict[str, float]:
    """The share of each label among the held-out characters."""
    _, labels = held_out_windows()
    return {label: float((labels == i).float().mean()) for i, label in enumerate(TOKEN_LABELS)}


def shares_right(model: Any) -> dict[str, float]:
    """Of all held-out characters, and of those of each label, the share that is labelled right."""
    ids, labels = held_out_windows()
    with torch.no_grad():
        right = (model(ids).argmax(dim=-1) == labels).float()
    return {"all": float(right.mean())} | {
        label: float(right[labels == i].mean()) for i, label in enumerate(TOKEN_LABELS)
    }


def comments_known(model: Any) -> float:
    """Of the held-out characters in comments whose sign is in the window: the share that is taken for a comment."""
    ids, labels = held_out_windows()
    inside = labels == COMMENT
    opened = torch.cat([torch.zeros_like(inside[:1]), inside[1:] & ~inside[:-1]]).cumsum(dim=0) > 0
    with torch.no_grad():
        return float((model(ids).argmax(dim=-1) == COMMENT)[inside & opened].float().mean())


def right_with_lookahead(model: Any, lookahead: int) -> float:
    """The share of right labels if no more than so many characters after the one to be labelled have been read."""
    ids, labels = held_out_windows()
    places = range(16, 32)
    with torch.no_grad():
        right = [model(ids[: t + lookahead + 1])[t].argmax(dim=-1) == labels[t] for t in places]
    return float(torch.stack(right).float().mean())


def tag(model: Any, text: str) -> Int[np.ndarray, "L"]:
    """The label of each character of a text, as places in `TOKEN_LABELS`."""
    with torch.no_grad():
        return np.asarray(model(torch.tensor(ids_of(text))[:, None])[:, 0].argmax(dim=-1))


def tagged(
    models: Mapping[str, Any], text: str | None = None
) -> tuple[str, dict[str, Int[np.ndarray, "L"]], Sequence[str]]:
    """A text, its labels by Python's tokenizer ("truth") and by each model, and the labels' names.

    text: Python source; without it, of twelve lines of a held-out file that have all labels, those with most functions.
    """
    piece, truth = (text, label_python(text)) if text is not None else _interesting_piece()
    return piece, {"truth": truth} | {name: tag(model, piece) for name, model in models.items()}, TOKEN_LABELS


def _interesting_piece(lines: int = 12, width: int = 52) -> tuple[str, Int[np.ndarray, "L"]]:
    held_out = python_source()[1]
    rows = held_out.text.split("\n")
    starts = np.cumsum([0] + [len(row) + 1 for row in rows])
    best, most = slice(0, 400), 0
    for i in range(len(rows) - lines):
        span = slice(starts[i], starts[i + lines] - 1)
        labels = held_out.labels[span]
        called = int((labels == TOKEN_LABELS.index("function")).sum())
        if called > most and max(map(len, rows[i : i + lines])) <= width and len(set(labels)) == len(TOKEN_LABELS):
            best, most = span, called
    return held_out.text[best], held_out.labels[best]


@cache
def lines_of_code() -> list[str]:
    """Held-out lines without strings and comments, from their first 40 characters on, each once."""
    held_out, found, start = python_source()[1], set(), 0
    for row in held_out.text.split("\n"):
        line = row.strip()[:40]
        if len(line) == 40 and not {COMMENT, STRING} & set(held_out.labels[start : start + len(row)].tolist()):
            found.add(line)
        start += len(row) + 1
    return sorted(found)


def taken_for_comment(model: Any, opening: str = "# ") -> Float[np.ndarray, "40"]:
    """The share of these lines of which each character is taken for a comment, if `opening` stands before them."""
    columns = torch.tensor(np.array([ids_of(opening + line) for line in lines_of_code()]).T)
    with torch.no_grad():
        labels = model(columns).argmax(dim=-1)[len(opening) :]
    return np.asarray((labels == COMMENT).float().mean(dim=1))


def code_commented_out(seed: int = 0) -> LabelledText:
    """The training text, with a fifth of its lines of code made comments."""
    source = python_source()[0]
    rng, start, text, labels = np.random.default_rng(seed), 0, [], []
    for row in source.text.split("\n"):
        row_labels = source.labels[start : start + len(row)].tolist()
        start += len(row) + 1
        if len(row.strip()) > 10 and not {COMMENT, STRING} & set(row_labels) and rng.random() < 0.2:
            row = f"# {row.strip()}"
            row_labels = [COMMENT] * len(row)
        text.append(row)
        labels += [*row_labels, SPACE]
    joined = "\n".join(text) + "\n"
    return LabelledText(joined, ids_of(joined), np.array(labels))


# --- no language model


def loss_on_random_letters(tagger: Callable[..., Any], updates: int = 100, letters: int = 8, seed: int = 0) -> float:
    """Train a tagger to say the next of so many letters, all drawn at random; its loss on fresh ones at the end."""
    model = build(tagger, letters, 8, 32, letters, seed=seed)

    def loss_of(_: int) -> torch.Tensor:
        drawn_letters = torch.randint(0, letters, (21, 64))
        logits = model(drawn_letters)[:-1]  # of the last step, no target is known
        return nn.functional.cross_entropy(logits.flatten(0, 1), drawn_letters[1:].flatten())

    return fit(model, loss_of, range(updates), 0.01)[-1]
