"""`engine doctor`: what is installed, what the sandbox can do here, is the code importable."""

from __future__ import annotations

import platform
import shutil
import sqlite3
from importlib import metadata

from engine import __version__
from engine.commands.session import Session
from engine.errors import EngineError, Message
from engine.flows.measuring import servers_for
from engine.flows.reports import DoctorReport, Finding
from engine.judge.findings import lacking_role
from engine.run.servers import Servers
from engine.run.types import CONFINEMENTS
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
    catalogue = session.catalogue if session else Catalogue.find(DEFAULT)
    python = session.learner.python() if session else None
    try:
        with servers_for(catalogue, python) as servers:
            findings += _inside(servers, session)
    except EngineError as error:
        findings.append(Finding(INTERPRETER, False, error.messages[0]))
    return DoctorReport(all(finding.good for finding in findings), tuple(findings))


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
    box = servers.sandbox
    findings.append(
        Finding(INTERPRETER, True, ".".join(map(str, box.python)) + f", numpy {box.numpy}")
    )
    for name, wall in CONFINEMENTS.items():
        found = wall.found(box)
        findings.append(
            Finding(name, bool(found), found or Message("missing: {lacking}", lacking=wall.lacking))
        )
    return findings
