"""Answers that are texts, lists, sets and dicts: what is missing, too much, or in another order; and for what a search
or a count gets wrong, the smallest input on which it does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rnncourse.checks.cases import canonical, quiet_observe
from rnncourse.checks.compare import difference, show
from rnncourse.checks.exercise import Case, Exercise
from rnncourse.checks.faults import faults_of
from rnncourse.checks.plain import Plain, identical
from rnncourse.checks.where.inquiry import Asked
from rnncourse.checks.where.properties import Ask

Parameters = dict[str, Plain]
LEAST = 2  # cases that bear a relation out
MANY = 6  # that bear out what is soon so by chance: that a number is too large
SECONDS = 0.1  # for making an input smaller

Pair = tuple[list[Any], list[Any]]


def _starts(a: list[Any], b: list[Any]) -> bool:
    return len(a) < len(b) and _same(a, b[: len(a)])


def _same(a: Any, b: Any) -> bool:
    return difference(a, b) is None


def _sorted(items: list[Any]) -> list[Any]:
    return sorted(items, key=repr)


# Each relation of a wrong list to the right one, the plainest first.
LISTS: dict[str, tuple[Callable[[list[Any], list[Any]], bool], str]] = {
    "reversed": (lambda right, own: len(own) > 1 and _same(right[::-1], own), "right, but in reverse"),
    "first missing": (
        lambda right, own: bool(right) and _same(right[1:], own),
        "right, but the first {item} is missing",
    ),
    "last missing": (
        lambda right, own: bool(right) and _same(right[:-1], own),
        "right, but the last {item} is missing",
    ),
    "one more behind": (
        lambda right, own: len(own) == len(right) + 1 and _same(right, own[:-1]),
        "right, but for one {item} too many at its end",
    ),
    "one more before": (
        lambda right, own: len(own) == len(right) + 1 and _same(right, own[1:]),
        "right, but for one {item} too many at its beginning",
    ),
    "last wrong": (
        lambda right, own: len(own) == len(right) > 1 and _same(right[:-1], own[:-1]),
        "right but for its last {item}",
    ),
    "first wrong": (
        lambda right, own: len(own) == len(right) > 1 and _same(right[1:], own[1:]),
        "right but for its first {item}",
    ),
    "too short": (lambda right, own: _starts(own, right), "right as far as it goes, but ends too soon"),
    "too long": (lambda right, own: _starts(right, own), "right at first, but goes on where it should end"),
    "other order": (
        lambda right, own: len(own) == len(right) > 1 and _same(_sorted(right), _sorted(own)),
        "made of the right {item}s, in another order",
    ),
    "first right": (
        lambda right, own: (
            len(own) > 1 and len(right) > 1 and _same(right[0], own[0]) and not _same(right[1:], own[1:])
        ),
        "right in its first {item}, and wrong further on",
    ),
    "empty": (lambda right, own: bool(right) and not own, "empty where it should not be"),
    "twice": (
        lambda right, own: len(own) > len(right) and all(own.count(x) > 1 for x in own),
        "right, but has items twice",
    ),
}
SETS: dict[str, tuple[Callable[[set[Any], set[Any]], bool], str]] = {
    "empty": (lambda right, own: bool(right) and not own, "empty where it should not be"),
    "lacks": (lambda right, own: own < right, "without some that belong there; what is there is right"),
    "extra": (lambda right, own: right < own, "with some that do not belong there; none is missing"),
    "the others": (lambda right, own: bool(own) and not own & right, "made of such alone as do not belong there"),
}
DICTS: dict[str, tuple[Callable[[dict[Any, Any], dict[Any, Any]], bool], str]] = {
    "lacks": (
        lambda right, own: own.keys() < right.keys() and _same({k: right[k] for k in own}, own),
        "right in what is there, but lacks some keys",
    ),
    "extra": (
        lambda right, own: own.keys() > right.keys() and _same(right, {k: own[k] for k in right}),
        "right for all keys that belong there, but has others too",
    ),
    "keys": (
        lambda right, own: not own.keys() & right.keys() and len(own) == len(right),
        "of the right length, but none of its keys is right",
    ),
}
NUMBERS: dict[str, tuple[Callable[[float, float], bool], str]] = {
    "too large": (lambda right, own: own > right, "too large wherever it is wrong, in all cases that were tried"),
    "too small": (lambda right, own: own < right, "too small wherever it is wrong, in all cases that were tried"),
}
KINDS: dict[str, dict[str, tuple[Callable[[Any, Any], bool], str]]] = {
    "list": LISTS,
    "text": {name: one for name, one in LISTS.items() if name != "first right"},
    "set": SETS,
    "dict": DICTS,
    "number": NUMBERS,
}


def _parts(exercise: Exercise, one: Asked) -> Iterator[tuple[str, str, Any, Any]]:
    """The parts of an answer that are no arrays: the name, the kind, the right one, the own."""
    if one.wanted.error or one.seen.error or one.seen.refused or one.seen.timed_out:
        return
    right, own = canonical(exercise, one.wanted.answer), canonical(exercise, one.seen.answer)
    if len(exercise.gives) == 1:
        right, own = (right,), (own,)
    if not (isinstance(right, tuple) and isinstance(own, (tuple, list)) and len(own) == len(right)):
        return
    if len(right) != len(exercise.gives):
        return
    for axes, a, b in zip(exercise.gives, right, own, strict=True):
        if isinstance(a, str) and isinstance(b, str):
            yield axes.name, "text", list(a), list(b)
        elif isinstance(a, (list, np.ndarray)) and isinstance(b, (list, tuple, np.ndarray)) and _is_a_list(a):
            yield axes.name, "list", list(a), list(b)
        elif isinstance(a, set) and isinstance(b, set):
            yield axes.name, "set", a, b
        elif isinstance(a, dict) and isinstance(b, dict):
            yield axes.name, "dict", a, b
        elif _is_number(a) and _is_number(b):
            yield axes.name, "number", a, b


def _is_a_list(value: Any) -> bool:
    return isinstance(value, list) or (value.ndim == 1 and value.dtype.kind in "iu")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _pairs(exercise: Exercise, asked: Sequence[Asked], name: str) -> list[tuple[str, Any, Any]] | None:
    """The wrong ones of a part, with the right ones; None if an answer does not have it."""
    found = []
    for one in asked:
        if one.wanted.error and not one.is_wrong:
            continue
        parts = [part for part in _parts(exercise, one) if part[0] == name]
        if not parts:
            return None
        found += [(kind, a, b) for _, kind, a, b in parts if not _same(a, b)]
    return found


def found(exercise: Exercise, asked: Sequence[Asked]) -> Iterator[Parameters]:
    """How the wrong lists, sets, dicts and numbers stand to the right ones."""
    for name in dict.fromkeys(part[0] for one in asked if one.is_wrong for part in _parts(exercise, one)):
        pairs = _pairs(exercise, asked, name)
        if not pairs or len({kind for kind, _, _ in pairs}) > 1:
            continue
        kind = pairs[0][0]
        least = MANY if kind == "number" else LEAST
        for relation, (holds_, _) in KINDS[kind].items():
            if len(pairs) >= least and _all(holds_, pairs):
                yield {"part": name, "of": kind, "relation": relation}
                break


def _all(is_so: Callable[[Any, Any], bool], pairs: list[tuple[str, Any, Any]]) -> bool:
    try:
        return all(is_so(a, b) for _, a, b in pairs)
    except (TypeError, ValueError):  # what cannot be compared
        return False


def holds(exercise: Exercise, parameters: Parameters, asked: Sequence[Asked]) -> bool:
    """Whether it is so in other cases too."""
    pairs = _pairs(exercise, asked, parameters["part"])
    return pairs is not None and _all(KINDS[parameters["of"]][parameters["relation"]][0], pairs)


def words(parameters: Parameters) -> str:
    """The relation as a student reads it."""
    text = KINDS[parameters["of"]][parameters["relation"]][1]
    said = text.format(item="character" if parameters["of"] == "text" else "item")
    if parameters["of"] == "number":
        return f"{parameters['part']} is {said}."
    return f"Wherever {parameters['part']} is wrong, it is {said}."


# --- the smallest failing input


def smallest(exercise: Exercise, asked: Sequence[Asked], ask: Ask) -> Iterator[Parameters]:
    """The smallest input that was found on which the answer is wrong: items are taken away from the lists and texts of
    a case as long as it stays wrong. Only where the arguments are such, and small, can anybody read it.
    """
    wrong = [one for one in asked if one.is_wrong and not one.wanted.error and not one.seen.timed_out]
    if not wrong or not _can_shrink(exercise, asked):
        return
    until = time.monotonic() + SECONDS
    start = min(wrong, key=lambda one: _length(one.case))
    best = start.case
    smaller = True
    while smaller and time.monotonic() < until:
        smaller = False
        for case in _shorter(best, _together(asked)):
            if time.monotonic() > until:
                break
            if _fails(exercise, case, ask):
                best, smaller = case, True
                break
    if _length(best) < _length(start.case) or _length(best) <= 4:
        wanted = canonical(exercise, quiet_observe(exercise.reference, exercise.drive, best.args).answer)
        seen = ask(best)
        if not seen.error and not seen.refused and all(len(show(v)) <= 60 for v in (*best.args, wanted)):
            got = canonical(exercise, seen.answer)
            if got is not None and show(wanted) != show(got) and len(show(got)) <= 60:
                yield {"arguments": list(best.args), "expected": wanted, "got": got}


def _can_shrink(exercise: Exercise, asked: Sequence[Asked]) -> bool:
    """Whether the arguments are texts, lists of texts or whole numbers, and plain numbers."""
    if exercise.drive != "call" or not any(_is_row(a) for one in asked for a in one.case.args):
        return False
    return all(isinstance(a, (int, str, dict)) or _is_row(a) for one in asked for a in one.case.args)


def _is_row(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in "iu"
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(v, (str, int)) for v in value))


def _length(case: Case) -> int:
    return sum(len(a) for a in case.args if _is_row(a))


def _together(asked: Sequence[Asked]) -> bool:
    """Whether all lists of a case have one length, in every case: they go item by item."""
    rows = [[len(a) for a in one.case.args if _is_row(a)] for one in asked]
    return all(len(set(row)) <= 1 for row in rows)


def _shorter(case: Case, together: bool) -> Iterator[Case]:
    """The case with a half, then with single items taken away."""
    rows = [i for i, a in enumerate(case.args) if _is_row(a)]
    for group in [rows] if together else [[i] for i in rows]:
        n = len(case.args[group[0]])
        cuts = [(0, n // 2), (n // 2, n)] if n > 3 else []
        for start, stop in [*cuts, *((i, i + 1) for i in range(n))]:
            args = list(case.args)
            for i in group:
                args[i] = _without(args[i], start, stop)
            yield replace(case, args=tuple(args), note="", is_edge=False)


def _without(value: Any, start: int, stop: int) -> Any:
    if isinstance(value, np.ndarray):
        return np.delete(value, slice(start, stop))
    return value[:start] + value[stop:]


def _fails(exercise: Exercise, case: Case, ask: Ask) -> bool:
    wanted = quiet_observe(exercise.reference, exercise.drive, case.args)
    if wanted.error or wanted.refused:
        return False
    seen = ask(case)
    return not seen.error and not seen.timed_out and bool(faults_of(exercise, case, wanted, seen))


def smallest_holds(exercise: Exercise, parameters: Parameters, asked: Sequence[Asked], ask: Ask) -> bool:
    """Whether the answer still gives that, which is wrong."""
    case = Case(tuple(parameters["arguments"]))
    return _fails(exercise, case, ask) and identical(canonical(exercise, ask(case).answer), parameters["got"])


def smallest_words(exercise: Exercise, parameters: Parameters) -> str:
    """The input and what comes of it, as a student reads it."""
    given = ", ".join(show(value) for value in parameters["arguments"])
    asked, came = show(parameters["expected"]), show(parameters["got"])
    return f"A small case: {exercise.name}({given}) should be {asked}; yours is {came}."
