"""The checks of tensor and module: small faults are refused, and every reading of the contract passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.code.reachability import Reachability
from engine.flows import break_ as planning
from engine.flows import build as flows
from engine.flows import fix as fixes
from engine.flows import impact as extent
from engine.flows.oracle import oracle_for
from engine.flows.siblings import Siblings
from engine.judge.compare import difference
from engine.learner import model
from engine.run.jobs import jobs_of
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue
from engine.spec.packs import content_root

TENSOR, MODULE = "src/minimodel/tensor.py", "src/minimodel/module.py"
CONTRARY = Path(__file__).resolve().parents[1] / "contrary"
NO_GRADIENT = """                raise ValueError(
                    f"backward() without a gradient needs a scalar, not shape {self.shape}"
                )
            grad = 1.0"""

# name: (find, replace, a check that must fail)
TENSOR_FAULTS = {
    "scalars that are no arrays": (
        "self.data: np.ndarray = _as_float_array(data)",
        "self.data = data if isinstance(data, np.floating) else _as_float_array(data)",
        "attributes",
    ),
    "a gradient asked for a scalar too": ("if self.shape != ():", "if True:", "loss"),
    "backward from anything": (
        NO_GRADIENT,
        "                pass\n            grad = np.ones(self.shape)",
        "not-a-scalar",
    ),
    "the last gradient only": (
        "np.array(g) if tensor.grad is None else np.asarray(tensor.grad + g)",
        "np.array(g)",
        "accumulation",
    ),
    "a leaf that takes none of its own": (
        "if not self.requires_grad:\n            return",
        "if not (self.requires_grad and self._links):\n            return",
        "accumulation",
    ),
    "the last use only": ("part = pending[id(operand)] + part", "pass", "shared"),
    "results before all of their uses": (
        "stack.append((tensor, True))",
        "order.insert(0, tensor)",
        "shared",
    ),
    "broadcasting not undone": (
        "_unbroadcast(rule(g), operand.shape).astype",
        "rule(g).astype",
        "add",
    ),
    "copies averaged": ("grad.sum(axis=stretched", "grad.mean(axis=stretched or None", "multiply"),
    "minus with the sign of plus": (
        "(other, lambda g: -g),\n        )\n\n    def __mul__",
        "(other, lambda g: g),\n        )\n\n    def __mul__",
        "subtract",
    ),
    "the own factor as slope": ("lambda g: g * b)", "lambda g: g * a)", "multiply"),
    "a quotient's slope without the square": ("-g * quotient / b", "-g * quotient", "divide"),
    "a divisor with something added": ("quotient = a / b", "quotient = a / (b + 1e-14)", "divide"),
    "a swapped difference with a number": (
        "return self._wrap(other) - self",
        "return self - self._wrap(other)",
        "numbers",
    ),
    "minus without its sign in the gradient": (
        "Tensor.from_op(-self.data, (self, lambda g: -g))",
        "Tensor.from_op(-self.data, (self, lambda g: g))",
        "negate",
    ),
    "a power's slope without n": ("g * n * x ** (n - 1.0)", "g * x ** (n - 1.0)", "power"),
    "a power by way of the logarithm": (
        "Tensor.from_op(x**n,",
        "Tensor.from_op(np.exp(n * np.log(np.abs(x))),",
        "power",
    ),
    "an exponential that is cut off": (
        "y = np.exp(self.data)",
        "y = np.exp(np.minimum(self.data, 20))",
        "exp",
    ),
    "a logarithm with something added": ("np.log(x), (", "np.log(x + 1e-12), (", "log"),
    "a root with something added": ("np.sqrt(self.data)", "np.sqrt(self.data + 1e-12)", "sqrt"),
    "a root's slope without the 2": ("g / (2.0 * y)", "g / y", "sqrt"),
    "a tanh's slope without the square": ("1.0 - y * y", "1.0 - y", "tanh"),
    "a sigmoid for x > 0 only": (
        "np.where(x >= 0.0, 1.0 / (1.0 + e), e / (1.0 + e))",
        "1.0 / (1.0 + e)",
        "sigmoid",
    ),
    "a leaky relu": ("g * (x > 0.0)", "g * np.where(x > 0.0, 1.0, 0.01)", "relu"),
    "a relu in place": ("np.maximum(x, 0.0), (", "np.maximum(x, 0.0, out=x), (", "relu"),
    "a stack's products not added up": (
        "return _unbroadcast(grad, b_matrix.shape).reshape(b.shape)",
        "return (grad if grad.ndim == b.ndim else grad[0]).reshape(b.shape)",
        "matmul",
    ),
    "keepdims forgotten": (
        "np.sum(x, axis=axis, keepdims=keepdims), (",
        "np.sum(x, axis=axis), (",
        "sum",
    ),
    "a lost axis put back at the end": (
        "return np.expand_dims(grad, axis)",
        "return np.expand_dims(grad, -1)",
        "sum",
    ),
    "a mean over n - 1": ("return total / count", "return total / max(count - 1, 1)", "mean"),
    "a maximum's gradient for all": ("share = is_max /", "share = 1.0 /", "max"),
    "a maximum over all axes": (
        "is_max = x == np.max(x, axis=axis, keepdims=True)",
        "is_max = x == np.max(x)",
        "max",
    ),
    "a softmax that adds up the last axis": (
        "p = e / np.sum(e, axis=dim",
        "p = e / np.sum(e, axis=-1",
        "softmax",
    ),
    "a softmax's slope without its neighbours": (
        "return p * (g - np.sum(g * p, axis=dim, keepdims=True))",
        "return g * p * (1 - p)",
        "softmax",
    ),
    "a softmax with something added": (
        "np.sum(e, axis=dim, keepdims=True)\n",
        "(np.sum(e, axis=dim, keepdims=True) + 1e-6)\n",
        "softmax",
    ),
    "a softmax that overflows": (
        "np.exp(x - np.max(x, axis=dim, keepdims=True))",
        "np.exp(x)",
        "softmax-thousand",
    ),
    "a sigmoid that overflows": (
        "y = np.where(x >= 0.0, 1.0 / (1.0 + e), e / (1.0 + e))",
        "y = np.exp(x) / (1.0 + np.exp(x))",
        "sigmoid",
    ),
    "a gradient that is clipped": ("pending[id(operand)] = part", "pending[id(operand)] = np.clip(part, -50, 50)", "multiply"),
    "a reshape for tuples only": (
        "if len(shape) == 1 and isinstance(shape[0], tuple | list):",
        "if True:",
        "reshape",
    ),
    "an order that undoes itself": (
        "back = np.argsort([axis % self.ndim for axis in order])",
        "back = order",
        "transpose",
    ),
    "two axes as an order": (
        "order[i], order[j] = order[j], order[i]",
        "order[-2], order[-1] = order[-1], order[-2]",
        "transpose",
    ),
    "rows that are named twice": ("np.add.at(grad, index, g)", "grad[index] += g", "lookup"),
    "a history of one operand": ("if operand.requires_grad]", "if operand.requires_grad][:1]", "add"),
}  # fmt: skip

MODULE_FAULTS = {
    "shared parameters twice": ("    if id(value) in seen:\n        return\n", "", "once"),
    "lists passed over": ("isinstance(value, list | tuple)", "isinstance(value, tuple)", "found"),
    "dicts passed over": ("elif isinstance(value, dict):", "elif False:", "found"),
    "names without their path": ('f"{name}.{key}" if name else str(key)', "str(key)", "names"),
    "zero_grad that needs a gradient": (
        "parameter.grad = None",
        "parameter.grad[...] = 0",
        "zero-grad",
    ),
    "zero_grad that does nothing": ("parameter.grad = None", "pass", "zero-grad"),
    "eval for the outer module only": (
        "            if isinstance(part, Module):\n                part.training",
        "            if part is self:\n                part.training",
        "modes",
    ),
    "calls with one argument": (
        "return self.forward(*args, **kwargs)",
        "return self.forward(args[0], **kwargs)",
        "calling",
    ),
    "parameters without a gradient": ("requires_grad=True)", "requires_grad=False)", "parameter"),
}

# What the contract leaves open: (find, replace). A build passes, but a break must leave it alone.
OPEN = {
    "slope of relu at 0": ("g * (x > 0.0)", "g * (x >= 0.0)"),
    "tied maxima": ("share = is_max / np.sum(is_max, axis=axis, keepdims=True)", "share = is_max"),
    "numbers on the left": ("def __radd__", "def _radd"),
    "arrays on the left": ("__array_ufunc__ = None", "pass"),
    "masks as indices": (
        "        x = self.data\n\n        def grad_x(g: np.ndarray) -> np.ndarray:\n            # add.at",
        "        x = self.data\n        assert getattr(index, 'dtype', 0) != bool\n\n"
        "        def grad_x(g: np.ndarray) -> np.ndarray:\n            # add.at",
    ),
    "vectors in a product": (
        "        a, b = self.data, other.data\n        product",
        "        a, b = self.data, other.data\n        assert a.ndim > 1 and b.ndim > 1\n        product",
    ),
}


@pytest.fixture(scope="module")
def template(catalogue: Catalogue) -> Tree:
    """The starter template: its tensor and module are complete, the rest are stubs."""
    contract = catalogue.contract
    modules = {where.partition(":")[0] for where in contract.roles.values()}
    root = content_root("templates") / contract.template
    files = model.read(root, contract.roots, modules)
    return Tree(str(root), tuple(contract.roots), files, contract.roles)


def edited(tree: Tree, path: str, find: str, replace: str) -> Tree:
    """The tree with the first `find` of a file replaced."""
    text = tree.files[path].decode()
    assert find in text
    return tree.replaced({path: text.replace(find, replace, 1).encode()})


@pytest.mark.parametrize("component", ["tensor", "module"])
@pytest.mark.parametrize("seed", range(3))
def test_the_template_passes_as_it_is(servers, catalogue, template, component, seed):
    """Both are given complete."""
    verdict = flows.grade_build(servers, catalogue, component, template, seed)
    assert verdict.passed, verdict.failing


@pytest.mark.parametrize("name", [*TENSOR_FAULTS, *MODULE_FAULTS])
def test_a_small_fault_is_refused_by_the_check_that_is_about_it(servers, catalogue, template, name):
    """One edit to the template, and the check that names the subject fails."""
    component, path = ("tensor", TENSOR) if name in TENSOR_FAULTS else ("module", MODULE)
    find, replace, check = {**TENSOR_FAULTS, **MODULE_FAULTS}[name]
    tree = edited(template, path, find, replace)
    verdict = flows.grade_build(servers, catalogue, component, tree, seed=23)
    assert check in [result.id for result in verdict.results if not result.passed]


@pytest.mark.parametrize("component", ["tensor", "module"])
@pytest.mark.parametrize("seed", range(3))
def test_every_open_reading_is_accepted(servers, catalogue, template, component, seed):
    """An implementation that does what the contract says, and everything else otherwise, passes."""
    files = {path.relative_to(CONTRARY).as_posix(): path for path in CONTRARY.rglob("*.py")}
    assert files.keys() == {TENSOR, MODULE}
    tree = template.replaced({name: path.read_bytes() for name, path in files.items()})
    verdict = flows.grade_build(servers, catalogue, component, tree, seed)
    assert verdict.passed, verdict.failing


@pytest.mark.parametrize("name", OPEN)
def test_what_is_left_open_is_not_judged_but_must_stay_as_it_was(
    servers, catalogue, template, name
):
    """A build passes either way; beside a break, the other way counts as a change."""
    tree = edited(template, TENSOR, *OPEN[name])
    verdict = flows.grade_build(servers, catalogue, "tensor", tree, seed=29)
    assert verdict.passed, verdict.failing
    items = Siblings(servers, catalogue, template, 29).of("tensor")
    outcomes = servers.outcomes(tree, jobs_of([item.case for item in items]))
    assert any(
        difference(item.before, outcome) for item, outcome in zip(items, outcomes, strict=True)
    )


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", OPEN)
def test_a_fix_may_choose_another_reading(servers, catalogue, plain, name):
    """The fix of a break elsewhere is not refused for what the contract leaves open in tensor."""
    tree = edited(plain, TENSOR, *OPEN[name])
    verdict = fixes.grade_fix(servers, catalogue, "tied-vocab-mismatch", plain, tree, seed=37)
    ours = [r for r in verdict.results if r.component in ("tensor", "module")]
    assert ours and all(result.passed for result in ours)


def test_an_edit_to_a_shared_method_reaches_tensor_and_an_edit_to_a_layer_does_not(
    catalogue, plain
):
    """Tensor.mean is everybody's; LayerNorm is its own."""
    code = Reachability(plain.files, plain.roots)
    shared = edited(plain, TENSOR, "return total / count", "return total / (count + 1)")
    assert "tensor" in extent.by_names(catalogue, code, shared)
    norm = edited(plain, "src/minimodel/nn/norm.py", "eps: float = 1e-5", "eps: float = 1e-4")
    assert not {"tensor", "module"} & extent.by_names(catalogue, code, norm)


def test_a_break_in_a_shared_method_is_seen_as_breaking_tensor(servers, catalogue, plain):
    """The bug with a second one in Tensor.relu, which the broken component never calls, is refused."""
    id = "norm-wrong-axis"
    healthy = planning.plan_break(servers, catalogue, id, plain, seed=31).injection.files
    broken = plain.replaced(healthy)
    oracle = oracle_for(servers, catalogue, id, plain, "float64", 31)
    assert oracle.try_(broken).accepted
    both = edited(broken, TENSOR, "g * (x > 0.0)", "g * (x > 1e-6)")
    assert oracle.try_(both).sibling == "tensor.relu"


def test_no_component_makes_tensor_a_part_of_its_own_break(catalogue):
    """tensor and module are measured beside every break of the others."""
    for component in catalogue.contract.components:
        if component not in ("tensor", "module"):
            assert not {"tensor", "module"} & catalogue.users(component)
