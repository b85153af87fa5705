"""Data for a project: documents whose every token has a target, with the group that each document belongs to.

A language model, a tagger and a classifier that is asked after each token are one and the same task here:

    tokens    d  e  r     1  .     M  a  i          what is read, one at each step
    targets   e  r     1  .     M  a  i  …          language model: the token that comes next
    targets   de de de de de de de de de            label: what the whole document is, asked after every token

Three corpora are built in, and a file of your own takes their place: plain text, or lines of `text<TAB>label`. The
group says which documents belong together: copies, pieces of one page, the same day in several languages. What one of
them tells about another would be known beforehand if they stood on both sides of a split.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .dates import DATE_LANGUAGES, written_as
from .python_tokens import TOKEN_LABELS, label_python
from .sources import documents
from .text import load_text, words

CORPORA = ("dates", "python", "docs")
PIECE = 160  # characters: the longest document of a corpus that is made of longer texts
BEGINNING = 6000  # characters of each module and of each topic that are used


class Corpus(NamedTuple):
    """N documents: their tokens, a target for each token, and the name of the group that a document belongs to."""

    tokens: list[list[str]]
    targets: list[list[str]]
    groups: list[str]


def load_corpus(source: str | Path, *, most: int | None = None, by_word: bool = False) -> Corpus:
    """A corpus for a project: one of `CORPORA`, or a file of yours.

    Parameters
    ----------
    source: "dates": in which language is this date written? Groups are days, and each is written in several ways.
        "python": what is this character of a program, a name, a string, a comment? Groups are modules. "docs": which
        character of Python's documentation comes next? Groups are topics. Or a path, or an address: a file whose every
        line has one tab in it is `text<TAB>label`, with equal texts in one group; any other is text, of which the next
        token is asked, with equal paragraphs in one group.
    most: about so many tokens at most; whole documents, from the beginning. None for all.
    by_word: read a file of yours word by word, and not character by character.

    **Errors:** those of `load_text` for a file that cannot be read; `ValueError` if no document has two tokens.

    >>> corpus = load_corpus("dates", most=2000)
    >>> "".join(corpus.tokens[0]), corpus.targets[0][0], corpus.groups[0]
    ('...', '...', '...-...-...')
    """
    if most is not None and most < 1:
        raise ValueError(f"most must be at least 1, or None for all of it, and is {most}.")
    if source == "dates":
        found = _dates()
    elif source == "python":
        found = _python()
    elif source == "docs":
        found = _docs()
    else:
        text = load_text(source)
        lines = [line for line in text.split("\n") if line.strip()]
        if all(line.count("\t") == 1 for line in lines):
            found = _labelled(lines, by_word)
        else:
            found = _next_tokens(((part, _essence(part)) for part in re.split(r"\n[ \t]*\n", text)), by_word)
    corpus = Corpus([], [], [])
    size = 0
    for tokens, targets, group in found:
        size += len(tokens)
        if most is not None and size > most and corpus.groups:
            break
        corpus.tokens.append(tokens)
        corpus.targets.append(targets)
        corpus.groups.append(group)
    if not corpus.groups:
        raise ValueError(f"{source} has no document of two tokens or more: give a text that is longer.")
    return corpus


Document = tuple[list[str], list[str], str]


def _dates() -> Iterator[Document]:
    """Days in an order of their own, each written once in every language, in a way that is drawn."""
    rng = np.random.default_rng(14)
    first = date(1950, 1, 1)
    for day in rng.permutation(36_525):
        when = first + timedelta(days=int(day))
        for language in DATE_LANGUAGES:
            ways = written_as(when, language)
            text = ways[rng.integers(len(ways))].text
            yield list(text), [language] * len(text), when.isoformat()


def _python() -> Iterator[Document]:
    """Pieces of how each module begins, with the label of each character; a piece of each module in turn."""
    for name, text, start, end in _in_turn(documents("python-source")):
        labels = _labels(name)
        yield list(text[start:end]), labels[start:end], name


@cache
def _labels(module: str) -> list[str]:
    return [TOKEN_LABELS[i] for i in label_python(documents("python-source")[module], BEGINNING)]


def _docs() -> Iterator[Document]:
    """Pieces of how each topic begins, with the characters that come next; a piece of each topic in turn."""
    for name, text, start, end in _in_turn(documents("python-docs")):
        if end - start > 1:
            yield list(text[start : end - 1]), list(text[start + 1 : end]), name


def _in_turn(texts: Mapping[str, str]) -> Iterator[tuple[str, str, int, int]]:
    """The first piece of each text, then the second of each, …: however few are taken, many texts have a part in it."""
    for pieces in zip_longest(*(_pieces(text[:BEGINNING]) for text in texts.values())):
        for piece, (name, text) in zip(pieces, texts.items()):
            if piece is not None:
                yield name, text, *piece


def _next_tokens(texts: Iterable[tuple[str, str]], by_word: bool = False) -> Iterator[Document]:
    """Pieces of texts, each with the token that comes next as a target."""
    for text, group in texts:
        for start, end in _pieces(text):
            tokens = words(text[start:end]) if by_word else list(text[start:end])
            if len(tokens) > 1:
                yield tokens[:-1], tokens[1:], group


def _labelled(lines: Iterable[str], by_word: bool) -> Iterator[Document]:
    """Lines of `text<TAB>label`."""
    for line in lines:
        text, label = line.split("\t")
        tokens = words(text) if by_word else list(text)
        if tokens:
            yield tokens, [label.strip()] * len(tokens), _essence(text)


def _essence(text: str) -> str:
    """What two copies have in common, however their blanks and capitals differ."""
    return " ".join(text.split()).casefold()


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Where the pieces of a text begin and end: at most `PIECE` characters each, cut at a line end or blank if it has
    one.
    """
    start = 0
    while start < len(text):
        end = min(start + PIECE, len(text))
        if end < len(text):
            cut = max(text.rfind("\n", start + 1, end), text.rfind(" ", start + 1, end))
            end = cut + 1 if cut > start + PIECE // 2 else end
        yield start, end
        start = end
