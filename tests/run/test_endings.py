"""However a child ends, the parent learns of it in time, and the server goes on."""

from __future__ import annotations

import subprocess
import sys
import time
from textwrap import indent

import pytest
from lab import Lab, gone

from engine.run.pool import CORES, SPLIT
from engine.run.types import Outcome

LIMIT = 0.6  # seconds for one job, where the limit is what is tested
SLACK = 5.0  # seconds that a busy machine may take on top; the engine itself waits at most one

ENDLESS = {
    "a loop": "while True: pass",
    "a stopped process": "os.kill(os.getpid(), signal.SIGSTOP)",
    "a sleep that ignores signals": """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(60)
""",
    "a message that never ends": """
class Endless(Exception):
    def __str__(self):
        while True: pass
raise Endless
""",
    "an orphan that keeps the descriptors": """
if os.fork() == 0:
    os.setsid()
    time.sleep(60)
os._exit(0)
""",
    "a lock that is never released": """
import threading
lock = threading.Lock()
lock.acquire()
lock.acquire()
""",
}

SUDDEN = {
    "os._exit": ("os._exit(0)", 0),
    "os._exit with a status": ("os._exit(3)", 3),
    "a segmentation fault": ("ctypes.string_at(0)", -11),
    "abort": ("os.abort()", -6),
    "kill": ("os.kill(os.getpid(), signal.SIGKILL)", -9),
    "a recursion that Python does not count": (
        """
sys.setrecursionlimit(10 ** 9)
def deeper(_):
    return max([0], key=deeper)
deeper(0)
""",
        -11,
    ),
}

RAISED = {
    "sys.exit": ("sys.exit(0)", "SystemExit"),
    "an interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "infinite recursion": ("return main(1)", "RecursionError"),
    "a huge allocation": ("bytearray(1 << 42)", "MemoryError"),
    "a huge array": ("import numpy; numpy.ones((1 << 20, 1 << 20))", "MemoryError"),
    "a list that holds itself": ("a = []; a.append(a); return {'a': a}", "RecursionError"),
    "names that are no words": ("return {1: 2}", "TypeError"),
    "a message that cannot be shown": (
        """
class Mute(Exception):
    def __str__(self): raise SystemExit
raise Mute
""",
        "Mute",
    ),
}


def learner(code: str) -> str:
    """A `main` that does `code` when it is given 1, and answers when it is given 0."""
    return (
        "import ctypes, os, shutil, signal, sys, time\n"
        "def main(x):\n"
        "    if x == 0: return {'fine': 1}\n" + indent(code, "    ") + "\n"
    )


def still_usable(lab: Lab) -> None:
    """The same server answers the next job."""
    tree = lab.tree(learner("pass"))
    (outcome,) = lab.runs(tree, {"x": 0})
    assert (outcome.stopped, outcome.values) == (None, {"fine": 1})


@pytest.mark.parametrize("code", ENDLESS.values(), ids=ENDLESS.keys())
def test_what_does_not_end_is_ended_at_the_limit(lab: Lab, code: str) -> None:
    """A job over its limit is stopped as "timeout", and the next one runs."""
    tree = lab.tree(learner(code))
    lab.runs(tree, {"x": 0})
    started = time.monotonic()
    (outcome,) = lab.runs(tree, {"x": 1}, limit=LIMIT)
    assert time.monotonic() - started < LIMIT + SLACK
    assert outcome.stopped == "timeout"
    assert outcome.values == {} and outcome.raised is None
    still_usable(lab)


@pytest.mark.parametrize(("code", "status"), SUDDEN.values(), ids=SUDDEN.keys())
def test_a_process_that_ends_without_an_answer_has_died(lab: Lab, code: str, status: int) -> None:
    """Whatever status it ends with, 0 too: no answer is no answer."""
    tree = lab.tree(learner(code))
    lab.runs(tree, {"x": 0})
    started = time.monotonic()
    (outcome,) = lab.runs(tree, {"x": 1})
    assert time.monotonic() - started < SLACK
    assert (outcome.stopped, outcome.status) == ("died", status)
    assert outcome.values == {} and outcome.raised is None
    still_usable(lab)


