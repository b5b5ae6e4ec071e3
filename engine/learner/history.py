"""Byte-exact snapshots in `.engine/history.git`, and the practice copy as a repository of its own.

Only the engine's own repositories are touched, never one that belongs to someone else. Objects are
written and read in Python; git itself is run for `git init` alone, with an empty template and
without the user's configuration, hooks and `GIT_*` variables.
"""

from __future__ import annotations

import io
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")  # a missing git is told when it is needed

import git
from git.objects.fun import tree_entries_from_data, tree_to_stream
from gitdb import IStream
from gitdb.db import GitDB, LooseObjectDB
from gitdb.exc import ODBError

from engine.errors import StorageError
from engine.learner.files import inside, storage, write

AUTHOR = git.Actor("engine", "engine@localhost")
FILE_MODE = stat.S_IFREG | 0o644
TREE_MODE = stat.S_IFDIR


@contextmanager
def clean_environment() -> Iterator[None]:
    """No `GIT_*` of the caller's, no system or user configuration, while git runs."""
    saved = {key: os.environ.pop(key) for key in list(os.environ) if key.startswith("GIT_")}
    os.environ.update(GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL=os.devnull)
    try:
        yield
    finally:
        for key in ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL"):
            os.environ.pop(key, None)
        os.environ.update(saved)


def _said(error: Exception) -> str:
    """What git itself said, without the command line that made it say so."""
    if isinstance(error, git.exc.GitCommandNotFound):
        return "git is not installed"
    text = str(getattr(error, "stderr", "") or error)
    lines = [line.strip(" '") for line in text.splitlines()]
    told = [line.partition("fatal: ")[2] or line for line in lines if line and line != "stderr:"]
    return (told[-1] if told else type(error).__name__).rstrip(".")


def _init(path: Path, *, bare: bool) -> git.Repo:
    with clean_environment(), storage(path):
        try:
            kind = ["--bare"] if bare else []
            options = ["--quiet", *kind, "--template=", "--initial-branch=main"]
            git.Git().execute(["git", "init", *options, "--", str(path)])
            repository = git.Repo(path, expand_vars=False)
        except git.exc.GitError as error:
            raise StorageError(
                f"git could not make a repository: {_said(error)}.",
                where=str(path),
                next="Is git installed? `engine doctor` tells.",
            ) from error
        with repository.config_writer() as config:
            config.set_value("core", "autocrlf", "false")
            config.set_value("core", "hooksPath", os.devnull)
            config.set_value("core", "fsmonitor", "false")
            config.set_value("user", "name", "engine")
            config.set_value("user", "email", "engine@localhost")
    return repository


class History:
    """Snapshots of file sets, named by the id of a commit."""

    def __init__(self, private: Path) -> None:
        self._path = private / "history.git"

    def save(self, files: Mapping[str, bytes]) -> str:
        """Keep these files byte for byte; returns the snapshot's id (40 hex digits)."""
        with storage(self._path), clean_environment():
            if not (self._path / "HEAD").exists():
                _init(self._path, bare=True).close()
            # the store's writing half is pure Python and writes to a temporary name first
            objects = LooseObjectDB(str(self._path / "objects"))
            tree = _tree(objects, files).hex()
            who = f"{AUTHOR.name} <{AUTHOR.email}> {int(time.time())} +0000"
            text = f"tree {tree}\nauthor {who}\ncommitter {who}\n\nsnapshot\n"
            id = _store(objects, b"commit", text.encode()).hex()
            write(self._path / "refs" / "snapshots" / id, f"{id}\n".encode())
            return id

    def load(self, snapshot: str) -> dict[str, bytes]:
        """The files of a snapshot. Raises StorageError when it is gone."""
        try:
            objects = GitDB(str(self._path / "objects"))
            commit = objects.stream(bytes.fromhex(snapshot)).read()
            tree = bytes.fromhex(commit.split(b"\n", 1)[0].removeprefix(b"tree ").decode())
            return dict(_read(objects, tree, ""))
        except (ODBError, OSError, ValueError) as error:
            raise StorageError(
                f"A snapshot of your code cannot be read back: {error}.",
                where=str(self._path),
                next="`engine reset` puts this exercise aside; your own model is untouched.",
            ) from error


