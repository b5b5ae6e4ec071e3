"""The learner's notes: Markdown that a person would keep, into which the engine only inserts.

An entry starts at an HTML comment and ends at another; what the engine adds goes right before the
end mark. Bytes that are there are never removed, moved or changed, whatever the learner did to them;
where the marks are gone, the engine appends.
"""

from __future__ import annotations

from pathlib import Path

from engine.learner.files import ensure_writable, storage, write


def start_mark(exercise: str, attempt: int) -> str:
    """The comment that an entry starts with."""
    return f"<!-- engine: {exercise} #{attempt} -->"


def end_mark(exercise: str, attempt: int) -> str:
    """The comment that an entry ends with."""
    return f"<!-- engine: end of {exercise} #{attempt} -->"


def read(file: Path) -> bytes:
    """The notes as they are; nothing, where there are none."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


def check(file: Path) -> None:
    """Raise StorageError now rather than after the learner has answered."""
    ensure_writable(file)
    with storage(file):
        read(file)


def insert(old: bytes, exercise: str, attempt: int, text: str, *, head: str = "") -> bytes:
    """`old` with `text` added to the entry of this attempt; a new entry where it has none."""
    newline = b"\r\n" if b"\r\n" in old else b"\n"
    start, end = start_mark(exercise, attempt), end_mark(exercise, attempt)

    def encoded(part: str) -> bytes:
        return part.encode("utf-8").replace(b"\n", newline)

    body = text.rstrip("\n") + "\n"
    place = old.rfind(end.encode())
    if place >= 0:
        line = old.rfind(b"\n", 0, place) + 1  # the mark's own line, if it stands alone there
        at = line if not old[line:place].strip() else place
        return old[:at] + encoded(body + "\n") + old[at:]
    gap = b"" if not old else newline if old.endswith(b"\n") else newline * 2
    opening = head.rstrip("\n") + "\n\n" if head else ""
    return old + gap + encoded(f"{opening}{start}\n\n{body}\n{end}\n")


def add(
    file: Path, exercise: str, attempt: int, text: str, *, head: str = "", top: str = ""
) -> None:
    """Insert `text` into the notes on disk; `top` opens a file that does not exist yet."""
    old = read(file) or top.encode("utf-8")
    write(file, insert(old, exercise, attempt, text, head=head))
