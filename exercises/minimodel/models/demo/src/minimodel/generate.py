"""Writing."""
import numpy as np


def _sharpened(logits, temperature):
    weights = np.exp((logits - max(logits)) / temperature)
    return weights / weights.sum()


def _nucleus(ranked, chances, top_p):
    """The first ids of `ranked` whose chances together reach top_p."""
    kept, mass = [], 0.0
    for token in ranked:
        kept.append(token)
        mass += chances[token]
        if mass >= top_p:
            break
    return kept


def _pick(logits, temperature, top_k, top_p, rng):
    if temperature == 0:
        return int(np.argmax(logits))
    chances = _sharpened(logits, temperature)
    ranked = sorted(range(len(chances)), key=lambda token: -chances[token])[:top_k]
    if top_p is not None:
        ranked = _nucleus(ranked, chances, top_p)
    left = chances[ranked]
    return int(rng.choice(ranked, p=left / left.sum()))


def generate(model, prompt_ids, n_new, *, temperature=1.0, top_k=None, top_p=None, rng):
    written = list(prompt_ids)
    mode = model.training
    model.eval()
    try:
        for _ in range(n_new):
            window = np.array(written[-model.config.context_len :])
            logits = model(window).data[-1].astype(np.float64)
            written.append(_pick(logits, temperature, top_k, top_p, rng))
    finally:
        model.train(mode)
    return np.array(written, dtype=np.int64)
