"""The starter template of the minimodel pack: its autograd, its Module, and its stubs."""

from __future__ import annotations

import ast
import gc
import importlib
import inspect
import operator
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

TEMPLATE = Path(__file__).resolve().parents[2] / "templates" / "minimodel"
SRC = TEMPLATE / "src"

# Every name the contract gives to a learner, with its parameters as inspect.signature prints them.
RNG = "rng: 'np.random.Generator | None' = None"
STUBS = {
    "nn.embedding": {
        "Embedding": f"(vocab_size: 'int', d_model: 'int', *, {RNG}) -> 'None'",
        "Embedding.forward": "(self, token_ids: 'np.ndarray') -> 'Tensor'",
    },
    "nn.positional": {
        "sinusoidal": "(max_len: 'int', d_model: 'int') -> 'np.ndarray'",
        "LearnedPositional": f"(max_len: 'int', d_model: 'int', *, {RNG}) -> 'None'",
        "LearnedPositional.forward": "(self, x: 'Tensor') -> 'Tensor'",
        "EmbeddingLayer": (
            "(vocab_size: 'int', d_model: 'int', max_len: 'int' = 512, "
            "pos: \"Literal['learned', 'sinusoidal'] | None\" = 'learned', scale: 'bool' = False, "
            f"*, {RNG}) -> 'None'"
        ),
        "EmbeddingLayer.forward": "(self, token_ids: 'np.ndarray') -> 'Tensor'",
        "rope": "(x: 'Tensor', positions: 'np.ndarray | None' = None, base: 'float' = 10000.0) -> 'Tensor'",
    },
    "nn.lm_head": {
        "LMHead": f"(embedding: 'Embedding', *, {RNG}) -> 'None'",
        "LMHead.forward": "(self, h: 'Tensor') -> 'Tensor'",
    },
    "nn.loss": {
        "cross_entropy": (
            "(logits: 'Tensor', targets: 'np.ndarray', ignore_index: 'int | None' = None) -> 'Tensor'"
        ),
    },
    "nn.norm": {
        "LayerNorm": f"(d_model: 'int', eps: 'float' = 1e-05, *, {RNG}) -> 'None'",
        "LayerNorm.forward": "(self, x: 'Tensor') -> 'Tensor'",
        "RMSNorm": f"(d_model: 'int', eps: 'float' = 1e-05, *, {RNG}) -> 'None'",
        "RMSNorm.forward": "(self, x: 'Tensor') -> 'Tensor'",
    },
    "nn.lstm": {
        "LSTM": f"(d_in: 'int', d_hidden: 'int', *, {RNG}) -> 'None'",
        "LSTM.forward": (
            "(self, x_t: 'Tensor', h_prev: 'Tensor', c_prev: 'Tensor') -> 'tuple[Tensor, Tensor]'"
        ),
    },
    "nn.attention": {
        "scaled_dot_product_attention": (
            "(q: 'Tensor', k: 'Tensor', v: 'Tensor', mask: 'np.ndarray | None' = None) -> 'Tensor'"
        ),
        "MultiHeadAttention": (
            "(d_model: 'int', n_heads: 'int', causal: 'bool' = True, use_rope: 'bool' = False, "
            f"*, {RNG}) -> 'None'"
        ),
        "MultiHeadAttention.forward": "(self, x: 'Tensor') -> 'Tensor'",
    },
    "nn.ffn": {
        "gelu": "(x: 'Tensor') -> 'Tensor'",
        "FFN": f"(d_model: 'int', d_ff: 'int', *, {RNG}) -> 'None'",
        "FFN.forward": "(self, x: 'Tensor') -> 'Tensor'",
    },
    "nn.block": {
        "TransformerBlock": f"(d_model: 'int', n_heads: 'int', d_ff: 'int', *, {RNG}) -> 'None'",
        "TransformerBlock.forward": "(self, x: 'Tensor') -> 'Tensor'",
    },
    "mini_gpt": {
        "MiniGPTConfig": (
            "(d_model: 'int' = 64, n_heads: 'int' = 4, n_layers: 'int' = 2, d_ff: 'int' = 256, "
            "vocab_size: 'int' = 64, context_len: 'int' = 32) -> None"
        ),
        "MiniGPT": f"(config: 'MiniGPTConfig', *, {RNG}) -> 'None'",
        "MiniGPT.forward": "(self, token_ids: 'np.ndarray') -> 'Tensor'",
    },
    "optim": {
        "SGD": "(params: 'Iterable[Parameter]', lr: 'float', momentum: 'float' = 0.0) -> 'None'",
        "SGD.step": "(self) -> 'None'",
        "SGD.zero_grad": "(self) -> 'None'",
        "AdamW": (
            "(params: 'Iterable[Parameter]', lr: 'float' = 0.001, "
            "betas: 'tuple[float, float]' = (0.9, 0.999), eps: 'float' = 1e-08, "
            "weight_decay: 'float' = 0.01) -> 'None'"
        ),
        "AdamW.step": "(self) -> 'None'",
        "AdamW.zero_grad": "(self) -> 'None'",
        "clip_grad_norm": "(params: 'Iterable[Parameter]', max_norm: 'float') -> 'float'",
        "cosine_lr": (
            "(step: 'int', *, max_lr: 'float', min_lr: 'float', warmup: 'int', total: 'int') -> 'float'"
        ),
    },
    "data": {
        "batches": (
            "(ids: 'np.ndarray', batch_size: 'int', seq_len: 'int', *, rng: 'np.random.Generator') "
            "-> 'Iterator[tuple[np.ndarray, np.ndarray]]'"
        ),
    },
    "train": {
        "train_step": (
            "(model: 'Module', x: 'np.ndarray', y: 'np.ndarray', optimizer: 'SGD | AdamW', "
            "max_norm: 'float | None' = None) -> 'float'"
        ),
        "train": (
            "(model: 'Module', ids: 'np.ndarray', *, steps: 'int', batch_size: 'int', seq_len: 'int', "
            "optimizer: 'SGD | AdamW', rng: 'np.random.Generator', "
            "on_step: 'Callable[[int, float, Module], object] | None' = None) -> 'list[float]'"
        ),
    },
    "generate": {
        "generate": (
            "(model: 'Module', prompt_ids: 'np.ndarray', n_new: 'int', *, temperature: 'float' = 1.0, "
            "top_k: 'int | None' = None, top_p: 'float | None' = None, rng: 'np.random.Generator') "
            "-> 'np.ndarray'"
        ),
    },
    "tokenizer": {
        "BPETokenizer.train": "(text: 'str', vocab_size: 'int') -> 'BPETokenizer'",
        "BPETokenizer.encode": "(self, text: 'str') -> 'list[int]'",
        "BPETokenizer.decode": "(self, ids: 'list[int]') -> 'str'",
    },
}
STUB_NAMES = [(module, name) for module, names in STUBS.items() for name in names]


