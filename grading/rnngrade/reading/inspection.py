"""Inspection: what a submission's source says, read without running any of it.

`inspect_source` finds what a person should look at: code that hides what it calls, that reaches for files, processes
or the network, that patches what grades it. It is a matter of honesty, not of safety: the sandbox holds whether or not
the inspection sees through a trick, and a finding costs no points.

What an answer may not call costs them. `Inspection.banned` has it where the source leaves no doubt, or where the
submission tampers with what runs it, so that what is found there is not to be believed (`bindings.py`).

`digest` is the same for two answers that differ only in names, layout, comments, docstrings and annotations; `weight`
says how long an answer is, since short ones are the same by chance.
"""

from __future__ import annotations

import ast
import builtins
import functools
import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from rnncourse.checks.forbidden import is_under
from rnngrade.core.record import Finding
from rnngrade.reading.bindings import ANY, COURSE, DICT, MACHINERY, Program
from rnngrade.reading.ipython import MAX_SOURCE, RUN_PYTHON, SHOW, TooComplex, as_run

MAX_TOTAL = 2_000_000  # characters of one submission that are parsed


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# What a person should look at: a code; what it is, in words that follow "uses `name`, "; and the dotted names, each of
# which stands for all below it.
SUSPECTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "hides-calls": (
        "which can hide what is called",
        _words("""
            eval exec compile __import__ globals importlib imp runpy code codeop pkgutil zipimport marshal builtins
            __builtins__ types.FunctionType types.CodeType operator.attrgetter operator.methodcaller
        """),
    ),
    "looks-inside": (
        "which looks into the running program",
        _words("""
            gc inspect sys.modules sys._getframe sys._current_frames sys.settrace sys.setprofile sys.meta_path sys.path
            sys.path_hooks sys.path_importer_cache sys.exc_info traceback dis os.environ os.getenv get_ipython
            IPython.get_ipython rnncourse.checks rnncourse.exercises rnncourse.seat
        """),
    ),
    "machine-level": (
        "which reaches below Python",
        _words("ctypes cffi _ctypes mmap numpy.ctypeslib torch.utils.cpp_extension"),
    ),
    "network": (
        "which speaks to other programs or to the network",
        _words("""
            socket _socket socketserver ssl urllib urllib3 requests http httpx aiohttp ftplib smtplib xmlrpc telnetlib
            zmq jupyter_client torch.hub torch.distributed
        """),
    ),
    "processes": (
        "which starts, ends or steers processes or threads",
        _words("""
            subprocess signal threading _thread multiprocessing concurrent.futures pty resource atexit faulthandler
            os.system os.popen os.fork os.forkpty os.kill os.killpg os._exit os.abort os.nice os.setsid
            torch.multiprocessing
        """),
    ),
    "files": (
        "which reaches for files",
        _words("""
            open io.open io.FileIO codecs.open pathlib glob shutil tempfile fileinput linecache sqlite3 zipfile tarfile
            os numpy.load numpy.save numpy.savez numpy.savetxt numpy.loadtxt numpy.genfromtxt numpy.fromfile
            numpy.memmap torch.load torch.save torch.jit.load nbformat
        """),
    ),
    "pickle": (
        "which packs code into data",
        _words("pickle _pickle cPickle dill cloudpickle joblib shelve copyreg"),
    ),
}
# Beginnings of names: os.execv, os.spawnl, …
FAMILIES = {"processes": ("os.exec", "os.spawn", "os.posix_spawn"), "files": ("pandas.read_",)}
HARMLESS = _words("os os.path os.sep os.linesep os.cpu_count os.name")  # `os` alone: before its attribute

