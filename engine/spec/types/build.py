"""`build.yaml` and `facts.yaml`: a component to write, what judges it, and the questions after it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from engine.spec.types.base import Figure, Id, Link, Option, Rounding, Spec, Text

EVERY = ("every",)  # regimes of a check: see there


class Check(Spec, frozen=True, kw_only=True):
    """One thing that is measured: a probe in some regimes, and which of its values count.

    `values`: recorded names to compare (all that the reference records, when empty). `regimes` may be
    [every]: each regime of the probe in which other checks of the build look at some values and none looks
    at all of them, but for those in `but`. `rounding`: in these regimes right code of this dtype may be
    further from the reference than elsewhere, so many times as far. `units`: what 1 of a recorded number
    is in the learner's own units, so that a standard deviation of 10 in units of 0.02 can be told as 0.2.
    `advice`: whether it is only told, and decides nothing.
    """

    id: Id
    shows: Text
    probe: str
    regimes: tuple[str, ...]
    but: tuple[str, ...] = ()
    rounding: Rounding = {}
    units: dict[str, Annotated[float, Meta(gt=0)]] = {}
    values: tuple[str, ...] = ()
    aspects: tuple[Literal["shape", "dtype", "value", "raised", "inputs"], ...] = (
        "raised",
        "shape",
        "dtype",
        "value",
        "inputs",
    )
    draws: Annotated[int, Meta(ge=1, le=64)] = 3
    advice: bool = False


class Range(Spec, frozen=True, kw_only=True):
    """Whole numbers from `low` to `high` in steps, of which one is drawn."""

    low: int
    high: int
    step: Annotated[int, Meta(ge=1)] = 1


class Question(Spec, frozen=True, kw_only=True):
    """What is asked after a build has passed.

    number: `given` is drawn anew each time, `answer` is arithmetic over it, and so may be what the
    learner answers; right within `within`, relative. choice: `right` is an option's id. words:
    answered in the notes, then `model_answer` is shown and the learner grades themself.
    """

    id: Id
    kind: Literal["number", "choice", "words"]
    ask: Text  # `{V}` is the number drawn for V
    given: dict[str, Range] = {}
    answer: str = ""
    within: Annotated[float, Meta(gt=0, lt=1)] = 0.005
    unit: str = ""
    because: Text = {}  # said after a number; `{answer}` is the right one
    options: tuple[Option, ...] = ()
    right: str = ""
    model_answer: Text = {}


class Assignment(Spec, frozen=True, kw_only=True):
    """What a build exercise tells and asks, whatever judges it.

    `hints_for`: check -> the numbers, from 1, of the hints that are about it: they come first where that
    check was the first to fail.
    """

    title: Text
    difficulty: Annotated[int, Meta(ge=1, le=4)]
    minutes: Annotated[int, Meta(ge=1)]
    objective: Text
    background: Text
    edit: str  # the file to write, relative to the learner's tree
    signature: str
    constraints: tuple[Text, ...]
    pitfalls: tuple[Text, ...]
    hints: Annotated[tuple[Text, ...], Meta(min_length=1)]
    hints_for: dict[str, tuple[int, ...]] = {}
    references: Annotated[tuple[Link, ...], Meta(min_length=1)]
    prerequisites: tuple[str, ...] = ()
    insight: Text = {}
    integration: Text = {}
    use: Text = {}
    questions: tuple[Question, ...] = ()
    figures: dict[str, Figure] = {}
    stated: tuple[str, ...] = ()  # numbers in the texts that are set, not measured


class Build(Assignment, frozen=True, kw_only=True):
    """A build that probes judge: its checks, in an order that teaches.

    `rounding`: of all its checks that have none of their own.
    """

    checks: Annotated[tuple[Check, ...], Meta(min_length=1)]
    rounding: Rounding = {}


class FactBuild(Assignment, frozen=True, kw_only=True):
    """A build that facts judge, of the pack that breaks come from: code of which no contract says where it
    lies or how it is called.

    `observe`: what is run. `needs`: facts that have to be seen, in the order in which they are told; of the
    others that this shows none may be wrong.
    """

    observe: Literal["script", "sampling"]
    needs: Annotated[tuple[str, ...], Meta(min_length=1)]
