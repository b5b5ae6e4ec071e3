"""The two interpreters of a pack of facts: the learner's, with torch, and ours, with the pack's functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from engine.errors import LearnerCodeError, Message, NotApplicable, UsageError
from engine.facts import pack
from engine.flows.check import Bench, folder
from engine.run.forks import FACTS, TORCH, Folder, Forks
from engine.run.pool import own_paths
from engine.run.pythons import interpreters, own_python
from engine.run.types import Sandbox
from engine.spec.packs import pack_roots

PACK = "gpt"
INSTALL = 'python3 -m pip install "breakfix-engine[torch]"'


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
        )  # fmt: skip
        if script:
            self.learner.hold(bench.script_server, held, "optimizer")
        return bench


@contextmanager
def opened(
    root: Path, python: str | None, *, of: Path, lang: str = "en", hidden: Sequence[Path] = ()
) -> Iterator[Interpreters]:
    """Start both, the slower first. root: the tree whose interpreter is looked for; of: the pack's folder.
    Raises NotApplicable.
    """
    closed = [*own_paths(), of, *hidden]
    with with_torch(root, python, closed) as learner, Forks(own_python(), FACTS, closed) as facts:
        facts.hold("pack", Folder("/pack", ("",), pack.code(of)))
        yield Interpreters(learner, facts, of, lang)


def with_torch(root: Path, named: str | None, hidden: list[Path]) -> Forks:
    """The first interpreter that has torch. Raises NotApplicable."""
    why = ""
    for python in interpreters(root, named):
        forks = Forks(python, TORCH, hidden)
        try:
            greeting = forks.greeting()
            if tuple(greeting.python) < (3, 11):
                why = (
                    f"{python} is Python {greeting.python[0]}.{greeting.python[1]}; spans need 3.11"
                )
            elif greeting.torch is not None:
                return forks
            else:
                why = f"{python} has no torch ({greeting.why})"
        except LearnerCodeError as error:
            why = error.what
        forks.__exit__(None, None, None)
    raise NotApplicable(
        Message("No interpreter with torch was found: {why}.", why=why), next=INSTALL
    )


def pack_folder() -> Path:
    """Where the facts of a GPT lie. Raises UsageError."""
    for root in pack_roots():
        if (root / PACK / "pack.yaml").is_file():
            return root / PACK
    raise UsageError(Message("The pack {pack} is not installed.", pack=PACK))
