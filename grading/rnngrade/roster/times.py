"""When submissions were handed in, and who was late.

The time of a submission stands beside it, in nbgrader's `submitted/STUDENT/UNIT/timestamp.txt`. `rnngrade times` takes
it from a platform's table. Moodle writes it in the words of the site's language and in the time zone of whoever
downloaded it (`col_timesubmitted` in mod/assign/gradingtable.php of Moodle, at commit 003699db).

Canvas marks late files in a download, `lovelaceada_LATE_501_…`. How late they are it does not say, so that costs
nothing by itself: `late.txt` beside the submission keeps it, and it is shown until a time is known.
"""

import contextlib
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache

from rnncourse import exercises
from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures, some
from rnngrade.core.record import write_changed
from rnngrade.core.tables import Row, Table
from rnngrade.core.words import count
from rnngrade.roster.lateness import Lateness, days_late, iso, moment, spent
from rnngrade.roster.names import Said, Students, keys_of, said_in
from rnngrade.roster.rules import Rules, rules_of
from rnngrade.roster.students import ClassList, class_list

TIMESTAMP, LATE = "timestamp.txt", "late.txt"
COLUMNS = ("handed_in", "submitted_at", "Submission Time", "Last modified (submission)")
LONGEST = 100  # bytes of a timestamp that are read

_CLOCK = re.compile(r"\d[:.h]\d\d")
_IN_NUMBERS = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d")  # who can tell the month from the day?


# --- who was late


def handed_in(desk: Desk, unit: str, student: str) -> datetime | None:
    """When a student's submission came, in UTC, if that is known. **Errors:** `DeskError` if there stands no date."""
    path = desk.submission_path(unit, student).with_name(TIMESTAMP)
    try:
        text = path.read_bytes().strip()
        return time_in(text) if text else None
    except OSError:
        return None
    except ValueError:
        raise DeskError(f"{path} holds no date: write it like 2026-11-21 22:36:00 UTC, or remove the file.") from None


def time_in(written: bytes) -> datetime:
    """The time that stands in a timestamp.txt, in UTC. **Errors:** `ValueError` if it is none."""
    return moment(iso(written[:LONGEST].decode()), UTC)


def in_utc(when: datetime) -> str:
    """A time as nbgrader writes it, to the second."""
    return f"{when.astimezone(UTC).replace(tzinfo=None, microsecond=0)} UTC"


def says_late(desk: Desk, unit: str, student: str) -> str:
    """Which platform calls a submission late, or nothing."""
    try:
        return desk.submission_path(unit, student).with_name(LATE).read_text(encoding="utf-8").strip()[:40]
    except (OSError, UnicodeDecodeError):
        return ""


def lateness_of(
    desk: Desk, unit: str, failures: Failures, students: Iterable[str] | None = None
) -> dict[str, Lateness]:
    """How late these students are with a unit, by default all who handed it in, by the desk's rules.

    Of whom it cannot be told is put into `failures`. **Errors:** `DeskError`.
    """
    rules, people, found = rules_of(desk), class_list(desk), {}
    for student in list(desk.submissions(unit) if students is None else students):
        with failures.of(student, unit):
            found[student] = lateness_for(desk, unit, student, rules, people)
    return found


def lateness_for(desk: Desk, unit: str, student: str, rules: Rules, people: ClassList) -> Lateness:
    """How late one student is. **Errors:** `DeskError`."""
    names, zone = people.names_of(student), rules.zone or UTC
    policy = rules.policy_for(names)

    def days_of(one: str) -> int:
        due = rules.due_for(one, names)
        came = handed_in(desk, one, student) if due else None
        return days_late(came, due, zone, policy.grace) if due and came else 0

    days, free = days_of(unit), 0
    if days and policy.free_days:
        order = list(rules.due)
        *_, free = spent([*map(days_of, order[: order.index(unit)]), days], policy)
    came, says = handed_in(desk, unit, student), says_late(desk, unit, student)
    return Lateness(rules.due_for(unit, names), came, days, free, says, policy)


# --- when they came, by a platform's table


