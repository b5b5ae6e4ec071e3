"""What the tests of commands, practice and view share: a healthy learner, the CLI, a terminal.

Imported by the conftest of each folder. Learners are made once and copied, as everything that an
engine keeps about a learner is relative to their folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import forked
import pytest

from engine.commands import break_, init, submit_fix
from engine.commands.session import Session
from engine.flows.answers import Answer
from engine.flows.predictions import Opening

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "exercises" / "minimodel" / "models"
LOUD, SILENCED = "tied-vocab-mismatch", "tied-vocab-mismatch-silenced"
HEAD = "src/minimodel/nn/lm_head.py"
LOSS = "src/minimodel/nn/loss.py"
NOTES = "phase-13/notes/breaks.md"
BROKEN = "self.vocab_size_out = 256"
HEALTHY = "self.vocab_size_out = embedding.vocab_size"
GRACE = 60  # seconds: only a hang takes so long, however slow the machine is

ANSWERS = """\
predictions:
  where: {answer: logits, confidence: 70}
  rows: {answer: 32, confidence: 80}
  message: {answer: two shapes that do not fit, confidence: 60}
cause: {answer: width, confidence: 90}
"""
SILENCED_ANSWERS = """\
predictions:
  first-loss: {answer: 5.545, confidence: 70}
  trend: {answer: falls, confidence: 80}
  high-target: {answer: ValueError, confidence: 60}
cause: {answer: narrow, confidence: 90}
"""
GIVEN = (
    Answer("where", "logits", 70),
    Answer("rows", 32.0, 80),
    Answer("message", "two shapes that do not fit", 60),
)


def answer(_: Opening) -> Sequence[Answer]:
    """Predictions for the loud break."""
    return GIVEN


def right_cause(_: str, __: Sequence[tuple[str, str]]) -> Answer:
    """The right answer to the cause question of the loud break."""
    return Answer("cause", "width", 90)


# ------------------------------------------------------------------------------------- learners


def lay_model(home: Path, model: str = "plain") -> None:
    """The pack's healthy files over the template's stubs."""
    shutil.copytree(MODELS / model, home, dirs_exist_ok=True)


@pytest.fixture(scope="session")
def healthy_learner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A learner whose model is healthy; never used directly, only copied."""
    folder = tmp_path_factory.mktemp("healthy")
    init.run("ada", folder=folder)
    lay_model(folder / "learners" / "ada")
    return folder / "learners" / "ada"


