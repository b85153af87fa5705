"""The page that a student gets back: points, what to look at, and nothing that runs or gives away."""

import base64
import hashlib
import re
from dataclasses import replace

import jupytext
import nbformat
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from rnncourse import check, exercises
from rnngrade.core.errors import DeskError, Failures
from rnngrade.core.record import JUDGED, ExerciseResult, Finding, Record
from rnngrade.core.text import code, cut, formula, markdown, marked_code, prose
from rnngrade.demo.sample import BLANK
from rnngrade.gradebook.marks import Mark, Marks
from rnngrade.pages.feedback.page import page as page_of
from rnngrade.pages.feedback.write import write_feedback
from tests.grading.hostile_texts import ATTEMPTS, materials, texts
from tests.grading.made import NAMES, NONE, UNIT, WRITTEN, changed, enter, mistake, outcome, submission
from tests.grading.on_any_database import Person
from tests.grading.pages import Page
from tests.sampling import ALL, some

FIRST, SECOND = NAMES[:2]
FULL = exercises.unit(UNIT).points
SCRIPT = "<script>steal()</script>"
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "section", "article", "details", "summary"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "div", "span", "pre", "code", "mark", "i", "u", "s"),
    *("small", "strong", "em", "a", "blockquote", "table", "caption", "thead", "tbody", "tr", "th", "td", "br", "hr"),
    *("math", "mfrac", "mi", "mn", "mo", "mover", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub"),
    *("msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover", "mpadded", "mphantom", "menclose"),
}
ATTRIBUTES = {"class", "id", "lang", "scope", "role", "tabindex", "href", "start", "aria-labelledby", "aria-label"}


def page(desk, student="ada"):
    (path,) = write_feedback(desk, UNIT, NONE, [student])
    assert path == desk.feedback / student / UNIT / f"{UNIT}.html"
    assert [*path.parent.iterdir()] == [path], "of an exchange there is nothing where there is none"
    return path.read_text()


def sections(desk, student="ada"):
    return Page(page(desk, student)).sections()


def require_harmless(html):
    """Known elements with known attributes, properly nested, one style sheet, which is the one that is allowed."""
    found = Page(html)
    assert found.open == []
    for tag, attributes in found.elements:
        assert tag in ALLOWED, tag
        if tag == "meta":
            continue
        for name, value in attributes.items():
            assert name in ATTRIBUTES or (tag.startswith("m") and tag not in ("main", "mark")), (tag, name)
            assert not name.startswith("on")
            if name == "href":
                assert re.match(r"(https?://|mailto:)", value, re.IGNORECASE), value
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in html
    assert "default-src 'none'" in html


# --- what is on it


def test_what_lost_points_has_a_block_with_diagnosis_code_and_hint_and_the_rest_a_line(desk, root):
    enter(desk, outcome(root, submission("ada", **{FIRST: mistake(FIRST)})))
    html = page(desk)
    found = sections(desk)
    lost = mistake(FIRST).message.split("`")[0].split(":")[0]
    assert lost in found["lost"]
    assert f"def {FIRST}" in found["lost"]
    assert re.split(r"[`<'\"]", exercises.find(FIRST).hints[0])[0] in found["lost"]
    assert html.count("<article") == 1
    assert all(name in found["right"] and name not in found["lost"] for name in NAMES[1:])
    assert "blank" not in found


def test_the_place_where_it_first_differs_is_a_table_whose_cells_have_their_names(desk, root):
    tables = {name: check(mistake(name).answer, name, hidden=True).table for name in NAMES}
    name, table = next((name, table) for name, table in tables.items() if table)
    enter(desk, outcome(root, submission("ada", **{name: mistake(name)})))
    html = page(desk)
    shown = re.search(r'<table class="numbers">.*?</table>', html, re.DOTALL)[0]
    assert shown.count('scope="row"') == 2
    assert shown.count('scope="col"') == 1 + len(table.columns)
    assert re.findall(r"<td>(?:<strong>)?([^<]*)", shown) == [*table.expected, *table.got]
    assert shown.count(", which differs") == sum(table.wrong)


