"""`engine submit-build --all`: every part of the model at once, a line each."""

from __future__ import annotations

from collections.abc import Sequence

from engine.commands.session import Session
from engine.commands.submission import check_builds, check_level
from engine.commands.warm import servers_of
from engine.errors import NotApplicable
from engine.flows import build as flows
from engine.flows import measuring
from engine.flows.build_report import AllReport, Part
from engine.flows.chance import fresh_seed
from engine.judge.findings import findings
from engine.judge.level import PRACTICE, Level
from engine.judge.result import Verdict
from engine.spec.entry import Entry
from engine.words import said


def run(
    session: Session,
    level: Level = PRACTICE,
    *,
    progress: measuring.Progress = measuring.quiet,
) -> AllReport:
    """Judge each component of the course. Nothing is recorded: a pass is for what was asked by its name."""
    check_builds(session)
    check_level(session, level)
    catalogue = session.catalogue
    builds = [entry for entry in catalogue.entries.values() if entry.kind == "build"]
    facts = [entry for entry in builds if catalogue.goes_by_facts(entry.id)]
    probed = [entry for entry in builds if entry not in facts]
    parts = _by_probes(session, probed, level, progress)
    parts |= _by_facts(session, facts, progress) if facts else {}
    typed = session.learner.typed(session.learner.model)
    return AllReport(tuple(parts[entry.id] for entry in builds), session.learner.lang, typed)


def _by_probes(
    session: Session, builds: Sequence[Entry], level: Level, progress: measuring.Progress
) -> dict[str, Part]:
    with servers_of(session) as servers:
        _, tree = session.code
        servers.progress = progress
        return {
            entry.id: _part(
                entry.id,
                flows.grade_build(
                    servers, session.catalogue, entry.component, tree, fresh_seed(), level
                ),
            )
            for entry in builds
        }


def _by_facts(
    session: Session, builds: Sequence[Entry], progress: measuring.Progress
) -> dict[str, Part]:
    from engine.commands import building
    from engine.flows import fact_build

    try:
        with building.by_facts(session, progress) as judge:
            return {entry.id: _part(entry.id, judge(entry.id)) for entry in builds}
    except NotApplicable as error:  # no model is there yet that could be trained
        return {
            entry.id: _part(
                entry.id,
                fact_build.refused(
                    session.catalogue.fact_build(entry.id), said(error.messages[0]).rstrip(".")
                ),
            )
            for entry in builds
        }


def _part(id: str, verdict: Verdict) -> Part:
    required = verdict.required
    passed = sum(result.passed for result in required)
    found = findings(required) or findings(verdict.advice)
    return Part(id, verdict.passed, passed, len(required), found[0] if found else None)
