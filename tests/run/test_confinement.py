"""What learner code may read, write and reach: its interpreter, its work folder, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lab import CALL, ROOT, Lab, alive, write

from engine.run.jobs import Job
from engine.run.servers import Servers
from engine.run.types import Outcome, Tree

REFERENCE = "exercises/minimodel/13-embeddings/embedding/reference.py"
HELPERS = """
import ctypes, os, socket, sys, time

libc = ctypes.CDLL(None, use_errno=True)

def refused(act):
    '''The name of the exception that `act` ends in, "" when it does not.'''
    try:
        act()
    except BaseException as error:
        return type(error).__name__
    return ""

def content(path):
    with open(path, "rb") as file:
        return file.read(64)
"""


def trying(lab: Lab, act: str, path: Path | str = "") -> str:
    """What stops learner code that does `act` to `path`; "" when nothing does."""
    code = f"{HELPERS}\ndef main(path):\n    return {{'refused': refused(lambda: {act})}}\n"
    outcome = lab.run(code, path=str(path))
    assert outcome.stopped is None and outcome.raised is None, outcome
    refused: str = outcome.values["refused"]
    return refused


# ---------------------------------------------------------------- reading

CLOSED = {
    "the reference": ROOT / REFERENCE,
    "a pack's cases": ROOT / REFERENCE.replace("reference", "cases"),
    "a break's specification": ROOT
    / "exercises/minimodel/13-embeddings/lm_head/tied-vocab-mismatch.yaml",
    "the pack's healthy model": ROOT / "exercises/minimodel/models/plain/src/minimodel/nn/loss.py",
    "the engine": ROOT / "engine/run/servers.py",
    "the passwords": Path("/etc/passwd"),
    "the machine's name": Path("/etc/hostname"),
    "its own memory map": Path("/proc/self/maps"),
    "its own command line": Path("/proc/self/cmdline"),
    "the first process": Path("/proc/1/environ"),
    "the kernel's settings": Path("/proc/sys/kernel/hostname"),
}


@pytest.mark.parametrize("path", CLOSED.values(), ids=CLOSED.keys())
def test_learner_code_cannot_read(confined: Lab, path: Path) -> None:
    """What is not part of the interpreter is closed, wherever it lies."""
    if not path.exists():
        pytest.skip(f"there is no {path} here")
    assert trying(confined, "content(path)", path) == "PermissionError"


@pytest.mark.parametrize(
    "folder", [ROOT / "exercises", ROOT / "learners", ROOT / "engine", Path("/"), Path.home()]
)
def test_learner_code_cannot_read_the_names_in_engine_content_and_home(
    confined: Lab, folder: Path
) -> None:
    """Files below a closed folder cannot be read, whatever the folder's own names tell."""
    code = f"""{HELPERS}
def main(path):
    found = 0
    for base, _, files in os.walk(path):
        for name in files[:20]:
            found += refused(lambda: content(os.path.join(base, name))) == ""
        if found or base.count("/") > 5:
            break
    return {{"read": found}}
"""
    outcome = confined.run(code, path=str(folder))
    assert outcome.values == {"read": 0}


def test_learner_code_cannot_read_the_checkouts_history(confined: Lab) -> None:
    """The repository around the engine holds the references too, in its objects."""
    head = ROOT / ".git" / "HEAD"
    if not head.is_file():
        pytest.skip("this is no checkout")
    assert trying(confined, "content(path)", head) == "PermissionError"


def test_learner_code_cannot_read_the_corpus_of_healthy_models(confined: Lab) -> None:
    """Nor what lies beside the engine in a checkout: implementations that pass every check."""
    healthy = ROOT / "tests/corpus/einsum/src/minimodel/nn/loss.py"
    assert trying(confined, "content(path)", healthy) == "PermissionError"


def test_learner_code_cannot_read_another_learners_folder(confined: Lab, tmp_path: Path) -> None:
    """Two learners on one machine do not see each other."""
    write(tmp_path / "other", {"src/mine.py": "main = dict"})
    assert trying(confined, "content(path)", tmp_path / "other/src/mine.py") == "PermissionError"
    assert trying(confined, "os.listdir(path)", tmp_path / "other") == "PermissionError"


def test_learner_code_cannot_read_its_own_tree_from_disk(confined: Lab, tmp_path: Path) -> None:
    """What runs is the tree that was sent; the folder may hold the healthy one."""
    write(tmp_path / "learner", {"src/healthy.py": "main = dict"})
    assert (
        trying(confined, "content(path)", tmp_path / "learner/src/healthy.py") == "PermissionError"
    )


