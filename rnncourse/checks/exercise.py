"""The exercise: everything that is known about one task, in one place.

>>> unit = Unit("99_example", "An example")
>>> ex = unit.exercise("rnn_step", reference=lambda x, h, W: np.tanh(x + h @ W), points=2,
...                    takes="x (N, H), h (N, H), W (H, H)", gives="h (N, H)",
...                    hints=("a nudge", "the way", "nearly the answer"))

Cases are drawn anew from a generator, the same for the same seed. The standard ones, two ordinary cases of sizes that
are all different and an edge case for one row, one unit, float32 and one size for all, come from what it takes; the
others are written:

>>> ex.draws()
>>> @ex.cases
... def _(rng, draw):
...     x, h, W = draw(N=4)
...     yield edge("no state", x, 0 * h, W)
>>> [one.note for one in ex.draw(np.random.default_rng(0))]
['', '', 'one row', 'one unit', 'float32', 'all sizes alike', 'no state']

>>> @ex.misconception
... def W_transposed(x, h, W):
...     "W is transposed: for row vectors it is h @ W."
...     return np.tanh(x + h @ W.T)

With these, a wrong answer is explained however it is written:

>>> from rnncourse.checks.engine import judge
>>> from rnncourse.checks.local import Local
>>> with Local(lambda x, h, W: np.tanh(x + (W @ h.T).T), uses={}) as answer:
...     verdict = judge(ex, answer)
>>> print(verdict.message)
W is transposed: for row vectors it is h @ W. h[n=0, h=0]: expected ..., got ... (6 of 6 entries differ). (In the case
N=3, H=2.)

A misconception's docstring is what a student who made it is told. Its body uses only what the notebook has at that
point, so that it can stand in a notebook as it is. Most are written shorter, as edits of the model answer (`edits.py`),
which lies beside the catalogue, a copy of the one in the unit's solution. Where a case needs more than one call, the
exercise names a driver (`drive.py`).
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from rnncourse.checks.drawing import LENGTHS, Axes, Case, Draw, Drawer, case, cell_weights, edge, normal, weights
from rnncourse.checks.drive import Driver, call
from rnncourse.checks.edits import HEAD, Change, EditError, compiled, edited, needed, parse
from rnncourse.checks.facts import Fact
from rnncourse.checks.forbidden import is_under
from rnncourse.checks.packed import text_of
from rnncourse.checks.plain import Plain

__all__ = [
    "LENGTHS",
    "WEIGHTS",
    "Axes",
    "Case",
    "Choice",
    "Draw",
    "Edit",
    "Exercise",
    "Misconception",
    "Option",
    "Question",
    "Unit",
    "Whole",
    "case",
    "cell_weights",
    "edge",
    "normal",
    "unchanged",
    "weights",
]

WEIGHTS = {"runs": 0.1, "shape": 0.1, "values": 0.5, "edges": 0.15, "purity": 0.15}


class Misconception:
    """A wrong answer that students really give, and what to say to one who gave it."""

    name: str
    message: str
    answer: Any  # a callable, or the wrong value of a question
    at: str  # where it is written, "rnncourse/exercises/cell.py:312"

    def source_for(self, exercise: str) -> str:
        """The answer as a student would have written it in the exercise's cell, without a word."""
        raise NotImplementedError


@dataclass(frozen=True)
class Whole(Misconception):
    """A misconception that is written out: as a function or a class, or as the wrong value of a question."""

    name: str
    message: str
    answer: Any
    at: str = ""

    def source_for(self, exercise: str) -> str:
        if not callable(self.answer):
            in_order = isinstance(self.answer, set) and self.answer  # a set's own order is another in each process
            value = f"{{{', '.join(map(repr, sorted(self.answer)))}}}" if in_order else repr(self.answer)
            return f"{exercise} = {value}"
        text = inspect.getsource(self.answer)
        (node,) = ast.parse(text).body
        assert isinstance(node, (ast.FunctionDef, ast.ClassDef))
        lines = text.splitlines()
        body = "\n".join(lines[node.body[1].lineno - 1 :])  # behind the docstring
        head = "\n".join(lines[node.lineno - 1 : node.body[0].lineno - 1])
        return re.sub(rf"\b{node.name}\b", exercise, f"{head}\n{body}")


