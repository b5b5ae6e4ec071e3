"""A Python file as bytes, addressed the way `ast` does, and edits that leave every other byte alone."""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
import warnings
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache

import msgspec

LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|$)")
BOM = b"\xef\xbb\xbf"


@lru_cache(1024)
def parsed(data: bytes) -> ast.Module:
    """The tree of a file, parsed once and shared: never to be changed. Raises SyntaxError, ValueError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(data)


class Edit(msgspec.Struct, frozen=True, order=True):
    """Replace bytes `start:end` of a file by `text` (with "\\n" line ends, whatever the file has)."""

    path: str
    start: int
    end: int
    text: str


class Unencodable(Exception):
    """The new text has a character that the file's encoding lacks."""


class Source:
    """One file. Positions are 1-based lines and UTF-8 columns, as `ast` gives them."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]

    @cached_property
    def module(self) -> ast.Module:
        """The parsed file."""
        return parsed(self.data)

    @cached_property
    def _expressions(self) -> dict[tuple[str, int, int, int | None, int | None], ast.expr]:
        return {
            (type(n).__name__, n.lineno, n.col_offset, n.end_lineno, n.end_col_offset): n
            for n in ast.walk(self.module)
            if isinstance(n, ast.expr)
        }

    def expression(
        self, kind: str, line: int, column: int, end_line: int, end_column: int
    ) -> ast.expr | None:
        """The expression of this node type at this place."""
        return self._expressions.get((kind, line, column, end_line, end_column))

    @cached_property
    def _parents(self) -> dict[int, ast.AST]:
        return {
            id(child): node
            for node in ast.walk(self.module)
            for child in ast.iter_child_nodes(node)
        }

    def _above(self, node: ast.AST, kinds: tuple[type, ...]) -> ast.AST:
        at: ast.AST = node
        while not isinstance(at, kinds):
            at = self._parents.get(id(at), self.module)
        return at

    def function(self, node: ast.AST) -> ast.AST:
        """The innermost function around a node, else the module."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)
        return self._above(self._parents.get(id(node), self.module), kinds)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement around an expression."""
        found = self._above(node, (ast.stmt,))
        assert isinstance(found, ast.stmt)
        return found

    def binds_tighter(self, node: ast.AST, after: str = " ") -> bool:
        """Whether what surrounds a node would tear an expression with operators apart."""
        parent = self._parents.get(id(node))
        if not after.strip() or after[:1] in (".", "[", "(", ")"):
            return False
        return isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Compare)) or (
            isinstance(parent, (ast.Call, ast.Subscript))
            and node is getattr(parent, "func", getattr(parent, "value", None))
        )

    def fitting(self, node: ast.AST, text: str) -> str:
        """New text for a node, in parentheses where its surroundings need them."""
        try:
            new = ast.parse(text.strip(), mode="eval").body
        except SyntaxError:
            return text
        simple = is_atom(new) or isinstance(new, ast.Constant)
        return f"({text})" if self.binds_tighter(node) and not simple else text

    def replace_by(self, node: ast.expr, other: ast.expr) -> tuple[Edit, ...]:
        """Put the learner's own expression `other` in place of `node`, keeping its bytes if inside."""
        start, end = self.without_parentheses(node) if is_atom(other) else self.span(node)
        first, last = self.span(other)
        wrap = self.binds_tighter(node) and not is_atom(other)
        left, right = ("(", ")") if wrap else ("", "")
        if start <= first and last <= end:
            edits = (Edit(self.path, start, first, left), Edit(self.path, last, end, right))
            return tuple(e for e in edits if e.start != e.end or e.text)
        return (Edit(self.path, start, end, f"{left}{self.text(first, last)}{right}"),)

    def without_parentheses(self, node: ast.AST) -> tuple[int, int]:
        """The bytes of a node, with the parentheses around it that a name would not need."""
        start, end = self.span(node)
        before, after = self.data[:start].rstrip(b" \t"), self.data[end:].lstrip(b" \t")
        if not (before.endswith(b"(") and after.startswith(b")")):
            return start, end
        ahead = before[:-1]
        word = re.search(rb"([\w\])\"'])([ \t]*)$", ahead)
        if word and not (
            word[2] and keyword.iskeyword(ahead.split()[-1].decode("ascii", "ignore"))
        ):
            return start, end  # the parentheses of a call, or all that parts a keyword from a name
        return len(ahead), len(self.data) - len(after) + 1

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

    def decode(self, data: bytes) -> str:
        """Bytes from inside this file as text."""
        return data.decode("utf-8" if self.encoding == "utf-8-sig" else self.encoding)

    def apply(self, edits: Iterable[Edit]) -> bytes:
        """The file with edits made; they must not overlap. Raises Unencodable."""
        data = self.data
        for edit in sorted(edits, reverse=True):
            codec = "utf-8" if self.encoding == "utf-8-sig" else self.encoding
            try:
                new = edit.text.replace("\n", self.newline).encode(codec)
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


ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.Tuple, ast.List)
ATOMS += (ast.ListComp, ast.Dict, ast.Set)  # type: ignore[assignment]


def is_atom(node: ast.AST) -> bool:
    """Whether `node[...]` or `node.x` may be written without parentheses."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, complex)):
        return False
    return isinstance(node, ATOMS)


def is_factor(node: ast.AST) -> bool:
    """Whether `node * y` may be written without parentheses."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.Mult, ast.Div, ast.MatMult, ast.Pow))
    return is_atom(node) or isinstance(node, (ast.Constant, ast.UnaryOp))
