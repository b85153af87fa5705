"""The report: right numbers for classes in which they are known, and a page that holds what a page should."""

import dataclasses
import itertools
import json
import re
import shutil
import zipfile
from collections import Counter
from datetime import UTC, datetime
from urllib.parse import unquote, urlsplit

import pytest

from rnncourse import exercises
from rnncourse.checks.exercise import Exercise, Misconception
from rnngrade.core.desk import Desk
from rnngrade.core.errors import Failures
from rnngrade.core.record import DIED, GARBLED, MISSING, REFUSED, TIMED_OUT, Finding, Record, write_whole
from rnngrade.demo.sample import BLANK, RIGHT, Submission, demo_class
from rnngrade.gradebook.book import GradebookWriter
from rnngrade.gradebook.door import opened
from rnngrade.gradebook.marks import Mark, Marks
from rnngrade.pages.report.page import read_marks, references, write_reports
from rnngrade.pages.report.statistics import KINDS, UnitStatistics, histogram, kind_of
from rnngrade.roster.lateness import Lateness
from tests.grading.made import NONE, result_of, results_of
from tests.grading.pages import Page

UNIT = "03_cell"
CATALOGUE = exercises.unit(UNIT)
NAMES = [e.name for e in CATALOGUE]
WRITTEN = "cell_written"


# --- records of a made-up class


def record_of(submission: Submission, **changes) -> Record:
    """The record of a submission, as the desk would have made it."""
    return Record(submission.student, submission.unit, "key", "0" * 64, results_of(submission), **changes)


def student(name: str, gave=RIGHT, **changes) -> Record:
    """All right, or all blank, but for some exercises: a misconception's name, RIGHT or BLANK by exercise."""
    base = dict.fromkeys(NAMES, gave) if isinstance(gave, str) else dict.fromkeys(NAMES, RIGHT) | gave
    return record_of(Submission(name, UNIT, "made up", base), **changes)


def with_result(record: Record, exercise: str, **changes) -> Record:
    """The record with something else in one of its results."""
    results = [dataclasses.replace(e, **changes) if e.name == exercise else e for e in record.exercises]
    return dataclasses.replace(record, exercises=tuple(results))


def of_exercise(stats, name):
    return next(e for e in stats.exercises if e.name == name)


@pytest.fixture
def desk(root, tmp_path):
    return Desk(root, tmp_path / "desk")


def put(desk, *records):
    for record in records:
        desk.keep(record, b"{}")


def page(desk, *records, unit=UNIT):
    """The page of a class, parsed."""
    put(desk, *records)
    (path,) = write_reports(desk, [unit], Failures())  # of whom there is nothing in the gradebook
    return Page(path.read_text(encoding="utf-8"))


# --- numbers


def test_a_tie_has_no_most_common_mistake_and_one_student_s_alone_is_common_to_nobody(desk):
    known = exercises.find("rnn_step").misconceptions[:3]
    made = [student(f"s{i}", {"rnn_step": m.name}) for i, m in enumerate(known)]
    assert UnitStatistics(made, CATALOGUE).most_common == ()
    twice = [*made, *(student(f"t{i}", {"rnn_step": m.name}) for i, m in enumerate(known))]
    assert len(UnitStatistics(twice, CATALOGUE).most_common) == 3
    assert f"33% 2 of 6 {known[1].message}" in page(desk, *twice).text
    words = f"rnn_step , {known[0].name.replace('_', ' ')}: 2 of 6 and 2 mistakes that are as common"
    assert words in Page((desk.reports / "index.html").read_text(encoding="utf-8")).text


def test_a_demo_class_is_counted_as_it_was_made():
    made = demo_class(UNIT, 18)
    stats = UnitStatistics(map(record_of, made), CATALOGUE)
    given = Counter((n, a.name) for s in made for n, a in s.answers.items() if isinstance(a, Misconception))
    assert {(m.exercise, m.name): len(m.students) for m in stats.mistakes} == given
    counts = [len(m.students) for m in stats.mistakes]
    assert counts == sorted(counts, reverse=True)
    first = stats.mistakes[0]
    assert stats.most_common == tuple(m for m in stats.mistakes if len(m.students) == counts[0])
    assert first.message == next(
        m.message for m in exercises.find(first.exercise).misconceptions if m.name == first.name
    )
    theirs = {s.student for s in made if getattr(s.answers[first.exercise], "name", "") == first.name}
    assert {*first.students} == theirs
    for name in NAMES:
        seen = of_exercise(stats, name).counts
        assert tuple(seen) == KINDS
        assert sum(seen.values()) == stats.graded
        assert seen["passed"] == sum(s.answers[name] == RIGHT for s in made)
        assert seen["unwritten"] == sum(s.answers[name] == BLANK for s in made)
    totals = [sum(s.expected().values()) for s in made]
    assert stats.mean == pytest.approx(sum(totals) / len(totals), abs=0.01)


