"""The schedule from first principles: a line, half a cosine wave, a constant."""

import math


def rate(step, max_lr, min_lr, warmup, total):
    if step < warmup:
        return max_lr * step / warmup
    if step >= total:
        return min_lr
    way = (step - warmup) / (total - warmup)
    # (1 + cos(pi x)) / 2 = cos(pi x / 2)^2
    weight = math.cos(math.pi * way / 2) ** 2
    return weight * max_lr + (1 - weight) * min_lr


def at(step, total, again=False):
    """The name of a rate, as in call.py."""
    return f"rate at step {step}, total {total}{', asked again' * again}"


def schedule(out, variant, *, steps, **given):
    for i, step in enumerate(steps):
        name = at(step, given["total"], again=step in steps[:i])
        out.record(**{name: float(rate(int(step), **given))})


def after(out, variant, *, steps, **given):
    schedule(out, variant, steps=steps, **given)


def returned(out, variant, *, steps, **given):
    for step in steps:
        out.record(**{f"float at step {step}": True})


def start(out, variant, **given):
    out.record(is_a_rate=True)


def two(out, variant, *, steps, **given):
    one = {name: given[name] for name in ("max_lr", "min_lr", "warmup", "total")}
    other = {name: given["other_" + name] for name in one}
    for step in steps:
        out.record(**{"one: " + at(step, one["total"]): float(rate(int(step), **one))})
        out.record(**{"other: " + at(step, other["total"]): float(rate(int(step), **other))})
