"""Edits where an expression held a value: what `role` and `graft` do.

Values are found by tracing: the child records every expression that is executed, and those that held
the reference's value in two runs of different sizes are places. Only those count where every name
that the new text reads can be read.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from engine.code.indentation import line_before
from engine.code.parentheses import parenthesised, replaced_by, without_parentheses
from engine.code.source import Edit, Source, overlap
from engine.code.surroundings import (
    in_block_from,
    occurrences,
    out_of_scope,
    visible_names,
    with_receiver,
)
from engine.inject.proposers.space import (
    COMMON,
    DEFINITION,
    LOCALITY,
    Locality,
    Place,
    SearchSpace,
)
from engine.inject.proposers.templates import (
    MAX_EXPRESSIONS,
    ROLE,
    expressions_of,
    with_expressions,
    wrapped,
)
from engine.spec.types import RoleEdit

MAX_PLACES = (16, 8, 6, 3, 6)  # of one value that are tried, by distance


def edits(space: SearchSpace, edit: RoleEdit, locality: Locality) -> Iterator[tuple[Edit, ...]]:
    """The ways to make this edit at places of this locality."""
    if id(edit) not in space.placed:
        space.placed[id(edit)] = list(_places(space, edit))
    found = [p for p in space.placed[id(edit)] if LOCALITY[p.distance[0]] == locality]
    bare = ROLE.sub("None", edit.replace.replace("$SELF", "None"))
    found = [place for place in found if _in_scope(space, place, bare)]
    if ROLE.search(edit.replace):
        found = [place for place in found if next(_filled(space, edit, place), None)]
    found = _nearest(found)
    if edit.named:
        yield from _named(space, edit, found)
    elif edit.every:
        yield from _everywhere(space, edit, found)
    else:
        for place in found:
            yield from _filled(space, edit, place)


def _places(space: SearchSpace, edit: RoleEdit) -> Iterator[Place]:
    """The expressions that held the value, with their distance."""
    for site in space.trace(edit.probe, edit.regime, edit.value):
        source = space.code.sources.get(site.path)
        node = source.expression(site.node, *site.key[1:]) if source else None
        if node is not None:
            distance, size = space.distance(site.path, node, edit.inside)
            distance = COMMON if site.common and distance != DEFINITION else distance
            yield Place((distance, size), site.path, node)


def _in_scope(space: SearchSpace, place: Place, template: str) -> bool:
    source = space.code.sources[place.path]
    return not out_of_scope(source, place.node, with_receiver(source, template, place.node))


def _nearest(found: Sequence[Place]) -> list[Place]:
    """Sorted by distance, and only so many at each."""
    ordered = sorted(found, key=lambda place: place[:2])
    return [
        place
        for distance, most in enumerate(MAX_PLACES)
        for place in [place for place in ordered if place.distance[0] == distance][:most]
    ]


def _everywhere(
    space: SearchSpace, edit: RoleEdit, found: Sequence[Place]
) -> Iterator[tuple[Edit, ...]]:
    """All outermost places in one function at once, function by function."""
    grouped: dict[tuple[str, int], list[tuple[Edit, ...]]] = {}
    for place in found:
        first = next(_filled(space, edit, place), None)
        if first:
            scope = space.code.sources[place.path].function(place.node)
            group = grouped.setdefault((place.path, id(scope)), [])
            if not overlap([*(e for other in group for e in other), *first]):
                group.append(first)
    for group in grouped.values():
        yield tuple(e for edits in group for e in edits)


def _named(
    space: SearchSpace, edit: RoleEdit, found: Sequence[Place]
) -> Iterator[tuple[Edit, ...]]:
    """`name = ...` before a statement that reads the value, and the name from there on."""
    given: set[tuple[str, int, str]] = set()
    for _, path, node in found:
        source = space.code.sources[path]
        reads = occurrences(source, node)
        if (path, id(source.function(node)), ast.dump(node)) in given or not reads:
            continue
        given.add((path, id(source.function(node)), ast.dump(node)))
        own = isinstance(node, ast.Name)
        name = node.id if isinstance(node, ast.Name) else edit.named
        if not own and name in (visible_names(source, node) or {name}):
            continue
        for statement in list(dict.fromkeys(map(source.statement, reads)))[:MAX_EXPRESSIONS]:
            after = in_block_from(source, statement, reads)
            for text in _texts(space, edit, source, after[0]):
                line = line_before(source, statement, f"{name} = {text}")
                uses = [] if own else [(without_parentheses(source, n), n) for n in after]
                yield (
                    line,
                    *(Edit(path, *span, parenthesised(source, n, name)) for span, n in uses),
                )


def _texts(space: SearchSpace, edit: RoleEdit, source: Source, node: ast.expr) -> Iterator[str]:
    """The new expression by itself, for each way to write the roles that the template names."""
    for nodes in _choices(space, edit, source, node):
        template = with_receiver(source, edit.replace.replace("$SELF", "$self_"), node)
        yield with_expressions(source, template, {**nodes, "self_": node})


def _filled(space: SearchSpace, edit: RoleEdit, place: Place) -> Iterator[tuple[Edit, ...]]:
    """The edits of one place, for each way to write the roles that the template names."""
    node, source = place.node, space.code.sources[place.path]
    template = with_receiver(source, edit.replace, node)
    for nodes in _choices(space, edit, source, node):
        if not nodes:
            yield wrapped(source, node, template)
        elif template == f"${next(iter(nodes))}":
            yield replaced_by(source, node, nodes[next(iter(nodes))])
        else:
            yield wrapped(source, node, with_expressions(source, template, nodes))


def _choices(
    space: SearchSpace, edit: RoleEdit, source: Source, node: ast.expr
) -> Iterator[dict[str, ast.expr]]:
    """The learner's own expressions for the roles that the template names, in each combination."""
    names = list(dict.fromkeys(ROLE.findall(edit.replace)))
    sites = {name: space.trace(edit.probe, edit.regime, name) for name in names}
    choices = [list(expressions_of(source, node, sites[name])) for name in names]
    for chosen in itertools.product(*choices):
        yield dict(zip(names, chosen, strict=True))
