"""Recipes -> candidates, in order; the first that the oracle accepts is the injection."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from engine.inject import patterns, places
from engine.inject.oracle import Oracle, Trial
from engine.inject.source import Edit, Source, Unencodable, apply_all, is_atom, overlap
from engine.run.types import Tree
from engine.spec.types import Append, Pattern, Recipe, RoleEdit, Step

MAX_TRIALS = 160
Edits = tuple[tuple[Edit, ...], str]  # edits that belong together, and the proposer
Trace = Callable[[RoleEdit], list[places.Site]]  # the expressions that hold the role's value


class Candidate(msgspec.Struct, frozen=True):
    """Edits that belong together, and the proposer that found the last of them."""

    edits: tuple[Edit, ...]
    how: str


class Injection(msgspec.Struct, frozen=True):
    """A verified break: new bytes for some files, how it was found, what it changed."""

    files: Mapping[str, bytes]
    how: str
    changed_lines: int
    tried: int


class NotFound(Exception):
    """No candidate bites. `looked`: where; `nearest`: what came closest, and why it was refused."""

    def __init__(self, looked: Sequence[str], nearest: str, tried: int) -> None:
        super().__init__("no place was found where this bug can be put")
        self.looked = tuple(looked)
        self.nearest = nearest
        self.tried = tried


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


def inject(
    code: Code, recipes: Sequence[Recipe], oracle: Oracle, trace: Trace, *, only: Sequence[str] = ()
) -> Injection:
    """The first candidate that the oracle accepts. Raises NotFound.

    trace: runs a probe with recording on, for role edits. only: proposers to use, all when empty.
    """
    nearest: tuple[int, str] = (-1, "nothing that could be tried")
    seen: dict[tuple[Edit, ...], Trial] = {}
    proposer = _Proposer(code, trace)
    for recipe in recipes:
        partial: list[Candidate] = [Candidate((), "")]
        for position, step in enumerate(recipe.steps):
            last = all(later.optional for later in recipe.steps[position + 1 :])
            more = position < len(recipe.steps) - 1
            grown: list[Candidate] = []
            for candidate, so_far in _extended(partial, step, proposer):
                if only and candidate.how not in only:
                    continue
                key = tuple(sorted(candidate.edits))
                if key not in seen:
                    if oracle.tried >= MAX_TRIALS:
                        raise NotFound(sorted(code.sources), nearest[1], oracle.tried)
                    files = _applied(code, candidate)
                    if files is None:
                        continue
                    seen[key] = oracle.try_(code.tree.replaced(files))
                trial = seen[key]
                if trial.accepted and last:
                    files = apply_all(code.sources, candidate.edits)
                    return Injection(files, candidate.how, _lines(code, files), oracle.tried)
                rank = len(trial.met) + (10 if trial.sibling else 0)
                if rank > nearest[0]:
                    nearest = (rank, f"{_place(code, candidate)}: {trial.reason}")
                if more and set(step.proves) <= trial.met and so_far.edits != key:
                    grown.append(candidate)
            partial = grown
    raise NotFound(sorted(code.sources), nearest[1], oracle.tried)


def _extended(
    partial: Sequence[Candidate], step: Step, proposer: _Proposer
) -> Iterator[tuple[Candidate, Candidate]]:
    for so_far in partial:
        for edits, how in proposer.edits(step):
            together = (*so_far.edits, *edits)
            if not overlap(together):
                yield Candidate(tuple(sorted(set(together))), how), so_far


def _applied(code: Code, candidate: Candidate) -> dict[str, bytes] | None:
    """The new files, or None when they do not parse, cannot be encoded or change nothing."""
    try:
        files = apply_all(code.sources, candidate.edits)
        for path, data in files.items():
            old, new = code.sources[path].module, Source(path, data).module
            if ast.dump(old) == ast.dump(new):
                return None
    except (SyntaxError, ValueError, Unencodable):
        return None
    return files


class _Proposer:
    """Steps -> edits, in the order in which they should be tried."""

    def __init__(self, code: Code, trace: Trace) -> None:
        self._code = code
        self._trace = trace
        self._known: dict[Step, list[Edits]] = {}
        self._coming: dict[Step, Iterator[Edits]] = {}

    def edits(self, step: Step) -> Iterator[Edits]:
        """All ways to do one step, found when they are asked for, and once."""
        known = self._known.setdefault(step, [])
        coming = self._coming.setdefault(step, self._found(step))
        position = 0
        while True:
            if position == len(known):
                fresh = next((found for found in coming if found not in known), None)
                if fresh is None:
                    return
                known.append(fresh)
            yield known[position]
            position += 1

    def _found(self, step: Step) -> Iterator[Edits]:
        for one in step.any:
            yield from self._found(one)
        if step.pattern:
            yield from self._by_pattern(step.pattern)
        if step.role:
            yield from self._by_value(step.role, "role")
        if step.graft:
            yield from self._by_value(step.graft, "graft")
        if step.append:
            yield from self._by_append(step.append)

    def _by_pattern(self, pattern: Pattern) -> Iterator[Edits]:
        for source, scope in self._code.scopes(pattern.inside):
            matches = list(patterns.find(pattern.find, scope))
            edits = [patterns.rewrite(source, m, pattern.find, pattern.replace) for m in matches]
            if pattern.every:
                if edits and not overlap(edits):
                    yield tuple(edits), "pattern"
            else:
                yield from (((edit,), "pattern") for edit in edits)

    def _by_value(self, edit: RoleEdit, how: str) -> Iterator[Edits]:
        holding = self._trace(edit)
        scopes = self._code.scopes(edit.inside) if edit.inside else []
        spans = [(s.path, *s.span(node)) for s, node in scopes]

        def distance(site: places.Site) -> tuple[int, int]:
            source = self._code.sources[site.path]
            start = source.offset(site.line, site.column)
            end = source.offset(site.end_line, site.end_column)
            inside = any(p == site.path and a <= start < b for p, a, b in spans)
            near = any(p == site.path for p, _, _ in spans)
            return (0 if inside else 1 if near else 2, start - end)

        known = [site for site in holding if site.path in self._code.sources]
        for site in sorted(known, key=distance):
            source = self._code.sources[site.path]
            node = source.expression(site.node, *site.key[1:])
            if node is not None:
                yield _wrapped(source, node, edit.replace), how

    def _by_append(self, append: Append) -> Iterator[Edits]:
        for source, scope in self._code.scopes([append.role]):
            bodies = [
                node.body
                for node in ast.walk(scope)
                if (node is scope and not append.method)
                or (isinstance(node, ast.FunctionDef) and node.name == append.method)
                if isinstance(node, (ast.ClassDef, ast.FunctionDef))
            ]
            for body in bodies:
                start, end = source.span(body[-1])
                indent = source.text(source.offset(body[-1].lineno, 0), start)
                if indent.strip():
                    continue  # the body stands on the line of its head
                yield (Edit(source.path, end, end, f"\n{indent}{append.statement}"),), "graft"


def _wrapped(source: Source, node: ast.expr, template: str) -> tuple[Edit, ...]:
    """`$SELF` in a template is the expression itself: then only what surrounds it is inserted."""
    start, end = source.span(node)
    before, found, after = template.partition("$SELF")
    if not found:
        return (Edit(source.path, start, end, template),)
    if after[:1] in (".", "[", "(") and not is_atom(node):
        before, after = before + "(", ")" + after
    edits = (Edit(source.path, start, start, before), Edit(source.path, end, end, after))
    return tuple(edit for edit in edits if edit.text)


def _place(code: Code, candidate: Candidate) -> str:
    edit = candidate.edits[0]
    line = code.sources[edit.path].data.count(b"\n", 0, edit.start) + 1
    return f"{edit.path}:{line}"


def _lines(code: Code, files: Mapping[str, bytes]) -> int:
    """The greater of lines removed and added, summed over hunks."""
    total = 0
    for path, data in files.items():
        old, new = code.sources[path].data.splitlines(), data.splitlines()
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag != "equal":
                total += max(b - a, d - c)
    return total
