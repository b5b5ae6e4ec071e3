"""No process outlives its servers, and a learner's own interpreter is used as it is."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lab import CALL, Lab, alive, gone, write

from engine.errors import LearnerCodeError
from engine.run import zygote
from engine.run.jobs import Job
from engine.run.servers import Servers
from engine.run.types import Draw, Tree

PACK = {
    "pack/any/call.py": CALL,
    "pack/any/cases.py": b"def run(rng, regime, dtype):\n    return {'x': 1}\n",
    "pack/any/reference.py": b"import os\ndef run(out, variant, *, x):\n    out.record(pid=os.getpid(), server=os.getppid())\n",
}
PIDS = b"import os\ndef main(x=0):\n    return {'pid': os.getpid(), 'server': os.getppid()}\n"
TREE = Tree("/learner", ("src",), {"src/mine.py": PIDS}, {"main": "mine:main"})


def job(**inputs: object) -> Job:
    """The one probe."""
    return Job("any", "run", inputs)


def started(servers: Servers) -> set[int]:
    """The processes that were started and forked for a few runs on three servers."""
    pids = {zygote.process.pid for zygote in servers._zygotes}
    for name in ("learner", "candidate"):
        (outcome,) = servers.outcomes(TREE, [job()], server=name)
        pids |= set(outcome.values.values())
    case = servers.cases([Draw("any", "run", "normal", 0)])[0]
    return pids | set(case.expected[""].values.values())


def test_no_process_is_left_when_the_servers_end() -> None:
    """Zygote, servers and children are gone after the `with`."""
    with Servers(PACK) as servers:
        pids = started(servers)
        assert len(pids) >= 7
        assert sum(map(alive, pids)) >= 4
    assert [pid for pid in pids if not gone(pid)] == []


def test_no_process_is_left_after_an_exception() -> None:
    """The same when the block ends in an error."""
    pids: set[int] = set()

    def fails() -> None:
        with Servers(PACK) as servers:
            pids.update(started(servers))
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        fails()
    assert pids and [pid for pid in pids if not gone(pid)] == []


def test_no_file_is_left_when_the_servers_end() -> None:
    """The work folders go too."""
    with Servers(PACK) as servers:
        started(servers)
        folder = Path(servers._workdir)
        assert folder.is_dir()
    assert not folder.exists()


def test_servers_that_were_never_used_leave_nothing() -> None:
    """Starting and ending at once is no race."""
    with Servers(PACK) as servers:
        pids = [zygote.process.pid for zygote in servers._zygotes]
    assert pids and all(gone(pid) for pid in pids)


class Interrupted(Exception):
    """What stands for Ctrl-C in these tests."""


HANGS = b"""
import os, time

def main(x=0):
    pid = os.fork()
    if pid == 0:
        os.setsid()
        with open("orphan", "w") as file:
            file.write(str(os.getpid()))
        time.sleep(30)
        os._exit(0)
    with open("child", "w") as file:
        file.write("%d %d" % (os.getpid(), os.getppid()))
    while True:
        time.sleep(1)
"""


def test_no_process_is_left_after_an_interrupt_in_the_middle_of_a_run() -> None:
    """Ctrl-C while a child hangs ends the child, and what it had started."""
    tree = Tree("/learner", ("src",), {"src/mine.py": HANGS}, {"main": "mine:main"})
    folders: list[Path] = []
    pids: list[int] = []

    def interrupt(*_: object) -> None:
        for name in ("child", "orphan"):
            for file in folders[0].rglob(name):
                pids.extend(int(pid) for pid in file.read_text().split())
        raise Interrupted

    def hangs() -> None:
        with Servers(PACK) as servers:
            folders.append(Path(servers._workdir))
            signal.setitimer(signal.ITIMER_REAL, 1.5)
            servers.outcomes(tree, [job()], limit=20)

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(Interrupted):
            hangs()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(pids) == 3
    left = [pid for pid in pids if not gone(pid, 5)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


def test_no_process_is_left_when_the_engine_is_killed(tmp_path: Path) -> None:
    """Not even time to clean up: the kernel ends what was started."""
    if sys.platform != "linux":
        pytest.skip("only Linux ends children with their parent")
    program = f"""
