"""Leaves at once, with the reason, where the interpreter has no torch: what comes next needs it."""

from __future__ import annotations

import sys

from engine.run.child import runner

try:
    import torch  # noqa: F401
except Exception as error:
    runner.refuse(
        int(sys.argv[1]),
        {"torch": None, "why": "%s: %s" % (type(error).__name__, str(error)[:200])},
    )
