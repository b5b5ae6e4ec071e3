"""Writing a file so that it is either the old one or the new one, whatever happens in between."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import Message, StorageError

REASONS = {
    errno.ENOSPC: Message("The disk is full"),
    errno.EDQUOT: Message("The disk quota is used up"),
    errno.EFBIG: Message("The file would be larger than is allowed here"),
    errno.EROFS: Message("The file system is read-only"),
    errno.EACCES: Message("Permission was denied"),
    errno.EPERM: Message("Permission was denied"),
}


def refused(error: OSError, where: str = "") -> StorageError | None:
    """What the disk refused, in words; None when the error is about something else."""
    reason = REASONS.get(error.errno or 0)
    if reason is None:
        return None
    return StorageError(
        Message("{reason}; nothing was lost.", reason=reason),
        where=str(error.filename or where),
        next=Message("Make room or change the permissions, then run the same command again."),
    )


@contextmanager
def storage(where: Path) -> Iterator[None]:
    """Turn the disk's refusals into a StorageError that names the place."""
    try:
        yield
    except OSError as error:
        told = refused(error, str(where)) or StorageError(
            Message("{reason}; nothing was lost.", reason=error.strerror or error),
            where=str(error.filename or where),
        )
        raise told from error


def ensure_writable(file: Path) -> None:
    """Raise StorageError when `file` is marked read-only, for the superuser too."""
    try:
        mode = file.stat().st_mode
    except FileNotFoundError:
        return
    if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(file, os.W_OK):
        raise StorageError(
            Message("The file is read-only; nothing was changed."),
            where=str(file),
            next=Message(
                "Make it writable, for example with `chmod u+w {file}`, and run this again.",
                file=file,
            ),
        )


def write(file: Path, data: bytes) -> None:
    """Replace `file` by `data` in one step, through links and keeping its permissions."""
    file = Path(os.path.realpath(file))
    ensure_writable(file)
    with storage(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        import tempfile  # brings random and hashlib, which reading does without

        fd, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(fd, "wb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else 0o644
            os.chmod(temporary, mode)
            os.replace(temporary, file)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def inside(root: Path, relative: str) -> Path:
    """`root/relative`, refused when it would leave `root`."""
    path = root / relative
    if os.path.isabs(relative) or ".." in Path(relative).parts:
        raise StorageError(
            Message("A path leads outside the folder it belongs to."), where=relative
        )
    return path
