"""`engine observe embedding-walkthrough`: a sentence on its way through the learner's own model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.commands import pictures
from engine.commands.session import Session
from engine.commands.warm import servers_of
from engine.errors import Message, UsageError
from engine.flows import measuring
from engine.flows import walkthrough as flow
from engine.flows.walkthrough import Point, WalkReport
from engine.words import said

METHODS = ("pca", "tsne")


def run(
    session: Session,
    id: str,
    *,
    text: str | None = None,
    method: str = "pca",
    save: Path | None = None,
    progress: measuring.Progress = measuring.quiet,
) -> WalkReport:
    """Walk a sentence through the learner's model as it is on disk. Writes nothing but `save`."""
    spec = session.catalogue.walkthrough(id)
    if method not in METHODS:
        raise UsageError(
            Message("There is no method {method!r}.", method=method),
            next=Message("--method {methods}", methods=" or ".join(METHODS)),
        )
    if save is not None:
        pictures.check_file(save)
    if save is not None or method == "tsne":
        pictures.check_plots(method)
    text = spec.text if text is None else text
    ids = flow.ids_of(flow.vocabulary(spec), text)
    tree = session.code[1]
    progress(Message("a short training of your model"))
    with servers_of(session) as servers:
        values = flow.walked(servers, spec, tree, ids)
    words = list(flow.vocabulary(spec))
    before, after = (
        flow.points(values, f"table_{when}", words, method) for when in ("before", "after")
    )
    if save is not None:
        _save(save, before, after)
    steps = flow.steps(spec, values, ids, session.learner.lang)
    saved = str(save.resolve()) if save else ""
    return WalkReport(session.text(spec.title), text, steps, before, after, saved)


def _save(file: Path, before: Sequence[Point], after: Sequence[Point]) -> None:
    """Both pictures side by side, words beside the points."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from engine.learner.files import storage

    figure = Figure(figsize=(12, 6))
    FigureCanvasAgg(figure)
    for axes, points, title in zip(
        figure.subplots(1, 2),
        (before, after),
        (said(Message("before")), said(Message("after"))),
        strict=True,
    ):
        axes.scatter([p.x for p in points], [p.y for p in points], s=8)
        for point in points:
            axes.annotate(point.word, (point.x, point.y), fontsize=8)
        axes.set_title(title)
    with storage(file):
        figure.savefig(file)
