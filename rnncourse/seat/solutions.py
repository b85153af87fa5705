"""An exercise's solution, for who is stuck: the model answer, one other way to write it, and why it is so.

A release for a graded class has them packed (`make dist GRADED=1`), and shows no solutions.
"""

from dataclasses import dataclass
from html import escape

from rnncourse.checks.exercise import Choice, Exercise, Question
from rnncourse.checks.shelf import OTHERS, others
from rnncourse.checks.verdict import Hint, card, in_code

NONE_HERE = "This release comes without solutions: ask your instructor, or whoever sits beside you."


def are_here() -> bool:
    """Whether this release shows solutions."""
    return any(OTHERS.glob("*.txt"))


@dataclass(frozen=True)
class Solution:
    """Text in a terminal, a card in a notebook. `answer` is code, or the right value; `other` another way to write it,
    which `way` names.
    """

    exercise: str
    answer: str
    other: str
    way: str
    why: tuple[str, ...]

    def __str__(self) -> str:
        parts = [f"Solution of {self.exercise}:", self.answer]
        parts += [f"One other way, {self.way}:", self.other] if self.other else []
        return "\n\n".join([*parts, "Why:\n" + "\n".join(self.why)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        body = f"<div><strong>Solution of {in_code(f'`{self.exercise}`')}</strong></div>{_code(self.answer)}"
        if self.other:
            body += f"<div>One other way, {escape(self.way)}:</div>{_code(self.other)}"
        body += "<div>Why:</div>" + "".join(f'<div style="margin-left:1.2em">{in_code(one)}</div>' for one in self.why)
        note = "Close it, and write it once more from memory. That it was shown is noted; it takes no points by itself."
        return card(f"Solution of {self.exercise}", f"{body}<div>{note}</div>")


def solution_of(exercise: Exercise | Question) -> Solution | Hint:
    """The solution, or that there is none here."""
    if not are_here():
        return Hint(exercise.name, 0, 0, NONE_HERE)
    if isinstance(exercise, Question):
        answer = exercise.answer
        value = (
            f"{{{', '.join(map(repr, sorted(answer, key=str)))}}}"
            if isinstance(answer, set) and answer
            else repr(answer)
        )
        why = tuple(f"{one.letter}: {one.why}" for one in exercise.options) if isinstance(exercise, Choice) else ()
        return Solution(exercise.name, f"{exercise.name} = {value}", "", "", why or exercise.hints[1:])
    found = next((answer for answer in others(exercise.unit.stem) if answer.exercise == exercise.name), None)
    other, way = (found.text.strip(), found.what) if found else ("", "")
    return Solution(exercise.name, exercise.source.strip(), other, way, exercise.hints[1:])


def _code(source: str) -> str:
    font = "font-family:var(--jp-code-font-family, monospace);font-size:85%"
    return f'<pre tabindex="0" style="margin:6px 0 6px 1.2em;overflow-x:auto;{font}">{escape(source)}</pre>'
