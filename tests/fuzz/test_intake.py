"""The intake: whatever file is handed in, a whole notebook comes of it, soon, and words that can be shown."""

import copy
import functools
import json
from pathlib import Path

import nbformat
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rnngrade.gradebook.showing import harmless_markdown
from rnngrade.grading.budget import at_most
from rnngrade.reading.cells import MAX_BYTES, MAX_CONTAINERS, MAX_SOURCE
from rnngrade.reading.inspection import inspect
from rnngrade.reading.intake import take_in
from tests.fuzz.strategies import fuzzed, texts
from tests.sampling import some

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 20.0  # of CPU; what is bounded takes one


@functools.cache
def release(unit="00_welcome"):
    """The notebook that was given out; that of the welcome unit is the shortest."""
    return nbformat.read(ROOT / "notebooks" / unit / f"{unit}.ipynb", as_version=4)


def sound(submission, given=None):
    """What comes of a file can be run, kept and shown."""
    with at_most(SECONDS):
        intake = take_in(submission, given or release())
    nbformat.validate(intake.notebook)
    nbformat.writes(intake.notebook).encode()
    kept = [cell for cell in intake.notebook.cells if "rnngrade" not in cell.metadata]
    for one, other in zip(kept, (given or release()).cells, strict=True):
        assert (one.id, one.cell_type, one.metadata) == (other.id, other.cell_type, other.metadata)
    for finding in intake.findings:
        assert finding.code
        assert finding.message.endswith((".", "?"))
        assert finding.message.isprintable(), finding.message
        assert len(finding.message) < 2000
        finding.message.encode()
    return intake


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
ids = st.sampled_from(["leaky_average", "check_leaky_average", "welcome_written", "a\r\nb", "`x` <b>", "x" * 9999, ""])
cells = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.sampled_from(["code", "markdown", "raw", "heading", 3]) | anything,
        "source": anything | st.sampled_from(["def leaky_average(x, keep):\n    return x", "check(\n" + "\n" * 99]),
        "input": anything,
        "id": ids | anything,
        "metadata": st.fixed_dictionaries(
            {}, optional={"nbgrader": st.builds(lambda i: {"grade_id": i}, ids | anything)}
        )
        | anything,
        "attachments": anything,
        "outputs": anything,
    },
)
fields = st.sampled_from(["cell_type", "source", "id", "metadata", "outputs", "attachments"])


@st.composite
def notebooks(draw):
    """The notebook that was given out, with cells changed, gone, doubled, moved, or new."""
    data = copy.deepcopy(dict(release()))
    data["cells"] = [dict(cell) for cell in data["cells"]]
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data["cells"]) - 1))
        what = draw(st.sampled_from(["set", "drop", "double", "move", "new", "odd"]))
        if what == "set":
            data["cells"][at][draw(fields)] = draw(anything | ids)
        elif what == "drop" and len(data["cells"]) > 1:
            del data["cells"][at]
        elif what in ("double", "move"):
            data["cells"].insert(draw(st.integers(0, at)), dict(data["cells"][at]))
        elif what == "new":
            data["cells"].insert(at, draw(cells))
        elif what == "odd":
            data["cells"].append(draw(cells))
    if draw(st.booleans()):
        data[draw(st.sampled_from(["nbformat", "metadata", "worksheets", "x"]))] = draw(st.integers(1, 5) | anything)
    return json.dumps(data)


@fuzzed(150)
@given(notebooks(), st.sampled_from(["utf-8", "utf-16", "utf-32", "latin-1"]))
def test_a_notebook_is_taken_in(text, encoding):
    sound(text.encode(encoding, "replace"))


@fuzzed(150)
@given(
    st.binary(max_size=50)
    | anything.map(lambda value: json.dumps(value).encode())
    | cells.map(lambda cell: json.dumps({"cells": [cell, [cell]], "nbformat": 4}).encode())
)
@example(b"{" * 50)
@example(b'{"cells": ' + b"[" * 5000)
@example(b'{"cells": [{"source": "\\ud800"}]}')
def test_a_file_is_taken_in(data):
    sound(data)


@fuzzed(100)
@given(notebooks(), st.integers(0, 100_000), st.binary(max_size=3))
def test_a_damaged_notebook_is_taken_in(text, at, piece):
    data = text.encode()
    at %= len(data)
    sound(data[:at] + piece)
    sound(data[:at] + piece + data[at + len(piece) :])


def _with(name, source, given=None):
    """The notebook with this source in the cell of that name."""
    data = copy.deepcopy(given or release())
    for cell in data.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == name:
            cell.source = source
    return json.dumps(data).encode()


