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
from typing import Any, NoReturn
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

Place = tuple[str, ...]
Reader = Callable[[Any, Place], Any]
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
        due = self.due.get(unit)
        extension = self.extension(unit, names)
        if due is None or extension is None:
            return due
        if isinstance(extension, datetime):
            return max(due, extension)
        days, rest = divmod(extension, timedelta(days=1))
        return days_after(due, days, self.zone or UTC) + rest

    def extension(self, unit: str, names: frozenset[str]) -> Extension | None:
        """What the student who has these names got for a unit."""
        for name in names & self.extensions.keys():
            given = self.extensions[name]
            if found := given.get(unit) or given.get(ALL):
                return found
        return None

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
    return _File(text).rules(data)


def _syntax(text: str, said: str) -> str:
    place = re.search(r"\s*\(at (?:line (\d+), column \d+|end of document)\)\Z", said)
    line = int(place[1]) if place and place[1] else len(text.splitlines())
    words = said[: place.start()] if place else said
    written = text.splitlines()[line - 1] if 0 < line <= len(text.splitlines()) else ""
    hint = ""
    if re.search(r"=\s*\d{4}-\d\d-\d\d[T ]\d\d?:\d\d\b(?!:)", written):
        hint = ' A time without seconds stands in quotes: "2026-11-20 23:59".'
    elif re.search(r"=\s*[\d.]+\s*%|=\s*\d+\s+[a-z]+", written):
        hint = ' A percentage or a number of days stands in quotes: "10 %", "3 days".'
    return f"{NAME}, line {line}: this is no TOML ({words[0].lower()}{words[1:]}).{hint}"


