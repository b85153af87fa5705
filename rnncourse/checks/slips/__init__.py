r"""The small changes of a program, likeliest first: what a search for the place of a mistake tries, and what `mutants`
puts before the checks.

>>> wrong = "def step(x, h, U, W, b):\n    return np.tanh(U @ x + h @ W + b)"
>>> tried = {change.source: change for change in changes(wrong)}
>>> right = tried["def step(x, h, U, W, b):\n    return np.tanh((x @ U) + h @ W + b)"]
>>> right.kind, right.lines, right.part
('operand order', (2,), 'U @ x')

A change stays within the program's own means: the names and functions that it has, and those of NumPy and torch in
`expressions`. What comes out may be nonsense, and need not run. Docstrings, annotations and the words of an error are
left alone.
"""

# Nodes of a syntax tree have the fields that their grammar gives them, which mypy does not know.
# mypy: disable-error-code="attr-defined,assignment,arg-type,operator,list-item,misc"

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rnncourse.checks.program import lines_of
from rnncourse.checks.slips.likelihood import MENDED, MISSING, RELATED, SELDOM, SEVERAL
from rnncourse.checks.slips.statements import Slip, Slips
from rnncourse.checks.slips.text import Patch, Text

KINDS = {
    "argument order": "the order of the arguments",
    "argument removed": "an argument too many",
    "assignment": "= or +=, and what it does to what was there before",
    "axis": "an axis",
    "axis of an index": "the axis that an index is for",
    "break or continue": "whether the loop ends there or goes on",
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
    "moved into the condition": "whether a line belongs to the condition",
    "moved into the loop": "whether a line belongs to the loop",
    "moved out of the condition": "whether a line belongs to the condition",
    "moved out of the loop": "whether a line belongs to the loop",
    "name": "a name in the place of another",
    "operand order": "the order of the two sides",
    "operator": "an operator",
    "order of indices": "the order of the indices",
    "order of values": "the order of the values",
    "power": "how a power is written",
    "sign": "a sign",
    "statement order": "the order of the lines",
    "statement removed": "a line too many",
    "subscript": "an index too many or too few",
    "term added": "a term or factor that is missing",
    "term removed": "a term or factor too many",
    "transpose": "a transpose too many or too few",
    "value added": "a value that is not returned",
    "value removed": "a value too many",
}

# Of these, a change may be meant at all equal places.
_ANYWHERE = ("axis", "bound", "constant", "copy", "function", "name", "operand order", "operator", "sign", "transpose")


@dataclass(frozen=True)
class Change:
    """A program that differs from the student's in one thing.

    `kind` is one of `KINDS`. `lines` and `part` say what is changed, in the student's own source: numbers of lines, of
    which the first is 1, and the text that is replaced, None if it is whole statements (or in several places).
    `source` is the changed program; what is not changed stands in it as it did. The `patches` of two go together.
    """

    kind: str
    lines: tuple[int, ...]
    part: str | None
    source: str
    patches: tuple[Patch, ...] = field(default=(), repr=False)
    name: str = field(default="", repr=False)  # of the kind of slip, in more words


def changes(source: str, *, but: Collection[int] = ()) -> Iterator[Change]:
    """The changes of a function or class, likeliest first, as `Changes` has them. **Errors:** `SyntaxError`."""
    return Changes(source).likeliest(but=but)


def named(source: str, is_meant: Callable[[str], bool]) -> Iterator[Change]:
    """Those changes of one place whose slips have such names (see `expressions`, `statements`), from top to bottom."""
    found = Changes(source)
    return found.distinct(slip for slip in found.usual if is_meant(slip.name))


