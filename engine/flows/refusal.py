"""What a learner is told when a bug cannot be put into their code."""

from __future__ import annotations

from engine.errors import Message, NotApplicable
from engine.flows.measuring import Halted
from engine.flows.tracing import Tracer
from engine.inject.learner_code import Code
from engine.inject.search import NotFound
from engine.judge.compare import stopped
from engine.spec.catalogue import Catalogue

UNFIT = 3  # patterns that a refusal names
SHARED = ("Tensor", "Parameter", "Module")  # roles that are never the place of a bug


def halted(id: str, error: Halted) -> NotApplicable:
    """The code gave no answer at all."""
    return NotApplicable(
        Message(
            "Your code gave no answer ({error}), so {exercise} cannot be put into it. "
            "Nothing was changed.",
            error=stopped(error.outcome),
            exercise=id,
        ),
        where=error.outcome.output[:500],
        next=Message("Is there an endless loop, or a print in one, that runs on import?"),
    )


def not_found(
    catalogue: Catalogue, id: str, code: Code, trace: Tracer, error: NotFound
) -> NotApplicable:
    """What was looked for, where, what came nearest, and what the learner can do."""
    component = catalogue.entry(id).component
    roles = sorted(catalogue.roles_of(component))
    files = sorted({code.files_of_roles[role] for role in roles if role in code.files_of_roles})
    others = len(set(error.looked) - set(files))
    missing = trace.missing()
    looked = (
        Message("looked in {files} and {others} other files", files=", ".join(files), others=others)
        if others
        else Message("looked in {files}", files=", ".join(files))
    )
    lines = [
        looked,
        *([Message("no expression held {values}", values=", ".join(missing))] if missing else []),
        *(
            Message("a run whose values were to be recorded ended: {why}", why=why)
            for why in sorted({*trace.silent})
        ),
        *(Message("no code fits `{pattern}`", pattern=pattern) for pattern in error.unfit[:UNFIT]),
        Message("nearest: {nearest}", nearest=error.nearest),
    ]
    name = next((role for role in roles if role not in SHARED), roles[0] if roles else "Name")
    return NotApplicable(
        Message(
            "{exercise} cannot be put into this code: none of {tried} tried edits shows "
            "just the symptom that this exercise is about. Nothing was changed.",
            exercise=id,
            tried=error.tried,
        ),
        where=Message.joined("\n  ", lines),
        next=Message(
            "If another class or function is the one to look at, name it in "
            "learner.yaml: `roles: {{{name}: {roles}}}`.",
            name=name,
            roles=catalogue.contract.roles[name],
        ),
    )
