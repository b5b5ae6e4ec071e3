"""RMS normalisation in float64, and its gradient by the Jacobian of each row.

Variant "inverted": x is divided by 1 / rms, that is, multiplied by rms.
"""

import numpy as np

EPS = 1e-5


def rmsnorm(x, gain, grad, eps=None, variant=None):
    """y, and the gradients of sum(y * grad)."""
    x, gain, grad = (a.astype(np.float64) for a in (x, gain, grad))
    d = x.shape[-1]
    rms = np.sqrt(np.einsum("...i,...i->...", x, x)[..., None] / d + (EPS if eps is None else eps))
    outer = x[..., :, None] * x[..., None, :] / d  # x_i x_j / d
    if variant == "inverted":  # d n_i / d x_j = delta_ij rms + x_i x_j / (d rms)
        n = x * rms
        jacobian = np.eye(d) * rms[..., None] + outer / rms[..., None]
    else:  # d n_i / d x_j = (delta_ij - x_i x_j / (d rms^2)) / rms
        n = x / rms
        jacobian = (np.eye(d) - outer / rms[..., None] ** 2) / rms[..., None]
    return {
        "y": n * gain,
        "grad_x": ((grad * gain)[..., None, :] @ jacobian)[..., 0, :],
        "grad_gain": (grad * n).sum(tuple(range(x.ndim - 1))),
    }


def start(out, variant, *, d):
    out.record(gain=np.ones(d), parameters=1, gain_is_found=True)


def forward(out, variant, *, x, gain, eps, grad):
    out.record(**rmsnorm(x, gain, grad, eps, variant))
    eps = EPS if eps is None else eps
    square = x.astype(np.float64) ** 2
    mean_square = square.mean(-1, keepdims=True)
    rms = np.sqrt(mean_square + eps)
    out.name(x=x, gain=gain, eps=eps, squared=square, mean_square=mean_square)
    out.name(mean_square_eps=mean_square + eps, rms=rms, inv_rms=1 / rms, normalised=x / rms)


def residual(out, variant, *, x, gain, grad):
    found = rmsnorm(x, gain, grad, None, variant)
    out.record(total=x + found["y"], grad_x=grad + found["grad_x"])
    for side in ("left", "right"):
        out.record(**{f"grad_{side}": found["grad_x"], f"grad_beside_{side}": grad})
    out.record(grad_both=found["grad_x"], grad_beside_both=found["grad_x"])


def again(out, variant, *, x, other, gain, new_gain, turned, grad, other_grad):
    one = rmsnorm(x, gain, grad, None, variant)
    two = rmsnorm(other, gain, other_grad, None, variant)
    out.record(y=one["y"], z=two["y"], grad_x=one["grad_x"], grad_other=two["grad_x"])
    out.record(grad_gain=one["grad_gain"] + two["grad_gain"])
    three = rmsnorm(x, new_gain, grad, None, variant)
    out.record(changed=three["y"], evaluated=three["y"], grad_gain_alone=three["grad_gain"])
    view = turned.swapaxes(0, 1)
    out.record(turned=rmsnorm(view, new_gain, np.zeros_like(view), None, variant)["y"])


def arrives(out, variant, *, x, gain, grad):
    out.record(x=True, gain=True)


def plainly(x, variant):
    """What a new norm makes of x (T, d)."""
    return rmsnorm(x, np.ones(x.shape[-1]), np.zeros(x.shape), None, variant)["y"]


def sizes(x):
    """The root mean square of every row."""
    return [float(size) for size in np.sqrt((x.astype(np.float64) ** 2).mean(-1))]


def loudness(out, variant, *, x):
    found = sizes(plainly(x, variant))
    out.record(sizes=found, quietest=found[0], loudest=found[-1])


def chain(out, variant, *, x, depth):
    """The logarithms and the word for the end are not compared: 0 is left to rounding."""
    found = [sizes(x)]
    for _ in range(depth):
        x = plainly(x, variant)
        found.append(sizes(x))
    loud, quiet = (list(row) for row in zip(*found))
    out.record(loud=loud, quiet=quiet)


def beside(out, variant, *, x, gain, eps, other_eps):
    for name, one in (("first", eps), ("second", other_eps)):
        out.record(**{name: rmsnorm(x, gain, np.zeros_like(x), one, variant)["y"]})