LONG = MAX_SOURCE - 1
SOURCES = {
    "empty lines": "\n" * LONG,
    "spaces": " " * LONG,
    "lines of spaces": " \n" * (LONG // 2),
    "tabs and one word": "\t" * (LONG - 9) + "assert",
    "assert and spaces": "assert" + " " * (LONG - 9),
    "a word": "a" * LONG,
    "a word and spaces": "a" + " " * (LONG - 1),
    "an annotation": "a:" + ":" * (LONG - 2),
    "async": "async " + " " * (LONG - 6),
    "comments": "#\n" * (LONG // 2),
    "names": "a=1\n" * (LONG // 4),
    "carriage returns": "\r" * LONG,
    "other line ends": "\u2028\x0b\x0c\x1c" * (LONG // 4),
}


@pytest.mark.parametrize("what", some(SOURCES, 3))
@pytest.mark.parametrize("name", ["check_leaky_average", "leaky_average"])
def test_no_source_takes_long(name, what):
    sound(_with(name, SOURCES[what]))


MANY = {
    "empty lists": lambda: b"[" + b"[]," * (MAX_CONTAINERS - 9) + b"[]]",
    "empty cells": lambda: b'{"cells": [' + b"{}," * (MAX_CONTAINERS - 9) + b"{}]}",
    "short texts": lambda: b'{"cells": [' + b'"ab",' * 3_900_000 + b"0]}",
    "numbers": lambda: b'{"cells": [' + b"1.5," * 4_900_000 + b"0]}",
    "one number": lambda: b'{"cells": [' + b"1" * (MAX_BYTES - 50) + b"]}",
    "one long fraction": lambda: b'{"cells": [0.' + b"1" * (MAX_BYTES - 50) + b"]}",
    "a source of lines": lambda: b'{"cells": [{"source": [' + b'"a",' * 4_900_000 + b'"b"]}]}',
    "cells of one name": lambda: (
        b'{"cells": ['
        + b'{"cell_type":"code","source":"leaky_average=1","metadata":{"nbgrader":{"grade_id":"leaky_average"}}},'
        * 190_000
        + b"0]}"
    ),
    "cells without a name": lambda: (
        b'{"cells": [' + b'{"cell_type":"code","source":"leaky_average=1"},' * 400_000 + b"0]}"
    ),
    "old cells": lambda: b'{"nbformat": 3, "worksheets": [{"cells": [' + b'{"cell_type":"code"},' * 490_000 + b"{}]}]}",
    "wide characters": lambda: '{{"cells": [{{"source": "{}"}}]}}'.format("\U0001f600" * 4_900_000).encode(),
}


@pytest.mark.parametrize("what", some(MANY, 2))
def test_no_file_takes_long(what):
    data = MANY[what]()
    assert len(data) <= MAX_BYTES
    sound(data)


WRITTEN = ["<div>\n", "<b>", "[", "> ", "<b>\\begin{a}", "&", "|a", "<b>**", "[a](b)", "`", "<b>$$", "- a\n  "]


@pytest.mark.parametrize("piece", some(WRITTEN, 2))
def test_no_written_answer_takes_long_to_clean(piece):
    given = release("03_cell")
    name = next(c.metadata.nbgrader.grade_id for c in given.cells if _is_written(c))
    intake = sound(_with(name, piece * (500_000 // len(piece)), given), given)
    assert "huge-cell" in [f.code for f in intake.findings]
    with at_most(SECONDS):
        for cell in intake.notebook.cells:
            harmless_markdown(cell.source)


def _is_written(cell):
    return cell.cell_type == "markdown" and cell.metadata.get("nbgrader", {}).get("solution")


CODE = {
    "attributes": "a" + ".a" * 2900,
    "many chains": "\n".join(["np" + ".a" * 2000] * 40),
    "calls": "f(" * 90 + ")" * 90,
    "minus": "-" * 100_000 + "1",
    "not": "not " * 40_000 + "1",
    "lambdas": "lambda: " * 20_000 + "1",
    "subscripts": "a" + "[0]" * 60_000,
    "additions": "1" + "+1" * 90_000,
    "else": "1 if 1 else " * 15_000 + "1",
    "brackets": "[" * 199_000,
    "elifs": "if 1: pass\n" + "elif 1: pass\n" * 14_000 + "else: pass",
    "a tuple": "a = " + "1," * 99_000,
    "assignments": "a = " * 49_000 + "1",
    "decorators": "@a\n" * 60_000 + "def f(): pass",
    "nested functions": "\n".join(" " * i + "def f():" for i in range(99)) + "\n" + " " * 99 + "pass",
    "f-strings": 'f"{' * 60 + "1" + '}"' * 60,
    "null": "a\0b",
    "tabs": "if 1:\n\ta\n        b",
    "imports": "import torch as a0\n" + "\n".join(f"a{i + 1} = a{i}.x" for i in range(3000)),
    "names": "\n".join(f"n{i} = n{i - 1}" for i in range(12_000)),
}


@pytest.mark.parametrize("what", some(CODE, 4))
def test_no_code_takes_long_to_inspect(what):
    source = CODE[what]
    source = source if source.startswith(("if", "import", "@", "a =")) else f"def f(x):\n    return ({source})\n"
    with at_most(SECONDS):
        inspection = inspect({"f": source}, {"f": ("torch.nn.RNN", "a.a", "numpy.a")})
    assert len(inspection.findings) < 100
