"""What every spec is made of: the base struct, the words of the spec language, and a source."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

Text = dict[str, str]  # language -> text
Dtype = Annotated[str, Meta(pattern=r"^float(32|64)$")]
Rounding = dict[Dtype, dict[str, Annotated[float, Meta(ge=1, le=1000)]]]  # by dtype and regime
Id = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]*$")]


class Spec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base of all specs: keyword only, no unknown keys."""


class Link(Spec, frozen=True, kw_only=True):
    """A source: a paper, a bug report, a page. text: a title as it is, or what each language says."""

    text: str | Text
    url: str = ""


class Option(Spec, frozen=True, kw_only=True):
    """A possible answer; `because` is said after it was chosen."""

    id: str
    text: Text
    because: Text = {}


class Figure(Spec, frozen=True, kw_only=True):
    """A number that texts state as `{name}`: what it says, and what it is when it is measured.

    `of`: arithmetic over what the probe records, `healthy.NAME` and `broken.NAME`, on the pack's
    model `on`, with the inputs that a learner is shown. Without a probe: arithmetic alone.
    """

    says: Annotated[str, Meta(pattern=r"^-?[0-9][0-9,]*(\.[0-9]+)?(e-?[0-9]+)?$")]
    of: str
    probe: str = ""  # component.probe
    regime: str = "shown"
    on: str = "plain"
