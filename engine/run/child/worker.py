"""The child: it steps behind the sandbox, works through its jobs, a frame for each, and is gone.

Sent as text: standard library only.
"""

from __future__ import annotations

import faulthandler
import importlib
import io
import os
import signal
import struct
import sys

from engine.run.child import cases, coverage, jobs, modules, sandbox, tracer, wire

JOB = struct.Struct("<I")  # the number of the job, between token and frame
PRINTED = 4000  # characters of what a job prints that travel
RESULTS = 200  # the child's descriptor for answers, clear of any that it inherited


def work(state, message, results, output, token):
    """Work through the jobs in this process, and leave.

    results, output: descriptors to write answers to, and what is printed. token: comes before each frame.
    """
    before = set(sys.modules)
    streams = step_behind_sandbox(state, results, output)
    tree, recorder, covered = state.tree, None, None
    if message["trace"] is not None and state.traced is not None:
        tree, recorder = instrumented(state, message["trace"])
    if tree is None:  # the pack's own code
        state.texts.install()
    else:
        if message["covered"]:
            tree, covered = state.marked[1], coverage.Coverage()
        install(state, tree)
    if covered is not None:
        covered.imported()
    answered = answers(state, message["jobs"], recorder, covered)
    for number, answer in enumerate(answered):
        printed = "".join(stream.taken() for stream in streams)
        if printed:
            answer["output"] = printed
        frame = framed(answer)
        for stream in streams:
            try:
                stream.flush()
            except (OSError, ValueError):  # the learner's code closed it
                pass
        if state.tree is not None and number == len(message["jobs"]) - 1:
            fresh = [name for name in sys.modules if name not in before and modules.public(name)]
            if fresh:
                imports = wire.encode({"imports": fresh})
                wire.write(RESULTS, token + JOB.pack(len(message["jobs"])) + imports)
        wire.write(RESULTS, token + JOB.pack(number) + frame)
    os._exit(0)


class Printed(io.TextIOWrapper):
    """A stream of the child's, which also keeps what was printed since somebody asked."""

    def __init__(self, descriptor):
        raw = open(descriptor, "wb", closefd=False)
        super().__init__(raw, encoding="utf-8", errors="replace", line_buffering=True)
        self._kept, self._size = [], 0

    def write(self, text):
        """The end is what is kept: it is nearest to an error."""
        self._kept.append(text[-PRINTED:])
        self._size += len(self._kept[-1])
        if self._size > 2 * PRINTED:
            self._kept = ["".join(self._kept)[-PRINTED:]]
            self._size = PRINTED
        return super().write(text)

    def taken(self):
        """What was printed since it was taken last."""
        text = "".join(self._kept)[-PRINTED:]
        self._kept, self._size = [], 0
        return text.encode("utf-8", "replace").decode()


def step_behind_sandbox(state, results, output):
    """Leave everything behind but the answers and what is printed; the streams that it is printed to."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(results, RESULTS)
    rules = -1
    if state.ruleset >= 0:
        rules = RESULTS + 1
        os.dup2(state.ruleset, rules)
    os.closerange(3, RESULTS)
    os.closerange(RESULTS + 2, 1024)
    out, err = Printed(1), Printed(2)
    sys.stdout, sys.stderr = out, err
    faulthandler.register(
        signal.SIGUSR1, file=2, all_threads=False
    )  # where it is when time is over
    sys.dont_write_bytecode = True
    os.chdir(state.workdir)
    os.environ["TMPDIR"] = os.environ["HOME"] = state.workdir
    if state.confined:
        sandbox.confine(rules, state.program, state.memory)
    if rules >= 0:
        os.close(rules)
    return out, err


def instrumented(state, trace):
    """The tree with instruments, and what records their values."""
    tree, sites = state.traced
    recorder = tracer.Recorder(trace, sites)
    tracer.record(recorder)
    sys.setrecursionlimit(max(tracer.DEEP, sys.getrecursionlimit()))
    return tree, recorder


def install(state, tree):
    """Put a learner's tree on the import path, and import what has to be there."""
    for name in state.foreign:
        if tree.find_spec(name.partition(".")[0]) is not None:
            sys.modules.pop(name, None)  # this tree has its own
    if wire.ARRAYS is not None:
        state.texts.install()  # probes with tensors share calls.py
    tree.install()
    if state.home:
        state.exam["environment"].imitate(tree, state.home)
    for module in state.eager:
        try:
            importlib.import_module(module)
        except BaseException:  # whoever needs it will say so
            pass


def answers(state, work, recorder, covered):
    """What each job gives, in order."""
    trees = [tree for tree in (state.tree, state.texts) if tree is not None]
    learner = jobs.Learner(state.roles)
    for number, job in enumerate(work):
        if job["kind"] == "case":
            yield cases.case_job(job, trees, state.exam)
        elif job["kind"] == "roles":
            yield jobs.roles_job(job, learner, trees)
        else:
            if recorder is not None:
                recorder.clear()
            if covered is not None:
                covered.start()
            last = number == len(work) - 1
            answer = jobs.probe_job(job, learner, trees, state, last)
            if recorder is not None:
                answer["trace"] = recorder.found()
            if covered is not None:
                answer["ran"] = covered.found()
            yield answer


def framed(answer):
    """An answer as a frame; one that cannot cross says so."""
    try:
        return wire.encode(answer)
    except wire.WireError as error:
        return wire.encode({"values": {}, "raised": None, "changed": [], "wire": str(error)})
