"""Runs a learner's own command in the practice copy, with its sources first on the import path."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from engine.errors import Message, UsageError

TAKES_A_WORD = {"-m", "-c", "-k", "-p", "-o", "-W", "-X"}  # of python and pytest; no file follows


def run(
    command: Sequence[str], here: Path, practice: Path, model: Path, roots: Sequence[str]
) -> int:
    """The exit status of `command`, run in `practice` with the terminal it was started from.

    A word that names a file in `here` or in the model tree, and none of the practice copy, becomes
    its path.
    """
    if not command:
        raise UsageError(
            Message("No command was given."), next="engine run -- python -m pytest tests"
        )
    words = [command[0]]
    for before, word in zip(command, command[1:], strict=False):
        words.append(word if before in TAKES_A_WORD else _found(word, here, practice, model))
    paths = [
        str(base / root) if root else str(base) for base in (practice, model) for root in roots
    ]
    own = os.environ.get("PYTHONPATH")
    first = " ".join(shlex.quote(path) for path in paths)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths + ([own] if own else [])),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONSAFEPATH": "1",  # a script's own folder must not come before the practice copy
        # nor a `pythonpath` of the learner's pytest settings
        "PYTEST_ADDOPTS": f"{os.environ.get('PYTEST_ADDOPTS', '')} -o {shlex.quote(f'pythonpath={first}')}",
    }
    try:
        status = subprocess.run(words, cwd=practice, env=environment, check=False).returncode
    except OSError as error:
        raise UsageError(
            Message("{command} cannot be run: {reason}.", command=words[0], reason=error.strerror)
        ) from None
    return status if status >= 0 else 128 - status  # ended by a signal, as a shell says it


def _found(word: str, here: Path, practice: Path, model: Path) -> str:
    """A file that is not in the practice copy, but where the command was typed or in the model."""
    if word.startswith("-") or Path(word).is_absolute() or (practice / word).exists():
        return word
    for folder in (here, model):
        if (folder / word).exists():
            return str(folder / word)
    return word
