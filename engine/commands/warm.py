"""Servers for a command, which may be started, and handed the learner's code, before the rest is imported."""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from engine.commands.serving import asked, servers
from engine.commands.session import Session
from engine.errors import EngineError
from engine.run.concurrent import Future
from engine.run.servers import TRACED, Servers

TO_BREAK = ("learner", TRACED)  # the servers that look for a place for a bug


class Warm:
    """The servers of one session, on their way: they compile the learner's code and the pack's."""

    def __init__(self, session: Session, id: str, *names: str) -> None:
        component = session.catalogue.entry(id).component
        self.servers = servers(session).__enter__()
        self._handed = Future(lambda: self._hand(session, component, names))

    def _hand(self, session: Session, component: str, names: Sequence[str]) -> None:
        self.servers.precompile(component)
        self.servers.load_tree(session.code[1], *names)

    def ready(self) -> Servers:
        """When they have it. What went wrong on the way will go wrong again, for whoever needs it."""
        self._handed.wait()
        return self.servers

    def close(self) -> None:
        """Where nobody came for them."""
        self.ready().__exit__(None, None, None)


_begun: dict[Session, Warm] = {}


def begin(session: Session, id: str, *names: str) -> None:
    """Have the servers of these names handed the learner's code while the caller still imports, for the
    exercise `id`. Errors are left to those who come later.
    """
    if ahead(session, id):
        return
    try:
        _begun[session] = Warm(session, id, *names)
    except EngineError:
        return
    atexit.register(_unused)


def ahead(session: Session, id: str) -> bool:
    """Have the interpreters of a break by facts started while the caller still reads; False for another
    exercise, whose interpreter has been started already.
    """
    if not session.catalogue.goes_by_facts(id):
        return False
    from engine.commands import starting

    starting.begin(session)
    return True


def _unused() -> None:
    while _begun:
        _begun.popitem()[1].close()


@contextmanager
def servers_of(session: Session) -> Iterator[Servers]:
    """The servers that were begun for this session, else new ones. Raises LearnerCodeError."""
    warm = _begun.pop(session, None)
    if warm is None and session.kept is not None:
        with session.kept.of(asked(session), lambda: servers(session)) as kept:
            yield kept
        return
    if warm is None:
        with servers(session) as fresh:
            yield fresh
        return
    try:
        yield warm.ready()
    finally:
        warm.servers.__exit__(None, None, None)
