"""`engine init`: a learner from the template, or around code that is there already."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from engine.errors import Message, Said, UsageError
from engine.flows.measuring import Progress, quiet
from engine.flows.reports import InitReport
from engine.learner import learner as learners
from engine.learner import new
from engine.learner.learner import FILE
from engine.spec.catalogue import Catalogue


def run(
    name: str,
    *,
    pack: str | None = None,
    model: Path | None = None,
    complete: bool = False,
    lang: str = "en",
    folder: Path | None = None,
    progress: Progress = quiet,
) -> InitReport:
    """Make `./learners/NAME`. An existing model folder is read, never written to. pack: None for the one that
    the model looks like. complete: with a finished model in place of the template's stubs.
    """
    from engine.commands.fitting import fitting_pack, found_in, odd

    name = unicodedata.normalize("NFC", name)
    if not new.is_name(name):
        raise UsageError(
            Message("{name!r} cannot be a learner's name.", name=name),
            next=Message(
                "Use letters of any script, digits, - and _; begin with a letter or a digit."
            ),
        )
    catalogue = Catalogue.find(pack or fitting_pack(model))
    if lang not in catalogue.syllabus.languages:
        raise UsageError(
            Message("The pack {pack} has no texts in {lang!r}.", pack=catalogue.pack, lang=lang),
            next=Message("It has: {languages}.", languages=", ".join(catalogue.syllabus.languages)),
        )
    here = folder or learners.current_folder()
    home = here / "learners" / name
    _check_new(home, name)
    warning: Said = ""
    layers = _layers(catalogue, model, complete)
    if model is not None:
        model = model.expanduser().resolve()
        if not model.is_dir():
            raise UsageError(Message("There is no such folder."), where=str(model))
        warning = "" if catalogue.by_facts else odd(catalogue, model, lang)
    settings: dict[str, str | bool] = {
        "name": name,
        "pack": catalogue.pack,
        "model": str(model) if model else ".",
        "lang": lang,
        **({"complete": True} if complete else {}),
    }
    new.make(home, settings, catalogue, layers)
    told, applying = "", None
    if catalogue.by_facts:
        told, warning, applying = found_in(home, progress)
    elif catalogue.factual is not None and model is not None:
        told, _, applying = found_in(home, progress)  # what is not built yet is no fault
    finished = bool(layers) and (complete or catalogue.by_facts)
    if finished or applying is not None:
        coming = "engine break --blind"
    else:
        coming = "engine submit-build --all" if model is not None else "engine next"
    if catalogue.by_facts and applying is None:
        coming = "engine check"  # which says what would help
    return InitReport(
        name,
        str(home),
        str(model or home),
        catalogue.pack,
        bool(layers),
        warning,
        finished,
        told,
        applying,
        coming,
    )


def _check_new(home: Path, name: str) -> None:
    """Raises UsageError where the folder is there already."""
    if (home / FILE).is_file():
        raise UsageError(
            Message("This learner is here already; nothing was changed."),
            where=str(home),
            next=Message("`engine status --learner {name}`, or choose another name.", name=name),
        )
    if home.exists():
        raise UsageError(
            Message(
                "This folder is here already, without a {file}; nothing was changed.", file=FILE
            ),
            where=str(home),
            next=Message("Move it away, or choose another name."),
        )


def _layers(catalogue: Catalogue, model: Path | None, complete: bool) -> list[Path]:
    """The folders whose files are laid down, the later over the earlier: none around own code."""
    if model is not None:
        if complete:
            raise UsageError(
                Message("--complete lays down a finished model, and --model takes your own."),
                next=Message("Give one of the two."),
            )
        return []
    if not complete or catalogue.by_facts:  # whose template is finished
        return [catalogue.template]
    if not catalogue.contract.complete:
        raise UsageError(Message("The pack {pack} has no finished model.", pack=catalogue.pack))
    return [catalogue.template, catalogue.folder / catalogue.contract.complete]
