"""What is left of an answer when all is taken away that a copy can change without understanding it.

`tokens` reads a cell and gives the syntax tree of its code in preorder, as a flat list, in a normal form:

    names           a parameter is its place in the signature, any other name of the answer's own is "v"; what comes
                    from elsewhere keeps its dotted name, by whatever alias (`numpy.tanh`)
    operands        sums and products are flattened and sorted, so are the sides of ==, and, or; a > b is b < a
    dead lines      comments, docstrings, annotations, asserts, prints, and what nothing else needs: names that are
                    never read, helpers that are never called, `if False`, whatever stands behind a return
    temporaries     a name that is set once and used once stands where it is used, and one that is just another name
                    for something is that
    order           independent statements are sorted, methods and functions too

The normal form need not mean the same as the answer, and nothing of it is ever run. It has only to be the same for a
copy, and another for another answer. Each token knows the line that it came from.
"""

from __future__ import annotations

import ast
import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from rnngrade.reading.ipython import as_run

MOST_STATEMENTS = 80  # of one block that are put in order: it takes the square of them

Tokens = list[tuple[str, int]]  # each with its line, from 1

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_NOISE = (ast.Pass, ast.Assert, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Delete)
_TALK = frozenset({"print", "display", "hint", "check"})
USUAL = {"np": "numpy", "torch": "torch", "nn": "torch.nn", "math": "math", "plt": "matplotlib.pyplot"}
_COMMUTE = (ast.BitAnd, ast.BitOr, ast.BitXor)
_TURNED = {ast.Gt: "Lt", ast.GtE: "LtE"}
_SYMMETRIC = frozenset(
    f"{module}.{name}"
    for module in ("numpy", "torch")
    for name in ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "equal")
) | {"max", "min"}


def tokens(source: str, name: str = "") -> Tokens:
    """The normal form of a cell that answers the exercise `name`; without a name, of any code.

    **Errors:** `SyntaxError` for what is no Python, `RecursionError` or `ValueError` for what is too much of it.

    >>> one = "def f(x, W):\\n    return 2 * x + W"
    >>> other = "def f(a, b):\\n    # mine\\n    unused = 3\\n    twice = a * 2\\n    return b + twice"
    >>> [t for t, _ in tokens(one, "f")] == [t for t, _ in tokens(other, "f")]
    True
    """
    try:
        tree, _ = as_run(source)
    except SyntaxError:
        raise
    except Exception as error:  # too long, or nested too deeply
        raise ValueError(str(error)) from None
    return _Reader(tree, name).cell()


# --- statements


@dataclass
class _Statement:
    """A statement, with the names that it reads and sets by itself; what is in its blocks comes on top of that."""

    node: ast.stmt
    reads: Counter[str] = field(default_factory=Counter)
    writes: Counter[str] = field(default_factory=Counter)
    blocks: list[list[_Statement]] = field(default_factory=list)
    essential: bool = False  # whatever anybody reads
    live: bool = False

    @property
    def is_definition(self) -> bool:
        return isinstance(self.node, _DEFINITIONS)

    def within(self) -> Iterator[_Statement]:
        yield self
        for block in self.blocks:
            for inner in block:
                yield from inner.within()


