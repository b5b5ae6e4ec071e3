"""Everything is in here.

The idea of this file: a model is arithmetic on arrays, so the model *is* the
functions below.  Read from top to bottom:

    1. plumbing      lifting, un-broadcasting, graph nodes, the backward sweep
    2. primitives    functions Tensor -> Tensor with a hand-written vjp each
    3. Tensor        a record (data, grad, edges); its methods are section 2
    4. layers        the mathematics of every layer, as functions of (x, weights)
    5. shells        classes which only own the weights and call section 4
    6. learning      updates (pure), optimisers, schedule, batches, training
    7. text          sampling and byte-pair encoding

An edge is a pair (parent, vjp): `vjp` maps the gradient at the result to the
gradient at the parent.  That is all autograd there is.
"""
from __future__ import annotations

import math
import operator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial, reduce
from itertools import repeat

import numpy as np

# ---------------------------------------------------------------- 1. plumbing


def float_array(data, dtype=None):
    """A fresh float array; float32 stays float32, whatever is no float becomes float64."""
    data = np.array(data.data if isinstance(data, Tensor) else data)
    return data.astype(dtype or (data.dtype if data.dtype.kind == "f" else np.float64), copy=False)


def as_tensor(x, like=None):
    return x if isinstance(x, Tensor) else Tensor(float_array(x, dtype=None if like is None else like.dtype))


def lift(a, b):
    """Both as Tensors. Bare numbers and arrays take the dtype of the Tensor beside them."""
    return (
        as_tensor(a, like=b if isinstance(b, Tensor) else None),
        as_tensor(b, like=a if isinstance(a, Tensor) else None),
    )


def node(data, *edges):
    """The result of an operation. Edges to parents that want no gradient are dropped here."""
    out = Tensor.__new__(Tensor)
    out.data, out.grad = np.asarray(data), None
    out.edges = tuple((parent, vjp) for parent, vjp in edges if parent.requires_grad)
    out.requires_grad = bool(out.edges)
    return out


def unbroadcast(g, shape):
    """Sum away what broadcasting had added to get from `shape` to `g.shape`."""
    if g.shape == shape:
        return g
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    stretched = tuple(axis for axis, n in enumerate(shape) if n == 1 != g.shape[axis])
    return g.sum(axis=stretched, keepdims=True) if stretched else g


def newest_first(root):
    """All nodes below root, each one before its parents (iterative, graphs get deep)."""
    seen, order, stack = {id(root)}, [], [(root, iter(root.edges))]
    while stack:
        here, todo = stack[-1]
        if (edge := next(todo, None)) is None:
            order.append(stack.pop()[0])
        elif id(parent := edge[0]) not in seen:
            seen.add(id(parent))
            stack.append((parent, iter(parent.edges)))
    return reversed(order)


def backward(root, grad=None):
    if grad is None and root.ndim:
        raise ValueError(f"backward() without a gradient needs a scalar, this tensor has shape {root.shape}")
    if not root.requires_grad:
        return
    seed = np.broadcast_to(float_array(1.0 if grad is None else grad, root.dtype), root.shape)
    cotangent = {id(root): seed}
    for here in newest_first(root):
        g = cotangent.pop(id(here))
        if not here.edges:  # a leaf: the only place where a gradient is kept
            here.grad = np.array(g if here.grad is None else here.grad + g, dtype=here.dtype)
        for parent, vjp in here.edges:
            part = np.asarray(vjp(g), dtype=parent.dtype)
            cotangent[key] = cotangent[key] + part if (key := id(parent)) in cotangent else part


# -------------------------------------------------------------- 2. primitives


def flip(f):
    return lambda a, b: f(b, a)


def pointwise(f, slope):
    """An elementwise function from f(x) and its slope(x, y), y being f(x)."""
    return lambda x: node(
        y := f(a := (x := as_tensor(x)).data),
        (x, lambda g: g * slope(a, y)),
    )


def add(a, b):
    a, b = lift(a, b)
    return node(a.data + b.data, *((t, partial(unbroadcast, shape=t.shape)) for t in (a, b)))


def sub(a, b):
    a, b = lift(a, b)
    return node(
        a.data - b.data,
        (a, partial(unbroadcast, shape=a.shape)),
        (b, lambda g: unbroadcast(-g, b.shape)),
    )


def mul(a, b):
    a, b = lift(a, b)
    u, v = a.data, b.data
    return node(
        u * v,
        (a, lambda g: unbroadcast(g * v, u.shape)),
        (b, lambda g: unbroadcast(g * u, v.shape)),
    )


