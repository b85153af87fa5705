"""Inspection: what a submission's source says, read without running any of it.

It finds what a person should look at: whatever is not on the list of what answers use (`allowed.py`), and what changes
things that are not its own. It costs no points. The sandbox holds, and the room refuses what an answer may not call
(`sandbox/inside/refusing.py`), whether or not the inspection sees through a trick.

Names are read flat: what a name stands for is what an import, or `name = module`, binds it to anywhere in the notebook.
A module in any other place, in a list or handed to a function, is a finding itself, so that no other name has it.

What an answer may not call costs points where the source says so plainly: `Inspection.banned` has it where each name on
the way is bound once, or where the submission also does what a person should look at.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from nbformat import NotebookNode

from rnncourse import exercises
from rnncourse.checks.exercise import Exercise
from rnncourse.checks.forbidden import is_under
from rnngrade.core.record import Finding
from rnngrade.reading.allowed import METHODS, NO_BUILTIN, SETTABLE, Allowed
from rnngrade.reading.programs import (
    MAX_SOURCE,
    RUN_PYTHON,
    SHOW,
    Program,
    Statement,
    TooComplex,
    bound_by,
    imports,
    in_order,
    program,
    readable,
)

MAX_TOTAL = 2_000_000  # characters of one submission that are parsed
COURSE = frozenset(("check", "hint", "use", "progress", "rnncourse"))  # names that are the course's own
KINDS = frozenset(("ndarray", "Tensor", "int", "float", "str", "list", "tuple", "dict", "set", "bytes"))
BY_NAME = frozenset(("getattr", "setattr", "delattr", "hasattr"))

_WRITES = re.compile(
    r"""\s*%%(?:writefile|file)[ \t]+(?:-a[ \t]+|--append[ \t]+)?(["']?)(?P<path>[\w./-]+\.py)\1[ \t]*$""", re.M
)
_INNER_TEXT = re.compile(r"__(?!main__|init__|name__)\w+__")


@dataclass(frozen=True)
class Inspection:
    """What was found. `banned` has for the answers that have to be refused the forbidden name that they refer to."""

    findings: list[Finding]
    banned: dict[str, str]


def inspect(
    sources: Mapping[str, str],
    forbids: Mapping[str, tuple[str, ...]],
    uses: Mapping[str, Collection[str]] | None = None,
    given: Collection[str] = (),
    answers: Collection[str] = (),
) -> Inspection:
    """What the code cells of a submission, in their order and by name, give to look at, and what has to be refused.

    `forbids` has for each exercise, by name, the dotted names that its answer may not call, `uses` the names of earlier
    answers, for which the references stand while it is judged. `given` are the unit's own cells, `answers` its model
    answers.

    >>> found = inspect({"rnn_step": "import os\\ndef rnn_step(x):\\n    return os.system('ls')"}, {}).findings
    >>> [f.message for f in found]
    ['Your cell `rnn_step` uses `os.system`, which is not on the list of what answers use.']
    """
    cells, files, findings = _read(sources)
    banned: dict[str, str] = {}
    try:
        names = _Names(Allowed.of_unit((*given,), (*answers,)), [*readable(given), *cells.values()], files)
        for cell, one in cells.items():
            findings += [_found(cell, code, words) for code, words in _Cell(names, one.tree).found.items()]
        tampers = any(finding.for_person for finding in findings)
        for name, forbidden in forbids.items():
            for banned_name, sure in names.forbidden(name, forbidden, (uses or {}).get(name, ())).items():
                words = f"Your `{name}` refers to `{banned_name}`, which its statement does not allow."
                findings.append(Finding("forbidden-name", words, name, for_person=True))
                if sure or tampers:
                    banned.setdefault(name, banned_name)
    except RecursionError:
        findings.append(Finding("too-complex", "Your code is nested too deeply to be inspected.", for_person=True))
    return Inspection(findings, banned)


def inspect_unit(notebook: NotebookNode, unit: str) -> Inspection:
    """What the source of a unit's notebook says, as it was taken in."""
    sources, given = {}, []
    for index, cell in enumerate(notebook.cells):
        meta = cell.metadata.get("nbgrader", {})
        is_helper = cell.metadata.get("rnngrade", {}).get("role") == "helper"
        if cell.cell_type == "code" and (is_helper or (meta.get("solution") and not meta.get("grade"))):
            sources[str(meta.get("grade_id") or f"cell {index + 1}")] = cell.source
        elif cell.cell_type == "code" and meta.get("locked") and not meta.get("grade"):
            given.append(cell.source)
    catalogue = exercises.unit(unit)
    forbids = {e.name: e.banned if isinstance(e, Exercise) else catalogue.answers for e in catalogue}
    uses = {e.name: e.uses for e in catalogue if isinstance(e, Exercise)}
    answers = [e.source for e in catalogue if isinstance(e, Exercise)]
    return inspect(sources, forbids, uses, given, answers)


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


def _read(sources: Mapping[str, str]) -> tuple[dict[str, Program], set[str], list[Finding]]:
    """The cells' programs, the names of the modules that they write, and what cannot be read, or runs something else
    than Python.
    """
    cells, files, findings, total = dict[str, Program](), set[str](), list[Finding](), 0
    for cell, source in sources.items():
        total += len(source)
        if len(source) > MAX_SOURCE or total > MAX_TOTAL:
            findings.append(_found(cell, "too-long", "is too long to be inspected"))
            continue
        module, source = written_module(source)
        if module:
            files |= {module, module.partition(".")[0]}
        try:
            cells[cell] = program(source)
        except SyntaxError as error:
            where = f" in line {error.lineno}" if error.lineno else ""
            findings.append(_found(cell, "syntax-error", f"is no valid Python{where}: {error.msg}", for_person=False))
        except TooComplex:
            findings.append(_found(cell, "too-complex", "is nested too deeply"))
        else:
            if others := sorted({*cells[cell].magics} - RUN_PYTHON - SHOW):
                magic = "!" if others[0] == "!" else f"%{others[0]}"
                findings.append(
                    _found(cell, "not-listed", f"uses `{magic}`, which can start another program or language")
                )
    return cells, files, findings


def _found(cell: str, code: str, words: str, *, for_person: bool = True) -> Finding:
    return Finding(code, f"Your cell `{cell}` {words}.", cell, for_person)


class _Names:
    """What the names of a notebook stand for: `imported` has the dotted names of those that an import binds, or an
    assignment of a module; `bound` the statements at the top of a cell that bind a name; `own` the attributes that the
    notebook gives to its objects.
    """

    def __init__(self, allowed: Allowed, cells: list[Program], files: set[str]) -> None:
        self.allowed, self.files = allowed, files
        self.imported: dict[str, set[str]] = defaultdict(set)
        self.bound: dict[str, list[Statement]] = defaultdict(list)
        self.own = {name for cell in cells for name in cell.own}
        self.local = {one for cell in cells for one in cell.local}
        for cell in cells:
            for name, dotted in cell.imported:
                self.imported[name].add(dotted)
        for _ in range(3):  # an alias of an alias
            for name, value in (alias for cell in cells for alias in cell.aliases):
                self.imported[name] |= {d for d in self.dotted(value) if allowed.is_module(d)}
        for statement in (statement for cell in cells for statement in cell.statements):
            for name in statement.binds:
                self.bound[name].append(statement)

    def dotted(self, node: ast.AST) -> set[str]:
        """What a name, or attributes of one, may stand for, if the name is imported: {"torch.nn.RNN"} for `T.RNN`."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or id(node) in self.local:
            return set()
        names = self.imported.get(node.id, ())
        return {".".join([name, *reversed(parts)]) for name in names}

    def is_listed(self, dotted: str) -> bool:
        """Whether this, of a module of the list, is on it, as far as the list goes: beyond it come objects."""
        parts = dotted.split(".")
        for cut in range(1, len(parts)):
            module = ".".join(parts[:cut])
            name = parts[cut]
            if module in self.files and f"{module}.{name}" not in self.files:
                return name in self.bound and not any(map(self.is_module, self.imported.get(name, ())))
            if self.allowed.is_module(module) and not self.allowed.has(module, name):
                return False
        return self.is_known(parts[0])

    def is_module(self, dotted: str) -> bool:
        """Whether this is a module that is listed, or that the notebook writes."""
        return self.allowed.is_module(dotted) or dotted in self.files

    def is_known(self, module: str) -> bool:
        """Whether something is, or comes from, a module of the list or one that the notebook writes."""
        return self.allowed.is_module(module) or module.partition(".")[0] in self.files or module in self.allowed.dotted

    def forbidden(self, answer: str, banned: Collection[str], free: Collection[str]) -> dict[str, bool]:
        """The forbidden names that this answer, and what it uses of the notebook, refers to; and whether each name
        on the way there is bound once only. Names in `free` are not followed.
        """
        found: dict[str, bool] = {}
        todo, seen = [(answer, True)], {*free} - {answer}
        while todo:
            name, sure = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            sure = sure and len(self.bound[name]) == 1
            code = [s for s in self.bound[name] if not s.is_import or name == answer]
            for node in (node for statement in code for node in statement.refers):
                referred = {dotted for dotted, _ in imports(node)}
                if isinstance(node, (ast.Name, ast.Attribute)):
                    referred = set() if isinstance(node, ast.Name) and node.id in free else self.dotted(node)
                for one in referred:
                    if any(is_under(one, b) or _is_within(one, b) for b in banned):
                        found[one] = found.get(one, False) or (sure and len(referred) == 1)
                if isinstance(node, ast.Name) and node.id in self.bound and id(node) not in self.local:
                    todo.append((node.id, sure))
        # Of `torch` and `torch.nn.RNN`, the longer says more.
        return {n: s for n, s in sorted(found.items()) if not any(other.startswith(n + ".") for other in found)}


def _is_within(name: str, banned: str) -> bool:
    """Whether a name is of the inner parts of the library of which something is forbidden: the same can be had there.

    >>> [_is_within(name, "torch.nn.RNN") for name in ("torch._decomp.table", "torch.ops.aten", "torch.nn.Linear")]
    [True, True, False]
    """
    first, *rest = name.split(".")
    is_inner = rest[:1] == ["ops"] or any(re.match("_[^_]", part) for part in rest)
    return is_inner and first == banned.partition(".")[0] != "rnncourse"


class _Cell:
    """Goes through one cell and says, by code, what is seen first of each kind."""

    def __init__(self, names: _Names, tree: ast.Module) -> None:
        self.names, self.allowed, self.found = names, names.allowed, dict[str, str]()
        nodes = [*in_order(tree)]
        self.called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        # the nodes that may be a module; `LA = np.linalg` is an alias, which is known
        alone = [n for n in nodes if isinstance(n, ast.Assign) and all(isinstance(to, ast.Name) for to in n.targets)]
        self.modules = {id(n.value) for n in nodes if isinstance(n, ast.Attribute)} | {id(n.value) for n in alone}
        for statement in tree.body:
            own = all(dotted.partition(".")[0] == "rnncourse" for dotted, _ in imports(statement))
            if not isinstance(statement, (ast.Import, ast.ImportFrom)) or not own:
                for name in sorted(bound_by(statement) & COURSE):
                    self.found.setdefault("patches", f"defines `{name}` anew, which is the course's own")
        for code, words in (seen for node in nodes for seen in self._seen(node)):
            self.found.setdefault(code, words)

    def _seen(self, node: ast.AST) -> Iterator[tuple[str, str]]:
        """What is to be told of this node, whatever stands in it."""
        match node:
            case ast.Import() | ast.ImportFrom():
                for dotted, _ in imports(node):
                    module, _, name = dotted.rpartition(".") if isinstance(node, ast.ImportFrom) else (dotted, "", "")
                    whole = getattr(node, "level", 0) or (name == "*" and module != "math")
                    if whole or not self.names.is_known(module) or not self.names.is_listed(dotted):
                        yield _not_listed(dotted)
            case ast.Name(name, ast.Load()):
                is_hidden = name in BY_NAME and id(node) not in self.called
                if (name in NO_BUILTIN or is_hidden) and id(node) not in self.names.local:
                    yield _not_listed(name)
                yield from self._handed_on(node)
            case ast.Attribute(value, name, context):
                dotted_names = self.names.dotted(node)
                if isinstance(context, ast.Load):
                    yield from (_not_listed(one) for one in sorted(dotted_names) if not self.names.is_listed(one))
                else:
                    yield from (_patches(one) for one in sorted(dotted_names - SETTABLE))
                of_a_module = any(map(self.names.is_module, self.names.dotted(value)))  # at which `is_listed` looks
                if not of_a_module and not self.allowed.on_an_object(name, self.names.own):
                    yield _not_listed(name)
                yield from self._handed_on(node)
            case ast.Call(ast.Name(called), args):
                if called in BY_NAME and not (len(args) > 1 and self._is_plain_name(args[1])):
                    yield "not-listed", f"uses `{called}` with a name that may be any, which can hide what is called"
                if called == "setattr" and args and (foreign := self.names.dotted(args[0])):
                    yield _patches(min(foreign))
                if called == "type" and len(args) != 1:
                    yield "not-listed", "makes a class by `type`, which can hide what it is"
            case ast.Call(ast.Attribute(value, "format")) if not isinstance(value, ast.Constant):
                yield "not-listed", "calls `format` of a text that is computed, which can look into objects"
            case ast.ClassDef(bases=bases):
                for name in sorted({getattr(base, "id", getattr(base, "attr", "")) for base in bases} & KINDS):
                    yield "not-listed", f"makes a kind of `{name}` of its own, which may say of itself what is not so"
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                if name.startswith("__") and name not in METHODS:
                    yield "not-listed", f"defines `{name}`, by which an object may say of itself what is not so"
            case ast.MatchClass(kwd_attrs=attributes):
                yield from (_not_listed(n) for n in attributes if not self.allowed.on_an_object(n, self.names.own))
            case ast.Constant(str(text)) if inner := _INNER_TEXT.search(text):
                yield _not_listed(inner.group())

    def _handed_on(self, node: ast.Name | ast.Attribute) -> Iterator[tuple[str, str]]:
        is_value = isinstance(node.ctx, ast.Load) and id(node) not in self.modules
        for one in sorted(self.names.dotted(node)) if is_value else ():
            if self.names.is_module(one):
                yield "not-listed", f"hands on the module `{one}` as a value, which can hide what is called"

    def _is_plain_name(self, node: ast.expr) -> bool:
        """Whether an attribute's name is written there, or is that of a layer's parameter, f"bias_l{layer}"."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and self.allowed.on_an_object(node.value, self.names.own)
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            node = node.left
        first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else node
        return isinstance(first, ast.Constant) and str(first.value).startswith(("bias_", "weight_"))


def _not_listed(name: str) -> tuple[str, str]:
    return "not-listed", f"uses `{name}`, which is not on the list of what answers use"


def _patches(name: str) -> tuple[str, str]:
    return "patches", f"changes `{name}`, which is not its own"
