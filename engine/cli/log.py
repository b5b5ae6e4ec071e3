"""A log for a bug of the engine's own."""

from __future__ import annotations

import sys
import tempfile
import traceback
from pathlib import Path

from engine import __version__
from engine.errors import Message, Said


def write_log(error: BaseException) -> Said:
    """Write the traceback to a file of its own; returns where, or why not."""
    text = f"engine {__version__}, Python {sys.version}\n{sys.argv}\n\n"
    text += "".join(traceback.format_exception(error))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="engine-", suffix=".log", delete=False, encoding="utf-8"
        ) as file:
            file.write(text)
        return str(Path(file.name))
    except OSError as problem:
        return Message("could not be written ({problem})", problem=problem)
