"""What is asked before a place for a bug is looked for: the properties that a break needs, its symptoms,
and the values that its first recipe follows.

Nothing here compares numbers, so that the reference is at work while numpy is still imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from engine.flows.measuring import component_probe, dtype_of, guessed
from engine.judge.sampling import SEEDS, Plan, derive, plan
from engine.run.concurrent import Future
from engine.run.servers import Servers
from engine.run.types import Case, Draw, Tree
from engine.spec.catalogue import Catalogue
from engine.spec.recipes import traced
from engine.spec.types import BEFORE, Break, Check, Symptom

NEED_DRAWS = 2  # draws a property and regime, before a break


class Prepared(msgspec.Struct, frozen=True):
    """The draws of a break and the cases that were made of them, in the same order."""

    needs: Plan
    needed: list[Case]
    symptoms: list[tuple[Draw, Symptom]]
    shown: list[Case]
    followed: list[Case]  # of the first recipe's values


class Begun(NamedTuple):
    """A plan on its way. `answer`: the dtype of the tree's arrays, and what was asked in it."""

    id: str
    tree: Tree
    seed: int
    answer: Future[tuple[str, Prepared]]


def begin(
    servers: Servers, catalogue: Catalogue, id: str, tree: Tree, seed: int, dtype: str = ""
) -> Begun:
    """Ask for everything, in a thread. dtype: that of the tree's arrays, where it is known.

    The answer raises Halted when the code does not answer what its dtype is, and SpecError.
    """

    def made(dtype: str) -> Prepared:
        return _asked(servers, catalogue, id, dtype, seed)

    def answer() -> tuple[str, Prepared]:
        return guessed(lambda: dtype_of(servers, catalogue, tree), made)

    return Begun(id, tree, seed, Future((lambda: (dtype, made(dtype))) if dtype else answer))


def _asked(servers: Servers, catalogue: Catalogue, id: str, dtype: str, seed: int) -> Prepared:
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    needs = needs_of(catalogue, id, dtype, seed)
    symptoms = symptoms_of(spec, entry.file, dtype, seed)
    first = traced(spec.inject[0]) if spec.inject else ()
    needed, shown, followed = servers.cases_together(
        (needs.draws, [""]),
        ([draw for draw, _ in symptoms], variants_of(symptoms)),
        (followed_by(first, entry.file, dtype, seed), [""]),
    )
    return Prepared(needs, needed, symptoms, shown, followed)


def needs_of(catalogue: Catalogue, id: str, dtype: str, seed: int) -> Plan:
    """What has to be healthy for a break. Raises SpecError."""
    checks = []
    for need in catalogue.break_(id).needs:
        component, probe = component_probe(need.probe, catalogue.entry(id).file)
        check = Check(id=probe, shows={}, probe=probe, regimes=need.regimes, draws=NEED_DRAWS)
        checks.append((component, check))
    return plan(checks, seed=seed, dtype=dtype)


def symptoms_of(spec: Break, file: str, dtype: str, seed: int) -> list[tuple[Draw, Symptom]]:
    """The draws that show a break, each with what it must look like. Raises SpecError."""
    found = []
    for symptom in spec.fingerprint:
        component, probe = component_probe(symptom.probe, file)
        for regime in symptom.regimes:
            for i in range(SEEDS):
                value = derive(seed, "oracle", component, probe, regime, i)
                found.append((Draw(component, probe, regime, value, dtype), symptom))
    return found


def variants_of(symptoms: Sequence[tuple[Draw, Symptom]]) -> list[str]:
    """Under which names the reference is asked for them."""
    return sorted({symptom.like for _, symptom in symptoms} - {BEFORE})


def followed_by(pairs: Sequence[tuple[str, str]], file: str, dtype: str, seed: int) -> list[Draw]:
    """Two draws of each (probe, regime), with different sizes, to follow values in. Raises SpecError."""
    draws = []
    for name, regime in pairs:
        component, probe = component_probe(name, file)
        for i in range(2):
            value = derive(seed, "trace", component, probe, i)
            draws.append(Draw(component, probe, regime, value, dtype))
    return draws
