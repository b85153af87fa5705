"""Where each node of a program stands in its text, and the program with some nodes replaced.

>>> program = Text("def f(a, b):\\n    return a - b  # the order")
>>> minus = program.tree.body[0].body[0].value
>>> print(program.with_patches([Patch([minus], [ast.BinOp(minus.right, minus.op, minus.left)])]))
def f(a, b):
    return (b - a)  # the order

What is not replaced keeps its text and its line. Each program has a key: programs of the same tree have the same one.
"""

# Nodes of a syntax tree have the fields that their grammar gives them, which mypy does not know.
# mypy: disable-error-code="attr-defined,assignment,arg-type,operator,list-item,misc"

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_NO_PART = ("ctx", "kind", "type_comment", "type_ignores")  # of what a program means
_ATOMS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Dict, ast.ListComp)


@dataclass(frozen=True)
class Patch:
    """New nodes in the place of old ones: one expression for another, or statements for those of a block, in a row."""

    old: Sequence[ast.AST]
    new: Sequence[ast.AST]


class Text:
    """A source and its tree."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tree = ast.parse(source)
        self._starts = [0]
        self._bytes: list[bytes | None] = []  # of a line that is not ASCII: there, Python counts bytes
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
            self._bytes.append(None if line.isascii() else line.encode())
        self._places: dict[int, tuple[int, int]] = {}  # of a node, in the key
        self.key = self._spell(self.tree, 0)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where the node starts and ends in the source, the decorators of a definition included."""
        first = min([node, *getattr(node, "decorator_list", [])], key=lambda n: n.lineno)
        before = 1 if first is not node else 0  # the @
        return self._at(first.lineno, first.col_offset) - before, self._at(node.end_lineno, node.end_col_offset)

    def segment(self, node: ast.AST) -> str:
        """The node's own text."""
        start, end = self.span(node)
        return self.source[start:end]

    def _at(self, line: int, column: int) -> int:
        raw = self._bytes[line - 1]
        return self._starts[line - 1] + (column if raw is None else len(raw[:column].decode()))

    def with_patches(self, patches: Sequence[Patch]) -> str | None:
        """The source with these patches; None if they overlap, or if statements will not stand in their line."""
        return self._with(patches, self.source, self._in_text)

    def key_with(self, patches: Sequence[Patch]) -> str | None:
        """The key of the program with these patches."""
        return self._with(patches, self.key, self._in_key)

    def _with(self, patches: Sequence[Patch], whole: str, place: Callable[[Patch], Any]) -> str | None:
        pieces, end = [], 0
        for found in sorted(place(patch) or (-1,) for patch in patches):
            if found[0] < end:
                return None
            pieces += [whole[end : found[0]], found[2]]
            end = found[1]
        return "".join([*pieces, whole[end:]])

    def _in_text(self, patch: Patch) -> tuple[int, int, str] | None:
        first, last = patch.old[0], patch.old[-1]
        start, end = self.span(first)[0], self.span(last)[1]
        if not isinstance(first, ast.stmt):
            return start, end, _fitting(patch.new[0], first)
        line = self.source.rfind("\n", 0, start) + 1
        margin = self.source[line:start]
        texts = [self.segment(n) if n in patch.old else ast.unparse(n).replace("\n", f"\n{margin}") for n in patch.new]
        is_alone = not margin.strip()
        if not is_alone and (margin.lstrip().startswith("elif") or any("\n" in text for text in texts)):
            return None
        between = f"\n{margin}" if is_alone else "; "
        return _less_what_stays(patch, [self.span(node) for node in patch.old], between.join(texts))

    def _in_key(self, patch: Patch) -> tuple[int, int, str]:
        text = ",".join(self.spelled(node) for node in patch.new)
        return _less_what_stays(patch, [self._places[id(node)] for node in patch.old], text)

    def spelled(self, node: ast.AST) -> str:
        """The key of a node, old or new."""
        if place := self._places.get(id(node)):
            return self.key[slice(*place)]
        return "".join(part if isinstance(part, str) else self.spelled(part) for part in _parts(node))

    def _spell(self, node: ast.AST, start: int) -> str:
        """The key of a node that starts there in the key of the program; notes the places of all nodes in it."""
        text = ""
        for part in _parts(node):
            text += part if isinstance(part, str) else self._spell(part, start + len(text))
        self._places[id(node)] = start, start + len(text)
        return text


def _less_what_stays(patch: Patch, spans: Sequence[tuple[int, int]], text: str) -> tuple[int, int, str]:
    """Where a text goes, and what of it: if something is put before or behind a statement, or one of two is taken away,
    the one that stays is left alone.
    """
    (start, first_end), (last_start, end) = spans[0], spans[-1]
    match len(patch.old), len(patch.new):
        case 1, n if n > 1 and patch.new[0] is patch.old[0]:
            return end, end, text[end - start :]
        case 1, n if n > 1 and patch.new[-1] is patch.old[0]:
            return start, start, text[: len(text) - (end - start)]
        case 2, 1 if patch.new[0] is patch.old[0]:
            return first_end, end, ""
        case 2, 1 if patch.new[0] is patch.old[1]:
            return start, last_start, ""
    return start, end, text


def _parts(node: ast.AST) -> Iterator[str | ast.AST]:
    """What the key of a node is made of: words, and nodes."""
    yield f"{type(node).__name__}("
    for name, value in ast.iter_fields(node):
        if name in _NO_PART:
            continue
        if isinstance(value, list):
            for i, item in enumerate(value):
                yield "," if i else "["
                yield item if isinstance(item, ast.AST) else repr(item)
            yield "]"
        else:
            yield value if isinstance(value, ast.AST) else repr(value)
            yield ";"
    yield ")"


def _fitting(new: ast.AST, old: ast.AST) -> str:
    """The text of an expression in the place of another. A needless bracket does no harm."""
    text = ast.unparse(new)
    is_number = isinstance(new, ast.Constant) and isinstance(old, ast.Constant) and text[0] != "-"
    bare = is_number or isinstance(new, (*_ATOMS, ast.Slice, ast.Tuple))
    return text if bare and not isinstance(old, ast.GeneratorExp) else f"({text})"
