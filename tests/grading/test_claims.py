"""The table of claims: read off what ran, never off what should have."""

import json

import nbformat
import pytest
from nbformat import v4

from rnngrade.claims import EXPECTATIONS, FILE, Expectation, as_json, claims_of, main, plain, table
from rnngrade.unit import BuildError
from tests.conftest import ROOT


def experiment(source, shows="text", **more):
    outputs = [v4.new_output("stream", text=shows)] if shows else []
    return v4.new_code_cell(source, outputs=outputs, metadata={"tags": ["experiment"], **more})


def unit(*cells):
    return v4.new_notebook(cells=list(cells))


CLAIM = v4.new_markdown_cell("### Experiment · it falls\n\nLook. **Claim:** it *falls*\nfor $T$ steps.\n\nWhy?")


def test_a_claim_counts_what_is_asserted_below_it_up_to_the_next_section():
    found = claims_of(
        unit(
            CLAIM,
            experiment("x = 1", shows=""),
            v4.new_markdown_cell("And so on."),
            experiment("for i in range(3):\n    assert i < 3\nassert True"),
            v4.new_markdown_cell("## Next"),
            experiment("assert 1"),
        ),
        "03_cell",
    )
    assert found["claims"] == [{"claim": "It falls for $T$ steps.", "assertions": 2, "borne_out": "yes"}]
    assert (found["experiments"], found["assertions"], found["title"]) == (2, 3, "The recurrent cell")


@pytest.mark.parametrize(
    "cells",
    [
        [experiment("print(1)")],
        [experiment("assert True", shows="")],
        [v4.new_markdown_cell("## Next"), experiment("assert True")],
        [v4.new_code_cell("assert True", outputs=[v4.new_output("stream", text="ran")])],
    ],
    ids=["nothing asserted", "nothing shown", "in another section", "no experiment"],
)
def test_a_claim_that_nothing_bears_out_is_an_error(cells):
    with pytest.raises(BuildError, match="It falls"):
        claims_of(unit(CLAIM, *cells), "03_cell")


def test_a_cell_that_failed_is_an_error():
    failed = experiment("assert False", shows="")
    failed.outputs = [v4.new_output("error", ename="AssertionError", evalue="", traceback=[])]
    with pytest.raises(BuildError, match="failed"):
        claims_of(unit(failed), "03_cell")


def test_without_marked_claims_the_sections_stand_for_them():
    found = claims_of(
        unit(
            v4.new_markdown_cell("## 1 · A *ceiling*"),
            experiment("assert 1"),
            v4.new_markdown_cell("### Exercise 9.1 · `f`"),
            experiment("assert 1"),
            v4.new_markdown_cell("## 2 · Nothing\n\n### Experiment · Two chains"),
            experiment("assert 1"),
            v4.new_markdown_cell("## Something to show to somebody"),
            experiment("assert 1"),
        ),
        "09_bidirectional",
    )
    rows = [(row["claim"], row["assertions"]) for row in found["claims"]]
    assert rows == [("What is asserted under “A ceiling”.", 2), ("What is asserted under “Two chains”.", 1)]
    assert found["assertions"] == 4


def test_what_was_not_borne_out_is_said_in_the_notebooks_own_words():
    expected = Expectation("08_stacked", "Depth pays.", "in part", "depth does not pay")
    notebook = unit(v4.new_markdown_cell("Here depth does\n*not* pay."), experiment("assert 1"))
    row = claims_of(notebook, "08_stacked", [expected])["claims"][-1]
    assert (row["claim"], row["borne_out"], row["found"]) == ("Depth pays.", "in part", "depth does not pay")
    assert not claims_of(notebook, "03_cell", [expected])["claims"]
    with pytest.raises(BuildError, match="any more"):
        claims_of(unit(v4.new_markdown_cell("Depth pays.")), "08_stacked", [expected])


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("**The *best* one**, by", "The best one, by"),
        ("`a*b*c` and $x*y*z$", "`a*b*c` and $x*y*z$"),
        ("2 * 3", "2 * 3"),
    ],
)
def test_marks_of_emphasis_go_and_stars_of_formulas_stay(markdown, words):
    assert plain(markdown) == words


def test_the_file_is_in_step_with_the_built_notebooks():
    assert (ROOT / FILE).read_text(encoding="utf-8") == as_json(table(ROOT)), "python -m rnngrade.claims"


def test_unit_13_shows_the_table_that_is_in_the_file():
    notebook = nbformat.read(ROOT / "solutions" / "13_beyond" / "13_beyond.ipynb", 4)
    shown = "".join(o.get("data", {}).get("text/plain", "") for c in notebook.cells for o in c.get("outputs", []))
    for found in json.loads((ROOT / FILE).read_text(encoding="utf-8")):
        assert all(row["claim"] in shown for row in found["claims"]), "python -m rnngrade.build --force 13_beyond"


def test_every_verdict_is_one_of_three():
    assert {e.borne_out for e in EXPECTATIONS} <= {"in part", "no"}
    assert {row["borne_out"] for found in table(ROOT) for row in found["claims"]} <= {"yes", "in part", "no"}


def test_the_command_writes_the_file_and_says_what_is_wrong(tmp_path, capsys):
    folder = tmp_path / "solutions" / "03_cell"
    folder.mkdir(parents=True)
    (tmp_path / FILE).parent.mkdir(parents=True)
    (tmp_path / "solutions" / "03_cell.py").write_text("")
    nbformat.write(unit(CLAIM, experiment("assert 1")), folder / "03_cell.ipynb")
    assert main(["--root", str(tmp_path)]) == 0
    assert json.loads((tmp_path / FILE).read_text(encoding="utf-8"))[0]["stem"] == "03_cell"
    nbformat.write(unit(CLAIM), folder / "03_cell.ipynb")
    assert main(["--root", str(tmp_path)]) == 1
    assert "03_cell" in capsys.readouterr().err
