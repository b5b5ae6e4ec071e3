"""The proof that what a break draws, and the numbers that its hints tell, are recorded: a slip in such a name
is no error anywhere, a learner would only see less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.author.proof import Proof
from engine.flows.hints import values_told
from engine.flows.observe import Observed, Subject, Versions, blind, look, values_of
from engine.run.servers import Servers
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue
from engine.spec.index import Text


def shown_proofs(
    servers: Servers, catalogue: Catalogue, id: str, name: str, tree: Tree, broken: Tree
) -> Iterator[Proof]:
    """Of both sides of a break, told and blind."""
    spec = catalogue.break_(id)
    sides: list[tuple[Subject, Sequence[Text]]] = [
        (Subject(spec.observe), (*spec.hints, *spec.grafted.values()))
    ]
    if spec.blind is not None:
        hints = (*spec.blind.hints, *spec.blind.grafted.values())
        sides.append((blind(spec, later=True), hints))
    for subject, texts in sides:
        observed = look(servers, catalogue, id, Versions(tree, broken), subject, "en")
        slips = [*_not_drawn(subject, observed), *_not_recorded(texts, observed)]
        yield Proof(
            id, name, "what it draws and what hints tell is recorded", not slips, ", ".join(slips)
        )


def _not_drawn(subject: Subject, observed: Observed) -> Iterator[str]:
    for wanted, found in zip(subject.observe, observed.observations, strict=True):
        if wanted.curve and not found.healthy_curve:
            yield f"{wanted.probe} ({wanted.regime}) records no list {wanted.curve!r}"


def _not_recorded(hints: Sequence[Text], observed: Observed) -> Iterator[str]:
    known = values_of(observed)
    told = {one for hint in hints for text in hint.values() for one in values_told(text)}
    return (f"no observation records a number {one!r}" for one in sorted(told - known.keys()))
