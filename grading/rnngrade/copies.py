"""Copies: which two students' answers to a unit have more in common than chance and the exercise explain.

Each answer is brought into a normal form (`normalised.py`), in which names, the order of independent statements,
swapped operands, dead lines and comments are gone. Fingerprints are taken of that by winnowing: of each few tokens in a
row a hash, and of each few hashes in a row the smallest. So any stretch of K + WINDOW - 1 tokens that two answers share
leaves a fingerprint in both, wherever it stands (Schleimer, Wilkerson, Aiken: Winnowing, SIGMOD 2003).

Not all that is shared says something. Fingerprints of what the course itself has shown (given code, model answers,
known mistakes) are left out, and one counts the less, the more of the class have it: log2(class / how many), its bits.
In one exercise a pair is as telling as what both have is rare: log2 of the class over how many have all of it, times
the square of the share of their answers that is alike. That is at most the bits of one in the class, however long the
answer: evidence comes only from many exercises, in which the same two are alike again and again.

What comes of it is a list for a person, with the lines that match. It changes no mark.

Time and memory grow with the length of what was handed in, since only those are compared whom chance brings together
the more often, the more alike they are (`_candidates`).
"""

from __future__ import annotations

import hashlib
import math
import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rnngrade.normalised import Tokens, tokens

K = 5  # tokens that make a fingerprint
WINDOW = 3  # fingerprints in a row, of which one is kept
LONGEST = 20_000  # characters of an answer: what is longer is not compared
ENOUGH = 8  # students: among fewer nothing can be called rare
MARGIN = 10  # bits beyond what the closest of all pairs have by chance: habits run through all that one writes
FEWEST = 3  # exercises in which a pair has to be alike
TREES = 24
FEW = 8  # students who are all compared with each other
MANY = 100  # students of one group, at most, who are: where so many are the same, it is nobody's own
ALIKE = 0.5  # the share of two answers that is the same, below which they are not alike


@dataclass(frozen=True)
class Line:
    """A line of an answer, and whether it is one of those that match."""

    text: str
    matches: bool


@dataclass(frozen=True)
class Match:
    """An exercise in which two students are alike: how much of it (0 to 1), how telling that is in bits, both texts."""

    exercise: str
    alike: float
    bits: float
    first: tuple[Line, ...]
    second: tuple[Line, ...]


@dataclass(frozen=True)
class Pair:
    """Two students, and where they are alike, the most telling exercise first. `bits`: how rare that is in all, one for
    each halving, as if what one writes in one exercise said nothing of how one writes in another.
    """

    first: str
    second: str
    bits: float
    matches: tuple[Match, ...]

    @property
    def students(self) -> tuple[str, str]:
        """Both, in order."""
        return self.first, self.second


@dataclass(frozen=True)
class _Print:
    """The fingerprints of an answer, each with its lines."""

    lines: Mapping[int, frozenset[int]]
    source: str

    def marked(self, shared: Collection[int]) -> tuple[Line, ...]:
        """The lines of the answer, those marked that have one of these fingerprints."""
        matching = {line for f in shared for line in self.lines[f]}
        return tuple(Line(text, at in matching) for at, text in enumerate(self.source.split("\n"), start=1))


def find_copies(answers: Mapping[str, Mapping[str, str]], common: Iterable[tuple[str, str]] = ()) -> list[Pair]:
    """The pairs of a class that a person should look at, the most telling first.

    `answers` has for each student the source of each exercise. `common` are sources that everybody knows, each with the
    exercise that it answers, or "". What cannot be read as Python, or is too long, is not compared.
    """
    if len(answers) < ENOUGH:
        return []
    students = sorted(answers)
    known = {f for exercise, source in common for f in _hashes(_read(source, exercise))}
    exercises = [
        _Exercise(name, [_fingerprints(answers[s].get(name, ""), name, known) for s in students])
        for name in sorted({name for given in answers.values() for name in given})
    ]
    least = needed(len(students))
    pairs = []
    for first, second in sorted(_candidates(exercises, len(students))):
        found = [(e, *e.compared(first, second)) for e in exercises]
        telling = [(e, alike, bits) for e, alike, bits in found if bits]
        if sum(bits for *_, bits in telling) >= least and len(telling) >= FEWEST:
            telling.sort(key=lambda one: (-one[2], one[0].name))
            matches = tuple(Match(e.name, alike, bits, *e.side_by_side(first, second)) for e, alike, bits in telling)
            pairs.append(Pair(students[first], students[second], sum(m.bits for m in matches), matches))
    return sorted(pairs, key=lambda p: (-p.bits, p.students))


def needed(size: int) -> float:
    """The bits from which a pair is shown: with one bit for each time that the pairs of the class can be halved, the
    closest of them is expected, and MARGIN comes on top of that.

    >>> round(needed(200), 1), round(needed(1000), 1)
    (24.3, 28.9)
    """
    return math.log2(size * (size - 1) / 2) + MARGIN


