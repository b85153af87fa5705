"""The pictures of unit 14: the depth that they show."""

import pytest

from rnncourse.plots.scans import scan_beside_loop


@pytest.mark.parametrize(("steps", "rows"), [(2, "1 rows"), (7, "3 rows"), (8, "3 rows"), (9, "4 rows")])
def test_the_scan_has_as_many_rows_as_it_takes_doublings(steps, rows):
    words = [text.get_text() for text in scan_beside_loop(steps).axes[0].texts]
    assert words[-1] == rows
    assert f"{steps - 1} rows" in words
