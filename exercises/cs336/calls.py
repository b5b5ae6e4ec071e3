"""What the probes of this pack share on the learner's side: gradients that do not come back to the weights
that were handed in, the modules that an adapter makes, and what it takes ready-made from torch.

Most adapters copy the weights into a module of their own (38 of 42 public repositories), so a gradient is
looked for at the leaves of the result's graph. Inputs are copied: adapters edit dicts and write into tensors.
"""

from __future__ import annotations

import inspect

import torch
from torch.overrides import TorchFunctionMode, resolve_name

NONE = "none"  # recorded in the place of each fact about a module, where none is made
OWN = "one of your own"
CONTAINERS = ("torch.nn.modules.module", "torch.nn.modules.container")
READY = {
    "softmax",
    "log_softmax",
    "embedding",
    "rms_norm",
    "layer_norm",
}  # of torch and Tensor, too
AWAY = "meta"  # a device that is always there, and nobody's default
MADE = []  # what watches, innermost last


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
    """name -> the gradient of sum(out * grad) with respect to each weight: of the leaf with its numbers, as
    it is or transposed; a text where there is none.
    """
    if out.grad_fn is None:
        return dict.fromkeys(weights, "none: the result has no graph")
    ends = leaves(out)
    found = torch.autograd.grad(out, ends, grad.to(out.dtype), allow_unused=True)
    return {name: _of(weight, ends, found) for name, weight in weights.items()}


def traced(record, run, grad, inputs, weights=None):
    """Calls `run` with inputs and weights, by name, that want gradients, and records those of sum(result *
    grad) as grad_NAME. A weight whose numbers no parameter holds (fused with others) gets a text.

    The inputs come from a graph, as behind another layer.
    """
    weights = weights or {}
    ends = {name: value.clone().requires_grad_() for name, value in inputs.items()}
    inner = {name: value.clone() for name, value in ends.items()}
    try:
        out = run(**inner, **{name: w.clone().requires_grad_() for name, w in weights.items()})
    except RuntimeError:  # from how the weights are copied, if anything
        out = run(**inner, **dict(zip(weights, copied(*weights.values()))))
    record(graph="there" if out.grad_fn is not None else "none, as after detach() or no_grad()")
    if out.grad_fn is not None:
        found = gradients(out, grad, **inputs, **weights)
        record(**{"grad_" + name: gradient for name, gradient in found.items()})


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


def new(kind, *args, **named):
    """Stands for `torch.nn.Module.__new__`, so that whoever watches learns what is made and from what."""
    module = object.__new__(kind)
    if MADE:
        MADE[-1].note(module, args, named)
    return module


torch.nn.Module.__new__ = new  # for good: a type whose __new__ was taken away refuses arguments


class Made:
    """Within, the modules that are made, in their order."""

    def __enter__(self):
        self._made = []
        MADE.append(self)
        return self

    def __exit__(self, *error):
        MADE.remove(self)

    def note(self, module, args, named):
        """A module is about to be made with these arguments."""
        self._made.append((module, args, named))

    @property
    def modules(self):
        """Those that were made to the end."""
        return [module for module, _, _ in self._made if "_modules" in module.__dict__]

    @property
    def outer(self):
        """The first that is no part of another; None where none was made."""
        inner = {id(part) for one in self.modules for part in one.children()}
        return next((one for one in self.modules if id(one) not in inner), None)

    def fresh(self, **more):
        """The outer one made once more, with the same arguments and `more`; None where there is none, or
        where it takes its weights as an argument. Raises TypeError where it does not take one of `more`.
        """
        outer = self.outer
        if outer is None:
            return None
        args, named = next((a, n) for module, a, n in self._made if module is outer)
        if any(isinstance(given, torch.Tensor | dict) for given in [*args, *named.values()]):
            return None
        signature = inspect.signature(type(outer))
        free = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
        unknown = [] if free else [name for name in more if name not in signature.parameters]
        if unknown:
            raise TypeError(f"no argument {unknown[0]}")
        bound = signature.bind_partial(*args, **named)
        for name in more:
            bound.arguments.pop(name, None)
        return type(outer)(*bound.args, **{**bound.kwargs, **more})


class ReadyMade(TorchFunctionMode):
    """Within, what of torch.nn.functional, and what like it, is called."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_function__(self, called, types, args=(), kwargs=None):
        path = resolve_name(called) or ""
        if path.startswith("torch.nn.functional.") or path.rpartition(".")[2] in READY:
            self.names.append(path)
        return called(*args, **(kwargs or {}))


def module_facts(record, run):
    """Calls `run`, and records what it made; returns what watched, or None where no module was made.

    module: OWN, or NONE. ready_made: what it took from torch.nn but containers. parameters: the shapes of
    what is registered, as texts. names: of the state_dict. takes_dtype, takes_device: whether they reach the
    parameters of a fresh one.
    """
    with Made() as made, ReadyMade() as used:
        run()
    kinds = [type(module) for module in made.modules]
    ready = [
        "torch.nn." + kind.__name__
        for kind in kinds
        if kind.__module__.startswith("torch.nn.") and kind.__module__ not in CONTAINERS
    ]
    record(ready_made=", ".join(dict.fromkeys(ready + used.names)) or "nothing")
    outer = made.outer
    if outer is None:
        record(
            **dict.fromkeys(("module", "parameters", "names", "takes_dtype", "takes_device"), NONE)
        )
        return None
    record(module=OWN)
    record(parameters=", ".join(sorted(str(tuple(p.shape)) for p in outer.parameters())) or "none")
    record(names=", ".join(sorted(outer.state_dict())) or "none")
    record(takes_dtype=_reaches(made, "dtype", torch.float64))
    record(takes_device=_reaches(made, "device", torch.device(AWAY)))
    return made


def _reaches(made, name, value):
    """Whether what is passed by this name reaches all parameters of a fresh one; a text where it is open."""
    try:
        fresh = made.fresh(**{name: value})
    except TypeError:  # it does not take it
        return False
    except Exception as error:  # of any kind: not every start works without memory
        return f"open: {type(error).__name__}"
    if fresh is None:
        return "open: it takes its weights as an argument"
    return all(getattr(p, name) == value for p in fresh.parameters())


def fresh_parameters(run):
    """name -> parameter of what `run` makes, as it is before weights are copied into it; {} where that
    cannot be had. What nobody has written to is NaN.
    """
    with Made() as made:
        run()
    was = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)  # torch.empty gives NaN then
    try:
        fresh = made.fresh()
    finally:
        torch.use_deterministic_algorithms(was)
    return {} if fresh is None else dict(fresh.named_parameters())


def start(numbers):
    """Whether a fresh parameter was given numbers at all."""
    return "what torch.empty gives" if bool(numbers.isnan().any()) else "numbers of its own"


def statistics(record, numbers, unit=1.0):
    """Of a fresh parameter, in units of what its standard deviation should be."""
    record(start=start(numbers))
    z = numbers.detach().double().reshape(-1) / unit
    deviation = z.std(correction=0)
    record(**{"standard deviation": float(deviation), "mean": float(z.mean())})
    record(largest=float(z.abs().max()))
    record(**{"fourth moment": float(((z - z.mean()) ** 4).mean() / deviation**4)})
