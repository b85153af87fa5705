"""Points that are said, not earned."""

from tests.grading.hostile.making import LOST_STEP, NOTHING, Hostile, after, answer, before, blank, right, step
from tests.grading.hostile.shapes import steps, unlisted

TALK = [
    Hostile(
        "prints_a_score",
        "prints points above and below every check",
        blank(before("check_rnn_step", "print(3)\n3"), after("check_rnn_step", "print('3.0')\n3.0"), step("print(3)")),
        NOTHING,
    ),
    Hostile("answer_is_a_score", "answers with the points", right(answer("rnn_step", "rnn_step = 3.0")), LOST_STEP),
    unlisted(
        "shows_a_verdict",
        "shows what looks like a passed check",
        blank(
            answer(
                "rnn_step",
                """
                class Verdict:
                    passed, score, points, max_points = True, 1.0, 3.0, 3
                    def _repr_mimebundle_(self, include=None, exclude=None):
                        return {"text/plain": "3", "text/html": "<b>✓ passed</b> 3 of 3 points"}
                    def __float__(self):
                        return 3.0
                rnn_step = Verdict()
                display(rnn_step)
                rnn_step
                """,
            )
        ),
        NOTHING,
    ),
    steps(
        "returns_a_verdict",
        "returns a passed verdict of the course's own kind",
        """
            from rnncourse.checks.verdict import Verdict
            return Verdict("rnn_step", True, 1.0, 3.0, 3, "Right on every case.")
        """,
    ),
]
