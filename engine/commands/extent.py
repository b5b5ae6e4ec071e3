"""How far a change reaches: the components whose code may run what differs between two trees."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from engine.inject.imports import closure
from engine.inject.reach import Reach, affected
from engine.inject.source import differing
from engine.judge.numbers import patching
from engine.run.types import Tree
from engine.spec.load import Catalogue


class Extent(msgspec.Struct, frozen=True):
    """The components that the judgement of a fix looks at.

    broken: the one that the break is in. users: those that use it. beside: others that a name leads
    to what the fix changed. imported: others that only import a file that it changed. seldom: users that
    use it in few of their probes, and run nothing else that the fix changed. writes: whether it may write
    into what belongs to others.
    """

    broken: str
    users: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    seldom: frozenset[str] = frozenset()
    writes: bool = False

    @property
    def touched(self) -> frozenset[str]:
        """What the break may change: the broken component and its users."""
        return self.users | {self.broken}

    @property
    def measured(self) -> frozenset[str]:
        """All of them."""
        return self.touched | self.beside | self.imported


def of_a_fix(catalogue: Catalogue, broken: str, before: Tree, after: Tree) -> Extent:
    """How far a fix reaches. One that writes into what belongs to others reaches, by some name or
    other, whatever imports it.
    """
    changed = differing(before.files, after.files)
    if not changed:  # the same code, whoever uses it
        return Extent(broken)
    writing = patching(before.files, after.files)
    users = frozenset(catalogue.users(broken))
    found = frozenset(_by_files(catalogue, before, after, changed, writing) - users - {broken})
    if writing:
        return Extent(broken, users, found, writes=True)
    sparing = [name for name in users if catalogue.contract.components[name].seldom]
    if not found and not sparing:
        return Extent(broken, users)
    reach = Reach(before)
    seldom = frozenset(name for name in sparing if not _led(reach, after, _own(catalogue, name)))
    named = by_names(catalogue, reach, after) if found else set()
    return Extent(broken, users, found & named, found - named, seldom)


def _own(catalogue: Catalogue, component: str) -> set[str]:
    """The roles that a component asks for, and nothing that it stands on does."""
    lent = (catalogue.roles_of(other) for other in catalogue.stands_on(component))
    return catalogue.roles_of(component).difference(*lent)


def by_names(catalogue: Catalogue, before: Reach, after: Tree) -> set[str]:
    """The components of which some code that `after` changes may run, as far as names tell.

    Right for edits that do not mean to deceive; what may is held to whole files as well.
    """
    components = catalogue.contract.components
    return {name for name in components if _led(before, after, catalogue.roles_of(name))}


def _led(before: Reach, after: Tree, roles: Collection[str]) -> bool:
    """Whether the names of these roles lead to something that `after` changes."""
    places = [before.tree.roles[role].split(":") for role in roles]
    names = {part for _, name in places for part in name.split(".")}
    return affected(before, after, [module for module, _ in places], names)


def _by_files(
    catalogue: Catalogue,
    before: Tree,
    after: Tree,
    changed: Collection[str],
    writing: Collection[str],
) -> set[str]:
    """The components that import one of the files `changed`, or one that the files `writing` import.

    All of them where code imports what its import statements do not name. What does not import a
    changed file runs the very same code, so there is nothing to compare, unless a changed file may
    write into what it imports itself.
    """
    within = closure(after, [after.module(path) for path in writing]) if writing else frozenset()
    found = set()
    for component in catalogue.contract.components:
        roles = catalogue.roles_of(component)
        modules = [before.roles[role].partition(":")[0] for role in roles]
        for tree in (before, after):
            files = closure(tree, modules)
            if files is None or within is None or files & {*changed, *within}:
                found.add(component)
    return found
