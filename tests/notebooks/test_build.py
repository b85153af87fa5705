"""The build: what is executed and written, and what a unit that fails leaves behind."""

from base64 import b64decode
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from rnngrade.author import execute
from rnngrade.author.build import copy_path, main


def test_building_twice_changes_no_byte(built):
    files = built.files()
    assert sorted(files) == ["notebooks/90_small/90_small.ipynb", "solutions/90_small/90_small.ipynb"]
    again = built.build(gradebook=False)
    assert (again.executed, again.written) == ([], [])
    assert built.files() == files


def test_only_code_that_changed_is_executed_again(built):
    text = built.source("90_small").read_text()
    outputs = [cell.outputs for cell in nbformat.read(built.solution("90_small"), 4).cells if "outputs" in cell]

    built.source("90_small").write_text(text.replace("It has one exercise", "There is one exercise"))
    report = built.build(gradebook=False)
    assert report.executed == []
    assert len(report.written) == 2
    notebook = nbformat.read(built.solution("90_small"), 4)
    assert "There is one exercise" in notebook.cells[0].source
    assert [cell.outputs for cell in notebook.cells if "outputs" in cell] == outputs

    built.source("90_small").write_text(text.replace("add_one(2)", "add_one(3)"))
    assert built.build(gradebook=False).executed == ["90_small"]
    assert "This is 4" in built.solution("90_small").read_text()


def test_a_failing_cell_leaves_the_old_notebooks_and_tells_which_it_is(built):
    files, source = built.files(), built.source("90_small")
    source.write_text(source.read_text().replace("add_one(2)", "add_one(None)"))
    built.source("91_other").write_text("# %%\nprint('fine')\n")
    (error,) = built.build(gradebook=False).errors
    place = "solutions/90_small.py:32: The cell (print("
    assert error.startswith(f'{place}"This is", add_one(None))) raised TypeError: unsupported operand')
    assert "\n" not in error
    assert built.files().items() > files.items()
    assert "fine" in built.solution("91_other").read_text(), "the other unit is built all the same"


def test_what_a_solution_must_not_do_is_an_error(course):
    course.source("91_stderr").write_text("# %%\nimport sys\nprint('oh', file=sys.stderr)\n")
    course.source("92_dead").write_text("# %%\nimport os\nos._exit(1)\n")
    course.source("90_small").write_text(course.source("90_small").read_text().replace("return x + 1", "return 2"))
    report = course.build(gradebook=False)
    words = [
        "90_small.py:29: The cell (check_add_one) gives its own solution 0 of 2 points",
        "91_stderr.py:1: The cell (import sys) wrote to stderr, which costs a check its points: oh",
        "92_dead.py:1: The cell (import os) ended its kernel",
    ]
    for error, start in zip(report.errors, words, strict=True):
        assert error.startswith(f"solutions/{start}")
    assert course.files() == {}


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        ({"text/plain": "<object at 0x7f3a5c0d1e50>"}, "shows an object's address in memory"),
        ({"text/html": "<b>/courses/rnn</b>"}, "shows a path of this machine: /courses/rnn"),
        ({"text/plain": "/tmp/made"}, "shows the path of a temporary file"),
        ({execute.WIDGET: {}}, "shows a widget"),
    ],
)
def test_what_a_solution_must_not_show_is_a_fault(shown, words):
    cell = v4.new_code_cell(outputs=[v4.new_output("display_data", shown)])
    assert execute._fault(cell, Path("/courses/rnn")).startswith(words)


def test_a_unit_that_is_refused_leaves_the_model_answers_as_they_were(course, monkeypatch):
    copy = copy_path(course.root, "answers", "90_small")
    copy.parent.mkdir(parents=True)
    text = course.source("90_small").read_text()
    for before in (None, "what was there"):
        if before:
            copy.write_text(before)
        course.source("90_small").write_text(text.replace("add_one(2)", "add_one(None)"))
        for what in ("faults", "misjudged", ""):  # last, a cell that raises
            with monkeypatch.context() as patch:
                if what:
                    patch.setattr(f"rnngrade.author.validate.{what}", lambda *_: ["a fault"])
                assert len(course.build(gradebook=False).errors) == 1, what
            assert (copy.read_text() if copy.exists() else None) == before, what
    course.source("90_small").write_text(text)
    report = course.build(gradebook=False)
    assert report.written[0] == copy
    assert "return x + 1" in copy.read_text()


def test_nothing_that_changes_from_run_to_run_is_stored(course):
    course.source("90_small").write_text(
        "# %%\n%matplotlib inline\nimport matplotlib.pyplot as plt\nimport uuid\nimport warnings\n"
        "from IPython.display import HTML\n\n"
        "# %%\nplt.plot([1, 2])\nplt.show()\n\n"
        '# %%\nname = uuid.uuid4().hex\nHTML(f\'<b id="{name}"><i for="{name}">\')\n\n'
        '# %% tags=["raises-exception"]\n1 / 0\n\n'
    )
    report = course.build(gradebook=False)
    assert report.errors == []
    text = course.solution("90_small").read_text()
    notebook = nbformat.reads(text, 4)
    assert notebook.metadata.language_info == {"name": "python"}
    assert "widgets" not in notebook.metadata
    assert all("execution" not in cell.metadata for cell in notebook.cells)
    assert [cell.execution_count for cell in notebook.cells] == [1, 2, 3, 4]
    assert notebook.cells[3].outputs[0].traceback == ["ZeroDivisionError: division by zero"]
    (png,) = (
        b64decode(one.data["image/png"]) for one in notebook.cells[1].outputs if "image/png" in one.get("data", {})
    )
    assert png.startswith(b"\x89PNG")
    assert png.endswith(b"IEND\xaeB`\x82")
    assert b"atplotlib" not in png, "it is stored without the version that drew it"
    files = course.files()
    forced = course.build(gradebook=False, force=True)
    assert (forced.executed, forced.written) == (["90_small"], [])
    assert course.files() == files


def test_the_command_says_in_one_line_what_it_did_and_exits_accordingly(built, capsys):
    assert main(["--root", str(built.root)]) == 0
    assert "The notebooks are in step with their sources." in capsys.readouterr().out
    built.source("90_small").write_text("# %%\nprint('fine')\n")
    assert main(["--root", str(built.root)]) == 0
    assert "wrote solutions/90_small/90_small.ipynb" in capsys.readouterr().out
    built.source("90_small").write_text("# %%\nprint(undefined)\n")
    assert main(["--root", str(built.root)]) == 1
    assert "raised NameError: name 'undefined' is not defined" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["91_none"], "There is no unit '91_none'; there are 90_small."), ([], None)],
)
def test_a_unit_or_course_that_does_not_exist_is_an_error_in_one_sentence(course, arguments, words, capsys):
    if words is None:
        course.source("90_small").unlink()
        words = "holds no course"
    assert main(["--root", str(course.root), *arguments]) == 1
    assert words in capsys.readouterr().out