def test_the_points_are_the_gradebook_s_and_what_waits_counts_for_nothing_yet(desk, root):
    record, notebook = outcome(root, submission("ada", **{FIRST: mistake(FIRST)}))
    enter(desk, (record, notebook))
    found = sections(desk)
    assert f"{record.points:g} of {FULL:g} points so far" in found["header"]
    assert "3 more points wait for a person" in found["waits"]
    assert "0 of 3" not in found["waits"]
    Person(desk, "ada").gives(WRITTEN, 2.5, f"Well put. {SCRIPT}")
    Person(desk, "ada").gives(f"check_{FIRST}", 1.25, extra=0.5)
    html, found = page(desk), sections(desk)
    total = record.points - record.exercise(FIRST).points + 2.5 + 1.25 + 0.5
    assert f"{round(total, 2):g} of {FULL + 3:g} points" in found["header"]
    assert "so far" not in found["header"]
    assert "waits" not in found
    assert "Well put." in found["lost"]
    assert SCRIPT not in html
    assert "1.75 of 2 points, 0.5 of them as extra credit, given by a person" in found["lost"]
    assert "A made-up answer in words." in found["lost"]


def test_what_has_changed_since_a_person_looked_is_said_to_wait(desk, root):
    record, notebook = outcome(root, submission("ada"))
    enter(desk, (record, notebook))
    Person(desk, "ada").gives(WRITTEN, 2.5)
    notebook = changed(notebook, WRITTEN, source="Another answer.")
    enter(desk, (replace(record, submission="another"), notebook))
    found = sections(desk)
    assert "A person will look again" in found["waits"]
    assert "its 2.5 points may change" in found["waits"]
    assert "so far" in found["header"]


def test_a_penalty_for_being_late_is_taken_off_and_told():
    marks = Marks({"check_a": Mark(2.0, 3.0)}, penalty=0.5)
    html = page_of(Record("ada", UNIT, "key", "hash"), marks, [])
    assert "<strong>1.5</strong> of 3 points" in html
    assert "You earned 2 points; 0.5 points came off, because it was handed in late." in html
    assert "Comment" not in Page(html).text, "nobody has made one"


def test_what_was_left_as_it_was_has_a_line_and_a_hint_and_no_code(desk, root):
    record, notebook = outcome(root, submission("ada", BLANK))
    hint = "Take one step after the other."
    results = tuple(replace(result, hint=hint) for result in record.exercises)
    enter(desk, (replace(record, exercises=results), notebook))
    found, html = sections(desk), page(desk)
    assert "lost" not in found
    assert "right" not in found
    assert "waits" not in found, "what was not written waits for nobody"
    assert all(name in found["blank"] for name in NAMES)
    assert found["blank"].count(hint) == len(NAMES)
    assert "<article" not in html


def test_the_place_that_is_known_is_marked_in_the_code_and_its_message_stands_below():
    source = "import numpy as np\n\n\n@decorated\ndef step(x):\n    y = x\n    return y - 1\n"
    where = {"lines": [3], "part": "y - 1", "message": "In line 3 the sign is turned round."}
    where["source"] = source.partition("@decorated\n")[2]
    result = ExerciseResult("step", JUDGED, 0.0, 3.0, False, "Wrong.", where=where)
    cells = [{"cell_type": "code", "source": source, "metadata": {"nbgrader": {"grade_id": "step"}}}]
    marks = Marks({"check_step": Mark(0.0, 3.0)})
    html = page_of(Record("ada", UNIT, "key", "hash", (result,)), marks, cells)
    marked = '<mark><i class="heard">marked: </i>    return <u>y - 1</u></mark>'
    assert re.findall(r"<mark>.*?</mark>", html) == [marked]
    assert re.search(r"</mark>\s*</pre>\s*<p class=\"note\">In line 3 the sign is turned round.</p>", html)


@given(st.text(alphabet="def():\n x=1", max_size=60), st.lists(st.integers(-3, 9), max_size=4), st.none() | texts)
def test_whatever_the_lines_are_the_code_is_shown_once_and_whole(source, lines, part):
    source = source.strip("\n")
    pieces = marked_code(source, lines, part, 10_000)
    words = "".join(re.sub(r"<i .*?</i>|<[^>]*>", "", str(text)) for text, _ in pieces)
    assert words == source + "\n"


