"""A curve of healthy and broken code, and of what is there now, as a picture or a table."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console

from engine.report.out import safe
from engine.report.paper import put, say, table, width_of
from engine.report.plot import FEW, glyphs, is_logarithmic, picture
from engine.report.words import words

WIDEST, HEIGHT = 72, 12  # characters
NATS = ("losses", "losses_up")  # of cross-entropies, one a step

Curve = tuple[str, Sequence[float]]  # label, values


def axes(name: str) -> tuple[str, str]:
    """What is drawn, with its unit where it has one, and what is counted along the picture."""
    shown = name.replace("_", " ")
    if name in NATS:
        return words("{name} in nats", name=shown), words("step")
    return shown, words("place in the list")


def curves(out: Console, name: str, found: Sequence[Curve]) -> None:
    """Curves of one name: a table of a few points, else all of them in one picture."""
    drawn, along = axes(name)
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
