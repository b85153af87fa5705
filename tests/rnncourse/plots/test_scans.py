"""The pictures of unit 14: the depth that they show, and that each says what its own data show."""

import numpy as np
import pytest

from rnncourse.plots.scans import (
    depth_chart,
    kernel_chart,
    memory_beside_push,
    newton_chart,
    pairs_chart,
    scan_beside_loop,
)


@pytest.mark.parametrize(("steps", "rows"), [(2, "1 rows"), (7, "3 rows"), (8, "3 rows"), (9, "4 rows")])
def test_the_scan_has_as_many_rows_as_it_takes_doublings(steps, rows):
    words = [text.get_text() for text in scan_beside_loop(steps).axes[0].texts]
    assert words[-1] == rows
    assert f"{steps - 1} rows" in words


def test_a_figure_says_what_its_own_data_show():
    assert "At 8 steps: loop 16; scan 6." in depth_chart([2, 8], {"loop": [4, 16], "scan": [2, 6]}).get_label()
    said = newton_chart({"short": [1.0, 1e-11], "lost": [1.0, np.inf]}).get_label()
    assert "short: 1e-10 after 2 rounds; lost: never" in said
    kept = {"cell": (np.array([2.0, 1.0]), np.array([0.5, 0.25]))}
    assert "cell: memory 2, at the end 1, push 0.5, at the end 0.2" in memory_beside_push(kept).get_label()
    assert "At 4 pairs: linear 0.50; a guess 0.06." in pairs_chart([1, 4], {"linear": [1.0, 0.5]}, 1 / 16).get_label()
    assert "3 changes of sign" in kernel_chart((-0.5) ** np.arange(4)).get_label()
