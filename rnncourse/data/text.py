"""Real text without a download: Python's own library and documentation, or a text of your own.

`load_text("python-source")` and `load_text("python-docs")` are built in; a path or an address works in the same
place. The built-in texts are the same at every call on one Python, and vary a little from one Python version to the
next, as Python itself does.

A model is judged on text that it has not seen. `train_and_held_out` therefore holds out whole files and whole topics:
a line of the held-out part never comes from a file that was trained on.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from .sources import BUILT_IN, documents, read_file, read_url


def load_text(source: str | Path, *, characters: int | None = None, encoding: str = "utf-8") -> str:
    """The text of `source`: a built-in corpus, a file of yours, or an address on the web.

    Parameters
    ----------
    source: "python-source", "python-docs", a path, or an http(s) address. What an address gives is kept in the
        user's cache folder and not downloaded again.
    characters: at most so many characters, from the beginning; None for all.
    encoding: how the bytes of a file or an address become characters.

    Line ends become "\\n". Raises ValueError (no such corpus, no text, wrong encoding, empty), FileNotFoundError (no
    such file) or ConnectionError (the download failed), each with a sentence that says what to do.

    >>> load_text("python-source", characters=20) == python_source(20)
    True
    """
    _check_size(characters)
    name = str(source)
    if name in BUILT_IN:
        text = "\n".join(documents(name).values())
    elif re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+://", name):
        text = read_url(name, encoding)
    else:
        text = read_file(source, encoding)
    return text[:characters]


def python_source(characters: int | None = 200_000) -> str:
    """The source of modules of Python's standard library, one after the other, cut after `characters` characters.

    The list of modules and their order are fixed; their text varies a little between versions of Python. There are
    about 1,200,000 characters (`characters=None` gives them all).

    >>> len(python_source(5000))
    5000
    """
    return load_text("python-source", characters=characters)


def python_docs(characters: int | None = 200_000) -> str:
    """Python's documentation topics (what `help("for")` prints), in alphabetical order, cut after `characters`.

    Where a topic repeats a paragraph of an earlier one, the repetition is left out. There are about 380,000 characters
    (`characters=None` gives them all); they vary a little between versions of Python.

    >>> python_docs(20)
    'The "assert" stateme'
    """
    return load_text("python-docs", characters=characters)


def train_and_held_out(
    source: str | Path = "python-docs", *, characters: int | None = None, every: int = 5, encoding: str = "utf-8"
) -> tuple[str, str]:
    """A text to learn from and a text to be judged on, which share no file and no topic.

    One `every`-th of the characters is held out. Of a built-in corpus these are whole files or topics, spread over the
    corpus. A text of your own is one file: its last part, from a line end on, is held out. `characters` is the most
    that the training text may have, and the held-out text has in proportion. `source`, `encoding` and the errors are
    those of `load_text`.

    >>> train, held_out = train_and_held_out("python-docs", characters=40_000)
    >>> len(train), len(held_out)
    (40000, 10000)
    """
    _check_size(characters)
    if every < 2:
        raise ValueError(f"every must be at least 2, so that something is left to train on, but it is {every}.")
    if str(source) in BUILT_IN:
        train, held_out = _deal(documents(str(source)).values(), every)
    else:
        text = load_text(source, encoding=encoding)
        cut = len(text) - len(text) // every
        cut = text.rfind("\n", 0, cut) + 1 or cut
        train, held_out = text[:cut], text[cut:]
    if characters is None:
        return train, held_out
    return train[:characters], held_out[: max(1, characters // (every - 1))]


def words(text: str) -> list[str]:
    """The words and the punctuation marks of `text`, each a token; spaces and line ends are dropped.

    A word is a run of letters, digits and underscores. Case is kept: `words(text.lower())` folds it. For characters
    as tokens, `list(text)` is all that is needed.

    >>> words("We can't, at UBC!")
    ['We', 'can', "'", 't', ',', 'at', 'UBC', '!']
    """
    return re.findall(r"\w+|[^\w\s]", text)


def _deal(texts: Iterable[str], every: int) -> tuple[str, str]:
    """Whole texts to the training part and to the held-out part, so that one `every`-th is held out all along."""
    train: list[str] = []
    held_out: list[str] = []
    seen = held = 0
    for text in texts:
        seen += len(text)
        if (held + len(text)) * every <= seen:
            held += len(text)
            held_out.append(text)
        else:
            train.append(text)
    return "\n".join(train), "\n".join(held_out)


def _check_size(characters: int | None) -> None:
    if characters is not None and characters < 1:
        raise ValueError(f"characters must be at least 1, or None for all of the text, but it is {characters}.")
