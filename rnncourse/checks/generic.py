"""Mistakes that are the same in all exercises, seen in what came out, however the answer was written.

In every case, every part of the answer that is wrong stands in one relation to what it should be, "one step late"
(`relations`); or a loop ends in its first round.
"""

import ast
import copy
from collections.abc import Iterable, Iterator, Sequence

from rnncourse.checks.cases import canonical
from rnncourse.checks.compare import as_array, difference
from rnncourse.checks.drive import Observation
from rnncourse.checks.exercise import Axes, Case, Exercise
from rnncourse.checks.plain import Plain, arrays_in
from rnncourse.checks.relations import BATCH, TABLE, TIME, Given, Key, Part, Relation, row_of, sentence

OTHERS = {
    "ends_after_one_round": "What comes back is what there is after one round, or one step. Where are the others?",
    "returns_in_the_loop": "The loop ends in its first round, for `{}` stands inside of it.",
    "argument_changed": "An argument is changed, or asks for a gradient, or is what comes back.",
    "other_when_called_again": "Called again with the same arguments, it gives another answer. {}",
}
ANY_OF_THESE = (
    "Something stays behind from one call to the next (a global name, a default value that is written to, an "
    "attribute), an array is not filled (`np.empty`), or chance has a say."
)
_WHAT = {"returns_in_the_loop": "a return", "other_when_called_again": ANY_OF_THESE}
IN_GENERAL = {name: text.format(_WHAT.get(name)) for name, text in OTHERS.items()} | {
    name: sentence((name, "of one size"), ["the answer"]) for row in TABLE for name in row.causes
}

Seen = Iterable[tuple[Case, Observation, Observation]]  # the case, what was expected, what was seen


def cause(exercise: Exercise, cases: Seen) -> tuple[Key, list[str]] | None:
    """The relation in which all that is wrong stands to what is right, in every case, and the names of those parts.

    A part that is wrong in one case must stand in it in all, be it that both are the same there, as with one step.
    """
    parts = _parts(exercise, cases)
    names = list(dict.fromkeys(part.axes.name for part in parts if not part.is_right))
    wrong = [part for part in parts if not part.is_right]
    for row in TABLE if wrong else ():
        keys = [key for key in wrong[0].keys(row) if key[0] in row.causes and _is_so(row, key, names, parts)]
        found = [key for key in keys if any(part.says(row, key) for part in wrong)]
        # Of two axes that have one size in all cases, nobody can tell which it is.
        if found and sum(key[0] == found[0][0] for key in found) == 1:
            return found[0], names
    return None


def holds(exercise: Exercise, key: Key, names: Sequence[str], cases: Seen) -> bool:
    """Whether the parts of these names stand in this relation in other cases too, and all others are right."""
    return _is_so(row_of(key[0]), key, names, _parts(exercise, cases))


def _is_so(row: Relation, key: Key, names: Sequence[str], parts: Sequence[Part]) -> bool:
    return all(
        key in part.keys(row) or (part.is_right and not part.size) if part.axes.name in names else part.is_right
        for part in parts
    )


def _parts(exercise: Exercise, cases: Seen) -> list[Part]:
    """The parts of all answers; none if one of the answers has none."""
    found = [parts_of(exercise, *one) for one in cases]
    return [part for parts in found for part in parts] if all(found) else []


def parts_of(
    exercise: Exercise, case: Case, expected: Observation, seen: Observation, *, whole: bool = False
) -> list[Part]:
    """The parts of an answer; none if the answer is of another form or is none. Where it ends with gradients, it is
    what it begins with, unless they are asked for too: `whole`.
    """
    if expected.error or seen.error or seen.refused or seen.timed_out:
        return []
    right, own, gives = canonical(exercise, expected.answer), canonical(exercise, seen.answer), exercise.gives
    if len(gives) == 1:
        right, own = (right,), (own,)
    if not (isinstance(own, (tuple, list)) and isinstance(right, tuple) and len(own) == len(right) == len(gives)):
        return []
    if exercise.drive.has_gradients and not whole:
        right, own, gives = right[:1], own[:1], gives[:1]
    given = Given(exercise, case)
    found = []
    try:
        parts = [part for three in zip(gives, right, own, strict=True) for part in _by_call(*three)]
    except (TypeError, ValueError):  # another number of parts
        return []
    for axes, a, b in parts:
        try:
            pairs = list(_paired(a, b))
        except ValueError:  # another form, or rows of different lengths
            return []
        for x, y, is_right, key in pairs:
            letters = _letters(exercise, axes, x.ndim) if hasattr(x, "ndim") else None
            found.append(Part(Axes(axes.name, letters), x, y, is_right, given, key))
        if len(pairs) == 1 and hasattr(pairs[0][0], "ndim"):
            given.rights[axes.name] = pairs[0][0]
    return found