class _Reader:
    """Reads one cell."""

    def __init__(self, tree: ast.Module, name: str) -> None:
        self.tree = tree
        self.name = name
        self.aliases = dict(USUAL)
        self.own: set[str] = set()  # names that the cell itself gives
        self.functions: set[str] = set()
        self.attributes: set[str] = set()  # that the cell's classes set on themselves
        self.places: dict[str, str] = {}  # parameters of the function that is read
        self.inlined: dict[str, ast.expr] = {}
        self.opened: set[str] = set()  # inlined names that are being written out
        self.given: set[str] = set()  # parameters: to change what was handed in is to act
        for node in _walk(tree):
            if isinstance(node, ast.arg):
                self.given.add(node.arg)
                self.own.add(node.arg)
            elif isinstance(node, ast.Name):
                if not isinstance(node.ctx, ast.Load):
                    self.own.add(node.id)
            elif isinstance(node, ast.Import):
                for a in node.names:
                    self.aliases[a.asname or a.name.partition(".")[0]] = a.name if a.asname else a.name.split(".")[0]
            elif isinstance(node, ast.ImportFrom):
                for a in node.names:
                    self.aliases[a.asname or a.name] = f"{node.module}.{a.name}"
            elif isinstance(node, _DEFINITIONS):
                self.functions.add(node.name)
            elif (
                isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)
            ):
                self.attributes.add(node.attr)
        self.functions.discard(name)

    def cell(self) -> Tokens:
        block = self.read(self.tree.body)
        top = {n for s in block for n in s.writes}
        roots = {self.name} if self.name in top else top
        self.mark(block, roots)
        return self.block(block)

    def read(self, body: Iterable[ast.stmt]) -> list[_Statement]:
        found: list[_Statement] = []
        for node in body:
            if isinstance(node, ast.If | ast.While) and isinstance(node.test, ast.Constant):
                if isinstance(node, ast.If):
                    found += self.read(node.body if node.test.value else node.orelse)
                    continue
                if not node.test.value:
                    continue
            for simple in _split(node):
                found.append(self.statement(simple))
            if isinstance(node, _ENDS):
                break  # nothing comes behind it
        return found

    def statement(self, node: ast.stmt) -> _Statement:
        made = _Statement(node)
        headers: list[ast.AST] = []
        for _, value in ast.iter_fields(node):
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.ExceptHandler):
                    made.blocks.append(self.read(part.body))
                    headers += [part.type] if part.type else []
                elif isinstance(part, ast.match_case):
                    made.blocks.append(self.read(part.body))
                    headers += [part.pattern, *([part.guard] if part.guard else [])]
                elif isinstance(part, ast.AST) and not isinstance(part, ast.stmt):
                    headers.append(part)
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                made.blocks.append(self.read(value))
        annotation = getattr(node, "annotation", getattr(node, "returns", None))
        for header in headers:
            if header is not annotation:
                self.look(header, made)
        if isinstance(node, _DEFINITIONS):
            made.writes[node.name] += 1
        made.essential = isinstance(node, (ast.Return, ast.Raise)) or self.acts(node, made)
        return made

    def look(self, header: ast.AST, made: _Statement) -> None:
        todo = [header]
        while todo:
            node = todo.pop()
            if isinstance(node, ast.Name):
                (made.reads if isinstance(node.ctx, ast.Load) else made.writes)[node.id] += 1
            elif isinstance(node, ast.arg):
                continue  # without its annotation
            elif isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
                made.essential = True
            elif isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
                if root := _root(node):
                    made.writes[root] += 1
            elif isinstance(node, ast.keyword) and node.arg == "out" and (root := _root(node.value)):
                made.writes[root] += 1
            todo += _children(node)

    def acts(self, node: ast.stmt, made: _Statement) -> bool:
        """Whether a statement does something beyond its own names. Who calls a method of a name, changes it."""
        if not isinstance(node, ast.Expr):
            return made.essential or any(not self.is_local(name) for name in made.writes)
        value = node.value
        if isinstance(value, ast.Call):
            root = _root(value.func)
            if isinstance(value.func, ast.Name):
                return value.func.id not in _TALK
            if root is not None and self.is_local(root):
                made.writes[root] += 1
                return False
            return True
        return made.essential

    def is_local(self, name: str) -> bool:
        return name in self.own or name in self.functions or name == self.name

    def mark(self, block: list[_Statement], live: set[str]) -> None:
        """Mark what is needed: what acts, what sets a name that is needed, and around them what holds them."""
        shared = live | self.given

        def visit(statements: list[_Statement]) -> tuple[bool, bool]:
            any_live = changed = False
            for statement in reversed(statements):
                needed = statement.live
                if statement.is_definition and not needed:
                    needed = not shared.isdisjoint(statement.writes)
                if not statement.is_definition or needed:
                    for inner in statement.blocks:
                        below, more = visit(inner)
                        changed |= more
                        needed |= below and not statement.is_definition
                needed = needed or statement.essential or not shared.isdisjoint(statement.writes)
                needed = needed and not isinstance(statement.node, _NOISE)
                if needed and not statement.live:
                    statement.live = changed = True
                    shared.update(statement.reads)
                    if isinstance(statement.node, ast.ClassDef):  # its methods are called from elsewhere
                        shared.update(name for inner in statement.blocks for s in inner for name in s.writes)
                any_live |= needed
            return any_live, changed

        while visit(block)[1]:
            pass

    # --- order

    def block(self, statements: list[_Statement]) -> Tokens:
        kept = [s for s in statements if s.live or isinstance(s.node, (ast.Break, ast.Continue))]
        if kept and isinstance(kept[-1].node, ast.Return) and kept[-1].node.value is None:
            kept.pop()
        kept = self.without_temporaries(kept)
        made = [self.emit(s) for s in kept]
        return [token for i in self.order(kept, made) for token in made[i]]

    def without_temporaries(self, block: list[_Statement]) -> list[_Statement]:
        totals = self.totals
        kept = []
        for i, statement in enumerate(block):
            node = statement.node
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                target = node.targets[0].id
                if totals.writes[target] == 1 and target not in self.places and target not in statement.reads:
                    if isinstance(node.value, ast.Name) and totals.writes[node.value.id] <= 1:
                        self.inlined[target] = node.value
                        continue
                    if totals.reads[target] == 1 and (user := self.user(block[i + 1 :], target, statement)):
                        user.reads += statement.reads
                        self.inlined[target] = node.value
                        continue
            kept.append(statement)
        return kept

    def user(self, following: list[_Statement], target: str, statement: _Statement) -> _Statement | None:
        """The statement that reads `target`, if what it was made of is still the same there."""
        for later in following:
            if target in later.reads:
                repeats = isinstance(later.node, (ast.While, *_DEFINITIONS))
                return None if repeats else later
            if any(not statement.reads.keys().isdisjoint(s.writes) for s in later.within()):
                return None
        return None

    def order(self, block: list[_Statement], made: list[Tokens]) -> list[int]:
        """The statements sorted by what they say, as far as each may come before the others."""
        if len(block) < 2 or len(block) > MOST_STATEMENTS:
            return list(range(len(block)))
        reads = [{n for s in one.within() for n in s.reads} for one in block]
        writes = [{n for s in one.within() for n in s.writes} for one in block]
        acts = [any(s.essential for s in one.within()) and not one.is_definition for one in block]
        ends = [any(isinstance(s.node, _ENDS) for s in one.within()) and not one.is_definition for one in block]
        before: list[int] = [0] * len(block)
        after: list[list[int]] = [[] for _ in block]
        for j in range(len(block)):
            for i in range(j):
                if (
                    ends[i]
                    or ends[j]
                    or (acts[i] and acts[j])
                    or not writes[i].isdisjoint(reads[j])
                    or not writes[i].isdisjoint(writes[j])
                    or not reads[i].isdisjoint(writes[j])
                ):
                    after[i].append(j)
                    before[j] += 1
        ready = [(_key(made[i]), i) for i in range(len(block)) if not before[i]]
        heapq.heapify(ready)
        found = []
        while ready:
            _, i = heapq.heappop(ready)
            found.append(i)
            for j in after[i]:
                before[j] -= 1
                if not before[j]:
                    heapq.heappush(ready, (_key(made[j]), j))
        return found

    # --- tokens

    def emit(self, statement: _Statement) -> Tokens:
        node = statement.node
        line = node.lineno
        if isinstance(node, _DEFINITIONS):
            return self.definition(node, statement)
        parts: Tokens = [(type(node).__name__, line)]
        if isinstance(node, ast.AugAssign):
            parts[0] = ("Assign", line)
            value = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
            parts += self.expression(node.target) + self.expression(value)
        elif isinstance(node, ast.AnnAssign):
            parts[0] = ("Assign", line)
            parts += self.expression(node.target)
            if node.value is not None:
                parts += self.expression(node.value)
        else:
            for _, value in ast.iter_fields(node):
                for part in value if isinstance(value, list) else [value]:
                    if isinstance(part, ast.ExceptHandler) and part.type is not None:
                        parts += self.expression(part.type)
                    elif isinstance(part, ast.AST) and not isinstance(part, (ast.stmt, ast.ExceptHandler)):
                        parts += self.expression(part)
        for inner in statement.blocks:
            parts += [("{", line), *self.block(inner), ("}", line)]
        return parts

    def definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, statement: _Statement) -> Tokens:
        parts: Tokens = [("Class" if isinstance(node, ast.ClassDef) else "Def", node.lineno)]
        parts.append((self.called(node.name), node.lineno))
        if isinstance(node, ast.ClassDef):
            for base in node.bases:
                parts += self.expression(base)
        else:
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            given += [a for a in (node.args.vararg, node.args.kwarg) if a]
            for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]:
                parts += self.expression(default)
        if outermost := not isinstance(node, ast.ClassDef) and not self.places:
            self.places = {a.arg: f"p{i}" for i, a in enumerate(given)} or {"": "p"}
            self.totals = _Statement(node)
            for inner in statement.within():
                if inner.live:
                    self.totals.reads += inner.reads
                    self.totals.writes += inner.writes
        for block in statement.blocks:
            parts += [("{", node.lineno), *self.block(block), ("}", node.lineno)]
        if outermost:
            self.places, self.inlined, self.totals = {}, {}, _NOWHERE
        return parts

    totals = _Statement(ast.Pass())

    def called(self, name: str) -> str:
        if name == self.name:
            return "answer"
        special = name.startswith("__") or name in ("forward", "backward", "step")
        return name if special or name not in self.functions else "f"

    def expression(self, node: ast.AST) -> Tokens:
        special = _SPECIAL.get(type(node))
        if special is not None:
            return special(self, node)
        found: Tokens = [(type(node).__name__, getattr(node, "lineno", 0))]
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr_context):
                found += self.expression(child)
        line = found[0][1] or next((at for _, at in found if at), 0)
        return [(token, at or line) for token, at in found]

    def a_name(self, node: ast.Name) -> Tokens:
        name = node.id
        if name in self.inlined and name not in self.opened:
            self.opened.add(name)
            found = self.expression(self.inlined[name])
            self.opened.discard(name)
            return found
        if name in self.places:
            token = self.places[name]
        elif name == self.name or name in self.functions:
            token = self.called(name)
        else:
            token = "v" if name in self.own else self.aliases.get(name, name)
        return [(token, node.lineno)]

    def an_attribute(self, node: ast.Attribute) -> Tokens:
        inner = self.expression(node.value)
        attribute = "a" if node.attr in self.attributes else self.called(node.attr)
        if len(inner) == 1:  # numpy.tanh is one word
            return [(f"{inner[0][0]}.{attribute}", node.lineno)]
        return [("Attribute", node.lineno), *inner, (attribute, node.lineno)]

    def a_constant(self, node: ast.Constant) -> Tokens:
        value = node.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return [(repr(value)[:40], node.lineno)]

    def an_operation(self, node: ast.BinOp) -> Tokens:
        if isinstance(node.op, (ast.Add, ast.Sub)):
            terms = [
                ([("-", node.lineno)] if negative else []) + self.expression(term)
                for negative, term in _terms(node)
                if not _is_constant(term, 0)
            ]
            return self.joined("Sum", terms, node.lineno)
        if isinstance(node.op, (ast.Mult, *_COMMUTE)):
            kind = type(node.op)
            factors = [self.expression(f) for f in _chain(node, kind) if kind is not ast.Mult or not _is_constant(f, 1)]
            return self.joined(kind.__name__, factors, node.lineno)
        found = [(type(node.op).__name__, node.lineno)]
        return found + self.expression(node.left) + self.expression(node.right)

    def joined(self, kind: str, parts: list[Tokens], line: int) -> Tokens:
        if len(parts) == 1:
            return parts[0]
        return [(f"{kind}{len(parts)}", line), *(t for part in sorted(parts, key=_key) for t in part)]

    def a_condition(self, node: ast.BoolOp) -> Tokens:
        return self.joined(type(node.op).__name__, [self.expression(v) for v in node.values], node.lineno)

    def a_comparison(self, node: ast.Compare) -> Tokens:
        sides = [self.expression(side) for side in (node.left, *node.comparators)]
        kinds = [type(op) for op in node.ops]
        if len(kinds) == 1 and kinds[0] in (ast.Eq, ast.NotEq):
            return self.joined(kinds[0].__name__, sides, node.lineno)
        if all(kind in _TURNED for kind in kinds):
            sides.reverse()
        names = [_TURNED.get(kind, kind.__name__) for kind in kinds]
        return [("Compare", node.lineno), *((name, node.lineno) for name in names), *(t for s in sides for t in s)]

    def a_call(self, node: ast.Call) -> Tokens:
        function = self.expression(node.func)
        given = [self.expression(a) for a in node.args]
        if function[0][0] in _SYMMETRIC:
            given.sort(key=_key)
        named = sorted(((k.arg or "**", self.expression(k.value)) for k in node.keywords), key=lambda k: k[0])
        found = [(f"Call{len(given) + len(named)}", node.lineno), *function, *(t for part in given for t in part)]
        return found + [t for name, value in named for t in [(f"{name}=", node.lineno), *value]]

    def a_dict(self, node: ast.Dict) -> Tokens:
        pairs = [(self.expression(k) if k else []) + self.expression(v) for k, v in zip(node.keys, node.values)]
        return [(f"Dict{len(pairs)}", node.lineno), *(t for pair in sorted(pairs, key=_key) for t in pair)]

    def a_set(self, node: ast.Set) -> Tokens:
        return [(f"Set{len(node.elts)}", node.lineno), *self.joined("", [self.expression(e) for e in node.elts], 0)]

    def nothing(self, node: ast.AST) -> Tokens:
        return []


