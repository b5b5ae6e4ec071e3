"""Runs the learner's cosine_lr."""

import numpy as np


def asked(learner, step, **schedule):
    """The rate at a step, if it is a float (NumPy's own is one); what rounding left of 0 is 0."""
    rate = learner.cosine_lr(int(step), **schedule)
    if not isinstance(rate, (float, np.floating)):
        return rate
    return float(rate) if abs(rate) > 1e-12 * schedule["max_lr"] else 0.0


def schedule(learner, record, steps, max_lr, min_lr, warmup, total):
    """The rates at `steps`, which come in any order, some of them twice."""
    given = {"max_lr": max_lr, "min_lr": min_lr, "warmup": warmup, "total": total}
    record(rates=[asked(learner, step, **given) for step in steps])


def start(learner, record, max_lr, min_lr, warmup, total):
    """Step 0 where there is no warm-up: a rate at all, from 0 to max_lr."""
    given = {"max_lr": max_lr, "min_lr": min_lr, "warmup": warmup, "total": total}
    rate = asked(learner, 0, **given)
    record(is_a_rate=bool(0.0 <= rate <= max_lr * 1.000001))


def two(
    learner, record, steps, max_lr, min_lr, warmup, total,
    other_max_lr, other_min_lr, other_warmup, other_total,
):  # fmt: skip
    """Two schedules in turns: what one is asked does not change the other."""
    one = {"max_lr": max_lr, "min_lr": min_lr, "warmup": warmup, "total": total}
    other = {"max_lr": other_max_lr, "min_lr": other_min_lr}
    other.update(warmup=other_warmup, total=other_total)
    rates, others = [], []
    for step in steps:
        rates.append(asked(learner, step, **one))
        others.append(asked(learner, step, **other))
    record(rates=rates, others=others)
