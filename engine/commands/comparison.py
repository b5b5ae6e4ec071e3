"""`engine observe tying` and its like: the learner's own model in two versions, each trained for a moment."""

from __future__ import annotations

from engine.commands import by_facts, found
from engine.commands.session import Session
from engine.errors import Message
from engine.flows import comparison as flow
from engine.flows.comparison import ComparisonReport
from engine.flows.measuring import Progress, quiet
from engine.spec.topics import comparison


def run(session: Session, id: str, *, progress: Progress = quiet) -> ComparisonReport:
    """Measure the learner's model as it is on disk. Writes nothing. Raises NotApplicable."""
    spec = comparison(session.catalogue, id)
    with by_facts.means(session) as means:
        bench = means.bench()
        target = found.target(session, bench, progress)
        progress(Message("short trainings of your model"))
        return flow.compare(bench, target.found, id, spec)
