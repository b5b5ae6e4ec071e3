"""Where two versions of a file differ in more than comments and layout."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from engine.code.source import encoding_of
from engine.code.syntax import parsed

Pairs = tuple[tuple[int, ast.stmt, ast.stmt], ...]


@lru_cache(64)
def changed(old: bytes, new: bytes) -> Pairs | None:
    """The top-level statements whose code differs, with their position; None where their number
    does. Raises SyntaxError, ValueError.
    """
    before, after = parsed(old).body, parsed(new).body
    if len(before) != len(after):
        return None
    other = encoding_of(old) != encoding_of(new)  # then the same bytes are another text
    texts = zip(_texts(old, before), _texts(new, after), strict=True)
    return tuple(
        (i, a, b)
        for i, (a, b, (was, now)) in enumerate(zip(before, after, texts, strict=True))
        if (other or was != now) and ast.dump(a) != ast.dump(b)
    )


class Aligned(msgspec.Struct, frozen=True):
    """The top-level statements in which two versions of a file differ, with their position in the old
    one: those that changed, those that are gone, and those that came.
    """

    pairs: Pairs = ()
    gone: tuple[tuple[int, ast.stmt], ...] = ()
    added: tuple[ast.stmt, ...] = ()


@lru_cache(64)
def aligned(old: bytes, new: bytes) -> Aligned:
    """Where two versions of a file differ, whatever came or went. Raises SyntaxError, ValueError."""
    pairs = changed(old, new)
    if pairs is not None:
        return Aligned(pairs)
    before, after = parsed(old).body, parsed(new).body
    old_code, new_code = ([ast.dump(node) for node in body] for body in (before, after))
    found: list[tuple[int, ast.stmt, ast.stmt]] = []
    gone: list[tuple[int, ast.stmt]] = []
    added: list[ast.stmt] = []
    matcher = difflib.SequenceMatcher(None, old_code, new_code, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        named = {getattr(node, "name", None): node for node in after[c:d]}
        for i in range(a, b):
            name = getattr(before[i], "name", None)
            if name is not None and name in named:
                found.append((i, before[i], named.pop(name)))
            else:
                gone.append((i, before[i]))
        paired = {id(now) for _, _, now in found}
        added += [node for node in after[c:d] if id(node) not in paired]
    return Aligned(tuple(found), tuple(gone), tuple(added))


def differing(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> set[str]:
    """The files that differ in more than comments and layout; those that only one side has, too."""
    return {
        path
        for path in {*before, *after}
        if before.get(path) != after.get(path)
        and not (path.endswith(".py") and _same_tree(before.get(path), after.get(path)))
    }


def _same_tree(one: bytes | None, other: bytes | None) -> bool:
    if one is None or other is None:
        return False
    try:
        return changed(one, other) == ()
    except (SyntaxError, ValueError, RecursionError):
        return False


def _texts(data: bytes, body: list[ast.stmt]) -> list[bytes]:
    """The lines of each statement: where they are alike, so is the code."""
    lines = data.splitlines(keepends=True)
    found = []
    for node in body:
        first = min(n.lineno for n in (*getattr(node, "decorator_list", ()), node))
        found.append(b"".join(lines[first - 1 : node.end_lineno]))
    return found