def _read(objects: GitDB, tree: bytes, folder: str) -> Iterator[tuple[str, bytes]]:
    """Path and bytes of every file below a tree."""
    for id, mode, name in tree_entries_from_data(objects.stream(tree).read()):
        path = folder + os.fsdecode(name)
        if mode == TREE_MODE:
            yield from _read(objects, id, path + "/")
        else:
            yield path, objects.stream(id).read()


def _store(objects: LooseObjectDB, kind: bytes, data: bytes) -> bytes:
    binsha: bytes = objects.store(IStream(kind, len(data), io.BytesIO(data))).binsha
    return binsha


def _tree(objects: LooseObjectDB, files: Mapping[str, bytes]) -> bytes:
    """Write blobs and trees; the binary id of the root tree."""
    folders: dict[str, dict[str, bytes]] = {}
    here: list[tuple[bytes, int, bytes]] = []
    for path, data in files.items():
        head, _, rest = path.partition("/")
        if rest:
            folders.setdefault(head, {})[rest] = data
        else:
            here.append((_store(objects, b"blob", data), FILE_MODE, os.fsencode(head)))
    for name, inner in folders.items():
        here.append((_tree(objects, inner), TREE_MODE, os.fsencode(name)))
    here.sort(key=lambda entry: entry[2] + (b"/" if entry[1] == TREE_MODE else b""))
    out = io.BytesIO()
    tree_to_stream(here, out.write)  # type: ignore[arg-type]  # bytes names pass through
    return _store(objects, b"tree", out.getvalue())


def write_practice(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make `folder` a fresh repository with one commit of `files`, in one step.

    It is made beside its place and moved there; a self-ignoring .gitignore in the parent keeps it
    out of any repository around it.
    """
    parent = folder.parent
    with storage(parent):
        parent.mkdir(parents=True, exist_ok=True)
        ignore = parent / ".gitignore"
        if not ignore.exists() or not ignore.stat().st_size:
            ignore.write_text("*\n")
        made = Path(tempfile.mkdtemp(dir=parent, prefix=".making-"))
    try:
        with storage(parent), clean_environment():
            for relative, data in files.items():
                path = inside(made, relative)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            _init(made, bare=False).close()
            try:
                here = ["git", "-C", str(made)]
                git.Git().execute([*here, "add", "--all", "--force"])
                git.Git().execute([*here, "commit", "--quiet", "--no-verify", "-m", "practice"])
            except git.exc.GitError as error:
                raise StorageError(
                    f"The practice copy could not be made; nothing was lost: {_said(error)}.",
                    where=str(parent),
                    next="Is the disk full? Make room, then run the same command again.",
                ) from error
            made.chmod(0o755)
            os.rename(made, folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def read_practice(folder: Path, known: Mapping[str, bytes]) -> dict[str, bytes]:
    """The practice copy as it stands: every known file that is still there, and new Python files.

    Raises StorageError when the folder is gone.
    """
    if not folder.is_dir():
        raise StorageError(
            "The practice copy is gone.",
            where=str(folder),
            next="`engine reset` closes this attempt; then `engine break` starts it again.",
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
    private: Path, folder: Path, files: Mapping[str, bytes], changed: Mapping[str, bytes]
) -> dict[str, str | None]:
    """Write the practice copy: `files` with some of them `changed`. Snapshots of both, and of what was
    there before (`left`), are taken first. Returns their names.
    """
    history = History(private)
    broken = {**files, **changed}
    before, after = history.save(files), history.save(broken)
    left = history.save(read_all(folder)) if folder.exists() else None
    throw_away(folder)
    write_practice(folder, broken)
    return {"before": before, "broken": after, "left": left}
