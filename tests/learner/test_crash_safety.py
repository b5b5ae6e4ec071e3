"""kill -9 at any moment, then any command: it works, and nothing of the learner's was touched.

Two ways to be killed: after a delay, as it happens in life, and right before the Nth step that writes
below the learner's folder, so that every gap between two writes can be aimed at (see killing.py).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from workbench import (
    BROKEN,
    GRACE,
    HEAD,
    LOUD,
    NOTES,
    answer,
    command,
    engine,
    environment,
    events,
    is_kept,
    kinds,
    listing,
    mend,
    right_cause,
    session,
)  # fmt: skip

from engine.commands import break_, next_, status, submit_fix
from engine.commands.versions import before_and_now
from engine.learner import notes

KILLING = Path(__file__).with_name("killing.py")
OWN = b"\nmy own words, \xff\xf1 and all\r\nwithout a final newline"
BREAK_STEPS = (222, -5, -2)  # of about 400; -1 is the last
FIX_STEPS = (-6, -3)  # of about 17


@pytest.fixture
def mine(home: Path) -> Path:
    """A healthy learner with words of their own in the notes."""
    with (home / NOTES).open("ab") as file:
        file.write(OWN)
    return home


@pytest.fixture
def mended(opened: Path) -> Path:
    """A learner with an open break, mended but not submitted, and words of their own in the notes."""
    with (opened / NOTES).open("ab") as file:
        file.write(OWN)
    mend(opened)
    return opened


def start(*words: str | Path, cwd: Path) -> subprocess.Popen[bytes]:
    """An engine that nobody watches."""
    return subprocess.Popen(
        command(*words), cwd=cwd, env=environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def kill_after(seconds: float, *words: str | Path, cwd: Path) -> bool:
    """Run an engine and kill it after a while; False when it was over before."""
    process = start(*words, cwd=cwd)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    process.kill()
    return process.wait() == -signal.SIGKILL


def steps(folder: Path, limit: int, *words: str | Path, cwd: Path) -> tuple[int, int]:
    """Run an engine that is killed before its step `limit`; (exit status, steps it took)."""
    done = subprocess.run(
        [sys.executable, KILLING, str(folder), str(limit), *map(str, words)], cwd=cwd,
        env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=GRACE, check=False,
    )  # fmt: skip
    return done.returncode, int(done.stderr.split()[-1]) if done.returncode >= 0 else limit


def runtime(run: Callable[[], object]) -> float:
    """Seconds that something takes here and now."""
    began = time.monotonic()
    run()
    return time.monotonic() - began


def finish(home: Path) -> None:
    """From whatever a killed break left: one open exercise, number 1, that can be fixed."""
    here = session(home)
    status.run(here)
    next_.run(here)
    if "injected" not in kinds(home):
        assert break_.run(here, LOUD, answer).attempt == 1
    attempt = here.open_break()
    assert attempt.number == 1 and kinds(home).count("predicted") == 1
    healthy, broken = before_and_now(here, attempt)
    assert healthy.files == here.model_files()
    assert BROKEN.encode() in broken.files[HEAD]
    text = (home / NOTES).read_bytes()
    assert text.count(notes.start_mark(LOUD, 1).encode()) == 1
    assert text.count(b"### Predictions") == 1


def close(home: Path) -> None:
    """Mend what is open; the judge accepts it and the entry is closed."""
    if BROKEN in (home / "practice" / LOUD / HEAD).read_text():
        mend(home)
    assert submit_fix.run(session(home), right_cause).passed
    assert kinds(home)[-1] == "closed"
    assert b"### Fixed" in (home / NOTES).read_bytes()


def copies(home: Path, folder: Path) -> Iterator[Path]:
    """The same learner again and again, each in a folder of its own."""
    for number in range(1 << 20):
        copy = folder / str(number) / "learners" / "ada"
        copy.parent.mkdir(parents=True)
        subprocess.run(["cp", "-a", str(home), str(copy)], check=True)
        yield copy


@pytest.mark.slow
def test_break_may_be_killed_after_any_delay(mine: Path, tmp_path: Path, answers: Path) -> None:
    """Twelve kills over its runtime: model untouched, notes kept, and the exercise opens after all."""
    words = ("break", LOUD, "--answers", answers)
    copy = copies(mine, tmp_path / "copies")
    whole = runtime(lambda: engine(*words, cwd=next(copy), code=0))
    killed = 0
    for number in range(12):
        home = next(copy)
        model, own = listing(home / "src"), (home / NOTES).read_bytes()
        killed += kill_after(whole * (number + 0.5) / 12, *words, cwd=home)
        assert listing(home / "src") == model
        assert is_kept(own, (home / NOTES).read_bytes())
        finish(home)
        if number % 4 == 3:
            close(home)
        assert is_kept(own, (home / NOTES).read_bytes())
        assert listing(home / "src") == model
    assert killed >= 6


@pytest.mark.slow
def test_submit_fix_may_be_killed_after_any_delay(
    mended: Path, tmp_path: Path, answers: Path
) -> None:
    """Four kills over its runtime: the fix is still there, and is accepted the next time."""
    words = ("submit-fix", "--answers", answers)
    copy = copies(mended, tmp_path / "copies")
    whole = runtime(lambda: engine(*words, cwd=next(copy), code=0))
    killed = 0
    for number in range(4):
        home = next(copy)
        model, own = listing(home / "src"), (home / NOTES).read_bytes()
        practice = listing(home / "practice")
        killed += kill_after(whole * (number + 0.7) / 4.5, *words, cwd=home)
        assert listing(home / "practice") == practice
        assert is_kept(own, (home / NOTES).read_bytes())
        if kinds(home)[-1] != "closed":
            close(home)
        assert is_kept(own, (home / NOTES).read_bytes())
        assert listing(home / "src") == model
    assert killed >= 2


def sweep_break(home: Path, folder: Path, answers: Path, wanted: Sequence[int]) -> None:
    """Kill a break before each of these steps and finish what it left."""
    words = ("break", LOUD, "--answers", answers)
    copy = copies(home, folder)
    first = next(copy)
    status, total = steps(first, 0, *words, cwd=first)
    assert status == 0 and total > 50
    for at in sorted({n if n > 0 else total + 1 + n for n in wanted if n <= total}):
        home = next(copy)
        model, own = listing(home / "src"), (home / NOTES).read_bytes()
        assert steps(home, at, *words, cwd=home)[0] == -signal.SIGKILL, f"step {at} of {total}"
        assert listing(home / "src") == model, f"step {at} of {total}"
        finish(home)
        if at > total - 8 or at % 50 == 0:
            close(home)
        assert is_kept(own, (home / NOTES).read_bytes()), f"step {at} of {total}"


def sweep_fix(home: Path, folder: Path, answers: Path, wanted: Sequence[int]) -> None:
    """Kill a submission before each of these steps and submit again."""
    words = ("submit-fix", "--answers", answers)
    copy = copies(home, folder)
    first = next(copy)
    status, total = steps(first, 0, *words, cwd=first)
    assert status == 0 and total > 8
    for at in sorted({n if n > 0 else total + 1 + n for n in wanted if -total <= n <= total}):
        home = next(copy)
        own = (home / NOTES).read_bytes()
        assert steps(home, at, *words, cwd=home)[0] == -signal.SIGKILL, f"step {at} of {total}"
        assert is_kept(own, (home / NOTES).read_bytes()), f"step {at} of {total}"
        if kinds(home)[-1] != "closed":
            close(home)


def test_break_may_be_killed_between_any_two_writes(
    mine: Path, tmp_path: Path, answers: Path
) -> None:
    """Killed while the snapshot, the copy, the event or the notes are written, it goes on."""
    sweep_break(mine, tmp_path / "copies", answers, BREAK_STEPS)


def test_submit_fix_may_be_killed_between_any_two_writes(
    mended: Path, tmp_path: Path, answers: Path
) -> None:
    """Killed between verdict, cause, notes and end, the fix can be submitted again."""
    sweep_fix(mended, tmp_path / "copies", answers, FIX_STEPS)


@pytest.mark.slow
def test_break_may_be_killed_before_every_single_write(
    mine: Path, tmp_path: Path, answers: Path
) -> None:
    """The same, at each of some four hundred steps."""
    sweep_break(mine, tmp_path / "copies", answers, range(1, 2000))


@pytest.mark.slow
def test_submit_fix_may_be_killed_before_every_single_write(
    mended: Path, tmp_path: Path, answers: Path
) -> None:
    """The same, at each step of a submission."""
    sweep_fix(mended, tmp_path / "copies", answers, range(1, 200))


@pytest.mark.parametrize(
    "at", [0.5, *(pytest.param(n, marks=pytest.mark.slow) for n in (0.25, 0.75))]
)
def test_init_may_be_killed_and_typed_again(tmp_path: Path, at: float) -> None:
    """What a killed init left is no learner: the next init makes one, and it is the only one."""
    (tmp_path / "dry").mkdir()
    _, total = steps(tmp_path, 0, "init", "ada", cwd=tmp_path / "dry")
    here = tmp_path / "here"
    here.mkdir()
    assert steps(tmp_path, round(at * total), "init", "ada", cwd=here)[0] == -signal.SIGKILL
    assert not (here / "learners" / "ada").exists()
    engine("init", "ada", cwd=here, code=0)
    engine("status", cwd=here, code=0)


@pytest.mark.parametrize(
    "at", [0.9, *(pytest.param(n, marks=pytest.mark.slow) for n in (0.3, 0.97))]
)
def test_reset_may_be_killed_and_the_exercise_started_again(opened: Path, at: float) -> None:
    """Killed anywhere, the exercise is open or put aside, and a new attempt can begin."""
    own = (opened / NOTES).read_bytes()
    probe = next(copies(opened, opened.parent / "copies"))
    _, total = steps(probe, 0, "reset", cwd=probe)
    assert steps(opened, round(at * total), "reset", cwd=opened)[0] == -signal.SIGKILL
    if kinds(opened)[-1] != "reset":
        engine("reset", cwd=opened, code=0)
    assert break_.run(session(opened), LOUD, answer).attempt == 2
    assert is_kept(own, (opened / NOTES).read_bytes())


def environments(marker: str) -> list[int]:
    """The processes of this machine that have `marker` in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if marker.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_a_killed_engine_leaves_no_process_behind(home: Path, answers: Path) -> None:
    """The servers that run code end by themselves when the engine that started them is gone."""
    marker = f"/marked-{os.getpid()}-{time.monotonic_ns()}"
    env = environment({"PATH": os.environ["PATH"] + os.pathsep + marker})
    process = subprocess.Popen(
        command("break", LOUD, "--answers", answers), cwd=home, env=env,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + GRACE
    while len(environments(marker)) < 3 and process.poll() is None:
        assert time.monotonic() < deadline
    process.kill()
    assert process.wait() == -signal.SIGKILL
    while environments(marker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert environments(marker) == []


def test_two_engines_at_once_end_in_one_winner(home: Path, answers: Path) -> None:
    """One break is made; the other engine says clearly that it was not first, and changes nothing."""
    both = [
        subprocess.Popen(
            command("break", LOUD, "--answers", answers), cwd=home, env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    told = [process.communicate(timeout=GRACE) for process in both]
    codes = [process.returncode for process in both]
    assert sorted(codes) == [0, 4], told
    out, error = told[codes.index(4)]
    assert out == ""
    assert "Another engine is at work" in error or "still open" in error
    assert len(error.splitlines()) <= 4
    assert events(home) == [(LOUD, 1, "predicted"), (LOUD, 1, "injected"), (LOUD, 1, "observed")]
    assert (home / NOTES).read_text().count("### Predictions") == 1
    assert [p.name for p in (home / "practice").iterdir() if p.is_dir()] == [LOUD]


def test_two_inits_at_once_end_in_one_learner(tmp_path: Path) -> None:
    """One folder is made, whole; the other engine says that the learner is there."""
    both = [start("init", "ada", cwd=tmp_path) for _ in range(2)]
    codes = sorted(process.wait(GRACE) for process in both)
    assert codes[0] == 0 and codes[1] in (2, 4)
    assert [p.name for p in (tmp_path / "learners").iterdir()] == ["ada"]
    engine("status", cwd=tmp_path, code=0)


def test_reading_goes_on_while_another_engine_works(home: Path) -> None:
    """list, show, status and next need no lock."""
    from engine.learner.store import alone

    with alone(home / ".engine"):
        for words in (["list"], ["show", LOUD], ["status"], ["next"], ["notes"]):
            engine(*words, cwd=home, code=0)
        refused = engine("hint", "embedding", cwd=home, code=4)
    assert f"process {os.getpid()}" in refused.stderr