@pytest.mark.parametrize(("code", "kind"), RAISED.values(), ids=RAISED.keys())
def test_what_python_can_catch_is_an_exception_that_was_measured(
    lab: Lab, code: str, kind: str
) -> None:
    """Leaving, running out of stack or memory: an answer with its exception, not a death."""
    tree = lab.tree(learner(code))
    (outcome,) = lab.runs(tree, {"x": 1})
    assert outcome.stopped is None
    assert outcome.raised is not None and kind in (outcome.raised.type, *outcome.raised.ancestors)
    still_usable(lab)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_gigabyte_of_printing_is_stopped(lab: Lab, stream: str) -> None:
    """A child that floods its output is ended for that, with a little of what it said."""
    code = f"for _ in range(1000): sys.{stream}.write('flood ' * 170_000)"
    tree = lab.tree(learner(code))
    started = time.monotonic()
    (outcome,) = lab.runs(tree, {"x": 1})
    assert time.monotonic() - started < SLACK
    assert outcome.stopped == "output"
    assert outcome.output.startswith("flood flood") and len(outcome.output) < 10_000
    still_usable(lab)


def test_memory_is_limited_while_it_grows(lab: Lab) -> None:
    """A child that takes memory bit by bit meets a MemoryError, its limit in time, or its end."""
    code = "kept = []\nwhile True: kept.append(bytearray(1 << 28))"
    (outcome,) = lab.runs(lab.tree(learner(code)), {"x": 1}, limit=1.5)
    kind = outcome.raised.type if outcome.raised else outcome.stopped
    assert kind in ("MemoryError", "timeout", "died")
    still_usable(lab)


@pytest.mark.parametrize(
    "code",
    [
        "shutil.rmtree(os.getcwd()); return {'x': 1}",
        "shutil.rmtree(os.getcwd(), ignore_errors=True); return {'x': 1}",
        "os.rmdir(os.getcwd()); return {'x': 1}",
        "os.rename(os.getcwd(), '../elsewhere'); return {'x': 1}",
        "os.chdir('/'); return {'x': 1}",
        "os.mkdir('a'); os.chdir('a'); os.rmdir('../a'); return {'x': 1}",
    ],
)
def test_a_child_that_removes_the_ground_it_stands_on_harms_no_other(lab: Lab, code: str) -> None:
    """Deleting, moving or leaving the work folder ends in an answer, and the next child has one."""
    tree = lab.tree(learner(code + "\n"))
    (outcome,) = lab.runs(tree, {"x": 1})
    assert outcome.stopped is None
    still_usable(lab)
    (outcome,) = lab.runs(lab.tree(learner("open('a', 'w'); return {'x': 2}")), {"x": 1})
    assert outcome.values == {"x": 2}


@pytest.mark.parametrize(
    "code",
    ["os.closerange(0, 1024); return {'x': 1}", "os.closerange(0, 1024)\nwhile True: pass"],
    ids=["and returns", "and goes on"],
)
def test_closing_every_descriptor_is_a_death(lab: Lab, code: str) -> None:
    """Where no answer can come from any more, nobody waits."""
    tree = lab.tree(learner(code))
    started = time.monotonic()
    (outcome,) = lab.runs(tree, {"x": 1})
    assert time.monotonic() - started < SLACK
    assert outcome.stopped == "died"
    still_usable(lab)


ORPHANS = {
    "in a session of its own": """
pid = os.fork()
if pid == 0:
    os.setsid()
    time.sleep(60)
    os._exit(0)
return {"pid": pid}
""",
    "twice removed": """
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        os.write(writer, str(os.getpid()).encode())
        time.sleep(60)
    os._exit(0)
return {"pid": int(os.read(reader, 100))}
""",
    "with every descriptor closed": """
pid = os.fork()
if pid == 0:
    os.setsid()
    os.closerange(0, 1024)
    time.sleep(60)
    os._exit(0)
return {"pid": pid}
""",
    "deaf to signals": """
reader, writer = os.pipe()
pid = os.fork()
if pid == 0:
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    os.write(writer, b"x")
    time.sleep(60)
    os._exit(0)
os.read(reader, 1)
return {"pid": pid}
""",
}


@pytest.mark.parametrize("code", ORPHANS.values(), ids=ORPHANS.keys())
def test_a_process_that_a_child_leaves_behind_is_ended(lab: Lab, code: str) -> None:
    """An orphan that left the process group is gone when the outcome is there."""
    (outcome,) = lab.runs(lab.tree(learner(code)), {"x": 1})
    assert outcome.stopped is None
    assert gone(outcome.values["pid"])
    still_usable(lab)


