"""The rooms of one submission: when one is ended, the next has run the same cells, but for those that are left out."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from rnngrade.sandbox.session import Fault, Session
from rnngrade.sandbox.station import Station


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
