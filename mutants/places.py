"""Does the check find the place? Wrong answers whose place is known, judged as a notebook judges them.

Three sorts, each drawn at random: a mutant of the model answer, a mutant of a right answer in another style, and two
mutants of the model answer at once, in two lines. Those count that the visible check refuses for a wrong value or shape
and cannot name: is a line that was changed among those that it points to?
"""

from __future__ import annotations

import ast
import difflib
import functools
import importlib
import inspect
import linecache
import random
import textwrap
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from mutants.edits import edits
from mutants.running import Judge, Mutant, answer_to, each
from rnncourse.checks.cases import seed_for
from rnncourse.checks.engine import SLOW, judge
from rnncourse.checks.local import Local
from rnncourse.checks.where.inquiry import Budget
from rnncourse.checks.where.place import Where
from rnncourse.checks.where.search import ask, find

SORTS = ("mutants", "other styles", "two at once")
SECONDS_A_CALL = 1.0


@dataclass(frozen=True)
class Wrong(Mutant):
    """A wrong answer: of which sort, by which name it is defined, and the lines that were changed."""

    sort: str
    name: str
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Placed:
    """What the check made of it: the criteria that failed, the diagnosis, the place, and how long looking took."""

    criteria: tuple[str, ...]
    diagnosis: str | None
    where: Where | None
    seconds: float

    @property
    def counts(self) -> bool:
        """Whether it is one of those whose place should be found."""
        return not self.diagnosis and "runs" not in self.criteria and set(self.criteria) != {"purity"}

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines that the check points to."""
        return self.where.lines if self.where else ()


def wrong_answers(exercise: str, sort: str, size: int, seed: int) -> list[Wrong]:
    """So many of a sort, drawn at random; fewer if there are not so many."""
    rng = random.Random(f"{exercise} {sort} {seed}")
    found: list[Wrong] = []
    if sort == "other styles":
        rights = [tree for _, tree in _alternatives(exercise)]
    else:
        rights = [answer_to(exercise)[0]]
    texts = {ast.unparse(right): (right.name, list(edits(right))) for right in rights}  # type: ignore[attr-defined]
    for before, (name, mutants) in texts.items():
        share = -(-size // len(texts))
        if sort == "two at once":
            drawn: Iterator[str] = (t for _ in range(20 * share) if (t := _both(before, *rng.sample(mutants, 2))))
        else:
            drawn = iter(rng.sample(mutants, min(share, len(mutants))))
        for text, _ in zip(drawn, range(share), strict=False):
            found.append(Wrong(exercise, difference(before, text), text, sort, name, changed_lines(before, text)))
    return found[:size]


def difference(before: str, after: str) -> str:
    """The lines that differ."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def changed_lines(before: str, after: str) -> tuple[int, ...]:
    """The lines of `after` that are not in `before`; where one was dropped, those around it."""
    lines: set[int] = set()
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind != "equal":
            lines.update(range(start + 1, end + 1) if end > start else (start, start + 1))
    return tuple(sorted(lines))


def _both(before: str, one: str, other: str) -> str | None:
    """Two changed lines at once; None if they are not two of the same number of lines."""
    rows = [text.splitlines() for text in (before, one, other)]
    if len({len(r) for r in rows}) > 1:
        return None
    changed = [[i for i, (a, b) in enumerate(zip(rows[0], r, strict=True)) if a != b] for r in rows[1:]]
    if any(len(c) != 1 for c in changed) or changed[0] == changed[1]:
        return None
    return "\n".join(rows[1][i] if i == changed[0][0] else row for i, row in enumerate(rows[2]))


@functools.cache
def _alternatives(exercise: str) -> list[tuple[dict[str, Any], ast.stmt]]:
    """Right answers in other styles, each with the names that it uses."""
    from rnncourse import exercises

    stem = exercises.find(exercise).unit.stem.partition("_")[2]
    module = importlib.import_module(f"tests.rnncourse.exercises.alternatives.{stem}")
    found = []
    for answer in module.ALTERNATIVES.get(exercise, ()):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(answer))).body
        if isinstance(tree, (ast.FunctionDef, ast.ClassDef)):
            tree.decorator_list = []
            found.append((vars(module), tree))
    return found


@contextmanager
def at_work(one: Judge, wrong: Wrong) -> Iterator[Local]:
    """A wrong answer as the engine sees it. **Errors:** whatever its text raises."""
    space = dict(one.space)
    if wrong.sort == "other styles":
        space |= {k: v for k, v in _alternatives(wrong.exercise)[0][0].items() if not k.startswith("__")}
    file = f"<wrong answer {abs(hash(wrong.source))}>"
    linecache.cache[file] = len(wrong.source), None, wrong.source.splitlines(keepends=True), file
    exec(compile(wrong.source, file, "exec"), space)
    try:
        with Local(space[wrong.name], one.exercise.uses, SECONDS_A_CALL) as local:
            yield local
    finally:
        del linecache.cache[file]


def placed(one: Judge, wrong: Wrong, budget: Budget | None = None) -> Placed | None:
    """What the visible check makes of a wrong answer; None if it accepts it, or if it is no answer at all."""
    exercise = one.exercise
    where, began = None, time.monotonic()
    with ExitStack() as stack:
        try:
            local = stack.enter_context(at_work(one, wrong))
        except Exception:
            return None
        verdict = judge(exercise, local)
        is_slow = time.monotonic() - began > SLOW
        if verdict.passed:
            return None
        began = time.monotonic()
        if not verdict.diagnosis and not is_slow:
            seed = seed_for(exercise, False)
            where = find(exercise, local, seed, ask(exercise, local, seed), budget or Budget())
        seconds = time.monotonic() - began
    failed = tuple(name for name, met in verdict.criteria.items() if met is False)
    return Placed(failed, verdict.diagnosis, where, seconds)


def measured(
    names: list[str], sort: str, size: int, seed: int, jobs: int, budget: Budget | None = None
) -> Iterator[tuple[Wrong, Placed | None]]:
    """So many wrong answers to each exercise, and what became of each."""
    for name in names:
        one = Judge(name)
        yield from each(wrong_answers(name, sort, size, seed), functools.partial(placed, one, budget=budget), jobs)


def figures(found: list[tuple[Wrong, Placed]]) -> list[str]:
    """Of those without a diagnosis: how many have a wrong value or shape, and of these, for how many a changed line is
    named, at most two lines are, another line is, something is said; and how long looking took, of all without one.
    """
    counted = [(set(p.lines) & set(w.lines), p) for w, p in found if p.counts]
    seconds = sorted(p.seconds for _, p in found if not p.diagnosis)
    shares = [
        sum(bool(hit) for hit, _ in counted),
        sum(0 < len(p.lines) < 3 for _, p in counted),
        sum(bool(p.lines) and not hit for hit, p in counted),
        sum(p.where is not None for _, p in counted),
    ]
    told = [f"{share / len(counted):.0%}" if counted else "" for share in shares]
    times = [f"{seconds[int(at * (len(seconds) - 1))]:.2f} s" if seconds else "" for at in (0.5, 0.9)]
    return [str(len(counted)), *told, *times]
