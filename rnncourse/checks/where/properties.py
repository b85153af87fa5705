"""Which cases fail: "every case with N = 1, and no other", "all but those without a mask".

One property at most, and one that means something: what a case's note says, a size of 1, an argument that is not given,
a mask that hides nothing. With the answer at hand to be asked, a case can also be changed: "right when h0 is zero".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import replace
from typing import Any

import numpy as np

from rnncourse.checks import generic
from rnncourse.checks.cases import canonical, quiet_observe
from rnncourse.checks.drive import Observation
from rnncourse.checks.exercise import Case, Exercise
from rnncourse.checks.faults import faults_of
from rnncourse.checks.plain import Plain, arrays_in
from rnncourse.checks.where.inquiry import Asked

Key = list[Any]
Ask = Callable[[Case], Observation]

LEAST = 2  # cases with a property, and without it, unless it is the case's own note
FEW = 4  # cases without the note at least
MANY = 9  # as many of them must fail where the answers are whole numbers or words, which are soon right by chance


def has(key: Key, exercise: Exercise, one: Asked) -> bool | None:
    """Whether a case has the property; None where the question makes no sense."""
    kind = key[0]
    if kind == "note":
        return one.case.note in key[1:] if one.case.note else False
    if kind == "float32":
        return any(a.dtype == np.float32 for a in arrays_in(one.case.args))
    if kind == "raises":
        return bool(one.wanted.error)
    if kind == "answer is":
        return _is_it(key[1], canonical(exercise, one.wanted.answer))
    named = {axes.name: value for axes, value in zip(exercise.takes, one.case.args, strict=False)}
    if kind == "size":
        return _sizes(exercise, one.case).get(key[1]) == key[2] if key[1] in _sizes(exercise, one.case) else None
    if key[1] not in named and kind != "size":
        return False if kind == "given" else None
    value = named.get(key[1])
    if kind == "given":
        return value is not None
    if kind == "is":
        return type(value) is type(key[2]) and value == key[2]
    if kind == "empty":
        if isinstance(value, np.ndarray):
            return value.size == 0
        return len(value) == 0 if isinstance(value, (str, list)) else None
    if kind == "all ones":
        return isinstance(value, np.ndarray) and bool(np.all(value == 1))
    if kind == "all zeros":
        return isinstance(value, np.ndarray) and not value.any()
    if kind == "axes":
        return isinstance(value, np.ndarray) and value.ndim == key[2]
    if kind == "at least":
        size = _sizes(exercise, one.case).get(key[2])
        return None if size is None or not isinstance(value, int) else value >= size
    return None


def _is_it(which: str, answer: Plain) -> bool:
    if which == "empty":
        return answer.size == 0 if isinstance(answer, np.ndarray) else isinstance(answer, Sized) and len(answer) == 0
    if which == "0":
        return isinstance(answer, (int, float)) and not isinstance(answer, bool) and answer == 0
    return False


def _sizes(exercise: Exercise, case: Case) -> dict[str, int]:
    found: dict[str, int] = {}
    for axes, value in zip(exercise.takes, case.args, strict=False):
        if axes.axes and isinstance(value, np.ndarray) and value.ndim == len(axes.axes):
            for letter, n in zip(axes.axes, value.shape, strict=True):
                if letter.isalpha():
                    found.setdefault(letter, n)
    return found


def _keys(exercise: Exercise, asked: Sequence[Asked]) -> Iterator[Key]:
    """The properties that cases of an exercise may have, the note first."""
    notes = [one.case.note for one in asked if one.case.note]
    wrong = [one.case.note for one in asked if one.is_wrong and one.case.note]
    right = [one.case.note for one in asked if not one.is_wrong and one.case.note]
    for these in (wrong, right):
        names = list(dict.fromkeys(these))
        if 1 <= len(names) <= 2 and len(names) < len(set(notes)):
            yield ["note", *names]
    letters = {letter for one in asked for letter in _sizes(exercise, one.case)}
    yield from (["size", letter, 1] for letter in sorted(letters))
    for i, axes in enumerate(exercise.takes):
        values = [one.case.args[i] for one in asked if i < len(one.case.args)]
        yield ["given", axes.name]
        plain = {v for v in values if isinstance(v, (str, bool)) or (isinstance(v, (int, float)) and v in (0, 1))}
        if all(isinstance(v, (str, bool, int, float)) for v in values):
            yield from (["is", axes.name, v] for v in sorted(plain, key=repr))
        yield ["empty", axes.name]
        if axes.name == "mask":
            yield ["all ones", axes.name]
        if any(isinstance(v, np.ndarray) and v.dtype.kind == "f" for v in values):
            yield ["all zeros", axes.name]
        yield from (["axes", axes.name, n] for n in sorted({v.ndim for v in values if isinstance(v, np.ndarray)}))
        if all(isinstance(v, int) and not isinstance(v, bool) for v in values):
            yield from (["at least", axes.name, letter] for letter in sorted(letters) if letter == "T")
    yield ["float32"]
    yield ["raises"]
    yield from (["answer is", which] for which in ("empty", "0"))


def is_so(key: Key, fails: bool, exercise: Exercise, asked: Sequence[Asked]) -> bool:
    """Whether just the cases with this property fail; or, unless `fails`, just those without it."""
    return all((has(key, exercise, one) is True) == (one.is_wrong == fails) for one in asked)


def found(exercise: Exercise, asked: Sequence[Asked]) -> Iterator[dict[str, Plain]]:
    """The first property that tells the cases that fail from those that pass."""
    if all(one.is_wrong for one in asked) or not any(one.is_wrong for one in asked):
        return
    for key in _keys(exercise, asked):
        for fails in (True, False):
            if not is_so(key, fails, exercise, asked):
                continue
            own = sum(has(key, exercise, one) is True for one in asked)
            other = len(asked) - own
            needed = FEW if key[0] == "note" else LEAST
            if not fails and not _is_continuous(asked):
                needed = MANY
            if own >= (1 if key[0] == "note" else LEAST) and other >= needed:
                yield {"property": key, "fails": fails}
                return


def _is_continuous(asked: Sequence[Asked]) -> bool:
    """Whether the answers are made of fractions."""
    return any(a.dtype.kind == "f" for one in asked for a in arrays_in(one.wanted.answer)) or any(
        isinstance(one.wanted.answer, float) for one in asked
    )


def holds(exercise: Exercise, parameters: dict[str, Plain], asked: Sequence[Asked]) -> bool:
    """Whether it is so in other cases too. If it is the property that comes out right, the others need not all fail:
    some answers are right by chance.
    """
    key = parameters["property"]
    if parameters["fails"]:
        return is_so(key, True, exercise, asked)
    return not any(one.is_wrong and has(key, exercise, one) for one in asked)


def words(parameters: dict[str, Plain]) -> str:
    """The property as a student reads it."""
    key, fails = parameters["property"], parameters["fails"]
    if key[0] == "note":
        notes = " and ".join(f"“{note}”" for note in key[1:])
        if len(key) > 2:
            return (
                f"Only the cases {notes} fail; all others pass."
                if fails
                else f"The cases {notes} come out right each time; others do not."
            )
        return (
            f"Only the case {notes} fails; all others pass."
            if fails
            else f"The case {notes} comes out right each time; others do not."
        )
    such = _such(key)
    return f"All cases {such} fail; all others pass." if fails else f"All cases {such} come out right; others do not."


def _such(key: Key) -> str:
    """The property in words: "with N = 1"."""
    if key[0] == "size":
        return f"with {key[1]} = {key[2]}"
    if key[0] == "is":
        return f"with {key[1]} = {key[2]!r}"
    if key[0] == "axes":
        return f"in which {key[1]} has {key[2]} {'axis' if key[2] == 1 else 'axes'}"
    if key[0] == "at least":
        return f"in which {key[1]} is at least {key[2]}"
    if key[0] == "answer is":
        return f"whose answer should be {key[1]}"
    if len(key) == 1:
        return {
            "float32": "in float32",
            "raises": "in which an error should be raised",
        }[key[0]]
    what = {"given": "is given", "empty": "is empty", "all ones": "is 1 everywhere", "all zeros": "is 0 everywhere"}
    return f"in which {key[1]} {what[key[0]]}"


# --- changed cases


def _changed(key: Key, exercise: Exercise, case: Case) -> Case | None:
    """The case with an argument set to zero, or cut to one row or step; None where there is nothing to change."""
    kind, name = key
    args = list(case.args)
    changed = False
    for i, (axes, value) in enumerate(zip(exercise.takes, args, strict=False)):
        if not isinstance(value, np.ndarray):
            continue
        if kind == "zero" and axes.name == name and value.dtype.kind == "f" and value.any():
            args[i], changed = np.zeros_like(value), True
        if kind == "one" and axes.axes and name in axes.axes and value.ndim == len(axes.axes):
            args[i] = np.take(value, [0], axis=axes.axes.index(name))
            changed = changed or value.shape[axes.axes.index(name)] > 1
    return replace(case, args=tuple(args)) if changed else None


def passes(key: Key, exercise: Exercise, one: Asked, ask: Ask) -> bool | None:
    """Whether the answer is right in the changed case. None where that says nothing: there is no such case, or what is
    asked for in it is nothing but equal numbers.
    """
    case = _changed(key, exercise, one.case)
    if case is None:
        return None
    wanted = quiet_observe(exercise.reference, exercise.drive, case.args)
    if wanted.error or wanted.refused or not _says_something(canonical(exercise, wanted.answer)):
        return None
    return not faults_of(exercise, case, wanted, ask(case))


def _says_something(answer: Plain) -> bool:
    arrays = arrays_in(answer)
    if not arrays:
        return isinstance(answer, (int, float, np.number)) and bool(answer)
    return all(a.size > 1 and a.dtype.kind in "iuf" and np.ptp(a) > 0 for a in arrays)


def probed(exercise: Exercise, asked: Sequence[Asked], ask: Ask) -> Iterator[dict[str, Plain]]:
    """What is right about an answer once a case is changed: "right when h0 is zero", "right for one row"."""
    wrong = [one for one in asked if one.is_wrong and not one.wanted.error and not one.seen.timed_out]
    names = [axes.name for axes in exercise.takes]
    if len(wrong) < 3 or exercise.drive != "call":
        return
    keys: list[Key] = []
    if not any((name.startswith("d") and name[1:2].isupper()) or name in ("dh", "dc", "lengths") for name in names):
        keys += [["zero", a.name] for a in exercise.takes if a.axes and a.name not in ("probabilities", "mask")]
    letters = {letter for axes in exercise.takes for letter in axes.axes or ()}
    if "lengths" not in names:
        keys += [["one", letter] for letter in ("T", "N") if letter in letters]
    for key in keys:
        told = 0
        for one in wrong:
            passed = passes(key, exercise, one, ask)
            if passed is False:
                break
            told += passed is True
        else:
            if told >= 3:
                yield {"change": key}


def _parts(exercise: Exercise, wanted: Observation, seen: Observation) -> dict[str, list[generic.Part]]:
    found: dict[str, list[generic.Part]] = {}
    for part in generic.parts_of(exercise, wanted, seen):
        found.setdefault(part.name, []).append(part)
    return found


def _moves(name: str, argument: str, exercise: Exercise, one: Asked, ask: Ask) -> tuple[bool, bool] | None:
    """Whether the right part of this name changes when an argument is set to zero, and whether one's own does; None
    where that cannot be seen.
    """
    case = _changed(["zero", argument], exercise, one.case)
    if case is None or one.wanted.error:
        return None
    wanted = quiet_observe(exercise.reference, exercise.drive, case.args)
    before = _parts(exercise, one.wanted, one.seen).get(name)
    after = _parts(exercise, wanted, ask(case)).get(name)
    if not before or not after or len(before) != len(after):
        return None
    pairs = list(zip(before, after, strict=True))
    moved = any(not generic.equal(a.right, b.right) for a, b in pairs)
    return moved, any(not generic.equal(a.own, b.own) for a, b in pairs)


def depends(exercise: Exercise, asked: Sequence[Asked], ask: Ask) -> Iterator[dict[str, Plain]]:
    """What a wrong part does not depend on, though it should; or does, though it should not."""
    if exercise.drive != "call":
        return
    wrong = [one for one in asked if one.is_wrong]
    names = dict.fromkeys(
        name
        for one in wrong
        for name, parts in _parts(exercise, one.wanted, one.seen).items()
        if any(not part.is_right for part in parts)
    )
    for name in names:
        for argument in (axes.name for axes in exercise.takes if axes.axes):
            told: tuple[bool, bool] | None = None
            count = 0
            for one in wrong:
                moves = _moves(name, argument, exercise, one, ask)
                if moves is None or not any(moves):
                    continue
                if moves[0] == moves[1] or told not in (None, moves):
                    break
                told, count = moves, count + 1
            else:
                if told is not None and count >= LEAST:
                    yield {"part": name, "argument": argument, "should": told[0]}


def depends_holds(exercise: Exercise, parameters: dict[str, Plain], asked: Sequence[Asked], ask: Ask) -> bool:
    """Whether it is so in other cases too."""
    should = parameters["should"]
    for one in asked:
        if one.is_wrong:
            moves = _moves(parameters["part"], parameters["argument"], exercise, one, ask)
            if moves not in (None, (False, False), (should, not should)):
                return False
    return True


def depends_words(parameters: dict[str, Plain]) -> str:
    """The dependence as a student reads it."""
    part, argument = parameters["part"], parameters["argument"]
    if parameters["should"]:
        return f"{part} stays the same when {argument} is set to zero, and should not."
    return f"{part} changes when {argument} is set to zero, and should not."


def probe_holds(exercise: Exercise, parameters: dict[str, Plain], asked: Sequence[Asked], ask: Ask) -> bool:
    """Whether it is so in other cases too."""
    return all(passes(parameters["change"], exercise, one, ask) is not False for one in asked)


def probe_words(parameters: dict[str, Plain]) -> str:
    """What is right about a changed case, as a student reads it."""
    kind, name = parameters["change"]
    if kind == "zero":
        return f"With {name} set to zero, every case comes out right."
    return f"Cut to one {'step' if name == 'T' else 'row'}, every case comes out right."
