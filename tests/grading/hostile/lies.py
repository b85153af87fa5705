"""Answers that are not what they say."""

from rnngrade.demo.hostile import EQUAL
from tests.grading.hostile.making import LOST_STEP, Hostile, after, answer, loses, right, step

LIES = [
    Hostile(
        "array_that_lies",
        "returns an array of a kind that finds itself equal to everything",
        right(
            answer(
                "rnn_step",
                """
                class Yes(np.ndarray):
                    def __eq__(self, other):
                        return np.ones(self.shape, bool)
                    def __array__(self, *args, **kwargs):
                        return np.zeros(self.shape)
                    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
                        return np.zeros(self.shape)
                    def __array_function__(self, function, types, args, kwargs):
                        return True

                def rnn_step(x, h_prev, U, W, b):
                    return np.zeros((len(x), len(b))).view(Yes)
                """,
            )
        ),
        loses("rnn_step", scraps=True),
        flagged=True,
        finding="not-listed",
    ),
    Hostile(
        "object_that_is_equal",
        "returns an object that says it is an array, and equal",
        right(answer("rnn_step", EQUAL)),
        LOST_STEP,
        flagged=True,
        finding="not-listed",
    ),
    Hostile(
        "number_that_is_equal",
        "answers a question with a number that equals every other",
        right(
            answer(
                "quiz_output_size",
                """
                class Any(int):
                    def __eq__(self, other):
                        return True
                    def __add__(self, other):
                        return other
                    __hash__ = int.__hash__

                quiz_output_size = Any(0)
                """,
            )
        ),
        loses("quiz_output_size"),
        flagged=True,
        finding="not-listed",
    ),
    Hostile(
        "set_that_is_equal",
        "answers a question with a set that equals every other",
        right(
            answer(
                "quiz_rnn_facts",
                """
                class Any(set):
                    def __eq__(self, other):
                        return True
                    def __xor__(self, other):
                        return set()
                    def __contains__(self, one):
                        return True
                    __sub__ = __rxor__ = __xor__

                quiz_rnn_facts = Any()
                """,
            )
        ),
        loses("quiz_rnn_facts"),
        flagged=True,
        finding="not-listed",
    ),
    Hostile(
        "pickle_bomb",
        "returns an object that runs code where it is unpickled",
        right(
            answer(
                "rnn_step",
                """
                class Bomb:
                    def __reduce__(self):
                        import os
                        return os.system, ("touch /tmp/bomb",)

                def rnn_step(x, h_prev, U, W, b):
                    return np.array([Bomb()], dtype=object)
                """,
            )
        ),
        LOST_STEP,
        flagged=True,
        finding="not-listed",
    ),
    Hostile("generator", "returns a generator without an end", right(step("while True:\n    yield x")), LOST_STEP),
    Hostile(
        "broadcast_array",
        "returns an array of ten billion entries that takes eight bytes",
        right(step("return np.broadcast_to(0.0, (10**5, 10**5))")),
        LOST_STEP,
    ),
    Hostile(
        "nan_and_infinity",
        "returns nan and infinity",
        right(step("h = np.full((len(x), len(b)), np.nan)\nh[0] = np.inf\nreturn h")),
        loses("rnn_step", scraps=True),
    ),
    Hostile(
        "deep_list",
        "returns a list in a list, a hundred thousand times",
        right(step("deep = []\nfor _ in range(10**5):\n    deep = [deep]\nreturn deep")),
        LOST_STEP,
    ),
    Hostile("cyclic_list", "returns a list that holds itself", right(step("a = []\na += [a, a]\nreturn a")), LOST_STEP),
    Hostile("huge_number", "returns a number of ten million bits", right(step("return 1 << 10**7")), LOST_STEP),
    Hostile("huge_text", "returns a text of a hundred million letters", right(step("return 'ü' * 10**8")), LOST_STEP),
    Hostile(
        "error_that_fails",
        "raises an error that cannot be shown",
        right(
            answer(
                "rnn_step",
                """
                class Unspeakable(Exception):
                    def __str__(self):
                        raise self
                    __repr__ = __str__

                def rnn_step(x, h_prev, U, W, b):
                    raise Unspeakable
                """,
            ),
            after("check_rnn_step", "Unspeakable()"),
        ),
        LOST_STEP,
    ),
]
