"""Tensor: a grid of Values.

There are two kinds of Tensor.
  * A leaf is made from numbers by somebody outside. It owns a float array, and makes fresh Values
    out of it each time it is used, so writing into `.data` is always seen by the next use.
    What its Values collect in backward is put together in `.grad`.
  * Everything computed has a grid (an ndarray of objects) of Values, and its `.data` is
    only read off from them.

numpy is the drawer the Values lie in (shapes, indexing, broadcasting). It never calculates.
Broadcasting puts the same Value into several places, and a Value that is used several times adds up
its gradients, so there is nothing to undo.
"""
import operator

import numpy as np

from . import value as V
from .value import Dot, Leaf, Strip, Value

_TWO = {name: np.frompyfunc(getattr(operator, name), 2, 1)
        for name in ("add", "sub", "mul", "truediv", "pow")}


def _floats(data):
    """A float array of our own; float32 stays float32, all the rest becomes float64."""
    if isinstance(data, Tensor):
        data = data.data
    array = np.array(data)
    if array.dtype != np.float32:
        array = array.astype(np.float64)
    return array


def _drawer(values, shape):
    return np.fromiter(values, dtype=object, count=len(values)).reshape(shape)


class Tensor:
    __array_ufunc__ = None       # so that  ndarray + Tensor  ends up in my __radd__

    def __init__(self, data, requires_grad=False):
        self._array = _floats(data)
        self._cells = None       # None: I am a leaf
        self._sources = frozenset()
        self._dtype = None
        self.requires_grad = bool(requires_grad)
        self.grad = None

    @classmethod
    def _made(cls, cells, parents):
        """A computed Tensor: `cells` is an object array of Values, `parents` are Tensors."""
        t = Tensor.__new__(Tensor)
        t._array = None
        t._cells = cells
        t._sources = frozenset().union(*[p._origin() for p in parents])
        # what flows through the model decides the dtype, Parameters follow
        voters = [p for p in parents if not isinstance(p, Parameter)] or parents
        narrow = all(p.dtype == np.float32 for p in voters)
        t._dtype = np.dtype(np.float32 if narrow else np.float64)
        t.requires_grad = bool(t._sources)
        t.grad = None
        return t

    @classmethod
    def of(cls, values, shape, *parents):
        """A computed Tensor from a flat list of Values."""
        return cls._made(_drawer(values, shape), parents)

    def _origin(self):
        """The leaves I depend on that want a gradient."""
        if self._cells is None:
            return {self} if self.requires_grad else frozenset()
        return self._sources

    # -- looking at it -------------------------------------------------------------

    @property
    def data(self):
        if self._array is None:
            numbers = [v.data for v in self._cells.ravel()]
            with np.errstate(all="ignore"):
                self._array = np.array(numbers, dtype=self._dtype).reshape(self._cells.shape)
        return self._array

    @data.setter
    def data(self, new):
        if new is not self._array:
            self._array = _floats(new)
        self._cells = None       # from now on these are just numbers

    @property
    def shape(self):
        return self._array.shape if self._cells is None else self._cells.shape

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return self._array.size if self._cells is None else self._cells.size

    @property
    def dtype(self):
        return self._array.dtype if self._cells is None else self._dtype

    def __len__(self):
        if not self.shape:
            raise TypeError("a scalar Tensor has no length")
        return self.shape[0]

    def __bool__(self):
        return bool(self.data)

    def __float__(self):
        return float(self.data)

    def item(self):
        return self.data.item()

    def __repr__(self):
        return f"{type(self).__name__}({self.data!r}, requires_grad={self.requires_grad})"

    # -- the Values ----------------------------------------------------------------

    def cells(self):
        """The grid of Values (fresh ones if I am a leaf)."""
        if self._cells is not None:
            return self._cells
        numbers = self._array.ravel().tolist()
        if self.requires_grad:
            values = [Leaf(x, self, i) for i, x in enumerate(numbers)]
        else:
            values = [Value(x) for x in numbers]
        return _drawer(values, self._array.shape)

    def rows(self, width=None):
        """All rows along the last axis as lists of Values, the leading axes flattened."""
        if self.ndim < 1 or (width is not None and self.shape[-1] != width):
            raise ValueError(f"last axis should be {width}, the shape is {self.shape}")
        if self.size == 0:
            return [[] for _ in range(int(np.prod(self.shape[:-1])))]
        return self.cells().reshape(-1, self.shape[-1]).tolist()

    def sheets(self, width=None):
        """Like rows, but (..., T, d) -> a list of [T rows of d Values]."""
        if self.ndim < 2:
            raise ValueError(f"need (..., T, d), the shape is {self.shape}")
        rows, t = self.rows(width), self.shape[-2]
        return [rows[i:i + t] for i in range(0, len(rows), t)] if t else []

    def columns(self):
        """The columns of a matrix as Strips, ready for many dots."""
        return [Strip(column) for column in self.cells().T.tolist()]

    def backward(self, grad=None):
        if grad is None:
            if self.shape != ():
                raise ValueError(f"backward() without a gradient needs a scalar, this is {self.shape}")
            grad = 1.0
        if isinstance(grad, Tensor):
            grad = grad.data
        grad = np.asarray(grad, dtype=np.float64)
        if grad.shape != self.shape:
            raise ValueError(f"the gradient has shape {grad.shape}, the tensor {self.shape}")

        sources = self._origin()
        # one artificial node on top of all my cells, whose slopes are the given gradient
        top = Value(0.0, self.cells().ravel().tolist(), grad.ravel().tolist())
        collected = {leaf: [0.0] * leaf.size for leaf in sources}
        for tip in V.unwind(top):
            if isinstance(tip, Leaf):
                collected[tip.owner][tip.where] += tip.grad
        for leaf, numbers in collected.items():
            with np.errstate(all="ignore"):
                new = np.array(numbers, dtype=leaf.dtype).reshape(leaf.shape)
                if leaf.grad is not None:
                    new = np.asarray(leaf.grad + new, dtype=leaf.dtype)
                leaf.grad = new

    # -- two of them ---------------------------------------------------------------

    def _two(self, name, other, swapped=False):
        mine, parents = self.cells(), (self,)
        if isinstance(other, Tensor):
            theirs, parents = (mine if other is self else other.cells()), (self, other)
        else:                                # plain numbers take part as plain floats
            theirs = np.asarray(other, dtype=np.float64).astype(object)
        first, second = (theirs, mine) if swapped else (mine, theirs)
        with np.errstate(all="ignore"):      # it reports on Python's floats as well
            out = _TWO[name](first, second)
        return Tensor._made(np.asarray(out, dtype=object), parents)

    def __add__(self, other):
        return self._two("add", other)

    def __radd__(self, other):
        return self._two("add", other)

    def __sub__(self, other):
        return self._two("sub", other)

    def __rsub__(self, other):
        return self._two("sub", other, swapped=True)

    def __mul__(self, other):
        return self._two("mul", other)

    def __rmul__(self, other):
        return self._two("mul", other)

    def __truediv__(self, other):
        return self._two("truediv", other)

    def __rtruediv__(self, other):
        return self._two("truediv", other, swapped=True)

    def __pow__(self, other):
        return self._two("pow", other)

    def __rpow__(self, other):
        return self._two("pow", other, swapped=True)

    def __matmul__(self, other):
        if not isinstance(other, Tensor):
            other = Tensor(np.asarray(other, dtype=self.dtype))
        return _matmul(self, other)

    def __rmatmul__(self, other):
        return _matmul(Tensor(np.asarray(other, dtype=self.dtype)), self)

    def dot_rows(self, other):
        """Every row of mine with every row of the matrix `other`: self @ other^T."""
        strips = [Strip(row) for row in other.rows(self.shape[-1])]
        out = []
        for row in self.rows():
            mine = Strip(row)
            for strip in strips:
                out.append(Dot(mine, strip))
        return Tensor.of(out, self.shape[:-1] + (len(strips),), self, other)

    # -- each number for itself ----------------------------------------------------

    def _each(self, what):
        return Tensor.of([what(v) for v in self.cells().ravel().tolist()], self.shape, self)

    def __neg__(self):
        return self._each(Value.__neg__)

    def exp(self):
        return self._each(Value.exp)

    def log(self):
        return self._each(Value.log)

    def sqrt(self):
        return self._each(Value.sqrt)

    def tanh(self):
        return self._each(Value.tanh)

    def sigmoid(self):
        return self._each(Value.sigmoid)

    def relu(self):
        return self._each(Value.relu)

    def gelu(self):
        return self._each(Value.gelu)

    # -- several numbers into one --------------------------------------------------

    def _fold(self, what, axis, keepdims):
        if axis is None:
            gone = tuple(range(self.ndim))
        else:
            gone = axis if isinstance(axis, (tuple, list)) else (axis,)
            gone = tuple(operator.index(a) for a in gone)
            for a in gone:
                if not -self.ndim <= a < self.ndim:
                    raise ValueError(f"axis {a} does not exist in shape {self.shape}")
            gone = tuple(a % self.ndim for a in gone)
        kept = tuple(a for a in range(self.ndim) if a not in gone)
        shape = tuple(self.shape[a] for a in kept)
        count = int(np.prod([self.shape[a] for a in gone]))
        lines = self.cells().transpose(kept + tuple(sorted(gone)))
        lines = lines.reshape(int(np.prod(shape)), count).tolist()
        if keepdims:
            shape = tuple(1 if a in gone else n for a, n in enumerate(self.shape))
        return Tensor.of([what(line) for line in lines], shape, self)

    def sum(self, axis=None, keepdims=False):
        return self._fold(V.total, axis, keepdims)

    def mean(self, axis=None, keepdims=False):
        return self._fold(V.mean, axis, keepdims)

    def max(self, axis=None, keepdims=False):
        if self.size == 0:
            raise ValueError("max of nothing")
        return self._fold(V.biggest, axis, keepdims)

    def softmax(self, dim=-1):
        cells = np.moveaxis(self.cells(), dim, -1)
        out = []
        for line in cells.reshape(-1, cells.shape[-1]).tolist():
            out.extend(V.softmax(line))
        return Tensor._made(np.moveaxis(_drawer(out, cells.shape), -1, dim), (self,))

    # -- moving them around --------------------------------------------------------

    def reshape(self, *shape):
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        return Tensor._made(self.cells().reshape(shape), (self,))

    def transpose(self, *axes):
        """transpose((1, 0, 2)): all the axes in a new order; transpose(0, 1): these two swapped;
        transpose(): everything reversed."""
        cells = self.cells()
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            cells = cells.transpose(axes[0])
        elif len(axes) == 2:
            cells = cells.swapaxes(*axes)
        else:
            cells = cells.transpose(*axes)
        return Tensor._made(cells, (self,))

    @property
    def T(self):
        return self.transpose()

    def __getitem__(self, index):
        if self._cells is not None:
            picked = self._cells[index]
        else:                                # only make Values of what is asked for
            places = np.asarray(np.arange(self.size).reshape(self.shape)[index])
            numbers, fresh = self._array.ravel(), {}
            for i in set(places.ravel().tolist()):
                x = float(numbers[i])
                fresh[i] = Leaf(x, self, i) if self.requires_grad else Value(x)
            picked = _drawer([fresh[i] for i in places.ravel().tolist()], places.shape)
        return Tensor._made(np.asarray(picked, dtype=object), (self,))


