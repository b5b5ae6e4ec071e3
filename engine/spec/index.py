"""What the commands that are typed all the time need of a pack's YAML, kept by the hash of the bytes.

Reading the YAML of a pack takes ten times as long as hashing it. The hash is of the files' bytes, not
of their sizes and times: a megabyte is read and hashed in 3 ms, a checkout or an editor may give a
changed file the size and the time of the old one, and copies of a pack share what is known of them.

There is one file for all packs, in the user's cache folder. It may be deleted at any time; one that
cannot be read is as good as none, and where none can be written nothing is lost but time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from engine import __version__

VERSION = f"{__version__}/3"  # what other engines have written is not read
KEPT = 500  # records: those that were read last
Text = dict[str, str]


class Summary(msgspec.Struct, frozen=True):
    """An exercise: its title, its hints, the ids of the questions that are asked when it has passed, and
    how many minutes it takes. Of a build the hints that are about a check; of a break its area, and the
    hints of those who take it blind.
    """

    title: Text
    hints: tuple[Text, ...] = ()
    hints_for: dict[str, tuple[int, ...]] = {}
    grafted: dict[str, Text] = {}
    area: str = ""
    blind: tuple[Text, ...] = ()
    blind_grafted: dict[str, Text] = {}
    questions: tuple[str, ...] = ()
    minutes: int = 0


class Course(msgspec.Struct, frozen=True):
    """A `pack.yaml`: the order of the exercises."""

    path: tuple[str, ...]


class Records(msgspec.Struct):
    """The file: what is known of each YAML file, by the hash of its bytes."""

    version: str = VERSION
    summaries: dict[str, Summary] = {}
    courses: dict[str, Course] = {}
    learners: dict[str, dict[str, Any]] = {}  # learner.yaml as plain data


R = TypeVar("R")


def cache_file() -> Path:
    """Where the records are kept."""
    if sys.platform == "darwin":
        usual = "~/Library/Caches"
    else:
        usual = "~/.cache"
    given = os.environ.get("XDG_CACHE_HOME", "")
    folder = given if os.path.isabs(given) else os.path.expanduser(usual)
    return Path(folder) / "breakfix-engine" / "index.json"


def read(
    sources: Mapping[str, bytes],
    kept: Callable[[Records], dict[str, R]],
    make: Callable[[str], R],
) -> dict[str, R]:
    """What is known of each file. sources: the bytes of each, by name. kept: the records of that kind.
    make: reads one that is not known yet, by name; what it raises is raised.
    """
    file = cache_file()
    records = _load(file)
    known = kept(records)
    keys = {name: blake2b(source, digest_size=20).hexdigest() for name, source in sources.items()}
    fresh = {name: make(name) for name, key in keys.items() if key not in known}
    found = {name: fresh[name] if name in fresh else known[key] for name, key in keys.items()}
    if fresh:
        for name, key in keys.items():
            known.pop(key, None)
            known[key] = found[name]
        for key in [*known][:-KEPT]:
            del known[key]
        _save(file, records)
    return found


def _load(file: Path) -> Records:
    try:
        records = msgspec.json.decode(file.read_bytes(), type=Records)
    except (OSError, ValueError):  # also what msgspec raises: no JSON, or other JSON
        return Records()
    return records if records.version == VERSION else Records()


def _save(file: Path, records: Records) -> None:
    """Whoever saves last wins, and what is lost is read anew."""
    try:
        data = msgspec.json.encode(records)
    except ValueError:  # text that is no Unicode
        return
    save_file(file, data)


def save_file(file: Path, data: bytes) -> bool:
    """Replace a file of the cache in one step; False on a full or read-only disk."""
    import tempfile

    part = ""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=file.parent, prefix=".part-")
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        os.replace(part, file)
    except OSError:
        if part:
            Path(part).unlink(missing_ok=True)
        return False
    return True
