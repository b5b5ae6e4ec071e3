"""Expressions in the place of others: with parentheses where the code would fall apart without."""

from __future__ import annotations

import ast
import keyword
import re

from engine.code.source import Edit, Source
from engine.code.syntax import same_code

# expressions whose text can stand alone, so that a part of it can be tried in it
WHOLE = (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Call, ast.Attribute)
WHOLE += (ast.Subscript, ast.Tuple, ast.List, ast.Await)  # type: ignore[assignment]
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.Tuple, ast.List)
ATOMS += (ast.ListComp, ast.Dict, ast.Set)  # type: ignore[assignment]


def is_atom(node: ast.AST) -> bool:
    """Whether `node[...]` or `node.x` may be written without parentheses."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, complex)):
        return False
    return isinstance(node, ATOMS)


def parenthesised(source: Source, node: ast.expr, text: str) -> str:
    """New text for a node, in parentheses where its surroundings would tear it apart."""
    root: ast.AST = node
    while isinstance(above := source.parents.get(id(root)), WHOLE):
        root = above
    (first, last), (start, end) = source.span(root), source.span(node)
    left, right = source.text(first, start), source.text(end, last)
    bare, safe = left + text + right, f"{left}({text}){right}"
    return text if same_code(bare, safe) else f"({text})"


def replaced_by(source: Source, node: ast.expr, other: ast.expr) -> tuple[Edit, ...]:
    """Put the learner's own expression `other` in place of `node`, keeping its bytes if inside."""
    start, end = without_parentheses(source, node) if is_atom(other) else source.span(node)
    first, last = source.span(other)
    own = source.text(first, last)
    wrap = parenthesised(source, node, own) != own
    left, right = ("(", ")") if wrap else ("", "")
    if start <= first and last <= end:
        edits = (Edit(source.path, start, first, left), Edit(source.path, last, end, right))
        return tuple(e for e in edits if e.start != e.end or e.text)
    return (Edit(source.path, start, end, f"{left}{source.text(first, last)}{right}"),)


def without_parentheses(source: Source, node: ast.AST) -> tuple[int, int]:
    """The bytes of a node, with the parentheses around it that a name would not need."""
    start, end = source.span(node)
    before, after = source.data[:start].rstrip(b" \t"), source.data[end:].lstrip(b" \t")
    if not (before.endswith(b"(") and after.startswith(b")")):
        return start, end
    ahead = before[:-1]
    word = re.search(rb"([\w\])\"'])([ \t]*)$", ahead)
    if word and not (word[2] and keyword.iskeyword(ahead.split()[-1].decode("ascii", "ignore"))):
        return start, end  # the parentheses of a call, or all that parts a keyword from a name
    return len(ahead), len(source.data) - len(after) + 1
