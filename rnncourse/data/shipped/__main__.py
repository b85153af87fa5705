"""Make the shipped files anew, from the libraries that have them: `python -m rnncourse.data.shipped`.

It needs scikit-learn and Babel, which a developer's installation has (`pip install -e ".[dev]"`) and a student's has
not. The tests hold the files to what it makes. To train the network takes a minute and a half. (The table of words is
made from the documentation strings of Python's own library, and so differs a little from one Python to the next: what
is shipped comes from 3.11.)
"""

import ast
import json
import re
import sysconfig
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped, UInt8

from rnncourse.data.dates import DATE_LANGUAGES
from rnncourse.data.text import train_and_held_out, words
from rnncourse.gradient_flow import orthogonal
from rnncourse.language_model import contiguous_batches, encode, initial_parameters, train_step

FOLDER = Path(__file__).parent
_FORMATS = ("short", "medium", "long", "full")
_SKELETONS = ("yMd", "yMEd", "yMMMd", "yMMMEd")
_NAMED = re.compile(r"MMMM?|E+|c+")  # fields of a pattern that are written as names
_NOT_READ = {"site-packages", "test", "tests", "idlelib", "pydoc_data", "lib2to3"}
_MONDAY = date(2024, 1, 1)


def digits() -> tuple[UInt8[np.ndarray, "1797 8 8"], UInt8[np.ndarray, "1797"]]:
    """Images, grey levels from 0 to 16, and labels, in the order of their source."""
    from sklearn.datasets import load_digits  # type: ignore[import-untyped]

    loaded = load_digits()
    return loaded.images.astype(np.uint8), loaded.target.astype(np.uint8)


def ways_to_write_dates() -> dict[str, dict[str, Any]]:
    """For each language its CLDR patterns that can be read back, and the names that stand for their fields: months
    from January, days of the week from Monday.
    """
    from babel import Locale
    from babel.dates import format_date

    ways = {}
    for language in DATE_LANGUAGES:
        locale = Locale(language)
        found = [locale.date_formats[name] for name in _FORMATS]
        found += [locale.datetime_skeletons[name] for name in _SKELETONS if name in locale.datetime_skeletons]
        patterns = list(dict.fromkeys(way.pattern for way in found if can_be_read_back(way.pattern)))
        fields = sorted({field for pattern in patterns for field in _NAMED.findall(_without_quotes(pattern))})
        months = [date(2024, month, 1) for month in range(1, 13)]
        week = [_MONDAY + timedelta(days=n) for n in range(7)]
        ways[language] = {
            "patterns": patterns,
            "names": {
                field: [format_date(day, field, locale) for day in (months if field[0] == "M" else week)]
                for field in fields
            },
        }
    return ways


def can_be_read_back(pattern: str) -> bool:
    """Whether a CLDR pattern has the whole year, and the day before the month if both are numbers (or the year first).

    >>> [can_be_read_back(pattern) for pattern in ("d. MMMM y", "d.M.yy", "M/d/y", "y-MM-dd")]
    [True, False, False, True]
    """
    fields = re.findall(r"y+|M+|d+", _without_quotes(pattern))
    kinds = [field[0] for field in fields]
    numeric = all(len(field) <= 2 for field in fields if field[0] == "M")
    return sorted(kinds) == ["M", "d", "y"] and "yy" not in fields and not (numeric and kinds == ["M", "d", "y"])


def _without_quotes(pattern: str) -> str:
    return re.sub(r"'[^']*'", "", pattern)


