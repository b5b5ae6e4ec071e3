"""What every command starts from: the learner, their pack, their events, their code."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from engine.commands import sources
from engine.errors import Message, NotApplicable
from engine.learner import learner as learners
from engine.learner.learner import Learner
from engine.learner.store import Attempt, Store, attempts, latest, opened, states
from engine.spec.catalogue import Catalogue
from engine.spec.texts import said

if TYPE_CHECKING:
    from engine.commands.serving import Kept
    from engine.run.types import Tree


class Session:
    """One command's view of one learner."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.store = Store(learner.private)
        self.part: str | None = None  # the component that a command is about; None: all of them
        self.kept: Kept | None = None  # servers that stay when this session is over

    @classmethod
    def here(cls, name: str | None = None, start: Path | None = None) -> Session:
        """The learner of this folder, or the one called `name`. Raises UsageError."""
        return cls(learners.find(name, start))

    @cached_property
    def catalogue(self) -> Catalogue:
        """The learner's pack. Raises UsageError when there is none of that name."""
        return Catalogue.find(self.learner.settings.pack)

    def attempts(self) -> list[Attempt]:
        """Everything that was tried so far."""
        return attempts(self.store.events())

    def states(self, found: list[Attempt] | None = None) -> dict[str, str]:
        """The state of each exercise that was tried. One that has passed is "changed" where its code has
        come to compute something else since.
        """
        from engine.flows import fingerprint

        found = self.attempts() if found is None else found
        known, passed = states(found), fingerprint.recorded(found)
        if passed:
            model = self.learner.model
            for id in fingerprint.changed(
                self.catalogue,
                passed,
                model,
                lambda: self.learner.tree(self.catalogue, self.read_model(), model),
            ):
                known[id] = "changed"
        if self.catalogue.factual is not None:
            from engine.commands.found import unfit

            return {**dict.fromkeys(unfit(self), "unfit"), **known}
        return known

    def open_break(self) -> Attempt:
        """The break that is open. Raises NotApplicable."""
        found = opened(self.attempts())
        if found is None:
            raise NotApplicable(
                Message("No break is open."),
                next=Message("`engine next` says what is ready for you."),
            )
        return found

    def latest(self, id: str) -> Attempt | None:
        """The newest attempt that is recorded by this name."""
        return latest(self.attempts(), id)

    def text(self, text: Mapping[str, str]) -> str:
        """A text of a spec in the learner's language."""
        return said(text, self.learner.lang)

    def title(self, id: str) -> str:
        """The title of an exercise in the learner's language."""
        return self.text(self.catalogue.summaries[id].title)

    @cached_property
    def code(self) -> tuple[dict[str, bytes], Tree]:
        """The learner's files, as they are on disk when they are first asked for, and the tree that they
        are. Raises LearnerCodeError.
        """
        files = self.model_files()
        sources.check_made(self.catalogue, files, self.learner.lang)
        return files, self.learner.tree(self.catalogue, files, self.learner.model)

    def model_files(self) -> dict[str, bytes]:
        """The learner's model code as it is on disk now. Raises LearnerCodeError."""
        from engine.learner.model import check_syntax

        files = self.read_model()
        if self.catalogue.by_facts:  # files that no model needs may be of any age
            return files
        check_syntax(sources.needed(self.learner, self.catalogue, files, self.part))
        return files

    def read_model(self) -> dict[str, bytes]:
        """The same, whether it can be parsed or not. Raises LearnerCodeError, UsageError."""
        return sources.read(self.learner, self.catalogue)
