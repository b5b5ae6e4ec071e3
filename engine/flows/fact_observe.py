"""What a break of somebody's PyTorch GPT shows: healthy beside broken, measured on their own code.

Three probes: "run" trains the model at a small size on a synthetic text, "script" runs their training script
in a small world, "sampling" calls their sampler. Each tree is held by servers of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from engine.errors import Message
from engine.facts import events, experiments, trace, trained
from engine.facts.experiments import Candidate, Experiment
from engine.facts.trace import BadAnswer
from engine.flows import sampling, training
from engine.flows.answers import Answer
from engine.flows.check import LIMIT, BadFacts, Bench, told, why_not
from engine.flows.health import Target
from engine.flows.observe import Observed, scored
from engine.observe import diagnostics
from engine.observe.diagnostics import Observation
from engine.run.concurrent import run_both
from engine.run.forks import Answer as Answered
from engine.run.types import Outcome, Raised, Values
from engine.spec.types import Prediction
from engine.spec.types.proof import Probe
from engine.words import said

STEPS, RATE = 60, 3e-3
BATCH, LETTERS = 8, 352  # samples of a step, at least; letters of a step, about
TRACED = Experiment("traced", weights=None, trace=True)
NOISE = Experiment("dropping", targets=False, changes=(experiments.Change(reseed=1),))
SAMPLED = {
    "plain": sampling.ONCE,
    "cold": {**sampling.ONCE, "temperature": 0.5},
    "hot": {**sampling.ONCE, "temperature": 2.0},
    "top_k": {**sampling.ONCE, "top_k": 5},
    "long": {**sampling.ONCE, "length": 0},
    **{name: run for name, run in sampling.RUNS.items() if name.startswith("again")},
}
NEEDS = {"cold": "temperature", "hot": "temperature", "top_k": "top_k"}
AT_ONCE = {  # what a blind break shows; the other numbers are what its hints tell, as they name the bug
    "losses", "first_loss", "last_loss", "eval_loss", "log_v", "sample", "update_ratio", "first_gradient",
    "last_gradient", "gradient_norms", "entropy", "agrees",
}  # fmt: skip
LAST = 10  # steps of a run whose mean is its last loss
LABELS: dict[str, dict[str, Message]] = {  # of numbers whose names do not tell all
    "run": {"last_loss": Message("mean of the last {count} losses", count=LAST)},
}
SAME = 0.02  # of the healthy value: a smaller change is none
DIGITS = ".4g"
TITLES = {
    "run": Message(
        "Your model at a small size, trained for {steps} steps of AdamW on a made-up text",
        steps=STEPS,
    ),
    "script": Message(
        "The first steps of your training script, in a small world: small sizes, a made-up text"
    ),
    "sampling": Message(
        "Your sampler, called with your model at a small size and random weights, and what it draws from"
    ),
}
Change = Literal["lower", "same", "higher", "nan"]


class Subject(NamedTuple):
    """What is looked at, and how."""

    probe: Probe
    target: Target


class Seen(NamedTuple):
    """The two side by side, and the numbers of each by name."""

    observation: Observation
    healthy: Outcome
    broken: Outcome

    def measured(self, value: str) -> str | float | None:
        """What `measured: {value: ...}` of a prediction says: NAME of the broken tree, or NAME.change."""
        name, _, kind = value.partition(".")
        if kind != "change":
            return diagnostics.measured(self.broken, name)
        return change(*(outcome.values.get(name) for outcome in (self.healthy, self.broken)))


def change(healthy: Any, broken: Any) -> Change | None:
    """A number of the broken tree against the healthy one's; None where there are no two numbers."""
    pair = [one for one in (healthy, broken) if isinstance(one, (int, float))]
    if len(pair) != 2:
        return None
    if not all(map(math.isfinite, pair)):
        return "same" if math.isnan(pair[0]) and math.isnan(pair[1]) else "nan"
    if abs(pair[1] - pair[0]) <= SAME * abs(pair[0]):
        return "same"
    return "higher" if pair[1] > pair[0] else "lower"


def look(
    healthy: Bench, broken: Bench, subject: Subject, lang: str, now: Bench | None = None
) -> Seen:
    """Run the probe on all versions, two at a time. The servers of no two benches have the same name."""
    first, second = run_both(
        lambda: _recorded(healthy, subject), lambda: _recorded(broken, subject)
    )
    shifted = first.shifted
    if shifted != second.shifted:
        second = _recorded(broken, subject, shifted)
    outcomes = [_outcome(healthy, subject, first), _outcome(broken, subject, second)]
    if now is not None:
        outcomes.append(_outcome(now, subject, _recorded(now, subject, shifted)))
    observation = diagnostics.observe(
        said(TITLES[subject.probe], lang),
        *map(_shown, outcomes),
        curve="" if subject.probe == "sampling" else "losses",
        axes=("nats", said(Message("step"), lang)),
        orientation={},
    )
    labels = LABELS.get(subject.probe, {})
    numbers = tuple(
        msgspec.structs.replace(row, label=labels.get(row.name, "")) for row in observation.numbers
    )
    observation = msgspec.structs.replace(observation, numbers=numbers)
    return Seen(observation, outcomes[0], outcomes[1])


def observed(
    benches: Sequence[Bench],
    subject: Subject,
    asked: Sequence[Prediction],
    answers: Sequence[Answer],
    lang: str,
) -> Observed:
    """The same with predictions scored. benches: healthy, broken, and as it is now where it was edited."""
    seen = look(benches[0], benches[1], subject, lang, *benches[2:])
    told, brier = scored(asked, answers, lambda one: seen.measured(one.value), lang)
    return Observed((seen.observation,), told, brier)


