"""`engine demo`: one break from beginning to end, on a made-up learner, by the same flows."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from engine.commands import break_, hint, init, submit_build, submit_fix
from engine.commands.break_ import BreakReport, Opening
from engine.commands.hint import HintReport
from engine.commands.session import Session, said
from engine.commands.submit_build import BuildReport
from engine.errors import EngineError
from engine.flows.answers import Answer, shown
from engine.flows.fix_report import FixReport
from engine.spec.catalogue import Catalogue

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


class Asked(msgspec.Struct, frozen=True):
    """A prediction as the made-up learner types it."""

    question: str
    answer: str
    confidence: int


class Step(msgspec.Struct, frozen=True):
    """A heading of the demo: the command a learner would type, and what it is for."""

    command: str
    what: str


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


Tell = Callable[[Any], None]


def run(*, keep: bool = False, tell: Tell = lambda _: None) -> DemoReport:
    """Play the whole loop in a temporary folder; `tell` gets each step and report as it is made."""
    folder = Path(tempfile.mkdtemp(prefix="engine-demo-"))
    try:
        return _play(folder, keep, tell)
    finally:
        if keep:
            tell(Step("", f"The folder was kept: {folder}"))
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _play(folder: Path, keep: bool, tell: Tell) -> DemoReport:
    tell(Step("engine init ada", "A learner, with model code in a style of their own."))
    made = init.run("ada", folder=folder)
    home = Path(made.home)
    _write_model(home)
    session = Session.here("ada", folder)
    builds = []
    for component in ("embedding", "lm_head", "cross_entropy"):
        tell(
            Step(
                f"engine submit-build {component}",
                "Is the part healthy? Every check, against the reference.",
            )
        )
        builds.append(submit_build.run(session, component, told=tell))
        tell(builds[-1])

    tell(Step(f"engine break {EXERCISE}", "First the predictions, then the bug."))

    def answer(opening: Opening) -> Sequence[Answer]:
        tell(opening)
        for prediction, answer in zip(opening.predictions, PREDICTED, strict=True):
            tell(
                Asked(
                    said(prediction.ask, opening.lang),
                    shown(prediction, answer.answer, opening.lang),
                    answer.confidence,
                )
            )
        return PREDICTED

    broken = break_.run(session, EXERCISE, answer)
    tell(broken)
    practice = Path(broken.practice)
    tell(Step("engine hint", "One hint, never two."))
    hinted = hint.run(session)
    tell(hinted)
    tell(Step("engine submit-fix", "A fix that only makes the crash go away: drop the extra rows."))
    before = (practice / LOSS).read_bytes()
    _edit(practice, *SILENCED)
    silenced = submit_fix.run(session)
    tell(silenced)
    (practice / LOSS).write_bytes(before)
    tell(Step("engine submit-fix", "A fix of the cause."))
    _edit(practice, *MENDED)
    mended = submit_fix.run(session, lambda question, options: Answer("cause", "width", 90))
    tell(mended)
    return DemoReport(
        str(home), tuple(builds), broken, hinted, silenced, mended,
        Path(broken.notes).read_text("utf-8"), keep,
    )  # fmt: skip


def _write_model(home: Path) -> None:
    source = Catalogue.find("minimodel").folder / "models" / MODEL
    for file in source.rglob("*.py"):
        (home / file.relative_to(source)).write_bytes(file.read_bytes())


def _edit(practice: Path, file: str, find: str, replace: str) -> None:
    path = practice / file
    text = path.read_text("utf-8")
    if find not in text:
        raise EngineError(
            f"The demo's script no longer fits: {find!r} is not in the code.", where=str(path)
        )
    path.write_text(text.replace(find, replace, 1), "utf-8")