def test_hidden_tests_and_what_is_for_the_instructor_are_not_on_the_page(desk, root):
    record, notebook = outcome(root, submission("ada"), (Finding("odd", "Two cells are alike.", FIRST, True),))
    hidden = f"check({FIRST})\n### BEGIN HIDDEN TESTS\ncheck({FIRST}, hidden=True)\n### END HIDDEN TESTS"
    enter(desk, (record, changed(changed(notebook, WRITTEN, source="Mine."), f"check_{FIRST}", source=hidden)))
    html = page(desk)
    assert "HIDDEN" not in html
    assert "hidden=True" not in html
    assert "Found in this submission" not in html
    assert "Two cells are alike." in html, "what is odd is said in words for the student"
    solution = nbformat.read(root / "solutions" / UNIT / f"{UNIT}.ipynb", as_version=4)
    (written,) = [c for c in solution.cells if c.metadata.get("nbgrader", {}).get("grade_id") == WRITTEN]
    answer = written.source.partition("BEGIN SOLUTION")[2].partition("### END")[0]
    lines = [line for line in answer.splitlines() if len(line) > 40]
    assert lines
    assert not any(line[:40] in html for line in lines)


def test_what_cells_print_after_the_first_check_is_not_shown_for_it_may_hold_hidden_cases(desk, root):
    record, notebook = outcome(root, submission("ada"))

    def printing(words):
        return [nbformat.v4.new_output("stream", text=words)]

    notebook = changed(notebook, FIRST, outputs=printing("printed before"))
    notebook = changed(notebook, SECOND, outputs=printing("asked me for 0.123456"))
    enter(desk, (record, notebook))
    html = page(desk)
    assert "printed before" in html
    assert "0.123456" not in html


@pytest.mark.parametrize("marks", ["### BEGIN HIDDEN TESTS", "### BEGIN HIDDEN TESTS\n### BEGIN HIDDEN TESTS\n"])
def test_the_marks_of_hidden_tests_are_a_text_like_any_other_in_a_student_s_cell(desk, root, marks):
    record, notebook = outcome(root, submission("ada"))
    notebook = changed(changed(notebook, FIRST, source=f"kept = 1\n{marks}"), WRITTEN, source=f"Mine.\n\n{marks}")
    enter(desk, (record, notebook))
    html = page(desk)
    assert html.count("BEGIN HIDDEN TESTS") == 2 * marks.count("BEGIN")
    assert "kept" in html


# --- for whom


def test_whatever_one_student_s_work_is_the_others_get_their_pages(desk, root):
    names = ["no_json", "no_cells", "no_record", "not_in_the_gradebook", "half", "zoe"]
    outcomes = {name: outcome(root, submission(name)) for name in names}
    record, notebook = outcomes["half"]
    outcomes["half"] = replace(record, findings=(Finding("odd", "Half a \ud800 pair."),)), notebook
    desk.keep(*outcomes.pop("not_in_the_gradebook"))
    enter(desk, *outcomes.values())
    desk.executed_path(UNIT, "no_json").write_text("\x1b[2J not a notebook")
    desk.executed_path(UNIT, "no_cells").write_text('{"nbformat": 4, "nbformat_minor": 5}')
    desk.record_path(UNIT, "no_record").write_text("{}")
    failures = Failures()
    assert [path.parts[-3] for path in write_feedback(desk, UNIT, failures)] == ["half", "zoe"]
    told = {words.partition(",")[0]: words for words in failures.told}
    assert set(told) == {"no_json", "no_cells", "no_record", "not_in_the_gradebook"}
    assert "cannot be read" in told["no_record"]
    assert all(words.isprintable() for words in failures.told)
    with pytest.raises(DeskError, match=r"Done for all but these:\n  (.*\n  ){3}.*\Z"):
        failures.end()
    write_feedback(desk, UNIT, failures, ["alan", "zoe"])
    assert "alan's 02_unfolding is not graded yet" in failures.told[-1]


def test_without_a_gradebook_nobody_has_a_page_and_none_is_made(desk, root):
    desk.keep(*outcome(root, submission("ada")))
    desk.gradebook.unlink()
    with pytest.raises(DeskError, match="Is not in the gradebook"):
        write_feedback(desk, UNIT, NONE)
    assert not desk.gradebook.exists()


