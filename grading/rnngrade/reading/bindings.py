"""What the names in a program may stand for, read from its text: `T` is `torch.nn` after `for T in (torch.nn,): pass`.

    program = Program({"a cell": tree, "another": tree})
    program.values(node)        -> the dotted names that an expression may be
    program.references("f")     -> those that `f`, and what it calls of the same program, refers to

Whatever way of binding Python has is followed: imports, assignments to names, attributes and entries, loops, `with`,
`:=`, `match`, parameters and their defaults, what a function returns. Each name belongs to its scope, as in Python; the
order in which things happen is not followed, so a name stands for all that it is ever bound to. What is in a list, a
tuple or a dict stands for "one of these".

A value is a dotted name, "torch.nn.RNN"; "*torch.nn" is something that holds it, "?" something unknown, "@7" the 7th
function or class of the program, "torch.nn.*" an attribute whose name is computed.
"""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

MOST_VALUES = 64  # that one expression may have
MOST_PARTS = 12  # of a dotted name
ROUNDS = 10  # until what depends on one another stands still

UNKNOWN, ANY, DICT = "?", ".*", ".__dict__"
MODULE = "@module"
BUILTINS = frozenset(dir(builtins)) | {"__builtins__", "get_ipython"}
# As the units' own cells import them, which need not be part of the program.
USUAL = {"np": "numpy", "torch": "torch", "nn": "torch.nn", "math": "math", "plt": "matplotlib.pyplot"}
COURSE = frozenset(("check", "hint", "use", "progress", "rnncourse"))
# Python's own modules that others hand on, `torch.os`; no library has one of these names for something else.
MACHINERY = {
    "sys",
    "os",
    "builtins",
    "importlib",
    "subprocess",
    "ctypes",
    "_ctypes",
    "gc",
    "pickle",
    "shutil",
    "socket",
    "threading",
    "multiprocessing",
    "pathlib",
    "tempfile",
    "marshal",
    "runpy",
    "types",
    "operator",
    "traceback",
    "platform",
    "pkgutil",
}

_LOOKS = ("getattr", "vars", "globals", "locals")
_IMPORTS = ("__import__", "builtins.__import__", "importlib.import_module")

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Values = set[str]


