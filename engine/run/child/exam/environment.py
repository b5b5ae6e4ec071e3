"""A learner-like environment: how a process of the learner's own looks, with a script of theirs. Every other
child looks so: code that asks where it runs, to be right before a judge alone, is wrong there.

It can be seen through (the limits of the sandbox are in force), and changes nothing that a model could
need. Sent to the child at the level exam: standard library only.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys

SCRIPT = "train.py"
FOR_THE_ENGINE = ("TMPDIR", "PYTHONHASHSEED", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
FOR_THE_ENGINE += ("MKL_NUM_THREADS",)


def imitate(tree, home):
    """Let this process look as if a script beside the tree had been started by who lives in `home`."""
    for name in FOR_THE_ENGINE:
        os.environ.pop(name, None)
    os.environ.update(HOME=home, PWD=os.getcwd(), SHELL="/bin/sh", TERM="xterm-256color")
    sys.argv[:] = [SCRIPT]
    if hasattr(sys, "orig_argv"):  # from Python 3.10 on
        sys.orig_argv[:] = [sys.executable, SCRIPT]
    sys.dont_write_bytecode = False
    sys.path.insert(0, tree.path(tree.roots[0]).rstrip("/"))
    vars(sys.modules["__main__"]).update(__file__=SCRIPT, __cached__=None)
    tree.loader_of = importlib.machinery.SourceFileLoader
