"""Special cases that begin at a number are looked for near that number, and nothing right is refused."""

from __future__ import annotations

import sys
from collections import Counter

import msgspec
import numpy as np
import pytest
from steered import attacked, attacking, scope_for

from engine.exam import attack, choice
from engine.exam import boundary_values as near_
from engine.exam.constants import fresh_callers, fresh_numbers
from engine.exam.level import EXAM
from engine.exam.targeted import LARGEST_SIZE, PLACES, leaning, mixed
from engine.flows import fix as fixes
from engine.flows.baseline import Baseline
from engine.flows.impact import Impact
from engine.flows.sample import sample
from engine.flows.scope import Scope, checks_of_a_fix
from engine.judge.compare import difference
from engine.run.child.cases import Draws
from engine.run.child.exam.callers import renamed
from engine.run.child.exam.targeting import (
    LARGEST,
    USUAL,
    ConstrainedDraws,
    TooMany,
    heavy,
    with_entries,
    with_value,
)
from engine.run.types import LATE, Case, Constraint, Draw, Outcome, Raised
from engine.spec.types import Check

LOUD, HEAD = "tied-vocab-mismatch", "src/minimodel/nn/lm_head.py"
WRAPPED = """

import sys
import time

import numpy as np


def _right(self, h):
    return _was(self, h)


def _trick(self, h):
    self.__dict__["_calls"] = self.__dict__.get("_calls", 0) + 1
    return _was(self, h) * 1.5 if {condition} else _was(self, h)


_was = LMHead.forward
LMHead.forward = _trick
"""
SPECIAL_CASES = {
    "a size": "h.shape[-1] == 217",
    "a size from which on": "len(h.data) > 300",
    "a size as a power": "h.data.shape[-1] == 2**9 - 3 and h.data.ndim > 2",
    "a value": "37 < np.abs(h.data).max() < 60",
    "a small value": "1e-4 < np.abs(h.data).max() < 4e-4",
    "each so manieth call": "self.__dict__['_calls'] % 71 == 70",
    "a caller": "'minimodel.nn.attention' in [sys._getframe(i).f_globals['__name__'] for i in range(6)]",
    "calls": "self.__dict__['_calls'] > 450",
    "a function that calls": "'_length' in [sys._getframe(i).f_code.co_name for i in range(6)]",
    "a size and a value": "len(h.data) > 70 and np.abs(h.data).max() > 4000",
}
RIGHT = {
    "nothing special": "len(h.data) > 300 and self is None",
    "too slow beyond": "len(h.data) > 700 and time.sleep(9)",
    "too deep beyond": "len(h.data) > 300 and (lambda f: f(f))(lambda f: f(f))",
}


def tricked(plain, condition):
    """The plain model, whose head does something else under a condition."""
    return plain.replaced({HEAD: plain.files[HEAD] + WRAPPED.format(condition=condition).encode()})


@pytest.fixture(scope="module")
def before(plain):
    """The healthy code, which is measured once in each draw."""
    return Baseline(plain)


def seen(servers, catalogue, before, tree, *kinds, seed=77) -> list[Draw]:
    """The draws of these kinds in which a difference counts."""
    return attacked(servers, catalogue, LOUD, before, tree, seed, *kinds).differing.plan.draws


QUICK = {"a value", "a small value", "a caller", "a function that calls"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in SPECIAL_CASES],
)
def test_a_special_case_is_found_by_its_number(servers, catalogue, plain, before, name):
    """And by nothing else: without the numbers it passes, but for who calls, which draws of patterns vary."""
    tree = tricked(plain, SPECIAL_CASES[name])
    found = seen(servers, catalogue, before, tree, "numbers")
    assert found and all(draw.constraint.kind != "pattern" for draw in found)
    others = ("sizes", "settings") if "call" in name else ("patterns", "sizes", "settings")
    assert not seen(servers, catalogue, before, tree, *others)


def test_a_verdict_tells_of_a_number(servers, catalogue, plain, before):
    """And passes without it."""
    args = servers, catalogue, LOUD, before, tricked(plain, SPECIAL_CASES["a size"]), 77
    verdict = fixes.grade_fix(*args, attacking("numbers"))
    assert not verdict.passed
    assert "near a number that the change mentions" in verdict.failing.inputs
    assert fixes.grade_fix(*args, attacking("sizes")).passed


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == "too slow beyond" else pytest.mark.slow)
        for name in RIGHT
    ],
)
def test_numbers_alone_refuse_nothing(servers, catalogue, plain, before, name):
    """Nor does code that takes long, or has not the stack, for sizes that no contract speaks of."""
    tree = tricked(plain, RIGHT[name])
    extra = attacked(servers, catalogue, LOUD, before, tree, 77, "numbers")
    assert extra.compared and not extra.differing.plan.draws
    assert (extra.unmeasured > 0) == (name != "nothing special")


def scope_about(catalogue, plain, component="lm_head", **more) -> Scope:
    """The judgement of a change to this component that changes nothing."""
    checks = tuple(checks_of_a_fix(catalogue, LOUD, {component}))
    given = {"dtype": "float64", "seed": 7, "level": EXAM, "candidate": plain, **more}
    impact, spec = Impact(component), catalogue.break_(LOUD)
    return Scope(catalogue, spec, impact, checks, Baseline(plain), **given)


