"""The parent's side of experiments: one interpreter, the servers forked from it, answers that are checked.

    with Forks(python, TORCH, hidden) as forks:
        forks.hold("model", tree)
        answers = forks.run("model", jobs, limit=20)

What comes back was written by somebody's code: it is decoded as data and given to whoever asked, who
validates it (`engine/facts/trace.py`).
"""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from engine.errors import LearnerCodeError, Message
from engine.run.bootstrap import CHILD_MODULES
from engine.run.channel import Server
from engine.run.child import wire
from engine.run.zygote import GRACE, Zygote, workdir

TORCH = (
    *CHILD_MODULES,
    "runner",
    "torch_check",
    "torch_names",
    "torch_told",
    "torch_stubs",
    "torch_world",
    "torch_definitions",
    "torch_load",
    "torch_config",
    "torch_build",
    "torch_trace",
    "torch_experiments",
    "torch_optimizer",
    "torch_arguments",
    "torch_shrink",
    "torch_packages",
    "torch_tables",
    "torch_disk",
    "torch_arrays",
    "torch_files",
    "torch_alone",
    "torch_hydra",
    "torch_lightning",
    "torch_trainers",
    "torch_small",
    "torch_saved",
    "torch_events",
    "torch_data",
    "torch_script",
    "torch_generate",
    "torch_compare",
    "torch_recipe",
    "torch_run",
    "torch_walk",
    "torch_sharing",
    "torch_jobs",
)
FACTS = (*CHILD_MODULES, "runner", "fact_jobs")
START_LIMIT = 300.0  # seconds to import torch on a machine that is busy
WAIT = 12  # times the limit, which is processor time, that an answer may take by the wall
MEMORY = 6 << 30  # bytes of address space; torch alone maps two


class Greeting(msgspec.Struct, frozen=True):
    """What an interpreter says of itself."""

    python: tuple[int, int, int]
    landlock: int = 0
    seccomp: bool = False
    took: float = 0.0  # seconds for its imports
    torch: str | None = None
    numpy: str | None = None
    why: str = ""


class Folder(msgspec.Struct, frozen=True):
    """Files from memory, importable from `roots`; `root` is what a file's name begins with. compiled: whether
    all of them are before the first job, not each when it is imported.
    """

    root: str
    roots: tuple[str, ...]
    files: Mapping[str, bytes]
    compiled: bool = False


class Answer(msgspec.Struct, frozen=True):
    """What a job gave; `stopped`: "" or how its child ended without an answer (died, timeout, output)."""

    data: Mapping[str, Any]
    stopped: str = ""
    output: str = ""


class Forks:
    """One interpreter; a context manager that leaves no process and no file behind."""

    def __init__(self, python: str, modules: Sequence[str], hidden: Sequence[Path]) -> None:
        self._workdir = workdir()
        self._hidden = [str(path) for path in hidden]
        self._servers: dict[str, Server] = {}
        self._held: dict[str, tuple[Folder, str]] = {}
        self._greeting: Greeting | None = None
        self._starting = threading.Lock()
        try:
            self._zygote = Zygote(python, self._workdir, modules)
        except BaseException:
            shutil.rmtree(self._workdir, ignore_errors=True)
            raise

    def __enter__(self) -> Forks:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        while self._servers:
            self._servers.popitem()[1].close()
        self._zygote.end(GRACE if self._greeting else 0)
        shutil.rmtree(self._workdir, ignore_errors=True)

    def greeting(self) -> Greeting:
        """Wait until it has imported what it needs. Raises LearnerCodeError."""
        with self._starting:
            if self._greeting is None:
                hello = Server(self._zygote.control).receive(START_LIMIT)
                if hello is None:
                    raise LearnerCodeError(
                        Message(
                            "The interpreter {python} did not start. It must be Python 3.11 or newer.",
                            python=self._zygote.python,
                        ),
                        next=Message("Name another: engine check --python PYTHON"),
                    )
                self._greeting = msgspec.convert(hello, Greeting)
        return self._greeting

    def hold(self, name: str, folder: Folder, prepare: str = "") -> None:
        """Give the server `name` a tree; `prepare`: what it makes ready beforehand. A server that has made it
        ready stays: what runs a tree are its children.
        """
        held = self._held.get(name)
        server = self._servers.get(name)
        if server is not None and held == (folder, prepare):
            return
        self._held[name] = folder, prepare
        tree = {
            "do": "tree",
            "root": folder.root,
            "roots": list(folder.roots),
            "files": dict(folder.files),
            "compiled": folder.compiled,
        }
        if server is not None and held is not None and held[1] == prepare:
            try:
                server.send(tree)
                return
            except OSError:  # it died since it was last used: another takes its place
                pass
        self._fork(name, prepare).send(tree)

    def _fork(self, name: str, prepare: str) -> Server:
        """Another server of this name."""
        self.greeting()
        if name in self._servers:
            self._servers.pop(name).close()
        ours, theirs = socket.socketpair()
        with self._starting:
            socket.send_fds(self._zygote.control, [b"f"], [theirs.fileno()])
        theirs.close()
        server = self._servers[name] = Server(ours)
        server.send(
            {
                "do": "hold",
                "workdir": tempfile.mkdtemp(prefix=f"{name}-", dir=self._workdir),
                "memory": MEMORY,
                "hidden": self._hidden,
                "prepare": prepare,
            }
        )
        return server

    def run(self, name: str, jobs: Sequence[Mapping[str, Any]], limit: float) -> list[Answer]:
        """What each job gave, each in at most `limit` seconds of processor time, in a child of its own."""
        return [self._one(name, job, limit) for job in jobs]

    def _one(self, name: str, job: Mapping[str, Any], limit: float) -> Answer:
        if name not in self._servers:  # it was given up after the last job
            self.hold(name, *self._held[name])
        server = self._servers[name]
        data: dict[str, Any] = {}
        stopped = "gone"
        try:
            server.send({"do": "run", "jobs": [dict(job)], "limit": limit})
            while (message := server.receive(WAIT * limit + START_LIMIT)) is not None:
                if "end" in message:
                    ended = "" if data else str(message["end"])
                    return Answer(data, ended, str(message["output"])[-2000:])
                answered = server.receive(START_LIMIT)
                if answered is None:
                    break
                data = answered
        except (OSError, wire.WireError, KeyError, TypeError) as error:
            stopped = f"unreadable: {error}"
        self._servers.pop(name).close()
        return Answer({}, stopped)
