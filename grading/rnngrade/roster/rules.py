"""The rules of a class, the desk's `desk.toml`: when units are due, what being late costs, how the term counts, and
what has come to light of a unit since. grading/README.md shows all settings.

Units go by their number or their name, students by any name that the class list or the desk has for them. What is wrong
in the file is told in one sentence, with its line.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from rnncourse import exercises
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError
from rnngrade.roster.lateness import EARNED, POSSIBLE, Policy, days_after, iso, moment
from rnngrade.roster.names import none_called
from rnngrade.roster.students import ClassList, folded

NAME = "desk.toml"
ALL = "*"

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(minute|hour|day|week)s?\Z")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%\Z")

Reader = Callable[[Any, str], Any]  # of a value, and of the keys that lead to it, with dots
Extension = timedelta | datetime


@dataclass(frozen=True)
class Term:
    """How units count in the total. `weights` has those that are named; `only` leaves all others out."""

    weights: Mapping[str, float] = field(default_factory=dict)
    only: bool = False
    drop_lowest: int = 0
    extra_credit: frozenset[str] = frozenset()
    excused: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by student, folded

    def weight(self, unit: str) -> float:
        return self.weights.get(unit, 0.0 if self.only else 1.0)


@dataclass(frozen=True)
class Changed:
    """What has come to light of a unit: exercises by name."""

    dropped: frozenset[str] = frozenset()
    full_points: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Rules:
    """What `desk.toml` says; without one, nothing is due."""

    zone: ZoneInfo | None = None
    due: Mapping[str, datetime] = field(default_factory=dict)  # in UTC, in the order in which units are due
    extensions: Mapping[str, Mapping[str, Extension]] = field(default_factory=dict)  # by student, folded, and unit
    policy: Policy = field(default_factory=Policy)
    free_days_of: Mapping[str, int] = field(default_factory=dict)
    term: Term = Term()
    changed: Mapping[str, Changed] = field(default_factory=dict)  # by unit
    named: Mapping[str, str] = field(default_factory=dict)  # students as they are written, with "line 7", by name

    def due_for(self, unit: str, names: frozenset[str]) -> datetime | None:
        """When a unit is due for the student who has these names, in UTC; None if it is not."""
        due, theirs = self.due.get(unit), [self.extensions[name] for name in names & self.extensions.keys()]
        found = [extension for given in theirs if (extension := given.get(unit) or given.get(ALL))]
        if due is None or not found:
            return due
        if isinstance(extension := found[0], datetime):
            return max(due, extension)
        days, rest = divmod(extension, timedelta(days=1))
        return days_after(due, days, self.zone or UTC) + rest

    def policy_for(self, names: frozenset[str]) -> Policy:
        """The policy, with the late days of the student who has these names."""
        days = [self.free_days_of[name] for name in names & self.free_days_of.keys()]
        return replace(self.policy, free_days=days[0]) if days else self.policy

    def unmatched(self, students: Iterator[str], people: ClassList) -> list[str]:
        """A sentence for each name in the file which nobody in the class has, or more than one."""
        everybody = sorted({*students, *people.people})
        there = frozenset[str]().union(*map(people.names_of, everybody))
        where = "in the class" if people else "who handed in"
        return [
            f"{NAME}, {line}: {none_called(name, everybody, people, where)}"
            for name, line in self.named.items()
            if folded(name) not in there
        ]


def rules_of(desk: Desk) -> Rules:
    """The rules of a class. **Errors:** `DeskError`."""
    path = desk.given(NAME)
    try:
        return read_rules(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return Rules()
    except UnicodeDecodeError:
        raise DeskError(f"{NAME} is not written in UTF-8: save it as UTF-8.") from None


def read_rules(text: str) -> Rules:
    """The rules that a text gives. **Errors:** `DeskError`.

    >>> rules = read_rules('timezone = "Europe/Berlin"\\n[due]\\n03 = "2026-11-20 23:59"\\n')
    >>> str(rules.due["03_cell"])
    '2026-11-20 22:59:00+00:00'
    >>> read_rules('[late]\\nper_day = 10')
    Traceback (most recent call last):
    rnngrade.core.errors.DeskError: desk.toml, line 2: per_day is a share, from 0 to 1 or as in "10 %", and not 10.
    """
    text = text.replace("\r\n", "\n")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DeskError(_syntax(text, str(error))) from None
    if words := _wrong(data):
        line = next(line for line, part in _so_far(text) if _wrong(part) == words)
        raise DeskError(f"{NAME}, line {line}: {words}.")
    named: dict[str, str] = {}
    for line, part in _so_far(text):
        for student in _students(part):
            named.setdefault(student, f"line {line}")
    return replace(_rules(data), named=named)


def _so_far(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each line, and what stands in the file as far as it: on the first that has something, that stands."""
    lines = text.splitlines(keepends=True)
    for number in range(1, len(lines) + 1):
        with suppress(tomllib.TOMLDecodeError):  # in the middle of something
            yield number, tomllib.loads("".join(lines[:number]))