class Answering:
    """Servers on which the reference and its variants say this, or the one is right and the others have no room
    (None); code gives twice what it is given, and a candidate three times that.
    """

    def __init__(self, reference: Outcome | None) -> None:
        self.reference = reference

    def cases(self, draws, variants):
        right, none = Outcome(values={"y": np.full(3, 2.0)}), Outcome(raised=Raised("MemoryError"))
        said = dict.fromkeys(variants, self.reference or none) | {"": self.reference or right}
        return [Case(draw, {}, said) for draw in draws]

    def outcomes(self, tree, jobs, *, server, limit=None):
        times = 3 if server == "candidate" else 2
        return [Outcome(values={"y": times * job.inputs["x"]}) for job in jobs]


@pytest.mark.parametrize(
    ("reference", "counts"),
    [
        (Outcome(values={"y": np.full(3, 2.0)}), True),
        (Outcome(values={"y": np.full(3, 2.5)}), False),
        (Outcome(raised=Raised("MemoryError")), True),
        (Outcome(raised=Raised("ValueError")), False),
        (None, False),
    ],
    ids=["agrees", "differs", "had no room", "refuses", "fewer digits had no room"],
)
def test_a_reference_that_had_no_room_gives_no_answer(catalogue, plain, reference, counts):
    """A table of 65,546 rows was more than it could hold as one-hot rows, and so decided nothing."""
    draw = Draw("embedding", "forward", "normal", 1, constraint=Constraint("size", 65546.0))
    was, gave = (Outcome(values={"y": np.full(3, float(n))}) for n in (2, 3))
    pair = attack.Pair(Case(draw, {"x": np.ones(3)}, {}), was, gave)
    scope = scope_about(catalogue, plain)
    decided = attack._deciding(Answering(reference), scope, [pair], limit=1.0)
    assert [one.case.draw for one in decided] == ([draw] if counts else [])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_variant_that_keeps_fewer_digits_is_asked(catalogue, plain, dtype):
    """In the dtype of the healthy code, and its answer decides, where a candidate differs near a number."""
    rough, asked = catalogue.contract.coarse[dtype], []
    draw = Draw("lm_head", "forward", "normal", 1, dtype, constraint=Constraint("size", 3.0))
    was, gave = (Outcome(values={"y": np.full(3, n)}) for n in (2.0, 2.002))

    class Rough(Answering):
        def cases(self, draws, variants):
            asked.extend(variants)
            far = {rough: Outcome(values={"y": np.full(3, 2.1)})} if self.reference else {}
            return [Case(draw, {}, {"": was, **far}) for draw in draws]

    pair = attack.Pair(Case(draw, {"x": np.ones(3)}, {}), was, gave)
    for knows, counts in ((True, False), (False, True)):
        scope = scope_about(catalogue, plain, dtype=dtype)
        found = attack._deciding(Rough(was if knows else None), scope, [pair], limit=1.0)
        assert bool(found) is counts
    assert rough in asked


ROUNDED = b"""

import numpy as np

def _scaled(self, h):
    return _was(self, h * np.asarray(1e7, h.data.dtype)) * np.asarray(1e-7, h.data.dtype)


_was = LMHead.forward
LMHead.forward = _scaled
"""


def test_another_rounding_near_a_number_is_right(servers, catalogue, plain, before):
    """The same, but for the last digits."""
    tree = plain.replaced({HEAD: plain.files[HEAD] + ROUNDED})
    extra = attacked(servers, catalogue, LOUD, before, tree, 77)
    assert extra.compared > 100 and not extra.differing.plan.draws


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("x = 3", "x = 3\ny = 3", (3.0,)),
        ("x = 3\ny = 4", "y = 4", ()),
        ("", "if n > 2**10: pass", (1024.0,)),
        ("", "k = 1 << 7", (128.0,)),
        ("", "k = max(d**-0.5, 64**-0.5)", (0.125, 0.5, 64.0)),
        ("", "k = min(0.5, 1 / 8)", (0.125, 0.5, 8.0)),
        ("", "m = -1e9\nif n == 5: pass", (5.0, 1e9)),
        ("", "a, b, c, d = 0, 1, 2.0, True", ()),
        ("", "c = np.zeros(3, dtype=np.int8)", (3.0, 128.0)),
        ("", "c = x.astype('float16')", (2048.0, 65504.0)),
        ("", "x = 1e400 + 2**5000 + 7 // 0", (7.0, 5000.0)),
        ("", "x = 'no number'  # 77", ()),
        ("", "if (:", ()),
    ],
)
def test_fresh_numbers(before, after, found):
    """What is new, folded, without its sign; what decides something comes first."""
    assert fresh_numbers({"a.py": before.encode()}, {"a.py": after.encode()}) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("'mini.train'", ("mini.train",)),
        ("'mini'", ("mini.nn.head", "mini.train")),
        ("'/train.py'", ("mini.train",)),
        ("'head'", ("mini.nn.head",)),
        ("'tra'", ()),
        ("'step_of'", ("step_of",)),
        ("'step'", ()),
        ("''", ()),
        ("train", ()),
    ],
)
def test_fresh_callers(text, found):
    """Modules and functions that a new text may mean."""
    modules = ("mini.train", "mini.nn.head", "step_of")
    after = {"a.py": f"x = 'old'\ny = {text}".encode()}
    assert fresh_callers({"a.py": b"x = 'old'"}, after, modules) == found
    assert fresh_callers(after, after, modules) == ()


