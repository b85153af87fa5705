"""How likely each small change is to mend: `python -m benchmarks.slips FILE...`, of answers as `benchmarks.told` takes
them. All changes of each answer with one slip are tried, and the table of `rnncourse.checks.slips.likelihood` is
printed: of a thousand tried, those that make every case right in a line with the mark.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from pathlib import Path

from benchmarks.told import answers, marked
from rnncourse.checks.deadline import Deadline
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.local import Local
from rnncourse.checks.shelf import Answer
from rnncourse.checks.slips import Change
from rnncourse.checks.where import repairs, search
from rnncourse.checks.where.inquiry import ALL, Draws, Inquiry, OutOfTime

SECONDS = 8.0  # for one answer
TRIED, MENDED = 60, 0.3  # are added to what is counted: of what was tried seldom little is known


def tried(answer: Answer, exercise: Exercise) -> Iterator[tuple[Change, bool]]:
    """The changes of an answer, and whether each mends."""
    with redirect_stdout(None):
        made = answer.made(exercise)
    with Local(made, {}) as candidate:
        asked = search.ask(exercise, candidate, (0,))
        program = candidate.program(exercise.name)
        if not program or not program.is_searchable or not any(one.is_wrong for one in asked):
            return
        inquiry = Inquiry(exercise, candidate, program, Draws(exercise, candidate, (0,)), asked)
        inquiry.until = Deadline(SECONDS)
        with suppress(OutOfTime):
            for change in inquiry.changes.likeliest():
                mends = list(repairs.mending(inquiry, [change]))
                yield change, any(mend.scope == ALL for mend in mends)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slips", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    all_, good = Counter[str](), Counter[str]()
    for file in parser.parse_args().files:
        for answer, exercise in answers(file):
            text, at = marked(answer)
            if answer.kind == "wrong" and len(at) == 1:
                lines = set().union(*at.values())
                for change, is_mended in tried(text, exercise):
                    all_[change.name] += 1
                    good[change.name] += is_mended and not lines.isdisjoint(change.lines)
    for name, count in sorted(all_.items()):
        print(f'    "{name}": {1000 * (good[name] + MENDED) / (count + TRIED):.2g},')


if __name__ == "__main__":
    main()
