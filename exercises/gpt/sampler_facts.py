"""Facts of a sampler, from what it drew from: `fact(runs) -> (value, span, why)`.

Runs by name: "plain", "warm" (temperature 2), "top_k" (5), "top_p" (0.5), "long" (longer than the
context), "several" (four new tokens).
"""

import numpy as np
from pack.graph import number
from pack.loss_facts import soft
from pack.results import missing


def place(run, *names):
    """The span of the first of these calls that was seen."""
    for name in names:
        if name in run["at"]:
            path, _, first, last, left, right = run["at"][name]
            return [path, first, last, left, right]
    return None


def drawn(run):
    """The probabilities of the first draw, (V,); None without one."""
    if not run["drawn"] or run["drawn"][0] is None:
        return None
    p = run["drawn"][0].reshape(-1, run["drawn"][0].shape[-1])[0]
    return p / p.sum() if p.sum() > 0 else None


def near(p, q):
    """Equal probabilities, whichever order the sampler put them in."""
    size = min(len(p), len(q))
    if np.abs(p[:size] - q[:size]).max() < 1e-4:
        return True
    return len(p) <= len(q) and np.abs(np.sort(p)[::-1] - np.sort(q)[::-1][: len(p)]).max() < 1e-4


def rows(run):
    """The model's logits for the prompt, (T, V); None unless there is a row for each token."""
    logits, tokens = run["logits"], run["tokens"]
    if logits is None:
        return None
    flat = logits.reshape(-1, logits.shape[-1])
    return flat if len(flat) == tokens.size else None


def position(runs):
    run = runs["plain"]
    if run["failed"]:
        return missing("the sampler could not be called")
    flat, p = rows(run), drawn(run)
    if flat is None:
        return missing("the model gives logits for the last position alone")
    if p is None:
        told = [greedy(one) for name, one in runs.items() if name.startswith(("plain", "again"))]
        sure = [one for one in told if one[0] is not None]
        return sure[0] if sure and len({one[0] for one in sure}) == 1 else told[0]
    for t in [len(flat) - 1, *range(len(flat) - 1)]:
        if near(p, soft(flat[t])):
            last = t == len(flat) - 1
            value = "of the last position" if last else f"of position {t} of {len(flat)}"
            return value, place(run, "multinomial"), ""
    return missing("what is drawn from is no softmax of one position's logits")


def greedy(run):
    """A sampler that takes the likeliest token."""
    flat, output, T = rows(run), run["output"], run["tokens"].size
    if output is None or flat is None or run["failed"]:
        return missing("nothing is drawn, and no tokens are returned")
    tokens = output.reshape(-1)
    if len(tokens) <= T:
        return missing("nothing is drawn, and no new token is returned")
    best, new = flat.argmax(-1), tokens[T]
    where = [t for t in range(len(flat)) if best[t] == new]
    if len(where) != 1:
        return missing("the new token is the likeliest of no position, or of several")
    if where[0] == len(flat) - 1:
        return "of the last position", place(run, "forward"), ""
    return f"of position {where[0]} of {len(flat)}", place(run, "forward"), ""


def last_row(run):
    if run["logits"] is None:
        return None
    return run["logits"].reshape(-1, run["logits"].shape[-1])[-1]


def temperature(runs):
    if "warm" not in runs:
        return missing("the sampler takes no temperature")
    run, plain = runs["warm"], runs["plain"]
    p, z = drawn(run), last_row(run)
    if run["failed"] or p is None or z is None:
        return missing("the sampler draws from nothing that was seen")
    whole = rows(run)
    candidates = whole if whole is not None else z[None]
    base = drawn(plain)
    row = next((r for r in candidates[::-1] if base is not None and near(base, soft(r))), None)
    if row is None:
        return missing("without a temperature, what is drawn from is no softmax of the logits")
    for name, wanted in (
        ("divides the logits", soft(row / 2)),
        ("multiplies the logits", soft(row * 2)),
        ("is ignored", soft(row)),
    ):
        if near(p, wanted):
            return name, place(run, "multinomial"), ""
    return missing("what is drawn from is another function of the logits")


def top_k(runs):
    if "top_k" not in runs:
        return missing("the sampler takes no top-k")
    run = runs["top_k"]
    p = drawn(run)
    if run["failed"] or p is None:
        return missing("the sampler draws from nothing that was seen")
    count = int((p > 0).sum())
    if run["drawn"][0].shape[-1] in (4, 5, 6):
        count = run["drawn"][0].shape[-1]
    base = drawn(runs["plain"])
    if base is not None and count == int((base > 0).sum()):
        return missing("top-k changes nothing here")
    return str(count), place(run, "topk", "sort", "multinomial"), ""


