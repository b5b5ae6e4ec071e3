"""The schedule from first principles: a line, half a cosine wave, a constant.

Variant: "whole_span" divides by all iterations, the warm-up included.
"""

import math


def rate(it, *, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters, variant=""):
    if it < warmup_iters:
        return max_learning_rate * it / warmup_iters
    if it >= cosine_cycle_iters:
        return min_learning_rate
    span = cosine_cycle_iters - (0 if variant == "whole_span" else warmup_iters)
    way = (it - warmup_iters) / span
    weight = (1 + math.cos(math.pi * way)) / 2
    return weight * max_learning_rate + (1 - weight) * min_learning_rate


def rates(out, variant, *, its, **given):
    for it in its.tolist():
        out.record(**{f"rate at it = {it}": float(rate(it, **given, variant=variant))})
    warmup, cycle = given["warmup_iters"], given["cosine_cycle_iters"]
    out.name(span=float(cycle - warmup), cycle=float(cycle))


def way_of(way, *, max_learning_rate, min_learning_rate, **spans):
    """The rate where the cosine is taken of so many half turns."""
    weight = (1 + math.cos(math.pi * way)) / 2
    return weight * max_learning_rate + (1 - weight) * min_learning_rate


def top(out, variant, *, its, **given):
    rates(out, variant, its=its, **given)
    high, low = given["max_learning_rate"], given["min_learning_rate"]
    share = given["warmup_iters"] / given["cosine_cycle_iters"]
    out.name(
        **{
            "2 * max_learning_rate - min_learning_rate": 2 * high - low,
            "max_learning_rate + min_learning_rate": high + low,
            "the cosine at it / cosine_cycle_iters": way_of(share, **given),
        }
    )


def halfway(out, variant, *, its, **given):
    rates(out, variant, its=its, **given)
    warmup, cycle = given["warmup_iters"], given["cosine_cycle_iters"]
    out.name(
        **{
            "the cosine of 1/2 instead of pi/2": way_of(0.5 / math.pi, **given),
            "the cosine at (it - warmup_iters) / cosine_cycle_iters": way_of(
                (int(its[0]) - warmup) / cycle, **given
            ),
        }
    )


def warmup(out, variant, *, its, **given):
    rates(out, variant, its=its, **given)


def cosine(out, variant, *, its, **given):
    rates(out, variant, its=its, **given)


def after(out, variant, *, its, **given):
    rates(out, variant, its=its, **given)


def whole(out, variant, *, steps, **given):
    found = [float(rate(it, **given, variant=variant)) for it in range(steps)]
    warmup, end = given["warmup_iters"], given["cosine_cycle_iters"]
    out.record(rates=found, last_of_the_cosine=found[end - 1], halfway=found[(warmup + end) // 2])
    out.record(after_the_end=found[-1])
