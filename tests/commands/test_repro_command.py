"""`engine repro`: the failing check as a script that needs no engine; and every part at once."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from workbench import HEAD, LOUD, edit, engine, engine_json, kinds

from engine.errors import UsageError

EMBEDDING = "src/minimodel/nn/embedding.py"


def run(script: Path) -> str:
    """What it prints, in a Python that cannot import the engine."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.modules['engine'] = None; exec(open({str(script)!r}).read(),"
         f" {{'__name__': '__main__', '__file__': {str(script)!r}}})"],
        cwd=script.parent.parent, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_build_that_failed_can_be_repeated_without_the_engine(home: Path) -> None:
    """The very numbers of the verdict, then right as soon as the code is."""
    edit(home, EMBEDDING, "return self.weight[ids]", "return self.weight[ids] * 2.0")
    told = engine_json("submit-build", "embedding", cwd=home, code=1)
    first = next(one for one in told["verdict"]["results"] if not one["passed"])
    report = engine_json("repro", cwd=home)
    script = home / report["folder"] / "repro.py"
    text = run(script)
    assert report["check"] == first["id"] and "DIFFERS" in text
    shown = re.search(r"expected (\S+)", text)
    assert shown
    assert float(shown[1]) == pytest.approx(float(first["difference"]["expected"]), rel=1e-4)
    edit(home, EMBEDDING, "self.weight[ids] * 2.0", "self.weight[ids]")
    assert "DIFFERS" not in run(script)
    again = engine_json("repro", "gradient", cwd=home)
    assert again["check"] == "gradient" and again["folder"] != report["folder"]


def test_a_check_is_known_by_what_a_verdict_calls_it(home: Path) -> None:
    edit(home, EMBEDDING, "return self.weight[ids]", "return self.weight[ids] * 2.0")
    engine("submit-build", "embedding", cwd=home, code=1)
    shows = "gradient of the table"
    assert engine_json("repro", shows, cwd=home)["check"] == "gradient"
    done = engine("repro", "nothing", cwd=home, code=UsageError.exit_code)
    assert "gradient" in done.stderr and "can be repeated" in done.stderr


def test_a_check_without_arrays_is_repeated_too(home: Path) -> None:
    """The first that somebody meets who begins: sizes alone go in."""
    edit(home, EMBEDDING, "self.d_model = d_model", "self.d_model = d_model + 1")
    engine("submit-build", "embedding", cwd=home, code=1)
    report = engine_json("repro", "attributes", cwd=home)
    folder = home / report["folder"]
    assert [file.name for file in folder.iterdir()] == ["repro.py"]
    assert "DIFFERS" in run(folder / "repro.py")


def test_a_fix_that_failed_can_be_repeated_on_the_practice_copy(opened: Path) -> None:
    """What is expected is what the learner's own code gave before the break."""
    edit(opened / "practice" / LOUD, HEAD, "self.vocab_size_out = 256", "self.vocab_size_out = 300")
    engine("submit-fix", cwd=opened, code=1)
    report = engine_json("repro", cwd=opened)
    text = (opened / report["folder"] / "repro.py").read_text()
    assert f"practice/{LOUD}" in text
    done = subprocess.run(
        [sys.executable, str(opened / report["folder"] / "repro.py")],
        capture_output=True,
        text=True,
    )
    assert "DIFFERS" in done.stdout or "ValueError" in done.stderr


def test_submit_and_repro_stay_with_what_was_refused_last(home: Path) -> None:
    """Not with the next build of the course; and the build that is judged is named."""
    edit(
        home,
        "src/minimodel/nn/norm.py",
        "(mean_square + self.eps).sqrt()",
        "mean_square.sqrt() + self.eps",
    )
    engine("submit-build", "rmsnorm", cwd=home, code=1)
    again = engine("submit", cwd=home, code=1)
    assert again.stderr.startswith("engine submit-build rmsnorm") and "FAIL" in again.stdout
    told = engine_json("submit", cwd=home, code=1)
    assert told["exercise"] == "rmsnorm" and engine_json("repro", cwd=home)["exercise"] == "rmsnorm"
    edit(
        home,
        "src/minimodel/nn/norm.py",
        "mean_square.sqrt() + self.eps",
        "(mean_square + self.eps).sqrt()",
    )
    engine("submit", cwd=home, code=0)
    assert engine("submit", cwd=home, code=0).stderr.startswith("engine submit-build tensor")


def test_without_a_failed_check_there_is_nothing_to_repeat(home: Path) -> None:
    """And a check that did not fail is named with those that did."""
    assert "no failed check" in engine("repro", cwd=home, code=4).stderr
    edit(home, EMBEDDING, "return self.weight[ids]", "return self.weight[ids] * 2.0")
    engine("submit-build", "embedding", cwd=home, code=1)
    assert "lookup" in engine("repro", "outside", cwd=home, code=2).stderr


@pytest.mark.sweep(1)
def test_every_part_is_judged_at_once_and_nothing_is_recorded(home: Path) -> None:
    """A row each, with the first cause of those that fail."""
    edit(home, EMBEDDING, "return self.weight[ids]", "return self.weight[ids] * 2.0")
    before = kinds(home)
    parts = {
        one["exercise"]: one
        for one in engine_json("submit-build", "--all", cwd=home, code=1)["parts"]
    }
    assert len(parts) == 25 and parts["sdpa"]["passed"] and not parts["embedding"]["passed"]
    assert parts["embedding"]["finding"]["result"]["id"] == "lookup"
    assert kinds(home) == before
