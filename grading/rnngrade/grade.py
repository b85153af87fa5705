"""One submission, graded: bytes in, a record and the executed notebook out. No shared disk, nothing else is needed.

    grade(submission, bundle, student, seed, limits) -> Graded(record, notebook)

Intake, then cell by cell in the sandbox; where a check stands, the judge asks. A cell that ends its process, or does
not end, costs its own exercise: it is left out, the sandbox is started again and the cells before it are run again,
which takes milliseconds, since experiments are not run. A verdict that is written down stays.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from rnncourse import exercises
from rnncourse.checks.exercise import Exercise, Question
from rnncourse.checks.verdict import Verdict
from rnngrade import record
from rnngrade.bundle import Bundle
from rnngrade.inspection import digest, inspect, weight
from rnngrade.intake import Intake, take_in
from rnngrade.judge import judge_code, judge_question, refused
from rnngrade.record import ExerciseResult, Finding, Record
from rnngrade.sandbox.limits import MB, Limits
from rnngrade.sandbox.session import Died, Fault, Garbled, Session, Station, TooMuch, TooSlow


@dataclass(frozen=True)
class Graded:
    """What came of a submission: its record, and the instructor's notebook with the student's answers, executed."""

    record: Record
    notebook: bytes


Grader = Callable[[dict[str, Path]], Iterator[Graded]]  # submissions by student, in; results as they come, out


def grade(
    submission: bytes,
    bundle: Bundle,
    student: str,
    seed: str = "",
    limits: Limits | None = None,
    *,
    station: Station | None = None,
    sandboxed: bool = True,
) -> Graded:
    """Grade one submission. `station` is a started one for the same bundle, to be used again.

    Never raises for what the submission is or does. **Errors:** `WrongBundle`, `NoSandbox`.
    """
    limits = limits or Limits()
    with _seed(seed):
        if station is not None:
            return _Grading(submission, bundle, student, seed, station).run()
        bundle.require_fit()
        with open_station(bundle, limits, sandboxed=sandboxed) as own:
            return _Grading(submission, bundle, student, seed, own).run()


def open_station(bundle: Bundle, limits: Limits, *, sandboxed: bool = True) -> Station:
    """A station for a bundle: to grade many submissions, start it once."""
    return Station(bundle.library, bundle.modules(), limits, sandboxed=sandboxed)


@contextmanager
def _seed(seed: str) -> Iterator[None]:
    """The hidden cases' seed, which is this process's alone."""
    before = os.environ.get("RNNCOURSE_SEED")
    if seed:
        os.environ["RNNCOURSE_SEED"] = seed
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("RNNCOURSE_SEED", None)
        else:
            os.environ["RNNCOURSE_SEED"] = before


@dataclass
class _Cell:
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


@dataclass
class _Grading:
    submission: bytes
    bundle: Bundle
    student: str
    seed: str
    station: Station
    results: dict[str, ExerciseResult] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    ran: list[_Cell] = field(default_factory=list)
    session: Session | None = None
    banned: dict[str, str] = field(default_factory=dict)  # by answer: what it calls and may not
    restarts: int = 0
    most_memory: int = 0
    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))  # seconds, by what on

    def run(self) -> Graded:
        began = time.monotonic()
        self.end = began + self.station.limits.submission_seconds
        intake = take_in(self.submission, self.bundle.notebook())
        self.findings += [*intake.findings, *self._inspect(intake)]
        self.spent["intake_seconds"] = time.monotonic() - began
        try:
            for index, cell in enumerate(intake.notebook.cells):
                if cell.cell_type == "code":
                    self._cell(index, cell, intake)
        finally:
            self._close()
        made = self._record(intake)
        made.measured.update(
            seconds=round(time.monotonic() - began, 3),
            cell_seconds=round(sum(c.seconds for c in self.ran), 3),
            **{what: round(seconds, 4) for what, seconds in self.spent.items()},
            memory=float(self.most_memory),
            restarts=float(self.restarts),
        )
        return Graded(made, nbformat.writes(intake.notebook).encode())

    def _cell(self, index: int, cell: NotebookNode, intake: Intake) -> None:
        meta = cell.metadata.get("nbgrader", {})
        if "experiment" in cell.metadata.get("tags", []):
            return
        if meta.get("grade"):
            cell.outputs = [_verdict_output(self._judge(cell, intake))]
            return
        is_helper = cell.metadata.get("rnngrade", {}).get("role") == "helper"
        one = _Cell(index, cell.source, meta.get("grade_id") if meta.get("solution") else None, is_helper)
        self.ran.append(one)
        reply = self._run(one)
        cell.execution_count = len(self.ran)
        if reply is not None:
            cell.outputs = [made for output in reply["outputs"] if (made := _clean_output(output)) is not None]
            errors = [o for o in cell.outputs if o.output_type == "error"]
            one.error = f"{errors[-1].ename}: {errors[-1].evalue}" if errors else ""
        elif one.fault is not None:
            words = _words(one.fault, "This cell", self.station.limits)
            cell.outputs = [nbformat.v4.new_output("error", ename="Stopped", evalue=words, traceback=[words])]
            if one.exercise is None:
                self.findings.append(Finding("cell-stopped", f"A cell of your own was left out. {words}"))

    def _run(self, one: _Cell) -> dict[str, Any] | None:
        """Run a cell; None if it came to no end, in which case it is left out from now on."""
        if (session := self._ready()) is None:
            one.fault = TooSlow()
            return None
        began, cpu = time.monotonic(), session.cpu_seconds()
        try:
            reply = session.ask("run", one.source, seconds=self._left(self.station.limits.cell_seconds))
            match reply:
                case {"outputs": list(), "error": None | str()}:
                    self.spent["cell_cpu_seconds"] += session.cpu_seconds() - cpu
                    return dict(reply)
            raise Garbled("no outputs")
        except Fault as fault:
            one.fault = fault
            self._close()
            return None
        finally:
            one.seconds = time.monotonic() - began

    def _judge(self, check: NotebookNode, intake: Intake) -> Verdict:
        """The verdict of the exercise whose check this is; the first one counts."""
        name = str(check.metadata.nbgrader.grade_id).removeprefix("check_")
        exercise = exercises.find(name)
        began, started = time.monotonic(), self.spent["sandbox_seconds"]
        status, verdict = self._ask(exercise, intake)
        self.spent["judge_seconds"] += time.monotonic() - began - (self.spent["sandbox_seconds"] - started)
        cells = [c for c in self.ran if c.exercise == name]
        hint = "" if verdict.passed or not exercise.hints else exercise.hints[0]
        self.results.setdefault(
            name,
            ExerciseResult(
                name=name,
                status=status,
                points=verdict.points,
                max_points=float(exercise.points),
                passed=verdict.passed,
                message=verdict.message,
                diagnosis=verdict.diagnosis,
                criteria=dict(verdict.criteria),
                hint=hint,
                card=verdict.card(),
                seconds=round(time.monotonic() - began + sum(c.seconds for c in cells), 3),
            ),
        )
        return verdict

    def _ask(self, exercise: Exercise | Question, intake: Intake) -> tuple[str, Verdict]:
        name = exercise.name
        answer = next((c for c in self.ran if c.exercise == name), None)
        if intake.answers.get(name) is None:
            return record.MISSING, refused(exercise, f"What was handed in has no cell with an answer to {name}.")
        if answer is not None and answer.fault is not None:
            words = _words(answer.fault, f"The cell of {name}", self.station.limits)
            return _status(answer.fault), refused(exercise, words)
        if (session := self._ready()) is None:
            words = "There was no time left for it: cells or answers before it had used up the submission's time."
            return record.TIMED_OUT, refused(exercise, words)
        try:
            if isinstance(exercise, Exercise):
                status, verdict, goes_on = judge_code(session, exercise, self.banned.get(name))
            else:
                status, verdict, goes_on = judge_question(session, exercise)
        except Fault as fault:
            self._close()
            return _status(fault), refused(exercise, _words(fault, name, self.station.limits))
        if not goes_on:
            self._close()
        if status == record.MISSING and answer is not None and answer.error:
            verdict = refused(exercise, f"There is no `{name}`: its cell raised {answer.error[:300]}.")
        return status, verdict

    def _ready(self) -> Session | None:
        """A session in which all cells so far have been run, but for those left out; None if there is no more time."""
        began = time.monotonic()
        while self.session is None:
            if self.restarts > self.station.limits.restarts or self._left(1.0) <= 0:
                return None
            self.restarts += 1
            self.session = self.station.session()
            for one in [c for c in self.ran if c.fault is None and c.seconds]:
                try:
                    self.session.ask("run", one.source, seconds=self._left(self.station.limits.cell_seconds))
                except Fault as fault:  # it did end before: chance, or malice
                    one.fault = fault
                    self._close()
                    break
        self.spent["sandbox_seconds"] += time.monotonic() - began
        return self.session

    def _left(self, most: float) -> float:
        return max(0.0, min(most, self.end - time.monotonic()))

    def _close(self) -> None:
        if self.session is not None:
            self.most_memory = max(self.most_memory, self.session.most_memory)
            self.session.close()
            self.session = None

    def _inspect(self, intake: Intake) -> list[Finding]:
        sources, given = {}, {}
        for index, cell in enumerate(intake.notebook.cells):
            meta = cell.metadata.get("nbgrader", {})
            is_helper = cell.metadata.get("rnngrade", {}).get("role") == "helper"
            if cell.cell_type == "code" and (is_helper or (meta.get("solution") and not meta.get("grade"))):
                sources[str(meta.get("grade_id") or f"cell {index + 1}")] = cell.source
            elif cell.cell_type == "code" and meta.get("locked") and not meta.get("grade"):
                given[f"given {index + 1}"] = cell.source
        stem = self.bundle.unit.partition("_")[2]
        own = (f"rnncourse.{stem}", "rnncourse.exercises")
        catalogue = exercises.unit(self.bundle.unit)
        forbids = {e.name: (*own, *e.forbids) if isinstance(e, Exercise) else own for e in catalogue}
        uses = {e.name: e.uses for e in catalogue if isinstance(e, Exercise)}
        inspection = inspect(sources, forbids, uses, given)
        self.banned = inspection.banned
        return inspection.findings

    def _record(self, intake: Intake) -> Record:
        catalogue = exercises.unit(self.bundle.unit)
        answers = {}
        for e in catalogue:
            source = intake.answers.get(e.name)
            if isinstance(e, Exercise) and source and self.results[e.name].status != record.MISSING:
                answers[e.name] = f"{weight(source)}:{digest(source)}"
        return Record(
            student=self.student,
            unit=self.bundle.unit,
            key=self.bundle.key(self.submission, self.seed, self.station.limits),
            submission=hashlib.sha256(self.submission).hexdigest(),
            exercises=tuple(self.results[e.name] for e in catalogue),
            written=intake.written_changed,
            findings=tuple(self.findings),
            answers=answers,
            versions=dict(self.bundle.versions),
        )


def _status(fault: Fault) -> str:
    kinds = {TooSlow: record.TIMED_OUT, Died: record.DIED, TooMuch: record.DIED, Garbled: record.GARBLED}
    return kinds[type(fault)]


def _words(fault: Fault, what: str, limits: Limits) -> str:
    """What to tell a student whose cell or answer ended the session."""
    match fault:
        case TooSlow():
            return f"{what} did not come to an end in time. Is there a loop that never ends?"
        case TooMuch() if str(fault) == "processes":
            return f"{what} started more than {limits.processes} processes or threads."
        case TooMuch():
            return f"{what} used more than {limits.memory // MB} MB of memory."
        case Garbled():
            return f"{what} wrote where only the grading desk writes, so that nothing it says can be believed."
    return f"{what} ended Python itself: by a crash, by os._exit, or for want of memory."


# Where this Python's packages and the sandbox's library lie is nobody's business.
_PATH = re.compile(rf"{re.escape(sys.prefix)}/lib/python[\d.]+/site-packages/|/\S*/rnngrade-\w+/library/")


def _verdict_output(verdict: Verdict) -> NotebookNode:
    data = {"text/plain": f"{verdict.points:g}", "text/html": verdict.card()}
    return nbformat.v4.new_output("execute_result", data=data, metadata={}, execution_count=None)


def _clean_output(output: Any) -> NotebookNode | None:
    """An output of a student's cell, built anew from text and pictures alone; None if it is of another form."""
    match output:
        case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": str(text)}:
            return nbformat.v4.new_output("stream", name=name, text=text)
        case {"output_type": "error", "ename": str(name), "evalue": str(words), "traceback": list(lines)}:
            shown = [_PATH.sub("", line) for line in lines if type(line) is str]
            return nbformat.v4.new_output("error", ename=name, evalue=words, traceback=shown)
        case {"output_type": "display_data" | "execute_result", "data": dict(data)}:
            kinds = ("text/plain", "image/png", "image/jpeg")
            kept = {k: data[k] for k in kinds if type(data.get(k)) is str}
            return nbformat.v4.new_output("display_data", data=kept) if kept else None
    return None