def test_the_gradebook_is_asked_as_often_for_a_class_as_for_one(desk, root):
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    asked = []

    def count(*_):
        asked.append(1)

    enter(desk, *(outcome(root, submission(name)) for name in ("ada", "alan", "barbara")))
    counts = []
    event.listen(Engine, "before_cursor_execute", count)
    try:
        for students in (["ada"], ["ada", "alan", "barbara"]):
            asked.clear()
            write_feedback(desk, UNIT, NONE, students)
            counts.append(len(asked))
    finally:
        event.remove(Engine, "before_cursor_execute", count)
    assert counts[0] == counts[1]


# --- hostile and endless


@settings(
    max_examples=150 if ALL else 30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(materials())
def test_a_page_made_of_hostile_texts_holds_nothing_but_text(made):
    html = page_of(*made)
    require_harmless(html.encode("utf-8", "replace").decode())


@settings(deadline=None)
@given(texts, st.integers(20, 3_000))
@example("\ud800<i>", 20)  # half a surrogate
def test_html_of_any_text_is_bounded(text, most):
    for made in (prose(text, most), code(text, most), markdown(text, most)):
        assert len(made.encode("utf-8", "replace")) <= most + 200
    assert len(formula(text).encode("utf-8", "replace")) < 100_000


@given(st.text(), st.integers(1, 50))
def test_a_text_that_fits_is_not_cut_and_one_that_is_cut_says_so(text, most):
    shown = cut(text, most)
    assert shown == text or shown.endswith("(cut here)")
    if len(text) * 8 < most:
        assert shown == text


@pytest.mark.parametrize("bit", some([*ATTEMPTS, "&", "'", "\n", "$x$", "- a\n", "|a|\n|-|\n", "\U0001f600", "`a`"], 4))
def test_a_page_stays_small_however_much_of_anything_there_is(bit):
    names = [f"e{i}" for i in range(14)]
    much = bit * (200_000 // len(bit))
    results = tuple(ExerciseResult(n, JUDGED, 0.0, 3.0, False, much, hint=much, table=table(much)) for n in names)
    marks = Marks({f"check_{n}": Mark(0.0, 3.0) for n in names}, dict.fromkeys(names, much))
    cells = [
        {"cell_type": "code", "source": much, "metadata": {"nbgrader": {"grade_id": n}}, "outputs": []}
        for name in names
        for n in (name, f"check_{name}")
    ]
    marks.grades["words"] = Mark(1.0, 3.0)
    marks.comments["words"] = much
    cells.append({"cell_type": "markdown", "source": much, "metadata": {"nbgrader": {"grade_id": "words"}}})
    findings = tuple(Finding("odd", much) for _ in range(100))
    record = Record("ada", UNIT, "key", "hash", results, ("words",), findings)
    html = page_of(record, marks, cells).encode("utf-8", "replace")
    without, _, notebook = html.partition(b'<details class="notebook">')
    assert len(without) < 300_000
    assert len(notebook) < 1_000_000


def table(text):
    return {"title": text, "columns": [text] * 50, "expected": [text] * 50, "got": [text] * 50, "wrong": [True] * 50}


@pytest.mark.parametrize("tex", [r"\text{<b>x</b>}", r"\text{<script>alert(1)</script>}"])
def test_a_formula_that_holds_what_is_no_formula_stays_as_it_was_typed(tex):
    assert formula(tex) == Markup("<code>{}</code>").format(tex)


def test_all_formulas_of_the_course_become_mathml(root):
    formulas = set()
    for path in sorted((root / "solutions").glob("*.py")):
        for cell in jupytext.read(path, fmt="py:percent").cells:
            if cell.cell_type == "markdown":
                formulas |= set(re.findall(r"\$\$(.+?)\$\$", cell.source, re.DOTALL))
                formulas |= set(re.findall(r"(?<!\$)\$([^$\n]+)\$(?!\$)", cell.source))
    assert len(formulas) > 500
    assert [tex for tex in formulas if "<math" not in formula(tex)] == []


def test_all_texts_of_the_course_are_rendered_and_harmless(root):
    for path in sorted((root / "notebooks").glob("*/*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        html = page_of(Record("ada", path.stem, "key", "hash"), Marks(), cells)
        require_harmless(html)
        assert "The rest is left out here" not in html, path.stem
        assert "<pre># " not in html, "no text cell stays as it was typed"
