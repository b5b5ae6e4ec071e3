"""What the pack's child does: turn what was recorded into facts, with the pack's pure functions.

Sent as text to the engine's own interpreter: standard library, numpy, and the pack's own files.
"""

from __future__ import annotations

import importlib

from engine.run.child import runner


def prepare(what):
    try:
        import numpy

        numpy.linalg.lstsq(numpy.eye(2), numpy.ones(2), rcond=None)
        return {"numpy": numpy.__version__}
    except ImportError as error:
        return {"numpy": None, "why": str(error)[:200]}


def work(job, tree):
    """{"facts": what `pack.<module>.<function>(recorded)` gives}."""
    if not getattr(tree, "installed", False):
        tree.install()
        tree.installed = True
    module = importlib.import_module("pack." + job["module"])
    return {"facts": getattr(module, job["function"])(job["recorded"])}


def zygote(fd, _load):
    runner.zygote(fd, prepare, work)
