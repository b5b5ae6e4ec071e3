"""`engine observe embedding-walkthrough`: a sentence on its way through the learner's own model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.commands import pictures
from engine.commands.session import Session
from engine.errors import Message, UsageError
from engine.flows import measuring
from engine.flows import walkthrough as flow
from engine.flows.language import ids_of, vocabulary
from engine.flows.walkthrough import Point, WalkReport
from engine.run.types import Values
from engine.spec.packs import is_fact_pack
from engine.spec.topics import walkthrough
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
    spec = walkthrough(session.catalogue, id)
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
    ids = ids_of(vocabulary(spec), text)
    values = _walked(session, id, ids, progress)
    words = list(vocabulary(spec))
    before, after = (
        flow.points(values, f"table_{when}", words, method) for when in ("before", "after")
    )
    if save is not None:
        _save(save, before, after)
    steps = flow.steps(spec, values, ids, session.learner.lang)
    saved = str(save.resolve()) if save else ""
    return WalkReport(session.text(spec.title), text, steps, before, after, saved)


def _walked(session: Session, id: str, ids: Sequence[int], progress: measuring.Progress) -> Values:
    """By the contract of the pack that the walkthrough is of, or by its facts."""
    spec, training = walkthrough(session.catalogue, id), Message("a short training of your model")
    if is_fact_pack(session.catalogue.walkthroughs[id].parent.parent / "pack.yaml"):
        from engine.commands import by_facts, found
        from engine.flows import fact_walk

        with by_facts.means(session) as means:
            bench = means.bench()
            target = found.target(session, bench, progress)
            progress(training)
            return fact_walk.walked(bench, target.found, spec, ids)
    from engine.commands.warm import servers_of

    tree = session.code[1]
    progress(training)
    with servers_of(session) as servers:
        return flow.walked(servers, spec, tree, ids)


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
