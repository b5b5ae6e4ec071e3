"""Steps of a recipe -> edits, in the order in which they should be tried."""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from engine.code.removal import without_item
from engine.code.source import (
    SCOPES,
    Edit,
    Source,
    bound,
    is_atom,
    overlap,
    parsed,
    same_code,
    walked,
)
from engine.code.syntax import parse
from engine.inject import patterns, places
from engine.run.types import Tree
from engine.spec.types import Append, Pattern, Rewrite, RoleEdit, Step

Edits = tuple[tuple[Edit, ...], str]  # edits that belong together, and the proposer
PROPOSERS = ("pattern", "role", "graft", "append", "rewrite")
Trace = Callable[[str, str, str], list[places.Site]]  # probe, regime, value -> expressions
ROLE = re.compile(r"\$([a-z_][a-z0-9_]*)")
READS = (ast.Name, ast.Attribute, ast.Subscript)  # what may be read once more, simplest first
PLACES = (16, 8, 6, 3, 6)  # of one value that are tried, by their distance: the nearest first
NEAR, ELSEWHERE, SHARED = range(3)  # when a place is tried: before all others of its step, after
# those, and when all recipes have been through these
TURNS = (NEAR, NEAR, ELSEWHERE, SHARED, SHARED)  # by distance
HABITS = {"np": "import numpy as np", "math": "import math"}
TEXTS = 3  # of the learner's own expressions for one role, at most


class Code:
    """The learner's files, parsed, with what is needed to find places in them."""

    def __init__(self, tree: Tree, files_of_roles: Mapping[str, str]) -> None:
        self.tree = tree
        self.files_of_roles = files_of_roles

    @cached_property
    def sources(self) -> dict[str, Source]:
        """The Python files that parse."""
        found = {}
        for path, data in self.tree.files.items():
            if path.endswith(".py"):
                try:
                    source = Source(path, data)
                    source.module  # noqa: B018  parse now: what does not parse has no places
                except (SyntaxError, ValueError, LookupError):
                    continue
                found[path] = source
        return found

    def scopes(self, roles: Iterable[str]) -> list[tuple[Source, ast.AST]]:
        """The definitions of these roles; whole modules when none is named."""
        roles = list(roles)
        if not roles:
            return [(source, source.module) for source in self.sources.values()]
        return [
            place
            for role in roles
            for place in places.definitions(
                self.sources, self.files_of_roles, self.tree.roles, role
            )
        ]


