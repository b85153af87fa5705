"""The one change: a search over small changes of the wrong answer itself. One that makes every case right is evidence of
the place; it is never shown.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from rnncourse.checks.where.changes import Change, changes
from rnncourse.checks.where.inquiry import Asked, Inquiry, OutOfTime

SECONDS_MORE = 0.25  # to look for others when one is found


def mending(inquiry: Inquiry, first: Sequence[int]) -> Iterator[Change]:
    """The changes that make every case right, as far as there is time."""
    order = sorted(range(len(inquiry.asked)), key=lambda i: not inquiry.asked[i].is_wrong)
    for change in changes(inquiry.program.source, first=first):
        if all(holds(inquiry, change, inquiry.asked[i]) for i in order):
            yield change


def holds(inquiry: Inquiry, change: Change, one: Asked) -> bool:
    """Whether the changed answer is right in a case. **Errors:** `OutOfTime`."""
    return inquiry.is_right(one, inquiry.run(change.source, one.case).seen)


__all__ = ["Change", "OutOfTime", "holds", "mending", "time"]
