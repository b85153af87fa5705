"""Records in nbgrader's gradebook: grades, what a person gave, being killed, what is shown; on SQLite."""

from dataclasses import replace

import nbformat
import pytest

from rnngrade.core.desk import Desk
from rnngrade.core.errors import DeskError
from rnngrade.core.record import TIMED_OUT, write_whole
from rnngrade.gradebook import by_hand
from rnngrade.gradebook.book import GradebookWriter
from rnngrade.gradebook.showing import card_of
from tests.grading.made import NAMES, UNIT, WRITTEN, changed, outcome, submission
from tests.grading.on_any_database import GradebookSuite, Person, content, put


class TestOnSQLite(GradebookSuite):
    """The suite, on the database that is used if no other is configured."""


def autograded(desk, student):
    return nbformat.read(desk.autograded / student / UNIT / f"{UNIT}.ipynb", as_version=4)


def cell_of(notebook, grade_id):
    (cell,) = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id]
    return cell


def test_what_a_check_shows_is_made_from_the_record(desk, root):
    record, notebook = outcome(root, submission("ada", "blank"))
    forged = nbformat.v4.new_output("execute_result", data={"text/plain": "2", "text/html": "<b>full marks</b>"})
    put(desk, (record, changed(notebook, f"check_{NAMES[0]}", outputs=[forged, forged])))
    (output,) = cell_of(autograded(desk, "ada"), f"check_{NAMES[0]}").outputs
    assert output.data["text/plain"] == "0"
    assert "full marks" not in output.data["text/html"]
    assert "not yet" in output.data["text/html"]


def test_an_exercise_without_a_card_gets_one_from_its_message(root):
    record, _ = outcome(root, submission("ada"))
    result = replace(
        record.exercises[0], status=TIMED_OUT, passed=False, points=0.0, card="", message="It took more than 10 <s>."
    )
    assert "It took more than 10 &lt;s&gt;." in card_of(result)


def test_an_exercise_that_the_record_does_not_name_earns_nothing(desk, root):
    record, notebook = outcome(root, submission("ada"))
    put(desk, (replace(record, exercises=record.exercises[1:]), notebook))
    assert content(desk)["ada"]["grades"][f"check_{NAMES[0]}"] == (0, None, None, False)
    assert "nothing here to grade" in cell_of(autograded(desk, "ada"), f"check_{NAMES[0]}").outputs[0].data["text/html"]


def test_the_course_s_own_texts_stay_as_they_are_and_a_student_s_are_made_harmless(desk, root):
    record, notebook = outcome(root, submission("ada"))
    own = "No tags, just $a_1$ and `code`."
    put(desk, (record, changed(notebook, WRITTEN, source=own)))
    released = nbformat.read(root / "notebooks" / UNIT / f"{UNIT}.ipynb", as_version=4)
    shown = autograded(desk, "ada")
    texts = [c.source for c in released.cells if c.cell_type == "markdown" and "nbgrader" not in c.metadata]
    assert [c.source for c in shown.cells if c.cell_type == "markdown" and "nbgrader" not in c.metadata] == texts
    assert cell_of(shown, WRITTEN).source == own

    put(desk, (record, changed(notebook, WRITTEN, source="<script>steal()</script>")))
    assert "<script" not in cell_of(autograded(desk, "ada"), WRITTEN).source


def test_a_notebook_that_is_none_is_an_error_that_changes_nothing(desk, root):
    record, notebook = outcome(root, submission("ada"))
    put(desk, (record, notebook))
    before = content(desk)
    for broken in (b"", b"{}", b"\xff", notebook[:-100]):
        with pytest.raises(DeskError, match="no reading the executed notebook of ada's"):
            put(desk, (record, broken))
    assert content(desk) == before


def test_what_a_person_gave_in_formgrader_is_taken_over_once(desk, root):
    record, notebook = outcome(root, submission("ada"))
    desk.keep(record, notebook)

    def run():
        with GradebookWriter(desk) as gradebook:
            gradebook.enter_unit(UNIT)
            gradebook.enter(record)

    run()
    Person(desk, "ada").gives(WRITTEN, 2.5)
    run()
    given = by_hand.read(desk, UNIT, "ada")
    given.grades[WRITTEN] = replace(given.grades[WRITTEN], at="in May", by="emmy")
    by_hand.write(desk, UNIT, "ada", given)
    run()
    assert by_hand.read(desk, UNIT, "ada") == given, "who gave it, and when, stays"


def test_a_timestamp_that_is_no_date_is_an_error_that_names_the_file(desk, root):
    path = desk.submission_path(UNIT, "ada").parent / "timestamp.txt"
    write_whole(path, b"yesterday, I believe")
    with pytest.raises(DeskError, match=r"timestamp\.txt holds no date"):
        put(desk, outcome(root, submission("ada")))
    write_whole(path, b"\n")
    put(desk, outcome(root, submission("ada")))
    assert content(desk)["ada"]["timestamp"] is None


@pytest.mark.parametrize(
    "url", ["sqlite:////proc/no/such/gradebook.db", "postgresql+psycopg://me:secret@{}/none", "no address"]
)
def test_a_database_that_cannot_be_used_is_one_sentence_without_the_password(root, tmp_path, url, deserted):
    desk = Desk(root, tmp_path / "desk", url.format(deserted))
    with pytest.raises(DeskError) as error, GradebookWriter(desk):
        pass
    assert "cannot be used" in str(error.value)
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)
