"""The failing checks of a verdict by what they have in common: each cause is told once.

An error in one line makes every check fail that runs it, so an untouched stub gave 122 lines. Checks that
stop at the same place are one finding; what never ran is none.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

import msgspec

from engine.errors import Message, Said
from engine.judge.alone import told_small
from engine.judge.compare import NO_ERROR, NOT_RUN, SLOW, THREADS, Difference
from engine.judge.result import Result
from engine.run.types import Frame

NO_MODULE = re.compile(r"No module named '([\w.]+)'")
LACKING = re.compile(r"'([\w.]+)' object has no attribute '(\w+)'.*")
ROLE = re.compile(r"(?:RoleMissing: )?(\S+) has no (\S+)")
UNWRITTEN = Message("Not written yet.")
PACK = "pack/"  # files that a learner does not have


class Finding(msgspec.Struct, frozen=True):
    """One cause of failing checks.

    says: what it is, in one sentence. place: the learner's line, where there is one. ran: what the check
    did when it came to an error that the learner's code did not raise. lacks: the attribute that is missing.
    result: the first check that met it; more: the others.
    """

    says: Said
    result: Result
    place: Frame | None = None
    ran: str = ""
    lacks: str = ""
    more: tuple[Result, ...] = ()


def findings(results: Sequence[Result]) -> tuple[Finding, ...]:
    """The causes, in the order in which checks met them."""
    results = _larger_first(results)
    causes: dict[Hashable, list[Result]] = {}
    for result in results:
        if not result.passed and not unrun(result):
            causes.setdefault(_cause(result), []).append(result)
    return tuple(_finding(first, tuple(more)) for first, *more in causes.values())


def unwritten(results: Sequence[Result]) -> bool:
    """Whether the first cause is that something is not written yet."""
    return any(one.says == UNWRITTEN for one in findings(results)[:1])


def told_in_order(results: Sequence[Result]) -> tuple[Result, ...]:
    """The failing checks in the order in which they are told: cause by cause, what never ran at the end."""
    found = findings(results)
    ran = [check for one in found for check in (one.result, *one.more)]
    return (*ran, *(one for one in results if not one.passed and unrun(one)))


def _larger_first(results: Sequence[Result]) -> Sequence[Result]:
    """What differs in its last digits is told first where it differs by more: there one sees why."""
    failing = [one for one in results if not one.passed and not unrun(one)]
    if not failing or not told_small(failing[0].pattern):
        return results
    value = _difference(failing[0]).value
    clear = next((r for r in failing if not _slight(r) and _difference(r).value == value), None)
    return results if clear is None else [clear, *(one for one in results if one is not clear)]


def _slight(result: Result) -> bool:
    """Whether the value that is told of agrees in its first digits."""
    found = _difference(result)
    if found.aspect != "value":
        return True
    try:
        wanted, given = float(str(found.expected)), float(str(found.got))
    except ValueError:
        return True
    return told_small(result.pattern) or abs(given - wanted) < 1e-2 * abs(wanted)


def unrun(result: Result) -> bool:
    """Whether a check failed only as it was never run."""
    found = result.difference
    return found is not None and found.aspect == "stopped" and found.got == NOT_RUN


def own_frames(result: Result) -> tuple[Frame, ...]:
    """The lines of an error that are the learner's."""
    return tuple(frame for frame in result.frames if not frame.path.startswith(PACK))


def sentence(result: Result) -> str:
    """The first difference of a check in one line of English: where, what was expected, what came, why."""
    found = result.difference
    if found is None:
        return ""
    at = str(list(found.index)) if found.index else ""
    name = f"{found.value}{at} is " if found.value else ""
    parts = [
        f"{result.component}, {result.id}, regime {result.regime} ({result.inputs}): "
        f"{name}{found.got}, expected {found.expected}."
    ]
    if found.total > 1:
        parts.append(f"{found.differing} of {found.total} values differ.")
    if result.pattern:
        parts.append(str(result.pattern))
    if result.traceback:
        parts.append(f"Raised at {result.traceback[-1]}.")
    return " ".join(parts)


def _cause(result: Result) -> Hashable:
    """What failing checks with the same cause have in common."""
    found = _difference(result)
    own = own_frames(result)
    if found.aspect == "raised" and found.got != NO_ERROR:
        if found.got.startswith("NotImplementedError"):
            return "NotImplementedError"
        if own:
            return str(found.got).partition(":")[0], own[-1].path, own[-1].line
        return "NoneType" if "'NoneType' object" in found.got else re.sub(r"\d+", "", found.got)
    if found.aspect == "stopped":
        return found.aspect, str(found.got), own[-1:]
    if found.aspect in ("again", "dtype"):
        return found.aspect, str(found.expected), str(found.got)
    return str(_other(result)) or (result.component, result.id)


