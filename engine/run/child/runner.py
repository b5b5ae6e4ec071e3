"""A zygote, its servers and their children for experiments: what `server` is for probes.

A server holds one tree (a learner's, or a pack's facts) and one function `work(job, tree)`; it forks a
child for every run, watches clock and output, and passes the child's frames on.

Sent as text: standard library only.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
import time
import traceback

from engine.run.child import sandbox, wire, worker
from engine.run.child.supervisor import OUTPUT, OUTPUT_KEPT, answers, empty, end
from engine.run.child.tree import Tree
from engine.run.child.worker import JOB, RESULTS
from engine.run.child.zygote import wait_for_children

LOOK = 0.25  # seconds between looks at the clock
IDLE = 10  # times the limit that a child may take by the wall
FRAMES = 12  # of a failure, that travel
MESSAGE = 500  # characters of an exception's message that travel


def zygote(fd, prepare, work):
    """Serve fork requests on the control socket `fd` until it closes.

    prepare: imports what every child needs, and says what it found. work(job, tree): one answer.
    """
    sandbox.die_with_parent()
    sandbox.adopt_orphans()
    control = socket.socket(fileno=fd)
    hello = {
        "python": list(sys.version_info[:3]),
        "landlock": sandbox.landlock_version(),
        "seccomp": bool(sandbox.seccomp_program()),
    }
    started = time.perf_counter()
    hello.update(prepare(""))
    hello["took"] = time.perf_counter() - started
    control.sendall(wire.encode(hello))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        data, fds, _, _ = socket.recv_fds(control, 1, 1)
        if not data:
            wait_for_children()
            os._exit(0)
        if os.fork() == 0:
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            sandbox.die_with_parent()
            sandbox.adopt_orphans()
            serve(fds[0], prepare, work)
            os._exit(0)
        os.close(fds[0])


def refuse(fd, why):
    """Say that this interpreter cannot serve, and leave."""
    control = socket.socket(fileno=fd)
    control.sendall(wire.encode({"python": list(sys.version_info[:3]), **why}))
    os._exit(0)


class Held:
    """What one server holds between runs."""

    tree = None
    ruleset = -1
    program = b""
    workdir = "/"
    memory = sandbox.MEMORY
    confined = True


def serve(fd, prepare, work):
    """One server: a loop over messages on its socket."""
    held, buffer = Held(), wire.Buffer()
    while True:
        message = wire.receive(fd, buffer)
        if message is None:
            return
        if message["do"] == "tree":
            held.tree = Tree(message["root"], message["roots"], message["files"])
            held.tree.show_lines()
            if message["compiled"]:
                held.tree.precompile()
        elif message["do"] == "hold":
            held.workdir, held.memory = message["workdir"], message["memory"]
            sandbox.forget_checkout(message["hidden"])
            held.ruleset = sandbox.landlock_ruleset(held.workdir, message["hidden"])
            held.program = sandbox.seccomp_program()
            if message["prepare"]:
                prepare(message["prepare"])
        elif message["do"] == "run":
            run(fd, held, message, work)


def run(fd, held, message, work):
    """Fork a child for `message["jobs"]`, pass its frames on, then say how it ended."""
    limit, count = message["limit"], len(message["jobs"])
    token = os.urandom(16)
    results_out, results_in = os.pipe()
    output_out, output_in = os.pipe()
    gc.freeze()
    pid = os.fork()
    if pid == 0:
        try:
            sandbox.die_with_parent()
            child(held, message["jobs"], results_in, output_in, token, work)
        finally:
            os._exit(1)
    os.close(results_in)
    os.close(output_in)
    watch = Watch(fd, results_out, output_out, token, count, Clock(pid, limit))
    try:
        reason = watch.follow()
    finally:
        os.close(results_out)
        os.close(output_out)
        status = end(pid)
        empty(held.workdir)
    if reason != "gone":
        text = watch.kept.decode("utf-8", "replace")
        wire.write(fd, wire.encode({"end": reason, "status": status, "output": text}))


class Clock:
    """A limit in processor time of a child, so that a busy machine gives the same answers; a child that
    waits is given IDLE times as much by the clock on the wall.
    """

    def __init__(self, pid, limit):
        self._path, self._limit = "/proc/%d/stat" % pid, limit
        self._started = time.monotonic()

    def spent(self):
        """Seconds of processor time so far; by the wall where the system does not tell."""
        try:
            with open(self._path) as file:
                fields = file.read().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, IndexError):
            return time.monotonic() - self._started

    def over(self):
        waited = time.monotonic() - self._started
        return self.spent() > self._limit or waited > IDLE * self._limit


class Watch:
    """Reads what a child writes until it has answered, or ends, or its limits are reached."""

    def __init__(self, fd, results, output, token, count, clock):
        self.fd, self.results, self.output = fd, results, output
        self.token, self.count, self.clock = token, count, clock
        self.kept, self.printed = b"", 0
        self.arrived, self.answered = bytearray(), set()

    def follow(self):
        """How it ended: done, died, timeout, output, or gone (the engine has)."""
        watched = [self.results, self.output, self.fd]
        while True:
            ready = select.select(watched, [], [], LOOK)[0]
            if self.clock.over():
                return "timeout"
            if self.fd in ready:
                return "gone"
            if self.output in ready:
                data = os.read(self.output, 1 << 16)
                if not data:
                    watched.remove(self.output)
                self.kept = (self.kept + data)[-OUTPUT_KEPT:]
                self.printed += len(data)
                if self.printed > OUTPUT:
                    return "output"
            if self.results in ready:
                data = os.read(self.results, 1 << 18)
                if not data:
                    return "died"
                self.arrived += data
                self._pass_on()
                if len(self.answered) == self.count:
                    return "done"

    def _pass_on(self):
        for job, frame in answers(self.arrived, self.token):
            if job < self.count and job not in self.answered:
                self.answered.add(job)
                wire.write(self.fd, wire.encode({"answer": job}) + frame)


def child(held, jobs, results, output, token, work):
    """Work through the jobs in this process, and leave."""
    worker.step_behind_sandbox(held, results, output)
    for number, job in enumerate(jobs):
        try:
            answer = {"failed": None, **work(job, held.tree)}
        except BaseException as error:
            answer = {"failed": failure(error, held.tree)}
        try:
            frame = wire.encode(answer)
        except wire.WireError as error:
            frame = wire.encode({"failed": {"type": "WireError", "message": str(error), "at": []}})
        wire.write(RESULTS, token + JOB.pack(number) + frame)
    os._exit(0)


def failure(error, tree):
    """An exception as plain data; of its frames those in the tree, outermost first."""
    at = []
    for frame in traceback.extract_tb(error.__traceback__):
        relative = tree.relative(frame.filename)
        if relative is not None:
            at.append([relative, frame.lineno or 0])
    if isinstance(error, SyntaxError) and tree.relative(error.filename or "") is not None:
        at.append([tree.relative(error.filename), error.lineno or 0])
    try:
        message = str(error)[:MESSAGE].encode("utf-8", "backslashreplace").decode()
    except BaseException:
        message = ""
    return {"type": type(error).__name__[:80], "message": message, "at": at[-FRAMES:]}
