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
    out.record(p=walk(p, grads, **settings)[-1])
    coupled = walk(p, grads, **settings, coupled=True)[-1]
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
