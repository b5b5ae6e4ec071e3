"""AdamW from first principles in float64: m and v corrected, eps beside the root, the decay apart from both.

p shrinks before the step, and eps is added to the corrected root: as PyTorch does it. What the handout does
instead is within rounding in all probes but `epsilon`, which takes either.

Variants: "no_bias_correction" takes m and v as they are; "l2" adds the decay to the gradient, and to
nothing else.
"""

import numpy as np


def path(p, grads, beta1, beta2, lr, eps, weight_decay, *, lrs=None, coupled=False, corrected=True):
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


BUGS = {"no_bias_correction": {"corrected": False}, "l2": {"coupled": True}}


def places_of(variant, *given, **settings):
    """`path`, with the bug that the variant names."""
    return path(*given, **settings, **BUGS.get(variant, {}))


def moves(places):
    return [after - before for before, after in zip(places, places[1:])]


def steps(out, variant, *, p, grads, **settings):
    places = places_of(variant, p, grads, **settings)
    for t, move in enumerate(moves(places)[:4], 1):
        out.record(**{f"move_of_step_{t}": move})
    out.record(p=places[-1])
    named(out, p, grads, **settings)


def named(out, p, grads, beta1, beta2, lr, eps, weight_decay):
    """What code may hold in the last step."""
    before = path(p, grads, beta1, beta2, lr, eps, weight_decay)[-2]
    m, v = averages(grads.astype(np.float64), beta1, beta2)
    by_m, by_v = 1 - beta1 ** len(grads), 1 - beta2 ** len(grads)
    out.name(
        m=m, v=v, m_hat=m / by_m, v_hat=v / by_v, root_v=np.sqrt(v), root_v_hat=np.sqrt(v / by_v)
    )
    out.name(by_m=by_m, by_v=by_v, root_by_v=np.sqrt(by_v), lr=lr, lr_by_m=lr / by_m)
    out.name(step_size=lr * np.sqrt(by_v) / by_m, weight_decay=weight_decay)
    out.name(g=grads[-1].astype(np.float64), before=before, keep=1 - lr * weight_decay)
    moved = lr * (m / by_m) / (np.sqrt(v / by_v) + eps)
    pull = lr * weight_decay
    out.name(pull=pull * before, pull_after=pull * (before - moved))


def averages(grads, beta1, beta2):
    """m and v after these gradients."""
    m = v = 0.0
    for g in grads:
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    return m, v


def first(out, variant, *, p, grads, lr, beta1, beta2, **settings):
    out.record(elements_that_move=p.size)
    out.within(longest_by_shortest=(0.999, 1.001))
    out.record(first_step_in_units_of_lr=1.0)
    known = {
        "(1 - beta1) / sqrt(1 - beta2)": (1 - beta1) / np.sqrt(1 - beta2),
        "1 / sqrt(1 - beta2)": 1 / np.sqrt(1 - beta2),
        "1 - beta1": 1 - beta1,
    }
    out.name(**{name: float(value) for name, value in known.items()})


def second(out, variant, *, p, grads, lr, beta1, beta2, eps, weight_decay):
    """What comes out where m, v or t begin anew is named."""
    g, h = grads.astype(np.float64)

    def move(m, v, by_m=1 - beta1**2, by_v=1 - beta2**2):
        return -lr * (m / by_m) / np.sqrt(v / by_v)

    def both(beta1, beta2):
        m = (1 - beta1) * (beta1 * g + h)
        return m, (1 - beta2) * (beta2 * g**2 + h**2)

    m, v = both(beta1, beta2)
    new_m, new_v = (1 - beta1) * h, (1 - beta2) * h**2
    out.record(move_of_step_2=move(m, v))
    out.name(
        **{
            "step 2 from m = 0 and v = 0, with t = 1": -lr * np.sign(h),
            "step 2 from m = 0 and v = 0": move(new_m, new_v),
            "step 2 from m = 0": move(new_m, v),
            "step 2 from v = 0": move(m, new_v),
            "step 2 with beta1 and beta2 exchanged": move(
                *both(beta2, beta1), 1 - beta2**2, 1 - beta1**2
            ),
            "the step for t = 1 / the step for t = 2": float(
                np.median(move(m, v, 1 - beta1, 1 - beta2) / move(m, v))
            ),
            "the step for t = 3 / the step for t = 2": float(
                np.median(move(m, v, 1 - beta1**3, 1 - beta2**3) / move(m, v))
            ),
        }
    )


