"""Runs a learner's own command in the practice copy, with its sources first on the import path."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from engine.errors import UsageError


def run(command: Sequence[str], practice: Path, model: Path, roots: Sequence[str]) -> int:
    """The exit status of `command`, run in `practice` with the terminal it was started from.

    A word that names a file of the model tree, and none of the practice copy, becomes its path.
    """
    if not command:
        raise UsageError("No command was given.", next="engine run -- python -m pytest tests")
    words = [_found(word, practice, model) for word in command]
    paths = [
        str(base / root) if root else str(base) for base in (practice, model) for root in roots
    ]
    own = os.environ.get("PYTHONPATH")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths + ([own] if own else [])),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONSAFEPATH": "1",  # a script's own folder must not come before the practice copy
    }
    try:
        return subprocess.run(words, cwd=practice, env=environment, check=False).returncode
    except OSError as error:
        raise UsageError(f"{words[0]} cannot be run: {error.strerror}.") from None


def _found(word: str, practice: Path, model: Path) -> str:
    if word.startswith("-") or Path(word).is_absolute() or (practice / word).exists():
        return word
    return (
        str(model / word)
        if (os.sep in word and (model / word).exists())
        or (word.endswith(".py") and (model / word).is_file())
        else word
    )