def test_a_chain_of_processes_that_outrun_each_other_ends(lab: Lab) -> None:
    """Each process forks the next and leaves, until it is caught (or 20 seconds are over)."""
    code = """
if os.fork() == 0:
    os.setsid()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
    os._exit(0)
return {"x": 1}
"""
    started = time.monotonic()
    (outcome,) = lab.runs(lab.tree(learner(code)), {"x": 1})
    assert outcome.values == {"x": 1}
    assert time.monotonic() - started < 15
    still_usable(lab)


def test_a_thread_that_goes_on_does_not_hold_the_answer_up(lab: Lab) -> None:
    """The process ends with its last job."""
    code = """
import threading
threading.Thread(target=time.sleep, args=(60,)).start()
return {"x": 1}
"""
    started = time.monotonic()
    (outcome,) = lab.runs(lab.tree(learner(code)), {"x": 1})
    assert outcome.values == {"x": 1}
    assert time.monotonic() - started < SLACK


@pytest.mark.parametrize(
    "code",
    [
        "sys.stdout = None",
        "sys.stdout.close()",
        "sys.stderr.close()",
        "sys.stdout = open(os.devnull, 'w')",
        "import io; sys.stdout = io.StringIO()",
        "os.close(1)",
    ],
)
def test_an_answer_does_not_depend_on_the_standard_streams(lab: Lab, code: str) -> None:
    """A learner may silence or lose their own output."""
    (outcome,) = lab.runs(lab.tree(learner(f"{code}\nreturn {{'x': 1}}")), {"x": 1})
    assert (outcome.stopped, outcome.values) == (None, {"x": 1})


@pytest.mark.parametrize(
    "code",
    [
        "raise SyntaxError('made by hand', (123, 'one', 'two', 'three'))",
        "raise SyntaxError('made by hand', ('file', None, None, None))",
        """
class Meta(type):
    __name__ = 5
class Odd(Exception, metaclass=Meta): pass
raise Odd
""",
        "raise ValueError('\\udcff \\0 \\x1b[31m')",
        "raise ValueError('x' * 10_000_000)",
        "raise type('Name ' * 10_000, (Exception,), {})",
    ],
    ids=["odd place", "no place", "odd type", "odd text", "long text", "long name"],
)
def test_an_odd_exception_is_no_answer_or_an_exception(lab: Lab, code: str) -> None:
    """However it is made, it leads to an outcome, and the server goes on."""
    (outcome,) = lab.runs(lab.tree(learner(code)), {"x": 1})
    assert (outcome.raised is None) == (outcome.stopped == "died")
    still_usable(lab)


def test_what_was_printed_before_a_death_is_kept(lab: Lab) -> None:
    """The last words of a process that died are in its outcome."""
    (outcome,) = lab.runs(
        lab.tree(learner("print('last words', flush=True); os._exit(1)")), {"x": 1}
    )
    assert (outcome.stopped, outcome.status) == ("died", 1)
    assert "last words" in outcome.output


def test_after_a_death_the_rest_of_the_batch_is_run(lab: Lab) -> None:
    """One job that ends its process costs only itself."""
    tree = lab.tree(learner("os._exit(0)"))
    outcomes = lab.runs(tree, {"x": 0}, {"x": 1}, {"x": 0}, {"x": 0})
    assert [outcome.stopped for outcome in outcomes] == [None, "died", None, None]
    assert [outcome.values for outcome in outcomes if not outcome.stopped] == [{"fine": 1}] * 3


def test_a_batch_that_keeps_dying_is_given_up(lab: Lab) -> None:
    """After a few deaths the rest is "not run"; there is an outcome for each job all the same."""
    tree = lab.tree(learner("os._exit(0)"))
    outcomes = lab.runs(tree, *[{"x": 1}] * 8)
    stopped = [outcome.stopped for outcome in outcomes]
    assert len(stopped) == 8
    assert stopped[0] == "died" and stopped[-1] == "not run"
    assert stopped == ["died"] * stopped.count("died") + ["not run"] * stopped.count("not run")
    still_usable(lab)


