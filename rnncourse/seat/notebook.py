"""What a notebook calls: check an answer, ask for a hint or for the solution, use what passed, see how far one is."""

import ast
import functools
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any, TypeVar

import numpy as np

from rnncourse import exercises
from rnncourse.checks.engine import judge, judge_value
from rnncourse.checks.exercise import Exercise, Question
from rnncourse.checks.forbidden import forbidden_call
from rnncourse.checks.local import SECONDS_A_CALL, Local
from rnncourse.checks.place import Where
from rnncourse.checks.plain import attribute
from rnncourse.checks.program import program_of
from rnncourse.checks.verdict import ROW, Hint, Offers, Verdict, front_end
from rnncourse.checks.where.inquiry import Budget
from rnncourse.checks.where.search import find
from rnncourse.seat import logbook, runs, solutions
from rnncourse.seat.names import CODE_STUB
from rnncourse.seat.solutions import Solution

TRIES = 3  # that fail, before the solution is offered
NO_LINE = "No line was found in which one small change would mend it."
Shown = TypeVar("Shown", bound=object)

runs.watch()
_last: dict[str, tuple[Any, Verdict]] = {}
_failed: dict[str, int] = {}  # how often an exercise's answer failed
_hints_given: dict[str, list[str]] = {}  # of each exercise, in order
_standing: dict[str, Verdict] = {}  # of each exercise's answer the latest verdict
_bars: set[str] = set()  # the units whose bar is on the page


def check(candidate: Any, exercise: str | None = None, *, hidden: bool = False) -> Verdict:
    """Check an answer: a function or class under its exercise's name, or a value with the name given.

    Never raises for anything that the candidate does. `hidden=True` draws other cases, from the instructor's seed.

        check(rnn_step)
        check({"A", "C"}, "quiz_rnn_facts")
    """
    name = exercise if exercise is not None else attribute(candidate, "__name__")
    if not isinstance(name, str):
        return _refused("?", 'Say which exercise this answers: check(answer, "name").')
    try:
        found = exercises.find(name)
    except KeyError as error:
        return _refused(name, error.args[0])
    run, why_not = _comes_from(candidate, found)
    if why_not:
        return _said(replace(_refused(name, why_not, found.points), run=run, is_given=False))
    verdict = judge_value(found, candidate) if isinstance(found, Question) else _check_code(candidate, found, hidden)
    verdict = replace(verdict, run=run)
    if not hidden:
        is_answer = _is_the_answer(candidate, found)
        if is_answer and not verdict.passed:
            _failed[name] = _failed.get(name, 0) + 1
        verdict = replace(verdict, offers=_offers(found, candidate, verdict))
        _last.pop(name, None)  # the last of them is the latest
        _last[name] = candidate, verdict
        if is_answer:
            _standing[name] = verdict
            if logbook.is_kept() and not _is_of_a_file(sys._getframe(1)):
                logbook.keep(name, verdict.score, verdict.passed)
            _move_bar(found.unit.stem)
    return _said(verdict)


def _is_the_answer(candidate: Any, exercise: Exercise | Question) -> bool:
    """Whether a verdict on it is progress or a step back: it is written, by the student, and bears the exercise's name.
    What bears another name is a trial, which grading does not see either.
    """
    if isinstance(exercise, Question):
        return candidate is not None and candidate is not Ellipsis
    names = attribute(candidate, "__name__"), getattr(sys.modules.get("__main__"), exercise.name, None)
    if _is_the_course_s(candidate) or (names[0] != exercise.name and names[1] is not candidate):
        return False
    program = program_of(candidate, exercise.uses)
    return program is None or not CODE_STUB.search(program.source)


def _comes_from(candidate: Any, exercise: Exercise | Question) -> tuple[str, str]:
    """The run that an answer comes from, and why it is not judged, if it is not what its cell says now."""
    name = attribute(candidate, "__name__") if isinstance(exercise, Exercise) else exercise.name
    run, why_not = runs.stale(name, candidate) if isinstance(name, str) else ("", "")
    return "" if logbook.is_off() else run, why_not