def test_learner_code_cannot_read_the_work_folder_of_another_server(confined: Lab) -> None:
    """Runs that must not know of each other share no folder."""
    neighbour = confined.name + " neighbour"
    confined.runs(confined.tree("main = dict"), {}, server=neighbour)
    base = Path(confined.servers._workdir)
    folders = [folder for folder in base.iterdir() if folder.is_dir()]
    assert len(folders) >= 2
    (base / "note").write_text("of the engine")
    assert trying(confined, "os.listdir(path)", base) == "PermissionError"
    assert trying(confined, "content(path)", base / "note") == "PermissionError"
    code = f"""{HELPERS}
def main(base, names):
    return {{"open": [name for name in names.split() if not refused(lambda: os.listdir(base + "/" + name))]}}
"""
    names = " ".join(folder.name for folder in folders)
    outcome = confined.run(code, base=str(base), names=names)
    assert len(outcome.values["open"]["list"]) <= 1  # its own


def test_a_link_into_a_closed_place_leads_nowhere(confined: Lab) -> None:
    """What counts is where a path ends."""
    act = "(os.symlink(path, 'link'), content('link'))"
    assert trying(confined, act, ROOT / REFERENCE) in ("PermissionError", "OSError")


# ---------------------------------------------------------------- writing

WRITES = {
    "overwrite": "open(path, 'w')",
    "append to": "open(path, 'a')",
    "truncate": "os.truncate(path, 0)",
    "delete": "os.unlink(path)",
    "rename": "os.rename(path, path + '2')",
    "move away": "os.rename(path, 'mine')",
    "link to": "os.link(path, 'mine')",
    "write beside": "open(path + '2', 'w')",
    "make a folder beside": "os.mkdir(path + '2')",
    "make a link beside": "os.symlink('/', path + '2')",
    "make a pipe beside": "os.mkfifo(path + '2')",
}
TOUCHES = {
    "change the permissions of": "os.chmod(path, 0o777)",
    "change the times of": "os.utime(path, (0, 0))",
    "give away": "os.chown(path, os.getuid(), os.getgid())",
    "put attributes on": "os.setxattr(path, 'user.mark', b'x')",
}


@pytest.mark.parametrize("act", WRITES.values(), ids=WRITES.keys())
def test_learner_code_cannot_write_outside_its_work_folder(
    confined: Lab, tmp_path: Path, act: str
) -> None:
    """No file outside is written, moved, removed or made."""
    target = tmp_path / "precious"
    target.write_text("precious")
    assert trying(confined, act, target) in ("PermissionError", "OSError")
    assert target.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["learner", "precious"]


@pytest.mark.parametrize("act", TOUCHES.values(), ids=TOUCHES.keys())
def test_learner_code_cannot_touch_what_belongs_to_files_outside(
    confined: Lab, tmp_path: Path, act: str
) -> None:
    """Permissions, owners, times and attributes of files outside stay as they are."""
    target = tmp_path / "precious"
    target.write_text("precious")
    target.chmod(0o640)
    before = target.stat()
    refused = trying(confined, act, target)
    after = target.stat()
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert refused in ("PermissionError", "OSError")


@pytest.mark.parametrize(
    "place", ["/tmp/engine-test-outside", "/dev/shm/outside", "../outside", "/outside"]
)
def test_learner_code_cannot_leave_files_in_common_places(confined: Lab, place: str) -> None:
    """Neither the temporary folder, shared memory, nor the folder above its own."""
    assert trying(confined, "open(path, 'w')", place) in ("PermissionError", "FileNotFoundError")


def test_learner_code_can_write_in_its_work_folder(confined: Lab) -> None:
    """Files and folders, also through `tempfile`."""
    outcome = confined.run("""
import os, tempfile
def main():
    os.mkdir("folder")
    with open("folder/file", "w") as file:
        file.write("text")
    with tempfile.NamedTemporaryFile("w+") as file:
        file.write("more")
    with tempfile.TemporaryDirectory() as folder:
        pass
    return {"read": open("folder/file").read()}
""")
    assert outcome.raised is None and outcome.values == {"read": "text"}


def test_learner_code_can_write_a_file_twice(confined: Lab) -> None:
    """Overwriting a file of one's own is ordinary."""
    outcome = confined.run("""
import os
def main():
    for text in ("first", "second"):
        with open("file", "w") as file:
            file.write(text)
    return {"read": open("file").read()}
""")
    assert outcome.raised is None and outcome.values == {"read": "second"}


