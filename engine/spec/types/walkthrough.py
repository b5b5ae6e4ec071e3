"""`walkthroughs/<id>.yaml`: a sentence on its way through the learner's own model."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from engine.spec.types.base import Spec, Text


class SameWord(Spec, frozen=True, kw_only=True):
    """A word that stands in two sentences, with a meaning in each."""

    word: str
    one: str
    other: str


class Part(Spec, frozen=True, kw_only=True):
    """One step on the way: what is said, and the values that are shown. `when`: only of code that gives this
    value, as not every model has what each part speaks of.
    """

    title: Text
    say: Text
    show: tuple[str, ...]
    when: str = ""


class Walkthrough(Spec, frozen=True, kw_only=True):
    """A sentence on its way through the learner's own model, before and after a short training.

    The language is small: `grammar` with a word of each of its `groups` in turn.
    """

    title: Text
    probe: str  # component.probe; in a pack of facts module.function
    steps_of_training: Annotated[int, Meta(ge=1)]
    text: str  # unless the learner gives another
    groups: dict[str, tuple[str, ...]]
    grammar: Annotated[tuple[str, ...], Meta(min_length=1)]
    same_word: SameWord
    parts: Annotated[tuple[Part, ...], Meta(min_length=1)]