def network(updates: int = 9000, hidden_size: int = 160) -> dict[str, Shaped[np.ndarray, "..."]]:
    """Train a character language model on Python's documentation: U, W, b, V, c as float16, and the code points of the
    "characters", those of ASCII that occur at least thirty times.
    """
    text = " ".join(train_and_held_out("python-docs")[0].split())
    chars = sorted(c for c in set(text) if c.isascii() and text.count(c) >= 30)
    index = {character: i for i, character in enumerate(chars)}
    ids = encode("".join(character for character in text if character in index), index)
    rng, batch_size, steps = np.random.default_rng(0), 32, 48
    parameters = initial_parameters(len(chars), hidden_size, rng)
    parameters["W"] = orthogonal(rng, hidden_size).astype(np.float32)
    memory = {name: np.full_like(p, 0.1) for name, p in parameters.items()}
    batches = list(contiguous_batches(ids, batch_size, steps))
    for update in range(updates):
        if update % len(batches) == 0:  # the beginning of the text
            h = np.zeros((batch_size, hidden_size), dtype=np.float32)
        inputs, targets = batches[update % len(batches)]
        _, h = train_step(parameters, memory, h, inputs, targets, 0.1, 5.0)
    characters = np.array([ord(character) for character in chars], dtype=np.uint8)
    return {name: p.astype(np.float16) for name, p in parameters.items()} | {"characters": characters}


def docstrings() -> Iterator[str]:
    """What the modules, classes and functions of Python's standard library say of themselves, in small letters."""
    library = Path(sysconfig.get_path("stdlib"))
    parts = [part for part in sorted(library.iterdir()) if part.name not in _NOT_READ]
    files = [file for part in parts for file in (sorted(part.rglob("*.py")) if part.is_dir() else [part])]
    for path in files:
        if path.suffix != ".py" or _NOT_READ & set(path.relative_to(library).parts):
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                yield (ast.get_docstring(node) or "").lower()


def word_vectors(
    count: int = 2000, size: int = 32, window: int = 4
) -> tuple[list[str], Float[np.ndarray, "words size"]]:
    """The most frequent words of the docstrings, the most frequent first, and a vector for each.

    Two words that stand among the same neighbours get vectors that point the same way: how much more often than by
    chance a word has each of the 2,000 as a neighbour, as a logarithm (PPMI), of which a singular value decomposition
    keeps what matters most. Entries have a variance of 1.
    """
    texts = [words(text) for text in docstrings()]
    found = Counter(word for text in texts for word in text)
    chosen = [word for word, _ in sorted(found.items(), key=lambda item: (-item[1], item[0]))[:count]]
    index = {word: i for i, word in enumerate(chosen)}
    near = np.zeros((count, count))
    for text in texts:
        ids = np.array([index.get(word, -1) for word in text], dtype=np.int64)
        for distance in range(1, window + 1):
            pairs = np.stack([ids[:-distance], ids[distance:]])
            one, two = pairs[:, (pairs >= 0).all(axis=0)]
            np.add.at(near, (one, two), 1 / distance)
            np.add.at(near, (two, one), 1 / distance)
    total = near.sum(axis=0)
    by_chance = np.outer(total, total**0.75) / (total**0.75).sum()  # rare neighbours count for less
    with np.errstate(divide="ignore", invalid="ignore"):
        more = np.nan_to_num(np.maximum(np.log(near / by_chance), 0), posinf=0)
    left, strength, _ = np.linalg.svd(more, full_matrices=False)
    vectors = left[:, :size] * np.sqrt(strength[:size])
    vectors *= np.sign(
        vectors[np.abs(vectors).argmax(axis=0), np.arange(size)]
    )  # a decomposition leaves the signs open
    return chosen, vectors / vectors.std()


def main() -> None:
    """Write all files."""
    images, labels = digits()
    np.savez_compressed(FOLDER / "digits.npz", images=images, labels=labels)
    text = json.dumps(ways_to_write_dates(), ensure_ascii=False, indent=1)
    (FOLDER / "dates.json").write_text(text + "\n", encoding="utf-8")
    np.savez_compressed(FOLDER / "network.npz", allow_pickle=False, **network())
    chosen, vectors = word_vectors()
    sixteenths = np.clip(np.round(vectors * 16), -127, 127).astype(np.int8)
    np.savez_compressed(FOLDER / "words.npz", words=np.array("\n".join(chosen)), vectors=sixteenths)


if __name__ == "__main__":
    main()
