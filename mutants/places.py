"""Does the check find the place? Wrong answers whose place is known, judged as a student's notebook judges them.

Asked are mutants that the visible check refuses and that it cannot name: is the line that was changed among those that
it points to?
"""

from __future__ import annotations

import difflib
import linecache
import random
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mutants.running import Judge, Mutant, answer_to, each, mutants_of
from rnncourse.checks import faults
from rnncourse.checks.engine import judge
from rnncourse.checks.local import Local
from rnncourse.checks.where.inquiry import Budget


@dataclass(frozen=True)
class Placed:
    """What became of one mutant: the lines that were changed, what the check said, and how long it took."""

    changed: tuple[int, ...]
    criteria: tuple[str, ...]
    diagnosis: str | None
    where: dict[str, Any] | None
    seconds: float

    @property
    def counts(self) -> bool:
        """Whether it belongs to those whose place should be found: a wrong value or shape, and no diagnosis."""
        return (
            not self.diagnosis
            and bool({"values", "shape", "edges"} & set(self.criteria))
            and "runs" not in self.criteria
        )

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines that the check points to."""
        return tuple(self.where["lines"]) if self.where else ()

    @property
    def is_hit(self) -> bool:
        """Whether a changed line is among those."""
        return bool(set(self.lines) & set(self.changed))


def placed(judge_of: Judge, mutant: Mutant, budget: Budget | None = None) -> Placed | None:
    """What the visible check makes of a mutant; None if it accepts it or does not come to an end."""
    name = judge_of.exercise.name
    source = f"{mutant.source}\n"
    file = f"<mutant {abs(hash(source))}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    space = {**judge_of.space, name: None}
    try:
        exec(compile(source, file, "exec"), space)
    except Exception:
        return None
    with Local(space[name], judge_of.exercise.uses, 1.0) as local:
        verdict = judge(judge_of.exercise, local)
        if verdict.passed:
            return None
        began = time.monotonic()
        if not verdict.diagnosis:
            verdict = judge(judge_of.exercise, local, budget=budget or Budget())
        seconds = time.monotonic() - began
    linecache.cache.pop(file, None)
    failed = tuple(name for name, met in verdict.criteria.items() if met is False)
    return Placed(
        changed_lines(name, source), failed, verdict.diagnosis, verdict.where and verdict.where.plain(), seconds
    )


def changed_lines(exercise: str, source: str) -> tuple[int, ...]:
    """The lines of a mutant that differ from the model answer; of what was dropped, the lines around."""
    import ast

    before = ast.unparse(answer_to(exercise)[0]).splitlines()
    lines: set[int] = set()
    after = source.rstrip("\n").splitlines()
    for kind, _, _, start, end in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            lines.update(range(start + 1, end + 1) if end > start else (start, start + 1))
    return tuple(sorted(lines))


def measured(names: Iterable[str], size: int, seed: int, jobs: int) -> dict[str, list[tuple[Mutant, Placed | None]]]:
    """By exercise, so many mutants, drawn at random, and what became of each."""
    found = {}
    for name in names:
        mutants = mutants_of(name)
        chosen = random.Random(f"{seed} {name}").sample(mutants, min(size, len(mutants)))
        one = Judge(name)
        assert faults
        found[name] = list(each(chosen, lambda m, one=one: placed(one, m), jobs))
    return found
