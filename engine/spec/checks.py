"""Checks with each of their regimes by name."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from engine.errors import SpecError
from engine.spec.types import EVERY, Check


def spelled_out(checks: Sequence[Check], file: str) -> tuple[Check, ...]:
    """Checks with each of their regimes by name. Raises SpecError where `every` stands for none."""
    some: dict[str, dict[str, None]] = {}
    whole: dict[str, set[str]] = {}
    for check in checks:
        if check.regimes != EVERY:
            some.setdefault(check.probe, {}).update(dict.fromkeys(check.regimes))
            if not check.values:
                whole.setdefault(check.probe, set()).update(check.regimes)

    def named(check: Check) -> tuple[str, ...]:
        left_out = whole.get(check.probe, set()) | set(check.but)
        return tuple(one for one in some.get(check.probe, ()) if one not in left_out)

    found = [replace(c, regimes=named(c)) if c.regimes == EVERY else c for c in checks]
    for before, after in zip(checks, found, strict=True):
        if not after.regimes or (before.but and before.regimes != EVERY):
            told = (
                f"The check {after.id!r} has no regime: no other check of {after.probe!r} names one that"
                " is not looked at as a whole."
                if not after.regimes
                else f"The check {after.id!r} has `but` beside regimes by name."
            )
            raise SpecError(told, where=f"{file}:1:1", next="Name the regimes of the check.")
    return tuple(found)
