"""What an object holds that works as an optimizer, torch's or the tree's own: parameters, rates, groups.

Kinds of events: O an optimizer is made, R a scheduler's step, "schedule" one is made; "scale", "unscale",
"stepped" and "update" of a gradient scaler.
"""

from __future__ import annotations

import sys

import torch

from engine.run.child import torch_world
from engine.run.child.torch_experiments import nested

PARAMETERS = 2000  # of an optimizer, that are told one by one


def watch(events):
    """Tell when an optimizer or a scheduler is made or stepped, and what is asked of a scaler."""
    made = torch.optim.Optimizer.__init__

    def init(this, *args, **kwargs):
        made(this, *args, **kwargs)
        events.add("O", frame=sys._getframe(1))

    torch.optim.Optimizer.__init__ = init
    watch_schedules(events)
    torch_world.Scaler.watch = lambda kind: events.add(kind, frame=sys._getframe(3))


def watch_schedules(events):
    """Tell when a scheduler is made, and when it is stepped."""
    scheduler, making = torch.optim.lr_scheduler.LRScheduler, []
    made = scheduler.__init__

    def init(this, *args, **kwargs):
        making.append(this)
        try:
            made(this, *args, **kwargs)
        finally:
            making.pop()
        events.add("schedule")

    scheduler.__init__ = init
    for kind in [scheduler, *scheduler.__subclasses__()]:
        if "step" in vars(kind):
            real = kind.step

            def step(this, *args, _real=real, **kwargs):
                if not making:
                    events.add("R")
                return _real(this, *args, **kwargs)

            kind.step = step


def norms_of(parameters):
    """The norm of the gradient of each."""
    return [0.0 if p.grad is None else float(p.grad.detach().norm()) for p in parameters]


def norm_of(parameters):
    """Global norm of the gradients."""
    return sum(norm**2 for norm in norms_of(parameters)) ** 0.5


def tensors_of(owner):
    """The parameters that an object holds as an optimizer does, wherever it holds them."""
    found = {id(t): t for _, t in nested(owner, "", 4) if t.requires_grad and t.is_leaf}
    return list(found.values())


def rates_of(owner):
    """The learning rates of an optimizer of the tree's own; none where they cannot be seen."""
    groups = getattr(owner, "param_groups", None)
    if isinstance(groups, (list, tuple)) and groups and isinstance(groups[0], dict):
        return [float(g["lr"]) for g in groups if isinstance(g.get("lr"), (int, float))][:16]
    rate = getattr(owner, "lr", getattr(owner, "learning_rate", None))
    return [float(rate)] if isinstance(rate, (int, float)) else []


def groups_of(owner, model):
    """For each group of parameters: its decay and betas, where it has them, and how many matrices, and how
    many vectors that belong to norms or are biases, are in it.
    """
    vectors = norms_and_biases(model)
    groups = getattr(owner, "param_groups", None)
    found = []
    for group in groups[:64] if isinstance(groups, list) else ():
        if not isinstance(group, dict):
            continue
        owned = [p for p in group.get("params", ()) if hasattr(p, "dim")]
        decay, betas = group.get("weight_decay"), group.get("betas")
        pair = isinstance(betas, (tuple, list)) and len(betas) == 2
        found.append(
            {
                "decay": float(decay) if isinstance(decay, (int, float)) else None,
                "betas": [float(b) for b in betas] if pair else [],
                "matrices": sum(p.dim() >= 2 for p in owned),
                "vectors": sum(id(p) in vectors for p in owned),
            }
        )
    return found


def parameters_of(owner, rates, owned, gradients, model):
    """For each of the first parameters of an optimizer: its name in the model, or "", how many numbers it
    has, the norm of the gradient that the step used, and its own rate, decay, betas and eps, where there are.
    rates: of the optimizer, for one that has no groups.
    """
    names = {id(p): name for name, p in model.named_parameters()} if model is not None else {}
    groups = getattr(owner, "param_groups", None)
    groups = [g for g in groups if isinstance(g, dict)] if isinstance(groups, list) else []
    mine = {id(p): group for group in groups for p in group.get("params", ())}
    found = []
    for p, gradient in list(zip(owned, gradients))[:PARAMETERS]:
        group = mine.get(id(p), {"lr": rates[0] if len(rates) == 1 else None})
        betas = group.get("betas")
        pair = isinstance(betas, (tuple, list)) and len(betas) == 2
        found.append(
            {
                "name": names.get(id(p), ""), "size": p.numel(), "gradient": gradient,
                "rate": number(group.get("lr")), "decay": number(group.get("weight_decay")),
                "betas": [float(b) for b in betas] if pair else [], "eps": number(group.get("eps")),
            }
        )  # fmt: skip
    return found


def number(value):
    """A setting of an optimizer as a number, also where it is a tensor; None where it is none."""
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        return float(value)
    return float(value) if isinstance(value, (int, float)) else None


def norms_and_biases(model):
    """The ids of what is one-dimensional and belongs to a norm, or is a bias."""
    found = set()
    for module in model.modules() if model is not None else ():
        norm = "norm" in type(module).__name__.lower()
        for name, tensor in module.named_parameters(recurse=False):
            if tensor.dim() == 1 and (norm or name == "bias"):
                found.add(id(tensor))
    return found