def _said(thing: Shown) -> Shown:
    """The same, which is printed where a script asked for it."""
    if _is_run_as_a_script(sys._getframe(2)):
        print(thing.text() if isinstance(thing, Verdict) else thing)
    return thing


def _is_run_as_a_script(caller: FrameType) -> bool:
    """Whether nobody but a script's output could show what a call gives: IPython, too, runs scripts (`%run`)."""
    if caller.f_globals.get("__name__") != "__main__":
        return False
    return _is_of_a_file(caller) or (front_end() == "none" and not hasattr(sys, "ps1"))


def _is_of_a_file(caller: FrameType) -> bool:
    """Whether a call stands in a script's file."""
    return os.path.basename(str(caller.f_globals.get("__file__"))) == os.path.basename(caller.f_code.co_filename)


def _check_code(candidate: Any, exercise: Exercise, hidden: bool) -> Verdict:
    if not callable(candidate):
        return _refused(
            exercise.name,
            f"{exercise.name} should be something to call; yours is a {type(candidate).__name__}.",
            exercise.points,
        )
    if banned := _forbidden(candidate, exercise):
        return _refused(exercise.name, exercise.refusal(banned), exercise.points)
    several = 3 if exercise.drive.several else 1  # calls in one case, of which each may take its time
    with Local(candidate, exercise.uses, several * SECONDS_A_CALL) as local:
        return judge(exercise, local, hidden=hidden, search=functools.partial(find, budget=Budget()))


def _forbidden(candidate: Any, exercise: Exercise) -> str | None:
    return None if _is_the_course_s(candidate) else forbidden_call(candidate, exercise.banned, exercise.uses)


def _is_the_course_s(candidate: Any) -> bool:
    return str(attribute(candidate, "__module__")).startswith("rnncourse.")


def _refused(name: str, words: str, points: int = 0) -> Verdict:
    return Verdict(name, False, 0.0, 0.0, points, words)


def where(answer: Any) -> Verdict:
    """Check an answer, and look for the place where it goes wrong for longer than `check` does: up to half a minute,
    and after a diagnosis too. Interrupt it when that is too long.

        where(rnn_forward)
    """
    name = attribute(answer, "__name__")
    try:
        exercise = exercises.find(name if isinstance(name, str) else "?")
    except KeyError as error:
        return _said(_refused(str(name), error.args[0]))
    if (
        not isinstance(exercise, Exercise)
        or not _has_lines(answer)
        or _forbidden(answer, exercise)
        or _comes_from(answer, exercise)[1]
    ):
        return _said(check(answer, exercise.name))
    with Local(answer, exercise.uses) as local:
        verdict = judge(
            exercise, local, search=functools.partial(find, budget=Budget(20_000, 5.0, 30.0)), after_diagnosis=True
        )
    offers = replace(_offers(exercise, answer, verdict), where=False)
    found = verdict.where or (None if verdict.passed else Where((), None, NO_LINE, ()))
    verdict = replace(verdict, offers=offers, where=found, run=_comes_from(answer, exercise)[0])
    _last[exercise.name] = answer, verdict
    return _said(verdict)


def _offers(exercise: Exercise | Question, answer: Any, verdict: Verdict) -> Offers:
    own = verdict.where.hints if verdict.where else ()
    solution = _failed.get(exercise.name, 0) >= TRIES and solutions.are_here()
    if isinstance(exercise, Question):
        return Offers(exercise.hints, solution=solution)
    to_look_for = verdict.criteria.get("values") is False and _has_lines(answer)
    return Offers((*own, *exercise.hints), exercise.takes, exercise.gives, to_look_for, solution)


