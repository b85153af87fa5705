"""The changes: every answer that differs from a given one in one small place.

>>> step = ast.parse("def step(x, h): return x + 2 * h").body[0]
>>> for text in list(edits(step))[1:5]:
...     print(text.splitlines()[-1].strip())
return x - 2 * h
return x * (2 * h)
return x
return 2 * h

What is changed lies in the body of a function, or anywhere in a class; docstrings, annotations and the words of an
error are left alone. What comes out may be nonsense, and need not run: that is for the check to find out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, TypeGuard

from rnncourse.checks.where.kin import COMPARISONS, KIN, OPERATORS

_MODULES = {"np", "torch", "nn", "math", "F", "functional"}


def edits(answer: ast.stmt) -> Iterator[str]:
    """The source of each answer that differs from `answer`, a function or class, in one place; none comes twice."""
    seen = {ast.unparse(answer)}
    for text in _Edits(answer).all():
        if text not in seen:
            seen.add(text)
            yield text


class _Edits:
    """Puts each change into the tree, reads the source off, and takes the change back."""

    def __init__(self, answer: ast.stmt) -> None:
        self.answer = answer
        nodes = list(ast.walk(answer))
        stored = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        self.names = sorted({*stored, *(n.arg for n in nodes if isinstance(n, ast.arg))} - {"self"})
        made = [t for n in nodes if isinstance(n, ast.Assign) for t in n.targets]
        self.made = {n.id for target in made for n in ast.walk(target) if isinstance(n, ast.Name)}
        self.own = sorted({n.attr for n in nodes if _is_own(n) and isinstance(n.ctx, ast.Store)})
        self.words = sorted({n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)})

    def all(self) -> Iterator[str]:
        assert isinstance(self.answer, (ast.FunctionDef, ast.ClassDef))
        yield from self._block(self.answer.body)

    def _put(self, holder: ast.AST | list[ast.AST], key: str | int, new: object) -> Iterator[str]:
        """The source with `new` in that place."""
        if isinstance(holder, list):
            assert isinstance(key, int)
            old, holder[key] = holder[key], new  # type: ignore[call-overload]
            yield ast.unparse(self.answer)
            holder[key] = old
        else:
            old = getattr(holder, str(key))
            setattr(holder, str(key), new)
            yield ast.unparse(self.answer)
            setattr(holder, str(key), old)

    # --- statements

    def _block(self, body: list[ast.stmt]) -> Iterator[str]:
        """Statements dropped, exchanged, moved into a loop and out of it; and what changes inside of each."""
        for changed in _arranged(body):
            before, body[:] = body[:], changed or [ast.Pass()]
            yield ast.unparse(self.answer)
            body[:] = before
        for i, one in enumerate(body):
            if not _is_docstring(one):
                for new in self._restated(one):
                    yield from self._put(body, i, new)  # type: ignore[arg-type]
                yield from self._inside(one)

    def _restated(self, one: ast.stmt) -> Iterator[ast.stmt]:
        """A single statement otherwise."""
        match one:
            case ast.If(test, body, orelse):
                yield from (ast.If(t, body, orelse) for t in (ast.Constant(True), ast.Constant(False), _negated(test)))
            case ast.While(test, body):
                yield ast.While(_negated(test), body, [])
                yield _with_body(one, [*body, ast.Break()])
            case ast.For(target, items, body):
                yield from (ast.For(target, other, body, [], lineno=0) for other in _iterated(items))
                yield _with_body(one, [*body, ast.Break()])
            case ast.Assign([ast.Name(name) as target], value):
                yield ast.AugAssign(target, ast.Add(), value)
                if isinstance(value, ast.BinOp) and isinstance(value.left, ast.Name) and value.left.id == name:
                    yield ast.AugAssign(target, value.op, value.right)
            case ast.AugAssign(target, op, value):
                yield ast.Assign([target], value, lineno=0)
                if isinstance(target, ast.Name) and target.id not in self.made:
                    yield ast.Assign([target], ast.BinOp(target, op, value), lineno=0)
                yield from (ast.AugAssign(target, other(), value) for other in OPERATORS.get(type(op), ()))

    def _inside(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Raise):
            if isinstance(node.exc, ast.Call):  # its words are nobody's business
                yield from self._place(node.exc, "func", node.exc.func)
            return
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "bases"):
                continue
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield from self._block(value)
            elif isinstance(value, list):
                for i, item in enumerate(value):
                    if isinstance(item, ast.AST):
                        yield from self._place(value, i, item)
            elif isinstance(value, ast.AST):
                yield from self._place(node, field, value)

    def _place(self, holder: ast.AST | list[ast.AST], key: str | int, node: ast.AST) -> Iterator[str]:
        for new in self._instead(node):
            yield from self._put(holder, key, new)
        yield from self._inside(node)

    # --- expressions

    def _instead(self, node: ast.AST) -> Iterator[object]:
        """What may stand in a place in which `node` stands now."""
        match node:
            case ast.BinOp(left, op, right):
                for other in OPERATORS.get(type(op), ()):
                    yield ast.BinOp(left, other(), right)
                yield from (left, right)
                if not isinstance(op, (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)):
                    yield ast.BinOp(right, op, left)
            case ast.UnaryOp(_, operand):
                yield operand
            case ast.Compare(left, [op, *ops], [right, *rest]):
                for compare in COMPARISONS[type(op)]:
                    yield ast.Compare(left, [compare(), *ops], [right, *rest])
            case ast.BoolOp(op, values):
                yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
                yield from values
            case ast.IfExp(test, body, orelse):
                yield from (body, orelse, ast.IfExp(_negated(test), body, orelse))
            case ast.Constant():
                yield from (ast.Constant(v) for v in self._constants(node.value))
            case ast.Name(name, ast.Load()):
                others = self.names if name in self.names else _kin(name)
                yield from (ast.Name(other) for other in others if other != name)
            case ast.Attribute(value, attr, ctx):
                others = self.own if _is_own(node) and isinstance(ctx, ast.Load) else _kin(attr)
                yield from (ast.Attribute(value, other, ctx) for other in others if other != attr)
                if isinstance(ctx, ast.Load) and attr in ("T", "data"):
                    yield value
            case ast.Call():
                yield from _calls(node)
            case ast.Subscript(value, index, ast.Load()):
                yield value
                if not isinstance(index, (ast.Constant, ast.Slice, ast.Tuple, ast.UnaryOp)):
                    yield ast.Subscript(value, _plus(index, 1))
                    yield ast.Subscript(value, _plus(index, -1))
            case ast.Slice(lower, upper, step):
                yield ast.Slice(_plus(lower, 1) if lower else ast.Constant(1), upper, step)
                yield ast.Slice(lower, _plus(upper, -1) if upper else ast.Constant(-1), step)
                yield from (ast.Slice(_plus(lower, -1), upper, step),) if lower else ()
                yield from (ast.Slice(lower, _plus(upper, 1), step),) if upper else ()
                yield from (ast.Slice(None, upper, step), ast.Slice(lower, None, step), ast.Slice(lower, upper, None))
            case ast.Tuple(elements) | ast.List(elements):
                yield from (type(node)(e) for e in _without_one(elements) if e)
                yield from (type(node)(e) for e in _exchanged(elements))
            case ast.Dict(keys, values):
                yield from (ast.Dict(k, v) for k, v in zip(_without_one(keys), _without_one(values)))
                yield from (ast.Dict(keys, v) for v in _exchanged(values))
            case ast.comprehension():
                yield from (ast.comprehension(node.target, i, node.ifs, 0) for i in _iterated(node.iter))
                yield from (ast.comprehension(node.target, node.iter, ifs, 0) for ifs in _without_one(node.ifs))
            case ast.arguments(defaults=[_, *fewer]):
                yield ast.arguments(node.posonlyargs, node.args, node.vararg, [], [], node.kwarg, fewer)

    def _constants(self, value: object) -> Iterator[Any]:
        if isinstance(value, bool):
            yield not value
        elif isinstance(value, int):
            yield from sorted({value + 1, value - 1, 0, 1} - {value})
        elif isinstance(value, float):
            yield from sorted({2 * value, value / 2, 0.0, 1.0} - {value})
        elif isinstance(value, str):
            yield from (word for word in self.words if word != value and "\n" not in word and len(word) < 30)


def _arranged(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """The statements of a block, otherwise: one dropped, two exchanged, one in a loop instead of before or after it."""
    for i, one in enumerate(body):
        if not _is_docstring(one):
            yield body[:i] + body[i + 1 :]
    for i, (first, second) in enumerate(pairwise(body)):
        if not _is_docstring(first) and _depend(first, second):
            yield [*body[:i], second, first, *body[i + 2 :]]
        if isinstance(first, (ast.For, ast.While)):
            yield [*body[:i], _with_body(first, [*first.body, second]), *body[i + 2 :]]
            if len(first.body) > 1:
                yield [*body[:i], _with_body(first, first.body[:-1]), first.body[-1], *body[i + 1 :]]
        if isinstance(second, (ast.For, ast.While)):
            if not _is_docstring(first):
                yield [*body[:i], _with_body(second, [first, *second.body]), *body[i + 2 :]]
            if len(second.body) > 1:
                yield [*body[: i + 1], second.body[0], _with_body(second, second.body[1:]), *body[i + 2 :]]


def _calls(call: ast.Call) -> Iterator[ast.expr]:
    """A call without itself, without one of its arguments, with two of them exchanged; a range with other bounds."""
    func, args, keywords = call.func, call.args, call.keywords
    if isinstance(func, ast.Attribute) and not (isinstance(func.value, ast.Name) and func.value.id in _MODULES):
        if not (isinstance(func.value, ast.Call) and getattr(func.value.func, "id", "") == "super"):
            yield func.value
    elif args and not isinstance(args[0], ast.Starred):
        yield args[0]
    yield from (ast.Call(func, fewer, keywords) for fewer in _without_one(args))
    yield from (ast.Call(func, args, fewer) for fewer in _without_one(keywords))
    yield from (ast.Call(func, others, keywords) for others in _exchanged(args))
    if isinstance(func, ast.Name) and func.id == "range":
        for i, bound in enumerate(args):
            for by in (1, -1):
                yield ast.Call(func, [*args[:i], _plus(bound, by), *args[i + 1 :]], [])
        if len(args) == 1:
            yield ast.Call(func, [ast.Constant(1), *args], [])


def _iterated(items: ast.expr) -> Iterator[ast.expr]:
    """Other ways through a loop: without the first, without the last, backwards."""
    for part in ("[1:]", "[:-1]", "[::-1]"):
        yield ast.parse(f"list({ast.unparse(items)}){part}", mode="eval").body


def _depend(first: ast.stmt, second: ast.stmt) -> bool:
    """Whether their order can matter: the second ends the block, or they share a name that one of them sets."""
    if isinstance(second, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        return True
    if isinstance(second, ast.FunctionDef):
        return False
    read = [{_name(n) for n in ast.walk(s)} - {""} for s in (first, second)]
    return bool(read[0] & _written(second) or read[1] & _written(first))


def _written(statement: ast.stmt) -> set[str]:
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


def _name(node: ast.AST) -> str:
    """What a node is called: x, or self.x; nothing for other nodes, and for what nobody reads, `_`."""
    if _is_own(node):
        return f"self.{node.attr}"
    return node.id if isinstance(node, ast.Name) and node.id not in ("_", "self") else ""


def _with_body(loop: ast.For | ast.While, body: list[ast.stmt]) -> ast.stmt:
    if isinstance(loop, ast.For):
        return ast.For(loop.target, loop.iter, body, loop.orelse, lineno=0)
    return ast.While(loop.test, body, loop.orelse)


def _without_one(items: list) -> Iterator[list]:
    return (items[:i] + items[i + 1 :] for i in range(len(items)))


def _exchanged(items: list) -> Iterator[list]:
    return ([*items[:i], items[i + 1], items[i], *items[i + 2 :]] for i in range(len(items) - 1))


def _plus(node: ast.expr, by: int) -> ast.expr:
    return ast.BinOp(node, ast.Add() if by > 0 else ast.Sub(), ast.Constant(abs(by)))


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def _kin(name: str) -> list[str]:
    return [other for line in KIN if name in line.split() for other in line.split()]


def _is_own(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
