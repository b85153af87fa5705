"""What may have been meant in the place of an expression: the slips of one line."""

# Nodes of a syntax tree have the fields that their grammar gives them, which mypy does not know.
# mypy: disable-error-code="attr-defined,assignment,arg-type,operator,list-item,misc"

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import combinations
from typing import Any

Other = tuple[str, ast.AST]  # the name of the slip, and what stands there then

# Functions that are easily taken for each other: a name is exchanged for the others of its line.
ALIKE = (
    "sum mean max min prod numel",
    "tanh exp log sqrt sin abs relu sigmoid",
    "Tanh Sigmoid ReLU Identity",
    "zeros ones",
    "zeros_like ones_like",
    "concatenate stack cat hstack vstack",
    "maximum minimum",
    "argmax argmin",
    "cumsum cumprod",
    "any all",
    "argsort sort",
    "float64 float32 int64",
    "int float round",
    "append extend",
    "ValueError TypeError",
    "is_floating_point is_complex",
    "eye ones",
    "asarray array ascontiguousarray",
)
OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Mult),
    ast.Mult: (ast.Add, ast.Div),
    ast.Div: (ast.Mult, ast.FloorDiv, ast.Sub),
    ast.FloorDiv: (ast.Div, ast.Mult, ast.Mod),
    ast.Mod: (ast.FloorDiv, ast.Mult),
    ast.Pow: (ast.Mult, ast.Add),
    ast.MatMult: (ast.Mult, ast.Add),
    ast.BitAnd: (ast.BitOr, ast.BitXor),
    ast.BitOr: (ast.BitAnd, ast.BitXor),
    ast.BitXor: (ast.BitAnd, ast.BitOr),
}
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt, ast.NotEq),
    ast.LtE: (ast.Lt, ast.GtE, ast.Eq),
    ast.Gt: (ast.GtE, ast.Lt, ast.NotEq),
    ast.GtE: (ast.Gt, ast.LtE, ast.Eq),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq, ast.Lt, ast.Gt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
# further operators that were meant where one of these stands
_MORE: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Div, ast.MatMult, ast.Pow, ast.BitOr),
    ast.Sub: (ast.Div,),
    ast.Mult: (ast.MatMult, ast.Sub, ast.Pow, ast.FloorDiv),
    ast.Div: (ast.Mod,),
}
_ARRAYS = ("np", "numpy", "torch")  # the modules whose functions may be called under this name
_COPYING = ("asarray", "array", "ascontiguousarray")
_FUNCTIONS = ("tanh", "exp", "log", "sqrt", "abs")


def _words(text: str) -> list[str]:
    return text.split()


ALONG = _words("sum mean max min argmax argmin prod cumsum any all std var argsort sort softmax log_softmax")
_JOINS = _words("stack concatenate cat split flip repeat take_along_axis norm expand_dims")
_REDUCTIONS = _words("sum mean max min prod any all std var norm")
_MADE = _words("zeros ones empty full zeros_like ones_like empty_like array asarray eye")
VALUES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.UnaryOp)  # that may be arrays
_AXES = (0, 1, -1, 2, (0, 1), -2)
_NARROW = _words("uint8 int8 uint16 int16")
_STACKS = _words("stack array asarray concatenate cat vstack")
MOST_LIKE = 3  # arguments whose dtype may have been meant
MOST_ELSEWHERE = 8  # expressions of other lines that may have been meant


class Near:
    """What a program has that a change of it may use."""

    def __init__(self, tree: ast.Module) -> None:
        nodes = list(ast.walk(tree))
        loaded = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        taken = [n.arg for n in nodes if isinstance(n, ast.arg) and n.arg != "self"]
        stored |= {"self", *taken}
        self.taken = list(dict.fromkeys(taken))
        self.made = {t.id for n in nodes if isinstance(n, ast.Assign) for t in _names_in(n.targets)}
        self.unread = stored - loaded - {"self", "_"}
        self.modules = [name for name in _ARRAYS if name in loaded and name not in stored]
        self.has_torch = "torch" in loaded or "nn" in loaded
        self.own = sorted({n.attr for n in nodes if is_own(n) and isinstance(n.ctx, ast.Store)})
        self.words = sorted({n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)})
        self.numbers = sorted({n.value for n in nodes if isinstance(n, ast.Constant) and type(n.value) is int})
        self.entries = _different(n for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load))


