"""What goes back: every result keeps its operands, with a rule for the gradient of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Rule = Callable[[np.ndarray], np.ndarray]  # the gradient of a result -> that of one operand


def keep(result: Any, *links: tuple[Any, Rule]) -> Any:
    """Note on a result which operands want a gradient, and how each gets it."""
    result.links = [(operand, rule) for operand, rule in links if operand.requires_grad]
    result.requires_grad = bool(result.links)
    return result


def summed_to(gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Undo a broadcast: the gradients of the copies of one number add up."""
    extra = gradient.ndim - len(shape)
    gradient = gradient.sum(axis=tuple(range(extra)))
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 and gradient.shape[i] != 1)
    return gradient.sum(axis=stretched, keepdims=True)


def run_backward(tensor: Any, gradient: np.ndarray) -> None:
    """Add to `.grad` of all that the tensor was computed from; results come before their operands."""
    waiting = {id(tensor): np.asarray(gradient, np.float32)}
    for node in reversed(_operands_first(tensor)):
        arrived = waiting.pop(id(node))
        node.grad = arrived.copy() if node.grad is None else node.grad + arrived
        for operand, rule in node.links:
            part = summed_to(rule(arrived), operand.shape)
            before = waiting.get(id(operand))
            waiting[id(operand)] = part if before is None else before + part


def _operands_first(tensor: Any) -> list[Any]:
    order, seen, stack = [], set(), [(tensor, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack += [(operand, False) for operand, _ in node.links]
    return order
