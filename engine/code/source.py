"""A Python file as bytes, addressed the way `ast` does, and edits that leave every other byte alone."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Mapping
from functools import cached_property

import msgspec

from engine.code.names import bound
from engine.code.syntax import children, parsed, walked

LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|$)")
BOM = b"\xef\xbb\xbf"


class Edit(msgspec.Struct, frozen=True, order=True):
    """Replace bytes `start:end` of a file by `text` (with "\\n" line ends, whatever the file has)."""

    path: str
    start: int
    end: int
    text: str


class Unencodable(Exception):
    """The new text has a character that the file's encoding lacks."""


def encoding_of(data: bytes) -> str:
    """The encoding that a file declares. Raises SyntaxError."""
    return tokenize.detect_encoding(io.BytesIO(data).readline)[0]


class Source:
    """One file. Positions are 1-based lines and UTF-8 columns, as `ast` gives them."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.encoding = encoding_of(data)

    @cached_property
    def module(self) -> ast.Module:
        """The parsed file."""
        return parsed(self.data)

    def definitions(self, name: str) -> list[ast.AST]:
        """The classes and functions of this name, wherever they stand."""
        return self._definitions.get(name, [])

    @cached_property
    def _definitions(self) -> dict[str, list[ast.AST]]:
        found: dict[str, list[ast.AST]] = {}
        for node in walked(self.module):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                found.setdefault(node.name, []).append(node)
        return found

    @cached_property
    def _expressions(self) -> dict[tuple[str, int, int, int | None, int | None], ast.expr]:
        return {
            (type(n).__name__, n.lineno, n.col_offset, n.end_lineno, n.end_col_offset): n
            for n in walked(self.module)
            if isinstance(n, ast.expr)
        }

    def expression(
        self, kind: str, line: int, column: int, end_line: int, end_column: int
    ) -> ast.expr | None:
        """The expression of this node type at this place."""
        return self._expressions.get((kind, line, column, end_line, end_column))

    @cached_property
    def parents(self) -> dict[int, ast.AST]:
        """The node around each node, by its id."""
        return {id(child): node for node in walked(self.module) for child in children(node)}

    def _above(self, node: ast.AST, kinds: tuple[type, ...]) -> ast.AST:
        at: ast.AST = node
        while not isinstance(at, kinds):
            at = self.parents.get(id(at), self.module)
        return at

    def function(self, node: ast.AST) -> ast.AST:
        """The innermost function around a node, else the module."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)
        return self._above(self.parents.get(id(node), self.module), kinds)

    def names_bound(self, scope: ast.AST) -> set[str] | None:
        """The names that a scope binds, remembered; None with `import *`."""
        if id(scope) not in self._bound:
            self._bound[id(scope)] = bound(scope)
        return self._bound[id(scope)]

    @cached_property
    def _bound(self) -> dict[int, set[str] | None]:
        return {}

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement around an expression."""
        found = self._above(node, (ast.stmt,))
        assert isinstance(found, ast.stmt)
        return found

    @cached_property
    def _starts(self) -> list[int]:
        starts = [len(BOM) if self.data.startswith(BOM) else 0]
        for found in LINE.finditer(self.data):
            if found.end() > starts[-1]:
                starts.append(found.end())
        return starts

    @cached_property
    def newline(self) -> str:
        """The line end that the file uses first."""
        found = re.search(rb"\r\n|\r|\n", self.data)
        return found[0].decode() if found else "\n"

    def offset(self, line: int, column: int) -> int:
        """The byte offset of a position."""
        start = self._starts[line - 1]
        if self.encoding in ("utf-8", "utf-8-sig"):
            return start + column
        end = self._starts[line] if line < len(self._starts) else len(self.data)
        text = self.data[start:end].decode(self.encoding)
        return start + len(text.encode()[:column].decode().encode(self.encoding))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """The bytes of a node that has a place in the file."""
        at = node
        return (
            self.offset(at.lineno, at.col_offset),  # type: ignore[attr-defined]
            self.offset(at.end_lineno, at.end_col_offset),  # type: ignore[attr-defined]
        )

    def text(self, start: int, end: int) -> str:
        """The text between two offsets."""
        return self.decode(self.data[start:end])

    @cached_property
    def indent_unit(self) -> str:
        """One step of indentation in this file."""
        for node in walked(self.module):
            body = getattr(node, "body", None)
            if isinstance(body, list) and not isinstance(node, ast.Module) and body:
                head = self.span(node)[0]
                outer = self.text(self.offset(node.lineno, 0), head)  # type: ignore[attr-defined]
                inner = self.text(self.offset(body[0].lineno, 0), self.span(body[0])[0])
                if inner.startswith(outer) and inner != outer and not inner.strip():
                    return inner[len(outer) :]
        return "    "

    def decode(self, data: bytes) -> str:
        """Bytes from inside this file as text."""
        return data.decode("utf-8" if self.encoding == "utf-8-sig" else self.encoding)

    def apply(self, edits: Iterable[Edit]) -> bytes:
        """The file with edits made; they must not overlap. Raises Unencodable."""
        data = self.data
        for edit in sorted(edits, reverse=True):
            codec = "utf-8" if self.encoding == "utf-8-sig" else self.encoding
            try:
                text = re.sub(r"\r\n?", "\n", edit.text)  # the file's own text brings its own
                new = text.replace("\n", self.newline).encode(codec)
            except UnicodeEncodeError as error:
                raise Unencodable(str(error)) from error
            data = data[: edit.start] + new + data[edit.end :]
        return data


def apply_all(sources: Mapping[str, Source], edits: Iterable[Edit]) -> dict[str, bytes]:
    """Path -> new bytes, for the files that the edits touch. Raises Unencodable."""
    grouped: dict[str, list[Edit]] = {}
    for edit in edits:
        grouped.setdefault(edit.path, []).append(edit)
    return {path: sources[path].apply(group) for path, group in grouped.items()}


def overlap(edits: Iterable[Edit]) -> bool:
    """Whether two edits touch the same bytes."""
    last: Edit | None = None
    for edit in sorted(set(edits)):
        if last and last.path == edit.path and edit.start < last.end:
            return True
        last = edit
    return False
