"""Seven old tunes as notes, the arrays that a network reads, and a sound that needs nothing but NumPy.

A note is a pitch and a duration, ("C4", 1.0): pitches as in "C4" (middle C), "A#4", "G5", durations in quarter notes.
Six of the tunes begin on six different pitches. The seventh begins as the first does, with a C for one quarter: from
its first note alone nobody can tell which of the two is meant.

Sources: all are traditional and older than any copyright, written down here in keys that share their pitches. Frère
Jacques (France, 18th century), God Rest You Merry, Gentlemen (England, 18th), Korobeiniki (Russia, 19th), Tempus adest
floridum (Piae Cantiones, 1582), Hänschen klein (Germany, 19th, on an older tune), Greensleeves (England, about 1580),
Ah ! vous dirai-je, maman (France, 18th).
"""

import io
import wave
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32

Note = tuple[str, float]

_SEMITONES = {"C": 0, "C#": 1, "D": 2, "D#": 3, "E": 4, "F": 5, "F#": 6, "G": 7, "G#": 8, "A": 9, "A#": 10, "B": 11}
_WRITTEN = {
    "Frère Jacques": """
        C4 D4 E4 C4   C4 D4 E4 C4   E4 F4 G4:2   E4 F4 G4:2
        G4:.5 A4:.5 G4:.5 F4:.5 E4 C4   G4:.5 A4:.5 G4:.5 F4:.5 E4 C4   C4 G3 C4:2   C4 G3 C4:2""",
    "God Rest You Merry": """
        D4   D4 A4 A4 G4   F4 E4 D4 C4   D4 E4 F4 G4   A4:3   D4   D4 A4 A4 G4   F4 E4 D4 C4   D4 E4 F4 G4   A4:3""",
    "Korobeiniki": """
        E5 B4:.5 C5:.5 D5 C5:.5 B4:.5   A4 A4:.5 C5:.5 E5 D5:.5 C5:.5   B4:1.5 C5:.5 D5 E5   C5 A4 A4:2""",
    "Tempus adest floridum": """
        F4 F4 F4 G4   F4 F4 C4:2   D4 C4 D4 E4   F4:2 F4:2   F4 F4 F4 G4   F4 F4 C4:2   D4 C4 D4 E4   F4:2 F4:2""",
    "Hänschen klein": """
        G4 E4 E4:2   F4 D4 D4:2   C4 D4 E4 F4   G4 G4 G4:2   G4 E4 E4:2   F4 D4 D4:2   C4 E4 G4 G4   C4:4""",
    "Greensleeves": """
        A4 C5:2 D5   E5:1.5 F5:.5 E5   D5:2 B4   G4:1.5 A4:.5 B4   C5:2 A4   A4:1.5 G#4:.5 A4   B4:2 G#4   E4:2""",
    "Ah ! vous dirai-je, maman": """
        C4 C4 G4 G4   A4 A4 G4:2   F4 F4 E4 E4   D4 D4 C4:2
        G4 G4 F4 F4   E4 E4 D4:2   G4 G4 F4 F4   E4 E4 D4:2""",
}


class Tune(NamedTuple):
    """A tune's name and its notes, each a pitch and a duration in quarter notes."""

    name: str
    notes: tuple[Note, ...]


def melodies() -> list[Tune]:
    """The seven tunes; the first and the last begin with the same note.

    >>> [f"{tune.name}: {tune.notes[0][0]}, {len(tune.notes)} notes" for tune in melodies()][:2]
    ['Frère Jacques: C4, 32 notes', 'God Rest You Merry: D4, 28 notes']
    """
    return [Tune(name, tuple(_note(word) for word in text.split())) for name, text in _WRITTEN.items()]


def pitches(tunes: Sequence[Tune]) -> list[str]:
    """All pitches of some tunes, from low to high.

    >>> pitches(melodies()[4:5])
    ['C4', 'D4', 'E4', 'F4', 'G4']
    """
    return sorted({pitch for tune in tunes for pitch, _ in tune.notes}, key=_midi)


def encode_melody(notes: Sequence[Note], names: Sequence[str]) -> Float32[np.ndarray, "T P+1"]:
    """Turn T notes into vectors: for each of the P pitches in `names` a 0 or a 1, then the duration.

    >>> encode_melody([("E4", 1.0), ("C4", 2.0)], ["C4", "D4", "E4"])
    array([[0., 0., 1., 1.],
           [1., 0., 0., 2.]], dtype=float32)
    """
    vectors = np.zeros((len(notes), len(names) + 1), dtype=np.float32)
    for vector, (pitch, duration) in zip(vectors, notes, strict=True):
        vector[[*names].index(pitch)] = 1
        vector[-1] = duration
    return vectors


def decode_melody(vectors: Float32[np.ndarray, "T P+1"], names: Sequence[str]) -> list[Note]:
    """Read vectors as notes: the pitch whose entry is largest, the duration to the nearest half, at least a half.

    >>> decode_melody(np.array([[0.1, 0.2, 0.9, 1.1]], dtype=np.float32), ["C4", "D4", "E4"])
    [('E4', 1.0)]
    """
    chosen = np.argmax(vectors[:, :-1], axis=1)
    durations = np.maximum(np.round(2 * vectors[:, -1].astype(np.float64)) / 2, 0.5)
    return [(names[k], float(duration)) for k, duration in zip(chosen, durations, strict=True)]


def wav(notes: Sequence[Note], *, seconds: float = 0.3, rate: int = 8000) -> bytes:
    """Render notes as a sound file: WAV, one channel of 8 bits, `rate` samples a second.

    seconds: how long a quarter note is. Each note is struck like a string: its first four harmonics, fading. A
    ValueError for no notes.

    >>> len(wav([("A4", 1.0), ("E4", 2.0)]))
    7244
    """
    if not notes:
        raise ValueError("There are no notes to be heard.")
    sound = np.concatenate([_struck(_midi(pitch), duration * seconds, rate) for pitch, duration in notes])
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(1)
        out.setframerate(rate)
        out.writeframes(np.round(128 + 120 * sound / np.abs(sound).max()).astype(np.uint8).tobytes())
    return file.getvalue()


def _note(word: str) -> Note:
    """Read "C4", a quarter, or "C4:.5", an eighth."""
    pitch, _, duration = word.partition(":")
    return pitch, float(duration or 1)


def _midi(pitch: str) -> int:
    """The number of a pitch in semitones, 60 for C4. A ValueError for what is none."""
    letter, octave = pitch[:-1], pitch[-1:]
    if letter not in _SEMITONES or not octave.isdigit():
        raise ValueError(f'"{pitch}" is no pitch: write it like "C4" or "F#5".')
    return 12 * (int(octave) + 1) + _SEMITONES[letter]


def _struck(midi: int, seconds: float, rate: int) -> np.ndarray:
    """One note, which begins and ends without a click."""
    time = np.arange(round(seconds * rate)) / rate
    frequency = 440 * 2 ** ((midi - 69) / 12)  # A4 has 440 oscillations a second, and an octave doubles them
    tone = sum(np.sin(2 * np.pi * k * frequency * time) / k**2 for k in range(1, 5))
    envelope = np.exp(-4 * time) * np.minimum(1, time / 0.005) * np.minimum(1, (seconds - time) / 0.02)
    return np.asarray(tone * envelope)
