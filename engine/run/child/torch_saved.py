"""What a training script saves. K: a checkpoint, as to what is in it."""

from __future__ import annotations

import re
import sys

import torch

from engine.run.child.torch_experiments import nested
from engine.run.child.torch_trace import storage_of


def watch_saves(events, progress):
    """Tell what is in everything that is saved; progress: a pattern over names of numbers of steps."""
    real = torch.save

    def save(thing, *args, **kwargs):
        if events.model is not None:
            events.add("K", frame=sys._getframe(1), holds=contents(thing, events.model, progress))
        return real(thing, *args, **kwargs)

    torch.save = save


def contents(thing, model, progress):
    """Which of these are in it: "weights", "optimizer", "progress", "misplaced" (weights in an optimizer's
    place).
    """
    own = {storage_of(t) for t in (*model.parameters(), *model.buffers())}
    found = set()
    if any(storage_of(t) in own for _, t in nested(thing, "", 5)):
        found.add("weights")
    if optimizers(thing):
        found.add("optimizer")
    for name, value in thing.items() if isinstance(thing, dict) else ():
        if type(value) is int and re.search(progress, str(name), re.I):
            found.add("progress")
        if "optim" in str(name).lower() and isinstance(value, dict) and not optimizers(value):
            inside = [storage_of(t) for _, t in nested(value, "", 4)]
            if inside and all(one in own for one in inside):
                found.add("misplaced")
    return sorted(found)


def optimizers(thing, depth=3):
    """Whether an optimizer, or the state of one, is in a thing."""
    if isinstance(thing, torch.optim.Optimizer):
        return True
    if isinstance(thing, dict) and "param_groups" in thing:
        return True
    inner = thing.values() if isinstance(thing, dict) else thing
    if not depth or not isinstance(thing, (dict, list, tuple)):
        return False
    return any(optimizers(one, depth - 1) for one in inner)
