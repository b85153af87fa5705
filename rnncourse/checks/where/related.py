"""How one part of a wrong answer is related to what it should be: `dW` to the right `dW`, wherever it is wrong.

The largest wrong case suggests what may be so, all others have to bear it out (`claims`): that an argument or another
part stands there instead; that just so much is missing, or a factor, which are known by name; that it is a function of
what it should be, or has another form; and for whole numbers, a sum of products of sizes that has come on top.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from typing import Any

import numpy as np

from rnncourse.checks.exercise import Exercise
from rnncourse.checks.generic import GENERIC, Part, relations_of, sizes_of
from rnncourse.checks.where.claims import CLAIMS, FORMS, FUNCTIONS, INVARIANTS, SOMETIMES, value_of
from rnncourse.checks.where.parts import (
    UNDONE,
    Look,
    Parameters,
    around,
    factors,
    is_so,
    known,
    scope,
    seen_as,
    supported,
    wrong_names,
)


def found(seen: Sequence[Look]) -> Iterator[tuple[str, Parameters]]:
    """The relations of parts that are wrong, by kind, each with its parameters. The plainest come first."""
    if not any(one.one.is_wrong and one.parts for one in seen):
        return
    for name in wrong_names(seen):
        base = scope(name, seen)
        telling = _most_telling(name, seen)
        for kind, parameters in _hypotheses(name, seen):
            claim = CLAIMS[kind](**parameters)
            if (
                claim(*telling)
                and is_so(claim, name, seen, base)
                and supported(claim, name, seen, entries=_least(kind, seen, name))
            ):
                always = is_so(claim, name, seen, {**base, "always": True})
                yield kind, {**base, "always": always, **parameters}
                break


def _least(kind: str, seen: Sequence[Look], name: str) -> int:
    """How many entries it takes: of arrays more than of single numbers, of which there are few."""
    if all(not part.right.ndim for one in seen for part in one.named(name)):
        return 4 if kind in ("combination", "scaled", "term", "factor", "offset") else 3
    return 8


def _most_telling(name: str, seen: Sequence[Look]) -> tuple[Look, Part]:
    """The largest of the wrong parts of a name, float64 before float32, and its case."""
    wrong = [(one, part) for one in seen for part in one.named(name) if not part.is_right]
    return max(wrong, key=lambda pair: (pair[1].right.dtype.itemsize, pair[1].right.size))


def _hypotheses(name: str, seen: Sequence[Look]) -> Iterator[tuple[str, Parameters]]:
    """What may be so of a part, as its largest wrong case suggests."""
    one, part = _most_telling(name, seen)
    has = sizes_of(one.exercise, one.case)
    generic = [r for r in relations_of(part, has) if r.name != "other_dtype" and r.holds(part.right, part.own, has)]
    for relation in generic:
        if sum(other.name == relation.name for other in generic) == 1:
            yield "generic", {"relation": relation.name, "axis": relation.axis}
    if part.own.shape == part.right.shape:
        if "b" not in (part.right.dtype.kind, part.own.dtype.kind):
            if not part.right.ndim and part.right.dtype.kind in "iu":
                yield from _combinations(name, seen)
            if (by := _common_offset(part)) is not None:
                yield "offset", {"by": by}
        for function in FUNCTIONS:
            yield "function", {"name": function}
    for other, value in known(one).items():
        is_product = "·" in other or "@" in other
        if value.shape == part.own.shape and other != f"the right {name}" and value.size > 1 and not is_product:
            yield "instead", {"other": other}
    if "b" in (part.right.dtype.kind, part.own.dtype.kind):
        return
    yield "shape", {}
    for axis in range(max(part.right.ndim, part.own.ndim)):
        yield from (("form", {"how": how, "axis": axis}) for how in FORMS)
    for order in permutations(range(part.right.ndim)) if part.right.ndim in (3, 4) else ():
        yield "order of axes", {"order": list(order)}
    if part.own.shape != part.right.shape:
        return
    for at in ("", "first", "last"):
        for before in ("", *UNDONE):
            if seen_as(part, at, before) is None:
                continue
            others = [other for other in known(one, at=at) if other != f"the right {name}"]
            for other, sign in product(others, (-1, 1, -2, 2)):
                yield "term", {"other": other, "sign": sign, "at": at, "before": before}
        if seen_as(part, at, "") is not None:
            others = [other for other in factors(one, at) if other != f"the right {name}"]
            for other, is_missing in product(others, (True, False)):
                yield "factor", {"other": other, "is_missing": is_missing, "at": at}
    yield from _scales(name, seen)
    if part.right.dtype.kind == "f" and part.right.ndim:
        for each in ("case", "row") if part.right.ndim > 1 else ("case",):
            yield "each by its own", {"operation": "factor", "axis": each}
            yield "each by its own", {"operation": "term", "axis": each}
    yield from (("invariant", {"name": invariant}) for invariant in INVARIANTS)


def _common_offset(part: Part) -> float | None:
    off = np.unique(part.own.astype(float) - part.right.astype(float)) if part.right.size else np.zeros(0)
    if not off.size or not np.isfinite(off).all() or np.ptp(off) > 1e-9 * max(1.0, float(np.abs(off).max())):
        return None
    return float(f"{off[0]:.9g}")


def _combinations(name: str, seen: Sequence[Look]) -> Iterator[tuple[str, Parameters]]:
    """The sums of products of sizes, with small coefficients, that have come on top of a count."""
    wrong = [(one, part) for one in seen for part in one.named(name) if not part.right.ndim and not part.own.ndim]
    rows = [one.sizes for one, _ in wrong]
    letters = [n for n in rows[0] if all(n in row for row in rows)] if rows else []
    if len({tuple(row[n] for n in letters) for row in rows}) < 4 or not letters or len(letters) > 4:
        return
    if not all(np.isfinite(part.own) for _, part in wrong):
        return
    off = tuple(int(part.own) - int(part.right) for _, part in wrong)
    degree = 3 if len(letters) < 4 else 2
    products = [list(c) for d in range(degree + 1) for c in _repeated(letters, d)]
    vectors = [(names, tuple(value_of([[1, names]], row) for row in rows)) for names in products]
    signed = {
        tuple(c * v for v in vector): (c, names) for names, vector in vectors for c in (1, -1, 2, -2, 3, -3, 4, -4)
    }
    if off in signed:
        yield "combination", {"terms": [list(signed[off])]}
        return
    for vector, (c, names) in signed.items():
        rest = tuple(o - v for o, v in zip(off, vector, strict=True))
        if rest in signed and signed[rest][1] != names:
            yield "combination", {"terms": [[c, names], list(signed[rest])]}
            return


def _repeated(letters: list[str], degree: int) -> Iterator[tuple[str, ...]]:
    if degree == 0:
        yield ()
    elif degree == 1:
        yield from ((a,) for a in letters)
    else:
        yield from (c for c in product(letters, repeat=degree) if list(c) == sorted(c, key=letters.index))


def _scales(name: str, seen: Sequence[Look]) -> Iterator[tuple[str, Parameters]]:
    """The quotients of sizes by which a part is multiplied in every case."""
    rows, by = [], []
    for one in seen:
        for part in one.named(name):
            at = np.abs(part.right).argmax() if part.right.size and part.right.shape == part.own.shape else None
            if at is None or not part.right.flat[at] or not np.isfinite(part.own.astype(float)).all():
                continue
            by.append(float(part.own.flat[at]) / float(part.right.flat[at]))
            rows.append(one.sizes)
    if len({f"{f:.4g}" for f in by}) < 2 or len(by) < 3:
        return
    columns = {n: np.array([float(row.get(n, 0)) for row in rows]) for n in rows[0]}
    columns = {n: column for n, column in columns.items() if column.all()}
    quotients: list[tuple[list[str], list[str]]] = []
    for a in columns:
        quotients += [([a], []), ([], [a])]
    for a, b in combinations(columns, 2):
        quotients += [([a, b], []), ([], [a, b]), ([a], [b]), ([b], [a])]
    for above, below in quotients:
        made = np.ones(len(rows))
        for n in above:
            made = made * columns[n]
        for n in below:
            made = made / columns[n]
        if np.all(np.abs(made - by) <= 1e-3 * made):
            yield "scaled", {"above": above, "below": below}


# --- saying them


def words(exercise: Exercise, kind: str, parameters: Parameters) -> str:
    """A relation as a student reads it."""
    part = parameters["part"]
    if kind == "generic":
        text = GENERIC[parameters["relation"]].format(parts=part, axis=parameters["axis"])
    elif kind == "instead":
        text = f"Where {part} is wrong, it holds exactly {_argument(parameters['other'])}."
    elif kind == "term":
        before = f"before the {parameters['before']}, " if parameters["before"] else ""
        sign = "plus" if parameters["sign"] > 0 else "minus"
        times = "twice " if abs(parameters["sign"]) == 2 else ""
        text = f"{_at(parameters)}{before}{part} is what it should be {sign} {times}{_argument(parameters['other'])}."
        text = text[0].upper() + text[1:] if before else text
    elif kind == "factor":
        other = _argument(parameters["other"])
        text = _at(parameters) + (
            f"{part}, multiplied by {other}, is what it should be."
            if parameters["is_missing"]
            else f"{part} is what it should be, multiplied by {other}."
        )
    elif kind == "form":
        text = f"{part} is {FORMS[parameters['how']][1]}, along {_axis(exercise, part, parameters['axis'])}."
    elif kind == "order of axes":
        text = f"{part} has the right values, but its axes in the order {tuple(parameters['order'])}."
    elif kind == "invariant":
        often = "At times" if parameters["name"] in SOMETIMES else "Wherever it is wrong,"
        text = f"{often} {part} {INVARIANTS[parameters['name']][1]}."
    elif kind == "shape":
        text = f"{part} has the right values in the right order, but another shape."
    elif kind == "function":
        text = f"{part} is {FUNCTIONS[parameters['name']][1]}."
    elif kind == "offset":
        by = parameters["by"]
        text = f"Wherever {part} is wrong, it is too {'large' if by > 0 else 'small'} by {abs(by):g}."
    elif kind == "combination":
        text = f"{part} is {_amount(parameters['terms'])}, whatever the sizes are."
    elif kind == "scaled":
        above, below = ("·".join(parameters[key]) for key in ("above", "below"))
        by = " and ".join(w for w in (above and f"multiplied by {above}", below and f"divided by {below}") if w)
        text = f"{part} is what it should be, {by}."
    else:
        by = "factor" if parameters["operation"] == "factor" else "number that is added"
        each = "row" if parameters["axis"] == "row" else "case"
        text = f"{part} is right up to one {by}, the same for all entries of a {each}, another in each {each}."
    return around(parameters, text)


def _axis(exercise: Exercise, part: str, axis: int) -> str:
    letters = next((axes.axes or () for axes in exercise.gives if axes.name == part), ())
    return f"the axis {letters[axis]}" if axis < len(letters) and letters[axis] != "…" else f"axis {axis}"


def _at(parameters: Parameters) -> str:
    return f"At the {parameters['at']} step, " if parameters["at"] else ""


def _argument(name: str) -> str:
    return f"what {name[10:]} should be" if name.startswith("the right ") else name


def _amount(terms: list[list[Any]]) -> str:
    """ "too small by H·Q + Q". The longest product decides which of the two it is."""
    ordered = sorted(terms, key=lambda term: -len(term[1]))
    is_small = ordered[0][0] < 0
    shown = ""
    for c, names in ordered:
        text = "·".join(([str(abs(c))] if abs(c) > 1 or not names else []) + list(names))
        sign = "-" if (c < 0) != is_small else "+"
        shown = f"{shown} {sign} {text}" if shown else text
    return f"too {'small' if is_small else 'large'} by {shown}"