@pytest.mark.parametrize("unit", ["01_ngram", "03_cell", "05_gradient_flow"])
def test_a_stub_as_it_was_handed_out_counts_as_not_written(unit):
    for exercise in exercises.unit(unit):
        assert kind_of(result_of(exercise.name, BLANK)) == "unwritten"


def test_wrong_answers_that_nobody_explained_stand_together_if_the_check_said_the_same():
    def failed(name, message):
        return with_result(student(name), "softmax", passed=False, points=0.3, message=message)

    told = "softmax raised ZeroDivisionError: division by zero (in the line `{}`). (In the case N=3.)"
    made = [failed("a", "Another."), failed("b", told.format("1/0")), failed("c", told.format("x / 0"))]
    seen = of_exercise(UnitStatistics([*made, student("d")], CATALOGUE), "softmax")
    assert [u.students for u in seen.unexplained] == [("b", "c"), ("a",)]
    assert seen.unexplained[0].message == told.format("1/0")
    assert seen.counts == {"passed": 1, "explained": 0, "unexplained": 3, "unwritten": 0, "failed": 0}


def test_wrong_answers_that_nobody_explained_stand_together_if_the_same_was_found_out_of_them():
    """By how what came is related to what was expected, else by what mends; with one of them, and its place."""

    def found(name, evidence, part=None, change=None, lines=(2,)):
        place = {"lines": list(lines), "part": part, "message": f"Said of {name}.", "evidence": evidence}
        place |= {"change": change, "hints": [], "source": f"def softmax(O):\n    return {name}\n"}
        return with_result(student(name), "softmax", passed=False, points=0.3, message=f"Got {name}.", where=place)

    related = [{"kind": "region", "which": "last"}]
    mends = [{"kind": "change", "of": "operator", "right": "all"}]
    made = [
        found("ada", related),
        found("bob", [*related, *mends], lines=(1,)),
        found("cem", mends, "O - 1", "operator"),
        found("dan", mends, "O - 1", "operator"),
        found("eva", mends, "O + 1", "operator"),
    ]
    seen = of_exercise(UnitStatistics(made, CATALOGUE), "softmax").unexplained
    assert [u.students for u in seen] == [("ada", "bob"), ("cem", "dan"), ("eva",)]
    assert seen[1].place == "Said of cem."
    assert " ->  2      return cem" in seen[1].example


@pytest.mark.parametrize("status", [TIMED_OUT, DIED, REFUSED, MISSING, GARBLED])
def test_an_answer_without_a_verdict_is_counted_by_what_became_of_it(status):
    lost = with_result(student("ada"), "softmax", passed=False, points=0.0, status=status, message="Why.")
    seen = of_exercise(UnitStatistics([lost, student("alan")], CATALOGUE), "softmax")
    assert [(f.name, f.message, f.students) for f in seen.failed] == [(status, "Why.", ("ada",))]
    assert (seen.counts["failed"], seen.counts["passed"], seen.timed_out) == (1, 1, int(status == TIMED_OUT))


def test_an_exercise_that_a_record_does_not_have_is_missing():
    old = student("ada")
    old = dataclasses.replace(old, exercises=old.exercises[1:])
    seen = of_exercise(UnitStatistics([old], CATALOGUE), NAMES[0])
    assert [(f.name, f.students) for f in seen.failed] == [(MISSING, ("ada",))]
    assert seen.mean == 0


def test_an_exercise_is_correlated_with_the_others_and_not_with_itself():
    # Whoever has this one right has nothing else right: with itself in the sum, the correlation would be higher.
    others = dict.fromkeys(NAMES[1:], BLANK)
    made = [student(f"a{i}", {NAMES[0]: RIGHT, **others}) for i in range(6)]
    made += [student(f"b{i}", {NAMES[0]: BLANK}) for i in range(6)]
    assert of_exercise(UnitStatistics(made, CATALOGUE), NAMES[0]).discrimination == -1.0


