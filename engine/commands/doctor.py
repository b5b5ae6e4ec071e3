"""`engine doctor`: what is installed, what the sandbox can do here, is the code importable."""

from __future__ import annotations

import platform
import shutil
import sqlite3
from importlib import metadata

from engine import __version__
from engine.commands.session import Session
from engine.commands.warm import servers_of
from engine.errors import EngineError, Message
from engine.flows.measuring import servers_for
from engine.flows.reports import DoctorReport, Finding
from engine.judge.findings import lacking_role
from engine.run.servers import Servers
from engine.run.types import CONFINEMENTS, Sandbox
from engine.spec.catalogue import Catalogue
from engine.spec.packs import DEFAULT

INTERPRETER, CODE = Message("learner's interpreter"), Message("your code")
PACKAGES = ("typer", "rich", "numpy", "PyYAML", "msgspec", "GitPython")


def run(session: Session | None) -> DoctorReport:
    """Look at everything that a command may need."""
    findings = [
        Finding("engine", True, __version__),
        Finding("python", True, platform.python_version()),
        Finding("sqlite", True, sqlite3.sqlite_version),
    ]
    for name in PACKAGES:
        try:
            findings.append(Finding(name, True, metadata.version(name)))
        except metadata.PackageNotFoundError:
            findings.append(Finding(name, False, Message("not installed")))
    git = shutil.which("git")
    findings.append(
        Finding("git", bool(git), git or Message("not found; install it, it keeps your history"))
    )
    try:
        findings += _of(session)
    except EngineError as error:
        findings.append(Finding(INTERPRETER, False, error.messages[0]))
    return DoctorReport(all(finding.good for finding in findings), tuple(findings))


def _of(session: Session | None) -> list[Finding]:
    """The interpreter of the learner's code, and the code. Raises what stands in the way."""
    if session is None:
        with servers_for(Catalogue.find(DEFAULT), None) as servers:
            return _inside(servers, None)
    if session.catalogue.by_facts:
        return _anybodys(session)
    with servers_of(session) as servers:
        return _inside(servers, session)


def _anybodys(session: Session) -> list[Finding]:
    """The same of code that was written to no contract: what is taken for the model."""
    from engine.commands import by_facts, found

    with by_facts.means(session) as means:
        findings = _walls(means.both.sandbox)
        try:
            told = found.look(session, means.bench(), lambda _: None).told
        except EngineError as error:
            told = ""
            findings.insert(0, Finding(CODE, False, error.messages[0]))
        return [Finding(CODE, True, told), *findings] if told else findings


def _inside(servers: Servers, session: Session | None) -> list[Finding]:
    findings = []
    if session is not None:
        try:
            files = session.model_files()
            tree = session.learner.tree(session.catalogue, files, session.learner.model)
            missing = servers.missing_roles(tree)
            for role, error in missing.items():
                findings.append(
                    Finding(Message("your {role}", role=role), False, lacking_role(error))
                )
            if not missing:
                findings.append(
                    Finding(
                        CODE, True, Message("{count} files, every role found", count=len(files))
                    )
                )
        except EngineError as error:
            findings.append(
                Finding(CODE, False, Message.joined("; ", filter(None, error.messages)))
            )
    if not any(servers.sandbox.python):  # no code has asked yet
        servers.sandbox_of("learner")
    return findings + _walls(servers.sandbox)


def _walls(box: Sandbox) -> list[Finding]:
    """The interpreter, and what the kernel has to confine it."""
    brings = f"torch {box.torch}" if box.torch else f"numpy {box.numpy}"
    findings = [Finding(INTERPRETER, True, ".".join(map(str, box.python)) + f", {brings}")]
    for name, wall in CONFINEMENTS.items():
        found = wall.found(box)
        findings.append(
            Finding(name, bool(found), found or Message("missing: {lacking}", lacking=wall.lacking))
        )
    return findings
