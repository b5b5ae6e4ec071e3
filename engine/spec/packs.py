"""Where packs and templates lie."""

from __future__ import annotations

import os
import re
from pathlib import Path

DEFAULT = "minimodel"  # the pack of who names none
PACKS_VARIABLE = "ENGINE_EXERCISES"  # more folders that hold packs, before the engine's own


def content_root(name: str) -> Path:
    """The folder `exercises` or `templates`: inside the installed package, else in the checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / name
    return inside if inside.is_dir() else package.parent / name


def pack_roots() -> list[Path]:
    """Folders that hold packs, the first found wins."""
    extra = os.environ.get(PACKS_VARIABLE, "")
    return [Path(part) for part in extra.split(os.pathsep) if part] + [content_root("exercises")]


def packs() -> dict[str, Path]:
    """Pack name -> folder."""
    found: dict[str, Path] = {}
    for root in pack_roots():
        for file in sorted(root.glob("*/pack.yaml")):
            found.setdefault(file.parent.name, file.parent)
    return found


def is_fact_pack(file: Path) -> bool:
    """Whether a pack.yaml is of a pack that measures by facts: it declares them."""
    return re.search(rb"^facts:", file.read_bytes(), re.M) is not None


def lender(file: Path) -> str:
    """The pack of facts that a pack.yaml takes breaks from, `breaks_from: PACK`; "" for none."""
    found = re.search(rb"^breaks_from: *([\w-]+)", file.read_bytes(), re.M)
    return found[1].decode() if found else ""
