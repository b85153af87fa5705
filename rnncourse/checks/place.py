"""What is known of the place of an error: statements that were verified, and the lines that they point to."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rnncourse.checks.plain import Plain


@dataclass(frozen=True)
class Statement:
    """Something that is so of a wrong answer: its kind and what it says, in plain values, to be verified again."""

    kind: str
    parameters: dict[str, Plain] = field(default_factory=dict)


@dataclass(frozen=True)
class Where:
    """Where a wrong answer goes wrong.

    `lines` are line numbers in the answer's own cell; none if only a relation is known. `part` is the text within the
    line, if it is known. `message` says in one or two sentences what is so, `evidence` what was verified for it.
    `change` names the kind of the change that would mend it, if it is known, and `hints` say where to look and for
    what: that is told when a student asks. `source` is the answer's text. `mistake` is the name of the one of the
    catalogue that is made besides what is wrong in a line, if there is one.
    """

    lines: tuple[int, ...]
    part: str | None
    message: str
    evidence: tuple[Statement, ...] = field(repr=False)  # with the programs that mend, which nobody is shown
    change: str | None = None
    hints: tuple[str, ...] = ()
    source: str = field(default="", repr=False)
    mistake: str | None = None

    def plain(self) -> dict[str, Any]:
        """As what JSON knows, for records. The programs that mend are left out: they are nobody's to read."""
        return {
            "lines": list(self.lines),
            "part": self.part,
            "message": self.message,
            "evidence": [
                {"kind": one.kind, **{k: _simple(v) for k, v in one.parameters.items() if k != "source"}}
                for one in self.evidence
            ],
            "change": self.change,
            "hints": list(self.hints),
            "source": self.source,
        }


def _simple(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(k): _simple(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_simple(v) for v in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)
