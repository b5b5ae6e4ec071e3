"""How much of a verdict a person wants to see: set once, where options are read."""

from __future__ import annotations

_wanted = {"all": False, "verbose": False}


def want(*, all: bool = False, verbose: bool = False) -> None:
    """From now on every failing check in full (`--all`), and what helps authors (`-v`): regimes, seeds,
    hashes.
    """
    _wanted.update(all=all, verbose=verbose)


def everything() -> bool:
    """Whether every failing check is told in full."""
    return _wanted["all"]


def verbose() -> bool:
    """Whether regimes, seeds and hashes are told."""
    return _wanted["verbose"]
