"""Draws the picture of README.md from a real run: a mistake in a build, what is said of it, and the script of it.

    python tests/bench/picture.py [FILE]      # .ci/terminal.svg

tests/commands/test_picture.py checks that it still shows what the commands print.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / ".ci" / "terminal.svg"
EMBEDDING = "src/minimodel/nn/embedding.py"
COMMANDS = ("engine submit-build embedding", "engine repro")


def shown() -> str:
    """What the commands print on code that forgets that an id may come twice."""
    with tempfile.TemporaryDirectory() as name:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        _engine("init ada", Path(name), environment)
        home = Path(name) / "learners" / "ada"
        shutil.copytree(ROOT / "tests" / "corpus" / "einsum", home, dirs_exist_ok=True)
        text = (home / EMBEDDING).read_text()
        (home / EMBEDDING).write_text(_slip(text))
        told = [
            f"$ {command}\n" + _engine(command.removeprefix("engine "), home, environment)
            for command in COMMANDS
        ]
        return re.sub(r"\S+/bin/python3?(?=\s)", "python", "\n".join(told))


def _slip(text: str) -> str:
    """np.add.at as an assignment."""
    changed = re.sub(r"np\.add\.at\((\w+), (\w+), (\w+)\)", r"\1[\2] = \3", text)
    assert changed != text
    return changed


def _engine(words: str, folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "engine", *words.split()], cwd=folder, env=environment,
        capture_output=True, encoding="utf-8", check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert not done.stderr, done.stderr
    return done.stdout


def draw(text: str, file: Path) -> None:
    """The text as a terminal shows it."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=100, file=open(os.devnull, "w"), force_terminal=True)
    for line in text.splitlines():
        style = {"$": "bold", "F": "red", "o": "green"}.get(line[:1], "")
        console.print(Text(line, style))
    console.save_svg(str(file), title="engine", unique_id="engine")


if __name__ == "__main__":
    draw(shown(), Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