class _File:
    """Reads one file's data, and knows on which line each of it stands. A reader takes a value and the keys that lead
    to it.
    """

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._named: dict[str, str] = {}
        self._zone: ZoneInfo | None = None
        self._due: dict[str, datetime] = {}

    def rules(self, data: dict[str, Any]) -> Rules:
        count = _is("is a whole number, 0 or more", lambda value: type(value) is int and 0 <= value <= 1_000)
        weight = _is("a weight is a number, 0 or more", lambda value: type(value) in (int, float) and 0 <= value <= 1e6)
        late = {
            "per_day": self._share,
            "at_most": self._share,
            "of": _is(f'is "{EARNED}" or "{POSSIBLE}"', lambda value: value in (EARNED, POSSIBLE)),
            "grace": self._duration,
            "free_days": count,
            "free_days_per_unit": count,
            "free_days_of": self._by_student(count),
        }
        term = {
            "drop_lowest": count,
            "extra_credit": self._units,
            "weights": self._by_unit(weight),
            "only": _is("is true or false", lambda value: isinstance(value, bool)),
            "excused": self._by_student(self._units),
        }
        changed = {"dropped": self._exercises, "full_points": self._exercises, "renamed": self._renamed}
        readers = {
            "timezone": self._timezone,
            "due": self._dates,
            "extensions": self._by_student(self._extensions),
            "late": self._table(late),
            "term": self._table(term),
            "changed": self._by_unit(lambda value, path: Changed(**self._table(changed)(value, path))),
        }
        found = self._table(readers)(data, ())
        policy, terms = found.pop("late", {}), found.pop("term", {})
        if terms.get("only") and not terms.get("weights"):
            words = "only = true leaves out all units without a weight, and none has one: add weights"
            self._fail(("term", "only"), words)
        return Rules(
            zone=found.pop("timezone", None),
            free_days_of=policy.pop("free_days_of", {}),
            policy=Policy(**policy),
            term=Term(**terms),
            named=self._named,
            **found,
        )

    def _table(self, readers: Mapping[str, Reader]) -> Reader:
        """A reader of a table in which these settings may be; they are read in this order."""

        def read(value: Any, path: Place) -> dict[str, Any]:
            for key in self._items(value, path):
                if key not in readers:
                    where = f"[{'.'.join(path)}]" if path else NAME
                    self._fail((*path, key), f"{where} has no setting {key!r}; there are {', '.join(readers)}")
            return {key: self._read(readers[key], value[key], (*path, key)) for key in readers if key in value}

        return read

    def _by_unit(self, reader: Reader) -> Reader:
        def read(value: Any, path: Place) -> dict[str, Any]:
            items = self._items(value, path).items()
            return {self._unit(key, (*path, key)): self._read(reader, one, (*path, key)) for key, one in items}

        return read

    def _by_student(self, reader: Reader) -> Reader:
        def read(value: Any, path: Place) -> dict[str, Any]:
            found = {}
            for student, one in self._items(value, path).items():
                place = (*path, student)
                if folded(student) in found:
                    self._fail(place, f"{student!r} stands here twice")
                self._named.setdefault(student, f"line {self._line(place)}")
                found[folded(student)] = self._read(reader, one, place)
            return found

        return read

    def _read(self, reader: Reader, value: Any, path: Place) -> Any:
        try:
            return reader(value, path)
        except ValueError as why:
            self._fail(path, str(why))

    def _items(self, value: Any, path: Place) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._fail(path, f"{path[-1]} is a table: write [{'.'.join(path)}] on a line, and below it what it holds")
        return value

    def _dates(self, value: Any, path: Place) -> dict[str, datetime]:
        due = self._by_unit(self._date)(value, path)
        self._due = dict(sorted(due.items(), key=lambda pair: (pair[1], pair[0])))
        return self._due

    def _extensions(self, given: Any, path: Place) -> dict[str, Extension]:
        if not isinstance(given, dict):
            raise ValueError('an extension names a unit, as in {03 = "3 days"}')
        found: dict[str, Extension] = {}
        for key, value in given.items():
            place = (*path, key)
            unit = ALL if key == ALL else self._unit(key, place)
            if unit != ALL and unit not in self._due:
                self._fail(place, f"{unit} has no due date: give it one under [due]")
            text = value.strip() if isinstance(value, str) else ""
            is_duration = bool(_DURATION.match(text)) or text.isdecimal()
            found[unit] = self._read(self._duration if is_duration else self._date, value, place)
            if isinstance(later := found[unit], datetime) and unit != ALL and later <= self._due[unit]:
                self._fail(place, f"{_shown(value)} is no extension: {unit} is due no earlier for all")
        return found

    def _exercises(self, value: Any, path: Place) -> frozenset[str]:
        """Names of exercises, or of written questions, which end in "_written"."""
        unit = exercises.unit(path[1])
        known = [e.name for e in unit]
        if not isinstance(value, list):
            raise ValueError(f'{path[-1]} is a list of exercises, as in ["rnn_step"], and not {_shown(value)}')
        for name in value:
            if not isinstance(name, str) or not (name in known or name.endswith("_written")):
                raise ValueError(f"{unit.stem} has no exercise {_shown(name)}; there are {', '.join(known)}")
        return frozenset(value)

    def _renamed(self, value: Any, path: Place) -> dict[str, str]:
        self._exercises(list(self._items(value, path).values()), path)
        return dict(value)

    def _timezone(self, name: Any, path: Place) -> ZoneInfo:
        if not isinstance(name, str) or name not in available_timezones():
            raise ValueError(f'there is no time zone {name!r}; they are called as in "Europe/Berlin"')
        self._zone = ZoneInfo(name)
        return self._zone

    def _date(self, value: Any, path: Place) -> datetime:
        """A moment, in UTC. A date alone is the end of that day."""
        local: datetime | None = None
        if isinstance(value, datetime):
            local = value
        elif isinstance(value, date):
            local = datetime.combine(value, time(23, 59, 59))
        elif isinstance(value, str):
            text = value.strip()
            with suppress(ValueError):
                local = iso(text if re.match(r".{10}[T ]\d", text) else f"{text[:10]}T23:59:59{text[10:]}")
        if local is None or not 1990 <= local.year <= 2200:
            raise ValueError(f'{_shown(value)} is no date: write it as in "2026-11-20 23:59"')
        if local.tzinfo is not None:
            return local.astimezone(UTC)
        if self._zone is None:
            raise ValueError('say at the top of the file in which time zone that is: timezone = "Europe/Berlin"')
        return moment(local, self._zone)

    def _duration(self, value: Any, path: Place) -> timedelta:
        found = _DURATION.match(value.strip()) if isinstance(value, str) else None
        if found is None or float(found[1]) > 10_000:
            raise ValueError(f'{_shown(value)} is no length of time: write it as in "3 days" or "15 minutes"')
        return timedelta(**{f"{found[2]}s": float(found[1])})

    def _share(self, value: Any, path: Place) -> float:
        found = _PERCENT.match(value.strip()) if isinstance(value, str) else None
        share = float(found[1]) / 100 if found else value
        if type(share) not in (int, float) or not 0 <= share <= 1:
            raise ValueError(f'{path[-1]} is a share, from 0 to 1 or as in "10 %", and not {_shown(value)}')
        return float(share)

    def _unit(self, key: Any, path: Place) -> str:
        try:
            return exercises.unit(key).stem
        except (KeyError, AttributeError, TypeError):
            self._fail(path, f'there is no unit {_shown(key)}; units are called as in "03" or "03_cell"')

    def _units(self, value: Any, path: Place) -> frozenset[str]:
        if not isinstance(value, list):
            raise ValueError(f'{path[-1]} is a list of units, as in ["03", "05"], and not {_shown(value)}')
        return frozenset(self._unit(key, path) for key in value)

    def _fail(self, path: Place, what: str) -> NoReturn:
        raise DeskError(f"{NAME}, line {self._line(path)}: {what}.")

    def _line(self, path: tuple[str, ...]) -> int:
        """The line on which a setting stands: that with which the file, read so far, comes to have it."""
        for number in range(1, len(self._lines) + 1):
            try:
                found: Any = tomllib.loads("".join(self._lines[:number]))
            except tomllib.TOMLDecodeError:
                continue  # in the middle of something
            for key in path:
                found = found.get(key, _MISSING) if isinstance(found, dict) else _MISSING
            if found is not _MISSING:
                return number
        return 1


_MISSING = object()


def _is(words: str, holds: Callable[[Any], bool]) -> Reader:
    """A reader of values for which something holds; the words say what a value is, or what this setting's is."""

    def read(value: Any, path: Place) -> Any:
        if not holds(value):
            raise ValueError(f"{'' if ' is ' in words else f'{path[-1]} '}{words}, and not {_shown(value)}")
        return value

    return read


def _shown(value: Any) -> str:
    text = str(value) if isinstance(value, date | time) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
