"""Trains a small network of PyTorch's with the learner's parts, a good half of the way with one pair of model
and optimizer, the rest with a new pair that a checkpoint is loaded into.
"""

import io
import random

import numpy as np
import torch

LARGE = 4.0  # times PyTorch's own start


def net(letters, width):
    """From a letter to the logits of the next. Its weights are large, so that its first gradients are."""
    model = torch.nn.Sequential(
        torch.nn.Embedding(len(letters), width),
        torch.nn.Linear(width, 2 * width),
        torch.nn.Tanh(),
        torch.nn.Linear(2 * width, len(letters)),
    )
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(LARGE)
    return model


def length(model):
    """The norm of all gradients together."""
    return float(torch.stack([p.grad.double().norm() for p in model.parameters()]).norm())


def run(
    learner, record, letters, ids, width, steps, batch_size, context_length, warmup, max_norm,
    weight_decay, max_learning_rate, min_learning_rate, saved_at, seed,
):  # fmt: skip
    """Losses, norms and rates of each step; then the loss on what follows each letter of the whole text, and
    what the model writes when it always takes the most likely letter.
    """
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    tokens = np.array(ids.tolist())
    pairs = [pair_of(learner, letters, width, weight_decay) for _ in range(2)]
    model, optimizer = pairs[0]
    losses, norms, rates = [], [], []
    for it in range(steps):
        if it == saved_at:
            model, optimizer = resumed(learner, *pairs, it)
        rate = learner.run_get_lr_cosine_schedule(
            it=it + 1, max_learning_rate=max_learning_rate, min_learning_rate=min_learning_rate,
            warmup_iters=warmup, cosine_cycle_iters=steps,
        )  # fmt: skip
        for group in optimizer.param_groups:
            group["lr"] = rate
        x, y = learner.run_get_batch(
            dataset=tokens, batch_size=batch_size, context_length=context_length, device="cpu"
        )
        optimizer.zero_grad()
        logits = model(x).flatten(0, 1)
        loss = learner.run_cross_entropy(inputs=logits, targets=y.flatten())
        loss.backward()
        learner.run_gradient_clipping(parameters=list(model.parameters()), max_l2_norm=max_norm)
        losses.append(float(loss.detach()))
        norms.append(length(model))
        rates.append(float(rate))
        record(losses=losses, gradient_norms_after_clipping=norms, learning_rates=rates)
        optimizer.step()
    record(first_loss=losses[0], last_ten_losses=sum(losses[-10:]) / 10)
    whole = model(ids[:-1]).detach()
    true = torch.nn.functional.cross_entropy(whole.double(), ids[1:])
    record(loss_on_the_text=float(true), it_writes=written(model, letters, ids[:1]))


def pair_of(learner, letters, width, weight_decay):
    model = net(letters, width)
    settings = {"betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": weight_decay}
    return model, learner.get_adamw_cls()(model.parameters(), lr=1e-3, **settings)


def resumed(learner, old, new, it):
    """A new model and optimizer, with what was saved of the old ones."""
    saved = io.BytesIO()
    learner.run_save_checkpoint(model=old[0], optimizer=old[1], iteration=it, out=saved)
    saved.seek(0)
    learner.run_load_checkpoint(src=saved, model=new[0], optimizer=new[1])
    return new


def written(model, letters, ids):
    """24 letters, each the most likely after the one before."""
    for _ in range(23):
        ids = torch.cat([ids, model(ids[-1:]).argmax(-1)])
    return "".join(letters[i] for i in ids.tolist())
