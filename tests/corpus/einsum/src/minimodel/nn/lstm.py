from __future__ import annotations

import math

import numpy as np

from minimodel.module import Module, Parameter
from minimodel.nn._common import Rng, flat, need_last, normal
from minimodel.tensor import Array, Tensor, as_tensor, sigmoid


class LSTM(Module):
    """One step. Pre-activations A (..., 4, h) in the order i, f, g, o;  c' = f c + i g,  h' = o tanh c'."""

    def __init__(self, d_in: int, d_hidden: int, *, rng: Rng | None = None) -> None:
        self.d_in, self.d_hidden = d_in, d_hidden
        self.w_x: Parameter = normal(rng, d_in, 4 * d_hidden, std=1 / math.sqrt(d_in))
        self.w_h: Parameter = normal(rng, d_hidden, 4 * d_hidden, std=1 / math.sqrt(d_hidden))
        self.b = Parameter(np.zeros(4 * d_hidden))

    def forward(self, x_t: Tensor, h_prev: Tensor, c_prev: Tensor) -> tuple[Tensor, Tensor]:
        x, h, c = as_tensor(x_t), as_tensor(h_prev), as_tensor(c_prev); w, u, b = self.w_x, self.w_h, self.b
        X, H, C = x.data, h.data, c.data; n = self.d_hidden
        need_last(X, self.d_in, "LSTM x_t"); need_last(H, n, "LSTM h_prev"); need_last(C, n, "LSTM c_prev")
        W, U = w.data.reshape(self.d_in, 4, n), u.data.reshape(n, 4, n)

        A = np.einsum("...d,dgh->...gh", X, W, optimize=True) + np.einsum("...e,egh->...gh", H, U, optimize=True) + b.data.reshape(4, n)
        i, f, g, o = np.einsum("...gh->g...h", A); i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        Cn = f * C + i * g; tC = np.tanh(Cn)

        def backward(dHC: Array) -> None:
            dHn, dCn = dHC
            dC = dCn + dHn * o * (1 - tC * tC)
            dA = np.stack([dC * g * i * (1 - i), dC * C * f * (1 - f), dC * i * (1 - g * g), dHn * tC * o * (1 - o)], axis=-2)
            lead, dG = dA.shape[:-2], flat(dA, 2)
            Xn, Hn = flat(np.broadcast_to(X, (*lead, self.d_in))), flat(np.broadcast_to(H, (*lead, n)))
            x.add_grad(np.einsum("...gh,dgh->...d", dA, W, optimize=True))
            h.add_grad(np.einsum("...gh,egh->...e", dA, U, optimize=True))
            c.add_grad(dC * f)
            w.add_grad(np.einsum("nd,ngh->dgh", Xn, dG, optimize=True).reshape(self.d_in, 4 * n))
            u.add_grad(np.einsum("ne,ngh->egh", Hn, dG, optimize=True).reshape(n, 4 * n))
            b.add_grad(np.einsum("ngh->gh", dG).reshape(4 * n))

        # h' and c' leave as one node, so that there is one backward however many of the two are used
        hc = Tensor.node(np.stack([o * tC, Cn]), (x, h, c, w, u, b), backward)
        return hc[0], hc[1]
