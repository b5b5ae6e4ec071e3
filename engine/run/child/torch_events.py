"""What a training script does, in order: zero_grad, backward, clip, step, schedules, forwards, losses.

Kinds: Z zero_grad, B backward, C clip, S step, R a scheduler's step, F a forward of the whole model,
L a cross-entropy, V the value of a function of the tree that was called with a whole number; and those of
torch_optimizer and torch_data.
"""

from __future__ import annotations

import sys

import torch

from engine.run.child.torch_optimizer import (
    groups_of,
    norm_of,
    norms_of,
    parameters_of,
    rates_of,
    tensors_of,
    watch,
)
from engine.run.child.torch_trace import spans, storage_of

TOKENS = 4096  # entries of a batch that are kept
EVENTS = 4000


class Stop(BaseException):
    """Enough steps, or no more time."""


def whole(tensor):
    """A batch of tokens as a list of rows, or None."""
    if (
        not isinstance(tensor, torch.Tensor)
        or tensor.is_floating_point()
        or tensor.numel() > TOKENS
    ):
        return None
    return tensor.tolist() if tensor.dim() else None


def modes_of(model):
    """(whether it has dropouts, the modes that its dropouts are in, or else its innermost modules)."""
    modules = list(model.modules())
    drops = [m for m in modules if isinstance(m, torch.nn.modules.dropout._DropoutNd)]
    acting = drops or [m for m in modules if not any(True for _ in m.children())]
    return bool(drops), {m.training for m in acting}


