"""The build: what is executed and written, and what a unit that fails leaves behind."""

from __future__ import annotations

from base64 import b64decode

import nbformat
import pytest

from rnngrade.author.build import answers_path, main


def test_building_twice_changes_no_byte(course):
    first = course.build(gradebook=False)
    assert first.errors == []
    assert first.executed == ["90_small"]
    files = course.files()
    assert sorted(files) == ["notebooks/90_small/90_small.ipynb", "solutions/90_small/90_small.ipynb"]

    again = course.build(gradebook=False)
    assert (again.executed, again.written) == ([], [])
    forced = course.build(gradebook=False, force=True)
    assert (forced.executed, forced.written) == (["90_small"], [])
    assert course.files() == files


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


def test_a_failing_cell_leaves_the_old_notebooks_and_tells_which_it_is(course, capsys):
    course.source("91_other").write_text("# %%\nprint('fine')\n")
    course.build(gradebook=False)
    files = course.files()

    course.source("90_small").write_text(course.source("90_small").read_text().replace("add_one(2)", "add_one(None)"))
    course.source("91_other").write_text("# %%\nprint('better')\n")
    report = course.build(gradebook=False)
    (error,) = report.errors
    place = "solutions/90_small.py:32: The cell (print("
    assert error.startswith(f'{place}"This is", add_one(None))) raised TypeError: unsupported operand')
    assert "\n" not in error
    assert {name: data for name, data in course.files().items() if "90_" in name} == {
        name: data for name, data in files.items() if "90_" in name
    }
    assert "better" in course.solution("91_other").read_text(), "the other unit is built all the same"


def test_what_a_solution_must_not_show_is_an_error(course):
    cells = {
        "91_stderr": "import sys\nprint('oh', file=sys.stderr)",
        "92_address": "print('<object at 0x7f3a5c0d1e50>')",
        "93_path": "import os\nprint(os.getcwd())",
        "94_widget": "import ipywidgets\nipywidgets.IntSlider()",
        "95_dead": "import os\nos._exit(1)",
    }
    for unit, cell in cells.items():
        course.source(unit).write_text(f"# %%\n{cell}\n")
    course.source("90_small").write_text(course.source("90_small").read_text().replace("return x + 1", "return 2"))
    report = course.build(gradebook=False)
    words = [
        "90_small.py:29: The cell (check_add_one) gives its own solution 0 of 2 points",
        "91_stderr.py:1: The cell (import sys) wrote to stderr, which costs a check its points: oh",
        "92_address.py:1: The cell (print('<object at 0x7f3a5c0d1e50>')) shows an object's address in memory",
        "93_path.py:1: The cell (import os) shows",
        "94_widget.py:1: The cell (import ipywidgets) shows a widget",
        "95_dead.py:1: The cell (import os) ended its kernel",
    ]
    assert len(report.errors) == len(words)
    for error, start in zip(report.errors, words, strict=True):
        assert error.startswith(f"solutions/{start}")
    assert course.files() == {}


def test_a_unit_that_is_refused_leaves_the_model_answers_as_they_were(course, monkeypatch):
    copy = answers_path(course.root, "90_small")
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
    course.build(gradebook=False, force=True)
    assert course.files() == files


def test_the_command_says_in_one_line_what_it_did_and_exits_accordingly(course, capsys):
    course.source("90_small").write_text("# %%\nprint('fine')\n")
    assert main(["--root", str(course.root)]) == 0
    assert "wrote solutions/90_small/90_small.ipynb" in capsys.readouterr().out
    assert main(["--root", str(course.root)]) == 0
    assert "The notebooks are in step with their sources." in capsys.readouterr().out
    course.source("90_small").write_text("# %%\nprint(undefined)\n")
    assert main(["--root", str(course.root)]) == 1
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