@pytest.fixture(scope="session")
def opened_learner(healthy_learner: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same learner with the loud break open; only copied."""
    folder = tmp_path_factory.mktemp("opened")
    home = folder / "learners" / "ada"
    shutil.copytree(healthy_learner, home)
    break_.run(Session.here("ada", folder), LOUD, answer)
    return home


@pytest.fixture(scope="session")
def closed_learner(opened_learner: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same learner with the loud break mended; only copied."""
    folder = tmp_path_factory.mktemp("closed")
    home = folder / "learners" / "ada"
    shutil.copytree(opened_learner, home)
    mend(home)
    assert submit_fix.run(Session.here("ada", folder), right_cause).passed
    return home


def _copy(learner: Path, folder: Path) -> Path:
    home = folder / "learners" / "ada"
    shutil.copytree(learner, home, symlinks=True)
    return home


@pytest.fixture
def home(healthy_learner: Path, tmp_path: Path) -> Path:
    """A healthy learner's folder."""
    return _copy(healthy_learner, tmp_path)


@pytest.fixture
def opened(opened_learner: Path, tmp_path: Path) -> Path:
    """A learner's folder with the loud break open."""
    return _copy(opened_learner, tmp_path)


@pytest.fixture
def closed(closed_learner: Path, tmp_path: Path) -> Path:
    """A learner's folder with the loud break mended."""
    return _copy(closed_learner, tmp_path)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """A file with answers to the loud break."""
    file = tmp_path / "answers.yaml"
    file.write_text(ANSWERS)
    return file


def session(home: Path) -> Session:
    """A command's view of the learner in `home`."""
    return Session.here(start=home)


def mend(home: Path, new: str = HEALTHY) -> None:
    """The line that the loud break changes in the plain model, replaced in the practice copy."""
    file = home / "practice" / LOUD / HEAD
    text = file.read_text()
    assert BROKEN in text
    file.write_text(text.replace(BROKEN, new))


def events(home: Path) -> list[tuple[str, int, str]]:
    """(exercise, attempt, kind) of everything in the event store."""
    return [(e.exercise, e.attempt, e.kind) for e in session(home).store.events()]


def edit(folder: Path, file: str, old: str, new: str) -> None:
    """Change a file below a folder in one place."""
    path = folder / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def kinds(home: Path) -> list[str]:
    """The kinds of everything in the event store."""
    return [kind for _, _, kind in events(home)]


# --------------------------------------------------------------------------------------- listings


def contents(folder: Path) -> dict[str, bytes | str]:
    """Every path below `folder`: bytes of files, targets of links, "/" for folders."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        else:
            found[name] = "/" if path.is_dir() else path.read_bytes()
    return found


def listing(folder: Path) -> dict[str, tuple[int, int, int, str]]:
    """Every path below `folder`, itself included: mode, size, mtime in nanoseconds, sha256."""
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        status = path.lstat()
        ordinary = path.is_file() and not path.is_symlink()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if ordinary else ""
        size = status.st_size if ordinary else 0
        name = path.relative_to(folder).as_posix()
        found[name] = (status.st_mode, size, status.st_mtime_ns, digest)
    return found


def is_kept(old: bytes, new: bytes) -> bool:
    """Whether every byte of `old` is in `new`, in order."""
    rest = iter(new)
    return all(byte in rest for byte in old)


# ------------------------------------------------------------------------------------ command line


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's variables without those that would change what a command does or shows; the seed stays."""
    dropped = ("GIT_", "ENGINE_", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "PYTHON", "PYTEST")
    kept = {k: v for k, v in os.environ.items() if not k.startswith((*dropped, "VISUAL", "EDITOR"))}
    ours = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return {**kept, **ours, "ENGINE_SEED": os.environ.get("ENGINE_SEED", ""), **(extra or {})}


def command(*words: str | Path) -> list[str]:
    """The command line of `engine`, run from this checkout."""
    return [sys.executable, "-m", "engine", *map(str, words)]


def engine(
    *words: str | Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    code: int | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[str]:
    """Run `engine` without a terminal; `code` is the exit code that the caller counts on."""
    if env or options:
        done = subprocess.run(
            command(*words), cwd=cwd, env=environment(env), stdin=subprocess.DEVNULL,
            capture_output=True, encoding="utf-8", timeout=GRACE, check=False, **options,
        )  # fmt: skip
    else:
        done = forked.run([str(word) for word in words], cwd, environment(), GRACE)
    assert "Traceback (most recent call last)" not in done.stderr + done.stdout.partition("{")[0]
    if code is not None:
        assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def engine_json(
    *words: str | Path, cwd: Path, code: int = 0, env: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Run `engine ... --json`; standard output must be one JSON object and nothing else."""
    done = engine(*words, "--json", cwd=cwd, code=code, env=env)
    assert done.stdout.endswith("}\n") and done.stdout.count("\n") == 1
    report = json.loads(done.stdout)
    assert isinstance(report, dict)
    return report


# ---------------------------------------------------------------------------------------- terminal

STEER = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def take_terminal() -> None:
    """In the new process: standard input is its terminal, and Ctrl-C means something again."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored where the tests run in the background


class Terminal:
    """A command with a terminal of its own, driven as a person would."""

    def __init__(
        self,
        *words: str,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        columns: int = 100,
        argv: Sequence[str] | None = None,
    ) -> None:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self._fd = ours
        self.raw = b""
        self._read_to = 0
        self.process = subprocess.Popen(
            list(argv) if argv else command(*words), cwd=cwd, stdin=theirs, stdout=theirs,
            stderr=theirs, start_new_session=True, env=environment({"TERM": "xterm", **(env or {})}),
            preexec_fn=take_terminal,
        )  # fmt: skip
        os.close(theirs)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._fd)

    @property
    def text(self) -> str:
        """All that was shown so far, without colours."""
        return STEER.sub("", self.raw.decode("utf-8", "replace")).replace("\r\n", "\n")

    def _pump(self, wait: float) -> bool:
        if not select.select([self._fd], [], [], wait)[0]:
            return True
        try:
            data = os.read(self._fd, 1 << 16)
        except OSError:  # the other side is gone
            return False
        self.raw += data
        return bool(data)

    def expect(self, wanted: str) -> str:
        """Wait until `wanted` is shown, after what was waited for last; the text between."""
        deadline = time.monotonic() + GRACE
        going = True
        while True:
            at = self.text.find(wanted, self._read_to)
            if at >= 0:
                start, self._read_to = self._read_to, at + len(wanted)
                return self.text[start : self._read_to]
            assert going, f"{wanted!r} was never shown:\n{self.text}"
            assert time.monotonic() < deadline, f"{wanted!r} was not shown in time:\n{self.text}"
            going = self._pump(0.5)

    def send(self, line: str | bytes) -> None:
        """Type a line and press Enter."""
        os.write(self._fd, (line.encode() if isinstance(line, str) else line) + b"\n")

    def press(self, key: bytes) -> None:
        """Type a key alone, such as Ctrl-C (3), as slowly as a person: Python has begun to read."""
        time.sleep(0.5)
        os.write(self._fd, key)

    def end(self) -> int:
        """Wait for the command to end; its exit status."""
        deadline = time.monotonic() + GRACE
        while self._pump(0.2) or self.process.poll() is None:
            assert time.monotonic() < deadline, f"it did not end:\n{self.text}"
        return self.process.wait()


# ------------------------------------------------------------------------------------------- disks


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of `size` of its own, mounted at `folder`; skips the test where it cannot be."""
    folder.mkdir(parents=True, exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small disk")
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("mounting is not possible here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextlib.contextmanager
def read_only_view(of: Path, at: Path) -> Iterator[Path]:
    """`of` seen through a read-only mount at `at`."""
    at.mkdir(parents=True, exist_ok=True)
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount")
    if subprocess.run(
        ["mount", "--bind", str(of), str(at)], check=False, capture_output=True
    ).returncode:
        pytest.skip("mounting is not possible here")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(at)], check=True)
        yield at
    finally:
        subprocess.run(["umount", "-l", str(at)], check=True)
