"""Specs that were read before, kept by the hash of their bytes: reading YAML takes a hundred times as long.

One file for each spec, in the folder of `index.py`'s records. It may be deleted at any time; one that cannot
be read, or was written for other types, is as good as none, and where none can be written nothing is lost but
time.
"""

from __future__ import annotations

import os
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import msgspec

from engine.spec.index import cache_file, save_file

S = TypeVar("S", bound=msgspec.Struct)
KEPT = 400  # files: those that were written last


def read(source: bytes, kind: type[S]) -> S | None:
    """What was kept of these bytes."""
    try:
        return msgspec.msgpack.decode(_file(source, kind).read_bytes(), type=kind)
    except (OSError, ValueError):  # also what msgspec raises
        return None


def keep(source: bytes, spec: msgspec.Struct) -> None:
    """Keep what these bytes were read as."""
    file = _file(source, type(spec))
    if save_file(file, msgspec.msgpack.encode(spec)):
        _forget(file.parent)


def _file(source: bytes, kind: type[msgspec.Struct]) -> Path:
    """Where it is kept. A type with other fields is another type, and so is one of another engine."""
    named = blake2b(source, digest_size=20, key=_types(kind))
    return cache_file().parent / "specs" / f"{named.hexdigest()}.msgpack"


@cache
def _types(kind: type[msgspec.Struct]) -> bytes:
    """The source of the spec types, and the name of one: what is read depends on all of it."""
    folder = Path(__file__).parent
    marks = [
        f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}"
        for file in sorted((*folder.glob("*.py"), *folder.glob("types/*.py")))
    ]
    return blake2b("\n".join([kind.__name__, *marks]).encode(), digest_size=32).digest()


def _forget(folder: Path) -> None:
    """The files that were written first, where they are too many."""
    try:
        files = sorted(folder.glob("*.msgpack"), key=os.path.getmtime)
        for file in files[:-KEPT]:
            file.unlink()
    except OSError:
        return
