"""The pack's side: inputs are drawn from a seed, the reference answers, and its faults are the pack's."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import SpecError
from engine.flows import build as flows
from engine.run.child.server import needed
from engine.run.servers import Servers
from engine.run.types import Draw, Tree
from engine.spec.catalogue import Catalogue

PACK = {
    "pack/common.py": b"def size(rng):\n    return int(rng.integers(2, 9))\n",
    "pack/any/call.py": b"def run(learner, record, **inputs):\n    pass\n",
    "pack/any/cases.py": b"""
import numpy as np
from pack.common import size

def run(rng, regime, dtype):
    if regime == "fails":
        raise KeyError("no such regime")
    return {"x": rng.standard_normal((size(rng), 3)).astype(dtype), "word": regime, "nothing": None}
""",
    "pack/any/reference.py": b"""
import numpy as np

def run(out, variant, *, x, word, nothing):
    if word == "refuses":
        error = ValueError("the shape does not fit")
        error.mentions = (x.shape, 7)
        raise error
    if word == "leaves":
        raise SystemExit
    assert x.dtype == np.float64
    out.record(y=x * (2 if variant == "double" else 1), n=len(x), word=word)
    out.within(mean=(-1, 1))
    out.name(half=x / 2)
""",
}


@pytest.fixture(scope="module")
def pack() -> Servers:
    """Servers that hold the pack above."""
    with Servers(PACK) as started:
        yield started


def draw(regime: str = "normal", seed: int = 0, dtype: str = "float64", probe: str = "run") -> Draw:
    """One input to be drawn."""
    return Draw("any", probe, regime, seed, dtype)


def test_a_seed_draws_the_same_input_again(pack: Servers) -> None:
    """Also when it is drawn by another run; another seed draws another."""
    one, two, other = pack.cases([draw(seed=5), draw(seed=5), draw(seed=6)])
    again = pack.cases([draw(seed=5)])[0]
    assert np.array_equal(one.inputs["x"], two.inputs["x"])
    assert np.array_equal(one.inputs["x"], again.inputs["x"])
    assert not np.array_equal(one.inputs["x"], other.inputs["x"])
    assert one.inputs["word"] == "normal" and one.inputs["nothing"] is None


def test_the_reference_and_its_variants_answer_for_each_input(pack: Servers) -> None:
    """What is recorded is compared, what is named is kept apart."""
    (case,) = pack.cases([draw()], ["double"])
    x = case.inputs["x"]
    assert set(case.expected) == {"", "double"}
    assert np.array_equal(case.expected[""].values["y"], x)
    assert np.array_equal(case.expected["double"].values["y"], 2 * x)
    assert case.expected[""].values["n"] == len(x)
    assert case.expected[""].values["mean"] == {"within": [-1, 1]}
    assert np.array_equal(case.named["half"], x / 2)


def test_the_reference_computes_in_float64_and_is_rounded_once(pack: Servers) -> None:
    """Inputs and expected values have the learner's dtype."""
    (case,) = pack.cases([draw(dtype="float32")])
    assert case.inputs["x"].dtype == np.float32
    assert case.expected[""].values["y"].dtype == np.float32
    assert np.array_equal(case.expected[""].values["y"], case.inputs["x"])


def test_given_inputs_replace_the_drawn_ones(pack: Servers) -> None:
    """Then the draw only names the probe."""
    x = np.arange(6.0).reshape(2, 3)
    (case,) = pack.cases([draw()], given=[{"x": x, "word": "mine", "nothing": None}])
    assert np.array_equal(case.inputs["x"], x)
    assert case.expected[""].values["word"] == "mine"


def test_a_refusal_of_the_reference_is_an_expected_exception(pack: Servers) -> None:
    """With what its message should name."""
    (case,) = pack.cases([draw("refuses")])
    raised = case.expected[""].raised
    assert raised is not None and raised.type == "ValueError"
    assert raised.mentions == (str(case.inputs["x"].shape), "7")
    assert case.expected[""].values == {}


