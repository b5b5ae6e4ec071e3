"""A mechanism's text is written once: another pack takes it, and says beside it what is different there."""

from __future__ import annotations

import pytest
from test_catalogue import BUILD, pack

from engine.errors import SpecError
from engine.spec.catalogue import Catalogue
from engine.spec.load import document, load
from engine.spec.types import Build


@pytest.fixture
def lending(tmp_path, monkeypatch):
    """A folder of packs, of which "one" has the exercise `norm`."""
    folder = tmp_path / "packs"
    pack(folder, "one", {"norm": []}, ["norm"])
    monkeypatch.setenv("ENGINE_EXERCISES", str(folder))
    return folder


def borrowing(folder, text):
    base = pack(folder, "two", {"layer": []}, ["layer"])
    file = base / "10-phase" / "layer" / "build.yaml"
    file.write_text(text)
    return file


def test_what_is_not_said_comes_from_the_other(lending):
    file = borrowing(lending, "same_as: one/norm\nedit: mine.py\nhints: [{en: of mine}]\n")
    spec, theirs = load(file, Build), Catalogue.find("one").build("norm")
    assert spec.edit == "mine.py"
    assert spec.hints == ({"en": "of mine"},)
    assert (spec.objective, spec.checks) == (theirs.objective, theirs.checks)


def test_a_change_of_the_other_is_seen(lending):
    """What is kept of a spec is kept of both texts."""
    file = borrowing(lending, "same_as: one/norm\nedit: mine.py\n")
    assert load(file, Build).objective == {"en": "O"}
    before = Catalogue.find("two").summaries["layer"].title
    other = lending / "one" / "10-phase" / "norm" / "build.yaml"
    other.write_text(BUILD.replace("{en: O}", "{en: changed}").replace("{en: T}", "{en: New}"))
    assert load(file, Build).objective == {"en": "changed"}
    assert (before, Catalogue.find("two").summaries["layer"].title) == ({"en": "T"}, {"en": "New"})


def test_one_that_does_not_exist_is_named(lending):
    file = borrowing(lending, "same_as: one/norms\nedit: mine.py\n")
    with pytest.raises(SpecError, match="There is no exercise one/norms"):
        load(file, Build)


def test_the_blind_side_of_a_story_is_taken_over_key_by_key(lending):
    theirs = lending / "one" / "10-phase" / "norm" / "norm-bug.yaml"
    theirs.write_text("blind: {story: {en: theirs}, hints: [{en: of theirs}]}\n")
    file = borrowing(lending, "same_as: one/norm-bug\nblind: {hints: [{en: of mine}]}\n")
    blind = document(file).data["blind"]
    assert blind == {"story": {"en": "theirs"}, "hints": [{"en": "of mine"}]}
