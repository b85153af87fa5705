"""Made-up students who can program: each writes right answers in a style of their own.

A student starts, exercise by exercise, from one of the genuinely different right answers that the course keeps (its own
and `tests/rnncourse/exercises/alternatives/`), and writes it with their own habits: how products, sums and sizes are
written, loops by element or by number, comprehensions or loops, temporaries, helpers, comments, names.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import random
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from rnncourse import exercises
from rnncourse.checks.exercise import Exercise

Answers = dict[str, str]  # by exercise


# --- where students start


@cache
def beginnings(unit: str) -> dict[str, tuple[str, ...]]:
    """Right answers to each exercise of a unit that differ in more than their names."""
    module = importlib.import_module(f"tests.rnncourse.exercises.alternatives.{unit[3:]}")
    found = {}
    for exercise in exercises.unit(unit):
        if isinstance(exercise, Exercise):
            others = [
                _as_a_cell(answer, exercise.name, module) for answer in module.ALTERNATIVES.get(exercise.name, ())
            ]
            found[exercise.name] = (exercise.source, *others)
    return found


def _as_a_cell(answer, name: str, module) -> str:
    """The source of an alternative as it would stand in its cell, with the helpers that it uses."""
    text = textwrap.dedent(inspect.getsource(answer))
    (node,) = ast.parse(text).body
    body = "\n".join(text.splitlines()[node.lineno - 1 :])
    body = re.sub(rf"(?<![.\w]){node.name}\b", name, body)
    helpers = []
    for used in sorted({n.id for n in ast.walk(node) if isinstance(n, ast.Name)}):
        helper = vars(module).get(used)
        if inspect.isfunction(helper) and helper.__module__ == module.__name__ and used != node.name:
            source = inspect.getsource(helper)
            if not source.startswith("@"):
                helpers.append(source)
    return "\n\n".join([*helpers, body])


# --- how they write


HOLDS = 0.7  # how often a habit is followed
AS_IS = "as is"  # as it stands in the answer that the student starts from
LOOPS = (AS_IS, AS_IS, "range", "enumerate", "while")
LISTS = (AS_IS, "loop", "loop in place")
_REDUCED = [
    (f"{function}({arguments})", f"np.{function}(a_{', ' * bool(arguments)}{arguments})")
    for function in ("sum", "max", "mean", "min")
    for arguments in ("", "b_", "axis=b_", "b_, keepdims=c_", "axis=b_, keepdims=c_")
]
# Small things that may be said in several ways: how many of these are as it is, and for each other way what is written
# in place of what. A name with a _ at its end stands for an expression, and some for one of a kind (`STANDS_FOR`).
WAYS: dict[str, tuple[int, dict[str, list[tuple[str, str]]]]] = {
    "product": (
        3,
        {
            "dot": [("a_ @ b_", "np.dot(a_, b_)")],
            "matmul": [("a_ @ b_", "np.matmul(a_, b_)")],
            "method": [("place_ @ b_", "place_.dot(b_)")],
        },
    ),
    "arithmetic": (
        4,
        {
            "functions": [
                (f"a_ {sign} b_", f"np.{name}(a_, b_)")
                for sign, name in (("+", "add"), ("-", "subtract"), ("/", "divide"), ("*", "multiply"))
            ]
        },
    ),
    "square": (1, {"product": [("x_**2", "x_ * x_")]}),
    "sums": (
        1,
        {
            "functions": [(f"a_.{method}", function) for method, function in _REDUCED],
            "methods": [(f.replace("a_", "call_"), f"call_.{m}") for m, f in _REDUCED if m.startswith("sum")],
        },
    ),
    "length": (1, {"len": [("a_.shape[0]", "len(a_)")], "shape": [("len(ARRAY_)", "ARRAY_.shape[0]")]}),
    "join": (2, {"array": [("np.stack(a_)", "np.array(a_)")], "axis": [("np.stack(a_)", "np.stack(a_, axis=0)")]}),
    "empty list": (3, {"list()": [("[]", "list()")]}),
    "zeros": (
        2,
        {
            "by name": [("np.zeros((a_, b_))", "np.zeros(shape=(a_, b_))")],
            "list": [("np.zeros((a_, b_))", "np.zeros([a_, b_])")],
            "full": [("np.zeros((a_, b_), dtype=c_)", "np.full((a_, b_), 0.0, dtype=c_)")],
        },
    ),
    "back": (2, {"by number": [("reversed(range(a_))", "range(a_ - 1, -1, -1)")]}),
    "copy": (2, {"np.array": [("x_.copy()", "np.array(x_)")]}),
    "negative": (2, {"times": [("-e_", "-1 * e_")]}),
    "exp": (3, {"power of e": [("np.exp(a_)", "np.power(np.e, a_)")]}),
    "range": (2, {"from 0": [("range(a_)", "range(0, a_)")]}),
    "transposed": (2, {"method": [("a_.T", "a_.transpose()")], "function": [("a_.T", "np.transpose(a_)")]}),
    "append": (
        3,
        {
            "+=": [("x_.append(a_)", "x_ += [a_]")],
            "longer": [("x_.append(a_)", "x_ = [*x_, a_]")],
            "extend": [("x_.append(a_)", "x_.extend([a_])")],
        },
    ),
    "else": (2, {"explicit": []}),
    "check": (4, {"as arrays": [], "shapes": []}),
}
CHOICES = {kind: [AS_IS] * as_is + list(ways) for kind, (as_is, ways) in WAYS.items()}
LIBRARIES = ("np", "torch", "nn", "math")
STANDS_FOR: dict[str, Callable[[ast.expr], bool]] = {
    "x_": lambda node: isinstance(node, ast.Name),
    "place_": lambda node: isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)),
    "call_": lambda node: isinstance(node, ast.Call),
    "e_": lambda node: not isinstance(node, ast.Constant),
    "ARRAY_": lambda node: isinstance(node, ast.Name) and node.id.isupper() and len(node.id) <= 2,
}
# What somebody does once in a while, for no reason of the exercise: to an array that is returned, to a bias, to a loop.
TOUCHES = ("asarray", "ascontiguousarray", "bias row", "bias reshaped", "zip with numbers", "step of one")
TOUCHED = 0.35


@dataclass
class Habits:
    """A student's ways of writing. Nobody keeps to them always."""

    rng: random.Random
    torch: bool
    loop: str = field(init=False)
    lists: str = field(init=False)
    steps: float = field(init=False)  # how often a part gets a line of its own
    in_place: float = field(init=False)
    helpers: float = field(init=False)
    comments: float = field(init=False)
    names: Callable[[str], str] = field(init=False)
    ways: dict[str, str] = field(init=False)  # which of several ways to say the same thing

    def __post_init__(self) -> None:
        rng = self.rng
        self.loop = rng.choice(LOOPS)
        self.lists = rng.choice(LISTS)
        self.steps = rng.choice([0.0, 0.0, 0.15, 0.4])
        self.in_place = rng.choice([0.0, 0.0, 0.5])
        self.helpers = rng.choice([0.0, 0.0, 0.0, 0.3])
        self.comments = rng.choice([0.0, 0.1, 0.4])
        self.names = rng.choice([str, lambda n: f"{n}_", lambda n: f"my_{n}", lambda n: n * 2, lambda n: f"{n}{n}_cur"])
        self.ways = {kind: rng.choice(choices) for kind, choices in CHOICES.items()}

    def keep(self) -> bool:
        """Whether the habit holds this time."""
        return self.rng.random() < HOLDS

    def way(self, kind: str) -> str:
        """How one of the small things is said this time."""
        return self.ways[kind] if self.keep() else self.rng.choice(CHOICES[kind])

    def write(self, source: str, name: str) -> str:
        """An answer as this student writes it."""
        tree = ast.parse(source)
        for node in ast.walk(tree):  # docstrings are the stub's
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) and len(node.body) > 1:
                del node.body[0]
        tree = _Ways(self, name).visit(tree)
        for function in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]:
            _Steps(self).go_through(function)
        ast.fix_missing_locations(tree)
        text = ast.unparse(shuffled(tree, self.rng) if self.keep() else tree)
        return _commented(renamed(text, name, self.names), self.rng, self.comments)


