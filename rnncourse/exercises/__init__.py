"""The catalogue: one file per unit, and how to find an exercise in it by name."""

import difflib
import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from rnncourse.checks.exercise import Exercise, Question, Unit
from rnncourse.checks.packed import text_of

SYLLABUS = (
    "00_welcome",
    "01_ngram",
    "02_unfolding",
    "03_cell",
    "04_bptt",
    "05_gradient_flow",
    "06_language_model",
    "07_torch_rnn",
    "08_stacked",
    "09_bidirectional",
    "10_gates",
    "11_heads",
    "12_encoder_decoder",
    "13_attention",
    "14_scans",
    "15_project",
)
# Those that are written: a unit is in the course as soon as its file lies here.
STEMS = tuple(s for s in SYLLABUS if (Path(__file__).parent / f"{s.partition('_')[2]}.py").exists())

# Of these something is left where there is no torch, as in a browser; the others are all PyTorch.
IN_BROWSER = tuple(s for s in STEMS if s not in ("07_torch_rnn", "11_heads", "15_project"))


def unit(stem: str) -> Unit:
    """The unit of that stem, "03_cell", or number, "03". **Errors:** `KeyError` for any other."""
    for full in STEMS:
        if stem in (full, full.partition("_")[0]):
            module = importlib.import_module(f"rnncourse.exercises.{full.partition('_')[2]}")
            found: Unit = module.unit
            return found
    raise KeyError(f"There is no unit {stem!r}. There are: {', '.join(STEMS)}.")


def units() -> Iterator[Unit]:
    """All units, in order; each is imported when it is its turn."""
    return (unit(stem) for stem in STEMS)


@cache
def _source(stem: str) -> str:
    return text_of(Path(__file__).parent / f"{stem.partition('_')[2]}.py")


def find(name: str) -> Exercise | Question:
    """The exercise of that name. **Errors:** `KeyError`, with the nearest name, if there is none."""
    names = []
    # Files in which the name stands come first, so that no unit is imported in vain: that of 07 takes torch along.
    for stem in sorted(STEMS, key=lambda stem: f'"{name}"' not in _source(stem)):
        for exercise in unit(stem):
            if exercise.name == name:
                return exercise
            names.append(exercise.name)
    near = difflib.get_close_matches(name, names, n=1)
    raise KeyError(f"There is no exercise {name!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
