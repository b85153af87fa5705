"""Which cases fail: "every case with N = 1, and no other", "all but those without a mask".

One property at most, and one that means something: what a case's note says, a size of 1, an argument that is not given,
a mask that hides nothing. With the answer at hand to be asked, an argument can also be set to zero: what then comes out
right, what stays the same and should not.
"""

from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import replace
from typing import Any

import numpy as np

from rnncourse.checks.cases import Asked, canonical, quiet_observe
from rnncourse.checks.diagnosis import same
from rnncourse.checks.drive import Observation
from rnncourse.checks.exercise import Case, Exercise
from rnncourse.checks.faults import faults_of
from rnncourse.checks.generic import parts_of
from rnncourse.checks.plain import Plain, arrays_in
from rnncourse.checks.relations import Given, Key, Part, equal

Ask = Callable[[Case], Observation]
Parameters = dict[str, Plain]

# Each property of a case, by its name, as a student reads it behind "the cases".
SUCH = {
    "note": "“{}”",
    "size": "with {} = 1",
    "is": "with {} = {}",
    "given": "in which {} is given",
    "empty": "in which {} is empty",
    "ones": "in which {} is 1 everywhere",
    "zeros": "in which {} is 0 everywhere",
    "axes": "in which {} has {}",
    "at least": "in which {} is at least {}",
    "float32": "in float32",
    "raises": "in which an error should be raised",
    "answer": "whose answer should be {}",
}
LEAST = 2  # cases with a property, and without it, unless it is the case's own note
FEW = 4  # cases without the note at least
MANY = 9  # as many of them must fail where the answers are whole numbers or words, which are soon right by chance


def properties_of(exercise: Exercise, one: Asked) -> list[Key]:
    """The properties that a case has, its note first."""
    given = Given(exercise, one.case)
    found: list[Key] = [("note", one.case.note)] if one.case.note else []
    found += [("size", letter) for letter, n in given.sizes.items() if n == 1]
    for axes, value in zip(exercise.takes, one.case.args, strict=False):
        found += _of_argument(axes.name, value, given.sizes)
    if any(a.dtype == np.float32 for a in arrays_in(one.case.args)):
        found.append(("float32",))
    if one.wanted.error:
        found.append(("raises",))
    answer = canonical(exercise, one.wanted.answer)
    if isinstance(answer, Sized) and not (answer.size if isinstance(answer, np.ndarray) else len(answer)):
        found.append(("answer", "empty"))
    if isinstance(answer, (int, float)) and not isinstance(answer, bool) and answer == 0:
        found.append(("answer", 0))
    return found


def _of_argument(name: str, value: Plain, sizes: dict[str, int]) -> Iterator[Key]:
    if value is not None:
        yield "given", name
    if isinstance(value, (str, bool)) or (isinstance(value, (int, float)) and value in (0, 1)):
        yield "is", name, repr(value)
    if isinstance(value, int) and not isinstance(value, bool) and "T" in sizes and value >= sizes["T"]:
        yield "at least", name, "T"
    if isinstance(value, (str, list)) and not value:
        yield "empty", name
    if isinstance(value, list):
        yield "axes", name, "1 axis"  # as an array of it has
    if isinstance(value, np.ndarray):
        yield "axes", name, f"{value.ndim} {'axis' if value.ndim == 1 else 'axes'}"
        if not value.size:
            yield "empty", name
        elif name == "mask" and np.all(value == 1):
            yield "ones", name
        elif value.dtype.kind == "f" and not value.any():
            yield "zeros", name


def found(exercise: Exercise, asked: Sequence[Asked]) -> Iterator[Parameters]:
    """The first property that tells the cases that fail from those that pass. Of notes it may be two."""
    wrong, right = ([one for one in asked if one.is_wrong == is_wrong] for is_wrong in (True, False))
    # What should be 0 is soon right: that says nothing.
    if not wrong or not right or not any(_is_told(exercise, one) for one in right):
        return
    for these, fails in ((wrong, True), (right, False)):
        notes = list(dict.fromkeys(("note", one.case.note) for one in these if one.case.note))
        others = [[key] for key in properties_of(exercise, these[0]) if key[0] != "note"]
        for keys in ([notes] if len(notes) in (1, 2) else []) + others:
            parameters: Parameters = {"such": keys, "fails": fails}
            least, rest = (1, FEW) if keys is notes else (LEAST, LEAST)
            if not fails and not any(a.dtype.kind == "f" for one in asked for a in arrays_in(one.wanted.answer)):
                rest = MANY
            if min(len(these) - least, len(asked) - len(these) - rest) >= 0 and all(
                _is_such(parameters, exercise, one) == (one.is_wrong == fails) for one in asked
            ):
                yield parameters
                return


def _is_told(exercise: Exercise, one: Asked) -> bool:
    """Whether there is more to an answer than zeros."""
    answer = canonical(exercise, one.wanted.answer)
    arrays = arrays_in(answer)
    return any(a.any() for a in arrays) if arrays else bool(answer)


def _is_such(parameters: Parameters, exercise: Exercise, one: Asked) -> bool:
    return any(tuple(key) in properties_of(exercise, one) for key in parameters["such"])


def holds(exercise: Exercise, parameters: Parameters, asked: Sequence[Asked]) -> bool:
    """Whether it is so in other cases too. If it is the property that comes out right, the others need not all fail:
    some answers are right by chance.
    """
    if parameters["fails"]:
        return all(_is_such(parameters, exercise, one) == one.is_wrong for one in asked)
    return not any(one.is_wrong and _is_such(parameters, exercise, one) for one in asked)


