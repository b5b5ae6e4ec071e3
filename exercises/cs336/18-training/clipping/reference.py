"""One factor, max_l2_norm / norm, for all gradients whose norm together is larger. An eps of 1e-6 beside
the norm is within rounding here.
"""

import numpy as np


def clipped(grads, max_l2_norm):
    """The gradients afterwards, and the norm before."""
    norm = np.sqrt(sum((g.astype(np.float64) ** 2).sum() for g in grads))
    factor = max_l2_norm / norm if norm > max_l2_norm else 1.0
    return [factor * g.astype(np.float64) for g in grads], float(norm)


def forward(out, variant, *, grads, max_l2_norm, frozen):
    after, norm = clipped(grads, max_l2_norm)
    changed = norm > max_l2_norm
    out.record(how_many_changed=len(grads) if changed else 0)
    out.within(factors_within_a_gradient=(0.999, 1.001), factors_of_two_gradients=(0.999, 1.001))
    out.record(norm_afterwards=min(norm, max_l2_norm), grads=np.stack(after))
    out.record(new_tensors=0, parameters_stay=True)
    norms = [float(np.sqrt((g.astype(np.float64) ** 2).sum())) for g in grads]
    out.name(
        norm=norm, sum_of_norms=sum(norms), largest_norm=max(norms), parameters=float(len(grads))
    )
    out.name(sum_of_absolutes=float(np.abs(grads).sum()), largest=float(np.abs(grads).max()))


def unlike(out, variant, *, a, b, c, without, max_l2_norm):
    grads = {"a": a, "b": b, "c": c}
    there = {name: g for i, (name, g) in enumerate(grads.items()) if i != without}
    after = dict(zip(there, clipped(list(there.values()), max_l2_norm)[0]))
    for name in grads:
        out.record(**{"grad_of_" + name: after.get(name, "none")})


def nothing(out, variant, *, weights, max_l2_norm):
    out.record(still_without=True)


def generator(out, variant, *, grads, max_l2_norm, frozen):
    after, norm = clipped(grads, max_l2_norm)
    out.record(how_many_changed=len(grads) if norm > max_l2_norm else 0, grads=np.stack(after))
