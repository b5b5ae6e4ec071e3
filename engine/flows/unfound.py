"""What is said where no model was found: what was tried, what is in the way, the line that would help."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.errors import Message, NotApplicable
from engine.facts import candidates

if TYPE_CHECKING:
    from engine.flows.check import Bench, Tried

CALL_LINE = 'engine check PATH --model "net.py:weights" --call "forward(model, tokens)"'
SHOWN = 9  # arguments of a constructor that are shown, at most
ONE_LINE = 'engine check PATH --model "model.py:GPT(GPTConfig(n_layer=2, n_embd=32, ...))"'


def no_model(bench: Bench, tried: Sequence[Tried]) -> NotApplicable:
    """What was tried, and the one line that would help."""
    looked = [f"{one.candidate.path}:{one.candidate.cls}: {one.why or 'no parts'}" for one in tried]
    if not tried:
        return _no_class(bench)
    what = Message("None of {count} classes could be built and run.", count=len(tried))
    own = {part for path in bench.files for part in path.removesuffix(".py").split("/")}
    stubs = re.finditer(r"StubUsed: (\w+)\.", " ".join(str(one.why) for one in tried))
    absent = next((found for found in stubs if found[1] not in own), None)
    next_ = f"python3 -m pip install {absent[1]}" if absent else own_line(bench, tried[0])
    return NotApplicable(what, where="\n".join(looked), next=next_)


def own_line(bench: Bench, one: Tried) -> str:
    """The line to complete for a class: with what its constructor asks for; where it was built and failed
    when it was called, with how it is called.
    """
    path, name = one.candidate.path, one.candidate.cls
    if not name:
        return ONE_LINE
    asked = [f"{arg}=..." for arg in arguments(bench, path, name, "__init__")]
    shown = asked if len(asked) <= SHOWN else [*asked[:SHOWN], "..."]
    line = f'engine check PATH --model "{path}:{name}({", ".join(shown)})"'
    failed = re.search(r"\(([^()\s]+):(\d+)\)$", one.why)
    where = function_at(bench, failed[1], int(failed[2])) if failed else ""
    if not where or where == "__init__":
        return line
    return (
        line
        + f' --call "model({", ".join(["tokens", *arguments(bench, path, name, "forward")[1:]])})"'
    )


def arguments(bench: Bench, path: str, cls: str, method: str) -> list[str]:
    """What a method of a class must be given, without self."""
    tree = candidates.parsed(bench.files.get(path, b""))
    for node in tree.body if tree else ():
        for one in node.body if isinstance(node, ast.ClassDef) and node.name == cls else ():
            if isinstance(one, ast.FunctionDef) and one.name == method:
                asked = one.args.args[1 : len(one.args.args) - len(one.args.defaults)]
                return [arg.arg for arg in asked]
    return []


def function_at(bench: Bench, path: str, line: int) -> str:
    """The name of the function that a line is in; "" where it is in none."""
    tree = candidates.parsed(bench.files.get(path, b""))
    inside = [
        node
        for node in (ast.walk(tree) if tree else ())
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(inside, key=lambda node: node.lineno).name if inside else ""


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
