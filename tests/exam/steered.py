"""What the tests of attacks share: a level with some attacks alone, and an attack by itself."""

from __future__ import annotations

from msgspec.structs import replace

from engine.exam import attack
from engine.exam.level import EXAM
from engine.flows.baseline import Baseline
from engine.flows.scope import Scope, scope_of
from engine.judge.level import PRACTICE, Level
from engine.judge.measured import Extra, Measured
from engine.judge.sampling import Plan
from engine.run.servers import Servers
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue

NOTHING = Measured(Plan((), (), 0), {}, {})


def attacking(*kinds: str) -> Level:
    """Level practice with the attack by these kinds of draws."""
    return replace(PRACTICE, name="attack", attacks=(attack.by(*kinds),))


def scope_for(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    before: Tree | Baseline,
    candidate: Tree,
    seed: int,
) -> Scope:
    """What an attack of level exam is about."""
    healthy = before if isinstance(before, Baseline) else Baseline(before)
    return scope_of(servers, catalogue, id, healthy, candidate, seed, EXAM)


def attacked(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    before: Tree | Baseline,
    candidate: Tree,
    seed: int,
    *kinds: str,
) -> Extra:
    """What an attack by these kinds finds, at level exam; nothing is drawn before."""
    scope = scope_for(servers, catalogue, id, before, candidate, seed)
    return attack.by(*kinds)(servers, scope, NOTHING)
