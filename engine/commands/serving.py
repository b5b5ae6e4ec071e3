"""Servers for a session; those of `engine watch` stay from one verdict to the next."""

from __future__ import annotations

from pathlib import Path

from engine.commands.session import Session
from engine.commands.sources import data_files
from engine.flows.measuring import servers_for
from engine.run.pythons import with_package
from engine.run.servers import Servers


def _asked(session: Session) -> tuple[str | None, list[Path]]:
    """The interpreter for the learner's code, and the data that it may read."""
    python = session.learner.python()
    if session.catalogue.contract.framework == "torch":
        named = python if session.learner.settings.python else None
        python = with_package("torch", session.learner.model, named)
    return python, data_files(session)


def servers(session: Session) -> Servers:
    """Servers for one session, which nothing has been asked of."""
    python, readable = _asked(session)
    made = servers_for(session.catalogue, python, [session.learner.home])
    made.readable = readable
    return made


class Kept:
    """Servers that stay from one session of a learner to the next, while these ask for the same."""

    def __init__(self) -> None:
        self._asked: object = None
        self._servers: Servers | None = None

    def of(self, session: Session) -> Servers:
        asked = _asked(session)
        if self._servers is None or asked != self._asked:
            self.close()
            self._asked, self._servers = asked, servers(session).__enter__()
        return self._servers

    def close(self) -> None:
        servers, self._servers = self._servers, None
        if servers is not None:
            servers.__exit__(None, None, None)