def _by_call(axes: Axes, right: Plain, own: Plain) -> Iterator[tuple[Axes, Plain, Plain]]:
    """The parts of what each call gave, where they have names. **Errors:** `TypeError`, `ValueError` if there are more
    or fewer.
    """
    if not axes.of or not isinstance(right, list):
        yield axes, right, own
        return
    for a, b in zip(right, own, strict=True):
        several = (a, b) if isinstance(a, tuple) else ((a,), (b,))
        yield from (part for part in zip(axes.of[: len(several[0])], *several, strict=True) if part[1] is not None)


def _letters(exercise: Exercise, axes: Axes, dimensions: int) -> tuple[str, ...] | None:
    """The letter of each axis. Where there are more or fewer of them than named, time still comes first."""
    named = axes.axes or ()
    if exercise.drive.module and not named and dimensions == 3:
        named = TIME[0], BATCH, ""
    if len(named) == dimensions:
        return named
    is_time = bool(named and named[0]) and named[0].split()[0] in TIME
    return (named[0], *[""] * (dimensions - 1)) if is_time and dimensions else None


def _paired(right: Plain, own: Plain, key: str = "") -> Iterator[tuple[Plain, Plain, bool, str]]:
    """The arrays, numbers, texts, lists, sets and dicts of an answer, each as it should be and as it is, whether it is
    right, and the key of its dict. **Errors:** `ValueError` where the answer has another form.
    """
    if isinstance(right, dict) and arrays_in(right):
        if not isinstance(own, dict) or own.keys() != right.keys():
            raise ValueError
        for k in right:
            yield from _paired(right[k], own[k], f"{key}[{k!r}]")
    elif isinstance(right, (list, tuple)) and arrays_in(right):
        if not isinstance(own, (list, tuple)):
            raise ValueError
        for a, b in zip(right, own, strict=True):
            if a is not None or b is not None:
                yield from _paired(a, b, key)
    else:
        is_right = difference(right, own) is None
        if isinstance(right, (str, set, dict)):
            if not isinstance(own, type(right)):
                raise ValueError
        elif isinstance(right, (list, tuple)) and not (right and _is_a_table(right) and _is_a_table(own)):
            right, own = list(right), list(own) if isinstance(own, (list, tuple)) else None
        else:
            right, own = as_array(right), as_array(own)
        if right is None or own is None:
            raise ValueError
        yield right, own, is_right, key


def _is_a_table(value: Plain) -> bool:
    try:
        return as_array(value) is not None
    except ValueError:
        return False


def returns_in_a_loop(tree: ast.AST) -> str | None:
    """The `return` that ends a loop of this code in its first round, whatever comes: "return total"."""
    for loop in ast.walk(tree):
        if not isinstance(loop, (ast.For, ast.While)):
            continue
        skips = any(isinstance(node, (ast.Continue, ast.Break, ast.Try)) for node in ast.walk(loop))
        for statement in loop.body:
            if isinstance(statement, ast.Return) and not skips:
                return ast.unparse(statement)
    return None


def why_otherwise(trees: Iterable[ast.AST]) -> str:
    """Why code gives another answer each time: the one thing in it that can make it so, or else what it may be."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    found = []
    for node in nodes:
        if isinstance(node, ast.arguments):
            named = [*zip([*node.posonlyargs, *node.args][::-1], node.defaults[::-1], strict=False)]
            kept = [(a, d) for a, d in named if isinstance(d, (ast.List, ast.Dict, ast.Set, ast.Call))]
            found += [
                f"`{a.arg}={ast.unparse(d)}` is made only once: what a call puts into it, the next one finds."
                for a, d in kept
            ]
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found.append(f"`{ast.unparse(node)}`: what one call leaves there, the next one finds.")
        elif isinstance(node, ast.Call) and "rand" in ast.unparse(node.func):
            found.append(f"Chance has a say: `{ast.unparse(node.func)}` draws other numbers each time.")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("empty", "empty_like"):
            found.append(f"`{ast.unparse(node.func)}` fills nothing: an entry that you do not set may be any number.")
    return found[0] if len(found) == 1 else ANY_OF_THESE


def ending_after_one_round(source: str) -> Iterator[str]:
    """The code with a `return` that follows a loop moved into it, once for each loop."""
    count = sum(isinstance(node, (ast.For, ast.While)) for node in ast.walk(ast.parse(source)))
    for number in range(count):
        tree = ast.parse(source)
        if _moved(tree, number):
            yield ast.unparse(tree)


def _moved(tree: ast.AST, number: int) -> bool:
    """Move the `return` behind the loop of that number to its end. Whether there is one."""
    loops = 0
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        for i, statement in enumerate(node.body):
            if isinstance(statement, (ast.For, ast.While)):
                if loops == number and isinstance(node.body[-1], ast.Return):
                    statement.body += copy.deepcopy(node.body[i + 1 :])
                    return True
                loops += 1
    return False
