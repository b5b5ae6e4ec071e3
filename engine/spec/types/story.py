"""The story of a break: what the learner is asked and told, whatever pack puts the bug in."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from engine.spec.types.base import Id, Link, Option, Spec, Text


class Measured(Spec, frozen=True, kw_only=True):
    """Where the answer to a prediction is measured: a value recorded when the break is observed.

    `value` may be "raised", the type of the exception or "none", or "last", the name of the last
    value that was recorded before the probe stopped.
    """

    value: str
    probe: str = ""  # component.probe; "" where the pack has one way to observe
    regime: str = ""


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


class Story(Spec, frozen=True, kw_only=True):
    """A break without its proof. `mechanism`: of those of its area in pack.yaml, what is wrong. `grafted`:
    hints by number, from 1, that stand in the place of those where the bug is new code and no edit of the
    learner's. `lies`: beginnings of words that a comment uses which states the healthy fact; beside the bug
    it goes.
    """

    title: Text
    difficulty: Annotated[int, Meta(ge=1, le=4)]
    minutes: Annotated[int, Meta(ge=1)]
    anchors: Annotated[tuple[Link, ...], Meta(min_length=1)]
    the_break: Text
    predictions: Annotated[tuple[Prediction, ...], Meta(min_length=1)]
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
