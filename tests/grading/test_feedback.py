"""The page that a student gets back: verdicts, hints, points and comments, and nothing that runs or gives away."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import nbformat
import pytest

from rnncourse import exercises
from rnngrade.errors import DeskError, Failures
from rnngrade.feedback import write_feedback
from rnngrade.gradebook import GradebookWriter
from rnngrade.record import Finding
from rnngrade.sample import BLANK
from tests.grading.made import NAMES, UNIT, WRITTEN, changed, mistake, outcome, submission
from tests.grading.on_any_database import Person

FIRST, SECOND = NAMES[:2]
SCRIPT = "<script>steal()</script>"


def grade(desk, *outcomes):
    with GradebookWriter(desk) as gradebook:
        for record, notebook in outcomes:
            desk.keep(record, notebook)
            gradebook.put(record, notebook)


def page(desk, student="ada"):
    (path,) = write_feedback(desk, UNIT, [student])
    assert path == desk.feedback / student / UNIT / f"{UNIT}.html"
    return path.read_text()


def scripts(html):
    return re.findall(r"<script.*?</script>", html, re.DOTALL | re.IGNORECASE)


def test_each_exercise_shows_its_verdict_and_a_wrong_one_its_diagnosis_and_a_hint(desk, root):
    grade(desk, outcome(root, submission("ada", **{FIRST: mistake(FIRST)})))
    html = page(desk)
    words = re.sub(r"<[^>]*>", "", html)
    assert words.count("✗ not yet") == 1
    assert words.count("✓ passed") == len(NAMES) - 1
    assert mistake(FIRST).message.split("`")[0].split(":")[0] in html
    assert html.count("<strong>Hint</strong>") == 1
    assert re.split(r"[`<'\"]", exercises.find(FIRST).hints[0])[0] in html


def test_the_points_are_the_gradebook_s_with_what_a_person_gave(desk, root):
    record, notebook = outcome(root, submission("ada", **{FIRST: mistake(FIRST)}))
    grade(desk, (record, notebook))
    full = exercises.unit(UNIT).points + 3
    assert f"Score: {record.points:.1f} / {full:.1f}" in page(desk)
    assert "the points may change" in page(desk)
    Person(desk, "ada").gives(WRITTEN, 2.5, f"Well put. {SCRIPT}")
    Person(desk, "ada").gives(f"check_{FIRST}", 1.25, extra=0.5)
    html = page(desk)
    total = record.points - record.exercise(FIRST).points + 2.5 + 1.25 + 0.5
    assert f"Score: {round(total, 2)} / {full:.1f}" in html
    assert "Well put." in html
    assert SCRIPT not in html
    assert "<strong>Graded by a person</strong>\u20021.25 points" in html
    assert "<strong>Extra credit</strong>\u20020.5 points" in html
    assert "the points may change" not in html


def test_what_a_student_wrote_runs_nothing_on_the_page(desk, root):
    record, notebook = outcome(root, submission("ada"))
    grade(desk, (record, notebook))
    clean = page(desk)
    output = nbformat.v4.new_output("display_data", data={"text/html": SCRIPT, "text/plain": f"plain {SCRIPT}"})
    stderr = nbformat.v4.new_output("stream", name="stderr", text=SCRIPT)
    notebook = changed(notebook, FIRST, source=f"# {SCRIPT}", outputs=[output, stderr])
    notebook = changed(notebook, WRITTEN, source=f"{SCRIPT}\n\n[go](javascript:steal()) <b onclick='steal()'>go</b>")
    first = replace(record.exercise(FIRST), message=SCRIPT, card="", hint=SCRIPT, passed=False)
    findings = (Finding("odd", f"Odd: {SCRIPT}"),)
    grade(desk, (replace(record, exercises=(first, *record.exercises[1:]), findings=findings), notebook))
    html = page(desk)
    assert html.count("steal()") >= 7, "what was written is shown"
    assert scripts(html) == scripts(clean)
    assert "javascript:steal" not in html
    assert "onclick" not in html


def test_hidden_tests_and_what_is_for_the_instructor_are_not_on_the_page(desk, root):
    record, notebook = outcome(root, submission("ada"), (Finding("odd", "Two cells are alike.", FIRST, True),))
    hidden = f"check({FIRST})\n### BEGIN HIDDEN TESTS\ncheck({FIRST}, hidden=True)\n### END HIDDEN TESTS"
    grade(desk, (record, changed(notebook, f"check_{FIRST}", source=hidden)))
    html = page(desk)
    assert "HIDDEN" not in html
    assert "hidden" not in re.findall(rf"<pre>.*?check.*?{FIRST}.*?</pre>", html, re.DOTALL)[0]
    assert "Found in this submission" not in html
    assert "Two cells are alike." in html, "what is odd is said in words for the student"
    solution = nbformat.read(root / "solutions" / UNIT / f"{UNIT}.ipynb", as_version=4)
    (written,) = [c for c in solution.cells if c.metadata.get("nbgrader", {}).get("grade_id") == WRITTEN]
    answer = written.source.partition("BEGIN SOLUTION")[2].partition("### END")[0]
    lines = [line for line in answer.splitlines() if len(line) > 40]
    assert lines
    assert not any(line[:40] in html for line in lines)


def test_pages_are_for_all_who_are_graded_unless_some_are_named(desk, root):
    grade(desk, outcome(root, submission("ada")), outcome(root, submission("alan", BLANK)))
    assert [path.parts[-3] for path in write_feedback(desk, UNIT)] == ["ada", "alan"]


def test_who_is_not_graded_is_named_and_the_others_get_their_pages(desk, root):
    grade(desk, outcome(root, submission("ada")))
    with pytest.raises(DeskError, match="alan's 02_unfolding is not graded yet"):
        write_feedback(desk, UNIT, ["alan", "ada"])
    assert [path.name for path in desk.feedback.iterdir()] == ["ada"]


@pytest.mark.parametrize("marks", ["### BEGIN HIDDEN TESTS", "### BEGIN HIDDEN TESTS\n### BEGIN HIDDEN TESTS\n"])
def test_the_marks_of_hidden_tests_are_a_text_like_any_other_in_a_student_s_cell(desk, root, marks):
    record, notebook = outcome(root, submission("ada"))
    notebook = changed(changed(notebook, FIRST, source=f"kept = 1\n{marks}"), WRITTEN, source=f"Mine.\n\n{marks}")
    grade(desk, (record, notebook))
    html = page(desk)
    assert html.count("BEGIN HIDDEN TESTS") == 2 * marks.count("BEGIN")
    assert "kept" in html


def test_whatever_one_student_s_work_is_the_others_get_their_pages(desk, root):
    names = ["no_json", "no_cells", "no_record", "not_in_the_gradebook", "half", "zoe"]
    outcomes = {name: outcome(root, submission(name)) for name in names}
    record, notebook = outcomes["half"]
    outcomes["half"] = replace(record, findings=(Finding("odd", "Half a \ud800 pair."),)), notebook
    desk.keep(*outcomes.pop("not_in_the_gradebook"))
    (desk.autograded / "not_in_the_gradebook" / UNIT).mkdir(parents=True)
    grade(desk, *outcomes.values())
    graded = desk.autograded / "zoe" / UNIT / f"{UNIT}.ipynb"
    shutil.copy(graded, desk.autograded / "not_in_the_gradebook" / UNIT)
    (desk.autograded / "no_json" / UNIT / f"{UNIT}.ipynb").write_text("\x1b[2J not a notebook")
    (desk.autograded / "no_cells" / UNIT / f"{UNIT}.ipynb").write_text('{"nbformat": 4, "nbformat_minor": 5}')
    desk.record_path(UNIT, "no_record").write_text("{}")
    failures = Failures()
    assert [path.parts[-3] for path in write_feedback(desk, UNIT, failures=failures)] == ["half", "zoe"]
    told = {words.partition(",")[0]: words for words in failures.told}
    assert set(told) == {"no_json", "no_cells", "no_record", "not_in_the_gradebook"}
    assert "cannot be read" in told["no_record"]
    assert all(words.isprintable() for words in failures.told)
    with pytest.raises(DeskError, match=r"Done for all but these:\n  (.*\n  ){3}.*\Z"):
        failures.end()


def test_a_page_made_twice_is_the_same(desk, root):
    grade(desk, outcome(root, submission("ada", **{FIRST: mistake(FIRST)})))
    assert page(desk) == page(desk)


def test_the_contents_name_the_exercises(desk, root):
    grade(desk, outcome(root, submission("ada")))
    html = page(desk)
    assert all(f'<a href="#check_{name}"><code>{name}</code></a>' in html for name in NAMES)
    assert "Test cell" not in html
