"""Copies: who is found, and who is accused, in made-up classes where it is known who copied from whom.

    python -m benchmarks.copies                    # every unit: 200 who work alone, 60 who copy
    python -m benchmarks.copies 03 10 --seeds 5    # some units, more classes
    python -m benchmarks.copies --size 1000        # time and memory of a large class, in each unit

The students are those of `tests/grading/styles.py`: each writes right answers in a style of their own, and a copy hides
in one way (other names, another order, dead lines, swapped operands, merged from two) or in two of them. It is found if
the list shows it with somebody from whom it comes; it is wrong to show two who have nothing to do with each other.
"""

from __future__ import annotations

import argparse
import itertools
import random
import resource
import time
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from rnncourse import exercises
from rnngrade.pages.report.alike import common_to_all
from rnngrade.reading.copies import find_copies
from tests.grading import styles

ROOT = Path(__file__).resolve().parents[1]
WAYS = (*styles.DISGUISES, styles.MERGE)
HOW = [*((way,) for way in WAYS), *itertools.combinations(WAYS, 2)]
ALONE, TIMES = 200, 4  # students who work alone; how often each way of copying occurs


def made_class(unit: str, seed: int) -> tuple[dict[str, styles.Answers], list[styles.Copy]]:
    """A class of 200 who work alone and 60 who copy from them, and what is known of these."""
    alone = styles.independent(unit, ALONE, seed)
    rng = random.Random(seed)
    copies = [
        styles.copied(alone, how, f"copy{way:02}{time}", rng) for time in range(TIMES) for way, how in enumerate(HOW)
    ]
    return alone | {c.student: c.answers for c in copies}, copies


def judged(unit: str, seed: int) -> tuple[Counter[tuple[str, ...]], set[frozenset[str]], int]:
    """How many copies of each kind were found in a class, the pairs wrongly shown, and how many were shown."""
    answers, copies = made_class(unit, seed)
    shown = {pair for copy in find_copies(answers, common_to_all(ROOT, exercises.unit(unit))) for pair in copy.pairs}
    sources = {c.student: {c.student, *c.sources} for c in copies}
    found = Counter(c.how for c in copies if any(frozenset({c.student, s}) in shown for s in c.sources))
    wrong = {pair for pair in shown if not set.intersection(*(sources.get(s, {s}) for s in pair))}
    return found, wrong, len(shown)


def run(units: list[str] | None = None, seeds: int = 1, first: int = 0) -> None:
    """Print what was found and what was wrong, by unit and by kind."""
    table = Table(title=f"Copies: {ALONE} students alone, {TIMES * len(HOW)} copies, {seeds} classes for each unit")
    for column in ("unit", "pairs shown", "wrong", "found", "from one", "from two"):
        table.add_column(column, justify="left" if column == "unit" else "right")
    for unit in units or exercises.STEMS[1:]:
        found: Counter[tuple[str, ...]] = Counter()
        wrong = shown = 0
        for seed in range(first, first + seeds):
            more, false, number = judged(unit, seed)
            found += more
            wrong += len(false)
            shown += number
        merged = sum(n for how, n in found.items() if styles.MERGE in how)
        of_merged = sum(styles.MERGE in how for how in HOW) * TIMES * seeds
        of_all = len(HOW) * TIMES * seeds
        single = found.total() - merged
        table.add_row(
            unit,
            str(shown),
            str(wrong),
            f"{found.total() / of_all:.0%}",
            f"{single / (of_all - of_merged):.0%}",
            f"{merged / of_merged:.0%}",
        )
    Console().print(table)


def run_large(size: int, units: list[str] | None = None) -> None:
    """Print the time of a large class and the memory that the process took at most."""
    table = Table(title=f"Copies: {size} students")
    for column in ("unit", "kB of answers", "s", "MB at most"):
        table.add_column(column, justify="left" if column == "unit" else "right")
    for unit in units or exercises.STEMS[1:]:
        answers = styles.independent(unit, size, 0)
        common = common_to_all(ROOT, exercises.unit(unit))
        start = time.process_time()
        find_copies(answers, common)
        took = time.process_time() - start
        length = sum(len(text) for given in answers.values() for text in given.values())
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        table.add_row(unit, f"{length / 1000:.0f}", f"{took:.1f}", f"{most:.0f}")
    Console().print(table)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.copies", description=__doc__)
    parser.add_argument("units", nargs="*", help="numbers of units, 03; all if there is none")
    parser.add_argument("--seeds", type=int, default=1, help="how many classes for each unit")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--size", type=int, default=0, help="time a class of that many instead")
    given = parser.parse_args()
    units = [stem for stem in exercises.STEMS if stem[:2] in given.units]
    if given.size:
        run_large(given.size, units)
    else:
        run(units, given.seeds, given.first)


if __name__ == "__main__":
    main()