@dataclass(eq=False)
class Scope:
    """Where names are bound: a module, a class, a function, a comprehension."""

    kind: str
    parent: Scope | None = None
    bound: dict[str, Values] = field(default_factory=lambda: defaultdict(set))
    elsewhere: dict[str, Scope] = field(default_factory=dict)  # what `global` and `nonlocal` name
    stars: list[str] = field(default_factory=list)  # modules of which everything is imported
    sources: dict[str, list[ast.AST]] = field(default_factory=lambda: defaultdict(list))  # from which code

    def holder(self, name: str) -> Scope | None:
        """The scope in which a name that is used here is bound."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.elsewhere:
                return scope.elsewhere[name]
            if name in scope.bound and (scope is self or scope.kind != "class"):
                return scope
            scope = scope.parent
        return None


def held(values: Iterable[str]) -> Values:
    """What something that holds these values is."""
    return {v if v.startswith("*") else f"*{v}" for v in values if v != UNKNOWN}


def inside(values: Iterable[str]) -> Values:
    """What may be in something with these values; a container may hold others."""
    found = {u for v in values if v.startswith("*") for u in (v, v[1:])} | ({UNKNOWN} & {*values})
    return found | {v.removesuffix(DICT) + ANY for v in values if v.endswith(DICT)}


class Program:
    """The cells of a notebook, read as one program. `files` names the modules that are written by some of them: these
    count as if they stood in the notebook.
    """

    def __init__(self, trees: Mapping[str, ast.Module], files: Collection[str] = ()) -> None:
        self.trees, self.files = trees, {part for f in files for part in _and_above(f)}
        self.module = Scope("module")
        self.scopes: dict[int, Scope] = {}  # by id of the node
        self.definitions: list[Function | ast.ClassDef] = []
        self.bodies: list[Scope] = []  # of the definitions
        self._numbers: dict[int, int] = {}
        self._returns: dict[int, Values] = defaultdict(set)
        self._attributes: dict[str, Values] = defaultdict(set)
        self._steps: list[ast.AST] = []  # whatever binds
        self._known: dict[int, Values] = {}
        for tree in trees.values():
            for statement in tree.body:
                self._visit(statement, self.module)
        for _ in range(ROUNDS):
            before = self._size()
            for step in self._steps:
                self._bind(step)
            if self._size() == before:
                break
        self._still = True

    _still = False

    def values(self, node: ast.AST) -> Values:
        """The dotted names that an expression may be; empty for what is none, such as a number."""
        if self._still and id(node) in self._known:
            return self._known[id(node)]
        found = self._values(node, self.scopes[id(node)])
        found = {v for v in found if v.count(".") < MOST_PARTS}
        if len(found) > MOST_VALUES:
            found = {*sorted(found)[:MOST_VALUES], UNKNOWN}
        if self._still:
            self._known[id(node)] = found
        return found

    def references(self, name: str, free: Collection[str] = ()) -> Iterator[tuple[str, bool]]:
        """All that the definitions of `name`, and of what they use of the program, refer to, and whether it is sure: of
        what is bound more than once, or goes through a container, it is not. Names in `free` are not followed.
        """
        seen: set[int] = set()
        bound = self.module.bound.get(name, set())
        yield from ((v, len(bound) == 1) for v in bound if _is_dotted(v))
        todo = self._code(name)
        while todo:
            one, sure = todo.pop()
            if id(one) in seen:
                continue
            seen.add(id(one))
            for node in ast.walk(one):
                if isinstance(node, ast.Import):
                    yield from ((a.name, sure) for a in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module:
                    yield from ((node.module if a.name == "*" else f"{node.module}.{a.name}", sure) for a in node.names)
                elif isinstance(node, ast.Name) and node.id in free:
                    continue
                elif isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) and id(node) in self.scopes:
                    values = self.values(node)
                    todo += [(self.definitions[n], sure and len(values) == 1) for n in _numbers(values)]
                    yield from ((v.removeprefix("*"), sure and len(values) == 1) for v in values if v[:1] not in "@?")
                    if isinstance(node, ast.Name) and self.scopes[id(node)].holder(node.id) is self.module:
                        todo += [(code, sure and is_sure) for code, is_sure in self._code(node.id)]

    def _code(self, name: str) -> list[tuple[ast.AST, bool]]:
        """The code that binds a name of the module, apart from imports, and whether there is one such only."""
        sources, bound = self.module.sources.get(name, []), self.module.bound.get(name, set())
        sure = len(sources) == 1 and len(bound) <= 1
        return [(one, sure) for one in sources if not isinstance(one, (ast.Import, ast.ImportFrom))]

    # --- which scope each node belongs to, and which of them bind

    def _visit(self, node: ast.AST, scope: Scope) -> None:
        self.scopes[id(node)] = scope
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            self._define(node, scope)
            return
        if isinstance(node, _COMPREHENSIONS):
            own = Scope("comprehension", scope)
            for generator in node.generators:
                self.scopes[id(generator)] = own
                self._visit(generator.target, own)
                # The first is looked up outside, which makes a difference to nobody but a class.
                self._visit(generator.iter, own)
                for test in generator.ifs:
                    self._visit(test, own)
                self._store(generator.target, own)
                self._steps.append(generator)
            for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
                self._visit(part, own)
            return
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            for name in node.names:
                outer = scope.parent.holder(name) if isinstance(node, ast.Nonlocal) and scope.parent else None
                scope.elsewhere[name] = outer or self.module
                scope.elsewhere[name].bound[name]  # a default dict: it is bound there from now on
        for child in ast.iter_child_nodes(node):
            self._visit(child, scope)
        self._note(node, scope)

    def _define(self, node: Function | ast.ClassDef, scope: Scope) -> None:
        number = len(self.definitions)
        own = Scope("class" if isinstance(node, ast.ClassDef) else "function", scope)
        self.definitions.append(node)
        self.bodies.append(own)
        self._numbers[id(node)] = number
        if not isinstance(node, ast.Lambda):
            self._holder(scope, node.name).bound[node.name].add(f"@{number}")
            self._source(scope, node.name, node)
            for decorator in node.decorator_list:
                self._visit(decorator, scope)
        if isinstance(node, ast.ClassDef):
            for part in (*node.bases, *node.keywords):
                self._visit(part, scope)
        else:
            self._parameters(node.args, own, scope)
        for child in [node.body] if isinstance(node, ast.Lambda) else node.body:
            self._visit(child, own)
        self._steps.append(node)

    def _parameters(self, args: ast.arguments, own: Scope, scope: Scope) -> None:
        for one in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
            if one is not None:
                own.bound[one.arg].add(UNKNOWN)
                if one.annotation:
                    self._visit(one.annotation, scope)
        for default in (*args.defaults, *args.kw_defaults):
            if default is not None:
                self._visit(default, scope)

    def _note(self, node: ast.AST, scope: Scope) -> None:
        """Write down which names a node binds, so that they are looked for here."""
        match node:
            case ast.Import():
                for a in node.names:
                    self._store_name(a.asname or a.name.partition(".")[0], scope, node)
            case ast.ImportFrom():
                for a in node.names:
                    if a.name != "*":
                        self._store_name(a.asname or a.name, scope, node)
                    elif node.module:
                        scope.stars.append(node.module)
            case ast.Assign():
                for target in node.targets:
                    self._store(target, scope, node.value)
            case ast.AnnAssign() | ast.AugAssign():
                self._store(node.target, scope, node.value)
            case ast.NamedExpr():
                self._store(node.target, _around(scope), node.value)
            case ast.For() | ast.AsyncFor():
                self._store(node.target, scope, node.iter)
            case ast.withitem() if node.optional_vars is not None:
                self._store(node.optional_vars, scope, node.context_expr)
            case ast.ExceptHandler() if node.name:
                self._store_name(node.name, scope, node)
                self._holder(scope, node.name).bound[node.name].add(UNKNOWN)
                return
            case ast.Match():
                for pattern in (p for c in node.cases for p in ast.walk(c.pattern)):
                    if name := _captured(pattern):
                        self._store_name(name, scope, node.subject)
            case ast.Return() | ast.Yield() | ast.YieldFrom() | ast.Call():
                pass
            case _:
                return
        self._steps.append(node)

    def _store(self, target: ast.AST, scope: Scope, source: ast.AST | None = None) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._store_name(node.id, scope, source)

    def _store_name(self, name: str, scope: Scope, source: ast.AST | None) -> None:
        self._holder(scope, name).bound[name]  # a default dict: now it is there
        self._source(scope, name, source)

    def _source(self, scope: Scope, name: str, source: ast.AST | None) -> None:
        if source is not None and self._holder(scope, name) is self.module:
            self.module.sources[name].append(source)

    def _holder(self, scope: Scope, name: str) -> Scope:
        return scope.elsewhere.get(name, scope)

    # --- what each step binds

    def _size(self) -> int:
        tables = [*self.bodies, self.module, *{id(s): s for s in self.scopes.values()}.values()]
        count = sum(len(v) for scope in tables for v in scope.bound.values())
        return count + sum(map(len, self._returns.values())) + sum(map(len, self._attributes.values()))

    def _bind(self, node: ast.AST) -> None:
        scope = self.scopes[id(node)]
        match node:
            case ast.Import():
                for a in node.names:
                    whole = a.name if a.asname else a.name.partition(".")[0]
                    self._add(scope, a.asname or whole, {whole})
            case ast.ImportFrom():
                for a in node.names:
                    if a.name != "*" and node.module:
                        self._add(scope, a.asname or a.name, self._attribute({node.module}, a.name))
            case ast.Assign():
                for target in node.targets:
                    self._assign(target, scope, self.values(node.value), node.value)
            case ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
                scope = _around(scope) if isinstance(node, ast.NamedExpr) else scope
                if node.value is not None:
                    self._assign(node.target, scope, self.values(node.value), node.value)
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                self._assign(node.target, scope, inside(self.values(node.iter)), None)
            case ast.withitem():
                values = self.values(node.context_expr)
                self._assign(node.optional_vars, scope, values | inside(values), None)
            case ast.Match():
                values = self.values(node.subject)
                for pattern in (p for c in node.cases for p in ast.walk(c.pattern)):
                    if captured := _captured(pattern):
                        self._add(scope, captured, values | inside(values) or {UNKNOWN})
            case ast.Return() | ast.Yield() | ast.YieldFrom() if node.value is not None:
                values = self.values(node.value)
                self._return(scope, held(values) if isinstance(node, ast.Yield) else values)
            case ast.Lambda():
                self._returns[self._numbers[id(node)]] |= self.values(node.body)
                self._defaults(node, scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._defaults(node, scope)
            case ast.Call():
                self._call(node)

    def _add(self, scope: Scope, name: str, values: Values) -> None:
        bound = self._holder(scope, name).bound[name]
        bound |= {v for v in values if v.count(".") < MOST_PARTS}
        if len(bound) > MOST_VALUES:
            bound.add(UNKNOWN)
            for value in sorted(bound)[MOST_VALUES:]:
                bound.discard(value)

    def _assign(self, target: ast.AST | None, scope: Scope, values: Values, value: ast.AST | None) -> None:
        match target:
            case ast.Name():
                # What is no name at all is something unknown all the same: the name stands for it too.
                self._add(scope, target.id, values or {UNKNOWN})
            case ast.Tuple() | ast.List():
                parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else ()
                fits = len(parts) == len(target.elts)
                fits = fits and not any(isinstance(e, ast.Starred) for e in (*parts, *target.elts))
                for i, element in enumerate(target.elts):
                    if fits:
                        self._assign(element, scope, self.values(parts[i]), parts[i])
                    else:
                        self._assign(element, scope, inside(values), None)
            case ast.Starred():
                self._assign(target.value, scope, held(values) | values, None)
            case ast.Attribute():
                self._attributes[target.attr] |= values
            case ast.Subscript():
                base = target.value
                key = target.slice.value if isinstance(target.slice, ast.Constant) else None
                if isinstance(key, str) and any(v.endswith(DICT) for v in self.values(base)):
                    self._attributes[key] |= values  # vars(self)["layer"] = …
                    if MODULE + DICT in self.values(base):
                        self._add(self.module, key, values)
                self._assign(base, scope, held(values), None) if isinstance(base, (ast.Name, ast.Attribute)) else None

    def _return(self, scope: Scope | None, values: Values) -> None:
        while scope is not None and scope.kind != "function":
            scope = scope.parent
        if scope is not None:
            self._returns[self.bodies.index(scope)] |= values

    def _defaults(self, node: Function, scope: Scope) -> None:
        own, args = self.bodies[self._numbers[id(node)]], node.args
        positional = [*args.posonlyargs, *args.args]
        given = zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)
        for one, default in (*given, *zip(args.kwonlyargs, args.kw_defaults, strict=True)):
            if default is not None:
                own.bound[one.arg] |= self.values(default)

    def _call(self, node: ast.Call) -> None:
        """What a call binds: parameters of what it calls and hands on, and entries of what its method belongs to."""
        called = self.values(node.func)
        positional = [self.values(a) for a in node.args]
        named = {k.arg: self.values(k.value) for k in node.keywords}
        handed: Values = set().union(*positional, *named.values())
        if not handed:
            return
        for number in _numbers(called):
            self._pass(number, positional, named)
        if callbacks := _numbers(handed):
            for number in callbacks:
                for one in _arguments(self.definitions[number]):
                    self.bodies[number].bound[one.arg] |= handed | inside(handed)
        if "setattr" in called and len(node.args) == 3 and isinstance(node.args[1], ast.Constant):
            self._attributes[str(node.args[1].value)] |= positional[2]
        if isinstance(node.func, ast.Attribute) and isinstance(base := node.func.value, ast.Name):
            holder = self.scopes[id(base)].holder(base.id)
            plain = {v for v in handed if v != UNKNOWN}
            if holder is not None and plain and not any(_is_dotted(v) for v in holder.bound[base.id]):
                self._add(holder, base.id, held(plain))  # things.append(nn.RNN)

    def _pass(self, number: int, positional: list[Values], named: dict[str | None, Values]) -> None:
        definition = self.definitions[number]
        if isinstance(definition, ast.ClassDef):
            makers = [
                v for name in ("__init__", "__call__", "__new__") for v in self.bodies[number].bound.get(name, ())
            ]
            for maker in _numbers(makers):
                self._pass(maker, [set(), *positional], named)
            return
        own, args = self.bodies[number], definition.args
        parameters = [*args.posonlyargs, *args.args]
        for one, values in zip(parameters, positional, strict=False):
            own.bound[one.arg] |= values
        rest: Values = set().union(*positional[len(parameters) :])
        if args.vararg:
            own.bound[args.vararg.arg] |= held(rest)
        for name, values in named.items():
            if any(one.arg == name for one in (*parameters, *args.kwonlyargs)):
                own.bound[str(name)] |= values
            elif args.kwarg:
                own.bound[args.kwarg.arg] |= held(values)
            if name is None:
                for one in _arguments(definition):
                    own.bound[one.arg] |= inside(values)

    # --- what an expression may be

    def _values(self, node: ast.AST, scope: Scope) -> Values:
        match node:
            case ast.Name():
                return self._name(node.id, scope)
            case ast.Attribute():
                return self._attribute(self.values(node.value), node.attr)
            case ast.Subscript():
                key = node.slice.value if isinstance(node.slice, ast.Constant) else None
                return self._entry(self.values(node.value), key)
            case ast.Call():
                return self._result(node)
            case ast.Lambda():
                return {f"@{self._numbers[id(node)]}"}
            case ast.IfExp():
                return self.values(node.body) | self.values(node.orelse)
            case ast.BoolOp():
                return set().union(*map(self.values, node.values))
            case ast.BinOp():
                return {v for v in self.values(node.left) | self.values(node.right) if v.startswith("*")}
            case ast.NamedExpr() | ast.Await() | ast.Starred():
                return self.values(node.value)
            case ast.Tuple() | ast.List() | ast.Set():
                return held(set().union(*map(self.values, node.elts)))
            case ast.Dict():
                return held(set().union(*(self.values(v) for v in (*node.keys, *node.values) if v is not None)))
            case ast.DictComp():
                return held(self.values(node.key) | self.values(node.value))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return held(self.values(node.elt))
        return set()

    def _name(self, name: str, scope: Scope) -> Values:
        if (holder := scope.holder(name)) is not None:
            return set(holder.bound[name])
        found = {USUAL.get(name, name)} if name in BUILTINS or name in USUAL or name in COURSE else set()
        if name not in BUILTINS:
            at: Scope | None = scope
            while at is not None:
                found |= {f"{module}.{name}" for module in at.stars}
                at = at.parent
        return found

    def _attribute(self, values: Values, name: str) -> Values:
        found: Values = set()
        for value in values:
            if value.startswith("*"):
                found |= {value, f"*{value[1:]}.{name}"} if value[1:2] != "@" else {value}
            elif value.startswith("@"):
                number = int(value[1:]) if value[1:].isdigit() else -1
                own = self.bodies[number].bound.get(name) if number >= 0 else None
                found |= (
                    own
                    if own is not None
                    else self._attributes.get(name, {f"{value}{DICT}"} if name == "__dict__" else set())
                )
            elif value in self.files:
                found |= {f"{value}.{name}"} if f"{value}.{name}" in self.files else self._name(name, self.module)
            elif value != UNKNOWN:
                found |= {f"{value}.{name}", name} if name in MACHINERY else {f"{value}.{name}"}
        if not any(_is_dotted(v) for v in values):
            found |= self._attributes.get(name, set())
        return found

    def _entry(self, values: Values, key: object) -> Values:
        found = inside(values)
        for value in values:
            if value.endswith(DICT):
                base = value.removesuffix(DICT)
                if not isinstance(key, str):
                    found.add(f"{base}{ANY}")
                elif base == MODULE:
                    found |= self._name(key, self.module)
                else:
                    found |= self._attribute({base}, key)
            elif value == "sys.modules":
                found.add(key if isinstance(key, str) else f"sys.modules{ANY}")
        return found

    def _result(self, node: ast.Call) -> Values:
        """What a call may give: what is known of each thing that it may call, and whatever is handed to it."""
        found: Values = set()
        for called in self.values(node.func):
            found |= self._given_by(called, node)
        # Whatever is handed to something may come back out of it, as it is or in something that holds it.
        handed = (*node.args, *(keyword.value for keyword in node.keywords))
        passed = set().union(*map(self.values, handed)) - {UNKNOWN}
        return found | passed | inside(passed) | held(passed)

    def _given_by(self, called: str, node: ast.Call) -> Values:
        """What is known to come of calling `called` with these arguments."""
        if called in _LOOKS:
            return self._looked_up(called, node)
        if called in _IMPORTS:
            return _imported(called, _constant(node, 0))
        if called.startswith("@") and called[1:].isdigit():
            return self._given_by_own(called)
        if called.startswith("*"):  # something in a container, called: the container's other things may come
            return {called, called[1:]}
        return self._given_by_method(called, _constant(node, 0))

    def _looked_up(self, called: str, node: ast.Call) -> Values:
        """What `getattr`, `vars`, `globals` and `locals` give."""
        if called == "getattr":
            if len(node.args) < 2:
                return set()
            of, name = self.values(node.args[0]), _constant(node, 1)
            return self._attribute(of, name) if isinstance(name, str) else {f"{v}{ANY}" for v in _bare(of)}
        if called == "vars" and node.args:
            return {f"{v}{DICT}" for v in _bare(self.values(node.args[0]))}
        return {MODULE + DICT}

    def _given_by_own(self, called: str) -> Values:
        """What a class of the program gives, itself, or a function: what it returns."""
        number = int(called[1:])
        return {called} if isinstance(self.definitions[number], ast.ClassDef) else self._returns[number]

    def _given_by_method(self, called: str, key: object) -> Values:
        """What a method that looks for `key` gives, as in `d.get("rnn")`; the key is None if it is computed."""
        owner, _, method = called.rpartition(".")
        if key is None and f"{DICT}." in called:  # anything in that namespace
            return held({called.partition(DICT)[0] + ANY})
        if key is not None and owner and method in ("get", "__getitem__", "pop"):
            return self._entry({owner}, key)
        if isinstance(key, str) and method in ("__getattribute__", "__getattr__"):
            return self._attribute({owner}, key)
        return set()


def _and_above(module: str) -> list[str]:
    """A module and the packages in which it lies."""
    parts = module.split(".")
    return [".".join(parts[:i]) for i in range(1, len(parts) + 1)]


def _constant(node: ast.Call, position: int) -> object:
    """The argument in a position of a call, if it is a constant; else None."""
    argument = node.args[position] if len(node.args) > position else None
    return argument.value if isinstance(argument, ast.Constant) else None


def _imported(called: str, module: object) -> Values:
    """What an import by a call gives: `__import__("torch.nn")` gives torch, and `import_module` torch.nn."""
    if not isinstance(module, str):
        return set()
    return {module} if called == "importlib.import_module" else {module, module.partition(".")[0]}


def _around(scope: Scope) -> Scope:
    """The scope in which `:=` binds: not in that of a comprehension."""
    while scope.kind == "comprehension" and scope.parent:
        scope = scope.parent
    return scope


def _is_dotted(value: str) -> bool:
    return value[:1] not in ("*", "@", "?")


def _bare(values: Iterable[str]) -> Values:
    """Those values that are known, whether they are in a container or not."""
    return {v.lstrip("*") for v in values if v != UNKNOWN}


def _numbers(values: Iterable[str]) -> list[int]:
    return sorted({int(v.lstrip("*@")) for v in values if v.lstrip("*").startswith("@") and v.lstrip("*@").isdigit()})


def _arguments(node: ast.AST) -> list[ast.arg]:
    if not isinstance(node, _FUNCTIONS):
        return []
    args = node.args
    return [*args.posonlyargs, *args.args, *args.kwonlyargs]


def _captured(pattern: ast.AST) -> str | None:
    """The name that a pattern of `match` binds."""
    match pattern:
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return name
    return None