@dataclass(frozen=True, eq=False)
class Edit(Misconception):
    """A misconception that is an edit of the exercise's model answer. **Errors:** `EditError` where it is none."""

    name: str
    message: str
    changes: list[Change]
    exercise: Exercise
    at: str = ""

    @cached_property
    def _source(self) -> str:
        try:
            return edited(self.exercise.source, self.changes)
        except EditError as error:
            raise EditError(f"{self.exercise.name}, {self.name}: {error}.") from None

    @cached_property
    def answer(self) -> Any:  # compiled when it is first asked for: whoever is right needs none
        return self.exercise.made_of(self._source, f"<{self.exercise.name}: {self.name}>")

    def source_for(self, exercise: str) -> str:
        return re.sub(rf"\b{self.exercise.name}\b", exercise, self._source)


def _written(lines: int = 0) -> str:
    """The file and line of the call that led into this module, or so many lines below it."""
    frame = inspect.currentframe()
    while frame and frame.f_code.co_filename in (__file__, "<string>"):  # of a dataclass its __init__
        frame = frame.f_back
    return f"{_of_course(frame.f_code.co_filename)}:{frame.f_lineno + lines}" if frame else ""


def _of_course(file: str) -> str:
    """A file's path from the course's folder, if it lies there."""
    root = Path(__file__).parents[2]
    return str(Path(file).relative_to(root)) if Path(file).is_relative_to(root) else file


@cache
def answers_of(stem: str) -> dict[str, str]:
    """The model answers of a unit by exercise, each below all that stands above it in the unit and grading runs: what
    the build copies from the solution.
    """
    path = Path(__file__).parents[1] / "exercises" / "answers" / f"{stem.partition('_')[2]}.txt"
    return model_answers(text_of(path))


def model_answers(text: str) -> dict[str, str]:
    """The model answers in the text of such a file."""
    _, *parts = re.split(r"^# --- (\w+)\n", text, flags=re.MULTILINE)
    above, found = "", {}
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        if name == "above":
            above += text
        else:
            found[name] = f"{above}{text.strip()}\n"
    return found


Property = Callable[[Callable[..., Plain], np.random.Generator], str | None]


def unchanged(value: Plain) -> Plain:
    """The canonical form of most answers: themselves."""
    return value


