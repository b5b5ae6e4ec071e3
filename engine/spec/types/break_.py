"""`<break>.yaml` of a pack with a contract: a bug, where it goes, what it must measure, and its story."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from engine.spec.types.base import Figure, Id, Spec
from engine.spec.types.build import Check
from engine.spec.types.recipe import Recipe
from engine.spec.types.story import Observe, Story

BEFORE = "before"  # what a symptom is like where it is as it was in healthy code


class Need(Spec, frozen=True, kw_only=True):
    """A property this break stands on: it must be measured healthy before anything is broken."""

    probe: str  # component.probe
    regimes: tuple[str, ...]


class Symptom(Spec, frozen=True, kw_only=True):
    """What the broken code must measure: like the reference's `variant`, or like it was before.

    `like`: "before", or the name of a variant that the component's reference.py knows. `values`:
    the recorded names that count, all when empty.
    """

    probe: str  # component.probe
    regimes: tuple[str, ...]
    like: str
    values: tuple[str, ...] = ()


class TextEdit(Spec, frozen=True, kw_only=True):
    """Replace the first `find` in `file` by `replace`."""

    file: str
    find: str
    replace: str


class Silencer(Spec, frozen=True, kw_only=True):
    """A fix that hides the symptom and must be refused; or a near miss, which is not the bug.

    `on`: a folder below the pack's `models/`; the edits are made to its broken code, those of a near
    miss to its healthy code.
    """

    name: Id
    on: str
    edits: Annotated[tuple[TextEdit, ...], Meta(min_length=1)]


class Break(Story, frozen=True, kw_only=True):
    """A break exercise of a pack with a contract: its story and its proof in one file."""

    pipeline: str = ""  # component.probe of the call.py that the learner is shown
    needs: Annotated[tuple[Need, ...], Meta(min_length=1)]
    inject: Annotated[tuple[Recipe, ...], Meta(min_length=1)]
    fingerprint: Annotated[tuple[Symptom, ...], Meta(min_length=1)]
    also_changes: dict[str, str] = {}  # component.probe -> the reason why it may change
    acceptable: tuple[str, ...] = ()  # variants of the reference that a fix may agree with
    judged_by: tuple[Check, ...] = ()  # probes of this break that the fix must meet as well
    observe: Annotated[tuple[Observe, ...], Meta(min_length=1)]
    silencers: tuple[Silencer, ...] = ()
    near_misses: tuple[Silencer, ...] = ()  # edits to healthy code that are not this bug
    figures: dict[str, Figure] = {}
    stated: tuple[str, ...] = ()  # numbers in the texts that are set, not measured