def _forget_minimodel() -> None:
    for name in [
        name for name in sys.modules if name == "minimodel" or name.startswith("minimodel.")
    ]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def mm():
    """The template's package: names of tensor and module, and `load` for the other modules."""
    write_bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # no __pycache__ in the template
    sys.path.insert(0, str(SRC))
    _forget_minimodel()
    try:
        tensor = importlib.import_module("minimodel.tensor")
        module = importlib.import_module("minimodel.module")
        yield SimpleNamespace(
            Tensor=tensor.Tensor,
            Parameter=module.Parameter,
            Module=module.Module,
            load=lambda name: importlib.import_module(f"minimodel.{name}"),
        )
    finally:
        _forget_minimodel()
        sys.path.remove(str(SRC))
        sys.dont_write_bytecode = write_bytecode


def numeric_gradient(loss, array: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """Central differences of `loss()` with respect to every number in `array`, changed in place."""
    gradient = np.zeros_like(array)
    for place in np.ndindex(array.shape):
        kept = array[place]
        array[place] = kept + eps
        above = loss()
        array[place] = kept - eps
        below = loss()
        array[place] = kept
        gradient[place] = (above - below) / (2 * eps)
    return gradient


def check(mm, function, reference, *arrays: np.ndarray) -> None:
    """Compare values with a NumPy formula, and the gradient of every operand with finite differences."""
    operands = [mm.Tensor(array.copy(), requires_grad=True) for array in arrays]
    out = function(*operands)
    expected = np.asarray(reference(*arrays))
    assert out.shape == expected.shape
    np.testing.assert_allclose(out.data, expected, rtol=1e-12, atol=1e-12)

    weights = np.random.default_rng(7).normal(size=out.shape)
    out.backward(weights)
    for operand in operands:
        numeric = numeric_gradient(
            lambda: float(np.sum(function(*operands).data * weights)), operand.data
        )
        assert operand.grad.shape == operand.shape
        np.testing.assert_allclose(operand.grad, numeric, rtol=1e-6, atol=1e-7)
    for operand, array in zip(operands, arrays, strict=True):
        np.testing.assert_array_equal(operand.data, array)


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def positive(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.5, 2.0, size=shape)


# ---------------------------------------------------------------- arithmetic

BROADCAST = [
    ((), ()),
    ((3,), ()),
    ((), (2, 3)),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((1,), (2, 3)),
    ((2, 1), (1, 3)),
    ((4, 1, 3), (2, 1)),
    ((1, 1, 1), (5,)),
    ((2, 3, 1, 1), (3, 4, 5)),
    ((0, 3), (3,)),
    ((0, 3), (1, 3)),
    ((1, 1), (1, 1)),
]
BINARY = [operator.add, operator.sub, operator.mul, operator.truediv]


@pytest.mark.parametrize("shapes", BROADCAST, ids=str)
@pytest.mark.parametrize("op", BINARY)
def test_arithmetic_between_tensors_broadcasts_and_undoes_it_in_backward(mm, op, shapes):
    """Values and both gradients are right for every pair of shapes."""
    check(mm, op, op, normal(*shapes[0]), positive(*shapes[1], seed=1))


@pytest.mark.parametrize("shape", [(), (3,), (2, 1, 3)], ids=str)
@pytest.mark.parametrize("op", BINARY)
def test_plain_numbers_and_arrays_work_on_either_side(mm, op, shape):
    """A constant may stand left or right of a Tensor, whatever its kind."""
    x = positive(*shape)
    for constant in [
        2, 2.5, True, np.float64(1.5), np.float32(1.5), np.int64(3), np.array(1.5), positive(4, 1, seed=2),
        np.arange(1, 4), [1.0, 2.0, 3.0],
    ]:  # fmt: skip
        plain = np.asarray(constant)
        check(mm, lambda t, c=constant: op(t, c), lambda a, c=plain: op(a, c), x)
        check(mm, lambda t, c=constant: op(c, t), lambda a, c=plain: op(c, a), x)


def test_an_array_on_the_left_gives_one_tensor(mm):
    """NumPy hands every operator over to Tensor instead of making an array of objects."""
    array, tensor = normal(3, 3), mm.Tensor(normal(3, 3, seed=1))
    for op in [*BINARY, operator.matmul]:
        assert type(op(array, tensor)) is mm.Tensor
        assert type(op(array, tensor).data) is np.ndarray
        assert op(array, tensor).data.dtype == np.float64


def test_negation_has_slope_minus_one(mm):
    """Unary minus is differentiable for any shape."""
    check(mm, operator.neg, operator.neg, normal(2, 0, 3))
    check(mm, operator.neg, operator.neg, normal(2, 3))


@pytest.mark.parametrize(
    "exponent", [2, 3, -1, -2.5, 0.5, 0, 1, np.float64(1.5), np.int64(3)], ids=repr
)
def test_power_with_a_number_as_exponent_is_differentiable(mm, exponent):
    """Integer, fractional, negative and zero exponents work."""
    check(mm, lambda t: t**exponent, lambda a: a ** float(exponent), positive(2, 3))


def test_power_of_negative_numbers_with_a_whole_exponent_is_differentiable(mm):
    """The square and the cube of a negative number have the right slope."""
    check(mm, lambda t: t**2 + t**3, lambda a: a**2 + a**3, -positive(2, 3))


def test_powers_of_zero_have_finite_slopes(mm):
    """At 0 the slopes of x^0, x^1 and x^2 are 0, 1 and 0."""
    for exponent, slope in [(0, 0.0), (1, 1.0), (2, 0.0)]:
        x = mm.Tensor(0.0, requires_grad=True)
        (x**exponent).backward()
        assert x.grad == slope


def test_power_with_anything_but_a_number_as_exponent_is_a_type_error(mm):
    """Neither a Tensor nor an array is accepted as an exponent."""
    x = mm.Tensor(positive(3))
    for exponent in [x, np.ones(3), "2", None]:
        with pytest.raises(TypeError):
            x**exponent


@pytest.mark.parametrize(
    "shapes",
    [
        ((2, 3), (3, 4)),
        ((3,), (3,)),
        ((3,), (3, 4)),
        ((2, 3), (3,)),
        ((3,), (5, 3, 4)),
        ((5, 2, 3), (3,)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
        ((5, 2, 3), (5, 3, 4)),
        ((1, 2, 3), (5, 3, 4)),
        ((6, 1, 2, 3), (5, 3, 4)),
        ((6, 5, 2, 3), (1, 5, 3, 1)),
        ((2, 3, 1, 4), (4,)),
        ((1,), (1,)),
        ((1, 1), (1, 1)),
        ((2, 0), (0, 3)),
        ((0, 2), (2, 3)),
    ],
    ids=str,
)
def test_matrix_product_handles_batch_axes_and_one_dimensional_operands(mm, shapes):
    """Values and both gradients of `@` are right, broadcast batch axes included."""
    a, b = normal(*shapes[0]), normal(*shapes[1], seed=1)
    check(mm, operator.matmul, operator.matmul, a, b)
    check(mm, lambda t: t @ b, lambda x: x @ b, a)
    check(mm, lambda t: a @ t, lambda x: a @ x, b)


def test_matrix_product_of_shapes_that_do_not_fit_is_a_value_error(mm):
    """The inner sizes must agree, and scalars have no matrix product."""
    with pytest.raises(ValueError):
        mm.Tensor(normal(2, 3)) @ mm.Tensor(normal(2, 3))
    with pytest.raises(ValueError):
        mm.Tensor(normal(2, 3)) @ 2.0


# ---------------------------------------------------------------- functions of one value

SHAPES = [(), (1,), (3,), (2, 3), (2, 1, 3), (0, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    ("name", "reference", "numbers"),
    [
        ("exp", np.exp, normal),
        ("log", np.log, positive),
        ("sqrt", np.sqrt, positive),
        ("tanh", np.tanh, normal),
        ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), normal),
        ("relu", lambda x: np.maximum(x, 0), normal),
    ],
)
def test_functions_of_one_value_are_differentiable(mm, name, reference, numbers, shape):
    """Values and gradients are right for every shape."""
    check(mm, lambda t: getattr(t, name)(), reference, numbers(*shape))


def test_sigmoid_of_huge_values_is_exact_and_silent(mm):
    """Neither sign overflows, forward or backward."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = mm.Tensor(np.array([-1000.0, -40.0, 0.0, 40.0, 1000.0]), requires_grad=True)
        y = x.sigmoid()
        y.sum().backward()
    np.testing.assert_allclose(y.data, [0.0, np.exp(-40.0), 0.5, 1.0, 1.0], rtol=1e-12)
    np.testing.assert_allclose(x.grad, [0.0, np.exp(-40.0), 0.25, 0.0, 0.0], rtol=1e-12, atol=1e-15)


def test_relu_has_slope_zero_at_zero(mm):
    """The kink belongs to the flat side."""
    x = mm.Tensor([-1.0, 0.0, 2.0], requires_grad=True)
    x.relu().sum().backward()
    np.testing.assert_array_equal(x.grad, [0.0, 0.0, 1.0])


# ---------------------------------------------------------------- reductions and softmax


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (-1, 1), (0, 1, 2), (1,), ()], ids=str)
@pytest.mark.parametrize("name", ["sum", "mean", "max"])
def test_reductions_work_over_any_axes(mm, name, axis, keepdims):
    """An axis, a tuple of axes or none at all reduces as in NumPy, with the right gradient."""

    def reduce_tensor(t):
        return getattr(t, name)(axis=axis, keepdims=keepdims)

    check(
        mm,
        reduce_tensor,
        lambda a: getattr(np, name)(a, axis=axis, keepdims=keepdims),
        normal(2, 3, 4),
    )
    check(mm, lambda t: getattr(t, name)(axis, keepdims) * 2.0, lambda a: 2 * getattr(np, name)(
        a, axis=axis, keepdims=keepdims), normal(1, 3, 1))  # fmt: skip


@pytest.mark.parametrize("name", ["sum", "mean", "max"])
def test_reductions_of_a_scalar_are_the_scalar(mm, name):
    """A tensor of shape () reduces to itself."""
    check(mm, lambda t: getattr(t, name)(), lambda a: a, normal())


def test_sums_over_an_empty_axis_are_zero(mm):
    """An axis of size 0 sums to 0 and has an empty gradient."""
    check(mm, lambda t: t.sum(axis=0), lambda a: a.sum(axis=0), normal(0, 3))
    check(mm, lambda t: t.mean(axis=1), lambda a: a.mean(axis=1), normal(0, 3))


def test_tied_maxima_share_the_gradient_evenly(mm):
    """Two equal maxima get half each, three a third each, and the rest nothing."""
    x = mm.Tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [5.0, 4.0, 0.0]], requires_grad=True)
    x.max(axis=1).backward(np.array([1.0, 6.0, 2.0]))
    np.testing.assert_allclose(x.grad, [[0.0, 0.5, 0.5], [2.0, 2.0, 2.0], [2.0, 0.0, 0.0]])
    y = mm.Tensor([[7.0, 0.0], [7.0, 7.0]], requires_grad=True)
    y.max().backward(3.0)
    np.testing.assert_allclose(y.grad, [[1.0, 0.0], [1.0, 1.0]])


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax_works_along_any_axis(mm, dim):
    """Values and gradients agree with the formula."""

    def formula(a):
        return np.exp(a) / np.exp(a).sum(axis=dim, keepdims=True)

    check(mm, lambda t: t.softmax(dim=dim), formula, normal(3, 4, 2))
    check(mm, lambda t: t.softmax(dim), formula, normal(1, 1, 1))


def test_softmax_goes_along_the_last_axis_by_default(mm):
    """Every row sums to one."""
    np.testing.assert_allclose(
        mm.Tensor(normal(2, 3, 4)).softmax().data.sum(axis=-1), np.ones((2, 3))
    )


def test_softmax_of_huge_and_infinite_logits_is_stable(mm):
    """Logits of +-1000 and single -inf entries give finite values and gradients, silently."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = mm.Tensor([[1000.0, -1000.0, 999.0], [-1000.0, -np.inf, -1000.0]], requires_grad=True)
        p = x.softmax()
        (p * np.array([1.0, 2.0, 3.0])).sum().backward()
    e = np.exp(-1.0)
    np.testing.assert_allclose(p.data, [[1 / (1 + e), 0.0, e / (1 + e)], [0.5, 0.0, 0.5]])
    assert np.isfinite(x.grad).all()


# ---------------------------------------------------------------- shape and selection


@pytest.mark.parametrize(
    "shape", [(6, 4), (-1,), (2, -1), (4, 3, 2), (1, 24, 1), (2, 3, 4)], ids=str
)  # fmt: skip
def test_reshape_takes_sizes_or_a_tuple(mm, shape):
    """reshape(2, -1), reshape((2, -1)) and reshape([2, -1]) are the same."""
    x = normal(2, 3, 4)
    for arguments in [shape, (shape,), (list(shape),)]:
        check(mm, lambda t, a=arguments: t.reshape(*a), lambda a: a.reshape(shape), x)


def test_reshape_to_and_from_a_scalar_works(mm):
    """A single value can lose and gain axes."""
    check(mm, lambda t: t.reshape(()), lambda a: a.reshape(()), normal(1, 1))
    check(mm, lambda t: t.reshape(1, 1), lambda a: a.reshape(1, 1), normal())
    check(mm, lambda t: t.reshape(1), lambda a: a.reshape(1), normal())


def test_reshape_to_another_size_is_a_value_error(mm):
    """The number of values cannot change."""
    with pytest.raises(ValueError):
        mm.Tensor(normal(2, 3)).reshape(4, -1)


@pytest.mark.parametrize(
    "axes", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (-1, 0, 1), (0, -1, -2)], ids=str
)
def test_transpose_with_a_tuple_reorders_the_axes(mm, axes):
    """A permutation, negative axes included, is undone in backward."""
    check(mm, lambda t: t.transpose(axes), lambda a: np.transpose(a, axes), normal(2, 3, 4))
    check(mm, lambda t: t.transpose(list(axes)), lambda a: np.transpose(a, axes), normal(2, 3, 4))


