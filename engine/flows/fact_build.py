"""The verdict on a build that facts judge: a training loop or a sampler, whatever it is called.

found model → run the script in its small world, or call the sampler → its facts → verdict. What no contract
can ask for, as every author writes it in a way of their own, is looked at where it happens.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import Message, NotApplicable, Said
from engine.facts.report import Raw, verdict_of
from engine.flows import sampling, training
from engine.flows.check import Asked, Bench, raw_facts
from engine.flows.health import Target
from engine.flows.measuring import Progress
from engine.judge.compare import Difference
from engine.judge.findings import UNWRITTEN
from engine.judge.result import FACT, Result, Verdict
from engine.run.types import Frame
from engine.spec.texts import said
from engine.spec.types import FactBuild, Text

NO_METHOD = "NotBuilt: the model has no method"
SEED = "0"  # what is run is the same each time
LACKING = {
    "script": Message("no script that trains the model was found"),
    "sampling": Message("nothing that writes text with the model could be called"),
}


def grade_build(
    bench: Bench, target: Target, spec: FactBuild, asked: Asked, progress: Progress
) -> Verdict:
    """No fact of what was run is wrong, and each that has to be seen is. target: what was found.

    Raises NotApplicable where it is there and cannot be run here: then nothing is known of it.
    """
    if spec.observe == "script":
        raws = of_script(bench, target, asked, progress)
    else:
        raws = of_sampler(bench, target, progress)
    if spec.observe == "script" and not isinstance(raws, str):  # which its small world may hide
        hidden = [bench.why(r.why, r.id) for r in raws if r.id in spec.needs and r.value is None]
        raws = hidden[0] if hidden else raws
    if isinstance(raws, str):
        if "NotImplementedError" in raws:
            return refused(spec, UNWRITTEN)
        raise NotApplicable(
            Message("It could not be run here: {why}.", why=raws),
            next=Message(
                "Nothing was judged. `engine check` on the folder shows what it makes of it."
            ),
        )
    if not raws:
        return refused(spec, LACKING[spec.observe])
    results = judged(bench, spec, raws)
    passed = all(one.passed or one.advice for one in results)
    return Verdict(passed, tuple(results), len(results), SEED)


def of_script(bench: Bench, target: Target, asked: Asked, progress: Progress) -> list[Raw] | str:
    """The facts of the training script, none where there is no script; why it did not run."""
    half = training.script(bench, asked.train, target.found, progress)
    return seen_or_why(bench, raw_facts(half.facts) if half else [])


def seen_or_why(bench: Bench, raws: list[Raw]) -> list[Raw] | str:
    """Facts, of which at least one was seen; else why none was."""
    if raws and all(raw.value is None for raw in raws):
        return bench.why(raws[0].why, raws[0].id)
    return raws


def of_sampler(bench: Bench, target: Target, progress: Progress) -> list[Raw] | str:
    """The facts of the first sampler that can be called, none where there is no sampler; why none can."""
    failed = ""
    for option in sampling.samplers(bench, target.found):
        progress("calling the sampler")
        recorded = sampling.called(bench, target.found, option)
        if not isinstance(recorded, str):
            return seen_or_why(bench, raw_facts(bench.ask("measure", recorded, "sampler_facts")))
        if not recorded.startswith(NO_METHOD):
            failed = failed or recorded
    return failed or []


def refused(spec: FactBuild, why: Said) -> Verdict:
    """The verdict where nothing could be run."""
    return Verdict(False, (missing(spec.observe, spec.title, why),), 1, SEED)


def judged(bench: Bench, spec: FactBuild, raws: Sequence[Raw]) -> list[Result]:
    """A result for each fact that was seen, what has to be seen first; then what has to be and was not, as it
    may be hidden by what is wrong.
    """
    rank = {id: number for number, id in enumerate(spec.needs)}
    ordered = sorted(raws, key=lambda raw: rank.get(raw.id, len(rank)))
    results = [seen(bench, raw, str(raw.value)) for raw in ordered if raw.value is not None]
    for raw in ordered:
        if raw.value is None and raw.id in spec.needs:
            titles = bench.titles(bench.pack.fact(raw.id))
            results.append(missing(raw.id, titles, bench.why(raw.why, raw.id)))
    return results


def seen(bench: Bench, raw: Raw, value: str) -> Result:
    """A fact that is right, wrong, or doubtful, which is told and decides nothing."""
    declared = bench.pack.fact(raw.id)
    titles, texts = bench.titles(declared), bench.texts.get(raw.id)
    verdict = verdict_of(declared, value)[0]
    difference = None
    if verdict != "PASS":
        expected = texts.expected if texts else declared.expected
        title = said(titles, bench.lang)
        difference = Difference("value", title, expected, bench.value(raw.id, value))
    return Result(
        FACT + raw.id, "", titles, difference is None, 1,
        difference=difference,
        pattern="" if difference is None else texts.means if texts else declared.means,
        frames=frames(bench, raw),
        advice=verdict == "WARN",
    )  # fmt: skip


def missing(id: str, title: Text, why: Said) -> Result:
    """That nothing could be seen."""
    difference = Difference("stopped", "", Message("an answer"), why)
    return Result(FACT + id, "", title, False, 1, difference=difference)


def frames(bench: Bench, raw: Raw) -> tuple[Frame, ...]:
    """The line where a fact was decided, if it is one of the tree's."""
    if raw.at is None or raw.at[0] not in bench.files:
        return ()
    path, line = raw.at[:2]
    lines = bench.files[path].decode("utf-8", "replace").splitlines()
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return (Frame(path, line, "", text),)
