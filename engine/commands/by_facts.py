"""Breaking, observing and judging anybody's PyTorch GPT: by the facts of a pack, measured on their own code.

Two interpreters: the learner's, with torch, which holds each tree in a server of its own, and ours, which
turns what was recorded into facts. Starting the first takes as long as importing torch, so it starts first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import msgspec

from engine.commands import found as finding
from engine.commands.check import pack_folder, with_torch
from engine.commands.means import Judged, Placed
from engine.commands.session import Session
from engine.flows.answers import Answer
from engine.flows.measuring import Progress, fresh_seed
from engine.judge.level import Level
from engine.learner.store import Attempt
from engine.run.forks import FACTS, Forks, own_python
from engine.run.pool import own_paths
from engine.run.types import Sandbox, Tree

if TYPE_CHECKING:
    from engine.flows.check import Bench
    from engine.flows.health import Target
    from engine.flows.observe import Observed
    from engine.spec.types.proof import Probe


class ByFacts:
    """Means of a pack that knows no names: what is taken for what was found when the learner was made."""

    def __init__(self, session: Session) -> None:
        self._session, self._catalogue = session, session.catalogue
        self._id, self._variant = "", 0

    def __enter__(self) -> ByFacts:
        hidden = [*own_paths(), pack_folder(), self._session.learner.private]
        learner = self._session.learner
        self._learner = with_torch(learner.model, learner.python(), hidden)
        self._facts = Forks(own_python(), FACTS, hidden)
        from engine.facts import pack
        from engine.run.forks import Folder

        self._facts.hold("pack", Folder("/pack", ("",), pack.code(self._catalogue.folder)))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._learner.__exit__(kind, value, trace)
        self._facts.__exit__(kind, value, trace)

    def begin(self, id: str) -> None:
        """Nothing is done before the plan."""
        self._id = id

    def plan(self, progress: Progress) -> Placed:
        """Raises NotApplicable."""
        from engine.flows import fact_break

        proof, story = self._catalogue.proof(self._id), self._catalogue.story(self._id)
        bench = self.bench(self._session.code[0], "model")
        target = finding.target(self._session, bench, progress)
        scripts = any(variant.observe == "script" for variant in proof.variants) and target.script
        if scripts:
            self._hold_script(bench)
        planned = fact_break.plan(bench, target, proof, story.lies, progress)
        self._variant = planned.variant
        bug = {**planned.bug, "target": msgspec.to_builtins(target)}
        return Placed(planned.injection.files, bug)

    def observed(self, placed: Placed, answers: Sequence[Answer] | None) -> Observed:
        """The probe of the variant that went in."""
        from engine.flows.health import Target

        probe = self._catalogue.proof(self._id).variants[self._variant].observe
        files = self._session.code[0]
        benches = self._benches(probe, files, {**files, **placed.files}, None)
        target = msgspec.convert(placed.bug["target"], Target)
        return self._look(self._id, probe, target, benches, answers)

    def shown(self, observed: Observed) -> Observed:
        """All of it."""
        return observed

    def again(self, attempt: Attempt, answers: Sequence[Answer]) -> Observed:
        """The same probe on the code before the break, with the bug, and as it is now."""
        healthy, now = self._session.trees(attempt)
        broken = self._session.broken(attempt, now)
        probe, target = self._of(attempt)
        changed = now.files if broken.files != now.files else None
        benches = self._benches(probe, healthy.files, broken.files, changed)
        given = None if attempt.blind else answers
        return self._look(attempt.exercise, probe, target, benches, given)

    def judged(
        self, attempt: Attempt, trees: tuple[Tree, Tree], level: Level, progress: Progress
    ) -> Judged:
        """By the learner's own tree before the break."""
        from engine.flows import fact_fix

        probe, target = self._of(attempt)
        bug = attempt.injected
        before, candidate = self._benches(probe, trees[0].files, trees[1].files, None)[:2]
        subject = fact_fix.Subject(
            found=target.found, observe=probe, script=target.script, sampler=target.option,
            changes=tuple(bug["facts"]), facts=bug["healthy"],
        )  # fmt: skip
        verdict = fact_fix.grade_fix(before, candidate, subject, fresh_seed(), level)
        return Judged(verdict, self._sandbox(), [])

    def _sandbox(self) -> Sandbox:
        found = self._learner.greeting()
        return Sandbox(found.python, found.numpy, found.landlock, found.seccomp)

    def bench(self, files: Mapping[str, bytes], server: str) -> Bench:
        """A tree in a server of its own."""
        from engine.facts import pack
        from engine.flows.check import Bench, folder

        self._learner.hold(server, folder(dict(files)))
        folder_ = self._catalogue.folder
        return Bench(
            self._learner, self._facts, pack.load(folder_), dict(files), server, f"{server}-script",
            pack.texts(folder_, "es"),
        )  # fmt: skip

    def _hold_script(self, bench: Bench) -> None:
        from engine.flows.check import folder

        self._learner.hold(bench.script_server, folder(bench.files), "optimizer")

    def _benches(
        self,
        probe: Probe,
        healthy: Mapping[str, bytes],
        broken: Mapping[str, bytes],
        now: Mapping[str, bytes] | None,
    ) -> list[Bench]:
        """One for each version, ready for the probe."""
        versions = {"before": healthy, "broken": broken, "now": now}
        made = [self.bench(files, name) for name, files in versions.items() if files is not None]
        for bench in made if probe == "script" else ():
            self._hold_script(bench)
        return made

    def _of(self, attempt: Attempt) -> tuple[Probe, Target]:
        """What an open break is observed by, and what of the tree it is about."""
        from engine.flows.health import Target

        bug = attempt.injected
        variants = self._catalogue.proof(attempt.exercise).variants
        return variants[bug["variant"]].observe, msgspec.convert(bug["target"], Target)

    def _look(
        self,
        id: str,
        probe: Probe,
        target: Target,
        benches: Sequence[Bench],
        answers: Sequence[Answer] | None,
    ) -> Observed:
        from engine.flows import fact_observe
        from engine.flows.observe import Observed, scored

        subject = fact_observe.Subject(probe, target.found, target.script, target.option)
        lang = self._session.learner.lang
        seen = fact_observe.look(*benches[:2], subject, lang, *benches[2:])
        asked = self._catalogue.story(id).predictions if answers is not None else ()
        told, brier = scored(asked, answers or (), seen.measured, lang)
        return Observed((seen.observation,), told, brier)
