"""Runs the learner's generate on models that answer what they are told to.

The models are made of the learner's Module, Parameter and Tensor, and of nothing else.
"""

from types import SimpleNamespace

import numpy as np


def answering(learner, answer, V, context_len, dtype):
    """A model whose logits after the ids seen so far are answer(ids); elsewhere they mislead.

    More than context_len ids: ValueError, as MiniGPT does it.
    """

    class Answering(learner.Module):
        def __init__(self):
            super().__init__()
            self.config = SimpleNamespace(context_len=context_len, vocab_size=V)
            self.scale = learner.Parameter(np.ones((1,), dtype))
            self.inner = learner.Module()

        def forward(self, token_ids):
            ids = np.asarray(token_ids)  # (..., T)
            count = ids.shape[-1]
            if count > context_len:
                raise ValueError(f"{count} ids are more than context_len {context_len}")
            logits = np.empty((ids.size // count, count, V), dtype)
            for row, wanted in zip(ids.reshape(-1, count), logits):
                last = answer(row)
                wanted[:] = -last
                wanted[-1] = last
            return learner.Tensor(logits.reshape(*ids.shape, V))

    return Answering()


def constant(learner, logits, context_len=4):
    """A model that answers the same whatever it sees."""
    return answering(learner, lambda ids: logits, len(logits), context_len, logits.dtype)


def settings(**given):
    return {name: value for name, value in given.items() if value is not None}


def written(learner, model, prompt, n_new, seed, **given):
    """All ids, the prompt included."""
    rng = np.random.default_rng(seed)
    return learner.generate(model, prompt, n_new, rng=rng, **settings(**given))


def drawn(learner, logits, n_new, seed, **given):
    """The new ids after a prompt of two, from a model that answers `logits` every time."""
    prompt = np.array([0, 1])
    return np.asarray(written(learner, constant(learner, logits), prompt, n_new, seed, **given))[2:]


def counted(learner, one, V, weights, scale):
    """A model whose next token is sum(weights * what it sees, the newest first) + T, modulo V."""

    def answer(ids):
        newest_first = ids[::-1].astype(np.int64)
        token = int((weights[: len(ids)] * newest_first).sum() + len(ids)) % V
        logits = 0.5 * np.sin(np.arange(V))
        logits[token] = 4.0
        return scale * logits

    return answering(learner, answer, V, len(weights), one.dtype)


def greedy(learner, record, one, V, weights, scale, prompt, n_new, seed, **given):
    """The ids, as an array or as a list: that they are an array is the business of `returned`."""
    model = counted(learner, one, V, weights, scale)
    record(ids=np.asarray(written(learner, model, prompt, n_new, seed, **given)).astype(np.int64))


def returned(learner, record, one, V, weights, scale, prompt, n_new, seed, **given):
    """What generate returns: an array of integers."""
    model = counted(learner, one, V, weights, scale)
    found = written(learner, model, prompt, n_new, seed, **given)
    record(is_an_array=isinstance(found, np.ndarray), integers=np.asarray(found).dtype.kind in "iu")


def whole(learner, record, sizes, numbers, prompt, n_new, seed):
    """MiniGPT with these numbers in its parameters. Does it say to generate what it says to others, and
    still when the numbers have changed? After eval(), as there may be dropout in it.
    """
    model = learner.MiniGPT(learner.MiniGPTConfig(**sizes), rng=np.random.default_rng(seed))
    place = 0
    for p in model.parameters():
        p.data[...] += numbers[place : place + p.data.size].reshape(p.data.shape)
        place += p.data.size
    told = []

    class Overheard(learner.Module):
        def __init__(self):
            super().__init__()
            self.config, self.inner = model.config, model

        def forward(self, token_ids):
            logits = self.inner(token_ids)
            told.append((np.array(token_ids), logits.data.copy()))
            return logits

    def distance():
        """Between the logits in sight and what the model says outside, as a share of the largest."""
        if not told:
            return "it was not asked"
        apart = max(float(np.abs(model(seen).data - logits).max()) for seen, logits in told)
        largest = max(float(np.abs(logits).max()) for _, logits in told)
        return round(apart / largest, 3 if numbers.dtype == np.float32 else 8)

    overheard = Overheard()
    overheard.eval()
    ids = np.asarray(written(learner, overheard, prompt, n_new, seed, temperature=0.0))
    record(count=len(ids), distance_logits=distance())
    for p in model.parameters():  # as after more training
        p.data[...] = np.roll(p.data, 1)
    told.clear()
    written(learner, overheard, prompt, n_new, seed, temperature=0.0)
    record(distance_later=distance())


def exactly(learner, record, orders, counts, halves, n_new, seed):
    """Whether a mass of exactly top_p is enough. Each row of orders (cases, 6) has the ids of a
    distribution, the likeliest first, whose probabilities are halves (6,): the first n, of counts
    (cases,), have the mass that is asked for, and not a digit more.

    Code that computes in another way may be off by a rounding, now up, now down: it is asked for one case.
    """
    enough = 0
    for order, n in zip(orders, counts):
        logits = np.empty_like(halves)
        logits[order] = np.log(halves)
        top_p = float(1 - 0.5 ** int(n))
        found = set(drawn(learner, logits, n_new, seed, top_p=top_p).tolist())
        enough += found <= set(order[:n].tolist())
    record(enough=enough > 0)


def changing(learner, record, logits, group, n_new, top_p, seed):
    """Which ids follow those of a group, and which the others? logits (2, V)."""

    def answer(ids):
        return logits[0 if ids[-1] in group else 1]

    model = answering(learner, answer, logits.shape[1], 4, logits.dtype)
    ids = np.asarray(written(learner, model, np.array([0, 1]), n_new, seed, top_p=top_p))[1:]
    after_group = np.isin(ids[:-1], group)
    record(after_group=np.unique(ids[1:][after_group]), after=np.unique(ids[1:][~after_group]))


def kept(learner, record, logits, n_new, seed, temperature, top_k, top_p):
    """Which tokens come up in n_new draws from the same logits?"""
    given = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    record(seen=np.unique(drawn(learner, logits, n_new, seed, **given)))


def as_numpy(learner, record, logits, n_new, seed, temperature, top_k, top_p):
    """The same, where a number of NumPy's is taken at all."""
    try:
        kept(learner, record, logits, n_new, seed, temperature, top_k, top_p)
    except (TypeError, ValueError) as error:
        record(seen=type(error).__name__)


def edges(learner, record, logits, allowed, top_ps, seeds):
    """One draw for each row of logits (n, V), with a generator whose first number is next to 0 or 1: how
    many are none of `allowed` (n, V)?
    """
    outside = 0
    for row, inside, top_p, seed in zip(logits, allowed, top_ps, seeds):
        (new,) = drawn(learner, row, 1, int(seed), top_p=float(top_p))
        outside += int(not inside[new])
    record(outside=outside)


def colder(learner, record, logits, temperatures, n_new, seed):
    """How many different tokens come up from each row of logits (n, V), at its temperature?"""
    found = []
    for row, temperature in zip(logits, temperatures):
        new = drawn(learner, row, n_new, seed, temperature=float(temperature))
        found.append(len(np.unique(new)))
    record(different=found)


def many(learner, record, logits, allowed, n_new, top_k, top_p, seed):
    """How many draws are none of `allowed` (V,), how many different ids come up, and what is their mean
    rank among the allowed, 0 being the likeliest and 1 the least likely of them?
    """
    new = drawn(learner, logits, n_new, seed, temperature=None, top_k=top_k, top_p=top_p)
    record(outside=int((~allowed[new]).sum()), different=len(np.unique(new)))
    order = np.argsort(-logits)  # (V,)
    rank = np.empty(len(logits))
    rank[order] = np.arange(len(logits)) / max(int(allowed.sum()) - 1, 1)
    record(rank=float(rank[new].mean()))


def slivers(learner, record, logits, top_ps, n_new, seed):
    """Which ids come up from each row of logits (n, V), at its top_p?"""
    for row, top_p in zip(logits, top_ps):
        new = drawn(learner, row, n_new, seed, top_p=float(top_p))
        record(**{f"seen at top_p = {top_p:.3g}": np.unique(new)})


def ties(learner, record, logits, n_new, top_p, seed):
    """How many of those that are alike come up?"""
    record(different=len(np.unique(drawn(learner, logits, n_new, seed, top_p=top_p))))


def stored(learner, record, logits, n_new, seed, temperature, top_k, top_p):
    """A model that hands out one and the same tensor at each call. logits: (1, 2, V)"""
    kept, row = learner.Tensor(logits.copy()), learner.Tensor(logits[0].copy())

    class Storing(learner.Module):
        def __init__(self):
            super().__init__()
            self.config = SimpleNamespace(context_len=2, vocab_size=logits.shape[-1])
            self.scale = learner.Parameter(np.ones((1,), logits.dtype))

        def forward(self, token_ids):
            return kept if np.ndim(token_ids) == 2 else row

    given = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    written(learner, Storing(), np.array([0, 1]), n_new, seed, **given)
    record(logits=kept.data, row=row.data)


def traced(learner, record, logits, temperature, top_p, seed):
    """One draw."""
    found = drawn(learner, logits, 1, seed, temperature=temperature, top_p=top_p)
    record(count=len(found))


def shares(learner, record, logits, n_new, seed, temperature, top_k, top_p):
    """How often the likeliest token comes up."""
    given = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    new = drawn(learner, logits, n_new, seed, **given)
    record(likeliest=float((new == int(np.argmax(logits))).mean()))


def dominant(learner, record, logits, which, top_p, seed):
    """Twenty draws where one token alone is more than top_p. It should come up every time."""
    try:
        new = drawn(learner, logits, 20, seed, top_p=top_p)
    except Exception as error:
        record(always_it=False, then="stops", error=type(error).__name__)
        return
    always = bool((new == which).all())
    record(always_it=always, then="always_it" if always else "others", error="none")


def masses(learner, record, logits, top_ps, seed):
    """For each top_p: how many tokens come up in 400 draws, and what they weigh together."""
    p = np.exp(logits.astype(np.float64))
    p = p / p.sum()
    counts, weights = [], []
    for top_p in top_ps:
        seen = np.unique(drawn(learner, logits, 400, seed, top_p=float(top_p)))
        counts.append(len(seen))
        weights.append(float(p[seen].sum()))
    record(counts=counts, weights=weights)
    record(reached=int(sum(w >= top_p for w, top_p in zip(weights, top_ps))))
    if len(counts) > 2:
        record(third_count=counts[2], third_weight=weights[2])


def same_rng(learner, record, logits, n_new, seed, other_seed):
    """The generator that is handed in decides, and nothing else does."""
    first = drawn(learner, logits, n_new, seed)
    again, other = drawn(learner, logits, n_new, seed), drawn(learner, logits, n_new, other_seed)
    record(same_seed_same_ids=bool((first == again).all()))
    record(other_seed_same_ids=bool((first == other).all()))


def mode(learner, record, logits, training, greedy, seed):
    """The model is left in the mode it was in, and so are its parts."""
    model = constant(learner, logits)
    model.train() if training else model.eval()
    written(learner, model, np.array([0, 1]), 3, seed, temperature=0.0 if greedy else 1.0)
    record(training=bool(model.training), inner_training=bool(model.inner.training))
