"""The command line of authors, `engine dev ...`: declarations only, as in `cli.py`."""

# no `from __future__ import annotations`: typer would compile each of them anew, 20 ms

import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from engine.cli.options import Json, Strictness, emit


class Format(StrEnum):
    """A format of verdicts; those of `engine.report.formats`, which --help need not load."""

    text = "text"
    json = "json"
    junit = "junit"


dev = typer.Typer(help="For authors of exercises.", no_args_is_help=True, rich_markup_mode=None)


@dev.command("check")
def dev_check(
    path: Annotated[Path | None, typer.Argument(help="A pack's folder, or a file in it.")] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Only N silencers and N near misses of each break."),
    ] = None,
    json: Json = False,
) -> None:
    """Prove every exercise: specs, healthy models, the bug bites, the fix passes, silencers
    and near misses do not.

    Example: engine dev check exercises/minimodel
    """
    from engine.commands import dev_check as command
    from engine.exam.level import EXAM
    from engine.report.out import Progress

    report = command.run(path, sample=sample, strictest=EXAM, progress=Progress())
    emit(report, json)
    raise typer.Exit(0 if report.passed else 3)


@dev.command("reach")
def dev_reach(
    model: Annotated[list[Path], typer.Option("--model", metavar="PATH", help="A model's folder.")],
    pack: Annotated[str, typer.Option(help="The pack of exercises.")] = "minimodel",
    exercise: Annotated[
        list[str] | None, typer.Option("--exercise", metavar="ID", help="Only this break.")
    ] = None,
    write: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Store each broken tree there.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only this proposer: pattern, role, graft, append, rewrite."),
    ] = None,
    json: Json = False,
) -> None:
    """Into how much code do the breaks go? One line for each exercise and model (JSON Lines).

    Example: engine dev reach --model tests/corpus/loops --exercise tied-vocab-mismatch --json
    """
    from engine.commands import dev_reach as command
    from engine.report.json_lines import show
    from engine.report.out import bar

    total, lines = command.run(
        model, pack=pack, exercises=exercise or (), write=write, only=only or ()
    )
    for line in bar(lines, total):
        if json:
            show(line)
        else:
            from engine.report.author import reached

            reached(line)


@dev.command("judge")
def dev_judge(
    candidate: Annotated[
        list[str], typer.Option("--candidate", metavar="PATH", help="A folder to be judged.")
    ],
    exercise: Annotated[
        str | None, typer.Option("--exercise", metavar="ID", help="A break: candidates are fixes.")
    ] = None,
    build: Annotated[
        str | None,
        typer.Option("--build", metavar="COMPONENT", help="A build: candidates are builds of it."),
    ] = None,
    healthy: Annotated[
        Path | None, typer.Option(metavar="PATH", help="The code as it was before the break.")
    ] = None,
    broken: Annotated[
        Path | None, typer.Option(metavar="PATH", help="The code with the bug, for explanations.")
    ] = None,
    pack: Annotated[str, typer.Option(help="The pack of exercises.")] = "minimodel",
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Repeat the verdict that had this seed.")
    ] = None,
    level: Annotated[Strictness, typer.Option(help="How strictly.")] = Strictness.practice,
    format: Annotated[
        Format, typer.Option(help="How verdicts are told; junit is XML for CI.")
    ] = Format.text,
    json: Json = False,
) -> None:
    """Judge fixes or builds of other people's code. One line for each candidate (JSON Lines).

    Example: engine dev judge --build embedding --candidate tests/corpus/loops --format junit
    """
    from engine.commands import dev_judge as command
    from engine.exam.level import LEVELS
    from engine.report.formats import verdicts
    from engine.report.out import bar

    asked = command.Question(exercise, build, healthy, broken, pack, seed, LEVELS[level])
    lines = command.run(candidate, asked)
    found = set()

    def noted() -> Iterator[dict[str, Any]]:
        for line in bar(lines, len(candidate)):
            found.add(line["verdict"])
            yield line

    name = "json" if json else format.value
    verdicts(name).judged(noted(), exercise or build or "")
    if "error" in found:
        raise typer.Exit(3)


@dev.command("schema")
def dev_schema() -> None:
    """The JSON Schema of everything an author writes.

    Example: engine dev schema > exercises/schema.json
    """
    from engine.spec.schema import schema_text

    sys.stdout.write(schema_text())