def _call(function: str, *args: ast.expr, keywords: list[ast.keyword] | None = None) -> ast.Call:
    return ast.Call(ast.parse(function, mode="eval").body, list(args), keywords or [])


def _parsed(text: str) -> ast.expr | ast.stmt:
    """An expression, or a statement that is none."""
    (statement,) = ast.parse(text).body
    return statement.value if isinstance(statement, ast.Expr) else statement


def _fits(pattern: object, node: object, found: dict[str, ast.expr]) -> bool:
    """Whether a piece of code is of a form; what its names stand for is put into `found`."""
    if isinstance(pattern, ast.Name) and pattern.id.endswith("_"):
        if not isinstance(node, ast.expr) or (isinstance(node, ast.Name) and node.id in LIBRARIES):
            return False
        found[pattern.id] = node
        return STANDS_FOR.get(pattern.id, lambda node: True)(node)
    if type(pattern) is not type(node):
        return False
    if isinstance(pattern, ast.AST):
        return all(_fits(getattr(pattern, name), getattr(node, name), found) for name in pattern._fields)
    if isinstance(pattern, list):
        return len(pattern) == len(node) and all(_fits(one, other, found) for one, other in zip(pattern, node))
    return pattern == node


class _Filled(ast.NodeTransformer):
    """A form with what its names stand for."""

    def __init__(self, found: dict[str, ast.expr]) -> None:
        self.found = found

    def visit_Name(self, node: ast.Name) -> ast.expr:
        made = self.found.get(node.id, node)
        return ast.Name(made.id, node.ctx) if isinstance(made, ast.Name) else made