@pytest.mark.parametrize(
    ("drawn", "words"),
    [
        (draw("fails"), ["KeyError", "cases.py", "fails"]),
        (draw("leaves"), ["any", "run", "leaves"]),
        (draw(probe="missing"), ["missing", "AttributeError"]),
        (Draw("nowhere", "run", "normal", 0), ["nowhere"]),
    ],
    ids=["cases raise", "the reference leaves", "no such probe", "no such component"],
)
def test_a_fault_of_the_pack_is_a_spec_error_that_says_where(
    pack: Servers, drawn: Draw, words: list[str]
) -> None:
    """Nobody's code is to blame but the pack's; the servers stay usable."""
    with pytest.raises(SpecError) as caught:
        pack.cases([draw(), drawn])
    said = f"{caught.value.what} {caught.value.where}"
    assert all(word in said for word in words), said
    assert pack.cases([draw()])[0].inputs["word"] == "normal"


@pytest.mark.parametrize("file", ["cases.py", "reference.py", "call.py"])
def test_a_pack_file_that_python_cannot_read_is_a_spec_error(file: str) -> None:
    """With the file and the line; `call.py` is none of this side's business."""
    broken = {**PACK, f"pack/any/{file}": b"x = 1\ndef run(:\n"}
    with Servers(broken) as servers:
        if file == "call.py":
            assert servers.cases([draw()])[0].inputs["word"] == "normal"
            return
        with pytest.raises(SpecError, match="SyntaxError") as caught:
            servers.cases([draw()])
        assert f"any/{file}:2" in caught.value.where


def test_a_pack_that_draws_what_cannot_cross_is_a_spec_error() -> None:
    """An input of objects is a fault of cases.py."""
    odd = {**PACK, "pack/any/cases.py": b"def run(rng, regime, dtype):\n    return {'x': object()}\n",
           "pack/any/reference.py": b"def run(out, variant, *, x):\n    pass\n"}  # fmt: skip
    with Servers(odd) as servers:
        with pytest.raises(SpecError, match="object"):
            servers.cases([draw()])


def test_no_draws_are_no_cases(pack: Servers) -> None:
    """An empty question has an empty answer."""
    assert pack.cases([]) == []


def test_a_healthy_model_agrees_with_the_reference(
    servers: Servers, catalogue: Catalogue, plain: Tree
) -> None:
    """The whole way once: drawn inputs, the reference's values, and those of the pack's own model."""
    probes = [
        ("embedding", "forward"),
        ("lm_head", "forward"),
        ("lm_head", "pipeline"),
        ("cross_entropy", "forward"),
    ]
    draws = [
        Draw(component, probe, "normal", seed) for component, probe in probes for seed in (1, 2)
    ]
    cases = servers.cases(draws)
    outcomes = servers.outcomes(plain, flows.jobs_of(cases))
    for case, outcome in zip(cases, outcomes, strict=True):
        assert (outcome.stopped, outcome.raised, outcome.changed) == (None, None, ())
        for name, expected in case.expected[""].values.items():
            assert np.allclose(outcome.values[name], expected, rtol=1e-9), (case.draw, name)


def test_only_what_a_probe_needs_is_compiled_before_it_runs() -> None:
    """Its component's files, what they import of others, and what all share."""
    files = {
        "pack/common.py": b"from pack import more\n",
        "pack/more.py": b"",
        "pack/block/call.py": b"",
        "pack/block/reference.py": b"from pack.attention.reference import attend\n",
        "pack/attention/reference.py": b"import pack.rope.reference as rope\n",
        "pack/attention/call.py": b"",
        "pack/rope/reference.py": b"",
        "pack/lstm/reference.py": b"",
        "pack/lstm/call.py": b"",
    }
    assert needed(files, {"block"}) == {path for path in files if "lstm" not in path}
    assert needed(files, {"rope"}) == {"pack/common.py", "pack/more.py", "pack/rope/reference.py"}
    assert needed(files, {None}) == {"pack/common.py", "pack/more.py"}
