"""A pack with a contract may take the breaks of a pack of facts: learners have them beside its own."""

from __future__ import annotations

import shutil

import pytest

from engine.errors import UsageError
from engine.spec.catalogue import Catalogue
from engine.spec.packs import packs

LENT = "scores-not-scaled"


def test_learners_have_them_and_authors_do_not():
    mine, authors = Catalogue.find("cs336"), Catalogue("cs336", packs()["cs336"])
    lent = {id for id, entry in Catalogue.find("gpt").entries.items() if entry.kind == "break"}
    assert lent and lent <= mine.entries.keys()
    assert not lent & authors.entries.keys()
    assert {id for id in mine.entries if id not in lent} == authors.entries.keys()


def test_they_come_after_its_own():
    """Who has built nothing yet is not sent to break it."""
    packs_of = [entry.pack for entry in Catalogue.find("cs336").entries.values()]
    assert packs_of == sorted(packs_of) and len(set(packs_of)) == 2  # cs336, then gpt


def test_its_own_wins_where_both_have_a_name(tmp_path):
    """A copy of the pack with a break of the lender's name."""
    shutil.copytree(packs()["cs336"], tmp_path / "cs336", ignore=shutil.ignore_patterns("models"))
    own = next((tmp_path / "cs336").glob("18-training/adamw/adam-no-bias-correction.yaml"))
    shutil.copy(own, own.with_name(f"{LENT}.yaml"))
    mine = Catalogue("cs336", tmp_path / "cs336", borrowing=True)
    assert mine.entries[LENT].file == str(own.with_name(f"{LENT}.yaml"))
    assert not mine.goes_by_facts(LENT)


def test_each_is_put_in_by_its_own_means():
    mine = Catalogue.find("cs336")
    assert mine.goes_by_facts(LENT)
    assert not mine.goes_by_facts("rope")
    assert Catalogue.find("gpt").goes_by_facts(LENT)
    assert not Catalogue.find("minimodel").goes_by_facts("attention-no-scale")


def test_its_texts_areas_and_proof_come_along():
    mine, gpt = Catalogue.find("cs336"), Catalogue.find("gpt")
    assert mine.story(LENT) == gpt.story(LENT)
    assert mine.proof(LENT) == gpt.proof(LENT)
    assert mine.summaries[LENT].title == gpt.summaries[LENT].title
    assert mine.story(LENT).area in mine.areas


def test_a_pack_that_takes_none_has_none():
    assert Catalogue.find("minimodel").factual is None
    with pytest.raises(UsageError):
        Catalogue.find("minimodel").entry(LENT)


def test_its_areas_stand_beside_those_of_the_lender():
    mine, gpt = Catalogue.find("cs336").areas, Catalogue.find("gpt").areas
    for id, area in gpt.items():
        assert mine[id].mechanisms[: len(area.mechanisms)] == area.mechanisms
    own = Catalogue.find("cs336").contract.areas
    assert all(one in mine[id].mechanisms for id, area in own.items() for one in area.mechanisms)
