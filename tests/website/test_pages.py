"""The site's pages before Sphinx draws them: all are made, or it is said which entry does not hold."""

import importlib
import sys

import nbformat
import pytest

from rnncourse import exercises


@pytest.fixture
def maker(root, monkeypatch):
    """`maker("units")` is a module of the folder website/."""
    monkeypatch.syspath_prepend(root / "website")
    yield importlib.import_module
    for path in (root / "website").glob("*.py"):
        sys.modules.pop(path.stem, None)


def test_what_the_first_screen_shows_and_no_unit_has_any_more_is_named(root, maker):
    home = maker("home")
    with pytest.raises(home.NotStoredError, match=r"'no such call\(' in unit 03_cell: no cell"):
        home._stored(root, "03_cell", "no such call(", home.PICTURE)


def test_all_pages_are_made_and_without_solutions_none_holds_an_answer_or_speaks_of_one(root, maker, tmp_path):
    units, made = maker("units"), maker("make_website").make_pages
    pages = made(tmp_path, solutions=False)
    assert "solution" not in pages["index.md"].lower()

    def text(notebook: nbformat.NotebookNode) -> str:
        return "\n".join(cell.source for cell in notebook.cells)

    for unit in exercises.units():
        given = text(units.stored(root, "notebooks", unit.stem))
        code = [cell for cell in units.stored(root, "solutions", unit.stem).cells if cell.cell_type == "code"]
        answers = [answer.strip() for cell in code for answer in units.SOLUTION.findall(cell.source)]
        answers = [answer for answer in answers if answer not in given]
        assert len(answers) >= len(list(unit)), unit.stem
        shown = text(units.page(root, unit.stem))
        without = text(nbformat.reads(pages[f"units/{unit.stem}.ipynb"], as_version=4))
        assert [answer for answer in answers if answer not in shown] == []
        assert [answer for answer in answers if answer in without] == []
        assert "Model answer" not in without


def test_an_entry_of_the_index_that_no_longer_holds_is_named(root, maker):
    concepts = maker("concepts")

    def told(*row: str) -> list[str]:
        concept = concepts.Concept("03_cell", *row[:4], tuple(row[4:]))
        found = list(concepts.problems([concept], root, {"rnncourse.cell.rnn_step"}))
        return [sentence for sentence in found if "belongs to no concept" not in sentence]

    assert told("hidden state", "h_t", "(N, H)", "The state", "cell.rnn_step") == []
    assert "has no section 'The estate'" in told("hidden state", "h_t", "(N, H)", "The estate")[0]
    assert "does not speak of it: hiccup" in told("hidden hiccup", "h_t", "(N, H)", "The state")[0]
    assert "does not use the symbol h_t^{q}" in told("hidden state", "h_t^{q}", "(N, H)", "The state")[0]
    assert "does not speak of the shape (H, N, D)" in told("hidden state", "h_t", "(H, N, D)", "The state")[0]
    assert "there is no rnncourse.cell.rnn_stop" in told("hidden state", "h_t", "", "The state", "cell.rnn_stop")[0]
    assert any(
        "rnn_forward, an exercise of unit 03_cell, belongs to no" in s for s in concepts.problems([], root, set())
    )


def test_the_link_check_names_what_leads_nowhere_or_comes_from_elsewhere(maker, tmp_path):
    links = maker("links")
    (tmp_path / "other.html").write_text('<p id="here">')
    (tmp_path / "index.html").write_text(
        '<a href="other.html#here">right</a> <a href="other.html#there">no such place</a> <a href="#nor">nor</a>'
        '<a href="gone.html">gone</a> <a href="https://example.org/a">outside</a> <a href="https://nowhere">malformed</a>'
        '<script src="https://cdn.example.org/x.js"></script> <img src="data:image/png;base64,AA==">'
    )
    report = links.check(tmp_path)
    assert [line.removeprefix("index.html: ") for line in report.broken] == [
        "other.html#there names a place that is not on that page",
        "#nor names a place that is not on that page",
        "gone.html leads nowhere",
        "https://nowhere is no address",
        "https://cdn.example.org/x.js is loaded from another computer",
    ]
    assert report.outside == {"https://example.org/a", "https://nowhere"}


def test_a_document_that_links_to_a_file_that_is_gone_is_named(maker, tmp_path):
    documents = maker("documents")
    root, out = tmp_path / "course", tmp_path / "out"
    root.mkdir()
    (root / "LICENSE").write_text("as you like")
    (root / "notes.md").write_text("# Notes")
    (root / "CHANGELOG.md").write_text(
        "[all](README.md), [licence](LICENSE), [web](https://a.org), [x](#x), [n](notes.md)"
    )
    (root / "README.md").write_text("[gone](gone.md)")
    assert documents.page(root, "CHANGELOG.md", out) == (
        "[all](index.md), [licence](files/LICENSE), [web](https://a.org), [x](#x), [n](files/notes.md.txt)"
    )
    assert (out / "files" / "LICENSE").read_text() == "as you like"
    with pytest.raises(documents.MissingFileError, match=r"README\.md links to gone\.md, which is not there"):
        documents.page(root, "README.md", out)
