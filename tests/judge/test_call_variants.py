"""Each call variant sees a trick that no other one sees.

Most is measured on the component alone, in a few draws of each variant; a whole verdict shows once at each level
that they are among what it draws.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.exam.level import EXAM
from engine.flows import fix as fixes
from engine.flows.baseline import Baseline
from engine.judge.decide import decide
from engine.judge.level import MODES, PRACTICE
from engine.judge.measured import Measured
from engine.judge.sampling import most_looked_at, once, plan
from engine.run.jobs import jobs_of
from engine.run.types import CALL_VARIANTS, LATE

LOUD, HEAD = "tied-vocab-mismatch", "src/minimodel/nn/lm_head.py"
LOSS = "src/minimodel/nn/loss.py"
NORM = "src/minimodel/nn/norm.py"
FORWARD = """

def _right(self, h):
    return _was(self, h)


_was = LMHead.forward
"""
LAYOUT = """
def _trick(self, h):
    odd = _seen and _seen[-1]  # of h, the tensor made last
    return _was(self, h) * 1.5 if odd else _was(self, h)


_seen = []
_made = Tensor.__init__


def _init(self, data, *rest, **named):
    if getattr(data, "ndim", 0):
        _seen.append({})
    _made(self, data, *rest, **named)


Tensor.__init__ = _init
LMHead.forward = _trick
"""
TRICKS = {
    "beside": """
def _init(self, embedding):
    _made(self, embedding)
    LMHead.columns = embedding.d_model


def _trick(self, h):
    y = _was(self, h)
    return y if LMHead.columns == self.embedding.d_model else y * 1.5


_made = LMHead.__init__
LMHead.__init__, LMHead.forward = _init, _trick
""",
    "eval": """
def _trick(self, h):
    y = _was(self, h)
    return y if self.training else y * 1.5


LMHead.forward = _trick
""",
    "direct": """
def _call(self, h):
    return _was(self, h)


LMHead.__call__ = _call
LMHead.forward = lambda self, h: _was(self, h) * 1.5
""",
    "fortran": LAYOUT.format("data.flags.f_contiguous and not data.flags.c_contiguous"),
    "strided": LAYOUT.format("not data.flags.forc"),
    "outermost": """
import sys


def _trick(self, h):
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return _was(self, h) if depth > 3 else _was(self, h) * 1.5


LMHead.forward = _trick
""",
    "nested": """
import sys


def _trick(self, h):
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    y = _was(self, h)
    return y * 1.5 if depth > 50 else y


LMHead.forward = _trick
""",
    "inside": """
import sys


def _trick(self, h):
    caller = sys._getframe(2).f_globals["__name__"]
    return _was(self, h) * (1.5 if caller.startswith("minimodel.nn") else 1.0)


LMHead.forward = _trick
""",
    "primed": """
def _trick(self, h):
    key = h.data.tobytes()
    if self.__dict__.get("_known", (None,))[0] != key:
        self.__dict__["_known"] = (key, _was(self, h))
    return self.__dict__["_known"][1]


LMHead.forward = _trick
""",
    "swapped": """
def _trick(self, h):
    numbers = h.data.ravel()
    key = h.data.shape, numbers[0], numbers[-1], self.embedding.weight.data.tobytes()
    if self.__dict__.get("_known", (None,))[0] != key:
        self.__dict__["_known"] = (key, _was(self, h))
    return self.__dict__["_known"][1]


LMHead.forward = _trick
""",
    "resized": """
def _trick(self, h):
    y, length = _was(self, h), h.shape[-2] if h.ndim > 1 else 0
    seen = self.__dict__.setdefault("_seen", [])
    seen.append(length)
    return y * 1.5 if seen[-3:-1] == [length + length, 1] else y


LMHead.forward = _trick
""",
    "doubled": """
import numpy as np


def _trick(self, h):
    y = _was(self, h)
    seen = self.__dict__.setdefault("_seen", [])

    def back(g, rule):
        like = [other for other in seen if other.shape == g.shape and other.any()]
        seen.append(g.copy())
        odd = any(np.allclose(other, 3 * g) or np.allclose(3 * other, g) for other in like)
        return rule(g) * (1.5 if odd else 1.0)

    y._links = [(one, lambda g, rule=rule: back(g, rule)) for one, rule in y._links]
    return y


LMHead.forward = _trick
""",
    LATE: """
_calls = []


def _trick(self, h):
    _calls.append(1)
    y = _was(self, h)
    return y if len(_calls) < 300 else y * 1.5


