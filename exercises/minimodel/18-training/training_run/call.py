"""A whole training run of a small model, as one starts it, and what the model writes after it. No build is
about it: it is what somebody sees who does not know yet which part is broken.
"""

import numpy as np


def number(value):
    """The number, however it comes."""
    return float(np.asarray(value.data if hasattr(value, "backward") else value).reshape(()))


def nats(logits, targets):
    """The mean cross-entropy of logits (..., V), in float64, whatever the learner's own loss does."""
    logits = np.asarray(logits, dtype=np.float64)
    logits = logits - logits.max(-1, keepdims=True)
    right = np.take_along_axis(logits, targets[..., None], -1)[..., 0]
    return float((np.log(np.exp(logits).sum(-1)) - right).mean())


def length(model):
    """The norm of all gradients together."""
    found = [np.asarray(p.grad, dtype=np.float64) for p in model.parameters() if p.grad is not None]
    return float(np.sqrt(sum((grad**2).sum() for grad in found)))


def letter_by_letter(model, pieces):
    """The loss on pieces (N, T) where each beginning comes by itself, as when the model writes."""
    alone = [model(pieces[:, :n]).data[:, -1] for n in range(1, pieces.shape[1])]
    return nats(np.stack(alone, axis=1), pieces[:, 1:])


def run(learner, record, sizes, letters, ids, held_out, steps, batch_size, lr, max_norm, seed):
    """Trains on ids, measures the loss on held_out (T,) in two ways, and has the model write 36 letters."""
    rng = np.random.default_rng(seed)
    model = learner.MiniGPT(learner.MiniGPTConfig(**sizes), rng=rng)
    optimizer = learner.AdamW(list(model.parameters()), lr=lr, weight_decay=0.1)
    source = learner.batches(ids, batch_size, sizes["context_len"], rng=rng)
    losses, norms = [], []
    for _ in range(steps):
        x, y = next(source)
        losses.append(number(learner.train_step(model, x, y, optimizer, max_norm)))
        norms.append(length(model))
    record(losses=losses, gradient_norms_after_clipping=norms)
    record(first_loss=losses[0], last_ten_losses=float(np.mean(losses[-10:])))
    record(last_ten_gradient_norms=float(np.mean(norms[-10:])))
    model.eval()
    pieces = held_out[: len(held_out) // sizes["context_len"] * sizes["context_len"]]
    pieces = pieces.reshape(-1, sizes["context_len"])
    logits = np.asarray(model(pieces[:, :-1]).data)
    record(loss_on_other_text=nats(logits, pieces[:, 1:]))
    record(loss_on_other_text_letter_by_letter=letter_by_letter(model, pieces))
    record(spread_of_the_logits=float(np.std(logits.astype(np.float64))))
    prompt = np.asarray(ids[:4])
    ids = learner.generate(model, prompt, 36, temperature=1.0, rng=np.random.default_rng(0))
    record(it_writes="".join(letters[int(i)] for i in np.asarray(ids)))