class Changes:
    """The changes of a function or class. **Errors:** `SyntaxError` if the source is no Python."""

    def __init__(self, source: str) -> None:
        self.text = Text(source)
        self._slips = Slips(self.text.tree)
        self.usual = self._slips.found
        self._keys: dict[int, int | None] = {}
        self._made: dict[int, Change | None] = {}

    @cached_property
    def _present(self) -> list[Slip]:
        """What may be wrong in what is there, at one place or at all equal ones."""
        return [*self.usual, *_everywhere(self.text, self.usual)]

    @cached_property
    def _missing(self) -> list[Slip]:
        return list(self._slips.missing())

    def likeliest(
        self, *, times: Mapping[int, float] | None = None, but: Collection[int] = (), kinds: Collection[str] = ()
    ) -> Iterator[Change]:
        """All changes, likeliest first; none gives the same program as another or as the source.

        `times` says of lines that are suspected how much likelier they are, `but` which are not to be looked at,
        `kinds` which kinds of changes are likely.
        """
        factors, idle = times or {}, set(but)

        def likelihood(slip: Slip) -> float:
            here = max((factors.get(n, 1.0) for n in _lines(slip)), default=1.0) if factors else 1.0
            return here * (RELATED if slip.kind in kinds else 1.0) * MENDED.get(_key(slip), SELDOM)

        def all_() -> Iterator[Slip]:
            found = sorted(((likelihood(slip), -i) for i, slip in enumerate(self._present)), reverse=True)
            yield from (self._present[-i] for value, i in found if value > MISSING)
            others = [self._present[-i] for value, i in found if value <= MISSING] + self._missing
            yield from sorted(others, key=likelihood, reverse=True)

        return self.distinct(slip for slip in all_() if not set(_lines(slip)) <= idle)

    def distinct(self, slips: Iterable[Slip]) -> Iterator[Change]:
        """These slips as changes, each program once."""
        seen = {hash(self.text.key)}
        for slip in slips:
            if id(slip) not in self._keys:
                key = self.text.key_with(slip.patches)
                self._keys[id(slip)] = None if key is None else hash(key)
            known = self._keys[id(slip)]
            if known is None or known in seen:
                continue
            seen.add(known)
            if id(slip) not in self._made:
                self._made[id(slip)] = self._change(slip)
            if change := self._made[id(slip)]:
                yield change

    def _change(self, slip: Slip) -> Change | None:
        source = self.text.with_patches(slip.patches)
        if source is None:
            return None
        return Change(slip.kind, _lines(slip), _part(self.text, slip), source, slip.patches, _key(slip))


def _everywhere(text: Text, single: Sequence[Slip]) -> Iterator[Slip]:
    """The same change at all equal places."""
    alike: dict[tuple[str, str, str], list[Slip]] = defaultdict(list)
    for slip in single:
        (patch, *others) = slip.patches
        if slip.kind in _ANYWHERE and not others and len(patch.old) == len(patch.new) == 1:
            old, new = patch.old[0], patch.new[0]
            alike[slip.kind, text.spelled(old), text.spelled(new)].append(slip)
            if isinstance(old, ast.BinOp) and isinstance(new, ast.BinOp) and slip.kind == "operator":
                alike[slip.kind, type(old.op).__name__, type(new.op).__name__].append(slip)
            if isinstance(old, ast.Attribute) and isinstance(new, ast.Attribute) and slip.kind == "function":
                alike[slip.kind, f".{old.attr}", f".{new.attr}"].append(slip)
    for group in alike.values():
        patches: dict[int, Patch] = {id(slip.patches[0].old[0]): slip.patches[0] for slip in group}
        if len(patches) > 1:
            yield Slip(group[0].name, tuple(patches.values()), tuple(node for slip in group for node in slip.at))


def _key(slip: Slip) -> str:
    """Of what kind a slip is where one is likelier than another."""
    return slip.name + SEVERAL * (len(slip.patches) > 1)


def _lines(slip: Slip) -> tuple[int, ...]:
    return tuple(sorted({n for node in slip.at for n in lines_of(node)}))


def _part(text: Text, slip: Slip) -> str | None:
    (node, *others) = slip.patches[0].old
    if len(slip.patches) > 1 or others or isinstance(node, ast.stmt):
        return None
    return text.segment(node)
