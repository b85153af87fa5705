"""Answers to exercises as text, one below the other. The tests have a shelf of them, a file for each unit, by which the
checks are proved (`tests/answers/`); of these the package has a few right ones (`exercises/others/`), of which students
are shown one, and a wrong answer borrows (`where/borrowing.py`).

>>> (first,) = parse('''
... === rnn_step wrong: The bias counts twice.
... +++ plus b
... def rnn_step(x, h_prev, U, W, b):
...     return np.tanh(x @ U + b + h_prev @ W + b)
... ''')
>>> first.exercise, first.kind, first.what, first.says
('rnn_step', 'wrong', 'The bias counts twice.', ('plus b',))

An answer begins with a line that says to which exercise it is one, its kind, and how it is written or what the slip is:
`right`; `wrong`; or `once`, which is wrong too, and was full marks once. Below a wrong one's head may stand what must
be said of it, `+++`, what must not be said, since it is not so, `!!!`, and the line that must be named, `@@@`.

It is written as in a notebook, under the exercise's name. It may use what the notebook has at that point and, without
an import, what `IMPORTS` has; functions of its own stand above or below it.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rnncourse.checks.edits import compiled, needed
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.packed import text_of

OTHERS = Path(__file__).parents[1] / "exercises" / "others"
KINDS = ("right", "wrong", "once")
IMPORTS = """\
import bisect
import collections
import copy
import functools
import heapq
import io
import itertools
import math
import operator
import random
import statistics
from bisect import insort
from collections import Counter
from collections import OrderedDict
from collections import defaultdict
from collections import deque
from collections import namedtuple
from functools import lru_cache
from functools import partial
from functools import reduce
from itertools import accumulate
from itertools import chain
from itertools import pairwise
from itertools import product
from statistics import mean
from statistics import stdev
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.nn.utils.rnn import PackedSequence
from torch.nn.utils.rnn import pack_padded_sequence
from torch.nn.utils.rnn import pad_packed_sequence
from torch.nn.utils.rnn import pad_sequence
"""  # a name on each line, its last word
_HEAD = re.compile(r"=== (\w+) (\w+): (.+)")
_NOTE = re.compile(r"(\+\+\+|!!!|@@@) (.+)")


class ShelfError(ValueError):
    """A line that is no part of an answer: a sentence, and where the line stands."""

    def __init__(self, words: str, line: int) -> None:
        super().__init__(words)
        self.line = line


@dataclass(frozen=True)
class Answer:
    """An answer to an exercise. `line` is where its head stands; `lines` those of its own text that must be named."""

    exercise: str
    kind: str
    what: str
    text: str
    says: tuple[str, ...]
    never: tuple[str, ...]
    lines: tuple[int, ...]
    line: int

    def __str__(self) -> str:
        return f"=== {self.name}\n{self.text}"

    @property
    def imports(self) -> str:
        """What of `IMPORTS` it uses."""
        names = [node for node in ast.walk(ast.parse(self.text)) if isinstance(node, ast.Name)]
        used = {name.id for name in names} - {name.id for name in names if isinstance(name.ctx, ast.Store)}
        return "\n".join(line for line in IMPORTS.splitlines() if line.split()[-1] in used)

    @property
    def name(self) -> str:
        """What stands for it where some of many are drawn."""
        return f"{self.exercise} {self.kind}: {self.what}"

    def made(self, exercise: Exercise) -> Any:
        """The function or class, as from a cell of its own."""
        file = f"<{self.name}>"
        return compiled(self.text, self.exercise, self.space(exercise, file), file)

    def space(self, exercise: Exercise, file: str) -> dict[str, Any]:
        """The names that it may use; the other exercises of its unit are right, and the notebook's own."""
        space = exercise.namespace(self.text, file)  # itself, since what the notebook has there looks names up in it
        unit = (one for one in exercise.unit if isinstance(one, Exercise))
        texts = [one.above + one.source for one in unit if one is not exercise and one.name not in space]
        exec(needed("\n".join(texts), self.text), space)
        exec(self.imports, space)
        return space


def parse(text: str) -> Iterator[Answer]:
    """The answers of a text. **Errors:** `ShelfError` for the first line that is no part of one."""
    lines = text.splitlines()
    heads = [n for n, line in enumerate(lines) if line.startswith("===")]
    for start, stop in zip(heads, [*heads[1:], len(lines)], strict=True):
        head = _HEAD.fullmatch(lines[start])
        if not head or head[2] not in KINDS:
            kinds = ", ".join(KINDS)
            raise ShelfError(f"`{lines[start]}` should be === exercise kind: words, its kind one of {kinds}", start + 1)
        notes: dict[str, list[str]] = {"+++": [], "!!!": [], "@@@": []}
        first = start + 1
        while first < stop and (note := _NOTE.fullmatch(lines[first])):
            notes[note[1]].append(note[2])
            first += 1
        says, never, named = notes.values()
        body = "\n".join(lines[first:stop]).strip("\n") + "\n"
        lines_named = tuple(map(int, named))
        yield Answer(head[1], head[2], head[3], body, tuple(says), tuple(never), lines_named, start + 1)


def read(path: Path) -> list[Answer]:
    """The answers that stand in a file, packed or not: none, where there is no file. **Errors:** `ShelfError`."""
    try:
        return list(parse(text_of(path)))
    except FileNotFoundError:
        return []


@cache
def others(stem: str) -> list[Answer]:
    """Right answers to the exercises of a unit that are built otherwise than the model answer."""
    return read(OTHERS / f"{stem.partition('_')[2]}.txt")