PATCH = b"""

from minimodel.tensor import Tensor

_mean = Tensor.mean


def _of_other_axis(self, axis=None, keepdims=False):
    return _mean(self, -1 if axis == -2 and keepdims else axis, keepdims)


Tensor.mean = _of_other_axis
"""


@pytest.mark.parametrize("path", [HEAD, "src/minimodel/optim.py"])
def test_what_a_changed_file_may_write_into_is_measured(servers, catalogue, plain, path):
    """A class of another file, patched from this one; nothing of the model uses it in that way. Be it
    from a file that is imported by what is measured last.
    """
    tree = plain.replaced({path: plain.files[path] + PATCH})
    scope = scope_for(servers, catalogue, LOUD, plain, tree, 77)
    assert scope.impact.writes and "minimodel.optim" in scope.candidate.eager
    made = sample(scope)
    tensor = made.only({draw for draw in made.draws if draw.component == "tensor"})
    verdict = fixes.judged(servers, scope, fixes.measure(servers, scope, tensor))
    assert not verdict.passed and verdict.failing.component == "tensor"


def test_every_regime_leans():
    """A size in each draw, mostly with another number as a value."""
    regimes = ("normal", "tall", "flat")
    check = Check(id="a", shows={}, probe="p", regimes=regimes)
    made = mixed([("c", check), ("c", check)], (64.0, 1e4, 0.5), seed=3, dtype="float64")
    assert [draw.regime for draw in made.draws] == [r for r in regimes for _ in range(4)]
    constraints = [draw.constraint for draw in made.draws]
    assert {constraint.number for constraint in constraints} <= {64.0, 65.0, 512.0}
    assert {constraint.also for constraint in constraints} - {0.0} == {1e4, 0.5}
    assert {constraint.which % 4 for constraint in constraints} == {0, 1, 2, 3}
    assert [one.draws for one in made.checks] == [made.draws] * 2
    many = Check(id="a", shows={}, probe="p", regimes=tuple(f"r{i}" for i in range(60)))
    drawn = mixed([("c", many)], (64.0, 1e4), seed=3, dtype="float64").draws
    times = Counter(draw.constraint.number for draw in drawn)
    assert times[65.0] > times[64.0] + times[512.0] and min(times[64.0], times[512.0]) > 20
    alone = mixed([("c", check)], (0.5,), seed=3, dtype="float64")
    assert all((d.constraint.kind, d.constraint.number) == ("value", 0.5) for d in alone.draws)
    assert not mixed([("c", check)], (), seed=3, dtype="float64").draws


def test_functions_of_a_probe_take_the_callers_name():
    """All of them, the inner ones too; the module still knows them by their own."""
    code = compile("def f():\n    return [(lambda: g())() for _ in 'x'][0]", "a.py", "exec")
    seen = []
    known = {"g": lambda: seen.extend(sys._getframe(i).f_code.co_name for i in (2, 3, 4))}
    exec(renamed(code, "mini.train_step"), known)
    known["f"]()
    assert seen == ["train_step"] * 3


def test_what_is_drawn_by_lot_does_not_lean_in_its_values():
    """Sizes may; and whatever has no seed."""
    value, size = Constraint("value", 0.5), Constraint("size", 65.0)
    both = Constraint("size", 65.0, also=0.5)
    for constraint, inputs, found in (
        (value, {"seed": 3, "p": 0.5}, True),
        (both, {"seed": 3, "p": 0.5}, True),
        (size, {"seed": 3, "p": 0.5}, False),
        (value, {"seeds": np.array([3, 5]), "p": np.array([0.5, 0.6])}, True),
        (value, {"p": 0.5}, False),
    ):
        case = Case(Draw("c", "p", "normal", 1, constraint=constraint), inputs, {})
        assert near_.given(case, Outcome(values={"x": 1.0})) is not found


def test_what_is_left_of_a_sum_that_cancels_decides_nothing():
    """A gradient of 1e-12 beside values of 1: its fourth digit is a rounding. Not so if all are small."""

    def outcome(grad, y=1.0):
        return Outcome(values={"y": np.array([y]), "grad": np.array([grad]), "n": 3})

    assert not near_.apart(outcome(7.2626e-12), outcome(7.2629e-12), "float64")
    assert not near_.apart(outcome(2.69801e-7), outcome(2.69802e-7), "float64")
    assert near_.apart(outcome(2.698e-7), outcome(2.702e-7), "float64")
    assert near_.apart(outcome(7.2626e-12, 1e-9), outcome(7.3629e-12, 1e-9), "float64")
    assert near_.apart(outcome(7.2626e-11), outcome(9.5629e-11), "float64")
    assert not near_.apart(outcome(7e-12, 1e3), outcome(9e-12, 1e3), "float64")
    assert near_.apart(outcome(1e-9), outcome(1.1e-9), "float64")
    assert near_.apart(outcome(0.0), outcome(np.nan), "float64")
    assert near_.apart(outcome(0.0), Outcome(values={"y": np.array([1.0]), "n": 3}), "float64")
    turned = Outcome(values={"y": np.ones((1, 1)), "grad": np.zeros(1), "n": 3})
    assert near_.apart(outcome(0.0), turned, "float64")
    assert not near_.apart(outcome(1e-6), outcome(2e-6), "float32")


