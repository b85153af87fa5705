"""A student of the desk by another name: the work, and what a person gave for it, go along.

Where names are not shown, work is collected as that of "Participant 17". When a line of `names.csv` says who that is,
it becomes theirs; the next run grades it anew under their name, with marks and comments by hand.
"""

from __future__ import annotations

import contextlib
import shutil

from rnncourse import exercises
from rnngrade.core.desk import Desk
from rnngrade.core.errors import writing
from rnngrade.gradebook import by_hand
from rnngrade.gradebook.book import GradebookWriter
from rnngrade.gradebook.door import is_there
from rnngrade.roster.names import keys_of
from rnngrade.roster.students import folded, read_settled


def rename_settled(desk: Desk) -> list[str]:
    """Give the work whose owner was settled its owner's name; returns a sentence on each. **Errors:** `RosterError`."""
    settled, told = read_settled(desk), list[str]()
    if not settled:
        return told
    for unit in exercises.STEMS:
        for student, key in keys_of(desk, unit).items():
            id = settled.get(folded(key)) or settled.get(folded(student))
            if not id or id == student:
                continue
            if (desk.submitted / id / unit).exists():
                told.append(f"{student}'s {unit} is {id}'s, says names.csv, who has one already: keep one by hand.")
            else:
                _rename(desk, unit, student, id)
                told.append(
                    f"{student}'s {unit} is {id}'s now; the next 'rnngrade run {unit[:2]}' grades it by that name."
                )
    return told


def _rename(desk: Desk, unit: str, old: str, new: str) -> None:
    """What was given by hand first: should it end here, all is done again."""
    if is_there(desk):
        with GradebookWriter(desk) as gradebook:
            gradebook.take_out(unit, old)
    for path in (desk.record_path(unit, old), desk.executed_path(unit, old)):
        path.unlink(missing_ok=True)
    shutil.rmtree(desk.feedback / old / unit, ignore_errors=True)
    for folder in (desk.autograded, desk.submitted):
        if (folder / old / unit).is_dir():
            with writing(folder / new):
                (folder / new).mkdir(parents=True, exist_ok=True)
                (folder / old / unit).rename(folder / new / unit)
            with contextlib.suppress(OSError):
                (folder / old).rmdir()  # if it was all that they had
    collected = [desk.folder / "collected" / unit / name for name in (old, new)]
    for source, target in (collected, [by_hand.path_of(desk, unit, name) for name in (old, new)]):
        if source.is_file():
            source.replace(target)
