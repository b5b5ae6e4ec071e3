"""One factor, max_l2_norm / norm, for all gradients whose norm together is larger. An eps of 1e-6 beside
the norm is within rounding here.

Variant: "per_parameter" shortens each gradient by itself, to max_l2_norm, where it alone is longer.
"""

import numpy as np


def length(grads):
    return float(np.sqrt(sum((g.astype(np.float64) ** 2).sum() for g in grads)))


def factors_of(grads, max_l2_norm, variant=None):
    """What each gradient is multiplied by."""
    own = [length([g]) if variant == "per_parameter" else length(grads) for g in grads]
    return [max_l2_norm / norm if norm > max_l2_norm else 1.0 for norm in own]


def clipped(grads, max_l2_norm, variant=None):
    """The gradients afterwards, and the norm before."""
    factors = factors_of(grads, max_l2_norm, variant)
    return [f * g.astype(np.float64) for f, g in zip(factors, grads)], length(grads)


def forward(out, variant, *, grads, max_l2_norm, frozen):
    after, norm = clipped(grads, max_l2_norm, variant)
    factors = factors_of(grads, max_l2_norm, variant)
    out.record(how_many_changed=sum(factor != 1.0 for factor in factors))
    out.within(factors_within_a_gradient=(0.999, 1.001))
    if variant:
        out.record(factors_of_two_gradients=max(factors) / min(factors))
    else:
        out.within(factors_of_two_gradients=(0.999, 1.001))
    out.record(norm_afterwards=length(after), grads=np.stack(after))
    out.name(factor=factors[0], limit=max_l2_norm, gradient=grads[0])
    out.record(new_tensors=0, parameters_stay=True)
    norms = [float(np.sqrt((g.astype(np.float64) ** 2).sum())) for g in grads]
    out.name(
        norm=norm, sum_of_norms=sum(norms), largest_norm=max(norms), parameters=float(len(grads))
    )
    out.name(sum_of_absolutes=float(np.abs(grads).sum()), largest=float(np.abs(grads).max()))


def unlike(out, variant, *, a, b, c, without, max_l2_norm):
    grads = {"a": a, "b": b, "c": c}
    there = {name: g for i, (name, g) in enumerate(grads.items()) if i != without}
    after = dict(zip(there, clipped(list(there.values()), max_l2_norm, variant)[0]))
    for name in grads:
        out.record(**{"grad_of_" + name: after.get(name, "none")})


def nothing(out, variant, *, weights, max_l2_norm):
    out.record(still_without=True)


def generator(out, variant, *, grads, max_l2_norm, frozen):
    factors = factors_of(grads, max_l2_norm, variant)
    out.record(how_many_changed=sum(factor != 1.0 for factor in factors))
    out.record(grads=np.stack(clipped(grads, max_l2_norm, variant)[0]))


def many(out, variant, *, grads, max_l2_norm):
    after, norm = clipped(grads, max_l2_norm, variant)
    total, lengths = length(after), [length([g]) for g in after]
    out.record(norm_before=norm, norm_after=total)
    here = {"limit": max_l2_norm, "unchanged": norm}
    found = [name for name, size in here.items() if abs(total - size) < 0.01 * size]
    out.record(norm_after_is=found[0] if found else "other")
    out.record(lengths=lengths, longest_over_shortest=max(lengths) / min(lengths))
    dot = sum(float((g.astype(np.float64) * a).sum()) for g, a in zip(grads, after))
    cosine = dot / (norm * total)
    out.record(cosine=cosine, angle=round(float(np.degrees(np.arccos(min(cosine, 1.0)))), 1))


def sweep(out, variant, *, grads, limits):
    out.record(after=[length(clipped(grads, float(limit), variant)[0]) for limit in limits])
