"""What is shipped is what the libraries have from which it was made, and is used without them."""

from __future__ import annotations

import json
from datetime import date, timedelta

import pytest
from babel.dates import format_date

from rnncourse.data import DATE_LANGUAGES, written_as
from rnncourse.data.shipped import __main__ as shipped
from tests.fresh import in_a_fresh_python


def test_the_names_and_patterns_of_dates_are_those_of_the_library():
    stored = json.loads((shipped.FOLDER / "dates.json").read_text(encoding="utf-8"))
    assert stored == shipped.ways_to_write_dates()


@pytest.mark.parametrize("language", DATE_LANGUAGES)
def test_a_date_is_written_as_the_library_writes_it(language):
    patterns = shipped.ways_to_write_dates()[language]["patterns"]
    for n in range(366):
        day = date(2000, 1, 1) + timedelta(days=n)
        theirs = dict.fromkeys(format_date(day, pattern, language) for pattern in patterns)
        assert [written.text for written in written_as(day, language)] == list(theirs)


def test_neither_library_is_needed_to_use_them():
    in_a_fresh_python(
        "import sys\n"
        "sys.modules.update(dict.fromkeys(['sklearn', 'scipy', 'babel']))  # an import of any of them now fails\n"
        "import numpy as np\n"
        "from rnncourse.data import digits, written_dates\n"
        "digits(), written_dates(np.random.default_rng(0), 100)\n"
    )


def test_whose_they_are_and_under_which_licence_stands_beside_them():
    said = (shipped.FOLDER / "README.md").read_text(encoding="utf-8")
    for file in (file for file in shipped.FOLDER.iterdir() if file.suffix in (".npz", ".json", ".txt")):
        assert file.name in said
    assert "CC BY 4.0" in said
    assert (shipped.FOLDER / "LICENSE-UNICODE.txt").read_text(encoding="utf-8").startswith("UNICODE LICENSE V3\n")
