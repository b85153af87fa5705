"""Right answers as students write them: loops or vectorised, other names, other styles. One file per unit; all
must get full marks.
"""


def collector():
    """A unit's dict of right answers by exercise, and the decorator that fills it: `@answers("rnn_step")`."""
    found = {}

    def answers(exercise):
        def keep(answer):
            found.setdefault(exercise, []).append(answer)
            return answer

        return keep

    return found, answers
