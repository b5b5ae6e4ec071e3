"""A Python file as bytes, addressed the way `ast` does, and edits that leave every other byte alone."""

from __future__ import annotations

import ast
import builtins
import difflib
import io
import keyword
import re
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache

import msgspec

from engine.code.syntax import parse

LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|$)")
SELF = re.compile(r"\bself\b")
BOM = b"\xef\xbb\xbf"


@lru_cache(1024)
def parsed(data: bytes) -> ast.Module:
    """The tree of a file, parsed once and shared: never to be changed. Raises SyntaxError, ValueError."""
    return parse(data)


Pairs = tuple[tuple[int, ast.stmt, ast.stmt], ...]


@lru_cache(64)
def changed(old: bytes, new: bytes) -> Pairs | None:
    """The top-level statements whose code differs, with their position; None where their number
    does. Raises SyntaxError, ValueError.
    """
    before, after = parsed(old).body, parsed(new).body
    if len(before) != len(after):
        return None
    other = _encoding(old) != _encoding(new)  # then the same bytes are another text
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


def _encoding(data: bytes) -> str:
    """The encoding that a file declares. Raises SyntaxError."""
    return tokenize.detect_encoding(io.BytesIO(data).readline)[0]


def _texts(data: bytes, body: list[ast.stmt]) -> list[bytes]:
    """The lines of each statement: where they are alike, so is the code."""
    lines = data.splitlines(keepends=True)
    found = []
    for node in body:
        first = min(n.lineno for n in (*getattr(node, "decorator_list", ()), node))
        found.append(b"".join(lines[first - 1 : node.end_lineno]))
    return found


class Edit(msgspec.Struct, frozen=True, order=True):
    """Replace bytes `start:end` of a file by `text` (with "\\n" line ends, whatever the file has)."""

    path: str
    start: int
    end: int
    text: str


def children(node: ast.AST) -> Sequence[ast.AST]:
    """`ast.iter_child_nodes` without `ctx`, remembered: what `parsed` gives is never changed."""
    known: list[ast.AST] | None = node.__dict__.get("children")
    if known is None:
        known = []
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                known += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST) and name != "ctx":
                known.append(value)
        node.children = known  # type: ignore[attr-defined]
    return known


def walked(node: ast.AST) -> Sequence[ast.AST]:
    """`ast.walk`, remembered likewise."""
    known: list[ast.AST] | None = node.__dict__.get("walked")
    if known is None:
        known = [node]
        for inner in known:
            known += children(inner)
        node.walked = known  # type: ignore[attr-defined]
    return known


class Unencodable(Exception):
    """The new text has a character that the file's encoding lacks."""