# Attributes by which one climbs from any object into the program around it.
INNER = frozenset(
    _words("""
        __builtins__ __subclasses__ __globals__ __code__ __closure__ __bases__ __mro__ __loader__ __spec__ __reduce__
        __reduce_ex__ __getattribute__ __import__ __defaults__ __kwdefaults__ f_back f_globals f_locals f_builtins
        f_code tb_frame tb_next gi_frame gi_code cr_frame ag_frame co_consts _getframe
    """)
)
# Methods by which an object may say of itself what is not so, and types that the judge expects.
LIES = frozenset(
    _words("""
        __array__ __array_ufunc__ __array_function__ __array_interface__ __array_finalize__ __reduce__ __reduce_ex__
        __getattribute__ __eq__ __class__ __instancecheck__ __subclasscheck__ __index__ __float__
    """)
)
PLAIN_TYPES = _words("numpy.ndarray int float str list tuple dict set bool")
# By which an attribute can be had without its name being written.
ATTRIBUTES = frozenset(_words("getattr setattr delattr vars"))

_WRITES = re.compile(
    r"""\s*%%(?:writefile|file)[ \t]+(?:-a[ \t]+|--append[ \t]+)?(["']?)(?P<path>[\w./-]+\.py)\1[ \t]*$""", re.M
)
_INNER_TEXT = re.compile(r"__(?:builtins|subclasses|globals|code|closure|import|mro|bases|loader)__")


@dataclass(frozen=True)
class Inspection:
    """What was found. `banned` has for the answers that have to be refused the forbidden name that they refer to."""

    findings: list[Finding]
    banned: dict[str, str]


def inspect(
    sources: Mapping[str, str],
    forbids: Mapping[str, tuple[str, ...]],
    uses: Mapping[str, Collection[str]] | None = None,
    given: Mapping[str, str] | None = None,
) -> Inspection:
    """What the code cells of a submission, in their order and by name, give to look at, and what has to be refused.

    `forbids` has for each exercise, by name, the dotted names that its answer may not call, `uses` the names
    of earlier answers, for which the references stand while it is judged. `given` are the unit's own cells.
    """
    findings: list[Finding] = []
    trees: dict[str, ast.Module] = {}
    files: list[str] = []
    total = 0
    for cell, source in sources.items():
        total += len(source)
        if len(source) > MAX_SOURCE or total > MAX_TOTAL:
            findings.append(Finding("too-long", _says(cell, "is too long to be inspected"), cell, for_person=True))
            continue
        module, source = written_module(source)
        if module:
            files.append(module)
        try:
            trees[cell], magics = as_run(source)
        except SyntaxError as error:
            where = f" in line {error.lineno}" if error.lineno else ""
            words = f"is no valid Python{where}: {error.msg}"
            findings.append(Finding("syntax-error", _says(cell, words), cell))
            continue
        except TooComplex:
            findings.append(Finding("too-complex", _says(cell, "is nested too deeply"), cell, for_person=True))
            continue
        if others := sorted({*magics} - RUN_PYTHON - SHOW):
            words = f"uses `{'' if others[0] == '!' else '%'}{others[0]}`, which can start another program or language"
            findings.append(Finding("processes", _says(cell, words), cell, for_person=True))
    banned: dict[str, str] = {}
    try:
        program = Program({**_parsed(given or {}), **trees}, files)
        for cell, tree in trees.items():
            findings += _Suspicions(cell, program).of(tree)
        tampers = any(finding.for_person for finding in findings)
        for name, forbidden in forbids.items():
            found = _forbidden(program, name, forbidden, (uses or {}).get(name, ()))
            for one, sure in found.items():
                words = f"Your `{name}` refers to `{one}`, which its statement does not allow."
                findings.append(Finding("forbidden-name", words, name, for_person=True))
                if sure or tampers:
                    banned.setdefault(name, one)
    except RecursionError:
        findings.append(Finding("too-complex", "Your code is nested too deeply to be inspected.", for_person=True))
    return Inspection(findings, banned)


def inspect_source(sources: Mapping[str, str], forbids: Mapping[str, tuple[str, ...]]) -> list[Finding]:
    """What `inspect` finds.

    >>> [f.code for f in inspect_source({"rnn_step": "def rnn_step(x):\\n    return eval('x')"}, {})]
    ['hides-calls']
    """
    return inspect(sources, forbids).findings


