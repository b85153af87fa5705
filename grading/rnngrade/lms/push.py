"""Grades and feedback into Canvas, by its API: first the plan, for each student a line, then what it says.

A grade is `submission[posted_grade]`, in points; a feedback page is a file on a comment, `comment[file_ids][]`
(`PUT /api/v1/courses/:course_id/assignments/:assignment_id/submissions/:user_id`, and `…/comments/files` for the file;
developerdocs.instructure.com/services/canvas/resources/submissions and …/submission_comments).

Nothing is done twice: a grade that stands there already stays, and a page has a name of its own for each content. Who
is excused in Canvas is left as they were. Where the assignment is graded anonymously, Canvas says of a submission
`anonymous_id`, and no more: the grade goes to `…/anonymous_submissions/:anonymous_id`, and the page, for which there is
no such way, waits until the names are shown again. What being late costs is the desk's: where
`desk.toml` says when the unit is due, Canvas's own late policy is switched off for what Canvas calls late
(`submission[late_policy_status]=none`), or it would take points off once more.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.words import count
from rnngrade.gradebook.exporting import number
from rnngrade.lms.api import Canvas
from rnngrade.lms.returning import Returned
from rnngrade.pages.feedback.write import page_now
from rnngrade.roster.names import canvas_row, said_in
from rnngrade.roster.rules import rules_of

COMMENT = "Feedback is in the attached page: download it, and open it in a browser."


@dataclass(frozen=True)
class Change:
    """What is to be done for a student, or why nothing: in words, and as Canvas takes it, for the submission at `place`
    below the assignment. `page` is one that is not there yet, by its name.
    """

    student: str
    place: str
    words: str
    data: Mapping[str, str] = field(default_factory=dict)
    page: tuple[str, bytes] | None = None

    @property
    def is_needed(self) -> bool:
        return bool(self.data or self.page)


def plan(
    desk: Desk,
    returned: Returned,
    canvas: Canvas,
    failures: Failures,
    *,
    feedback: bool = True,
) -> Iterator[Change]:
    """What would be done, student by student; it reads, and changes nothing.

    Who is not in Canvas is put into `failures`. **Errors:** `DeskError` if course or assignment are not there, or the
    assignment has other points than the unit.
    """
    there, unit, most = canvas.get(""), returned.what, returned.most
    possible = there.get("points_possible")
    if possible is None or abs(float(possible) - most) > 1e-6:
        raise DeskError(
            f"In Canvas, {there.get('name')!r} is of {possible} points, and {unit} of {number(most)}: "
            "set the assignment's points there to these."
        )
    students, theirs = returned.students, dict[str, dict[str, Any]]()
    for one in canvas.pages("/submissions", **{"include[]": "submission_comments"}):
        if student := students.find(said_in(canvas_row(one))):
            theirs[student] = one
    rules_it = unit in rules_of(desk).due
    for student, points in returned.points.items():
        if (one := theirs.get(student)) is None:
            failures.add(student, unit, "Is not in this assignment in Canvas, or the class list lacks their canvas_id.")
            continue
        by_name = one.get("user_id") is not None
        place = f"/submissions/{one['user_id']}" if by_name else f"/anonymous_submissions/{one['anonymous_id']}"
        if one.get("excused"):
            yield Change(student, place, "left as it was, excused in Canvas")
            continue
        words, data, page, score = list[str](), dict[str, str](), None, one.get("score")
        if score is None or abs(float(score) - points) > 0.005:
            words.append(count(points, "point") + ("" if score is None else f" instead of {number(float(score))}"))
            data = {"submission[posted_grade]": number(points), "prefer_points_over_scheme": "true"}
        wanted = feedback and by_name and student in returned.marks
        if wanted and (html := page_now(desk, unit, student, returned.marks, failures)) is not None:
            name = f"{unit}-{hashlib.sha256(html).hexdigest()[:8]}.html"
            files = [
                file for comment in one.get("submission_comments") or () for file in comment.get("attachments") or ()
            ]
            if name not in {file.get("display_name") or file.get("filename") for file in files}:
                words.append("a page of feedback")
                page = name, html
        if data and rules_it and one.get("late"):
            words.append("without Canvas's own late policy")
            data["submission[late_policy_status]"] = "none"
        yield Change(student, place, ", ".join(words) or "is as it should be", data, page)


def carry_out(canvas: Canvas, change: Change) -> None:
    """Do what a change says. **Errors:** `DeskError` if Canvas would not, or made something else of the points."""
    data: dict[str, Any] = {**change.data}
    if change.page is not None:
        file = canvas.upload(f"{change.place}/comments/files", *change.page, "text/html")
        data |= {"comment[text_comment]": COMMENT, "comment[file_ids][]": file}
    score, points = canvas.put(change.place, data).get("score"), data.get("submission[posted_grade]")
    if points is not None and (score is None or abs(float(score) - float(points)) > 0.005):
        raise DeskError(
            f"Canvas made {score} of {points} points: look whether a late policy of the course, or the assignment's "
            "way of grading, changes them."
        )