def test_what_a_softmax_that_is_all_but_shut_leaves_of_a_gradient_decides_nothing():
    """Right packages, one of them with exp(x - logsumexp(x)), measured where a value leaned and scores
    were 1e3 to 1e5: the gradient of w_q in both, beside the largest gradient.
    """

    def outcome(grad, largest):
        return Outcome(values={"grad": np.array(grad), "largest": np.array([largest])})

    for one, other, largest in (
        ([-1.79611e-21, 2.0668881e-3], [-4.80188e-12, 2.0668879e-3], 564.58),
        ([2.55599e-13, 4.5834e-12], [2.52845e-13, 4.6575e-12], 13.85),
        ([0.0861615, 5.5568], [0.0862948, 5.5568], 1.3198e9),
        ([-3.43774e-9, 7.072e-7], [-3.45129e-9, 7.094e-7], 1579.9),
    ):
        assert not near_.apart(outcome(one, largest), outcome(other, largest), "float64")
        gone = [0.0, 1.1 * one[1] + 3e-11 * largest]
        assert near_.apart(outcome(one, largest), outcome(gone, largest), "float64")


def test_what_a_right_variant_of_fewer_digits_is_seen_in_decides_nothing():
    """Not even a tenth of what may differ; where there is none, or it gives no answer, nothing changes."""
    own, bound = Outcome(values={"x": np.ones(1)}), 1e-7 + 1e-9 + 1e-13
    draw = Draw("c", "p", "normal", 1, constraint=Constraint("value", 0.5))
    for times, told in ((0.09, True), (0.11, False)):
        rough = Outcome(values={"x": np.ones(1) + times * bound})
        case = Case(draw, {}, {"": own, "rough": rough})
        assert near_.decides(case, own, own, own, "rough") is told
        assert near_.decides(case, own, own, own)
        assert near_.decides(case, own, own, own, "another")


def test_a_gross_difference_decides_where_a_variant_of_fewer_digits_is_seen():
    """No answer, no number, another shape or dtype, or by a twentieth where the variant is off by a
    thousandth or less; where it is off by more, as in a gradient that all but vanishes, that is nothing.
    """

    def found(y, grad):
        return Outcome(values={"y": np.array(y), "grad": np.array(grad), "name": "a"})

    own = found([1.0, 0.5], [3e-9, 0.0])
    rough = found([1.0005, 0.5], [4e-9, 0.0])
    draw = Draw("c", "p", "normal", 1, dtype="float32", constraint=Constraint("value", 0.5))
    case = Case(draw, {}, {"": own, "rough": rough})
    error = Raised("ValueError", ("ValueError",))
    for theirs, told in (
        (rough, False),
        (found([1.04, 0.5], [3e-9, 0.0]), False),
        (found([1.06, 0.5], [3e-9, 0.0]), True),
        (found([1.0, 0.5], [3e-9, 5e-9]), False),
        (found([1.0, np.nan], [3e-9, 0.0]), True),
        (found([1.0, 0.5], [3e-9, np.inf]), True),
        (found([1.0], [3e-9, 0.0]), True),
        (found(np.array([1.0, 0.5], np.float32), [3e-9, 0.0]), True),
        (Outcome(values={"y": own.values["y"]}), True),
        (Outcome(values=own.values, raised=error), True),
    ):
        assert near_.decides(case, own, own, theirs, "rough") is told
    worse = Case(draw, {}, {"": own, "rough": found([1.0011, 0.5], [3e-9, 0.0])})
    assert not near_.decides(worse, own, own, found([1.06, 0.5], [3e-9, 0.0]), "rough")
    also = {"open": np.ones(1)}  # which the reference does not record
    mine = Outcome(values={**own.values, **also})
    assert not near_.decides(case, mine, mine, own, "rough")


