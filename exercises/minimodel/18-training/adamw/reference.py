"""AdamW from first principles: each average is a sum over all gradients so far.

The corrected averages m_hat and v_hat are weighted means whose weights beta^age add up to 1. The
variant "no_bias_correction" uses m and v themselves, whose weights (1 - beta) beta^age do not. The
variant "l2" adds weight_decay * p to each gradient before it enters the averages, and nothing else.
"""

import numpy as np

NO_CORRECTION = "no_bias_correction"
L2 = "l2"
DEFAULTS = {"lr": 1e-3, "beta_1": 0.9, "beta_2": 0.999, "eps": 1e-8, "weight_decay": 0.01}


def one_step(variant, seen, g, p, lr, beta_1, beta_2, eps, weight_decay):
    """p after a step with the gradient g, and the step's parts by name.

    seen: the sums over the gradients before, each times beta^age, of g and of g^2, then the sums of the
    beta^age by themselves; empty before the first step. This gradient is added to all four.
    """
    entered = g + weight_decay * p if variant == L2 else g
    before = seen or [0.0, 0.0, 0.0, 0.0]
    betas, fresh = (beta_1, beta_2, beta_1, beta_2), (entered, entered**2, 1.0, 1.0)
    seen[:] = [beta * old + new for beta, old, new in zip(betas, before, fresh)]
    sum_1, sum_2, weight_1, weight_2 = seen
    at = {"m": (1 - beta_1) * sum_1, "v": (1 - beta_2) * sum_2}
    at["bias_correction_1"] = (1 - beta_1) * weight_1
    at["bias_correction_2"] = (1 - beta_2) * weight_2
    at["m_hat"], at["v_hat"] = sum_1 / weight_1, sum_2 / weight_2
    if variant == NO_CORRECTION:
        at["m_hat"], at["v_hat"] = at["m"], at["v"]
    at["root"] = np.sqrt(at["v_hat"])
    at["denominator"] = at["root"] + eps
    at["update"] = at["m_hat"] / at["denominator"]
    at["before"], at["decay"] = p, weight_decay * p
    at["total"] = at["update"] if variant == L2 else at["update"] + at["decay"]
    return p - lr * at["total"], at


def settled(**given):
    return {name: DEFAULTS[name] if value is None else value for name, value in given.items()}


def track(variant, p, grads, **given):
    """All places of a parameter: p, and where it is after each step; and the last step's parts."""
    places, at, seen = [p], {}, []
    for g in grads:
        new, at = one_step(variant, seen, g, places[-1], **settled(**{**DEFAULTS, **given}))
        places.append(new)
    return places, at


def settings(out, variant, *, p, lr, later):
    out.record(default_lr=DEFAULTS["lr"], lr=lr, p=p, later=later)


def steps(out, variant, *, w, b, k, w_grads, b_grads, k_grads, **given):
    for name, p, grads in (("w", w, w_grads), ("b", b, b_grads), ("k", k, k_grads)):
        places, _ = track(variant, p, grads, **given)
        out.record(**{name + "_moves": np.diff(np.stack(places, -1)), name: places[-1]})
    out.name(**settled(**given))


def alone(out, variant, *, p, grads, **given):
    places, at = track(variant, p, grads, **given)
    out.record(p=places[-1])
    lr, eps = settled(**given)["lr"], settled(**given)["eps"]
    out.name(g=grads[-1], g_squared=grads[-1] ** 2, lr=lr, eps=eps, t=len(grads), **at)
    root_2 = np.sqrt(at["bias_correction_2"])
    out.name(sqrt_v=np.sqrt(at["v"]), sqrt_bias_correction_2=root_2)
    out.name(inverse_1=1 / at["bias_correction_1"], inverse_2=1 / at["bias_correction_2"])
    out.name(lr_12=lr * root_2 / at["bias_correction_1"], eps_2=eps * root_2)
    out.name(lr_1=lr / at["bias_correction_1"], moved=lr * at["update"])
    weight_decay, new = settled(**given)["weight_decay"], places[-1]
    out.name(weight_decay=weight_decay, keep=1 - lr * weight_decay, new=new)
    out.name(
        lr_decay=lr * at["decay"],
        lr_total=lr * at["total"],
        decayed=at["before"] - lr * at["decay"],
    )


