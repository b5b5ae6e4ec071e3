"""What is said where no model was found: what was tried, what is in the way, the line that would help."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.errors import Message, NotApplicable
from engine.facts import candidates

if TYPE_CHECKING:
    from engine.flows.check import Bench, Tried

CALL_LINE = 'engine check PATH --model "net.py:weights" --call "forward(model, tokens)"'
ONE_LINE = 'engine check PATH --model "model.py:GPT(GPTConfig(n_layer=2, n_embd=32, ...))"'


def no_model(bench: Bench, tried: Sequence[Tried]) -> NotApplicable:
    """What was tried, and the one line that would help."""
    looked = [f"{one.candidate.path}:{one.candidate.cls}: {one.why or 'no parts'}" for one in tried]
    if not tried:
        return _no_class(bench)
    what = Message("None of {count} classes could be built and run.", count=len(tried))
    absent = re.search(r"StubUsed: (\w+)\.", " ".join(str(one.why) for one in tried))
    next_ = f"python3 -m pip install {absent[1]}" if absent else ONE_LINE
    return NotApplicable(what, where="\n".join(looked), next=next_)


def _no_class(bench: Bench) -> NotApplicable:
    """That no class may be the model, and where the model seems to come from."""
    broken = candidates.unparsed(bench.files, bench.pack.find)
    if broken is not None:
        file, line, error = broken
        what = Message(
            "No model was found, and {file} is not Python: {error}.", file=file, error=error
        )
        return NotApplicable(what, where=f"{file}:{line}")
    library = candidates.library(bench.files, bench.pack.find)
    if library is not None:
        name, file = library
        what = Message(
            "No model was found: {file} takes one from a library ({name}), which is not looked into.",
            name=name, file=file,
        )  # fmt: skip
        return NotApplicable(what)
    count = sum(path.endswith((".py", ".ipynb")) for path in bench.files)
    what = Message(
        "No model was found: no class looks like a whole GPT (files of Python and notebooks: {count}).",
        count=count,
    )
    return NotApplicable(what, next=Message.joined("\n", [ONE_LINE, CALL_LINE]))
