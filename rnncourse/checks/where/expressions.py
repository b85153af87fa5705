"""What may have been meant in the place of an expression: the slips of one line."""

# Nodes of a syntax tree have the fields that their grammar gives them, which mypy does not know.
# mypy: disable-error-code="attr-defined,assignment,arg-type,operator,list-item,misc"

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from rnncourse.checks.where.kin import COMPARISONS, OPERATORS, kin

Slip = tuple[str, ast.AST]  # what it is called, and what stands there then

# further operators that were meant where one of these stands
_MORE: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Div, ast.MatMult, ast.Pow, ast.BitOr),
    ast.Sub: (ast.Div,),
    ast.Mult: (ast.MatMult, ast.Sub, ast.Pow, ast.FloorDiv),
    ast.Div: (ast.Mod,),
    ast.BitXor: (ast.Pow,),
}
_ARRAYS = ("np", "numpy", "torch")  # the modules whose functions may be called under this name
_FUNCTIONS = ("tanh", "exp", "log", "sqrt", "abs")
ALONG = [
    "sum",
    "mean",
    "max",
    "min",
    "argmax",
    "argmin",
    "prod",
    "cumsum",
    "any",
    "all",
    "std",
    "var",
    "argsort",
    "sort",
    "softmax",
    "log_softmax",
]
_JOINS = ["stack", "concatenate", "cat", "split", "flip", "repeat", "take_along_axis", "norm", "expand_dims"]
_REDUCTIONS = ["sum", "mean", "max", "min", "prod", "any", "all", "std", "var", "norm"]
_MADE = ["zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "array", "asarray", "eye"]
VALUES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.UnaryOp)  # that may be arrays
_AXES = (0, 1, -1, 2, (0, 1), -2)


