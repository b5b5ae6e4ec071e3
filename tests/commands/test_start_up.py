"""What is typed all the time starts fast: heavy libraries are loaded only where they work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from workbench import GRACE, LOUD, engine, environment

PROBE = """
import sys
from engine.cli.learner import main
try:
    main()
except SystemExit:
    pass
names = {name.partition(".")[0] for name in sys.modules}
print("\\nLOADED", *sorted(names), file=sys.stderr)
"""


def loaded(*words: str, cwd: Path) -> set[str]:
    """The top-level modules that a command has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *words], cwd=cwd, env=environment(), capture_output=True,
        text=True, stdin=subprocess.DEVNULL, timeout=GRACE, check=False,
    )  # fmt: skip
    last = done.stderr.splitlines()[-1].split()
    assert last[0] == "LOADED" and "typer" in last, done.stderr
    return set(last[1:])


@pytest.mark.parametrize("words", [
    ["--help"], ["break", "--help"], ["hint"], ["status"], ["list"], ["show", LOUD], ["next"],
    ["notes"],
], ids=" ".join)  # fmt: skip
def test_light_commands_never_load_numpy_git_or_torch(opened: Path, words: list[str]) -> None:
    """Help, hint, status, list, show, next and notes do without them, and without pydantic."""
    assert not loaded(*words, cwd=opened) & {"numpy", "git", "gitdb", "torch", "pydantic"}


def test_a_verdict_on_a_build_begins_without_what_only_facts_need() -> None:
    """And without numpy, which is loaded while the learner's code is at work."""
    text = "import sys, engine.commands.submit_build; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", text], env=environment(), capture_output=True, text=True, check=True
    )
    assert not {"numpy", "engine.flows.check", "engine.facts.pack"} & {*done.stdout.split()}


@pytest.mark.parametrize("words", ["hint", "status", "list", "next", "notes"])
def test_what_is_known_of_a_pack_is_not_read_again(opened: Path, words: str) -> None:
    """The second time no YAML is read, and nothing is loaded that reads it."""
    engine(words, cwd=opened)
    assert not loaded(words, cwd=opened) & {"yaml", "secrets", "rich"}


@pytest.mark.parametrize("words", [
    ["submit-fix", "--help"], ["list", "--json"], ["show", LOUD, "--json"], ["status", "--json"],
    ["hint", "--json"], ["submit-fix", "--json"], ["observe", "--json"], ["reset", "--json"],
    ["doctor", "--json"], ["submit-build", "--json"], ["break", LOUD, "--json"],
], ids=" ".join)  # fmt: skip
def test_rich_is_loaded_only_for_a_person(opened: Path, words: list[str]) -> None:
    """Neither help nor JSON needs rich."""
    assert "rich" not in loaded(*words, cwd=opened)


def test_help_loads_none_of_the_rooms(tmp_path: Path) -> None:
    """`engine --help` is typer and the declarations, nothing that shows, reads a spec or a store."""
    assert not loaded("--help", cwd=tmp_path) & {"rich", "yaml", "msgspec", "sqlite3"}


def test_the_engine_never_loads_torch_itself(opened: Path) -> None:
    """Whatever the learner's framework: the parent process judges without it."""
    assert "torch" not in loaded("submit-fix", cwd=opened)


ENDED_EARLY = {
    ("break", LOUD): 4,  # one is open
    ("break", "embedding"): 2,
    ("break", "nonsense"): 2,
    ("submit-build", "nonsense"): 2,
    ("submit-build", LOUD): 2,
    ("submit-build", "embedding"): 0,
    ("break", "--help"): 0,
}


@pytest.mark.parametrize("words", ENDED_EARLY, ids=" ".join)
def test_what_was_started_early_is_gone_in_the_end(
    opened: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Whether the command came to use it or not: no folder and no process of it is left."""
    place = tmp_path / "temporary"
    place.mkdir()
    engine(*words, cwd=opened, env={"TMPDIR": str(place)}, code=ENDED_EARLY[words])
    assert list(place.iterdir()) == []
    there = [link for link in Path("/proc").glob("[0-9]*/cwd") if _leads(link, place)]
    assert there == []


def _leads(link: Path, place: Path) -> bool:
    try:
        return os.readlink(link).startswith(str(place))
    except OSError:  # it has ended meanwhile, or is not ours
        return False


INTERRUPTED = """
import sys
import engine.__main__ as way_in
def stop():
    raise KeyboardInterrupt
way_in._ahead = stop
sys.argv[1:] = ["submit-fix"]
way_in.main()
"""


def test_an_interruption_while_importing_leaves_no_traceback(tmp_path: Path) -> None:
    """Ctrl-C right after Enter: a line, and the exit code that every interruption has."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], cwd=tmp_path, env=environment(), capture_output=True,
        text=True, stdin=subprocess.DEVNULL, timeout=GRACE, check=False,
    )  # fmt: skip
    assert done.returncode == 130
    assert done.stderr == "\nengine: interrupted.\n" and not done.stdout
