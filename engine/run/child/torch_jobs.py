"""What a forked child does with torch: experiments on a model, a training script, generation.

The zygote imports torch once, with one thread; where an optimizer will run, one is made before the fork
(its first use imports 800 modules).
"""

from __future__ import annotations

import warnings

import torch

from engine.run.child import (
    runner,
    torch_build,
    torch_compare,
    torch_experiments,
    torch_generate,
    torch_recipe,
    torch_run,
    torch_script,
    torch_sharing,
    torch_trace,
    torch_walk,
    torch_world,
)  # fmt: skip
from engine.run.child.torch_names import Names
from engine.run.child.torch_told import Told


def prepare(what):
    """Set torch up, or make what an optimizer needs; what was found."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if what == "optimizer":
        layer = torch.nn.Linear(2, 2)
        optimizer = torch.optim.AdamW(layer.parameters())
        layer(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    else:
        torch.nn.functional.scaled_dot_product_attention(*[torch.ones(1, 1, 2, 2)] * 3)
    return {"torch": str(torch.__version__)}


def work(job, tree):
    """One answer for a declared job."""
    torch_world.settle()
    return KINDS[job["kind"]](job, tree)


def model(job, tree):
    """Build a candidate and run the experiments on it."""
    notes = []
    with torch_world.OnProcessor():
        built = torch_build.build(
            tree, job, Names(job["rules"], Told(tree.files, job["path"])), notes
        )
        blobs, answers = torch_trace.Blobs(), []
        initial = torch_experiments.snapshot(built.model)
        for experiment in job["experiments"]:
            try:
                torch_experiments.restore(built.model, initial)
                done = torch_experiments.run(built, tree, job, experiment, blobs)
            except Exception as error:
                done = {"failed": runner.failure(error, tree)}
            answers.append({"failed": None, **done})
    return torch_experiments.answer(built, notes, answers, blobs)


KINDS = {
    "model": model,
    "run": torch_run.observe,
    "walk": torch_walk.observe,
    "sharing": torch_sharing.observe,
    "script": torch_script.observe,
    "compare": torch_compare.observe,
    "recipe": torch_recipe.observe,
    "generate": torch_generate.observe,
}


def zygote(fd, _load):
    runner.zygote(fd, prepare, work)
