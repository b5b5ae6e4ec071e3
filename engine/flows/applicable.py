"""What of a tree is taken for model, script and sampler, and which breaks of a pack apply to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from engine.errors import NotApplicable, Said
from engine.flows import check, fact_break, health, sampling, training, unfound
from engine.flows.check import Asked, Bench
from engine.flows.health import Health, Target
from engine.spec.catalogue import Catalogue
from engine.spec.types import Variant
from engine.spec.types.proof import Probe
from engine.words import said

State = tuple[Health, health.Places] | Said
PROBES: tuple[Probe, ...] = ("run", "script", "sampling")


class Looked(msgspec.Struct, frozen=True):
    """told: what was taken, in a line. refused: break -> why it does not apply. wrong: what is so already,
    the titles of facts.
    """

    target: Target
    told: str
    refused: Mapping[str, str]
    wrong: tuple[str, ...] = ()


def looked(
    bench: Bench, asked: Asked, catalogue: Catalogue, progress: Callable[[str], None]
) -> Looked:
    """Find, measure, and hold each break's declared facts against what was measured. Raises NotApplicable
    where no model is found.
    """
    found, tried = check.chosen(bench, asked, progress)
    if found is None:
        raise unfound.no_model(bench, tried)
    script = training.script(bench, asked.train, found, progress)
    ran = script is not None and any(fact["value"] is not None for fact in script.facts)
    target = Target(
        found,
        script.invocation if script and ran else None,
        sampling.option(bench, found, progress),
    )
    states = {probe: _state(bench, target, probe) for probe in PROBES}
    refused = {}
    for entry in catalogue.entries.values():
        if entry.kind == "break":
            reasons = [_reason(target, v, states) for v in catalogue.proof(entry.id).variants]
            if all(reasons):
                refused[entry.id] = said(reasons[0], bench.lang)
    seen = [state[0].facts.values() for state in states.values() if isinstance(state, tuple)]
    wrong = tuple(fact.title for facts in seen for fact in facts if fact.verdict == "WRONG")
    return Looked(target, _told(bench, target, states["run"]), refused, wrong)


def _state(bench: Bench, target: Target, probe: Probe) -> State:
    if (probe == "script" and not target.script) or (probe == "sampling" and not target.sampler):
        return ""
    try:
        found = health.measured(bench, target, probe)
        return found, health.places(bench, found, probe)
    except NotApplicable as error:
        return error.messages[0]


def _reason(target: Target, variant: Variant, states: Mapping[Probe, State]) -> Said:
    """Why a variant does not apply; "" where nothing speaks against it."""
    state = states[variant.observe]
    if not isinstance(state, tuple):
        return state or fact_break.unfit(target, variant)
    found, parts = state
    return fact_break.unhealthy(found, variant) or fact_break.partless(parts, variant)


def _told(bench: Bench, target: Target, state: State) -> str:
    """ "model.py:GPT, 2 layers, width 32, 4 heads; training: train.py; generation: GPT.generate"."""
    found = target.found
    parts = [f"{found.path}:{found.cls or found.expression}"]
    if isinstance(state, tuple):
        sizes = bench.ask("summary", state[0].recorded)
        parts[0] += f", {sizes.get('layers')} layers, width {sizes.get('width')}"
    if target.script:
        parts.append(f"training: {target.script.path}")
    if target.sampler:
        parts.append("generation: " + (":".join(target.sampler).strip(":") or "the model's own"))
    return "; ".join(parts)
