r"""Mistakes written as edits of the model answer, one below the other, as in a diff.

>>> answer = "def f(h0, l):\n    h, states = h0[l], []  # its own\n    return h"
>>> (first,) = parse('''
... first_for_all: All start from the first state.
...   Each has its own.
... - h, states = h0[l], []
... + h, states = h0[0], []
... ''')
>>> first.name, first.message
('first_for_all', 'All start from the first state. Each has its own.')
>>> print(edited(answer, first.changes))
def f(h0, l):
    h, states = h0[0], []
    return h

An entry is its name, what the student is told, and its changes. Another form of a mistake is told the same: its head is
`new_name = name_of_the_first`. In a change, lines with a `-` stand in the answer, one
after the other and at one place only; their indentation does not count, nor a comment behind them. The lines with a
`+` take their place, indented as they are against the first line with a `-`. A change ends at an empty line, or where
a `-` follows a `+`. Lines with a `-` alone are deleted; to add some, repeat the line above or below them. An entry that
has lines with a `+` alone is another body: all that stands below `def` or `class`.
"""

import ast
import io
import linecache
import re
import tokenize
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

HEAD = re.compile(r"(\w+)(?:: (.+)| = (\w+))")


class EditError(ValueError):
    """An edit that is no edit of this answer: a sentence, with the line."""


@dataclass
class Change:
    """Lines of the answer, and those that take their place. Without the former, the latter are the whole body."""

    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


@dataclass
class Entry:
    """A mistake as it was written: its name, what a student who made it is told, and its changes."""

    name: str
    message: str
    changes: list[Change] = field(default_factory=list)


def parse(text: str) -> list[Entry]:
    """The entries of a text. **Errors:** `EditError` for a line that is neither head, message nor change."""
    found: list[Entry] = []
    is_open = False  # whether a line may still join the last change
    for line in text.splitlines():
        sign, rest = line[:1], line[1:].removeprefix(" ")
        if not line.strip():
            is_open = False
        elif head := HEAD.fullmatch(line):
            found.append(Entry(head[1], head[2].strip() if head[2] else _message_of(head[3], found)))
            is_open = False
        elif not found:
            raise EditError(f"The line `{line}` stands before the first name.")
        elif sign in "+-":
            changes = found[-1].changes
            if not is_open or (sign == "-" and changes[-1].new):
                changes.append(Change())
                is_open = True
            (changes[-1].old if sign == "-" else changes[-1].new).append(rest.rstrip())
        elif sign == " " and not found[-1].changes:
            found[-1].message += f" {line.strip()}"
        else:
            raise EditError(f"{found[-1].name}: the line `{line}` is no part of a message, and has neither - nor +.")
    return found


def _message_of(name: str, entries: list[Entry]) -> str:
    for entry in entries:
        if entry.name == name:
            return entry.message
    raise EditError(f"No mistake of the name {name} stands above the line that says `= {name}`.")


def edited(source: str, changes: list[Change]) -> str:
    """The source with all the changes made. **Errors:** `EditError` if they cannot be, or change nothing."""
    lines = source.splitlines()
    if len(changes) == 1 and not changes[0].old:
        start, indent = _body(source)
        lines[start:] = _moved(changes[0].new, indent - _indent(changes[0].new[0]))
    else:
        comments = _without_comments(source)
        places = sorted(((_place(lines, comments, c), c) for c in changes), key=lambda p: p[0], reverse=True)
        end = len(lines)
        for start, change in places:
            stop = start + len(change.old)
            if stop > end:
                raise EditError(f"the line `{change.old[0].strip()}` belongs to two changes")
            lines[start:stop] = _moved(change.new, _indent(lines[start]) - _indent(change.old[0]))
            end = start
    text = "\n".join(lines) + "\n"
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise EditError(f"with it the answer is no Python: {error.msg}, in `{(error.text or '').strip()}`") from None
    if _is_same(tree, _parsed(source)):
        raise EditError("it changes nothing")
    return text


def _is_same(a: Any, b: Any) -> bool:
    """Whether two pieces of code differ in their layout at most. It stops at the first other difference."""
    if isinstance(a, ast.AST):
        return type(a) is type(b) and all(_is_same(getattr(a, f, None), getattr(b, f, None)) for f in a._fields)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(_is_same, a, b))
    return type(a) is type(b) and bool(a == b)


@lru_cache(maxsize=32)
def _parsed(source: str) -> ast.Module:
    """The code of a model answer, which each of its mistakes is an edit of. Nobody may change it."""
    return ast.parse(source)


def needed(definitions: str, source: str) -> str:
    """Those of the definitions whose names stand in `source`, and those that these need: torch is imported for none
    that does without.
    """
    words, chosen = _words(source), list[str]()
    for text, bound, own in reversed(_definitions(definitions)):
        if words & bound:
            words |= own
            chosen.append(text)
    return "\n".join(reversed(chosen))


@lru_cache(maxsize=32)
def _definitions(text: str) -> list[tuple[str, set[str], set[str]]]:
    """Each statement of a program, the names that it binds, and all its words. Nobody may change these."""
    statements = [(ast.unparse(s), _bound(s)) for s in ast.parse(text).body]
    return [(statement, bound, _words(statement)) for statement, bound in statements]


def _words(source: str) -> set[str]:
    return set(re.findall(r"\w+", source))


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def compiled(source: str, name: str, space: dict[str, Any], file: str) -> Any:
    """What `source` calls `name`, made in the namespace `space`; tracebacks show its lines as those of `file`."""
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    exec(compile(source, file, "exec", dont_inherit=True), space)
    return space[name]


def _place(lines: list[str], bare: list[str], change: Change) -> int:
    """The one place in the answer where the change's old lines stand."""
    if not change.old:
        raise EditError(f"the line `{change.new[0].strip()}` has no place: repeat one beside it, with - and with +")
    wanted = [line.strip() for line in change.old]
    found = [
        i
        for i in range(len(lines) - len(wanted) + 1)
        if all(w in (lines[i + k].strip(), bare[i + k].strip()) for k, w in enumerate(wanted))
    ]
    if len(found) != 1:
        more = f" and the {len(wanted) - 1} below it" if len(wanted) > 1 else ""
        raise EditError(f"the line `{wanted[0]}`{more} should stand once in the answer, and stands {len(found)} times")
    return found[0]


def _moved(new: list[str], by: int) -> list[str]:
    """The lines, each moved to the right."""
    for line in new:
        if line and _indent(line) + by < 0:
            raise EditError(f"the line `{line.strip()}` stands too far to the left")
    return [line and " " * (_indent(line) + by) + line.strip() for line in new]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _body(source: str) -> tuple[int, int]:
    """Where the body of the function or class starts that `source` consists of: the line, and its indentation."""
    node = _parsed(source).body[-1]
    if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        raise EditError("another body needs an answer that is a function or a class")
    first, lines = node.body[0], source.splitlines()
    start = first.lineno - 1
    while lines[start - 1].strip().startswith("#") or not lines[start - 1].strip():
        start -= 1
    return start, first.col_offset


@lru_cache(maxsize=32)
def _without_comments(source: str) -> list[str]:
    """The lines of the source without their comments. Nobody may change them."""
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    return lines
