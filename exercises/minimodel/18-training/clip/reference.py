"""Clipping by the global norm, in float64.

Variant: "per_parameter" still returns the global norm, but shortens each parameter's gradient by
itself, to max_norm, where it alone is longer.
"""

import numpy as np


def clipped(grads, max_norm, variant=None, out=None):
    """The norm of all gradients before, and the gradients after."""
    exact = [g.astype(np.float64) for g in grads]
    squares = [(g**2).sum() for g in exact]
    norm = float(np.sqrt(sum(squares)))
    own = [np.sqrt(s) if variant == "per_parameter" else norm for s in squares]
    factors = [max_norm / n if n > max_norm else 1.0 for n in own]
    if out:
        out.name(norm=norm, total=float(sum(squares)), max_norm=float(max_norm))
        out.name(factor=factors[0], inverse=1 / factors[0])
        for name, g, factor in zip("wbk", exact, factors):
            out.name(**{name: g, "clipped_" + name: g * factor})
    return norm, [(g * f).astype(h.dtype) for g, f, h in zip(exact, factors, grads)]


def forward(out, variant, *, w, b, k, max_norm):
    norm, after = clipped([w, b, k], max_norm, variant, out)
    out.record(norm=norm, **dict(zip("wbk", after)))
    out.record(numbers=[g.size * (g.size + 1) / 2 for g in (w, b, k)])


def as_numpy(out, variant, *, w, b, k, max_norm):
    norm, after = clipped([w, b, k], max_norm, variant)
    out.offered(norm=norm, **dict(zip("wbk", after)))
    out.offered(numbers=[g.size * (g.size + 1) / 2 for g in (w, b, k)])


def traced(out, variant, *, w, b, k, max_norm):
    forward(out, variant, w=w, b=b, k=k, max_norm=max_norm)


def exactly(out, variant, *, w, b, max_norm):
    out.record(norm=max_norm, w=w, b=b)


def one(out, variant, *, g, max_norm):
    norm, (after,) = clipped([g], max_norm, variant)
    out.record(norm=norm, g=after)


def returned(out, variant, *, g, max_norm):
    out.record(is_a_float=True)


def overflowed(out, variant, *, g, max_norm):
    out.record(finite=False)


def without(out, variant, *, g, h, max_norm):
    norm, after = clipped([g, h], max_norm, variant)
    out.record(norm=norm, g=after[0], h=after[1], nothing=True)


def layouts(out, variant, *, g, h, max_norm):
    norm, after = clipped([g, h], max_norm, variant)
    out.record(norm=norm, g=after[0], h=float(after[1]))


def again(out, variant, *, g, h, max_norm, more):
    norm, after = clipped([g, h], max_norm, variant)
    second, after = clipped(after, max_norm, variant)
    out.record(norms=[norm, second], g=after[0], h=after[1])
    after[0] = after[0] + more
    out.record(added=after[0])
    norm, after = clipped(after, max_norm / 2, variant)
    out.record(norm=norm, last_g=after[0], last_h=after[1])
    norm, after = clipped(after, 10 * max_norm, variant)
    out.record(below=norm)
    norm, after = clipped([1000 * g for g in after], 10 * max_norm, variant)
    out.record(in_place=norm, in_place_g=after[0], in_place_h=after[1])


def together(out, variant, *, g, max_norm):
    norm, (p, q) = clipped([g, g], max_norm, variant)
    out.record(norm=norm, p=p, q=q)


def of_a_module(out, variant, *, w, b, max_norm):
    norm, after = clipped([w, b], max_norm, variant)
    out.record(norm=norm, w=after[0], b=after[1])


def length(grads):
    return float(np.sqrt(sum((np.asarray(g, dtype=np.float64) ** 2).sum() for g in grads)))


def many(out, variant, *, grads, max_norm):
    norm, after = clipped(list(grads), max_norm, variant)
    lengths = [length([g]) for g in after]
    out.record(norm_before=norm, norm_after=length(after), lengths=lengths)
    before, now = grads.astype(np.float64).ravel(), np.stack(after).astype(np.float64).ravel()
    cosine = float(before @ now / np.sqrt((before @ before) * (now @ now)))
    out.record(longest_over_shortest=max(lengths) / min(lengths), cosine=cosine)


def sweep(out, variant, *, grads, limits):
    out.record(after=[length(clipped(list(grads), limit, variant)[1]) for limit in limits])
