"""What is known about the place of an error: statements that were verified, and the lines that they point to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rnncourse.checks.plain import Plain


@dataclass(frozen=True)
class Statement:
    """Something that is so of a wrong answer: its kind and what it says, in plain values, to be verified again."""

    kind: str
    parameters: dict[str, Plain] = field(default_factory=dict)


@dataclass(frozen=True)
class Where:
    """Where a wrong answer goes wrong.

    `lines` are line numbers in the answer's own text, that of its `def` or `class` being 1; none if only a relation is
    known. `part` is the text within the line, if it is known. `message` says in one or two sentences what is so,
    `evidence` what was verified for it. `change` names the kind of the change that would mend it, if it is known:
    what a student is told when they ask for hints.
    """

    lines: tuple[int, ...]
    part: str | None
    message: str
    evidence: tuple[Statement, ...]
    change: str | None = None

    def plain(self) -> dict[str, Any]:
        """As plain values, for records and the wire."""
        return {
            "lines": list(self.lines),
            "part": self.part,
            "message": self.message,
            "evidence": [{"kind": one.kind, **one.parameters} for one in self.evidence],
            "change": self.change,
        }
