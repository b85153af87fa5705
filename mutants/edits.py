"""Which changes of an answer are put before the checks: those of `rnncourse.checks.slips` that somebody may well make.

>>> step = "def step(x, h): return x + 2 * h"
>>> for text in list(edits(step))[:5]:
...     print(text.splitlines()[-1].strip())
pass
return x - 2 * h
return x * (2 * h)
return x
return 2 * h

What comes out may be nonsense, and need not run: that is for the check to find out.
"""

import ast
from collections.abc import Iterator

from rnncourse.checks.slips import named

# The names of slips. The others are what a search tries besides: they give right answers too often, or the same again.
MEANT = frozenset(
    [
        "argument order",
        "argument removed",
        "assignment",
        "assignment/in place",
        "axis",
        "axis/drop",
        "bound",
        "bound/one round",
        "call removed",
        "comparison",
        "comparison/other",
        "condition/always",
        "condition/and or",
        "condition/branch",
        "condition/drop",
        "condition/never",
        "condition/not",
        "constant",
        "constant/word",
        "copy/drop",
        "direction",
        "direction/drop",
        "dtype/drop",
        "function",
        "index removed",
        "keepdims/drop",
        "moved into the loop",
        "moved out of the loop",
        "name",
        "name/own",
        "operand order",
        "operator",
        "order of indices",
        "order of values",
        "sign/drop",
        "statement order",
        "statement removed",
        "subscript/drop",
        "term removed",
        "transpose/drop",
        "value removed",
    ]
)


def edits(answer: str) -> Iterator[str]:
    """The text of each answer that differs in one place of its body from that of a function or class, as `ast.unparse`
    lays it out; none comes twice.
    """
    (node,) = ast.parse(answer).body
    assert isinstance(node, (ast.FunctionDef, ast.ClassDef))
    head = range(1, node.body[0].lineno)
    for change in named(answer, MEANT.__contains__):
        if not set(change.lines) <= set(head):
            yield ast.unparse(ast.parse(change.source))
