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
        now, before = page.state, page.entered.state
        grades, comments = _changed(now.grades, before.grades), _changed(now.comments, before.comments)
        for name in grades:
            kept, given = self.grades.pop(name, Given(None)), now.grades.get(name)
            if given is not None:
                answer = kept.answer if given.waits else page.entered.answers.get(name, "")
                items = kept.items if given.points == kept.points else {}
                self.take(name, given.points, extra=given.extra, answer=answer, items=items)
        for name in comments:
            self.comments.pop(name, None)
        self.comments |= {name: now.comments[name] for name in comments if name in now.comments}
        is_flag_new = bool(page.key) and now.is_flagged != before.is_flagged
        if is_flag_new:
            self.flag = now.is_flagged, page.entered.submission
        return bool(grades or comments or is_flag_new)

    def state(self, page: Page, record: Record) -> State:
        """What the gradebook is to have of it, for the answers and the judge's points that there are now."""
        grades, answers = {}, page.entered.answers
        for name in self.grades.keys() & answers.keys():
            given, auto = self.grades[name], page.cells[name].auto
            waits = auto is None if given.points is None else given.answer not in ("", answers[name])
            grades[name] = GivenGrade(given.points, given.extra, waits)
        is_flagged = self.flag[0] if self.flag and self.flag[1] == record.submission else bool(record.flags)
        return State(grades, {name: self.comments[name] for name in self.comments if name in page.comments}, is_flagged)


def _changed(now: Mapping[str, object], before: Mapping[str, object]) -> set[str]:
    return {name for name in now.keys() | before.keys() if now.get(name) != before.get(name)}


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
    write_whole(path_of(desk, unit, student), text)


def user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
