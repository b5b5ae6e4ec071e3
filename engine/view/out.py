"""The two ways a report leaves: as one JSON object, or as text for a person."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from engine.errors import EngineError, LearnerCodeError


def emit(report: Any, *, as_json: bool) -> None:
    """Print a report on standard output. rich is loaded only for a person."""
    if as_json:
        sys.stdout.write(to_json(report) + "\n")
        return
    from engine.view.text import show

    show(report)


def to_json(report: Any) -> str:
    """One line of JSON; names of files that are no Unicode come as escapes."""
    try:
        return msgspec.json.encode(report).decode()
    except UnicodeEncodeError:
        import json

        return json.dumps(msgspec.to_builtins(report))


def emit_line(record: dict[str, Any]) -> None:
    """One line of JSON Lines, at once."""
    sys.stdout.write(to_json(record) + "\n")
    sys.stdout.flush()


def emit_error(error: EngineError, *, as_json: bool) -> None:
    """Say what happened, where, and what to type next."""
    frames = error.frames if isinstance(error, LearnerCodeError) else ()
    if as_json:
        fields = {
            "error": {
                "kind": type(error).__name__,
                "what": error.what,
                "where": error.where,
                "next": error.next,
                "frames": list(frames),
                "exit_code": error.exit_code,
            }
        }
        sys.stdout.write(to_json(fields) + "\n")
        return
    sys.stderr.write(safe(f"engine: {error.what}") + "\n")
    for part in (error.where, *frames, error.next):
        if part:
            sys.stderr.write("\n".join("  " + line for line in safe(part).splitlines()) + "\n")


def safe(text: str) -> str:
    """Text from learners and packs, without what would steer a terminal."""
    return "".join(c if c in "\n\t" or (c.isprintable()) else f"\\x{ord(c):02x}" for c in text)


def reflowed(text: str) -> str:
    """Paragraphs as single lines, so that they can be wrapped anew; lists and code stay."""
    lines: list[str] = []
    for line in text.split("\n"):
        joins = lines and lines[-1].strip() and line.strip()
        if joins and not line.startswith((" ", "-")) and not line[0].isdigit():
            lines[-1] += " " + line
        else:
            lines.append(line)
    return "\n".join(lines)


def progress(text: str) -> None:
    """A line about work that takes a while, on standard error, when somebody watches."""
    if sys.stderr.isatty():
        sys.stderr.write(safe(text) + " ...\n")
