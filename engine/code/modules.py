"""Where modules lie: the file that a name of the contract is imported from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath


def role_files(
    roles: Mapping[str, str], roots: Iterable[str], files: Iterable[str]
) -> dict[str, str]:
    """Role -> the file that its module is, where there is one."""
    known = set(files)
    found: dict[str, str] = {}
    for role, where in roles.items():
        stem = PurePosixPath(*where.partition(":")[0].split("."))
        for part in roots:
            for candidate in (f"{stem}.py", f"{stem}/__init__.py"):
                path = (PurePosixPath(part) / candidate).as_posix() if part else candidate
                if path in known:
                    found.setdefault(role, path)
    return found
