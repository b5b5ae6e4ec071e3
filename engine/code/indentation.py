"""New statements, written with steps of four spaces, as they stand in a file that has its own."""

from __future__ import annotations

import ast

from engine.code.source import Edit, Source


def indented(source: Source, template: str, indent: str) -> str:
    """Statements written with steps of four spaces, as they stand at `indent` in this file."""
    first, *rest = template.split("\n")
    lines = [first]
    for line in rest:
        bare = line.lstrip(" ")
        lines.append(indent + source.indent_unit * ((len(line) - len(bare)) // 4) + bare)
    return "\n".join(lines)


def line_before(source: Source, statement: ast.stmt, text: str) -> Edit:
    """Another statement before this one: on a line of its own, if this one begins a line."""
    start = source.span(statement)[0]
    indent = source.text(source.offset(statement.lineno, 0), start)
    return Edit(source.path, start, start, text + ("; " if indent.strip() else f"\n{indent}"))


def body_below(source: Source, function: ast.FunctionDef, template: str) -> Edit | None:
    """Statements below the head of a function whose body stands on the line of its head, in place
    of that body; None when it stands on lines of its own.
    """
    start, end = source.span(function.body[0])[0], source.span(function.body[-1])[1]
    head = source.text(source.offset(function.body[0].lineno, 0), start)
    if not head.strip():
        return None
    line = source.text(source.offset(function.lineno, 0), start)
    indent = line[: len(line) - len(line.lstrip())] + source.indent_unit
    blank = len(head) - len(head.rstrip())  # spaces and tabs: a byte each
    return Edit(source.path, start - blank, end, f"\n{indent}{indented(source, template, indent)}")
