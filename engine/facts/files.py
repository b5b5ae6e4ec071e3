"""Reads somebody's tree for a check: Python files, notebooks as Python, small files of configuration, and
texts that tell how it is run.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

MAX_FILE = 1 << 20  # bytes of a Python file
MAX_NOTEBOOK = 32 << 20  # with the pictures in it
MAX_OTHER = 1 << 18  # bytes of a configuration
MAX_FILES, MAX_TOTAL = 3000, 40 << 20
OTHER = (".yaml", ".yml", ".json", ".toml", ".cfg", ".ini")
TOLD = (".md", ".sh", ".rst")  # that tell how a script is run; Makefile, too
SETTINGS = re.compile(r"^\w*(conf|cfg|setting|hparam|hyperparam)\w*\.txt$", re.I)
SKIPPED = {"__pycache__", "node_modules", "site-packages", "build", "dist"}
CELL = "# code cell "
MAGIC = re.compile(
    r"^(\s*)([!?]|%%?[A-Za-z]).*$", re.M
)  # "% name" at the start of a line is a remainder
TIMED = re.compile(
    r"%%(time|timeit|prun|capture)\b"
)  # magics of a cell that is Python all the same


def read(root: Path) -> dict[str, bytes]:
    """POSIX path below `root` -> content. Of a single file: that file and those beside it."""
    folder = root if root.is_dir() else root.parent
    files: dict[str, bytes] = {}
    total = 0
    for path in _walk(folder):
        content = _content(path)
        if content is None:
            continue
        total += len(content)
        if len(files) >= MAX_FILES or total > MAX_TOTAL:
            break
        files[path.relative_to(folder).as_posix()] = content
    return files


def _walk(folder: Path) -> list[Path]:
    found: list[Path] = []
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in SKIPPED
            and not os.path.exists(os.path.join(base, name, "pyvenv.cfg"))
        )
        paths = (Path(base) / name for name in sorted(names) if not name.startswith("."))
        found += [path for path in paths if path.is_file() and not path.is_symlink()]
        if len(found) > 20 * MAX_FILES:
            break
    return sorted(found, key=lambda path: (len(path.parts), str(path)))


def _content(path: Path) -> bytes | None:
    suffix = path.suffix
    try:
        size = path.stat().st_size
        if suffix == ".py" and size <= MAX_FILE:
            return path.read_bytes()
        if suffix == ".ipynb" and size <= MAX_NOTEBOOK:
            return notebook(path.read_text("utf-8", "replace")).encode()
        told = suffix in OTHER + TOLD or path.name == "Makefile" or SETTINGS.search(path.name)
        if told and size <= MAX_OTHER:
            return path.read_bytes()
    except OSError:
        pass
    return None


def notebook(text: str) -> str:
    """The code cells of a notebook as one text, each below its number; magics, and cells that cannot be
    parsed, left out.
    """
    try:
        cells = json.loads(text).get("cells", [])
        sources = ["".join(cell["source"]) for cell in cells if cell.get("cell_type") == "code"]
    except (ValueError, TypeError, KeyError, AttributeError):
        return ""
    kept = []
    for number, source in enumerate(sources, 1):
        plain = MAGIC.sub(r"\1pass", source)
        try:
            ast.parse(plain)
        except (SyntaxError, ValueError, RecursionError):
            continue
        if not source.lstrip().startswith("%%") or TIMED.match(source.lstrip()):
            kept.append(f"{CELL}{number}\n{plain}")
    return "\n\n".join(kept) + "\n"


def cell(lines: Sequence[str], line: int) -> tuple[str, int]:
    """("3", 5): of the text that `notebook` made, the number of the cell that a line is in, and which of its
    lines it is.
    """
    above = next(n for n in range(line, 0, -1) if lines[n - 1].startswith(CELL) or n == 1)
    return lines[above - 1].removeprefix(CELL), line - above
