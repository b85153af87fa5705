r"""Sentences of Python's documentation, and of each word whether it is English or Python.

    The "with" statement is used to wrap the execution of a block with methods defined by a context manager.

Whoever wrote this put what is Python's into quotation marks. Here they are taken off, all is in small letters, and
what stood between them is marked: of the two "with", the first is Python's and the second is English. It is real text
with the tags that its authors gave it, and it comes with every Python.

Only prose is taken: paragraphs that begin with a capital letter, or with a quotation mark, and end with a full stop or
a colon. Signs between quotation marks are left out, since brackets would tell what they stand behind.

Source: Python's documentation, `pydoc_data/topics.py`, under the PSF licence.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from .sources import documents

_CODE = (">>>", "::=", " = ")
_PART = re.compile(r'["`]+([^"`]*)["`]+|(\w+|[.,:;?!])')


class MarkedSentence(NamedTuple):
    """The words and signs of a sentence in small letters, and for each of them 1 if it is Python's, else 0."""

    words: tuple[str, ...]
    marks: tuple[int, ...]

    def __str__(self) -> str:
        return " ".join(f"`{word}`" if mark else word for word, mark in zip(self.words, self.marks, strict=True))


@cache
def marked_sentences() -> list[MarkedSentence]:
    """All sentences of three words or more, as they come; about 2,200 on Python 3.11.

    >>> print(marked_sentences()[0])
    assert statements are a convenient way to insert debugging assertions into a program :
    """
    return [found for text in documents("python-docs").values() for found in _sentences(text)]


def _sentences(text: str) -> Iterator[MarkedSentence]:
    for paragraph in text.split("\n\n"):
        prose = " ".join(paragraph.split())
        if not re.match(r'(\* )?["`A-Z]', prose) or not prose.endswith((".", ":")) or any(c in prose for c in _CODE):
            continue
        for sentence in re.split(r'(?<=[.:]) (?=["`A-Z])', prose):
            if len(re.findall(r'["`]+', sentence)) % 2:  # cut in the middle of something
                break
            parts = [
                (word, int(outside == ""))
                for inside, outside in _PART.findall(sentence)
                for word in ([outside] if outside else re.findall(r"\w+", inside))
            ]
            if len(parts) > 2:
                yield MarkedSentence(tuple(word.lower() for word, _ in parts), tuple(mark for _, mark in parts))
