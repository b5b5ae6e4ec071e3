"""Runs the learner's cosine_lr. Each rate is recorded under the step that it belongs to."""

import numpy as np


def number(value):
    """The number, however it comes: as a float, NumPy's or an array's. `returned` tells what it is."""
    try:
        return float(np.asarray(value).reshape(()))
    except (TypeError, ValueError):
        return value


def asked(learner, step, **schedule):
    """The rate at a step; what rounding left of 0 is 0."""
    rate = number(learner.cosine_lr(int(step), **schedule))
    if not isinstance(rate, float):
        return rate
    return rate if abs(rate) > 1e-12 * schedule["max_lr"] else 0.0


def at(step, total, again=False):
    """The name of a rate."""
    return f"rate at step {step}, total {total}{', asked again' * again}"


def schedule(learner, record, steps, max_lr, min_lr, warmup, total):
    """The rates at `steps`, which come in any order, some of them twice."""
    given = {"max_lr": max_lr, "min_lr": min_lr, "warmup": warmup, "total": total}
    for i, step in enumerate(steps):
        rate = asked(learner, step, **given)
        record(**{at(step, total, again=step in steps[:i]): rate})


def after(learner, record, steps, **given):
    """The rates beyond `total`."""
    schedule(learner, record, steps, **given)


def returned(learner, record, steps, **given):
    """A float, as the contract has it; NumPy's own count as well."""
    for step in steps:
        rate = learner.cosine_lr(int(step), **given)
        record(**{f"float at step {step}": isinstance(rate, (float, np.floating))})


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
    for step in steps:
        record(**{"one: " + at(step, total): asked(learner, step, **one)})
        record(**{"other: " + at(step, other_total): asked(learner, step, **other)})
