"""The learner's code as an injection sees it: files that parse, and the definitions of roles in them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property

from engine.code.functions import FUNCTIONS, FunctionKeys
from engine.code.source import Source
from engine.run.types import Tree


class Code:
    """The learner's files, parsed, with what is needed to find places in them."""

    def __init__(
        self,
        tree: Tree,
        files_of_roles: Mapping[str, str],
        ran: FunctionKeys | None = None,
        fronts: Collection[str] = (),
    ) -> None:
        """files_of_roles: role -> file of its module. ran: the functions that ran, where that is known.
        fronts: files whose roles hand on to the code that does the work, where there is any.
        """
        self.tree = tree
        self.files_of_roles = files_of_roles
        self.fronts = frozenset(fronts)
        self._ran = ran

    def runs(self, source: Source, node: ast.AST) -> bool:
        """Whether a node is in a function that ran, in none, or nobody knows."""
        function = source.function(node)
        while isinstance(function, ast.Lambda):
            function = source.function(function)
        if self._ran is None or not isinstance(function, FUNCTIONS):
            return True
        first = min(one.lineno for one in (*function.decorator_list, function))
        return f"{source.path}:{first}" in self._ran

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
        return [place for role in roles for place in self._definitions(role)]

    def _definitions(self, role: str) -> Iterator[tuple[Source, ast.AST]]:
        """The class or function statements that a role's name may mean: its own file's, else any's."""
        name = self.tree.roles[role].partition(":")[2].split(".")[-1]
        path = self.files_of_roles.get(role)
        own = [self.sources[path]] if path in self.sources else []
        for group in (own, self.sources.values()):
            found = [(source, node) for source in group for node in source.definitions(name)]
            if found:
                yield from found
                return
