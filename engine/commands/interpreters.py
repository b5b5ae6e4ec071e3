"""The two interpreters of a pack of facts: the learner's, with torch, and ours, with the pack's functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from engine.commands import starting
from engine.errors import Message, UsageError
from engine.facts import pack
from engine.flows.check import Bench, folder
from engine.run.forks import Folder, Forks
from engine.run.types import Sandbox
from engine.spec.packs import pack_roots

PACK = "gpt"


class Interpreters(msgspec.Struct, frozen=True):
    """Both, and the folder of the pack. lang: of what is told of a fact."""

    learner: Forks
    facts: Forks
    pack: Path
    lang: str = "en"

    @property
    def sandbox(self) -> Sandbox:
        """What confines the learner's code."""
        found = self.learner.greeting()
        return Sandbox(found.python, found.numpy, found.landlock, found.seccomp, found.torch)

    def bench(
        self, files: Mapping[str, bytes], server: str = "model", *, script: bool = False
    ) -> Bench:
        """A tree in a server of its own; script: in one more, where its training script can run."""
        held = folder(dict(files))
        self.learner.hold(server, held)
        bench = Bench(
            self.learner, self.facts, pack.load(self.pack), dict(files), server,
            f"{server}-script", self.lang, pack.texts(self.pack, self.lang),
            pack.reasons(self.pack, self.lang),
        )  # fmt: skip
        if script:
            self.learner.hold(bench.script_server, held, "optimizer")
        return bench


class Asked(msgspec.Struct, frozen=True):
    """What they are for. root: the tree whose interpreter is looked for; pack: the pack's folder."""

    root: Path
    python: str | None
    pack: Path
    lang: str = "en"
    hidden: tuple[Path, ...] = ()


@contextmanager
def opened(asked: Asked) -> Iterator[Interpreters]:
    """Both; those that were begun, where they are for the same. Raises NotApplicable."""
    started = starting.taken(asked.root, asked.python, [asked.pack, *asked.hidden])
    try:
        started.facts.hold("pack", Folder("/pack", ("",), pack.code(asked.pack), compiled=True))
        yield Interpreters(started.learner(), started.facts, asked.pack, asked.lang)
    finally:
        started.close()


def pack_folder() -> Path:
    """Where the facts of a GPT lie. Raises UsageError."""
    for root in pack_roots():
        if (root / PACK / "pack.yaml").is_file():
            return root / PACK
    raise UsageError(Message("The pack {pack} is not installed.", pack=PACK))
