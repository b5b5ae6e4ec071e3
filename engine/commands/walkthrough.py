"""`engine observe embedding-walkthrough`: a sentence on its way through the learner's own model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

METHODS = ("pca", "tsne")
HEIGHTS = 1.05  # of a word, by which it is moved
POINTS = 72  # an inch


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
    from engine.learner.files import storage

    with storage(file):
        drawn(before, after).savefig(file)


def drawn(before: Sequence[Point], after: Sequence[Point]) -> Figure:
    """Both pictures side by side, words beside the points, none on another."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6))
    FigureCanvasAgg(figure)
    beside = {"fontsize": 8, "xytext": (3, 0), "textcoords": "offset points"}
    titles = said(Message("before")), said(Message("after"))
    both = zip(figure.subplots(1, 2), (before, after), titles, strict=True)
    for axes, points, title in both:
        axes.scatter([p.x for p in points], [p.y for p in points], s=8)
        axes.set_title(title)
        _apart(figure, [axes.annotate(p.word, (p.x, p.y), **beside) for p in points])
    return figure


def _apart(figure: Figure, words: Sequence[Annotation]) -> None:
    """Move words up or down, each to the nearest place where it lies on no other."""
    taken: list[Bbox] = []
    figure.draw_without_rendering()  # settles what the axes span
    for word in words:
        box = word.get_window_extent()
        steps = sorted(range(-2 * len(words), 2 * len(words) + 1), key=abs)
        places = (box.translated(0, n * HEIGHTS * box.height) for n in steps)
        place = next(one for one in places if not any(one.overlaps(other) for other in taken))
        word.xyann = (word.xyann[0], (place.y0 - box.y0) * POINTS / figure.dpi)
        taken.append(place)
