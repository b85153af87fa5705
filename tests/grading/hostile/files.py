"""Files that are no notebooks, or notebooks of another kind."""

import json
from typing import Any

from tests.grading.hostile.making import (
    FULL,
    LOST_STEP,
    NOTHING,
    RIGHT_STEP,
    Hostile,
    after,
    answer,
    file,
    rewritten,
    right,
    solved,
    step,
)


def _ten_thousand(data: dict[str, Any]) -> None:
    own: dict[str, Any] = {"cell_type": "code", "metadata": {}, "source": "0", "outputs": [], "execution_count": None}
    data["cells"] += [own] * (10_000 - len(data["cells"]))


def _without_ids(data: dict[str, Any]) -> None:
    data["nbformat_minor"] = 0
    for cell in data["cells"]:
        cell.pop("id", None)


def _odd_json(data: dict[str, Any]) -> str:
    text = json.dumps(data)
    return '{"cells": [], "odd": [NaN, -Infinity, 1e999, ' + "9" * 10_000 + '], "metadata": 7, ' + text[1:]


def _odd_cells(data: dict[str, Any]) -> None:
    data["cells"][3:3] = [None, 7, "cell", [], {}, {"cell_type": "code"}, {"cell_type": 3, "source": {"a": [1]}}]
    for cell in data["cells"][12:]:
        cell["outputs"] = "none"
        cell.get("metadata", {}).update(tags=7, collapsed={})


def _lines(data: dict[str, Any], end: str = "\n") -> None:
    for cell in data["cells"]:
        cell["source"] = [line + end for line in cell["source"].split("\n")]
        cell["source"][-1] = cell["source"][-1].removesuffix(end)


FILES = [
    Hostile("empty_file", "is empty", file(b""), NOTHING, flagged=True, finding="empty-file"),
    Hostile(
        "no_json", "is a script", file(b"def rnn_step(x):\n    return x\n"), NOTHING, flagged=True, finding="no-json"
    ),
    Hostile("binary", "is a picture", file(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 99), NOTHING, True, "no-json"),
    Hostile("zipped", "is an archive", file(b"PK\x03\x04" + bytes(10_000)), NOTHING, flagged=True, finding="no-json"),
    Hostile("no_notebook", "is JSON, and no notebook", file(b'[{"cells": {}}]'), NOTHING, True, "no-notebook"),
    Hostile(
        "cut_off",
        "breaks off in the middle",
        lambda release, solutions: json.dumps(solved(release, solutions)).encode()[:-3000],
        NOTHING,
        flagged=True,
        finding="no-json",
    ),
    Hostile("deep_json", "is nested a million deep", file(b"[" * 10**6), NOTHING, flagged=True, finding="too-deep"),
    Hostile(
        "many_brackets",
        "has millions of empty lists",
        file(b'{"cells": [' + b"[]," * 2_000_000 + b"[]]}"),
        NOTHING,
        flagged=True,
        finding="too-complex",
    ),
    Hostile("fifty_megabytes", "has 50 MB", file(b'{"cells": []}' + b" " * 50_000_000), NOTHING, True, "too-large"),
    Hostile(
        "ten_thousand_cells",
        "has ten thousand cells, the right answers among them",
        rewritten(_ten_thousand),
        FULL,
        flagged=True,
        finding="too-many-cells",
    ),
    Hostile(
        "huge_cell",
        "has an answer of two million letters",
        right(answer("rnn_step", "#" * 2_000_000)),
        LOST_STEP,
        flagged=True,
        finding="huge-cell",
    ),
    Hostile("version_4_0", "is of nbformat 4.0, without ids", rewritten(_without_ids), FULL),
    Hostile(
        "version_5", "is of a version to come", rewritten(lambda data: data.update(nbformat=5)), FULL, False, "format"
    ),
    Hostile("odd_json", "has nan, huge numbers and one name twice", rewritten(_odd_json), FULL),
    Hostile("odd_cells", "has things for cells that are none", rewritten(_odd_cells), FULL, finding="odd-cell"),
    Hostile("lists_of_lines", "keeps its sources as lists of lines", rewritten(_lines), FULL),
    Hostile("crlf", "has the line ends of Windows", rewritten(lambda data: _lines(data, "\r\n")), FULL),
    Hostile("byte_order_mark", "begins with a byte order mark", rewritten(lambda data: None, "utf-8-sig"), FULL),
    Hostile("utf_16", "is in UTF-16", rewritten(lambda data: None, "utf-16"), FULL),
    Hostile(
        "half_a_character",
        "has half of an emoji in a comment",
        right(step(f"# \ud83d\n{RIGHT_STEP}")),
        FULL,
    ),
    Hostile(
        "another_kernel",
        "says that it is for R",
        rewritten(
            lambda data: data["metadata"].update(
                kernelspec={"name": "ir", "display_name": "R", "language": "R"}, language_info={"name": "R"}
            )
        ),
        FULL,
    ),
    Hostile(
        "r_code",
        "has a cell in another language",
        right(after("setup", "library(ggplot2)\nx <- c(1, 2, 3)\nif (x[1] == 1) { print('R') }")),
        FULL,
        finding="syntax-error",
    ),
]
