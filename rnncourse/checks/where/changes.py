"""The small changes that might mend a wrong answer: what a search tries, likeliest first.

>>> wrong = "def step(x, h, U, W, b):\\n    return np.tanh(U @ x + h @ W + b)"
>>> tried = {change.source: change for change in changes(wrong)}
>>> right = tried["def step(x, h, U, W, b):\\n    return np.tanh((x @ U) + h @ W + b)"]
>>> right.kind, right.lines, right.part
('operand order', (2,), 'U @ x')

A change stays within the program's own means: the names and functions that it has, those of NumPy and torch in
`expressions`, and nothing that reaches beyond the program. A program that does reach beyond it is not changed at all.
"""

# Nodes of a syntax tree have the fields that their grammar gives them, which mypy does not know.
# mypy: disable-error-code="attr-defined,assignment,arg-type,operator,list-item,misc"

from __future__ import annotations

import ast
import heapq
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rnncourse.checks.where.spans import Patch, Spans
from rnncourse.checks.where.statements import Found, Slips

KINDS = {
    "argument added": "an argument that is missing",
    "argument order": "the order of the arguments",
    "argument removed": "an argument too many",
    "assignment": "= or +=, and what it does to what was there before",
    "axis": "an axis",
    "axis of an index": "the axis that an index is for",
    "bound": "where something starts or ends",
    "call added": "a function that is not applied",
    "call removed": "a function applied once too often",
    "comparison": "a comparison",
    "condition": "a condition",
    "constant": "a constant",
    "copy": "a copy too many or too few",
    "direction": "the direction in time, forwards or backwards",
    "dtype": "the type of the numbers",
    "function": "which function is called",
    "grouping": "brackets: what belongs together",
    "index removed": "an index too many",
    "keepdims": "whether an axis of length 1 is kept",
    "largest": "the largest value, which should be subtracted first",
    "made once": "something made once for all calls",
    "moved into the condition": "whether a line belongs to the condition",
    "moved into the loop": "whether a line belongs to the loop",
    "moved out of the condition": "whether a line belongs to the condition",
    "moved out of the loop": "whether a line belongs to the loop",
    "name": "a name in the place of another",
    "one array for two": "one array that has two names",
    "operand order": "the order of the two sides",
    "operator": "an operator",
    "order of indices": "the order of the indices",
    "order of values": "the order of the values",
    "power": "how a power is written",
    "sign": "a sign",
    "state carried": "the state that one step leaves to the next",
    "statement order": "the order of the lines",
    "statement removed": "a line too many",
    "subscript": "an index too many or too few",
    "term added": "a term or factor that is missing",
    "term removed": "a term or factor too many",
    "transpose": "a transpose too many or too few",
    "value added": "a value that is not returned",
    "value removed": "a value too many",
    "value returned": "what is returned",
}

# Of these, a change may be meant at all equal places.
_ANYWHERE = frozenset(
    ["axis", "constant", "copy", "function", "name", "operand order", "operator", "sign", "transpose"]
)
# How unlikely a slip is: the natural logarithm of how many of its kind are tried in vain for one that mends.
_COST: dict[str, float] = {}
_USUAL = 6.0
_EVERYWHERE = 1.0  # more, for the same change at all equal places
_ELSEWHERE = 3.0  # more, on a line that nothing points to
_BEYOND = frozenset(
    [
        "open",
        "exec",
        "eval",
        "compile",
        "input",
        "breakpoint",
        "exit",
        "quit",
        "__import__",
        "os",
        "sys",
        "subprocess",
        "shutil",
        "pathlib",
        "Path",
        "socket",
        "urllib",
        "requests",
        "importlib",
        "builtins",
        "pickle",
        "ctypes",
        "signal",
        "threading",
        "multiprocessing",
        "tempfile",
        "glob",
        "globals",
        "locals",
        "setattr",
        "delattr",
        "save",
        "savez",
        "savez_compressed",
        "savetxt",
        "tofile",
        "dump",
        "load",
        "loadtxt",
        "fromfile",
        "memmap",
        "system",
        "unlink",
        "rmdir",
    ]
)


@dataclass(frozen=True)
class Change:
    """A program that differs from the student's in one thing.

    `kind` is one of `KINDS`. `lines` and `part` say what is changed, in the student's own source: numbers of lines, of
    which the first is 1, and the text that is replaced, None if it is whole statements (or in several places).
    `source` is the changed program; what is not changed stands in it as it did.
    """

    kind: str
    lines: tuple[int, ...]
    part: str | None
    source: str


@dataclass(frozen=True)
class _Ranked:
    cost: float
    found: Found


