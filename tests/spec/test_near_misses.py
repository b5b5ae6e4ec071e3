"""The shipped near misses: enough of them, and the fingerprint tells each from the bug."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from trees import BREAKS

from engine.author.models import edited, models
from engine.flows import break_ as planning
from engine.flows import measuring
from engine.flows.oracle import oracle_for
from engine.run.servers import Servers
from engine.spec.catalogue import Catalogue

AT_LEAST = 4


@pytest.mark.parametrize("id", BREAKS)
def test_a_shipped_break_has_near_misses(catalogue: Catalogue, id: str) -> None:
    """At least four, each under a name of its own."""
    names = [miss.name for miss in catalogue.break_(id).near_misses]
    assert len(set(names)) == len(names) >= AT_LEAST


def taken(servers: Servers, catalogue: Catalogue, id: str, seeds: Iterable[int]) -> set[str]:
    """The near misses that the fingerprint takes for the bug; the bug itself it must take."""
    found, spec = set(), catalogue.break_(id)
    for name, tree in models(catalogue).items():
        dtype = measuring.dtype_of(servers, catalogue, tree)
        bug = tree.replaced(planning.plan_break(servers, catalogue, id, tree, 1).injection.files)
        misses = [miss for miss in spec.near_misses if miss.on == name]
        for seed in seeds:
            oracle = oracle_for(servers, catalogue, id, tree, dtype, seed)
            trial = oracle.try_(bug)
            assert trial.accepted, trial.reason
            for miss in misses:
                if oracle.try_(tree.replaced(edited(tree, miss))).accepted:
                    found.add(f"{miss.name} on {name}, seed {seed}")
    return found


SOME = [
    pytest.param(id, marks=() if i % 8 == 0 else pytest.mark.slow) for i, id in enumerate(BREAKS)
]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("id", SOME)
def test_no_near_miss_is_taken_for_the_bug(servers: Servers, catalogue: Catalogue, id: str) -> None:
    """While an injection that was found on other draws is."""
    assert taken(servers, catalogue, id, [7]) == set()


@pytest.mark.slow
@pytest.mark.parametrize("id", BREAKS)
def test_no_near_miss_is_ever_taken_for_the_bug(
    servers: Servers, catalogue: Catalogue, id: str
) -> None:
    """Nor on many other draws: what tells them apart is no matter of luck."""
    assert taken(servers, catalogue, id, range(100, 130)) == set()
