"""The schedule from first principles: a line, half a cosine wave, a constant."""

import math


def rate(it, *, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters):
    if it < warmup_iters:
        return max_learning_rate * it / warmup_iters
    if it >= cosine_cycle_iters:
        return min_learning_rate
    way = (it - warmup_iters) / (cosine_cycle_iters - warmup_iters)
    weight = (1 + math.cos(math.pi * way)) / 2
    return weight * max_learning_rate + (1 - weight) * min_learning_rate


def rates(out, variant, *, its, **given):
    for it in its.tolist():
        out.record(**{f"rate at it = {it}": float(rate(it, **given))})


warmup = top = cosine = halfway = after = rates