def _has_lines(answer: Any) -> bool:
    """Whether there is a line to be found: the answer's text is known, and has more than one statement."""
    program = program_of(answer) if callable(answer) else None
    return program is not None and sum(isinstance(node, ast.stmt) for node in ast.walk(program.tree)) > 2


def hint(answer: Any = None) -> Hint:
    """The next hint for an exercise, given by name or by the answer, as to `check`, or the one that was checked last:
    where to look in one's own answer and for what, if the last check found that out; then three, from a nudge to nearly
    the answer.
    """
    try:
        exercise = exercises.find(_named(answer))
    except KeyError as error:
        return _said(Hint("?", 0, 0, error.args[0]))
    name, general = exercise.name, exercise.hints
    _, verdict = _last.get(name, (None, None))
    own = verdict.where.hints if verdict is not None and verdict.where else ()
    told = _hints_given.setdefault(name, [])
    following = [one for one in (*own, *general) if one not in told]
    text = following[0] if following else general[-1]
    if following:
        told.append(text)
    return _said(Hint(name, len(told), len(told) + max(len(following) - 1, 0), text))


def solution(answer: Any = None) -> Solution | Hint:
    """The solution of an exercise, given by name or by the answer, or of the one that was checked last: the model
    answer, one other way to write it, and why. That it was shown is noted in your progress and in what you hand in.
    """
    try:
        exercise = exercises.find(_named(answer))
    except KeyError as error:
        return _said(Hint("?", 0, 0, error.args[0]))
    found = solutions.solution_of(exercise)
    if isinstance(found, Solution) and logbook.is_kept():
        logbook.note_shown(exercise.name)
    return _said(found)


def _named(answer: Any) -> str:
    if answer is None and not _last:
        raise KeyError("Nothing was checked yet. Say which exercise you mean, by its name.")
    if answer is None:
        return next(reversed(_last))
    name = answer if isinstance(answer, str) else attribute(answer, "__name__")
    return name if isinstance(name, str) else "?"


def use(answer: Any) -> Any:
    """The student's own answer if it passes its check, else the course's; prints which.

    forward = use(rnn_forward)
    """
    exercise = exercises.find(answer.__name__)
    if not isinstance(exercise, Exercise):
        raise TypeError(f"{exercise.name} is a question, not code: there is nothing to use.")
    candidate, verdict = _last.get(exercise.name, (None, None))
    if candidate is not answer or verdict is None or _comes_from(answer, exercise)[1]:
        verdict = check(answer)
    print(f"{exercise.name}: {'yours' if verdict.passed else 'the course’s, since yours does not pass yet'}")
    return _answering_with_arrays(answer, exercise) if verdict.passed else exercise.reference


def _answering_with_arrays(answer: Any, exercise: Exercise) -> Any:
    """The answer, where a list that it returns for an array has become one: the check takes both, an experiment
    may not.
    """
    if not exercise.drive.is_plain or not any(part.axes is not None for part in exercise.gives):
        return answer

    @functools.wraps(answer)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        result = answer(*args, **kwargs)
        if len(exercise.gives) == 1:
            return np.asarray(result)
        parts = zip(result, exercise.gives, strict=True)
        return tuple(value if part.axes is None else np.asarray(value) for value, part in parts)

    return wrapped