def forbidden_names(sources: Mapping[str, str], name: str, banned: tuple[str, ...]) -> list[str]:
    """The names under `banned` that the answer `name`, defined in one of the cells, refers to, by whatever alias.

    >>> forbidden_names({"a": "import torch as t\\nT = t.nn\\ndef f(x):\\n    return T.RNN(x)"}, "f", ("torch.nn.RNN",))
    ['torch.nn.RNN']
    """
    try:
        return list(_forbidden(Program(_parsed(sources)), name, banned))
    except RecursionError:
        return []


def written_module(source: str) -> tuple[str | None, str]:
    """The module that a cell writes with `%%writefile`, if it does, and the source that is to be inspected.

    >>> written_module("%%writefile tools/mine.py\\nx = 1")
    ('tools.mine', '\\nx = 1')
    """
    if not (found := _WRITES.match(source)):
        return None, source
    parts = found["path"].removesuffix(".py").split("/")
    name = ".".join(part for part in parts if part not in ("", ".", "__init__"))
    return name, source[found.end() :]


def _parsed(sources: Mapping[str, str]) -> dict[str, ast.Module]:
    trees = {}
    for cell, source in sources.items():
        with suppress(SyntaxError, TooComplex):
            trees[cell], _ = as_run(source)
    return trees


def _says(cell: str, words: str) -> str:
    return f"Your cell `{cell}` {words}."


# --- what may not be called


def _forbidden(program: Program, name: str, banned: tuple[str, ...], free: Collection[str] = ()) -> dict[str, bool]:
    """The forbidden names that the definition of `name` and what it calls refer to, and whether it surely does."""
    found: dict[str, bool] = {}
    ways: set[str] = set()
    referred: dict[str, bool] = {}
    for one, sure in program.references(name, free):
        referred[one] = referred.get(one, False) or sure
    for one, sure in referred.items():
        if any(is_under(one, b) for b in banned):
            found[one] = sure
        elif any(_may_reach(one, b) for b in banned):
            ways.add(one)
    if not found:
        return dict.fromkeys(sorted(ways)[:1], False)
    # Of `torch` and `torch.nn.RNN`, the longer says more.
    longest = sorted(n for n in found if not any(other.startswith(n + ".") for other in found))
    return {n: any(sure for other, sure in found.items() if n == other or n.startswith(other + ".")) for n in longest}


def _may_reach(name: str, banned: str) -> bool:
    """Whether an attribute whose name is computed may be the forbidden one."""
    for mark in (ANY, DICT):
        base, found, _ = name.partition(mark)
        if found and (base == "sys.modules" or is_under(banned, base)):
            return True
    return False


# --- suspicions


