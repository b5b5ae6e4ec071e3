"""`<break>.proof.yaml` of a pack of facts: where a bug goes in anybody's code, and what facts must change."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from engine.spec.types.base import Spec

Probe = Literal["run", "script", "sampling"]


class SpanEdit(Spec, frozen=True, kw_only=True):
    """One edit. `at`: a part that the pack finds in a recording, whose source spans are known; "files": any
    place of the files that ran. `within`: what is searched, from the very expression at the span outwards.

    One of: `find` with `replace` (patterns with $NAME, which keeps its meaning for the next edits of a way,
    and *$REST for the rest of a call; `$width` in lower case is the tree's own expression for a size of
    pack.yaml); `find` alone takes what is found away; `argument` with `value` sets a keyword of the call, or
    of those that `find` fits; `drop` takes the statement away; `move` puts it before or after that of `to`.
    """

    at: str
    within: Literal["expression", "statement", "function", "class", "file"] = "expression"
    find: str = ""
    replace: str = ""
    argument: str = ""
    value: str = ""
    drop: bool = False
    move: Literal["", "before", "after"] = ""
    to: str = ""


class Way(Spec, frozen=True, kw_only=True):
    """Edits that belong together."""

    edits: Annotated[tuple[SpanEdit, ...], Meta(min_length=1, max_length=4)]


class Variant(Spec, frozen=True, kw_only=True):
    """Ways to put the bug in, and what proves it. `changes`: fact -> pattern over its new value; exactly
    these facts change, and those of `also` may. `healthy`: fact -> pattern over the value that it must have
    before, where PASS is not enough. `observe`: what the learner is shown.
    """

    observe: Probe
    changes: Annotated[dict[str, str], Meta(min_length=1)]
    healthy: dict[str, str] = {}
    also: tuple[str, ...] = ()
    ways: Annotated[tuple[Way, ...], Meta(min_length=1)]


class Proof(Spec, frozen=True, kw_only=True):
    """The variants of a break, in the order in which they are tried."""

    variants: Annotated[tuple[Variant, ...], Meta(min_length=1)]

    @property
    def runs_a_script(self) -> bool:
        """Whether a variant is observed by the training script."""
        return any(one.observe == "script" for one in self.variants)
