"""CONTRACT.md, which learners write their own code to, names what the pack imports."""

from __future__ import annotations

import re

import pytest

from engine.spec.catalogue import Catalogue
from engine.spec.packs import content_root

TEXT = (content_root("exercises") / "minimodel" / "CONTRACT.md").read_text("utf-8")
ROLES = Catalogue.find("minimodel").contract.roles


@pytest.mark.parametrize("role", ROLES)
def test_every_role_of_the_pack_is_in_the_contract(role: str) -> None:
    """With the module that it is imported from."""
    module, _, name = ROLES[role].partition(":")
    assert re.search(rf"\b{name}\b", TEXT)
    last = module.removeprefix("minimodel.").removeprefix("nn.")
    assert re.search(rf"\b{last}\b", TEXT)


def test_the_contract_names_the_errors_that_the_references_raise() -> None:
    """Each of these types is asked for by some check."""
    for kind in ("IndexError", "TypeError", "ValueError"):
        assert f"`{kind}`" in TEXT
