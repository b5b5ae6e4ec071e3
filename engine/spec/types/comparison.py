"""`comparisons/<id>.yaml`: somebody's model trained as it is, and with tensors exchanged."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from engine.spec.types.base import Spec, Text

Measured = Literal["first_loss", "last_loss", "other_loss", "first_norm", "largest_norm"]


class Row(Spec, frozen=True, kw_only=True):
    """A number of each training, and what is said of it: where the first version's is higher than the
    second's in every run, lower, or neither.
    """

    title: Text
    higher: Text
    lower: Text
    same: Text


class Comparison(Spec, frozen=True, kw_only=True):
    """One model in two versions, each trained a few times for a moment.

    exchange: module.function of the pack, which names the version that the model is, and the tensor that is
    read in place of another for it to be the other one.
    """

    title: Text
    text: Text
    exchange: str
    versions: dict[str, Text]  # two; the first is compared with the second
    drawn: Text  # what is said where a tensor is new, and its numbers are drawn
    steps: Annotated[int, Meta(ge=2)]
    runs: Annotated[int, Meta(ge=2)]
    rate: float
    rows: dict[Measured, Row]
    note: Text  # what such small trainings cannot tell
