import numpy as np

from .tensor import Tensor


class Function:
    """Keeps the inputs; `apply` gives a gradient for each."""

    def __init__(self, *tensors):
        self.saved_tensors = tensors


class AddBackward(Function):
    def apply(self, grad):
        return grad, grad


class SubBackward(Function):
    def apply(self, grad):
        return grad, -grad


class MulBackward(Function):
    def apply(self, grad):
        a, b = self.saved_tensors
        return grad * b.data, grad * a.data


class DivBackward(Function):
    def apply(self, grad):
        a, b = self.saved_tensors
        return grad / b.data, -grad * a.data / b.data**2


class MatmulBackward(Function):
    def apply(self, grad):
        a, b = self.saved_tensors
        return grad @ np.swapaxes(b.data, -1, -2), np.swapaxes(a.data, -1, -2) @ grad


class TransposeBackward(Function):
    def __init__(self, x, dim0=-2, dim1=-1):
        super().__init__(x)
        self.dims = dim0, dim1

    def apply(self, grad):
        return (np.swapaxes(grad, *self.dims),)


class SliceBackward(Function):
    def __init__(self, x, key):
        super().__init__(x)
        self.key = key

    def apply(self, grad):
        whole = np.zeros_like(self.saved_tensors[0].data)
        np.add.at(whole, self.key, grad)
        return (whole,)


class ReshapeBackward(Function):
    def __init__(self, x, *_shape):
        super().__init__(x)

    def apply(self, grad):
        return (grad.reshape(self.saved_tensors[0].shape),)


class SumBackward(Function):
    def __init__(self, x, axis=None, keepdims=False):
        super().__init__(x)
        self.lost = axis if axis is not None and not keepdims else None

    def apply(self, grad):
        if self.lost is not None:
            grad = np.expand_dims(grad, self.lost)
        return (np.broadcast_to(grad, self.saved_tensors[0].shape),)


class EmbeddingBackward(Function):
    """Every occurrence of an index adds to its row."""

    def __init__(self, weight, indices):
        super().__init__(weight)
        self.indices = indices

    def apply(self, grad):
        (weight,) = self.saved_tensors
        grad_weight = np.zeros_like(weight.data)
        flat = self.indices.reshape(-1)
        np.add.at(grad_weight, flat, grad.reshape(flat.size, -1))
        return (grad_weight,)


def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    for axis, n in enumerate(shape):
        if n == 1 and grad.shape[axis] != 1:
            grad = grad.sum(axis=axis, keepdims=True)
    return grad


def backward(self, gradient=None):
    if not self.requires_grad:
        return
    if gradient is None:
        if self.size != 1:
            raise ValueError("backward() needs a gradient here")
        gradient = np.ones(self.shape, np.float32)
    gradient = unbroadcast(gradient, self.shape)
    self.grad = gradient + (0 if self.grad is None else self.grad)
    if self._grad_fn is not None:
        for tensor, part in zip(self._grad_fn.saved_tensors, self._grad_fn.apply(gradient)):
            if tensor.requires_grad:
                tensor.backward(part)


def tracked(original, function, binary=False):
    def method(self, *args, **kwargs):
        if binary and not isinstance(args[0], Tensor):
            args = (Tensor(args[0]),)
        result = original(self, *args, **kwargs)
        wants = self.requires_grad or (binary and args[0].requires_grad)
        if wants:
            result.requires_grad = True
            result._grad_fn = function(self, *args, **kwargs)
        return result

    return method


def enable_autograd():
    if hasattr(Tensor, "_autograd_enabled"):
        return
    for name, function in {
        "__add__": AddBackward,
        "__sub__": SubBackward,
        "__mul__": MulBackward,
        "__truediv__": DivBackward,
        "matmul": MatmulBackward,
    }.items():
        setattr(Tensor, name, tracked(getattr(Tensor, name), function, binary=True))
    for name, function in {
        "__getitem__": SliceBackward,
        "reshape": ReshapeBackward,
        "transpose": TransposeBackward,
        "sum": SumBackward,
    }.items():
        setattr(Tensor, name, tracked(getattr(Tensor, name), function))
    Tensor.backward = backward
    Tensor._autograd_enabled = True


enable_autograd()