def _syntax(text: str, said: str) -> str:
    words, lines, place = said.partition(" (at ")[0], text.splitlines(), re.search(r"\(at line (\d+),", said)
    line = int(place[1]) if place else len(lines)
    written = lines[line - 1] if 0 < line <= len(lines) else ""
    hint = ""
    if re.search(r"=\s*(?:\d{4}-\d\d-\d\d[T ]\d\d?:\d\d\b(?!:)|[\d.]+\s*%|\d+\s+[a-z]+)", written):
        hint = ' A time without seconds stands in quotes, "2026-11-20 23:59", as do "10 %" and "3 days".'
    return f"{NAME}, line {line}: this is no TOML ({words[0].lower()}{words[1:]}).{hint}"


def _wrong(data: dict[str, Any]) -> str:
    """What is wrong in the file; nothing, if nothing is."""
    try:
        _rules(data)
    except ValueError as why:
        return str(why)
    return ""


def _students(data: dict[str, Any]) -> Iterator[str]:
    """The students who are named in the file, as they are written there."""
    yield from data.get("extensions", {})
    yield from data.get("late", {}).get("free_days_of", {})
    yield from data.get("term", {}).get("excused", {})


# --- readers. **Errors:** `ValueError` with what is wrong, of all of them.


def _is(holds: Callable[[Any], bool], words: str) -> Reader:
    """A reader of values for which something holds; the words say what a value is, or what {key} is."""

    def read(value: Any, place: str) -> Any:
        if not holds(value):
            said = words.format(key=place.rpartition(".")[2], place=place)
            raise ValueError(f"{said}, and not {_shown(value)}")
        return value

    return read


_items = _is(
    lambda value: isinstance(value, dict), "{key} is a table: write [{place}] on a line, and below it its keys"
)


def _table(readers: Mapping[str, Reader]) -> Reader:
    """A reader of a table in which these settings may be; they are read in this order."""

    def read(value: Any, place: str) -> dict[str, Any]:
        if others := [key for key in _items(value, place) if key not in readers]:
            where = f"[{place}]" if place else NAME
            raise ValueError(f"{where} has no setting {others[0]!r}; there are {', '.join(readers)}")
        return {key: readers[key](value[key], f"{place}.{key}".lstrip(".")) for key in readers if key in value}

    return read


