"""Servers for a session; those of `engine watch` stay from one verdict to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from engine.commands.session import Session
from engine.commands.sources import data_files
from engine.flows.measuring import servers_for
from engine.run.pythons import with_package
from engine.run.servers import Servers

T = TypeVar("T")


def asked(session: Session) -> tuple[str | None, list[Path]]:
    """The interpreter for the learner's code, and the data that it may read."""
    python = session.learner.python()
    if session.catalogue.contract.framework == "torch":
        named = python if session.learner.settings.python else None
        python = with_package("torch", session.learner.model, named)
    return python, data_files(session)


def servers(session: Session) -> Servers:
    """Servers for one session, which nothing has been asked of."""
    python, readable = asked(session)
    made = servers_for(session.catalogue, python, [session.learner.home])
    made.readable = readable
    return made


class Kept:
    """What was opened for one session of a learner, and stays for the next while that asks for the same."""

    def __init__(self) -> None:
        self._asked: object = None
        self._value: Any = None
        self._opened = ExitStack()

    @contextmanager
    def of(self, asked: object, opened: Callable[[], AbstractContextManager[T]]) -> Iterator[T]:
        """What `opened` gave when the same was asked for; after an error it is not kept."""
        try:
            if self._value is None or asked != self._asked:
                self.close()
                self._asked, self._value = asked, self._opened.enter_context(opened())
            yield self._value
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._value = None
        self._opened.close()