@dataclass
class _Suspicions:
    """Goes through one cell and writes down what a person should see, each kind once."""

    cell: str
    program: Program
    found: dict[str, str] = field(default_factory=dict)  # by code: what was seen first
    named: set[str] = field(default_factory=set)  # the dotted names that were looked at

    def of(self, tree: ast.Module) -> list[Finding]:
        nodes = list(ast.walk(tree))
        called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        for node in nodes:
            self._imports(node)
            self._uses(node, is_called=id(node) in called)
            self._calls(node)
            self._patches(node)
            self._lies(node)
        for name in sorted(self._bound(tree) & COURSE):
            self._see("patches", f"defines `{name}` anew, which is the course's own")
        cell = self.cell
        return [Finding(code, _says(cell, words), cell, for_person=True) for code, words in self.found.items()]

    def _see(self, code: str, words: str) -> None:
        self.found.setdefault(code, words)

    def _dotted(self, node: ast.AST) -> list[str]:
        """The dotted names that an expression may be."""
        return sorted(v for v in self.program.values(node) if v[:1] not in "*@?")

    def _name(self, dotted: str) -> None:
        if dotted in self.named or dotted in HARMLESS or dotted.startswith("os.path."):
            return
        self.named.add(dotted)
        for code, (words, names) in SUSPECTS.items():
            family = FAMILIES.get(code, ())
            if dotted.startswith(family) or any(dotted == n or dotted.startswith(n + ".") for n in names):
                self._see(code, f"uses `{dotted}`, {words}")
                return
        first, *parts = dotted.split(".")
        for i, part in enumerate(parts):
            if part in MACHINERY and first not in MACHINERY:
                self._see("hides-calls", f"uses `{dotted}`, by which `{part}` is had under another name")
                self._name(".".join(parts[i:]))
                return

    def _imports(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for a in node.names:
                self._name(a.name)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for a in node.names:
                self._name(node.module if a.name == "*" else f"{node.module}.{a.name}")

    def _uses(self, node: ast.AST, *, is_called: bool) -> None:
        if isinstance(node, ast.Attribute) and node.attr in INNER:
            self._see("looks-inside", f"uses `{node.attr}`, which looks into the running program")
        elif isinstance(node, ast.Attribute) and node.attr == "__dict__" and _root(node) != "self":
            self._see("hides-calls", "uses `__dict__`, which can hide what is called")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and (t := _INNER_TEXT.search(node.value)):
            self._see("looks-inside", f"uses `{t.group()}`, which looks into the running program")
        if isinstance(node, (ast.Subscript, ast.Call)) or (
            isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)
        ):
            for dotted in self._dotted(node):
                self._name(dotted)
                if dotted in ATTRIBUTES and not is_called and not isinstance(node, ast.Call):
                    self._see("hides-calls", f"uses `{dotted}` as a value, which can hide what is called")

    def _calls(self, node: ast.AST) -> None:
        if not isinstance(node, ast.Call):
            return
        for called in self._dotted(node.func):
            if called in ("getattr", "setattr", "delattr", "hasattr") and len(node.args) > 1:
                name = node.args[1]
                if not isinstance(name, ast.Constant) and _root(node.args[0]) != "self" and not _is_of_a_layer(name):
                    words = f"uses `{called}` with a name that is computed, which can hide what is called"
                    self._see("hides-calls", words)
                elif isinstance(name, ast.Constant) and name.value in INNER:
                    self._see("looks-inside", f"uses `{name.value}`, which looks into the running program")
                elif called == "setattr" and (foreign := self._foreign(node.args[0])):
                    self._see("patches", f"changes `{foreign}`, which is not its own")
            elif called == "vars" and not (node.args and _root(node.args[0]) == "self"):
                self._see("hides-calls", "uses `vars`, which can hide what is called")

    def _patches(self, node: ast.AST) -> None:
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = [t for target in node.targets for t in _parts(target)]
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For, ast.comprehension)):
            targets = [*_parts(node.target)]
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            targets = [*_parts(node.optional_vars)]
        elif isinstance(node, ast.Delete):
            targets = node.targets
        for target in targets:
            if isinstance(target, ast.Attribute) and (foreign := self._foreign(target.value)):
                if foreign.removeprefix("numpy.") in _UNCHANGEABLE:
                    continue
                dotted = f"{foreign}.{target.attr}"
                if not dotted.startswith("torch.backends."):
                    self._see("patches", f"changes `{dotted}`, which is not its own")

    def _foreign(self, node: ast.AST) -> str | None:
        """What an expression is, if it is something imported."""
        return next(iter(self._dotted(node)), None)

    def _lies(self, node: ast.AST) -> None:
        if not isinstance(node, ast.ClassDef):
            return
        for base in (dotted for part in node.bases for dotted in self._dotted(part)):
            if base in PLAIN_TYPES:
                self._see("poses", f"makes a kind of `{base}` of its own, which may say of itself what is not so")
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef) and inner.name in LIES:
                self._see("poses", f"defines `{inner.name}`, by which an object may say of itself what is not so")

    def _bound(self, tree: ast.Module) -> set[str]:
        """The names that a cell binds at its top level, other than by importing them from the course."""
        bound: set[str] = set()
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                bound.add(node.name)
            elif isinstance(node, ast.Assign):
                bound |= {t.id for target in node.targets for t in _parts(target) if isinstance(t, ast.Name)}
            elif isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("rnncourse"):
                bound |= {a.asname or a.name for a in node.names}
        return bound


