"""SGD from first principles: each velocity is written out as a sum over all gradients so far.

With one rate throughout, "p -= lr * v" and "the rate goes into v" are the same; where the rate
changes under momentum they part, and nothing is recorded there.
"""

import numpy as np


def velocity(grads, momentum):
    """sum of momentum^age * g over `grads` (t, *shape), the newest last and of age 0."""
    ages = np.arange(len(grads) - 1, -1, -1)
    return np.tensordot(np.float64(momentum) ** ages, grads, 1)


def track(p, grads, lr, momentum=None):
    """All places of a parameter: p, and where it is after each step."""
    places = [p]
    for t in range(1, len(grads) + 1):
        places.append(places[-1] - lr * velocity(grads[:t], momentum or 0.0))
    return places


def settings(out, variant, *, p, lr, later):
    out.record(lr=lr, p=p, later=later)


def steps(out, variant, *, w, b, k, w_grads, b_grads, k_grads, lr, momentum):
    for name, p, grads in (("w", w, w_grads), ("b", b, b_grads), ("k", k, k_grads)):
        places = track(p, grads, lr, momentum)
        out.record(**{name + "_moves": np.diff(np.stack(places, -1)), name: places[-1]})


def schedule(out, variant, *, p, grads, lrs):
    places = [p]
    for g, lr in zip(grads, lrs):
        places.append(places[-1] - lr * g)
    out.record(moves=np.diff(np.stack(places, -1)), p=places[-1])


def another_rate(out, variant, *, p, grads, lr, later, momentum):
    out.record(p=track(p, grads, later, momentum)[-1])


def accumulated(out, variant, *, p, grads, lr, momentum):
    both = grads[0] + grads[1]
    places = track(p, np.stack([both, both, grads[2]]), lr, momentum)
    out.record(after_two_backwards=places[1], grad_after_a_step=both)
    out.record(after_a_second_step=places[2], grad_after_two_steps=both)
    out.record(after_clearing=places[2], grad=grads[2], after_a_fresh_backward=places[3])


def cleared(out, variant, *, p, grad, lr):
    out.record(nothing_left=True, p=p)


def rewritten(out, variant, *, p, other, grads, lr, momentum):
    for t in (3, 4):
        other = other - lr * velocity(grads[:t], momentum)
    out.record(p=other)


def without(out, variant, *, p, idle, q, place, grads, lr, momentum):
    out.record(p=track(p, grads, lr, momentum)[-1], idle=idle, q=track(q, grads, lr, momentum)[-1])


def apart(out, variant, *, p, q, grads, lr, momentum):
    out.record(p=track(p, grads, lr, momentum)[-1], q=track(q, grads[::2], lr, momentum)[-1])


def succession(out, variant, *, p, grads, first, lr, momentum):
    taken_over = track(p, grads[:first], lr, momentum)[-1]
    out.record(p=track(taken_over, grads[first:], lr, momentum)[-1])


def of_a_module(out, variant, *, w, b, w_grad, b_grad, lr, momentum):
    for name, p, g in (("w", w, w_grad), ("b", b, b_grad)):
        out.record(**{name: track(p, np.stack([g, g]), lr, momentum)[-1]})


def crowd(out, variant, *, p, grads, lr):
    out.record(p=track(p, grads, lr)[-1], cleared=[True] * len(p))
