"""Runs declared experiments on a model that was built, and records what can be compared.

An experiment is data: weights (a seed, or None for those it was made with), regime, batch, length,
whether there are targets, whether gradients are taken, tokens that are changed for another run.
"""

from __future__ import annotations

import zlib

import torch

from engine.run.child import torch_build, torch_trace, torch_world

WIDTH = 32  # of a model whose random weights are 0.25 large


def named_tensors(model):
    """(name, tensor) of what a model owns: parameters and buffers, those held twice under both names."""
    if isinstance(model, torch.nn.Module):
        found = list(model.named_parameters(remove_duplicate=False))
        return found + list(model.named_buffers(remove_duplicate=False))
    return list(nested(model, "", 4))


def nested(value, name, depth):
    """Tensors in dicts, lists and plain objects."""
    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, torch.nn.Module):
        for inner, tensor in value.named_parameters(remove_duplicate=False):
            yield ("%s.%s" % (name, inner)).strip("."), tensor
    elif depth:
        items = ()
        if isinstance(value, dict):
            items = value.items()
        elif isinstance(value, (list, tuple)):
            items = enumerate(value)
        elif hasattr(value, "__dict__") and not isinstance(value, type):
            items = vars(value).items()
        for key, inner in items:
            yield from nested(inner, ("%s.%s" % (name, key)).strip("."), depth - 1)


def parameters(model):
    """(name, tensor) of what learns, each tensor once."""
    seen, found = set(), []
    for name, tensor in named_tensors(model):
        if tensor.requires_grad and tensor.is_floating_point() and id(tensor) not in seen:
            seen.add(id(tensor))
            found.append((name, tensor))
    return found


def randomise(model, seed, regime):
    """Weights by name: a tensor gets the same numbers wherever it stands. Those of a wide matrix are
    smaller, or attention would see one token alone. regime "zero": all vectors of activations are zero,
    as every matrix and every offset is.
    """
    seen = set()
    with torch.no_grad():
        for name, tensor in parameters(model):
            place = torch_trace.storage_of(tensor), tensor.storage_offset()
            if place in seen and tensor.numel():
                continue
            seen.add(place)
            noise = torch.randn(
                tensor.shape,
                generator=torch_build.generator(zlib.crc32(name.encode()) + seed),
                dtype=tensor.dtype,
            )
            base = tensor.mean() if tensor.numel() else 0.0
            if regime == "zero":
                tensor.copy_(torch.zeros_like(tensor) + (base if tensor.dim() < 2 else 0.0))
                if tensor.dim() == 1 and float(tensor.std() if tensor.numel() > 1 else 0) > 1e-6:
                    tensor.zero_()
            elif tensor.dim() >= 2:
                wide = max(1.0, tensor.shape[-1] / WIDTH) ** -0.5
                tensor.copy_(noise * (0.25 * wide if regime == "normal" else 1.0))
            else:
                tensor.copy_(torch.round(base) + noise * 0.15)


def zero_tables(model):
    """Tables of fixed vectors, as of positions, become zero; masks (square) stay."""
    owned = named_tensors(model)
    widths = {t.shape[-1] for _, t in owned if t.requires_grad and t.dim() >= 1}
    with torch.no_grad():
        for _, tensor in owned:
            fixed = not tensor.requires_grad and tensor.is_floating_point() and tensor.dim() >= 2
            if fixed and tensor.shape[-1] in widths and tensor.shape[-1] != tensor.shape[-2]:
                tensor.zero_()


def snapshot(model):
    return [tensor.detach().clone() for _, tensor in named_tensors(model)]


def restore(model, kept):
    with torch.no_grad():
        for (_, tensor), old in zip(named_tensors(model), kept):
            tensor.copy_(old)


def tokens_of(job, experiment):
    shape = experiment["batch"], experiment["length"]
    made = torch_build.generator(experiment["tokens"])
    idx = torch.randint(0, job["vocabulary"], shape, generator=made)
    targets = torch.randint(0, job["vocabulary"], shape, generator=made)
    return idx, targets


