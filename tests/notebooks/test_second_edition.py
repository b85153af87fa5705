"""A unit is written for who reads it: short, with something to do, and nothing that raises where one tries."""

import ast
import re

import nbformat
import pytest

from rnncourse import exercises
from rnngrade.author.build import notebook_path

# At most so many words of prose in a unit. (In all, 76,000.)
WORDS = {
    "welcome": 900,
    "ngram": 3500,
    "unfolding": 4000,
    "cell": 5000,
    "bptt": 5500,
    "gradient_flow": 5500,
    "language_model": 5500,
    "torch_rnn": 5000,
    "stacked": 4500,
    "bidirectional": 5500,
    "gates": 6000,
    "heads": 5500,
    "encoder_decoder": 6000,
    "attention": 4500,
    "scans": 4500,
    "project": 4500,
}
MOST = 6000  # of any other unit
STRETCH = 700  # words without something to do
LARGEST, LARGEST_FRAME = 2_000_000, 300_000  # bytes of a stored notebook, and of a film or sliders in it
WIDTH, LINES, LONG_CELLS = 88, 12, 6  # of code that is no answer, and how many cells of a unit may be longer
DOES = re.compile(r"\*\*Guess|\*Try\*|^#+ Exercise|^#+ .*to hunt|\*\*Your turn", re.MULTILINE)
UNITS = list(exercises.SYLLABUS)


@pytest.fixture(scope="module")
def cells(root):
    """By unit, what students get."""
    return lambda stem: nbformat.read(notebook_path(root, "notebooks", stem), as_version=4).cells


def is_shown(cell):
    """Whether it is code that a student reads: no answer, no check, not what sets the notebook up."""
    return cell.cell_type == "code" and "nbgrader" not in cell.metadata


@pytest.mark.parametrize("stem", UNITS)
def test_a_unit_is_as_long_as_an_evening(stem, cells):
    words = sum(len(cell.source.split()) for cell in cells(stem) if cell.cell_type == "markdown")
    assert words <= WORDS.get(stem.partition("_")[2], MOST)


@pytest.mark.parametrize("stem", UNITS)
def test_no_stretch_is_without_something_to_do(stem, cells):
    stretches, words = [], 0
    for cell in cells(stem):
        if cell.metadata.get("nbgrader", {}).get("grade"):  # a check, or a question that is answered in words
            words = 0
        elif cell.cell_type == "markdown":
            before, *after = DOES.split(cell.source)
            stretches.append(words + len(before.split()))
            words = len(after[-1].split()) if after else stretches[-1]
    assert max(stretches) <= STRETCH


@pytest.mark.parametrize("stem", UNITS)
def test_what_is_stored_is_soon_there(stem, root):
    path = notebook_path(root, "solutions", stem)
    assert path.stat().st_size <= LARGEST
    outputs = [out for cell in nbformat.read(path, as_version=4).cells for out in cell.get("outputs", [])]
    frames = [re.search(r'srcdoc="([^"]*)"', output.get("data", {}).get("text/html", "")) for output in outputs]
    assert max((len(frame[1].encode()) for frame in frames if frame), default=0) <= LARGEST_FRAME


@pytest.mark.parametrize("stem", UNITS)
def test_no_assert_of_the_authors_reaches_a_student(stem, cells):
    assert [c.source for c in cells(stem) if is_shown(c) and re.search(r"^\s*assert\b", c.source, re.MULTILINE)] == []


@pytest.mark.parametrize("stem", UNITS)
def test_a_figure_describes_itself(stem, cells):
    calls = [node for c in cells(stem) if is_shown(c) for node in ast.walk(ast.parse(c.source))]
    assert [ast.unparse(c) for c in calls if isinstance(c, ast.Call) and any(k.arg == "alt" for k in c.keywords)] == []


@pytest.mark.parametrize("stem", UNITS)
def test_code_fits_a_laptop_and_shows_what_teaches(stem, cells):
    shown = [cell.source for cell in cells(stem) if is_shown(cell)]
    assert [line for source in shown for line in source.splitlines() if len(line) > WIDTH] == []
    assert len([source for source in shown if len(source.splitlines()) > LINES]) <= LONG_CELLS


@pytest.mark.parametrize("stem", UNITS)
def test_what_an_exercise_forbids_its_text_says(stem, cells):
    prose = " ".join(cell.source for cell in cells(stem) if cell.cell_type == "markdown")
    denied = [s for s in re.split(r"(?<=[.:;])\s", prose) if re.search(r"\b(not|no|none|neither|without)\b", s, re.I)]
    forbidden = {name for one in exercises.unit(stem) for name in getattr(one, "forbids", ())}
    words = {"scikit-learn" if name == "sklearn" else name for name in forbidden}
    words = {"nn.RNN" if re.match(r"torch\.(nn\.RNN|rnn_)", name) else name for name in words}
    assert [word for word in words if not any(word in sentence for sentence in denied)] == []
