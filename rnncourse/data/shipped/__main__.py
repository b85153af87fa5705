"""Make the shipped files anew, from the libraries that have them: `python -m rnncourse.data.shipped`.

It needs scikit-learn and Babel, which a developer's installation has (`pip install -e ".[dev]"`) and a student's has
not. The tests hold the files to what it makes. To train the network takes a minute and a half.
"""

from __future__ import annotations

import json
import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped, UInt8

from rnncourse.data.dates import DATE_LANGUAGES
from rnncourse.data.text import train_and_held_out
from rnncourse.gradient_flow import orthogonal
from rnncourse.language_model import contiguous_batches, encode, initial_parameters, train_step

FOLDER = Path(__file__).parent
_FORMATS = ("short", "medium", "long", "full")
_SKELETONS = ("yMd", "yMEd", "yMMMd", "yMMMEd")
_NAMED = re.compile(r"MMMM?|E+|c+")  # fields of a pattern that are written as names
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


def main() -> None:
    """Write all three files."""
    images, labels = digits()
    np.savez_compressed(FOLDER / "digits.npz", images=images, labels=labels)
    text = json.dumps(ways_to_write_dates(), ensure_ascii=False, indent=1)
    (FOLDER / "dates.json").write_text(text + "\n", encoding="utf-8")
    np.savez_compressed(FOLDER / "network.npz", allow_pickle=False, **network())


if __name__ == "__main__":
    main()
