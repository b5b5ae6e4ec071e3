"""Trains somebody's small model as it is, and with one tensor read in place of another.

What is exchanged is declared: "read" (the name of a tensor that calls are given), "but" (the name of the
call that goes on getting it), "by" (the name of the tensor that the others get, "" for a new one, drawn anew
with the mean and the spread of the one that it stands for).
"""

from __future__ import annotations

import torch
from torch.overrides import TorchFunctionMode

from engine.run.child import torch_build, torch_experiments, torch_trace, torch_world
from engine.run.child.torch_names import Names
from engine.run.child.torch_run import LEARNT, OTHER, Run, mode, nll, text
from engine.run.child.torch_told import Told

NEW = "drawn anew"


class NotExchanged(Exception):
    """The model's code does not read what it was to read."""


class Instead(TorchFunctionMode):
    """Gives calls another tensor than the one that they ask for."""

    def __init__(self, read, by, but):
        super().__init__()
        self.read, self.by, self.but = read, by, but

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if not self._kept(getattr(func, "__name__", ""), args):
            args = [self.by if one is self.read else one for one in args]
            kwargs = {name: self.by if v is self.read else v for name, v in kwargs.items()}
        return func(*args, **kwargs)

    def _kept(self, name, args):
        """Whether this is the call that goes on: rows are looked up by a tensor."""
        if name != self.but:
            return False
        return name != "__getitem__" or isinstance(args[1], (torch.Tensor, list, tuple))


class Exchanged:
    """A built model whose forward runs with the tensors exchanged."""

    def __init__(self, built, instead):
        self._built, self.instead = built, instead

    def __call__(self, tokens, targets=None):
        with self.instead:
            return self._built(tokens, targets)

    def __getattr__(self, name):
        return getattr(self._built, name)


def observe(job, tree):
    """What was seen of trainings, "lessons": {"as it is", "exchanged"}, one for each run."""
    notes = []
    with torch_world.OnProcessor():
        names = Names(job["rules"], Told(tree.files, job["path"]))
        built = torch_build.build(tree, job, names, notes)
        model, run = built.model, Run(built, job)
        initial = torch_experiments.snapshot(model)
        instead, beside = exchange(model, job["exchange"])
        start = [one.detach().clone() for _, one in beside]
        other = Run(Exchanged(built, instead), job)
        torch_experiments.randomise(model, 1, "normal")
        few = run.batches(text(2, OTHER), 1, 2)[0]
        shifted = run.is_shifted(*few)
        check(other, few, shifted)
        lessons = {"as it is": [], "exchanged": []}
        for seed in range(1, job["runs"] + 1):
            batches = run.batches(text(2 * seed + 1, LEARNT), job["steps"], seed)
            asked = run.batches(text(2 * seed + 2, OTHER), run.chunks, seed)
            torch_experiments.restore(model, initial)
            lessons["as it is"].append(lesson(run, batches, asked, shifted))
            torch_experiments.restore(model, initial)
            with torch.no_grad():
                for (_, one), old in zip(beside, start):
                    one.copy_(old)
            lessons["exchanged"].append(lesson(other, batches, asked, shifted, beside))
    answer = torch_experiments.answer(built, notes, [], torch_trace.Blobs())
    return {**answer, "lessons": lessons}


def exchange(model, declared):
    """(the mode that exchanges, [(name, parameter)] that are new)."""
    owned = dict(torch_experiments.named_tensors(model))
    read = owned[declared["read"]]
    if declared["by"]:
        by = owned[declared["by"]]
        if by.shape != read.shape:
            raise NotExchanged(
                "%s has the shape %s, and %s has %s"
                % (declared["by"], tuple(by.shape), declared["read"], tuple(read.shape))
            )
        return Instead(read, by, declared["but"]), []
    made = torch_build.generator(17)
    drawn = torch.randn(read.shape, generator=made, dtype=read.dtype)
    new = torch.nn.Parameter(read.detach().mean() + read.detach().std() * drawn)
    return Instead(read, new, declared["but"]), [(NEW, new)]


def lesson(run, batches, asked, shifted, beside=()):
    """One training: losses, norms of gradients, and the loss on other text after it."""
    told = run.train(batches, shifted, beside)
    mode(run.built.model, False)
    losses = []
    with torch.no_grad():
        for x, y in asked:
            logits = run.logits(x)
            if logits is not None:
                losses.append(float(nll(logits, y)))
    return {
        "losses": told["losses"],
        "norms": told["norms"],
        "other": sum(losses) / len(losses) if losses else None,
    }


def check(run, batch, shifted):
    """Raises NotExchanged where the tensor that is to be read gets no gradient, or the one that is not to be
    read any more still gets one.
    """
    instead, (x, y) = run.built.instead, batch
    run.loss(x, y, shifted).backward()
    unread = instead.by.grad is None or not bool(instead.by.grad.abs().sum())
    still = instead.read.grad is not None and not instead.but
    instead.read.grad = instead.by.grad = None
    if unread or still:
        raise NotExchanged("its forward reads the tensor in a way that cannot be exchanged")
