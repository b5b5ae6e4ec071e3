"""A break that cannot go into a learner's code says why, and changes nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from workbench import ROOT, contents, engine, engine_json

PACKS = ROOT / "tests" / "packs" / "exercises"
ENV = {"ENGINE_EXERCISES": str(PACKS)}
SCALER = "src/scaling/scaler.py"
SPREAD = "spread = x.std(axis=-1, keepdims=True)"
RETURN = "return (x - mean) / (spread + 1e-6)"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A learner of the tests' pack, their model in their folder."""
    home = tmp_path / "learners" / "eve"
    engine("init", "eve", "--pack", "scaling", cwd=tmp_path, env=ENV, code=0)
    shutil.copytree(
        PACKS / "scaling" / "models" / "plain" / "src", home / "src", dirs_exist_ok=True
    )
    (home / "src" / "scaling" / "__init__.py").write_text("")
    (tmp_path / "answers.yaml").write_text("predictions:\n  mean: {answer: x, confidence: 70}\n")
    return home


def kept(home: Path) -> dict[str, bytes | str]:
    """All that is there, but for the lock of a command."""
    return {path: data for path, data in contents(home).items() if path != ".engine/lock"}


def edit(home: Path, **pieces: str) -> None:
    """Replace pieces of the scaler: SPREAD, RETURN."""
    file = home / SCALER
    text = file.read_text()
    for name, new in pieces.items():
        assert globals()[name] in text
        text = text.replace(globals()[name], new, 1)
    file.write_text(text)


def refusal(home: Path, id: str) -> dict[str, Any]:
    """What `engine break` says when it refuses; it must leave everything as it was."""
    before = kept(home)
    words = ("break", id, "--answers", home.parents[1] / "answers.yaml")
    error = engine_json(*words, cwd=home, env=ENV, code=4)["error"]
    assert kept(home) == before
    assert "Nothing was changed" in error["what"]
    return error


def test_a_value_that_no_expression_holds_is_named(home: Path) -> None:
    """The name that the reference gives it, the probe that looked for it, and the files."""
    edit(home, RETURN="spread = spread + 1e-6\n        return x / spread - mean / spread")
    error = refusal(home, "three-slips")
    told = error["what"] + error["where"]
    assert "centred" in told
    assert "scaler.forward" in told
    assert SCALER in error["where"]


def test_a_pattern_that_fits_nowhere_is_named(home: Path) -> None:
    """With the code that was looked for."""
    edit(home, SPREAD="spread = (x * x).mean(axis=-1, keepdims=True) - mean * mean; spread **= 0.5")
    error = refusal(home, "variance")
    assert SPREAD in error["what"] + error["where"]
    assert SCALER in error["where"]


def test_a_place_that_another_part_shares_is_named_with_that_part(home: Path) -> None:
    """It bit, and it was refused because more than the bug would have changed."""
    edit(home, SPREAD="spread = spread_of(x)")
    text = (home / SCALER).read_text()
    body = "    return x.std(axis=-1, keepdims=True)\n"
    assert text.count(body) == 1
    (home / SCALER).write_text(text.replace(body, f"    {SPREAD}\n    return spread\n"))
    line = (home / SCALER).read_text().splitlines().index(f"    {SPREAD}") + 1
    error = refusal(home, "variance")
    assert f"{SCALER}:{line}" in error["where"]
    assert "also breaks spread.forward" in error["where"]


def test_what_came_nearest_is_told_with_what_it_measured(home: Path) -> None:
    """One step of three was found and showed its part of the symptom."""
    edit(home, RETURN="spread = spread + 1e-6\n        return x / spread - mean / spread")
    line = (
        (home / SCALER)
        .read_text()
        .splitlines()
        .index("        self.width = width  # the last axis")
    )
    error = refusal(home, "three-slips")
    assert f"nearest: {SCALER}:{line + 1}: scaler.forward (normal) gave" in error["where"]


MOVED = {
    "a class of another name": ("class Scaler:", "class RowScaler:", "scaling.scaler:RowScaler"),
    "a class in a class": (
        "class Scaler:",
        "class Rows:\n  class Scaler:",
        "scaling.scaler:Rows.Scaler",
    ),
    "another module": ("", "", "scaling.rows:Scaler"),
}


def moved(home: Path, name: str) -> None:
    """The model with the class somewhere else."""
    old, new, _ = MOVED[name]
    text = (home / SCALER).read_text()
    if name == "a class in a class":
        head, _, tail = text.partition("class Scaler:")
        body, _, rest = tail.partition("\n\n\n")
        inner = "".join(f"  {line}\n" if line else "\n" for line in body.splitlines())
        (home / SCALER).write_text(f"{head}class Rows:\n  class Scaler:{inner}\n\n{rest}")
    elif old:
        (home / SCALER).write_text(text.replace(old, new))
    else:
        (home / SCALER).rename((home / SCALER).with_name("rows.py"))


@pytest.mark.parametrize("name", MOVED)
def test_a_role_that_is_not_there_is_named_with_how_to_map_it(home: Path, name: str) -> None:
    """Which, where it was looked for, and the line for learner.yaml."""
    moved(home, name)
    error = refusal(home, "variance")
    told = error["what"] + error["where"]
    assert "Scaler" in told
    assert "scaling.scaler" in told
    assert "learner.yaml" in error["next"] and "roles:" in error["next"]


@pytest.mark.parametrize("name", MOVED)
def test_a_role_that_is_mapped_is_found(home: Path, name: str) -> None:
    """The line in learner.yaml is all that is needed."""
    moved(home, name)
    with (home / "learner.yaml").open("a") as settings:
        settings.write(f"roles: {{Scaler: '{MOVED[name][2]}'}}\n")
    words = ("break", "three-slips", "--answers", home.parents[1] / "answers.yaml")
    engine(*words, cwd=home, env=ENV, code=0)
    (changed,) = {
        path
        for path, data in contents(home / "practice" / "three-slips" / "src").items()
        if data != contents(home / "src").get(path)
    }
    assert changed == MOVED[name][2].partition(":")[0].replace(".", "/") + ".py"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("roles: {Skaler: 'scaling.scaler:Scaler'}", "Scaler"),
        ("roles: {Scaler: 'scaling.scaler'}", "module:name"),
    ],
    ids=["no such role", "no name"],
)
def test_a_line_that_maps_nothing_is_refused(home: Path, line: str, told: str) -> None:
    """With the roles that there are, and the form of the line."""
    with (home / "learner.yaml").open("a") as settings:
        settings.write(line + "\n")
    before = kept(home)
    error = engine_json("break", "variance", cwd=home, env=ENV, code=2)["error"]
    assert told in error["next"] and "learner.yaml" in error["where"]
    assert kept(home) == before
