"""On which lines a result depends.

>>> (tree,) = ast.parse("def f(x, y):\\n    a = x + 1\\n    b = a * y\\n    c = b + y\\n    return a, b + c").body
>>> sorted(behind(tree, 0)), sorted(behind(tree, 1))
([2], [2, 3, 4])

What is wrong in one result and not in another is mostly in a line on which only the first depends.
"""

import ast
from collections.abc import Collection

from rnncourse.checks.program import lines_of
from rnncourse.checks.slips.statements import written
from rnncourse.checks.where.alignment import nodes_of


def suspected(tree: ast.AST, wrong: Collection[int], right: Collection[int]) -> set[int]:
    """The lines on which wrong results depend, and no right one; none where that says nothing."""
    one, other = ({n for result in results for n in behind(tree, result)} for results in (wrong, right))
    return one - other if other else set()


def behind(tree: ast.AST, result: int) -> set[int]:
    """The lines of the statements that give values to what this result is made of, and to what these read."""
    statements = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n is not tree]
    returned = [n.value.elts for n in statements if isinstance(n, ast.Return) and isinstance(n.value, ast.Tuple)]
    left = [name for elements in returned if result < len(elements) for name in _read(elements[result])]
    lines, known = set[int](), set[str]()
    while left:
        if (name := left.pop()) in known:
            continue
        known.add(name)
        for one in statements:
            if name in (written(_head(one)) if hasattr(one, "body") else written(one)):
                lines |= set(lines_of(one))
                left += _read(one)
    return lines


def _head(one: ast.stmt) -> ast.stmt:
    """What a statement with a block does before it enters that."""
    return ast.Assign([one.target], one.iter) if isinstance(one, ast.For) else ast.Pass()


def _read(node: ast.AST) -> list[str]:
    return [n.id for n in nodes_of(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
