"""`engine repro`: the check that failed last as a script and its arrays, in a folder of the learner's."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from engine.commands.session import Session
from engine.errors import Message, NotApplicable, UsageError
from engine.flows.reports import ReproReport
from engine.learner.files import storage
from engine.learner.sealed import unseal
from engine.learner.store import Attempt

Failed = dict[str, Any]  # a check that failed, as flows/repro.py records it


def run(session: Session, check: str | None = None) -> ReproReport:
    """Write the script for this check, or for the first that failed. Raises NotApplicable, UsageError."""
    attempt, failing = _last(session)
    name, failed = _chosen(_named(attempt, failing), check)
    title = f"{attempt.name}: the check {name}"
    if session.catalogue.goes_by_facts(attempt.exercise):
        from engine.commands import fact_repro

        made = fact_repro.written(session, attempt, failed, title)
    else:
        from engine.commands import contract_repro

        made = contract_repro.written(session, attempt, failed, title)
    folder = _fresh(session.learner.home / "repro", f"{attempt.name}-{name}")
    with storage(folder):
        folder.mkdir(parents=True)
        (folder / "repro.py").write_text(made.script, "utf-8")
        for path, data in made.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        if made.arrays:
            (folder / "repro.npz").write_bytes(_npz(made.arrays))
    python = session.learner.python() or "python"
    typed = session.learner.typed(folder)
    return ReproReport(attempt.name, name, typed, python, made.inputs)


def _last(session: Session) -> tuple[Attempt, list[Failed]]:
    """The attempt that was judged last, and its failed checks. Raises NotApplicable."""
    events = [event for event in session.store.events() if event.kind in ("built", "submitted")]
    if not events or events[-1].data.get("passed") or not events[-1].data.get("failing"):
        raise NotApplicable(
            Message("There is no failed check to repeat: nothing was refused last."),
            next=Message("`engine submit-build` or `engine submit-fix` first."),
        )
    last = events[-1]
    found = session.latest(last.exercise)
    assert found is not None  # it has this event
    failing = last.data["failing"]
    return found, unseal(failing) if isinstance(failing, str) else failing


def _named(attempt: Attempt, failing: list[Failed]) -> dict[str, Failed]:
    """Failed checks by name; those of a blind break by their number in the verdict, as a name would say what
    is broken.
    """
    if attempt.secret:
        return {str(one["number"]): one for one in failing}
    found: dict[str, Failed] = {}
    for one in failing:
        found.setdefault(one["check"], one)
    return found


def _chosen(failing: dict[str, Failed], check: str | None) -> tuple[str, Failed]:
    """The check of this name, or that is called so in a verdict; without one the first with an input."""
    names = [*failing]
    if check is None:
        name = next((one for one in names if failing[one]["draw"]), names[0])
        return name, failing[name]
    called = [one for one in names if check in (one, *failing[one].get("shows", {}).values())]
    if not called:
        raise UsageError(
            Message("There is no script for the check {check!r}.", check=check),
            next=Message("These failed and can be repeated: {names}.", names=", ".join(names)),
        )
    name = called[0]
    return name, failing[name]


def _fresh(parent: Path, name: str) -> Path:
    """A folder that is not there yet: somebody may have written into the last one."""
    number = 1
    while (folder := parent / (name if number == 1 else f"{name}-{number}")).exists():
        number += 1
    return folder


def _npz(arrays: dict[str, Any]) -> bytes:
    import numpy as np

    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()
