"""A sentence on its way through the learner's own model, before and after a short training."""

import numpy as np


def embedded(model, ids):
    """What the table gives for ids, as an array."""
    return model.token_emb(ids).data.copy()


def last_hidden(model, ids):
    """(T,) -> (T, d): what the head is given."""
    h = model.token_emb(ids[None])
    for block in model.blocks:
        h = block(h)
    return model.ln_final(h).data[0].copy()


def batch(rng, stream, size, length):
    """Windows of the stream, and the same windows one token later: (size, length) each."""
    starts = rng.integers(0, len(stream) - length, size)
    index = starts[:, None] + np.arange(length)
    return stream[index], stream[index + 1]


def sentence(learner, record, ids, stream, vocab, one, other, at_one, at_other, steps, seed):
    """ids (T,): the sentence. one, other: sentences that share a word, at these positions."""
    rng = np.random.default_rng(seed)
    config = learner.MiniGPTConfig(
        d_model=16, n_heads=2, n_layers=1, d_ff=32, vocab_size=vocab, context_len=16
    )
    model = learner.MiniGPT(config, rng=rng)
    rows = embedded(model, ids)
    record(table_shape=list(model.token_emb.weight.data.shape), rows=rows, shape=list(rows.shape))
    record(batch_shape=list(model.token_emb(ids[None]).data.shape))
    record(positions=learner.rope(learner.Tensor(rows)).data)
    logits = model(ids[None]).data
    record(tied=True)  # by contract
    record(logits_shape=list(logits.shape), logits_before=logits[0, -1])
    record(table_before=model.token_emb.weight.data)
    optimizer = learner.AdamW(list(model.parameters()), lr=1e-2, weight_decay=0.0)
    losses = []
    for _ in range(steps):
        x, y = batch(rng, stream, 16, 8)
        optimizer.zero_grad()
        loss = learner.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.data))
    record(losses=np.array(losses), first_loss=losses[0], last_loss=float(np.mean(losses[-10:])))
    record(logits_after=model(ids[None]).data[0, -1], table_after=model.token_emb.weight.data)
    rows_apart = embedded(model, one)[at_one] - embedded(model, other)[at_other]
    a, b = last_hidden(model, one)[at_one], last_hidden(model, other)[at_other]
    record(rows_apart=float(np.abs(rows_apart).max()))
    record(hidden_apart=float(np.abs(a - b).max()))
    record(hidden_cosine=float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b))))