def _names_in(nodes: Sequence[ast.AST]) -> Iterator[ast.Name]:
    return (n for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name))


def _different(nodes: Iterable[ast.expr]) -> list[ast.expr]:
    """Those that are spelled differently; of what is no slice or table, and not too many."""
    found = {ast.unparse(node): node for node in nodes}
    return list(found.values())[:MOST_ELSEWHERE]


def taken_for(name: str) -> list[str]:
    """The functions that `name` is easily taken for, and itself."""
    return [other for line in ALIKE if name in line.split() for other in line.split()]


def instead(node: ast.expr, slot: str, known: Sequence[str], near: Near) -> Iterator[Other]:
    """What may have been meant where `node` stands.

    `slot` says what it is there: a "value", an "index", a "count" of steps, a "test", an "axis", …. `known` are the
    local names that have a value there.
    """
    match node:
        case ast.Name(name):
            yield from _names(name, slot, known, near)
        case ast.Attribute(value, attr):
            kind = "function/copying" if attr in _COPYING else "function"
            yield from ((kind, _attribute(value, other)) for other in taken_for(attr) if other != attr)
            if attr in _NARROW:
                yield "dtype/wide", _attribute(value, "int64")
            if attr == "T":
                yield "transpose/drop", value
            elif is_own(node):
                yield from (("name/own", _attribute(value, other)) for other in near.own if other != attr)
        case ast.Constant(value):
            yield from _constants(value, slot, near)
            if slot != "axis" and type(value) in (int, float, type(None)):
                yield from (("name/for a constant", load(other)) for other in known)
                yield from (("name/for a constant", _attribute(load("self"), other)) for other in near.own)
        case ast.BinOp():
            yield from _operations(node)
        case ast.UnaryOp(op, operand):
            yield ("sign/drop" if isinstance(op, ast.USub) else "condition/not"), operand
            if slot == "axis" and isinstance(operand, ast.Constant):
                yield from (("axis/other", axis(a)) for a in _AXES if isinstance(a, tuple) or a >= 0)
        case ast.Compare(left, [op, *ops], [right, *rest]):
            for i, other in enumerate(COMPARISONS[type(op)]):
                yield ("comparison", "comparison/other")[i > 0], ast.Compare(left, [other(), *ops], [right, *rest])
            if isinstance(op, ast.Gt):
                yield "comparison/unequal", ast.Compare(left, [ast.NotEq(), *ops], [right, *rest])
            if not ops:
                yield from (("condition/not", ast.UnaryOp(ast.Not(), node)),) if slot == "test" else ()
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
                yield _near_or_far("order of values", i), type(node)(other, node.ctx)
            if len(elements) > 1 and isinstance(node.ctx, ast.Load):
                yield from (("value removed", type(node)(e, ast.Load())) for e in without_one(elements))
        case ast.Dict(keys, values):
            yield from ((_near_or_far("order of values", i), ast.Dict(keys, v)) for i, v in _exchanged(values))
            for fewer, less in zip(without_one(keys), without_one(values), strict=True):
                yield "value removed", ast.Dict(fewer, less)
        case ast.ListComp():
            yield "direction/other", _reversed(node)
    if slot == "test" and not isinstance(node, (ast.UnaryOp, ast.Compare)):
        yield "condition/not", ast.UnaryOp(ast.Not(), node)
        if not isinstance(node, ast.BoolOp):
            yield "condition/given", ast.Compare(node, [ast.IsNot()], [ast.Constant(None)])
    if slot in ("index", "count") and not isinstance(node, (ast.Constant, ast.Tuple)):
        for by in (1, -1):
            yield "bound" if slot == "index" and not isinstance(node, ast.UnaryOp) else "bound/other", plus(node, by)
        if not isinstance(node, (ast.UnaryOp, ast.BinOp)):
            yield "sign/add", _negative(node)
    if slot == "value" and isinstance(node, VALUES):
        yield from _around(node, known, near)


def _names(name: str, slot: str, known: Sequence[str], near: Near) -> Iterator[Other]:
    if name in known:
        for other in known:
            if other != name:
                yield "name", load(other)
        if slot in ("index", "number", "count"):
            yield from (("constant/for a name", ast.Constant(value)) for value in (0, 1))
    else:
        yield from (("function", load(other)) for other in taken_for(name) if other != name)