RULES: dict[type, list[tuple[str, str, ast.AST, str]]] = {}  # by the kind of node
for _kind, (_, _ways) in WAYS.items():
    for _way, _pairs in _ways.items():
        for _pattern, _instead in _pairs:
            RULES.setdefault(type(_parsed(_pattern)), []).append((_kind, _way, _parsed(_pattern), _instead))


class _Ways(ast.NodeTransformer):
    """The ways of writing an expression or a loop."""

    def __init__(self, habits: Habits, outermost: str) -> None:
        self.habits = habits
        self.outermost = outermost
        self.counter = 0
        self.touch = habits.rng.choice(TOUCHES) if habits.rng.random() < TOUCHED else ""

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        if isinstance(node, ast.Expr):  # what stands alone may become an assignment
            made = self.visit(node.value)
            return made if isinstance(made, ast.stmt) else ast.Expr(made)
        made = super().visit(node)
        return self.otherwise(made) if isinstance(made, ast.expr) else made

    def otherwise(self, node: ast.expr) -> ast.AST:
        """The same in this student's way, if there is more than one."""
        said: dict[str, str] = {}
        for kind, way, pattern, instead in RULES.get(type(node), ()):
            found: dict[str, ast.expr] = {}
            if not _fits(pattern, node, found) or said.setdefault(kind, self.habits.way(kind)) != way:
                continue
            if kind == "arithmetic" and not any(isinstance(n, ast.Name) and n.id == "np" for n in ast.walk(node)):
                continue  # no array, perhaps
            if self.habits.torch:
                instead = instead.replace("np.matmul", "torch.matmul")
                if any(word in instead for word in ("np.", ".dot(", "transpose")):
                    continue
            return _Filled(found).visit(_parsed(instead))
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in ("b", "b_h") and isinstance(node.ctx, ast.Load) and not self.habits.torch:
            if self.touch == "bias reshaped":
                return _call("np.reshape", node, ast.Constant(-1))
            if self.touch == "bias row":
                return ast.Subscript(node, ast.Constant(...), ast.Load())
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        self.generic_visit(node)
        body = node.body
        for i, one in enumerate(body):  # if …: return …; return … , with an else or without
            ends = isinstance(one, ast.If) and isinstance(one.body[-1], ast.Return) and not one.orelse
            if ends and body[i + 1 :] and self.habits.way("else") == "explicit":
                node.body = [*body[:i], ast.If(one.test, one.body, body[i + 1 :])]
                break
        arrays = [a.arg for a in node.args.args if a.arg in "XUWVO"]  # as the course calls them
        if arrays and self.outermost == node.name and not self.habits.torch:
            if self.habits.ways["check"] == "as arrays":
                node.body[:0] = ast.parse(f"{arrays[0]} = np.asarray({arrays[0]})").body
            elif self.habits.ways["check"] == "shapes":
                node.body[:0] = ast.parse(f"if np.ndim({arrays[0]}) == 0:\n    raise ValueError('no numbers')").body
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if self.touch == "step of one" and ast.unparse(node.func) == "range" and len(node.args) == 1:
            return _call("range", ast.Constant(0), node.args[0], ast.Constant(1))
        return node

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        way = self.habits.loop
        if (
            isinstance(node.iter, ast.Name)
            and isinstance(node.target, ast.Name)
            and self.touch == "zip with numbers"
            and node.iter.id.isupper()
            and not node.orelse
        ):
            pairs = _call("zip", _call("range", _call("len", node.iter)), node.iter)
            both = ast.Tuple([ast.Name("no", ast.Store()), node.target], ast.Store())
            return ast.For(both, pairs, node.body, [])
        if way == "as is" or node.orelse or not self.habits.keep():
            return node
        self.counter += 1
        number = ast.Name(self.habits.rng.choice("tik") + str(self.counter) * (self.counter > 1) + "_", ast.Load())
        stored = ast.Name(number.id, ast.Store())
        array = isinstance(node.iter, ast.Name) and node.iter.id.isupper() and isinstance(node.target, ast.Name)
        if array and way == "range":
            pick = ast.Assign([node.target], ast.Subscript(node.iter, number, ast.Load()))
            return ast.For(stored, _call("range", _call("len", node.iter)), [pick, *node.body], [])
        if array and way == "enumerate":
            target = ast.Tuple([stored, node.target], ast.Store())
            return ast.For(target, _call("enumerate", node.iter), node.body, [])
        simple = (
            isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name) and node.iter.func.id == "range"
        )
        leaves = any(isinstance(n, (ast.Continue, ast.Break)) for n in ast.walk(node))
        if way == "while" and simple and len(node.iter.args) == 1 and isinstance(node.target, ast.Name) and not leaves:
            test = ast.Compare(ast.Name(node.target.id, ast.Load()), [ast.Lt()], [node.iter.args[0]])
            more = ast.AugAssign(ast.Name(node.target.id, ast.Store()), ast.Add(), ast.Constant(1))
            start = ast.Assign([ast.Name(node.target.id, ast.Store())], ast.Constant(0))
            return [start, ast.While(test, [*node.body, more], [])]
        return node

    def visit_Return(self, node: ast.Return) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        value = node.value
        makes_array = ("np.stack", "np.tanh", "np.array", "np.dot")
        is_array = isinstance(value, ast.Call) and ast.unparse(value.func) in makes_array
        if is_array and self.touch in ("asarray", "ascontiguousarray"):
            return ast.Return(_call(f"np.{self.touch}", value))
        if isinstance(value, ast.ListComp) and self.habits.lists != "as is" and self.habits.keep():
            return self.unrolled(value, lambda name: name)
        if (
            isinstance(value, ast.Call)
            and self.habits.lists != "as is"
            and len(value.args) >= 1
            and isinstance(value.args[0], ast.ListComp)
            and self.habits.keep()
        ):
            return self.unrolled(
                value.args[0], lambda name: ast.Call(value.func, [name, *value.args[1:]], value.keywords)
            )
        if isinstance(value, ast.IfExp) and self.habits.lists != "as is":
            return ast.If(value.test, [ast.Return(value.body)], [ast.Return(value.orelse)])
        return node

    def unrolled(self, made: ast.ListComp, returned: Callable[[ast.expr], ast.expr]) -> list[ast.stmt]:
        self.counter += 1
        name = self.habits.rng.choice(["out", "result", "found", "rows", "collected"]) + "_" * self.counter
        if self.habits.lists == "loop":
            add: ast.stmt = ast.Expr(_call(f"{name}.append", made.elt))
        else:
            add = ast.AugAssign(ast.Name(name, ast.Store()), ast.Add(), ast.List([made.elt], ast.Load()))
        body = [add]
        for part in reversed(made.generators):
            for test in reversed(part.ifs):
                body = [ast.If(test, body, [])]
            body = [ast.For(part.target, part.iter, body, [])]
        empty = ast.Assign([ast.Name(name, ast.Store())], ast.List([], ast.Load()))
        return [empty, *body, ast.Return(returned(ast.Name(name, ast.Load())))]


