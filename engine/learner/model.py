"""Reads a learner's model code: what the roles import, and what that imports from the same tree."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from engine.code.syntax import parse
from engine.errors import LearnerCodeError, Message

MAX_FILE = 1 << 20  # bytes
MAX_FILES = 2000
SKIPPED = {"__pycache__", "node_modules", "site-packages"}


def read(root: Path, roots: Iterable[str], modules: Iterable[str]) -> dict[str, bytes]:
    """Python files by POSIX path below `root`.

    Whole packages are taken, without hidden folders, environments, and links that lead outside.
    Raises LearnerCodeError when there is nothing to read.
    """
    roots = list(roots)
    there = _importable(root, roots)
    files: dict[str, bytes] = {}
    waiting = [module.split(".")[0] for module in modules]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for path in _module(root, roots, name):
            relative = path.relative_to(root).as_posix()
            if relative in files or len(files) >= MAX_FILES:
                continue
            try:
                files[relative] = path.read_bytes()
            except OSError as error:
                raise LearnerCodeError(
                    Message("A file of the model cannot be read: {error}.", error=error.strerror),
                    where=str(path),
                ) from None
            if any(_may_name(files[relative], name) for name in there - seen):
                waiting += [name for name in imported(files[relative]) if name not in seen]
    if not files:
        looked = ", ".join(str(root / part) for part in roots)
        raise LearnerCodeError(
            Message("No model code was found for {modules}.", modules=", ".join(sorted(seen))),
            where=Message("looked in {files}", files=looked),
            next=Message(
                "Set `model:` in learner.yaml to the folder that holds the package or its src/."
            ),
        )
    return dict(sorted(files.items()))


def _importable(root: Path, roots: Iterable[str]) -> set[str]:
    """The names of the modules and packages that may stand at the top of this tree."""
    found: set[str] = set()
    for folder in (root / part for part in roots):
        try:
            found |= {entry.name.removesuffix(".py") for entry in folder.iterdir()}
        except OSError:  # there is none, or it cannot be listed: what is asked for in it will tell
            continue
    return {name for name in found if name.isidentifier()}


def _may_name(source: bytes, name: str) -> bool:
    """Whether a file may import this: beyond ASCII a name can be written in more than one way."""
    return not source.isascii() or name.encode() in source


def _module(root: Path, roots: Iterable[str], name: str) -> Iterator[Path]:
    """A package, else a module, from the first root that has one; else folders without __init__."""
    bases = [root / part for part in roots]
    for base in bases:
        package, single = base / name, base / f"{name}.py"
        if (package / "__init__.py").is_file() and _stays(package, root):
            yield from _python_files(package, root)
            return
        if single.is_file() and _stays(single, root):
            yield single
            return
    for base in bases:
        if (base / name).is_dir() and _stays(base / name, root):
            yield from _python_files(base / name, root)


def _python_files(folder: Path, root: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or entry.name in SKIPPED or not _stays(entry, root):
            continue
        if entry.is_dir():
            if not (entry / "pyvenv.cfg").exists():
                yield from _python_files(entry, root)
        elif entry.suffix == ".py" and entry.is_file() and entry.stat().st_size <= MAX_FILE:
            yield entry


def _stays(path: Path, root: Path) -> bool:
    if not path.is_symlink():
        return True
    real = os.path.realpath(path)
    return real.startswith(os.path.realpath(root) + os.sep) and not os.path.isdir(real)


def imported(source: bytes) -> set[str]:
    """The top-level names that a file imports absolutely, anywhere in it."""
    try:
        module = parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.add(node.module.split(".")[0])
    return names


def python_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Those that Python reads."""
    return {path: data for path, data in files.items() if path.endswith(".py")}


def check_syntax(files: Mapping[str, bytes], folder: str = "") -> None:
    """Raise LearnerCodeError for the first file that this Python cannot parse. folder: where the files lie,
    as a person has to be told.
    """
    import platform

    for path, source in files.items():
        try:
            parse(source, path)
        except SyntaxError as error:
            # not error.text: Python reads that from whatever lies at `path` in the current folder
            lines = source.decode("utf-8", "replace").splitlines()
            text = next(iter(lines[(error.lineno or 1) - 1 :]), "").strip()
            place = f"{folder}/{path}" if folder else path
            raise LearnerCodeError(
                Message(
                    "Python {version} cannot parse the file: {error}.",
                    version=platform.python_version(),
                    error=error.msg,
                ),
                where=f"{place}:{error.lineno}:{error.offset}: {text}",
                next=Message(
                    "Fix the line. If your code is newer than this Python, install the engine with a"
                    " newer one: `python3.X -m pip install breakfix-engine`."
                ),
            ) from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise LearnerCodeError(
                Message("The file cannot be parsed: {error}.", error=error), where=path
            ) from None
