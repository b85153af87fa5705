"""Copies: whose answers to a unit have more in common than chance and the exercises explain.

Each answer is brought into a normal form (`normalised.py`), in which names, the order of independent statements,
swapped operands, dead lines and comments are gone. Fingerprints are taken of that by winnowing: of each few tokens in a
row a hash, and of each few hashes in a row the smallest. So any stretch of K + WINDOW - 1 tokens that two answers share
leaves a fingerprint in both, wherever it stands (Schleimer, Wilkerson, Aiken: Winnowing, SIGMOD 2003).

Not all that is shared says something. Fingerprints of what the course itself has shown (given code, model answers,
known mistakes) are left out. The rest is weighed against the class: if two answers to an exercise are ALIKE, that is
worth log2 of the class over how many have all of what the two share, its bits: one for each halving. An answer, however
long, is worth no more than the bits of one in the class, so evidence comes only from many exercises in which the same
two are alike again and again. The bits of all exercises are added, DIFFERS are taken off for each in which both have
something of their own and are not alike, and who is left with more than the closest of all pairs would have by chance
is shown. The same is done for a student with two others, who may have merged the work of both.

That students have habits, which run through all that they write, this does not know: SURE is there for it, and was set
on made-up classes with habits (`python -m benchmarks copies`). What comes of it is a list for a person, with the lines
that match. It changes no mark.

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

from rnngrade.reading.normalised import Tokens, tokens

K = 5  # tokens that make a fingerprint
WINDOW = 3  # fingerprints in a row, of which one is kept
LONGEST = 20_000  # characters of an answer: what is longer is not compared
ENOUGH = 8  # students: among fewer nothing can be called rare
FEWEST = 3  # exercises in which two students have to be alike, or two others have to be alike with one
ALIKE = 0.7  # the share of two answers that is the same, below which they are not alike
DIFFERS = 8  # bits that an exercise takes off in which they are not
MOST_OFF = 10  # bits that are taken off of a pair: who copied a half need not be alike in the other
SURE = {1: 3, 2: 8}  # bits beyond chance that are wanted, for one other and for two
EITHER = 4  # bits beyond chance that each of two others has to bring alone
TREES = 24
FEW = 8  # students who are all compared with each other
MANY = 100  # students of one group, at most, who are: where so many are the same, it is nobody's own
CLOSE = 8, 40  # the closest to a student, of whom each is tried as one of two, with each of these


@dataclass(frozen=True)
class Line:
    """A line of an answer, and whether it is one of those that match."""

    text: str
    matches: bool


@dataclass(frozen=True)
class Match:
    """An exercise in which a student is alike with another: how much of it is (0 to 1), how telling that is in bits,
    and the texts of both.
    """

    exercise: str
    other: str
    alike: float
    bits: float
    first: tuple[Line, ...]
    second: tuple[Line, ...]


@dataclass(frozen=True)
class Copy:
    """A student and one or two others, and where they are alike, the most telling exercise first. `bits` is what is
    left in all. Who copied from whom it does not say.
    """

    student: str
    others: tuple[str, ...]
    bits: float
    matches: tuple[Match, ...]

    @property
    def pairs(self) -> set[frozenset[str]]:
        """The student with each of the others."""
        return {frozenset({self.student, other}) for other in self.others}


@dataclass(frozen=True)
class _Print:
    """The fingerprints of an answer, each with its lines."""

    lines: Mapping[int, frozenset[int]]
    source: str

    def marked(self, shared: Collection[int]) -> tuple[Line, ...]:
        """The lines of the answer, those marked that have one of these fingerprints."""
        matching = {line for f in shared for line in self.lines[f]}
        return tuple(Line(text, at in matching) for at, text in enumerate(self.source.split("\n"), start=1))


def find_copies(answers: Mapping[str, Mapping[str, str]], common: Iterable[tuple[str, str]] = ()) -> list[Copy]:
    """Those of a class at whose work a person should look, the most telling first.

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
    compared = _Class(exercises, len(students))
    copies: list[Copy] = []
    explained: set[frozenset[str]] = set()
    for bits, student, others in sorted(compared.two_others(), reverse=True) + sorted(
        compared.one_other(), reverse=True
    ):
        copy = _shown(bits, student, others, exercises, students)
        if explained.isdisjoint(copy.pairs):
            # Whose work went into a merged copy is alike with the copy, and not with somebody else as well.
            explained |= copy.pairs
            copies.append(copy)
    return sorted(copies, key=lambda c: (-c.bits, c.student))


