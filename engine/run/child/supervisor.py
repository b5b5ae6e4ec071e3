"""A run, as the server sees it: fork a child, watch its clock and its output, pass its answers on, end it.

A limit is for the code, not for the engine: it is counted anew when an answer has been taken, and on a
clock that stands still while the child waits for a processor. Else a busy machine, or Ctrl-Z, would fail
right code. No exit status and no output is believed: each answer comes behind a token of this run.

Sent as text: standard library only.
"""

from __future__ import annotations

import gc
import os
import select
import shutil
import signal
import time

from engine.run.child import modules, sandbox, wire, worker
from engine.run.child.worker import JOB

OUTPUT = 1 << 20  # bytes a child may print
OUTPUT_KEPT = 4096  # bytes of it that travel
MANY, TOGETHER = 8, 0.0005  # answers to come, from which on they are collected for so many seconds
MARK = b"\n-- running --\n"  # what comes behind it is faulthandler's
SAYING, QUIET = 1.0, 0.1  # seconds that a child gets to say where it is, and after which it has
GARBAGE = 1 << 24  # bytes without a token that are kept while an answer may still be coming


def run(fd, state, message):
    """Fork a child for `message["jobs"]`, pass its frames on, then say how it ended."""
    lay_links(state)
    token = os.urandom(16)
    results_out, results_in = os.pipe()
    output_out, output_in = os.pipe()
    gc.freeze()  # what is here already is not looked through, and so not copied, in every child
    pid = os.fork()
    if pid == 0:
        try:
            sandbox.die_with_parent()
            worker.work(state, message, results_in, output_in, token)
        finally:
            os._exit(1)
    os.close(results_in)
    os.close(output_in)
    watch = Watch(pid, results_out, output_out, token, message)
    try:
        reason = watch.until_end(fd)
    finally:
        os.close(results_out)
        os.close(output_out)
        status = end(pid)
        empty(state.workdir)
    if reason == "gone":
        return
    text = watch.kept.decode("utf-8", "replace")
    wire.write(fd, wire.encode({"end": reason, "status": status, "output": text}))
    if watch.imports is not None:
        modules.bring(state, watch.imports)


class Watch:
    """A child at its jobs.

    kept: the beginning of what it has printed. imports: the frame that tells what it imported, if any.
    """

    def __init__(self, pid, results, output, token, message):
        self._pid, self._results, self._output, self._token = pid, results, output, token
        self._limit, self._count = message["limit"], len(message["jobs"])
        self._open = [results, output]
        self._arrived, self._answered = bytearray(), set()
        self._printed = 0
        self.kept = b""
        self.imports = None

    def until_end(self, fd):
        """Pass answers on to `fd`. How it ended: "done", "died", "timeout", "output", or "gone" where the
        engine has: nothing is asked during a run.
        """
        self._deadline = own_time(self._pid) + self._limit
        while True:
            left = self._deadline - own_time(self._pid)
            ready = select.select([*self._open, fd], [], [], max(0, left))[0]
            if not ready:
                if left > 0:  # some of that it may have waited for a processor
                    continue
                self._ask_where()
                return "timeout"
            if fd in ready:
                return "gone"
            if self._output in ready and self._read_output() > OUTPUT:
                return "output"
            if self._results in ready and not self._read_results(fd):
                return "died"
            if len(self._answered) == self._count:
                self._read_rest()
                return "done"

    def _ask_where(self):
        """Have the child say which lines are running: after MARK, in what it has printed."""
        self.kept = self.kept[: OUTPUT_KEPT // 2] + MARK
        self._printed = 0
        try:
            os.kill(self._pid, signal.SIGUSR1)
        except ProcessLookupError:
            return
        end, patience = time.monotonic() + SAYING, SAYING
        while self._output in self._open and time.monotonic() < end:
            if not select.select([self._output], [], [], patience)[0]:
                return
            self._read_output()
            patience = QUIET

    def _read_output(self):
        """How much it has printed by now."""
        data = os.read(self._output, 1 << 16)
        if not data:
            self._open.remove(self._output)
        self.kept += data[: OUTPUT_KEPT - len(self.kept)]
        self._printed += len(data)
        return self._printed

    def _read_results(self, fd):
        """Pass on what has arrived whole; whether more can come.

        Each frame of the child comes behind the token of this run and the number of its job, so that
        whatever else is written to the descriptor is not taken for an answer.
        """
        if self._count - len(self._answered) > MANY:  # a wake-up for several answers, not for each
            time.sleep(TOGETHER)
        data = os.read(self._results, 1 << 18)
        self._arrived += data
        for job, frame in answers(self._arrived, self._token) if data else ():
            if job == self._count:
                self.imports = frame
                continue
            if job < self._count and job not in self._answered:
                self._answered.add(job)
                wire.write(fd, wire.encode({"answer": job}) + frame)
                self._deadline = (
                    own_time(self._pid) + self._limit
                )  # the engine may have been stopped
        if len(self._arrived) > GARBAGE and self._token not in self._arrived:
            del self._arrived[:-16]
        return bool(data)

    def _read_rest(self):
        """What was printed and not read yet."""
        while self._output in self._open and len(self.kept) < OUTPUT_KEPT:
            if not select.select([self._output], [], [], 0)[0]:
                return
            data = os.read(self._output, OUTPUT_KEPT)
            if not data:
                return
            self.kept += data[: OUTPUT_KEPT - len(self.kept)]


def own_time(pid):
    """Seconds on a clock that stands still while the process waits for a processor (proc(5), schedstat),
    so that a busy machine stops nothing that an idle one lets end. Ordinary time where the kernel does
    not tell.
    """
    try:
        with open("/proc/%d/schedstat" % pid) as file:
            waited = int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        waited = 0.0
    return time.monotonic() - waited


def answers(arrived, token):
    """Take every whole answer out of `arrived`: (job, frame). What lies between them is dropped."""
    while True:
        start = arrived.find(token)
        head = start + len(token) + JOB.size
        if start < 0 or len(arrived) < head + wire.HEADER.size:
            return
        (job,) = JOB.unpack_from(arrived, start + len(token))
        magic, size, body = wire.HEADER.unpack_from(arrived, head)
        if magic != wire.MAGIC or size > wire.MAX_HEAD or body > wire.MAX_BODY:
            del arrived[: start + len(token)]
            continue
        end_ = head + wire.HEADER.size + size + body
        if len(arrived) < end_:
            return
        frame = bytes(arrived[head:end_])
        del arrived[:end_]
        yield job, frame


def lay_links(state):
    """Have the data beside the tree that is run found from the working folder, too, as from the learner's
    own.
    """
    if state.tree is None:
        return
    start = state.tree.root + "/"
    tops = {path[len(start) :].split("/")[0] for path in state.readable if path.startswith(start)}
    for name in tops:
        try:
            os.symlink(start + name, os.path.join(state.workdir, name))
        except OSError:  # it will not be found there
            pass


def empty(folder):
    """Nothing that a run left in the work folder is there in the next."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)


def end(pid):
    """Kill what the run started, and return its wait status (negative: the signal)."""
    for victim in (-pid, pid):
        try:
            os.kill(victim, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    _, status = os.waitpid(pid, 0)
    try:
        while True:  # grandchildren that left the process group came to us, the subreaper
            for orphan in sandbox.children():
                os.kill(orphan, signal.SIGKILL)
            os.waitpid(-1, 0)
    except (ChildProcessError, ProcessLookupError):
        pass
    return os.waitstatus_to_exitcode(status)
