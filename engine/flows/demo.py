"""The script of `engine demo`: one break from beginning to end, and a made-up learner's answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from engine.errors import Message, Said
from engine.flows.answers import Answer, shown
from engine.spec.texts import said

if TYPE_CHECKING:
    from engine.flows.build_report import BuildReport
    from engine.flows.fix_report import FixReport
    from engine.flows.predictions import BreakReport, Opening
    from engine.flows.reports import HintReport

EXERCISE = "tied-vocab-mismatch"
MODEL = "demo"  # of the pack's models: not the text of the reference
LOSS, HEAD = "src/minimodel/nn/loss.py", "src/minimodel/nn/lm_head.py"
SILENCED = (
    LOSS,
    "    if tuple(lead) != targets.shape:",
    "    if len(logits.data) > len(targets):\n"
    "        logits, lead = logits[: len(targets)], targets.shape  # only as many as we need\n"
    "    if tuple(lead) != targets.shape:",
)
MENDED = (HEAD, "self.vocab_size_out = 256", "self.vocab_size_out = embedding.vocab_size")
PREDICTED = (
    Answer("where", "logits", 70),
    Answer("rows", 32.0, 80),
    Answer("message", "two shapes that do not fit, but not who made them", 60),
)
CAUSE = Answer("cause", "width", 90)
INTRO = (
    Message(
        "This breaks code of your own neural network on purpose, in a copy, and you find out why."
    ),
    Message(
        "You predict what will happen and how sure you are; you see what happened; you fix the copy, "
        "and your fix is judged on inputs that nobody has seen."
    ),
    Message(
        "Here is one break from beginning to end, on the code of a made-up learner: a wrong fix, a right "
        "one, and the bug as a diff."
    ),
)
BUILDS = ("embedding", "lm_head", "cross_entropy")  # that the break stands on


class Asked(msgspec.Struct, frozen=True):
    """A prediction as the made-up learner types it."""

    question: str
    answer: str
    confidence: int


class Step(msgspec.Struct, frozen=True):
    """A heading of the demo: the command a learner would type, and what it is for."""

    command: str
    what: Said


class Checked(msgspec.Struct, frozen=True):
    """The builds before the break, in a line: component and how many checks it passed."""

    builds: tuple[tuple[str, int], ...]


class Bug(msgspec.Struct, frozen=True):
    """What was broken, as a diff from the learner's code."""

    diff: str


class DemoReport(msgspec.Struct, frozen=True):
    """`engine demo`: every report a learner would have seen, in order."""

    learner: str
    builds: tuple[BuildReport, ...]
    broken: BreakReport
    hinted: HintReport
    silenced: FixReport
    mended: FixReport
    notes: str
    kept: bool


def typed(opening: Opening) -> Iterator[Asked]:
    """The predictions as the made-up learner types them."""
    for prediction, answer in zip(opening.predictions, PREDICTED, strict=True):
        yield Asked(
            said(prediction.ask, opening.lang),
            shown(prediction, answer.answer, opening.lang),
            answer.confidence,
        )
