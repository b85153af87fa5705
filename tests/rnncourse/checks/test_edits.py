"""Mistakes as edits of the model answer: what the notation says, and what is said of an edit that is none."""

import inspect
import linecache

import numpy as np
import pytest

from rnncourse import exercises
from rnncourse.checks.drive import call, observe
from rnncourse.checks.edits import EditError, edited, needed, parse
from rnncourse.checks.exercise import Unit, case, normal
from tests.fresh import in_a_fresh_python

ANSWER = """\
def run(X, h0, step):
    h, states = h0, []  # the state, and all of them
    for x in X:
        if x is not None:
            h = step(x, h)
        states.append(h)
    return {
        "all": states,
        "last": h,
    }
"""


def made(changes: str, answer: str = ANSWER) -> str:
    (entry,) = parse(f"name: What went wrong.\n{changes}")
    return edited(answer, entry.changes)


def lines(text: str) -> list[str]:
    return text.splitlines()


def exercise():
    """One of its own, with a model answer that calls an earlier one."""
    ex = Unit("99_made", "Made up").exercise(
        "twice_and_one",
        reference=lambda x: 2 * x + 1,
        points=1,
        hints=("a", "b", "c"),
        takes="x (N,)",
        gives="y (N,)",
        uses={"twice": lambda x: 2 * x},
        model="import numpy as np\n\ndef twice_and_one(x):\n    y = twice(x)\n    return y + np.ones(len(x))\n",
    )

    @ex.cases
    def _(rng):
        yield case(normal(rng, 3))

    return ex


# --- the notation


def test_a_line_takes_the_place_of_another_where_that_stands():
    text = made("- h = step(x, h)\n+ h = step(x, h0)")
    assert lines(text)[4] == "            h = step(x, h0)"
    assert lines(text)[:4] + lines(text)[5:] == lines(ANSWER)[:4] + lines(ANSWER)[5:]


def test_a_comment_behind_a_line_need_not_be_repeated_but_may_be():
    for comment in ("", "  # the state, and all of them"):
        assert "h, states = 0 * h0, []" in made(f"- h, states = h0, []{comment}\n+ h, states = 0 * h0, []")


def test_indentation_counts_from_the_first_line_that_goes():
    text = made("- if x is not None:\n-     h = step(x, h)\n+ while x is not None:\n+     h, x = step(x, h), None")
    assert lines(text)[3:5] == ["        while x is not None:", "            h, x = step(x, h), None"]
    text = made("-     h = step(x, h)\n- states.append(h)\n+     h = step(x, h)\n+     states.append(h)")
    assert lines(text)[4:6] == ["            h = step(x, h)", "            states.append(h)"]


def test_lines_with_a_minus_alone_are_deleted_and_an_empty_line_ends_a_change():
    text = made('- if x is not None:\n-     h = step(x, h)\n\n- "last": h,')
    assert lines(text) == [*lines(ANSWER)[:3], *lines(ANSWER)[5:8], "    }"]


def test_several_changes_may_stand_in_any_order():
    text = made('- "last": h,\n+ "last": states[-1],\n- for x in X:\n+ for x in X[::-1]:')
    assert "for x in X[::-1]:" in text
    assert '"last": states[-1],' in text


def test_lines_with_a_plus_alone_are_another_body():
    assert made("+ states = [step(x, h0) for x in X]\n+ return states") == (
        "def run(X, h0, step):\n    states = [step(x, h0) for x in X]\n    return states\n"
    )
    answer = "class A:\n    # what it does\n    def f(self):\n        return 1\n"
    assert made("+ def f(self):\n+     return 2\n+\n+ def g(self):\n+     return 3", answer) == (
        "class A:\n    def f(self):\n        return 2\n\n    def g(self):\n        return 3\n"
    )


def test_entries_have_names_and_messages_of_several_lines():
    one, two = parse("\na: First\n  and more: of it.\n- x\n+ y\n\nb: Second.\n- y\n")
    assert (one.name, one.message) == ("a", "First and more: of it.")
    assert (two.name, two.message) == ("b", "Second.")
    assert [(c.old, c.new) for c in two.changes] == [(["y"], [])]


