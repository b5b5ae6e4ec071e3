"""The process that children with torch are forked from, for probes of a contract: `zygote` with torch.

A repository may ask for its own version at import, which an environment without its installation does
not know. A check may start no process: pools and processes of the learner's work in the child.

Sent as text: standard library, and torch.
"""

from __future__ import annotations

import importlib.metadata
import re
import sys
import warnings

import torch

from engine.run.child import tensors, torch_alone, wire
from engine.run.child import zygote as plain
from engine.run.child.tree import Tree

version = importlib.metadata.version
NAME = re.compile(rb"^name\s*=\s*[\"']([\w.-]+)[\"']", re.M)


def zygote(fd, load):
    """Make torch ready, with one thread, and serve."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    layer = torch.nn.Linear(2, 2)
    layer(torch.ones(1, 2)).sum().backward()  # the first use costs more than the next
    wire.ARRAYS = tensors
    importlib.metadata.version = version_of
    torch_alone.pools()
    torch_alone.processes()
    plain.zygote(fd, load, {"torch": str(torch.__version__)})


def version_of(name):
    """As `importlib.metadata.version`; "0" for the tree's own project, which need not be installed."""
    try:
        return version(name)
    except importlib.metadata.PackageNotFoundError:
        if own(re.sub(r"[-.]", "_", name).lower()):
            return "0"
        raise


def own(name):
    """Whether a tree on the import path has a package or a project of this name."""
    for tree in sys.meta_path:
        if not isinstance(tree, Tree):
            continue
        if tree.find_spec(name) is not None:
            return True
        for path, data in tree.files.items():
            if path.rpartition("/")[2] == "pyproject.toml":
                named = [found.decode().lower() for found in NAME.findall(data)]
                if name in (re.sub(r"[-.]", "_", one) for one in named):
                    return True
    return False
