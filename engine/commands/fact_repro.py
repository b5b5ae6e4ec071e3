"""`engine repro` of a pack of facts: the script is written from what the tree before the break shows."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.commands import by_facts
from engine.commands.session import Session
from engine.commands.versions import before_and_now
from engine.errors import Message, NotApplicable
from engine.flows.repro import Repro
from engine.learner.store import Attempt, opened


def written(session: Session, attempt: Attempt, failed: dict[str, Any], title: str) -> Repro:
    """Raises NotApplicable where a check has no script of its own."""
    from engine.flows import fact_repro
    from engine.flows.health import Target

    check = msgspec.convert(failed, fact_repro.Failed)
    if check.draw is None:
        raise fact_repro.unrepeatable(check)
    open_ = opened(session.attempts())
    if open_ is None or open_.name != attempt.name:
        raise NotApplicable(
            Message(
                "{name} is not open any more, so its practice copy is not judged.",
                name=attempt.name,
            )
        )
    target = msgspec.convert(attempt.injected["target"], Target)
    before, now = before_and_now(session, attempt)
    with by_facts.means(session) as means:
        benches = (means.both.bench(before.files, "before"), means.both.bench(now.files, "now"))
        script = fact_repro.written(*benches, target, check, title, now.root)
    return Repro(script, {})
