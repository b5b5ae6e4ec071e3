"""Edits to whole statements and to keywords of a call: dropped, moved, set."""

from __future__ import annotations

import ast
from typing import Literal

from engine.code.removal import whole_lines, without
from engine.code.source import Edit, Source

BLOCKS = ("body", "orelse", "finalbody")


def block_of(source: Source, statement: ast.AST) -> list[ast.stmt]:
    """The statements among which one stands."""
    holder = source.parents.get(id(statement))
    for name in BLOCKS:
        inner = getattr(holder, name, None)
        if isinstance(inner, list) and statement in inner:
            return inner
    return []


def dropped(source: Source, statement: ast.AST) -> tuple[Edit, ...]:
    """A statement taken away; `pass` where it stood alone. () where it cannot go."""
    start, end = source.span(statement)
    if len(block_of(source, statement)) == 1:
        return (Edit(source.path, start, end, "pass"),)
    edit = without(source, statement)
    return (edit,) if edit else ()


def moved(
    source: Source, node: ast.AST, target: ast.AST, side: Literal["before", "after"]
) -> tuple[Edit, ...]:
    """The statement around a node put before or after the one around another, in the block that holds both.
    () where none does, or where it stands there already.
    """
    for block in _blocks_around(source, node):
        mine = next((one for one in block if _inside(source, node, one)), None)
        other = next((one for one in block if _inside(source, target, one)), None)
        if mine is None or other is None or mine is other:
            continue
        places = block.index(mine), block.index(other)
        if places[0] - places[1] == (-1 if side == "before" else 1):
            return ()
        cut, into = whole_lines(source, mine), whole_lines(source, other)
        if cut is None or into is None:
            return ()
        at = into.start if side == "before" else into.end
        text = source.text(cut.start, cut.end)
        if at and not source.data[:at].endswith(b"\n"):
            text = "\n" + text.rstrip("\n")
        return cut, Edit(source.path, at, at, text)
    return ()


def argument(source: Source, call: ast.Call, name: str, value: str) -> tuple[Edit, ...]:
    """A keyword of a call set to a value, or added as the last one."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return (Edit(source.path, *source.span(keyword.value), value),)
    end = source.span(call)[1] - 1
    inside = source.data[:end].rstrip()
    comma = "" if inside.endswith((b"(", b",")) else ", "
    space = " " if inside.endswith(b",") else ""
    return (Edit(source.path, len(inside), len(inside), f"{comma}{space}{name}={value}"),)


def _blocks_around(source: Source, node: ast.AST) -> list[list[ast.stmt]]:
    found = []
    at: ast.AST | None = node
    while at is not None:
        if isinstance(at, ast.stmt) and (block := block_of(source, at)):
            found.append(block)
        at = source.parents.get(id(at))
    return found


def _inside(source: Source, node: ast.AST, statement: ast.AST) -> bool:
    at: ast.AST | None = node
    while at is not None and at is not statement:
        at = source.parents.get(id(at))
    return at is statement
