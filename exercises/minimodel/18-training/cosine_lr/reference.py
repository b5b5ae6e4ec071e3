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


def rates(steps, **given):
    return [float(rate(int(step), **given)) for step in steps]


def schedule(out, variant, *, steps, **given):
    out.record(rates=rates(steps, **given))


def start(out, variant, **given):
    out.record(is_a_rate=True)


def two(out, variant, *, steps, **given):
    one = {name: given[name] for name in ("max_lr", "min_lr", "warmup", "total")}
    other = {name: given["other_" + name] for name in one}
    out.record(rates=rates(steps, **one), others=rates(steps, **other))