import sys, time
from engine.run.jobs import Job
from engine.run.servers import Servers
from engine.run.types import Tree
tree = Tree("/learner", ("src",), {{"src/mine.py": {PIDS!r}}}, {{"main": "mine:main"}})
servers = Servers({{"pack/any/call.py": {CALL!r}}}).__enter__()
(outcome,) = servers.outcomes(tree, [Job("any", "run", {{}})])
print(servers._zygotes[0].process.pid, outcome.values["server"], servers._workdir, flush=True)
time.sleep(60)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    zygote, server, workdir = process.stdout.readline().split()
    try:
        assert alive(int(zygote)) and alive(int(server))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    shutil.rmtree(workdir, ignore_errors=True)
    assert gone(int(zygote)) and gone(int(server))


def test_two_sets_of_servers_do_not_meddle_with_each_other() -> None:
    """One may end while the other works."""
    with Servers(PACK) as one:
        with Servers(PACK) as two:
            assert two.outcomes(TREE, [job()])[0].stopped is None
            mine = one.outcomes(TREE, [job()])[0].values["server"]
        assert one.outcomes(TREE, [job()])[0].values["server"] == mine


def test_a_server_is_kept_from_run_to_run() -> None:
    """Warm means that nothing is started twice."""
    with Servers(PACK) as servers:
        seen = [servers.outcomes(TREE, [job()])[0].values for _ in range(3)]
    assert len({values["server"] for values in seen}) == 1
    assert len({values["pid"] for values in seen}) == 3


def test_servers_of_different_names_are_different_processes() -> None:
    """The code before and the candidate have a server each."""
    with Servers(PACK) as servers:
        seen = {servers.outcomes(TREE, [job()], server=name)[0].values["server"] for name in "abc"}
    assert len(seen) == 3


def test_a_run_is_fast_once_the_server_is_warm() -> None:
    """Twenty runs of one job take seconds, not the start of fifty interpreters."""
    with Servers(PACK) as servers:
        servers.outcomes(TREE, [job()])
        begun = time.monotonic()
        for _ in range(20):
            servers.outcomes(TREE, [job()])
        assert time.monotonic() - begun < 10


# ---------------------------------------------------------------- the learner's interpreter


@pytest.fixture(scope="module")
def own_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an environment of the learner's own, with our numpy and a package of theirs."""
    import numpy

    folder = tmp_path_factory.mktemp("own") / "venv"
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", str(folder)],
        capture_output=True, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("no environment can be made here")
    packages = next(folder.glob("lib/python3*/site-packages"))
    shutil.copytree(Path(numpy.__file__).parent, packages / "numpy", symlinks=False)
    for libs in Path(numpy.__file__).parents[1].glob("numpy.libs"):
        shutil.copytree(libs, packages / "numpy.libs")
    write(packages, {"einops_of_mine.py": "def rearrange(x):\n    return x\n"})
    return folder


WHERE = b"""
import sys
import numpy as np
from einops_of_mine import rearrange

def importable(name):
    try:
        __import__(name)
    except BaseException:
        return False
    return True

def main(x):
    return {"prefix": sys.prefix, "x": rearrange(x) * 2, "numpy": np.__file__,
            "ours": [n for n in ("engine.errors", "msgspec", "typer") if importable(n)]}
"""


def test_a_learners_own_interpreter_runs_their_code(own_python: Path) -> None:
    """Their packages resolve, ours do not, and the sandbox closes around their Python."""
    import numpy as np

    tree = Tree("/learner", ("src",), {"src/mine.py": WHERE}, {"main": "mine:main"})
    python = str(own_python / "bin/python")
    with Servers(PACK, python=python) as servers:
        (outcome,) = servers.outcomes(tree, [job(x=np.arange(3.0))])
        case = servers.cases([Draw("any", "run", "normal", 0)])[0]
        pids = {zygote.process.pid for zygote in servers._zygotes}
    assert outcome.raised is None, outcome.raised
    assert outcome.values["prefix"] == str(own_python)
    assert outcome.values["numpy"].startswith(str(own_python))
    assert outcome.values["x"].tolist() == [0.0, 2.0, 4.0]
    assert outcome.values["ours"] == {"list": []}
    assert case.expected[""].stopped is None
    assert len(pids) == 2 and all(gone(pid) for pid in pids)


