"""A new learner's folder: its settings, the files that it begins with, empty notes."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.learner import learner as learners
from engine.learner.files import storage
from engine.spec import yaml
from engine.spec.catalogue import Catalogue

LONGEST = 64  # characters of a name, of up to three bytes each: file systems take 255 bytes


def is_name(name: str) -> bool:
    """Letters of any script with their marks, digits, and - . _ but for the beginning."""
    letters = all(c.isalnum() or c in "-._" or unicodedata.category(c)[0] == "M" for c in name)
    return (
        letters
        and name[:1].isalnum()
        and len(name) <= LONGEST
        and len(name.encode()) <= 3 * LONGEST
    )


def make(
    home: Path, settings: Mapping[str, str | bool], catalogue: Catalogue, layers: Sequence[Path]
) -> None:
    """Make the folder in one step. layers: folders whose files are laid down, the later over the earlier."""
    with storage(home):
        home.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=home.parent, prefix=f".{home.name}-"))
        try:
            _fill(made, settings, catalogue, layers)
            made.chmod(0o755)
            made.rename(home)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise


def _fill(
    made: Path, settings: Mapping[str, str | bool], catalogue: Catalogue, layers: Sequence[Path]
) -> None:
    lines = [f"{key}: {_scalar(value)}\n" for key, value in settings.items()]
    (made / learners.FILE).write_text("".join(lines), "utf-8")
    (made / ".engine").mkdir()
    (made / ".engine" / ".gitignore").write_text("*\n")
    for layer in layers:
        for file in sorted(layer.rglob("*")):
            relative = file.relative_to(layer)
            if (
                file.is_file()
                and relative.parts[0] != "notes"
                and "__pycache__" not in relative.parts
            ):
                (made / relative).parent.mkdir(parents=True, exist_ok=True)
                (made / relative).write_bytes(file.read_bytes())
    notes = catalogue.template / "notes"
    phases = {entry.phase_number for entry in catalogue.entries.values() if entry.kind == "break"}
    for phase in sorted(phases):
        head = notes / f"breaks.{settings['lang']}.md"
        target = made / f"phase-{phase}" / "notes" / "breaks.md"
        target.parent.mkdir(parents=True)
        target.write_bytes(head.read_bytes() if head.is_file() else b"")


def _scalar(value: str | bool) -> str:
    """A value as YAML reads it back: a text is quoted where it could be taken for something else."""
    if isinstance(value, bool):
        return str(value).lower()
    plain = re.fullmatch(r"[A-Za-z./~][\w./~ -]*", value) and not value.endswith(" ")
    words = ("yes", "no", "on", "off", "y", "n", "true", "false", "null", ".inf", ".nan")
    number = isinstance(yaml.plain(value), str) and value.lower() not in words
    return value if plain and number else json.dumps(value, ensure_ascii=False)
