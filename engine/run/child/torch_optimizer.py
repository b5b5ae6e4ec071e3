"""What an object holds that works as an optimizer, torch's or the tree's own: its parameters, its rates."""

from __future__ import annotations

from engine.run.child.torch_experiments import nested


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