# --- edits that are none


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ("- h = stop(x, h)\n+ h = 0", "the line `h = stop(x, h)` should stand once in the answer, and stands 0 times"),
        ("- for x in X:\n- states.append(h)", "`for x in X:` and the 1 below it should stand once"),
        ("- h = step(x, h)\n+ h = step(x,  h)  # the same", "it changes nothing"),
        ("- for x in X:", "the answer is no Python: unexpected indent"),
        ("- for x in X:\n- if x is not None:\n\n- if x is not None:", "`for x in X:` belongs to two changes"),
        ("- states.append(h)\n+ a = 1\n\n+ b = 1", "the line `b = 1` has no place"),
        ("-         return {\n+ return {", "too far to the left"),
    ],
)
def test_an_edit_that_cannot_be_made_is_an_error_with_the_line(changes, words):
    with pytest.raises(EditError) as error:
        made(changes)
    assert words in str(error.value)


def test_a_line_that_stands_twice_is_no_place():
    with pytest.raises(EditError, match="stands 2 times"):
        made("- b = 1\n+ b = 2", "def f():\n    b = 1\n    if b:\n        b = 1\n    return b\n")


@pytest.mark.parametrize("text", ["  a line", "a: Words.\n- x\nno sign", "- x"])
def test_a_line_that_is_no_part_of_an_entry_is_an_error(text):
    with pytest.raises(EditError, match=r"[Tt]he line"):
        parse(text)


def test_an_error_names_the_exercise_and_the_mistake():
    ex = exercise()
    ex.mistakes("three_times: You take it three times.\n- y = 3 * x\n+ y = 4 * x")
    with pytest.raises(EditError, match=r"^twice_and_one, three_times: the line `y = 3 \* x` should"):
        ex.misconceptions[0].source_for(ex.name)
    with pytest.raises(EditError, match=r"^twice_and_one: a: the line"):
        ex.mistakes("a: Words.\nno sign")


# --- the mistake as an answer


def test_a_mistake_is_an_answer_that_has_what_the_notebook_has():
    ex = exercise()
    ex.mistakes("one_forgotten: You forget the one.\n- return y + np.ones(len(x))\n+ return y + np.zeros(len(x))")
    (m,) = ex.misconceptions
    assert m.message == "You forget the one."
    assert np.array_equal(m.answer(np.arange(3)), [0, 2, 4])  # `twice` is that of `uses`
    assert m.answer is m.answer
    assert list(inspect.signature(m.answer).parameters) == ["x"]
    assert m.source_for(ex.name) == ex.source.replace("ones", "zeros")
    assert inspect.getsource(m.answer) == m.source_for(ex.name)
    assert ex.source.startswith("def twice_and_one(x):")


def test_an_error_in_a_mistake_quotes_its_line():
    ex = exercise()
    ex.mistakes("not_there: You call what is not there.\n- y = twice(x)\n+ y = thrice(x)")
    linecache.checkcache()
    seen = observe(ex.misconceptions[0].answer, call, (np.arange(3.0),))
    assert seen.error == "NameError: name 'thrice' is not defined (in the line `y = thrice(x)`)"


def test_only_what_is_needed_is_imported():
    above = "import torch\nimport numpy as np\nfrom math import exp, log\n\ndef f(x):\n    return exp(x)\na, b = 1, 2"
    assert needed(above, "def g(x):\n    return f(x)") == "from math import exp, log\ndef f(x):\n    return exp(x)"
    assert needed(above, "b") == "a, b = (1, 2)"


def test_a_wrong_array_in_a_unit_that_has_torch_too_loads_no_torch():
    program = (
        "import sys; from rnncourse import check, exercises;"
        "m = exercises.find('stacked_forward').misconceptions[0];"
        "assert check(m.answer, 'stacked_forward').diagnosis == m.name; assert 'torch' not in sys.modules"
    )
    in_a_fresh_python(program)


def test_an_exercise_without_a_copied_answer_says_what_copies_it():
    ex = exercise()
    ex.model, ex.unit = "", exercises.unit("00")
    with pytest.raises(EditError, match="twice_and_one is not copied yet: make notebooks"):
        _ = ex.source
