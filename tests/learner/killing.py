"""Runs `engine` and kills it, with signal 9, right before its Nth step that touches a folder.

    python killing.py FOLDER N engine-words...

A step is whatever Python's audit hooks tell of: a file opened to be written, made, renamed, removed, a
database or a program opened. With N = 0 nothing is killed, and the number of steps is the last line
on standard error. It kills the process that it is in, and no other.
"""

from __future__ import annotations

import os
import signal
import sys

FOLDER, LIMIT = sys.argv[1], int(sys.argv[2])
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
STEPS = {
    "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "os.truncate", "os.link",
    "os.symlink", "os.utime", "sqlite3.connect", "subprocess.Popen", "fcntl.flock",
}  # fmt: skip
steps = 0


def touches(event: str, args: tuple[object, ...]) -> bool:
    """Whether this step changes something below FOLDER."""
    if event == "open":
        return isinstance(args[2], int) and bool(args[2] & WRITES) and FOLDER in str(args[0])
    return event in STEPS and (event == "fcntl.flock" or FOLDER in str(args))


def hook(event: str, args: tuple[object, ...]) -> None:
    """Count steps; at the Nth there is no next moment."""
    global steps
    if (event == "open" or event in STEPS) and touches(event, args):
        steps += 1
        if steps == LIMIT:
            os.kill(os.getpid(), signal.SIGKILL)


sys.addaudithook(hook)
sys.argv = ["engine", *sys.argv[3:]]

from engine.cli.learner import main  # noqa: E402

try:
    main()
finally:
    print(f"\n{steps}", file=sys.stderr)