def test_learner_code_can_move_a_file_between_folders_of_its_own(confined: Lab) -> None:
    """Writing beside and renaming into place is ordinary too."""
    outcome = confined.run("""
import os
def main():
    os.mkdir("folder")
    open("file", "w").close()
    os.rename("file", "folder/file")
    return {"found": os.listdir("folder")}
""")
    assert outcome.raised is None and outcome.values == {"found": {"list": ["file"]}}


def test_a_huge_file_is_not_written(confined: Lab) -> None:
    """A file of a gigabyte ends in an OSError, or in the end of the process."""
    outcome = confined.run("""
def main():
    with open("file", "wb") as file:
        for _ in range(1024):
            file.write(bytes(1 << 20))
    return {"written": True}
""")
    assert "written" not in outcome.values
    assert outcome.stopped or (outcome.raised and outcome.raised.type == "OSError")


def test_what_a_run_left_in_its_work_folder_is_not_there_in_the_next(lab: Lab) -> None:
    """A cache on disk must not carry one candidate's results into the run of another."""
    tree = lab.tree("""
import os
def main():
    found = os.listdir(".")
    open("cache", "a").close()
    return {"found": found}
""")
    lab.runs(tree, {})
    assert lab.runs(tree, {})[0].values == {"found": {"list": []}}


# ---------------------------------------------------------------- reaching

REACHES = {
    "a socket": "socket.socket()",
    "a local socket": "socket.socket(socket.AF_UNIX)",
    "a datagram socket": "socket.socket(type=socket.SOCK_DGRAM)",
    "a connection": "socket.create_connection(('127.0.0.1', 9), 1)",
    "a netlink socket": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "a shell": "os.execv('/bin/sh', ['sh', '-c', 'true'])",
    "its own interpreter again": "os.execv(sys.executable, ['python', '-c', ''])",
    "a subprocess": "__import__('subprocess').run(['true'], check=True)",
}


@pytest.mark.parametrize("act", REACHES.values(), ids=REACHES.keys())
def test_learner_code_cannot_open(confined: Lab, act: str) -> None:
    """No network and no other program."""
    assert trying(confined, act) in ("PermissionError", "OSError", "FileNotFoundError")


SYSTEM_CALLS = {
    "ptrace": "libc.ptrace(16, os.getppid(), 0, 0)",
    "process_vm_readv": "libc.process_vm_readv(os.getppid(), None, 0, None, 0, 0)",
    "process_vm_writev": "libc.process_vm_writev(os.getppid(), None, 0, None, 0, 0)",
    "unshare": "libc.unshare(0x10000000)",
    "setns": "libc.setns(0, 0)",
    "mount": "libc.mount(b'none', b'/', None, 32, None)",
}


@pytest.mark.parametrize("call", SYSTEM_CALLS.values(), ids=SYSTEM_CALLS.keys())
def test_a_system_call_that_no_model_needs_is_refused(confined: Lab, call: str) -> None:
    """Looking into other processes and leaving the sandbox are not permitted."""
    outcome = confined.run(
        f"{HELPERS}\ndef main():\n    return {{'is': {call}, 'errno': ctypes.get_errno()}}\n"
    )
    assert outcome.values == {"is": -1, "errno": 1}


@pytest.mark.parametrize(
    "act",
    [
        "os.kill(os.getppid(), 15)",
        "os.kill(os.getppid(), 19)",
        "os.kill(os.getppid(), 9)",
        "os.killpg(os.getpgid(os.getppid()), 15)",
    ],
    ids=["terminate", "stop", "kill", "kill the group"],
)
def test_learner_code_cannot_signal_its_parent(confined: Lab, act: str) -> None:
    """Signals stay among its own processes, where the kernel has scopes for them."""
    if confined.servers.sandbox.landlock < 6:
        pytest.skip("this kernel's Landlock does not scope signals")
    tree = confined.tree("import os\ndef main():\n    return {'server': os.getppid()}\n")
    server = confined.runs(tree, {})[0].values["server"]
    assert trying(confined, act) == "PermissionError"
    assert alive(server)
    assert confined.runs(tree, {})[0].values["server"] == server


def test_learner_code_cannot_limit_its_parent(confined: Lab) -> None:
    """A process that may open no file and use no time is as good as killed."""
    act = "__import__('resource').prlimit(os.getppid(), 7, (0, 0))"
    refused = trying(confined, act)
    assert confined.run("def main():\n    return {'fine': 1}").values == {"fine": 1}
    assert refused == "PermissionError"