def _unexpected_error(result: Result) -> bool:
    found = result.difference
    return found is not None and found.aspect == "raised" and found.expected == NO_ERROR


def _finding(first: Result, more: tuple[Result, ...]) -> Finding:
    own = own_frames(first)
    place = _place(first, own)
    if _unexpected_error(first):
        kind, _, message = str(_difference(first).got).partition(": ")
        last = first.frames[-1] if first.frames else None
        ran = last.text if last is not None and last.path.startswith(PACK) else ""
        lacking = LACKING.fullmatch(message) if ran else None
        lacks = lacking[2] if lacking else ""
        return Finding(_error(kind, message, place, ran), first, place, ran, lacks, more)
    return Finding(_other(first), first, place, more=more)


def _place(result: Result, own: tuple[Frame, ...]) -> Frame | None:
    """The line to look at: of an error the innermost; of a call that never ended the innermost of the file
    that the check called, since what a loop calls ends each time.
    """
    if not own or _difference(result).aspect != "stopped":
        return own[-1] if own else None
    called = next((frame for frame in own if frame.function != "__call__"), own[0])
    return [frame for frame in own if frame.path == called.path][-1]


def _difference(result: Result) -> Difference:
    assert result.difference is not None  # what failed differs
    return result.difference


def _error(kind: str, message: str, place: Frame | None, ran: str) -> Said:
    """What an error means that no check expects."""
    said = f"{kind}: {message}" if message else kind
    if kind == "NotImplementedError" and place:
        return UNWRITTEN
    if kind == "RecursionError":
        return Message("Your code calls itself without end.")
    if kind == "RoleMissing":
        return Message("Not there yet: {message}.", message=lacking_role(message))
    module = NO_MODULE.fullmatch(message)
    package = module[1].partition(".")[0] if module else ""
    if kind == "ModuleNotFoundError" and module and place and package in place.path.split("/"):
        return Message("Your package has no module {module}, and imports it.", module=module[1])
    if kind == "ModuleNotFoundError" and module:
        return Message(
            "Your code cannot be imported: there is no module {module}. If it is a package,"
            " `python -m pip install {package}` in your code's environment installs it.",
            module=module[1], package=package,
        )  # fmt: skip
    if kind in ("ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError"):
        return Message("Your code cannot be imported: {error}", error=said)
    if kind == "PermissionError":
        return Message(
            "{error}. A check may read only your own folder, and write only in the folder that it runs in.",
            error=said,
        )
    lacking = LACKING.fullmatch(message)
    if kind == "AttributeError" and lacking and lacking[1] == "NoneType":
        return Message(
            "None stands where something with .{attribute} is needed: is a `return` missing, or was it never"
            " set?",
            attribute=lacking[2],
        )
    if "'NoneType'" in message and kind == "TypeError":
        return Message("{error}: is a `return` missing, or was it never set?", error=said)
    if kind == "AttributeError" and ran:
        if lacking:
            return Message(
                "{name} has no attribute {attribute}.", name=lacking[1], attribute=lacking[2]
            )
    return said


def _no_result(why: Said) -> Said:
    """What it means that there is no answer."""
    if why == UNWRITTEN:
        return why
    if why == SLOW:
        return Message("It gave no result: {why}. Is there a loop that never ends?", why=why)
    return Message("It gave no result: {why}.", why=why) if why else ""


def _changed(name: str) -> Said:
    """What a call did beside giving its result; name: as run/child/jobs.py has it."""
    if name == THREADS:
        return Message("A thread of yours goes on after the call; none should.")
    if "." in name:
        return Message("Your code replaces {name}; it should stay as Python has it.", name=name)
    return Message("Your code changes {name} in place; it should leave it as it was.", name=name)


def lacking_role(message: str) -> Said:
    """What run/child/jobs.py says of a name of the contract that a module lacks; else Python's own words."""
    found = ROLE.fullmatch(message)
    return Message("{module} has no {name}", module=found[1], name=found[2]) if found else message


def _other(result: Result) -> Said:
    """What it is that differs, where no error was raised that should not have been."""
    found = _difference(result)
    name = str(found.value)
    if found.aspect == "stopped":
        return _no_result(found.got)
    if found.aspect == "inputs":
        return _changed(name)
    if found.aspect == "again":
        return Message(
            "Two equal calls give different results: a random number, or something that is kept from call to"
            " call. Is dropout on?"
        )
    if str(found.got) == "None" and name.startswith("grad"):
        return Message(
            "{name} is None: the result is not connected to it, so backward() never reaches it; or it was"
            " cleared.",
            name=name.removeprefix("grad_") + ".grad" if name != "grad" else name,
        )
    if str(found.got) == "None":
        return Message("{name} is None: is a `return` missing?", name=name)
    if found.aspect == "raised":
        return Message(
            "It should raise {expected}; it gives: {got}.", expected=found.expected, got=found.got
        )
    return ""