@pytest.mark.parametrize("pair", [(0, 1), (1, 0), (0, 2), (-1, -2), (0, -1), (1, 1)], ids=str)
def test_transpose_with_two_numbers_swaps_two_axes(mm, pair):
    """The other axes stay where they are."""
    check(mm, lambda t: t.transpose(*pair), lambda a: np.swapaxes(a, *pair), normal(2, 3, 4))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4)], ids=str)
def test_transpose_without_axes_reverses_them(mm, shape):
    """transpose() and .T turn the order of the axes around."""
    check(mm, lambda t: t.transpose(), lambda a: a.T, normal(*shape))
    check(mm, lambda t: t.T, lambda a: a.T, normal(*shape))


def test_transpose_with_axes_that_do_not_exist_is_an_error(mm):
    """A wrong axis, a wrong permutation and a third number are refused."""
    x = mm.Tensor(normal(2, 3, 4))
    with pytest.raises(IndexError):
        x.transpose(0, 3)
    with pytest.raises(ValueError):
        x.transpose((0, 1))
    with pytest.raises(ValueError):
        x.transpose((0, 1, 1))
    with pytest.raises(TypeError):
        x.transpose(0, 2, 1)


INDICES = [
    0,
    -1,
    np.int64(1),
    slice(1, None),
    slice(None, None, -2),
    slice(3, 3),
    ...,
    None,
    (),
    (1, 2, 3),
    (0, slice(None), 2),
    (..., 0),
    (..., slice(0, None, 2)),
    (slice(None), None, 1),
    (None, ..., None),
    [0, 0, 1],
    np.array([1, 0, 1, 1]),
    np.array([-1, 1]),
    np.array([[0, 1], [1, 1]]),
    np.array([], dtype=int),
    (np.array([0, 1, 0]), np.array([2, 2, 2])),
    (np.array([0, 0]), np.array([1, 1]), np.array([3, 3])),
    (slice(None), np.array([2, 0, 2])),
    (..., np.array([[3, 3], [0, 1]])),
    (np.array([[0], [1]]), slice(1, 3), np.array([0, 0, 3])),
    np.arange(24).reshape(2, 3, 4) % 3 == 0,
    np.zeros((2, 3, 4), dtype=bool),
    np.array([True, False]),
    (slice(None), np.array([True, False, True])),
    (np.array([[True, False, True], [False, True, False]]), 1),
    (..., np.array([True, False, True, True])),
]


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_indexing_gathers_forward_and_scatters_backward(mm, index):
    """Whatever NumPy can index with works, and repeated places add up."""
    check(mm, lambda t: t[index], lambda a: a[index], normal(2, 3, 4))


