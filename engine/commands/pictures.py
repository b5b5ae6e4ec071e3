"""Pictures that are saved to a file, by what the extra `plots` installs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.errors import Message, NotApplicable, UsageError
from engine.observe.diagnostics import Observation
from engine.words import said

FORMATS = (".png", ".svg")
SMALLEST = 1000  # times as large as the smallest positive value: a logarithmic axis


def check_file(file: Path) -> None:
    """Raise UsageError where no picture can be saved, or something would be lost."""
    if file.suffix.lower() not in FORMATS:
        raise UsageError(
            Message("{file} is neither a .png nor a .svg.", file=file.name),
            where=str(file),
            next=Message("--save words.png"),
        )
    if file.exists():
        raise UsageError(
            Message("{file} is there already, and nothing is overwritten.", file=file.name),
            where=str(file.resolve()),
            next=Message("Give another name, or move that file away."),
        )
    if not file.resolve().parent.is_dir():
        raise UsageError(
            Message("There is no such folder."),
            where=str(file.resolve().parent),
            next=Message("Make it first."),
        )


def check_plots(method: str = "") -> None:
    """Raise UsageError where what draws is not installed."""
    from importlib.util import find_spec

    needed = ["matplotlib", *(["sklearn"] if method == "tsne" else [])]
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise UsageError(
            Message("This needs {missing}, which is not installed.", missing=", ".join(missing)),
            next=Message("pip install 'breakfix-engine[plots]'"),
        )


def save_curves(file: Path, observations: Sequence[Observation]) -> None:
    """The curves of a break, healthy, broken and as it is now, each observation in a picture of its own.
    Raises NotApplicable where nothing is drawn, StorageError.
    """
    drawn = [one for one in observations if one.healthy_curve or one.broken_curve]
    if not drawn:
        raise NotApplicable(
            Message("What this break measures is no curve, so there is no picture of it."),
            next=Message("`engine observe` shows the numbers."),
        )
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from engine.learner.files import storage

    figure = Figure(figsize=(8, 4 * len(drawn)), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, one in zip(figure.subplots(len(drawn), squeeze=False)[:, 0], drawn, strict=True):
        curves = {
            said(Message("healthy")): one.healthy_curve,
            said(Message("broken")): one.broken_curve,
            said(Message("now")): one.now_curve,
        }
        for label, curve in curves.items():
            if curve:
                axes.plot(
                    range(len(curve)), curve, label=label, marker="." if len(curve) < 20 else ""
                )
        values = [
            y for curve in curves.values() for y in curve if abs(y) != float("inf") and y == y
        ]
        if values and min(values) > 0 and max(values) >= SMALLEST * min(values):
            axes.set_yscale("log")
        axes.set_title(one.title)
        unit = f" ({one.unit})" if one.unit else ""
        axes.set_ylabel(one.curve.replace("_", " ") + unit)
        axes.set_xlabel(one.along)
        axes.legend()
    with storage(file):
        figure.savefig(file)
