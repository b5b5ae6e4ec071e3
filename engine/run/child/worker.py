"""The child: it steps behind the sandbox, works through its jobs, a frame for each, and is gone.

Sent as text: standard library only.
"""

from __future__ import annotations

import importlib
import os
import struct
import sys

from engine.run.child import cases, coverage, jobs, modules, sandbox, tracer, wire

JOB = struct.Struct("<I")  # the number of the job, between token and frame
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
    out = open(1, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)
    err = open(2, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)
    sys.stdout, sys.stderr = out, err
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