def div(a, b):
    a, b = lift(a, b)
    u, v = a.data, b.data
    return node(
        q := u / v,
        (a, lambda g: unbroadcast(g / v, u.shape)),
        (b, lambda g: unbroadcast(-g * q / v, v.shape)),
    )


def pow_(a, b):
    a, b = lift(a, b)
    u, n = a.data, b.data
    # where n is 0 the slope is 0, also at u = 0 where u ** -1 would be inf
    return node(
        y := u ** n,
        (a, lambda g: unbroadcast(g * n * u ** np.where(n == 0, 1, n - 1), u.shape)),
        (b, lambda g: unbroadcast(g * y * np.log(np.where(u > 0, u, 1)), n.shape)),
    )


def matmul(a, b):
    a, b = lift(a, b)
    if 1 in (a.ndim, b.ndim) and 0 not in (a.ndim, b.ndim):
        # a vector is a row on the left and a column on the right; drop the extra axis again
        row, col = a.ndim == 1, b.ndim == 1
        full = matmul(reshape(a, (1, -1)) if row else a, reshape(b, (-1, 1)) if col else b)
        lead = full.shape[:-2]
        return reshape(full, lead + (() if row else full.shape[-2:-1]) + (() if col else full.shape[-1:]))
    u, v = a.data, b.data
    return node(
        u @ v,
        (a, lambda g: unbroadcast(g @ np.swapaxes(v, -1, -2), u.shape)),
        (b, lambda g: unbroadcast(np.swapaxes(u, -1, -2) @ g, v.shape)),
    )


neg = pointwise(np.negative, lambda x, y: -1)
exp = pointwise(np.exp, lambda x, y: y)
log = pointwise(np.log, lambda x, y: 1 / x)
sqrt = pointwise(np.sqrt, lambda x, y: 0.5 / y)
tanh = pointwise(np.tanh, lambda x, y: 1 - y * y)
# e^min(x,0) / (1 + e^-|x|) is the logistic function on both sides without overflow
sigmoid = pointwise(lambda x: np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x))), lambda x, y: y * (1 - y))
relu = pointwise(lambda x: np.maximum(x, 0), lambda x, y: x > 0)


def normal_cdf(x):
    # erfc and not 1 + erf: no cancellation in the left tail. NumPy has neither.
    tail = map(math.erfc, (x.ravel() / -math.sqrt(2)).tolist())
    return 0.5 * np.fromiter(tail, dtype=x.dtype, count=x.size).reshape(x.shape)


def normal_pdf(x):
    return np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def gelu(x):
    """x * Phi(x), the exact one."""
    x = as_tensor(x)
    a, phi = x.data, normal_cdf(x.data)
    return node(a * phi, (x, lambda g: g * (phi + a * normal_pdf(a))))


def unreduce(g, axis, keepdims):
    """Give a reduced gradient its reduced axes back, as ones."""
    return g if keepdims or axis is None else np.expand_dims(g, axis)


def sum_(x, axis=None, keepdims=False):
    return node(
        np.sum(x.data, axis=axis, keepdims=keepdims),
        (x, lambda g: np.broadcast_to(unreduce(g, axis, keepdims), x.shape)),
    )


def mean(x, axis=None, keepdims=False):
    total = sum_(x, axis, keepdims)
    return div(total, x.data.size / max(total.data.size, 1))


def max_(x, axis=None, keepdims=False):
    """Ties share the gradient equally."""
    hit = x.data == (top := np.max(x.data, axis=axis, keepdims=True))
    return node(
        top if keepdims else np.max(x.data, axis=axis),
        (x, lambda g: unreduce(g, axis, keepdims) * hit / hit.sum(axis=axis, keepdims=True)),
    )


def reshape(x, *shape):
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    return node(x.data.reshape(shape), (x, lambda g: g.reshape(x.shape)))


def swap(x, i, j):
    return node(np.swapaxes(x.data, i, j), (x, lambda g: np.swapaxes(g, i, j)))


def permute(x, axes):
    back = np.argsort([axis % x.ndim for axis in axes])
    return node(np.transpose(x.data, axes), (x, lambda g: np.transpose(g, back)))


def transpose(x, *axes):
    """transpose() reverses, transpose(i, j) swaps two, transpose((...)) permutes."""
    if len(axes) == 2:
        return swap(x, *axes)
    axes = axes[0] if axes and isinstance(axes[0], (tuple, list)) else axes
    return permute(x, tuple(axes) or tuple(range(x.ndim))[::-1])


def is_basic(i):
    return i is None or i is Ellipsis or isinstance(i, slice) or (
        isinstance(i, (int, np.integer)) and not isinstance(i, bool)
    )