def test_learner_code_inherits_no_descriptor_but_its_own(lab: Lab) -> None:
    """Nothing of the server's is open in the child: its three streams, and the one for answers."""
    outcome = lab.run("""
import os
def main():
    found = []
    for number in range(1024):
        try:
            os.fstat(number)
        except OSError:
            continue
        found.append(number)
    return {"open": found}
""")
    assert outcome.values == {"open": {"list": [0, 1, 2, 200]}}


def test_learner_code_cannot_lift_its_limits(confined: Lab) -> None:
    """What the child stepped behind holds for good, for a privileged user too."""
    outcome = confined.run(f"""{HELPERS}
import resource
def main():
    return {{"memory": resource.getrlimit(resource.RLIMIT_AS)[1],
            "core": resource.getrlimit(resource.RLIMIT_CORE)[1]}}
""")
    assert 0 < outcome.values["memory"] < 1 << 40
    assert outcome.values["core"] == 0


# ---------------------------------------------------------------- and still a whole Python

MODULES = """
abc argparse array ast asyncio base64 bisect calendar cmath collections collections.abc concurrent.futures
contextlib copy csv ctypes dataclasses datetime decimal difflib enum fractions functools gc glob gzip hashlib
heapq importlib.metadata inspect io itertools json logging math multiprocessing numbers operator os pathlib
pickle pprint queue random re secrets shutil statistics string struct subprocess sys tempfile textwrap
threading time timeit traceback types typing unicodedata unittest urllib.request uuid warnings weakref zlib
numpy numpy.linalg numpy.random numpy.fft numpy.polynomial numpy.ma numpy.testing numpy.typing
numpy.lib.stride_tricks numpy.ctypeslib
"""


def test_the_standard_library_and_numpy_can_be_imported_inside(confined: Lab) -> None:
    """Modules that were not loaded before the sandbox closed still are found, extensions included."""
    outcome = confined.run(
        """
import importlib
def main(names):
    failed = []
    for name in names.split():
        try:
            importlib.import_module(name)
        except BaseException as error:
            failed.append("%s: %r" % (name, error))
    return {"failed": failed}
""",
        names=MODULES,
    )
    assert outcome.values == {"failed": {"list": []}}


def test_numpy_computes_inside(confined: Lab) -> None:
    """Linear algebra, random numbers and transforms work, not only their imports."""
    outcome = confined.run("""
import numpy as np
def main():
    a = np.random.default_rng(0).standard_normal((40, 40))
    back = np.linalg.inv(a) @ a
    wave = np.fft.ifft(np.fft.fft(a[0])).real
    return {"identity": bool(np.allclose(back, np.eye(40))), "wave": bool(np.allclose(wave, a[0]))}
""")
    assert outcome.values == {"identity": True, "wave": True}


def test_nothing_of_the_engine_can_be_imported(lab: Lab) -> None:
    """Neither its package, nor the bootstrap under its name."""
    outcome = lab.run(f"""{HELPERS}
def main():
    names = ["engine.errors", "engine.cli", "engine.run.servers", "engine.run.child.wire"]
    return {{name: refused(lambda: __import__(name)) for name in names}}
""")
    assert outcome.raised is None
    assert "" not in outcome.values.values()


def test_a_hidden_folder_among_the_packages_is_closed_and_its_neighbours_are_not(
    tmp_path: Path,
) -> None:
    """`hidden` holds inside what is readable: an installed engine lies among the learner's packages."""
    python = interpreter(tmp_path / "venv")
    packages = next((tmp_path / "venv").glob("lib/python3*/site-packages"))
    write(
        packages,
        {
            "secret/__init__.py": "x = 1",
            "secret/deep/reference.py": "x = 1",
            "open1/__init__.py": "x = 2",
        },
    )
    tree = Tree(
        str(tmp_path / "learner"), ("src",),
        {"src/mine.py": f"""{HELPERS}
def main(path):
    import open1
    return {{"x": open1.x, "import": refused(lambda: __import__("secret")),
            "deep": refused(lambda: content(path))}}
""".encode()},
        {"main": "mine:main"},
    )  # fmt: skip
    with Servers(
        {"pack/any/call.py": CALL}, python=python, hidden=[packages / "secret"]
    ) as servers:
        if servers.sandbox_of("learner").landlock == 0:
            pytest.skip("this kernel has no Landlock")
        (outcome,) = servers.outcomes(
            tree, [Job("any", "run", {"path": str(packages / "secret/deep/reference.py")})]
        )
    assert outcome.raised is None
    assert outcome.values["x"] == 2
    assert outcome.values["deep"] == "PermissionError"
    assert outcome.values["import"] != ""


