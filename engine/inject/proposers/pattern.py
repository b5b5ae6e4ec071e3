"""`pattern`: code that looks like the template `find`, anywhere or where it held certain values."""

from __future__ import annotations

from collections.abc import Iterator

from engine.code.removal import without_item
from engine.code.source import Edit, Source, overlap
from engine.code.surroundings import out_of_scope, with_receiver
from engine.inject import patterns
from engine.inject.proposers.space import LOCALITY, Edits, Locality, SearchSpace, key_of
from engine.spec.types import Pattern


def propose(space: SearchSpace, pattern: Pattern, locality: Locality) -> Iterator[Edits]:
    """One edit a match in what ran, or all of a scope at once (`every`). Matches that are found by the values
    of their metavariables count as found by `role`.
    """
    if pattern.where:
        for edit in _by_values(space, pattern, locality):
            yield (edit,), "role"
    elif locality == Locality.LOCAL:
        for edits in _by_form(space, pattern):
            yield edits, "pattern"


def _by_form(space: SearchSpace, pattern: Pattern) -> Iterator[tuple[Edit, ...]]:
    fits = False
    for source, scope in space.code.scopes(pattern.inside):
        found = patterns.find(pattern.find, scope, source)
        found = (match for match in found if space.code.runs(source, match.node))
        matches = [match for match in found if _in_scope(source, match, pattern)]
        edits = [edit for match in matches if (edit := _written(source, match, pattern))]
        fits = fits or bool(matches)
        if pattern.every:
            if edits and not overlap(edits):
                yield tuple(edits)
        else:
            yield from ((edit,) for edit in edits)
    if not fits and pattern.find not in space.unfit:
        space.unfit.append(pattern.find)


def _by_values(space: SearchSpace, pattern: Pattern, locality: Locality) -> Iterator[Edit]:
    """Matches whose metavariables held the right values, nearest to `inside` first."""
    held = {
        name: {site.key for site in space.trace(pattern.probe, pattern.regime, value)}
        for name, value in pattern.where.items()
    }
    paths = {key[0] for keys in held.values() for key in keys}
    found: list[tuple[tuple[int, int], Edit]] = []
    for path in sorted(paths & space.code.sources.keys()):
        source = space.code.sources[path]
        for match in patterns.find(pattern.find, source.module, source):
            nodes = {"SELF": match.node, **match.bindings}
            fits = all(key_of(path, nodes[name]) in keys for name, keys in held.items())
            edit = _written(source, match, pattern)
            if fits and edit and _in_scope(source, match, pattern):
                found.append((space.distance(path, match.node, pattern.inside), edit))
    for (distance, _), edit in sorted(found):
        if LOCALITY[distance] == locality:
            yield edit


def _in_scope(source: Source, match: patterns.Match, pattern: Pattern) -> bool:
    """Whether all that the new text reads can be read at the match."""
    bare = patterns.META.sub("None", pattern.replace)
    return not out_of_scope(source, match.node, with_receiver(source, bare, match.node))


def _written(source: Source, match: patterns.Match, pattern: Pattern) -> Edit | None:
    """What a pattern makes of a match; None where it takes away what cannot go."""
    if pattern.replace:
        return patterns.rewrite(source, match, pattern.find, pattern.replace)
    return without_item(source, match.node)