class Proposer:
    """Proposes edits for the steps of recipes; finds each step's places when they are asked for."""

    def __init__(self, code: Code, trace: Trace) -> None:
        self._code = code
        self._trace = trace
        self.unfit: list[str] = []  # patterns that no code fits
        self._known: dict[tuple[int, int], list[Edits]] = {}
        self._coming: dict[tuple[int, int], Iterator[Edits]] = {}
        self._defined: dict[tuple[str, ...], list[tuple[str, int, int]]] = {}
        self._placed: dict[int, list[tuple[tuple[int, int], str, ast.expr]]] = {}

    def edits(self, step: Step, far: bool = False) -> Iterator[Edits]:
        """The ways to do one step, each found once; far: with those that change what others share."""
        for turn in (NEAR, ELSEWHERE, SHARED) if far else (NEAR, ELSEWHERE):
            yield from self._each(step, turn)

    def _each(self, step: Step, turn: int) -> Iterator[Edits]:
        known = self._known.setdefault((id(step), turn), [])
        coming = self._coming.setdefault((id(step), turn), self._found(step, turn))
        position = 0
        while True:
            if position == len(known):
                fresh = next((found for found in coming if found not in known), None)
                if fresh is None:
                    return
                known.append(fresh)
            yield known[position]
            position += 1

    def _found(self, step: Step, turn: int) -> Iterator[Edits]:
        for one in step.any:
            yield from self._found(one, turn)
        if step.pattern and step.pattern.where:
            yield from self._by_valued_pattern(step.pattern, turn)
        elif step.pattern and turn == NEAR:
            yield from self._by_pattern(step.pattern)
        if step.role:
            yield from self._by_value(step.role, "role", turn)
        if step.graft:
            yield from self._by_value(step.graft, "graft", turn)
        if step.append and turn == ELSEWHERE:
            yield from self._by_append(step.append)
        if step.rewrite and turn == ELSEWHERE:
            yield from self._by_rewrite(step.rewrite)

    # ------------------------------------------------------------ patterns

    def _by_pattern(self, pattern: Pattern) -> Iterator[Edits]:
        fits = False
        for source, scope in self._code.scopes(pattern.inside):
            matches = [
                m
                for m in patterns.find(pattern.find, scope, source)
                if self._sees(source, m, pattern)
            ]
            edits = [edit for m in matches if (edit := _written(source, m, pattern))]
            fits = fits or bool(matches)
            if pattern.every:
                if edits and not overlap(edits):
                    yield tuple(edits), "pattern"
            else:
                yield from (((edit,), "pattern") for edit in edits)
        if not fits and pattern.find not in self.unfit:
            self.unfit.append(pattern.find)

    def _by_valued_pattern(self, pattern: Pattern, turn: int) -> Iterator[Edits]:
        """Matches whose metavariables held the right values, nearest to `inside` first."""
        held = {
            name: {site.key for site in self._trace(pattern.probe, pattern.regime, value)}
            for name, value in pattern.where.items()
        }
        paths = {key[0] for keys in held.values() for key in keys}
        found: list[tuple[tuple[int, int], Edit]] = []
        for path in sorted(paths & self._code.sources.keys()):
            source = self._code.sources[path]
            for match in patterns.find(pattern.find, source.module, source):
                nodes = {"SELF": match.node, **match.bindings}
                fits = all(_key(path, nodes[name]) in keys for name, keys in held.items())
                edit = _written(source, match, pattern)
                if fits and edit and self._sees(source, match, pattern):
                    found.append((self._distance(path, match.node, pattern.inside), edit))
        yield from (((edit,), "role") for (off, _), edit in sorted(found) if TURNS[off] == turn)

    def _sees(self, source: Source, match: patterns.Match, pattern: Pattern) -> bool:
        bare = patterns.META.sub("None", pattern.replace)
        return in_sight(source, match.node, source.addressed(bare, match.node))

    # ------------------------------------------------------------ values

    def _by_value(self, edit: RoleEdit, how: str, turn: int) -> Iterator[Edits]:
        if id(edit) not in self._placed:
            self._placed[id(edit)] = list(self._places(edit))
        nodes = [found for found in self._placed[id(edit)] if TURNS[found[0][0]] == turn]
        bare = ROLE.sub("None", edit.replace.replace("$SELF", "None"))
        nodes = [found for found in nodes if self._readable(*found[1:], bare)]
        if ROLE.search(edit.replace):
            nodes = [n for n in nodes if next(self._filled(edit, n[1], n[2]), None)]
        nodes = _nearest(nodes)
        if edit.named:
            yield from self._on_a_line(edit, how, nodes)
            return
        if edit.every:
            yield from self._everywhere(edit, how, nodes)
            return
        for _, path, node in nodes:
            for edits in self._filled(edit, path, node):
                yield edits, how

    def _places(self, edit: RoleEdit) -> Iterator[tuple[tuple[int, int], str, ast.expr]]:
        """The expressions that held the value, with their distance."""
        for site in self._trace(edit.probe, edit.regime, edit.value):
            source = self._code.sources.get(site.path)
            node = source.expression(site.node, *site.key[1:]) if source else None
            if node is not None:
                off, size = self._distance(site.path, node, edit.inside)
                off = len(TURNS) - 1 if site.common and off else off
                yield (off, size), site.path, node

    def _readable(self, path: str, node: ast.expr, template: str) -> bool:
        source = self._code.sources[path]
        return in_sight(source, node, source.addressed(template, node))

    def _everywhere(
        self, edit: RoleEdit, how: str, nodes: list[tuple[tuple[int, int], str, ast.expr]]
    ) -> Iterator[Edits]:
        """All outermost places in one function at once, function by function."""
        grouped: dict[tuple[str, int], list[tuple[Edit, ...]]] = {}
        for _, path, node in nodes:
            first = next(self._filled(edit, path, node), None)
            if first:
                scope = self._code.sources[path].function(node)
                group = grouped.setdefault((path, id(scope)), [])
                if not overlap([*(e for other in group for e in other), *first]):
                    group.append(first)
        for group in grouped.values():
            yield tuple(e for edits in group for e in edits), how

    def _on_a_line(
        self, edit: RoleEdit, how: str, nodes: list[tuple[tuple[int, int], str, ast.expr]]
    ) -> Iterator[Edits]:
        """`name = ...` before a statement that reads the value, and the name from there on."""
        given: set[tuple[str, int, str]] = set()
        for _, path, node in nodes:
            source = self._code.sources[path]
            alike = source.alike(node)
            if (path, id(source.function(node)), ast.dump(node)) in given or not alike:
                continue
            given.add((path, id(source.function(node)), ast.dump(node)))
            own = isinstance(node, ast.Name)
            name = node.id if isinstance(node, ast.Name) else edit.named
            if not own and name in (source.visible(node) or {name}):
                continue
            for statement in list(dict.fromkeys(map(source.statement, alike)))[:TEXTS]:
                after = source.spread(statement, alike)
                for text in self._texts(edit, source, after[0]):
                    line = source.ahead(statement, f"{name} = {text}")
                    uses = [] if own else [(source.without_parentheses(n), n) for n in after]
                    places_ = [Edit(path, *span, source.fitting(n, name)) for span, n in uses]
                    yield (line, *places_), how

    def _texts(self, edit: RoleEdit, source: Source, node: ast.expr) -> Iterator[str]:
        """The new expression by itself, for each way to write the roles that the template names."""
        names = list(dict.fromkeys(ROLE.findall(edit.replace)))
        choices = [list(self._expressions(edit, name, source, node)) for name in names]
        for chosen in itertools.product(*choices):
            nodes = dict(zip(names, chosen, strict=True))
            template = source.addressed(edit.replace.replace("$SELF", "$self_"), node)
            yield _with_own(source, template, {**nodes, "self_": node})

    def _filled(self, edit: RoleEdit, path: str, node: ast.expr) -> Iterator[tuple[Edit, ...]]:
        """The edits of one place, for each way to write the roles that the template names."""
        source = self._code.sources[path]
        names = list(dict.fromkeys(ROLE.findall(edit.replace)))
        template = source.addressed(edit.replace, node)
        if not names:
            yield _wrapped(source, node, template)
            return
        choices = [list(self._expressions(edit, name, source, node)) for name in names]
        for chosen in itertools.product(*choices):
            nodes = dict(zip(names, chosen, strict=True))
            if template == f"${names[0]}":
                yield source.replace_by(node, nodes[names[0]])
                continue
            yield _wrapped(source, node, _with_own(source, template, nodes))

    def _expressions(
        self, edit: RoleEdit, name: str, source: Source, node: ast.expr
    ) -> Iterator[ast.expr]:
        """The learner's own expressions for a role: parts of the node, names known there, then
        attributes that other methods of the class read; first those that always held it.
        """
        held = {
            site.key: not site.steady
            for site in self._trace(edit.probe, edit.regime, name)
            if site.path == source.path
        }
        given: set[str] = set()
        function = source.function(node)
        ready = _ready(function, node.lineno)
        parts = [n for n in walked(node) if n is not node and isinstance(n, ast.expr)]
        around = [
            n
            for n in walked(function)
            if isinstance(n, READS) and (n.lineno <= node.lineno or ready(n))
        ]
        around.sort(key=lambda n: (READS.index(type(n)), -n.lineno))
        known = [
            part
            for part in [*parts, *around, *source.attributes_beside(function)]
            if _key(source.path, part) in held
        ]
        for part in sorted(known, key=lambda part: held[_key(source.path, part)]):
            text = ast.dump(part)
            if text not in given and len(given) < TEXTS:
                given.add(text)
                yield part

    def _distance(self, path: str, node: ast.AST, inside: Iterable[str]) -> tuple[int, int]:
        """How far from the named roles: in their definition, in their file, elsewhere, in another
        role's definition; then size. What is common, or another role's, is what others share.
        """
        inside = tuple(inside)
        source = self._code.sources[path]
        start, end = source.span(node)
        mine = self._spans(inside)
        if any(p == path and a <= start < b for p, a, b in mine):
            return (0, start - end)
        if inside and any(
            p == path and a <= start < b for p, a, b in self._spans(self._others(inside))
        ):
            return (3, start - end)
        return (1 if any(p == path for p, _, _ in mine) else 2, start - end)

    def _others(self, inside: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(role for role in self._code.tree.roles if role not in inside)

    def _spans(self, roles: tuple[str, ...]) -> list[tuple[str, int, int]]:
        """The bytes of these roles' definitions."""
        if roles not in self._defined:
            self._defined[roles] = [
                (source.path, *source.span(scope))
                for source, scope in (self._code.scopes(roles) if roles else [])
            ]
        return self._defined[roles]

    # ------------------------------------------------------------ statements

    def _by_append(self, append: Append) -> Iterator[Edits]:
        for source, scope in self._code.scopes([append.role]):
            bodies = [
                (node.body, source.addressed(append.statement, node))
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
                text = source.indented(statement, indent)
                yield (Edit(source.path, end, end, f"{blank}\n{indent}{text}"),), "append"

    def _by_rewrite(self, rewrite: Rewrite) -> Iterator[Edits]:
        """The last statement replaced, the last two, ... the whole body but for its docstring.

        A method that a class only inherits is written into the class.
        """
        for source, scope in self._code.scopes([rewrite.role]):
            if isinstance(scope, ast.ClassDef) and rewrite.method:
                yield from self._overridden(source, scope, rewrite)
            for function in walked(scope):
                if not isinstance(function, ast.FunctionDef):
                    continue
                if function.name != rewrite.method and (rewrite.method or function is not scope):
                    continue
                template = _filled_in(
                    rewrite, source.addressed(rewrite.replace, function), function
                )
                first = 1 if ast.get_docstring(function, clean=False) is not None else 0
                body = function.body
                if template is None or len(body) <= first:
                    continue
                imports = self._imports(source, body[-1], template)
                if imports is None:
                    continue
                template = imports + template
                end = source.span(body[-1])[1]
                below = source.below(function, template)
                if below is not None:
                    yield (below,), "rewrite"
                    continue
                for statement in reversed(body[first:]):
                    start = source.span(statement)[0]
                    indent = source.text(source.offset(statement.lineno, 0), start)
                    if indent.strip() and ("\n" in template or statement is not body[first]):
                        continue  # several statements on a line
                    text = source.indented(template, indent)
                    yield (Edit(source.path, start, end, text),), "rewrite"

    def _overridden(self, source: Source, scope: ast.ClassDef, rewrite: Rewrite) -> Iterator[Edits]:
        own = {node.name for node in scope.body if isinstance(node, ast.FunctionDef)}
        head = f"def {rewrite.method}({', '.join(('self', *rewrite.args))}):\n"
        made = parse(head + _deeper("pass")).body[0]
        assert isinstance(made, ast.FunctionDef)
        body = _filled_in(rewrite, rewrite.replace, made) or ""
        imports = self._imports(source, scope.body[-1], head + _deeper(body))
        if rewrite.method not in own and imports is not None:
            statement = head + _deeper(imports + body)
            for edits, _ in self._by_append(Append(role=rewrite.role, statement=statement)):
                yield edits, "rewrite"

    def _imports(self, source: Source, node: ast.AST, template: str) -> str | None:
        """Statements for the names that cannot be read at this place and that the contract, or
        everybody's habit, gives a module; None where one has none.
        """
        lines = []
        for name in sorted(out_of_sight(source, node, template)):
            module, _, found = self._code.tree.roles.get(name, "").partition(":")
            if name in HABITS:
                lines.append(HABITS[name])
            elif found and "." not in found:
                lines.append(
                    f"from {module} import {found}" + (f" as {name}" if found != name else "")
                )
            else:
                return None
        return "".join(f"{line}\n" for line in lines)


def _written(source: Source, match: patterns.Match, pattern: Pattern) -> Edit | None:
    """What a pattern makes of a match; None where it takes away what cannot go."""
    if pattern.replace:
        return patterns.rewrite(source, match, pattern.find, pattern.replace)
    return without_item(source, match.node)


def _nearest(
    nodes: list[tuple[tuple[int, int], str, ast.expr]],
) -> list[tuple[tuple[int, int], str, ast.expr]]:
    """Sorted by distance, and only so many at each."""
    nodes = sorted(nodes, key=lambda found: found[:2])
    return [
        found
        for distance, places in enumerate(PLACES)
        for found in [node for node in nodes if node[0][0] == distance][:places]
    ]


def _filled_in(rewrite: Rewrite, template: str, function: ast.FunctionDef) -> str | None:
    """The new statements with the function's own names for its parameters; None if it has fewer."""
    names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    if rewrite.method and not any(
        isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list
    ):
        names = names[1:]
    if len(names) < len(rewrite.args):
        return None
    known = dict(zip(rewrite.args, names, strict=False))
    return ROLE.sub(lambda m: known.get(m[1], m[0]), template.strip("\n"))


def _deeper(statements: str) -> str:
    """Statements as the body of something."""
    return textwrap.indent(statements, " " * 4)


def in_sight(source: Source, node: ast.AST, template: str) -> bool:
    """Whether the names that a template reads, and does not make itself, can be read at this place."""
    return not out_of_sight(source, node, template)


def out_of_sight(source: Source, node: ast.AST, template: str) -> set[str]:
    """The names that a template reads, and that can neither be read at this place nor are made by
    itself.
    """
    try:
        module = parsed(template.encode())
    except SyntaxError:
        return set()
    visible = source.visible(node)
    if visible is None:
        return set()
    made = bound(module) or set()
    for inner in walked(module):
        if isinstance(inner, SCOPES):
            made |= bound(inner) or set()
    return {n.id for n in walked(module) if isinstance(n, ast.Name)} - made - visible


def _key(path: str, node: ast.AST) -> places.Key:
    at: Mapping[str, int] = vars(node)
    if "lineno" not in at:
        return (path, 0, 0, 0, 0)
    return (path, at["lineno"], at["col_offset"], at["end_lineno"], at["end_col_offset"])


def _parameters(function: ast.AST) -> set[str]:
    return {n.arg for n in walked(getattr(function, "args", ast.Pass())) if isinstance(n, ast.arg)}


def _ready(function: ast.AST, line: int) -> Callable[[ast.expr], bool]:
    """Whether an expression that a function reads later on can be read at this line already: its
    names are parameters, bound further up, or not the function's own.
    """
    bound_at: dict[str, int] = dict.fromkeys(_parameters(function), 0)
    for n in walked(function):
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
            bound_at[n.id] = min(n.lineno, bound_at.get(n.id, n.lineno))

    def ready(expression: ast.expr) -> bool:
        return all(
            bound_at.get(n.id, 0) <= line for n in walked(expression) if isinstance(n, ast.Name)
        )

    return ready


def _with_own(source: Source, template: str, nodes: Mapping[str, ast.expr]) -> str:
    """A template with the learner's own expressions for its roles, in parentheses where they would
    fall apart without.
    """
    parts = ROLE.split(template)  # text, name, text, ..., text
    bare = [source.text(*source.span(nodes[name])) for name in parts[1::2]]
    texts = [
        own if is_atom(nodes[name]) else f"({own})"
        for own, name in zip(bare, parts[1::2], strict=True)
    ]

    def whole() -> str:
        return "".join(a + b for a, b in zip(parts[::2], [*texts, ""], strict=True))

    safe = whole().replace("$SELF", "SELF")
    for i, own in enumerate(bare):
        kept, texts[i] = texts[i], own
        lines = "\n" in own.replace("\r", "\n")
        if (lines and kept != own) or not same_code(whole().replace("$SELF", "SELF"), safe):
            texts[i] = kept
    return whole()


def _wrapped(source: Source, node: ast.expr, template: str) -> tuple[Edit, ...]:
    """`$SELF` in a template is the expression itself: then only what surrounds it is inserted."""
    start, end = source.span(node)
    before, found, after = template.partition("$SELF")
    if not found:
        if re.fullmatch(r"[\w.]+", template):
            start, end = source.without_parentheses(node)
        return (Edit(source.path, start, end, source.fitting(node, template)),)
    own = source.text(start, end)
    if not same_code(f"{before}{own}{after}", f"{before}({own}){after}"):
        before, after = before + "(", ")" + after
    whole = f"{before}{own}{after}"
    if source.fitting(node, whole) != whole:
        before, after = "(" + before, after + ")"
    edits = (Edit(source.path, start, start, before), Edit(source.path, end, end, after))
    return tuple(edit for edit in edits if edit.text)
