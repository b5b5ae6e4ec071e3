"""`<break>.yaml`: a bug, where it goes, what it must measure, what the learner is asked and told."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from engine.spec.types.base import Figure, Id, Link, Option, Spec, Text
from engine.spec.types.build import Check
from engine.spec.types.recipe import Recipe

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


class Measured(Spec, frozen=True, kw_only=True):
    """Where the answer to a prediction is measured: a value recorded when the break is observed.

    `value` may be "raised", the type of the exception or "none", or "last", the name of the last
    value that was recorded before the probe stopped.
    """

    probe: str  # component.probe
    regime: str
    value: str


class Prediction(Spec, frozen=True, kw_only=True):
    """A question before anything is broken."""

    id: Id
    kind: Literal["number", "choice", "text"]
    ask: Text
    measured: Measured | None = None
    unit: str = ""
    tolerance: Annotated[float, Meta(gt=0)] | None = None  # absolute, in `unit`
    options: tuple[Option, ...] = ()


class Observe(Spec, frozen=True, kw_only=True):
    """A probe whose measurements are shown, healthy beside broken."""

    probe: str  # component.probe
    regime: str
    title: Text
    curve: str = ""  # a recorded 1-D array to draw
    along: Text = {}  # what is counted along it, "step"
    unit: str = ""  # of what is drawn, "nats"
    orientation: dict[str, str] = {}  # label -> arithmetic, e.g. "np.log(256)": "log(256)"


class Cause(Spec, frozen=True, kw_only=True):
    """The question after a right fix: several mechanisms, one of them right."""

    ask: Text
    right: str
    options: Annotated[tuple[Option, ...], Meta(min_length=4, max_length=4)]


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


class Blind(Spec, frozen=True, kw_only=True):
    """The same break for somebody who is not told it: a situation as one meets it, which says nothing of
    where or what, and hints that begin at what to measure. `observe`: what is shown, where the break's own
    tells. `later`: what is measured at the same time and not shown; hints tell its numbers.
    """

    story: Text
    hints: Annotated[tuple[Text, ...], Meta(min_length=3)]
    grafted: dict[str, Text] = {}
    observe: tuple[Observe, ...] = ()
    later: tuple[Observe, ...] = ()


class Break(Spec, frozen=True, kw_only=True):
    """A break exercise. `mechanism`: of those of its area in pack.yaml, what is wrong. `grafted`: hints by
    number, from 1, that stand in the place of those where the bug is new code and no edit of the learner's.
    `lies`: beginnings of words that a comment uses which states the healthy fact; beside the bug it goes.
    """

    title: Text
    difficulty: Annotated[int, Meta(ge=1, le=4)]
    minutes: Annotated[int, Meta(ge=1)]
    anchors: Annotated[tuple[Link, ...], Meta(min_length=1)]
    the_break: Text
    pipeline: str = ""  # component.probe of the call.py that the learner is shown
    predictions: Annotated[tuple[Prediction, ...], Meta(min_length=1)]
    needs: Annotated[tuple[Need, ...], Meta(min_length=1)]
    inject: Annotated[tuple[Recipe, ...], Meta(min_length=1)]
    fingerprint: Annotated[tuple[Symptom, ...], Meta(min_length=1)]
    also_changes: dict[str, str] = {}  # component.probe -> the reason why it may change
    acceptable: tuple[str, ...] = ()  # variants of the reference that a fix may agree with
    judged_by: tuple[Check, ...] = ()  # probes of this break that the fix must meet as well
    observe: Annotated[tuple[Observe, ...], Meta(min_length=1)]
    diagnostics: tuple[Text, ...]
    symptom: Text
    hidden_cause: Text
    cause: Cause
    hints: Annotated[tuple[Text, ...], Meta(min_length=3)]
    grafted: dict[str, Text] = {}
    area: str = ""
    mechanism: str = ""
    blind: Blind | None = None
    lies: tuple[str, ...] = ()
    fix: Text
    why: Text
    next: Text
    sources: Annotated[tuple[Link, ...], Meta(min_length=1)]
    silencers: tuple[Silencer, ...] = ()
    near_misses: tuple[Silencer, ...] = ()  # edits to healthy code that are not this bug
    figures: dict[str, Figure] = {}
    stated: tuple[str, ...] = ()  # numbers in the texts that are set, not measured
