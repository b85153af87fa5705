"""What is shipped is what the libraries have from which it was made, and is used without them."""

import json
from datetime import date, timedelta

import pytest
from babel.dates import format_date

from rnncourse.data import DATE_LANGUAGES, written_as
from rnncourse.data.shipped import __main__ as shipped


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


def test_whose_they_are_and_under_which_licence_stands_beside_them():
    said = (shipped.FOLDER / "README.md").read_text(encoding="utf-8")
    for file in (file for file in shipped.FOLDER.iterdir() if file.suffix in (".npz", ".json", ".txt")):
        assert file.name in said
    assert "CC BY 4.0" in said
    assert (shipped.FOLDER / "LICENSE-UNICODE.txt").read_text(encoding="utf-8").startswith("UNICODE LICENSE V3\n")
