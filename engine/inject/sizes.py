"""`$width` in a template: the tree's own expressions for a size, known by the pack's patterns over names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from engine.code.source import Source
from engine.code.surroundings import visible_names
from engine.code.syntax import walked

SIZE = re.compile(r"\$([a-z_][a-z0-9_]*)")
Meanings = Mapping[
    str, str
]  # pattern over a name in lower case without underscores -> the size it means
MOST = 6  # expressions that are tried


def with_sizes(source: Source, node: ast.AST, template: str, meanings: Meanings) -> Iterator[str]:
    """The template with each of the tree's own expressions for the size that it names."""
    named = SIZE.search(template)
    if named is None:
        yield template
        return
    for text in expressions(source, node, named[1], meanings):
        yield from with_sizes(source, node, template.replace(named[0], text), meanings)


def expressions(source: Source, node: ast.AST, size: str, meanings: Meanings) -> list[str]:
    """What can be read at a node and is called as this size: names, attributes, items of a dict; at last the
    last axis of what the function is given.
    """
    visible = visible_names(source, node)
    function = source.function(node)
    scope = _class_of(source, function)
    found: list[str] = []
    for place in (function, scope):
        for one in walked(place):
            if not isinstance(one, (ast.Name, ast.Attribute, ast.Subscript)):
                continue
            text = source.text(*source.span(one))
            first = re.match(r"\w+", text)
            readable = first is not None and (visible is None or first[0] in visible)
            own = place is function or text.startswith("self.")
            if readable and own and meaning(_last(one), meanings) == size and text not in found:
                found.append(text)
    given = getattr(getattr(function, "args", None), "args", [])
    names = [arg.arg for arg in given if arg.arg != "self"]
    if size == "width" and names and getattr(function, "name", "") != "__init__":
        found.append(f"{names[0]}.size(-1)")
    return found[:MOST]


def meaning(name: str, meanings: Meanings) -> str:
    """The size that a name means; "" none."""
    short = name.lower().replace("_", "")
    return next((size for pattern, size in meanings.items() if re.search(pattern, short)), "")


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return ""


def _class_of(source: Source, function: ast.AST) -> ast.AST:
    above = source.parents.get(id(function))
    return above if isinstance(above, ast.ClassDef) else function