def run(built, tree, job, experiment, blobs, given=None):
    """One experiment -> {"trace", "runs", ...} as plain data. given: (tokens, targets), else random ones."""
    model = built.model
    if experiment["weights"] is not None:
        randomise(model, experiment["weights"], experiment["regime"])
        if experiment["regime"] == "zero":
            zero_tables(model)
    if isinstance(model, torch.nn.Module):
        model.train(experiment["mode"] == "train")
    idx, targets = given or tokens_of(job, experiment)
    wanted = targets if experiment["targets"] and built.takes("targets") else None
    owned = named_tensors(model)
    names = {id(m): n for n, m in model.named_modules()} if hasattr(model, "modules") else {}
    recorder = torch_trace.Recorder(tree, owned, names, blobs)
    before = [blobs.add(tensor) for _, tensor in owned], blobs.add(idx)
    torch_world.seed(experiment["seed"])
    with torch.set_grad_enabled(experiment["gradients"]):
        if experiment["trace"]:
            with recorder:
                place = recorder.value(idx)
                output = built(idx, wanted)
        else:
            output = built(idx, wanted)
    answer = {"runs": [outcome(output, idx, wanted, recorder, blobs, job)]}
    if experiment["trace"]:
        answer["trace"] = {**recorder.found(), "tokens": place}
        answer["owned"] = owned_data(owned, recorder)
    after = [blobs.add(tensor) for _, tensor in owned], blobs.add(idx)
    answer["written"] = [
        owned[i][0] for i, (a, b) in enumerate(zip(before[0], after[0])) if a != b
    ] + ([] if before[1] == after[1] else ["the tokens"])
    if experiment["gradients"]:
        answer["gradients"] = gradients(output, wanted, model, job)
    for change in experiment["changes"]:
        torch_world.seed(experiment["seed"] + change.get("reseed", 0))
        other = idx.clone()
        for sample, position in change["tokens"]:
            other[sample, position] = (other[sample, position] + 7) % job["vocabulary"]
        with torch.set_grad_enabled(experiment["gradients"]):
            again = built(other, wanted)
        answer["runs"].append(outcome(again, other, wanted, None, blobs, job))
    return answer


def outcome(output, idx, targets, recorder, blobs, job):
    """What a forward gave: logits, loss, and where these stand in the trace."""
    logits = torch_build.logits_of(output, job["vocabulary"])
    loss = torch_build.loss_of(output, targets)
    place = {}
    if recorder is not None:
        known = recorder._current
        for name, tensor in (("logits", logits), ("loss", loss)):
            if tensor is not None and id(tensor) in known:
                place[name] = known[id(tensor)]
    return {
        "tokens": described(idx, blobs),
        "targets": described(targets, blobs),
        "logits": described(logits, blobs),
        "loss": described(loss, blobs),
        "place": place,
    }


def described(tensor, blobs):
    if tensor is None:
        return None
    return {
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype)[6:],
        "blob": blobs.add(tensor),
    }


def owned_data(owned, recorder):
    """What the model owns, and whether the trace met it."""
    return [
        {
            "name": name,
            "shape": list(tensor.shape),
            "dtype": str(tensor.dtype)[6:],
            "learns": bool(tensor.requires_grad),
            "used": id(tensor) in recorder.used,
            "blob": recorder._blobs.add(tensor) if not tensor.requires_grad else -1,
            "storage": recorder._storages.setdefault(
                torch_trace.storage_of(tensor), len(recorder._storages)
            ),
        }
        for name, tensor in owned
    ]


def gradients(output, targets, model, job):
    """name -> the gradient's norm for each parameter, None where none arrived."""
    found = parameters(model)
    for _, tensor in found:
        tensor.grad = None
    loss = torch_build.loss_of(output, targets)
    if loss is None or not loss.requires_grad:
        logits = torch_build.logits_of(output, job["vocabulary"])
        if logits is None or not logits.requires_grad:
            return None
        loss = torch.logsumexp(logits.float(), -1).mean() - logits.float()[..., 0].mean()
        loss = loss + sum(
            t for t in torch_build.tensors(output) if t.numel() == 1 and t.requires_grad
        )
    loss.backward()
    answer = {n: None if t.grad is None else float(t.grad.norm()) for n, t in found}
    for _, tensor in found:
        tensor.grad = None
    return answer


def answer(built, notes, answers, blobs):
    """What was made, and what its experiments gave."""
    mask = getattr(built.takes("mask"), "name", "")
    return {
        "how": built.how,
        "notes": sorted(set(notes)),
        "experiments": answers,
        "blobs": blobs.items,
        "targets": built.takes("targets") is not None,
        "mask": mask if mask and torch_build.reads(built.model, mask) else "",
        "shared": shared_modules(built.model),
        "parameters": sum(t.numel() for _, t in parameters(built.model)),
        "module": isinstance(built.model, torch.nn.Module),
    }


def shared_modules(model):
    """Lists of names under which one module with parameters is held more than once."""
    if not isinstance(model, torch.nn.Module):
        return []
    by_id = {}
    for name, module in model.named_modules(remove_duplicate=False):
        if name and any(True for _ in module.parameters()):
            by_id.setdefault(id(module), []).append(name)
    return [names for names in by_id.values() if len(names) > 1]