def test_the_median_and_the_slowest_are_told_with_the_student():
    made = [with_result(student(f"s{i}"), "softmax", seconds=s) for i, s in enumerate((0.1, 9.0, 0.2))]
    seen = of_exercise(UnitStatistics(made, CATALOGUE), "softmax")
    assert (seen.median_seconds, seen.slowest) == (0.2, (9.0, "s1"))
    assert of_exercise(UnitStatistics(made, CATALOGUE), "rnn_step").slowest is None


@pytest.mark.parametrize("most", [1, 2, 12, 13, 28, 29, 100, 7.5, 1001])
def test_every_total_falls_into_one_bar(most):
    points = [0, most / 3, most / 2, most, most + 1]
    bins = histogram(points, most)
    assert sum(b.count for b in bins) == len(points)
    assert (bins[0].low, bins[-1].high) == (0, most)
    assert len(bins) <= 12
    assert all(a.high == b.low for a, b in itertools.pairwise(bins))


# --- who gave the same


LONG = "40:aaaa"


def class_of(size, **answers):
    """Students s0, s1, ... with digests by exercise: `softmax={0: LONG, 3: LONG}`."""
    return [student(f"s{i}", answers={e: by[i] for e, by in answers.items() if i in by}) for i in range(size)]


@pytest.mark.parametrize(
    ("size", "answers", "same"),
    [
        (6, {0: LONG, 3: LONG, 4: "40:bbbb"}, ("s0", "s3")),
        (6, {1: "24:cc", 2: "24:cc"}, None),  # short ones are the same by chance
        (10, dict.fromkeys(range(5), LONG), ("s0", "s1", "s2", "s3", "s4")),
        (10, dict.fromkeys(range(6), LONG), None),  # what most wrote is the way to write it
        (2, dict.fromkeys(range(2), LONG), ("s0", "s1")),  # among so few, that cannot be told
    ],
)
@pytest.mark.parametrize("gave", [RIGHT, BLANK])
def test_the_same_long_answers_are_told_and_no_short_ones_nor_stubs(size, answers, same, gave):
    made = [
        with_result(record, "softmax", **vars(result_of("softmax", gave))) for record in class_of(size, softmax=answers)
    ]
    found = [one.students for one in UnitStatistics(made, CATALOGUE).same]
    assert found == ([same] if same and gave == RIGHT else [])


def test_the_same_wrong_answer_comes_before_the_same_right_ones():
    pair, other = {0: LONG, 1: LONG}, {2: LONG, 3: LONG}
    made = class_of(8, softmax=pair, Network=pair, rnn_step=other)
    made[2] = with_result(made[2], "rnn_step", passed=False)
    made[3] = with_result(made[3], "rnn_step", passed=False)
    first, second = UnitStatistics(made, CATALOGUE).same
    assert (first.students, first.wrong, first.right) == (("s2", "s3"), ("rnn_step",), ())
    assert (second.students, second.wrong, second.right) == (("s0", "s1"), (), ("softmax", "Network"))


def test_the_courses_own_answer_is_told_apart_from_a_classmates():
    made = class_of(8, softmax={0: LONG, 1: LONG}, Network={2: "90:cc"})
    stats = UnitStatistics(made, CATALOGUE, references={"softmax": {LONG}, "Network": {"90:cc"}})
    assert stats.same == ()
    assert [s.students + s.exercises for s in stats.as_reference] == [
        ("s0", "softmax"),
        ("s1", "softmax"),
        ("s2", "Network"),
    ]


def test_the_solution_and_the_textbook_are_the_courses_own_answers(desk):
    found = references(CATALOGUE)
    assert all(found[e.name] for e in CATALOGUE if isinstance(e, Exercise))
    assert len(found["rnn_forward"]) == 2
    assert "quiz_rnn_facts" not in found


# --- what a person gave


