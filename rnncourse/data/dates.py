"""Dates as they are written in eleven languages, and the same dates in ISO 8601: a task of translation with one truth.

    quarta-feira, 4 de março de 2009     4. maaliskuuta 2009     Mar 4, 2009     04/03/2009      ->   2009-03-04

Names and patterns are those of Unicode's Common Locale Data Repository (CLDR), in `shipped/dates.json`. Each
language has four ways or more to write a date, with and without the day of the week. Left out is what cannot be read
back for certain: years of two digits, and months before days where both are numbers (3/4/2009 is April 3 in Spanish,
and March 4 in English). With that every text has one reading, in whichever language.

One day in ten is held out, by its date: no text of a held-out day, in any language, can be met in training.

Source: Unicode Technical Standard #35, part 4, "Dates", for the patterns; ISO 8601:2004 for the answers.
"""

import functools
import json
import re
import zlib
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

DATE_LANGUAGES = ("de", "en", "es", "fi", "fr", "it", "nl", "pl", "pt", "sv", "tr")
FIRST_DAY, LAST_DAY = date(1950, 1, 1), date(2049, 12, 31)

PAD, BOS, EOS = 0, 1, 2  # the same ids in both vocabularies
_MARKS = ("<pad>", "<bos>", "<eos>")
ISO_VOCABULARY = (*_MARKS, "-", *"0123456789")

_FILE = Path(__file__).parent / "shipped" / "dates.json"
_FIELD = re.compile(r"(y+|M+|d+|E+|c+)|'([^']*)'")


class WrittenDate(NamedTuple):
    """A date as it is written in a language, and in ISO 8601."""

    text: str
    iso: str
    language: str


class EncodedDates(NamedTuple):
    """N dates as ids: source (S, N), padded at the end, its lengths (N,), and targets (11, N), whose last id is EOS."""

    source: Int[np.ndarray, "S N"]
    lengths: Int[np.ndarray, "N"]
    targets: Int[np.ndarray, "11 N"]


def written_dates(rng: np.random.Generator, count: int, held_out: bool = False) -> list[WrittenDate]:
    """Draw dates: a day from 1950 to 2049, a language and one of its ways to write, each evenly.

    With `held_out` they are days that are never drawn without it.

    >>> written_dates(np.random.default_rng(4), 2)
    [WrittenDate(text='...', iso='...-...-...', language='...'), WrittenDate(...)]
    """
    training, kept_back = _days()
    days = kept_back if held_out else training
    drawn = []
    for day, language in zip(rng.integers(len(days), size=count), rng.integers(len(DATE_LANGUAGES), size=count)):
        patterns = _patterns(DATE_LANGUAGES[language])
        drawn.append(_write(days[day], DATE_LANGUAGES[language], patterns[rng.integers(len(patterns))]))
    return drawn


def written_as(day: date, language: str) -> list[WrittenDate]:
    """Write one day in every way that a language has. A ValueError if it is none of `DATE_LANGUAGES`.

    >>> [written.text for written in written_as(date(2009, 3, 4), "nl")]
    ['04-03-2009', '4 mrt 2009', '4 maart 2009', 'woensdag 4 maart 2009', '4-3-2009', 'wo 4-3-2009', 'wo 4 mrt 2009']
    """
    if language not in DATE_LANGUAGES:
        raise ValueError(f"The languages are {', '.join(DATE_LANGUAGES)}; {language!r} is none of them.")
    return list(dict.fromkeys(_write(day, language, pattern) for pattern in _patterns(language)))


def is_held_out(day: date) -> bool:
    """Say whether a day is held out. Its ISO form alone decides, so that it is the same day everywhere and for ever.

    >>> sum(is_held_out(date(2000, 1, d)) for d in range(1, 32))
    3
    """
    return zlib.crc32(day.isoformat().encode()) % 10 == 0


@functools.cache
def date_vocabulary() -> tuple[str, ...]:
    """Return all characters in which a date can be written, in code-point order, behind the three marks.

    The place of a character is its id.

    >>> len(date_vocabulary()), date_vocabulary()[:4]
    (..., ('<pad>', '<bos>', '<eos>', ' '))
    """
    days = [date(2000, month, 1) for month in range(1, 13)] + [date(2000, 1, d) for d in range(2, 32)]
    texts = (written.text for language in DATE_LANGUAGES for day in days for written in written_as(day, language))
    return (*_MARKS, *sorted({character for text in texts for character in text}))


def encode_dates(dates: Sequence[WrittenDate]) -> EncodedDates:
    """Turn N dates into ids: texts by `date_vocabulary()`, answers by `ISO_VOCABULARY`. A ValueError if there is none.

    >>> encoded = encode_dates(written_as(date(2009, 3, 4), "nl")[:2])
    >>> encoded.source.shape, encoded.lengths, encoded.targets.shape
    ((10, 2), array([10, 10]), (11, 2))
    >>> "".join(ISO_VOCABULARY[i] for i in encoded.targets[:, 0])
    '2009-03-04<eos>'
    """
    if not dates:
        raise ValueError("There is no date to encode: give one or more.")
    characters = {character: i for i, character in enumerate(date_vocabulary())}
    answers = {character: i for i, character in enumerate(ISO_VOCABULARY)}
    lengths = np.array([len(written.text) for written in dates], dtype=np.int64)
    source = np.full((lengths.max(), len(dates)), PAD, dtype=np.int64)
    for n, written in enumerate(dates):
        source[: lengths[n], n] = [characters[character] for character in written.text]
    targets = np.array([[*(answers[character] for character in written.iso), EOS] for written in dates])
    return EncodedDates(source, lengths, targets.T.astype(np.int64))


@functools.cache
def _days() -> tuple[list[date], list[date]]:
    """All days from FIRST_DAY to LAST_DAY: (to train on, held out)."""
    days = [date.fromordinal(n) for n in range(FIRST_DAY.toordinal(), LAST_DAY.toordinal() + 1)]
    return [day for day in days if not is_held_out(day)], [day for day in days if is_held_out(day)]


@functools.cache
def _ways() -> dict[str, dict[str, Any]]:
    """For each language its patterns, and the names of months and days by the field of a pattern."""
    found: dict[str, dict[str, Any]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


def _patterns(language: str) -> list[str]:
    """The ways in which a language writes a date that can be read back, each once."""
    patterns: list[str] = _ways()[language]["patterns"]
    return patterns


def _write(day: date, language: str, pattern: str) -> WrittenDate:
    return WrittenDate(_filled(pattern, day, _ways()[language]["names"]), day.isoformat(), language)


def _filled(pattern: str, day: date, names: dict[str, list[str]]) -> str:
    """A date by a CLDR pattern: y the year, M the month, d the day, E and c that of the week; in quotes, plain text.

    >>> _filled("E, d 'de' MM 'de' y", date(2009, 3, 4), {"E": ["seg.", "ter.", "qua."]})
    'qua., 4 de 03 de 2009'
    """

    def written(found: re.Match[str]) -> str:
        field, quoted = found.groups()
        if quoted is not None:
            return quoted
        if field in names:
            return names[field][day.month - 1 if field[0] == "M" else day.weekday()]
        number = {"y": day.year, "M": day.month, "d": day.day}[field[0]]
        return str(number).zfill(len(field))

    return _FIELD.sub(written, pattern)
