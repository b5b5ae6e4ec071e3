"""A curve of healthy and broken code, and of what is there now, as a picture or a table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console

from engine.report.out import safe
from engine.report.paper import put, say, table, width_of
from engine.report.plot import FEW, glyphs, is_logarithmic, picture
from engine.report.words import words

WIDEST, HEIGHT = 72, 12  # characters

Curve = tuple[str, Sequence[float]]  # label, values


class Axes(NamedTuple):
    """What is drawn, its unit where it has one, and what is counted along the picture."""

    name: str
    unit: str = ""
    along: str = ""

    @property
    def drawn(self) -> str:
        """What is drawn, with its unit."""
        shown = self.name.replace("_", " ")
        return words("{name} in {unit}", name=shown, unit=self.unit) if self.unit else shown

    @property
    def counted(self) -> str:
        """What is counted."""
        return self.along or words("place in the list")


def curves(out: Console, axes: Axes, found: Sequence[Curve]) -> None:
    """Curves of one name: a table of a few points, else all of them in one picture."""
    drawn, along = axes.drawn, axes.counted
    if max(len(values) for _, values in found) <= FEW:
        rows = [
            (
                str(i),
                *(
                    words("{number:.4g}", number=float(values[i])) if i < len(values) else ""
                    for _, values in found
                ),
            )
            for i in range(max(len(values) for _, values in found))
        ]
        say(out, drawn, "dim", indent=2)
        table(out, (along, *(label for label, _ in found)), rows)
        return
    kind = glyphs(getattr(sys.stdout, "encoding", None))
    values = [values for _, values in found]
    if is_logarithmic(values):
        drawn = words("{name}, logarithmic", name=drawn)
    say(out, drawn, "dim", indent=2)
    for mark, (label, curve) in zip(kind.marks, found, strict=False):
        ends = words("from {first:.4g} to {last:.4g}", first=float(curve[0]), last=float(curve[-1]))
        say(out, f"{mark} {label}: {ends}", indent=2)
    width = min(WIDEST, (width_of(out) or WIDEST + 4) - 4)
    for line in picture(values, width=width, height=HEIGHT, drawn_with=kind, along=f" {along} "):
        put(out, "  " + safe(line))