def _each(name: Callable[[str], str], reader: Reader) -> Reader:
    """A reader of a table by names, of units or students."""

    def read(value: Any, place: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, one in _items(value, place).items():
            if name(key) in found:
                raise ValueError(f"{key!r} stands here twice")
            found[name(key)] = reader(one, f"{place}.{key}")
        return found

    return read


def _list(words: str, name: Callable[[Any], str]) -> Reader:
    listed = _is(lambda value: isinstance(value, list), f"{{key}} is a list of {words}")
    return lambda value, place: frozenset(map(name, listed(value, place)))


def _share(value: Any, place: str) -> float:
    found = _PERCENT.match(value.strip()) if isinstance(value, str) else None
    share = float(found[1]) / 100 if found else value
    is_share = type(share) in (int, float) and 0 <= share <= 1
    _is(lambda _: is_share, '{key} is a share, from 0 to 1 or as in "10 %"')(value, place)
    return float(share)


def _duration(value: Any, place: str) -> timedelta:
    found = _DURATION.match(value.strip()) if isinstance(value, str) else None
    if found is None or float(found[1]) > 10_000:
        raise ValueError(f'{_shown(value)} is no length of time: write it as in "3 days" or "15 minutes"')
    return timedelta(**{f"{found[2]}s": float(found[1])})


def _date(value: Any, place: str) -> datetime:
    """A moment, or a time on the class's clock. A date alone is the end of that day."""
    found = value if isinstance(value, datetime) else None
    if found is None and isinstance(value, date | str):
        text = str(value).strip()
        with suppress(ValueError):
            found = iso(text if re.match(r".{10}[T ]\d", text) else f"{text[:10]}T23:59:59{text[10:]}")
    if found is None or not 1990 <= found.year <= 2200:
        raise ValueError(f'{_shown(value)} is no date: write it as in "2026-11-20 23:59"')
    return found


def _extension(value: Any, place: str) -> Extension:
    text = value.strip() if isinstance(value, str) else ""
    return (_duration if text.isdecimal() or _DURATION.match(text) else _date)(value, place)


def _timezone(name: Any, place: str) -> ZoneInfo:
    if not isinstance(name, str) or name not in available_timezones():
        raise ValueError(f'there is no time zone {name!r}; they are called as in "Europe/Berlin"')
    return ZoneInfo(name)


def _unit(key: Any) -> str:
    try:
        return exercises.unit(key).stem
    except (KeyError, AttributeError, TypeError):
        raise ValueError(f'there is no unit {_shown(key)}; units are called as in "03" or "03_cell"') from None


def _shown(value: Any) -> str:
    text = str(value) if isinstance(value, date | time) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


_COUNT = _is(lambda value: type(value) is int and 0 <= value <= 1_000, "{key} is a whole number, 0 or more")
_WEIGHT = _is(lambda value: type(value) in (int, float) and 0 <= value <= 1e6, "a weight is a number, 0 or more")
_UNITS = _list('units, as in ["03", "05"]', _unit)
_EXERCISES = _list('exercises, as in ["rnn_step"]', str)
_SETTINGS = _table({
    "timezone": _timezone,
    "due": _each(_unit, _date),
    "extensions": _each(folded, _each(lambda key: key if key == ALL else _unit(key), _extension)),
    "late": _table({
        "per_day": _share,
        "at_most": _share,
        "of": _is(lambda value: value in (EARNED, POSSIBLE), f'{{key}} is "{EARNED}" or "{POSSIBLE}"'),
        "grace": _duration,
        "free_days": _COUNT,
        "free_days_per_unit": _COUNT,
        "free_days_of": _each(folded, _COUNT),
    }),
    "term": _table({
        "drop_lowest": _COUNT,
        "extra_credit": _UNITS,
        "weights": _each(_unit, _WEIGHT),
        "only": _is(lambda value: isinstance(value, bool), "{key} is true or false"),
        "excused": _each(folded, _UNITS),
    }),
    "changed": _each(_unit, _table({"dropped": _EXERCISES, "full_points": _EXERCISES, "renamed": _items})),
})  # fmt: skip


def _rules(data: dict[str, Any]) -> Rules:
    found = _SETTINGS(data, "")
    zone, late, term = found.get("timezone"), found.get("late", {}), Term(**found.get("term", {}))

    def moments(given: Mapping[str, Extension]) -> dict[str, Any]:
        """The same in UTC; how long an extension is stays."""
        if zone is None and any(isinstance(when, datetime) and when.tzinfo is None for when in given.values()):
            raise ValueError('say at the top of the file in which time zone that is: timezone = "Europe/Berlin"')
        clock = zone or UTC
        return {one: when if isinstance(when, timedelta) else moment(when, clock) for one, when in given.items()}

    due = dict(sorted(moments(found.get("due", {})).items(), key=lambda pair: (pair[1], pair[0])))
    extensions = {student: moments(given) for student, given in found.get("extensions", {}).items()}
    for unit, later in (pair for given in extensions.values() for pair in given.items()):
        if unit not in (ALL, *due):
            raise ValueError(f"{unit} has no due date: give it one under [due]")
        if isinstance(later, datetime) and unit != ALL and later <= due[unit]:
            raise ValueError(f"{later:%Y-%m-%d} is no extension: {unit} is due no earlier for all")
    changed = {unit: Changed(**given) for unit, given in found.get("changed", {}).items()}
    for unit, one in changed.items():
        known = [exercise.name for exercise in exercises.unit(unit)]
        for name in (*one.dropped, *one.full_points, *one.renamed.values()):
            if name not in known and not str(name).endswith("_written"):  # a written question's
                raise ValueError(f"{unit} has no exercise {_shown(name)}; there are {', '.join(known)}")
    if term.only and not term.weights:
        raise ValueError("only = true leaves out all units without a weight, and none has one: add weights")
    free_days_of = late.pop("free_days_of", {})
    return Rules(zone, due, extensions, Policy(**late), free_days_of, term, changed)
