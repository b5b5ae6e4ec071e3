"""TinyTorch: right packages in four styles pass, mistakes are refused and named, and breaks go in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from edited import tree_of

from engine.author.reach import reach
from engine.commands import init, sources
from engine.commands.session import Session
from engine.errors import LearnerCodeError
from engine.flows.build import grade_build
from engine.flows.measuring import servers_for
from engine.learner.learner import Learner, Settings
from engine.spec.catalogue import Catalogue

HERE = Path(__file__).parent
PACK = Catalogue.find("tinytorch")
STYLES = tuple(sorted(folder.name for folder in (HERE / "tinytorch").iterdir()))
PARTS = tuple(e.component for e in PACK.entries.values() if e.kind == "build")
BREAKS = tuple(e.id for e in PACK.entries.values() if e.kind == "break")
MISTAKES = [json.loads(line) for line in (HERE / "tinytorch.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def grade(tmp_path_factory):
    """grade(style, part, edits=()) -> the verdict; edits: (file, old, new)."""
    with servers_for(PACK, None) as servers:

        def graded(style, part, edits=()):
            home = tmp_path_factory.getbasetemp()
            tree = tree_of(PACK, HERE / "tinytorch" / style, home, edits)
            return grade_build(servers, PACK, part, tree, 7)

        yield graded


def test_there_are_styles_mistakes_and_breaks():
    assert len(STYLES) >= 4
    assert len(MISTAKES) >= 20
    assert len(BREAKS) >= 6


@pytest.mark.sweep(8)
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("style", STYLES)
def test_a_right_part_passes(style, part, grade):
    verdict = grade(style, part)
    assert verdict.passed, verdict.failing
    assert all(one.passed for one in verdict.advice)


@pytest.mark.sweep(8)
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: f"{m['style']}-{m['part']}-{m['id']}")
def test_a_mistake_is_refused_and_named(mistake, grade):
    """By the first check that fails."""
    edit = (mistake["file"], mistake["old"], mistake["new"])
    verdict = grade(mistake["style"], mistake["part"], [edit])
    failed = next((one for one in verdict.required if not one.passed), None)
    assert failed is not None, mistake["what"]
    assert failed.id in mistake["checks"]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("id", BREAKS)
@pytest.mark.parametrize("style", STYLES)
def test_a_break_goes_into_right_code(style, id):
    _, lines = reach([HERE / "tinytorch" / style], pack="tinytorch", exercises=[id])
    assert [line["outcome"] for line in lines] == ["injected"]


def checkout(folder: Path, **files: str) -> Path:
    """A package `tinytorch` in this folder. files: name of a module in core -> its text."""
    core = folder / "tinytorch" / "core"
    core.mkdir(parents=True)
    (folder / "tinytorch" / "__init__.py").write_text("from .core.tensor import Tensor\n")
    (core / "__init__.py").touch()
    for name, text in files.items():
        (core / f"{name}.py").write_text(text)
    return folder


def test_init_says_how_to_export_what_is_not_whole(tmp_path: Path) -> None:
    """The package is known by its name; what it imports of its own and has not is named, in any language."""
    raw = checkout(tmp_path / "raw", embeddings="from .tensor import Tensor\n")
    for lang, word in (("en", "environment of your checkout"), ("es", "exporta primero")):
        report = init.run(f"a{lang}", model=raw, folder=tmp_path, lang=lang)
        assert report.pack == "tinytorch"
        assert "tinytorch.core.tensor" in report.warning and word in report.warning
        assert "tito src export --all" in report.warning
    with pytest.raises(LearnerCodeError, match=r"tinytorch\.core\.tensor") as caught:
        Session.here(start=Path(report.home)).code
    assert "tito src export --all" in caught.value.next
    tensor = "class Tensor:\n    pass\n"
    whole = checkout(tmp_path / "whole", embeddings="from .tensor import Tensor\n", tensor=tensor)
    assert not init.run("b", model=whole, folder=tmp_path).warning


def test_a_module_that_has_moved_is_found(tmp_path: Path) -> None:
    """The older place counts where the newer one is not there."""
    for style, place in (("text", "text"), ("onehot", "core")):
        root = HERE / "tinytorch" / style
        learner = Learner(tmp_path, Settings(name="x", pack="tinytorch", model=str(root)))
        _, roles = learner.contract(PACK, sources.read(learner, PACK))
        assert roles["Embedding"] == f"tinytorch.{place}.embeddings:Embedding"
