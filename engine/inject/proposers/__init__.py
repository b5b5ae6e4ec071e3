"""How a step of a recipe finds its place: the name of a field of `Step` -> what proposes edits for it.

They are asked in this order. A new proposer is a file beside this one, a line here, and the field in
`engine/spec/types/recipe.py` by which authors write it. A proposer is cheap and guesses; the oracle
alone decides.

Values come before patterns where an exercise can choose: one recipe with one traced value reached every
implementation that was written without sight of it, of which patterns missed eight in ten. What comes
first is therefore the recipe's own choice, not the engine's. Blind local mutation was one more proposer
once; switched off, it was missed by none of 48 packages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from engine.inject.proposers import append, graft, pattern, rewrite, role
from engine.inject.proposers.space import Edits, Locality, SearchSpace

Propose = Callable[[SearchSpace, Any, Locality], Iterator[Edits]]  # Any: what the field holds

PROPOSERS: Mapping[str, Propose] = {
    "pattern": pattern.propose,
    "role": role.propose,
    "graft": graft.propose,
    "append": append.propose,
    "rewrite": rewrite.propose,
}
