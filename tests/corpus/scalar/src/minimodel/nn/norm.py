import numpy as np

from ..module import Module, Parameter
from ..tensor import Tensor
from ..value import Dot, Strip, mean


class LayerNorm(Module):
    def __init__(self, d_model, eps=1e-5, *, rng=None):
        super().__init__()
        self.d_model = d_model
        self.eps = eps
        self.gain = Parameter(np.ones(d_model))
        self.bias = Parameter(np.zeros(d_model))

    def forward(self, x):
        gain, bias = self.gain.cells().tolist(), self.bias.cells().tolist()
        out = []
        for row in x.rows(self.d_model):
            middle = mean(row)
            off = [v - middle for v in row]
            strip = Strip(off)
            var = Dot(strip, strip) / self.d_model
            shrink = (var + self.eps) ** -0.5
            out.extend(o * shrink * g + b for o, g, b in zip(off, gain, bias))
        return Tensor.of(out, x.shape, x, self.gain, self.bias)


class RMSNorm(Module):
    def __init__(self, d_model, eps=1e-5, *, rng=None):
        super().__init__()
        self.d_model = d_model
        self.eps = eps
        self.gain = Parameter(np.ones(d_model))

    def forward(self, x):
        gain = self.gain.cells().tolist()
        out = []
        for row in x.rows(self.d_model):
            strip = Strip(row)
            shrink = (Dot(strip, strip) / self.d_model + self.eps) ** -0.5
            out.extend(v * shrink * g for v, g in zip(row, gain))
        return Tensor.of(out, x.shape, x, self.gain)
