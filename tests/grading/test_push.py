"""Grades and feedback through Canvas's API, against a server that speaks it, and as a mail merge."""

import csv
import io

import pytest

from rnngrade.core.errors import DeskError
from rnngrade.core.record import write_whole
from rnngrade.lms.api import Canvas
from rnngrade.pages.feedback.write import write_feedback
from rnngrade.roster.times import lateness_of
from tests.grading.canvas_server import TOKEN, Course, serving
from tests.grading.made import NONE, UNIT, WRITTEN, rnngrade
from tests.grading.on_any_database import Person
from tests.grading.ruled import make_ruled

ADA, ALAN, EMMY = 901, 902, 903  # their numbers on the class list
FULL = 15


def make_marked(desk, root):
    make_ruled(desk, root)
    Person(desk, "ada").gives(WRITTEN, 3)
    write_feedback(desk, UNIT, NONE)


@pytest.fixture
def marked(copy_of):
    """Ada and emmy are marked, Alan waits; eve is on no list."""
    return copy_of(make_marked)


@pytest.fixture
def course():
    return Course(FULL, [ADA, ALAN, EMMY, 904, 905])


@pytest.fixture
def push(marked, course, monkeypatch):
    """Run `rnngrade return canvas` against the server, or another command that asks it."""
    monkeypatch.setenv("CANVAS_TOKEN", TOKEN)
    with serving(course) as url:

        def run(*options, code=0, command=("return", "canvas", "02"), **replaced):
            given = {"--url": url, "--course": "1", "--assignment": "4711", **replaced}
            arguments = [part for pair in given.items() for part in pair]
            return rnngrade(marked, *command, *arguments, *options, code=code)

        yield run


def test_a_dry_run_says_what_would_be_done_and_only_reads(push, course):
    course.submissions[EMMY]["score"] = 4.0
    run = push("--dry-run")
    assert run.output.splitlines() == [
        "ada: 13.5 points, a page of feedback",
        "emmy: 0 points instead of 4, a page of feedback",
        "2 to change; nothing was done.",
        "Left out, for a person has still to look: alan, eve. With --provisional, what they have so far goes back as "
        "well.",
    ]
    run = push("--dry-run", "--provisional", code=1)
    assert "alan: 12 points, a page of feedback\n" in run.output
    assert "eve, 02_unfolding: Is not in this assignment in Canvas, or the class list lacks" in run.output
    assert course.changes == []
    assert course.asked.count("GET /api/v1/courses/1/assignments/4711/submissions") == 6, "all pages, twice"


@pytest.mark.parametrize("redirects", [True, False])
def test_grades_and_pages_reach_canvas_once(push, course, marked, redirects):
    course.redirects = redirects
    course.slow_down = 2
    first = push()
    assert "2 changed." in first.output
    assert (course.submissions[ADA]["score"], course.submissions[EMMY]["score"]) == (13.5, 0)
    assert course.submissions[ALAN]["score"] is None
    (comment,) = course.submissions[ADA]["submission_comments"]
    (file,) = comment["attachments"]
    assert file["display_name"].startswith(UNIT)
    pages = {upload["user"]: upload["data"] for upload in course.files.values()}
    assert pages[ADA] == (marked.feedback / "ada" / UNIT / f"{UNIT}.html").read_bytes()
    assert set(pages) == {ADA, EMMY}
    before = len(course.changes)
    again = push()
    assert "ada: is as it should be" in again.output
    assert "0 changed." in again.output
    assert len(course.changes) == before


def test_a_grade_that_changes_goes_up_with_its_new_page(push, course, marked):
    push()
    Person(marked, "ada").gives(WRITTEN, 1)
    write_feedback(marked, UNIT, NONE, ["ada"])
    assert "ada: 11.7 points instead of 13.5, a page of feedback" in push().output
    assert course.submissions[ADA]["score"] == 11.7
    assert len(course.submissions[ADA]["submission_comments"]) == 2
    assert "ada: is as it should be" in push("--no-feedback").output


def test_canvas_s_own_late_policy_takes_nothing_off_once_more(push, course, marked):
    course.deducts, course.submissions[ADA]["late"] = 3.0, True
    assert "ada: 13.5 points, a page of feedback, without Canvas's own late policy" in push().output
    assert course.submissions[ADA]["score"] == 13.5
    (marked.folder / "desk.toml").unlink()
    course.submissions[ADA].update(score=None, late_policy_status=None)
    run = push(code=1)
    assert "Canvas made" in run.output, "without due dates of the desk's, Canvas's policy is told and left"


def test_without_a_class_list_they_are_known_by_the_name_that_canvas_gave(push, course, marked):
    (marked.folder / "roster.csv").unlink()
    write_whole(marked.folder / "collected" / UNIT / "ada", b"canvas 901")
    run = push("--dry-run", code=1)
    assert "ada: 13.5 points, a page of feedback" in run.output
    assert "emmy, 02_unfolding: Is not in this assignment in Canvas, or the class list lacks" in run.output