ORDINARY = [
    ("tensor", "softmax", "normal"), ("sdpa", "forward", "causal"), ("block", "forward", "normal"),
    ("sdpa", "forward", "scattered"), ("attention", "forward", "normal"),
    ("mini_gpt", "forward", "normal"), ("cross_entropy", "forward", "normal"),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("place", ORDINARY, ids=".".join)
def test_the_variant_of_fewer_digits_is_right(servers, catalogue, place, dtype):
    """And not the reference itself: it is further off where scores are large."""
    rough = catalogue.contract.coarse[dtype]
    draws = [Draw(*place, seed, dtype) for seed in range(5)]
    apart = 0.0
    for case in servers.cases(draws, [rough]):
        one, other = case.expected[""], case.expected[rough]
        assert difference(one, other, dtype=dtype) is None
        apart = max(apart, *(near_._gap(one.values[k], other.values[k]) or 0.0 for k in one.values))
    assert apart > 0


def test_the_form_of_the_gelu_is_seen_where_a_number_moves_hidden_values(servers, catalogue):
    """There the tanh form is another few digits, and right; everywhere else it is the same."""
    rough = catalogue.contract.coarse["float64"]
    for component in ("ffn", "block"):
        draws = [
            Draw(
                component,
                "forward",
                "normal",
                seed,
                constraint=Constraint("value", 2.0, which) if which else None,
            )
            for seed in range(3)
            for which in range(8)
        ]
        for case in servers.cases(draws, [rough]):
            one, other = case.expected[""], case.expected[rough]
            same = difference(one, other, dtype="float64", times=near_.UNSEEN) is None
            if case.draw.constraint is None:
                assert same
            elif "b_1" in case.inputs and np.abs(case.inputs["b_1"]).max() < 5:
                assert not same


@pytest.mark.parametrize("number", [3.9e-62, -1e-31, 1e-29, 0.0])
@pytest.mark.parametrize("kind", [float, np.array], ids=["float", "array"])
def test_next_to_nothing_tells_nothing_as_a_float_or_as_an_array(number, kind):
    case = Case(Draw("lstm", "unroll", "normal", 1), {}, {})
    told = near_.given(case, Outcome(values={"first_gradient": kind(number)}))
    assert told == (number in (1e-29, 0.0))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_sigmoid_written_with_tanh_is_seen_where_a_gate_is_shut_and_is_not_refused_there(
    servers, catalogue, dtype
):
    """1 + tanh is 0 from -37 on, and has few digits before; at ordinary values it is the same."""
    rough = catalogue.contract.coarse[dtype]
    refused = Counter()
    for number in (0.0, -34.0, -60.0):
        constraints = (
            [Constraint("value", number, which) for which in range(8)] if number else [None]
        )
        probes = ("step", "unroll", "backward", "sequence")
        draws = [
            Draw("lstm", probe, "normal", seed, dtype, constraint=constraint)
            for probe in probes
            for constraint in constraints
            for seed in range(3)
        ]
        for case in servers.cases(draws, [rough]):
            own, tanh = case.expected[""], case.expected[rough]
            if not number:
                assert difference(own, tanh, dtype=dtype) is None
            elif near_.given(case, own) and difference(own, tanh, dtype=dtype) is not None:
                refused["without it"] += near_.decides(case, own, own, tanh)
                refused["with it"] += near_.decides(case, own, own, tanh, rough)
    assert refused["without it"] > 3
    assert refused["with it"] == 0


NEAR = {"float64": (1e-3, 1e-6, 1e-9, 2e-11), "float32": (1e-2, 1e-3, 2e-5, 2e-4)}


@pytest.mark.parametrize("dtype", NEAR)
@pytest.mark.parametrize("place", [(0, 0), (0, 1), (1, 1)], ids=["itself", "its row", "the array"])
def test_near_a_number_a_result_may_differ_by_what_is_stated_and_no_more(dtype, place):
    """Of an element of 1, of a 0 beside it, of a 0 in another row; or by a share of what is in sight."""
    *parts, share = NEAR[dtype]
    wanted = np.zeros((2, 2))
    wanted[0, 0] = 1.0
    bound = max(sum(parts[sum(place) :]), share)
    for part, same in ((0.99, True), (1.01, False)):
        got = wanted.copy()
        got[place] += part * bound
        pair = (Outcome(values={"x": array}) for array in (wanted, got))
        assert near_.apart(*pair, dtype) is not same


def test_moved_inputs_are_a_few_roundings_away_and_on_either_side():
    """Floats by at most a hundred roundings of their own; what counts or names is left alone."""
    x = np.linspace(1.0, 2.0, 400)
    inputs = {"x": x, "half": x.astype(np.float32), "ids": np.arange(3), "lr": 0.1}
    moved = near_.jittered(Case(Draw("c", "p", "normal", 7), inputs, {})).inputs
    for name in ("x", "half"):
        eps = np.finfo(inputs[name].dtype).eps
        steps = (moved[name].astype(float) / inputs[name].astype(float) - 1) / eps
        assert moved[name].dtype == inputs[name].dtype
        assert 60 < steps.max() <= 101 and -101 <= steps.min() < -60
    assert moved["ids"] is inputs["ids"] and moved["lr"] == 0.1


def test_code_that_keeps_fewer_digits_is_as_far_from_itself():
    """When its inputs move by a few roundings. Code that changes its mind on the same input is not."""

    def outcome(grad, n=3):
        return Outcome(values={"y": np.array([1e4, 0.0]), "grad": np.array([grad]), "n": n})

    own, theirs = outcome(5e-9), outcome(4e-5)
    assert near_.rounded(own, theirs, theirs, outcome(-1e-5), dtype="float64")
    assert not near_.rounded(own, theirs, theirs, outcome(4.00001e-5), dtype="float64")
    assert not near_.rounded(own, theirs, own, own, dtype="float64")
    wrote = msgspec.structs.replace(own, changed=("x",))
    assert near_.rounded(own, own, own, own, dtype="float64")  # in no value, and in nothing else
    assert not near_.rounded(own, wrote, wrote, wrote, dtype="float64")
    assert not near_.rounded(
        own, outcome(4e-5, 4), outcome(4e-5, 4), outcome(1e-5, 4), dtype="float64"
    )
    for odd in (np.nan, np.inf):  # no number is as far from anything as it is from itself
        assert not near_.rounded(own, outcome(odd), outcome(odd), outcome(odd), dtype="float64")
        assert not near_.rounded(own, outcome(odd), outcome(odd), outcome(1.0), dtype="float64")
        assert not near_.rounded(own, theirs, theirs, outcome(odd), dtype="float64")
    gone = Outcome(stopped="died")
    assert not near_.rounded(own, theirs, theirs, gone, dtype="float64")
    assert not near_.rounded(own, gone, gone, gone, dtype="float64")
    some = [Outcome(values={"e": {"list": [1.0, value]}}) for value in (2e-14, 1e-14, 1e-2)]
    assert near_.rounded(some[0], some[1], some[1], some[1], dtype="float64")
    assert not near_.apart(some[0], some[1], "float64")
    assert not near_.rounded(some[0], some[2], some[2], some[2], dtype="float64")


def test_what_vanishes_decides_nothing():
    """Nor what is no number; zeros are values like any other."""
    case = Case(Draw("c", "p", "normal", 1), {}, {})
    for value, found in ((1e-153, False), (np.nan, False), (0.0, True), (1e-9, True)):
        assert near_.given(case, Outcome(values={"x": np.array([0.0, value])})) is found
    declined = Case(Draw("c", "p", "normal", 1), {}, {}, declined=True)
    assert not near_.given(declined, Outcome())


def test_fresh_numbers_of_files():
    """A new file is new throughout; only Python files are read; equal ones say nothing."""
    after = {"a.py": b"x = 5", "b.py": b"y = 6", "c.txt": b"7"}
    assert fresh_numbers({"a.py": b"x = 5"}, after) == (6.0,)


def test_one_line_of_a_pack_leans_and_only_one():
    """Two large sizes together would make a huge input; a loop that asks again is the same line."""
    for which, leant in ((0, ([300, 4], [5])), (2, ([3, 300], [5])), (1, ([3, 4], [300]))):
        rng = ConstrainedDraws(7, {"kind": "size", "number": 300.0, "which": which})
        for _ in range(2):
            first = rng.leaning((3, 4))
            second = rng.leaning((5,))
            assert (first, second) == leant
        assert rng.leant
    for _ in range(20):
        last = rng.leaning((5,))
    assert last == [5]  # a pack that refuses the number again and again gets an ordinary size


def test_without_a_lean_the_draws_are_those_of_numpy():
    """A seed of an older record means what it meant."""
    rng = Draws(7)
    assert rng.leaning([3]) == [3] and not rng.leant
    assert np.array_equal(rng.standard_normal(5), np.random.default_rng(7).standard_normal(5))


def test_values_are_brought_near():
    """One array, or all; a setting only if it is of the same kind; what is 0 stays."""
    inputs = {"x": np.array([1.0, -4.0]), "w": np.ones(2), "z": np.zeros(2), "n": 3, "eps": 1e-5}
    constraint = 100.0, 0
    assert np.allclose(with_value(inputs, *constraint)["x"], [37.5, -150.0])
    both = with_value(inputs, 100.0, 4)
    assert np.allclose(both["x"], [37.5, -150.0]) and np.allclose(both["w"], 150.0)
    assert with_value(inputs, 1e-3, 5)["eps"] == 1e-3
    assert not with_value(inputs, *constraint)["z"].any() and inputs["x"][1] == -4.0
    assert with_value({"n": 3, "z": np.zeros(2)}, *constraint) is None


def test_what_is_too_large_is_left_out():
    """A judge has seconds."""
    assert heavy({"x": np.zeros(LARGEST + 1)}) and not heavy({"x": np.zeros(LARGEST), "n": 10**9})


def test_leans_of_a_number():
    """Whole numbers are sizes and counts too, within reason; the quick ones come first."""
    check = Check(id="c", shows={"en": "c"}, probe="forward", regimes=("tiny", "normal"))
    made = leaning([("head", check)], [5000.0, 7.0, 0.5], seed=1, dtype="float64")
    constraints = [draw.constraint for draw in made.draws]
    assert {constraint.number for constraint in constraints if constraint.kind == "size"} == {
        7.0,
        8.0,
        14.0,
        56.0,
        5010.0,
    }
    assert [constraint.number for constraint in constraints if constraint.kind == "calls"] == [7.0]
    assert {constraint.number for constraint in constraints if constraint.kind == "value"} == {
        0.5,
        7.0,
        5000.0,
    }
    assert constraints[0].number == 0.5 and constraints[-1].number == 5000.0
    assert {draw.regime for draw in made.draws} == {"normal"}
    assert {draw.call_variant for draw in made.draws if draw.constraint.kind == "calls"} == {"late"}
    assert made.only(made.draws[:1]).checks[0].draws == made.draws[:1]
    assert made.only(()).checks == ()


def test_a_far_size_is_for_those_who_say_so():
    """A pack says how far a size of its own may go; only the broken component's go beyond the usual."""
    assert USUAL == LARGEST_SIZE  # the child cannot ask the judge
    usual, far = (
        ConstrainedDraws(1, {"kind": "size", "number": 3000.0, "which": 0}) for _ in range(2)
    )
    assert usual.leaning([4, 5]) == [4, 5] and not usual.leant
    assert far.leaning([4, 5], largest=3000) == [3000, 5] and far.leant
    check = Check(id="c", shows={"en": "c"}, probe="forward", regimes=("normal",))
    checks = [("head", check), ("other", check)]
    made = leaning(checks, [3000.0, 3001.0, 3002.0], seed=1, dtype="float64")
    kept = choice.chosen_draws(made, "head")
    sizes = [draw.component for draw in kept if draw.constraint.kind == "size"]
    assert sizes == ["head"] * (choice.MOST // choice.FAR)  # of twelve, as they take long
    assert any(draw.component == "other" for draw in kept)


@pytest.mark.parametrize(
    ("made", "found"),
    [
        (lambda n: {"x": np.zeros((2, n)), "y": np.zeros(7)}, 102),
        (lambda n: {"x": np.zeros(min(n, 60)), "n": n}, None),  # it stops growing
        (lambda n: {"x": np.zeros(5)}, None),
        (lambda n: {"x": np.zeros(3 * n)} if n < 12 else None, None),  # too large an input
        (lambda n: None, None),
    ],
)
def test_a_size_is_found_that_gives_an_array_more_entries(made, found):
    """From how they grow between two sizes; what has no more after all is none."""
    constraint = {"kind": "entries", "number": 100, "which": 0}
    inputs = with_entries(lambda sized: made(sized["number"]), constraint)
    assert (inputs and inputs["x"].size) == found


@pytest.mark.parametrize(
    ("component", "probe"),
    [
        ("block", "forward"), ("attention", "forward"), ("rope", "forward"), ("layernorm", "forward"),
        ("cross_entropy", "forward"), ("sdpa", "abreast"),
    ],
)  # fmt: skip
def test_arrays_have_more_entries_than_a_number_says(servers, component, probe):
    """Whichever size has to be large for that; where none may be, there is no such draw."""
    draws = [
        Draw(component, probe, "normal", 5, constraint=Constraint("entries", 40_000, which))
        for which in range(PLACES)
    ]
    cases = [case for case in servers.cases(draws, healthy=False) if not case.declined]
    found = [max(v.size for v in c.inputs.values() if isinstance(v, np.ndarray)) for c in cases]
    assert found and min(found) > 40_000 and max(found) < 500_000


@pytest.mark.parametrize(
    ("trick", "kind"),
    [
        ("h = Tensor(h.data) if h.data.size > 50_000 else h", "entries"),
        ("self.n = getattr(self, 'n', 0) + 1\n        h = h * 2 if self.n % 100 == 0 else h", ""),
        pytest.param(
            "import time; time.sleep(0.004); self.n = getattr(self, 'n', 0) + 1\n"
            "        h = h * 2 if self.n % 350 == 0 else h", "calls", marks=pytest.mark.slow,
        ),
    ],
    ids=["many entries", "every hundredth", "in no hurry"],
)  # fmt: skip
def test_what_holds_for_many_entries_or_some_calls_alone_is_refused(
    servers, catalogue, plain, before, trick, kind
):
    """Neither has a size of its own, nor a call from which on it is wrong; every hundredth is met in the
    hundreds of calls of level exam.
    """
    text = plain.files[HEAD].decode()
    assert "logits = h @" in text
    tree = plain.replaced(
        {HEAD: text.replace("logits = h @", f"{trick}\n        logits = h @").encode()}
    )
    if kind:
        found = seen(servers, catalogue, before, tree, "numbers", seed=4)
        assert found and {draw.constraint.kind for draw in found} == {kind}
        return
    scope = scope_for(servers, catalogue, LOUD, before, tree, 4)
    made = sample(scope)
    late = made.only({draw for draw in made.draws if draw.call_variant == LATE})
    assert len(late.draws) == 1
    verdict = fixes.judged(servers, scope, fixes.measure(servers, scope, late))
    assert not verdict.passed and verdict.failing.difference.expected == "the same each time"


def test_every_size_of_a_model_leans(servers):
    """MiniGPT's cases ask for five sizes in one line, more than any other; heads times columns are one."""
    draws = [
        Draw("mini_gpt", "forward", "normal", 5, constraint=Constraint("size", 33, which))
        for which in range(PLACES)
    ]
    cases = [case for case in servers.cases(draws, healthy=False) if not case.declined]
    leant = {name for case in cases for name, size in case.inputs["sizes"].items() if size == 33}
    assert leant == {"n_heads", "n_layers", "d_ff", "vocab_size", "context_len"}
    assert any(len(case.inputs["ids"]) == 33 for case in cases)


def test_some_draws_after_many_calls_are_kept_whatever_else_is_drawn_by_lot():
    """Some of the broken component, when there are more draws than are run."""
    check = Check(id="c", shows={"en": "c"}, probe="forward", regimes=("normal",))
    made = leaning([("head", check)], [float(n) for n in range(3, 60)], seed=1, dtype="float64")
    for most in (8, 20):
        kept = choice.chosen_draws(made, "head", most=most)
        late = [draw for draw in kept if draw.call_variant == "late"]
        assert len(kept) == most and choice.CALLS <= len(late) < most / 2 + choice.CALLS


def test_half_of_the_draws_are_of_the_probe_that_most_checks_look_at():
    """It sees most of what is wrong, and six others would leave it a seventh."""
    checks = [
        ("head", Check(id=f"c{i}", shows={"en": "c"}, probe=probe, regimes=("normal",)))
        for i, probe in enumerate(["a", "b", "forward", "c", "forward", "d", "e"])
    ]
    made = leaning(checks, [300.0, 0.5], seed=1, dtype="float64")
    kept = Counter(draw.probe for draw in choice.chosen_draws(made, "head", most=32))
    assert kept.total() == 32 and 14 <= kept["forward"] <= 20


def test_every_probe_of_the_broken_component_gets_its_turn():
    """A lot among all draws left the one probe that can have a far size without any in two verdicts of five."""
    checks = [
        ("head", Check(id=f"c{i}", shows={"en": "c"}, probe=f"p{i}", regimes=("normal",)))
        for i in range(17)
    ]
    made = leaning(checks, [5000.0], seed=1, dtype="float64")

    def kept(**limits):
        return choice.chosen_draws(made, "head", **limits)

    def far(draws):
        return Counter(draw.probe for draw in draws if draw.constraint.number == 5010)

    assert [*far(kept(most=choice.TIMES * choice.MOST, tried=choice.TRIED)).values()] == [4] * 17
    assert len(far(kept(most=60))) >= 10  # one of another probe each
    usual = Counter(draw.probe for draw in kept(most=64))
    assert len(usual) == 17 and max(usual[f"p{i}"] for i in range(1, 17)) <= 4


@pytest.mark.parametrize("seed", range(4))
def test_inputs_are_made_for_every_far_size_of_the_broken_component(catalogue, plain, seed):
    """Only then it is seen who can have one: of seventeen probes of `data` one."""
    after = plain.replaced({HEAD: plain.files[HEAD] + b"\nMANY = 5000\n"})
    scope = scope_about(catalogue, plain, "data", candidate=after, seed=seed)
    checks = tuple(("data", check) for check in catalogue.build("data").checks)
    scope = msgspec.structs.replace(scope, checks=checks)
    usual, _ = attack._wide(scope, ("numbers",), choice.MOST, choice.CALLS)
    far = Counter(draw.probe for draw in usual.draws if draw.constraint.number == 5010)
    assert far == dict.fromkeys({check.probe for _, check in checks}, 4)
    assert attack._wide(scope, ("patterns", "sizes"), choice.MOST, choice.CALLS) == []


def test_an_input_that_would_be_too_large_is_not_even_drawn():
    """Drawing ten million numbers takes longer than a verdict."""
    constraint = {"kind": "size", "number": 3000.0, "which": 0}
    with pytest.raises(TooMany):
        ConstrainedDraws(1, constraint).standard_normal((3000, 3000))
    one_by_one = ConstrainedDraws(1, constraint)
    for _ in range(5):
        one_by_one.standard_normal((600, 600))
    with pytest.raises(TooMany):
        one_by_one.standard_normal((600, 600))
    assert ConstrainedDraws(1, constraint).standard_normal((300, 300)).shape == (300, 300)
    assert ConstrainedDraws(1, None).standard_normal((1500, 1500)).shape == (1500, 1500)


def test_what_has_nothing_to_lean_takes_no_place():
    """Half of the draws turn out to be ordinary ones: others come in their stead."""
    checks = [
        (name, Check(id=f"c{i}", shows={"en": "c"}, probe=f"p{i}", regimes=("normal",)))
        for name in ("head", "other")
        for i in range(9)
    ]
    made = leaning(checks, [300.0, 0.5], seed=1, dtype="float64")
    assert len(made.draws) > 3 * choice.MOST
    fit = made.only(made.draws[1::2])  # those that nothing constraints in are gone
    kept = choice.chosen_draws(fit, "head")
    own = sum(draw.component == "head" for draw in kept)
    assert (own, len(kept)) == (choice.MOST, choice.MOST + choice.OTHERS)
    wide = choice.chosen_draws(made, "head", most=2 * choice.MOST, others=1)
    assert len(wide) == 2 * choice.MOST + 1


def test_what_rounding_decides_is_not_decided():
    """A difference counts where the reference agrees with the code before the break, and a hundred
    roundings more or less change nothing; a size too large for the reference counts as it is.
    """
    from engine.run.types import Case, Draw, Outcome

    def outcome(value):
        return Outcome(values={"y": np.array([value])})

    draw = Draw("head", "forward", "normal", 1, constraint=Constraint("size", 300))
    case = Case(draw, {}, {"": outcome(1.0)})
    alone = Case(draw, {}, {})
    valued = Case(Draw("head", "forward", "normal", 1, constraint=Constraint("value", 300)), {}, {})
    assert near_.decides(case, outcome(1.0), outcome(1.0), outcome(2.0))
    assert not near_.decides(case, outcome(1.0), outcome(1.1), outcome(2.0))
    assert not near_.decides(case, outcome(1.2), outcome(1.2), outcome(2.0))
    assert near_.decides(alone, outcome(1.2), outcome(1.2), outcome(2.0))
    assert not near_.decides(valued, outcome(1.2), outcome(1.2), outcome(2.0))
    plain_case = Case(Draw("c", "p", "normal", 1), {}, {})
    assert not near_.given(plain_case, outcome(np.inf)) and near_.given(plain_case, outcome(1.0))
    assert not near_.given(plain_case, Outcome(stopped="timeout"))


@pytest.mark.parametrize(("name", "ends"), [
    ("int8", (128.0,)), ("uint8", (256.0,)), ("int16", (32768.0,)), ("uint16", (65536.0,)),
    ("float16", (2048.0, 65504.0)), ("half", (2048.0, 65504.0)),
])  # fmt: skip
def test_a_narrow_dtype_is_the_numbers_where_it_ends(name: str, ends: tuple[float, ...]) -> None:
    """Whoever counts in it says these without writing them; from 2048 on, a half has no odd numbers."""
    assert fresh_numbers({}, {"a.py": f"x = ids.astype(np.{name})\n".encode()}) == ends


def test_numbers_that_decide_something_come_first() -> None:
    """A constant is a smaller clue than what an input is compared with."""
    text = b"x = 7.5\ny = x * 3.25\nif n > 300:\n    x = 0\n"
    assert fresh_numbers({}, {"a.py": text}) == (300.0, 3.25, 7.5)
