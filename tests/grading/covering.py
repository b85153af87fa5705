"""Made-up classes that leave no mistake of a unit out."""

from rnncourse import exercises
from rnngrade.demo.sample import BLANK, RIGHT, Answer, Submission, among_right, leans_on_others


def covering_class(unit: str) -> list[Submission]:
    """The fewest students who give each misconception of the unit once, among right answers, and one who is all
    right.
    """
    catalogue = list(exercises.unit(unit))
    turns = 1 + max(len(e.misconceptions) for e in catalogue)
    made = []
    for turn in range(turns):
        answers: dict[str, Answer] = {}
        for i, exercise in enumerate(catalogue):
            # Shifted from exercise to exercise, so that right and wrong answers stand side by side in every submission.
            which = (turn + i) % turns
            wrong = exercise.misconceptions
            answers[exercise.name] = wrong[which] if which < len(wrong) else RIGHT
            if leans_on_others(exercise):
                answers[exercise.name] = BLANK
        made.append(Submission(f"turn{turn:02}", unit, "each mistake once", answers))
    alone = [(e, m) for e in catalogue if leans_on_others(e) for m in e.misconceptions]
    for number, (exercise, mistake) in enumerate(alone):
        answers = among_right(catalogue, exercise, mistake)
        made.append(Submission(f"alone{number:02}", unit, "one mistake", answers))
    return [Submission("right", unit, "all right", dict.fromkeys([e.name for e in catalogue], RIGHT)), *made]
