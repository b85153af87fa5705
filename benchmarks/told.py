"""How much of what is wrong in answers is told: `python -m benchmarks.told FILE...`, of answers as on the tests' shelf.

The lines where the mistake stands end in the mark `  # <<`, or, if there are two, in `# <<1` and `# <<2`; an answer
without marks is not counted as placed. A mistake is told if it has a name or one of its lines is pointed to; what is
told "besides" a wrong value is as good as a name. What a name says is not judged: `--out` writes each verdict with the
answer, to be read.
"""

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

from rnncourse import check, exercises
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.pairs import TWO
from rnncourse.checks.shelf import Answer, read

_MARK = re.compile(r"\s*# <<(\d?)\s*$")


def marked(answer: Answer) -> tuple[Answer, dict[str, set[int]]]:
    """An answer without its marks, and the lines of each mistake."""
    lines: list[str] = []
    at: dict[str, set[int]] = {}
    for number, line in enumerate(answer.text.splitlines(), 1):
        if found := _MARK.search(line):
            at.setdefault(found[1], set()).add(number)
        lines.append(_MARK.sub("", line))
    return replace(answer, text="\n".join(lines) + "\n"), at


def answers(file: Path) -> Iterator[tuple[Answer, Exercise]]:
    """The answers of a file, and what each is an answer to."""
    of = {e.name: e for unit in exercises.units() for e in unit if isinstance(e, Exercise)}
    return ((answer, of[answer.exercise]) for answer in read(file))


def verdict_on(answer: Answer, at: dict[str, set[int]], exercise: Exercise) -> dict[str, Any]:
    """What the check says of an answer, and how many of its mistakes that tells."""
    made = answer.made(exercise)
    with redirect_stdout(None):  # outside a notebook a check prints what it found
        start = time.process_time()
        verdict = check(made, exercise.name)
        seconds = time.process_time() - start
        accepted = check(made, exercise.name, hidden=True).passed
    pointed = set(verdict.where.lines) if verdict.where else set()
    names = verdict.diagnosis.split(TWO) if verdict.diagnosis else ["besides"] * (" Besides: " in verdict.message)
    names += ["a property"] * bool(verdict.where and " Even then: “" in verdict.where.message)
    slips = max(1, len(at))
    return {
        "exercise": exercise.name,
        "kind": answer.kind,
        "what": answer.what,
        "accepted": accepted,
        "slips": slips,
        "told": min(slips, len(names) + sum(bool(lines & pointed) for lines in at.values())),
        "named": verdict.diagnosis,
        "pointed": sorted(pointed),
        "marked": {slip: sorted(lines) for slip, lines in at.items()},
        "seconds": round(seconds, 3),
        "said": verdict.text(),
        "text": answer.text,
    }


def summary(rows: list[dict[str, Any]]) -> str:
    """The counts: of right answers those refused; of wrong ones those accepted, and those that are told."""
    right = [row for row in rows if row["kind"] == "right"]
    wrong = [row for row in rows if row["kind"] != "right"]
    seconds = sorted(row["seconds"] for row in wrong if not row["named"] and not row["accepted"]) or [0.0]
    lines = [f"right answers refused: {sum(not row['accepted'] for row in right)} of {len(right)}"]
    lines += [f"wrong answers accepted: {sum(row['accepted'] for row in wrong)} of {len(wrong)}"]
    for slips in sorted({row["slips"] for row in wrong}):
        of = [row for row in wrong if row["slips"] == slips]
        told = Counter(row["told"] for row in of)
        counts = ", ".join(f"{told[n]} with {n} told" for n in range(slips, -1, -1))
        lines.append(f"{slips} slip{'s' * (slips > 1)}: {len(of)}: {counts}")
    told_some = sum(row["told"] > 0 for row in wrong)
    lines.append(f"told something that is so: {told_some} of {len(wrong)}, {told_some / max(1, len(wrong)):.1%}")
    lines.append(
        f"seconds of the processor for {len(seconds)} without a name: median {seconds[len(seconds) // 2]:.2f}, "
        f"most {seconds[-1]:.2f}, above 2 s {sum(s > 2 for s in seconds)}"
    )
    return "\n".join(lines)


def main() -> None:
    """Check the answers of the files and print how many are told."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.told", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, help="a file for the verdicts, one JSON object a line")
    args = parser.parse_args()
    rows = [verdict_on(*marked(answer), exercise) for file in args.files for answer, exercise in answers(file)]
    if args.out:
        args.out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    print(summary(rows))


if __name__ == "__main__":
    main()
