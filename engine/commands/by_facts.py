"""Breaking, observing and judging anybody's PyTorch GPT: by the facts of a pack, measured on their own code.

Two interpreters: the learner's, with torch, which holds each tree in a server of its own, and ours, which
turns what was recorded into facts. Starting the first takes as long as importing torch, so it starts first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from engine.commands import found as finding
from engine.commands import interpreters
from engine.commands.means import Judged, Placed
from engine.commands.session import Session
from engine.commands.versions import before_and_now, broken
from engine.flows import chance, fact_observe
from engine.flows.answers import Answer
from engine.flows.measuring import Progress
from engine.judge.level import Level
from engine.learner.store import Attempt
from engine.run.types import Tree

if TYPE_CHECKING:
    from engine.flows.check import Bench
    from engine.flows.health import Target
    from engine.flows.observe import Observed
    from engine.spec.types.proof import Probe


@contextmanager
def means(session: Session) -> Iterator[ByFacts]:
    """Raises NotApplicable where no interpreter has torch."""
    learner, factual = session.learner, session.catalogue.factual
    assert factual is not None  # whoever comes here has breaks by facts
    of, hidden = factual.folder, (learner.private,)
    asked = interpreters.Asked(learner.model, learner.python(), of, learner.lang, hidden)
    begun = interpreters.opened(asked)
    with session.kept.of(asked, lambda: begun) if session.kept else begun as both:
        yield ByFacts(session, both)


class ByFacts:
    """Means of a pack that knows no names: what is taken for what was found when the learner was made."""

    def __init__(self, session: Session, both: interpreters.Interpreters) -> None:
        self._session, self._catalogue = session, session.catalogue
        self.both, self._id = both, ""

    def begin(self, id: str) -> None:
        """Nothing is done before the plan."""
        self._id = id

    def plan(self, progress: Progress) -> Placed:
        """Raises NotApplicable."""
        from engine.flows import fact_break

        proof, story = self._catalogue.proof(self._id), self._catalogue.story(self._id)
        bench = self.bench(script=proof.runs_a_script)
        fact_break.prepare(bench, script=proof.runs_a_script)
        target = finding.target(self._session, bench, progress)
        planned = fact_break.plan(bench, target, proof, story.lies, progress)
        bug = {**planned.bug, "target": msgspec.to_builtins(target)}
        return Placed(planned.injection.files, bug)

    def observed(self, placed: Placed, answers: Sequence[Answer] | None) -> Observed:
        """The probe of the variant that went in."""
        probe, target = self._of(self._id, placed.bug)
        files = self._session.code[0]
        benches = self._benches(probe, files, {**files, **placed.files})
        return self._look(self._id, probe, target, benches, answers)

    def shown(self, observed: Observed) -> Observed:
        """Without what only hints tell."""
        return fact_observe.at_once(observed)

    def again(self, attempt: Attempt, answers: Sequence[Answer]) -> Observed:
        """The same probe on the code before the break, with the bug, and as it is now."""
        healthy, now = before_and_now(self._session, attempt)
        laid = broken(self._session, attempt)
        probe, target = self._of(attempt.exercise, attempt.injected)
        edited = [now.files] if laid.files != now.files else []
        benches = self._benches(probe, healthy.files, laid.files, *edited)
        if attempt.blind:
            return self.shown(self._look(attempt.exercise, probe, target, benches, None))
        return self._look(attempt.exercise, probe, target, benches, answers)

    def judged(
        self, attempt: Attempt, trees: tuple[Tree, Tree], level: Level, progress: Progress
    ) -> Judged:
        """By the learner's own tree before the break."""
        from engine.flows import fact_fix, fact_repro

        probe, target = self._of(attempt.exercise, attempt.injected)
        bug = attempt.injected
        before, candidate = self._benches(probe, *(tree.files for tree in trees))
        subject = fact_fix.Subject(target, probe, tuple(bug["facts"]), bug["healthy"])
        verdict = fact_fix.grade_fix(before, candidate, subject, chance.fresh_seed(), level)
        return Judged(verdict, self.both.sandbox, fact_repro.repeatable(verdict))

    def bench(self, *, script: bool = False) -> Bench:
        """The learner's own tree; script: where its training script can run, too."""
        return self.both.bench(self._session.code[0], script=script)

    def _benches(self, probe: Probe, *versions: Mapping[str, bytes]) -> list[Bench]:
        """One for each version, ready for the probe."""
        named = zip(("before", "broken", "now"), versions, strict=False)
        return [self.both.bench(tree, name, script=probe == "script") for name, tree in named]

    def _of(self, id: str, bug: Mapping[str, Any]) -> tuple[Probe, Target]:
        """What a bug is observed by, and on what."""
        from engine.flows.health import Target

        variants = self._catalogue.proof(id).variants
        return variants[bug["variant"]].observe, msgspec.convert(bug["target"], Target)

    def _look(
        self,
        id: str,
        probe: Probe,
        target: Target,
        benches: Sequence[Bench],
        answers: Sequence[Answer] | None,
    ) -> Observed:
        asked = self._catalogue.story(id).predictions if answers is not None else ()
        subject, lang = fact_observe.Subject(probe, target), self._session.learner.lang
        return fact_observe.observed(benches, subject, asked, answers or (), lang)
