"""What may have been meant in the place of statements, and a walk over all places of a program."""

# Nodes of a syntax tree have the fields that their grammar gives them, which mypy does not know.
# mypy: disable-error-code="attr-defined,assignment,arg-type,operator,list-item,misc"

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rnncourse.checks.slips.expressions import (
    ALONG,
    OPERATORS,
    VALUES,
    Near,
    instead,
    is_module,
    is_own,
    iterated,
    load,
    missing,
    sliced,
    taken_for,
)
from rnncourse.checks.slips.text import Patch

Statements = list[ast.stmt]
_FIXED = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Delete, ast.ClassDef)
_LOOPS = (ast.For, ast.While)
_SEQUENCES = ("enumerate", "zip", "reversed", "list", "iter", "tuple")
FARTHEST = 4  # statements over which one is moved
_LOOKED_UP = ("shape", "dtype", "ndim", "size", "device", "training")


@dataclass(frozen=True)
class Slip:
    """A change that may be meant: its name, "kind" or "kind/which", the patches, and the nodes that it is about."""

    name: str
    patches: tuple[Patch, ...]
    at: tuple[ast.AST, ...]

    @property
    def kind(self) -> str:
        return self.name.split("/")[0]


class Slips:
    """All changes of one place of a program: the usual ones are `found` at once."""

    def __init__(self, tree: ast.Module) -> None:
        self.near = Near(tree)
        self.found: list[Slip] = []
        self._values: list[tuple[ast.expr, Sequence[str]]] = []  # and the names that are known there
        for one in tree.body:
            self.inside(one, [])

    def missing(self) -> Iterator[Slip]:
        """What is missing somewhere, of all that could be."""
        for node, known in self._values:
            for name, new in missing(node, known, self.near):
                yield Slip(name, (Patch([node], [new]),), (node,))

    def put(self, name: str, old: Sequence[ast.AST], new: Sequence[ast.AST], at: Sequence[ast.AST] = ()) -> None:
        self.found.append(Slip(name, (Patch(old, new),), tuple(at or old)))

    # --- blocks

    def block(self, body: Statements, known: Sequence[str]) -> list[str]:
        """All slips in a block. `known` are the names that have a value before it; returns those after it."""
        self.arranged(body, known)
        names = list(known)
        for one in body:
            if not is_docstring(one):
                self.restated(one, names)
                names = self.inside(one, names)
        return names

    def arranged(self, body: Statements, known: Sequence[str]) -> None:
        """Statements in another order, in or out of a loop or condition, or without one."""
        free = [not is_docstring(s) and not isinstance(s, _FIXED) for s in body]
        for i, one in enumerate(body):
            if not is_docstring(one):
                self.removed(body, i)
            if not free[i]:
                continue
            if isinstance(one, (*_LOOPS, ast.If)):
                self.moved_out(body, i)
            if i and free[i - 1]:
                if depend(body[i - 1], one) and not isinstance(one, ast.Return):  # nothing is run behind a return
                    self.put("statement order", [body[i - 1], one], [one, body[i - 1]])
                self.moved_in(body, i)
            self.moved_far(body, i, free)
            self.overwritten(body, i, known)
            self.thrown_away(body, i)

    def removed(self, body: Statements, i: int) -> None:
        at = [node for node in ast.walk(body[i]) if isinstance(node, ast.stmt)]  # all lines of a block
        if i:
            self.put("statement removed", body[i - 1 : i + 1], body[i - 1 : i], at)
        else:
            self.put("statement removed", body[:2], body[1:2] or [ast.Pass()], at)

    def moved_far(self, body: Statements, i: int, free: Sequence[bool]) -> None:
        """A statement moved over several others."""
        for j in range(i + 2, min(i + 1 + FARTHEST, len(body))):
            if not all(free[i : j + 1]):
                return
            part = body[i : j + 1]
            if any(depend(part[0], other) for other in part[1:]):
                self.put("statement order/far", part, [*part[1:], part[0]], part[:1])
            if any(depend(other, part[-1]) for other in part[:-1]) and not isinstance(part[-1], ast.Return):
                self.put("statement order/far", part, [part[-1], *part[:-1]], part[-1:])

    def overwritten(self, body: Statements, i: int, known: Sequence[str]) -> None:
        """A name that is given to something else too soon: what follows at once means the new value, the rest the
        old one.
        """
        match body[i]:
            case ast.Assign([ast.Name(name) as target]) if name in {*known, *_more((), *_targets(body[:i]))}:
                pass
            case _:
                return
        uses: list[ast.AST] = [target]
        for one in body[i + 1 : -1]:
            if name in written(one):
                return
            own = [n for n in ast.walk(one) if isinstance(n, ast.Name) and n.id == name]
            uses += own
            if own:
                new = f"{name}_at_first"
                patches = [Patch([n], [ast.Name(new, n.ctx)]) for n in uses]
                self.found.append(Slip("name/overwritten", tuple(patches), (body[i],)))

    def thrown_away(self, body: Statements, i: int) -> None:
        """The value that goes to `_`, where another one of the same call is used, as in `_, h = rnn(x)`."""
        match body[i]:
            case ast.Assign([ast.Tuple(targets)]) if thrown := [t for t in targets if getattr(t, "id", "") == "_"]:
                names = {t.id for t in targets if isinstance(t, ast.Name)} - {"_"}
            case _:
                return
        for node in (n for one in body[i + 1 :] for n in ast.walk(one)):
            if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load):
                new = f"{node.id}_thrown_away"
                for one in thrown:
                    patches = Patch([one], [ast.Name(new, ast.Store())]), Patch([node], [load(new)])
                    self.found.append(Slip("name/thrown away", patches, (body[i], node)))

    def moved_in(self, body: Statements, i: int) -> None:
        """A statement moved into the block before or after it."""
        first, second = body[i - 1], body[i]
        for compound, one in ((first, second), (second, first)):
            if isinstance(compound, (*_LOOPS, ast.If)) and not isinstance(one, ast.FunctionDef):
                inner = [*compound.body, one] if one is second else [one, *compound.body]
                name = "moved into the condition" if isinstance(compound, ast.If) else "moved into the loop"
                self.put(name, [first, second], [_with_body(compound, inner)], [one])

    def moved_out(self, body: Statements, i: int) -> None:
        """A statement of a loop or condition moved before or behind it."""
        one = body[i]
        if isinstance(one, ast.If) and one.orelse:
            return
        kind = "moved out of the condition" if isinstance(one, ast.If) else "moved out of the loop"
        last = len(one.body) - 1
        for k, inner in enumerate(one.body if last else ()):
            if isinstance(inner, (ast.FunctionDef, *_FIXED)):
                continue
            rest = _with_body(one, one.body[:k] + one.body[k + 1 :])
            self.put(kind if k == last and i + 1 < len(body) else f"{kind}/far", [one], [rest, inner], [inner])
            if not isinstance(inner, (ast.Return, ast.Break)):
                self.put(kind if k == 0 and i else f"{kind}/far", [one], [inner, rest], [inner])

    # --- single statements

    def restated(self, one: ast.stmt, known: list[str]) -> None:
        """A single statement otherwise."""
        if isinstance(one, _LOOPS):
            self.put("bound/one round", [one], [_with_body(one, [*one.body, ast.Break()])])
            for i, inner in enumerate(one.body):
                match inner:
                    case ast.Assign([ast.Name(name) as target], value) if name not in known:
                        zero = ast.Assign([target], ast.Constant(0), lineno=0)
                        added = [*one.body[:i], ast.AugAssign(target, ast.Add(), value), *one.body[i + 1 :]]
                        self.put("assignment/summed", [one], [zero, _with_body(one, added)], [inner])
        match one:
            case ast.If(test) | ast.While(test):
                for truth in (True, False) if isinstance(one, ast.If) else ():
                    self.put("condition/always" if truth else "condition/never", [test], [ast.Constant(truth)])
                if isinstance(test, (ast.UnaryOp, ast.Compare)):
                    self.put("condition/not", [test], [ast.UnaryOp(ast.Not(), test)])
            case ast.Break() | ast.Continue():
                self.put("break or continue", [one], [ast.Continue() if isinstance(one, ast.Break) else ast.Break()])
            case ast.For(_, items):
                for name, other in iterated(items):
                    self.put(name, [items], [other])
            case ast.Assign([target], value):
                if isinstance(target, ast.Subscript) or (isinstance(target, ast.Name) and target.id in known):
                    for op in (ast.Add, ast.Mult, ast.Sub):
                        name = "assignment" if op is ast.Add and isinstance(target, ast.Name) else "assignment/other"
                        self.put(name, [one], [ast.AugAssign(target, op(), value)])
                    if isinstance(value, ast.BinOp) and ast.unparse(value.left) == ast.unparse(target):
                        self.put("assignment/in place", [one], [ast.AugAssign(target, value.op, value.right)])
            case ast.Assign([ast.Attribute() as target], value) if self.near.has_torch and is_own(target):
                parameter = ast.Attribute(load("nn"), "Parameter", ast.Load())
                self.put("call added/parameter", [value], [ast.Call(parameter, [value], [])])
            case ast.AugAssign(target, op, value):
                self.put("assignment", [one], [ast.Assign([target], value, lineno=0)])
                made = isinstance(target, ast.Name) and target.id not in self.near.made
                name = "assignment/in place" if made else "assignment/of one's own"
                self.put(name, [one], [ast.Assign([target], ast.BinOp(target, op, value), lineno=0)])
                for other in OPERATORS.get(type(op), ()):
                    self.put("operator", [one], [ast.AugAssign(target, other(), value)])
            case ast.Return(value) if value is not None and not isinstance(value, ast.Constant):
                elements = value.elts if isinstance(value, ast.Tuple) else [value]
                for local in known:
                    self.put("value added", [value], [ast.Tuple([*elements, load(local)], ast.Load())])
                    self.put("value added", [value], [ast.Tuple([load(local), *elements], ast.Load())])

    def inside(self, one: ast.stmt, known: list[str]) -> list[str]:
        """All slips inside a statement. Returns the names that have a value after it."""
        match one:
            case ast.FunctionDef(_, arguments, body):
                for default in (*arguments.defaults, *(d for d in arguments.kw_defaults if d)):
                    self.visit(default, "value", known)
                own = [a.arg for a in ast.walk(arguments) if isinstance(a, ast.arg) and a.arg != "self"]
                self.block(body, [*known, *own])
            case ast.ClassDef():
                self.block(one.body, known)
            case ast.For(target, items, body, orelse):
                self.visit(items, "sequence", known)
                self.target(target, known)
                return self.block(orelse, self.block(body, _more(known, target)))
            case ast.While(test, body, orelse) | ast.If(test, body, orelse):
                self.visit(test, "test", known)
                return self.block(orelse, self.block(body, known))
            case ast.With(_, body):
                return self.block(body, known)
            case ast.Try(body, handlers, orelse, finalbody):
                for handler in handlers:
                    self.block(handler.body, known)
                return self.block(finalbody, self.block(orelse, self.block(body, known)))
            case ast.Assign(targets, value):
                self.visit(value, "value", known)
                for target in targets:
                    self.target(target, known)
                return _more(known, *targets)
            case ast.AugAssign(target, _, value) | ast.AnnAssign(target, _, value):
                if value is not None:
                    self.visit(value, "value", known)
                self.target(target, known)
                return _more(known, target)
            case ast.Return(value) | ast.Expr(value) if value is not None:
                if isinstance(value, (ast.Yield, ast.YieldFrom)):
                    value = value.value
                if isinstance(one, ast.Expr) and isinstance(value, ast.Call):
                    self.children(value, "value", known)
                    for name, other in instead(value, "statement", known, self.near):
                        self.put(name, [value], [other])
                elif value is not None:
                    self.visit(value, "value", known)
            case ast.Raise(ast.Call(ast.Name(name) as func)):
                for other in taken_for(name):
                    self.put("function", [func], [load(other)])
        return known

    # --- expressions

    def target(self, node: ast.expr, known: Sequence[str]) -> None:
        match node:
            case ast.Name(name):
                for other in known:
                    if other != name:
                        self.put("name/target", [node], [load(other)])
            case ast.Tuple(elements):
                for name, other in instead(node, "target", known, self.near):
                    self.put(name, [node], [other])
                for element in elements:
                    if not isinstance(element, ast.Name):
                        self.target(element, known)
            case ast.Subscript(value):
                for name, other in instead(node, "target", known, self.near):
                    self.put(name, [node], [other])
                if isinstance(value, ast.Name):
                    for other in known:
                        if other != value.id:
                            self.put("name", [value], [load(other)])
                self.index(node.slice, known, "count")

    def visit(self, node: ast.expr, slot: str, known: Sequence[str]) -> None:
        """All slips at an expression, and inside it."""
        if isinstance(node, (ast.JoinedStr, ast.Await)):
            return  # Python 3.11 does not know where the parts of an f-string stand
        if not (isinstance(node, ast.Attribute) and node.attr in _LOOKED_UP):
            for name, other in instead(node, slot, known, self.near):
                self.put(name, [node], [other])
            if slot == "value" and isinstance(node, VALUES):
                self._values.append((node, known))
        self.children(node, slot, known)

    def children(self, node: ast.expr, slot: str, known: Sequence[str]) -> None:
        """All slips inside an expression."""
        slot = "number" if slot == "index" else slot
        match node:
            case ast.BinOp(left, _, right):
                self.visit(left, slot, known)
                self.visit(right, slot, known)
            case ast.UnaryOp(op, operand):
                self.visit(operand, "test" if isinstance(op, ast.Not) else slot, known)
            case ast.Compare(left, _, comparators):
                for one in (left, *comparators):
                    self.visit(one, "count", known)
            case ast.BoolOp(_, values):
                for one in values:
                    self.visit(one, "test", known)
            case ast.IfExp(test, body, orelse):
                self.visit(test, "test", known)
                self.visit(body, slot, known)
                self.visit(orelse, slot, known)
            case ast.Call():
                self.call(node, slot, known)
            case ast.Subscript(ast.Attribute(value, "shape"), ast.Constant() as number):
                self.visit(number, "axis", known)
                self.visit(value, "object", known)
            case ast.Subscript(value, index):
                self.visit(value, "value", known)
                self.index(index, known)
            case ast.Attribute(value):
                if not is_module(value) and not is_own(node):
                    self.visit(value, "object" if node.attr in _LOOKED_UP else "value", known)
            case ast.Tuple(elements) | ast.List(elements) | ast.Set(elements):
                for one in elements:
                    self.visit(one, slot, known)
            case ast.Dict(keys, values):
                for one in (*(k for k in keys if k), *values):
                    self.visit(one, "value", known)
            case ast.Starred(value) | ast.Yield(value) | ast.YieldFrom(value) | ast.NamedExpr(_, value) if value:
                self.visit(value, "object", known)
            case ast.ListComp(elt, generators) | ast.GeneratorExp(elt, generators) | ast.SetComp(elt, generators):
                self.visit(elt, "value", self.generators(generators, known))
            case ast.DictComp(key, value, generators):
                known = self.generators(generators, known)
                self.visit(key, "object", known)
                self.visit(value, "value", known)
            case ast.Lambda(arguments, body):
                own = [a.arg for a in ast.walk(arguments) if isinstance(a, ast.arg)]
                self.visit(body, "value", [*known, *own])

    def call(self, node: ast.Call, slot: str, known: Sequence[str]) -> None:
        """All slips inside a call: at the function or the object, and at the arguments."""
        func = node.func
        name = getattr(func, "id", "") or getattr(func, "attr", "")
        if isinstance(func, ast.Attribute):
            if not is_module(func.value) and not isinstance(func.value, ast.Constant):
                self.visit(func.value, "value", known)
            for slip, other in instead(func, "function", known, self.near):
                if slip in ("function", "function/copying"):
                    self.put(slip, [func], [other])
        elif isinstance(func, ast.Name):
            self.visit(func, "function", known)
        inner = "sequence" if name in _SEQUENCES else "count" if name in ("range", "arange") else slot
        for i, one in enumerate(node.args):
            along = i == 1 and name in ALONG and isinstance(one, ast.Constant)
            self.visit(one, "axis" if along else inner if inner in ("sequence", "count") else "value", known)
        for keyword in node.keywords:
            self.visit(keyword.value, "axis" if keyword.arg in ("axis", "dim") else "value", known)

    def generators(self, generators: list[ast.comprehension], known: Sequence[str]) -> Sequence[str]:
        for one in generators:
            self.visit(one.iter, "sequence", known)
            known = _more(known, one.target)
            self.target(one.target, [])
            for name, other in iterated(one.iter):
                self.put(name, [one.iter], [other])
            for test in one.ifs:
                self.visit(test, "test", known)
                self.put("condition/always", [test], [ast.Constant(True)])
        return known

    def index(self, node: ast.expr, known: Sequence[str], slot: str = "index") -> None:
        match node:
            case ast.Tuple(elements):
                for one in elements:
                    self.index(one, known, slot)
            case ast.Slice(lower, upper, step):
                for name, other in sliced(node):
                    self.put(name, [node], [other])
                for one in (lower, upper, step):
                    if one is not None:
                        self.visit(one, "number", known)
            case _:
                self.visit(node, slot, known)


