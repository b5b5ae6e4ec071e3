"""Templates of role edits: `$SELF` is the expression that is replaced, `$name` one that held a value.

Whatever is put in is the learner's own text, with parentheses only where the code would fall apart
without.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from engine.code.parentheses import is_atom, parenthesised, without_parentheses
from engine.code.source import Edit, Source
from engine.code.surroundings import attributes_of_class
from engine.code.syntax import same_code, walked
from engine.inject.places import Site
from engine.inject.proposers.space import key_of

ROLE = re.compile(r"\$([a-z_][a-z0-9_]*)")
READS = (ast.Name, ast.Attribute, ast.Subscript)  # what may be read once more, simplest first
MAX_EXPRESSIONS = 3  # of the learner's own for one role


def expressions_of(source: Source, node: ast.expr, sites: Iterable[Site]) -> Iterator[ast.expr]:
    """The learner's own expressions, at `node`, for what these sites held: parts of the node, names
    known there, then attributes that other methods of the class read; first those that always held it.
    """
    held = {site.key: not site.steady for site in sites if site.path == source.path}
    given: set[str] = set()
    function = source.function(node)
    ready = _ready(function, node.lineno)
    parts = [n for n in walked(node) if n is not node and isinstance(n, ast.expr)]
    around = [
        n
        for n in walked(function)
        if isinstance(n, READS) and (n.lineno <= node.lineno or ready(n))
    ]
    around.sort(key=lambda n: (READS.index(type(n)), -n.lineno))
    known = [
        part
        for part in [*parts, *around, *attributes_of_class(source, function)]
        if key_of(source.path, part) in held
    ]
    for part in sorted(known, key=lambda part: held[key_of(source.path, part)]):
        text = ast.dump(part)
        if text not in given and len(given) < MAX_EXPRESSIONS:
            given.add(text)
            yield part


def _ready(function: ast.AST, line: int) -> Callable[[ast.expr], bool]:
    """Whether an expression that a function reads later on can be read at this line already: its
    names are parameters, bound further up, or not the function's own.
    """
    arguments = getattr(function, "args", ast.Pass())
    bound_at = {n.arg: 0 for n in walked(arguments) if isinstance(n, ast.arg)}
    for n in walked(function):
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
            bound_at[n.id] = min(n.lineno, bound_at.get(n.id, n.lineno))

    def ready(expression: ast.expr) -> bool:
        return all(
            bound_at.get(n.id, 0) <= line for n in walked(expression) if isinstance(n, ast.Name)
        )

    return ready


def with_expressions(source: Source, template: str, nodes: Mapping[str, ast.expr]) -> str:
    """A template with the learner's own expressions for its roles, in parentheses where they would
    fall apart without.
    """
    parts = ROLE.split(template)  # text, name, text, ..., text
    bare = [source.text(*source.span(nodes[name])) for name in parts[1::2]]
    texts = [
        own if is_atom(nodes[name]) else f"({own})"
        for own, name in zip(bare, parts[1::2], strict=True)
    ]

    def whole() -> str:
        return "".join(a + b for a, b in zip(parts[::2], [*texts, ""], strict=True))

    safe = whole().replace("$SELF", "SELF")
    for i, own in enumerate(bare):
        kept, texts[i] = texts[i], own
        lines = "\n" in own.replace("\r", "\n")
        if (lines and kept != own) or not same_code(whole().replace("$SELF", "SELF"), safe):
            texts[i] = kept
    return whole()


def wrapped(source: Source, node: ast.expr, template: str) -> tuple[Edit, ...]:
    """`$SELF` in a template is the expression itself: then only what surrounds it is inserted."""
    start, end = source.span(node)
    before, found, after = template.partition("$SELF")
    if not found:
        if re.fullmatch(r"[\w.]+", template):
            start, end = without_parentheses(source, node)
        return (Edit(source.path, start, end, parenthesised(source, node, template)),)
    own = source.text(start, end)
    if not same_code(f"{before}{own}{after}", f"{before}({own}){after}"):
        before, after = before + "(", ")" + after
    whole = f"{before}{own}{after}"
    if parenthesised(source, node, whole) != whole:
        before, after = "(" + before, after + ")"
    edits = (Edit(source.path, start, start, before), Edit(source.path, end, end, after))
    return tuple(edit for edit in edits if edit.text)