def index(x, where):
    # basic indices touch every element at most once; others may repeat, hence add.at
    once = all(map(is_basic, where if isinstance(where, tuple) else (where,)))

    def scatter(g):
        out = np.zeros(x.shape, dtype=g.dtype)
        out.__setitem__(where, g) if once else np.add.at(out, where, g)
        return out

    return node(np.array(x.data[where]), (x, scatter))


def keep_where(x, keep, otherwise):
    """x where `keep`, the constant elsewhere."""
    return node(
        np.where(keep, x.data, otherwise),
        (x, lambda g: unbroadcast(np.where(keep, g, 0), x.shape)),
    )


def peak(a, axis):
    """The largest element, finite: what one subtracts before exp. A row of -inf gives 0."""
    top = np.max(a, axis=axis, keepdims=True, initial=-np.inf)
    return np.where(top == -np.inf, 0, top).astype(a.dtype, copy=False)


def softmax(x, dim=-1):
    e = np.exp((a := as_tensor(x).data) - peak(a, dim))
    y = e / np.where((z := e.sum(axis=dim, keepdims=True)) == 0, 1, z)
    return node(y, (as_tensor(x), lambda g: y * (g - (g * y).sum(axis=dim, keepdims=True))))


def log_softmax(x, dim=-1):
    shifted = x.data - peak(x.data, dim)
    y = shifted - np.log(np.exp(shifted).sum(axis=dim, keepdims=True))
    return node(y, (x, lambda g: g - np.exp(y) * g.sum(axis=dim, keepdims=True)))


# ------------------------------------------------------------------ 3. Tensor


class Tensor:
    """An array, its gradient, and where it came from."""

    __array_ufunc__ = None  # so that `ndarray + Tensor` ends up in __radd__

    def __init__(self, data, requires_grad=False):
        self.data = float_array(data)
        self.grad = None
        self.requires_grad = bool(requires_grad)
        self.edges = ()

    shape = property(lambda self: self.data.shape)
    ndim = property(lambda self: self.data.ndim)
    size = property(lambda self: self.data.size)
    dtype = property(lambda self: self.data.dtype)
    T = property(lambda self: transpose(self))

    __add__, __radd__ = add, flip(add)
    __sub__, __rsub__ = sub, flip(sub)
    __mul__, __rmul__ = mul, flip(mul)
    __truediv__, __rtruediv__ = div, flip(div)
    __pow__, __rpow__ = pow_, flip(pow_)
    __matmul__, __rmatmul__ = matmul, flip(matmul)
    __neg__, __getitem__ = neg, index

    sum, mean, max = sum_, mean, max_
    exp, log, sqrt, tanh, sigmoid, relu = exp, log, sqrt, tanh, sigmoid, relu
    reshape, transpose, softmax = reshape, transpose, softmax
    backward = backward

    item = __float__ = lambda self: self.data.item()
    detach = lambda self: Tensor(self.data)
    __array__ = lambda self, dtype=None, copy=None: np.array(self.data, dtype=dtype)
    __repr__ = lambda self: f"{type(self).__name__}({self.data!r})"


# ------------------------------------------------------------------ 4. layers


def integers(ids, what="token ids"):
    ids = np.array(ids)
    if not np.issubdtype(ids.dtype, np.integer):
        raise TypeError(f"{what} must be integers, not {ids.dtype}")
    return ids


def check_width(x, d):
    if x.shape[-1:] != (d,):
        raise ValueError(f"the last axis has to be {d} long, the input has shape {x.shape}")
    return x


def length(x, limit=None, axis=-2):
    """T, after the check that there is such an axis and that it is not too long."""
    if len(shape := np.shape(x)) < -axis:
        raise ValueError(f"no sequence axis in shape {shape}")
    if limit is not None and shape[axis] > limit:
        raise ValueError(f"a sequence of {shape[axis]} is longer than the limit of {limit}")
    return shape[axis]


def linear(x, w):
    """x @ w for any leading axes. One flat product, so that dw is one flat product too."""
    x = as_tensor(x)
    if not x.ndim or x.shape[-1] != w.shape[0]:
        raise ValueError(f"cannot multiply shapes {x.shape} and {w.shape}")
    *lead, d = x.shape
    return reshape(matmul(reshape(x, (math.prod(lead), d)), w), (*lead, w.shape[1]))


def affine(x, w, b):
    return linear(x, w) + b


def embed(token_ids, embedding_matrix):
    ids, vocab_size = integers(token_ids), embedding_matrix.shape[0]
    if (strays := ids[(ids < 0) | (ids >= vocab_size)]).size:
        raise IndexError(f"token id {strays[0]} is outside the vocabulary of size {vocab_size}")
    return index(embedding_matrix, ids.astype(np.intp))


