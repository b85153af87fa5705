"""Made-up students who attack the desk, hand in what is broken, or work in ways that only look odd, all in unit 03.

What each is worth is known as for all others: an attack stands where the answer is blank and must earn nothing, and
what is harmless stands where it is right and must lose nothing. Many more attacks are in the desk's tests.
"""

from collections.abc import Mapping
from textwrap import dedent

from rnncourse import exercises
from rnngrade.demo.sample import BLANK, RIGHT, Submission

UNIT = "03_cell"
STEP = "def rnn_step(x, h_prev, U, W, b):\n    "
RIGHT_STEP = "return np.tanh(x @ U + h_prev @ W + b)"
EQUAL = """
class Equal:
    __class__ = np.ndarray
    dtype, ndim = np.dtype(float), 2
    def __eq__(self, other):
        return True
    def __getattr__(self, name):
        return lambda *args, **kwargs: self

def rnn_step(x, h_prev, U, W, b):
    return Equal()
"""


def hostile_class(unit: str) -> list[Submission]:
    if unit != UNIT:
        return []
    names = [exercise.name for exercise in exercises.unit(UNIT)]
    give_points = {f"check_{name}": "print('31 points')\n31" for name in names}
    return [
        _made("checks_rewritten", "has every check give points without looking", names, give_points),
        *(_made(*attack, ["rnn_step"], step) for attack, step in ATTACKS.items()),
        *(_made(*odd, [], cells) for odd, cells in ODD.items()),
        *(_made(*broken, names, file=data) for broken, data in BROKEN.items()),
    ]


def _made(
    student: str, what: str, lost: list[str], cells: Mapping[str, str] | None = None, file: bytes | None = None
) -> Submission:
    answers = {exercise.name: BLANK if exercise.name in lost else RIGHT for exercise in exercises.unit(UNIT)}
    sources = {name: dedent(source).strip() for name, source in (cells or {}).items()}
    return Submission(student, UNIT, what, answers, sources, file)


ATTACKS = {  # other cells, with which rnn_step must be lost and nothing else
    ("check_defined_in_its_cell", "defines a check that is always content, in the cell of the check"): {
        "check_rnn_step": "def check(*_):\n    return 3\ncheck(rnn_step)",
    },
    ("reference_imported", "imports the course's own answer"): {
        "rnn_step": "from rnncourse.cell import rnn_step",
    },
    ("object_that_is_equal", "returns an object that says it is an array, and equal"): {
        "rnn_step": EQUAL,
    },
    ("huge_number", "returns a number of ten million bits"): {"rnn_step": f"{STEP}return 1 << 10**7"},
    ("endless", "loops without an end"): {"rnn_step": f"{STEP}while True:\n        pass"},
    ("exit_at_once", "ends the process when it is called"): {"rnn_step": f"{STEP}import os; os._exit(0)"},
}

ODD = {  # other cells, with which nothing must be lost
    ("writes_to_stderr", "writes to stderr, which nbgrader punishes with zero"): {
        "rnn_step": f"{STEP}import sys\n    print('here', file=sys.stderr)\n    {RIGHT_STEP}",
    },
    ("warns", "warns, and divides by zero on the way"): {
        "rnn_step": f"{STEP}import warnings\n    warnings.warn('slow')\n    np.ones(2) / np.zeros(2)\n    {RIGHT_STEP}",
    },
    ("magics", "has a magic above an answer"): {"rnn_step": f"%%time\n{STEP}{RIGHT_STEP}"},
    ("own_checks", "checks in the answer's cell, and asserts it"): {
        "rnn_step": f"{STEP}{RIGHT_STEP}\n\nassert check(rnn_step)",
    },
}

BROKEN = {  # no notebook
    ("empty_file", "is empty"): b"",
    ("no_json", "is a script"): b"def rnn_step(x):\n    return x\n",
    ("deep_json", "is nested a million deep"): b"[" * 10**6,
}
