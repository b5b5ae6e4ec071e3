"""What the probes of this pack share on the learner's side: gradients that do not come back to the weights that
were handed in, and the modules that an adapter makes.

Most adapters copy the weights into a module of their own (38 of 42 public repositories), so a gradient is looked
for at the leaves of the result's graph. Inputs are copied: adapters edit dicts and write into tensors.
"""

from __future__ import annotations

import torch


def copied(*tensors):
    """Copies that an adapter may write into."""
    return [None if t is None else t.clone() for t in tensors]


def leaves(out):
    """The tensors with a gradient at the end of a result's graph, each once."""
    found, seen, waiting = [], set(), [out.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        leaf = getattr(node, "variable", None)
        if leaf is not None:
            found.append(leaf)
        waiting += [before for before, _ in node.next_functions]
    return found


def gradients(out, grad, **weights):
    """name -> the gradient of sum(out * grad) with respect to each weight: of the leaf with its numbers, as it
    is or transposed; a text where there is none.
    """
    if out.grad_fn is None:
        return dict.fromkeys(weights, "none: the result has no graph")
    ends = leaves(out)
    found = torch.autograd.grad(out, ends, grad.to(out.dtype), allow_unused=True)
    return {name: _of(weight, ends, found) for name, weight in weights.items()}


def _of(weight, ends, found):
    total = None
    for leaf, grad in zip(ends, found):
        if grad is None:
            continue
        for turned in (leaf, leaf.mT) if leaf.ndim == 2 else (leaf,):
            if turned.shape == weight.shape and torch.equal(
                turned.detach().to(weight.dtype), weight
            ):
                grad = grad if turned is leaf else grad.mT
                total = grad if total is None else total + grad
                break
    return "none: no parameter has these numbers" if total is None else total


class Made:
    """Within, the modules that are made, in their order."""

    def __enter__(self):
        self.modules, self._init = [], torch.nn.Module.__init__
        modules, init = self.modules, self._init

        def noted(module, *args, **named):
            init(module, *args, **named)
            modules.append(module)

        torch.nn.Module.__init__ = noted
        return self

    def __exit__(self, *error):
        torch.nn.Module.__init__ = self._init

    @property
    def outer(self):
        """The first that is no part of another; None where none was made."""
        inner = {id(part) for one in self.modules for part in one.children()}
        return next((one for one in self.modules if id(one) not in inner), None)
