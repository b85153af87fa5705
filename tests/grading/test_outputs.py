"""What is kept of a submission's outputs is bounded, whatever the room says."""

import nbformat
from hypothesis import given
from hypothesis import strategies as st

from rnngrade.grading.outputs import CELLS, LEFT_OUT, MOST_LINES, MOST_OUTPUTS, Outputs
from rnngrade.sandbox.limits import Limits
from tests.fuzz.strategies import fuzzed, texts

LIMITS = Limits(output=1000, images=500)
anything = st.recursive(
    st.none() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
kinds = st.sampled_from(["stream", "error", "display_data", "execute_result", "update_display_data"])
outputs = st.lists(
    anything
    | st.fixed_dictionaries(
        {"output_type": kinds},
        optional={
            "name": st.sampled_from(["stdout", "stderr", "x"]) | anything,
            "text": anything,
            "ename": texts,
            "evalue": texts,
            "traceback": st.lists(texts | anything, max_size=3),
            "data": st.dictionaries(st.sampled_from(["text/plain", "text/html", "image/png", "x"]), anything),
        },
    ),
    max_size=5,
)


def size(cells):
    return sum(len(str(list(output.values()))) for cell in cells for output in cell)


@fuzzed(200)
@given(st.lists(outputs, max_size=4))
def test_whatever_comes_is_left_out_or_a_cell_s_outputs_which_can_be_entered_and_written(cells):
    kept = Outputs(LIMITS)
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=kept.kept(cell)) for cell in cells])
    nbformat.validate(made)
    nbformat.writes(made).encode("utf-8", "replace")
    for output in (output for cell in made.cells for output in cell.outputs):
        assert {*output.get("data", {})} <= {"text/plain", "image/png"}


def test_a_cell_shows_no_more_than_it_may():
    (stream,) = Outputs(LIMITS).kept([{"output_type": "stream", "name": "stdout", "text": "x" * 5000}])
    assert stream.text == "x" * 1000 + LEFT_OUT
    many = [{"output_type": "stream", "name": "stdout", "text": "x"}] * 5000
    assert len(Outputs(LIMITS).kept(many)) == MOST_OUTPUTS
    picture = {"output_type": "display_data", "data": {"image/png": "x" * 300}}
    assert len(Outputs(LIMITS).kept([picture, picture])) == 1
    error = {"output_type": "error", "ename": "E" * 9999, "evalue": "e" * 9999, "traceback": ["t" * 9999] * 9999}
    (kept,) = Outputs(LIMITS).kept([error])
    assert len(kept.traceback) <= MOST_LINES
    assert size([[kept]]) < 5000


def test_all_cells_show_no_more_than_some_may():
    kept = Outputs(LIMITS)
    for output, most in (
        ({"output_type": "stream", "name": "stdout", "text": "x" * 1000}, CELLS * LIMITS.output),
        ({"output_type": "display_data", "data": {"image/png": "x" * 500}}, CELLS * LIMITS.images),
    ):
        cells = [kept.kept([output]) for _ in range(5 * CELLS)]
        assert 0.9 * most < size(cells) < 1.5 * most


def test_what_is_within_the_limits_stays_as_it_is():
    (stream,) = Outputs(LIMITS).kept([{"output_type": "stream", "name": "stderr", "text": "é" * 1000 + LEFT_OUT}])
    assert stream.text == "é" * 1000 + LEFT_OUT


def test_of_an_output_only_text_and_pictures_stay():
    data = {
        "text/plain": "<Figure>",
        "image/png": "iVBORw0KGgo=\n",
        "image/jpeg": 'x" onerror="steal()',
        "image/svg+xml": "<svg onload='steal()'/>",
        "text/html": "<script>steal()</script>",
        "application/javascript": "steal()",
    }
    given = {"output_type": "execute_result", "data": data, "metadata": {"image/png": {"width": '1" onload="steal()'}}}
    (output,) = Outputs(LIMITS).kept([given, {"output_type": "display_data", "data": {"text/html": "<b>"}}])
    assert output.data == {"text/plain": "<Figure>", "image/png": "iVBORw0KGgo=\n"}
    assert output.metadata == {}
