"""The command line, from a made-up class to grades, as an instructor types it."""

import json
import os
import shutil
from pathlib import Path

import click
import nbformat
import pytest
from click.testing import CliRunner

from rnncourse.seat import cli as student
from rnngrade.cli import main
from rnngrade.cli.shared import own_seed, progress_bar
from rnngrade.core.desk import Desk
from rnngrade.core.record import write_whole
from rnngrade.demo.sample import Submission, demo_class
from rnngrade.gradebook.door import opened
from tests.grading.hostile import HOSTILE
from tests.grading.made import rnngrade, table
from tests.grading.solved import right_answers
from tests.grading.test_run import NoGraders

UNIT = "03_cell"


def test_a_run_that_writes_to_a_file_says_ten_times_how_far_it_is(capsys):
    with progress_bar(UNIT) as advance:
        for done in range(295):
            advance(None, done + 1, 295)
    said = capsys.readouterr().err.splitlines()
    assert (len(said), said[0], said[-1]) == (10, f"{UNIT}: 30 of 295 graded", f"{UNIT}: 295 of 295 graded")


def test_a_new_desk_says_that_one_goes_on_by_collecting(root, tmp_path):
    said = rnngrade(Desk(root, tmp_path / "autumn"), "new").stdout
    assert 0 < said.index("collect DOWNLOAD.zip") < said.index("nbgrader release_assignment")


@pytest.fixture(scope="module")
def desk(root, tmp_path_factory):
    """A class of four, graded, and somebody at whose work a person has to look."""
    desk = Desk(root, tmp_path_factory.mktemp("class"))
    rnngrade(desk, "sample", "03", "--size", 4)
    (exits,) = [one for one in HOSTILE if one.name == "exit_at_once"]
    release = nbformat.read(root / "notebooks" / UNIT / f"{UNIT}.ipynb", as_version=4)
    write_whole(desk.submitted / "exits" / UNIT / f"{UNIT}.ipynb", exits.make(release, right_answers(root, UNIT)))
    rnngrade(desk, "run", "03", "--seed", "7", "--limit", "cell_seconds=10")
    return desk


