"""How far a change reaches: the components whose code may run what differs between two trees."""

from __future__ import annotations

import ast
from collections.abc import Collection

import msgspec

from engine.code.changes import aligned, differing
from engine.code.imports import closure
from engine.code.modules import role_files
from engine.code.on_import import defined
from engine.code.reachability import Part, Reachability, changed_parts
from engine.code.writes import patching
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue


class Impact(msgspec.Struct, frozen=True):
    """The components that the judgement of a fix looks at.

    broken: the one that the break is in. changed: whether any code differs. users: those that use it,
    directly or not. direct: users that use it themselves, in most of their probes. beside: others that a
    name leads to what the fix changed. imported: others that only import a file that it changed. remote:
    other users, that run nothing else that the fix changed. rewritten: the users and others that are defined
    otherwise now. writes: whether it may write into what belongs to others.
    """

    broken: str
    changed: bool = True
    users: frozenset[str] = frozenset()
    direct: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    remote: frozenset[str] = frozenset()
    rewritten: frozenset[str] = frozenset()
    writes: bool = False

    @property
    def touched(self) -> frozenset[str]:
        """What the break may change: the broken component and its users."""
        return self.users | {self.broken}

    @property
    def close(self) -> frozenset[str]:
        """Those that use the broken one themselves, or run other code that the fix changed."""
        return (self.users | self.beside) - self.remote

    @property
    def measured(self) -> frozenset[str]:
        """All of them."""
        return self.touched | self.beside | self.imported


def of_a_fix(
    catalogue: Catalogue, broken: str, before: Tree, after: Tree, *, everything: bool
) -> Impact:
    """How far a fix reaches. One that writes into what belongs to others reaches, by some name or
    other, whatever imports it.

    everything: whether also what uses it through others, or only imports a changed file, is looked for.
    """
    changed = differing(before.files, after.files)
    if not changed:  # the same code, whoever uses it
        return Impact(broken, changed=False)
    writing = patching(before.files, after.files)
    users = frozenset(catalogue.users(broken))
    direct = frozenset(name for name in users if _directly(catalogue, name, broken))
    found = frozenset(_by_files(catalogue, before, after, changed, writing) - users - {broken})
    rewritten = _rewritten(catalogue, before, after, changed) - {broken}
    if writing:
        return Impact(broken, True, users, direct, found, rewritten=rewritten, writes=True)
    if not everything:
        own = found & _in_files(catalogue, after, changed)
        named = (
            by_names(catalogue, Reachability(before.files, before.roots), after, own)
            if own
            else set()
        )
        beside, remote = (own & named) | (rewritten - users), users - direct - rewritten
        return Impact(broken, True, users, direct, beside, remote=remote, rewritten=rewritten)
    indirect = users - direct
    if not found and not indirect:
        return Impact(broken, True, users, direct, rewritten=rewritten)
    reach = Reachability(before.files, before.roots)
    remote = frozenset(name for name in indirect if not _by_itself(catalogue, reach, after, name))
    named = by_names(catalogue, reach, after) if found else set()
    beside, imported = found & named, found - named
    return Impact(broken, True, users, direct, beside, imported, remote, rewritten)


def _directly(catalogue: Catalogue, user: str, used: str) -> bool:
    """Whether a component uses another in most of its probes, and not only what uses that."""
    part = catalogue.contract.components[user]
    return used in part.uses and not part.seldom


def _by_itself(catalogue: Catalogue, before: Reachability, after: Tree, component: str) -> bool:
    """Whether a component may run something that `after` changes, and not only through what it stands
    on.
    """
    lent = _lent_roles(catalogue, component)
    own = catalogue.roles_of(component) - lent
    changed = _changed(before, after, own)
    if changed is None:
        return True
    others = before.defined(_names(after, lent))
    return bool(changed & before.reached(_names(after, own), but=others))


def _lent_roles(catalogue: Catalogue, component: str) -> set[str]:
    """The roles of what a component stands on."""
    return {role for part in catalogue.stands_on(component) for role in catalogue.roles_of(part)}


def by_names(
    catalogue: Catalogue,
    before: Reachability,
    after: Tree,
    components: Collection[str] | None = None,
) -> set[str]:
    """The components (of these, when given) of which some code that `after` changes may run, as far as names
    tell.

    Right for edits that do not mean to deceive; what may is held to whole files as well.
    """
    components = catalogue.contract.components if components is None else components
    return {name for name in components if _led(before, after, catalogue.roles_of(name))}


def _led(before: Reachability, after: Tree, roles: Collection[str]) -> bool:
    """Whether the names of these roles lead to something that `after` changes."""
    found = _changed(before, after, roles)
    return found is None or bool(found)


def _changed(before: Reachability, after: Tree, roles: Collection[str]) -> frozenset[Part] | None:
    """What `after` changes that the names of these roles lead to; None where names do not tell."""
    modules = [after.roles[role].partition(":")[0] for role in roles]
    return changed_parts(before, after.files, modules, _names(after, roles))


def _names(tree: Tree, roles: Collection[str]) -> set[str]:
    return {name for role in roles for name in tree.roles[role].partition(":")[2].split(".")}


def _in_files(catalogue: Catalogue, tree: Tree, changed: Collection[str]) -> set[str]:
    """The components of which a name of the contract is defined in one of these files, or imported there."""
    places = role_files(tree.roles, tree.roots, tree.files)
    return {
        name
        for name in catalogue.contract.components
        for role in catalogue.roles_of(name) - _lent_roles(catalogue, name)
        if places.get(role) in changed
    }


def _rewritten(
    catalogue: Catalogue, before: Tree, after: Tree, changed: Collection[str]
) -> frozenset[str]:
    """The components of which something that their own file defines, by the contract, reads otherwise."""
    places = role_files(after.roles, after.roots, after.files)
    names = {
        path: {
            name
            for node in _otherwise(before.files.get(path, b""), after.files.get(path, b""))
            for name in defined(node)
        }
        for path in changed
    }
    return frozenset(
        component
        for component in catalogue.contract.components
        if any(
            names.get(places.get(role, ""), set()) & _names(after, {role})
            for role in _own_roles(catalogue, component)
        )
    )


def _otherwise(before: bytes, after: bytes) -> list[ast.stmt]:
    """The top-level statements that differ, came or are gone; none where one of both cannot be read."""
    try:
        found = aligned(before, after)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [*(now for _, _, now in found.pairs), *(was for _, was in found.gone), *found.added]


def _own_roles(catalogue: Catalogue, component: str) -> set[str]:
    """The roles of a component that are defined in its own file, by the contract."""
    file = catalogue.contract.components[component].where.removesuffix(".py").replace("/", ".")
    modules = {role: where.partition(":")[0] for role, where in catalogue.contract.roles.items()}
    own = catalogue.roles_of(component) - _lent_roles(catalogue, component)
    return {role for role in own if file.endswith(modules[role])}


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
    within: frozenset[str] | None = frozenset()
    if writing:
        within = closure(after.files, after.roots, [after.module(path) for path in writing])
    found = set()
    for component in catalogue.contract.components:
        roles = catalogue.roles_of(component)
        modules = [before.roles[role].partition(":")[0] for role in roles]
        for tree in (before, after):
            files = closure(tree.files, tree.roots, modules)
            if files is None or within is None or files & {*changed, *within}:
                found.add(component)
    return found
