"""RMS normalisation in float64, and its gradient by the Jacobian of each row."""

import numpy as np

EPS = 1e-5


def rmsnorm(x, gain, grad, eps=None):
    """y, and the gradients of sum(y * grad)."""
    x, gain, grad = (a.astype(np.float64) for a in (x, gain, grad))
    d = x.shape[-1]
    rms = np.sqrt(np.einsum("...i,...i->...", x, x)[..., None] / d + (EPS if eps is None else eps))
    n = x / rms
    # d n_i / d x_j = (delta_ij - n_i n_j / d) / rms
    jacobian = (np.eye(d) - n[..., :, None] * n[..., None, :] / d) / rms[..., None]
    return {
        "y": n * gain,
        "grad_x": ((grad * gain)[..., None, :] @ jacobian)[..., 0, :],
        "grad_gain": (grad * n).sum(tuple(range(x.ndim - 1))),
    }


def start(out, variant, *, d):
    out.record(gain=np.ones(d), parameters=1, gain_is_found=True)


def forward(out, variant, *, x, gain, eps, grad):
    out.record(**rmsnorm(x, gain, grad, eps))
    eps = EPS if eps is None else eps
    square = x.astype(np.float64) ** 2
    mean_square = square.mean(-1, keepdims=True)
    rms = np.sqrt(mean_square + eps)
    out.name(x=x, gain=gain, eps=eps, squared=square, mean_square=mean_square)
    out.name(mean_square_eps=mean_square + eps, rms=rms, inv_rms=1 / rms, normalised=x / rms)


def residual(out, variant, *, x, gain, grad):
    found = rmsnorm(x, gain, grad)
    out.record(total=x + found["y"], grad_x=grad + found["grad_x"])


def again(out, variant, *, x, other, gain, new_gain, grad, other_grad):
    one, two = rmsnorm(x, gain, grad), rmsnorm(other, gain, other_grad)
    out.record(y=one["y"], z=two["y"], grad_x=one["grad_x"], grad_other=two["grad_x"])
    out.record(grad_gain=one["grad_gain"] + two["grad_gain"])
    out.record(changed=rmsnorm(x, new_gain, grad)["y"])