def changes(source: str, *, first: Sequence[int] = (), made: Collection[str] = ()) -> Iterator[Change]:
    """The changes of a function or class, likeliest first; none gives the same program as another or as the source.

    `first` are the lines that are suspected most, the worst first. What is among the sources `made`, because it was
    tried before, is not made again. **Errors:** `SyntaxError` if the source is no Python.
    """
    program = Spans(source)
    yield from _distinct(program, ((one,) for one in _ranked(program, first)), made)


def pairs(source: str, lines: Collection[int], *, made: Collection[str] = ()) -> Iterator[Change]:
    """Two changes at once, both within the lines, likeliest first. Their kind is that of the less likely one."""
    program = Spans(source)
    ranked = [one for one in _ranked(program, ()) if set(_lines(one.found)) <= set(lines)]
    yield from _distinct(program, _together(ranked), made)


def _together(ranked: list[_Ranked]) -> Iterator[tuple[_Ranked, _Ranked]]:
    """All pairs, by the sum of their costs."""
    queue = [(ranked[0].cost + ranked[1].cost, 0, 1)] if len(ranked) > 1 else []
    while queue:
        _, i, j = heapq.heappop(queue)
        yield ranked[i], ranked[j]
        if j + 1 < len(ranked):
            heapq.heappush(queue, (ranked[i].cost + ranked[j + 1].cost, i, j + 1))
        if j == i + 1 and j + 1 < len(ranked):
            heapq.heappush(queue, (ranked[j].cost + ranked[j + 1].cost, j, j + 1))


def _distinct(program: Spans, some: Iterator[tuple[_Ranked, ...]], made: Collection[str]) -> Iterator[Change]:
    seen = {hash(program.key)}
    for together in some:
        patches = [patch for one in together for patch in one.found.patches]
        key = program.key_with(patches)
        if key is None or hash(key) in seen:
            continue
        seen.add(hash(key))
        text = program.text_with(patches)
        if text is not None and text not in made:
            lines = sorted({line for one in together for line in _lines(one.found)})
            last = together[-1].found
            part = _part(program, last) if len(together) == 1 else None
            yield Change(last.kind, tuple(lines), part, text)


def _ranked(program: Spans, first: Sequence[int]) -> Iterator[_Ranked]:
    """Every change there is, the likeliest first; those that are missing terms, of which there are many, at the end."""
    if any(_reaches_beyond(n) for n in ast.walk(program.tree)):
        return
    place = {line: i for i, line in reversed(list(enumerate(first)))}
    all_ = Slips(program)

    def cost(found: Found) -> float:
        cost = _COST.get(found.slip, _COST.get(found.kind, _USUAL))
        if len(found.patches) > 1:
            cost += _EVERYWHERE
        if place:
            cost += min(math.log1p(place[n]) if n in place else _ELSEWHERE for n in _lines(found))
        return cost

    for some in ([*all_.found, *_everywhere(program, all_.found)], all_.rare()):
        yield from sorted((_Ranked(cost(found), found) for found in some), key=lambda one: one.cost)


def _everywhere(program: Spans, single: list[Found]) -> Iterator[Found]:
    """The same change at all equal places."""
    alike: dict[str, list[Found]] = defaultdict(list)
    for found in single:
        (patch, *others) = found.patches
        if found.kind in _ANYWHERE and not others and len(patch.old) == 1:
            alike[program.spelled(patch.old[0])].append(found)
    for group in alike.values():
        if len({id(found.patches[0].old[0]) for found in group}) > 1:
            by_new = defaultdict(list)
            for found in group:
                by_new[program.spelled(found.patches[0].new[0])].append(found)
            for same in by_new.values():
                places: dict[int, Patch] = {id(found.patches[0].old[0]): found.patches[0] for found in same}
                if len(places) > 1:
                    at = tuple(node for found in same for node in found.at)
                    yield Found(same[0].slip, tuple(places.values()), at)


def _lines(found: Found) -> tuple[int, ...]:
    lines: set[int] = set()
    for node in found.at:
        body = getattr(node, "body", None)
        last = node.end_lineno if not isinstance(body, list) else max(node.lineno, body[0].lineno - 1)
        lines.update(range(node.lineno, last + 1))
    return tuple(sorted(lines))


def _part(program: Spans, found: Found) -> str | None:
    (node, *others) = found.patches[0].old
    if len(found.patches) > 1 or others or isinstance(node, ast.stmt):
        return None
    return program.segment(node)


def _reaches_beyond(node: ast.AST) -> bool:
    return getattr(node, "id", None) in _BEYOND or getattr(node, "attr", None) in _BEYOND
