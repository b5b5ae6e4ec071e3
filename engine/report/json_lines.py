"""Reports as JSON: one object on one line, English and stable, for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import msgspec

from engine.report.formats import Line


def show(report: Any) -> None:
    """One line, at once."""
    sys.stdout.write(to_json(report) + "\n")
    sys.stdout.flush()


def judged(lines: Iterable[Line], about: str) -> None:
    """A line for each candidate."""
    for line in lines:
        show(line)


def to_json(report: Any) -> str:
    """One line of JSON, messages in English; names of files that are no Unicode come as escapes."""
    try:
        return msgspec.json.encode(report, enc_hook=str).decode()
    except UnicodeEncodeError:
        import json

        return json.dumps(msgspec.to_builtins(report, enc_hook=str))