_NOWHERE = _Statement(ast.Pass())

_SPECIAL: dict[type, Callable[..., Tokens]] = {
    ast.Name: _Reader.a_name,
    ast.Attribute: _Reader.an_attribute,
    ast.Constant: _Reader.a_constant,
    ast.BinOp: _Reader.an_operation,
    ast.BoolOp: _Reader.a_condition,
    ast.Compare: _Reader.a_comparison,
    ast.Call: _Reader.a_call,
    ast.Dict: _Reader.a_dict,
    ast.Set: _Reader.a_set,
    ast.arguments: _Reader.nothing,
}


def _children(node: ast.AST) -> list[ast.AST]:
    """What a node is made of. Half of the time goes here, so it takes fewer steps than `ast.iter_child_nodes`."""
    found: list[ast.AST] = []
    for name, value in node.__dict__.items():
        if value.__class__ is list:
            found += [one for one in value if isinstance(one, ast.AST)]
        elif name != "ctx" and isinstance(value, ast.AST):
            found.append(value)
    return found


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        todo += _children(node)


def _key(found: Tokens) -> list[str]:
    return [token for token, _ in found]


def _root(node: ast.AST) -> str | None:
    """The name at the beginning of `h.append`, `H[t]`, `self.cell.weight`."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _split(node: ast.stmt) -> list[ast.stmt]:
    """`a, b = c, d` as two statements, `a = b = c` too, and `a = a` as none."""
    if isinstance(node, ast.Assign):
        found: list[ast.stmt] = []
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, (ast.Tuple, ast.List)) and isinstance(node.value, (ast.Tuple, ast.List)):
                there, given = target.elts, node.value.elts
                if len(there) == len(given) and not any(isinstance(e, ast.Starred) for e in (*there, *given)):
                    pairs = list(zip(there, given))
            for name, value in pairs:
                if not (isinstance(name, ast.Name) and isinstance(value, ast.Name) and name.id == value.id):
                    found.append(ast.copy_location(ast.Assign([name], value), node))
        return found
    return [node]


def _terms(node: ast.expr, negative: bool = False) -> Iterator[tuple[bool, ast.expr]]:
    """The terms of a sum, and whether each is taken away."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        yield from _terms(node.left, negative)
        yield from _terms(node.right, negative != isinstance(node.op, ast.Sub))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from _terms(node.operand, not negative)
    else:
        yield negative, node


def _chain(node: ast.expr, kind: type[ast.operator]) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, kind):
        yield from _chain(node.left, kind)
        yield from _chain(node.right, kind)
    else:
        yield node


def _is_constant(node: ast.expr, value: int) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == value
