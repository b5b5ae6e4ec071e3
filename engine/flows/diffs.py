"""What a learner changed: as a diff, as files with their hashes, and what in it may explain a refusal."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Mapping

from engine.errors import Message, Said


def unified(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> str:
    """A unified diff of two file sets."""
    lines: list[str] = []
    for path in sorted({*old, *new}):
        a, b = old.get(path, b""), new.get(path, b"")
        if a != b:
            lines += difflib.unified_diff(
                a.decode("utf-8", "replace").splitlines(),
                b.decode("utf-8", "replace").splitlines(),
                f"a/{path}",
                f"b/{path}",
                lineterm="",
            )
    return "\n".join(lines) + ("\n" if lines else "")


def graded_files(
    broken: Mapping[str, bytes], now: Mapping[str, bytes]
) -> tuple[tuple[str, str], ...]:
    """The files that differ from the broken state, with the sha256 of what was judged."""
    return tuple(
        (path, hashlib.sha256(data).hexdigest())
        for path, data in sorted(now.items())
        if broken.get(path) != data
    )


SUSPICIOUS = {
    r"\bexcept\b": Message("a try/except: an error that is caught is not an error that is gone"),
    r"\b(clip|clamp)\(": Message("clip: values that are cut off have lost what they meant"),
    r"\bnan_to_num\(": Message("nan_to_num: the NaN came from somewhere"),
    r"\bdetach\(": Message("detach: values pass, gradients stop"),
    r"\bisinstance\(": Message("a special case for some types"),
}
NUMBER = r"(?<![\w.\]])(\d{2,})(?![\w.])"  # a whole number of two digits or more


def suspicious(diff: str) -> tuple[Said, ...]:
    """What in a refused diff may explain the refusal; it never decides one."""
    added = [line[1:] for line in diff.splitlines() if line[:1] == "+" and line[:3] != "+++"]
    gone = [line[1:] for line in diff.splitlines() if line[:1] == "-" and line[:3] != "---"]
    came, went = (" ".join(line.partition("#")[0] for line in lines) for lines in (added, gone))
    found: list[Said] = [why for word, why in SUSPICIOUS.items() if re.search(word, came)]
    fresh = sorted({*re.findall(NUMBER, came)} - {*re.findall(NUMBER, went)}, key=int)
    found += [
        Message("the number {number}: does it fit other sizes than those shown?", number=number)
        for number in fresh
    ]
    return tuple(found)
