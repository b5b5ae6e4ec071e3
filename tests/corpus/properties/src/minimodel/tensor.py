"""Tensor: an ndarray, a gradient, and operators that go through the operation table."""

import copy

import numpy as np

from .operations import Operation
from .tape import TAPE


def as_float_array(data):
    """float32 and float64 stay what they are, everything else becomes float64. No copy if none is needed."""
    if isinstance(data, Tensor):
        data = data.data
    array = np.asarray(data)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    return array


def dispatch(symbol, *operands, **options):
    """Look `symbol` up in the table, run it forward, write it on the tape.

    Operands that are not tensors are constants and take the dtype of the first
    tensor, so that `x * 0.5` and `x + table` leave a float32 x at float32.
    """
    operation = Operation.table[symbol]
    dtype = next((t.dtype for t in operands if isinstance(t, Tensor)), None)
    inputs = tuple(
        t if isinstance(t, Tensor) else Tensor(np.asarray(t, dtype=dtype)) for t in operands
    )
    result, saved = operation.forward(*(t.data for t in inputs), **options)
    output = Tensor(result)
    if TAPE.recording and any(t.requires_grad for t in inputs):
        output.requires_grad = True
        TAPE.record(operation, inputs, output, saved)
    return output


# Descriptors that turn a table entry into a method. Defined once, the class
# body below then reads like the table itself.

class _Method:
    __slots__ = ("symbol",)

    def __init__(self, symbol):
        self.symbol = symbol

    def __get__(self, tensor, owner=None):
        return self if tensor is None else self.bind(tensor)


class Prefix(_Method):
    __slots__ = ()

    def bind(self, tensor):
        return lambda: dispatch(self.symbol, tensor)


class Infix(_Method):
    __slots__ = ()

    def bind(self, tensor):
        return lambda other: dispatch(self.symbol, tensor, other)


class Reflected(_Method):
    __slots__ = ()

    def bind(self, tensor):
        return lambda other: dispatch(self.symbol, other, tensor)


class Reduction(_Method):
    __slots__ = ()

    def bind(self, tensor):
        def reduce(axis=None, keepdims=False):
            if isinstance(axis, list):
                axis = tuple(axis)
            return dispatch(self.symbol, tensor, axis=axis, keepdims=keepdims)

        return reduce


class Tensor:
    __slots__ = ("data", "grad", "requires_grad", "__weakref__")

    # let Tensor have the say in `ndarray * tensor`
    __array_ufunc__ = None

    def __init__(self, data, requires_grad=False):
        self.data = as_float_array(data)
        self.grad = None
        self.requires_grad = bool(requires_grad)

    def __repr__(self):
        flag = ", requires_grad=True" if self.requires_grad else ""
        return f"{type(self).__name__}({self.data!r}{flag})"

    # sizes: all of them belong to the array

    @property
    def shape(self):
        return self.data.shape

    @property
    def ndim(self):
        return self.data.ndim

    @property
    def size(self):
        return self.data.size

    @property
    def dtype(self):
        return self.data.dtype

    @property
    def T(self):
        return self.transpose()

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("len() of a scalar tensor")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __bool__(self):
        return bool(self.data)

    def item(self):
        return self.data.item()

    def __float__(self):
        return float(self.item())

    def detach(self):
        """The same numbers, cut off from the tape."""
        return Tensor(self.data)

    def assign(self, values):
        """Take new values (the optimisers write through this)."""
        self.data = as_float_array(values)

    # operators

    __add__, __radd__ = Infix("+"), Reflected("+")
    __sub__, __rsub__ = Infix("-"), Reflected("-")
    __mul__, __rmul__ = Infix("*"), Reflected("*")
    __truediv__, __rtruediv__ = Infix("/"), Reflected("/")
    __matmul__, __rmatmul__ = Infix("@"), Reflected("@")
    __rpow__ = Reflected("a**b")
    __neg__ = Prefix("neg")

    exp = Prefix("exp")
    log = Prefix("log")
    sqrt = Prefix("sqrt")
    tanh = Prefix("tanh")
    sigmoid = Prefix("sigmoid")
    relu = Prefix("relu")

    sum = Reduction("sum")
    mean = Reduction("mean")
    max = Reduction("max")

    def __pow__(self, exponent):
        if isinstance(exponent, Tensor) or np.ndim(exponent) > 0:
            return dispatch("a**b", self, exponent)
        if isinstance(exponent, (np.generic, np.ndarray)):
            exponent = exponent.item()  # a NumPy float64 would widen a float32 tensor
        return dispatch("**", self, exponent=exponent)

    def softmax(self, dim=-1):
        return dispatch("softmax", self, axis=dim)

    def reshape(self, *shape):
        """reshape(2, -1) or reshape((2, -1))"""
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        return dispatch("reshape", self, shape=shape)

    def transpose(self, *axes):
        """transpose((1, 0)): an order of the axes. transpose(0, 1): two axes swapped. transpose(): all reversed."""
        if len(axes) == 1 and isinstance(axes[0], (tuple, list)):
            axes = tuple(axes[0])
        elif len(axes) == 2:
            order = list(range(self.ndim))
            i, j = axes
            order[i], order[j] = order[j], order[i]
            axes = tuple(order)
        elif not axes:
            axes = tuple(reversed(range(self.ndim)))
        return dispatch("permute", self, axes=axes)

    def __getitem__(self, index):
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(p, (np.ndarray, list)) for p in parts):
            index = copy.deepcopy(index)  # backward must see it as it was now
        return dispatch("[]", self, index=index)

    def backward(self, grad=None):
        """Add the gradient of this tensor to `.grad` of every leaf it was computed from."""
        if grad is None:
            if self.ndim != 0:
                raise ValueError(
                    f"backward() without a gradient needs a scalar, this tensor has shape {self.shape}"
                )
            grad = 1.0
        grad = np.array(as_float_array(grad), dtype=self.dtype)
        if grad.shape != self.shape:
            raise ValueError(f"gradient of shape {grad.shape} for a tensor of shape {self.shape}")
        if self.requires_grad:
            TAPE.replay(self, grad)


class Parameter(Tensor):
    """A tensor that is trained. It owns its array: assigning to `.data` copies.

    (`w = p.data; p.data = w + 1; p.data = w` brings the old values back, and no
    optimiser step ever reaches an array the caller passed in.)
    """

    __slots__ = ()

    def __init__(self, data):
        super().__init__(data, requires_grad=True)

    @property
    def data(self):
        return Tensor.data.__get__(self, Parameter)

    @data.setter
    def data(self, values):
        try:
            if values is self.data:  # what `p.data -= step` ends with
                return
        except AttributeError:
            pass  # first assignment
        Tensor.data.__set__(self, np.array(as_float_array(values)))

    def assign(self, values):
        self.data[...] = values
