"""What a learner is told of typical mistakes: the cause once, in their words, in few lines."""

from __future__ import annotations

import re

import pytest
from trees import corpus_tree

from engine.flows import break_ as planning
from engine.flows.blind import without_names
from engine.flows.build import grade_build
from engine.flows.fix import grade_fix
from engine.judge.findings import findings, unrun
from engine.learner import model
from engine.report import detail
from engine.report.verdicts import View
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue
from engine.spec.packs import content_root

NORM, EMBEDDING = "src/minimodel/nn/norm.py", "src/minimodel/nn/embedding.py"
STUBS = sorted(Catalogue.find("minimodel").contract.components)


@pytest.fixture
def told(servers, catalogue, capsys):
    """Judges a component; the lines that a learner reads on 80 columns."""

    def lines(tree: Tree, component: str) -> list[str]:
        verdict = grade_build(servers, catalogue, component, tree, 5)
        assert not verdict.passed
        build = catalogue.build(component)
        View("en", "", component, build.constraints).verdict(verdict)
        return capsys.readouterr().out.splitlines()

    return lines


def changed(tree: Tree, path: str, old: str, new: str) -> Tree:
    """The tree with one edit; old "" appends."""
    text = tree.files[path].decode()
    assert old in text
    text = text.replace(old, new, 1) if old else text + new
    return tree.replaced({path: text.encode()})


@pytest.fixture(scope="module")
def stubs(catalogue) -> Tree:
    """The template as it is laid down."""
    root = content_root("templates") / "minimodel"
    contract = catalogue.contract
    modules = {where.partition(":")[0] for where in contract.roles.values()}
    files = model.read(root, contract.roots, modules)
    return Tree(str(root), tuple(contract.roots), files, contract.roles)


@pytest.mark.parametrize("component", [name for name in STUBS if name not in ("tensor", "module")])
def test_a_stub_is_told_in_a_few_lines_that_begin_with_where_to_write(told, stubs, component):
    """At most 12 lines, of which three tell of hints and what to build first; the first names the line.
    (The template's tensor and module are whole.)
    """
    lines = told(stubs, component)
    assert len(lines) <= 9
    assert re.match(r"FAIL src/\S+\.py:\d+", lines[0])
    assert "Not written yet." in " ".join(lines[:2])


