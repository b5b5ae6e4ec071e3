"""The rest of a call in a pattern: `$F(*$REST, is_causal=$V, **$REST_OF)` fits a call with that keyword,
whatever else it is given. Names that begin with REST stand for any number of arguments.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from engine.code.source import Source

STARRED = re.compile(r"(,\s*)\*\*?\$(REST\w*)|\*\*?\$(REST\w*)(\s*,\s*)?")


def name_of(node: ast.AST | None, prefix: str) -> str:
    """The name of a metavariable for the rest of a call; "" of other nodes."""
    inner = node.value if isinstance(node, (ast.Starred, ast.keyword)) else None
    if isinstance(node, ast.keyword) and node.arg is not None:
        return ""
    found = inner.id.removeprefix(prefix) if isinstance(inner, ast.Name) else ""
    return found if found.startswith("REST") else ""


def split(
    wanted: ast.Call, node: ast.Call, prefix: str
) -> tuple[list[tuple[ast.AST, ast.AST]], dict[str, list[ast.AST]]] | None:
    """(pairs that must fit, what each rest holds); None where a call has too few arguments. Keywords are
    matched by name.
    """
    pairs: list[tuple[ast.AST, ast.AST]] = [(wanted.func, node.func)]
    held: dict[str, list[ast.AST]] = {}
    place = next((i for i, one in enumerate(wanted.args) if name_of(one, prefix)), None)
    if place is None:
        if len(wanted.args) != len(node.args):
            return None
        pairs += zip(wanted.args, node.args, strict=True)
    else:
        behind = len(wanted.args) - place - 1
        if len(node.args) < place + behind:
            return None
        end = len(node.args) - behind
        pairs += zip(wanted.args[:place], node.args[:place], strict=True)
        pairs += zip(wanted.args[place + 1 :], node.args[end:], strict=True)
        held[name_of(wanted.args[place], prefix)] = [*node.args[place:end]]
    left = {one.arg: one for one in node.keywords}
    rest = ""
    for keyword in wanted.keywords:
        if name := name_of(keyword, prefix):
            rest = name
        elif keyword.arg not in left:
            return None
        else:
            pairs.append((keyword.value, left.pop(keyword.arg).value))
    if left and not rest:
        return None
    if rest:
        held[rest] = [*left.values()]
    return pairs, held


def written(source: Source, template: str, held: Mapping[str, Sequence[ast.AST]]) -> str:
    """A template with the rests of a call as the file has them."""

    def text(found: re.Match[str]) -> str:
        own = ", ".join(
            source.text(*source.span(one)) for one in held.get(found[2] or found[3], ())
        )
        return f"{found[1] or ''}{own}{found[4] or ''}" if own else ""

    return STARRED.sub(text, template)
