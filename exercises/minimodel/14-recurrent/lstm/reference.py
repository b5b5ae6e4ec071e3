"""The LSTM from first principles, gate by gate, with its gradients by hand.

The variant "no_sigmoid" uses the gates i, f and o as the sums came out, without the sigmoid; the
candidate g keeps its tanh. The coarse variants write the sigmoid with tanh: as right, and exactly 0
from where 1 + tanh is, far below 0.
"""

import numpy as np
from pack.common import COARSE

GATES = "ifgo"
NO_SIGMOID = "no_sigmoid"


def sigmoid(z):
    """Exact in both tails."""
    return np.exp(-np.logaddexp(0.0, -z))


def opened(z, variant):
    """A gate and its slope."""
    if variant == NO_SIGMOID:
        return z, np.ones_like(z)
    if variant in COARSE:
        y = (0.5 * (1 + np.tanh(0.5 * np.asarray(z, COARSE[variant])))).astype(z.dtype)
        return y, y * (1 - y)
    return sigmoid(z), sigmoid(z) * sigmoid(-z)


def cell(variant, w_x, w_h, b, x, h, c):
    """One step; its intermediates by name, each (..., n)."""
    n = len(w_h)
    at = {"x": x, "h": h, "c": c}
    for k, gate in enumerate(GATES):
        columns = slice(k * n, (k + 1) * n)
        z = np.tensordot(x, w_x[:, columns], 1) + np.tensordot(h, w_h[:, columns], 1) + b[columns]
        at["z_" + gate] = z
        if gate == "g":
            at["g"], at["slope_g"] = np.tanh(z), 1 / np.cosh(np.clip(z, -300, 300)) ** 2
        else:
            at[gate], at["slope_" + gate] = opened(z, variant)
    at["f_c"], at["i_g"] = at["f"] * c, at["i"] * at["g"]
    at["c_t"] = at["f_c"] + at["i_g"]
    at["tanh_c"] = np.tanh(at["c_t"])
    at["h_t"] = at["o"] * at["tanh_c"]
    return at


def back(at, w_x, w_h, d_h, d_c):
    """The gradients by z (dz), x, h and c, by the gates (d_i, ...) and by c_t (d_c)."""
    total = d_c + d_h * at["o"] * (1 - at["tanh_c"] ** 2)  # all that reaches c_t
    up = {"i": total * at["g"], "f": total * at["c"], "g": total * at["i"], "o": d_h * at["tanh_c"]}
    dz = np.concatenate([up[gate] * at["slope_" + gate] for gate in GATES], axis=-1)
    by = {"d_" + gate: value for gate, value in up.items()}
    by.update(dz=dz, x=dz @ w_x.T, h=dz @ w_h.T, c=total * at["f"], d_c=total)
    return by


def by_weights(x, h, dz):
    """The gradients of w_x, w_h and b, summed over the rows. dz: (..., 4 n)."""
    rows = dz.reshape(-1, dz.shape[-1])
    outer = (np.einsum("rd,rk->dk", a.reshape(-1, a.shape[-1]), rows) for a in (x, h))
    return (*outer, rows.sum(0))


def names(at):
    """What the gates are called, alone and side by side."""
    found = {name: at[name] for gate in GATES for name in (gate, "z_" + gate)}
    z = [at["z_" + gate] for gate in GATES]
    found.update(z=np.concatenate(z, -1), z_i_f=np.concatenate(z[:2], -1))
    found.update(z_ifo=np.stack([z[0], z[1], z[3]], -2), ifo=np.stack([at[k] for k in "ifo"], -2))
    found.update(i_f=np.concatenate([at["i"], at["f"]], -1))
    found.update(sigmoid_z=sigmoid(found["z"]))
    for name in ("f_c", "i_g", "c_t", "tanh_c", "h_t"):
        found[name] = at[name]
    return found


def attributes(out, variant, *, d_in, d_hidden, seed):
    out.record(w_x_shape=[d_in, 4 * d_hidden], w_h_shape=[d_hidden, 4 * d_hidden])
    out.record(b_shape=[4 * d_hidden], parameters=3, seeds_repeat=True)
    out.record(w_x_is_a_parameter=True, w_h_is_a_parameter=True, b_is_a_parameter=True)


def step(out, variant, *, w_x, w_h, b, x, h, c):
    at = cell(variant, w_x, w_h, b, x, h, c)
    out.record(c=at["c_t"], h=at["h_t"])
    out.name(**names(at))


