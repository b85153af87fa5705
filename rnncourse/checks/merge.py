"""Two mistakes in one answer: a three-way merge of what each changes in the model answer.

>>> right = "def f(x, W, b):\\n    return np.tanh(x @ W + b)"
>>> bent, bare = right.replace("W +", "W.T +"), right.replace(" + b", "")
>>> print(merged(changes(right, bent), changes(right, bare), right))
def f ( x , W , b ) :
 return np . tanh ( x @ W . T )
<BLANKLINE>

Merged are tokens, so that two changes of one line go together. What both put in at one place stands one behind the
other. What both replace is left to neither:

>>> merged(*(changes(right, right.replace("tanh", name)) for name in ("sin", "exp")), right) is None
True
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import accumulate, pairwise

INDENT, DEDENT, NEWLINE = "\t>", "\t<", "\n"
_SILENT = {tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER}
_LAYOUT = {tokenize.INDENT: INDENT, tokenize.DEDENT: DEDENT, tokenize.NEWLINE: NEWLINE}


@dataclass(frozen=True)
class Hunk:
    """Tokens `start` to `stop` of the model answer, and what stands in their place."""

    start: int
    stop: int
    new: tuple[str, ...]

    def leaves_alone(self, other: Hunk) -> bool:
        """Whether the two are at different places. Two insertions at one place can stand one behind the other."""
        return self.stop <= other.start or other.stop <= self.start


@lru_cache(maxsize=512)
def tokens(source: str) -> tuple[str, ...]:
    """The tokens of Python code, layout and docstrings aside."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) and len(node.body) > 1:
            del node.body[0]
    text = ast.unparse(tree) + "\n"
    found: list[str] = []
    opened: list[tuple[int, int]] = []  # where the f-strings begin, each one token here, as before Python 3.12
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "FSTRING_START":
            opened.append(token.start)
        elif kind == "FSTRING_END":
            (row, start), (_, stop) = opened.pop(), token.end
            if not opened:
                found.append(text.splitlines()[row - 1][start:stop])
        elif not opened and token.type not in _SILENT:
            found.append(_LAYOUT.get(token.type, token.string))
    return tuple(found)


@lru_cache(maxsize=512)
def changes(right: str, wrong: str) -> tuple[Hunk, ...]:
    """What the wrong code changes in the right one, in order: tokens in those lines that are not the same."""
    a, b = tokens(right), tokens(wrong)
    lines, others = _lines(a), _lines(b)
    starts, other_starts = _starts(lines), _starts(others)
    found = []
    for i1, i2, j1, j2 in _differences(lines, others):
        at, to = starts[i1], other_starts[j1]
        for k1, k2, l1, l2 in _differences(a[at : starts[i2]], b[to : other_starts[j2]]):
            found.append(Hunk(at + k1, at + k2, b[to + l1 : to + l2]))
    return tuple(found)


def _differences(a: Sequence[Hashable], b: Sequence[Hashable]) -> Iterator[tuple[int, int, int, int]]:
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind != "equal":
            yield i1, i2, j1, j2


def _lines(all_tokens: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The tokens line by line; what changes the indentation stands before the line."""
    lines: list[tuple[str, ...]] = []
    start = 0
    for i, token in enumerate(all_tokens):
        if token == NEWLINE:
            lines.append(all_tokens[start : i + 1])
            start = i + 1
    return [*lines, all_tokens[start:]]


def _starts(lines: list[tuple[str, ...]]) -> list[int]:
    return list(accumulate(map(len, lines), initial=0))


def merged(one: tuple[Hunk, ...], other: tuple[Hunk, ...], right: str) -> str | None:
    """The right code with the changes of both; None if they change one place in two ways, or one has all of the
    other's.
    """
    both = sorted(dict.fromkeys([*one, *other]), key=lambda h: (h.start, h.stop))
    if len(both) in (len(one), len(other)):
        return None
    if not all(a.leaves_alone(b) for a, b in pairwise(both)):
        return None
    made, at, base = [], 0, tokens(right)
    for hunk in both:
        made += [*base[at : hunk.start], *hunk.new]
        at = hunk.stop
    return written([*made, *base[at:]])


def written(all_tokens: list[str]) -> str:
    """Tokens as code."""
    lines, depth, line = [], 0, list[str]()
    for token in all_tokens:
        if token == INDENT:
            depth += 1
        elif token == DEDENT:
            depth -= 1
        elif token == NEWLINE:
            lines.append(" " * depth + " ".join(line))
            line = []
        else:
            line.append(token)
    return "\n".join([*lines, " ".join(line)])
