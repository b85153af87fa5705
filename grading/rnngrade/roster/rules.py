"""The rules of a class, the desk's `desk.toml`: when units are due, what being late costs, how the term counts, and
what has come to light of a unit since. grading/README.md shows all settings.

Units go by their number or their name, students by any name that the class list or the desk has for them. What is wrong
in the file is told in one sentence, with its line.
"""

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NoReturn, TypeVar
from zoneinfo import ZoneInfo, available_timezones

from rnncourse import exercises
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError
from rnngrade.roster.lateness import EARNED, POSSIBLE, Policy, days_after, moment
from rnngrade.roster.names import none_called
from rnngrade.roster.students import ClassList, folded

NAME = "desk.toml"
ALL = "*"

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(minute|hour|day|week)s?\Z")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%\Z")

Value = TypeVar("Value")
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
        """How much a unit counts; 0 if not at all."""
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


def rules_of(desk: Desk) -> Rules | None:
    """The rules of a class; None if it has none. **Errors:** `DeskError`."""
    path = desk.given(NAME)
    try:
        return read_rules(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return None
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
    """An error of the notation as a sentence."""
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
    """Reads one file's data, and knows on which line each of it stands."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._named: dict[str, str] = {}

    def rules(self, data: dict[str, Any]) -> Rules:
        self._known(data, (), ("timezone", "due", "extensions", "late", "term", "changed"))
        zone = self._zone(data)
        due = {}
        for key, value in self._table(data, ("due",)).items():
            due[self._unit(key, ("due", key))] = self._date(value, ("due", key), zone)
        late = self._table(data, ("late",))
        policy = self._policy(late)
        return Rules(
            zone=zone,
            due=dict(sorted(due.items(), key=lambda pair: (pair[1], pair[0]))),
            extensions=self._extensions(data, due, zone),
            policy=policy,
            free_days_of=self._by_student(late, ("late", "free_days_of"), self._count),
            term=self._term(self._table(data, ("term",))),
            changed=self._changed(self._table(data, ("changed",))),
            named=self._named,
        )

    def _policy(self, late: dict[str, Any]) -> Policy:
        read: dict[str, Callable[[Any, tuple[str, ...]], Any]] = {
            "per_day": self._share,
            "at_most": self._share,
            "of": self._of,
            "grace": self._duration,
            "free_days": self._count,
            "free_days_per_unit": self._count,
        }
        self._known(late, ("late",), (*read, "free_days_of"))
        return Policy(**{key: one(late[key], ("late", key)) for key, one in read.items() if key in late})

    def _extensions(
        self, data: dict[str, Any], due: Mapping[str, datetime], zone: ZoneInfo | None
    ) -> dict[str, dict[str, Extension]]:
        def read(given: Any, path: tuple[str, ...]) -> dict[str, Extension]:
            if not isinstance(given, dict):
                self._fail(path, 'an extension names a unit, as in {03 = "3 days"}')
            found: dict[str, Extension] = {}
            for key, value in given.items():
                place = (*path, key)
                unit = ALL if key == ALL else self._unit(key, place)
                if unit != ALL and unit not in due:
                    self._fail(place, f"{unit} has no due date: give it one under [due]")
                text = value.strip() if isinstance(value, str) else ""
                is_duration = bool(_DURATION.match(text)) or text.isdecimal()
                found[unit] = self._duration(value, place) if is_duration else self._date(value, place, zone)
                if isinstance(later := found[unit], datetime) and unit != ALL and later <= due[unit]:
                    self._fail(place, f"{_shown(value)} is no extension: {unit} is due no earlier for all")
            return found

        return self._by_student(data, ("extensions",), read)

    def _term(self, term: dict[str, Any]) -> Term:
        self._known(term, ("term",), ("drop_lowest", "extra_credit", "weights", "only", "excused"))
        only = term.get("only", False)
        if not isinstance(only, bool):
            self._fail(("term", "only"), "only is true or false")
        weights = {}
        for key, value in self._table(term, ("term", "weights")).items():
            place = ("term", "weights", key)
            weights[self._unit(key, place)] = self._weight(value, place)
        if only and not weights:
            self._fail(
                ("term", "only"), "only = true leaves out all units without a weight, and none has one: add weights"
            )
        return Term(
            weights,
            only,
            self._count(term.get("drop_lowest", 0), ("term", "drop_lowest")),
            self._units(term.get("extra_credit", []), ("term", "extra_credit")),
            self._by_student(term, ("term", "excused"), self._units),
        )

    def _changed(self, data: dict[str, Any]) -> dict[str, Changed]:
        found = {}
        for key, given in data.items():
            path = ("changed", key)
            unit = self._unit(key, path)
            self._table(data, path)
            self._known(given, path, ("dropped", "full_points", "renamed"))
            names = {
                what: self._exercises(given.get(what, []), unit, (*path, what)) for what in ("dropped", "full_points")
            }
            renamed = self._table(given, (*path, "renamed"))
            self._exercises(list(renamed.values()), unit, (*path, "renamed"))
            found[unit] = Changed(**names, renamed=renamed)
        return found

    def _exercises(self, value: Any, unit: str, path: tuple[str, ...]) -> frozenset[str]:
        """Names of exercises, or of written questions, which end in "_written"."""
        if not isinstance(value, list):
            self._fail(path, f'{path[-1]} is a list of exercises, as in ["rnn_step"], and not {_shown(value)}')
        for name in value:
            known = [e.name for e in exercises.unit(unit)]
            if not isinstance(name, str) or not (name in known or name.endswith("_written")):
                self._fail(path, f"{unit} has no exercise {_shown(name)}; there are {', '.join(known)}")
        return frozenset(value)

    def _zone(self, data: dict[str, Any]) -> ZoneInfo | None:
        name = data.get("timezone")
        if name is None:
            return None
        if not isinstance(name, str) or name not in available_timezones():
            self._fail(("timezone",), f'there is no time zone {name!r}; they are called as in "Europe/Berlin"')
        return ZoneInfo(name)

    def _date(self, value: Any, path: tuple[str, ...], zone: ZoneInfo | None) -> datetime:
        """A moment, in UTC. A date alone is the end of that day."""
        local: datetime | None = None
        if isinstance(value, datetime):
            local = value
        elif isinstance(value, date):
            local = _end_of(value)
        elif isinstance(value, str):
            text = re.sub(r"\s+(?=[+Z-])", "", value.strip().replace("UTC", "Z"))
            text = re.sub(r"[ T](?=\d:)", " 0", text)
            if text[10:11] not in ("T", " "):
                text = f"{text[:10]}T23:59:59{text[10:]}"
            with suppress(ValueError):
                local = datetime.fromisoformat(text)
        if local is None or not 1990 <= local.year <= 2200:
            self._fail(path, f'{_shown(value)} is no date: write it as in "2026-11-20 23:59"')
        if local.tzinfo is not None:
            return local.astimezone(UTC)
        if zone is None:
            self._fail(path, 'say at the top of the file in which time zone that is: timezone = "Europe/Berlin"')
        return moment(local, zone)

    def _duration(self, value: Any, path: tuple[str, ...]) -> timedelta:
        found = _DURATION.match(value.strip()) if isinstance(value, str) else None
        if found is None or float(found[1]) > 10_000:
            self._fail(path, f'{_shown(value)} is no length of time: write it as in "3 days" or "15 minutes"')
        return timedelta(**{f"{found[2]}s": float(found[1])})

    def _share(self, value: Any, path: tuple[str, ...]) -> float:
        found = _PERCENT.match(value.strip()) if isinstance(value, str) else None
        share = float(found[1]) / 100 if found else value
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            self._fail(path, f'{path[-1]} is a share, from 0 to 1 or as in "10 %", and not {_shown(value)}')
        return float(share)

    def _count(self, value: Any, path: tuple[str, ...]) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 1_000:
            self._fail(path, f"{path[-1]} is a whole number, 0 or more, and not {_shown(value)}")
        return value

    def _weight(self, value: Any, path: tuple[str, ...]) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or not 0 <= value <= 1e6:
            self._fail(path, f"a weight is a number, 0 or more, and not {_shown(value)}")
        return float(value)

    def _of(self, value: Any, path: tuple[str, ...]) -> str:
        if value not in (EARNED, POSSIBLE):
            self._fail(path, f'of is "{EARNED}" or "{POSSIBLE}", and not {_shown(value)}')
        return str(value)

    def _unit(self, key: Any, path: tuple[str, ...]) -> str:
        try:
            return exercises.unit(key).stem
        except (KeyError, AttributeError, TypeError):
            self._fail(path, f'there is no unit {_shown(key)}; units are called as in "03" or "03_cell"')

    def _units(self, value: Any, path: tuple[str, ...]) -> frozenset[str]:
        if not isinstance(value, list):
            self._fail(path, f'{path[-1]} is a list of units, as in ["03", "05"], and not {_shown(value)}')
        return frozenset(self._unit(key, path) for key in value)

    def _by_student(
        self, data: dict[str, Any], path: tuple[str, ...], read: Callable[[Any, tuple[str, ...]], Value]
    ) -> dict[str, Value]:
        found = {}
        for student, value in self._table(data, path).items():
            place = (*path, student)
            if folded(student) in found:
                self._fail(place, f"{student!r} stands here twice")
            self._named.setdefault(student, f"line {self._line(place)}")
            found[folded(student)] = read(value, place)
        return found

    def _table(self, data: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        value = data.get(path[-1], {})
        if not isinstance(value, dict):
            self._fail(path, f"{path[-1]} is a table: write [{'.'.join(path)}] on a line, and below it what it holds")
        return value

    def _known(self, data: dict[str, Any], path: tuple[str, ...], keys: tuple[str, ...]) -> None:
        for key in data:
            if key not in keys:
                where = f"[{'.'.join(path)}]" if path else NAME
                self._fail((*path, key), f"{where} has no setting {key!r}; there are {', '.join(keys)}")

    def _fail(self, path: tuple[str, ...], what: str) -> NoReturn:
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


def _end_of(day: date) -> datetime:
    return datetime.combine(day, time(23, 59, 59))


def _shown(value: Any) -> str:
    text = str(value) if isinstance(value, date | time) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
