"""A right program beside a wrong one: which statements correspond, and what the right one does otherwise.

Names mean nothing: parameters correspond by their position, other variables by what is done with them. The right
program comes in the wrong one's names, and variables that only it has are put in where they are used.

>>> (wrong,) = ast.parse("def f(x, k):\\n    n = 0\\n    for v in x:\\n        n = v\\n    return n * k").body
>>> (right,) = ast.parse("def f(a, b):\\n    s = 0\\n    for one in a:\\n        s += one\\n    return b * s").body
>>> found = Alignment(wrong, right)
>>> [(edit.lines, ast.unparse(edit.new)) for edit in found.edits]
[((4,), 'n += v'), ((5,), 'return k * n')]
>>> print(ast.unparse(edited(wrong, found.edits[:1], found.edits[0].pairs)))
def f(x, k):
    n = 0
    for v in x:
        n += v
    return n * k
"""

# Nodes of a syntax tree have the fields that their grammar gives them, which mypy does not know.
# mypy: disable-error-code="attr-defined,arg-type,list-item,misc"

from __future__ import annotations

import ast
import copy
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rnncourse.checks.program import Definition, lines_of

Key = tuple[str, str]  # a variable: the function that has it, "self" for an attribute, and its name
Pair = tuple[ast.AST, ast.AST]  # a node, and what stands for it
PASSES = 3  # of alignment and names, in turn
LEAST_ALIKE = 0.3  # of two statements, what they must share to correspond
BLOCKS = ("body", "orelse", "finalbody")
_SILENT = (ast.expr_context, ast.Module, ast.arguments, ast.alias)
_HOLDS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Lambda)  # what is written to


@dataclass(eq=False)
class Edit:
    """A statement, or the head of one: `old` with `new` in its place; one of them is None where there is only the
    other. What is missing stands behind a statement of the wrong program, `beside`, or in front of it. `lines` are
    those of the old one, or the line behind which it is missing.
    """

    old: ast.stmt | None
    new: ast.stmt | None
    lines: tuple[int, ...]
    beside: ast.stmt | None = None
    is_behind: bool = True

    @cached_property
    def pairs(self) -> list[Pair]:
        """What is otherwise in the statement, in as small parts as can be."""
        return differences(self.old, self.new) if self.old is not None and self.new is not None else []

    @cached_property
    def nodes(self) -> int:
        """In how many nodes the two differ."""
        return distance(self.old, self.new)


@dataclass
class _Item:
    """A statement of one program, the other's that corresponds, and their blocks."""

    old: ast.stmt | None
    new: ast.stmt | None
    blocks: dict[str, list[_Item]] = field(default_factory=dict)


