"""The data files beside a learner's code: what it may read where it lies, and what a practice copy needs.

Code counts as nobody's data, so that a practice copy never leads to the healthy text.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from engine.learner.files import inside, storage
from engine.learner.model import SKIPPED

MOST_FILES = 2000
MOST_BYTES = 50 << 20  # of all that is copied
CODE = (".py", ".pyc", ".pyi", ".so", ".ipynb")
OURS = re.compile(
    r"practice|repro|blind|phase-\d+|learner\.yaml"
)  # where a model lies in a learner's folder


def data_files(root: Path) -> list[Path]:
    """The files below `root` that are no code, in a stable order; no hidden folders, no environments."""
    found: list[Path] = []
    for path in _walked(root):
        if len(found) == MOST_FILES:
            break
        found.append(path)
    return found


def _walked(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in SKIPPED
            and not (here == root and OURS.fullmatch(name))
            and not (here / name / "pyvenv.cfg").exists()
        )
        for name in sorted(files):
            ours = here == root and OURS.fullmatch(name)
            if not (name.startswith(".") or name.endswith(CODE) or ours):
                yield here / name


def needed(root: Path, files: Mapping[str, bytes]) -> Iterator[Path]:
    """The data files below `root` that this code names: the file itself, or the folder that it lies in."""
    code = b"\n".join(files.values())
    for path in data_files(root):
        folders = path.relative_to(root).parts[:-1]
        quoted = (rb"['\"/]%s['\"/]" % re.escape(os.fsencode(name)) for name in folders)
        if os.fsencode(path.name) in code or any(re.search(one, code) for one in quoted):
            yield path


def copy(root: Path, to: Path, files: Mapping[str, bytes]) -> list[str]:
    """Copy the data files that this code needs to the same places below `to`. Returns those that are left
    out, as they would come to more than MOST_BYTES.
    """
    left, room = [], MOST_BYTES
    for path in needed(root, files):
        relative = path.relative_to(root).as_posix()
        with storage(path):
            size = path.stat().st_size
            if size > room or path.is_symlink():
                left.append(relative)
                continue
            room -= size
            target = inside(to, relative)
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
    return left
