"""Edits that take code away: whole statements with their lines, and items of a call or a sequence."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from engine.code.source import Edit, Source
from engine.code.syntax import walked

COMMA = re.compile(r"\s*,\s*")
BEHIND = re.compile(rb"[^\S\n]*,[^\S\n]*(#[^\n]*)?\n")


def without(source: Source, statement: ast.AST) -> Edit | None:
    """The deletion of a statement that stands alone on its lines, or beside a semicolon."""
    return whole_lines(source, statement) or _with_separator(source, statement)


def without_item(source: Source, node: ast.AST) -> Edit | None:
    """The deletion of an argument, or of an item of a tuple, a list or a set, with its comma; None for
    anything else, and where no tuple or set would be left. A keyword's value goes with the keyword.
    """
    for holder in walked(source.module):
        items: Sequence[ast.expr | ast.keyword] = ()
        if isinstance(holder, ast.Call):
            items = [*holder.args, *holder.keywords]
        elif isinstance(holder, (ast.Tuple, ast.List, ast.Set)):
            items = holder.elts
        place = next((i for i, item in enumerate(items) if node in (item, _value(item))), None)
        if place is None:
            continue
        start, end = source.span(items[place])
        if isinstance(holder, ast.Call) and holder.args == [node] and holder.keywords:
            return None
        if len(items) == 1:
            alone = isinstance(holder, (ast.Call, ast.List)) and items[0] is node
            return Edit(source.path, start, end, "") if alone else None
        if isinstance(holder, ast.Tuple) and len(items) == 2:
            return None
        lines = _item_lines(source, start, end)
        if lines:
            return lines
        before = source.span(items[place - 1])[1] if place else start
        after = end if place else source.span(items[1])[0]
        between = source.text(before, start) if place else source.text(end, after)
        return Edit(source.path, before, after, "") if COMMA.fullmatch(between) else None
    return None


def _value(item: ast.expr | ast.keyword) -> ast.expr | None:
    return item.value if isinstance(item, ast.keyword) else None


def _item_lines(source: Source, start: int, end: int) -> Edit | None:
    """The deletion of an item that stands alone on its lines, with its comma and the comment behind it."""
    line = source.data.rfind(b"\n", 0, start) + 1
    behind = BEHIND.match(source.data, end)
    if behind is None or source.data[line:start].strip():
        return None
    return Edit(source.path, line, behind.end(), "")


def whole_lines(source: Source, statement: ast.AST) -> Edit | None:
    """The deletion of a statement that stands alone on its lines."""
    start, end = source.span(statement)
    line, stop = _lines_of(source, start, end)
    behind = source.data[end:stop].strip()
    if source.data[line:start].strip() or (behind and not behind.startswith(b"#")):
        return None
    return Edit(source.path, line, stop, "")


def _lines_of(source: Source, start: int, end: int) -> tuple[int, int]:
    """Where the lines of these bytes begin and end."""
    stop = source.data.find(b"\n", end)
    return source.data.rfind(b"\n", 0, start) + 1, len(source.data) if stop < 0 else stop + 1


def _with_separator(source: Source, statement: ast.AST) -> Edit | None:
    """The deletion of one of several statements on a line, with a semicolon beside it."""
    start, end = source.span(statement)
    line = source.data.rfind(b"\n", 0, start) + 1
    before = source.data[line:start]
    cut = before.rstrip().removesuffix(b";")
    if cut != before.rstrip() and cut.strip():
        return Edit(source.path, line + len(cut), end, "")
    after = source.data[end:]
    rest = after.lstrip(b" \t")
    if rest.startswith(b";") and not before.strip():
        tail = rest[1:].lstrip(b" \t")
        return Edit(source.path, start, end + len(after) - len(tail), "")
    return None


def joined(source: Source, edits: Sequence[Edit]) -> list[Edit]:
    """Deletions that share a separator as one: `a; b` of which both go, and then their line."""
    found: list[Edit] = []
    for edit in sorted(edits):
        last = found[-1] if found else None
        if last and not last.text and not edit.text and last.start < edit.start < last.end:
            start, end = last.start, max(last.end, edit.end)
            line, stop = _lines_of(source, start, end)
            behind = source.data[end:stop].strip()
            first = not source.data[line:start].strip()
            if first and behind[:1] in (b"", b"#"):
                start, end = line, stop
            elif first and behind[:1] == b";":
                end = stop - len(source.data[end:stop].lstrip(b" \t;"))
            found[-1] = Edit(source.path, start, end, "")
        else:
            found.append(edit)
    return found


def with_comment(source: Source, edit: Edit) -> Edit:
    """The deletion of whole lines together with the comment that stands right above them."""
    first = source.data[edit.start : edit.end]
    indent = first[: len(first) - len(first.lstrip(b" \t"))]
    start = edit.start
    if edit.text or source.data[start - 1 : start] not in (b"\n", b"") or not indent:
        return edit
    while start:
        above = source.data.rfind(b"\n", 0, start - 1) + 1
        if not source.data[above:start].startswith(indent + b"#"):
            break
        start = above
    return Edit(source.path, start, edit.end, "")