def depend(first: ast.stmt, second: ast.stmt) -> bool:
    """Whether their order can matter: the second ends the block, or they share a name that one of them sets."""
    if isinstance(second, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        return True
    if isinstance(second, ast.FunctionDef):
        return False
    read = [{_name(n) for n in ast.walk(s)} - {""} for s in (first, second)]
    return bool(read[0] & written(second) or read[1] & written(first))


def written(statement: ast.stmt) -> set[str]:
    """The names that a statement sets, or whose values it changes: x = …, x[i] = …, x.append(…)."""
    places = [n for n in ast.walk(statement) if isinstance(getattr(n, "ctx", None), ast.Store)]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        places.append(statement.value.func)
    found = set()
    for place in places:
        while not _name(place) and isinstance(place, (ast.Subscript, ast.Attribute)):
            place = place.value
        found.add(_name(place))
    return found - {""}


def is_docstring(node: ast.stmt) -> bool:
    """Whether the statement is a string and nothing else."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _targets(body: Statements) -> list[ast.expr]:
    return [target for one in body if isinstance(one, ast.Assign) for target in one.targets]


def _name(node: ast.AST) -> str:
    """What a node is called: x, or self.x; nothing for other nodes, and for what nobody reads, `_`."""
    if is_own(node):
        return f"self.{node.attr}"
    return node.id if isinstance(node, ast.Name) and node.id not in ("_", "self") else ""


def _more(known: Sequence[str], *targets: ast.expr) -> list[str]:
    new = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return list(dict.fromkeys([*known, *(n for n in new if n != "_")]))


def _with_body(one: ast.stmt, body: Statements) -> ast.stmt:
    new = copy.copy(one)
    new.body = body
    return new