def test_after_a_timeout_the_rest_of_the_batch_is_not_run(lab: Lab) -> None:
    """Code that hangs once is not given the chance to hang for every job."""
    tree = lab.tree(learner("while True: pass"))
    outcomes = lab.runs(tree, {"x": 0}, {"x": 1}, {"x": 0}, limit=LIMIT)
    assert [outcome.stopped for outcome in outcomes] == [None, "timeout", "not run"]


BUSY = "while True: pass"


def test_a_busy_machine_stops_nothing_that_an_idle_one_lets_end(lab: Lab) -> None:
    """A limit counts a process's own time, not the time in which others have the processor."""
    code = """
import subprocess
import sys
import time
def main(x):
    until = time.process_time() + 0.4
    while time.process_time() < until: pass
    return {"y": x}
"""
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(4 * CORES)]
    try:
        (outcome,) = lab.runs(lab.tree(code), {"x": 1}, limit=LIMIT)
    finally:
        for one in busy:
            one.kill()
            one.wait()
    assert outcome.stopped is None and outcome.values == {"y": 1}
    assert 0.35 < outcome.seconds < 0.6


def test_the_limit_is_for_one_job_and_not_for_the_batch(lab: Lab) -> None:
    """Ten jobs may take ten times as long."""
    tree = lab.tree(learner("time.sleep(0.25); return {'x': 1}"))
    lab.runs(tree, {"x": 0})
    outcomes = lab.runs(tree, *[{"x": 1}] * 6, limit=1.2)
    assert [outcome.stopped for outcome in outcomes] == [None] * 6


def test_no_jobs_are_no_outcomes(lab: Lab) -> None:
    """An empty batch is an empty answer."""
    assert lab.runs(lab.tree(learner("pass"))) == []


AT_IMPORT = {
    "an endless loop": ("while True: pass", "timeout"),
    "os._exit": ("import os; os._exit(0)", "died"),
    "a segmentation fault": ("import ctypes; ctypes.string_at(0)", "died"),
    "a flood": ("while True: print('x' * 100_000)", "output"),
}


@pytest.mark.parametrize(("code", "stopped"), AT_IMPORT.values(), ids=AT_IMPORT.keys())
def test_code_that_ends_badly_while_it_is_imported_is_told_in_the_same_way(
    lab: Lab, code: str, stopped: str
) -> None:
    """Importing is part of the first job, and of looking for the roles."""
    started = time.monotonic()
    (outcome,) = lab.runs(lab.tree(code + "\nmain = dict"), {"x": 1}, limit=LIMIT)
    assert outcome.stopped == stopped
    assert time.monotonic() - started < LIMIT + SLACK
    still_usable(lab)


def test_roles_of_code_that_ends_the_process_are_all_missing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking for the roles of such code says that importing it gave no answer."""
    monkeypatch.setattr(lab.servers, "limit", LIMIT)
    for code in ("import os; os._exit(0)", "while True: pass"):
        missing = lab.servers.missing_roles(lab.tree(code + "\nmain = dict"))
        assert len(missing) == 1 and "import" in next(iter(missing.values()))
    assert lab.servers.missing_roles(lab.tree("main = dict")) == {}


@pytest.mark.parametrize("error", [OSError, BrokenPipeError, ValueError])
def test_a_reader_who_fails_is_not_taken_for_the_learners_code(lab: Lab, error: type) -> None:
    """What is told of answers may fail, a closed pipe say; the answers are not lost for it, and the
    next run is answered by a server that is not in the middle of this one.
    """
    tree = lab.tree("def main(n):\n    return {'n': n}\n")
    jobs = [{"n": n} for n in range(4)]

    def told(position: int, outcome: Outcome) -> None:
        raise error("nobody reads")

    with pytest.raises(error, match="nobody reads"):
        lab.runs(tree, *jobs, arrived=told)
    assert [one.values for one in lab.runs(tree, *jobs)] == jobs


def test_answers_are_told_as_they_come_with_their_positions(lab: Lab) -> None:
    """Of a short list, and of one that two children share."""
    tree = lab.tree("def main(n):\n    return {'n': n}\n")
    for count in (3, 2 * SPLIT + 1):
        told: dict[int, int] = {}
        jobs = [{"n": n} for n in range(count)]
        lab.runs(tree, *jobs, arrived=lambda at, one, told=told: told.update({at: one.values["n"]}))
        assert told == {n: n for n in range(count)}
