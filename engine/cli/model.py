"""`engine check`: declaration only, as in `learner.py`."""

# no `from __future__ import annotations`: typer would compile each of them anew, 20 ms

import sys
from pathlib import Path
from typing import Annotated

import typer

from engine.cli.options import Json, emit


def check(
    path: Annotated[Path, typer.Argument(metavar="[PATH]", help="A folder or a file.")] = Path("."),
    select: Annotated[
        list[str] | None, typer.Option(metavar="FACT", help="Only this fact; may be repeated.")
    ] = None,
    explain: Annotated[
        str | None, typer.Option(metavar="FACT", help="What a fact is, and measure nothing.")
    ] = None,
    model: Annotated[str, typer.Option(help='"file.py:Class" or "file.py:expression".')] = "",
    call: Annotated[str, typer.Option(help='How to call it: "model(tokens, 0)".')] = "",
    train: Annotated[
        str, typer.Option(help='The training script, with arguments: "train.py".')
    ] = "",
    python: Annotated[str | None, typer.Option(help="The interpreter that has your torch.")] = None,
    lang: Annotated[
        str, typer.Option(help="Language of the report: en or es; as learner.yaml says.")
    ] = "",
    json: Json = False,
) -> None:
    """What is wrong with a PyTorch GPT that nobody described. Nothing of it is written.

    A learner.yaml in PATH or above it may hold model:, call:, train: and python: as the options do; an
    option wins.

    Example: engine check ~/nanoGPT
    """
    from engine.commands import check as command
    from engine.report.out import Progress, tell
    from engine.report.words import said, speak

    lang = command.language(path, lang)
    speak(lang)
    if explain is not None:
        tell(said(command.explain(explain, lang)), sys.stdout)
        return
    from engine.report.check import show

    asked = command.Asked(model, call, train)
    progress = (lambda _: None) if json else Progress()
    report = command.run(path, asked, python=python, progress=progress)
    report = command.selected(report, select) if select else report
    if json:
        emit(report, True)
    else:
        show(report, command.texts(lang), command.reasons(lang))
    raise typer.Exit(1 if report.wrong else 0)
