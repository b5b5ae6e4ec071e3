"""What each of two trees answered for the same draws: checked, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import Message, NotApplicable, Said
from engine.facts import compared
from engine.facts.compared import Drawn, Side
from engine.facts.trace import BadAnswer, Failure, failure_of
from engine.flows.check import LIMIT, Bench, why_not
from engine.judge.compare import NO_ERROR, Difference
from engine.judge.result import Result
from engine.judge.torch_compare import SHOWS
from engine.run.forks import Answer
from engine.run.types import Frame, Raised

WEIGHTS = {
    "normal": Message("weights of usual size"),
    "large": Message("large weights"),
    "tiny": Message("weights near 0"),
    "biased": Message("norms and biases far from where they start"),
    "alike": Message("embeddings that hardly vary"),
}


class Refused(Exception):
    """The candidate cannot be compared: the check that says why."""

    def __init__(self, kind: str, difference: Difference, raised: Raised | None = None) -> None:
        super().__init__(kind)
        frames = raised.frames if raised else ()
        self.result = Result(
            kind, "", SHOWS[kind], False, 1, difference=difference, frames=frames,
            traceback=tuple(frame.told for frame in frames),
        )  # fmt: skip


def answer(bench: Bench, job: Mapping[str, Any]) -> Answer:
    return bench.learner.run(bench.server, [job], LIMIT)[0]


def healthy_side(found: Answer) -> Side:
    """What the code before the break answered. Raises NotApplicable."""
    why = why_not(found)
    if why:
        raise silent(why)
    try:
        return compared.side(found.data)
    except BadAnswer as error:
        raise silent(str(error)) from None


def mended_side(bench: Bench, job: Mapping[str, Any]) -> Side:
    return side_of(answer(bench, job), bench)


def side_of(found: Answer, bench: Bench) -> Side:
    """What the candidate answered. Raises Refused."""
    try:
        failed = None if found.stopped else failure_of(found.data)
        if not found.stopped and failed is None:
            return compared.side(found.data)
    except BadAnswer as error:
        failed = Failure("BadAnswer", str(error), [])
    if failed is None:
        stopped = Difference("stopped", "", Message("an answer"), why_not(found))
        raise Refused("raised", stopped)
    raised = raised_of(failed, bench.files)
    told = f"{raised.type}: {raised.message}"[:300]
    raise Refused("raised", Difference("raised", "", NO_ERROR, told), raised)


def raised_of(failed: Failure, files: Mapping[str, bytes]) -> Raised:
    """An exception of somebody's code, with the text of its lines."""
    frames = []
    for path, line in failed.at:
        lines = files.get(path, b"").decode("utf-8", "replace").splitlines()
        text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        frames.append(Frame(path, line, "", text))
    return Raised(failed.type, message=failed.message, frames=tuple(frames))


def inputs(draw: Drawn) -> Said:
    return Message(
        "{batch} × {length} tokens, {weights}",
        batch=draw.batch,
        length=draw.length,
        weights=WEIGHTS[draw.regime],
    )


def silent(why: Said) -> NotApplicable:
    """That there is nothing to compare with."""
    return NotApplicable(
        Message(
            "Your own code, as it was before the break, does not run any more: {what}. So there is"
            " nothing to compare with, and nothing was judged.",
            what=why,
        ),
        next=Message("Has the interpreter or a package changed since? `engine doctor` looks."),
    )