def at_once(observed: Observed) -> Observed:
    """Without the numbers that only hints tell; all of them where nothing else differs."""
    less = tuple(
        msgspec.structs.replace(
            one, numbers=tuple(row for row in one.numbers if row.name in AT_ONCE), norms=()
        )
        for one in observed.observations
    )
    if not any(_differs(one) for one in less):
        return observed
    return msgspec.structs.replace(observed, observations=less)


def _differs(one: Observation) -> bool:
    curves = one.healthy_curve != one.broken_curve
    return curves or bool(one.error) or any(row.differs for row in one.numbers)


class _Recorded(NamedTuple):
    """What a probe recorded: what the pack's function takes, and what is known beside it; `failed`: what is
    told where there is nothing.
    """

    data: dict[str, Any]
    known: Values = {}
    failed: Outcome | None = None
    shifted: bool | None = None


def _recorded(bench: Bench, subject: Subject, shifted: bool | None = None) -> _Recorded:
    try:
        if subject.probe == "run":
            return _run(bench, subject.target.found, shifted)
        probe = _script if subject.probe == "script" else _sampling
        return probe(bench, subject)
    except BadAnswer as error:
        return _Recorded({}, failed=Outcome(stopped=f"what it answered cannot be used ({error})"))


def _failed(answer: Answered) -> Outcome | None:
    """What is told of a job that gave nothing; None where it gave something. Raises BadAnswer."""
    if answer.stopped:
        return Outcome(stopped=answer.stopped, output=answer.output)
    failure = trace.failure_of(answer.data)
    if failure is None:
        return None
    at = f" ({failure.at[-1][0]}:{failure.at[-1][1]})" if failure.at else ""
    return Outcome(raised=Raised(failure.type, message=failure.message[:300] + at))


def _run(bench: Bench, found: Candidate, shifted: bool | None) -> _Recorded:
    """A short training, and two evaluations with dropout."""
    context = experiments.sizes(bench.pack, found)["context"]
    job = {
        **experiments.job(bench.pack, found, ()),
        "kind": "run",
        "experiment": msgspec.to_builtins(TRACED),
        "context": context,
        "steps": STEPS,
        "rate": RATE,
        "batch": max(BATCH, LETTERS // context),
        "shifted": shifted,
    }
    dropping = experiments.job(bench.pack, found, (NOISE,), bench.pack.dropout)
    answer, noise = bench.learner.run(bench.server, [job, dropping], LIMIT)
    if failed := _failed(answer):
        return _Recorded({}, failed=failed)
    seen, names = trained.trained(answer.data), ["first", "start", "end"]
    model, blobs = trace.measured(answer.data)
    data = trace.recorded(model, blobs)
    if not why_not(noise):
        data = trace.joined(data, trace.recorded(*trace.measured(noise.data)))
        names.append(NOISE.name)
    last = seen.losses[-LAST:]
    known: Values = {
        "losses": {"list": seen.losses},
        "first_loss": seen.losses[0],
        "last_loss": sum(last) / len(last),
        "other_loss": seen.other_loss,
        "letter_loss": seen.letter_loss,
        "log_v": seen.log_v,
        "parameters": model.parameters,
        "update_ratio": seen.update_ratio,
    }
    if seen.gradients is not None:
        known["first_gradient"], known["last_gradient"] = seen.gradients
    known["sample"] = seen.sample
    return _Recorded(told(bench, found, data, names), known, shifted=seen.shifted)


def _script(bench: Bench, subject: Subject) -> _Recorded:
    assert subject.target.script is not None  # the probe is for who has one
    ran = training.one_script(bench, subject.target.script)
    failed = None if ran.steps else Outcome(stopped=str(ran.recorded["why"]))
    return _Recorded(ran.recorded, failed=failed)


def _sampling(bench: Bench, subject: Subject) -> _Recorded:
    found = subject.target.found
    context = experiments.sizes(bench.pack, found)["context"]
    runs = [
        {"seed": sampling.SEED, **run, "length": run["length"] or context + sampling.BEYOND}
        for run in SAMPLED.values()
    ]
    job = sampling.sampler_job(bench, found, subject.target.option, runs)
    answer = bench.learner.run(bench.server, [job], LIMIT)[0]
    if failed := _failed(answer):
        return _Recorded({}, failed=failed)
    sampled, blobs = events.sampled(answer.data)
    data = events.plain_runs(sampled, blobs)
    named = [(name, run) for name, run in zip(SAMPLED, data["runs"], strict=True)]
    kept = [(n, run) for n, run in named if NEEDS.get(n, "") in {*sampled.takes, ""}]
    names, runs = [name for name, _ in kept], [run for _, run in kept]
    return _Recorded({**data, "names": names, "runs": runs})


def _outcome(bench: Bench, subject: Subject, recorded: _Recorded) -> Outcome:
    """The numbers of one tree by name: what is known, then what the pack's function makes of the rest."""
    if recorded.failed is not None:
        return recorded.failed
    try:
        found = bench.ask(subject.probe, recorded.data, "instruments")
    except (
        BadFacts
    ):  # what was recorded is of a form that it does not know: these numbers are absent
        found = {}
    values = {**recorded.known, **{name: _plain(value) for name, value in found.items()}}
    return Outcome({name: value for name, value in values.items() if value is not None})


def _plain(value: Any) -> Any:
    return {"list": value} if isinstance(value, list) else value


def _shown(outcome: Outcome) -> Outcome:
    """The same with as many digits as a reader needs."""
    values = {
        name: float(f"{value:{DIGITS}}") if isinstance(value, float) else value
        for name, value in outcome.values.items()
    }
    return msgspec.structs.replace(outcome, values=values)
