"""A student of the desk by another name: the work, and what a person gave for it, go along.

Work is collected as that of "Participant 17" where names are not shown, and as that of "kingada_901" where there is no
class list yet. When a line of `names.csv` or the class list says who that is, it becomes theirs; the next run grades it
anew under their name, with marks and comments by hand.
"""

import contextlib
import shutil
from collections.abc import Iterator

from rnncourse import exercises
from rnngrade.core.desk import Desk
from rnngrade.core.errors import some, writing
from rnngrade.gradebook import by_hand
from rnngrade.gradebook.book import GradebookWriter
from rnngrade.gradebook.door import is_there
from rnngrade.roster.names import keys_of, likeliest
from rnngrade.roster.students import canvas_id_of, class_list, read_settled


def rename_known(desk: Desk) -> Iterator[str]:
    """Give the work of whoever is known by now their id for a name; yields what was done. **Errors:** `DeskError`."""
    people = class_list(desk)
    for name, meant in read_settled(desk).items():
        if people and meant not in people.people:
            near = likeliest([meant], people.people.values())
            also = f"; there is {' or '.join(near)}" if near else ""
            yield f"names.csv is not followed where it says that {name!r} is {meant!r}: nobody on the class list{also}."
    for unit in exercises.STEMS:
        renamed = []
        for student, key in keys_of(desk, unit).items():
            id = people.id_of(key, student, f"canvas {canvas_id_of(student)}")
            if not id or id == student:
                continue
            if (desk.submitted / id / unit).exists():
                yield f"{student}'s {unit} is {id}'s, who has one already: keep one by hand."
            else:
                _rename(desk, unit, student, id)
                renamed.append(f"{student}'s {unit} is {id}'s")
        if renamed:
            yield f"{some(renamed)} now; the next 'rnngrade run {unit[:2]}' grades by these names."


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
    collected = [desk.collected / unit / name for name in (old, new)]
    for source, target in (collected, [by_hand.path_of(desk, unit, name) for name in (old, new)]):
        if source.is_file():
            source.replace(target)
