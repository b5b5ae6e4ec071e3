"""Edits at source spans that were measured: where a traced call stands, what a way of a proof makes of it.

A part of a model is seen in calls, and each call in the spans of the frames that made it, innermost first.
A way's edits are tried from the innermost span outwards; what a metavariable held in one edit it holds in
the next. Nothing here knows what is right: candidates are accepted by what they measure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from engine.code.layout import with_layout
from engine.code.removal import without_item
from engine.code.source import Edit, Source, overlap
from engine.code.surroundings import out_of_scope
from engine.code.syntax import same_code, walked
from engine.inject import patterns, relocate
from engine.inject.aliases import with_own_names
from engine.inject.sizes import Meanings, with_sizes
from engine.spec.types import SpanEdit, Way

FILES = "files"
Span = tuple[str, int, int, int, int]  # file, first line, last line, first column, last column
Place = tuple[Span, ...]  # of one call: the frames of the tree, innermost first
Texts = dict[str, str]  # metavariable -> the learner's own text
SCOPES: dict[str, tuple[type, ...]] = {
    "function": (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module),
    "class": (ast.ClassDef, ast.Module),
    "file": (ast.Module,),
}


class Where(msgspec.Struct, frozen=True):
    """What edits are placed in. places: part -> its calls. ran: the files that ran, in that order."""

    sources: Mapping[str, Source]
    places: Mapping[str, Sequence[Place]]
    ran: Sequence[str]
    meanings: Meanings


def edits_of(where: Where, way: Way) -> Iterator[tuple[Edit, ...]]:
    """Every way to make all edits of a way, each once."""
    seen: set[tuple[Edit, ...]] = set()
    for edits in _together(where, way.edits, {}):
        found = tuple(sorted(with_layout(where.sources[one.path], one) for one in set(edits)))
        if found and found not in seen and not overlap(found):
            seen.add(found)
            yield found


def _together(where: Where, steps: Sequence[SpanEdit], known: Texts) -> Iterator[tuple[Edit, ...]]:
    if not steps:
        yield ()
        return
    for edits, texts in _options(where, steps[0], known):
        for rest in _together(where, steps[1:], texts):
            yield (*edits, *rest)


def _options(
    where: Where, step: SpanEdit, known: Texts
) -> Iterator[tuple[tuple[Edit, ...], Texts]]:
    for source, node in _anchors(where, step.at):
        if step.drop:
            yield relocate.dropped(source, source.statement(node)), known
        elif step.move:
            for other, target in _anchors(where, step.to):
                if other is source:
                    yield relocate.moved(source, node, target, step.move), known
        elif step.argument:
            text = _known(step.value, known)
            for call in _calls(source, node, step, known):
                for value in with_sizes(source, call, text, where.meanings):
                    yield relocate.argument(source, call, step.argument, value), known
        else:
            yield from _found(where, source, node, step, known)


def _anchors(where: Where, at: str) -> Iterator[tuple[Source, ast.AST]]:
    """The nodes that a part may mean, innermost first; of each file that ran its whole tree."""
    if at == FILES:
        for path in where.ran:
            if path in where.sources:
                yield where.sources[path], where.sources[path].module
        return
    seen: set[int] = set()
    for place in where.places.get(at, ()):
        for span in place:
            source = where.sources.get(span[0])
            for node in _nodes(source, span) if source else ():
                if id(node) not in seen and source:
                    seen.add(id(node))
                    yield source, node


def _nodes(source: Source, span: Span) -> list[ast.AST]:
    """The expressions and statements that stand exactly there."""
    _, first, last, left, right = span
    return [
        node
        for node in walked(source.module)
        if isinstance(node, (ast.expr, ast.stmt))
        and (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
        == (first, last, left, right)
    ]


def _calls(source: Source, node: ast.AST, step: SpanEdit, known: Texts) -> list[ast.Call]:
    """The calls whose keyword is set: those that `find` fits, else what stands at the span."""
    if step.find:
        found = [match.node for match in _matches(source, node, step, known)]
    else:
        found = [node.value if isinstance(node, ast.Expr) else node]
    return [one for one in found if isinstance(one, ast.Call)]


def _matches(
    source: Source, node: ast.AST, step: SpanEdit, known: Texts
) -> Iterator[patterns.Match]:
    """Where a step's pattern fits around a node; at a part itself only the very node."""
    whole = step.at == FILES or step.within != "expression"
    pattern = _known(with_own_names(source, step.find), known)
    if not _is_code(pattern):  # what an earlier edit found cannot stand there
        return
    for match in patterns.find(pattern, _scope(source, node, step), source):
        if whole or match.node is node:
            yield match


def _is_code(pattern: str) -> bool:
    try:
        patterns.parse(pattern)
    except SyntaxError:
        return False
    return True


def _found(
    where: Where, source: Source, node: ast.AST, step: SpanEdit, known: Texts
) -> Iterator[tuple[tuple[Edit, ...], Texts]]:
    """What a pattern fits around a node, and what it becomes."""
    find, replace = (
        _known(with_own_names(source, text), known) for text in (step.find, step.replace)
    )
    for match in _matches(source, node, step, known):
        texts = known | {
            name: source.text(*source.span(bound)) for name, bound in match.bindings.items()
        }
        if step.replace == step.find:  # which only finds what a later edit names
            yield (), texts
            continue
        if not replace:
            above = source.parents.get(id(match.node))
            whole = above if isinstance(above, ast.Expr) else match.node
            item = without_item(source, match.node)
            gone = relocate.dropped(source, whole) if isinstance(whole, ast.stmt) else ()
            if item or gone:
                yield ((item,) if item else gone), texts
            continue
        for text in with_sizes(source, match.node, replace, where.meanings):
            if not out_of_scope(source, match.node, _bare(text)):
                yield (patterns.rewrite(source, match, find, text),), texts


def _scope(source: Source, node: ast.AST, step: SpanEdit) -> ast.AST:
    if step.within == "statement" and not isinstance(node, ast.Module):
        return source.statement(node)
    at = node
    for _ in range(len(source.parents)):
        if isinstance(at, SCOPES.get(step.within, ())) or id(at) not in source.parents:
            break
        at = source.parents[id(at)]
    return at if step.within in SCOPES else node


def _bare(text: str) -> str:
    """A template without metavariables, as its names are looked up."""
    return patterns.META.sub("None", re.sub(r"\*\*?\$REST\w*", "*()", text))


def _known(template: str, texts: Texts) -> str:
    """A template in which what earlier edits found stands as it was written, in parentheses where it would
    fall apart without.
    """
    for name in dict.fromkeys(patterns.META.findall(template)):
        if name in texts:
            bare, safe = (_put(template, name, t) for t in (texts[name], f"({texts[name]})"))
            same = same_code(bare.replace("$", ""), safe.replace("$", ""))
            template = bare if same else safe
    return template


def _put(template: str, name: str, text: str) -> str:
    return patterns.META.sub(lambda found: text if found[1] == name else found[0], template)