def _constants(value: Any, slot: str, near: Near) -> Iterator[Other]:
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int):
        kind = "axis" if slot == "axis" else "constant"
        usual = dict.fromkeys([value + 1, value - 1, 0, 1], kind)
        more = _AXES if slot == "axis" else (2, -value, 2 * value, value // 2, 20 * value, *near.numbers)
        yield from (
            (name, axis(n)) for n, name in (usual | dict.fromkeys(more, f"{kind}/other") | usual).items() if n != value
        )
    elif isinstance(value, float):
        usual = dict.fromkeys([2 * value, value / 2, 0.0, 1.0], "constant")
        more = dict.fromkeys([-value, 0.5, 2.0, 10 * value, value / 10], "constant/other")
        yield from ((name, number(v)) for v, name in (usual | more | usual).items() if v != value)
    elif isinstance(value, str):
        words = [w for w in near.words if w != value and "\n" not in w and len(w) < 30]
        yield from (("constant/word", ast.Constant(word)) for word in words)


def _operations(node: ast.BinOp) -> Iterator[Other]:
    left, op, right = node.left, node.op, node.right
    for other in OPERATORS.get(type(op), ()):
        yield "operator", ast.BinOp(left, other(), right)
    for other in _MORE.get(type(op), ()):
        if other is not ast.Pow or isinstance(right, ast.Constant):  # a great power of a whole number takes for ever
            yield "operator/other", ast.BinOp(left, other(), right)
    if isinstance(op, ast.BitXor):  # it binds more loosely than a sum, and a power more tightly
        yield "power", ast.parse(ast.unparse(node).replace(" ^ ", " ** "), mode="eval").body
    if not isinstance(op, (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)):
        yield "operand order", ast.BinOp(right, op, left)
    if isinstance(op, ast.MatMult):
        yield "operand order/transposed", ast.BinOp(_t(right), op, left)
        yield "operand order/transposed", ast.BinOp(right, op, _t(left))
        yield "operand order/transposed", ast.BinOp(_t(right), op, _t(left))
    if isinstance(op, (ast.Add, ast.Sub)) and not isinstance(right, ast.Constant):
        yield from (("bound/other", plus(node, by)) for by in (1, -1))
    if isinstance(op, ast.FloorDiv):
        yield "bound/other", ast.BinOp(plus(left, -1), op, right)
    yield "term removed", left
    yield "term removed", right
    yield from (("function/slope", other) for other in _slopes(node))
    yield from (("grouping", other) for other in _regrouped(node))
    yield from (("grouping", other) for other in _drawn_in(node))


def _slopes(node: ast.BinOp) -> Iterator[ast.expr]:
    """The slope of the tanh, 1 - a², for that of the sigmoid, a (1 - a), and the other way round."""
    match node:
        case ast.BinOp(left, ast.Mult(), ast.BinOp(ast.Constant(1), ast.Sub(), ast.Name(a))):
            factors = [left]
            while isinstance(factors[0], ast.BinOp) and isinstance(factors[0].op, ast.Mult):
                factors[:1] = [factors[0].left, factors[0].right]
            rest = [f for f in factors if ast.unparse(f) != a]
            if len(rest) < len(factors):
                slope = one_minus_square(load(a))
                yield reduce(lambda x, y: ast.BinOp(x, ast.Mult(), y), [*rest, slope])
        case ast.BinOp(ast.Constant(1), ast.Sub(), ast.BinOp(ast.Name(a), ast.Pow(), ast.Constant(2))):
            yield ast.BinOp(load(a), ast.Mult(), ast.BinOp(number(1), ast.Sub(), load(a)))
        case ast.BinOp(ast.Constant(1), ast.Sub(), ast.BinOp(ast.Name(a), ast.Mult(), ast.Name(b))) if a == b:
            yield ast.BinOp(load(a), ast.Mult(), ast.BinOp(number(1), ast.Sub(), load(a)))


def _drawn_in(node: ast.BinOp) -> Iterator[ast.expr]:
    """f(a + b + c) for f(a) + b + c."""
    steps = [node]
    while isinstance(steps[-1].left, ast.BinOp):
        steps.append(steps[-1].left)
    match steps[-1].left:
        case ast.Call(func, [inner]) as call:
            whole = inner
            for step in reversed(steps):
                whole = ast.BinOp(whole, step.op, step.right)
            yield ast.Call(func, [whole], call.keywords)


def _let_out(call: ast.Call) -> Iterator[ast.expr]:
    """f(a) + b for f(a + b)."""
    match call:
        case ast.Call(func, [ast.BinOp(left, op, right)]):
            yield ast.BinOp(ast.Call(func, [left], call.keywords), op, right)


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
        case ast.BinOp(a, ast.Add() | ast.Sub() as op, ast.BinOp(f, ast.Mult(), b)):  # a + f * b for f * (a + b)
            yield ast.BinOp(f, ast.Mult(), ast.BinOp(a, op, b))
    match node:
        case ast.BinOp(ast.BinOp(a, ast.Mult(), f), ast.Add() | ast.Sub() as op, b):  # a * f + b for (a + b) * f
            yield ast.BinOp(ast.BinOp(a, op, b), ast.Mult(), f)
    match node:
        case ast.BinOp(ast.Call(one, [a]), op, ast.Call(other, [b])) if ast.unparse(one) == ast.unparse(other):
            yield ast.Call(one, [ast.BinOp(a, op, b)], [])  # f(a) + f(b) for f(a + b)
    match node:
        case ast.BinOp(ast.UnaryOp(sign, a), op, b):  # -a + b for -(a + b)
            yield ast.UnaryOp(sign, ast.BinOp(a, op, b))


def _calls(call: ast.Call, slot: str, near: Near) -> Iterator[Other]:
    """Something else for a call."""
    func, args = call.func, call.args
    name = getattr(func, "id", "") or getattr(func, "attr", "")
    is_method = isinstance(func, ast.Attribute) and not is_module(func.value)
    if isinstance(func, ast.Name) and func.id == "range":
        yield from _ranges(args)
    if is_method and not _is_super(func.value):
        yield ("copy/drop" if name in ("copy", "clone") else "call removed"), func.value
    elif args and not isinstance(args[0], ast.Starred):
        yield ("direction/drop" if name == "reversed" else "call removed"), args[0]
    if is_method and name == "get" and args:
        yield "subscript", ast.Subscript(func.value, args[0], ast.Load())
    yield from (("grouping", other) for other in _let_out(call))
    yield from _with_other_arguments(call)
    yield from _with_more_arguments(call, name, near)


def _with_other_arguments(call: ast.Call) -> Iterator[Other]:
    """A call with its arguments in another order, or without one."""
    func, args, keywords = call.func, call.args, call.keywords
    yield from ((_near_or_far("argument order", i), ast.Call(func, a, keywords)) for i, a in _exchanged(args))
    yield from (("argument removed", ast.Call(func, fewer, keywords)) for fewer in without_one(args))
    for keyword, fewer in zip(keywords, without_one(keywords), strict=True):
        kind = {"dim": "axis", "axis": "axis", "dtype": "dtype", "keepdims": "keepdims"}.get(keyword.arg or "")
        yield f"{kind}/drop" if kind else "argument removed", ast.Call(func, args, fewer)


def _with_more_arguments(call: ast.Call, name: str, near: Near) -> Iterator[Other]:
    """A call with an axis, with a type, and the like."""
    named = {k.arg for k in call.keywords}
    of_torch = near.has_torch and "np" not in near.modules
    joins = name in _JOINS or ast.unparse(call.func) == "np.append"
    if (name in ALONG or joins) and not named & {"axis", "dim"}:
        some = [a for a in _AXES if name in ALONG or not isinstance(a, tuple)]
        yield from (("axis/add", _with(call, **{"dim" if of_torch else "axis": axis(a)})) for a in some)
    if name in _REDUCTIONS and not named & {"keepdims", "keepdim"}:
        kept: dict[str, ast.expr] = {"keepdim" if of_torch else "keepdims": ast.Constant(True)}
        is_method = isinstance(call.func, ast.Attribute) and not is_module(call.func.value)
        if not named & {"axis", "dim"} and len(call.args) <= (not is_method):
            kept |= {"dim" if of_torch else "axis": axis(-1)}
        yield "keepdims/add", _with(call, **kept)
        if {k.arg: ast.unparse(k.value) for k in call.keywords}.get("dim" if of_torch else "axis", "-1") != "-1":
            yield "axis/kept", _with(call, **kept, **{"dim" if of_torch else "axis": axis(-1)})
    if name in _STACKS and len(call.args) and isinstance(call.args[0], ast.Name):
        for part in (ast.Slice(ast.Constant(1)), ast.Slice(None, number(-1))):
            rest = ast.Subscript(call.args[0], part, ast.Load())
            yield "bound/of all", ast.Call(call.func, [rest, *call.args[1:]], call.keywords)
    if name in _MADE and "dtype" not in named:
        yield from (("dtype/add", _with(call, dtype=load(kind))) for kind in ("float", "bool", "int"))
        like = [ast.Attribute(load(one), "dtype", ast.Load()) for one in near.taken[:MOST_LIKE]]
        yield from (("dtype/like", _with(call, dtype=kind)) for kind in like)


def _ranges(args: list[ast.expr]) -> Iterator[Other]:
    """Other ways for a range to go."""
    range_ = load("range")
    call = ast.Call(range_, args, [])
    yield "direction/other", ast.Call(load("reversed"), [call], [])
    for i, bound in enumerate(args[:2]):
        for by in (1, -1):
            if not isinstance(bound, ast.Constant):
                yield "bound", ast.Call(range_, [*args[:i], plus(bound, by), *args[i + 1 :]], [])
    match args:
        case [end]:
            yield "bound", ast.Call(range_, [ast.Constant(1), end], [])
            yield "bound/other", ast.Call(range_, [ast.Constant(1), plus(end, 1)], [])
            yield "direction/other", ast.Call(range_, [plus(end, -1), number(0), number(-1)], [])
        case [start, end]:
            yield "bound/other", ast.Call(range_, [end], [])
            yield "direction/other", ast.Call(range_, [plus(end, -1), start, number(-1)], [])
            yield "direction/other", ast.Call(range_, [start, end, number(-1)], [])
        case [start, end, _]:
            yield "direction/other", ast.Call(range_, [start, end], [])


def iterated(items: ast.expr) -> Iterator[Other]:
    """Other ways through a loop: backwards, without the first round, without the last."""
    whole = ast.Call(load("list"), [items], [])
    yield "direction", _reversed(whole)
    yield "bound", ast.Subscript(whole, ast.Slice(number(1)), ast.Load())
    yield "bound", ast.Subscript(whole, ast.Slice(None, number(-1)), ast.Load())
    match items:
        case ast.Subscript(ast.Call(ast.Name("list"), [inner]), ast.Slice()):
            yield "subscript/other", inner


def _subscripts(node: ast.Subscript, known: Sequence[str]) -> Iterator[Other]:
    value, index = node.value, node.slice

    def at(new: ast.expr) -> ast.expr:
        return ast.Subscript(value, new, ast.Load())

    if isinstance(node.ctx, ast.Load):
        yield "subscript/drop", value
    match index:
        case ast.Tuple([ast.Slice(None, None, None), ast.Name() | ast.Call() as places]):  # all rows for each
            rows = ast.Call(load("range"), [ast.Call(load("len"), [value], [])], [])
            yield "axis of an index/pairs", at(ast.Tuple([rows, places], ast.Load()))
    match index:
        case ast.Tuple(elements):
            for i, other in _exchanged(elements):
                yield _near_or_far("order of indices", i), at(ast.Tuple(other, ast.Load()))
            for fewer in without_one(elements) if len(elements) > 1 else ():
                yield "index removed", at(ast.Tuple(fewer, ast.Load()) if len(fewer) > 1 else fewer[0])
        case ast.Slice():
            yield "axis of an index", at(ast.Tuple([ast.Slice(), index], ast.Load()))
            yield "axis of an index", at(ast.Tuple([ast.Constant(...), index], ast.Load()))
        case _:
            yield "axis of an index", at(ast.Tuple([ast.Slice(), index], ast.Load()))
            yield "axis of an index", at(ast.Tuple([ast.Constant(...), index], ast.Load()))
            yield "bound/other", at(ast.Slice(None, index))
            yield "bound/other", at(ast.Slice(index, None))
            yield "bound/other", at(ast.List([index], ast.Load()))


def sliced(node: ast.Slice) -> Iterator[Other]:
    """Other slices."""
    lower, upper, step = node.lower, node.upper, node.step
    yield "bound", ast.Slice(plus(lower, 1) if lower else ast.Constant(1), upper, step)
    yield "bound", ast.Slice(lower, plus(upper, -1) if upper else number(-1), step)
    if lower:
        yield "bound", ast.Slice(plus(lower, -1), upper, step)
        yield "bound", ast.Slice(None, upper, step)
    if upper:
        yield "bound", ast.Slice(lower, plus(upper, 1), step)
        yield "bound", ast.Slice(lower, None, step)
    if bool(lower) != bool(upper):
        yield "bound/other", ast.Slice(upper, lower, step)
    if step:
        yield "direction/drop", ast.Slice(lower, upper, None)
    else:
        yield "direction/other", ast.Slice(lower, upper, number(-1))


def _around(node: ast.expr, known: Sequence[str], near: Near) -> Iterator[Other]:
    """A value with something around it, or behind it, that is missing."""
    if not (isinstance(node, ast.Attribute) and node.attr == "T"):
        yield "transpose/add", _attribute(node, "T")
    if not isinstance(node, ast.UnaryOp):
        yield "sign/add", _negative(node)
    if not isinstance(node, (ast.BinOp, ast.UnaryOp)):
        yield "copy/add", copied(node, near)
        yield "direction/other", _reversed(node)
        yield "subscript/add", ast.Subscript(node, number(0), ast.Load())
        yield "subscript/add", ast.Subscript(node, number(-1), ast.Load())
    for module in near.modules:
        for f in _FUNCTIONS:
            yield f"call added/{f}", ast.Call(_attribute(load(module), f), [node], [])
    if near.has_torch and not near.modules:
        yield "call added/tanh", _method(node, "tanh")
    if near.has_torch:
        yield "call added/detach", _method(node, "detach")
    yield "term added/one minus", ast.BinOp(number(1), ast.Sub(), node)
    for name in known:
        if name in near.unread:
            yield from _with_name(node, name, "term added/unread")
            if not isinstance(node, ast.Name):
                yield "name/unread for a value", load(name)


def missing(node: ast.expr, known: Sequence[str], near: Near) -> Iterator[Other]:
    """All else that could be missing around a value."""
    for f in ("sum", "mean"):
        yield "call added/sum", _method(node, f)
        yield "call added/sum", _method(node, f, axis=axis(0))
        yield "call added/sum", _method(node, f, axis=axis(-1))
        yield "call added/sum", _method(node, f, axis=axis(-1), keepdims=ast.Constant(True))
        yield "call added/sum", _method(node, f, axis=axis((0, 1)))
    yield "term added/constant", ast.BinOp(node, ast.Pow(), number(2))
    yield "term added/constant", ast.BinOp(number(1), ast.Sub(), ast.BinOp(node, ast.Pow(), number(2)))
    if not isinstance(node, (ast.BinOp, ast.UnaryOp)):
        for name in known:
            yield "subscript/name", ast.Subscript(node, load(name), ast.Load())
    if isinstance(node, ast.BinOp):
        yield from (("term added", ast.BinOp(node, ast.Mult(), one_minus_square(e))) for e in near.entries)
    for name in known:
        if name not in near.unread:
            yield from _with_name(node, name, "term added")
            if not isinstance(node, ast.Name):
                yield "name/for a value", load(name)


def _with_name(node: ast.expr, name: str, slip: str) -> Iterator[Other]:
    for op in (ast.Add, ast.Mult, ast.Div, ast.Sub, ast.MatMult):
        yield slip, ast.BinOp(node, op(), load(name))
    yield slip, ast.BinOp(node, ast.Mult(), one_minus_square(load(name)))


def one_minus_square(value: ast.expr) -> ast.expr:
    """What tanh has as its derivative."""
    return ast.BinOp(number(1), ast.Sub(), ast.BinOp(value, ast.Pow(), number(2)))


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
    others = [one for one in call.keywords if one.arg not in keywords]
    return ast.Call(call.func, call.args, [*others, *_keywords(**keywords)])


def _reversed(node: ast.expr) -> ast.Subscript:
    return ast.Subscript(node, ast.Slice(None, None, number(-1)), ast.Load())


def _exchanged(items: list) -> Iterator[tuple[int, list]]:
    """Two of the items exchanged, neighbours first; with their distance, 1 or 2 for more."""
    for i, j in sorted(combinations(range(len(items)), 2), key=lambda pair: pair[1] - pair[0]):
        other = list(items)
        other[i], other[j] = items[j], items[i]
        if len(items) <= 6 or j == i + 1:
            yield min(j - i, 2), other


def _near_or_far(kind: str, distance: int) -> str:
    return kind if distance == 1 else f"{kind}/far"


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