@dataclass
class Exercise:
    """One task, made by `Unit.exercise`: see the module's example. `drive` names the driver of the candidate. `model`
    is the text of the model answer, below what it imports, if that does not lie in the unit's file of answers.
    `by_result` says that an answer is judged by what it reaches, so that most small changes of a right one are right;
    `calls_own` that at the desk it calls the functions of its own notebook in place of `uses`: theirs write to what
    they are given, or call back, which those of another process cannot. `facts(args, *answer)` says what must hold of
    an answer to a case, in place of a comparison with the reference (`facts.py`), which is not asked then.
    `values_alone` that neither the precision of floats nor what became of the arguments is looked at.
    """

    name: str
    unit: Unit
    reference: Any
    points: int
    hints: tuple[str, ...]
    takes: tuple[Axes, ...] = ()
    gives: tuple[Axes, ...] = ()
    uses: dict[str, Any] = field(default_factory=dict)
    forbids: tuple[str, ...] = ()
    drive: Driver = call
    canonical: Callable[[Plain], Plain] = unchanged
    facts: Callable[..., Iterable[Fact]] | None = None
    counts_calls: bool = False
    may_share: bool = False
    by_result: bool = False
    calls_own: bool = False
    values_alone: bool = False
    ends: dict[str, str] = field(default_factory=dict)
    misconceptions: list[Misconception] = field(default_factory=list)
    properties: list[tuple[str, Property]] = field(default_factory=list)
    memory: dict[Any, Any] = field(default_factory=dict, repr=False)
    model: str = field(default="", repr=False)
    _drawer: Drawer | None = field(default=None, repr=False)
    _cases: Callable[..., Iterable[Case]] | None = field(default=None, repr=False)

    def draws(self, draw: Draw | None = None, *, without: Iterable[str] = (), **sizes: tuple[int, ...]) -> None:
        """Give the exercise the standard cases, two ordinary ones and its edges, but `without` those of these notes.

        `draw(rng, T, N, …, dtype)` makes the arguments of a case: its parameters are named as the axes whose sizes they
        are. Without it, each array that the exercise takes is drawn by itself. `sizes` has, for an axis, its size in
        the two ordinary cases and in an edge case.
        """
        self._drawer = Drawer.of(draw, self.takes, without, sizes)

    def cases(self, draw: Callable[..., Iterable[Case]]) -> Callable[..., Iterable[Case]]:
        """Decorator: the function that draws cases from a generator, besides the standard ones.

        Its second argument, if it has one, draws the arguments of an edge case, or of the sizes that it is given.
        """
        self._cases = draw
        return draw

    def draw(self, rng: np.random.Generator) -> list[Case]:
        """All cases for this generator, ordinary ones first."""
        found = list(self._drawer.cases(rng)) if self._drawer else []
        if self._cases:
            drawn = [partial(self._drawer.arguments, rng)] if self._drawer else []
            found += self._cases(rng, *drawn[: len(inspect.signature(self._cases).parameters) - 1])
        if not found:
            raise ValueError(f"the exercise {self.name} draws no cases; give it some with ex.draws or @ex.cases")
        return sorted(found, key=lambda c: c.is_edge)

    def misconception(self, answer: Any) -> Any:
        """Decorator: the function is a wrong answer, its name the diagnosis, its docstring what the student is told."""
        message = " ".join((answer.__doc__ or "").split())  # where the source breaks a line says nothing
        lines = inspect.unwrap(answer).__code__ if inspect.isfunction(answer) else None
        at = f"{_of_course(lines.co_filename)}:{lines.co_firstlineno}" if lines else ""
        self.misconceptions.append(Whole(answer.__name__, message, answer, at))
        return answer

    def mistakes(self, text: str) -> None:
        """Add misconceptions that are edits of the model answer, written as `rnncourse.checks.edits` says."""
        heads = [n for n, line in enumerate(text.splitlines()) if HEAD.fullmatch(line)]
        try:
            entries = parse(text)
        except EditError as error:
            raise EditError(f"{self.name}: {error} ({_written()})") from None
        for e, n in zip(entries, heads, strict=True):
            self.misconceptions.append(Edit(e.name, e.message, e.changes, self, _written(n)))

    @property
    def banned(self) -> tuple[str, ...]:
        """What an answer may not call, by dotted names."""
        return *self.unit.answers, *self.forbids

    def refusal(self, banned: str) -> str:
        """What is said of an answer that calls this."""
        is_own = any(is_under(banned, name) for name in self.unit.answers)
        why = "there are the course's own answers" if is_own else "the text of the exercise forbids it"
        return f"{self.name} may not call `{banned[:80]}`: {why}."

    @cached_property
    def source(self) -> str:
        """The text of the model answer: one function or class, without docstrings."""
        return self._model.removeprefix(self.above)

    @cached_property
    def _model(self) -> str:
        found = self.model or answers_of(self.unit.stem).get(self.name)
        if not found:
            raise EditError(f"The model answer of {self.name} is not copied yet: make notebooks does it.")
        return found

    @property
    def above(self) -> str:
        """What stands above the model answer: imports and other definitions, some of which it needs."""
        return re.split(rf"^(?:def|class) {self.name}\b", self._model, maxsplit=1, flags=re.MULTILINE)[0]

    def made_of(self, source: str, file: str) -> Any:
        """The answer that this text is, in place of the model answer's, compiled: a function or a class.

        Tracebacks show its lines as those of `file`.
        """
        return compiled(source, self.name, self.namespace(source, file), file)

    def namespace(self, source: str, file: str) -> dict[str, Any]:
        """The names that the notebook has where this answer stands; those of `uses` are the references."""
        space: dict[str, Any] = {"__name__": file}
        exec(needed(self.above, source), space)
        space.update(self.uses)
        return space

    def holds(self, claim: str) -> Callable[[Property], Property]:
        """Decorator: a property, `f(call, rng) -> None, or a sentence on what was seen instead`."""

        def add(check: Property) -> Property:
            self.properties.append((claim, check))
            return check

        return add


@dataclass
class Question:
    """A task that is answered by a value. `wrong` holds its misconceptions, by value."""

    name: str
    unit: Unit
    answer: Plain
    points: int
    hints: tuple[str, ...]
    misconceptions: list[Misconception] = field(default_factory=list)
    example: str = ""

    def wrong(self, value: Plain, name: str, message: str) -> None:
        """Add a wrong value, the diagnosis' name and what the student is told."""
        self.misconceptions.append(Whole(name, message, value, _written()))

    def canonical(self, value: Plain) -> Plain:
        """A list or tuple of letters is as good as a set of them."""
        if isinstance(self.answer, set) and isinstance(value, (list, tuple, str)):
            value = set(value) - set(" ,")
        if isinstance(self.answer, set) and isinstance(value, set):
            return {v.strip().upper() if isinstance(v, str) else v for v in value}
        return value


