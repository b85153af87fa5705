"""Facts: what must hold of an answer where many answers are right, each with a sentence of its own.

How to split, how to run an experiment, how to word a report is the student's business, so nothing is compared with what
the reference gave. What came is looked at, and the first fact that does not hold is told in its own sentence. Where
what was seen leaves one mistake only, the fact names it (`cause`), and the mistake's own words are told.

>>> print(Fact("the same seed", False, "Two calls with the same seed give two different splits."))
Two calls with the same seed give two different splits.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fact:
    """Whether one thing holds, None where it cannot be told because another one does not; `sentence` says what was seen
    if it does not hold, `cause` is the name of the mistake that makes it so, if it is known: its message is told then.
    """

    name: str
    holds: bool | None
    sentence: str = ""
    cause: str = ""

    def __str__(self) -> str:
        return "" if self.holds is not False else self.sentence
