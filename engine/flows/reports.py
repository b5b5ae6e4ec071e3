"""What is told of commands that only read or write files: there is no flow behind them."""

from __future__ import annotations

import msgspec


class HintReport(msgspec.Struct, frozen=True):
    """`engine hint`: one hint, or with `--all` those of an exercise that is over. `again`: those that were
    seen before. `number`: of the last one that is here. `unwritten`: the build stopped last at what is not
    written yet.
    """

    exercise: str
    number: int
    of: int
    hints: tuple[str, ...]
    again: bool = False
    unwritten: bool = False


class InitReport(msgspec.Struct, frozen=True):
    """`engine init`: the new folder, and whose code it is about."""

    name: str
    home: str
    model: str
    pack: str
    from_template: bool
    warning: str = ""
    complete: bool = False  # the template's code is finished
    found: str = ""  # what was taken for the model, of a pack of facts
    applying: tuple[int, int] | None = None  # breaks that apply, of how many
    next: str = "engine next"  # the command to type there


class ReproReport(msgspec.Struct, frozen=True):
    """`engine repro`: the folder of the script, and what runs it."""

    exercise: str
    check: str
    folder: str
    python: str
    inputs: tuple[str, ...]


class NotesReport(msgspec.Struct, frozen=True):
    """`engine notes`."""

    file: str
    text: str


class ResetReport(msgspec.Struct, frozen=True):
    """`engine reset`: the snapshot that keeps what was there, and how to get its files; `back`: the
    practice copy, where it was brought back.
    """

    exercise: str
    snapshot: str
    restore: str
    back: str = ""


class WatchReport(msgspec.Struct, frozen=True):
    """`engine watch`: what is watched, before each verdict; `right`: the command that records what would be
    accepted.
    """

    exercise: str
    folder: str
    right: str = ""


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at."""

    what: str
    good: bool
    found: str


class DoctorReport(msgspec.Struct, frozen=True):
    """`engine doctor`."""

    healthy: bool
    findings: tuple[Finding, ...]
