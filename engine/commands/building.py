"""How a build is judged: by probes that a contract makes possible, or by facts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from engine.commands.session import Session
from engine.commands.warm import servers_of
from engine.errors import NotApplicable
from engine.flows import measuring
from engine.flows.chance import fresh_seed
from engine.judge.level import Level
from engine.run.concurrent import Future
from engine.run.types import Sandbox
from engine.spec.entry import Entry

if TYPE_CHECKING:
    from engine.flows.health import Target
    from engine.judge.result import Verdict


class Graded(msgspec.Struct, frozen=True):
    """A verdict, what confined the code, what repeats its failed checks, the files that it was given for, and
    the fingerprint of code that passed, where it is known.
    """

    verdict: Verdict
    sandbox: Sandbox
    failing: list[dict[str, Any]]
    files: Mapping[str, bytes]
    code: dict[str, Any] | None = None

    def hashes(self, edited: str) -> tuple[tuple[str, str], ...]:
        """(file, sha256) of the file that is to be edited, of all of them where it is not there."""
        if edited in self.files:
            return ((edited, hashlib.sha256(self.files[edited]).hexdigest()),)
        joined = hashlib.sha256()
        for path, data in sorted(self.files.items()):
            joined.update(f"{path}\0{len(data)}\0".encode() + data)
        return (("(all files)", joined.hexdigest()),)


def graded(session: Session, entry: Entry, level: Level, progress: measuring.Progress) -> Graded:
    """Raises what the learner's files are at fault for, NotApplicable where there is no model to run."""
    if session.catalogue.goes_by_facts(entry.id):
        return _by_facts(session, entry, progress)
    return _by_probes(session, entry, level, progress)


def _by_probes(
    session: Session, entry: Entry, level: Level, progress: measuring.Progress
) -> Graded:
    from engine.flows.build import grade_build
    from engine.flows.fingerprint import fingerprint

    catalogue = session.catalogue
    with servers_of(session) as servers:
        files, tree = session.code
        servers.progress = progress
        code = Future(lambda: fingerprint(catalogue, entry.component, tree))  # meanwhile
        verdict = grade_build(servers, catalogue, entry.component, tree, fresh_seed(), level)
        sandbox = servers.sandbox
    from engine.flows.repro import repeatable  # brings numpy

    checks = catalogue.build(entry.id).checks
    failing = repeatable(verdict, [(entry.component, check) for check in checks])
    return Graded(verdict, sandbox, failing, files, code() if verdict.passed else None)


def _by_facts(session: Session, entry: Entry, progress: measuring.Progress) -> Graded:
    from engine.flows.fact_repro import repeatable

    with by_facts(session, progress) as judge:
        verdict = judge(entry.id)
        return Graded(verdict, judge.sandbox, repeatable(verdict), session.code[0])


class ByFacts:
    """Judges builds of one session by facts. Raises NotApplicable where no model is found."""

    def __init__(self, session: Session, means: Any, progress: measuring.Progress) -> None:
        from engine.commands import found

        self._session, self._progress = session, progress
        self._bench = means.bench(script=True)
        self._target: Target | None = None
        try:
            self._target = found.target(session, self._bench, progress)
        except NotApplicable as error:
            if "NotImplementedError" not in str(error):  # else the model is not written yet
                raise
        self.sandbox: Sandbox = means.both.sandbox

    def __call__(self, id: str) -> Verdict:
        from engine.commands import found
        from engine.flows.fact_build import grade_build, refused
        from engine.judge.findings import UNWRITTEN

        spec, asked = self._session.catalogue.fact_build(id), found.asked(self._session)
        if self._target is None:
            return refused(spec, UNWRITTEN)
        return grade_build(self._bench, self._target, spec, asked, self._progress)


@contextmanager
def by_facts(session: Session, progress: measuring.Progress) -> Iterator[ByFacts]:
    """Raises NotApplicable where no model, or no interpreter with torch, is found."""
    from engine.commands import by_facts as factual

    with factual.means(session) as means:
        yield ByFacts(session, means, progress)