def run_again(desk, *more, code=0):
    """A run in which nothing is left to grade: without the process that grades, which takes seconds to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rnngrade.grading.worker.Graders", NoGraders)
        return rnngrade(desk, "run", "03", "--seed", "7", "--limit", "cell_seconds=10", *more, code=code)


def commands_of(command, context):
    """Each command and target, with the arguments by which it is called."""
    if not isinstance(command, click.Group):
        return {(): command}
    found = {name: command.get_command(context, name) for name in command.list_commands(context)}
    return {(name, *rest): one for name, inner in found.items() for rest, one in commands_of(inner, context).items()}


COMMANDS = commands_of(main, click.Context(main))


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_every_command_shows_examples_and_says_what_each_argument_is(names):
    text = CliRunner().invoke(main, [*names, "--help"]).output
    assert "Examples:\n    rnngrade " in text
    for parameter in COMMANDS[names].params:
        if isinstance(parameter, click.Option):
            assert parameter.help
        elif parameter.name != "arguments":
            assert parameter.help in " ".join(text.partition("Positional arguments:")[2].split())


def test_commands_are_listed_in_the_order_of_the_work():
    order = ["collect", "run", "report", "mark", "feedback", "return", "gradescope"]
    assert [name for name in main.list_commands(click.Context(main)) if name in order] == order


def test_a_run_has_a_line_for_each_submission_and_says_what_is_wrong(desk):
    lines = run_again(desk).stdout.splitlines()
    assert lines[-1] == f"{UNIT}: 0 graded, {len(lines) - 1} as they were."
    by_student = {line.split()[0]: line for line in lines[:-1]}
    made = {s.student: s for s in demo_class(UNIT, 4)}
    assert set(by_student) >= set(made)
    assert by_student["ada"].split()[1:] == ["28.00", "of", "28"]
    assert "hidden_layer: not written" in by_student["alan"]
    (name,) = [n for n, a in made["barbara"].answers.items() if a != "right"]
    assert f"{name}: {made['barbara'].answers[name].name}" in by_student["barbara"]


def test_grades_are_the_true_ones(desk, monkeypatch):
    monkeypatch.setenv("RNNCOURSE_SEED", "7")
    rows = table(rnngrade(desk, "return", "csv").stdout)
    for made in demo_class(UNIT, 4):
        assert isinstance(made, Submission)
        for name, points in made.expected().items():
            assert float(rows[made.student][name]) == pytest.approx(points)


def test_json_is_the_records(desk):
    shown = json.loads(run_again(desk, "--json").output)
    assert {r["student"]: r["points"] for r in shown} == {r.student: r.points for r in desk.graded(UNIT)}


def test_strict_says_by_its_exit_code_that_a_person_has_to_look(desk):
    assert any(record.flags for record in desk.graded(UNIT))
    run_again(desk, "--strict", code=3)


def test_pages_are_written(desk):
    assert "pages in" in rnngrade(desk, "feedback", "03").output
    assert (desk.feedback / "ada" / UNIT / f"{UNIT}.html").is_file()
    said = rnngrade(desk, "report").stdout.split()
    assert said == [str(desk.reports / f"{UNIT}.html"), str(desk.reports / "index.html")]
    assert "ada" in (desk.reports / f"{UNIT}.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [("feedback", "03"), ("report",), ("return", "csv")])
def test_one_student_does_not_stop_the_class_and_is_listed(desk, tmp_path, command):
    shutil.copytree(desk.folder, tmp_path / "copy")
    copy = Desk(desk.root, tmp_path / "copy")
    copy.record_path(UNIT, "ada").write_text("{")
    result = rnngrade(copy, *command, code=1)
    assert result.stderr.startswith(f"Done for all but these:\n  ada, {UNIT}: The record ")
    assert result.stderr.count("\n") == 2
    done = {
        "feedback": lambda: (copy.feedback / "alan" / UNIT / f"{UNIT}.html").read_text(),
        "report": lambda: (copy.reports / f"{UNIT}.html").read_text(),
        "return": lambda: result.stdout,
    }
    assert "alan" in done[command[0]]()


def test_lab_becomes_jupyterlab_on_the_desk_with_its_options_and_its_formgrader(desk, monkeypatch):
    calls = []
    monkeypatch.setattr("rnncourse.seat.cli._become", lambda command, **variables: calls.append((command, variables)))
    monkeypatch.chdir(desk.folder.parent)
    rnngrade(desk, "mark", "03", "--part", "1/2")
    rnngrade(desk, "mark", "03", "--part", "3/2", code=2)
    rnngrade(desk, "lab", "--no-browser", "--port=9000")
    (marking, _), (command, variables) = calls
    assert f"--LabApp.default_url=/rnngrade/mark/{UNIT};part=1%2F2" in marking, "Jupyter appends ?token="
    assert Path.cwd() == desk.folder
    assert variables["RNNGRADE_DB"] == desk.db_url
    assert f"--ServerApp.root_dir={desk.folder}" in command
    assert command[-2:] == ["--no-browser", "--port=9000"]
    settings = [Path(path) for path in variables["JUPYTER_CONFIG_PATH"].split(os.pathsep)]
    assert any((path / "jupyter_server_config.d" / "rnngrade.json").is_file() for path in settings)


def test_what_a_student_s_submit_writes_is_what_collect_takes(root, tmp_path):
    handed_in = tmp_path / "downloads" / "ada"
    handed_in.mkdir(parents=True)
    notebook = root / "notebooks" / UNIT / f"{UNIT}.ipynb"
    assert CliRunner().invoke(student.main, ["submit", str(notebook), "--output", str(handed_in)]).exit_code == 0
    desk = Desk(root, tmp_path / "desk")
    rnngrade(desk, "collect", handed_in.parent)
    (path,) = desk.submissions(UNIT).values()
    assert path.read_bytes() == next(handed_in.iterdir()).read_bytes()


def test_a_run_enters_the_names_of_the_class_list(desk):
    (desk.folder / "roster.csv").write_text("id,first_name,last_name\nada,Ada,Lovelace\n", encoding="utf-8")
    run_again(desk)
    with opened(desk) as gradebook:
        assert gradebook.find_student("ada").last_name == "Lovelace"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "03"), "There is nothing to grade: "),
        (("run", "33"), "There is no unit '33'. There are: "),
        (("run", "03", "--limit", "patience=3"), "There is no limit 'patience'; there are "),
        (("run", "03", "--limit", "memory=much"), "The limit memory is a positive number, such as 60 or 512M; "),
        (("report",), "Nothing is graded in "),
        (("report", "05"), "Nothing of 05_gradient_flow is graded in "),
        (("feedback", "5"), "Nothing of 05_gradient_flow is graded in "),
        (("return", "moodle", "05", "--zip", "x.zip"), "The gradebook has no grades of 05_gradient_flow: run "),
        (("return", "csv"), "Nothing is graded in "),
        (("lab",), "Nothing is graded in "),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(root, tmp_path, arguments, words):
    result = rnngrade(Desk(root, tmp_path / "new"), *arguments, code=1)
    assert result.stderr.startswith(words)
    assert result.stderr.count("\n") == 1
    assert result.output == result.stderr  # nothing else


def test_who_is_not_there_is_said(desk):
    for command in ("run", "feedback"):
        assert "nobody" in rnngrade(desk, command, "3", "--student", "nobody", code=1).stderr


def test_the_desk_draws_its_own_seed_once_and_keeps_it_to_itself(tmp_path, root, capsys):
    desk = Desk(root, tmp_path)
    seed = own_seed(desk)
    assert len(seed) == 32
    write_whole(desk.record_path(UNIT, "ada"), b"{}")
    assert (own_seed(desk), capsys.readouterr().err) == (seed, "")
    (tmp_path / ".hidden-seed").unlink()
    assert own_seed(desk) != seed
    assert "new hidden cases were drawn" in capsys.readouterr().err, "a desk that was copied without it"
    assert (tmp_path / ".hidden-seed").stat().st_mode & 0o077 == 0


def test_a_desk_that_was_moved_finds_the_course_and_what_an_instructor_set_there_stays(root, tmp_path):
    desk = Desk(root, tmp_path / "autumn")
    assert desk.open()
    config = desk.folder / "nbgrader_config.py"
    (tmp_path / "years" / "2026").mkdir(parents=True)
    moved = Desk(root, desk.folder.rename(tmp_path / "years" / "2026" / "autumn"))
    config = moved.folder / "nbgrader_config.py"
    before = config.read_text()
    assert not moved.open()
    assert config.read_text() == before.replace("'../", "'../../../")
    own = before + "c.LateSubmissionPlugin.penalty_method = 'zero'\n"
    config.write_text(own)
    moved.open()
    assert config.read_text() == own
