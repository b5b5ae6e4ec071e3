"""One side of a comparison of two models: what one gives for each declared draw, and its gradients.

Weights are drawn from the names of parameters, so that another process has the same numbers. All arrays of a
draw travel as one row of float64; an array that is long is folded into fewer sums, each of them with
random signs.
"""

from __future__ import annotations

import contextlib
import math
import zlib

import torch

from engine.run.child import runner, torch_build, torch_experiments, torch_trace, torch_world
from engine.run.child.torch_names import Names
from engine.run.child.torch_told import Told

WHOLE = 2048  # entries of logits that travel as they are
SUMS, ALL_SUMS = 256, 8192  # of a gradient, and of all
STEP = 0.05  # length of a step down the gradient
LEAST = 1e-12
IGNORING = "loss where some targets are -1"
MEDIANS = 0.499, 0.501  # of what chance gives where it always gives the likelier outcome
SCALES = {"normal": 0.25, "large": 1.6, "tiny": 2e-3, "biased": 0.25, "alike": 0.25}


def observe(job, tree):
    """{"parameters", "draws", "noisy", "train", ...}; see engine/facts/compared.py."""
    notes = []
    with torch_world.OnProcessor():
        built = torch_build.build(
            tree, job, Names(job["rules"], Told(tree.files, job["path"])), notes
        )
    if job["double"]:
        built.model.double()
    side = Side(built, job, tree)
    answer = {
        "parameters": [[names, list(t.shape)] for names, t in side.groups],
        "first": [spread(tensor) for _, tensor in side.groups],
        "draws": [side.draw(draw) for draw in job["draws"]],
        "noisy": len(set(side.repeated("eval", job["repeats"]))) > 1,
        "train": side.repeated("train", job["repeats"]),
        "likeliest": side.likeliest() if job["repeats"] else [],
    }
    return {**answer, "notes": sorted(set(notes)), "blobs": side.blobs.items}


def spread(tensor):
    """[mean, standard deviation, count] of what a tensor was made with."""
    given = tensor.detach().double()
    if not given.numel():
        return [0.0, 0.0, 0]
    return [float(given.mean()), float(given.std(unbiased=False)), given.numel()]


def groups_of(model):
    """[(names, tensor)] of what learns: one tensor held under several names is one entry."""
    found = {}
    for name, tensor in torch_experiments.named_tensors(model):
        if tensor.requires_grad and tensor.is_floating_point():
            found.setdefault(id(tensor), ([], tensor))[0].append(name)
    return [(sorted(names), tensor) for names, tensor in found.values()]