class _Exercise:
    """The answers of a class to one exercise; students are numbers here."""

    def __init__(self, name: str, prints: list[_Print]) -> None:
        self.name = name
        self.prints = prints
        self.having: dict[int, set[int]] = defaultdict(set)
        for student, found in enumerate(prints):
            for f in found.lines:
                self.having[f].add(student)
        self.bits = {f: math.log2(len(prints) / len(students)) for f, students in self.having.items()}
        self.weights = [sum(self.bits[f] for f in found.lines) for found in prints]
        self._seen: dict[frozenset[int], float] = {}

    def compared(self, first: int, second: int) -> tuple[float, float]:
        """How much of two answers is alike, and how telling that is, in bits."""
        shared = self.prints[first].lines.keys() & self.prints[second].lines.keys()
        if not shared:
            return 0.0, 0.0
        alike = 2 * sum(self.bits[f] for f in shared) / (self.weights[first] + self.weights[second] or 1)
        return (alike, alike**2 * self.rarity(frozenset(shared))) if alike >= ALIKE else (alike, 0.0)

    def rarity(self, shared: frozenset[int]) -> float:
        """The bits of some fingerprints together: log2 of the class over how many have all of them."""
        if shared not in self._seen:
            having = sorted((self.having[f] for f in shared), key=len)
            self._seen[shared] = math.log2(len(self.prints) / len(set.intersection(*having)))
        return self._seen[shared]

    def side_by_side(self, first: int, second: int) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
        """Both answers, with the lines marked that match."""
        one, other = self.prints[first], self.prints[second]
        shared = one.lines.keys() & other.lines.keys()
        return one.marked(shared), other.marked(shared)


def _candidates(exercises: list[_Exercise], size: int) -> set[tuple[int, int]]:
    """The pairs that are worth a comparison: a number that grows with the class, not with its square.

    TREES times, each answer is given one of its fingerprints, drawn so that two answers have it the more often in
    common the more alike they are (min-hashing), and the class is divided by these, exercise after exercise in random
    order, until no more than FEW are together. Who copied half of the exercises stays with their source now and then.
    """
    rng = random.Random(size)
    found: set[tuple[int, int]] = set()
    for _ in range(TREES):
        mask = rng.getrandbits(61)
        signs = [[min((f ^ mask for f in p.lines), default=None) for p in e.prints] for e in exercises]
        rng.shuffle(signs)
        groups = [(list(range(size)), 0)]
        while groups:
            students, depth = groups.pop()
            if len(students) > FEW and depth < len(signs):
                parts: dict[int, list[int]] = defaultdict(list)
                for s in students:
                    if (sign := signs[depth][s]) is not None:
                        parts[sign].append(s)
                # who has nothing of their own here may be with anybody
                groups += [(part, depth + 1) for part in parts.values()]
                groups.append(([s for s in students if signs[depth][s] is None], depth + 1))
                continue
            for i, first in enumerate(students[:MANY]):
                for second in students[i + 1 : MANY]:
                    same = sum(sign[first] is not None and sign[first] == sign[second] for sign in signs)
                    if same >= FEWEST - 1:
                        found.add((first, second))
    return found


# --- fingerprints


def _fingerprints(source: str, exercise: str, known: set[int]) -> _Print:
    """Those of an answer, but for what is known."""
    found = _read(source, exercise)
    lines: dict[int, set[int]] = defaultdict(set)
    for at in winnowed(hashes := _hashes(found)):
        if hashes[at] not in known:
            lines[hashes[at]].update(line for _, line in found[at : at + K])
    return _Print({f: frozenset(at) for f, at in lines.items()}, source)


def winnowed(hashes: list[int]) -> list[int]:
    """The places of the hashes that are kept: of each WINDOW in a row the smallest, of equal ones the last.

    >>> winnowed([9, 1, 8, 7, 6, 5])
    [1, 4, 5]
    """
    kept: list[int] = []
    for start in range(max(1, len(hashes) - WINDOW + 1) if hashes else 0):
        window = range(start, min(start + WINDOW, len(hashes)))
        at = min(window, key=lambda i: (hashes[i], -i))
        if not kept or kept[-1] != at:
            kept.append(at)
    return kept


def _read(source: str, exercise: str) -> Tokens:
    if len(source) > LONGEST:
        return []
    try:
        return tokens(source, exercise)
    except (SyntaxError, ValueError, RecursionError):
        return []


def _hashes(found: Tokens) -> list[int]:
    """One for each K tokens in a row; for an answer that has fewer, one for all."""
    values = [_value(token) for token, _ in found]
    if not values:
        return []
    return [hash(tuple(values[i : i + K])) for i in range(max(1, len(values) - K + 1))]


@lru_cache(100_000)
def _value(token: str) -> int:
    """A number for a token that is the same in each process, as Python's own hash of a text is not."""
    return int.from_bytes(hashlib.blake2b(token.encode("utf-8", "replace"), digest_size=7).digest(), "big")