def take_times(
    desk: Desk, unit: str | None, table: Table, *, column: str | None = None, language: str = "en"
) -> Iterator[str]:
    """Write down when submissions of `unit` came, by a table; yields what came of that. `column` names its column of
    times, `language` that of the months in it.

    **Errors:** `DeskError` if it is no such table, or a time in it is none, or nobody's who handed in.
    """
    when = column or next((name for name in COLUMNS if name in table.columns), "")
    if when not in table.columns:
        words = f"say with --column which it is, of {table.shown}"
        raise DeskError(f"{table.name} has no column of times that is known: {words}.")
    zone, people = rules_of(desk).zone, class_list(desk)

    def read(row: Row) -> tuple[str, datetime, Said]:
        """The unit of a row, its time in UTC, and whose it is."""
        place, of = f"{table.name}, line {row.line}", row["unit"] or unit
        if not of:
            raise DeskError(f"{place}: it does not say of which unit: give the unit, or a column unit.")
        try:
            stem = exercises.unit(of.zfill(2)).stem
        except KeyError:
            raise DeskError(f"{place}: there is no unit {of!r}.") from None
        if (found := date_in(row[when], language)) is None:
            words = "is no date that is known: if it is not in English, say --language de"
            raise DeskError(f"{place}: {row[when]!r} {words}.")
        if found.tzinfo is None and zone is None:
            raise DeskError(f'{place}: in which time zone is that? Say it in desk.toml: timezone = "Europe/Berlin".')
        return stem, moment(found, zone or UTC), said_in(row.cells)

    # All are read before the first is written down. Moodle writes a dash where nothing was handed in.
    rows = [read(row) for row in table.rows if row[when].strip(" -–—")]
    if not rows:
        raise DeskError(f"{table.name} has no time in any row.")
    students = cache(lambda stem: Students(desk.submissions(stem), people, keys_of(desk, stem)))
    new, nobodys = list[bool](), dict[str, list[str]]()  # by unit
    for stem, time, said in rows:
        if student := students(stem).find(said):
            beside = desk.submission_path(stem, student).with_name(TIMESTAMP)
            new.append(write_changed(beside, f"{in_utc(time)}\n"))
        else:
            person = people.people.get(said.id(people) or "")
            who = people.shown(person) if person else (*said.all, "a row without a name")[0]
            nobodys.setdefault(stem, []).append(who)
    for stem, names in nobodys.items():
        who = count(len(names), "student has", "students have")
        yield f"{table.name}: {who} a time there, and no notebook of {stem} here: {some(names)}."
    if not new:
        raise DeskError("No time is of anybody who handed in: is it this unit's table?")
    yield f"{count(sum(new), 'time is', 'times are')} new, {len(new) - sum(new)} known already."
    if any(new):
        words = "is in all reports, feedback and tables from now on; formgrader has it after the next 'rnngrade run'."
        yield f"What being late costs {words}"


def date_in(text: str, language: str) -> datetime | None:
    """A date as computers write it, or as people do: with the month in words, so that it cannot be mistaken for a day.

    >>> str(date_in("Friday, 20 November 2026, 11:58 PM", "en")), str(date_in("Freitag, 2. März 2026, 08:05", "de"))
    ('2026-11-20 23:58:00', '2026-03-02 08:05:00')
    >>> str(date_in("2026-11-20 23:58:12 -0500", "en")), date_in("03/04/2026 10:00", "en")
    ('2026-11-20 23:58:12-05:00', None)
    """
    if re.match(r"\d{4}-\d\d-\d\d[T ]\d", text):
        with contextlib.suppress(ValueError):
            return iso(text)
    elif not _IN_NUMBERS.search(text) and _CLOCK.search(text):
        import dateparser  # type: ignore[import-untyped]

        try:
            settings = {"STRICT_PARSING": True, "PARSERS": ["absolute-time"]}
            found: datetime | None = dateparser.parse(text, [], [re.split("[-_]", language)[0]], settings=settings)
            return found
        except ValueError:
            raise DeskError(f"There is no language {language!r}: write it as in de, fr or pt.") from None
    return None
