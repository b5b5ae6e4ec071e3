"""Which parts of the code an edit can touch, told from names alone, always erring towards "touched".

The parts are the top-level statements of every file. A part *reaches* those that define a name which
it mentions, be it in another file and another meaning. So names are followed through helpers,
factories, registries and re-exports without knowing what they are at run time. What happens on
import counts too: a decorator, or a statement that is neither a definition nor an import, may put a
part where others find it, so it is reached from whatever can hold it.

Where the code looks names up in a way that names cannot follow (`globals`, `exec`, `sys.modules`,
`__subclasses__`, ...) names do not tell, and everything counts as touched.

Of two versions of a model, only what this calls touched has to be measured. A test breaks functions at
random and sees that every component that changes was foretold.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property, partial

from engine.code.changes import aligned
from engine.code.imports import closure
from engine.code.names import words
from engine.code.on_import import deferred, defined, head, only_binds
from engine.code.statements import FOREIGN, Statement, read
from engine.code.static import is_static
from engine.code.syntax import parsed, walked

WRAPPERS = {"staticmethod", "classmethod", "property"}  # of Python's own
Part = tuple[str, int]  # path, position among the file's top-level statements


def _stem(path: str) -> str:
    """The last name of the module in this file."""
    return path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2]


class Reachability:
    """The parts of some files, and what each name leads to."""

    def __init__(self, files: Mapping[str, bytes], roots: Sequence[str]) -> None:
        """files: path -> bytes. roots: the folders of `files` from which modules are imported."""
        self.data = files
        self.roots = roots
        self.stems = frozenset(_stem(path) for path in files)
        self.files = {
            path: read(data, self.stems) for path, data in files.items() if path.endswith(".py")
        }
        self.parts: dict[Part, Statement] = {
            (path, i): statement
            for path, file in self.files.items()
            if file is not None
            for i, statement in enumerate(file.statements)
        }
        # what the components of a model ask again and again
        self.closure = cache(self._closure)
        self.from_names = cache(self._from_names)
        self.on_import = cache(self._on_import)
        self.changed_parts = cache(self._changed_parts)
        self._hooked = cache(self._is_hooked)

    @cached_property
    def _defining(self) -> Mapping[str, set[Part]]:
        found: dict[str, set[Part]] = {}
        for part, statement in self.parts.items():
            for name in statement.defines:
                found.setdefault(name, set()).add(part)
        for path, file in self.files.items():  # a module passed on gives everything in it
            if file is not None and _stem(path) in self._passed_on:
                found.setdefault(_stem(path), set()).update(p for p in self.parts if p[0] == path)
        return found

    def defined(self, names: Iterable[str]) -> frozenset[Part]:
        """The parts that define these names."""
        return frozenset(part for name in names for part in self._defining.get(name, ()))

    @cached_property
    def _passed_on(self) -> set[str]:
        """Modules that stand somewhere on their own, not as `module.attribute`."""
        return {name for file in self.files.values() if file is not None for name in file.passed_on}

    def is_static(self, files: Iterable[str]) -> bool:
        """Whether names tell what these files may reach."""
        return all(self.files.get(path) is not None for path in files if path.endswith(".py"))

    def _changed_parts(self, path: str, after: bytes) -> frozenset[Part] | None:
        """The parts of a file that are others in `after`; None where names do not tell how far that
        reaches.
        """
        try:
            found = aligned(self.data[path], after)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        new = [*(now for _, _, now in found.pairs), *found.added]
        if not all(is_static(node) for statement in new for node in walked(statement)):
            return None
        files = parsed(self.data[path]), parsed(after)
        annotated = not all(map(deferred, files))
        wrappers = WRAPPERS - {
            name for file in files for node in file.body for name in defined(node)
        }
        doing = partial(head, wrappers=wrappers, annotated=annotated)
        if any(doing(was) != doing(now) for _, was, now in found.pairs):
            return None  # what runs on import has changed
        parts = {(path, i) for i, _, _ in found.pairs} | {(path, i) for i, _ in found.gone}
        loose = [*(node for _, node in found.gone), *found.added]
        if loose and not self._ignores(path, loose, parts, annotated):
            return None
        return frozenset(parts)

    def _ignores(
        self, path: str, loose: Sequence[ast.stmt], changed: Collection[Part], annotated: bool
    ) -> bool:
        """Whether statements that come to a file, or go, do no more than bind names that only changed
        parts can mean: imports of foreign modules, functions, constants.

        annotated: whether annotations are computed.
        """
        foreign = FOREIGN - self.stems
        if not all(only_binds(node, foreign, annotated=annotated) for node in loose):
            return False
        names = {name for node in loose for name in defined(node)}
        kept = parsed(self.data[path]).body
        inside = {
            name for i, node in enumerate(kept) if (path, i) not in changed for name in words(node)
        }
        outside = {name for part, s in self.parts.items() if part[0] != path for name in s.mentions}
        return not names & (inside | outside)

    def _closure(self, modules: frozenset[str]) -> frozenset[str] | None:
        """The files that importing these modules may run; None where that cannot be told."""
        return closure(self.data, self.roots, modules, trusting=True)

    def _from_names(self, names: frozenset[str]) -> frozenset[Part]:
        """The parts that code which mentions these names may run."""
        return _grown(self, names)

    def _on_import(self, files: frozenset[str]) -> frozenset[Part]:
        """The parts that may run while these files are imported."""
        return self.from_names(
            frozenset(
                name
                for part, statement in self.parts.items()
                if part[0] in files
                for name in (
                    *statement.on_import,
                    *(statement.bases if self._hooked(part) else ()),
                )
            )
        )

    @cached_property
    def acting(self) -> list[tuple[Part, frozenset[Part]]]:
        """The parts that act on import, with what they may act upon."""
        found = []
        for part, statement in self.parts.items():
            names = statement.acts_on | (statement.bases if self._hooked(part) else set())
            if names:
                upon = frozenset(p for p in self._closed(names) if self.parts[p].holds)
                found.append((part, upon))
        return found

    def _is_hooked(self, part: Part) -> bool:
        """Whether a base class, or one of its own, acts on its subclasses."""
        statement = self.parts[part]
        if statement.hooks and statement.bases:
            return True
        seen: set[str] = set()
        waiting = list(statement.bases)
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                for base in self._defining.get(name, ()):
                    if self.parts[base].hooks:
                        return True
                    waiting += self.parts[base].bases
                    if not self.parts[base].holds:  # an import, perhaps under another name
                        waiting += self.parts[base].mentions
        return False

    def reached(self, names: Iterable[str], *, but: Collection[Part]) -> frozenset[Part]:
        """The parts that these names lead to in some way that is not through some other parts."""
        return self._closed(names, but)

    def _closed(self, names: Iterable[str], but: Collection[Part] = ()) -> frozenset[Part]:
        found: set[Part] = set()
        waiting = list(names)
        seen: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            for part in self._defining.get(name, ()):
                if part not in found and part not in but:
                    found.add(part)
                    waiting += self.parts[part].mentions
        return frozenset(found)


def _grown(reach: Reachability, names: frozenset[str]) -> frozenset[Part]:
    found = reach._closed(names)
    while True:
        more = {part for part, upon in reach.acting if part not in found and upon & found}
        if not more:
            return found
        names |= {name for part in more for name in reach.parts[part].mentions}
        found = reach._closed(names) | found | more


def changed_parts(
    before: Reachability, after: Mapping[str, bytes], modules: Iterable[str], names: Iterable[str]
) -> frozenset[Part] | None:
    """The parts that `after` changes and that code which starts from these modules and names may run;
    None where names do not tell.
    """
    changed = {path for path, data in before.data.items() if data != after.get(path)}
    files = before.closure(frozenset(modules))
    if files is None:
        return None
    if not files & changed:
        return frozenset()
    if after.keys() != before.data.keys() or not before.is_static(files):
        return None
    parts: set[Part] = set()
    for path in changed & files:
        found = before.changed_parts(path, after[path])
        if found is None:
            return None
        parts |= found
    return frozenset(parts & (before.from_names(frozenset(names)) | before.on_import(files)))
