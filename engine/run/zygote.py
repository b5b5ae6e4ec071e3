"""Starts the interpreter that learner code is forked from, and the folder that it works in.

A command may have it started `ahead`, before it imports anything heavy: the interpreter then imports
numpy on a processor of its own meanwhile. The next `Servers` take it over; what nobody takes over
ends with the command.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from engine.errors import LearnerCodeError, Message, StorageError
from engine.run.bootstrap import CHILD_MODULES, LOADER, bootstrap

GRACE = 1.0  # seconds, after which an interpreter that does not leave is killed


class Zygote:
    """A started interpreter; `control` asks it for servers.

    Raises LearnerCodeError when it cannot be started.
    """

    def __init__(self, python: str, workdir: str, modules: Sequence[str] = CHILD_MODULES) -> None:
        self.python = python
        self.workdir = workdir
        self.control, theirs = socket.socketpair()
        environment = {
            key: value
            for key, value in os.environ.items()
            if key in ("PATH", "HOME", "LANG", "LC_ALL", "SYSTEMROOT", "LD_LIBRARY_PATH")
        }
        for key in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
            environment[key] = "1"
        environment |= {"PYTHONHASHSEED": "0", "HOME": workdir, "TMPDIR": workdir}
        try:
            self.process = subprocess.Popen(
                [python, "-I", "-B", "-X", "utf8", "-c", LOADER, str(theirs.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env=environment,
                cwd=workdir,
            )
        except OSError as error:
            self.control.close()
            raise LearnerCodeError(
                Message(
                    "The interpreter {python} cannot be started: {reason}.",
                    python=python,
                    reason=error.strerror,
                ),
                next=Message("Put the right one under `python:` in learner.yaml."),
            ) from error
        finally:
            theirs.close()
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(bootstrap(modules))
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # it said why by leaving; the greeting will be missing

    def leave(self) -> None:
        """Let it go: it waits for its servers, which end what they started."""
        self.control.close()

    def end(self, grace: float = GRACE) -> None:
        """Wait for it so many seconds, then kill whatever is left."""
        self.leave()
        try:
            self.process.wait(grace)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def workdir() -> str:
    """A new folder for the learner code of one command. Raises StorageError."""
    try:
        return tempfile.mkdtemp(prefix="engine-run-")
    except OSError as error:
        raise StorageError(
            Message(
                "No folder for temporary files can be made ({reason}); nothing was lost.",
                reason=error.strerror,
            ),
            next=Message("Make room, or name another place: TMPDIR=... engine ..."),
        ) from error


_ahead: list[Zygote] = []


def ahead() -> None:
    """Start the engine's own interpreter now, for the `Servers` that come."""
    if not _ahead:
        atexit.register(unused)
        _ahead.append(Zygote(sys.executable, workdir()))


def taken() -> Zygote | None:
    """The one that was started ahead, once."""
    return _ahead.pop() if _ahead else None


def unused() -> None:
    """End the one that was started ahead and that nobody took."""
    one = taken()
    if one is not None:
        one.end(grace=0)
        shutil.rmtree(one.workdir, ignore_errors=True)