def test_a_scalar_can_be_indexed_with_an_ellipsis_or_nothing(mm):
    """x[...], x[()] and x[None] work on shape ()."""
    for index in [..., (), None]:
        check(mm, lambda t, i=index: t[i], lambda a, i=index: a[i], normal())


def test_rows_that_are_not_selected_get_exactly_zero(mm):
    """A row's gradient is the sum over the places that selected it."""
    table = mm.Parameter(normal(4, 2))
    table[np.array([[1, 1], [3, 1]])].backward(np.ones((2, 2, 2)))
    np.testing.assert_array_equal(table.grad, [[0.0, 0.0], [3.0, 3.0], [0.0, 0.0], [1.0, 1.0]])


def test_an_index_out_of_range_is_an_index_error(mm):
    """NumPy's error comes through."""
    with pytest.raises(IndexError):
        mm.Tensor(normal(2, 3))[2]
    with pytest.raises(IndexError):
        mm.Tensor(normal(2, 3))[np.array([0, 5])]


def test_iterating_and_unpacking_give_tensors(mm):
    """The rows of a tensor are tensors that pass their gradients on."""
    x = mm.Tensor(normal(3, 2), requires_grad=True)
    first, second, third = x
    (first + 2.0 * third).sum().backward()
    np.testing.assert_array_equal(x.grad, [[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]])
    assert second.shape == (2,)
    with pytest.raises(TypeError):
        list(mm.Tensor(1.0))


