"""Python source, character by character, with the label that a syntax highlighter needs for each.

The labels are those of the standard library's own tokenizer, with names told apart further: a keyword is in
`keyword.kwlist`, and a name is a function where "(" follows, that is, where it is called or defined.

    for x in range(3):  # count          for, in: keyword      x: name      range: function      3: number

Much of this cannot be known from left to right. At the "f" of `for`, `format(` and `f"..."` stand a keyword, a function
and a string, and what decides comes later; at the "r" of `range` it comes five characters later. A network that reads
in both directions has seen it.

Whole files are held out: no line to be judged on comes from a file that was trained on.

Source: Python's documentation of `tokenize`, `token` and `keyword`.
"""

import io
import keyword
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise

import numpy as np
from jaxtyping import Int

from .text import train_and_held_out

TOKEN_LABELS = ("space", "comment", "string", "number", "operator", "keyword", "function", "name")
_OF_TYPE = {"COMMENT": "comment", "STRING": "string", "NUMBER": "number", "OP": "operator", "ERRORTOKEN": "operator"}


@dataclass(frozen=True)
class LabelledText:
    """A text of L characters, their ids (L,) in a vocabulary, and their labels (L,), which index `TOKEN_LABELS`."""

    text: str
    ids: Int[np.ndarray, "L"]
    labels: Int[np.ndarray, "L"]

    def windows(self, steps: int) -> tuple[Int[np.ndarray, "steps N"], Int[np.ndarray, "steps N"]]:
        """The text cut into N pieces of `steps` characters, as columns: (ids, labels). A shorter rest is dropped.

        >>> train, _, chars = labelled_python(1000)
        >>> ids, labels = train.windows(64)
        >>> ids.shape, "".join(chars[i] for i in ids[:, 2]) == train.text[128:192]
        ((64, 15), True)
        """
        if steps < 1:
            raise ValueError(f"steps must be at least 1, but it is {steps}.")
        end = len(self.text) // steps * steps
        ids, labels = (array[:end].reshape(-1, steps).T.copy() for array in (self.ids, self.labels))
        return ids, labels


def label_python(source: str, characters: int | None = None) -> Int[np.ndarray, "L"]:
    """The label of each character of some Python source, or of its first `characters`, as indices of `TOKEN_LABELS`.

    A string has its prefix and its quotes in it, and an f-string all that stands between them. "space" is what belongs
    to no token: blanks, line ends, the backslash that joins lines. A ValueError if Python cannot read the source.

    >>> [TOKEN_LABELS[i] for i in label_python("f(x)  # f")]
    ['function', 'operator', 'name', 'operator', 'space', 'space', 'comment', 'comment', 'comment']
    """
    length = len(source) if characters is None else min(characters, len(source))
    labels = np.zeros(len(source), dtype=np.int64)
    try:
        for label, start, end in _spans(source):
            if start >= length:  # tokens come one by one, so that nothing after this one is read
                break
            labels[start:end] = TOKEN_LABELS.index(label)
    except (tokenize.TokenError, SyntaxError) as error:
        raise ValueError(f"This is no Python source that can be read ({error.args[0]}): give a whole file.") from None
    return labels[:length]


def labelled_python(characters: int = 200_000, every: int = 5) -> tuple[LabelledText, LabelledText, list[str]]:
    """Python's own library, labelled: (what to train on, what is held out, the vocabulary).

    Texts and arguments are those of `train_and_held_out("python-source")`. The vocabulary lists the characters of the
    training text in code-point order; its last entry, "\\ufffd", stands for every other character.

    >>> train, held_out, chars = labelled_python(1000)
    >>> len(train.ids), len(held_out.labels), chars[-1]
    (1000, 250, '\\ufffd')
    """
    whole = train_and_held_out("python-source", every=every)
    cut = train_and_held_out("python-source", characters=characters, every=every)
    chars = [*sorted(set(cut[0]) - {"\ufffd"}), "\ufffd"]
    index = {character: i for i, character in enumerate(chars)}
    train, held_out = (
        LabelledText(
            text,
            np.array([index.get(character, len(chars) - 1) for character in text], dtype=np.int64),
            label_python(full, len(text)),  # the whole text, so that no cut leaves a string open
        )
        for text, full in zip(cut, whole)
    )
    return train, held_out, chars


def _spans(source: str) -> Iterator[tuple[str, int, int]]:
    """The label of each token that has one, with the places where it starts and ends in the source."""
    begins = [0, *accumulate(len(line) + 1 for line in source.split("\n"))]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    depth, opened = 0, 0
    for token, following in pairwise(chain(tokens, [None])):
        assert token is not None
        kind = tokenize.tok_name[token.type]
        start, end = (begins[row - 1] + column for row, column in (token.start, token.end))
        # From Python 3.12 on, an f-string comes in parts, with tokens of their own between braces: it is put together.
        if kind.endswith("STRING_START"):
            opened = opened if depth else start
            depth += 1
        elif kind.endswith("STRING_END"):
            depth -= 1
            if not depth:
                yield "string", opened, end
        elif depth:
            continue
        elif kind == "NAME":
            called = following is not None and following.string == "("
            yield _of_name(token.string, called), start, end
        elif kind in _OF_TYPE:
            yield _OF_TYPE[kind], start, end


def _of_name(name: str, called: bool) -> str:
    if keyword.iskeyword(name):
        return "keyword"
    return "function" if called else "name"
