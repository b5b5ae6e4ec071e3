"""The zygote, the servers it forks, and the child each server forks for a run.

zygote: imports numpy once, runs nobody's code, forks a server for each socket it is handed.
server: holds one kind of text (a pack, or call.py and one tree), forks a child for every run,
        watches the clock and the output, passes the child's frames on, and runs nothing itself.
child:  steps behind the sandbox, works through its jobs, a frame for each, and is gone.

Sent as text: standard library, numpy when it is there.
"""

from __future__ import annotations

import gc
import importlib
import os
import re
import select
import shutil
import signal
import socket
import struct
import sys
import time

from engine.run.child import coverage, jobs, sandbox, tracer, wire
from engine.run.child.exam import disguise as guise
from engine.run.child.tree import Tree

PATIENCE = 0.5  # seconds for the servers to end when the engine has gone
OUTPUT = 1 << 20  # bytes a child may print
OUTPUT_KEPT = 4096  # bytes of it that travel
MANY, TOGETHER = 8, 0.0005  # answers to come, from which on they are collected for so many seconds
GARBAGE = 1 << 24  # bytes without a token that are kept while an answer may still be coming
DEEP = 20_000  # frames, for code with instruments: they nest where expressions do
JOB = struct.Struct("<I")  # the number of the job, between token and frame
IMPORTS = 1000  # modules that are imported before the fork, at most
ACTING = {"antigravity", "this", "idlelib", "test", "tkinter", "turtle", "turtledemo", "lib2to3"}
ACTING |= {"__hello__", "__phello__", "readline", "rlcompleter"}  # which do something on import
OF_PYTHON = getattr(sys, "stdlib_module_names", frozenset()) - ACTING
RESULTS = 200  # the child's descriptor for answers, clear of any that it inherited


def zygote(fd):
    """Serve fork requests on the control socket `fd` until it closes."""
    sandbox.die_with_parent()
    sandbox.adopt_orphans()
    control = socket.socket(fileno=fd)
    try:
        import numpy

        numpy.random.default_rng(0).standard_normal(2)  # the first use costs 11 ms
        versions = {"numpy": numpy.__version__}
    except ImportError:
        versions = {"numpy": None}
    versions.update(
        python=list(sys.version_info[:3]),
        landlock=sandbox.landlock_version(),
        seccomp=bool(sandbox.seccomp_program()),
    )
    control.sendall(wire.encode(versions))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # servers are reaped by the kernel
    while True:
        data, fds, _, _ = socket.recv_fds(control, 1, 1)
        if not data:
            wait_for_children()
            os._exit(0)  # there is nothing to put away
        if os.fork() == 0:
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            sandbox.die_with_parent()
            sandbox.adopt_orphans()
            serve(fds[0])
            os._exit(0)
        os.close(fds[0])


def wait_for_children():
    """Servers end when their socket does; what they leave behind is ended here."""
    deadline = time.monotonic() + PATIENCE
    while sandbox.children():
        if time.monotonic() > deadline:
            for pid in sandbox.children():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            return
        time.sleep(0.001)


class Held:
    """What one server holds between runs."""

    def __init__(self):
        self.texts = None  # pack files: call.py of every component, or the whole pack
        self.tree = None
        self.traced = None  # the tree with instruments, and its sites
        self.marked = None  # the files whose functions tell that they run, and the tree with those
        self.roles = {}
        self.eager = ()
        self.watched = None
        self.ruleset = -1
        self.program = b""
        self.confined = False
        self.workdir = "/"
        self.memory = sandbox.MEMORY
        self.home = ""  # where the learner lives, for children that look like processes of theirs
        self.foreign = set()  # modules of Python's and numpy's own that were imported for the tree