# ---------------------------------------------------------------- the graph


def test_a_tensor_that_is_used_twice_collects_both_gradients(mm):
    """Every use adds its part, in the same operation or in several."""
    check(mm, lambda t: t * t, lambda a: a * a, normal(2, 3))
    check(mm, lambda t: t + t - t / t, lambda a: a + a - 1.0, positive(2, 3))
    check(mm, lambda t: t @ t.T, lambda a: a @ a.T, normal(3, 2))
    check(
        mm,
        lambda t: t * t.sum(axis=0) + t.exp() * t,
        lambda a: a * a.sum(0) + np.exp(a) * a,
        normal(2, 3),
    )


def test_shared_intermediate_results_are_counted_once_per_use(mm):
    """Paths of different length from one result back to another add up."""

    def diamond(t):
        y = t.tanh()
        z = y * 2.0 + t
        return (z * y + z.sigmoid() * y).sum(axis=-1)

    def formula(a):
        y = np.tanh(a)
        z = y * 2.0 + a
        return (z * y + y / (1 + np.exp(-z))).sum(axis=-1)

    check(mm, diamond, formula, normal(2, 3))


def test_a_small_network_has_the_right_gradients(mm):
    """Attention, normalisation and a nonlinearity together agree with finite differences."""
    mask = np.where(np.tril(np.ones((3, 3), dtype=bool)), 0.0, -1e9)

    def network(x, w, gain):
        q = (x @ w).reshape(2, 3, 2, 2).transpose((0, 2, 1, 3))
        scores = q @ q.transpose(-1, -2) / np.sqrt(2.0) + mask
        mixed = (scores.softmax() @ q).transpose(1, 2).reshape((2, 3, 4))
        centred = mixed - mixed.mean(axis=-1, keepdims=True)
        normed = centred / ((centred**2).mean(axis=-1, keepdims=True) + 1e-5).sqrt() * gain
        return (normed.relu() + x).max(axis=1)

    def formula(x, w, gain):
        q = np.moveaxis((x @ w).reshape(2, 3, 2, 2), 2, 1)
        scores = np.exp(q @ np.swapaxes(q, -1, -2) / np.sqrt(2.0) + mask)
        mixed = np.moveaxis(scores / scores.sum(-1, keepdims=True) @ q, 1, 2).reshape(2, 3, 4)
        centred = mixed - mixed.mean(-1, keepdims=True)
        normed = centred / np.sqrt(mixed.var(-1, keepdims=True) + 1e-5) * gain
        return (np.maximum(normed, 0) + x).max(axis=1)

    check(mm, network, formula, normal(2, 3, 4), normal(4, 4, seed=1), normal(4, seed=2))


def test_backward_adds_to_an_existing_gradient(mm):
    """Two backward passes leave the sum, and None starts again."""
    x = mm.Tensor([1.0, 2.0], requires_grad=True)
    (x * 3.0).sum().backward()
    (x * x).sum().backward()
    np.testing.assert_array_equal(x.grad, [5.0, 7.0])
    x.grad = None
    x.sum().backward()
    np.testing.assert_array_equal(x.grad, [1.0, 1.0])


def test_backward_twice_through_one_graph_doubles_the_gradient(mm):
    """What the first pass left behind does not flow a second time."""
    x = mm.Tensor([1.0, 2.0], requires_grad=True)
    loss = (x.exp() * 2.0).sum()
    loss.backward()
    once = x.grad.copy()
    loss.backward()
    np.testing.assert_allclose(x.grad, 2 * once)


def test_gradients_share_no_memory(mm):
    """Changing one gradient in place changes no other gradient and not the one passed in."""
    a, b = mm.Parameter(normal(3)), mm.Parameter(normal(3))
    given = np.ones(3)
    (a + b).backward(given)
    a.grad *= 5.0
    np.testing.assert_array_equal(b.grad, np.ones(3))
    np.testing.assert_array_equal(given, np.ones(3))


def test_gradients_are_writable_arrays_even_for_scalars(mm):
    """A gradient is always an ndarray that can be scaled in place."""
    x, w = mm.Tensor(2.0, requires_grad=True), mm.Parameter(normal(2, 3))
    for _ in range(2):
        (w.sum() * x).backward()
        for tensor in (x, w):
            assert type(tensor.grad) is np.ndarray
            tensor.grad *= 0.5


def test_results_share_no_memory_with_their_operands(mm):
    """Changing a parameter in place leaves earlier results as they were."""
    p = mm.Parameter(normal(2, 3))
    results = [
        p[0],
        p[...],
        p[:, 1],
        p.reshape(3, 2),
        p.T,
        p.transpose(0, 1),
        p.sum(axis=()),
        p.max(axis=()),
    ]
    results += [p + 0.0, p**1, p.relu(), -p]
    for result in results:
        assert not np.shares_memory(result.data, p.data)


