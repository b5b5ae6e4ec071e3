"""Patterns over `ast` with metavariables: find `self.n = $X`, write `self.n = 256` in its place.

`$NAME` stands for any expression, and for the same one wherever the name comes again; `*$REST` for the rest
of a call (`rest.py`). A pattern is one expression or one statement. An annotated assignment matches a plain
one; `$X[0]` fits what is read and what is assigned to; `self` is what the method calls its object.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import msgspec

from engine.code import syntax
from engine.code.indentation import indented
from engine.code.parentheses import is_atom, parenthesised, without_parentheses
from engine.code.source import Edit, Source
from engine.code.surroundings import SELF, receiver, with_receiver
from engine.code.syntax import same_code, structure, walked
from engine.inject import rest

META = re.compile(r"\$([A-Z][A-Z0-9_]*)")
PREFIX = "META_VARIABLE_"
OWN = "self"  # among bindings: the name of the object, where it is another (metavariables are upper case)
Bindings = dict[str, ast.expr]
Rests = dict[str, list[ast.AST]]


class Match(msgspec.Struct, frozen=True):
    """A place where a pattern fits."""

    node: ast.AST
    bindings: Bindings
    rests: Rests = {}


def parse(pattern: str) -> ast.AST:
    """The pattern's tree. Raises SyntaxError."""
    module = syntax.parse(META.sub(lambda m: PREFIX + m[1], pattern))
    if len(module.body) != 1:
        raise SyntaxError("a pattern is one expression or one statement")
    only = module.body[0]
    return only.value if isinstance(only, ast.Expr) else only


def find(pattern: str, within: ast.AST, source: Source | None = None) -> Iterator[Match]:
    """Every node below `within` that the pattern fits, in reading order.

    source: the file, where methods may have another name for `self`.
    """
    wanted = parse(pattern)
    own = source is not None and SELF.search(pattern)
    for node in walked(within):
        bindings: Bindings = {}
        rests: Rests = {}
        if own and source is not None and receiver(source, node) != "self":
            bindings[OWN] = ast.Name(receiver(source, node), ast.Load())
        if _fits(wanted, node, bindings, rests):
            bindings.pop(OWN, None)
            yield Match(node, bindings, rests)


def _fits(wanted: object, node: object, bindings: Bindings, rests: Rests) -> bool:
    if isinstance(wanted, ast.Name) and wanted.id.startswith(PREFIX):
        if not isinstance(node, ast.expr):
            return False
        name = wanted.id.removeprefix(PREFIX)
        if name in bindings:
            return structure(bindings[name]) == structure(node)
        bindings[name] = node
        return True
    if isinstance(wanted, ast.Name) and wanted.id == "self" and OWN in bindings:
        return structure(bindings[OWN]) == structure(node) if isinstance(node, ast.expr) else False
    if isinstance(wanted, ast.Assign) and isinstance(node, ast.AnnAssign) and node.value:
        return len(wanted.targets) == 1 and all(
            _fits(a, b, bindings, rests)
            for a, b in ((wanted.targets[0], node.target), (wanted.value, node.value))
        )
    if type(wanted) is not type(node):
        return False
    if isinstance(wanted, ast.Call) and isinstance(node, ast.Call) and _has_rest(wanted):
        parts = rest.split(wanted, node, PREFIX)
        if parts is None:
            return False
        rests |= parts[1]
        return all(_fits(a, b, bindings, rests) for a, b in parts[0])
    if isinstance(wanted, ast.AST):
        return all(
            _fits(getattr(wanted, field), getattr(node, field), bindings, rests)
            for field in wanted._fields
            if field not in ("type_comment", "kind", "ctx")
        )
    if isinstance(wanted, list) and isinstance(node, list):
        return len(wanted) == len(node) and all(
            _fits(a, b, bindings, rests) for a, b in zip(wanted, node, strict=True)
        )
    return wanted == node


def _has_rest(wanted: ast.Call) -> bool:
    return any(rest.name_of(one, PREFIX) for one in (*wanted.args, *wanted.keywords))


def rewrite(source: Source, match: Match, find: str, replace: str) -> Edit:
    """The edit that turns the matched code into `replace`, as small as the two templates allow."""
    if match.rests:
        find, replace = (rest.written(source, text, match.rests) for text in (find, replace))
    replace = with_receiver(source, replace, match.node)
    before, after = _tokens(with_receiver(source, find, match.node)), _tokens(replace)
    while before and after and before[0] == after[0]:
        before, after = before[1:], after[1:]
    while before and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    if len(before) == 1 and META.fullmatch(before[0]) and find.count(before[0]) == 1:
        node: ast.AST = match.bindings[before[0][1:]]
        text = "".join(after)
    else:
        node, text = match.node, replace
    start, end = source.span(node)
    indent = source.text(source.offset(node.lineno, 0), start) if isinstance(node, ast.stmt) else ""
    indent = "" if indent.strip() else indent
    if isinstance(node, ast.stmt):
        text = indented(source, text, indent)
    new = fitted(source, node, substitute(source, text, match.bindings, indent))
    if isinstance(node, ast.expr) and _stands_alone(new):
        start, end = without_parentheses(source, node)
    return Edit(source.path, start, end, new)


def fitted(source: Source, node: ast.AST, new: str) -> str:
    """The new text of a node, in parentheses if it is an expression that needs them there.

    A call that is a statement by itself may become a statement, `add(a, b)` into `a += b`.
    """
    return (
        parenthesised(source, node, new) if isinstance(node, ast.expr) and _expresses(new) else new
    )


def _expresses(text: str) -> bool:
    """Whether a text is an expression, as it stands inside parentheses."""
    try:
        syntax.parse_expression(f"({text})")
    except SyntaxError:
        return False
    return True


def _stands_alone(text: str) -> bool:
    """Whether a text is an expression that never needs parentheses, and has none."""
    try:
        return not text.startswith("(") and is_atom(syntax.parse_expression(text))
    except (SyntaxError, ValueError):
        return False


def substitute(source: Source, template: str, bindings: Bindings, indent: str = "") -> str:
    """The template with the bound expressions' own text in place of metavariables.

    An expression is put in parentheses only where it would fall apart without. indent: of its further lines.
    """
    parts = META.split(template)  # text, name, text, name, ..., text
    own = [source.text(*source.span(bindings[name])) for name in parts[1::2]]
    texts = [f"({text})" for text in own]

    def whole() -> str:
        return "".join(a + b for a, b in zip(parts[::2], [*texts, ""], strict=True))

    def block() -> str:
        return f"if 1:\n{indent}{whole()}" if indent else whole()

    safe = block()
    for i, text in enumerate(own):
        texts[i] = text
        broken = "\n" in text.replace("\r", "\n") and not is_atom(bindings[parts[2 * i + 1]])
        if broken or not same_code(block(), safe):
            texts[i] = f"({text})"
    return whole()


def _tokens(template: str) -> list[str]:
    return re.findall(r"\$[A-Z][A-Z0-9_]*|\s+|\w+|.", template)
