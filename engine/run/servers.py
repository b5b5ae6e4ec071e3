"""Warm servers for one command: the one way in which code of learners and packs is run.

    with Servers(pack, python=None) as servers:
        cases = servers.cases(draws, variants)
        outcomes = servers.outcomes(tree, jobs)

Nothing of a learner or a pack is imported here. A pack server holds a pack's files; a learner server
holds the texts of `call.py` and exactly one tree.
"""

from __future__ import annotations

from engine.run.learner_client import LearnerClient
from engine.run.pack_client import PackClient
from engine.run.pool import LIMIT, TRACED
from engine.run.types import RunOptions

__all__ = ["HEALTHY_FACTOR", "LIMIT", "TRACED", "RunOptions", "Servers"]

HEALTHY_FACTOR = (
    20.0  # times what the healthy code took, that a candidate may take where that is more
)


class Servers(PackClient, LearnerClient):
    """A pool of servers that is asked for cases (of the pack) and for outcomes (of learners' code)."""