def test_a_long_computation_does_not_hit_the_recursion_limit(mm):
    """Neither backward nor forgetting the graph recurses."""
    x = mm.Tensor(1.0, requires_grad=True)
    y = x
    for _ in range(50_000):
        y = y + 0.5 * x
    y.backward()
    assert x.grad == 25_001.0
    del y


def test_a_heavily_shared_graph_is_walked_once(mm):
    """Doubling a tensor sixty times takes sixty steps, not 2^60."""
    x = mm.Tensor(1.0, requires_grad=True)
    y = x
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.grad == 2.0**60


def test_a_graph_is_freed_without_the_garbage_collector(mm):
    """No result refers to itself, so a training loop does not pile up memory."""
    x = mm.Parameter(normal(2, 2))
    gc.collect()
    gc.disable()
    try:
        y = (x @ x).exp().softmax().max(axis=0).sigmoid().tanh().relu().sqrt()[0].reshape(
            1
        ).T.mean() ** 2
        y.backward()
        del y
        assert not [
            thing for thing in gc.get_objects() if type(thing) is mm.Tensor and thing._links
        ]
    finally:
        gc.enable()


def test_backward_without_a_gradient_needs_a_scalar(mm):
    """Anything with axes is a ValueError."""
    for shape in [(2,), (2, 3), (0,)]:
        with pytest.raises(ValueError, match="scalar"):
            mm.Tensor(normal(*shape), requires_grad=True).backward()
        with pytest.raises(ValueError, match="scalar"):
            mm.Tensor(normal(*shape)).backward()


def test_backward_with_a_gradient_of_another_shape_is_a_value_error(mm):
    """The message names both shapes, and broadcasting does not help."""
    x = mm.Tensor(normal(2, 3), requires_grad=True)
    for grad in [1.0, np.ones(3), np.ones((3, 2)), np.ones((1, 2, 3))]:
        with pytest.raises(ValueError, match=r"\(2, 3\)"):
            (x * 2.0).backward(grad)
    assert x.grad is None


def test_backward_takes_numbers_lists_arrays_and_tensors(mm):
    """The given gradient is weighed in, whatever holds it."""
    for grad in [
        [1, 2],
        np.array([1.0, 2.0]),
        np.array([1, 2], dtype=np.float32),
        mm.Tensor([1.0, 2.0]),
    ]:
        x = mm.Tensor([3.0, 4.0], requires_grad=True)
        (x * 2.0).backward(grad)
        np.testing.assert_array_equal(x.grad, [2.0, 4.0])
    s = mm.Tensor(3.0, requires_grad=True)
    (s * s).backward(2)
    assert s.grad == 12.0


def test_constants_get_no_gradient(mm):
    """A tensor that does not require a gradient keeps None, and so do results of constants."""
    x, c = mm.Tensor(normal(3), requires_grad=True), mm.Tensor(normal(3))
    (x * c).sum().backward()
    assert c.grad is None
    assert x.grad is not None
    constant = (c * 2.0).sum()
    assert not constant.requires_grad
    constant.backward()
    assert constant.grad is None and c.grad is None


def test_a_parameter_changed_in_place_is_used_by_the_next_forward(mm):
    """p.data[...] = a is enough, for values and for gradients."""
    p = mm.Parameter(np.ones(3))
    assert (p * p).sum().data == 3.0
    p.data[...] = [1.0, 2.0, 3.0]
    out = (p * p).sum()
    assert out.data == 14.0
    out.backward()
    np.testing.assert_array_equal(p.grad, [2.0, 4.0, 6.0])


# ---------------------------------------------------------------- dtype and construction

