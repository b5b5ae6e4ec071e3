"""What a tree shows by facts: of its model, of its training script, of its sampler; with the recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from engine.errors import LearnerCodeError, Message, NotApplicable
from engine.facts.experiments import Candidate
from engine.facts.report import Fact, judged
from engine.flows import check, sampling, training
from engine.flows.check import Bench
from engine.flows.training import Invocation
from engine.spec.texts import said
from engine.spec.types.proof import Probe


class Target(msgspec.Struct, frozen=True):
    """What of a tree is taken for the model, the training script, and the sampler; None where there is none.
    sampler: its file and name, both "" for a method of the model.
    """

    found: Candidate
    script: Invocation | None = None
    sampler: tuple[str, str] | None = None

    @property
    def option(self) -> tuple[str, str] | None:
        """The sampler as its job takes it: None for a method of the model."""
        return self.sampler if self.sampler and any(self.sampler) else None


class Health(msgspec.Struct, frozen=True):
    """Facts by id, and what they were measured on. told: by id, the value or why there is none, in
    the learner's language.
    """

    facts: Mapping[str, Fact]
    recorded: dict[str, Any]
    told: Mapping[str, str] = {}

    def values(self) -> dict[str, str | None]:
        """Fact -> what was measured."""
        return {id: fact.value for id, fact in self.facts.items()}


Places = dict[str, list[list[tuple[str, int, int, int, int]]]]
MODULES = {"script": "script_facts", "sampling": "sampler_facts", "run": "facts"}
PLACES = {"script": "of_script", "sampling": "of_sampler", "run": "of_model"}


def measured(bench: Bench, target: Target, probe: Probe) -> Health:
    """The facts of a tree that a probe is about. Raises NotApplicable where it cannot be run."""
    recorded = recording(bench, target, probe)
    raws = check.raw_facts(bench.ask("measure", recorded, MODULES[probe]))
    facts = {raw.id: _titled(bench, judged(bench.pack, raw, bench.files)) for raw in raws}
    return Health(facts, recorded, {id: _told(bench, fact) for id, fact in facts.items()})


def _told(bench: Bench, fact: Fact) -> str:
    """What was measured, or why nothing was, in the language of the bench."""
    return bench.why(fact.why, fact.id) if fact.value is None else bench.value(fact.id, fact.value)


def _titled(bench: Bench, fact: Fact) -> Fact:
    """A fact with its title in the language of the bench."""
    title = said(bench.titles(bench.pack.fact(fact.id)), bench.lang)
    return msgspec.structs.replace(fact, title=title)


def recording(bench: Bench, target: Target, probe: Probe) -> dict[str, Any]:
    """What a probe records. Raises NotApplicable."""
    if probe == "run":
        return check.observed(bench, target.found)[1]
    if probe == "script":
        assert target.script is not None  # a variant that needs one does not apply without
        ran = training.one_script(bench, target.script)
        if ran.steps < training.LEAST:
            why = bench.why(ran.recorded["why"])
            raise NotApplicable(
                Message("The training script made {steps} steps: {why}.", steps=ran.steps, why=why)
            )
        return ran.recorded
    recorded_or_none = sampling.sampled(bench, target.found, target.option)
    if recorded_or_none is None:
        raise NotApplicable(Message("The sampler could not be called."))
    return recorded_or_none


def places(bench: Bench, health: Health, probe: Probe) -> Places:
    """Part -> the spans of its calls, innermost first. Raises LearnerCodeError where the pack gives none."""
    found = bench.ask(PLACES[probe], health.recorded, "places")
    try:
        return msgspec.convert(found, Places)
    except msgspec.ValidationError as error:
        raise LearnerCodeError(
            Message("The pack's places cannot be read: {error}.", error=error)
        ) from None