def _matmul(a, b):
    left, right = a.cells(), b.cells()
    if left.ndim == 0 or right.ndim == 0:
        raise ValueError(f"@ needs at least one axis on both sides: {a.shape} @ {b.shape}")
    if left.ndim == 1:
        left = left[None, :]
    if right.ndim == 1:
        right = right[:, None]
    (n, k), (k2, m) = left.shape[-2:], right.shape[-2:]
    if k != k2:
        raise ValueError(f"shapes do not fit: {a.shape} @ {b.shape}")
    if right.ndim == 2:          # one matrix for all: its columns are only cut once
        lead = left.shape[:-2]
        pairs = [(left.reshape(int(np.prod(lead)) * n, k), right)]
    else:
        lead = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
        left = np.broadcast_to(left, lead + (n, k))
        right = np.broadcast_to(right, lead + (k, m))
        pairs = [(left[i], right[i]) for i in np.ndindex(*lead)]

    out = []
    for l, r in pairs:
        columns = [Strip(column) for column in r.T.tolist()]
        for row in l.tolist():
            row = Strip(row)
            for column in columns:
                out.append(Dot(row, column))
    shape = lead + (() if a.ndim == 1 else (n,)) + (() if b.ndim == 1 else (m,))
    return Tensor.of(out, shape, a, b)


class Parameter(Tensor):
    """A leaf that gets trained. (minimodel.module is its official address.)"""

    def __init__(self, data):
        Tensor.__init__(self, data, requires_grad=True)