class Alignment:
    """The right program in the names of the wrong one, and the `edits` that make the one of the other."""

    def __init__(self, wrong: Definition, right: Definition) -> None:
        self.wrong, self.right = wrong, copy.deepcopy(right)
        for node in ast.walk(self.right):
            _without_words(node)
        self._own = mark_variables(wrong)
        mark_variables(self.right)
        self.names = _same_places(self.wrong, self.right)
        for turn in range(PASSES):
            self._align_all()
            self._learn_names()
            if turn == PASSES - 2:
                self._put_in()
        self._rename()
        self._take_out_equal()
        for _ in range(PASSES):
            self._align_all()
            if not self._take_out():
                break
        self.edits: list[Edit] = []
        self._compare([self._root], self.wrong.lineno)

    @cached_property
    def cost(self) -> int:
        """How far the two are from each other."""
        return sum(edit.nodes for edit in self.edits)

    # --- which statements correspond

    def _align_all(self) -> None:
        self._bags: dict[int, Counter[str]] = {}
        self._cost: dict[tuple[int, int], tuple[float, dict[str, list[_Item]]]] = {}
        self._known = set(self.names.values())
        self._of_right = {id(node) for node in ast.walk(self.right) if isinstance(node, ast.stmt)}
        self._root = _Item(self.wrong, self.right, self._pair(self.wrong, self.right)[1])

    def _align(self, old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> tuple[float, list[_Item]]:
        """Two blocks: how far they are from each other, and their statements in pairs."""
        old = [one for one in old if not _is_docstring(one)]
        rows = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
        for i in range(len(old), -1, -1):
            for j in range(len(new), -1, -1):
                if i < len(old) or j < len(new):
                    rows[i][j] = min(cost for cost, _, _ in self._steps(old, new, rows, i, j))
        items, i, j = list[_Item](), 0, 0
        while i < len(old) or j < len(new):
            _, to_i, to_j = min(self._steps(old, new, rows, i, j))
            one, other = (old[i] if to_i > i else None), (new[j] if to_j > j else None)
            items.append(_Item(one, other, self._pair(one, other)[1] if one and other else {}))
            i, j = to_i, to_j
        return rows[0][0], items

    def _steps(
        self, old: Sequence[ast.stmt], new: Sequence[ast.stmt], rows: list[list[float]], i: int, j: int
    ) -> Iterator[tuple[float, int, int]]:
        if i < len(old) and j < len(new):
            yield self._pair(old[i], new[j])[0] + rows[i + 1][j + 1], i + 1, j + 1
        if i < len(old):
            yield self._size(old[i]) + rows[i + 1][j], i + 1, j
        if j < len(new):
            yield self._size(new[j]) + rows[i][j + 1], i, j + 1

    def _pair(self, old: ast.stmt, new: ast.stmt) -> tuple[float, dict[str, list[_Item]]]:
        """How far two statements are from each other, infinitely if they cannot correspond; and their blocks."""
        key = id(old), id(new)
        if key not in self._cost:
            self._cost[key] = self._paired(old, new)
        return self._cost[key]

    def _paired(self, old: ast.stmt, new: ast.stmt) -> tuple[float, dict[str, list[_Item]]]:
        of_blocks = [hasattr(one, "body") for one in (old, new)]
        if of_blocks[0] != of_blocks[1] or (of_blocks[0] and type(old) is not type(new)):
            return float("inf"), {}
        a, b = self._bag(old), self._bag(new)
        shared = sum((a & b).values())
        apart: float = a.total() + b.total() - 2 * shared
        if of_blocks[0]:
            parts = {name: self._align(getattr(old, name, []), getattr(new, name, [])) for name in BLOCKS}
            apart += sum(cost for cost, _ in parts.values())
            if isinstance(old, ast.FunctionDef) and self.wrong is not old and isinstance(self.wrong, ast.ClassDef):
                apart = apart if old.name == getattr(new, "name", "") else float("inf")
            return apart, {name: items for name, (_, items) in parts.items()}
        if 2 * shared < LEAST_ALIKE * (a.total() + b.total()) and len(a) > 1:
            return float("inf"), {}
        return apart + (type(old) is not type(new)), {}

    def _size(self, one: ast.stmt) -> int:
        return self._bag(one).total() + sum(self._size(s) for name in BLOCKS for s in getattr(one, name, []))

    def _bag(self, one: ast.stmt) -> Counter[str]:
        if id(one) not in self._bags:
            self._bags[id(one)] = Counter(self._words(one))
        return self._bags[id(one)]

    def _words(self, one: ast.stmt) -> Iterator[str]:
        for node in nodes_of(one):
            if (key := variable_of(node)) is None:
                yield word_of(node)
            else:
                key = self.names.get(key) if id(one) in self._of_right else key
                yield f"{key[1]} " if key in self._known else "a variable"

    # --- which variables correspond

    def _learn_names(self) -> None:
        votes = defaultdict[tuple[Key, Key], float](float)
        for item in self._items(self._root):
            if item.old is None or item.new is None:
                continue
            weight = 1 / (1 + distance(item.old, item.new))
            for one, other in _side_by_side(item.old, item.new):
                theirs, own = variable_of(other), variable_of(one)
                if theirs and own and (theirs[0] == "self") == (own[0] == "self"):
                    is_set = isinstance(getattr(one, "ctx", None), ast.Store)
                    votes[theirs, own] += (3 if is_set else 1) * (weight + 0.1)
                    votes[theirs, own] += 0.05 * (theirs[1] == own[1])
        self.names = _same_places(self.wrong, self.right)
        taken = set(self.names.values())
        for theirs, own in sorted(votes, key=lambda names: -votes[names]):
            if theirs not in self.names and own not in taken:
                self.names[theirs] = own
                taken.add(own)

    def _items(self, item: _Item) -> Iterator[_Item]:
        yield item
        for items in item.blocks.values():
            for one in items:
                yield from self._items(one)

    def _put_in(self) -> None:
        """What only the right program gives a name to stands where it is used."""
        stores = Counter(variable_of(n) for n in ast.walk(self.right) if _is_store(n))
        values: dict[Key, ast.expr] = {}

        def drop(block: list[ast.stmt]) -> list[ast.stmt]:
            left = []
            for one in block:
                for name in BLOCKS:
                    if inner := getattr(one, name, None):
                        setattr(one, name, drop(inner) or [ast.Pass()])
                match one:
                    case ast.Assign([ast.Name() as target], value) if (
                        (key := variable_of(target)) and key not in self.names and stores[key] == 1
                        and not isinstance(value, _HOLDS)
                    ):  # fmt: skip
                        values[key] = value
                    case _:
                        left.append(one)
            return left

        self.right.body = drop(self.right.body) or [ast.Pass()]

        class PutIn(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> Any:
                key = variable_of(node) if isinstance(node.ctx, ast.Load) else None
                return self.visit(copy.deepcopy(values[key])) if key in values else node

        self.right = PutIn().visit(self.right)

    def _rename(self) -> None:
        for node in ast.walk(self.right):
            if key := variable_of(node):
                scope, name = key
                new = self.names.get(key)
                if new is None and key in self._own:
                    new = scope, f"{name}_"
                if new is not None:
                    setattr(node, _field_of(node), new[1])
        self._have_same_names()

    def _have_same_names(self) -> None:
        self.names = {key: key for key in mark_variables(self.right) & self._own}

    def _values(self) -> dict[Key | None, ast.Assign]:
        """What the wrong program gives a name to, once."""
        nodes = list(ast.walk(self.wrong))
        stores = Counter(variable_of(n) for n in nodes if _is_store(n))
        given = [n for n in nodes if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)]
        return {key: n for n in given if (key := variable_of(n.targets[0])) and stores[key] == 1}

    def _take_out_equal(self) -> None:
        """What the wrong program gives a name to has this name in the right one, too."""
        own = {variable_of(n) for n in ast.walk(self.right)}
        values = {
            ast.unparse(one.value): one
            for key, one in self._values().items()
            if key not in own and not isinstance(one.value, (ast.Name, ast.Constant, *_HOLDS))
        }
        taken: list[ast.Assign] = []
        above: dict[int, list[ast.Assign]] = {}
        new: list[Pair] = []
        for block in _blocks(self.right):
            for one in block:
                for node in nodes_of(one):
                    if isinstance(node, ast.expr) and (found := values.get(ast.unparse(node))):
                        name = copy.deepcopy(found.targets[0])
                        name.ctx = ast.Load()
                        new.append((node, name))
                        if found not in taken:
                            taken.append(found)
                            above.setdefault(id(one), []).append(copy.deepcopy(found))
        self._put_above(above, new)

    def _take_out(self) -> bool:
        """Where a name stands in the wrong program, and what it should be in the right one, that gets the name."""
        values = {key: one for key, one in self._values().items() if key not in self.names}
        gone = {id(item.old) for item in self._items(self._root) if item.new is None}
        above: dict[int, list[ast.Assign]] = {}
        new: list[Pair] = []
        for item in self._items(self._root):
            if item.old is None or item.new is None:
                continue
            for one, other in differences(item.old, item.new):
                if not isinstance(one, ast.Name) or not isinstance(other, ast.expr) or isinstance(other, ast.Name):
                    continue
                given = values.pop(variable_of(one), None) if isinstance(one.ctx, ast.Load) else None
                if given and id(given) in gone:
                    made = copy.deepcopy(given)
                    made.value = copy.deepcopy(other)
                    new.append((other, copy.deepcopy(one)))
                    above.setdefault(id(item.new), []).append(made)
        self._put_above(above, new)
        return bool(new)

    def _put_above(self, above: dict[int, list[ast.Assign]], new: Sequence[Pair]) -> None:
        """Puts statements above those of the right program, and other nodes into these."""

        def put(block: list[ast.stmt]) -> list[ast.stmt]:
            made: list[ast.stmt] = []
            for one in block:
                for name in BLOCKS:
                    if isinstance(inner := getattr(one, name, None), list):
                        setattr(one, name, put(inner))
                made += [*above.get(id(one), []), edited(one, (), new)]
            return made

        if new:
            self.right.body = put(self.right.body)
            self._have_same_names()

    def _compare(self, items: Sequence[_Item], line: int) -> int:
        """Adds the edits, from top to bottom. Returns the last line."""
        for number, item in enumerate(items):
            if item.old is None:
                before = [one.old for one in items[:number] if one.old is not None]
                after = [one.old for one in items[number:] if one.old is not None]
                self.edits.append(Edit(None, item.new, (line,), [*before[-1:], *after, None][0], bool(before)))
                continue
            if item.new is None or _spelled(item.old) != _spelled(item.new):
                self.edits.append(Edit(item.old, item.new, tuple(lines_of(item.old))))
            line = max(lines_of(item.old))
            for inner in item.blocks.values():
                line = self._compare(inner, line)
            line = max(line, item.old.end_lineno or 0)
        return line


# --- nodes


def variable_of(node: ast.AST) -> Key | None:
    """The variable of the program's own for which a node stands, once it is marked."""
    return getattr(node, "variable", None)


def mark_variables(tree: Definition) -> set[Key]:
    """Each node that stands for a variable of the program's own gets it as a mark; returns them all."""
    methods = [n for n in tree.body if isinstance(n, ast.FunctionDef)] if isinstance(tree, ast.ClassDef) else [tree]
    for method in methods:
        scope = method.name if isinstance(tree, ast.ClassDef) else ""
        nodes = [n for n in ast.walk(method) if n is not method]
        own = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        own |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        own |= {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
        for n in nodes:
            if not isinstance(n, ast.Attribute) and (name := getattr(n, _field_of(n), None)) in own - {"_"}:
                n.variable = scope, name
    mine = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and getattr(n.value, "id", "") == "self"]
    stored = {n.attr for n in mine if isinstance(n.ctx, ast.Store)}
    for n in mine:
        if n.attr in stored:
            n.variable = "self", n.attr
    return {key for n in ast.walk(tree) if (key := variable_of(n))}


def named(tree: ast.AST, kind: type[ast.expr_context]) -> set[Key]:
    """The variables that are read, or given a value."""
    nodes = (n for n in ast.walk(tree) if isinstance(getattr(n, "ctx", None), kind))
    return {key for n in nodes if (key := variable_of(n))}


def leaves_unread(wrong: Definition, mended: Definition) -> bool:
    """Whether a variable is given a value that is not read any more, or is given another one before it is read."""
    unread = (named(wrong, ast.Load) - named(mended, ast.Load)) & named(mended, ast.Store)
    return bool(unread or given_twice(mended) - given_twice(wrong))


def given_twice(tree: ast.AST) -> set[Key]:
    """The variables that one line gives a value, and a later one of the same block another, with none between that
    reads it.
    """
    found = set()
    blocks = [getattr(n, field, None) for n in ast.walk(tree) for field in ("body", "orelse")]
    for block in (b for b in blocks if isinstance(b, list)):
        given: set[Key] = set()
        for one in block:
            given -= named(one, ast.Load)
            if isinstance(one, ast.Assign):
                found |= given & named(one, ast.Store)
                given |= named(one, ast.Store)
            else:
                given -= named(one, ast.Store)
    return found


def _field_of(node: ast.AST) -> str:
    """The field that has the name of a variable."""
    fields = {ast.Name: "id", ast.arg: "arg", ast.Attribute: "attr", ast.FunctionDef: "name"}
    return fields.get(type(node), "_")


def _is_store(node: ast.AST) -> bool:
    if variable_of(node) is None or isinstance(node, ast.Attribute):
        return False
    return isinstance(getattr(node, "ctx", None), ast.Store) or isinstance(node, (ast.arg, ast.FunctionDef))


def _same_places(wrong: Definition, right: Definition) -> dict[Key, Key]:
    """Of the right program's variables the wrong one's: parameters by their positions, and attributes of one name."""

    def parameters(tree: Definition) -> dict[str, list[ast.arg]]:
        if isinstance(tree, ast.FunctionDef):
            return {"": _parameters(tree)}
        return {m.name: _parameters(m) for m in tree.body if isinstance(m, ast.FunctionDef)}

    one, other = parameters(wrong), parameters(right)
    pairs = [p for name in one.keys() & other.keys() for p in zip(one[name], other[name], strict=False)]
    found = {b.variable: a.variable for a, b in pairs}
    of_wrong, of_right = ({variable_of(n) for n in ast.walk(tree)} for tree in (wrong, right))
    return found | {key: key for key in of_wrong & of_right if key and key[0] == "self"}


def _parameters(function: ast.FunctionDef) -> list[ast.arg]:
    a = function.args
    return [*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs, *([a.kwarg] if a.kwarg else [])]


def _blocks(one: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in BLOCKS:
        if isinstance(block := getattr(one, name, None), list):
            yield block
            for inner in block:
                yield from _blocks(inner)


def nodes_of(one: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement, of one with a block those of its head; and none that means nothing."""
    left: list[ast.AST] = [one]
    while left:
        node = left.pop()
        if not isinstance(node, _SILENT):
            yield node
        for name, value in ast.iter_fields(node):
            is_block = node is one and isinstance(one, ast.stmt) and name in BLOCKS
            if is_block or name in ("annotation", "returns"):
                continue
            left += [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, ast.AST)]


def word_of(node: ast.AST) -> str:
    """What stands for a node, whatever is in it."""
    match node:
        case ast.Name(name) | ast.arg(name):
            return name
        case ast.Attribute(_, name):
            return f".{name}"
        case ast.Constant(value):
            return repr(value)
        case ast.keyword(name):
            return f"{name}="
    return type(node).__name__


def distance(old: ast.AST | None, new: ast.AST | None) -> int:
    """How many nodes one of two has that the other has not; of statements with blocks in their heads."""
    a, b = (Counter(map(word_of, nodes_of(one))) if one is not None else Counter[str]() for one in (old, new))
    return (a - b).total() + (b - a).total()


def _side_by_side(one: ast.AST, other: ast.AST, is_top: bool = True) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The nodes of both at the same places."""
    yield one, other
    for name, value in ast.iter_fields(one):
        if is_top and name in BLOCKS:
            continue
        also = getattr(other, name, None)
        a, b = (v if isinstance(v, list) else [v] for v in (value, also))
        for x, y in zip(a, b, strict=False):
            if isinstance(x, ast.AST) and isinstance(y, ast.AST) and (type(x) is type(y)):
                yield from _side_by_side(x, y, False)
            elif isinstance(x, ast.BinOp) and isinstance(y, ast.AST):
                yield from _side_by_side(x.left, y, False)
            elif isinstance(y, ast.BinOp) and isinstance(x, ast.AST):
                yield from _side_by_side(x, y.left, False)


def differences(old: ast.AST, new: ast.AST) -> list[Pair]:
    """The smallest nodes of a statement that are otherwise in another, and what stands there; its blocks aside."""
    if _spelled(old) == _spelled(new):
        return []
    head = copy.copy(new)
    for name in BLOCKS:
        if hasattr(old, name) and isinstance(old, ast.stmt):
            setattr(head, name, getattr(old, name))
    whole, found = [(old, head)], list[Pair]()
    if type(old) is not type(new):
        return whole
    for name, value in ast.iter_fields(old):
        if name in ("ctx", "annotation", "returns") or (name in BLOCKS and isinstance(old, ast.stmt)):
            continue
        a, b = (v if isinstance(v, list) else [v] for v in (value, getattr(new, name)))
        if len(a) != len(b):
            return whole
        for x, y in zip(a, b, strict=True):
            is_tree = isinstance(x, ast.expr | ast.keyword | ast.comprehension | ast.arguments)
            if is_tree and isinstance(y, ast.AST):
                found += differences(x, y)
            elif _spelled(x) != _spelled(y):
                return whole
    is_less = sum(distance(x, y) for x, y in found) <= distance(old, new) or isinstance(old, ast.stmt)
    return found if found and is_less else whole


def _spelled(node: Any) -> str:
    """The text of a node; of a statement with a block that of its head."""
    if isinstance(node, ast.stmt) and hasattr(node, "body"):
        fields = [f for f in node._fields if f not in (*BLOCKS, "returns", "type_comment")]
        return " ".join([type(node).__name__, *(_spelled(getattr(node, f)) for f in fields)])
    if isinstance(node, list):
        return ", ".join(map(_spelled, node))
    if isinstance(node, (ast.operator, ast.unaryop, ast.cmpop, ast.boolop)):
        return type(node).__name__
    return ast.unparse(node) if isinstance(node, ast.AST) else repr(node)


def edited(tree: Any, edits: Collection[Edit], pairs: Collection[Pair]) -> Any:
    """A copy with what is missing, without what is too much, and with the second of each pair in place of the first."""
    new = {id(one): other for one, other in pairs}
    gone = {id(edit.old) for edit in edits if edit.new is None}
    beside: dict[tuple[int, bool], list[ast.stmt]] = {}
    for edit in edits:
        if edit.old is None and edit.new is not None:
            beside.setdefault((id(edit.beside), edit.is_behind), []).append(edit.new)

    def made(node: Any) -> Any:
        if isinstance(node, list):
            found: list[Any] = []
            for one in node:
                found += beside.get((id(one), False), [])
                found += [made(one)] if id(one) not in gone else []
                found += beside.get((id(one), True), [])
            return found
        if not isinstance(node, ast.AST):
            return node
        one = copy.copy(new.get(id(node), node))
        for name, value in ast.iter_fields(one):
            left = made(value)
            setattr(one, name, [ast.Pass()] if name == "body" and left == [] else left)
        return one

    return made(tree)


def _without_words(node: ast.AST) -> None:
    """Takes docstrings and annotations away."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        node.body = [one for one in node.body if not _is_docstring(one)] or [ast.Pass()]


def _is_docstring(one: ast.stmt) -> bool:
    return isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str)
