"""What may have been meant in the place of statements, and a walk over all places of a program."""

# Nodes of a syntax tree have the fields that their grammar gives them, which mypy does not know.
# mypy: disable-error-code="attr-defined,assignment,arg-type,operator,list-item,misc"

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rnncourse.checks.where import expressions
from rnncourse.checks.where.expressions import Near, instead, is_own, iterated, load, rarely, sliced
from rnncourse.checks.where.kin import OPERATORS
from rnncourse.checks.where.spans import Patch, Spans

Statements = list[ast.stmt]
_FAR = 12  # statements in a block in which each is tried in every place
_FIXED = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Delete, ast.ClassDef)
_SEQUENCES = ("enumerate", "zip", "reversed", "list", "iter", "tuple")
_LOOKED_UP = ("shape", "dtype", "ndim", "size", "device", "training")


@dataclass(frozen=True)
class Found:
    """A change that may be meant: what the slip is called, the patches, and the nodes that it is about."""

    slip: str
    patches: tuple[Patch, ...]
    at: tuple[ast.AST, ...]

    @property
    def kind(self) -> str:
        return self.slip.split("/")[0]


class Slips:
    """All changes of one place: the usual ones are `found` at once, the rare ones, which are many, if asked for."""

    def __init__(self, program: Spans) -> None:
        self.near = Near(program.tree)
        self.found: list[Found] = []
        self._values: list[tuple[ast.expr, list[str]]] = []  # and the names that are known there
        self.block(program.tree.body, [])

    def rare(self) -> Iterator[Found]:
        """What is missing somewhere, of all that could be."""
        for node, known in self._values:
            for slip, new in rarely(node, known, self.near):
                yield Found(slip, (Patch([node], [new]),), (node,))

    # --- statements

    def block(self, body: Statements, known: Sequence[str]) -> list[str]:
        """All slips in a block. `known` are the names that have a value before it; returns those after it."""
        self.arranged(body)
        names = list(known)
        for i, one in enumerate(body):
            if not is_docstring(one):
                self.restated(one, names)
                if isinstance(one, ast.For):
                    self.carried(body[i - 1] if i else None, one, names)
                names = self.inside(one, names)
        return names

    def put(self, slip: str, old: Sequence[ast.AST], new: Sequence[ast.AST], at: Sequence[ast.AST] = ()) -> None:
        self.found.append(Found(slip, (Patch(old, new),), tuple(at or old)))

    def arranged(self, body: Statements) -> None:
        """Statements in another order, in or out of a loop or condition, or without one."""
        free = [not is_docstring(s) and not isinstance(s, _FIXED) for s in body]
        for i, one in enumerate(body):
            if not free[i]:
                continue
            if not isinstance(one, (ast.FunctionDef, ast.Return)):
                if i:
                    self.put("statement removed", body[i - 1 : i + 1], body[i - 1 : i], [one])
                elif len(body) > 1:
                    self.put("statement removed", body[:2], body[1:2], [one])
            if isinstance(one, (ast.For, ast.While, ast.If)):
                self.moved_out(body, i, one)
            if i and free[i - 1]:
                before = body[i - 1]
                if depend(before, one):
                    self.put("statement order", [before, one], [one, before])
                self.moved_in(body, i)
        if len(body) <= _FAR:
            for i, one in enumerate(body):
                for j in (*range(i - 1), *range(i + 2, len(body))):
                    between = body[min(i, j) : max(i, j) + 1]
                    if all(free[min(i, j) : max(i, j) + 1]) and any(depend(a, b) for a, b in pairwise(between)):
                        rest = [s for s in between if s is not one]
                        new = [one, *rest] if j < i else [*rest, one]
                        self.put("statement order/far", between, new, [one])

    def moved_in(self, body: Statements, i: int) -> None:
        """A statement moved into the block before or after it."""
        first, second = body[i - 1], body[i]
        for compound, one, last in ((first, second, True), (second, first, False)):
            if not isinstance(compound, (ast.For, ast.While, ast.If)) or isinstance(one, ast.FunctionDef):
                continue
            inner = [*compound.body, one] if last else [one, *compound.body]
            slip = "moved into the condition" if isinstance(compound, ast.If) else "moved into the loop"
            self.put(slip, [first, second], [_with_body(compound, inner)], [one])
        if isinstance(second, (ast.For, ast.While)):  # and over a statement between
            for k in range(max(i - 3, 0), i - 1):
                if not is_docstring(body[k]) and not isinstance(body[k], (*_FIXED, ast.FunctionDef)):
                    new = [*body[k + 1 : i], _with_body(second, [body[k], *second.body])]
                    self.put("moved into the loop/far", body[k : i + 1], new, [body[k]])

    def moved_out(self, body: Statements, i: int, one: ast.For | ast.While | ast.If) -> None:
        """A statement of a loop or condition moved before or behind it."""
        if body[i] is not one or (isinstance(one, ast.If) and one.orelse):
            return
        kind = "moved out of the condition" if isinstance(one, ast.If) else "moved out of the loop"
        for k, inner in enumerate(one.body):
            rest = one.body[:k] + one.body[k + 1 :]
            if isinstance(inner, (ast.FunctionDef, *_FIXED)):
                continue
            if rest:
                far = "" if k in (0, len(one.body) - 1) else "/far"
                self.put(kind + far, [one], [_with_body(one, rest), inner], [inner])
                if not isinstance(inner, (ast.Return, ast.Break)):
                    self.put(kind + far, [one], [inner, _with_body(one, rest)], [inner])
        if isinstance(one, ast.If):
            self.put("condition/dropped", [one], one.body, [one])

    def restated(self, one: ast.stmt, known: list[str]) -> None:
        """A single statement otherwise."""
        match one:
            case ast.For(_, items):
                for slip, other in iterated(items):
                    self.put(slip, [items], [other])
            case ast.Assign([target], value):
                if isinstance(target, ast.Subscript) or (isinstance(target, ast.Name) and target.id in known):
                    for op in (ast.Add, ast.Mult, ast.Sub):
                        slip = "assignment" if op is ast.Add else "assignment/other"
                        self.put(slip, [one], [ast.AugAssign(target, op(), value)])
            case ast.Assign([*targets], value):
                each = [ast.Assign([t], value, lineno=0) for t in targets]
                copies = [ast.Assign([t], expressions.copied(value, self.near), lineno=0) for t in targets]
                self.put("one array for two", [one], each)
                self.put("one array for two", [one], copies)
            case ast.AugAssign(target, op, value):
                self.put("assignment", [one], [ast.Assign([target], value, lineno=0)])
                self.put("assignment/in place", [one], [ast.Assign([target], ast.BinOp(target, op, value), lineno=0)])
                for other in OPERATORS.get(type(op), ()):
                    self.put("operator", [one], [ast.AugAssign(target, other(), value)])
            case ast.Return(value) if value is not None and not isinstance(value, ast.Constant):
                elements = value.elts if isinstance(value, ast.Tuple) else [value]
                for name in known:
                    slip = "value added/unread" if name in self.near.unread else "value added"
                    self.put(slip, [value], [ast.Tuple([*elements, load(name)], ast.Load())])
                    self.put(slip, [value], [ast.Tuple([load(name), *elements], ast.Load())])

    def carried(self, before: ast.stmt | None, loop: ast.For, known: list[str]) -> None:
        """The state of one step carried on to the next. `before` is the statement before the loop."""
        inside = [n for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Name)]
        over = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
        stored = list(dict.fromkeys(n.id for n in inside if isinstance(n.ctx, ast.Store) and n.id not in over))
        read = list(dict.fromkeys(n.id for n in inside if isinstance(n.ctx, ast.Load)))
        for start in read:
            if start not in known or start in stored or start in over:
                continue
            places = [n for n in inside if n.id == start]
            for state in stored:
                if state not in known and before is not None:
                    begin = ast.Assign([load(state)], load(start), lineno=0)
                    patches = [Patch([before], [before, begin]), *(Patch([n], [load(state)]) for n in places)]
                    self.found.append(Found("state carried", tuple(patches), tuple(places)))
                on = ast.Assign([load(start)], load(state), lineno=0)
                self.put("state carried", [loop.body[-1]], [loop.body[-1], on])

    def kept(self, function: ast.FunctionDef) -> None:
        """What is made or copied when the function is called, not before; a result given back."""
        first = next((s for s in function.body if not is_docstring(s)), None)
        if first is None:
            return
        arguments = function.args.args
        for argument, default in zip(arguments[len(arguments) - len(function.args.defaults) :], function.args.defaults):
            if isinstance(default, (ast.List, ast.Dict, ast.Call, ast.Set)):
                made = ast.Assign([load(argument.arg)], default, lineno=0)
                self.put("made once", [first], [made, first], [default])
        statements = [s for s in ast.walk(function) if isinstance(s, ast.stmt) and not hasattr(s, "body")]
        for argument in arguments:
            writing = [s for s in statements if argument.arg in written(s) and not _is_plain(s)]
            if writing and argument.arg != "self":
                own = ast.Assign([load(argument.arg)], expressions.copied(load(argument.arg), self.near), lineno=0)
                self.put("copy/argument", [first], [own, first], writing[:1])

    # --- expressions

    def inside(self, one: ast.stmt, known: list[str]) -> list[str]:
        """All slips inside a statement. Returns the names that have a value after it."""
        match one:
            case ast.FunctionDef(name, arguments, body):
                for default in (*arguments.defaults, *(d for d in arguments.kw_defaults if d)):
                    self.visit(default, "value", known)
                own = [a.arg for a in ast.walk(arguments) if isinstance(a, ast.arg) and a.arg != "self"]
                self.kept(one)
                after = self.block(body, [*known, *own])
                if not any(isinstance(n, ast.Return) and n.value for n in ast.walk(one)) and name != "__init__":
                    for local in after[len(known) :]:
                        self.put("value returned", body[-1:], [body[-1], ast.Return(load(local))])
                return [*known, name] if known else known
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
            case ast.Try(body, _, orelse, finalbody):
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
                elif value is not None:
                    self.visit(value, "value", known)
            case ast.Raise(ast.Call(ast.Name(name) as func)):
                for other in expressions.kin(name):
                    self.put("function", [func], [load(other)])
        return known

    def target(self, node: ast.expr, known: Sequence[str]) -> None:
        match node:
            case ast.Name(name):
                for other in known:
                    if other != name:
                        self.put("name/target", [node], [load(other)])
            case ast.Tuple(elements):
                for slip, other in instead(node, "target", known, self.near):
                    if slip.startswith("order"):
                        self.put(slip, [node], [other])
                for element in elements:
                    if not isinstance(element, ast.Name):
                        self.target(element, known)
            case ast.Subscript(value):
                for slip, other in instead(node, "target", known, self.near):
                    self.put(slip, [node], [other])
                if isinstance(value, ast.Name):
                    self.target(value, known)
                self.index(node.slice, known)

    def visit(self, node: ast.expr, slot: str, known: Sequence[str]) -> None:
        """All slips at an expression, and inside it."""
        if isinstance(node, (ast.JoinedStr, ast.NamedExpr, ast.Await)):
            return  # Python 3.11 does not know where the parts of an f-string stand
        if not (isinstance(node, ast.Attribute) and node.attr in _LOOKED_UP):
            for slip, other in instead(node, slot, known, self.near):
                self.put(slip, [node], [other])
            if slot == "value" and isinstance(node, expressions.VALUES):
                self._values.append((node, known))
        self.children(node, slot, known)

    def children(self, node: ast.expr, slot: str, known: Sequence[str]) -> None:
        """All slips inside an expression."""
        match node:
            case ast.BinOp(left, _, right):
                self.visit(left, slot, known)
                self.visit(right, slot, known)
            case ast.UnaryOp(op, operand):
                if not isinstance(operand, ast.Constant):
                    self.visit(operand, "test" if isinstance(op, ast.Not) else slot, known)
            case ast.Compare(left, _, comparators):
                for one in (left, *comparators):
                    self.visit(one, "index", known)
            case ast.BoolOp(_, values):
                for one in values:
                    self.visit(one, "test", known)
            case ast.IfExp(test, body, orelse):
                self.visit(test, "test", known)
                self.visit(body, slot, known)
                self.visit(orelse, slot, known)
            case ast.Call(func, args, keywords):
                name = getattr(func, "id", "") or getattr(func, "attr", "")
                inner = "index" if name in ("range", "arange") or slot == "index" else "value"
                if isinstance(func, ast.Attribute):
                    if not expressions.is_module(func.value) and not isinstance(func.value, ast.Constant):
                        self.visit(func.value, "value", known)
                    self.renamed(func, known)
                elif isinstance(func, ast.Name):
                    self.visit(func, "function", known)
                for i, one in enumerate(args):
                    along = i == 1 and name in expressions.ALONG and isinstance(one, ast.Constant)
                    self.visit(one, "axis" if along else "sequence" if name in _SEQUENCES else inner, known)
                for keyword in keywords:
                    self.visit(keyword.value, "axis" if keyword.arg in ("axis", "dim") else "value", known)
            case ast.Subscript(ast.Attribute(value, "shape"), ast.Constant() as number):
                self.visit(number, "axis", known)
                self.visit(value, "object", known)
            case ast.Subscript(value, index):
                self.visit(value, "value", known)
                self.index(index, known)
            case ast.Attribute(value):
                if not expressions.is_module(value) and not is_own(node):
                    self.visit(value, "object" if node.attr in _LOOKED_UP else "value", known)
            case ast.Tuple(elements) | ast.List(elements) | ast.Set(elements):
                for one in elements:
                    self.visit(one, "axis" if slot == "axis" else slot, known)
            case ast.Dict(keys, values):
                for one in (*(k for k in keys if k), *values):
                    self.visit(one, "value", known)
            case ast.Starred(value) | ast.Yield(value) | ast.YieldFrom(value) if value is not None:
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

    def renamed(self, func: ast.Attribute, known: Sequence[str]) -> None:
        """The method or function of a module that is called."""
        for slip, other in instead(func, "function", known, self.near):
            if slip == "function":
                self.put(slip, [func], [other])

    def generators(self, generators: list[ast.comprehension], known: Sequence[str]) -> Sequence[str]:
        for one in generators:
            self.visit(one.iter, "sequence", known)
            known = _more(known, one.target)
            self.target(one.target, [])
            for test in one.ifs:
                self.visit(test, "test", known)
        return known

    def index(self, node: ast.expr, known: Sequence[str]) -> None:
        match node:
            case ast.Tuple(elements):
                for one in elements:
                    self.index(one, known)
            case ast.Slice(lower, upper, step):
                for slip, other in sliced(node):
                    self.put(slip, [node], [other])
                for one in (lower, upper, step):
                    if one is not None:
                        self.visit(one, "index", known)
            case _:
                self.visit(node, "index", known)


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


def _name(node: ast.AST) -> str:
    """What a node is called: x, or self.x; nothing for other nodes, and for what nobody reads, `_`."""
    if is_own(node):
        return f"self.{node.attr}"
    return node.id if isinstance(node, ast.Name) and node.id not in ("_", "self") else ""


def _is_plain(statement: ast.stmt) -> bool:
    """Whether a statement gives names new values, and changes none in place."""
    return isinstance(statement, ast.Assign) and not any(
        isinstance(n, (ast.Subscript, ast.Attribute)) for t in statement.targets for n in ast.walk(t)
    )


def _more(known: Sequence[str], *targets: ast.expr) -> list[str]:
    new = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return list(dict.fromkeys([*known, *(n for n in new if n != "_")]))


def _with_body(one: ast.stmt, body: Statements) -> ast.stmt:
    new = copy.copy(one)
    new.body = body
    return new
