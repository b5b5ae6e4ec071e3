"""`$width` in a template: the tree's own expressions for a size, known by the pack's patterns over names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from engine.code.source import Source
from engine.code.surroundings import visible_names
from engine.code.syntax import same_code, walked

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
        bare, safe = (template.replace(named[0], one) for one in (text, f"({text})"))
        apart = [one.replace("$", "") for one in (bare, safe)]
        best = bare if same_code(*apart) else safe
        yield from with_sizes(source, node, best, meanings)


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
    if size == "width":
        found = [*found[: MOST - 3], *_widths(source, node, function, meanings)]
    return found[:MOST]


def _widths(source: Source, node: ast.AST, function: ast.AST, meanings: Meanings) -> list[str]:
    """A width where none is named: heads times their size; the last axis of what the function is given, or
    of its heads (B, heads, T, size).
    """
    parts = [expressions(source, node, size, meanings)[:1] for size in ("heads", "head_size")]
    found = [f"{heads} * {each}" for heads in parts[0] for each in parts[1]]
    given = getattr(getattr(function, "args", None), "args", [])
    names = [arg.arg for arg in given if arg.arg != "self"]
    if names and getattr(function, "name", "") != "__init__":
        found += [f"{names[0]}.size(-1)", f"{names[0]}.size(1) * {names[0]}.size(-1)"]
    return found


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