def schedule(out, variant, *, p, grads, lrs, weight_decay):
    places, seen = [p], []
    for g, lr in zip(grads, lrs):
        now = {**DEFAULTS, "lr": lr, "weight_decay": weight_decay}
        places.append(one_step(variant, seen, g, places[-1], **now)[0])
    out.record(moves=np.diff(np.stack(places, -1)), p=places[-1])


def accumulated(out, variant, *, p, grads, lr):
    both = grads[0] + grads[1]
    places, _ = track(variant, p, np.stack([both, both, grads[2]]), lr=lr)
    out.record(after_two_backwards=places[1], grad_after_a_step=both)
    out.record(after_a_second_step=places[2], grad_after_two_steps=both)
    out.record(after_clearing=places[2], grad=grads[2], after_a_fresh_backward=places[3])


def rewritten(out, variant, *, p, other, grads, lr, weight_decay):
    now = {**DEFAULTS, "lr": lr, "weight_decay": weight_decay}
    seen = []
    for t, g in enumerate(grads):
        p, _ = one_step(variant, seen, g, other if t == 2 else p, **now)
    out.record(p=p)


def apart(out, variant, *, p, q, grads, lr):
    out.record(p=track(variant, p, grads, lr=lr)[0][-1])
    out.record(q=track(variant, q, grads[::2], lr=lr)[0][-1])


def succession(out, variant, *, p, grads, first, lr):
    taken_over = track(variant, p, grads[:first], lr=lr)[0][-1]
    out.record(p=track(variant, taken_over, grads[first:], lr=lr)[0][-1])


def of_a_module(out, variant, *, w, b, w_grad, b_grad, lr):
    for name, p, g in (("w", w, w_grad), ("b", b, b_grad)):
        out.record(**{name: track(variant, p, np.stack([g, g]), lr=lr)[0][-1]})


def walk(out, variant, *, g, steps, lr):
    places, _ = track(variant, np.zeros(1), np.stack([g] * steps), lr=lr, weight_decay=0.0)
    lengths = [abs(float(b[0] - a[0])) / lr for a, b in zip(places, places[1:])]
    out.record(
        first_step=lengths[0], longest_step=max(lengths), last_step=lengths[-1], lengths=lengths
    )


def valley(out, variant, *, start, steps, lr):
    places, seen = [start], []
    for _ in range(steps):
        now = {**DEFAULTS, "lr": lr, "weight_decay": 0.0}
        places.append(one_step(variant, seen, places[-1], places[-1], **now)[0])
    found = [float(place[0]) for place in places]
    out.record(lowest=min(found), last=found[-1], places=found)


def without(out, variant, *, p, idle, q, place, grads, lr, weight_decay):
    now = {"lr": lr, "weight_decay": weight_decay}
    out.record(p=track(variant, p, grads, **now)[0][-1], q=track(variant, q, grads, **now)[0][-1])


def rest(out, variant, *, start, steps, lr, weight_decay):
    places = at_rest(variant, start, steps, lr, weight_decay)
    out.record(first_step=(places[0] - places[1]) / lr, last=places[-1], places=places)
    twice = at_rest(variant, start, steps, lr, 2 * weight_decay)
    out.record(first_step_twice=(twice[0] - twice[1]) / lr)


def at_rest(variant, start, steps, lr, weight_decay):
    grads = np.zeros((steps, 1))
    places, _ = track(variant, start, grads, lr=lr, weight_decay=weight_decay)
    return [float(place[0]) for place in places]


def noise(out, variant, *, start, signs, quiet, loud, lr, weight_decay):
    for name, size in (("quiet", quiet), ("loud", loud)):
        now = {"lr": lr, "weight_decay": weight_decay}
        places, _ = track(variant, start, size * signs[:, None], **now)
        found = [float(place[0]) for place in places]
        out.record(**{name: found[-1], name + "_places": found})


def whole_modules(out, variant, *, others, start, steps, lr, weight_decay):
    given = {"lr": lr, "weight_decay": weight_decay}
    places, _ = track(variant, np.full(1, start), np.ones((steps, 1)), **given)
    last = float(places[-1][0])
    out.offered(**{role: [last, last] for role in others})


def crowd(out, variant, *, p, grads, lr):
    out.record(p=track(variant, p, grads, lr=lr)[0][-1], cleared=[True] * len(p))
