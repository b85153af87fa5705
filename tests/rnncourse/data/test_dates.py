"""Dates in eleven languages: read back without Babel, held out by their day, encoded and decoded."""

import unicodedata
from collections import Counter
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncourse.data import (
    BOS,
    DATE_LANGUAGES,
    EOS,
    ISO_VOCABULARY,
    PAD,
    date_vocabulary,
    encode_dates,
    is_held_out,
    written_as,
    written_dates,
)

days = st.dates(date(1950, 1, 1), date(2049, 12, 31))
languages = st.sampled_from(DATE_LANGUAGES)
A_LEAP_YEAR = [date(2000, 1, 1) + timedelta(days=n) for n in range(366)]


def test_a_text_has_one_reading_whatever_the_language():
    # Each text has its whole year in it, so that one year with all its days is enough.
    readings = {}
    for day in A_LEAP_YEAR:
        for language in DATE_LANGUAGES:
            for written in written_as(day, language):
                readings.setdefault(written.text, set()).add(written.iso)
    assert [text for text, isos in readings.items() if len(isos) > 1] == []


def test_texts_are_composed_and_have_no_blank_but_the_ordinary_one():
    characters = date_vocabulary()[3:]
    assert list(characters) == sorted(set(characters))
    assert all(unicodedata.normalize("NFC", character) == character for character in characters)
    assert [character for character in characters if character.isspace()] == [" "]


def test_no_held_out_day_is_ever_trained_on():
    training = written_dates(np.random.default_rng(0), 4000)
    held_out = written_dates(np.random.default_rng(0), 4000, held_out=True)
    assert not any(is_held_out(date.fromisoformat(written.iso)) for written in training)
    assert all(is_held_out(date.fromisoformat(written.iso)) for written in held_out)
    assert not {written.text for written in training} & {written.text for written in held_out}


def test_one_day_in_ten_is_held_out_in_every_month_of_the_year():
    every = [date(1950, 1, 1) + timedelta(days=n) for n in range(36525)]
    assert every[-1] == date(2049, 12, 31)
    shares = [np.mean([is_held_out(day) for day in every if day.month == month]) for month in range(1, 13)]
    assert 0.08 < min(shares) <= max(shares) < 0.12


def test_languages_and_days_are_drawn_evenly_and_the_same_again_from_the_same_seed():
    drawn = written_dates(np.random.default_rng(1), 6000)
    counts = Counter(written.language for written in drawn)
    assert set(counts) == set(DATE_LANGUAGES)
    assert 0.8 < min(counts.values()) / (6000 / len(DATE_LANGUAGES)) <= max(counts.values()) / (6000 / 11) < 1.2
    assert Counter(written.iso[:2] for written in drawn)["19"] / 6000 == pytest.approx(0.5, abs=0.05)
    assert written_dates(np.random.default_rng(1), 6000) == drawn
    assert written_dates(np.random.default_rng(2), 6000) != drawn
    assert written_dates(np.random.default_rng(1), 0) == []


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_encoded_dates_can_be_read_back_and_are_padded_at_the_end(seed, count):
    dates = written_dates(np.random.default_rng(seed), count)
    source, lengths, targets = encode_dates(dates)
    assert source.dtype == lengths.dtype == targets.dtype == np.int64
    assert source.shape == (max(len(written.text) for written in dates), count)
    for n, written in enumerate(dates):
        assert "".join(date_vocabulary()[i] for i in source[: lengths[n], n]) == written.text
        assert (source[lengths[n] :, n] == PAD).all()
        assert "".join(ISO_VOCABULARY[i] for i in targets[:-1, n]) == written.iso
    assert (targets[-1] == EOS).all()


def test_the_marks_have_the_same_ids_in_both_vocabularies():
    for vocabulary in (date_vocabulary(), ISO_VOCABULARY):
        assert (vocabulary[PAD], vocabulary[BOS], vocabulary[EOS]) == ("<pad>", "<bos>", "<eos>")
        assert len(set(vocabulary)) == len(vocabulary)


def test_an_unknown_language_or_no_date_gets_one_clear_sentence():
    with pytest.raises(ValueError, match="'xx' is none of them"):
        written_as(date(2000, 1, 1), "xx")
    with pytest.raises(ValueError, match="no date"):
        encode_dates([])
