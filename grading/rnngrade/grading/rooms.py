"""The rooms of one submission: when one is ended, the next has run the same cells, but for those that are left out;
and what it means to a student that a cell or an answer has ended one.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from rnngrade.core import record
from rnngrade.sandbox.limits import MB, Limits
from rnngrade.sandbox.session import Died, Fault, Garbled, Session, TooMuch, TooSlow
from rnngrade.sandbox.station import Station

PATIENT_WITH = 2  # cells that come to no end; then the others have a share of the time that a cell has
IMPATIENCE = 10


class NoRoom(BaseException):
    """The station gives no room any more: that is no student's fault."""


@dataclass
class Cell:
    """A cell to run: `exercise` names the exercise whose answer it is; `fault` is what became of it, if it is left
    out.
    """

    index: int
    source: str
    exercise: str | None = None
    is_helper: bool = False
    fault: Fault | None = None
    error: str = ""
    seconds: float = 0.0

    def leave_out(self, fault: Fault) -> None:
        """From now on it is not run."""
        self.fault = type(fault)(*fault.args)  # with its traceback it would hold on to all that was read


class Rooms:
    """The room of a submission, or the next: `asked` says how many answers have been asked in it, `seconds` what the
    start of all of them took. `end` is when the submission's time is up.
    """

    def __init__(self, station: Station, end: float) -> None:
        self.station, self.end = station, end
        self.session: Session | None = None
        self.asked = self.restarts = self.most_memory = 0
        self.seconds = 0.0

    def ready(self, ran: Sequence[Cell]) -> Session | None:
        """A session in which all cells so far have been run, but for those left out; None if there is no more time."""
        if self.session is not None and self.session.is_gone():
            self.close()
        if self.session is None:
            self.asked, self.session = 0, self.another(ran)
        return self.session

    def another(self, cells: Sequence[Cell]) -> Session | None:
        """A new session in which these cells have been run, but for those left out; None if there is no more time."""
        began = time.monotonic()
        try:
            while self.restarts <= self.station.limits.restarts and self.left(1.0) > 0:
                self.restarts += 1
                try:
                    session = self.station.session()
                except (RuntimeError, OSError) as error:
                    raise NoRoom(str(error)) from None
                for one in [c for c in cells if c.fault is None and c.seconds]:
                    try:
                        session.ask("run", one.source, seconds=self.left(self.station.limits.cell_seconds))
                    except Fault as fault:  # it did end before: chance, or malice
                        one.leave_out(fault)
                        session.close()
                        break
                else:
                    return session
            return None
        finally:
            self.seconds += time.monotonic() - began

    def left(self, most: float) -> float:
        """The seconds that are left of so many."""
        return max(0.0, min(most, self.end - time.monotonic()))

    def close(self) -> None:
        """End the room."""
        if self.session is not None:
            self.most_memory = max(self.most_memory, self.session.most_memory)
            self.session.close()
            self.session = None


def is_odd(fault: Fault) -> bool:
    """Whether an answer on its own rarely ends so; one that is too slow, or too large, mostly is so by itself."""
    return isinstance(fault, (Died, Garbled))


def status_of(fault: Fault) -> str:
    """The status of an exercise whose cell or answer ended so."""
    kinds = {TooSlow: record.TIMED_OUT, Died: record.DIED, TooMuch: record.DIED, Garbled: record.GARBLED}
    return kinds[type(fault)]


def words_of(fault: Fault, what: str, limits: Limits) -> str:
    """What to tell a student whose cell or answer ended the session."""
    match fault:
        case TooSlow(args=(seconds,)) if seconds < limits.cell_seconds:
            before = f"after {PATIENT_WITH} cells that did not come to an end"
            return f"{what} did not come to an end in {seconds:g} seconds, which was all that it had {before}."
        case TooSlow():
            return f"{what} did not come to an end in time. Is there a loop that never ends?"
        case TooMuch() if str(fault) == "processes":
            return f"{what} started more than {limits.processes} processes or threads."
        case TooMuch() if str(fault) == "answers":
            return f"What {what} returns takes more than {limits.message // MB} MB."
        case TooMuch():
            return f"{what} used more than {limits.memory // MB} MB of memory."
        case Garbled():
            return f"{what} wrote where only the grading desk writes, so that nothing it says can be believed."
    return f"{what} ended Python itself: by a crash, by os._exit, or for want of memory."