def test_canvas_says_when_they_handed_in(push, marked, course):
    for user, when in ((ADA, "2026-11-20T22:00:00Z"), (ALAN, "2026-11-25T22:00:00Z"), (905, "2026-11-20T22:00:00Z")):
        course.submissions[user]["submitted_at"] = when
    assert push(command=("times", "--unit", "02")).output.startswith(
        "Canvas: 1 student has a time there, and no notebook of 02_unfolding here: canvas 905.\n2 times are new, 0 "
    )
    late = lateness_of(marked, UNIT, NONE)
    assert (late["ada"].days, late["alan"].days) == (0, 3)
    assert late["emmy"].handed_in is not None, "of whom Canvas knows nothing, what was known stays"
    assert course.changes == []


def test_who_is_excused_in_canvas_stays_so(push, course):
    course.submissions[ADA]["excused"] = True
    assert "ada: left as it was, excused in Canvas" in push().output
    assert course.submissions[ADA]["score"] is None


def test_an_assignment_with_other_points_is_not_filled(push, course):
    course.points_possible = 100
    run = push(code=1)
    assert run.output == (
        "In Canvas, 'Unit 02' is of 100 points, and 02_unfolding of 15: set the assignment's points there to these.\n"
    )
    assert course.changes == []


def test_what_canvas_would_not_do_is_one_sentence(push, monkeypatch):
    def said(**replaced):
        return push(code=1, **{f"--{name}": value for name, value in replaced.items()}).output

    assert said(assignment="5").startswith("Canvas has nothing at /api/v1/courses/1/assignments/5: are")
    assert said(url="http://canvas.example.org").startswith("http://canvas.example.org would send the")
    for address in ("canvas", "ftp://x"):
        assert said(url=address).startswith(f"'{address}' is no address")
    assert "cannot be reached: ConnectionError." in said(url="http://127.0.0.1:9")
    monkeypatch.setenv("CANVAS_TOKEN", "wrong")
    assert said() == "Canvas does not take the token: is it whole, and has it not expired?\n"
    monkeypatch.setenv("CANVAS_TOKEN", "")
    assert said().startswith("There is no token of Canvas's")


def test_who_asks_too_much_waits_longer_each_time_and_gives_up(course):
    waited = []
    course.slow_down = 1000
    with (
        serving(course) as url,
        Canvas(url, TOKEN, wait=waited.append) as canvas,
        pytest.raises(DeskError, match=r"Canvas answered 4(29|03) to GET"),
    ):
        canvas.get("/api/v1/courses/1/assignments/4711")
    assert waited == sorted(waited)
    assert len(set(waited)) == len(waited) == 5


@pytest.mark.parametrize("to", ["https://evil.example.org/x", "http://127.0.0.1:1/x", "//evil.example.org/x"])
def test_the_token_goes_nowhere_else(course, to):
    with (
        serving(course) as url,
        Canvas(url, TOKEN) as canvas,
        pytest.raises(DeskError, match="does not get the token"),
    ):
        canvas.get(to)
    assert course.asked == []


def test_where_canvas_shows_no_names_grades_go_by_its_own(push, course, marked):
    course.is_anonymous = True
    for student, user in (("ada", ADA), ("emmy", EMMY)):
        write_whole(marked.folder / "collected" / UNIT / student, f"anon {course.anonymous(user)}".encode())
    assert push().output.splitlines()[:3] == ["ada: 13.5 points", "emmy: 0 points", "2 changed."]
    assert (course.submissions[ADA]["score"], course.submissions[EMMY]["score"]) == (13.5, 0)
    assert "2 to change" not in push("--dry-run").output


def test_the_term_goes_to_canvas_as_one_number(push, course, marked):
    course.points_possible = 100
    assert "emmy: 0 points\n" in push(command=("return", "canvas", "--total")).output
    assert course.submissions[EMMY]["score"] == 0


def test_a_mail_merge_has_a_page_and_a_row_for_each_who_is_marked(marked, tmp_path):
    run = rnngrade(marked, "return", "mail", "02", "--output", tmp_path / "mails")
    assert run.output.startswith(
        f"{tmp_path / 'mails' / 'mail.csv'}: 2 mails\nLeft out, for a person has still to look"
    )
    text = (tmp_path / "mails" / "mail.csv").read_bytes().decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["email"] for row in rows] == ["ada@example.org", "emmy@example.org"]
    ada = rows[0]
    assert (ada["first_name"], ada["points"], ada["of"]) == ("Ada", "13.5", "15")
    assert ada["late"] == "2 days late, 1 of them a late day"
    page = (marked.feedback / "ada" / UNIT / f"{UNIT}.html").read_bytes()
    assert (tmp_path / "mails" / ada["attachment"]).read_bytes() == page
    Person(marked, "eve").gives(WRITTEN, 1)
    run = rnngrade(marked, "return", "mail", "02", "--output", tmp_path / "m", code=1)
    assert "eve, 02_unfolding: Has no address: give the class list a column email." in run.output