def interpreter(folder: Path) -> str:
    """An interpreter of its own in `folder` that finds our numpy."""
    import numpy

    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    packages = next(folder.glob("lib/python3*/site-packages"))
    (packages / "numpy.pth").write_text(str(Path(numpy.__file__).parents[1]))
    return str(folder / "bin" / "python")


# ---------------------------------------------------------------- what it can find in its own memory

SEARCH = """
import gc, sys, types

def main(first, second):
    wanted = first + second
    waiting = [*gc.get_objects(), *sys.modules.values()]
    frame = sys._getframe()
    while frame is not None:
        waiting += [frame, frame.f_locals, frame.f_globals]
        frame = frame.f_back
    kept = {id(waiting): waiting, id(wanted): wanted}
    kept[id(kept)] = kept
    found = 0
    while waiting:
        item = waiting.pop()
        if id(item) in kept:
            continue
        kept[id(item)] = item
        if isinstance(item, str):
            found += wanted in item
        elif isinstance(item, (bytes, bytearray)):
            found += wanted.encode() in item
        elif isinstance(item, types.CodeType):
            waiting += item.co_consts
        else:
            waiting += gc.get_referents(item)
    return {"found": found, "objects": len(kept)}
"""


def searched(lab: Lab, files: dict[str, str], word: str) -> Outcome:
    """How often learner code finds a word in its memory; it is given the word in two halves."""
    half = len(word) // 2
    return lab.run({"src/mine.py": SEARCH, **files}, first=word[:half], second=word[half:])


def test_what_the_search_looks_for_it_can_find(lab: Lab) -> None:
    """The search below is no blind one: it finds a text of the tree under test."""
    outcome = searched(
        lab, {"src/mine.py": SEARCH + "\n# a word in plain sight: kestrel\n"}, "kestrel"
    )
    assert outcome.values["found"] > 0 and outcome.values["objects"] > 10_000


def test_the_healthy_tree_is_not_in_the_memory_of_the_candidate(lab: Lab) -> None:
    """A server that ran the healthy code is another process than the one that runs the candidate."""
    healthy = lab.tree("def main():\n    return {'x': 'healthy kestrel'}\n")
    assert lab.runs(healthy, {}, server=lab.name + " before")[0].values == {"x": "healthy kestrel"}
    outcome = searched(lab, {}, "healthy kestrel")
    assert outcome.values["objects"] > 10_000
    assert outcome.values["found"] == 0


def test_the_tree_before_is_not_in_the_memory_of_the_next_on_the_same_server(lab: Lab) -> None:
    """A server forgets the tree that it held before."""
    healthy = lab.tree("def main():\n    return {'x': 'healthy kestrel'}\n")
    lab.runs(healthy, {})
    assert searched(lab, {}, "healthy kestrel").values["found"] == 0


def test_the_reference_is_not_in_the_memory_of_learner_code(tmp_path: Path) -> None:
    """A learner's server never held the pack's cases and references."""
    pack = {
        "pack/any/call.py": CALL,
        "pack/any/cases.py": b"def run(rng, regime, dtype):\n    return {}\n",
        "pack/any/reference.py": b"def run(out, variant):\n    out.record(x='reference kestrel')\n",
    }
    from engine.run.types import Draw

    with Servers(pack) as servers:
        case = servers.cases([Draw("any", "run", "normal", 0)])[0]
        assert case.expected[""].values == {"x": "reference kestrel"}
        lab = Lab(servers, tmp_path, "learner")
        outcome = searched(lab, {}, "reference kestrel")
    assert outcome.values["objects"] > 10_000
    assert outcome.values["found"] == 0


def test_the_environment_tells_nothing_of_the_user(lab: Lab) -> None:
    """Variables of the shell, with keys and tokens among them, do not reach learner code."""
    os.environ["ENGINE_TEST_TOKEN"] = "kestrel"
    try:
        with Servers({"pack/any/call.py": CALL}) as servers:
            (outcome,) = servers.outcomes(
                lab.tree("import os\ndef main():\n    return {'x': sorted(os.environ)}"),
                [Job("any", "run", {})],
            )
    finally:
        del os.environ["ENGINE_TEST_TOKEN"]
    names = outcome.values["x"]["list"]
    assert "PATH" in names and "ENGINE_TEST_TOKEN" not in names
