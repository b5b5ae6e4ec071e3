"""A little arithmetic, for figures in texts, for questions whose numbers are drawn, for answers.

One language for all three: a number in a text is computed from what a probe records and never typed
twice, and a learner, or a script that cannot know the numbers drawn, may answer with a formula.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.code.syntax import parse_expression
from engine.errors import Message

OPERATORS: Mapping[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
FUNCTIONS: Mapping[str, Any] = {
    "log": np.log, "ln": np.log, "sqrt": np.sqrt, "exp": np.exp, "abs": np.abs, "min": np.min, "max": np.max,
    "mean": np.mean, "sum": np.sum, "len": np.size, "norm": np.linalg.norm,
}  # fmt: skip
DEEPEST = 40  # levels of an expression


def evaluate(expression: str, names: Mapping[str, Any] = {}) -> float:
    """The value of an expression: numbers, `names`, parts of arrays, + - * / **, FUNCTIONS.

    A name may be dotted, as `broken.loss`; `name[0]`, `name[-1, 2]` and `name[1:]` take parts.
    Raises ValueError for anything else, and where the result is not one finite number.
    """

    def value(node: ast.AST, depth: int = 0) -> Any:
        if depth > DEEPEST:
            raise ValueError(
                Message("{formula!r}... is nested too deeply", formula=expression[:40])
            )
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return np.float64(node.value)  # type: ignore[arg-type]
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            a, b = value(node.left, depth + 1), value(node.right, depth + 1)
            return OPERATORS[type(node.op)](a, b)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand, depth + 1)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in FUNCTIONS and len(node.args) == 1 and not node.keywords:
                return FUNCTIONS[node.func.id](value(node.args[0], depth + 1))
            if node.func.id not in FUNCTIONS:
                raise ValueError(
                    Message(
                        "{name!r} is no function that is known here: {known}",
                        name=node.func.id,
                        known=", ".join(FUNCTIONS),
                    )
                )
        if isinstance(node, (ast.Name, ast.Attribute)):
            return named(ast.unparse(node))
        if isinstance(node, ast.Subscript):
            return np.asarray(value(node.value, depth + 1))[part(node.slice)]
        raise ValueError(Message("{formula!r} is more than simple arithmetic", formula=expression))

    def named(name: str) -> Any:
        if name not in names:
            raise ValueError(
                Message(
                    "{formula!r} names {name!r}, which is not known", formula=expression, name=name
                )
            )
        found = names[name]
        return np.asarray(found["list"] if isinstance(found, dict) else found, dtype=np.float64)

    def part(node: ast.AST) -> Any:
        if isinstance(node, ast.Tuple):
            return tuple(part(one) for one in node.elts)
        if isinstance(node, ast.Slice):
            ends = (node.lower, node.upper, node.step)
            return slice(*(None if one is None else int(value(one)) for one in ends))
        return int(value(node))

    try:
        with np.errstate(all="ignore"):
            found = np.asarray(value(parse_expression(expression.strip())))
    except (SyntaxError, IndexError, TypeError, OverflowError, RecursionError, KeyError) as error:
        raise ValueError(Message("{formula!r}: {error}", formula=expression, error=error)) from None
    if found.size != 1 or not np.isfinite(found).all():
        raise ValueError(Message("{formula!r} is not one number", formula=expression))
    return float(found.reshape(()))
