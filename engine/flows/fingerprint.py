"""What a component's code computes, as a hash that comments, docstrings and formatting do not change.

A build that has passed keeps the fingerprint of its code; where the code is another one now, the pass no
longer says anything about it.
"""

from __future__ import annotations

import ast
import hashlib
import platform
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import EngineError

if TYPE_CHECKING:
    from engine.code.reachability import Reachability
    from engine.learner.store import Attempt
    from engine.run.types import Tree
    from engine.spec.catalogue import Catalogue


def fingerprint(
    catalogue: Catalogue, component: str, tree: Tree, reach: Reachability | None = None
) -> dict[str, Any]:
    """Of what a component reaches in a learner's tree: `files`, path -> hash of the bytes, and `computes`,
    the hash of the syntax trees of the statements that it may run. `python`: whose trees they are.

    reach: of the whole tree, where it is known.
    """
    from engine.code.imports import closure
    from engine.code.reachability import Reachability

    reach = reach or Reachability(tree.files, tree.roots)
    roles = [role for role in sorted(catalogue.roles_of(component)) if role in tree.roles]
    places = [tree.roles[role].partition(":") for role in roles]
    modules = frozenset(module for module, _, _ in places)
    found = closure(tree.files, tree.roots, modules, trusting=True)
    files = {path for path in found or tree.files if path.endswith(".py")}
    parts = None
    if found and reach.is_static(files):
        names = frozenset(name for _, _, where in places for name in where.split("."))
        parts = reach.from_names(names) | reach.on_import(frozenset(files))
    hashed = hashlib.sha256()
    for path in sorted(files):
        wanted = None if parts is None else {i for file, i in parts if file == path}
        chosen = None if wanted is None else frozenset(wanted)
        hashed.update(f"{path}\0{_computed(tree.files[path], chosen)}\0".encode())
    return {
        "python": platform.python_version(),
        "computes": hashed.hexdigest(),
        "files": {path: _digest(tree.files[path]) for path in sorted(files)},
    }


@lru_cache(1024)
def _computed(data: bytes, wanted: frozenset[int] | None) -> str:
    """The top-level statements of a file with these numbers as text, without places and docstrings."""
    from engine.code.syntax import parse

    try:
        module = parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _digest(data)
    chosen = [node for i, node in enumerate(module.body) if wanted is None or i in wanted]
    for node in (inner for part in chosen for inner in ast.walk(part)):
        body = getattr(node, "body", None)
        if isinstance(body, list) and len(body) > 1 and _is_text(body[0]):
            del body[0]
    return "\n".join(ast.dump(node) for node in chosen if not _is_text(node))


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def changed(
    catalogue: Catalogue,
    passed: Mapping[str, Mapping[str, Any]],
    model: Path,
    read: Callable[[], Tree],
) -> set[str]:
    """The components whose code computes something else than when they passed.

    passed: component -> its fingerprint then. model: the folder that the files are in. read: the tree as
    it is now, which is asked for only where a file has changed.
    """
    edited = {name for name, kept in passed.items() if not _same_bytes(model, kept["files"])}
    comparable = {name for name in edited if passed[name]["python"] == platform.python_version()}
    if not comparable:
        return set()
    try:
        tree = read()
    except EngineError:  # there is no code any more
        return comparable
    from engine.code.reachability import Reachability

    reach = Reachability(tree.files, tree.roots)
    return {
        name
        for name in comparable
        if fingerprint(catalogue, name, tree, reach)["computes"] != passed[name]["computes"]
    }


def _same_bytes(model: Path, files: Mapping[str, str]) -> bool:
    def same(path: str, digest: str) -> bool:
        try:
            return _digest((model / path).read_bytes()) == digest
        except OSError:
            return False

    return all(same(path, digest) for path, digest in files.items())


def recorded(attempts: Iterable[Attempt]) -> dict[str, Mapping[str, Any]]:
    """Component -> the fingerprint of the code that passed last, for those that have passed."""
    found = {}
    for attempt in attempts:
        last = attempt.last("built") if attempt.state == "passed" else None
        if last is not None and last.get("code"):
            found[attempt.exercise] = last["code"]
    return found
