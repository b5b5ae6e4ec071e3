"""Finds the module that has the functions of a contract, by their names and parameters, wherever it lies.

Of 62 public repositories of one course 20 have it below the root, and other courses use its path for other
functions: so what counts is what a file defines.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from engine.code.imports import holds
from engine.code.syntax import parse

LEAST = 0.5  # of a contract's functions that a module must have

Signatures = Mapping[str, Sequence[str]]  # function -> the names of its parameters


def module_of(files: Mapping[str, bytes], signatures: Signatures) -> str | None:
    """The path of the file that has most of these functions; the one least deep where several do."""
    best: tuple[int, int, str] | None = None
    for path, source in files.items():
        if not path.endswith(".py") or not _may_have(source, signatures):
            continue
        count = len(defined(source, signatures))
        found = (-count, path.count("/"), path)
        if count >= LEAST * len(signatures) and (best is None or found < best):
            best = found
    return best[2] if best else None


def _may_have(source: bytes, signatures: Signatures) -> bool:
    named = sum(name.encode() in source for name in signatures)
    return named >= LEAST * len(signatures)


def defined(source: bytes, signatures: Signatures) -> set[str]:
    """The functions of a file whose parameters have these names; none where it cannot be parsed."""
    try:
        module = parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    found = {node.name: node.args for node in module.body if isinstance(node, ast.FunctionDef)}
    return {
        name
        for name, wanted in signatures.items()
        if name in found and set(wanted) <= _parameters(found[name])
    }


def _parameters(args: ast.arguments) -> set[str]:
    return {arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)}


def roots_of(path: str, roots: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """(the name that this module is imported by, the folders that a tree is imported from): the folder above
    the module's own is the root of the project, and `roots` lie below that.
    """
    folder, _, file = path.rpartition("/")
    base, _, package = folder.rpartition("/")
    below = [f"{base}/{root}".strip("/") for root in roots]
    stem = file.removesuffix(".py")
    return f"{package}.{stem}".lstrip("."), tuple(dict.fromkeys([*below, base, folder]))


def placed(
    roles: Mapping[str, str],
    moved: Mapping[str, str],
    roots: Sequence[str],
    files: Mapping[str, bytes],
) -> dict[str, str]:
    """Roles ("module:name"), with the other place of a module (`moved`) where the usual one is not among the
    files and that one is.
    """
    found = {}
    for role, where in roles.items():
        module, _, name = where.partition(":")
        other = moved.get(module, "")
        elsewhere = holds(files, roots, other) and not holds(files, roots, module)
        found[role] = f"{other}:{name}" if other and elsewhere else where
    return found