class _Steps:
    """Lines of their own for parts of an expression, sums in place, and helpers within a function."""

    def __init__(self, habits: Habits) -> None:
        self.habits = habits
        self.counter = 0

    def go_through(self, function: ast.FunctionDef) -> None:
        function.body = self.block(function.body)

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                made.append(statement)
                continue
            for name in ("body", "orelse"):
                if getattr(statement, name, None) and not isinstance(statement, ast.ClassDef):
                    setattr(statement, name, self.block(getattr(statement, name)))
            made += self.simple(statement)
        return made

    def simple(self, statement: ast.stmt) -> list[ast.stmt]:
        rng = self.habits.rng
        if not isinstance(statement, (ast.Return, ast.Assign)) or statement.value is None:
            return [statement]
        before: list[ast.stmt] = []
        value = statement.value
        if isinstance(value, ast.Call) and len(value.args) == 1 and rng.random() < self.habits.steps:
            value.args = [self.named(value.args[0], before)]
        elif isinstance(value, ast.BinOp) and rng.random() < self.habits.steps:
            value.left = self.named(value.left, before)
            if rng.random() < 0.5:
                value.right = self.named(value.right, before)
        elif isinstance(value, ast.Call) and len(value.args) == 1 and rng.random() < self.habits.helpers:
            value.args = [self.by_a_helper(value.args[0], before)]
        if isinstance(statement, ast.Return) and rng.random() < self.habits.steps and not isinstance(value, ast.Name):
            statement.value = self.named(value, before)
        if before and isinstance(before[0], ast.Assign) and rng.random() < self.habits.in_place:
            before[:1] = self.in_place(before[0])
        return [*before, statement]

    def name(self) -> str:
        self.counter += 1
        return self.habits.rng.choice(["z", "s", "tmp", "part", "total", "pre", "inner", "a"]) + str(self.counter)

    def named(self, value: ast.expr, before: list[ast.stmt]) -> ast.expr:
        if isinstance(value, (ast.Name, ast.Constant, ast.Starred, ast.GeneratorExp)):
            return value
        name = self.name()
        before.append(ast.Assign([ast.Name(name, ast.Store())], value))
        return ast.Name(name, ast.Load())

    def by_a_helper(self, value: ast.expr, before: list[ast.stmt]) -> ast.expr:
        if not isinstance(value, (ast.BinOp, ast.Call)):
            return value
        name = f"get_{self.name()}"
        nothing = ast.arguments([], [], None, [], [], None, [])
        before.append(ast.FunctionDef(name, nothing, [ast.Return(value)], [], None))
        return _call(name)

    def in_place(self, assign: ast.Assign) -> list[ast.stmt]:
        """z = a + b as z = a; z = z + b."""
        value, target = assign.value, assign.targets[0]
        if not (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and isinstance(target, ast.Name)):
            return [assign]
        again = ast.BinOp(ast.Name(target.id, ast.Load()), ast.Add(), value.right)
        return [ast.Assign([target], value.left), ast.Assign([ast.Name(target.id, ast.Store())], again)]


