"""Are the checks strict enough? Every small change of every model answer has to be refused by the hidden check.

Names are units ("03", "03_cell") or exercises; without any, all units are run, in turn. What has been run is kept in
build/mutants, and run again when the answer, its cases or the checks have changed.
"""

import argparse
import ast
import hashlib
import inspect
import json
import os
import random
import sys
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from mutants import known, running
from mutants.running import ENOUGH, Judge, Mutant, answer_to, each, mutants_of, written
from rnncourse import checks, exercises
from rnncourse.checks.cases import drawn, seed_for
from rnncourse.checks.exercise import unchanged
from rnncourse.checks.wire import encode
from rnngrade.author.cells import ROOT

KEPT = ROOT / "build" / "mutants"


class Run:
    """What one call of the command does. `alive` holds the mutants that no case refuses, and what to say of them."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.console = Console()
        self.columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self.equivalent = known.read(known.EQUIVALENT)
        self.once = known.read(known.ONCE_ACCEPTED)
        self.alive = 0
        self.stale: list[str] = []

    def exercises(self, names: list[str], seeds: int) -> None:
        """Every mutant of these exercises on the desk's cases; with `seeds`, those that few of them refuse on more."""
        with Progress(*self.columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("", total=len(names))
            for name in names:
                progress.update(task, description=name)
                judge, mutants = Judge(name), self._mutants_of(name)
                results = _kept(judge)
                todo = [m for m in mutants if m.change not in results]
                inner = progress.add_task(f"{name}: mutants", total=len(todo))
                for mutant, refusals in each(todo, judge.desk, self.jobs):
                    results[mutant.change] = ENOUGH if refusals is None else refusals
                    progress.advance(inner)
                if todo:
                    _keep(judge, results)
                progress.remove_task(inner)
                self._report(judge, mutants, results)
                if seeds:
                    few = [m for m in mutants if results[m.change] in range(-1, ENOUGH) and results[m.change]]
                    inner = progress.add_task(f"{name}: few cases refuse", total=len(few))
                    for mutant, lives in each(few, partial(judge.over, seeds=seeds), self.jobs):
                        if lives:
                            self._say(mutant, f"accepted for {len(lives)} of {seeds} seeds: {lives}")
                        progress.advance(inner)
                    progress.remove_task(inner)
                progress.advance(task)

    def sample(self, names: list[str], size: int, seed: int) -> None:
        """So many mutants of these exercises, drawn at random, and all that were accepted once."""
        everything = {(m.exercise, m.change): m for name in names for m in self._mutants_of(name)}
        once = [key for key in self.once if key in everything]
        drawn = random.Random(seed).sample(sorted(everything), min(size, len(everything)))
        chosen = [everything[key] for key in sorted({*drawn, *once})]
        self.console.print(f"{len(chosen)} of {len(everything):,} mutants, seed {seed}")
        for name in names:
            mutants = [m for m in chosen if m.exercise == name]
            if mutants:
                judge = Judge(name)
                self._report(judge, mutants, {m.change: r for m, r in each(mutants, judge.desk, self.jobs)})

    def _mutants_of(self, name: str) -> list[Mutant]:
        """All mutants of an exercise. What the lists say of others is stale."""
        mutants = mutants_of(name)
        changes = {m.change for m in mutants}
        for exercise, change in (*self.equivalent, *self.once):
            if exercise == name and change not in changes:
                self.stale.append(f"{name}: There is no such mutant any more.\n{change}")
        return mutants

    def _report(self, judge: Judge, mutants: list[Mutant], results: dict[str, Any]) -> None:
        for mutant in mutants:
            refused = results[mutant.change] != 0
            if not refused and (mutant.exercise, mutant.change) not in self.equivalent:
                self._say(mutant, "accepted")
            elif refused and (mutant.exercise, mutant.change) in self.equivalent:
                self.stale.append(f"{mutant.exercise}: It is refused now.\n{mutant.change}")

    def _say(self, mutant: Mutant, words: str) -> None:
        self.alive += 1
        self.say(f"{mutant.exercise}: {words}\n{mutant.change}\n")

    def say(self, words: str) -> None:
        """Print lines as they are."""
        self.console.print(words, markup=False, highlight=False, soft_wrap=True)


def _kept(judge: Judge) -> dict[str, int]:
    path = KEPT / f"{judge.exercise.name}.json"
    if path.exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["key"] == _key(judge):
            return dict(kept["results"])
    return {}


def _keep(judge: Judge, results: dict[str, int]) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"key": _key(judge), "results": results}, indent=0)
    (KEPT / f"{judge.exercise.name}.json").write_text(text, encoding="utf-8")


def _key(judge: Judge) -> str:
    """What results depend on: the answer, the cases and what they expect, the engine, and this package's own code."""
    exercise = judge.exercise
    answer, others = answer_to(exercise.name)
    parts = [ast.unparse(statement).encode() for statement in (answer, *others)]
    parts += [path.read_bytes() for path in sorted(Path(checks.__file__).parent.glob("*.py"))]
    parts.append(inspect.getsource(running).encode())
    for hidden in (False, True):
        for one, wanted in zip(*drawn(exercise, seed_for(exercise, hidden))):
            parts += [encode(one.args), encode(wanted.answer), repr(wanted.error).encode()]
    if exercise.properties or exercise.canonical is not unchanged:  # these are code of the catalogue
        catalogue = Path(exercises.__file__).parent / f"{exercise.unit.stem.partition('_')[2]}.py"
        parts.append(catalogue.read_bytes())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _named(names: list[str]) -> list[str]:
    """The exercises that these names of units and exercises stand for, in order."""
    found = []
    for name in names or exercises.STEMS:
        try:
            found += [e.name for e in written(name)]
        except KeyError:
            found += [e.name for e in [exercises.find(name)]]
    return found


def main() -> None:
    """Run the mutants that were asked for; the exit code is 1 if one of them is accepted."""
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help="a unit or an exercise")
    parser.add_argument("--seeds", type=int, default=0, help="run those that few cases refuse on so many seeds")
    parser.add_argument("--sample", type=int, default=0, help="run so many, drawn at random, and all accepted once")
    parser.add_argument("--seed", type=int, default=None, help="what the sample is drawn from (default: a new one)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    options = parser.parse_args()
    try:
        names = _named(options.names)
    except KeyError as unknown:
        parser.error(unknown.args[0])
    run = Run(options.jobs)
    seed = random.randrange(10**6) if options.seed is None else options.seed
    if options.sample:
        run.sample(names, options.sample, seed)
    else:
        run.exercises(names, options.seeds)
    for words in run.stale:
        run.say(f"In a list of {known.HERE.name}/, and stale: {words}\n")
    run.say(f"{run.alive} accepted, {len(run.stale)} stale")
    sys.exit(bool(run.alive or run.stale))


if __name__ == "__main__":
    main()