@dataclass(frozen=True)
class Progress:
    """How far one is in a unit: for each exercise its points, so far and at most; the points of what a person reads;
    and what passed once and does not hold now.
    """

    stem: str
    title: str
    rows: tuple[tuple[str, float, int], ...]
    written: tuple[tuple[str, int], ...] = ()
    once: frozenset[str] = frozenset()

    @property
    def got(self) -> float:
        """Points so far."""
        return round(sum(got for _, got, _ in self.rows), 2)

    @property
    def most(self) -> int:
        """All points of the unit, with those that a person gives."""
        return sum(most for _, _, most in self.rows) + sum(points for _, points in self.written)

    @property
    def share(self) -> float:
        """Points so far, as a share of all."""
        return self.got / (self.most or 1)

    def __str__(self) -> str:
        full = int(20 * self.share + 1e-9)  # full only when all is there
        head = f"{self.title}  [{'█' * full}{'·' * (20 - full)}] {self.got:g} of {self.most} points"
        lines = [
            f"  {'✓' if got == most else '·'} {name}: {got:g} of {most}{self._note(name)}"
            for name, got, most in self.rows
        ]
        lines += [f"  · {name}: {points}, read by a person" for name, points in self.written]
        return "\n".join([head, *lines])

    __repr__ = __str__

    def _note(self, name: str) -> str:
        return " (it passed before)" if name in self.once else ""

    def _repr_html_(self) -> str:
        rows = [
            ("✓" if got == most else "·", "passed" if got == most else "open", f"<code>{name}</code>{self._note(name)}")
            for name, got, most in self.rows
        ]
        rows += [("✎", "read by a person", f"<code>{name}</code>") for name, _ in self.written]
        names = " ".join(
            f'<li style="display:inline-block;margin-right:0.6em"><span role="img" aria-label="{word}:">{mark}</span> '
            f"{text}</li>"
            for mark, word, text in rows
        )
        return (
            f'<section aria-label="Progress: {self.title}" style="max-width:52em"><div><strong>{self.title}</strong>'
            f"&ensp;{self.got:g} of {self.most} points</div>"
            f'<progress value="{self.got:g}" max="{self.most}" aria-label="points" style="width:100%">'
            f"{100 * self.share:.0f}%</progress>"
            f'<ul aria-label="exercises" style="{ROW};font-size:85%;line-height:2">{names}</ul></section>'
        )

    def _ipython_display_(self) -> None:
        """In a notebook that keeps its progress: a bar that moves when a later cell passes its check."""
        if not (front_end() == "kernel" and logbook.is_kept()):
            raise NotImplementedError  # IPython shows it as it shows everything else
        from IPython.display import display

        display(self._data(), raw=True, display_id=_bar_id(self.stem))
        _bars.add(self.stem)

    def _data(self) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}


def progress(stem: str) -> Progress:
    """How far one is in a unit, "03_cell", by the latest check of each answer: in this session, or else, where progress
    is kept, in one before.

    In a notebook it is a bar that moves with each exercise that passes. RNNCOURSE_LEFT_OUT names exercises that do not
    count, since the notebook has none of them: those that need torch, in a browser.
    """
    unit = exercises.unit(stem)
    known = logbook.standings() if logbook.is_kept() else {}
    left_out = os.environ.get("RNNCOURSE_LEFT_OUT", "").split()
    rows, once = [], set[str]()
    for exercise in unit:
        if exercise.name in left_out:
            continue
        points = round(known[exercise.name].score * exercise.points, 2) if exercise.name in known else 0.0
        if exercise.name in _standing:
            points = _standing[exercise.name].points
        rows.append((exercise.name, points, exercise.points))
        if points < exercise.points and exercise.name in known and known[exercise.name].passed_once:
            once.add(exercise.name)
    written = tuple(logbook.written_in(unit.stem).items())
    title = f"{unit.stem.partition('_')[0]} {unit.title}"
    return _said(Progress(unit.stem, title, tuple(rows), written, frozenset(once)))


def first_open(names: Iterable[str]) -> str:
    """The first of these exercises that does not hold; nothing if all do."""
    known = logbook.standings() if logbook.is_kept() else {}
    holds = {name for name, one in known.items() if one.passed} | {name for name, v in _standing.items() if v.passed}
    return next((name for name in names if name not in holds), "")


def _move_bar(stem: str) -> None:
    """Draw a unit's bar again, wherever it stands on the page."""
    if stem in _bars:
        from IPython.display import update_display

        update_display(progress(stem)._data(), raw=True, display_id=_bar_id(stem))


def _bar_id(stem: str) -> str:
    return f"rnncourse-progress-{stem}"
