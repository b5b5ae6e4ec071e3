"""Shows sentences to somebody's small model before and after a training on a text of such sentences."""

from __future__ import annotations

import torch

from engine.run.child import torch_build, torch_experiments, torch_trace, torch_world
from engine.run.child.torch_names import Names
from engine.run.child.torch_run import Run
from engine.run.child.torch_told import Told


def observe(job, tree):
    """As three experiments on the sentences: with random weights, before and after the training; and what
    was seen of the training, "run".
    """
    notes, answers = [], []
    with torch_world.OnProcessor():
        names = Names(job["rules"], Told(tree.files, job["path"]))
        built = torch_build.build(tree, job, names, notes)
        blobs, run = torch_trace.Blobs(), Run(built, job)
        asked = torch.tensor(job["asked"])
        few = asked, torch.cat([asked[:, 1:], asked[:, :1]], 1)
        traced = run.tracer(tree, blobs, few, answers)
        initial = torch_experiments.snapshot(built.model)
        learnt = run.batches(torch.tensor(job["text"]), job["steps"], 1)
        torch_experiments.randomise(built.model, 1, "normal")
        traced()
        shifted = run.is_shifted(*few)
        torch_experiments.restore(built.model, initial)
        traced()
        told = run.train(learnt, shifted)
        traced()
    answer = torch_experiments.answer(built, notes, answers, blobs)
    return {**answer, "run": {"losses": told["losses"], "norms": told["norms"]}}
