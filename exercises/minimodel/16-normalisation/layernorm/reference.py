"""Layer normalisation in float64, its gradient by the Jacobian of each row, and three bugs.

Variants: "no_eps" divides by the bare standard deviation; "wrong_axis" takes mean and variance over
the axis before the last, so it needs two axes; "unbiased" divides the sum of squares by d - 1, so
one feature gives 0 / 0.
"""

import numpy as np

EPS = 1e-5


class Rows:
    """x (..., d) normalised; `back` brings a gradient of the normalised numbers back to x."""

    def __init__(self, x, eps, variant):
        self.axis = -2 if variant == "wrong_axis" else -1
        x = np.moveaxis(np.asarray(x, dtype=np.float64), self.axis, -1)
        self.eps = 0.0 if variant == "no_eps" else EPS if eps is None else eps
        self.mean = x.mean(-1, keepdims=True)
        self.centred = x - self.mean
        self.count = x.shape[-1] - (1 if variant == "unbiased" else 0)
        self.var = (self.centred**2).sum(-1, keepdims=True) / self.count
        self.inv_std = 1 / np.sqrt(self.var + self.eps)
        self.last = self.centred * self.inv_std
        self.normalised = np.moveaxis(self.last, -1, self.axis)

    def back(self, grad):
        """d n_i / d x_j = (delta_ij - 1/d - n_i n_j / count) / std, with or without eps in std."""
        n, d = self.last, self.last.shape[-1]
        jacobian = np.eye(d) - 1 / d - n[..., :, None] * n[..., None, :] / self.count
        jacobian = self.inv_std[..., None] * jacobian  # (..., d, d)
        moved = np.moveaxis(grad, self.axis, -1)
        return np.moveaxis((moved[..., None, :] @ jacobian)[..., 0, :], -1, self.axis)


def layernorm(x, gain, bias, grad, eps=None, variant=None):
    """y, and the gradients of sum(y * grad)."""
    with np.errstate(all="ignore"):
        rows = Rows(x, eps, variant)
        gain, bias = gain.astype(np.float64), bias.astype(np.float64)
        grad = grad.astype(np.float64)
        lead = tuple(range(x.ndim - 1))
        return {
            "rows": rows,
            "y": rows.normalised * gain + bias,
            "grad_x": rows.back(grad * gain),
            "grad_gain": (grad * rows.normalised).sum(lead),
            "grad_bias": grad.sum(lead),
        }


def plainly(x, variant):
    """What a new norm makes of x."""
    d = x.shape[-1]
    return layernorm(x, np.ones(d), np.zeros(d), np.zeros_like(x), None, variant)["y"]


def start(out, variant, *, d):
    out.record(gain=np.ones(d), bias=np.zeros(d), parameters=2)
    out.record(gain_is_found=True, bias_is_found=True)


def forward(out, variant, *, x, gain, bias, eps, grad):
    found = layernorm(x, gain, bias, grad, eps, variant)
    rows = found.pop("rows")
    out.record(**found)
    std = np.sqrt(rows.var + rows.eps)
    out.name(x=x, gain=gain, bias=bias, eps=float(rows.eps), mean=rows.mean, centred=rows.centred)
    out.name(squared=rows.centred**2, var=rows.var, var_eps=rows.var + rows.eps, std=std)
    out.name(inv_std=rows.inv_std, normalised=rows.normalised, scaled=rows.normalised * gain)
    out.name(width=float(x.shape[-1]))


def residual(out, variant, *, x, gain, bias, grad):
    found = layernorm(x, gain, bias, grad, None, variant)
    out.record(total=x + found["y"], grad_x=grad + found["grad_x"])
    for side in ("left", "right"):
        out.record(**{f"grad_{side}": found["grad_x"], f"grad_beside_{side}": grad})
    out.record(grad_both=found["grad_x"], grad_beside_both=found["grad_x"])


def arrives(out, variant, *, x, gain, bias, grad):
    out.record(x=True, gain=True, bias=True)


def again(out, variant, *, x, other, gain, bias, new_gain, new_bias, turned, grad, other_grad):
    one = layernorm(x, gain, bias, grad, None, variant)
    two = layernorm(other, gain, bias, other_grad, None, variant)
    out.record(y=one["y"], z=two["y"], grad_x=one["grad_x"], grad_other=two["grad_x"])
    out.record(grad_gain=one["grad_gain"] + two["grad_gain"])
    out.record(grad_bias=one["grad_bias"] + two["grad_bias"])
    three = layernorm(x, new_gain, new_bias, grad, None, variant)
    out.record(changed=three["y"], evaluated=three["y"])
    view = turned.swapaxes(0, 1)
    four = layernorm(view, new_gain, new_bias, np.zeros_like(view), None, variant)
    out.record(turned=four["y"])
    out.record(grad_gain_alone=three["grad_gain"], grad_bias_alone=three["grad_bias"])


def step(out, variant, *, x, grad, lr):
    d = x.shape[-1]
    gain, bias = np.ones(d), np.zeros(d)
    found = layernorm(x, gain, bias, grad, None, variant)
    out.record(y=found["y"], nan_rows=int(np.isnan(found["y"]).any(-1).sum()))
    out.record(grad_gain=found["grad_gain"], grad_bias=found["grad_bias"])
    gain, bias = gain - lr * found["grad_gain"], bias - lr * found["grad_bias"]
    out.record(nan_in_gain=int(np.isnan(gain).sum()), nan_in_bias=int(np.isnan(bias).sum()))
    after = layernorm(x, gain, bias, grad, None, variant)["y"]
    out.record(nan_rows_after=int(np.isnan(after).any(-1).sum()))


def spreads(out, variant, *, x, last_bit):
    """The row that differs in its last bit is left to rounding, so it is not compared."""
    sizes = [float(size) for size in np.sqrt((plainly(x, variant) ** 2).mean(-1))]
    out.record(sizes=sizes, last_size=sizes[-1])


def positions(out, variant, *, x, last):
    y = plainly(x, variant)
    out.record(y=y, zero_mean_over="positions" if variant == "wrong_axis" else "features")
    changed = np.concatenate([x[:-1], last[None]])
    moved = np.abs(plainly(changed, variant) - y).max(-1)
    out.record(moved=moved, moved_positions=int((moved > 1e-6).sum()))
    out.record(largest_alone=float(np.abs(plainly(x[:1], variant)).max()))


def prefixes(out, variant, *, x):
    out.record(first=np.array([plainly(x[: n + 1], variant)[0, 0] for n in range(len(x))]))


def widths(out, variant, *, x, widths):
    """What is missing to 1 is not compared: where it is little, rounding decides."""
    whole = x.astype(np.float64)
    sizes = [float(np.sqrt((plainly(whole[:, :d], variant) ** 2).mean())) for d in widths]
    out.record(sizes=sizes, size_at_the_start=sizes[0])


def alone(out, variant, *, x, bias):
    healthy = variant != "unbiased"
    out.record(defined=healthy, becomes="bias" if healthy else "nan")


def beside(out, variant, *, x, gain, bias, eps, other_eps):
    for name, one in (("first", eps), ("second", other_eps)):
        out.record(**{name: layernorm(x, gain, bias, np.zeros_like(x), one, variant)["y"]})
