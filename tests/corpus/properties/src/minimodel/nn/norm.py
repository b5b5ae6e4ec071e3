import numpy as np

from ..module import Module, Weight
from ..operations import Operation
from ..tensor import dispatch


class Standardise(Operation, symbol="layer_norm"):
    __slots__ = ()

    @staticmethod
    def forward(x, gain, bias, eps):
        centred = x - x.mean(axis=-1, keepdims=True)
        inverse = 1 / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + eps)
        unit = centred * inverse
        return unit * gain + bias, (unit, inverse, gain)

    @staticmethod
    def backward(grad, saved):
        unit, inverse, gain = saved
        g = grad * gain
        along = (g * unit).mean(axis=-1, keepdims=True)
        gx = inverse * (g - g.mean(axis=-1, keepdims=True) - unit * along)
        return gx, grad * unit, grad


class ScaleToUnit(Operation, symbol="rms_norm"):
    __slots__ = ()

    @staticmethod
    def forward(x, gain, eps):
        inverse = 1 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
        unit = x * inverse
        return unit * gain, (unit, inverse, gain)

    @staticmethod
    def backward(grad, saved):
        unit, inverse, gain = saved
        g = grad * gain
        gx = inverse * (g - unit * (g * unit).mean(axis=-1, keepdims=True))
        return gx, grad * unit


class _Norm(Module):
    __slots__ = ("eps",)

    gain = Weight("(d_model,), starts at one")

    def __init__(self, d_model, eps=1e-5, *, rng=None):
        self.gain = np.ones(d_model)
        self.eps = float(eps)

    @property
    def d_model(self):
        return self.gain.shape[0]


class LayerNorm(_Norm):
    __slots__ = ()

    bias = Weight("(d_model,), starts at zero")

    def __init__(self, d_model, eps=1e-5, *, rng=None):
        super().__init__(d_model, eps)
        self.bias = np.zeros(d_model)

    def forward(self, x):
        return dispatch("layer_norm", x, self.gain, self.bias, eps=self.eps)


class RMSNorm(_Norm):
    __slots__ = ()

    def forward(self, x):
        return dispatch("rms_norm", x, self.gain, eps=self.eps)
