"""`engine repro` of a pack with a contract: a draw that the pack's reference answers, too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from engine.commands.session import Session
from engine.commands.versions import before_and_now
from engine.commands.warm import servers_of
from engine.learner.store import Attempt, opened
from engine.run.jobs import jobs_of
from engine.run.pool import CALLS
from engine.run.servers import Servers
from engine.run.types import Case, Draw, Outcome, Tree

if TYPE_CHECKING:
    from engine.flows.repro import Repro


def written(session: Session, attempt: Attempt, failed: dict[str, Any], title: str) -> Repro:
    """The script of a failed check."""
    from engine.flows.repro import written

    draw = msgspec.convert(failed["draw"], Draw)
    with servers_of(session) as servers:
        (case,) = servers.cases([draw])
        tree, expected = _sides(session, servers, attempt, case)
    of = "" if attempt.secret else f" of {draw.component}"
    catalogue = session.catalogue
    torch = catalogue.contract.framework == "torch"  # whose probes share code, and each other's
    roles = tree.roles.keys() if torch else catalogue.roles_of(draw.component)
    made = written(
        case, expected, title=title + of,
        call=catalogue.probes(draw.component), values=failed["values"],
        roots=[str(Path(tree.root) / root) if root else tree.root for root in tree.roots],
        roles={k: v for k, v in tree.roles.items() if k in roles},
        how=failed["how"], torch=torch,
    )  # fmt: skip
    shared = {p: data for p, data in catalogue.code().items() if p.endswith(CALLS)}
    return msgspec.structs.replace(made, files=shared) if torch else made


def _sides(
    session: Session, servers: Servers, attempt: Attempt, case: Case
) -> tuple[Tree, Outcome]:
    """The code that was judged, and what is expected of it: the reference's answer, or for a fix what the
    learner's own code gave before the break.
    """
    open_ = opened(session.attempts())
    if open_ is None or open_.name != attempt.name:
        return session.code[1], case.expected[""]
    before, now = before_and_now(session, attempt)
    return now, servers.outcomes(before, jobs_of([case]), server="before")[0]
