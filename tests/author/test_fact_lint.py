"""Slips in a pack of facts: each is told with its file, and a pack without any has none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.author import fact_lint
from engine.spec.catalogue import Catalogue
from engine.spec.packs import content_root

PACK = content_root("exercises") / "gpt"
BREAK = "15-attention/attention/scores-not-scaled"
PROOF, STORY = f"{BREAK}.proof.yaml", f"{BREAK}.yaml"


def told(folder: Path) -> list[str]:
    return [f"{one.where} {one.what}" for one in fact_lint.problems(Catalogue("gpt", folder))]


def test_the_pack_that_ships_has_no_slip() -> None:
    assert told(PACK) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (PROOF, "{scale: none}", "{scael: none}", "'scael' is no fact of pack.yaml"),
        (PROOF, "{scale: none}", '{scale: "(none"}', "'(none' is no regular expression"),
        (PROOF, '"$A / $B"', '"$A / "', "the pattern '$A / ' is not Python"),
        (PROOF, "observe: run", "observe: walk", "Invalid enum value 'walk'"),
        (PROOF, "at: scaling, find", "of: scaling, find", "Unknown key 'of'"),
        (PROOF, 'find: "$A *= $B"', "move: before", "only one of `move` and `to`"),
        (PROOF, ', find: "$A *= $B"', "", "an edit at 'scaling' does nothing"),
        (STORY, "mechanism: scale-absent", "mechanism: scale", "`mechanism` is 'scale'"),
        (STORY, "area: attention", "area: tension", "`area` is 'tension'"),
        (STORY, "  right: ", "  right: un", "is none of its options"),
        (STORY, "title:\n  en:", "title:\n  fr:", "title has no text in en"),
        ("pack.yaml", "  - scores-not-scaled\n", "  - scores\n", "`path` names 'scores'"),
    ],
)
def test_a_slip_is_told_with_its_file(
    tmp_path: Path, file: str, old: str, new: str, says: str
) -> None:
    folder = Path(shutil.copytree(PACK, tmp_path / "gpt"))
    text = (folder / file).read_text("utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), "utf-8")
    (only,) = told(folder)
    assert only.startswith(str(folder / file)) and says in only


def test_a_story_without_a_proof_is_told(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(PACK, tmp_path / "gpt"))
    (folder / PROOF).unlink()
    (only,) = told(folder)
    assert only.startswith(str(folder / PROOF)) and "No such file" in only
