"""Why a student has these points, for whoever answers an appeal: of each exercise what the judge found, and who gave
what by hand. The desk has the visible cases' numbers; of hidden ones it keeps none.
"""

from collections.abc import Iterator

from rnngrade.core.desk import Desk
from rnngrade.core.errors import Failures
from rnngrade.core.words import count
from rnngrade.gradebook import by_hand
from rnngrade.gradebook.exporting import number
from rnngrade.gradebook.marks import read_marks
from rnngrade.grading.single import words_of
from rnngrade.roster.names import called
from rnngrade.roster.rules import Changed, rules_of
from rnngrade.roster.students import class_list


def explained(desk: Desk, unit: str, name: str) -> Iterator[str]:
    """All of it as text. **Errors:** `DeskError` if nobody, or more than one, is called so."""
    records = {record.student: record for record in desk.graded(unit)}
    record = records[called(name, records, class_list(desk), f"who is graded in {unit}")]
    marks, given = read_marks(desk, unit, failures := Failures()), by_hand.read(desk, unit, record.student)
    mine, results = marks.get(record.student), {result.name: result for result in record.exercises}
    words = "not in the gradebook as graded"
    if mine:
        words = f"{number(mine.total)} of {count(sum(mark.most for mark in mine.grades.values()), 'point')}"
    yield f"{record.student}, {unit}: {words}"
    if mine and mine.penalty:
        yield f"  {number(mine.before)} were earned, {number(mine.penalty)} came off for being late."
    changed = rules_of(desk).changed.get(unit, Changed())
    grades = mine.grades if mine else {}
    for grade_id in dict.fromkeys([*(f"check_{name}" for name in results), *grades]):
        exercise, mark = grade_id.removeprefix("check_"), grades.get(grade_id)
        points = "no points yet" if mark is None or mark.points is None else number(mark.points)
        result, hand = results.get(exercise), given.grades.get(grade_id)
        if exercise in changed.dropped:
            yield f"{exercise}: dropped in desk.toml, and counts for nobody"
        else:
            yield f"{exercise}: {points}" + (f" of {number(mark.most)}" if mark else "")
        if exercise in changed.full_points:
            yield "    Full points for all, by desk.toml."
        if result and hand and hand.points is not None:
            yield f"    The judge gave {number(result.points)}."
        if hand:
            yield f"    By hand: {number(hand.points or 0)}, by {hand.by or 'somebody'}, {hand.at}."
        if comment := given.comments.get(exercise):
            yield "    " + comment.replace("\n", "\n    ")
        if result and (words := words_of(result)):
            missed = [name for name, met in result.criteria.items() if met is False]
            words += f"\n\nNot met: {', '.join(missed)}." if missed else ""
            yield "    " + words.replace("\n", "\n    ")
    for finding in record.findings:
        yield f"! {finding.message}"
    yield from (f"! {words}" for words in failures.told if words.startswith(f"{record.student}, "))
    yield f"In their words: {desk.submission_path(unit, record.student)}"