class Near:
    """What a program has that a change of it may use."""

    def __init__(self, tree: ast.Module) -> None:
        nodes = list(ast.walk(tree))
        loaded = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        stored |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        self.unread = stored - loaded - {"self", "_"}
        self.modules = [name for name in _ARRAYS if name in loaded and name not in stored]
        self.has_torch = "torch" in loaded or "nn" in loaded
        self.own = sorted({n.attr for n in nodes if is_own(n)})
        self.words = sorted({n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)})
        self.numbers = sorted({n.value for n in nodes if isinstance(n, ast.Constant) and type(n.value) is int})
        calls = [n for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
        self.called = sorted({c.func.id for c in calls if c.func.id not in stored and c.func.id not in _PLAIN})
        self.helpers = sorted({c.func.id for c in calls if len(c.args) == 1 and c.func.id in self.called})
        self.parts: dict[str, ast.expr] = {}  # what occurs in the program and may be missing elsewhere
        for n in nodes:
            if isinstance(n, (ast.Subscript, ast.Attribute, ast.Call)) and _is_small(n):
                self.parts.setdefault(ast.unparse(n), n)


_PLAIN = [
    "range",
    "len",
    "list",
    "dict",
    "set",
    "tuple",
    "zip",
    "enumerate",
    "reversed",
    "sorted",
    "super",
    "print",
    "isinstance",
    "type",
    "str",
    "iter",
    "next",
]


def _is_small(node: ast.expr) -> bool:
    match node:
        case ast.Subscript(ast.Attribute(ast.Name(), "shape"), ast.Constant()):
            return True
        case ast.Call(ast.Name("len"), [ast.Name()], []):
            return True
        case ast.Attribute(ast.Name("self"), _, ast.Load()):
            return True
    return False


def instead(node: ast.expr, slot: str, known: Sequence[str], near: Near) -> Iterator[Slip]:
    """What may have been meant where `node` stands.

    `slot` says what it is there: a "value", an "index" (a number of steps, too), a "test", or an "axis". `known` are
    the local names that have a value there.
    """
    match node:
        case ast.Name(name):
            yield from _names(name, slot, known, near)
        case ast.Attribute(value, attr):
            yield from (("function", _attribute(value, other)) for other in kin(attr) if other != attr)
            if attr == "T":
                yield "transpose/drop", value
            elif is_own(node):
                yield from (("name/own", _attribute(value, other)) for other in near.own if other != attr)
            if attr in ("data", "real"):
                yield "call removed", value
        case ast.Constant(value):
            yield from _constants(value, slot, near)
            if slot != "axis" and type(value) in (int, float, type(None)):
                yield from (("name/for a constant", load(other)) for other in known)
        case ast.BinOp():
            yield from _operations(node)
        case ast.UnaryOp(op, operand):
            yield ("sign/drop" if isinstance(op, ast.USub) else "condition/not"), operand
        case ast.Compare(left, [op, *ops], [right, *rest]):
            for i, other in enumerate(COMPARISONS[type(op)]):
                yield ("comparison", "comparison/other")[i > 0], ast.Compare(left, [other(), *ops], [right, *rest])
            if not ops:
                yield "condition/not", ast.UnaryOp(ast.Not(), node)
        case ast.BoolOp(op, values):
            yield "condition/and or", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            yield from (("condition/drop", value) for value in values)
        case ast.IfExp(test, body, orelse):
            yield "condition/branches", ast.IfExp(test, orelse, body)
            yield from (("condition/branch", body), ("condition/branch", orelse))
        case ast.Call():
            yield from _calls(node, slot, near)
        case ast.Subscript():
            yield from _subscripts(node, known)
        case ast.Tuple(elements) | ast.List(elements):
            for i, other in _exchanged(elements):
                yield f"order of values/{i}", type(node)(other, ast.Load())
            if len(elements) > 1:
                yield from (("value removed", type(node)(e, ast.Load())) for e in without_one(elements))
        case ast.Dict(keys, values):
            yield from ((f"order of values/{i}", ast.Dict(keys, other)) for i, other in _exchanged(values))
        case ast.ListComp(elt, generators) | ast.GeneratorExp(elt, generators):
            first, *rest = generators
            for slip, new in iterated(first.iter):
                yield slip, type(node)(elt, [ast.comprehension(first.target, new, first.ifs, 0), *rest])
            if first.ifs:
                yield "condition/drop", type(node)(elt, [ast.comprehension(first.target, first.iter, [], 0), *rest])
            if isinstance(node, ast.ListComp):
                yield "direction", _reversed(node)
    if slot == "test" and not isinstance(node, (ast.UnaryOp, ast.Compare)):
        yield "condition/not", ast.UnaryOp(ast.Not(), node)
    if slot == "index" and not isinstance(node, (ast.Constant, ast.Tuple)):
        yield "bound/plus", plus(node, 1)
        yield "bound/minus", plus(node, -1)
        if not isinstance(node, (ast.UnaryOp, ast.BinOp)):
            yield "sign/add", _negative(node)
    if slot == "value" and isinstance(node, VALUES):
        yield from _around(node, known, near)


def _names(name: str, slot: str, known: Sequence[str], near: Near) -> Iterator[Slip]:
    if name in known:
        for other in known:
            if other != name:
                slip = "name/unread" if other in near.unread else "name/like" if _are_alike(name, other) else "name"
                yield slip, load(other)
        if slot == "index":
            yield from (("constant/for a name", ast.Constant(value)) for value in (0, 1))
    else:
        others = kin(name) + [other for other in near.called if name in near.called]
        yield from (("function", load(other)) for other in others if other != name)


def _are_alike(a: str, b: str) -> bool:
    a, b = a.lower(), b.lower()
    return a == b or a.startswith(b) or b.startswith(a) or a.split("_")[0] == b.split("_")[0] or a[-1] == b[-1]


def _constants(value: Any, slot: str, near: Near) -> Iterator[Slip]:
    if isinstance(value, bool):
        yield "constant/truth", ast.Constant(not value)
    elif isinstance(value, int):
        if slot == "axis":
            yield from (("axis", axis(a)) for a in _AXES if a != value)
            return
        near_by = {value + 1: "constant", value - 1: "constant", 0: "constant/0 or 1", 1: "constant/0 or 1"}
        more = dict.fromkeys([2, -value, 2 * value, value // 2, *near.numbers], "constant/other")
        yield from ((slip, number(n)) for n, slip in (more | near_by).items() if n != value)
    elif isinstance(value, float):
        some = [0.0, 1.0, -value, 2 * value, value / 2, 0.5, 2.0, 10 * value, value / 10]
        yield from (("constant/float", number(v)) for v in dict.fromkeys(some) if v != value)
    elif isinstance(value, str):
        words = [w for w in near.words if w != value and "\n" not in w and len(w) < 30]
        yield from (("constant/word", ast.Constant(word)) for word in words)
        if "->" in value:
            yield from (("constant/einsum", ast.Constant(text)) for text in _einsums(value))


def _einsums(text: str) -> Iterator[str]:
    """Other sums: two letters of the result exchanged, one less, two operands exchanged, two letters of an operand."""
    operands, _, result = text.partition("->")
    parts = operands.split(",")
    yield from (f"{operands}->{other}" for _, other in _swapped(result))
    yield from (f"{operands}->{result[:i]}{result[i + 1 :]}" for i in range(len(result)))
    yield from (f"{','.join(other)}->{result}" for _, other in _exchanged(parts))
    for k, part in enumerate(parts):
        yield from (f"{','.join([*parts[:k], other, *parts[k + 1 :]])}->{result}" for _, other in _swapped(part))


def _swapped(text: str) -> Iterator[tuple[int, str]]:
    return ((i, "".join(other)) for i, other in _exchanged(list(text)))


def _operations(node: ast.BinOp) -> Iterator[Slip]:
    left, op, right = node.left, node.op, node.right
    for other in (*OPERATORS.get(type(op), ()), *_MORE.get(type(op), ())):
        power = isinstance(op, ast.BitXor) and other is ast.Pow
        pair = {type(op), other}
        usual = pair <= {ast.Add, ast.Sub} or pair <= {ast.Mult, ast.Div} or pair <= {ast.Mult, ast.MatMult}
        slip = "power" if power else "operator" if usual or ast.FloorDiv in pair else "operator/other"
        yield slip, ast.BinOp(left, other(), right)
    if not isinstance(op, (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)):
        yield "operand order", ast.BinOp(right, op, left)
    if isinstance(op, ast.MatMult):
        yield "operand order/transposed", ast.BinOp(_t(right), op, left)
        yield "operand order/transposed", ast.BinOp(right, op, _t(left))
        yield "operand order/transposed", ast.BinOp(_t(right), op, _t(left))
        yield "transpose/both", ast.BinOp(_t(left), op, _t(right))
    yield "term removed", left
    if not (isinstance(op, ast.Div) and not isinstance(left, ast.Constant)):
        yield "term removed", right
    yield from (("grouping", other) for other in _regrouped(node))


def _regrouped(node: ast.BinOp) -> Iterator[ast.expr]:
    """a + b / c for (a + b) / c and the other way round, whatever the operators."""
    match node:
        case ast.BinOp(ast.BinOp(a, first, b), second, c):
            yield ast.BinOp(a, first, ast.BinOp(b, second, c))
    match node:
        case ast.BinOp(a, first, ast.BinOp(b, second, c)):
            yield ast.BinOp(ast.BinOp(a, first, b), second, c)
    match node:
        case ast.BinOp(ast.BinOp(ast.BinOp(a, first, b), second, c), third, d):
            yield ast.BinOp(a, first, ast.BinOp(ast.BinOp(b, second, c), third, d))
    match node:
        case ast.BinOp(ast.UnaryOp(sign, a), op, b):  # -a + b for -(a + b)
            yield ast.UnaryOp(sign, ast.BinOp(a, op, b))


def _calls(call: ast.Call, slot: str, near: Near) -> Iterator[Slip]:
    """A call without itself, with other arguments; a range with other bounds."""
    func, args, keywords = call.func, call.args, call.keywords
    name = getattr(func, "id", "") or getattr(func, "attr", "")
    method = isinstance(func, ast.Attribute) and not is_module(func.value)
    if isinstance(func, ast.Name) and func.id == "range":
        yield from _ranges(args)
    yield from (("argument order", ast.Call(func, other, keywords)) for _, other in _exchanged(args))
    if method and not _is_super(func.value):
        yield ("copy/drop" if name in ("copy", "clone") else "call removed"), func.value
    elif args and not isinstance(args[0], ast.Starred):
        yield ("direction/drop" if name == "reversed" else "call removed"), args[0]
    if len(args) > 1 and not isinstance(args[1], ast.Starred) and slot == "value" and not method:
        yield "call removed/second", args[1]
    yield from (("argument removed", ast.Call(func, fewer, keywords)) for fewer in without_one(args))
    named = {k.arg for k in keywords}
    for i, k in enumerate(keywords):
        slip = {"axis": "axis/drop", "dim": "axis/drop", "dtype": "dtype", "keepdims": "keepdims"}.get(k.arg or "")
        yield slip or "argument removed", ast.Call(func, args, keywords[:i] + keywords[i + 1 :])
    along = "dim" if near.has_torch and "np" not in near.modules else "axis"
    if (name in ALONG or name in _JOINS) and not named & {"axis", "dim"}:
        yield from (("axis/add", _with(call, **{along: axis(a)})) for a in _AXES if not isinstance(a, tuple))
        if name in ALONG:
            yield "axis/add", _with(call, **{along: axis((0, 1))})
    if name in _REDUCTIONS and not named & {"keepdims", "keepdim"} and (args or keywords):
        yield "keepdims", _with(call, **{"keepdims" if along == "axis" else "keepdim": ast.Constant(True)})
    if name in _MADE and "dtype" not in named:
        yield from (("dtype", _with(call, dtype=load(kind))) for kind in ("float", "bool", "int"))
    if name in ("argsort", "sort") and "kind" not in named:
        yield "argument added", _with(call, kind=ast.Constant("stable"))
    if name in ("max", "amax") and slot == "value" and method:
        yield "largest", ast.BinOp(func.value, ast.Sub(), call)
    if name == "exp" and args:
        most = ast.Call(_attribute(args[0], "max"), [], _keywords(axis=axis(-1), keepdims=ast.Constant(True)))
        yield "largest", ast.Call(func, [ast.BinOp(args[0], ast.Sub(), most)], keywords)


def _ranges(args: list[ast.expr]) -> Iterator[Slip]:
    """Other ways for a range to go."""
    range_ = load("range")
    call = ast.Call(range_, args, [])
    yield "direction", ast.Call(load("reversed"), [call], [])
    for i, bound in enumerate(args[:2]):
        for by in (1, -1):
            if not isinstance(bound, ast.Constant):
                slip = "bound/plus" if by > 0 else "bound/minus"
                yield slip, ast.Call(range_, [*args[:i], plus(bound, by), *args[i + 1 :]], [])
    match args:
        case [end]:
            yield "bound/start", ast.Call(range_, [ast.Constant(1), end], [])
            yield "bound/start", ast.Call(range_, [ast.Constant(1), plus(end, 1)], [])
            yield "direction", ast.Call(range_, [plus(end, -1), number(0), number(-1)], [])
        case [start, end]:
            yield "bound/start", ast.Call(range_, [end], [])
            yield "direction", ast.Call(range_, [plus(end, -1), start, number(-1)], [])
            yield "direction", ast.Call(range_, [start, end, number(-1)], [])
        case [start, end, _]:
            yield "direction", ast.Call(range_, [start, end], [])


def iterated(items: ast.expr) -> Iterator[Slip]:
    """Other ways through a loop."""
    match items:
        case ast.Call(ast.Name("range")):
            return
        case ast.Call(ast.Name("enumerate"), [inner]) | ast.Call(ast.Name("zip"), [inner]):
            return
        case ast.Call(ast.Name("reversed"), [inner]):
            return
        case ast.Subscript(ast.Call(ast.Name("list"), [inner]), ast.Slice()):
            yield "subscript/drop", inner
    yield "direction", _reversed(items)


def _subscripts(node: ast.Subscript, known: Sequence[str]) -> Iterator[Slip]:
    value, index = node.value, node.slice

    def at(new: ast.expr) -> ast.expr:
        return ast.Subscript(value, new, ast.Load())

    if isinstance(node.ctx, ast.Load):
        yield "subscript/drop", value
    match index:
        case ast.Tuple(elements):
            yield from (("order of indices", at(ast.Tuple(other, ast.Load()))) for _, other in _exchanged(elements))
            for fewer in without_one(elements) if len(elements) > 1 else ():
                yield "index removed", at(ast.Tuple(fewer, ast.Load()) if len(fewer) > 1 else fewer[0])
        case ast.Slice():
            yield "axis of an index", at(ast.Tuple([ast.Slice(), index], ast.Load()))
            yield "axis of an index", at(ast.Tuple([ast.Constant(...), index], ast.Load()))
        case _:
            yield "axis of an index", at(ast.Tuple([ast.Slice(), index], ast.Load()))
            yield "axis of an index", at(ast.Tuple([ast.Constant(...), index], ast.Load()))
            yield "bound/slice", at(ast.Slice(None, index))
            yield "bound/slice", at(ast.Slice(index, None))
            yield "bound/slice", at(ast.List([index], ast.Load()))


def sliced(node: ast.Slice) -> Iterator[Slip]:
    """Other slices."""
    lower, upper, step = node.lower, node.upper, node.step
    yield "bound/slice", ast.Slice(plus(lower, 1) if lower else ast.Constant(1), upper, step)
    yield "bound/slice", ast.Slice(lower, plus(upper, -1) if upper else number(-1), step)
    if lower:
        yield "bound/slice", ast.Slice(plus(lower, -1), upper, step)
        yield "bound/slice", ast.Slice(None, upper, step)
    if upper:
        yield "bound/slice", ast.Slice(lower, plus(upper, 1), step)
        yield "bound/slice", ast.Slice(lower, None, step)
    if bool(lower) != bool(upper):
        yield "bound/slice", ast.Slice(upper, lower, step)
    if step:
        yield "direction/drop", ast.Slice(lower, upper, None)
    else:
        yield "direction", ast.Slice(lower, upper, number(-1))


def _around(node: ast.expr, known: Sequence[str], near: Near) -> Iterator[Slip]:
    """A value with something around it, or behind it, that is missing."""
    if not (isinstance(node, ast.Attribute) and node.attr == "T"):
        yield "transpose/add", _attribute(node, "T")
    if not isinstance(node, ast.UnaryOp):
        yield "sign/add", _negative(node)
    if not isinstance(node, (ast.BinOp, ast.UnaryOp)):
        yield "copy/add", copied(node, near)
        yield "direction", _reversed(node)
        yield "subscript/add", ast.Subscript(node, number(0), ast.Load())
        yield "subscript/add", ast.Subscript(node, number(-1), ast.Load())
    for module in near.modules:
        for f in _FUNCTIONS:
            yield f"call added/{f}", ast.Call(_attribute(load(module), f), [node], [])
    for helper in near.helpers:
        yield "call added/helper", ast.Call(load(helper), [node], [])
    if near.has_torch:
        yield "call added/detach", _method(node, "detach")
    yield "term added/one minus", ast.BinOp(number(1), ast.Sub(), node)
    for name in known:
        if name in near.unread:
            yield from _with_name(node, name, "term added/unread")
            if not isinstance(node, ast.Name):
                yield "name/unread for a value", load(name)


def rarely(node: ast.expr, known: Sequence[str], near: Near) -> Iterator[Slip]:
    """The same, of all that could be missing."""
    for f in ("sum", "mean"):
        yield "call added/sum", _method(node, f)
        yield "call added/sum", _method(node, f, axis=axis(0))
        yield "call added/sum", _method(node, f, axis=axis(-1))
        yield "call added/sum", _method(node, f, axis=axis(-1), keepdims=ast.Constant(True))
        yield "call added/sum", _method(node, f, axis=axis((0, 1)))
    yield "dtype/astype", _method(node, "astype", load("float"))
    yield "axis/swap", _method(node, "swapaxes", number(0), number(1))
    yield "term added/constant", ast.BinOp(node, ast.Pow(), number(2))
    yield "term added/constant", ast.BinOp(number(1), ast.Sub(), ast.BinOp(node, ast.Pow(), number(2)))
    yield "term added/constant", plus(node, 1)
    yield "term added/constant", plus(node, -1)
    yield "term added/constant", ast.BinOp(number(2), ast.Mult(), node)
    yield "term added/constant", ast.BinOp(node, ast.Div(), number(2))
    yield "term added/constant", ast.BinOp(number(1), ast.Div(), node)
    if not isinstance(node, (ast.BinOp, ast.UnaryOp)):
        yield "subscript/rare", ast.Subscript(node, ast.Slice(number(1)), ast.Load())
        yield "subscript/rare", ast.Subscript(node, ast.Slice(None, number(-1)), ast.Load())
        for index in ((None, ...), (..., None), (slice(None), None)):
            parts = [ast.Slice() if i == slice(None) else ast.Constant(i) for i in index]
            yield "subscript/rare", ast.Subscript(node, ast.Tuple(parts, ast.Load()), ast.Load())
        for name in known:
            yield "subscript/name", ast.Subscript(node, load(name), ast.Load())
    for name in known:
        if name not in near.unread:
            yield from _with_name(node, name, "term added")
            if not isinstance(node, ast.Name):
                yield "name/for a value", load(name)
    for part in near.parts.values():
        for op in (ast.Add, ast.Mult, ast.Div, ast.Sub):
            yield "term added/part", ast.BinOp(node, op(), part)


def _with_name(node: ast.expr, name: str, slip: str) -> Iterator[Slip]:
    for op in (ast.Add, ast.Mult, ast.Div, ast.Sub, ast.MatMult):
        yield slip, ast.BinOp(node, op(), load(name))
    yield slip, ast.BinOp(node, ast.Mult(), one_minus_square(name))


def one_minus_square(name: str) -> ast.expr:
    """What tanh has as its derivative."""
    return ast.BinOp(number(1), ast.Sub(), ast.BinOp(load(name), ast.Pow(), number(2)))


# --- nodes


def load(name: str) -> ast.Name:
    """The name as a value."""
    return ast.Name(name, ast.Load())


def number(value: float) -> ast.expr:
    """A number as Python's parser has it: a negative one is minus a number."""
    return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if value < 0 else ast.Constant(value)


def axis(value: int | tuple[int, ...]) -> ast.expr:
    """An axis, or several."""
    return number(value) if isinstance(value, int) else ast.Tuple([number(v) for v in value], ast.Load())


def plus(node: ast.expr, by: int) -> ast.expr:
    """The node plus a number; if the node is itself something plus or minus a number, that number changes."""
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, ast.Constant(int(n))):
            total = (n if isinstance(op, ast.Add) else -n) + by
            return plus(left, total) if total else left
        case ast.Constant(int(n)):
            return number(n + by)
        case ast.UnaryOp(ast.USub(), ast.Constant(int(n))):
            return number(by - n)
    return ast.BinOp(node, ast.Add() if by > 0 else ast.Sub(), ast.Constant(abs(by)))


def copied(node: ast.expr, near: Near) -> ast.expr:
    """A copy of a value."""
    return _method(node, "clone" if near.has_torch and "np" not in near.modules else "copy")


def _negative(node: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.USub(), node)


def _t(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Attribute) and node.attr == "T" else _attribute(node, "T")


def _attribute(value: ast.expr, attr: str) -> ast.Attribute:
    return ast.Attribute(value, attr, ast.Load())


def _method(value: ast.expr, method: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
    return ast.Call(_attribute(value, method), list(args), _keywords(**keywords))


def _keywords(**keywords: ast.expr) -> list[ast.keyword]:
    return [ast.keyword(name, value) for name, value in keywords.items()]


def _with(call: ast.Call, **keywords: ast.expr) -> ast.Call:
    return ast.Call(call.func, call.args, [*call.keywords, *_keywords(**keywords)])


def _reversed(node: ast.expr) -> ast.Subscript:
    return ast.Subscript(node, ast.Slice(None, None, number(-1)), ast.Load())


def _exchanged(items: list) -> Iterator[tuple[int, list]]:
    """Two of the items exchanged, neighbours first; with their distance, 1 or 2 for more."""
    for i, j in sorted(combinations(range(len(items)), 2), key=lambda pair: pair[1] - pair[0]):
        other = list(items)
        other[i], other[j] = items[j], items[i]
        if len(items) <= 6 or j == i + 1:
            yield min(j - i, 2), other


def without_one(items: list) -> Iterator[list]:
    """The items less one of them."""
    return (items[:i] + items[i + 1 :] for i in range(len(items)))


def is_own(node: ast.AST) -> bool:
    """Whether the node is self.something."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def is_module(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return is_module(node.value)
    return isinstance(node, ast.Name) and node.id in {"np", "numpy", "torch", "nn", "math", "F", "functional"}


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "super"
