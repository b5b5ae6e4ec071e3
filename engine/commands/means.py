"""How a pack breaks, observes and judges: by its contract, or by facts. Commands know one interface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from engine.commands.session import Session

if TYPE_CHECKING:
    from engine.flows.answers import Answer
    from engine.flows.measuring import Progress
    from engine.flows.observe import Observed
    from engine.judge.level import Level
    from engine.judge.result import Verdict
    from engine.learner.store import Attempt
    from engine.run.types import Sandbox, Tree


class Placed(msgspec.Struct, frozen=True):
    """A verified bug: new bytes for some files, and what the event that opens the break says of it."""

    files: Mapping[str, bytes]
    bug: dict[str, Any]


class Judged(msgspec.Struct, frozen=True):
    """A verdict, what confined the code, and what repeats its failed checks."""

    verdict: Verdict
    sandbox: Sandbox
    failing: list[dict[str, Any]]


class Means(Protocol):
    """What a command needs of a pack to break the code of one session."""

    def begin(self, id: str) -> None:
        """Begin to look for a place for this break."""

    def plan(self, progress: Progress) -> Placed:
        """The bug in memory. Raises NotApplicable."""

    def observed(self, placed: Placed, answers: Sequence[Answer] | None) -> Observed:
        """Healthy beside broken. answers: to the predictions; None of a break that is taken blind."""

    def shown(self, observed: Observed) -> Observed:
        """What of that is shown at once to somebody who takes it blind."""

    def again(self, attempt: Attempt, answers: Sequence[Answer]) -> Observed:
        """The same of a break that is open, beside the practice copy as it is now."""

    def judged(
        self, attempt: Attempt, trees: tuple[Tree, Tree], level: Level, progress: Progress
    ) -> Judged:
        """The verdict on a practice copy. trees: the code before the break, and as it is now."""


@contextmanager
def means_of(session: Session) -> Iterator[Means]:
    """Raises what its interpreters are at fault for."""
    with ExitStack() as opened:
        yield Either(session, opened)


class Either(Means):
    """By contract or by facts, whichever a break is of; each is opened when it is first asked for."""

    def __init__(self, session: Session, opened: ExitStack) -> None:
        self._session, self._opened = session, opened
        self._known: dict[bool, Means] = {}
        self._id = ""

    def _of(self, id: str) -> Means:
        facts = self._session.catalogue.goes_by_facts(id)
        if facts not in self._known:
            self._known[facts] = self._means(facts)
        return self._known[facts]

    def _means(self, facts: bool) -> Means:
        if facts:
            from engine.commands import by_facts

            return self._opened.enter_context(by_facts.means(self._session))
        from engine.commands.by_contract import ByContract
        from engine.commands.warm import servers_of

        return ByContract(self._session, self._opened.enter_context(servers_of(self._session)))

    def begin(self, id: str) -> None:
        self._id = id
        self._of(id).begin(id)

    def plan(self, progress: Progress) -> Placed:
        return self._of(self._id).plan(progress)

    def observed(self, placed: Placed, answers: Sequence[Answer] | None) -> Observed:
        return self._of(self._id).observed(placed, answers)

    def shown(self, observed: Observed) -> Observed:
        return self._of(self._id).shown(observed)

    def again(self, attempt: Attempt, answers: Sequence[Answer]) -> Observed:
        return self._of(attempt.exercise).again(attempt, answers)

    def judged(
        self, attempt: Attempt, trees: tuple[Tree, Tree], level: Level, progress: Progress
    ) -> Judged:
        return self._of(attempt.exercise).judged(attempt, trees, level, progress)
