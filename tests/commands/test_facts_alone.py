"""Commands about a pack that has breaks and nothing to build; none of this needs torch."""

from __future__ import annotations

from pathlib import Path

import pytest
from workbench import engine

from engine.commands import init


@pytest.fixture
def gpt(tmp_path: Path) -> Path:
    return Path(init.run("ada", pack="gpt", folder=tmp_path).home)


@pytest.mark.parametrize("words", [["submit-build"], ["submit-build", "--all"]])
def test_there_is_nothing_to_build(gpt: Path, words: list[str]) -> None:
    told = engine(*words, cwd=gpt, code=4).stderr
    assert "The pack gpt has nothing to build." in told and "`engine break`" in told


@pytest.mark.parametrize("option", [["--text", "dogs"], ["--method", "tsne"], ["--save", "x.png"]])
def test_a_comparison_takes_no_options_of_a_walkthrough(gpt: Path, option: list[str]) -> None:
    told = engine("observe", "tying", *option, cwd=gpt, code=2).stderr
    assert "tying takes no --text" in told and "engine observe tying" in told
    assert not (gpt / "x.png").exists()


def test_what_is_misspelt_is_named_with_what_there_is(gpt: Path) -> None:
    told = engine("observe", "tyin", cwd=gpt, code=2).stderr
    assert "Did you mean tying?" in told and "embedding-walkthrough, tying" in told