def test_points_given_by_hand_count_and_waiting_questions_are_told():
    made = [student("ada", written=(WRITTEN,)), student("alan", BLANK), student("emmy", written=(WRITTEN,))]
    alan = {"check_softmax": Mark(1.0, 3.0, by_hand=True), "check_Network": Mark(0.0, 3.0, by_hand=True, waits=True)}
    marks = {"ada": Marks({WRITTEN: Mark(2.5, 3.0)}), "alan": Marks(alan)}
    stats = UnitStatistics(made, CATALOGUE, marks=marks, handed_in=["ada", "zuse"])
    ada, alan, emmy = stats.students
    assert (ada.points, ada.total, ada.waiting) == (CATALOGUE.points, CATALOGUE.points + 2.5, ())
    assert (alan.points, alan.cells["softmax"].judged, alan.cells["Network"].judged) == (1.0, 0.0, None)
    assert emmy.total == emmy.points
    assert stats.waiting == {"Network": ("alan",), WRITTEN: ("emmy",)}
    assert (stats.to_mark, stats.class_size, stats.ungraded) == (2, 4, ("zuse",))


def test_marks_are_read_from_nbgraders_gradebook(desk, root):
    desk.open()
    ada, alan = (student(name, written=(WRITTEN,)) for name in ("ada", "alan"))
    emmy = student("emmy", BLANK)
    notebook = (root / "notebooks" / UNIT / f"{UNIT}.ipynb").read_bytes()
    with GradebookWriter(desk) as writer:
        writer.enter_unit(UNIT)
        for record in (ada, alan, emmy):
            writer.put(record, notebook)
    assert read_marks(desk, UNIT, NONE)["ada"].grades[WRITTEN].waits
    with opened(desk) as gradebook:
        for grade in gradebook.find_submission_notebook(UNIT, UNIT, "ada").grades:
            given = {WRITTEN: 2.0, "check_softmax": 1.5}
            if grade.name in given:
                grade.manual_score, grade.needs_manual_grade = given[grade.name], False
                grade.extra_credit = 0.5 if grade.name == WRITTEN else None
        gradebook.db.commit()
    marks = {who: one.grades for who, one in read_marks(desk, UNIT, NONE).items()}
    assert {who: (one[WRITTEN].points, one[WRITTEN].waits) for who, one in marks.items()} == {
        "ada": (2.5, False),
        "alan": (None, True),
        "emmy": (0.0, False),
    }
    assert (marks["ada"]["check_softmax"].points, marks["ada"]["check_softmax"].by_hand) == (1.5, True)
    assert read_marks(desk, "02_unfolding", Failures()) == {}
    text = page(desk, ada, alan, emmy).text
    assert f"{WRITTEN} : alan" in text
    assert "1.5*" in text


# --- the page


@pytest.fixture(scope="module")
def sample(root, tmp_path_factory):
    """A desk with a class that has something of everything, and its page."""
    desk = Desk(root, tmp_path_factory.mktemp("sample") / "desk")
    made = [record_of(s, written=(WRITTEN,)) for s in demo_class(UNIT, 18)]
    made[2] = with_result(made[2], "Network", status=DIED, passed=False, points=0.0, message="It ended Python itself.")
    made[3] = with_result(made[3], "softmax", passed=False, diagnosis=None, points=0.3, message="An odd one.")
    finding = Finding("not-listed", "Your cell `softmax` uses `eval`.", "softmax", for_person=True)
    made[4] = dataclasses.replace(made[4], findings=(finding, Finding("odd", "Two cells bear one name.")))
    for i in (5, 6):
        made[i] = dataclasses.replace(made[i], answers={"softmax": LONG, "Network": LONG})
    made = [with_result(r, "softmax", seconds=0.1 * i) for i, r in enumerate(made)]
    for record in made[:5]:
        feedback = desk.feedback / record.student / UNIT / f"{UNIT}.html"
        feedback.parent.mkdir(parents=True)
        feedback.write_text("feedback")
    return desk, page(desk, *made)


def test_all_links_lead_somewhere_and_nothing_comes_from_elsewhere(sample):
    desk, shown = sample
    ids = shown.all("id")
    assert len(ids) == len(set(ids))
    for attrs in (a for _, a in shown.elements):
        for name in ("aria-labelledby", "aria-describedby"):
            assert set(attrs.get(name, "").split()) <= set(ids)
    links = shown.all("href")
    assert sum("feedback" in link for link in links) >= 5
    for link in links:
        parts = urlsplit(link)
        if parts.scheme:
            assert link == "data:,"
        elif parts.path:
            assert (desk.reports / unquote(parts.path)).is_file(), link
        else:
            assert parts.fragment in ids
    assert shown.all("src") == []
    assert "url(" not in shown.source
    assert "@import" not in shown.source


