"""What may be drawn: the kept set, worked out from the probabilities in float64.

The variant "drops_crossing" leaves out the token with which the mass reaches top_p.
"""

import numpy as np

DROPS = "drops_crossing"
HARDLY_EVER = 1e-15  # the probability of a token that does not come up


def likeliest_first(logits, temperature):
    """Ids from the most to the least likely, and their probabilities."""
    z = (logits - logits.max()) / (1.0 if temperature is None else temperature)
    p = np.exp(z)
    order = np.argsort(-logits, kind="stable")
    return order, (p / p.sum())[order]


def kept_ids(logits, temperature, top_k, top_p, variant=None):
    """Ids that may be drawn, and their probabilities."""
    order, p = likeliest_first(logits, temperature)
    n = len(p) if top_k is None else min(top_k, len(p))
    if top_p is not None and top_p < 1:
        n = 1
        while p[:n].sum() < top_p:
            n += 1
        n -= variant == DROPS
    return order[:n], p[:n] / p[:n].sum() if n else p[:0]


def greedy(
    out, variant, *, one, V, weights, scale, prompt, n_new, seed, temperature, top_k, top_p
):  # fmt: skip
    ids = prompt.astype(np.int64).tolist()
    for _ in range(n_new):
        newest_first = np.array(ids[::-1][: len(weights)])
        ids.append(int((weights[: len(newest_first)] * newest_first).sum() + len(newest_first)) % V)
    out.record(ids=np.array(ids, np.int64))


def returned(out, variant, **inputs):
    out.record(is_an_array=True, integers=True)


def whole(out, variant, *, sizes, numbers, prompt, n_new, seed):
    out.record(count=len(prompt) + n_new, distance_logits=0.0, distance_later=0.0)


def changing(out, variant, *, logits, group, n_new, top_p, seed):
    first, second = (np.sort(kept_ids(row, None, None, top_p, variant)[0]) for row in logits)
    out.record(after_group=first, after=second)


def kept(out, variant, *, logits, n_new, seed, temperature, top_k, top_p):
    ids, p = kept_ids(logits, temperature, top_k, top_p, variant)
    out.record(seen=np.sort(ids[p > HARDLY_EVER]))


def exactly(out, variant, *, orders, counts, halves, n_new, seed):
    out.record(enough=True)


def as_numpy(out, variant, *, logits, n_new, seed, temperature, top_k, top_p):
    ids, p = kept_ids(logits, temperature, top_k, top_p, variant)
    out.offered(seen=np.sort(ids[p > HARDLY_EVER]))


def edges(out, variant, *, logits, allowed, top_ps, seeds):
    out.record(outside=0)


def colder(out, variant, *, logits, temperatures, n_new, seed):
    out.record(different=[2] * len(temperatures))


def many(out, variant, *, logits, allowed, n_new, top_k, top_p, seed):
    """Different ids among n draws from m, all but equally likely, and their mean rank: within 7 and 6
    standard deviations, estimated from above.
    """
    m = int(allowed.sum())
    missed = (1 - 1 / m) ** n_new  # the chance of one id
    mean, spread = m * (1 - missed), 7 * np.sqrt(m * missed * (1 - missed)) + 6
    out.record(outside=0)
    out.within(different=(float(mean - spread), float(mean + spread)))
    p = np.exp(logits[allowed])
    ranks = np.empty(m)
    ranks[np.argsort(-p)] = np.arange(m) / max(m - 1, 1)
    middle, wide = float((p * ranks).sum() / p.sum()), 6 / np.sqrt(12 * n_new)
    out.within(rank=(middle - wide, middle + wide))


def slivers(out, variant, *, logits, top_ps, n_new, seed):
    for row, top_p in zip(logits, top_ps):
        ids, _ = kept_ids(row, None, None, top_p)
        out.record(**{f"seen at top_p = {top_p:.3g}": np.sort(ids)})


def ties(out, variant, *, logits, n_new, top_p, seed):
    out.record(different=len(kept_ids(logits, None, None, top_p, variant)[0]))


def stored(out, variant, *, logits, n_new, seed, temperature, top_k, top_p):
    out.record(logits=logits, row=logits[0])


def traced(out, variant, *, logits, temperature, top_p, seed):
    out.record(count=1)
    order, p = likeliest_first(logits, temperature)
    ids, of_kept = kept_ids(logits, temperature, None, top_p)
    mass, n = np.cumsum(p), len(ids)
    before = mass - p
    in_place = np.zeros_like(p)
    in_place[order] = p
    masked = np.zeros_like(p)
    masked[ids] = p[:n]
    out.name(logits=logits, order=order, p=in_place, p_first=p, mass=mass, before=before)
    out.name(n_kept=n, n_below=n - 1, kept=ids, p_kept=p[:n], of_kept=of_kept, top_p=top_p)
    out.name(below=(mass < top_p), reached=(mass >= top_p), stays=(before < top_p))
    low = np.concatenate([[-1.0], before[1:]])
    out.name(before_low=low, later=before[1:], masked=masked, masked_again=masked / masked.sum())
    out.name(mass_kept=mass[:n], dropped=order[n:])


def shares(out, variant, *, logits, n_new, seed, temperature, top_k, top_p):
    """Within 6.5 standard deviations, which is missed once in 10^10 judgements."""
    _, p = kept_ids(logits, temperature, top_k, top_p, variant)
    spread = 6.5 * np.sqrt(p[0] * (1 - p[0]) / n_new)
    out.within(likeliest=(float(p[0] - spread), float(p[0] + spread)))


def dominant(out, variant, *, logits, which, top_p, seed):
    out.record(always_it=variant != DROPS)


def masses(out, variant, *, logits, top_ps, seed):
    counts, weights = [], []
    for top_p in top_ps:
        ids, _ = kept_ids(logits, None, None, top_p, variant)
        _, p = likeliest_first(logits, None)
        counts.append(len(ids))
        weights.append(float(p[: len(ids)].sum()))
    out.record(counts=counts, weights=weights)


def same_rng(out, variant, *, logits, n_new, seed, other_seed):
    out.record(same_seed_same_ids=True, other_seed_same_ids=False)


def mode(out, variant, *, logits, training, greedy, seed):
    out.record(training=training, inner_training=training)
