"""`engine submit-build --all`: every part of the model at once, a line each."""

from __future__ import annotations

from engine.commands.session import Session
from engine.commands.submission import check_builds, check_level
from engine.commands.warm import servers_of
from engine.flows import build as flows
from engine.flows import measuring
from engine.flows.build_report import AllReport, Part
from engine.flows.measuring import fresh_seed
from engine.judge.findings import findings
from engine.judge.level import PRACTICE, Level
from engine.judge.result import Verdict


def run(
    session: Session,
    level: Level = PRACTICE,
    *,
    progress: measuring.Progress = measuring.quiet,
) -> AllReport:
    """Judge each component of the course. Nothing is recorded: a pass is for what was asked by its name."""
    check_builds(session)
    check_level(session, level)
    parts = []
    with servers_of(session) as servers:
        _, tree = session.code
        servers.progress = progress
        for entry in session.catalogue.entries.values():
            if entry.kind == "build":
                verdict = flows.grade_build(
                    servers, session.catalogue, entry.component, tree, fresh_seed(), level
                )
                parts.append(_part(entry.id, verdict))
    typed = session.learner.typed(session.learner.model)
    return AllReport(tuple(parts), session.learner.lang, typed)


def _part(id: str, verdict: Verdict) -> Part:
    required = verdict.required
    passed = sum(result.passed for result in required)
    found = findings(required) or findings(verdict.advice)
    return Part(id, verdict.passed, passed, len(required), found[0] if found else None)
