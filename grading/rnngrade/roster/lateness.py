"""Being late: how many days, and what it costs. Pure arithmetic, in which nothing is read or written.

Who hands in after a unit is due is late by as many days as have begun since, by the calendar and the clock of the
class's time zone: due on Saturday at 23:59 and handed in on Sunday at 23:59 is one day late, also if the clocks were
changed in that night and it was 25 hours. A grace is added to the due date and to the end of each of these days.

Late days are spent by themselves, in the order in which units are due; what is late beyond them costs a share of the
points, of those that were earned, or of all that there are, as Canvas takes it ("How do I apply a Late Submission
policy in the Gradebook?", guides.instructure.com; it, too, counts each day that has begun).
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from rnngrade.core.words import count

EARNED, POSSIBLE = "earned", "possible"


@dataclass(frozen=True)
class Policy:
    """What being late costs: `per_day` and `at_most` are shares from 0 to 1 of the points `of` which they are taken."""

    per_day: float = 0.0
    at_most: float = 1.0
    of: str = EARNED
    grace: timedelta = timedelta()
    free_days: int = 0
    free_days_per_unit: int | None = None

    def penalty(self, days: int, earned: float, possible: float) -> float:
        """The points that so many days cost, to two places: never more than were earned.

        >>> Policy(0.1).penalty(2, 8, 10), Policy(0.1, of="possible").penalty(2, 8, 10)
        (1.6, 2.0)
        >>> Policy(0.1, at_most=0.3).penalty(9, 8, 10), Policy(0.5, of="possible").penalty(1, 3, 10)
        (2.4, 3)
        """
        if days <= 0 or earned <= 0:
            return 0.0
        share = min(days * self.per_day, self.at_most, 1.0)
        return min(round(share * (earned if self.of == EARNED else possible), 2), earned)


@dataclass(frozen=True)
class Lateness:
    """Of one student in one unit: when it was due, when it came, and what follows. Times know their zone; None is not
    known. `says` names the platform that calls it late without saying when it came.
    """

    due: datetime | None = None
    handed_in: datetime | None = None
    days: int = 0
    free: int = 0
    says: str = ""
    policy: Policy = Policy()

    @property
    def is_unclear(self) -> bool:
        """Whether it is late by a platform's word alone, so that nobody knows by how much."""
        return bool(self.says) and self.handed_in is None

    def penalty(self, earned: float, possible: float) -> float:
        return self.policy.penalty(self.days - self.free, earned, possible)

    def words(self) -> str:
        """What is to be said of it, in a few words; nothing if it was in time.

        >>> Lateness(days=3, free=2).words(), Lateness(days=1, free=1).words(), Lateness(days=2).words()
        ('3 days late, 2 of them late days', '1 day late, a late day', '2 days late')
        """
        if self.is_unclear:
            return f"late, says {self.says}, and not when it came"
        if not self.days:
            return ""
        late = f"{count(self.days, 'day')} late"
        if not self.free:
            return late
        if self.free == self.days:
            return f"{late}, {'a late day' if self.days == 1 else 'all of them late days'}"
        return f"{late}, {self.free} of them {'a late day' if self.free == 1 else 'late days'}"


def days_late(handed_in: datetime, due: datetime, zone: tzinfo, grace: timedelta = timedelta()) -> int:
    """The number of days that have begun since `due`, by the calendar of `zone`; both times know their zone.

    >>> from zoneinfo import ZoneInfo
    >>> berlin = ZoneInfo("Europe/Berlin")
    >>> due = datetime(2026, 10, 24, 23, 59, tzinfo=berlin)  # the night in which a clock is put back
    >>> days_late(datetime(2026, 10, 25, 23, 59, tzinfo=berlin), due, berlin)
    1
    >>> days_late(datetime(2026, 10, 26, 0, 0, tzinfo=berlin), due, berlin)
    2
    >>> days_late(due + timedelta(minutes=5), due, berlin, grace=timedelta(minutes=5))
    0
    """
    came = handed_in.astimezone(UTC)
    if came <= due.astimezone(UTC) + grace:
        return 0
    # A day of the calendar has an hour more or less at times, so the number is at least this, and hardly more.
    number = max(1, math.floor((came - due.astimezone(UTC) - grace) / timedelta(days=1)) - 1)
    while came > days_after(due, number, zone) + grace:
        number += 1
    return number


def days_after(due: datetime, number: int, zone: tzinfo) -> datetime:
    """The same time of day so many days later, by the clock of `zone`, in UTC."""
    return moment((due.astimezone(zone) + timedelta(days=number)).replace(tzinfo=None), zone)


def moment(local: datetime, zone: tzinfo) -> datetime:
    """The moment, in UTC, of a time on the clock of `zone`, unless it knows its own. If it comes twice, or not at all,
    since the clocks are changed, the later one that may be meant.

    >>> from zoneinfo import ZoneInfo
    >>> twice, never = datetime(2026, 10, 25, 2, 30), datetime(2026, 3, 29, 2, 30)
    >>> str(moment(twice, ZoneInfo("Europe/Berlin"))), str(moment(never, ZoneInfo("Europe/Berlin")))
    ('2026-10-25 01:30:00+00:00', '2026-03-29 01:30:00+00:00')
    """
    if local.tzinfo is not None:
        return local.astimezone(UTC)
    return max(local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))


def iso(text: str) -> datetime:
    """A date and a time as computers write them; it may know its zone, by its offset or as UTC, whose name alone no
    other zone has. **Errors:** `ValueError`.

    >>> str(iso("2026-11-20 23:58:12 -0500")), str(iso("2026-11-20 9:05 UTC")), str(iso("2026-11-20T09:05"))
    ('2026-11-20 23:58:12-05:00', '2026-11-20 09:05:00+00:00', '2026-11-20 09:05:00')
    """
    text = re.sub(r"\s+(?=[+Z-])", "", text.strip().replace("UTC", "Z"))
    return datetime.fromisoformat(re.sub(r"[ T](?=\d:)", " 0", text))


def spent(late: Iterable[int], policy: Policy) -> Iterator[int]:
    """How many late days are spent on each unit, given by how many days it is late, in the order in which all are due.

    >>> list(spent([2, 0, 3, 1], Policy(free_days=4))), list(spent([3, 3], Policy(free_days=4, free_days_per_unit=1)))
    ([2, 0, 2, 0], [1, 1])
    """
    left = policy.free_days
    for days in late:
        most = left if policy.free_days_per_unit is None else min(left, policy.free_days_per_unit)
        free = min(days, most)
        left -= free
        yield free