def test_the_engines_own_interpreter_is_started_once(own_python: Path) -> None:
    """Naming the interpreter that the engine runs on is the same as naming none."""
    with Servers(PACK, python=sys.executable) as servers:
        assert len(servers._zygotes) == 1
        assert servers.outcomes(TREE, [job()])[0].stopped is None


def told(python: str) -> LearnerCodeError:
    """What is said of this interpreter."""
    with pytest.raises(LearnerCodeError) as caught:
        with Servers(PACK, python=python) as servers:
            servers.outcomes(TREE, [job()])
    return caught.value


def test_an_interpreter_that_is_missing_is_told_with_what_to_do(tmp_path: Path) -> None:
    """The path, and the setting that holds it."""
    error = told(str(tmp_path / "nowhere/python"))
    assert str(tmp_path / "nowhere/python") in error.what
    assert "learner.yaml" in error.next


def test_packages_of_an_environment_inside_the_tree_are_imported_whole(tmp_path: Path) -> None:
    """`.venv` beside the code, as most projects have it: what the tree has there is read from disk."""
    import numpy

    root = tmp_path / "learner"
    folder = root / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    packages = next(folder.glob("lib/python3*/site-packages"))
    write(packages, {
        "ours.pth": str(Path(numpy.__file__).parents[1]),
        "thing/__init__.py": "from thing.inner.part import three\n",
        "thing/inner/__init__.py": "",
        "thing/inner/part.py": "three = 3\n",
    })  # fmt: skip
    code = b"from thing import three\n\ndef main():\n    return {'x': three}\n"
    tree = Tree(str(root), ("src",), {"src/mine.py": code}, {"main": "mine:main"})
    with Servers(PACK, python=str(folder / "bin/python")) as servers:
        (outcome,) = servers.outcomes(tree, [job()])
    assert outcome.values == {"x": 3}


@pytest.mark.parametrize("kind", ["folder", "text", "unexecutable"])
def test_what_is_no_program_is_told_as_an_interpreter_that_cannot_start(
    tmp_path: Path, kind: str
) -> None:
    """A folder, a file that is no program, a file that may not be run."""
    path = tmp_path / "python"
    if kind == "folder":
        path.mkdir()
    else:
        path.write_text("this is no program\n")
        path.chmod(0o755 if kind == "text" else 0o644)
    error = told(str(path))
    assert str(path) in error.what and "learner.yaml" in error.next


def test_an_interpreter_without_numpy_is_told_with_what_to_do(tmp_path: Path) -> None:
    """It starts, and has nothing to compute with."""
    folder = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    error = told(str(folder / "bin/python"))
    assert "numpy" in error.what and str(folder / "bin/python") in error.what
    assert "Install numpy" in error.next and "learner.yaml" in error.next


@pytest.mark.parametrize("script", ["exit 3", "echo something else", "exec cat"])
def test_a_program_that_is_no_python_is_told_with_what_to_do(tmp_path: Path, script: str) -> None:
    """Something starts, and is not an interpreter."""
    path = tmp_path / "python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    begun = time.monotonic()
    error = told(str(path))
    assert time.monotonic() - begun < 30
    assert str(path) in error.what and "learner.yaml" in error.next


def test_the_same_is_told_when_the_servers_are_asked_again(tmp_path: Path) -> None:
    """A second question is not answered with a broken pipe."""
    path = tmp_path / "python"
    path.write_text("#!/bin/sh\nexit 3\n")
    path.chmod(0o755)
    with Servers(PACK, python=str(path)) as servers:
        for _ in range(2):
            with pytest.raises(LearnerCodeError, match="did not start"):
                servers.outcomes(TREE, [job()])


