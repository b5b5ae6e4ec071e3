"""What the commands of learners and of authors share: options, and reports on their way out."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]


def emit(report: Any, as_json: bool) -> None:
    """Show a report, or print it as JSON."""
    from engine.report.out import emit as out

    out(report, as_json=as_json)