def serve(fd):
    """One server: a loop over messages on its socket."""
    held = Held()
    buffer = wire.Buffer()
    while True:
        message = wire.receive(fd, buffer)
        if message is None:
            return
        kind = message["do"]
        if kind == "hold":
            held.texts = Tree(message["root"], [""], message["texts"])
            held.texts.show_lines()
            held.watched = jobs.Watched()
            held.workdir = message["workdir"]
            held.memory = message["memory"]
            held.home = message["home"]
            held.confined = message["confined"]
            if held.confined:
                sandbox.forget_checkout(message["hidden"])
                held.ruleset = sandbox.landlock_ruleset(held.workdir, message["hidden"])
                held.program = sandbox.seccomp_program()
        elif kind == "warm":
            held.texts.warm(needed(held.texts.files, set(message["components"])))
        elif kind == "tree":
            fresh = Tree(message["root"], message["roots"], message["files"])
            fresh.inherit(held.tree)
            fresh.show_lines(held.tree)
            held.tree = fresh
            held.traced = held.marked = None
            if message["trace"]:
                instrument(held)
            else:
                fresh.warm()
            held.roles, held.eager = message["roles"], message["eager"]
        elif kind == "run":
            run(fd, held, message)


def instrument(held):
    """Compile the tree in its instrumented form."""
    held.traced = deeply(tracer.instrumented, held.tree)
    deeply(held.traced[0].warm)


