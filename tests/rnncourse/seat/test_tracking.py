"""The progress bar of long loops."""

import nbformat
from nbclient import NotebookClient

from rnncourse import track
from rnncourse.seat.tracking import _NotebookBar


def test_it_yields_what_it_is_given_in_a_terminal(capsys):
    bar = track(iter("abc"), "reading", total=3)
    assert list(bar) == ["a", "b", "c"]
    assert "Error" not in capsys.readouterr().err


def test_in_a_notebook_it_is_gone_when_the_loop_is_done():
    source = 'from rnncourse import track\nbar = track(range(50), "counting")\nfor i in bar:\n    bar.say(f"at {i}")'
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    NotebookClient(notebook, kernel_name="python3").execute()
    (output,) = notebook.cells[0].outputs
    assert output["data"] == {"text/plain": "counting", "text/html": ""}


def test_its_label_cannot_break_out_of_the_page():
    assert "<b>" not in _NotebookBar(track([], '<b>"x'))._data(0)["text/html"]