def test_answers_are_packed_for_a_detector_whatever_stands_in_them(desk):
    doubling = "a = 1\n" + "".join(
        f"{'b' * n} = {'b' * (n - 1) or 'a'} + {'b' * (n - 1) or 'a'}\n" for n in range(1, 40)
    )
    cells = [
        {"cell_type": "code", "metadata": {"nbgrader": {"solution": True, "grade_id": "softmax"}}, "source": doubling},
        {"cell_type": "code", "metadata": {"rnngrade": {"role": "helper"}}, "source": ["def f(:\n", "    half"]},
        {"cell_type": "code", "metadata": {"nbgrader": {"grade": True}}, "source": "check(softmax)"},
    ]
    cells = [cell | {"outputs": []} for cell in cells]
    for name in ("ada", "bob"):
        desk.keep(student(name), json.dumps({"cells": cells if name == "ada" else [], "metadata": {}}).encode())
    (path,) = write_reports(desk, [UNIT], Failures())  # they are in no gradebook
    folder = path.with_suffix("")
    with zipfile.ZipFile(folder / "answers.zip") as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert texts == {"answers/ada.py": f"{doubling}\n\ndef f(:\n    half", "answers/bob.py": ""}
    assert "def rnn_step" in (folder / "given" / "course.py").read_text()


def test_flags_same_answers_and_findings_are_shown_and_what_a_colour_says_stands_there_in_words(sample):
    text = sample[1].text
    for sign in ("✓ got it", "? wrong, not explained yet", "– not written", "! died"):
        assert sign in text
    assert "Their cell softmax uses eval ." in text  # to who grades
    assert "1 finding that asks for nobody" in text
    assert re.search(r"emmy , frances|emmy, frances", text.replace(" ,", ","))


CLASSES = {
    "nobody": (0, {}, ["Nothing of this unit is graded yet", "There is nobody to show yet."]),
    "one student": (1, {"gave": {"softmax": BLANK}}, ["too few", "of the 1 student whose work is graded"]),
    "all right": (12, {"written": (WRITTEN,)}, ["hidden_layer 100% 1.00 of 1", "all alike", "12 answers"]),
    "all blank": (12, {"gave": BLANK}, ["hidden_layer 0% 0.00 of 1", "No wrong answer is one that the course knows."]),
}


@pytest.mark.parametrize("which", CLASSES)
def test_a_class_of_any_kind_gives_a_sensible_page(which, desk):
    size, made, says = CLASSES[which]
    shown = page(desk, *(student(f"s{i}", **made) for i in range(size)))
    for words in says:
        assert words in shown.text
    assert "nan" not in shown.text.replace("nan.", "")
    assert "None" not in shown.text


def test_submissions_that_are_not_graded_yet_are_counted(desk):
    path = desk.submission_path(UNIT, "zuse")
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    assert "1 submission waits for it" in page(desk).text
    assert "Handed in but not graded: zuse" in page(desk, student("ada")).text


def test_the_index_has_a_line_for_each_unit_and_leads_to_those_that_are_written(desk):
    other = "02_unfolding"
    made = [record_of(s, written=("unfolding_written",)) for s in demo_class(other, 3)]
    put(desk, *made)
    first = page(desk, student("ada", BLANK))
    assert "index.html" in first.all("href")
    index = Page((desk.reports / "index.html").read_text(encoding="utf-8"))
    assert index.all("href") == ["data:,", f"{UNIT}.html"]
    assert "02 " in index.text
    write_reports(desk, [UNIT, other], Failures())
    index = Page((desk.reports / "index.html").read_text(encoding="utf-8"))
    assert index.all("href") == ["data:,", f"{other}.html", f"{UNIT}.html"]


UNSHOWABLE = dataclasses.asdict(result_of("softmax", RIGHT)) | {"points": "many", "message": 7, "passed": False}
ODD_RECORDS = [{"findings": [["a", "list"]]}, {"exercises": [{"name": 3}]}, {"exercises": [UNSHOWABLE]}, {"format": 2}]