def deeply(work, *given):
    """What it gives, with room for trees as deep as a learner's expressions are."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(DEEP, limit))
    try:
        return work(*given)
    finally:
        sys.setrecursionlimit(limit)


def run(fd, held, message):
    """Fork a child for `message["jobs"]`, pass its frames on, then say how it ended.

    Each frame of the child comes behind a token of this run and the number of its job, so that
    whatever else is written to the descriptor is not taken for an answer.
    """
    held.texts.warm(needed(held.texts.files, {job.get("component") for job in message["jobs"]}))
    if message["trace"] is not None and held.traced is None:
        instrument(held)
    paths = message["covered"]
    if paths and (held.marked is None or held.marked[0] != paths):
        held.marked = paths, deeply(coverage.marked, held.tree, paths)
    limit, count = message["limit"], len(message["jobs"])
    imports = None
    token = os.urandom(16)
    results_out, results_in = os.pipe()
    output_out, output_in = os.pipe()
    gc.freeze()  # what is here already is not looked through, and so not copied, in every child
    pid = os.fork()
    if pid == 0:
        try:
            sandbox.die_with_parent()
            child(held, message, results_in, output_in, token)
        finally:
            os._exit(1)
    os.close(results_in)
    os.close(output_in)
    arrived, answered = bytearray(), set()
    printed, kept = 0, b""
    reason = "died"
    deadline = own_time(pid) + limit
    watched = [results_out, output_out, fd]
    try:
        while True:
            left = deadline - own_time(pid)
            ready = select.select(watched, [], [], max(0, left))[0]
            if not ready:
                if left > 0:  # some of that it may have waited for a processor
                    continue
                reason = "timeout"
                break
            if fd in ready:  # nothing is asked during a run: the engine has gone
                reason = "gone"
                break
            if output_out in ready:
                data = os.read(output_out, 1 << 16)
                if not data:
                    watched.remove(output_out)
                kept += data[: OUTPUT_KEPT - len(kept)]
                printed += len(data)
                if printed > OUTPUT:
                    reason = "output"
                    break
            if results_out in ready:
                if count - len(answered) > MANY:  # a wake-up for several answers, not for each
                    time.sleep(TOGETHER)
                data = os.read(results_out, 1 << 18)
                if not data:
                    break
                arrived += data
                for job, frame in answers(arrived, token):
                    if job == count:
                        imports = frame
                        continue
                    if job < count and job not in answered:
                        answered.add(job)
                        wire.write(fd, wire.encode({"answer": job}) + frame)
                        deadline = own_time(pid) + limit  # the engine may have been stopped
                if len(answered) == count:
                    reason = "done"
                    break
                if len(arrived) > GARBAGE and token not in arrived:
                    del arrived[:-16]
        if reason == "done" and output_out in watched:  # what was printed and not read yet
            while select.select([output_out], [], [], 0)[0] and len(kept) < OUTPUT_KEPT:
                data = os.read(output_out, OUTPUT_KEPT)
                if not data:
                    break
                kept += data[: OUTPUT_KEPT - len(kept)]
    finally:
        os.close(results_out)
        os.close(output_out)
        status = end(pid)
        emptied(held.workdir)
    if reason == "gone":
        return
    text = kept.decode("utf-8", "replace")
    wire.write(fd, wire.encode({"end": reason, "status": status, "output": text}))
    if imports is not None:
        bring(held, imports)


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


def public(name):
    """Whether a module is one of Python's or of numpy's, which does nothing on import but be there."""
    return name.partition(".")[0] == "numpy" or name in OF_PYTHON


def bring(held, frame):
    """Import what a run had to import of Python's and numpy's own, which each later child would do
    anew. The frame was written by a child: it may be anything.
    """
    try:
        buffer = wire.Buffer()
        buffer.feed(frame)
        names = wire.decode(*buffer.frame())["imports"]
        for name in names[:IMPORTS]:
            own = held.tree.find_spec(name.partition(".")[0])
            if public(name) and own is None and name not in sys.modules:
                importlib.import_module(name)
                held.foreign.add(name)
    except Exception:  # then the children go on importing it
        pass


def needed(files, components):
    """The files of a pack that probes of these components run: theirs, and what those import."""
    names, found = set(components), set()
    while True:
        more = {
            path
            for path in files
            if path not in found and (path.count("/") < 2 or path.split("/")[1] in names)
        }
        if not more:
            return found
        found |= more
        for path in more:
            names.update(name.decode() for name in re.findall(rb"\bpack\.(\w+)", files[path]))


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


def emptied(folder):
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


def child(held, message, results, output, token):
    """Work through the jobs in this process, and leave."""
    before = set(sys.modules)
    work, trace = message["jobs"], message["trace"]
    os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(results, RESULTS)
    rules = -1
    if held.ruleset >= 0:
        rules = RESULTS + 1
        os.dup2(held.ruleset, rules)
    os.closerange(3, RESULTS)
    os.closerange(RESULTS + 2, 1024)
    out = open(1, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)
    err = open(2, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)
    sys.stdout, sys.stderr = out, err
    sys.dont_write_bytecode = True
    os.chdir(held.workdir)
    os.environ["TMPDIR"] = os.environ["HOME"] = held.workdir
    if held.confined:
        sandbox.confine(rules, held.program, held.memory)
    if rules >= 0:
        os.close(rules)
    trees = [tree for tree in (held.tree, held.texts) if tree is not None]
    recorder, tree = None, held.tree
    if trace is not None and held.traced is not None:
        tree, sites = held.traced
        recorder = tracer.Recorder(trace, sites)
        tracer.record(recorder)
        sys.setrecursionlimit(max(DEEP, sys.getrecursionlimit()))
    covered = None
    if tree is None:  # the pack's own code
        held.texts.install()
    else:
        if message["covered"]:
            tree, covered = held.marked[1], coverage.Coverage()
        for name in held.foreign:
            if tree.find_spec(name.partition(".")[0]) is not None:
                sys.modules.pop(name, None)  # this tree has its own
        tree.install()
        if held.home:
            guise.put_on(tree, held.home)
        for module in held.eager:
            try:
                importlib.import_module(module)
            except BaseException:  # whoever needs it will say so
                pass
    if covered is not None:
        covered.imported()
    learner = jobs.Learner(held.roles)
    for number, job in enumerate(work):
        if job["kind"] == "case":
            answer = jobs.case_job(job, trees)
        elif job["kind"] == "roles":
            answer = jobs.roles_job(job, learner, trees)
        else:
            if recorder is not None:
                recorder.clear()
            if covered is not None:
                covered.start()
            answer = jobs.probe_job(
                job, learner, trees, held.texts, held.watched, number == len(work) - 1
            )
            if recorder is not None:
                answer["trace"] = recorder.found()
            if covered is not None:
                answer["ran"] = covered.found()
        try:
            frame = wire.encode(answer)
        except wire.WireError as error:
            frame = wire.encode({"values": {}, "raised": None, "changed": [], "wire": str(error)})
        for stream in (out, err):
            try:
                stream.flush()
            except (OSError, ValueError):  # the learner's code closed it
                pass
        if held.tree is not None and number == len(work) - 1:
            fresh = [name for name in sys.modules if name not in before and public(name)]
            if fresh:
                told = wire.encode({"imports": fresh})
                wire.write(RESULTS, token + JOB.pack(len(work)) + told)
        wire.write(RESULTS, token + JOB.pack(number) + frame)
    os._exit(0)