@dataclass(frozen=True)
class Option:
    """One statement of a multiple-choice question: `misread` is the name of the mistake of judging it wrong, `why`
    the explanation.
    """

    letter: str
    is_true: bool
    misread: str
    why: str

    @staticmethod
    def parse(text: str) -> tuple[Option, ...]:
        """The statements of a text: "A true, misread: why", where an indented line goes on with the one above it.

        >>> Option.parse("A false, gone_after_a_while: keep ** n gets small,\\n  but is never 0.")
        (Option(letter='A', is_true=False, misread='gone_after_a_while', why='keep ** n gets small, but is never 0.'),)
        """
        lines = re.sub(r"\n +", " ", text.strip()).splitlines()
        found = [re.fullmatch(r"(\w) (true|false), (\w+): (.+)", line) for line in lines]
        if None in found:
            raise ValueError(f"The line `{lines[found.index(None)]}` is no statement: A true, misread: why.")
        return tuple(Option(m[1], m[2] == "true", m[3], m[4]) for m in found if m)


@dataclass
class Choice(Question):
    """Which of these statements hold? Answered by the set of their letters."""

    options: tuple[Option, ...] = ()

    def __post_init__(self) -> None:
        self.answer = {o.letter for o in self.options if o.is_true}
        for o in self.options:
            self.wrong(self.answer ^ {o.letter}, o.misread, f"Look at {o.letter} again. {o.why}")

    @property
    def letters(self) -> set[str]:
        """The letters of all statements."""
        return {o.letter for o in self.options}

    def first_misread(self, value: set[Any]) -> Misconception | None:
        """Several misread statements are explained one at a time, the first first."""
        misread = sorted(self.answer ^ value, key=str)
        return next((m for letter in misread for m in self.misconceptions if m.answer == self.answer ^ {letter}), None)


@dataclass
class Unit:
    """A unit of the course and its exercises in order. The stem, "03_cell", names all of its files. `chapter` is its
    part of the textbook in code, in which the references are found; none of its answers may call what is in `forbids`.
    """

    stem: str
    title: str
    chapter: ModuleType | None = None
    forbids: tuple[str, ...] = ()
    exercises: list[Exercise | Question] = field(default_factory=list)

    def exercise(
        self,
        name: str,
        *,
        points: int,
        hints: Iterable[str],
        reference: Any = None,
        takes: str = "",
        gives: str = "",
        uses: Iterable[Any] = (),
        **settings: Any,
    ) -> Exercise:
        """A new exercise of this unit that is answered by a function or class. The reference is what the chapter has
        under this name, if no other is given; `uses` are functions, or functions by name. Further settings: the fields
        of `Exercise`.
        """
        if reference is None:
            reference = getattr(self.chapter, name)
        settings = {"forbids": self.forbids, **settings}
        used = uses if isinstance(uses, dict) else {f.__name__: f for f in uses}
        parts = Axes.parse(takes), Axes.parse(gives)
        made = Exercise(name, self, reference, points, tuple(hints), *parts, uses=used, **settings)
        self.exercises.append(made)
        return made

    def question(self, name: str, *, answer: Plain, points: int, hints: Iterable[str], example: str = "") -> Question:
        """A new exercise of this unit that is answered by a value."""
        made = Question(name, self, answer, points, tuple(hints), example=example)
        self.exercises.append(made)
        return made

    def choice(self, name: str, *, options: Iterable[Option], points: int, hints: Iterable[str]) -> Choice:
        """A new multiple-choice question of this unit."""
        made = Choice(name, self, None, points, tuple(hints), example='{"X", "Y"}', options=tuple(options))
        self.exercises.append(made)
        return made

    def __iter__(self) -> Iterator[Exercise | Question]:
        return iter(self.exercises)

    @property
    def answers(self) -> tuple[str, ...]:
        """Where the course keeps its own answers to this unit, by dotted names: no answer may call them."""
        own = f"rnncourse.{self.stem.partition('_')[2]}"
        return own, f"{own}_torch", f"{own}_backward", "rnncourse.exercises"

    @property
    def points(self) -> int:
        """The sum of the exercises' points."""
        return sum(e.points for e in self.exercises)