def words(kind: str, parameters: Parameters) -> str:
    """A statement of this module as a student reads it."""
    if kind == "cases":
        keys = parameters["such"]
        such = " and ".join(SUCH[key[0]].format(*key[1:]) for key in keys)
        one, cases = ("s", "case") if len(keys) == 1 and keys[0][0] == "note" else ("", "cases")
        if parameters["fails"]:
            return f"Only the {cases} {such} fail{one}; all others pass."
        return f"The {cases} {such} come{one} out right; others do not."
    if kind == "depends":
        does = "stays the same" if parameters["should"] else "changes"
        return f"{parameters['part']} {does} when {parameters['argument']} is set to zero, and should not."
    return f"With {parameters['argument']} set to zero, every case comes out right."


# --- an argument set to zero


def _zeroed(name: str, exercise: Exercise, one: Asked) -> tuple[Case, Observation] | None:
    """The case with an argument set to zero, and what is then expected; None where there is nothing to change."""
    args = list(one.case.args)
    for i, axes in enumerate(exercise.takes[: len(args)]):
        value = args[i]
        if axes.name == name and isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.any():
            args[i] = np.zeros_like(value)
            case = replace(one.case, args=tuple(args))
            return case, quiet_observe(exercise.reference, exercise.drive, case.args)
    return None


def _arguments(exercise: Exercise) -> list[str]:
    return [axes.name for axes in exercise.takes if axes.axes] if exercise.drive.is_plain else []


def _is_right(name: str, exercise: Exercise, one: Asked, ask: Ask) -> bool | None:
    """Whether the answer is right where an argument is zero. None where that says nothing: there is no such case, or
    what is asked for in it is nothing but equal numbers.
    """
    zeroed = _zeroed(name, exercise, one)
    if zeroed is None or zeroed[1].error or zeroed[1].refused:
        return None
    case, wanted = zeroed
    arrays = arrays_in(canonical(exercise, wanted.answer))
    if not arrays or not all(a.size > 1 and a.dtype.kind in "iuf" and np.ptp(a) > 0 for a in arrays):
        return None
    return not faults_of(exercise, case, wanted, ask(case))


def changed(exercise: Exercise, asked: Sequence[Asked], ask: Ask) -> Iterator[Parameters]:
    """The arguments without which an answer is right: "with h0 set to zero, every case comes out right"."""
    wrong = [one for one in asked if one.is_wrong and not one.wanted.error]
    for name in _arguments(exercise):
        if name[:1] == "d" or name in ("probabilities", "mask"):  # what is zero when these are says nothing
            continue
        told = []
        for one in wrong:
            told.append(_is_right(name, exercise, one, ask))
            if told[-1] is False:
                break
        if False not in told and told.count(True) > LEAST:
            yield {"argument": name}


def changed_holds(exercise: Exercise, parameters: Parameters, asked: Sequence[Asked], ask: Ask) -> bool:
    """Whether it is so in other cases too."""
    return all(_is_right(parameters["argument"], exercise, one, ask) is not False for one in asked)


def _moves(name: str, argument: str, exercise: Exercise, one: Asked, ask: Ask) -> tuple[bool, bool] | None:
    """Whether the right part of this name changes when an argument is set to zero, and whether one's own does; None
    where that cannot be seen.
    """
    zeroed = None if one.wanted.error else _zeroed(argument, exercise, one)
    if zeroed is None:
        return None
    before = _arrays(name, parts_of(exercise, one.case, one.wanted, one.seen))
    after = _arrays(name, parts_of(exercise, *zeroed, ask(zeroed[0])))
    if not before or len(before) != len(after):
        return None
    pairs = list(zip(before, after, strict=True))
    moved = any(not equal(a.right, b.right) for a, b in pairs)
    return moved, any(not equal(a.own, b.own) for a, b in pairs)


def _arrays(name: str, parts: Sequence[Part]) -> list[Part]:
    return [part for part in parts if part.name == name and isinstance(part.right, np.ndarray)]


def differs_in_what_it_reads(exercise: Exercise, one: Asked, answer: Any, ask: Ask) -> bool:
    """Whether another answer stays the same when an argument is set to zero, though the right one changes, and one's
    own does as well: it is not what is wrong with that, whatever else may be.
    """

    def gives(case: Case) -> Observation:
        return quiet_observe(answer, exercise.drive, case.args)

    for name in _arguments(exercise):
        if (zeroed := _zeroed(name, exercise, one)) and not zeroed[1].error:
            stays = [
                same(exercise, a, b)
                for a, b in ((zeroed[1], one.wanted), (gives(zeroed[0]), gives(one.case)), (ask(zeroed[0]), one.seen))
            ]
            if stays == [False, True, False]:
                return True
    return False


def depends(exercise: Exercise, asked: Sequence[Asked], ask: Ask) -> Iterator[Parameters]:
    """What a wrong part does not depend on, though it should; or does, though it should not."""
    wrong = [one for one in asked if one.is_wrong]
    parts = [part for one in wrong for part in parts_of(exercise, one.case, one.wanted, one.seen)]
    for name in dict.fromkeys(part.name for part in parts if not part.is_right):
        for argument in _arguments(exercise):
            told = []
            for one in wrong:
                moves = _moves(name, argument, exercise, one, ask)
                if moves and any(moves):
                    told.append(moves)
                    if moves[0] == moves[1] or moves != told[0]:
                        break
            if len(told) >= LEAST and set(told) in ({(True, False)}, {(False, True)}):
                yield {"part": name, "argument": argument, "should": told[0][0]}


def depends_holds(exercise: Exercise, parameters: Parameters, asked: Sequence[Asked], ask: Ask) -> bool:
    """Whether it is so in other cases too."""
    should = parameters["should"]
    moves = (_moves(parameters["part"], parameters["argument"], exercise, o, ask) for o in asked if o.is_wrong)
    return all(one in (None, (False, False), (should, not should)) for one in moves)