def lm_logits(h, embedding_matrix):
    return linear(h, transpose(embedding_matrix))


def sinusoidal(max_len, d_model):
    column = np.arange(d_model)
    angle = np.arange(max_len)[:, None] / 10000.0 ** (2 * (column // 2) / d_model)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


def add_positions(x, table):
    """Rows 0..T-1 of the table (a Tensor or an array) onto x."""
    max_len, d_model = table.shape
    return check_width(x, d_model) + table[: length(x, max_len)]


def rotate(a, cos, sin):
    """Each pair (2i, 2i+1) by its own angle. Turned back by the same function with -sin."""
    out = np.empty_like(a)
    even, odd = a[..., 0::2], a[..., 1::2]
    out[..., 0::2] = even * cos - odd * sin
    out[..., 1::2] = even * sin + odd * cos
    return out


def rope(x, positions=None, base=10000.0):
    x = as_tensor(x)
    if not x.ndim or x.shape[-1] % 2:
        raise ValueError(f"rope turns pairs, so the last axis has to be even: shape {x.shape}")
    d = x.shape[-1]
    positions = np.arange(length(x)) if positions is None else np.asarray(positions)
    if np.broadcast_shapes(positions.shape, x.shape[:-1]) != x.shape[:-1]:
        raise ValueError(f"positions of shape {positions.shape} do not fit x of shape {x.shape}")
    angle = positions[..., None] * float(base) ** (-np.arange(0, d, 2) / d)
    cos, sin = (f(angle).astype(x.dtype) for f in (np.cos, np.sin))
    return node(rotate(x.data, cos, sin), (x, partial(rotate, cos=cos, sin=-sin)))


def layer_norm(x, gain, bias, eps):
    centred = x - mean(x, -1, True)
    return centred / sqrt(mean(centred * centred, -1, True) + eps) * gain + bias


def rms_norm(x, gain, eps):
    return x / sqrt(mean(x * x, -1, True) + eps) * gain


def lstm_cell(x_t, h_prev, c_prev, w_x, w_h, b):
    z = linear(x_t, w_x) + linear(h_prev, w_h) + b
    z = reshape(z, (*z.shape[:-1], 4, w_h.shape[0]))
    i, f, g, o = (gate(z[..., k, :]) for k, gate in enumerate((sigmoid, sigmoid, tanh, sigmoid)))
    c_t = f * c_prev + i * g
    return o * tanh(c_t), c_t


def scaled_dot_product_attention(q, k, v, mask=None):
    """A row which may attend to nothing gets zeros."""
    q, k, v = map(as_tensor, (q, k, v))
    scores = q @ swap(k, -1, -2) / math.sqrt(q.shape[-1])
    scores = scores if mask is None else keep_where(scores, np.array(mask, dtype=bool), -np.inf)
    return softmax(scores) @ v


def split_heads(x, n_heads):
    *lead, d = x.shape
    return swap(reshape(x, (*lead, n_heads, d // n_heads)), -3, -2)


def merge_heads(x):
    *lead, n_heads, t, d_head = x.shape
    return reshape(swap(x, -3, -2), (*lead, t, n_heads * d_head))


def multi_head_attention(x, w_q, w_k, w_v, w_o, *, n_heads, causal=True, use_rope=False):
    t = length(x)
    q, k, v = (split_heads(linear(x, w), n_heads) for w in (w_q, w_k, w_v))
    q, k = map(rope, (q, k)) if use_rope else (q, k)
    mask = np.tri(t, dtype=bool) if causal else None
    return linear(merge_heads(scaled_dot_product_attention(q, k, v, mask)), w_o)


def feed_forward(x, w_1, b_1, w_2, b_2):
    return affine(gelu(affine(x, w_1, b_1)), w_2, b_2)


def residual(x, norm, sublayer):
    return x + sublayer(norm(x))


def cross_entropy(logits, targets, ignore_index=None):
    logits = as_tensor(logits)
    if not logits.ndim or logits.shape[:-1] != np.shape(targets):
        raise ValueError(f"logits of shape {logits.shape} do not fit targets of shape {np.shape(targets)}")
    n_classes = logits.shape[-1]
    targets = integers(targets, "targets").ravel()
    kept = np.flatnonzero(targets != ignore_index) if ignore_index is not None else np.arange(targets.size)
    wanted = targets[kept]
    if (strays := wanted[(wanted < 0) | (wanted >= n_classes)]).size:
        raise ValueError(f"target {strays[0]} is outside [0, {n_classes})")
    if not kept.size:
        raise ValueError("cross_entropy over no targets at all (empty, or every one of them ignored)")
    rows = reshape(logits, (targets.size, n_classes))[kept]
    return -mean(log_softmax(rows)[np.arange(kept.size), wanted.astype(np.intp)])


# ------------------------------------------------------------------ 5. shells


class Parameter(Tensor):
    def __init__(self, data):
        super().__init__(data, requires_grad=True)


def walk(thing, name=""):
    """(dotted name, x) for every Module and Parameter in `thing`, itself included, each once."""
    seen = set()

    def visit(x, name):
        if not isinstance(x, (Parameter, Module, dict, list, tuple)) or id(x) in seen:
            return
        seen.add(id(x))
        if isinstance(x, (Parameter, Module)):
            yield name, x
        inside = (
            () if isinstance(x, Parameter)
            else vars(x).items() if isinstance(x, Module)
            else x.items() if isinstance(x, dict)
            else enumerate(x)
        )
        for key, value in inside:
            yield from visit(value, f"{name}.{key}" if name else str(key))

    return visit(thing, name)


class Module:
    training = True

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__}.forward")

    def named_parameters(self):
        return [(name, x) for name, x in walk(self) if isinstance(x, Parameter)]

    def parameters(self):
        return [p for _, p in self.named_parameters()]

    def modules(self):
        return [x for _, x in walk(self) if isinstance(x, Module)]

    def zero_grad(self):
        forget_gradients(self.parameters())

    def train(self, mode=True):
        for module in self.modules():
            module.training = mode
        return self

    def eval(self):
        return self.train(False)


def forget_gradients(params):
    for p in params:
        p.grad = None


@contextmanager
def evaluating(model):
    """eval() for a while; afterwards every submodule is back in the mode it was in."""
    before = [(m, m.training) for m in model.modules()] if isinstance(model, Module) else []
    try:
        for m, _ in before:
            m.training = False
        yield model
    finally:
        for m, mode in before:
            m.training = mode


def dice(rng):
    return np.random.default_rng() if rng is None else rng


def gaussian(rng, *shape, std=0.02):
    return Parameter(dice(rng).normal(0.0, std, shape))


def fan_in(rng, n_in, n_out):
    return gaussian(rng, n_in, n_out, std=n_in ** -0.5)


def constant(value, *shape):
    return Parameter(np.full(shape, float(value)))


class Embedding(Module):
    def __init__(self, vocab_size, d_model, *, rng=None):
        self.vocab_size, self.d_model = vocab_size, d_model
        self.weight = gaussian(rng, vocab_size, d_model)

    def forward(self, token_ids):
        return embed(token_ids, self.weight)


class LearnedPositional(Module):
    def __init__(self, max_len, d_model, *, rng=None):
        self.max_len, self.d_model = max_len, d_model
        self.weight = gaussian(rng, max_len, d_model)

    def forward(self, x):
        return add_positions(as_tensor(x), self.weight)


class EmbeddingLayer(Module):
    def __init__(self, vocab_size, d_model, max_len=512, pos="learned", scale=False, *, rng=None):
        if pos not in ("learned", "sinusoidal", None):
            raise ValueError(f'pos is "learned", "sinusoidal" or None, not {pos!r}')
        rng = dice(rng)
        self.factor = math.sqrt(d_model) if scale else None
        self.token = Embedding(vocab_size, d_model, rng=rng)
        self.position = (
            LearnedPositional(max_len, d_model, rng=rng) if pos == "learned"
            else sinusoidal(max_len, d_model) if pos == "sinusoidal"
            else None
        )

    def forward(self, token_ids):
        x = self.token(token_ids)
        x = x if self.factor is None else x * self.factor
        return (
            x if self.position is None
            else self.position(x) if isinstance(self.position, Module)
            else add_positions(x, self.position)
        )


class LMHead(Module):
    """Tied: the matrix is the embedding's, looked up at every call."""

    def __init__(self, embedding, *, rng=None):
        self.embedding = embedding

    vocab_size_out = property(lambda self: self.embedding.vocab_size)

    def forward(self, h):
        return lm_logits(h, self.embedding.weight)


class LayerNorm(Module):
    def __init__(self, d_model, eps=1e-5, *, rng=None):
        self.d_model, self.eps = d_model, eps
        self.gain, self.bias = constant(1, d_model), constant(0, d_model)

    def forward(self, x):
        return layer_norm(check_width(as_tensor(x), self.d_model), self.gain, self.bias, self.eps)


class RMSNorm(Module):
    def __init__(self, d_model, eps=1e-5, *, rng=None):
        self.d_model, self.eps = d_model, eps
        self.gain = constant(1, d_model)

    def forward(self, x):
        return rms_norm(check_width(as_tensor(x), self.d_model), self.gain, self.eps)


class LSTM(Module):
    def __init__(self, d_in, d_hidden, *, rng=None):
        rng = dice(rng)
        self.d_in, self.d_hidden = d_in, d_hidden
        self.w_x, self.w_h = (fan_in(rng, n, 4 * d_hidden) for n in (d_in, d_hidden))
        self.b = constant(0, 4 * d_hidden)

    def forward(self, x_t, h_prev, c_prev):
        return lstm_cell(x_t, h_prev, c_prev, self.w_x, self.w_h, self.b)


class MultiHeadAttention(Module):
    def __init__(self, d_model, n_heads, causal=True, use_rope=False, *, rng=None):
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model={d_model} cannot be split into n_heads={n_heads}")
        if use_rope and d_model // n_heads % 2:
            raise ValueError(f"rope needs an even d_head, {d_model} / {n_heads} is odd")
        rng = dice(rng)
        self.d_model, self.n_heads, self.causal, self.use_rope = d_model, n_heads, causal, use_rope
        self.w_q, self.w_k, self.w_v, self.w_o = (fan_in(rng, d_model, d_model) for _ in range(4))

    def forward(self, x):
        return multi_head_attention(
            as_tensor(x), self.w_q, self.w_k, self.w_v, self.w_o,
            n_heads=self.n_heads, causal=self.causal, use_rope=self.use_rope,
        )


class FFN(Module):
    def __init__(self, d_model, d_ff, *, rng=None):
        rng = dice(rng)
        self.w_1, self.b_1 = fan_in(rng, d_model, d_ff), constant(0, d_ff)
        self.w_2, self.b_2 = fan_in(rng, d_ff, d_model), constant(0, d_model)

    def forward(self, x):
        return feed_forward(x, self.w_1, self.b_1, self.w_2, self.b_2)


class TransformerBlock(Module):
    def __init__(self, d_model, n_heads, d_ff, *, rng=None):
        rng = dice(rng)
        self.ln_1, self.ln_2 = LayerNorm(d_model), LayerNorm(d_model)
        self.attn = MultiHeadAttention(d_model, n_heads, causal=True, use_rope=True, rng=rng)
        self.ffn = FFN(d_model, d_ff, rng=rng)

    def forward(self, x):
        return residual(residual(as_tensor(x), self.ln_1, self.attn), self.ln_2, self.ffn)


@dataclass(frozen=True)
class MiniGPTConfig:
    d_model: int = 64
    n_heads: int = 4
    n_layers: int = 2
    d_ff: int = 256
    vocab_size: int = 64
    context_len: int = 32

    def __post_init__(self):
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        for name, value in values.items():
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} has to be a positive integer, not {value!r}")
        if self.d_model % self.n_heads:
            raise ValueError(f"d_model={self.d_model} is not divisible by n_heads={self.n_heads}")
        if self.d_model // self.n_heads % 2:
            raise ValueError(f"d_model / n_heads = {self.d_model // self.n_heads} has to be even for rope")


class MiniGPT(Module):
    def __init__(self, config, *, rng=None):
        rng = dice(rng)
        self.config = config
        self.token_emb = Embedding(config.vocab_size, config.d_model, rng=rng)
        self.blocks = [
            TransformerBlock(config.d_model, config.n_heads, config.d_ff, rng=rng)
            for _ in range(config.n_layers)
        ]
        self.ln_final = LayerNorm(config.d_model)
        self.lm_head = LMHead(self.token_emb)

    def forward(self, token_ids):
        length(token_ids, self.config.context_len, axis=-1)
        stages = (self.token_emb, *self.blocks, self.ln_final, self.lm_head)
        return reduce(lambda h, stage: stage(h), stages, token_ids)


# ---------------------------------------------------------------- 6. learning


def unique(params):
    return list({id(p): p for p in params}.values())


def sgd_update(w, g, velocity, *, lr, momentum):
    """-> (new w, new velocity)"""
    velocity = g if velocity is None else momentum * velocity + g
    return w - lr * velocity, velocity


def adamw_update(w, g, state, *, lr, betas, eps, weight_decay):
    """-> (new w, new state); state is (m, v, number of steps) or None before the first"""
    (b1, b2), (m, v, t) = betas, state or (0.0, 0.0, 0)
    m, v, t = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g, t + 1
    m_hat, v_hat = m / (1 - b1 ** t), v / (1 - b2 ** t)
    return w - lr * weight_decay * w - lr * m_hat / (np.sqrt(v_hat) + eps), (m, v, t)


class Optimizer:
    """Remembers one state per parameter; the subclass says how w and the state move.

    `p.data` is replaced, not written into, so an array somebody else holds stays as it is.
    """

    def __init__(self, params, lr):
        self.params, self.lr = unique(params), lr
        self.states = [None] * len(self.params)

    def step(self):
        move = self.rule()
        for k, p in enumerate(self.params):
            if p.grad is not None:
                # state in the dtype of the weights; copies, since grad belongs to p
                g = np.array(p.grad, dtype=p.data.dtype)
                new, self.states[k] = move(p.data, g, self.states[k])
                p.data = np.array(new, dtype=p.data.dtype)

    def zero_grad(self):
        forget_gradients(self.params)


class SGD(Optimizer):
    def __init__(self, params, lr, momentum=0.0):
        super().__init__(params, lr)
        self.momentum = momentum

    def rule(self):
        return partial(sgd_update, lr=float(self.lr), momentum=float(self.momentum))


class AdamW(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, lr)
        self.betas, self.eps, self.weight_decay = betas, eps, weight_decay

    def rule(self):
        return partial(
            adamw_update,
            lr=float(self.lr),
            betas=tuple(map(float, self.betas)),
            eps=float(self.eps),
            weight_decay=float(self.weight_decay),
        )


def clip_grad_norm(params, max_norm):
    having = [p for p in unique(params) if p.grad is not None]
    norm = math.hypot(*(np.linalg.norm(np.ravel(p.grad).astype(np.float64)) for p in having))
    if norm > max_norm:
        for p in having:
            p.grad = np.asarray(p.grad * (float(max_norm) / norm))
    return norm


def cosine_lr(step, *, max_lr, min_lr, warmup, total):
    if warmup >= total:
        raise ValueError(f"warmup={warmup} has to be smaller than total={total}")
    return float(
        max_lr * (step / warmup) if step < warmup
        else max_lr if step == warmup
        else min_lr if step >= total
        else min_lr + (max_lr - min_lr) * (1 + math.cos(math.pi * (step - warmup) / (total - warmup))) / 2
    )


def batches(ids, batch_size, seq_len, *, rng):
    ids = np.array(ids)
    n_starts = len(ids) - seq_len
    if n_starts < 1:
        raise ValueError(f"{len(ids)} ids are too few for one window of {seq_len} + 1")

    def draw(offsets=np.arange(seq_len)):
        at = rng.integers(n_starts, size=batch_size)[:, None] + offsets
        return ids[at], ids[at + 1]

    return (draw() for _ in repeat(None))


def train_step(model, x, y, optimizer, max_norm=None):
    model.zero_grad()
    optimizer.zero_grad()
    loss = cross_entropy(model(x), y)
    loss.backward()
    if max_norm is not None:
        clip_grad_norm(model.parameters(), max_norm)
    optimizer.step()
    return float(loss)


def train(model, ids, *, steps, batch_size, seq_len, optimizer, rng, on_step=None):
    on_step = on_step or (lambda step, loss, model: None)
    losses = []
    # range first: zip then stops before it draws a batch nobody uses
    for step, (x, y) in zip(range(steps), batches(ids, batch_size, seq_len, rng=rng)):
        losses.append(loss := train_step(model, x, y, optimizer))
        on_step(step, loss, model)
    return losses


# -------------------------------------------------------------------- 7. text


def normalised(logits):
    return (e := np.exp(logits - logits.max())) / e.sum()


def only_top_k(logits, k):
    """Whoever ties with the k-th stays in."""
    return np.where(logits < np.sort(logits)[-min(k, logits.size)], -np.inf, logits)


def only_top_p(logits, p):
    if p >= 1:
        return logits
    order = np.argsort(-(probs := normalised(logits)), kind="stable")
    n_keep = np.searchsorted(np.cumsum(probs[order]), p) + 1  # + 1: the one that crosses p
    out = np.full_like(logits, -np.inf)
    out[order[:n_keep]] = logits[order[:n_keep]]
    return out


def pick(logits, *, temperature, top_k, top_p, rng):
    """One id from one row of logits."""
    logits = logits.astype(np.float64)
    if temperature == 0:
        return int(logits.argmax())
    logits = (logits - logits.max()) / temperature
    logits = logits if top_k is None else only_top_k(logits, top_k)
    logits = logits if top_p is None else only_top_p(logits, top_p)
    return int(rng.choice(logits.size, p=normalised(logits)))


def generate(model, prompt_ids, n_new, *, temperature=1.0, top_k=None, top_p=None, rng):
    if not np.size(prompt_ids) or not np.ndim(prompt_ids):
        raise ValueError("the prompt has to hold at least one token")
    complaint = (
        f"n_new={n_new} is negative" if n_new < 0
        else f"temperature={temperature} is negative" if temperature < 0
        else f"top_k={top_k} keeps nothing" if top_k is not None and top_k < 1
        else f"top_p={top_p} is no probability" if top_p is not None and not 0 <= top_p <= 1
        else None
    )
    if complaint:
        raise ValueError(complaint)
    choose = partial(pick, temperature=temperature, top_k=top_k, top_p=top_p, rng=rng)
    window = model.config.context_len

    def extend(ids, _):
        last = model(ids[..., -window:]).data[..., -1, :]
        new = [choose(row) for row in last.reshape(-1, last.shape[-1])]
        return np.concatenate([ids, np.reshape(new, (*ids.shape[:-1], 1))], axis=-1)

    with evaluating(model):
        return reduce(extend, range(n_new), integers(prompt_ids, "prompt ids").astype(np.int64))


def to_bytes(text):
    return text.encode("utf-8", "surrogatepass")


def to_text(raw):
    """Strict (with lone surrogates) when it can be, replacement characters when it cannot."""
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace")


def vocabulary(merges):
    """id -> bytes: the 256 bytes, then one token per merge."""
    return [bytes([i]) for i in range(256)] + [left + right for left, right in merges]


def ids_of(vocab):
    """bytes -> id. Two merges may spell the same bytes; that is one token, the earlier one."""
    return {token: i for i, token in reversed(list(enumerate(vocab)))}


def merge_pair(ids, left, right, new):
    """Replace left, right by new, from the left, without overlaps."""
    hits = np.flatnonzero((ids[:-1] == left) & (ids[1:] == right))
    if left == right and hits.size:
        # in a run of hits only every second one can be taken
        rank = np.arange(hits.size)
        run_start = np.maximum.accumulate(np.where(np.diff(hits, prepend=-2) != 1, rank, 0))
        hits = hits[(rank - run_start) % 2 == 0]
    out = ids.copy()
    out[hits] = new
    return np.delete(out, hits + 1)


def most_frequent_pair(ids, vocab):
    """Ids (left, right), or None when there is no pair left."""
    if ids.size < 2:
        return None
    span = len(vocab)
    codes, counts = np.unique(ids[:-1] * span + ids[1:], return_counts=True)
    tied = [divmod(int(c), span) for c in codes[counts == counts.max()]]
    return max(tied, key=lambda pair: (vocab[pair[0]], vocab[pair[1]]))


def learn_merges(text, n_merges):
    ids, merges = np.frombuffer(to_bytes(text), dtype=np.uint8).astype(np.int64), []
    known = ids_of(vocab := vocabulary(merges))
    while len(merges) < n_merges and (pair := most_frequent_pair(ids, vocab)) is not None:
        left, right = (vocab[i] for i in pair)
        merges.append((left, right))
        vocab.append(left + right)
        ids = merge_pair(ids, *pair, known.setdefault(left + right, len(vocab) - 1))
    return merges


def bpe_encode(text, merges):
    known = ids_of(vocabulary(merges))
    ids = np.frombuffer(to_bytes(text), dtype=np.uint8).astype(np.int64)
    return reduce(
        lambda ids, m: merge_pair(ids, known[m[0]], known[m[1]], known[m[0] + m[1]]),
        merges,
        ids,
    ).tolist()


def bpe_decode(ids, vocab):
    ids = list(map(operator.index, ids))
    if strays := [i for i in ids if not 0 <= i < len(vocab)]:
        raise IndexError(f"token id {strays[0]} is outside the vocabulary of size {len(vocab)}")
    return to_text(b"".join(vocab[i] for i in ids))


class BPETokenizer:
    def __init__(self, merges=()):
        self.merges = [tuple(m) for m in merges]

    vocab_size = property(lambda self: 256 + len(self.merges))

    @classmethod
    def train(cls, text, vocab_size):
        if vocab_size < 256:
            raise ValueError(f"vocab_size={vocab_size}: the 256 bytes alone need 256")
        return cls(learn_merges(text, vocab_size - 256))

    def encode(self, text):
        return bpe_encode(text, self.merges)

    def decode(self, ids):
        return bpe_decode(ids, vocabulary(self.merges))


# `import *` hands out what was written here and not what was imported here
__all__ = [
    name for name, value in globals().items()
    if not name.startswith("_") and getattr(value, "__module__", None) == __name__
]