def decay(out, variant, *, p, grads, **settings):
    out.record(p=places_of(variant, p, grads, **settings)[-1])
    named(out, p, grads, **settings)
    coupled = path(p, grads, **settings, coupled=True)[-1]
    lr, weight_decay = settings["lr"], settings["weight_decay"]
    T = len(grads)
    kept = (1 - lr * weight_decay) ** T
    out.name(
        **{
            "Adam with weight_decay * p added to the gradient": coupled,
            "p without any decay / p": 1 / kept,
            f"p * (1 - weight_decay)**{T} / p": ((1 - weight_decay) ** T) / kept,
            f"p * (1 + lr * weight_decay)**{T} / p": (1 + lr * weight_decay) ** T / kept,
        }
    )


def several(out, variant, *, p, p_grads, q, q_grads, **settings):
    both = {
        name: moves(places_of(variant, start, grads, **settings))
        for name, start, grads in (("p", p, p_grads), ("q", q, q_grads))
    }
    for t in range(len(p_grads)):
        for name, found in both.items():
            out.record(**{f"move_of_{name}_in_step_{t + 1}": found[t]})


def epsilon(out, variant, *, g, lr, eps, beta2, **settings):
    """Between the handout's eps, beside the raw root, and PyTorch's, beside the corrected one."""
    raw = g / (g + eps / np.sqrt(1 - beta2))
    out.within(first_step_in_units_of_lr=(0.998 * raw, 1.002 * g / (g + eps)))


def reloaded(out, variant, *, p, grads, **settings):
    out.record(move_of_step_4=moves(path(p, grads, **settings))[3])
    third = path(p, grads[:3], **settings)[-1]
    out.name(
        **{"a first step: m, v and t begin anew": moves(path(third, grads[3:], **settings))[0]}
    )


def rates(out, variant, *, p, grads, lrs, **settings):
    for t, move in enumerate(moves(places_of(variant, p, grads, **settings, lrs=lrs)), 1):
        out.record(**{f"move_of_step_{t}": move})


def groups(out, variant, *, p, p_grads, q, q_grads, p_lr, q_lr, p_weight_decay, **settings):
    out.record(q=path(q, q_grads, **settings, lr=q_lr, weight_decay=0.0)[-1])
    out.record(p=path(p, p_grads, **settings, lr=p_lr, weight_decay=p_weight_decay)[-1])


def without(out, variant, *, p, grads, idle, **settings):
    out.record(p=places_of(variant, p, grads, **settings)[-1], idle=idle)


def kept(out, variant, *, p, grads, **settings):
    out.record(is_an_optimizer=True, grad_stays=True, grad_cleared=True)


def followed(variant, start, grads, lr, weight_decay):
    """Where a number stands before and after each of these gradients. start: (1,), grads: (T,)"""
    settings = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "lr": lr, "weight_decay": weight_decay}
    return [float(p[0]) for p in places_of(variant, start, grads[:, None], **settings)]


def walk(out, variant, *, g, steps, lr):
    places = followed(variant, np.zeros(1), np.full(steps, g), lr, 0.0)
    lengths = [abs(after - before) / lr for before, after in zip(places, places[1:])]
    out.record(first_step=lengths[0], longest_step=max(lengths), last_step=lengths[-1])
    ratio = max(lengths) / lengths[0]
    later = "grow" if ratio > 1.1 else "shrink" if lengths[1] < 0.9 * lengths[0] else "stay"
    out.record(later_steps=later, longest_at=1 + int(np.argmax(np.round(lengths, 3))))
    out.record(lengths=lengths)


def valley(out, variant, *, start, steps, lr):
    settings = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "lr": lr, "weight_decay": 0.0}
    places, grads = [start.astype(np.float64)], []
    for _ in range(steps):
        grads.append(places[-1])
        places = places_of(variant, start, np.stack(grads), **settings)
    numbers = [float(p[0]) for p in places]
    out.record(lowest=min(numbers), last=numbers[-1], places=numbers)


def rest(out, variant, *, start, steps, lr, weight_decay):
    idle = np.zeros(steps)
    places = followed(variant, start, idle, lr, weight_decay)
    out.record(first_step=(places[0] - places[1]) / lr, last=places[-1], places=places)
    twice = followed(variant, start, idle, lr, 2 * weight_decay)
    out.record(first_step_twice=(twice[0] - twice[1]) / lr)
    out.record(twice_the_decay_gives="same" if variant == "l2" else "twice")


def noise(out, variant, *, start, signs, quiet, loud, lr, weight_decay):
    ends = {}
    for name, size in (("quiet", quiet), ("loud", loud)):
        places = followed(variant, start, size * signs.astype(np.float64), lr, weight_decay)
        ends[name] = places[-1]
        out.record(**{name: places[-1], name + "_places": places})
    apart = ends["quiet"] - ends["loud"]
    told = "same" if abs(apart) < 0.01 else "quiet" if apart < 0 else "loud"
    out.record(shrinks_more=told)