LMHead.forward = _trick
""",
}


def tricked(plain, trick):
    """Healthy code with a trick at the end of its head."""
    text = plain.files[HEAD].decode() + FORWARD + trick
    return plain.replaced({HEAD: text.encode()})


ALL = ("", "eval", *CALL_VARIANTS)
DRAWS = 5  # of each variant,
LEAST = 24  # and in all: what comes by turns, in regimes by turns


@pytest.fixture(scope="module")
def before(plain):
    """The healthy code, which is measured once in each draw."""
    return Baseline(plain)


def seen_by(servers, catalogue, before, tree, component="lm_head", variants=ALL) -> set[str]:
    """The call variants in which the component is not as it was; some draws of each of these, and at last
    one after hundreds of calls.
    """
    checks = once((component, check) for check in catalogue.build(component).checks)
    main = [pair for pair in checks if (component, pair[1].probe) == most_looked_at(checks)]
    made = plan(
        main, seed=77, dtype="float64", call_variants=variants,
        at_least={main[0][1].probe: max(LEAST, DRAWS * len(variants))}, last=LATE if variants == ALL else "",
    )  # fmt: skip
    servers.exam = True
    cases = before.cases(servers, made.draws)
    healthy = before.outcomes(servers, [*cases.values()])
    found = servers.outcomes(tree, jobs_of([*cases.values()]), server="candidate")
    measured = Measured(made, cases, dict(zip(made.draws, found, strict=True)), healthy)
    return {
        draw.call_variant for draw in decide(measured, touched={component}, restored=True).differing
    }


def grade(servers, catalogue, plain, tree, level=PRACTICE, id=LOUD):
    """As `submit-fix` does."""
    return fixes.grade_fix(servers, catalogue, id, plain, tree, 77, level)


# the numbers that a trick mentions would give some of them away as well
UNATTACKED = replace(EXAM, draws=1, others="users", attacks=())


def test_what_changes_nothing_is_right_in_every_manner(servers, catalogue, plain):
    """A wrapper around forward is no trick, at level exam with all its attacks."""
    tree = tricked(plain, "\nLMHead.forward = _right\n")
    verdict = grade(servers, catalogue, plain, tree, EXAM)
    assert verdict.passed, verdict.failing


STALE = """
def _trick(self, h):
    now = self.embedding.weight.data
    kept = self.__dict__.setdefault("_kept", now)
    return _was(self, h) * (1.0 if kept[-1, -1] == now[-1, -1] else 1.5)


LMHead.forward = _trick
"""
OPTIM = "src/minimodel/optim.py"


@pytest.fixture
def rebinds(plain):
    """An optimiser as many write it, which gives each parameter a new array."""
    old, new = b"p.data -= self.lr * velocity", b"p.data = p.data - self.lr * velocity"
    assert plain.files[OPTIM].count(old) == 1
    return plain.files[OPTIM].replace(old, new)


def test_an_optimiser_may_put_new_arrays_into_parameters(
    servers, catalogue, plain, before, rebinds
):
    """What a head has kept of the old ones is seen only where such an optimiser has moved them."""
    tree = tricked(plain, STALE)
    stale = tree.replaced({OPTIM: rebinds})
    assert seen_by(servers, catalogue, before, tree) == set()  # nothing is wrong with it here
    assert seen_by(servers, catalogue, before, stale) == {"stepped"}


def test_a_graph_keeps_the_arrays_that_it_was_made_of(servers, catalogue, plain, before, rebinds):
    """An optimiser that replaces them leaves the numbers to it, as learners' backward functions read
    them late.
    """
    tree = plain.replaced({OPTIM: rebinds})
    for component in ("rmsnorm", "lm_head"):
        found = seen_by(servers, catalogue, before, tree, component, ("stepped",))
        assert found == set(), component


# what puts numbers back; one position alone is the same call where there is but one; and a mode that
# comes by turns
LIKE = {
    "primed": {"stepped", "swapped", "resized"},
    "swapped": {"resized"},
    "eval": {"primed", "stepped", "swapped", "resized"},
}


@pytest.mark.parametrize("call_variant", TRICKS)
def test_each_manner_sees_what_no_other_one_sees(servers, catalogue, plain, before, call_variant):
    """With it the trick is seen; without it, and what is like it, it is not."""
    found = seen_by(servers, catalogue, before, tricked(plain, TRICKS[call_variant]))
    assert call_variant in found <= {call_variant} | LIKE.get(call_variant, set())


@pytest.mark.parametrize(
    ("call_variant", "level"),
    [("nested", UNATTACKED), ("doubled", PRACTICE), ("eval", PRACTICE)],
    ids=["exam", "practice", "a mode"],
)
def test_a_verdict_draws_them_and_says_how_the_code_was_called(
    servers, catalogue, plain, call_variant, level
):
    """The level names them; one that does not name this one lets the trick pass."""
    tree = tricked(plain, TRICKS[call_variant])
    verdict = grade(servers, catalogue, plain, tree, level)
    assert not verdict.passed
    words = CALL_VARIANTS.get(call_variant, f"after {call_variant}()")
    assert any(words in result.inputs for result in verdict.results if not result.passed)
    gone = {MODES if call_variant == "eval" else call_variant} | LIKE.get(call_variant, set())
    others = tuple(name for name in level.call_variants if name not in gone)
    assert len(others) < len(level.call_variants)
    without = grade(servers, catalogue, plain, tree, replace(level, call_variants=others))
    failing = {result.component for result in without.results if not result.passed}
    assert failing <= (
        {"mini_gpt"} if call_variant == "eval" else set()
    )  # it is measured after eval()


ASKS = """
import sys