class Source:
    """One file. Positions are 1-based lines and UTF-8 columns, as `ast` gives them."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.encoding = _encoding(data)

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
    def _parents(self) -> dict[int, ast.AST]:
        return {id(child): node for node in walked(self.module) for child in children(node)}

    def _above(self, node: ast.AST, kinds: tuple[type, ...]) -> ast.AST:
        at: ast.AST = node
        while not isinstance(at, kinds):
            at = self._parents.get(id(at), self.module)
        return at

    def function(self, node: ast.AST) -> ast.AST:
        """The innermost function around a node, else the module."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)
        return self._above(self._parents.get(id(node), self.module), kinds)

    def receiver(self, node: ast.AST) -> str:
        """What the method around a node, or the method that it is, calls its object: mostly `self`."""
        at: ast.AST | None = node
        while at is not None:
            above = self._parents.get(id(at))
            if isinstance(at, ast.FunctionDef) and isinstance(above, ast.ClassDef):
                names = [arg.arg for arg in (*at.args.posonlyargs, *at.args.args)]
                kinds = {d.id for d in at.decorator_list if isinstance(d, ast.Name)}
                return names[0] if names and not kinds & {"staticmethod", "classmethod"} else "self"
            at = above
        return "self"

    def addressed(self, template: str, node: ast.AST) -> str:
        """A template for this place, where `self` has the name that it has there."""
        name = self.receiver(node)
        return template if name == "self" else SELF.sub(name, template)

    def attributes_beside(self, function: ast.AST) -> list[ast.expr]:
        """What the other methods of its class read as `self.name`."""
        above = self._parents.get(id(function))
        if not isinstance(above, ast.ClassDef) or not isinstance(function, ast.FunctionDef):
            return []
        own = function.args.posonlyargs + function.args.args
        return [
            node
            for method in above.body
            if method is not function
            for node in walked(method)
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and isinstance(node.value, ast.Name)
            and own
            and node.value.id == own[0].arg
        ]

    def visible(self, node: ast.AST) -> set[str] | None:
        """The names that code at this place may read; None where a `*` import hides them."""
        found = set(dir(builtins))
        at: ast.AST | None = node
        while at is not None:
            at = self._parents.get(id(at))
            if isinstance(at, (*SCOPES, ast.Module)):
                names = self._names_bound(at)
                if names is None:
                    return None
                found |= names
        return found

    def _names_bound(self, scope: ast.AST) -> set[str] | None:
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

    def alike(self, node: ast.expr) -> list[ast.expr]:
        """The places in its function where this very expression is read, in reading order.

        Where it is asked whether it `is None` it need not be what it is elsewhere.
        """
        function, text = self.function(node), ast.dump(node)
        found = [
            n
            for n in walked(function)
            if isinstance(n, type(node)) and ast.dump(n) == text and self.function(n) is function
        ]
        return sorted((n for n in found if not self._asked(n)), key=self.span)

    def _asked(self, node: ast.expr) -> bool:
        above = self._parents.get(id(node))
        return isinstance(above, ast.Compare) and isinstance(above.ops[0], (ast.Is, ast.IsNot))

    def spread(self, statement: ast.stmt, nodes: list[ast.expr]) -> list[ast.expr]:
        """Those of some expressions that stand in a statement or after it, in its block."""
        above = self._parents.get(id(statement), self.module)
        bodies = [getattr(above, part, None) for part in ("body", "orelse", "finalbody")]
        body = next(b for b in bodies if isinstance(b, list) and statement in b)
        start, end = self.span(statement)[0], self.span(body[-1])[1]
        return [n for n in nodes if start <= self.span(n)[0] and self.span(n)[1] <= end]

    def ahead(self, statement: ast.stmt, text: str) -> Edit:
        """Another statement before this one: on a line of its own, if this one begins a line."""
        start = self.span(statement)[0]
        indent = self.text(self.offset(statement.lineno, 0), start)
        return Edit(self.path, start, start, text + ("; " if indent.strip() else f"\n{indent}"))

    def fitting(self, node: ast.expr, text: str) -> str:
        """New text for a node, in parentheses where its surroundings would tear it apart."""
        root: ast.AST = node
        while isinstance(above := self._parents.get(id(root)), WHOLE):
            root = above
        (first, last), (start, end) = self.span(root), self.span(node)
        left, right = self.text(first, start), self.text(end, last)
        bare, safe = left + text + right, f"{left}({text}){right}"
        return text if same_code(bare, safe) else f"({text})"

    def replace_by(self, node: ast.expr, other: ast.expr) -> tuple[Edit, ...]:
        """Put the learner's own expression `other` in place of `node`, keeping its bytes if inside."""
        start, end = self.without_parentheses(node) if is_atom(other) else self.span(node)
        first, last = self.span(other)
        own = self.text(first, last)
        wrap = self.fitting(node, own) != own
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

    @cached_property
    def _unit(self) -> str:
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

    def indented(self, template: str, indent: str) -> str:
        """Statements written with steps of four spaces, as they stand at `indent` in this file."""
        first, *rest = template.split("\n")
        lines = [first]
        for line in rest:
            bare = line.lstrip(" ")
            lines.append(indent + self._unit * ((len(line) - len(bare)) // 4) + bare)
        return "\n".join(lines)

    def below(self, function: ast.FunctionDef, template: str) -> Edit | None:
        """Statements below the head of a function whose body stands on the line of its head, in place
        of that body; None when it stands on lines of its own.
        """
        start, end = self.span(function.body[0])[0], self.span(function.body[-1])[1]
        head = self.text(self.offset(function.body[0].lineno, 0), start)
        if not head.strip():
            return None
        line = self.text(self.offset(function.lineno, 0), start)
        indent = line[: len(line) - len(line.lstrip())] + self._unit
        blank = len(head) - len(head.rstrip())  # spaces and tabs: a byte each
        return Edit(self.path, start - blank, end, f"\n{indent}{self.indented(template, indent)}")

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


# expressions whose text can stand alone, so that a part of it can be tried in it
WHOLE = (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Call, ast.Attribute)
WHOLE += (ast.Subscript, ast.Tuple, ast.List, ast.Await)  # type: ignore[assignment]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = FUNCTIONS + COMPREHENSIONS


def bound(scope: ast.AST) -> set[str] | None:
    """The names that a module, function or comprehension binds itself; None with `import *`."""
    names = {
        arg.arg for arg in walked(getattr(scope, "args", ast.Pass())) if isinstance(arg, ast.arg)
    }
    waiting = list(children(scope))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            if any(alias.name == "*" for alias in node.names):
                return None
            names |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        if not isinstance(node, (ast.Lambda, *COMPREHENSIONS)):
            waiting += children(node)
        else:  # a walrus in a comprehension binds outside it
            waiting += [n.target for n in walked(node) if isinstance(n, ast.NamedExpr)]
    return names


ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.Tuple, ast.List)
ATOMS += (ast.ListComp, ast.Dict, ast.Set)  # type: ignore[assignment]


def structure(node: ast.AST) -> str:
    """A node's structure, whether it is read or assigned to."""
    return ast.dump(node).replace("ctx=Store()", "ctx=Load()")


def same_code(one: str, other: str) -> bool:
    """Whether two texts are the same expression, or the same statements. False if either is none."""
    for form in ("({})", "{}"):  # an expression may have line breaks that a statement may not
        try:
            a, b = (parsed(form.format(text).encode()) for text in (one, other))
        except (SyntaxError, ValueError):
            continue
        return ast.dump(a) == ast.dump(b)
    return False


def is_atom(node: ast.AST) -> bool:
    """Whether `node[...]` or `node.x` may be written without parentheses."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, complex)):
        return False
    return isinstance(node, ATOMS)
