"""Which files a module may run when it is imported: what an edit elsewhere cannot touch.

Coarser than names (`reachability.py`), and harder to deceive: a learner's fix, which may mean to, is held
to whole files; the engine's own edits are held to names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from engine.code.syntax import nested, parsed, walked

Files = Mapping[str, bytes]  # path -> bytes

# a file that uses one of these may run files that its import statements do not name
OPAQUE = {"__import__", "import_module", "exec", "eval", "runpy", "modules", "meta_path"}
OPAQUE |= {"spec_from_file_location", "exec_module", "load_module", "builtins"}
OPAQUE |= {"pkgutil", "resolve_name"}

HARMLESS = {"modules", "eval", "exec"}  # as attributes: model.eval(), module.modules()
NAMES = {"modules", "meta_path"}  # as names of one's own

_OPAQUE_WORD = re.compile(rb"\b(%s)\b" % b"|".join(word.encode() for word in sorted(OPAQUE)))


def closure(
    files: Files, roots: Sequence[str], modules: Iterable[str], *, trusting: bool = False
) -> frozenset[str] | None:
    """The files that importing these modules may run; None where import statements do not say.

    files: path -> bytes. roots: the folders of `files` from which modules are imported.
    trusting: whether `anything.modules` and `anything.eval` are what they look like.
    """
    found: set[str] = set()
    waiting = [name for module in modules for name in _with_parents(module)]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if name.endswith(".*"):  # `__all__` may name modules of the package
            waiting += _submodules(files, roots, name.removesuffix(".*"))
        for path in _files(files, roots, name):
            found.add(path)
            imported = _imports(files[path], name, path.endswith("/__init__.py"), trusting)
            if imported is None:
                return None
            waiting += imported
    return frozenset(found)


def absent(files: Files, roots: Sequence[str], modules: Iterable[str]) -> tuple[str, str] | None:
    """(a module, the file that imports it) where it should be among these files and is not: of what importing
    these modules runs for certain, and of the packages that they are in.
    """
    waiting = [(name, "") for module in modules for name in _with_parents(module)]
    own = {name for name, _ in waiting if "." not in name}
    seen: set[str] = set()
    while waiting:
        name, importer = waiting.pop(0)
        if name in seen or name.split(".")[0] not in own:
            continue
        found = list(_files(files, roots, name))
        if not found and not _is_folder(files, roots, name):
            if importer:
                return name, importer
            continue
        seen.add(name)
        for path in found:
            waiting += ((one, path) for one in _at_once(files[path], name, path))
    return None


def _is_folder(files: Files, roots: Sequence[str], module: str) -> bool:
    stem = module.replace(".", "/") + "/"
    return any(
        path.startswith(f"{root}/{stem}" if root else stem) for root in roots for path in files
    )


def _at_once(source: bytes, module: str, path: str) -> Iterator[str]:
    """The modules that the statements of a file itself import; those in a `try` or a function may fail."""
    try:
        body = parsed(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _with_parents(alias.name)
        elif isinstance(node, ast.ImportFrom):
            yield from _with_parents(_absolute(node, module, path.endswith("/__init__.py")))


def _submodules(files: Files, roots: Sequence[str], package: str) -> Iterator[str]:
    stem = package.replace(".", "/")
    for root in roots:
        base = f"{root}/{stem}/" if root else f"{stem}/"
        if b"__all__" in files.get(f"{base}__init__.py", b""):
            for path in files:
                if path.startswith(base) and path.endswith(".py"):
                    inner = path.removeprefix(base).removesuffix(".py").removesuffix("/__init__")
                    if "/" not in inner:
                        yield f"{package}.{inner}"


def _with_parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[: i + 1]) for i in range(len(parts))]


def holds(files: Files, roots: Sequence[str], module: str) -> bool:
    """Whether a module is among these files."""
    return next(_files(files, roots, module), None) is not None


def _files(files: Files, roots: Sequence[str], module: str) -> Iterator[str]:
    stem = module.replace(".", "/")
    for root in roots:
        base = f"{root}/{stem}" if root else stem
        for path in (f"{base}/__init__.py", f"{base}.py"):
            if path in files:
                yield path


def _may_be_opaque(source: bytes) -> bool:
    """Whether a word of OPAQUE may stand in a file; where not all is ASCII, Python may read other letters as
    its own.
    """
    return not source.isascii() or _OPAQUE_WORD.search(source) is not None


@cache
def _imports(source: bytes, module: str, package: bool, trusting: bool) -> tuple[str, ...] | None:
    """The modules that a file names in import statements, None when it may run others."""
    try:
        module_tree = parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names: list[str] = []
    # most files hold none of those words: then only statements are looked at, in a tenth of the time
    for node in walked(module_tree) if _may_be_opaque(source) else nested(module_tree):
        if isinstance(node, ast.Name) and node.id in OPAQUE:
            if not (trusting and node.id in NAMES):
                return None
        if isinstance(node, ast.Attribute) and node.attr in OPAQUE:
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if not (trusting and node.attr in HARMLESS and owner not in ("sys", "builtins")):
                return None
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in OPAQUE:
                    return None
                names += _with_parents(alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, module, package)
            if {alias.name for alias in node.names} & OPAQUE or base.split(".")[0] in OPAQUE:
                return None
            names += _with_parents(base) if base else []
            names += [f"{base}.{alias.name}" if base else alias.name for alias in node.names]
    return tuple(names)


def _absolute(node: ast.ImportFrom, module: str, package: bool) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    keep = len(parts) - node.level + (1 if package else 0)
    return ".".join([*parts[: max(0, keep)], *([node.module] if node.module else [])])
