"""What many attacks have in common: where their code stands, what they lose, and that a person is asked to look."""

from typing import Any

from tests.grading.hostile.making import (
    FULL,
    LOST_STEP,
    NOTHING,
    Hostile,
    Make,
    Outcome,
    after,
    before,
    blank,
    right,
    step,
)


def unlisted(name: str, what: str, make: Make, outcome: Outcome = LOST_STEP, **more: Any) -> Hostile:
    """One whose code is not on the list of what is known to be honest."""
    return Hostile(name, what, make, outcome, flagged=True, finding="not-listed", **more)


def steps(name: str, what: str, body: str, outcome: Outcome = LOST_STEP, finding: str | None = "not-listed") -> Hostile:
    """All right, but for `rnn_step`, which has this body; with a finding, a person is asked to look."""
    return Hostile(name, what, right(step(body)), outcome, flagged=finding is not None, finding=finding)


def sets_up(name: str, what: str, code: str, finding: str = "not-listed", outcome: Outcome = NOTHING) -> Hostile:
    """Nothing written, but for a cell of one's own with this code, below the unit's first."""
    return Hostile(name, what, blank(after("setup", code)), outcome, flagged=True, finding=finding)


def in_own_cell(name: str, what: str, code: str, finding: str | None = "not-listed") -> Hostile:
    """All right, with this code in a cell of one's own above `rnn_step`, which costs nothing."""
    return Hostile(name, what, right(before("rnn_step", code)), FULL, flagged=finding is not None, finding=finding)
