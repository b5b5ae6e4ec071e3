"""The mean over the examples of log(sum(exp(inputs))) - inputs[target], in float64.

Variant: "no_max" takes the exponentials of the inputs as they are, in float32.
"""

import numpy as np


def log_softmax(inputs):
    shifted = inputs.astype(np.float64) - inputs.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def log_of(inputs, variant):
    """log softmax(inputs)"""
    if variant != "no_max":
        return log_softmax(inputs)
    with np.errstate(all="ignore"):
        sums = np.exp(inputs.astype(np.float32)).sum(-1, keepdims=True)
        return inputs - np.log(sums).astype(np.float64)


def of_target(values, targets):
    return np.take_along_axis(values, targets[..., None], -1)[..., 0]


def rows(out, variant, *, inputs, targets):
    log_p = log_of(inputs, variant)
    of_each = -of_target(log_p, targets)
    out.record(loss_of_each_example=of_each)
    twice = -of_target(log_softmax(np.exp(log_softmax(inputs))), targets)
    logit = of_target(inputs.astype(np.float64), targets)
    largest = inputs.max(-1).astype(np.float64)
    known = {
        "cross_entropy(softmax(inputs), targets)": twice,
        "-inputs[target]": -logit,
        "logsumexp(inputs)": of_each + logit,
        "max(inputs)": largest,
        "-softmax(inputs)[target]": -np.exp(-of_each),
        "softmax(inputs)[target]": np.exp(-of_each),
        "-mean(log_softmax(inputs))": -log_p.mean(-1),
        "the entropy of softmax(inputs)": -(np.exp(log_p) * log_p).sum(-1),
    }
    out.name(**known)


def forward(out, variant, *, inputs, targets):
    loss = -of_target(log_of(inputs, variant), targets)
    mean = float(loss.mean())
    twice = 1.0 if np.isfinite(mean) else float("nan")
    out.record(numbers=1, loss=mean, loss_of_the_batch_twice_by_its_loss=twice)
    out.record(axes=0, inputs_stay=True)
    followed(out, inputs)
    out.name(examples=float(loss.size), classes=float(inputs.shape[-1]))


def followed(out, inputs):
    """What code may hold."""
    exact = inputs.astype(np.float64)
    largest = exact.max(-1, keepdims=True)
    shifted = exact - largest
    sums = np.log(np.exp(shifted).sum(-1, keepdims=True))
    out.name(inputs=exact, shifted=shifted, row_max=largest, log_sum=sums, whole=sums + largest)


def backward(out, variant, *, inputs, targets):
    log_p = log_softmax(inputs)
    one_hot = np.eye(inputs.shape[-1])[targets]
    out.record(grad_inputs=(np.exp(log_p) - one_hot) / targets.size)
    out.name(softmax=np.exp(log_p), one_hot=one_hot, examples=float(targets.size))


def kind(loss):
    if np.isfinite(loss):
        return "finite"
    return "nan" if np.isnan(loss) else "inf" if loss > 0 else "minus-inf"


def batch(out, variant, *, inputs, targets):
    loss = float(-of_target(log_of(inputs, variant), targets).mean())
    out.record(loss=loss, loss_is=kind(loss))


def sweep(out, variant, *, classes, levels):
    row = np.zeros((len(levels), classes), np.float32)
    row[:, 0] = levels
    losses = -log_of(row, variant)[:, 1]
    bad = np.flatnonzero(~np.isfinite(losses))
    out.record(losses=losses.tolist(), first_bad=float(levels[bad[0]]) if len(bad) else 0.0)