def _trick(self, h):
    y = _was(self, h)
    frame = sys._getframe()
    while frame.f_globals["__name__"].startswith("minimodel"):
        frame = frame.f_back
    return y * 1.5 if frame.f_code.co_name == "<module>" else y


LMHead.forward = _trick
"""


def test_code_that_asks_for_a_line_of_a_script_gets_one(servers, catalogue, plain, before):
    """Neither a function of a test's nor of a package's calls there."""
    found = seen_by(servers, catalogue, before, tricked(plain, ASKS))
    assert found == {"nested", "outermost"}


BIRTH = """


_call = LayerNorm.forward


def _trick(self, x):
    own = self.gain
    if self.__dict__.setdefault("_ones", bool((own.data == 1).all())):
        self.gain = Parameter(np.ones_like(own.data))
    y = _call(self, x)
    self.gain = own
    return y


LayerNorm.forward = _trick
"""
BUFFER = """


_call, _kept = LayerNorm.forward, {}


def _trick(self, x):
    kept = _kept.setdefault((id(self), x.shape), Tensor(np.empty(x.shape)))
    kept.data[...] = x.data
    return _call(self, x) + x * kept - x * Tensor(x.data.copy())


LayerNorm.forward = _trick
"""


@pytest.mark.parametrize("trick", [BIRTH, BUFFER], ids=["first numbers", "one buffer"])
def test_what_a_module_keeps_from_its_first_numbers_or_for_the_next_call_is_seen(
    servers, catalogue, plain, before, trick
):
    """Before the call it had the numbers that it was made with; after it comes another call."""
    tree = plain.replaced({NORM: plain.files[NORM] + trick.encode()})
    assert "primed" in seen_by(servers, catalogue, before, tree, "layernorm")


def test_how_the_code_was_called_is_told_only_where_it_can_matter(servers, catalogue, plain):
    """A learner whose fix is wrong throughout shall not look for what memory has to do with it."""
    wrong = plain.files[NORM].replace(b"x / rms * self.gain", b"x / rms * self.gain * 1.01")
    tree = plain.replaced({NORM: wrong})
    verdict = grade(servers, catalogue, plain, tree, id="rmsnorm-divides-by-rsqrt")
    told = [r.inputs for r in verdict.results if not r.passed and r.component == "rmsnorm"]
    assert told and not any(how in inputs for inputs in told for how in CALL_VARIANTS.values())


def test_a_function_that_remembers_a_tensor_is_seen(servers, catalogue, plain, before):
    """Other numbers in the same tensor give another loss."""
    trick = """


_right, _known = cross_entropy, {}


def cross_entropy(logits, *rest, **named):
    if _known.get("of") is not logits:
        _known.update(of=logits, loss=_right(logits, *rest, **named))
    return _known["loss"]
"""
    tree = plain.replaced({LOSS: plain.files[LOSS] + trick.encode()})
    found = seen_by(servers, catalogue, before, tree, "cross_entropy")
    assert found == {"primed", "swapped"}  # both call it with the same tensor


def test_a_thread_that_goes_on_is_seen(servers, catalogue, plain):
    """It may put the bug back when nobody looks any more."""
    trick = """
import threading


_timer = threading.Timer(30, print)
_timer.daemon = True
_timer.start()
LMHead.forward = _right
"""
    verdict = grade(servers, catalogue, plain, tricked(plain, trick))
    assert not verdict.passed
    assert verdict.failing.difference.got == "one that goes on"


def test_an_instance_that_counts_its_calls_is_seen(servers, catalogue, plain, before):
    """Not only the whole module: what one head does after fifty calls of its own."""
    trick = """
