"""What it means to a student that a cell or an answer ended the session."""

from rnngrade.core import record
from rnngrade.sandbox.limits import MB, Limits
from rnngrade.sandbox.session import Died, Fault, Garbled, TooMuch, TooSlow

PATIENT_WITH = 2  # cells that come to no end; then the others have a share of the time that a cell has
IMPATIENCE = 10


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
