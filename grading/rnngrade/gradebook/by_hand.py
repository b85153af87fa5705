"""What persons gave, in files of the desk's own, `by_hand/UNIT/STUDENT.json`: written in the moment of the mark.

Points, extra credit and items of the rubric by grade id, with the answer that they were given for; comments by cell;
and whether the submission is flagged, where a person decided that. The gradebook is made from these files and from
records. If a person gave something in formgrader, which knows no such files, the gradebook differs from what the desk
had entered there: then it is taken over from there.
"""

import getpass
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError
from rnngrade.core.record import Number, Record, read_json, write_whole
from rnngrade.gradebook.door import GivenGrade, Page, State


@dataclass(frozen=True)
class Given:
    """What a person gave for a cell. `answer` is what they looked at: the text of a written question, and for code the
    judge's points; "" if that is not known. `items` are points by number of the rubric's item.
    """

    points: Number | None
    extra: Number | None = None
    answer: str = ""
    items: dict[str, Number] = field(default_factory=dict)
    by: str = ""
    at: str = ""


@dataclass
class ByHand:
    """All that persons gave a submission. `flag` is whether it is flagged, and which submission was looked at."""

    grades: dict[str, Given] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    flag: tuple[bool, str] | None = None

    def __bool__(self) -> bool:
        return bool(self.grades or self.comments or self.flag)

    def take(self, name: str, points: float | None, **given: object) -> None:
        """Write down what was given for a cell just now, and by whom."""
        kept = replace(self.grades.get(name, Given(None)), points=points, **given)  # type: ignore[arg-type]
        self.grades[name] = replace(kept, by=user(), at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")

    def take_over(self, page: Page) -> bool:
        """Take over what was given in the gradebook since the desk entered it; whether that was anything."""
        now, before, answers = page.state, page.entered.state, page.entered.answers
        changed = False
        for name in now.grades.keys() | before.grades.keys():
            given = now.grades.get(name)
            if given == before.grades.get(name):
                continue
            changed = True
            if given is None:
                self.grades.pop(name, None)
            else:
                items = self.grades[name].items if name in self.grades else {}
                is_same = name in self.grades and given.points == self.grades[name].points
                looked_at = answers.get(name, "") if not given.waits else self.grades.get(name, Given(None)).answer
                self.take(name, given.points, extra=given.extra, answer=looked_at, items=items if is_same else {})
        for name in now.comments.keys() | before.comments.keys():
            if now.comments.get(name) != before.comments.get(name):
                changed = True
                self.comments.pop(name, None)
                if name in now.comments:
                    self.comments[name] = now.comments[name]
        if page.key and now.is_flagged != before.is_flagged:
            self.flag, changed = (now.is_flagged, page.entered.submission), True
        return changed

    def grade(self, name: str, answer: str, auto: float | None) -> GivenGrade | None:
        """What the gradebook is to have of a grade, for the answer that there is now; None if nobody gave anything."""
        given = self.grades.get(name)
        if given is None:
            return None
        waits = auto is None if given.points is None else given.answer not in ("", answer)
        return GivenGrade(given.points, given.extra, waits)

    def state(
        self, answers: Mapping[str, str], auto: Mapping[str, float | None], commented: set[str], record: Record
    ) -> State:
        """What the gradebook is to have of it, for these answers and points."""
        made = {name: self.grade(name, answer, auto[name]) for name, answer in answers.items()}
        is_flagged = self.flag[0] if self.flag and self.flag[1] == record.submission else bool(record.flags)
        comments = {name: text for name, text in self.comments.items() if name in commented}
        return State({name: grade for name, grade in made.items() if grade}, comments, is_flagged)


def path_of(desk: Desk, unit: str, student: str) -> Path:
    return desk.folder / "by_hand" / unit / f"{student}.json"


def read(desk: Desk, unit: str, student: str) -> ByHand:
    """What persons gave a submission. **Errors:** `DeskError` if the file is not what the desk writes."""
    path = path_of(desk, unit, student)
    try:
        return read_json(path.read_text(encoding="utf-8"), ByHand)
    except FileNotFoundError:
        return ByHand()
    except (OSError, ValueError) as error:
        raise DeskError(
            f"{path} cannot be read ({error}): it holds what was given by hand, so take it from a backup, or remove it "
            "and mark again."
        ) from None


def write(desk: Desk, unit: str, student: str, given: ByHand) -> None:
    text = json.dumps(asdict(given), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    write_whole(path_of(desk, unit, student), text.encode("utf-8", "replace"))


def user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
