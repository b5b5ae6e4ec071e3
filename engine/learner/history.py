"""The practice copy: a repository of its own, written in one step, and kept before it goes."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.errors import Message, StorageError
from engine.learner.data import copy
from engine.learner.files import inside, storage
from engine.learner.snapshots import History


def write_practice(folder: Path, files: Mapping[str, bytes], data: Path | None = None) -> list[str]:
    """Make `folder` a fresh repository with one commit of `files`, in one step, and the data below `data`
    beside them. Returns the data files that are too large to be copied.

    It is made beside its place and moved there; a self-ignoring .gitignore in the parent keeps it
    out of any repository around it.
    """
    from engine.learner.repositories import commit, make  # brings gitpython: 0.1 s

    parent = folder.parent
    with storage(parent):
        parent.mkdir(parents=True, exist_ok=True)
        ignore = parent / ".gitignore"
        if not ignore.exists() or not ignore.stat().st_size:
            ignore.write_text("*\n")
        made = Path(tempfile.mkdtemp(dir=parent, prefix=".making-"))
    try:
        with storage(parent):
            for relative, text in files.items():
                path = inside(made, relative)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text)
            left_out = copy(data, made, files) if data is not None else []
            make(made, bare=False).close()
            commit(made, "practice")
            made.chmod(0o755)
            os.rename(made, folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return left_out


def read_practice(folder: Path, known: Mapping[str, bytes]) -> dict[str, bytes]:
    """The practice copy as it stands: every known file that is still there, and new Python files.

    Raises StorageError when the folder is gone.
    """
    if not folder.is_dir():
        raise StorageError(
            Message("The practice copy is gone."),
            where=str(folder),
            next=Message(
                "`engine reset` closes this attempt; then `engine break` starts it again."
            ),
        )
    files: dict[str, bytes] = {}
    with storage(folder):
        for path in sorted(folder.rglob("*")):
            relative = path.relative_to(folder).as_posix()
            hidden = any(
                part.startswith(".") or part == "__pycache__"
                for part in path.parts[len(folder.parts) :]
            )
            if hidden or path.is_symlink() or not path.is_file():
                continue
            if relative in known or path.suffix == ".py":
                files[relative] = path.read_bytes()
    return files


def read_all(folder: Path) -> dict[str, bytes]:
    """Every ordinary file of a practice copy but its .git and caches, to be kept before it goes."""
    files: dict[str, bytes] = {}
    with storage(folder):
        for path in sorted(folder.rglob("*")):
            parts = path.relative_to(folder).parts
            if parts[0] == ".git" or "__pycache__" in parts or path.is_symlink():
                continue
            if path.is_file():
                files["/".join(parts)] = path.read_bytes()
    return files


def throw_away(folder: Path) -> None:
    """Remove a practice copy, which was saved before."""
    if not folder.exists():
        return
    with storage(folder):
        doomed = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".thrown-"))
        os.rename(folder, doomed / folder.name)
        shutil.rmtree(doomed)


def lay_out(
    private: Path,
    folder: Path,
    files: Mapping[str, bytes],
    changed: Mapping[str, bytes],
    data: Path | None = None,
) -> dict[str, Any]:
    """Write the practice copy: `files` with some of them `changed`, and the data files below `data`.

    Snapshots of both, and of what was there before (`left`), are taken first. Returns their names, and the
    data files that are too large to be copied (`left_out`).
    """
    history = History(private)
    broken = {**files, **changed}
    before, after = history.save(files), history.save(broken)
    left = history.save(read_all(folder)) if folder.exists() else None
    throw_away(folder)
    left_out = write_practice(folder, broken, data)
    return {"before": before, "broken": after, "left": left, "left_out": left_out}