def gates(out, variant, *, w_x, w_h, b, x, h, c):
    n = len(w_h)
    for k, gate in enumerate(GATES):
        alone = np.zeros_like(b)
        alone[k * n : (k + 1) * n] = b[k * n : (k + 1) * n]
        at = cell(variant, w_x, w_h, alone, x, h, c)
        out.record(**{f"c_by_b_{gate}": at["c_t"], f"h_by_b_{gate}": at["h_t"]})
        out.name(
            **{f"{name}_by_b_{gate}": at[name] for name in ("c_t", "tanh_c", "o", "f_c", "i_g")}
        )


def backward(out, variant, *, w_x, w_h, b, x, h, c, grad_h, grad_c):
    at = cell(variant, w_x, w_h, b, x, h, c)
    zero = np.zeros_like(c)
    by = back(at, w_x, w_h, zero if grad_h is None else grad_h, zero if grad_c is None else grad_c)
    out.record(grad_x=by["x"], grad_h=by["h"], grad_c=by["c"])
    grad_w_x, grad_w_h, grad_b = by_weights(x, h, by["dz"])
    out.record(grad_w_x=grad_w_x, grad_w_h=grad_w_h, grad_b=grad_b)
    out.name(**names(at), **{k: v for k, v in by.items() if k.startswith("d")})
    out.name(**{"dz_" + k: part for k, part in zip(GATES, np.split(by["dz"], 4, axis=-1))})
    out.name(**{"slope_" + k: at["slope_" + k] for k in GATES})


def finite(out, variant, **inputs):
    out.record(finite=True)


def sequence(out, variant, *, w_x, w_h, b, xs, h, c, grad_hs, grad_c):
    steps = []
    for x in xs:
        steps.append(cell(variant, w_x, w_h, b, x, h, c))
        h, c = steps[-1]["h_t"], steps[-1]["c_t"]
    out.record(cs=np.stack([at["c_t"] for at in steps]), hs=np.stack([at["h_t"] for at in steps]))
    d_h, d_c, d_xs = np.zeros_like(h), grad_c, []
    sums = [np.zeros_like(w) for w in (w_x, w_h, b)]
    for at, grad_h in zip(reversed(steps), reversed(grad_hs)):
        by = back(at, w_x, w_h, d_h + grad_h, d_c)
        sums = [a + part for a, part in zip(sums, by_weights(at["x"], at["h"], by["dz"]))]
        d_xs.insert(0, by["x"])
        d_h, d_c = by["h"], by["c"]
    out.record(grad_xs=np.stack(d_xs), grad_h=d_h, grad_c=d_c)
    out.record(grad_w_x=sums[0], grad_w_h=sums[1], grad_b=sums[2])


def twice(out, variant, *, w_x, w_h, b, other_w_x, other_w_h, other_b, x, h, c, more_x, grad):
    sums = [np.zeros_like(w) for w in (w_x, w_h, b)]
    for name, row in (("first", x), ("second", more_x)):
        at = cell(variant, w_x, w_h, b, row, h, c)
        dz = back(at, w_x, w_h, grad, np.zeros_like(c))["dz"]
        sums = [a + part for a, part in zip(sums, by_weights(row, h, dz))]
        out.record(**{name: at["h_t"]})
    out.record(grad_w_x=sums[0], grad_w_h=sums[1], grad_b=sums[2])
    at = cell(variant, other_w_x, other_w_h, other_b, x, h, c)
    out.record(h=at["h_t"], c=at["c_t"])


def unroll(out, variant, *, w_x, w_h, b, xs, h, c):
    steps = []
    for x in xs:
        steps.append(cell(variant, w_x, w_h, b, x, h, c))
        h, c = steps[-1]["h_t"], steps[-1]["c_t"]
    cells = [float(np.abs(at["c_t"]).max()) for at in steps]
    out.record(largest_cell=max(cells), last_cell=cells[-1])
    out.record(largest_hidden=max(float(np.abs(at["h_t"]).max()) for at in steps))
    d_h, d_c, norms = np.zeros_like(h), np.ones_like(c), []
    for at in reversed(steps):
        by = back(at, w_x, w_h, d_h, d_c)
        d_h, d_c = by["h"], by["c"]
        norms.insert(0, float(np.linalg.norm(d_c)))
    out.record(last_gradient=norms[-1], first_gradient=norms[0])


def elsewhere(out, variant, *, w_x, w_h, b, x, h, c, grad_h, grad_c, grads, one_tensor):
    by = back(cell(variant, w_x, w_h, b, x, h, c), w_x, w_h, grad_h, grad_c)
    total = {role: by[role] + grad for role, grad in zip("xhc", grads)}
    if one_tensor:
        total["h"] = total["c"] = total["h"] + total["c"]
    for name in ("first", "last"):
        out.record(**{f"grad_{role}_{name}": total[role] for role in "xhc"})
