"""The two lists of mutants that are known, in files that read like a diff.

    edit_distance: The last row is never read there.
    - for i in range(n):
    + for i in range(n + 1):

The line with the exercise and a remark holds for all changes up to the next such line; a blank line ends a change. A
change is what differs between the answer and the mutant, each laid out by `ast.unparse`; where the same lines are
changed in the same way at several places, `#2` behind the first line is the second of them.
"""

import re
from pathlib import Path

HERE = Path(__file__).parent
EQUIVALENT = HERE / "equivalent.txt"  # with the reason why no case can, or may, refuse it
ONCE_ACCEPTED = HERE / "once_accepted.txt"  # refused since there is a case for it


def read(path: Path) -> dict[tuple[str, str], str]:
    """The remark for each (exercise, change) in a file. **Errors:** `ValueError` for a line that is none of these."""
    found: dict[tuple[str, str], str] = {}
    exercise = remark = ""
    lines: list[str] = []
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], start=1):
        if line.startswith(("- ", "+ ")):
            lines.append(line)
            continue
        if lines:
            key = exercise, "\n".join(lines)
            if key in found:
                raise ValueError(f"{path.name}, line {number}: the change above stands there twice.")
            found[key], lines = remark, []
        if heading := re.fullmatch(r"(\w+): (.+)", line):
            exercise, remark = heading.groups()
        elif line and not line.startswith("#"):
            raise ValueError(f"{path.name}, line {number}: {line!r} is no heading, no line of a change and no comment.")
    return found