def folded(tensor, most):
    """A tensor's numbers as float64, at most about so many."""
    flat = tensor.detach().reshape(-1).double()
    if flat.numel() <= most:
        return flat
    width = -(-flat.numel() // most)
    signs = torch.randint(0, 2, (most * width,), generator=torch_build.generator(flat.numel()))
    padded = torch.zeros(most * width, dtype=torch.float64)
    padded[: flat.numel()] = flat
    return (padded * (signs * 2 - 1)).reshape(most, width).sum(1)


class Side:
    """A model that was built, and what it gives."""

    def __init__(self, built, job, tree):
        self.built, self.job, self.tree = built, job, tree
        self.blobs = torch_trace.Blobs()
        self.groups = groups_of(built.model)
        self._first = torch_experiments.snapshot(built.model)
        self._names = [job["rename"].get(names[0], names[0]) for names, _ in self.groups]
        self._keys = self._memory()
        means = [float(t.detach().mean()) if t.numel() else 0.0 for _, t in self.groups]
        self._bases = [round(mean) if math.isfinite(mean) else 0 for mean in means]
        self._scored = built.takes("targets") is not None

    def _memory(self):
        """Of each parameter the name that its numbers come from: one for what shares its memory."""
        places = [(torch_trace.storage_of(t), t.storage_offset()) for _, t in self.groups]
        first = {}
        for place, name in zip(places, self._names):
            first[place] = min(name, first.get(place, name))
        return [first[place] for place in places]

    def weigh(self, draw):
        """Set every parameter for a draw."""
        regime = draw["regime"]
        torch_experiments.restore(self.built.model, self._first)
        with torch.no_grad():
            for key, base, (_, tensor) in zip(self._keys, self._bases, self.groups):
                made = torch_build.generator(zlib.crc32(key.encode()) + draw["weights"])
                noise = torch.randn(tensor.shape, generator=made, dtype=torch.float32)
                if tensor.dim() >= 2:
                    noise = noise * SCALES[regime]
                    if regime == "alike" and tensor.shape[0] == self.job["vocabulary"]:
                        noise = noise[..., :1] * 4 + noise * 0.01
                    tensor.copy_(noise)
                elif regime == "biased":
                    tensor.copy_(base + noise * 0.6)
                elif regime == "tiny" and not base:
                    tensor.copy_(noise * SCALES["tiny"])
                else:
                    tensor.copy_(base + noise * 0.15)

    def mode(self, name):
        if isinstance(self.built.model, torch.nn.Module):
            self.built.model.train(name == "train")

    def tokens(self, draw):
        made = torch_build.generator(draw["tokens"])
        shape = draw["batch"], draw["length"]
        return [torch.randint(0, self.job["vocabulary"], shape, generator=made) for _ in range(2)]

    def draw(self, draw):
        """{"failed", "parts": [[kind, name, shape]], "blob"} of one draw."""
        try:
            self.weigh(draw)
            self.mode("eval")
            torch.default_generator.manual_seed(draw["tokens"])
            parts = self.parts(draw)
        except Exception as error:
            return {"failed": runner.failure(error, self.tree), "parts": [], "blob": -1}
        row = torch.cat([values for *_, values in parts]) if parts else torch.zeros(0)
        blob = self.blobs.add(row.double())
        told = [[kind, name, list(shape)] for kind, name, shape, _ in parts]
        return {"failed": None, "parts": told, "blob": blob}

    def parts(self, draw):
        """[(kind, name, shape, numbers)] in the order in which they are compared."""
        idx, targets = self.tokens(draw)
        logits, loss = self.result(idx, targets)
        found = self.outputs("logits", logits, loss)
        if self._scored and (draw["more"] or logits is None):
            with torch.no_grad():
                found += self.outputs("logits without targets", *self.result(idx, None))
                found += self.ignoring(idx, targets)
        for _, tensor in self.groups:
            tensor.grad = None
        self.loss_of(logits, loss, targets).backward()
        grads = [torch.zeros_like(t) if t.grad is None else t.grad for _, t in self.groups]
        most = min(SUMS, ALL_SUMS // len(grads) + 1) if grads else SUMS
        for name, grad in zip(self._names, grads):
            values = grad.reshape(-1).double() if self.job["whole"] else folded(grad, most)
            found.append(("gradient", name, values.shape, values))
        if draw["more"]:
            self.step(grads)
            with torch.no_grad():
                after = self.outputs("logits", *self.result(idx, targets))
            found += [("update", *part[1:]) for part in after]
        return found

    def ignoring(self, idx, targets):
        """The loss where some targets are -1, if it is one of its own: not an error, not that of the last
        token.
        """
        some, last = targets.clone(), targets.clone()
        some[:, ::3], last[:, ::3] = -1, self.job["vocabulary"] - 1
        try:
            left, right = (self.result(idx, one)[1] for one in (some, last))
        except Exception:
            return []
        if left is None or right is None or torch.isclose(left, right, rtol=1e-3).all():
            return []
        return [("loss", IGNORING, (1,), left.reshape(1).double())]

    def result(self, idx, targets):
        """(logits, loss) of one call, each a tensor or None."""
        with torch_world.OnProcessor():
            output = self.built(idx, targets if self._scored else None)
        logits = torch_build.logits_of(output, self.job["vocabulary"])
        scalars = [
            t for t in torch_build.tensors(output) if t.numel() == 1 and t.is_floating_point()
        ]
        return logits, (scalars[0] if scalars and scalars[0] is not logits else None)

    def outputs(self, name, logits, loss):
        found = []
        if logits is not None:
            values = folded(logits, logits.numel() if self.job["whole"] else WHOLE)
            shape = logits.shape if values.numel() == logits.numel() else values.shape
            found.append(("output", name, shape, values))
        if loss is not None:
            found.append(("loss", "loss", (1,), loss.detach().reshape(1).double()))
        return found

    def loss_of(self, logits, loss, targets):
        """The model's own loss, else a cross-entropy of its logits."""
        if loss is not None and loss.requires_grad:
            return loss
        if logits is None:
            raise torch_build.NotBuilt("its forward gives no logits and no loss")
        rows = logits.reshape(-1, logits.shape[-1])
        wanted = targets.reshape(-1)[: len(rows)]
        picked = rows[: len(wanted)].gather(1, wanted[:, None]).mean()
        return torch.logsumexp(rows, -1).mean() - picked

    def step(self, grads):
        """One step of gradient descent, always of the same length."""
        size = math.sqrt(sum(float(g.double().pow(2).sum()) for g in grads))
        with torch.no_grad():
            for (_, tensor), grad in zip(self.groups, grads):
                tensor.sub_(grad * (STEP / max(size, LEAST)))
                tensor.grad = None

    def repeated(self, mode, count):
        """What comes out of one input with other random numbers each time; as far as it can be run."""
        return self.runs(mode, [contextlib.nullcontext() for _ in range(count)])

    def likeliest(self):
        """What comes out of it in train mode where the likelier outcome comes each time."""
        return self.runs("train", [torch_world.Median(median) for median in MEDIANS])

    def runs(self, mode, chances):
        """A row for each of these contexts; as far as it can be run."""
        draw, found = self.job["dropping"], []
        try:
            self.weigh(draw)
            idx, targets = self.tokens(draw)
            for number, chance in enumerate(chances):
                self.mode(mode)
                torch_world.seed(draw["tokens"] + number)
                with torch.no_grad(), chance:
                    logits, loss = self.result(idx, targets)
                found.append(self.blobs.add(folded(loss if logits is None else logits, WHOLE)))
        except Exception:
            return found
        return found
