"""`engine demo`: one break from beginning to end, on a made-up learner, by the same flows."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from engine.commands import break_, hint, init, submit_build, submit_fix
from engine.commands.session import Session
from engine.errors import EngineError, Message
from engine.flows import demo as script
from engine.flows.answers import Answer
from engine.flows.demo import Bug, Checked, DemoReport, Step
from engine.flows.predictions import Opening
from engine.spec.catalogue import Catalogue

Tell = Callable[[Any], None]


def run(*, keep: bool = False, tell: Tell = lambda _: None) -> DemoReport:
    """Play the whole loop in a temporary folder; `tell` gets each step and report as it is made."""
    folder = Path(tempfile.mkdtemp(prefix="engine-demo-"))
    try:
        return _play(folder, keep, tell)
    finally:
        if keep:
            tell(Step("", Message("The folder was kept: {folder}", folder=folder)))
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _play(folder: Path, keep: bool, tell: Tell) -> DemoReport:
    for sentence in script.INTRO:
        tell(Step("", sentence))
    tell(Step("engine init ada", Message("A learner, with model code in a style of their own.")))
    home = Path(init.run("ada", folder=folder).home)
    _write_model(home)
    session = Session.here("ada", folder)
    tell(
        Step(
            "engine submit-build " + script.BUILDS[0],
            Message("What the break stands on is checked against the reference, part by part."),
        )
    )
    builds = [submit_build.run(session, component) for component in script.BUILDS]
    tell(Checked(tuple((one.exercise, len(one.verdict.results)) for one in builds)))

    tell(Step(f"engine break {script.EXERCISE}", Message("First the predictions, then the bug.")))

    def answer(opening: Opening) -> Sequence[Answer]:
        tell(opening)
        for asked in script.typed(opening):
            tell(asked)
        return script.PREDICTED

    broken = break_.run(session, script.EXERCISE, answer)
    tell(broken)
    practice = Path(broken.practice)
    tell(Step("engine hint", Message("One hint, never two.")))
    hinted = hint.run(session)
    tell(hinted)
    tell(
        Step(
            "engine submit-fix",
            Message("A fix that only makes the crash go away: drop the extra rows."),
        )
    )
    before = (practice / script.LOSS).read_bytes()
    _edit(practice, *script.SILENCED)
    silenced = submit_fix.run(session)
    tell(silenced)
    (practice / script.LOSS).write_bytes(before)
    tell(Step("engine submit-fix", Message("A fix of the cause.")))
    _edit(practice, *script.MENDED)
    mended = submit_fix.run(session, lambda question, options: script.CAUSE)
    tell(mended)
    tell(Step("", Message("And this was the bug, as it was put into the code:")))
    tell(Bug(_bug(session)))
    return DemoReport(
        str(home), tuple(builds), broken, hinted, silenced, mended,
        Path(broken.notes).read_text("utf-8"), keep,
    )  # fmt: skip


def _bug(session: Session) -> str:
    from engine.flows.diffs import unified
    from engine.learner.snapshots import History

    attempt = session.latest(script.EXERCISE)
    injected = attempt.last("injected") if attempt is not None else None
    assert injected is not None  # the break was opened
    history = History(session.learner.private)
    return unified(history.load(injected["before"]), history.load(injected["broken"]))


def _write_model(home: Path) -> None:
    source = Catalogue.find("minimodel").folder / "models" / script.MODEL
    for file in source.rglob("*.py"):
        (home / file.relative_to(source)).write_bytes(file.read_bytes())


def _edit(practice: Path, file: str, find: str, replace: str) -> None:
    path = practice / file
    text = path.read_text("utf-8")
    if find not in text:
        raise EngineError(
            Message("The demo's script no longer fits: {find!r} is not in the code.", find=find),
            where=str(path),
        )
    path.write_text(text.replace(find, replace, 1), "utf-8")
