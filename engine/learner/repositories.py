"""Repositories of the engine's own, made by git.

Only the engine's own are touched, never one that belongs to someone else: git is run with an empty
template and without the user's configuration, hooks and `GIT_*` variables.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")  # a missing git is told when it is needed

import git

from engine.errors import Message, Said, StorageError
from engine.learner.files import storage


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


def _said(error: Exception) -> Said:
    """What git itself said, without the command line that made it say so."""
    if isinstance(error, git.exc.GitCommandNotFound):
        return Message("git is not installed")
    text = str(getattr(error, "stderr", "") or error)
    lines = [line.strip(" '") for line in text.splitlines()]
    told = [line.partition("fatal: ")[2] or line for line in lines if line and line != "stderr:"]
    return (told[-1] if told else type(error).__name__).rstrip(".")


def commit(folder: Path, message: str) -> None:
    """Every file of a repository as one commit. Raises StorageError."""
    here = ["git", "-C", str(folder)]
    with clean_environment():
        try:
            git.Git().execute([*here, "add", "--all", "--force"])
            git.Git().execute([*here, "commit", "--quiet", "--no-verify", "-m", message])
        except git.exc.GitError as error:
            raise StorageError(
                Message(
                    "The practice copy could not be made; nothing was lost: {error}.",
                    error=_said(error),
                ),
                where=str(folder.parent),
                next=Message("Is the disk full? Make room, then run the same command again."),
            ) from error


def make(path: Path, *, bare: bool) -> git.Repo:
    """A new repository with settings of its own. Raises StorageError."""
    with clean_environment(), storage(path):
        try:
            kind = ["--bare"] if bare else []
            options = ["--quiet", *kind, "--template=", "--initial-branch=main"]
            git.Git().execute(["git", "init", *options, "--", str(path)])
            repository = git.Repo(path, expand_vars=False)
        except git.exc.GitError as error:
            raise StorageError(
                Message("git could not make a repository: {error}.", error=_said(error)),
                where=str(path),
                next=Message("Is git installed? `engine doctor` tells."),
            ) from error
        with repository.config_writer() as config:
            config.set_value("core", "autocrlf", "false")
            config.set_value("core", "hooksPath", os.devnull)
            config.set_value("core", "fsmonitor", "false")
            config.set_value("user", "name", "engine")
            config.set_value("user", "email", "engine@localhost")
    return repository
