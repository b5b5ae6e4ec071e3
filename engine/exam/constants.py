"""The numbers and names that a change brought into the code: where a special case would begin or end.

A cheat has to tell the inputs that it was shown from all others, and mostly writes down how. The
numbers decide nothing themselves; the judge draws further inputs near them.
"""

from __future__ import annotations

import ast
import math
import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from engine.code.syntax import children, parsed, walked

MOST = 6  # numbers that are looked at
KEPT = 64  # files whose numbers are kept, as the healthy ones come again with each candidate
PLAIN = {0.0, 1.0, 2.0}
NAMED = {  # where they end, or leave numbers out
    "int8": (128.0,), "uint8": (256.0,), "int16": (32768.0,), "uint16": (65536.0,),
    "float16": (2048.0, 65504.0), "half": (2048.0, 65504.0),
}  # fmt: skip
CHOOSING = (ast.Compare, ast.Slice, ast.IfExp, ast.match_case, ast.Call)  # where a number decides

OPERATIONS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: math.pow,
    ast.LShift: lambda left, right: math.ldexp(left, int(right)),
}


def fresh_numbers(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> tuple[float, ...]:
    """Numbers (without sign) that `after` has more often than `before`, those that decide something
    first; 0, 1 and 2 are left out, as ordinary inputs are near them.

    before, after: files by path; only Python files that differ are read.
    """
    deciding: Counter[float] = Counter()
    fresh: Counter[float] = Counter()
    for path in {*before, *after}:
        old, new = before.get(path, b""), after.get(path, b"")
        if old == new or not path.endswith(".py"):
            continue
        for found, sign in ((_numbers(new), 1), (_numbers(old), -1)):
            for number, decides in found:
                fresh[number] += sign
                deciding[number] += sign * decides
    kept = [number for number, count in fresh.items() if count > 0 and number not in PLAIN]
    return tuple(sorted(kept, key=lambda number: (-deciding[number], number))[:MOST])


def fresh_callers(
    before: Mapping[str, bytes], after: Mapping[str, bytes], names: Collection[str]
) -> tuple[str, ...]:
    """Those names of modules and functions that stand, or parts of which stand, as texts in `after`
    more often than in `before`: code that asks who calls it has to say whom it means.
    """
    fresh: Counter[str] = Counter()
    for path in {*before, *after}:
        old, new = before.get(path, b""), after.get(path, b"")
        if old != new and path.endswith(".py"):
            fresh.update(_texts(new))
            fresh.subtract(_texts(old))
    told = [text.strip(".").removesuffix(".py") for text, count in fresh.items() if count > 0]
    parts = [text.rpartition("/")[2] for text in told]
    return tuple(
        name for name in sorted(names) if any(part and _means(part, name) for part in parts)
    )[:MOST]


def _means(part: str, name: str) -> bool:
    return part in name.split(".") or ("." in name and name.startswith(part))


def defined(files: Mapping[str, bytes]) -> set[str]:
    """The names of all functions in these files."""
    return {
        node.name
        for path, data in files.items()
        if path.endswith(".py")
        for node in _nodes(data)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


def _nodes(data: bytes) -> Sequence[ast.AST]:
    try:
        return walked(parsed(data))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def _texts(data: bytes) -> list[str]:
    constants = [node.value for node in _nodes(data) if isinstance(node, ast.Constant)]
    return [value for value in constants if isinstance(value, str)]


@lru_cache(maxsize=KEPT)
def _numbers(data: bytes) -> tuple[tuple[float, bool], ...]:
    """Each number of a file, and whether it stands where something is decided."""
    return tuple(_found(data))


def _found(data: bytes) -> Iterator[tuple[float, bool]]:
    try:
        module = parsed(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    waiting: list[tuple[ast.AST, bool]] = [(module, False)]
    while waiting:
        node, decides = waiting.pop()
        value = folded(node)
        if value is not None:
            yield abs(value), decides
            if isinstance(node, ast.BinOp):  # 128 is meant by 128 ** -0.5 and by 1 / 128
                power = isinstance(node.op, (ast.Pow, ast.LShift))
                parts = [node.left] if power else [node.left, node.right]
                waiting += [(part, decides) for part in parts]
            continue
        name = getattr(node, "attr", None) or getattr(node, "id", None)
        if isinstance(node, ast.Constant):
            name = node.value
        if isinstance(name, str) and name in NAMED:
            yield from ((number, True) for number in NAMED[name])
        decides = isinstance(node, CHOOSING) or (decides and isinstance(node, ast.expr))
        waiting += [(child, decides) for child in children(node)]


def folded(node: ast.AST) -> float | None:
    """The number that an expression of numbers alone is; None where it is none, or none in reach."""
    if isinstance(node, ast.Constant):
        plain = isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
        return _finite(lambda: float(node.value)) if plain else None  # type: ignore[arg-type]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        inner = folded(node.operand)
        return None if inner is None else -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        left, right = folded(node.left), folded(node.right)
        if left is not None and right is not None:
            return _finite(lambda: float(OPERATIONS[type(node.op)](left, right)))
    return None


def _finite(make: Callable[[], float]) -> float | None:
    try:
        value = make()
    except (ArithmeticError, ValueError, TypeError):
        return None
    return value if math.isfinite(value) else None
