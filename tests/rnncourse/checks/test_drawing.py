"""Standard cases: what an exercise takes says how they are drawn."""

from pathlib import Path

import numpy as np
import pytest
from torch import nn

from rnncourse import exercises
from rnncourse.checks.drawing import Axes, Drawer
from rnncourse.checks.edits import EditError
from rnncourse.checks.exercise import Exercise, Unit, normal
from rnncourse.checks.parameters import embedding, linear, recurrent

FORWARD = Axes.parse("X (T, N, D), h0 (N, H), U (D, 4H), W (H, D+H), b (H,)")


def standard(takes=FORWARD, draw=None, without=(), **sizes):
    return list(Drawer.of(draw, takes, without, sizes).cases(np.random.default_rng(3)))


def test_sizes_differ_and_an_axis_of_one_is_an_edge():
    first, second, *edges = standard()
    assert [a.shape for a in first.args] == [(5, 3, 4), (3, 2), (4, 8), (2, 6), (2,)]
    assert [a.shape for a in second.args] == [(7, 2, 3), (2, 6), (3, 24), (6, 9), (6,)]
    assert [e.note for e in edges] == ["one step", "one row", "one unit", "float32", "all sizes alike"]
    assert [e.args[0].shape for e in edges] == [(1, 3, 2), (4, 1, 2), (4, 3, 2), (4, 3, 2), (4, 4, 4)]
    assert {a.dtype for a in edges[-2].args} == {np.dtype(np.float32)}


def test_an_axis_that_has_no_size_of_its_own_gets_one_that_is_free():
    (first, *_) = standard(Axes.parse("x (N, D), W (D, G), v (G, K)"))
    assert [a.shape for a in first.args] == [(3, 4), (4, 2), (2, 5)]


def test_a_function_names_the_axes_whose_sizes_it_wants():
    def draw(rng, T, k, dtype=np.float64, factory=float):
        return normal(rng, T, dtype=dtype), factory(k)

    cases = standard(draw=draw, without=["float32"], k=(3, 2, 9))
    wanted = [("", 5, 3.0), ("", 7, 2.0), ("one step", 1, 9.0), ("all sizes alike", 4, 4.0)]
    assert [(c.note, len(c.args[0]), c.args[1]) for c in cases] == wanted


def test_what_is_no_array_cannot_be_drawn_by_itself():
    with pytest.raises(ValueError, match="keep is no array"):
        standard(Axes.parse("x (N,), keep"))


def test_a_mistake_knows_the_line_at_which_it_is_written():
    for unit in exercises.units():
        for exercise in unit:
            for mistake in exercise.misconceptions:
                file, _, line = mistake.at.partition(":")
                assert file == f"rnncourse/exercises/{unit.stem.partition('_')[2]}.py"
                if isinstance(exercise, Exercise):
                    text = (Path(exercises.__file__).parents[2] / file).read_text().splitlines()
                    assert text[int(line) - 1].startswith((f"{mistake.name}: ", f"{mistake.name} = ", "@"))


def test_a_text_that_holds_no_mistakes_says_where_it_stands():
    exercise = Unit("99_example", "An example").exercise("f", reference=abs, points=1, hints=())
    with pytest.raises(EditError, match=r"f: The line .*test_drawing\.py:\d+"):
        exercise.mistakes("- return")


def test_parameters_have_the_names_and_shapes_that_pytorch_gives_them():
    rng = np.random.default_rng(0)
    layers = {
        nn.RNN(3, 4): recurrent(rng, "", 3, 4),
        nn.GRU(3, 4, bidirectional=True): recurrent(rng, "", 3, 4, gates=3, ways=2),
        nn.LSTM(3, 4, 3, bidirectional=True): recurrent(rng, "", 3, 4, gates=4, layers=3, ways=2),
        nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 2)): embedding(rng, "0", 5, 3) | linear(rng, "1", 3, 2),
    }
    for layer, drawn in layers.items():
        assert {n: tuple(p.shape) for n, p in layer.named_parameters()} == {n: a.shape for n, a in drawn.items()}
