"""AdamW from first principles in float64: m and v corrected, eps beside the root, the decay apart from both.

p shrinks before the step, and eps is added to the corrected root: as PyTorch does it. What the handout does
instead is within rounding in all probes but `epsilon`, which takes either.
"""

import numpy as np


def walk(p, grads, beta1, beta2, lr, eps, weight_decay, *, lrs=None, coupled=False, corrected=True):
    """p after each step, p itself first."""
    places, m, v = [p.astype(np.float64)], 0.0, 0.0
    for t, g in enumerate(grads.astype(np.float64), 1):
        rate, p = lr if lrs is None else lrs[t - 1], places[-1]
        g = g + weight_decay * p if coupled else g
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        by_m, by_v = (1 - beta1**t, 1 - beta2**t) if corrected else (1.0, 1.0)
        shrunk = p if coupled else p * (1 - rate * weight_decay)
        places.append(shrunk - rate * (m / by_m) / (np.sqrt(v / by_v) + eps))
    return places


def moves(places):
    return [after - before for before, after in zip(places, places[1:])]


def steps(out, variant, *, p, grads, **settings):
    places = walk(p, grads, **settings)
    for t, move in enumerate(moves(places)[:4], 1):
        out.record(**{f"move_of_step_{t}": move})
    out.record(p=places[-1])
    lr, beta1, beta2 = settings["lr"], settings["beta1"], settings["beta2"]
    uncorrected = moves(walk(p, grads, **settings, corrected=False))
    fresh = moves(walk(p, grads[1:2], **settings))
    names = {"-lr * grad of step 1": -lr * grads[0].astype(np.float64)}
    if len(grads) > 1:
        v = (1 - beta2) * (beta2 * grads[0].astype(np.float64) ** 2 + grads[1] ** 2.0)
        m = (1 - beta1) * (beta1 * grads[0].astype(np.float64) + grads[1])
        names["a first step: m, v and t begin anew"] = fresh[0]
        names["a step with t = 1 again"] = (
            -lr * m / (1 - beta1) / (np.sqrt(v / (1 - beta2)) + settings["eps"])
        )
        names["step 2 without bias correction"] = uncorrected[1]
    out.name(**names)


def decay(out, variant, *, p, grads, **settings):
    out.record(p=walk(p, grads, **settings)[-1])
    coupled = walk(p, grads, **settings, coupled=True)[-1]
    lr, weight_decay = settings["lr"], settings["weight_decay"]
    grown = p.astype(np.float64) * (1 + lr * weight_decay) ** len(grads)
    whole = p.astype(np.float64) * (1 - weight_decay) ** len(grads)
    out.name(
        **{
            "Adam with weight_decay * p added to the gradient": coupled,
            "p * (1 + lr * weight_decay)**3": grown,
            "p * (1 - weight_decay)**3": whole,
        }
    )


def several(out, variant, *, p, p_grads, q, q_grads, **settings):
    both = {"p": moves(walk(p, p_grads, **settings)), "q": moves(walk(q, q_grads, **settings))}
    for t in range(len(p_grads)):
        for name, found in both.items():
            out.record(**{f"move_of_{name}_in_step_{t + 1}": found[t]})


def epsilon(out, variant, *, g, lr, eps, beta2, **settings):
    """Between the handout's eps, beside the raw root, and PyTorch's, beside the corrected one."""
    raw = g / (g + eps / np.sqrt(1 - beta2))
    out.within(first_step_in_units_of_lr=(0.998 * raw, 1.002 * g / (g + eps)))


def reloaded(out, variant, *, p, grads, **settings):
    out.record(move_of_step_4=moves(walk(p, grads, **settings))[3])
    third = walk(p, grads[:3], **settings)[-1]
    out.name(
        **{"a first step: m, v and t begin anew": moves(walk(third, grads[3:], **settings))[0]}
    )


def rates(out, variant, *, p, grads, lrs, **settings):
    for t, move in enumerate(moves(walk(p, grads, **settings, lrs=lrs)), 1):
        out.record(**{f"move_of_step_{t}": move})


def groups(out, variant, *, p, p_grads, q, q_grads, p_lr, q_lr, p_weight_decay, **settings):
    out.record(q=walk(q, q_grads, **settings, lr=q_lr, weight_decay=0.0)[-1])
    out.record(p=walk(p, p_grads, **settings, lr=p_lr, weight_decay=p_weight_decay)[-1])


def without(out, variant, *, p, grads, idle, **settings):
    out.record(p=walk(p, grads, **settings)[-1], idle=idle)


def kept(out, variant, *, p, grads, **settings):
    out.record(is_an_optimizer=True, grad_stays=True, grad_cleared=True)
