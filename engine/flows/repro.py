"""A failing check as a script of its own: the very input, the call, and what was expected.

It runs with the learner's interpreter, plain or under pdb, and needs no engine: it imports their code from
where it lies, and numpy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from engine.errors import Said
from engine.judge.findings import told_in_order
from engine.judge.result import Verdict
from engine.run.types import CALL_VARIANTS, Case, Outcome
from engine.spec.types import Check

MOST = 30  # failed checks that are kept
EXPECTED = (
    "expected "  # begins the names of expected arrays in the .npz; no argument has a space in it
)

ARRAYS = """arrays = np.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "repro.npz"))
"""
SCRIPT = '''"""{title}

Run it with `python repro.py`, or line by line with `python -m pdb repro.py`. It calls your code with
the input of the check that failed, and compares as the check did, but for finer points of its tolerance.{how}
"""

import importlib
import os
import random
import sys

import numpy as np

sys.path[:0] = {roots!r}  # your code
{arrays}inputs = {inputs}
expected = {expected}


class Learner:
    """What the contract calls by these names, in your code."""

    names = {roles!r}

    def __getattr__(self, name):
        module, _, path = self.names[name].partition(":")
        found = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
        return found


# The call, as the check makes it.

{call}

# What comes out, beside what was expected.

values = {{}}
random.seed({seed})
np.random.seed({seed} % (1 << 32))
{tensors}{probe}(Learner(), lambda **named: values.update({kept}), **inputs)
if not expected:
    print("An error was expected: {error}.")
for name, wanted in expected.items():
    got = values.get(name)
    print(f"{{name}}:")
    if isinstance(wanted, dict):
        print(f"  expected between {{wanted['within'][0]:.6g}} and {{wanted['within'][1]:.6g}}")
        print(f"  got      {{got}}")
        continue
    if np.shape(got) != np.shape(wanted) or got is None:
        print(f"  DIFFERS: {{got!r}} of shape {{np.shape(got)}}, not {{np.shape(wanted)}}")
        continue
    if isinstance(wanted, (str, bool, list)):
        apart = np.asarray([] if got == wanted else [()])
    else:
        apart = np.argwhere(~np.isclose(got, wanted, rtol={rtol}, atol={atol}, equal_nan=True))
    if not len(apart):
        print("  the same")
        continue
    at = tuple(apart[0])
    print(f"  DIFFERS in {{len(apart)}} of {{np.size(wanted)}}, first at {{[int(i) for i in at]}}:")
    print(f"  expected {{np.asarray(wanted)[at]}}")
    print(f"  got      {{np.asarray(got)[at]}}")
'''


TENSORS = '''
import torch

torch.manual_seed({seed})


def tensor(value):
    """What a check hands over: arrays as tensors, lists item by item."""
    if isinstance(value, list):
        return [tensor(one) for one in value]
    return torch.from_numpy(value.copy()) if isinstance(value, np.ndarray) else value


def kept(value):
    """What was recorded, as it is compared."""
    return value.detach().clone().numpy() if isinstance(value, torch.Tensor) else value


inputs = {{name: tensor(value) for name, value in inputs.items()}}
'''


def repeatable(verdict: Verdict, checks: Iterable[tuple[str, Check]]) -> list[dict[str, Any]]:
    """What it takes to repeat each failed check, as plain data. checks: that the verdict is about, each with
    its component.
    """
    numbers = {(one.component, one.id): n for n, one in enumerate(verdict.results, 1)}
    values = {(component, check.id): check.values for component, check in checks}
    return [
        {
            "check": result.id,
            "number": numbers[result.component, result.id],
            "shows": msgspec.to_builtins(result.shows),
            "draw": msgspec.to_builtins(result.draw),
            "values": values[result.component, result.id],
            "how": str(CALL_VARIANTS.get(result.draw.call_variant, result.draw.call_variant)),
        }
        for result in told_in_order(verdict.results)
        if result.draw is not None
    ][:MOST]


class Repro(msgspec.Struct, frozen=True):
    """A script, and what lies beside it: arrays by name, and files. inputs: what it calls the code with."""

    script: str
    arrays: dict[str, np.ndarray]
    inputs: tuple[str, ...] = ()
    files: Mapping[str, bytes] = {}


def written(
    case: Case, expected: Outcome, *, title: str, call: str, roots: Sequence[str],
    roles: Mapping[str, str], values: Sequence[str], how: Said = "", torch: bool = False,
) -> Repro:  # fmt: skip
    """The script of one measurement.

    call: the text of the pack's call.py. roots: folders that the learner's code is imported from. roles: name
    of the contract -> "module:name". values: the recorded names that the check compares; all, if none. how:
    what the script does not do as the check did. torch: whether the code takes tensors.
    """
    arrays: dict[str, np.ndarray] = {}
    wanted = {
        name: value for name, value in expected.values.items() if not values or name in values
    }
    if expected.raised is not None:
        wanted = {}
    inputs = _literal(case.inputs, "", arrays)
    shown = _literal(wanted, EXPECTED, arrays)
    fine = case.draw.dtype == "float64"
    script = SCRIPT.format(
        title=title, how=f"\n\nThe check also did what this script does not: {how}." if how else "",
        roots=[*roots], roles={**roles}, arrays=ARRAYS if arrays else "", inputs=inputs,
        expected=shown, call=call.strip(),
        probe=case.draw.probe, seed=case.draw.seed,
        error=expected.raised.type if expected.raised else "none",
        tensors=TENSORS.format(seed=case.draw.seed) if torch else "",
        kept="{name: kept(value) for name, value in named.items()}" if torch else "named",
        rtol=1e-7 if fine else 1e-3, atol=1e-10 if fine else 1e-5,
    )  # fmt: skip
    return Repro(script, arrays, tuple(case.inputs))


def _literal(values: Mapping[str, Any], prefix: str, arrays: dict[str, np.ndarray]) -> str:
    """A dict as Python writes it; its arrays are kept by name, and read from the file."""
    lines = []
    for name, value in values.items():
        lines.append(f"    {name!r}: {_text(value, prefix + name, arrays)},")
    return "{\n" + "\n".join(lines) + "\n}" if lines else "{}"


def _text(value: Any, name: str, arrays: dict[str, np.ndarray]) -> str:
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return f"arrays[{name!r}]"
    if isinstance(value, dict) and isinstance(value.get("list"), list):
        parts = [_text(one, f"{name} {i}", arrays) for i, one in enumerate(value["list"])]
        return "[" + ", ".join(parts) + "]"
    if isinstance(value, dict) and "offered" in value:
        return _text(value["offered"], name, arrays)
    if (isinstance(value, float) and value in (float("inf"), float("-inf"))) or value != value:
        return f"float({str(value)!r})"
    return repr(value)
