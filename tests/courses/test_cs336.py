"""CS336: right parts in six styles pass, and the mistakes that people make are refused and named.

The styles and the mistakes were written by somebody who had seen the course's contract alone.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from edited import tree_of

from engine.flows.build import grade_build
from engine.flows.measuring import servers_for
from engine.spec.catalogue import Catalogue

HERE = Path(__file__).parent
CS336 = Catalogue.find("cs336")
STYLES = tuple(sorted(folder.name for folder in (HERE / "corpus").iterdir()))
PARTS = tuple(
    id for id, e in CS336.entries.items() if e.kind == "build" and not CS336.goes_by_facts(id)
)
MISTAKES = [json.loads(line) for line in (HERE / "mistakes.jsonl").read_text("utf-8").splitlines()]

ALLOWED = [  # style, part, file, old, new: as right as before, by the course's tests and by the handout
    ("modules", "adamw", "cs336_basics/training.py", "if lr < 0:", "if lr <= 0 or weight_decay <= 0:"),
    ("modules", "swiglu", "cs336_basics/layers.py", "        self.w1 =", "        d_ff = 64 * round(d_ff / 64)\n        self.w1 ="),
]  # fmt: skip


@pytest.fixture(scope="session")
def grade(tmp_path_factory):
    """grade(style, part, edits=()) -> the verdict; edits: (file, old, new)."""
    pytest.importorskip("torch", reason="torch is not installed")
    with servers_for(CS336, None) as servers:

        def graded(style, part, edits=()):
            home = tmp_path_factory.getbasetemp()
            tree = tree_of(CS336, HERE / "corpus" / style, home, edits)
            return grade_build(servers, CS336, part, tree, 7)

        yield graded


def test_there_are_styles_and_mistakes():
    assert len(STYLES) >= 6
    assert len(MISTAKES) >= 40


@pytest.mark.sweep(20)
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("style", STYLES)
def test_a_right_part_passes(style, part, grade):
    verdict = grade(style, part)
    assert verdict.passed, verdict.failing


@pytest.mark.parametrize(("style", "part", "file", "old", "new"), ALLOWED)
def test_what_the_course_allows_passes(style, part, file, old, new, grade):
    verdict = grade(style, part, [(file, old, new)])
    assert verdict.passed, verdict.failing


@pytest.mark.sweep(10)
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: f"{m['style']}-{m['part']}-{m['id']}")
def test_a_mistake_is_refused_and_named(mistake, grade):
    """By the check, or in the words, that the row names."""
    verdict = grade(
        mistake["style"], mistake["part"], [(mistake["file"], mistake["old"], mistake["new"])]
    )
    found = [*verdict.required, *verdict.advice] if mistake["advice"] else verdict.required
    failed = next((one for one in found if not one.passed), None)
    assert failed is not None, mistake["what"]
    assert verdict.passed == mistake["advice"]
    assert failed.id in mistake["checks"]
