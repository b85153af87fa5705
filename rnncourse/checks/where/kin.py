"""What is easily taken for what: functions that are exchanged, operators, comparisons."""

from __future__ import annotations

import ast

# What stands in for what. A name is exchanged for the others of its line.
KIN = (
    "sum mean max min prod",
    "tanh exp log sqrt sin abs relu sigmoid",
    "zeros ones",
    "zeros_like ones_like",
    "concatenate stack cat hstack vstack",
    "maximum minimum",
    "argmax argmin",
    "cumsum cumprod",
    "any all",
    "argsort sort",
    "float64 float32 int64",
    "int float round",
    "append extend",
    "ValueError TypeError",
    "is_floating_point is_complex",
    "eye ones",
)
OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Mult),
    ast.Mult: (ast.Add, ast.Div),
    ast.Div: (ast.Mult, ast.FloorDiv, ast.Sub),
    ast.FloorDiv: (ast.Div, ast.Mult, ast.Mod),
    ast.Mod: (ast.FloorDiv, ast.Mult),
    ast.Pow: (ast.Mult, ast.Add),
    ast.MatMult: (ast.Mult, ast.Add),
    ast.BitAnd: (ast.BitOr, ast.BitXor),
    ast.BitOr: (ast.BitAnd, ast.BitXor),
    ast.BitXor: (ast.BitAnd, ast.BitOr),
}
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt, ast.NotEq),
    ast.LtE: (ast.Lt, ast.GtE, ast.Eq),
    ast.Gt: (ast.GtE, ast.Lt, ast.NotEq),
    ast.GtE: (ast.Gt, ast.LtE, ast.Eq),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq, ast.Lt, ast.Gt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}


def kin(name: str) -> list[str]:
    """The functions that `name` is easily taken for, and itself."""
    return [other for line in KIN if name in line.split() for other in line.split()]
