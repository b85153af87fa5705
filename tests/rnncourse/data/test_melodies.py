"""The tunes: notes that fill their bars, vectors that can be read back, a sound in which each pitch is heard."""

import io
import wave

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnncourse.data import decode_melody, encode_melody, melodies, pitches, wav

NAMES = ["C4", "D4", "E4"]
notes = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(1, 8).map(lambda k: k / 2)), min_size=1, max_size=9)


def heard(sound):
    with wave.open(io.BytesIO(sound)) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 1)
        return np.frombuffer(file.readframes(file.getnframes()), np.uint8).astype(float) - 128, file.getframerate()


def test_six_tunes_begin_on_six_pitches_and_the_seventh_with_the_note_of_the_first():
    tunes = melodies()
    assert len({tune.notes[0][0] for tune in tunes[:6]}) == 6
    assert tunes[6].notes[0] == tunes[0].notes[0]
    assert tunes[6].notes[1] != tunes[0].notes[1]


@pytest.mark.parametrize(
    ("name", "bar", "upbeat"),
    [
        ("Frère Jacques", 4, 0),
        ("God Rest You Merry", 4, 1),
        ("Korobeiniki", 4, 0),
        ("Tempus adest floridum", 4, 0),
        ("Hänschen klein", 4, 0),
        ("Greensleeves", 3, 1),
        ("Ah ! vous dirai-je, maman", 4, 0),
    ],
)
def test_every_bar_of_a_tune_is_full(name, bar, upbeat):
    durations = [duration for _, duration in dict(melodies())[name]]
    ends = np.cumsum(durations)
    assert upbeat == 0 or upbeat in ends
    # each bar line is the end of a note, and with the upbeat the last bar is complete
    assert all(line in ends for line in np.arange(bar + upbeat, ends[-1], bar))
    assert ends[-1] % bar == 0


def test_pitches_are_sorted_by_height_and_each_is_once_among_them():
    names = pitches(melodies())
    assert len(names) == len(set(names))
    assert names[0] == "G3"
    assert names.index("G#4") == names.index("G4") + 1 == names.index("A4") - 1
    assert names[-1] == "F5"


@given(notes)
def test_vectors_can_be_read_back(melody):
    vectors = encode_melody(melody, NAMES)
    assert vectors.shape == (len(melody), 4)
    assert vectors.dtype == np.float32
    assert decode_melody(vectors, NAMES) == melody
    blurred = vectors + np.linspace(-0.2, 0.2, vectors.size, dtype=np.float32).reshape(vectors.shape)
    assert decode_melody(blurred, NAMES) == melody


def test_a_note_lasts_at_least_an_eighth():
    assert decode_melody(np.array([[1, 0, 0, -3]], dtype=np.float32), NAMES) == [("C4", 0.5)]


@pytest.mark.parametrize(("pitch", "frequency"), [("A4", 440.0), ("C4", 261.63), ("G#4", 415.30), ("A5", 880.0)])
def test_a_note_has_the_frequency_of_its_pitch(pitch, frequency):
    sound, rate = heard(wav([(pitch, 2.0)], seconds=0.5))
    assert len(sound) == rate
    assert np.abs(np.fft.rfft(sound)).argmax() == pytest.approx(frequency, abs=1)  # one second: bins of 1 Hz


@given(notes)
def test_a_melody_lasts_as_long_as_its_notes_and_is_neither_silent_nor_clipped(melody):
    sound, rate = heard(wav(melody, seconds=0.1))
    assert len(sound) / rate == pytest.approx(0.1 * sum(duration for _, duration in melody), abs=1e-3)
    assert np.abs(sound).max() == 120


def test_what_is_no_pitch_and_what_is_no_melody_is_an_error():
    for pitch in ("H4", "C", "", "c4"):
        with pytest.raises(ValueError, match="no pitch"):
            wav([(pitch, 1.0)])
    with pytest.raises(ValueError, match="no notes"):
        wav([])
