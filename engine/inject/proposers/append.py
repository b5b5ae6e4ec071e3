"""`append`: a statement at the end of a method, or of the class itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from engine.code.indentation import indented
from engine.code.source import Edit
from engine.code.surroundings import with_receiver
from engine.code.syntax import walked
from engine.inject.proposers.space import Edits, Locality, SearchSpace
from engine.spec.types import Append


def propose(space: SearchSpace, append: Append, locality: Locality) -> Iterator[Edits]:
    """One edit a definition of the role, tried after the places of other ways that are local."""
    if locality == Locality.ELSEWHERE:
        for edit in edits(space, append):
            yield (edit,), "append"


def edits(space: SearchSpace, append: Append) -> Iterator[Edit]:
    """The statement behind the last one of each body, on a line of its own."""
    for source, scope in space.code.scopes([append.role]):
        bodies = [
            (node.body, with_receiver(source, append.statement, node))
            for node in walked(scope)
            if (node is scope and not append.method)
            or (isinstance(node, ast.FunctionDef) and node.name == append.method)
            if isinstance(node, (ast.ClassDef, ast.FunctionDef))
        ]
        for body, statement in bodies:
            start, end = source.span(body[-1])
            line = source.text(source.offset(body[-1].lineno, 0), start)
            indent = line[: len(line) - len(line.lstrip())]
            head = source.span(body[0])[0]
            if source.text(source.offset(body[0].lineno, 0), head).strip():
                continue  # the body stands on the line of its head
            rest = re.match(rb"[^\r\n]*", source.data[end:])
            end += len(rest[0]) if rest else 0
            blank = "\n" if statement.startswith(("def ", "@")) else ""
            text = indented(source, statement, indent)
            yield Edit(source.path, end, end, f"{blank}\n{indent}{text}")