def test_an_interpreter_that_fails_leaves_no_process(tmp_path: Path) -> None:
    """The engine's own zygote was started before, and ends."""
    folder = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    pids: list[int] = []

    def fails() -> None:
        with Servers(PACK, python=str(folder / "bin/python")) as servers:
            pids.extend(zygote.process.pid for zygote in servers._zygotes)
            servers.outcomes(TREE, [job()])

    with pytest.raises(LearnerCodeError):
        fails()
    assert len(pids) == 2 and all(gone(pid) for pid in pids)


def test_the_sandbox_says_what_this_machine_offers(lab: Lab) -> None:
    """The version of the interpreter, of numpy, of Landlock, and whether system calls are filtered."""
    import numpy

    sandbox = lab.servers.sandbox_of(lab.name)
    assert sandbox.python == sys.version_info[:3]
    assert sandbox.numpy == numpy.__version__
    assert sandbox.landlock >= 0 and isinstance(sandbox.seccomp, bool)


def test_an_interpreter_that_was_started_ahead_is_taken_over() -> None:
    """By the next servers, and once; it goes with them, and so does its folder."""
    zygote.ahead()
    (waiting,) = zygote._ahead
    with Servers(PACK) as servers:
        assert [one.process.pid for one in servers._zygotes] == [waiting.process.pid]
        assert servers.outcomes(TREE, [job()])[0].stopped is None
        with Servers(PACK) as others:
            assert others._zygotes[0].process.pid != waiting.process.pid
    assert gone(waiting.process.pid) and not Path(waiting.workdir).exists()


def test_an_interpreter_that_nobody_took_ends_with_the_command() -> None:
    """As after a slip in the command line."""
    zygote.ahead()
    (waiting,) = zygote._ahead
    zygote.unused()
    assert not zygote._ahead and gone(waiting.process.pid) and not Path(waiting.workdir).exists()


def test_two_trees_have_two_servers_on_one_processor_as_well(monkeypatch: Any) -> None:
    """What holds one of them never held the other."""
    monkeypatch.setattr("engine.run.pool.CORES", 1)
    other = TREE.replaced({"src/mine.py": PIDS + b"# another\n"})
    with Servers(PACK) as servers:
        found = servers.several([(TREE, [job()], 5.0), (other, [job()], 5.0)], server="shown")
    one, two = (outcome.values["server"] for (outcome,) in found)
    assert one != two


STOPPED = """
import os, subprocess, sys
sys.path.insert(0, {here!r})
import test_lifetime as t
from engine.run.servers import Servers
from engine.run.types import Tree

WIDE = b"import numpy as np; main = lambda x=0: dict(y=np.zeros(1 << 17))"
stop = "sleep 0.1; kill -STOP %d; sleep 1.5; kill -CONT %d" % (os.getpid(), os.getpid())
with Servers(t.PACK) as servers:
    tree = Tree("/learner", ("src",), {{"src/mine.py": WIDE}}, {{"main": "mine:main"}})
    servers.outcomes(tree, [t.job()])
    shell = subprocess.Popen(["sh", "-c", stop])
    found = servers.outcomes(tree, [t.job()] * 600, limit=0.5)
    print(*sorted({{str(outcome.stopped) for outcome in found}}))
    shell.wait()
"""


def test_an_engine_that_was_stopped_for_a_while_holds_it_against_nobody() -> None:
    """Ctrl-Z and fg: the learner's code goes on meanwhile, and waits for its answers to be taken."""
    script = STOPPED.format(here=str(Path(__file__).parent))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["None"]


def test_a_server_that_starts_while_all_are_closed_is_closed_too():
    """After Ctrl-C a thread may still be at it."""
    servers, closed = Servers({}), []

    class Starting:
        def __init__(self, later):
            self.later = later

        def close(self):
            closed.append(self)
            servers._servers.update(self.later)

    servers._servers["pack"] = Starting({"before": Starting({}), "candidate": Starting({})})
    servers.__exit__(None, None, None)
    assert len(closed) == 3 and not servers._servers