# Types whose attributes Python lets nobody set: Python's own, and those of NumPy's single numbers.
_UNCHANGEABLE = {name for name, value in vars(builtins).items() if isinstance(value, type)} | {
    kind.__name__ for kind in np.sctypeDict.values()
}


def _is_of_a_layer(name: ast.AST) -> bool:
    """Whether a computed name is that of a layer's parameter, f"bias_l{layer}": nothing forbidden begins like that."""
    if isinstance(name, ast.BinOp):
        return isinstance(name.op, ast.Add) and _is_of_a_layer(name.left)
    first = name.values[0] if isinstance(name, ast.JoinedStr) and name.values else name
    return isinstance(first, ast.Constant) and str(first.value).startswith(("bias_", "weight_"))


def _root(node: ast.AST) -> str | None:
    """The first part of a dotted name as it stands there: `t` of `t.nn.RNN`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _parts(target: ast.expr) -> Iterator[ast.expr]:
    """The single targets of an assignment, out of tuples and lists."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _parts(element)
    elif isinstance(target, ast.Starred):
        yield from _parts(target.value)
    else:
        yield target


# --- digests


def digest(source: str) -> str:
    """A digest of an answer up to the names it gives, layout, comments, docstrings and annotations.

    >>> digest("def f(x):\\n    return x + 1  # one more") == digest("def f(value):\\n  'Add.'\\n  return value+1")
    True
    >>> digest("def f(x):\\n    return x + 1") == digest("def f(x):\\n    return x - 1")
    False
    """
    try:
        text = ast.dump(_normal(source), annotate_fields=False)
    except (SyntaxError, RecursionError, TooComplex):
        text = "".join(re.sub(r"#.*", "", source).split())
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def weight(source: str) -> int:
    """How much there is to an answer: the nodes of its syntax tree, docstrings and annotations aside; 0 if it is no
    valid Python.

    >>> weight("quiz = 7") < 10 < weight("def f(x):\\n    return [a * b + 1 for a, b in x]")
    True
    """
    try:
        return sum(not isinstance(node, ast.expr_context) for node in ast.walk(_normal(source)))
    except (SyntaxError, RecursionError, TooComplex):
        return 0


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)


@functools.lru_cache(maxsize=8)  # an answer is digested and weighed
def _normal(source: str) -> ast.Module:
    tree, _ = as_run(source)
    _Plain().visit(tree)
    names = {name: f"v{i}" for i, name in enumerate(dict.fromkeys(_given_names(tree)))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = names.get(node.arg, node.arg)
        elif isinstance(node, _NAMED) and node.name:
            node.name = names[node.name]
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [names.get(n, n) for n in node.names]
        elif isinstance(node, ast.alias):
            node.asname = names[node.asname or node.name.partition(".")[0]]
    return tree


def _given_names(node: ast.AST) -> Iterator[str]:
    """The names that a piece of code binds, in the order of the text."""
    if isinstance(node, _NAMED):
        yield node.name or "_"
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    for child in ast.iter_child_nodes(node):
        yield from _given_names(child)


class _Plain(ast.NodeTransformer):
    """Takes docstrings and annotations away."""

    def _body(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        body = node.body  # type: ignore[attr-defined]
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            node.body = body[1:] or [ast.Pass()]  # type: ignore[attr-defined]
        return node

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        return self._body(node)

    visit_Module = visit_ClassDef = _body
    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        if node.value is None:
            return None
        return ast.Assign([node.target], node.value, lineno=node.lineno)