KEEPS_DTYPE = {
    "add a number": lambda t: t + 1.5,
    "number on the left": lambda t: 2 - t,
    "numpy scalar": lambda t: t * np.float64(0.5),
    "numpy scalar on the left": lambda t: np.sqrt(8.0) / t,
    "float64 array": lambda t: t + np.ones((2, 3)),
    "float64 array on the left": lambda t: np.ones((2, 3)) * t,
    "boolean array": lambda t: t * np.ones((2, 3), dtype=bool),
    "integer array": lambda t: t / np.full((2, 3), 2),
    "negation": lambda t: -t,
    "power": lambda t: t ** np.float64(1.5),
    "matrix product": lambda t: t @ t.T,
    "matrix product with an array": lambda t: t @ np.ones((3, 2)),
    "one-dimensional product": lambda t: t[0] @ t[1],
    "exp": lambda t: t.exp(),
    "log": lambda t: t.log(),
    "sqrt": lambda t: t.sqrt(),
    "tanh": lambda t: t.tanh(),
    "sigmoid": lambda t: t.sigmoid(),
    "relu": lambda t: t.relu(),
    "softmax": lambda t: t.softmax(),
    "sum": lambda t: t.sum(),
    "scalar arithmetic": lambda t: 1.0 / (t.sum() * 2.0 + np.float64(1.0)),
    "mean": lambda t: t.mean(axis=1, keepdims=True),
    "mean of all": lambda t: t.mean(),
    "max": lambda t: t.max(axis=0),
    "reshape": lambda t: t.reshape(-1),
    "transpose": lambda t: t.transpose(0, 1),
    "index": lambda t: t[0, 1],
    "gather": lambda t: t[np.array([0, 0, 1])],
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", KEEPS_DTYPE)
def test_every_operation_keeps_the_dtype_of_its_tensors(mm, name, dtype):
    """Values and gradients have the dtype of the operand, and constants do not change it."""
    t = mm.Tensor(positive(2, 3).astype(dtype), requires_grad=True)
    out = KEEPS_DTYPE[name](t)
    assert out.data.dtype == dtype
    out.backward(np.ones(out.shape))  # a float64 gradient does not upcast either
    assert t.grad.dtype == dtype
    KEEPS_DTYPE[name](t).backward(np.ones(out.shape))
    assert t.grad.dtype == dtype


def test_a_float64_gradient_given_to_a_float32_tensor_is_float32(mm):
    """The dtype of a gradient is that of its tensor, for the tensor backward starts from too."""
    p = mm.Parameter(np.ones(2, dtype=np.float32))
    p.backward(np.ones(2))
    assert p.grad.dtype == np.float32


def test_mixed_tensors_promote_and_each_gradient_has_its_own_dtype(mm):
    """float32 with float64 gives float64, as in NumPy."""
    a = mm.Tensor(np.ones(3, dtype=np.float32), requires_grad=True)
    b = mm.Tensor(np.ones(3), requires_grad=True)
    out = (a * b).sum()
    out.backward()
    assert (out.data.dtype, a.grad.dtype, b.grad.dtype) == (np.float64, np.float32, np.float64)


def test_integers_booleans_and_half_floats_become_float64(mm):
    """Only float32 and float64 are kept."""
    for data in [
        1,
        [1, 2],
        True,
        np.arange(3),
        np.array([True]),
        np.ones(2, dtype=np.float16),
        1.5,
        [],
    ]:
        assert mm.Tensor(data).data.dtype == np.float64
    assert mm.Tensor(np.ones(2, dtype=np.float32)).data.dtype == np.float32
    assert mm.Tensor(np.float32(1.0)).data.dtype == np.float32


def test_data_that_is_not_real_numbers_is_a_type_error(mm):
    """None, text, complex numbers and lists of Tensors are refused, alone and in arithmetic."""
    x = mm.Tensor(normal(2))
    for data in [None, "text", [None, 1.0], 1j, [x, x], object()]:
        with pytest.raises(TypeError):
            mm.Tensor(data)
        with pytest.raises(TypeError):
            x + data
        with pytest.raises(TypeError):
            data * x


def test_numpy_functions_refuse_a_tensor(mm):
    """A gradient is never lost silently."""
    for function in [np.asarray, np.exp, np.array, np.stack]:
        with pytest.raises(TypeError):
            function(mm.Tensor(normal(2, 3)))


def test_a_tensor_can_be_made_from_a_tensor(mm):
    """The new tensor has the values but not the history."""
    x = mm.Tensor(normal(2), requires_grad=True)
    y = mm.Tensor(x * 2.0)
    np.testing.assert_array_equal(y.data, (x * 2.0).data)
    assert not y.requires_grad


def test_shape_ndim_len_and_repr_describe_the_tensor(mm):
    """What a learner prints tells shape, values, dtype and kind."""
    x = mm.Tensor(np.zeros((2, 3), dtype=np.float32))
    assert (x.shape, x.ndim, len(x)) == ((2, 3), 2, 2)
    assert mm.Tensor(1.0).shape == () and mm.Tensor(1.0).ndim == 0
    with pytest.raises(TypeError):
        len(mm.Tensor(1.0))
    assert repr(mm.Tensor([1.0, 2.5])) == "Tensor([1. , 2.5], dtype=float64, requires_grad=False)"
    assert repr(mm.Parameter(np.float32(1))).startswith("Parameter(1.")
    assert "float32" in repr(x)


def test_a_new_tensor_has_no_gradient(mm):
    """grad is None until backward, and requires_grad is off unless asked for."""
    assert mm.Tensor([1.0]).grad is None
    assert mm.Tensor([1.0]).requires_grad is False
    assert mm.Tensor([1.0], requires_grad=True).requires_grad is True


# ---------------------------------------------------------------- Parameter and Module


def test_a_parameter_is_a_tensor_that_owns_writable_data(mm):
    """Changing it leaves the array it was made from alone, even a read-only one."""
    source = np.broadcast_to(np.float32(1.0), (2, 3))
    p = mm.Parameter(source)
    assert isinstance(p, mm.Tensor) and p.requires_grad and p.grad is None
    p.data[...] = 5.0
    assert p.data.dtype == np.float32
    np.testing.assert_array_equal(source, np.ones((2, 3)))


def test_a_parameter_is_still_a_parameter_after_arithmetic(mm):
    """Results are plain Tensors and never show up as parameters."""
    assert type(mm.Parameter(1.0) * 2.0) is mm.Tensor


@pytest.fixture
def model(mm):
    """Two layers in a list, a tuple in a dict, a shared weight, and things that are not parameters."""

    class Linear(mm.Module):
        def __init__(self, n):
            self.w = mm.Parameter(np.ones((n, n)))
            self.name = "linear"

        def forward(self, x, *, shift=0.0):
            return x @ self.w + shift

    class Net(mm.Module):
        def __init__(self):
            super().__init__()
            self.emb = Linear(2)
            self.blocks = [Linear(2), [Linear(3)]]
            self.extra = {"head": self.emb, "pair": (mm.Parameter(1.0), Linear(1)), 7: Linear(1)}
            self.shared = self.emb.w
            self.bias = mm.Parameter(np.zeros(2))
            self.constant = mm.Tensor(np.ones(2))
            self.sizes, self.nothing = [1, 2], None

    return Net()


def test_parameters_are_found_in_attributes_lists_tuples_and_dicts(model):
    """Names are dotted, and each parameter appears once, under its first name."""
    assert [name for name, _ in model.named_parameters()] == [
        "emb.w", "blocks.0.w", "blocks.1.0.w", "extra.pair.0", "extra.pair.1.w", "extra.7.w", "bias",
    ]  # fmt: skip
    assert [p for _, p in model.named_parameters()] == list(model.parameters())
    assert len({id(p) for p in model.parameters()}) == 7


def test_two_modules_that_share_a_parameter_list_it_once(mm):
    """The tied weight has one entry and collects the gradients of both uses."""
    first, second, both = mm.Module(), mm.Module(), mm.Module()
    first.weight = second.tied = mm.Parameter(np.ones(2))
    both.parts = [first, second]
    assert [name for name, _ in both.named_parameters()] == ["parts.0.weight"]
    (first.weight * 2.0 + second.tied * 3.0).sum().backward()
    np.testing.assert_array_equal(both.parameters()[0].grad, [5.0, 5.0])


def test_modules_and_lists_that_contain_themselves_do_no_harm(mm):
    """A reference back to the parent is followed once."""
    parent, child = mm.Module(), mm.Module()
    parent.child, child.parent = child, parent
    parent.loop = [mm.Parameter(1.0)]
    parent.loop.append(parent.loop)
    assert [name for name, _ in parent.named_parameters()] == ["loop.0"]
    parent.eval()
    assert not child.training


def test_parameters_added_later_are_found(mm):
    """The search looks at the module as it is now."""
    module = mm.Module()
    assert list(module.parameters()) == []
    module.w = mm.Parameter(1.0)
    assert list(module.parameters()) == [module.w]


def test_train_and_eval_reach_every_module_inside(model):
    """The mode is on at first, and changes everywhere, shared and nested modules included."""
    inside = [
        model,
        model.emb,
        model.blocks[0],
        model.blocks[1][0],
        model.extra["pair"][1],
        model.extra[7],
    ]
    assert all(module.training is True for module in inside)
    model.eval()
    assert all(module.training is False for module in inside)
    model.train()
    assert all(module.training is True for module in inside)
    model.emb.eval()
    assert model.training and not model.emb.training


def test_zero_grad_sets_every_gradient_to_none(model):
    """Parameters of all modules inside are reset."""
    for p in model.parameters():
        p.grad = np.ones(p.shape)
    model.zero_grad()
    assert all(p.grad is None for p in model.parameters())


def test_calling_a_module_runs_its_forward(mm, model):
    """Positional and keyword arguments are passed on."""
    np.testing.assert_array_equal(model.emb(mm.Tensor(np.ones(2)), shift=1.0).data, [3.0, 3.0])


def test_a_module_without_forward_says_so(mm):
    """The base class raises NotImplementedError with the name of the class."""

    class Unfinished(mm.Module):
        pass

    with pytest.raises(NotImplementedError, match="Unfinished"):
        Unfinished()(1)
    with pytest.raises(NotImplementedError):
        mm.Module().forward()


def test_gradient_descent_on_a_module_lowers_the_loss(mm):
    """Forward, backward and an update in place fit a line."""
    model = mm.Module()
    model.w, model.b = mm.Parameter(np.zeros((1, 1))), mm.Parameter(np.zeros(1))
    x = np.linspace(-1.0, 1.0, 9)[:, np.newaxis]
    for _ in range(200):
        model.zero_grad()
        loss = ((x @ model.w + model.b - (3.0 * x + 1.0)) ** 2).mean()
        loss.backward()
        for p in model.parameters():
            p.data -= 0.3 * p.grad
    np.testing.assert_allclose([model.w.data.item(), model.b.data.item()], [3.0, 1.0], atol=1e-6)


# ---------------------------------------------------------------- the stubs


def _lookup(mm, module: str, name: str):
    found = mm.load(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize(("module", "name"), STUB_NAMES, ids=lambda value: value)
def test_every_stub_has_the_signature_of_the_contract(mm, module, name):
    """Names, defaults and types of all parameters are there."""
    assert str(inspect.signature(_lookup(mm, module, name))) == STUBS[module][name]


@pytest.mark.parametrize(("module", "name"), STUB_NAMES, ids=lambda value: value)
def test_every_stub_raises_not_implemented_when_used(mm, module, name):
    """Using it says in a few words what there is to build."""
    stub = _lookup(mm, module, name)
    arguments, keywords = [], {}
    for parameter in inspect.signature(stub).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            keywords[parameter.name] = None
        elif parameter.default is parameter.empty:
            arguments.append(None)
    with pytest.raises(NotImplementedError) as error:
        stub(*arguments, **keywords)
    assert 1 < len(str(error.value).split()) < 12


def test_no_public_name_of_the_stubs_is_missing_from_these_tests(mm):
    """What the stub modules define is what the contract lists, and nothing else."""
    for module, names in STUBS.items():
        loaded = mm.load(module)
        defined = {
            n for n, v in vars(loaded).items() if getattr(v, "__module__", None) == loaded.__name__
        }
        assert defined == {name.split(".")[0] for name in names}


def test_the_package_has_the_files_of_the_contract():
    """No file is missing and none is left over."""
    files = {path.relative_to(SRC).as_posix() for path in SRC.rglob("*.py")}
    expected = {f"minimodel/{name.replace('.', '/')}.py" for name in [*STUBS, "tensor", "module"]}
    assert files == expected | {"minimodel/__init__.py", "minimodel/nn/__init__.py"}
    assert not list(TEMPLATE.rglob("pyproject*"))


@pytest.mark.parametrize("module", STUBS)
def test_stub_bodies_hold_a_docstring_and_a_raise_only(module):
    """No stub contains code that would give the solution away."""
    tree = ast.parse(
        (SRC / "minimodel" / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
    )
    assert ast.get_docstring(tree)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert functions
    for function in functions:
        body = function.body[1:] if ast.get_docstring(function) else function.body
        assert len(body) == 1 and isinstance(body[0], ast.Raise)
        assert ast.get_docstring(function) or function.name in ("__init__", "__post_init__")


@pytest.mark.parametrize("name", ["__init__", "nn/__init__"])
def test_package_files_are_empty_but_for_a_docstring(name):
    """Imports go to the submodules."""
    tree = ast.parse((SRC / "minimodel" / f"{name}.py").read_text(encoding="utf-8"))
    assert ast.get_docstring(tree) and len(tree.body) == 1


def test_the_configuration_stub_is_a_frozen_dataclass(mm):
    """The fields and defaults are given, the checks are not."""
    config = mm.load("mini_gpt").MiniGPTConfig
    assert config.__dataclass_params__.frozen
    assert list(config.__dataclass_fields__) == [
        "d_model", "n_heads", "n_layers", "d_ff", "vocab_size", "context_len",
    ]  # fmt: skip


def test_the_learner_finds_a_readme_and_a_notes_file_in_both_languages():
    """The first commands are named, and each notes file begins with a title."""
    readme = (TEMPLATE / "README.md").read_text(encoding="utf-8")
    for command in ["engine next", "engine show embedding", "engine submit-build embedding"]:
        assert command in readme
    for language in ["en", "es"]:
        assert (
            (TEMPLATE / "notes" / f"breaks.{language}.md")
            .read_text(encoding="utf-8")
            .startswith("# ")
        )