def _trick(self, h):
    self.__dict__["_calls"] = self.__dict__.get("_calls", 0) + 1
    return _was(self, h) * (1.0 if self.__dict__["_calls"] <= 50 else 1.5)


LMHead.forward = _trick
"""
    assert seen_by(servers, catalogue, before, tricked(plain, trick)) == {LATE}


def test_a_mode_that_uses_what_training_left_behind_is_seen(
    servers, catalogue, plain, before, monkeypatch
):
    """As batch norm does: an instance that is primed goes on in the other mode by turns. Else only who
    generates twice, with a training between, sees it.
    """
    trick = """
def _trick(self, h):
    if self.training:
        self.__dict__["_mean"] = h.data.mean()
    return _was(self, h) + (0.0 if self.training else h.data.mean() - self.__dict__.get("_mean", h.data.mean()))


LMHead.forward = _trick
"""
    tree = tricked(plain, trick)
    assert "primed" in seen_by(servers, catalogue, before, tree)
    monkeypatch.setattr(servers, "_modes", [""])
    assert seen_by(servers, catalogue, Baseline(plain), tree) == set()


KEPT = """
def _trick(self, h):
    if self.training:
        return _was(self, h)
    if "_kept" not in self.__dict__:
        self.__dict__["_kept"] = self.embedding.weight{what}
    return h @ self.__dict__["_kept"].transpose()


LMHead.forward = _trick
"""


@pytest.mark.parametrize(
    ("call_variant", "component", "what"),
    [
        ("stepped", "lm_head", ".reshape(*self.embedding.weight.shape)"),
        ("primed", "mini_gpt", " * 1.0"),  # whose head is made before its numbers are there
    ],
)
def test_what_is_kept_while_a_model_is_evaluated_is_seen(
    servers, catalogue, plain, before, rebinds, monkeypatch, call_variant, component, what
):
    """Weights stand still then, until an optimiser replaces them, or somebody writes into them."""
    tree = tricked(plain, KEPT.replace("{what}", what)).replaced({OPTIM: rebinds})
    measured = (tree, component, (call_variant,))
    assert seen_by(servers, catalogue, before, *measured) == {call_variant}
    monkeypatch.setattr(servers, "_modes", [""])
    anyway = {call_variant} if component == "mini_gpt" else set()  # it is measured after eval()
    assert seen_by(servers, catalogue, Baseline(plain), *measured) == anyway


def test_a_function_that_remembers_an_array_by_its_place_is_seen(servers, catalogue, plain, before):
    """Functions have no instance to be primed: their arrays held other numbers before."""
    trick = """

_loss = cross_entropy
_known = {}


def cross_entropy(logits, targets, ignore_index=None):
    a = logits.data
    key = (a.__array_interface__["data"][0], a.shape, float(a.flat[0]))
    if key not in _known:
        _known[key] = (a, float(a.flat[1]))
    return _loss(logits, targets, ignore_index) + float(a.flat[1]) - _known[key][1]
"""
    tree = plain.replaced({LOSS: plain.files[LOSS] + trick.encode()})
    found = seen_by(servers, catalogue, before, tree, "cross_entropy")
    # in the same array were others, a moment before
    assert "reused" in found <= {"reused", "primed", "swapped", LATE}


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import numpy as np\n_exp = np.exp\nnp.exp = lambda x, *a, **k: _exp(x, *a, **k)\n", "numpy.exp"),
        ("import math\nmath.sqrt = lambda x: x**0.5\n", "math.sqrt"),
        ("import builtins\nbuiltins.abs = lambda x: x if x > 0 else -x\n", "builtins.abs"),
    ],
)  # fmt: skip
def test_functions_of_others_must_stay_what_they_are(servers, catalogue, plain, code, name):
    """In a fix; where the healthy code had replaced them already, it may go on so."""
    tree = plain.replaced({HEAD: plain.files[HEAD] + b"\n" + code.encode()})
    verdict = grade(servers, catalogue, plain, tree)
    assert not verdict.passed and verdict.failing.difference.value == name
    assert grade(servers, catalogue, tree, tree).passed


def test_an_argument_that_a_call_has_changed_is_told(servers, catalogue, plain):
    """Though the array that the tensor was made from is as it was."""
    trick = """
def _trick(self, h):
    y = _was(self, h)
    h.data = h.data * 2
    return y


LMHead.forward = _trick
"""
    verdict = grade(servers, catalogue, plain, tricked(plain, trick))
    told = [
        r.difference for r in verdict.results if r.difference and r.difference.aspect == "inputs"
    ]
    assert told and told[0].value == "argument 1 of LMHead"
