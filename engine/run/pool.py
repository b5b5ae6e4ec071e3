"""The parent's side of processes: start the interpreter, ask it for servers, send work, read answers.

An interpreter (`zygote.py`) gets run/child as text over a pipe and imports numpy. It forks a *server* for
each party that must not know of another: the pack's code, the healthy tree, the candidate. A server forks a
*child* for each run; the child steps behind limits, Landlock and seccomp, imports its tree from memory, works
through its jobs and is gone. Every answer is a frame of JSON and raw arrays: nothing is unpickled, no exit
status and no output is believed.

* Trees come from memory, so no stale .pyc can decide, candidates for an injection never touch the disk, and
  the child needs no right to read the learner's folder at all.
* A server compiles a tree when it is handed over (`load_tree`), not when it is first run.
* An injection is no candidate that may look for the healthy code, its edits are the engine's own: they are
  tried on the learner's server, which has most of their code compiled.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from engine.errors import LearnerCodeError, Message
from engine.run.bootstrap import TORCH_MODULES, exam_modules
from engine.run.channel import END, GONE, Server
from engine.run.greeting import greeting
from engine.run.types import PLAIN_RUN, RunOptions, Sandbox, Tree
from engine.run.zygote import Zygote, taken, workdir

LIMIT = 10.0  # seconds of its own for one job, before anything is known of this code
MEMORY, TORCH_MEMORY = 4 << 30, 6 << 30  # bytes; torch alone maps two
CALLS = ("/call.py", "pack/calls.py")  # what of a pack the learner's side gets
SECOND = "+"  # ends the name of a server that works beside another one
TRACED = "traced"  # the server that records what expressions give
SPLIT = 64  # jobs, from which on two children share them
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ServerPool:
    """Started servers by name, and the tree that each of them holds; a context manager that leaves no process
    behind.

    pack: the pack's files, {"pack/<component>/call.py": text, ...}. python: the learner's interpreter, None
    for the engine's own. hidden: paths that learner code must never read. exam: whether servers get what
    exists only against cheats; it may be changed later, and holds from then on. torch: whether the learner's
    side is an interpreter with torch, and works with tensors. readable: data files that learner code may
    read, beside those of the interpreter; for servers that are started afterwards.
    """

    def __init__(
        self,
        pack: Mapping[str, bytes],
        *,
        python: str | None = None,
        hidden: Sequence[Path] = (),
        exam: bool = False,
        torch: bool = False,
    ) -> None:
        self._torch = torch
        self._pack = dict(pack)
        self._calls = {path: text for path, text in pack.items() if path.endswith(CALLS)}
        self._python = python
        self._hidden = [str(path) for path in (*hidden, *own_paths())]
        self._zygotes: list[Zygote] = []
        self._servers: dict[str, Server] = {}
        self._held: dict[str, Tree] = {}
        self._precompiled: defaultdict[str, set[str]] = defaultdict(set)  # components, by server
        self._examining: set[str] = set()  # servers that have the modules of child/exam
        self._workdir = ""
        self._starting = threading.Lock()  # two may ask for a server at the same time
        self._loading = (
            threading.Lock()
        )  # or hand it one tree: the second ends the run of the first
        self.exam = exam
        self.readable: Sequence[Path] = ()
        self.sandbox = Sandbox((0, 0, 0), None, 0, False)
        self.limit = LIMIT
        self.progress: Callable[[str], None] = lambda _: None  # told after each answer
        self._answered = 0

    def __enter__(self) -> Self:
        own = taken()
        self._zygotes = [own] if own else []
        self._workdir = own.workdir if own else workdir()
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        while self._servers:  # after Ctrl-C a thread may still be starting one
            self._servers.popitem()[1].close()
        for zygote in self._zygotes:
            zygote.leave()
        for zygote in self._zygotes:
            zygote.end()
        self._zygotes.clear()
        shutil.rmtree(self._workdir, ignore_errors=True)

    def start(self) -> None:
        """Start the interpreter(s); a second zygote only where the learner has their own."""
        if not self._zygotes:
            self._zygotes.append(Zygote(sys.executable, self._workdir))
        if self._torch:
            python = self._python or sys.executable
            self._zygotes.append(Zygote(python, self._workdir, TORCH_MODULES))
        elif self._python and Path(self._python) != Path(sys.executable):
            self._zygotes.append(Zygote(self._python, self._workdir))
        self._greeted = False
        self._failed: LearnerCodeError | None = None

    def _greet(self) -> None:
        """Read what each zygote says of itself, once, when the first server is asked for."""
        if self._failed is not None:
            raise self._failed
        if self._greeted:
            return
        try:
            *others, learners = self._zygotes
            for zygote in others:
                greeting(zygote)
            self.sandbox = greeting(learners, torch=self._torch)
        except LearnerCodeError as error:
            self._failed = error
            raise
        self._greeted = True

    def sandbox_of(self, name: str) -> Sandbox:
        """What the machine offers; starts a server where none was needed yet."""
        self._server(name)
        return self.sandbox

    def _server(self, name: str) -> Server:
        with self._starting:
            server = self._servers.get(name) or self._started(name)
            if self.exam != (name in self._examining):
                self._send_exam(name, server)
            return server

    def _started(self, name: str) -> Server:
        self._greet()
        ours, theirs = socket.socketpair()
        learner = not _of_pack(name)
        zygote = self._zygotes[-1 if learner else 0]
        socket.send_fds(zygote.control, [b"f"], [theirs.fileno()])
        theirs.close()
        server = self._servers[name] = Server(ours)
        workdir = tempfile.mkdtemp(prefix=f"{len(self._servers)}-", dir=self._workdir)
        server.send(
            {
                "do": "hold",
                "root": "/engine",
                "texts": self._calls if learner else self._pack,
                "workdir": workdir,
                "memory": TORCH_MEMORY if self._torch and learner else MEMORY,
                "confined": learner,
                "hidden": self._hidden,
                "readable": [str(path) for path in self.readable] if learner else [],
            }
        )
        return server

    def _send_exam(self, name: str, server: Server) -> None:
        """What exists only against cheats, or that there is nothing of it any more. The children of a
        learner's second server look like processes of the learner's own: of many jobs every other one runs
        there.
        """
        message: dict[str, Any] = {"do": "exam", "modules": [], "home": ""}
        self._examining.discard(name)
        if self.exam:
            self._examining.add(name)
            message["modules"] = exam_modules("pack" if _of_pack(name) else "learner")
            if name.endswith(SECOND) and not _of_pack(name):
                message["home"] = os.path.expanduser("~")
        try:
            server.send(message)
        except OSError:  # it died since it was last used, as whoever sends to it next will see
            pass

    def _drop(self, name: str) -> None:
        server = self._servers.pop(name, None)
        if server is not None:
            server.close()
        self._held.pop(name, None)
        self._precompiled.pop(name, None)
        self._examining.discard(name)

    def load_tree(self, tree: Tree, *names: str) -> None:
        """Give servers the tree that they will run, or trace, each with the one that works beside it;
        they compile it while something else goes on. Raises LearnerCodeError.
        """
        for name in names:
            self._load_tree(name, tree)
            if CORES > 1 and name != TRACED:
                self._load_tree(name + SECOND, tree)

    def _load_tree(self, name: str, tree: Tree) -> None:
        """Give a server the tree that it is to run, unless it has it already."""
        with self._loading:
            if self._held.get(name) is not tree:
                self._hand_over(name, tree)

    def _hand_over(self, name: str, tree: Tree) -> None:
        message = {
            "do": "tree",
            "root": tree.root,
            "roots": tree.roots,
            "files": tree.files,
            "roles": tree.roles,
            "eager": tree.eager,
            "trace": name == TRACED,
        }
        try:
            self._server(name).send(message)
        except OSError:  # it died since it was last used: another takes its place
            self._drop(name)
            self._server(name).send(message)
        self._held[name] = tree

    def precompile(self, *components: str) -> None:
        """Have the pack's code for these components compiled while something else goes on, of many also by
        the server that works beside it. Raises LearnerCodeError.
        """
        for name in ("pack", "pack" + SECOND) if len(components) > 1 and CORES > 1 else ("pack",):
            fresh = [one for one in components if one not in self._precompiled[name]]
            if not fresh:
                continue
            try:
                self._server(name).send({"do": "warm", "components": fresh})
            except OSError:  # it died since it was last used: whoever needs it starts another
                self._drop(name)
            else:
                self._precompiled[name].update(fresh)

    def _run(
        self,
        name: str,
        work: list[dict[str, Any]],
        limit: float,
        options: RunOptions = PLAIN_RUN,
        each: Callable[[int, Any], None] = lambda *_: None,
    ) -> tuple[dict[int, Any], Mapping[str, Any]]:
        """What each job answered, by its number, and how the run ended. limit: seconds for each. each: told
        as they come; whoever it tells may fail, and only what the server does counts as its failure.
        """
        answers: dict[int, Any] = {}
        message = {"do": "run", "jobs": work, "limit": limit, "trace": options.trace}
        message["covered"] = sorted(options.covered)
        end = GONE
        try:
            with closing(self._server(name).run(message, limit)) as messages:
                for number, answer in messages:
                    if number == END:
                        end = answer
                        break
                    answers[number] = answer
                    each(number, answer)
                    self._answered += 1
                    self.progress(Message("{count} measurements", count=self._answered))
        finally:
            if end is GONE:  # or whoever read its answers failed: it stands in the middle of them
                self._drop(name)
        return answers, end


def second(name: str, jobs: int) -> str:
    """A server that takes half of the jobs, where they are many; else ""."""
    return name + SECOND if jobs >= SPLIT else ""


def own_paths() -> list[Path]:
    """Where the engine itself lies on this machine: closed to learner code."""
    package = Path(__file__).resolve().parent.parent
    return [package, package.parent / "exercises", package.parent / "learners"]


def _of_pack(name: str) -> bool:
    return name in ("pack", "pack" + SECOND)