@pytest.mark.parametrize("odd", [*ODD_RECORDS, None])
def test_a_record_that_is_odd_is_told_and_the_others_are_shown(desk, odd):
    put(desk, student("ada"), student("zoe"))
    path = desk.record_path(UNIT, "zoe")
    data = json.loads(path.read_text())
    path.write_text(json.dumps(data | odd) if odd else "{")
    failures = Failures()
    (made,) = write_reports(desk, [UNIT], failures)
    words, _ = failures.told  # ada is not in the gradebook
    assert words.startswith(f"zoe, {UNIT}: The record ")
    shown = Page(made.read_text(encoding="utf-8")).text
    assert "ada" in shown
    assert "zoe" not in shown


# --- in a browser


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    if not (path := shutil.which("chromium")):
        pytest.skip("chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def at_sample(sample, browser):
    """Open the sample page; whatever the browser complains of fails the test."""
    complaints = []

    def open_page(**settings):
        tab = browser.new_page(**settings)
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda request: request.url.startswith(("file:", "data:")) or complaints.append(request.url))
        tab.goto((sample[0].reports / f"{UNIT}.html").as_uri())
        return tab

    yield open_page
    assert complaints == []


def test_the_page_never_scrolls_sideways(at_sample):
    tab = at_sample()
    for width, scheme in itertools.product((390, 1280), ("light", "dark")):
        tab.set_viewport_size({"width": width, "height": 800})
        tab.emulate_media(color_scheme=scheme)
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        boxes = "[...document.querySelectorAll('.scroll')]"
        assert tab.evaluate(f"{boxes}.some(box => box.scrollWidth > box.clientWidth)") is (width == 390)


def test_no_head_of_a_column_is_cut_off_in_a_small_window(desk, browser, monkeypatch):
    made = [record_of(one, written=(WRITTEN,)) for one in demo_class(UNIT, 18)]
    late = Lateness(days=2, due=datetime(2026, 11, 20, tzinfo=UTC))
    marks = {one.student: Marks({WRITTEN: Mark(None, 3.0, waits=True)}, penalty=1.25, late=late) for one in made}
    monkeypatch.setattr("rnngrade.pages.report.page.read_marks", lambda *_: marks)
    for one in made:
        write_whole(desk.reports / UNIT / f"{one.student}.html", b"a notebook")
    page(desk, *made)
    tab = browser.new_page(viewport={"width": 1100, "height": 800})
    for name in (UNIT, "index"):
        tab.goto((desk.reports / f"{name}.html").as_uri())
        boxes = "[...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth)"
        assert tab.evaluate(f"{boxes}.map(box => box.innerText)") == []
    tab.close()


def test_a_click_sorts_the_students_and_another_turns_the_order(at_sample):
    tab = at_sample()
    heads = tab.locator("table.sortable thead th")
    column = next(i for i in range(heads.count()) if heads.nth(i).inner_text().startswith("Exercises"))
    points = f"[...document.querySelectorAll('table.sortable tbody tr')].map(row => +row.cells[{column}].dataset.sort)"
    by_name = tab.evaluate(points)
    tab.get_by_role("button", name="Exercises, of").focus()
    tab.keyboard.press("Enter")
    assert tab.evaluate(points) == sorted(by_name)
    assert heads.nth(column).get_attribute("aria-sort") == "ascending"
    tab.get_by_role("button", name="Exercises, of").click()
    assert tab.evaluate(points) == sorted(by_name, reverse=True)
    tab.get_by_role("button", name="Student").click()
    assert tab.evaluate(points) == by_name


def test_without_its_script_the_page_is_whole(at_sample):
    tab = at_sample(java_script_enabled=False)
    assert tab.get_by_role("button").count() == 0
    assert tab.locator("table.sortable tbody tr").count() == 18


def test_a_search_shows_the_students_alone_who_have_it(at_sample):
    tab = at_sample()
    tab.get_by_role("searchbox").first.fill("ADA")
    rows = tab.locator("table.sortable tbody tr:visible")
    assert 0 < rows.count() < 18
    assert all("ada" in text.casefold() for text in rows.locator("th a, th bdi").all_inner_texts())
    assert tab.locator("output").first.inner_text() == f"{rows.count()} of 18"
    tab.get_by_role("searchbox").first.fill("")
    assert rows.count() == 18
