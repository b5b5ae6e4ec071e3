"""The verdict on a fix of somebody's own GPT: the mended tree against their tree before the break.

compare → where all agrees, measure the facts that were healthy → verdict. What is compared depends on where
the break is observed: the model, the training script in its small world, or the sampler.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from engine.facts.report import Raw, verdict_of
from engine.flows import fact_runs
from engine.flows.check import Bench, observed, raw_facts
from engine.flows.fact_compare import compare_models
from engine.flows.health import Target
from engine.judge.level import PRACTICE, Level
from engine.judge.result import Result, Verdict
from engine.judge.targets import BEFORE
from engine.judge.torch_facts import fact_result
from engine.spec.types.proof import Probe


class Subject(msgspec.Struct, frozen=True):
    """What was broken, and what was known of it before. changes: the facts that the break changed. facts: the
    healthy values of all facts by id.
    """

    target: Target
    observe: Probe
    changes: tuple[str, ...]
    facts: Mapping[str, str | None]


def grade_fix(
    before: Bench, candidate: Bench, subject: Subject, seed: int, level: Level = PRACTICE
) -> Verdict:
    """Both benches have servers of their own, which hold their trees. Raises NotApplicable where the code
    before the break does not run any more.
    """
    results: list[Result] = []
    if subject.observe == "run" or beside(before, candidate, subject):
        results += compare_models(before, candidate, subject.target.found, seed, level)
    if all(one.passed for one in results):
        results += {"run": model, "script": script, "sampling": sampling}[subject.observe](
            before, candidate, subject, seed
        )
    passed = all(one.passed for one in results)
    measurements = sum(one.measurements for one in results)
    return Verdict(passed, tuple(results), measurements, str(seed), BEFORE)


def beside(before: Bench, candidate: Bench, subject: Subject) -> bool:
    """Whether something changed that the model may stand in: any file but that of the script or sampler,
    and that one where it holds the model, too.
    """
    files = before.files.keys() | candidate.files.keys()
    changed = {path for path in files if before.files.get(path) != candidate.files.get(path)}
    target, own = subject.target, ""
    if subject.observe == "script" and target.script is not None:
        own = target.script.path
    if subject.observe == "sampling" and target.sampler is not None:
        own = target.sampler[0]
    return bool(changed - ({own} - {target.found.path}))


def keeping(before: Bench) -> bool:
    """Whether a file speaks of a cache of keys and values."""
    word = before.pack.generation["cache"]
    return any(re.search(word, text.decode("utf-8", "replace")) for text in before.files.values())


def model(before: Bench, candidate: Bench, subject: Subject, seed: int) -> list[Result]:
    """The facts of a model that agrees with what it was, and whether it generates the same with a cache."""
    target, results = subject.target, list[Result]()
    if target.sampler is not None and keeping(before):
        results = fact_runs.continued(before, candidate, target.found, target.option, seed)
    _, recorded = observed(candidate, target.found)
    raws = raw_facts(candidate.ask("measure", recorded))
    return results + facts_of(candidate, subject, raws, agree=True)


def script(before: Bench, candidate: Bench, subject: Subject, seed: int) -> list[Result]:
    """What the training script does in its small world, and its facts."""
    assert subject.target.script is not None  # it was observed
    results, raws, agree = fact_runs.scripts(before, candidate, subject.target.script)
    return results + facts_of(candidate, subject, raws, agree=agree)


def sampling(before: Bench, candidate: Bench, subject: Subject, seed: int) -> list[Result]:
    """What the sampler draws from, and its facts."""
    found, option = subject.target.found, subject.target.option
    results = fact_runs.samplers(before, candidate, found, option, seed)
    if not all(one.passed for one in results):
        return results
    raws = fact_runs.sampler_facts(candidate, found, option)
    return results + facts_of(candidate, subject, raws, agree=True)


def facts_of(bench: Bench, subject: Subject, raws: Sequence[Raw], *, agree: bool) -> list[Result]:
    """A result for each fact that was healthy or that the break changed. Another right value is right, too,
    and so is what cannot be seen any more; of what the break changed only if agree: all that was compared
    agrees.
    """
    results = []
    for raw in raws:
        declared, wanted = bench.pack.fact(raw.id), subject.facts.get(raw.id)
        changed = raw.id in subject.changes
        if wanted is None or not (changed or verdict_of(declared, wanted)[0] == "PASS"):
            continue
        got = None if raw.value is None else str(raw.value)
        right = got == wanted
        if not right and (agree or not changed):
            right = got is None or verdict_of(declared, got)[0] == "PASS"
        seen = None if got is None else bench.value(raw.id, got)
        wanted = bench.value(raw.id, wanted)
        results.append(fact_result(raw.id, bench.titles(declared), wanted, seen, right))
    return results