def _shown(bits: float, student: int, others: tuple[int, ...], exercises: list[_Exercise], students: list[str]) -> Copy:
    """What is found, with names and texts."""
    matches = []
    for exercise in exercises:
        compared = {o: exercise.compared(student, o) for o in others}
        other = max(others, key=lambda o: compared[o])
        if compared[other][1]:
            sides = exercise.side_by_side(student, other)
            matches.append(Match(exercise.name, students[other], *compared[other], *sides))
    matches.sort(key=lambda m: (-m.bits, m.exercise))
    return Copy(students[student], tuple(students[o] for o in others), bits, tuple(matches))


def needed(size: int, others: int = 1) -> float:
    """The bits from which a student is shown with one other, or with two: as many as the closest in the class can be
    expected to have, one for each time that all the ways to choose them can be halved, and SURE beyond that.

    >>> round(needed(200), 1), round(needed(200, 2), 1), round(needed(1000), 1)
    (17.3, 29.9, 21.9)
    """
    ways = size * (size - 1) / 2 if others == 1 else size * (size - 1) * (size - 2) / 2
    return math.log2(ways) + SURE[others]


class _Class:
    """Who is alike with whom, and in which exercises; students are numbers here."""

    def __init__(self, exercises: list[_Exercise], size: int) -> None:
        self.size = size
        self.own = [sum(bool(e.prints[s].lines) for e in exercises) for s in range(size)]
        self.near: list[dict[int, dict[str, float]]] = [{} for _ in range(size)]  # bits by student and exercise
        for first, second in _candidates(exercises, size):
            bits = {e.name: e.compared(first, second)[1] for e in exercises}
            telling = {name: b for name, b in bits.items() if b}
            if len(telling) >= FEWEST - 1:
                self.near[first][second] = self.near[second][first] = telling

    def one_other(self) -> list[tuple[float, int, tuple[int, ...]]]:
        """The pairs that are to be shown."""
        found: list[tuple[float, int, tuple[int, ...]]] = []
        for first, others in enumerate(self.near):
            for second, telling in others.items():
                differ = min(self.own[first], self.own[second]) - len(telling)
                bits = sum(telling.values()) - min(MOST_OFF, DIFFERS * differ)
                if first < second and len(telling) >= FEWEST and bits >= needed(self.size):
                    found.append((bits, first, (second,)))
        return found

    def two_others(self) -> list[tuple[float, int, tuple[int, ...]]]:
        """The students who are to be shown with two others, those who explain the most of their work."""
        found: list[tuple[float, int, tuple[int, ...]]] = []
        few, more = CLOSE
        for student, others in enumerate(self.near):
            close = sorted(others, key=lambda o: -sum(others[o].values()))[:more]
            best: tuple[float, int, tuple[int, ...]] = (0.0, student, ())
            for i, one in enumerate(close[:few]):
                for other in close[i + 1 :]:
                    first, second = others[one], others[other]
                    # Either must bring more than somebody in the class has by chance, or the second is an innocent.
                    if min(_beyond(first, second), _beyond(second, first)) < math.log2(self.size) + EITHER:
                        continue
                    telling = {name: max(first.get(name, 0), second.get(name, 0)) for name in first | second}
                    bits = sum(telling.values()) - DIFFERS * (self.own[student] - len(telling))
                    best = max(best, (bits, student, (one, other)))
            if best[0] >= needed(self.size, 2):
                found.append(best)
        return found


def _beyond(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """The bits that one has in exercises in which the other has none, FEWEST - 1 at least."""
    bits = [b for name, b in one.items() if name not in other]
    return sum(bits) if len(bits) >= FEWEST - 1 else 0.0


class _Exercise:
    """The answers of a class to one exercise."""

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
        return (alike, alike**4 * self.rarity(frozenset(shared))) if alike >= ALIKE else (alike, 0.0)

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


@lru_cache(1_000)  # what many have written alike is read once
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
