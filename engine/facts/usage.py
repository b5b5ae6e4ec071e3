"""How a tree says that a script is run: command lines in its texts, shell scripts and the script itself."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from engine.facts.files import TOLD

LINES, MAKERS = 2, 2  # that are tried
STARTED = re.compile(r"^(if __name__|[\w.]+\(|with |for |while )", re.M)
PREPARES = re.compile(r"prepar|preprocess|tokeni[sz]|vocab|bpe", re.I)
WRITES = re.compile(
    r"open\([^)]*[\"'][wx]b?[\"']|\.(dump|save\w*|tofile|write\w*|train)\(|memmap\("
)
STARTS = re.compile(r"\b(?:python[\w.]*|torchrun|accelerate +launch|deepspeed|uv +run)\s+([^\n]+)")
JOINED = re.compile(r"[ \t]*[\\^`][ \t]*\n[ \t]*")
ENDS = re.compile(r"^(&&?|\|\|?|;|\d?>.*|2>&1|`+)$")
FILLED_BY_READER = re.compile(r"[$<{…]|\.\.\.")
OTHER_ENDS = re.compile(
    r"resume|finetun|from_pretrained|inference|--?(h|help|eval|test|sample|generate)([= ]|$)", re.I
)


def arguments(files: Mapping[str, bytes], path: str) -> list[list[str]]:
    """The arguments with which this script is run, as the tree's texts give them: the nearest text first."""
    found: list[list[str]] = []
    for text in _texts(files, path):
        for line in STARTS.findall(JOINED.sub(" ", text)):
            given = _after(line, path)
            if given and given not in found:
                found.append(given)
    return found[:LINES]


def makers(files: Mapping[str, bytes], path: str, absent: Sequence[str]) -> list[str]:
    """Other scripts that write a file which this one did not find: those that name it, else those that are
    called after such work; the nearest first.
    """
    names = [re.escape(name) for name in absent if len(name) > 3]
    if not names:
        return []
    named = re.compile("|".join(names))
    found = []
    for file, content in files.items():
        text = content.decode("utf-8", "replace") if file.endswith(".py") and file != path else ""
        if not STARTED.search(text) or not WRITES.search(text):
            continue
        told = " ".join(word for given in arguments(files, file) for word in given)
        literal = bool(named.search(text) or named.search(told))
        if literal or PREPARES.search(file):
            found.append((not literal, not _beside(file, path), file.count("/"), file))
    return [file for *_, file in sorted(found)][:MAKERS]


def _texts(files: Mapping[str, bytes], path: str) -> Iterator[str]:
    """What may hold command lines for a script, its own text first."""
    told = [file for file in files if file.endswith((*TOLD, "Makefile"))]
    told.sort(
        key=lambda file: (not _beside(file, path), file.count("/"), not file.endswith(".md"), file)
    )
    for file in [path, *told]:
        yield files.get(file, b"").decode("utf-8", "replace")


def _beside(file: str, path: str) -> bool:
    """Whether a text lies in the script's folder or above it."""
    folder = file.rpartition("/")[0]
    return not folder or path.startswith(folder + "/")


def _after(line: str, path: str) -> list[str]:
    """The words behind the script's name in a command line, up to where the command ends."""
    try:
        typed = shlex.split(re.split(r"`|\"\"\"|'''", line)[0].replace("\\", "/"), comments=True)
    except ValueError:
        return []
    for place, word in enumerate(typed):
        module = place > 0 and typed[place - 1] == "-m"
        name = word.replace(".", "/") + ".py" if module and not word.endswith(".py") else word
        name = name.removeprefix("./")
        if not name.endswith(".py"):
            continue
        if path != name and not path.endswith("/" + name) and not name.endswith("/" + path):
            return []
        given = typed[place + 1 :]
        end = next((n for n, one in enumerate(given) if ENDS.match(one)), len(given))
        told = " ".join(given[:end])
        return [] if FILLED_BY_READER.search(told) or OTHER_ENDS.search(told) else given[:end]
    return []