def top_p(runs):
    if "top_p" not in runs:
        return missing("the sampler takes no top-p")
    run, base = runs["top_p"], drawn(runs["plain"])
    p = drawn(run)
    if run["failed"] or p is None or base is None:
        return missing("the sampler draws from nothing that was seen")
    ordered = np.sort(base)[::-1]
    wanted = int(np.searchsorted(np.cumsum(ordered), 0.5) + 1)
    count = int((p > 0).sum())
    if count == len(base):
        return missing("top-p changes nothing here")
    words = {
        wanted: "the smallest set that reaches p",
        wanted - 1: "without the token that crosses p",
    }
    if count not in words:
        return missing("the set of tokens is another one")
    return words[count], place(run, "sort", "multinomial"), ""


def crop(runs):
    run = runs["long"]
    prompt = run["tokens"].reshape(-1)
    if run["failed"]:
        if runs["plain"]["failed"]:
            return missing("the sampler could not be called")
        return "fails beyond the context", None, ""
    if not run["read"] or run["read"][0] is None:
        return missing("what the model read was not seen")
    read = run["read"][0].reshape(-1)
    if len(read) == len(prompt):
        return "all tokens", place(run, "forward"), ""
    if np.array_equal(read, prompt[-len(read) :]):
        return "the last tokens", place(run, "forward"), ""
    if np.array_equal(read, prompt[: len(read)]) and len(read) > 1:
        return "the first tokens", place(run, "forward"), ""
    return missing("the model reads other tokens than the prompt's")


def cache(runs):
    """Whether a sampler that reads only what is new draws from the logits of the whole text."""
    run = runs["several"]
    if run["failed"] or not run["read"] or run["output"] is None:
        return missing("the sampler could not be called for several tokens")
    size, lengths = run["tokens"].size, [0 if r is None else r.size for r in run["read"]]
    if len(lengths) < 3 or all(length >= size for length in lengths):
        return missing("the sampler uses no cache: it reads the text anew for each token")
    names = ("whole", "again", "logits")
    whole, again, prompt = (cube(run[name]) for name in names)
    new = run["output"].reshape(-1)[size:]
    if whole is None or len(whole) != size + len(new) - 1 or again is None or prompt is None:
        return missing("the model gives no logits for every token of the text")
    if not all(
        one.shape == prompt.shape and near_all(one, prompt) for one in (again, whole[:size])
    ):
        return missing("the model gives the prompt other logits after the sampler has run")
    told = [agrees(run, runs, whole[size - 1 + n], n, token) for n, token in enumerate(new)]
    if told[0] is not True or None in told:
        return missing("what is drawn from is no softmax of the model's logits")
    if all(told):
        return "the logits of the whole text", place(run, "last"), ""
    return f"other logits from new token {told.index(False) + 1} on", place(run, "last"), ""


def cube(logits):
    return None if logits is None else logits.reshape(-1, logits.shape[-1])


def near_all(a, b):
    return bool(np.abs(a - b).max() < 1e-4)


def agrees(run, runs, row, n, token):
    """Whether the n-th new token comes from this row of logits; None where it cannot be told."""
    if not run["drawn"]:
        greedy_ = position(runs)[0] == "of the last position"
        return bool(row.argmax() == token) if greedy_ else None
    if len(run["drawn"]) <= n or run["drawn"][n] is None:
        return None
    p = run["drawn"][n].reshape(-1, run["drawn"][n].shape[-1])[0]
    return bool(near(p / p.sum(), soft(row))) if p.sum() > 0 else None


SAMPLER = {
    "gen_position": position,
    "temperature": temperature,
    "top_k": top_k,
    "top_p": top_p,
    "crop": crop,
    "cache": cache,
}


ARRAYS = ("tokens", "logits", "output", "whole", "again")


def decoded(recorded):
    """The runs of a sampler by name."""
    arrays, runs = recorded["arrays"], {}
    for name, run in zip(recorded["names"], recorded["runs"]):
        found = {n: number(run[n], arrays) for n in ARRAYS}
        for n in ("drawn", "read"):
            found[n] = [number(one, arrays) for one in run[n]]
        runs[name] = {**found, "at": run["at"], "failed": run["failed"]}
    return runs


def measure(recorded):
    """Every fact of a sampler."""
    runs, found = decoded(recorded), []
    for id, fact in SAMPLER.items():
        value, at, why = fact(runs) if runs else missing(recorded["why"])
        found.append({"id": id, "value": value, "at": at, "why": why})
    return found
