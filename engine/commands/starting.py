"""The two interpreters of a pack of facts on their way: a command may begin them before it reads anything."""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from pathlib import Path

from engine.commands.session import Session
from engine.errors import LearnerCodeError, Message, NotApplicable, Said
from engine.run import zygote
from engine.run.forks import FACTS, TORCH, Forks
from engine.run.greeting import INSTALL
from engine.run.pool import own_paths
from engine.run.pythons import interpreters, own_python

Asked = tuple[Path, str | None, tuple[Path, ...]]


class Starting:
    """Both at the same time: importing torch takes longer than all else. root: the tree whose interpreter is
    looked for.
    """

    def __init__(self, root: Path, python: str | None, hidden: Sequence[Path]) -> None:
        self.asked: Asked = (root, python, tuple(hidden))
        self._hidden = [*own_paths(), *hidden]
        self._options = interpreters(root, python)
        self._started = [Forks(self._options[0], TORCH, self._hidden)]
        self.facts = Forks(own_python(), FACTS, self._hidden)

    def learner(self) -> Forks:
        """Wait for the first interpreter that has torch. Raises NotApplicable."""
        why: Said = ""
        for python in self._options:
            if python != self._options[0]:
                self._started.append(Forks(python, TORCH, self._hidden))
            forks = self._started[-1]
            try:
                greeting = forks.greeting()
                if tuple(greeting.python) < (3, 11):
                    found = ".".join(map(str, greeting.python[:2]))
                    why = f"{python} is Python {found}; spans need 3.11"
                elif greeting.torch is not None:
                    return forks
                else:
                    why = f"{python} has no torch ({greeting.why})"
            except LearnerCodeError as error:
                why = error.what
        raise NotApplicable(
            Message("No interpreter with torch was found: {why}.", why=why), next=INSTALL
        )

    def close(self) -> None:
        """End both, also where nobody came for them."""
        for forks in [*self._started, self.facts]:
            forks.__exit__(None, None, None)


_begun: list[Starting] = []


def begin(session: Session) -> None:
    """Start both for a learner while the caller still imports and reads."""
    learner, factual = session.learner, session.catalogue.factual
    zygote.unused()  # which is for a pack with a contract
    if not _begun and factual is not None and session.kept is None:
        atexit.register(_unused)
        hidden = [factual.folder, learner.private]
        _begun.append(Starting(learner.model, learner.python(), hidden))


def taken(root: Path, python: str | None, hidden: Sequence[Path]) -> Starting:
    """Those that were begun for the same, else new ones."""
    if _begun and _begun[0].asked == (root, python, tuple(hidden)):
        return _begun.pop()
    return Starting(root, python, hidden)


def _unused() -> None:
    while _begun:
        _begun.pop().close()