class Events:
    """Hooks into torch for a process that is thrown away."""

    def __init__(self, tree, steps, scales=()):
        self._tree, self._most, self._scales = tree, steps, scales
        self.found, self.steps = [], 0
        self.model = self.optimizer = None
        self._depth, self._before, self._gradients = 0, [], []
        self._inside = self._leaving = False
        self._owned, self._stepping_depth, self._mark = None, 0, 0
        self._batches = []

    def add(self, kind, frame=None, at=None, **told):
        if len(self.found) < EVENTS:
            at = at or spans(self._tree, frame or sys._getframe(2))[:3]
            self.found.append({"kind": kind, "at": [list(span) for span in at], **told})

    def parameters(self):
        if self.optimizer is None and self._owned is not None:
            return self._owned
        if self.optimizer is not None:
            return [p for group in self.optimizer.param_groups for p in group["params"]]
        return list(self.model.parameters()) if self.model is not None else []

    def install(self):
        self._optimizer()
        self._backward()
        self._clip()
        self._losses()
        torch.nn.modules.module.register_module_forward_pre_hook(self._forward)
        torch.nn.modules.module.register_module_forward_hook(self._done, always_call=True)

    def _optimizer(self):
        from torch.optim.optimizer import (
            register_optimizer_step_post_hook,
            register_optimizer_step_pre_hook,
        )  # fmt: skip

        for kind in (torch.optim.Optimizer, torch.nn.Module):
            real = kind.zero_grad

            def zero(this, *args, _real=real, **kwargs):
                self.add("Z")
                return _real(this, *args, **kwargs)

            kind.zero_grad = zero
        watch(self)
        register_optimizer_step_pre_hook(self._stepping)
        register_optimizer_step_post_hook(self._stepped)

    def _stepping(self, optimizer, args, kwargs):
        self.optimizer = optimizer
        self._keep(self.parameters())

    def _keep(self, owned):
        """What a step begins with."""
        self._owned = owned
        self._before = [p.detach().clone() for p in owned]
        self._gradients = norms_of(owned)

    def _stepped(self, optimizer, args, kwargs):
        rates = [float(group["lr"]) for group in optimizer.param_groups][:16]
        self._step(optimizer, rates, self.parameters(), sys._getframe(1))

    def _step(self, owner, rates, owned, frame):
        """One step of an optimizer has ended; after enough of them the script ends, too."""
        self._owned = owned
        moved = sum(not torch.equal(old, p.detach()) for old, p in zip(self._before, owned))
        model = list(self.model.parameters()) if self.model is not None else []
        mine = {id(p) for p in owned}
        theirs = [id(p) for p in model if p.requires_grad]
        self.add(
            "S",
            frame=frame,
            optimizer=type(owner).__name__[:40],
            rates=rates,
            norm=norm_of(owned),
            moved=moved,
            owned=len(owned),
            model=len(theirs),
            covered=[i for i, one in enumerate(theirs) if one in mine][:2000],
            groups=groups_of(owner, self.model),
            parameters=parameters_of(owner, rates, owned, self._gradients, self.model),
        )
        self.steps += 1
        if self.steps >= self._most:
            self._leaving = True
            raise Stop

    def _backward(self):
        real = torch.Tensor.backward

        def backward(loss, *args, **kwargs):
            if self._inside:  # torch hands the call to the active mode, which comes back here
                return real(loss, *args, **kwargs)
            owned = self.parameters()
            dirty = max([float(p.grad.abs().max()) for p in owned if p.grad is not None] or [0.0])
            named = kwargs.pop("gradient", None)
            gradient, *rest = args or (named,)
            weight = 1.0 if gradient is None else gradient
            if self.steps < len(self._scales) and (gradient is not None or loss.numel() == 1):
                gradient = torch.ones_like(loss) * weight * self._scales[self.steps]
            given = self._once(real, loss, gradient, *rest, **kwargs)
            value = float((loss * weight).detach()) if loss.numel() == 1 else 0.0
            self.add("B", dirty=dirty, value=value, norm=norm_of(self.parameters()))
            return given

        torch.Tensor.backward = backward

    def _once(self, function, *args, **kwargs):
        self._inside = True
        try:
            return function(*args, **kwargs)
        finally:
            self._inside = False

    def _clip(self):
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            real = getattr(torch.nn.utils, name)

            def clip(parameters, *args, _real=real, _name=name, **kwargs):
                one = isinstance(parameters, torch.Tensor)
                given = [parameters] if one else list(parameters)
                before = norm_of(given)
                result = _real(given, *args, **kwargs)
                most = [*args, *kwargs.values()][0]
                self.add("C", count=len(given), before=before, most=float(most), how=_name)
                return result

            setattr(torch.nn.utils, name, clip)
            if hasattr(torch.nn.utils.clip_grad, name):
                setattr(torch.nn.utils.clip_grad, name, clip)

    def _losses(self):
        functional = torch.nn.functional
        for name in ("cross_entropy", "nll_loss"):
            real = getattr(functional, name)

            def loss(given, target, *args, _real=real, _name=name, **kwargs):
                if self._inside:
                    return _real(given, target, *args, **kwargs)
                result = self._once(_real, given, target, *args, **kwargs)
                weight, _, ignored = (*args, None, None, None)[:3]
                told = {
                    "targets": whole(target), "name": _name, "probabilities": False,
                    "ignored": kwargs.get("ignore_index", -100 if ignored is None else ignored),
                    "weighted": kwargs.get("weight", weight) is not None,
                }  # fmt: skip
                if isinstance(given, torch.Tensor) and given.dim() >= 2 and given.numel():
                    rows = given.detach()
                    axis = 1 if rows.dim() > 2 else -1
                    sums = rows.sum(axis)
                    told["probabilities"] = bool(
                        float(rows.min()) >= 0 and float((sums - 1).abs().max()) < 1e-3
                    )
                if result.numel() == 1:
                    told["value"] = float(result.detach())
                self.add("L", **told)
                return result

            setattr(functional, name, loss)

    def _forward(self, module, args):
        self._depth += 1
        if self._depth != 1 or not args or not any(True for _ in module.children()):
            return
        x = whole(args[0])
        if x is None or args[0].dim() != 2:
            return
        if self.model is None or (module.training and torch.is_grad_enabled()):
            self.model = module  # a script may train several, one after the other
        if module is not self.model:
            return
        others = [a for a in args[1:] if isinstance(a, torch.Tensor) and a.shape == args[0].shape]
        y = whole(others[0]) if others else None
        drops, modes = modes_of(module)
        self._batches.append(args[0])  # kept, so that another batch is not made in its memory
        memory = [storage_of(one) for one in self._batches]
        self.add(
            "F", x=x, y=y, train=True in modes, mixed=len(modes) > 1, grad=torch.is_grad_enabled(),
            drops=drops, batch=memory.index(memory[-1]),
        )  # fmt: skip

    def _done(self, module, args, output):
        self._depth -= 1

    def _own_optimizer(self, frame, event):
        """An optimizer of the tree's own, which is no torch optimizer, takes a step or clears."""
        owner = frame.f_locals.get("self")
        if not frame.f_code.co_filename.startswith(self._tree.root + "/") or owner is None:
            return
        if isinstance(owner, (torch.optim.Optimizer, torch.nn.Module)) or self._leaving:
            return
        owned = tensors_of(owner)
        if not owned:
            return
        if frame.f_code.co_name == "zero_grad":
            if event == "return":
                self.add("Z", frame=frame.f_back)
        elif event == "call":
            self._stepping_depth += 1  # one may be made of several
            if self._stepping_depth == 1:
                self._mark = len(self.found)
                self._keep(owned)
        elif event == "return" and self._stepping_depth:
            self._stepping_depth -= 1
            if self._stepping_depth or any(e["kind"] in "BFSL" for e in self.found[self._mark :]):
                return  # what runs the model, or another optimizer, is none itself
            self._owned = owned
            self._step(owner, rates_of(owner), owned, frame.f_back)

    def _own_loss(self, frame):
        """A function of the tree that is given logits (..., V) and whole numbers (...): its targets."""
        code = frame.f_code
        if not 2 <= code.co_argcount <= 6 or not code.co_filename.startswith(self._tree.root + "/"):
            return
        given = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]]
        given = [one for one in given if isinstance(one, torch.Tensor)]
        floats = [one for one in given if one.is_floating_point() and one.dim() >= 2]
        whole_ = [one for one in given if one.dtype == torch.int64 and one.dim() >= 1]
        if len(floats) == 1 and len(whole_) == 1:
            if whole_[0].numel() * floats[0].shape[-1] == floats[0].numel():
                told = {"targets": whole(whole_[0]), "name": "own", "probabilities": False}
                self.add("L", frame=frame.f_back, **told)

    def profile(self, frame, event, value):
        """Functions of the tree that turn a whole number into another number between 0 and 1."""
        if frame.f_code.co_name in ("step", "zero_grad"):
            self._own_optimizer(frame, event)
        if event == "call":
            self._own_loss(frame)
        if event != "return" or type(value) is not float or not 0 <= value <= 1:
            return
        code = frame.f_code
        if code.co_filename.startswith(self._tree.root + "/") and 1 <= code.co_argcount <= 8:
            given = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]]
            first = next((one for one in given if type(one) is int), None)
            if type(first) is int and len(self.found) < EVENTS:
                at = spans(self._tree, frame)
                at = at[1:2] or at  # where it is asked for
                self.found.append(
                    {"kind": "V", "at": [list(s) for s in at], "name": code.co_name[:40],
                     "given": first if abs(first) < 1 << 31 else 0, "value": value}
                )  # fmt: skip