def _commented(text: str, rng: random.Random, often: float) -> str:
    lines = []
    for line in text.splitlines():
        if rng.random() < often and line.strip():
            lines.append(
                line[: len(line) - len(line.lstrip())] + rng.choice(["# next", "# TODO check", "# see the lecture"])
            )
        lines.append(line)
    return "\n".join(lines)


# --- names and order


def renamed(source: str, name: str, new: Callable[[str], str]) -> str:
    """The same with other names for what the answer itself names, but for its parameters."""
    tree = ast.parse(source)
    arguments = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    own = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own |= {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    outer = {n.id for n in tree.body if isinstance(n, ast.Name)}
    called = {k.arg for n in ast.walk(tree) if isinstance(n, ast.Call) for k in n.keywords}
    own = own - arguments - {name, "self"} - called - outer
    own = {n for n in own if not n.startswith("__")}
    methods = [part for n in ast.walk(tree) if isinstance(n, ast.ClassDef) for part in n.body]
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in own:
            node.id = new(node.id)
        elif isinstance(node, ast.arg) and node.arg in own:
            node.arg = new(node.arg)
        elif isinstance(node, ast.FunctionDef) and node.name in own and node not in methods:
            node.name = new(node.name)
        elif isinstance(node, (ast.Nonlocal, ast.Global)):
            node.names = [new(n) if n in own else n for n in node.names]
    return ast.unparse(tree)


def shuffled(tree: ast.Module, rng: random.Random) -> ast.Module:
    """Neighbours that do not touch each other's names change places, again and again."""

    def names(node: ast.AST) -> tuple[set[str], set[str]]:
        used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        stored |= {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef)}
        for n in ast.walk(node):  # what is changed in place
            if isinstance(n, (ast.Attribute, ast.Subscript)) and not isinstance(n.ctx, ast.Load):
                stored |= {m.id for m in ast.walk(n) if isinstance(m, ast.Name)}
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and isinstance(n.func.value, ast.Name):
                stored.add(n.func.value.id)
            if isinstance(n, ast.Call):
                stored |= {m.id for k in n.keywords if k.arg == "out" for m in ast.walk(k) if isinstance(m, ast.Name)}
        return used, stored - {"np", "torch", "math", "nn"}

    free = (ast.Assign, ast.AugAssign, ast.FunctionDef)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for _ in range(3 * len(body)):
            if len(body) < 2:
                break
            i = rng.randrange(len(body) - 1)
            one, other = body[i], body[i + 1]
            if isinstance(one, free) and isinstance(other, free):
                (used, stored), (also_used, also_stored) = names(one), names(other)
                if not (stored & (also_used | also_stored) or also_stored & used):
                    body[i], body[i + 1] = other, one
    return tree


# --- classes


def independent(unit: str, size: int, seed: int) -> dict[str, Answers]:
    """A class in which everybody works alone."""
    rng = random.Random(f"{unit} {seed}")
    made: dict[str, Answers] = {}
    for number in range(size):
        habits = Habits(random.Random(rng.random()), torch=False)
        answers = made[f"alone{number:04}"] = {}
        for name, texts in beginnings(unit).items():
            text = habits.rng.choice(texts)
            habits.torch = re.search(r"\b(torch|nn)\.", text) is not None
            answers[name] = habits.write(text, name)
    return made