MISTAKES = {
    "a wrong import": ("import numpy as np", "import numpy as np\nimport nunpy", "there is no module nunpy"),
    "a missing return": ("", "\nEmbedding.forward = lambda self, ids: None\n", "is a `return` missing"),
    "a table that is cut off": (
        "return self.weight[ids]", "from minimodel.tensor import Tensor as T\n        return T(self.weight.data[ids], requires_grad=True)",
        "the result is not connected",
    ),
    "a missing attribute": (
        "", "\n_i = Embedding.__init__\ndef _init(self, *a, **k):\n    _i(self, *a, **k)\n"
        "    del self.__dict__['vocab_size']\nEmbedding.__init__ = _init\n", "has no attribute vocab_size",
    ),
    "a runaway constructor": (
        "", "\n\ndef _init(self, *a, **k):\n    self.inner = Embedding(*a, **k)\nEmbedding.__init__ = _init\n",
        "calls itself without end",
    ),
    "an endless loop": (
        "", "\n\ndef _forward(self, ids):\n    while True:\n        pass\nEmbedding.forward = _forward\n",
        "no answer within the time limit",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_the_cause_is_told_once(told, plain, name):
    """At most 20 lines, and the sentence for the mistake in them exactly once."""
    old, new, sentence = MISTAKES[name]
    lines = told(changed(plain, EMBEDDING, old, new), "embedding")
    assert len(lines) <= 20
    assert " ".join(" ".join(lines).split()).count(sentence) == 1


def test_what_never_ran_is_not_run_and_the_running_line_is_named(told, servers, catalogue, plain):
    """A time-out stops the rest: that is no failure of theirs."""
    old, new, _ = MISTAKES["an endless loop"]
    tree = changed(plain, EMBEDDING, old, new)
    verdict = grade_build(servers, catalogue, "embedding", tree, 5)
    (finding,) = findings(verdict.results)
    assert finding.place is not None and finding.place.text in ("while True:", "pass")
    assert any(unrun(result) for result in verdict.results)
    assert "not run (stopped before)" in " ".join(told(tree, "embedding"))


def test_what_was_printed_stands_under_the_check(told, plain):
    """As pytest shows it."""
    tree = changed(
        plain, EMBEDDING, "return self.weight[ids]", "print('ids', ids.shape); return None"
    )
    lines = told(tree, "embedding")
    at = lines.index("     It printed:")
    assert lines[at + 1].strip().startswith("ids (")


def test_an_import_that_fails_is_tried_once_in_each_process(servers, catalogue, plain):
    """It took a second for each of many draws."""
    slow = changed(
        plain, EMBEDDING, "import numpy as np", "import numpy as np\nimport time\ntime.sleep(1)\nx"
    )
    verdict = grade_build(servers, catalogue, "embedding", slow, 5)
    (finding,) = findings(verdict.results)
    assert finding.says == "NameError: name 'x' is not defined"
    assert len(finding.more) == len(verdict.results) - 1


def test_a_schedule_names_the_first_step_that_differs(told, plain):
    """By its number."""
    (path,) = [p for p in plain.files if b"def cosine_lr" in plain.files[p]]
    tree = changed(
        plain,
        path,
        "",
        "\n_c = cosine_lr\ndef cosine_lr(step, **k):\n    return _c(step + 1, **k)\n",
    )
    text = " ".join(told(tree, "cosine_lr"))
    assert re.search(r"rate at step 0\D.* is \S+, should be 0\.", text), text


def test_all_tells_each_in_full(told, plain):
    """With --all there is a line with the inputs for each cause."""
    tree = changed(plain, EMBEDDING, "return self.weight[ids]", "return self.weight[ids] * 2.0")
    few = told(tree, "embedding")
    detail.want(all=True)
    try:
        many = told(tree, "embedding")
    finally:
        detail.want()
    inputs = [sum(line.startswith("     with ") for line in lines) for lines in (few, many)]
    assert inputs[0] == 1 < inputs[1]


def test_blame_follows_use(catalogue):
    """attention's code uses sdpa and rope; sdpa's uses nothing, whatever a course has one read before."""
    parts = catalogue.contract.components
    assert set(parts["attention"].uses) == {"sdpa", "rope"} and not parts["sdpa"].uses


def test_the_corpus_still_passes(servers, catalogue):
    """Right code says nothing."""
    assert not findings(grade_build(servers, catalogue, "rmsnorm", corpus_tree("loops"), 5).results)


def test_a_spread_is_told_in_the_learners_units_and_first(told, plain):
    """std 0.2 for 0.02, not "mean: between -0.03379 and 0.03379" in units that are said nowhere."""
    tree = changed(plain, EMBEDDING, "rng.normal(0.0, 0.02", "rng.normal(0.0, 0.2")
    text = " ".join(" ".join(told(tree, "embedding")).split())
    assert re.search(
        r"standard deviation is 0\.(199|20)\d*, should be 0\.02 \(± [\d.]+%\)", text
    ), text


ATTENTION, POSITIONAL = "src/minimodel/nn/attention.py", "src/minimodel/nn/positional.py"
OPTIM, BLOCK, LSTM = (
    "src/minimodel/optim.py",
    "src/minimodel/nn/block.py",
    "src/minimodel/nn/lstm.py",
)
TRAIN = "src/minimodel/train.py"
LOSS, GPT, FFN = "src/minimodel/nn/loss.py", "src/minimodel/mini_gpt.py", "src/minimodel/nn/ffn.py"
TENSOR, GENERATE = "src/minimodel/tensor.py", "src/minimodel/generate.py"
# what is wrong: the component, the file, old, new, and what the first message says of it
NAMED = {
    "results exchanged": ("lstm", LSTM, "return h_t, c_t", "return c_t, h_t", "are exchanged"),
    "gates exchanged": (
        "lstm", LSTM, "g = z[..., 2 * n : 3 * n].tanh()\n        o = z[..., 3 * n :].sigmoid()",
        "g = z[..., 3 * n :].tanh()\n        o = z[..., 2 * n : 3 * n].sigmoid()",
        "`c_by_b_g` and `c_by_b_o` are exchanged",
    ),
    "another step's value": (
        "lstm", LSTM, "o * c_t.tanh()", "o * c_t", "Where `tanh_c_by_b_i` should stand, `c_t_by_b_i` does",
    ),
    "a sign": ("sgd", OPTIM, "p.data -= self.lr * velocity", "p.data += self.lr * velocity",
               "exactly the negative"),
    "a root of a size": (
        "layernorm", NORM, ".mean(axis=-1, keepdims=True)  # biased",
        ".sum(axis=-1, keepdims=True) / (x.shape[-1] - 1)", "which is sqrt((width - 1) / width)",
    ),
    "two settings": (
        "adamw", OPTIM, "m_hat = m / (1.0 - beta_1**self.t)\n            v_hat = v / (1.0 - beta_2**self.t)",
        "m_hat, v_hat = m, v", "which is (1 - beta_1) / sqrt(1 - beta_2)",
    ),
    "a step that is not divided by": (
        "rmsnorm", NORM, "return x / rms", "return x / (rms * rms)", "divided by `rms`",
    ),
    "scores that are too large": (
        "sdpa", ATTENTION, " / math.sqrt(q.shape[-1])", "",
        "softmax of scores that are 2.64575 times the expected ones, which is sqrt_d_head",
    ),
    "a missing residual": ("block", BLOCK, "x + self.attn(", "self.attn(", "`x` is not added"),
    "a step left out": (
        "block", BLOCK, "self.ffn(self.ln_2(x))", "self.ffn(x)", "Where `normed_2` should stand, `x` does",
    ),
    "all that is left": ("mini_gpt", GPT, "self.ln_final(x)", "x", "exactly `stream`, and nothing else"),
    "columns in another order": (
        "sinusoidal", POSITIONAL, "    return table", "    return np.roll(table, 2, axis=1)",
        "in another order: ",
    ),
    "a reshape without a transpose": (
        "attention", ATTENTION, "context.transpose(-3, -2).reshape(x.shape)", "context.reshape(x.shape)",
        "the expected numbers at other places",
    ),
    "a mask without its diagonal": (
        "attention", ATTENTION, "np.tri(T, dtype=bool)", "np.tri(T, k=-1, dtype=bool) | ((np.arange(T) == 1) & (np.arange(T) == 0)[:, None])",
        "On the diagonal of the last two axes, all of yours are 0",
    ),
    "a softmax over another axis": (
        "sdpa", ATTENTION, "scores.softmax(dim=-1)", "scores.softmax(dim=-2)",
        "sum to 1 along axis 2; along axis 3 they should",
    ),
    "a mean that is taken away": (
        "rmsnorm", NORM, "mean_square = ", "x = x - x.mean(axis=-1, keepdims=True)\n        mean_square = ",
        "your values sum to 0; the expected ones do not",
    ),
    "a scale along another axis": (
        "layernorm", NORM, ".mean(axis=-1, keepdims=True)  # biased", ".mean(axis=-2, keepdims=True)",
        "`centred` is scaled by one number along axis 1; it should be along axis 2",
    ),
    "repeated ids": (
        "embedding", TENSOR, "np.add.at(grad, index, g)", "grad[index] = g",
        "come up more than once in ids",
    ),
    "a share of the ids": (
        "cross_entropy", LOSS, "", "\n_ce = cross_entropy\ndef cross_entropy(logits, targets, ignore_index=None):\n"
        "    share = 1.0 if ignore_index is None else float((targets != ignore_index).mean())\n"
        "    return _ce(logits, targets, ignore_index) * share\n", "(targets != ignore_index).mean()",
    ),
    "one value in each row": (
        "cross_entropy", LOSS, "", "\n_ce = cross_entropy\ndef cross_entropy(logits, targets, ignore_index=None):\n"
        "    found = _ce(logits, targets, ignore_index)\n"
        "    if ignore_index is not None or logits.ndim < 2:\n        return found\n"
        "    at = tuple(np.indices(targets.shape)) + (targets,)\n    extra = logits[at].mean()\n"
        "    return found + (extra + extra) - float((extra + extra).data)\n", "at the place that targets names",
    ),
    "the next row": (
        "learned_positional", POSITIONAL, "self.weight[: _length(x, self.max_len)]",
        "self.weight[1 : _length(x, self.max_len) + 1]", "the next one is added",
    ),
    "a term too often": (
        "embedding_layer", POSITIONAL,
        "x = self.token(token_ids) * self.factor\n        if self.position is None:\n            return x\n"
        "        if isinstance(self.position, LearnedPositional):\n            return self.position(x)\n",
        "x = self.token(token_ids)\n        if self.position is None:\n            return x * self.factor\n"
        "        if isinstance(self.position, LearnedPositional):\n"
        "            return self.position(x) * self.factor\n",
        "times `positions`; the factor is factor - 1",
    ),
    "numbers at other columns": (
        "rope", POSITIONAL, "pairs = x.reshape(*x.shape[:-1], d // 2, 2)",
        "pairs = x.reshape(*x.shape[:-1], 2, d // 2).transpose(-1, -2)",
        "your numbers other than 0 stand at",
    ),
    "a sign of one term": (
        "rope", POSITIONAL, "a * cos - b * sin", "a * cos + b * sin", "values are exactly the negative",
    ),
    "a factor for each": (
        "clip", OPTIM, "", "\ndef clip_grad_norm(params, max_norm):\n    params = list(params)\n"
        "    params = [p for p in params if p.grad is not None]\n"
        "    norms = [float(np.sqrt((p.grad**2).sum())) for p in params]\n"
        "    for p, n in zip(params, norms):\n        p.grad = p.grad * min(1.0, max_norm / n if n else 1.0)\n"
        "    return float(np.sqrt(sum(n * n for n in norms)))\n", "Each is off by a factor of its own: w ",
    ),
    "a setting instead": (
        "cosine_lr", OPTIM, "(step - warmup) / (total - warmup)", "(step - warmup) // (total - warmup)",
        "That is max_lr, unchanged, and so are",
    ),
    "one step too early": (
        "cosine_lr", OPTIM, "max_lr * step / warmup", "max_lr * (step + 1) / warmup",
        "what is expected of rate at step 1",
    ),
    "a random result": (
        "ffn", FFN, "hidden @ self.w_2", "(hidden * (np.random.random(hidden.shape) > 0.1)) @ self.w_2",
        "Two equal calls give different results",
    ),
    "an input changed in place": (
        "rope", POSITIONAL, "    *_, T, d = x.shape\n", "    x.data *= 1.0 + 1e-9\n    *_, T, d = x.shape\n",
        "Your code changes x in place",
    ),
    "an endless loop around a call": (
        "generate", GENERATE, "    for _ in range(n_new):\n", "    while True:\n",
        "Is there a loop that never ends?",
    ),
    "an attribute that is None": (
        "embedding_layer", POSITIONAL, 'None = "learned",', "None = None,",
        "None stands where something with .weight is needed: is a `return` missing, or was it never set?",
    ),
    "a shape": (
        "lstm", LSTM, "Parameter(np.zeros(4 * d_hidden))", "Parameter(np.zeros((1, 4 * d_hidden)))",
        "b_shape is [1, 24], should be [24]",
    ),
    "which ones": (
        "generate", GENERATE, "below.sum() + 1", "below.sum()", "seen is [3], should be [2, 3]",
    ),
    "an operator that calls itself": (
        "tensor", TENSOR, "", "\nTensor.__radd__ = lambda self, other: other + self\n", "calls itself without end",
    ),
    "something small": (
        "layernorm", NORM, "std = (var + self.eps).sqrt()", "std = var.sqrt() + self.eps",
        "FAIL eps is inside the root",
    ),
    "always clipped": (
        "clip", OPTIM, "norm > max_norm", "norm > 0", "FAIL gradients shorter than max_norm stay as they are",
    ),
}  # fmt: skip


@pytest.mark.sweep(14)
@pytest.mark.parametrize("name", NAMED)
def test_the_first_message_names_the_mistake(told, plain, name):
    """What is systematic is told in terms of what is known: inputs, sizes, settings, the formula's steps."""
    component, path, old, new, sentence = NAMED[name]
    text = " ".join(" ".join(told(changed(plain, path, old, new), component)).split())
    first = text.split(" FAIL ")[0]
    assert sentence in first, first


@pytest.mark.slow
def test_where_a_loop_does_not_end_the_loop_is_named(told, plain):
    """Not what it calls, which ends each time."""
    tree = changed(plain, GENERATE, "    for _ in range(n_new):\n", "    while True:\n")
    assert re.match(r"FAIL src/minimodel/generate.py:\d+ in generate", told(tree, "generate")[0])


def test_a_wrong_fix_is_told_in_the_same_way(servers, catalogue, plain, capsys):
    """Half a fix: the mean is taken over the right axis, and the variance is not."""
    broken = planning.plan_break(servers, catalogue, "norm-wrong-axis", plain, 7).injection.files
    half = changed(plain.replaced(broken), NORM, "mean = x.mean(axis=-2", "mean = x.mean(axis=-1")
    verdict = grade_fix(servers, catalogue, "norm-wrong-axis", plain, half, 5)
    View("en", "", "layernorm").verdict(verdict)
    text = " ".join(capsys.readouterr().out.split())
    assert "`centred` is scaled by one number along axis 1; it should be along axis 2" in text


def test_what_was_not_written_before_the_break_is_not_said_to_pass(
    servers, catalogue, plain, capsys
):
    """It agrees with the code before, and was never right."""
    stub = (catalogue.template / TRAIN).read_bytes()
    own = plain.replaced({TRAIN: stub})
    mended = own.replaced({LOSS: own.files[LOSS] + b"\nSEEN = True\n"})
    verdict = grade_fix(servers, catalogue, "cross-entropy-no-max", own, mended, 5)
    View("en", "", "cross_entropy").verdict(verdict)
    *lines, count = capsys.readouterr().out.splitlines()
    assert verdict.passed and "not built yet: train" in lines
    written = sum(not one.unwritten for one in verdict.results)
    assert count == f"{written} of {written} pass" and 0 < written < len(verdict.results)
    assert not any("train: one step" in line for line in lines)
    View("en", "", "").verdict(without_names(verdict))
    assert "not built yet" not in capsys.readouterr().out
