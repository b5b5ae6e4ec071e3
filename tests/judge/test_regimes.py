"""Nothing that is measured may go unseen, and no regime may get lost: take one away and a test fails.

`regimes.yaml` beside this file lists every regime of every probe that builds are judged by. After a
change that is meant, write it anew: `python tests/judge/test_regimes.py`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from msgspec.structs import replace

from engine.author import coverage as regimes
from engine.judge.decide import compared
from engine.judge.sampling import plan
from engine.judge.verdict import judge_check
from engine.run.types import Case, Draw, Outcome, Raised
from engine.spec.catalogue import Catalogue

LISTED = Path(__file__).with_name("regimes.yaml")
COMPONENTS = list(Catalogue.find("minimodel").contract.components)


def judged_by(catalogue: Catalogue) -> dict[str, list[str]]:
    """component.probe -> the regimes in which some check of a build or a break looks at it."""
    found: dict[str, set[str]] = {}
    for entry in catalogue.entries.values():
        build = entry.kind == "build"
        checks = catalogue.build(entry.id).checks if build else catalogue.break_(entry.id).judged_by
        for check in checks:
            found.setdefault(f"{entry.component}.{check.probe}", set()).update(check.regimes)
    return {name: sorted(found[name]) for name in sorted(found)}


def test_no_regime_is_lost(catalogue: Catalogue) -> None:
    """A regime that is gone was there for a fault that nothing else may see."""
    listed = yaml.safe_load(LISTED.read_text("utf-8"))
    assert judged_by(catalogue) == listed, "meant? then `python tests/judge/test_regimes.py`"


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_regime_draws_something_of_its_own(servers, catalogue, component) -> None:
    """Two that draw the same are one, whatever they are called."""
    assert list(regimes.alike(servers, catalogue, component, 3)) == []


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_setting_that_may_be_another_regimes_varies(servers, catalogue, component) -> None:
    """One that does not would be taken from nowhere."""
    assert list(regimes.constant(servers, catalogue, component, 3)) == []


def test_a_setting_that_never_varies_is_told(servers, tmp_path) -> None:
    """A slip in a name, and an array, which is no setting."""
    pack = shutil.copytree(Catalogue.find("minimodel").folder, tmp_path / "minimodel") / "pack.yaml"
    text = pack.read_text("utf-8")
    named = "rmsnorm: {settings: {forward: [eps"
    assert named in text
    pack.write_text(text.replace(named, f"{named}, esp, x"), "utf-8")
    told = regimes.constant(servers, Catalogue("minimodel", pack.parent), "rmsnorm", 3)
    assert list(told) == ["forward: esp", "forward: x"]


@pytest.mark.parametrize(
    "regime",
    [
        "equal_for_all",
        "scattered_for_all",
        "square",
        "bare_scattered",
        "deep_for_all",
        "depths_heights",
    ],
)
def test_a_mask_leaves_some_query_two_keys(servers, regime) -> None:
    """Else gradients of queries and keys are 0, and code that leaves a rounding there is right."""
    draws = [Draw("sdpa", "forward", regime, seed) for seed in range(300)]
    for case in servers.cases(draws, healthy=False):
        assert (case.inputs["mask"].sum(-1) > 1).any()


def right(value: Any) -> Any:
    """What right code records where the reference says `value`."""
    if isinstance(value, dict) and "within" in value:
        return sum(value["within"]) / 2
    if isinstance(value, dict) and "offered" in value:
        return right(value["offered"])
    if isinstance(value, dict) and "list" in value:
        return {"list": [right(item) for item in value["list"]]}
    return value


def wrong(value: Any) -> Any:
    """Something else of the same kind, by a thousandth where that can be."""
    if isinstance(value, np.ndarray):
        if not value.size:
            return value.reshape((1, *value.shape))
        if value.dtype.kind == "b":
            return ~value
        return value + 1 if value.dtype.kind in "iu" else value * 1.001 + 0.001
    if isinstance(value, dict) and "list" in value:
        return {"list": [*map(wrong, value["list"]), 0]}
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value * 1.001 + 1000
    return {"odd": "something else"}


def faults(case: Case, own: Outcome) -> Iterator[tuple[str, Outcome]]:
    """Ways in which an outcome may differ from `own`, the right one."""
    yield "no answer", Outcome(stopped="timeout")
    yield "an input written to", replace(own, changed=("x",))
    yield "another error", Outcome(raised=Raised("LookupError", ("LookupError",), "elsewhere"))
    if own.raised:
        yield "no error", Outcome()
        if own.raised.mentions:
            yield "an error that names nothing", Outcome(raised=replace(own.raised, message=""))
        return
    for name, value in own.values.items():

        def given(other: Any, name: str = name) -> Outcome:
            return replace(own, values={**own.values, name: other})

        yield f"another {name}", given(wrong(value))
        yield f"no {name}", replace(own, values={n: v for n, v in own.values.items() if n != name})
        if isinstance(value, np.ndarray):
            yield f"{name} in another shape", given(value[None])
            if value.dtype.kind == "f":
                yield f"{name} in another dtype", given(value.astype(np.float32))


def left_out(name: str, probe: str, regime: str, catalogue: Catalogue, component: str) -> bool:
    """Whether a check says that it leaves this value out in this regime: noise around an exact 0."""
    return any(
        check.probe == probe and regime in check.but and name in check.values
        for check in catalogue.build(component).checks
    )


def differs(planned, cases, outcomes) -> bool:
    """Whether a check fails; nobody asks why."""
    expected = {draw: cases[draw].expected[""] for draw in planned.draws}
    return bool(compared(planned, cases, expected, outcomes).differing)


@pytest.mark.parametrize("component", COMPONENTS)
def test_whatever_a_probe_records_decides(servers, catalogue, component) -> None:
    """In each regime, each value, shape, dtype, error and input: if it is wrong, some check fails."""
    checks = [(component, replace(c, draws=1)) for c in catalogue.build(component).checks]
    made = plan(checks, seed=11, dtype="float64")
    cases = dict(zip(made.draws, servers.cases(made.draws), strict=True))
    own = {}
    for draw, case in cases.items():
        expected = case.expected[""]
        own[draw] = replace(expected, values={n: right(v) for n, v in expected.values.items()})
    for planned in made.checks:
        assert judge_check(planned, cases, own).passed, planned.check.id
    tried = 0
    for draw in made.draws:
        looking = [replace(one, draws=(draw,)) for one in made.checks if draw in one.draws]
        for what, outcome in faults(cases[draw], own[draw]):
            name = what.split()[-1] if what.startswith(("another", "no ")) else what.split()[0]
            if left_out(name, draw.probe, draw.regime, catalogue, component):
                continue
            tried += 1
            found = {**own, draw: outcome}
            assert any(differs(one, cases, found) for one in looking), (
                f"{draw.probe}, {draw.regime}: {what} goes unseen"
            )
    assert tried > 3 * len(made.draws)


if __name__ == "__main__":
    head = "# Every regime that judges: see test_regimes.py.\n"
    text = yaml.safe_dump(judged_by(Catalogue.find("minimodel")), width=110)
    LISTED.write_text(head + text, "utf-8")
