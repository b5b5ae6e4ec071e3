"""Breaking, observing and judging code that is written to a pack's contract."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.commands.means import Judged, Placed
from engine.commands.session import Session
from engine.commands.versions import before_and_now, broken
from engine.commands.warm import TO_BREAK
from engine.flows import expectations
from engine.flows.answers import Answer
from engine.flows.chance import fresh_seed
from engine.flows.measuring import Progress
from engine.flows.observe import Observed
from engine.judge.level import Level
from engine.learner.store import Attempt
from engine.run.servers import Servers
from engine.run.types import Tree


class ByContract:
    """Means of a pack whose components, probes and references are known."""

    def __init__(self, session: Session, servers: Servers) -> None:
        self._session, self._catalogue, self._servers = session, session.catalogue, servers
        self._id, self._dtype = "", ""

    def begin(self, id: str) -> None:
        """The learner's code is compiled, and what this break needs is measured."""
        tree = self._session.code[1]
        self._id = id
        self._servers.load_tree(tree, *TO_BREAK)  # as a rule they are
        self._begun = expectations.begin(self._servers, self._catalogue, id, tree, fresh_seed())

    def plan(self, progress: Progress) -> Placed:
        """Raises NotApplicable."""
        from engine.flows import break_ as flow  # brings numpy, while the reference is at work

        planned = flow.plan_begun(self._servers, self._catalogue, self._begun, progress=progress)
        self._dtype = planned.dtype
        return Placed(planned.injection.files, planned.bug)

    def observed(self, placed: Placed, answers: Sequence[Answer] | None) -> Observed:
        """What the exercise's probes record; blind, with what later hints speak of."""
        from engine.flows import observe as flow

        spec, tree = self._catalogue.break_(self._id), self._session.code[1]
        subject = flow.blind(spec, later=True) if answers is None else flow.told(spec, answers)
        versions = flow.Versions(tree, tree.replaced(placed.files), self._dtype)
        return flow.look(
            self._servers, self._catalogue, self._id, versions, subject,
            self._session.learner.lang, server="learner",
        )  # fmt: skip

    def shown(self, observed: Observed) -> Observed:
        """Without what only hints speak of."""
        from engine.flows import observe as flow

        count = len(flow.blind(self._catalogue.break_(self._id)).observe)
        return msgspec.structs.replace(observed, observations=observed.observations[:count])

    def again(self, attempt: Attempt, answers: Sequence[Answer]) -> Observed:
        """Measured anew."""
        from engine.flows import observe as flow

        spec = self._catalogue.break_(attempt.exercise)
        subject = flow.blind(spec) if attempt.blind else flow.told(spec, answers)
        healthy, now = before_and_now(self._session, attempt)
        laid = broken(self._session, attempt)
        changed = now if laid.files != now.files else None
        versions = flow.Versions(healthy, laid, now=changed)
        lang = self._session.learner.lang
        return flow.look(self._servers, self._catalogue, attempt.exercise, versions, subject, lang)

    def judged(
        self, attempt: Attempt, trees: tuple[Tree, Tree], level: Level, progress: Progress
    ) -> Judged:
        """By the code before the break, the reference, and accepted variants."""
        before, now = trees
        servers, id = self._servers, attempt.exercise
        servers.progress = progress
        servers.load_tree(before, "before")
        servers.load_tree(now, "candidate")
        from engine.flows import fix as fixes  # brings numpy, while they compile

        verdict = fixes.grade_fix(servers, self._catalogue, id, before, now, fresh_seed(), level)
        from engine.flows.repro import repeatable
        from engine.flows.scope import checks_of_a_fix

        failing = repeatable(verdict, checks_of_a_fix(self._catalogue, id))
        return Judged(verdict, servers.sandbox, failing)
