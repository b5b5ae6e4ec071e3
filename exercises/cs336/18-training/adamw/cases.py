"""Inputs for AdamW. p: a parameter, grads: (T, *p.shape), a gradient for each step.

The handout adds eps to the root of the raw average and decays after the step, PyTorch adds it to the root of
the corrected one and decays before. Both are right, so gradients are large beside eps, and the product of
lr, weight_decay and the step is small beside p, but where eps or the decay stands alone.
"""

import numpy as np

NO_DECAY = 1e-9  # far below rounding; a decay of 0 is refused by some, and asked for as advice
STEPS = {"one_step": 1, "one_step_betas": 1, "long": 100}


def signed(rng, shape, low, high):
    """Numbers between low and high, or between their negatives: none is near 0."""
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(low, high, shape)


def sizes(rng, regime):
    if regime == "large":
        return 60, 90
    return tuple(int(n) for n in rng.choice(np.arange(3, 8), 2, replace=False))


def settings(rng, **others):
    lr = float(rng.uniform(0.02, 0.1))
    usual = {"lr": lr, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": NO_DECAY}
    return {**usual, **others}


def other_betas(rng):
    return {"beta1": float(rng.uniform(0.4, 0.7)), "beta2": float(rng.uniform(0.8, 0.95))}


def steps(rng, regime, dtype):
    """A few steps, of which none decays by more than rounding."""
    shape, T = sizes(rng, regime), STEPS.get(regime, 4)
    given = {"p": signed(rng, shape, 0.5, 1.5), "grads": signed(rng, (T, *shape), 0.3, 2.0)}
    given = {name: np.asarray(value, dtype) for name, value in given.items()}
    betas = other_betas(rng) if regime in ("betas", "one_step_betas") else {}
    return {**given, **settings(rng, **betas)}


def first(rng, regime, dtype):
    return steps(rng, "one_step_betas" if regime == "betas" else "one_step", dtype)


def second(rng, regime, dtype):
    drawn = steps(rng, regime, dtype)
    return {**drawn, "grads": drawn["grads"][:2]}


def decay(rng, regime, dtype):
    """idle: the gradients are 0, so that nothing moves but by the decay."""
    shape = sizes(rng, regime)
    p = np.asarray(signed(rng, shape, 0.5, 1.5), dtype)
    if regime == "idle":
        grads, T = np.zeros((3, *shape), dtype), 3
        chosen = {"lr": float(rng.uniform(0.05, 0.2)), "weight_decay": float(rng.uniform(0.3, 0.8))}
    elif regime == "traced":  # where the order of step and decay is within rounding
        grads = np.asarray(signed(rng, (2, *shape), 0.3, 2.0), dtype)
        decay = float(rng.uniform(0.7, 0.95))
        chosen = {"lr": float(rng.uniform(1e-3, 2e-3)), "weight_decay": decay, **other_betas(rng)}
    else:
        T = 10
        grads = np.asarray(signed(rng, (T, *shape), 0.3, 2.0), dtype)
        chosen = {"lr": 0.01, "weight_decay": float(rng.uniform(0.2, 0.3))}
    return {"p": p, "grads": grads, **settings(rng, **chosen)}


def several(rng, regime, dtype):
    """Two parameters of different shapes."""
    n, m = sizes(rng, regime)
    drawn = {"p": signed(rng, (n, m), 0.5, 1.5), "p_grads": signed(rng, (3, n, m), 0.3, 2.0)}
    drawn.update(q=signed(rng, (m,), 0.5, 1.5), q_grads=signed(rng, (3, m), 0.3, 2.0))
    return {**{k: np.asarray(v, dtype) for k, v in drawn.items()}, **settings(rng)}


def epsilon(rng, regime, dtype):
    """A first step in which eps is about as large as the gradient."""
    g, eps = float(rng.uniform(0.5, 2.0)), float(rng.uniform(0.1, 0.5))
    return {"g": g, **settings(rng, lr=0.1, beta1=0.8, beta2=0.75, eps=eps)}


def reloaded(rng, regime, dtype):
    return steps(rng, regime, dtype)


def rates(rng, regime, dtype):
    """The learning rate is written into the group before each step."""
    drawn = steps(rng, regime, dtype)
    return {**drawn, "lrs": np.asarray(rng.uniform(0.02, 0.2, len(drawn["grads"])), dtype)}


def groups(rng, regime, dtype):
    """Two groups, each with a rate and a decay of its own."""
    drawn = several(rng, regime, dtype)
    drawn["p_grads"][...] = 0.0  # what moves p is its decay alone
    del drawn["lr"], drawn["weight_decay"]
    lrs = {"p_lr": float(rng.uniform(0.05, 0.1)), "q_lr": float(rng.uniform(0.2, 0.4))}
    return {**drawn, **lrs, "p_weight_decay": float(rng.uniform(0.3, 0.8))}


def without(rng, regime, dtype):
    """A parameter without a gradient stands before the one that has."""
    drawn = steps(rng, regime, dtype)
    return {**drawn, "idle": np.asarray(signed(rng, (2, 3), 0.5, 1.5), dtype)}


def kept(rng, regime, dtype):
    drawn = steps(rng, regime, dtype)
    return {**drawn, "weight_decay": 0.1}


def walk(rng, regime, dtype):
    if regime == "shown":
        return {"g": 1.0, "steps": 60, "lr": 0.01}
    return {
        "g": float(rng.uniform(0.5, 2.0)),
        "steps": int(rng.integers(5, 20)),
        "lr": float(rng.uniform(0.01, 0.1)),
    }


def valley(rng, regime, dtype):
    start = 1.0 if regime == "shown" else float(rng.uniform(0.5, 2.0))
    steps = 100 if regime == "shown" else int(rng.integers(5, 20))
    return {"start": np.asarray([start], dtype), "steps": steps, "lr": 0.01}


def rest(rng, regime, dtype):
    """A gradient of 0 and a decay that is not small beside the number."""
    shown = regime == "shown"
    return {
        "start": np.asarray([1.0 if shown else float(rng.uniform(0.5, 2.0))], dtype),
        "steps": 120 if shown else int(rng.integers(2, 9)),
        "lr": 0.01,
        "weight_decay": 0.1 if shown else float(rng.uniform(0.1, 0.5)),
    }


def noise(rng, regime, dtype):
    """Gradients that change sign, + - - + + - - +, so that they cancel out."""
    shown = regime == "shown"
    count = 25 if shown else int(rng.integers(3, 8))
    return {
        "start": np.asarray([1.0 if shown else float(rng.uniform(0.5, 2.0))], dtype),
        "signs": np.asarray(np.tile([1.0, -1.0, -1.0, 1.0], count), dtype),
        "quiet": 0.01,
        "loud": 10.0,
        "lr": 0.01,
        "weight_decay": 0.1 if shown else float(rng.uniform(0.1, 0.3)),
    }
