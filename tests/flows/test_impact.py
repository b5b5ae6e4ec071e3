"""How far the judgement of a fix looks: what uses the broken part, what names lead to, what only imports."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.exam.level import EXAM
from engine.flows import impact
from engine.flows.baseline import Baseline
from engine.flows.sample import FAR_COSTLY, FAR_PROBES, sample
from engine.flows.scope import Scope, checks_of_a_fix
from engine.judge.level import PRACTICE

HEAD, TENSOR = "src/minimodel/nn/lm_head.py", "src/minimodel/tensor.py"


def of_a_fix(catalogue, broken, before, after, *, everything=True):
    """As level exam asks."""
    return impact.of_a_fix(catalogue, broken, before, after, everything=everything)


def changed(tree, path, find, put):
    """The tree with a text put before the first `find` of a file."""
    assert find in tree.files[path]
    return tree.replaced({path: tree.files[path].replace(find, put + find, 1)})


def test_the_same_code_is_looked_at_where_it_was_broken(catalogue, plain):
    """Comments and layout are nobody's business."""
    noted = plain.replaced({HEAD: b"# mended\n" + plain.files[HEAD]})
    extent = of_a_fix(catalogue, "lm_head", plain, noted)
    assert extent.measured == {"lm_head"}


def test_users_are_looked_at_and_what_runs_the_changed_code(catalogue, plain):
    """A line of one method: who uses the head runs it; what only imports the file does not."""
    mended = changed(plain, HEAD, b"        logits", b"        left = None\n")
    extent = of_a_fix(catalogue, "lm_head", plain, mended)
    assert extent.users == catalogue.users("lm_head")
    assert extent.touched == extent.users | {"lm_head"}
    assert "mini_gpt" in extent.users
    assert not extent.beside and "sgd" not in extent.imported
    first = "src/minimodel/__init__.py"
    gathered = plain.files[first] + b"\nfrom minimodel.nn import lm_head\n"
    before = plain.replaced({first: gathered})
    extent = of_a_fix(catalogue, "lm_head", before, mended.replaced({first: gathered}))
    assert not extent.beside
    assert {"tensor", "sgd"} <= extent.imported
    shared = changed(mended, TENSOR, b"    def exp(", b"    left = None\n\n")
    extent = of_a_fix(catalogue, "lm_head", plain, shared)
    assert {"tensor", "layernorm", "sgd"} <= extent.beside | extent.users
    assert not extent.beside & (extent.imported | extent.touched)


ATTENTION, GENERATE = "src/minimodel/nn/attention.py", "src/minimodel/generate.py"
BLOCK, MODEL = "src/minimodel/nn/block.py", "src/minimodel/mini_gpt.py"
OWN_CODE = {
    "generate": (GENERATE, b"    was_training"),
    "block": (BLOCK, b"        x = x + "),
    "mini_gpt": (MODEL, b"        for block in"),
}


def test_who_uses_it_through_others_is_remote(catalogue, plain):
    """Attention uses it itself, the rest through attention; the model is used in one of the probes of
    `generate`, the others draw from models of the pack's.
    """
    extent = of_a_fix(catalogue, "sdpa", plain, _mended(plain))
    assert extent.direct == {"attention"} and extent.close == {"attention"}
    assert extent.remote == {"block", "mini_gpt", "train", "generate"}
    assert extent.measured >= extent.touched == extent.users | {"sdpa"}
    seldom = of_a_fix(
        catalogue, "mini_gpt", plain, changed(plain, *OWN_CODE["mini_gpt"], b"        left = 1\n")
    )
    assert seldom.direct == {"train"} and seldom.remote == {"generate"}


@pytest.mark.parametrize("name", OWN_CODE)
def test_whose_own_code_changed_is_close(catalogue, plain, name):
    """However far it is from what was broken."""
    file, find = OWN_CODE[name]
    put = find[: len(find) - len(find.lstrip())] + b"left = None\n"
    both = changed(_mended(plain), file, find, put)
    extent = of_a_fix(catalogue, "sdpa", plain, both)
    assert name in extent.close and name not in extent.remote


def test_a_helper_of_its_own_that_changed_makes_it_close(catalogue, plain):
    """Its class reads the same; what it calls, and nothing that it stands on, does not."""
    helper = b"def _stacked(blocks, x):\n    for block in blocks:\n        x = block(x)\n    return x\n\n\n"
    text = plain.files[MODEL].replace(b"class MiniGPT(", helper + b"class MiniGPT(", 1)
    start = text.index(b"        for block in")
    end = text.index(b"\n", text.index(b"\n", start) + 1)
    assert text[start:end].count(b"block") > 1
    used = text[:start] + b"        x = _stacked(self.blocks, x)" + text[end:]
    before = plain.replaced({MODEL: used})
    after = _mended(before).replaced(
        {MODEL: used.replace(b"    return x\n", b"    return x * 1\n", 1)}
    )
    assert "mini_gpt" in of_a_fix(catalogue, "sdpa", before, after).close
    assert "mini_gpt" in of_a_fix(catalogue, "sdpa", before, _mended(before)).remote


def test_a_helper_that_others_share_makes_close_whoever_calls_it(catalogue, plain):
    """`generate` calls it beside the attention; the model runs it in the attention alone."""
    shared = "src/minimodel/shared.py"
    texts = {shared: b"def kept(x):\n    return x\n"}
    for path, (find, put) in {
        ATTENTION: (b"    probs = ", b"    kept(q)\n"),
        GENERATE: (b"    was_training", b"    kept(model)\n"),
    }.items():
        text = plain.files[path].replace(find, put + find, 1)
        assert text != plain.files[path]
        texts[path] = text.replace(
            b"import numpy as np\n", b"import numpy as np\n\nfrom minimodel.shared import kept\n"
        )
    before = plain.replaced(texts)
    extent = of_a_fix(
        catalogue, "sdpa", before, changed(before, shared, b"    return", b"    left = 1\n")
    )
    assert "generate" in extent.close
    assert {"block", "mini_gpt", "train"} <= extent.remote


def _mended(tree):
    return changed(tree, ATTENTION, b"    probs = ", b"    left = None\n")


def scope_of(catalogue, plain, extent, seed=3, level=EXAM, **parts):
    """The judgement of a fix of attention's scale that reaches so far. parts: of pack.yaml, otherwise."""
    id = "attention-no-scale"
    if parts:
        components = {
            name: replace(part, **{key: value.get(name, ()) for key, value in parts.items()})
            for name, part in catalogue.contract.components.items()
        }
        catalogue = Fixed(catalogue, replace(catalogue.contract, components=components))
    checks = tuple(checks_of_a_fix(catalogue, id))
    return Scope(
        catalogue, catalogue.break_(id), extent, checks, Baseline(plain), plain, "float64", seed, level
    )  # fmt: skip


class Fixed:
    """A catalogue with another contract."""

    def __init__(self, catalogue, contract):
        self._catalogue, self.contract = catalogue, contract

    def __getattr__(self, name):
        return getattr(self._catalogue, name)


def drawn(catalogue, plain, extent, component, **more):
    """The (probe, regime) of a component in which that fix is measured, when no probe takes long."""
    scope = scope_of(catalogue, plain, extent, **{"costly": {}, "seldom": {}, **more})
    return [(d.probe, d.regime) for d in sample(scope).draws if d.component == component]


def test_the_closer_the_more_draws(catalogue, plain):
    """Every regime of what uses it itself, once; a few probes of what is remote, in one regime each."""
    extent = of_a_fix(catalogue, "sdpa", plain, _mended(plain))
    direct, remote = (drawn(catalogue, plain, extent, name) for name in ("attention", "mini_gpt"))
    every = {
        (check.probe, regime)
        for check in catalogue.build("attention").checks
        for regime in check.regimes
    }
    assert len(direct) == len(every) and {*direct} == every
    assert len(remote) == len({probe for probe, _ in remote}) == FAR_PROBES
    assert ("forward", "normal") in remote
    assert {*remote} != {*drawn(catalogue, plain, extent, "mini_gpt", seed=4)}
    close = drawn(catalogue, plain, replace(extent, remote=frozenset()), "mini_gpt")
    assert len(close) > 3 * FAR_PROBES


def test_what_uses_it_in_few_probes_is_measured_in_those(catalogue, plain):
    """Code may be wrong inside `generate` alone, which mostly draws from models of the pack's."""
    extent = of_a_fix(catalogue, "sdpa", plain, _mended(plain))
    parts = catalogue.contract.components
    seldom, costly = (
        {name: getattr(part, key) for name, part in parts.items()} for key in ("seldom", "costly")
    )
    for seed in range(8):
        made = drawn(catalogue, plain, extent, "generate", seed=seed, costly=costly, seldom=seldom)
        assert ("whole", "normal") in made and len(made) == FAR_PROBES


@pytest.mark.parametrize("seed", range(4))
def test_pack_yaml_says_which_those_are(catalogue, plain, seed):
    """And which probes take long."""
    extent = of_a_fix(catalogue, "sdpa", plain, _mended(plain))
    made = sample(scope_of(catalogue, plain, extent, seed))
    assert "whole" in {draw.probe for draw in made.draws if draw.component == "generate"}


def test_practice_looks_at_what_uses_it_itself_alone(catalogue, plain):
    """Each quick probe there once; nothing that is remote, or only imports a file that changed."""
    extent = of_a_fix(catalogue, "sdpa", plain, _mended(plain), everything=False)
    assert extent.users == catalogue.users("sdpa") and extent.close == {"attention"}
    assert not extent.imported and not extent.beside
    made = sample(scope_of(catalogue, plain, extent, level=PRACTICE))
    assert {draw.component for draw in made.draws} == {"sdpa", "attention"}
    direct = [(d.probe, d.regime) for d in made.draws if d.component == "attention"]
    assert len(direct) == len({probe for probe, _ in direct}) and ("forward", "normal") in direct


def test_practice_looks_at_what_else_was_changed(catalogue, plain):
    """A component whose own file changed, when names lead to what is new; not all that import the file."""
    sgd, optim = "sgd", "src/minimodel/optim.py"
    both = changed(
        _mended(plain),
        optim,
        b"            p.data -= self.lr * velocity",
        b"            left = 1\n",
    )
    extent = of_a_fix(catalogue, "sdpa", plain, both, everything=False)
    assert sgd in extent.beside and sgd in extent.close
    assert not extent.beside & {"tensor", "layernorm", "cross_entropy"}
    made = sample(scope_of(catalogue, plain, extent, level=PRACTICE))
    assert {draw.component for draw in made.draws} == {"sdpa", "attention", *extent.beside}


SDPA = b"    scores = q @ "


def test_practice_looks_closely_at_what_reads_otherwise(catalogue, plain):
    """Each regime of its main probe, or one where that takes long, also where nothing that is broken is used,
    or it is far away.
    """
    wrong = changed(plain, ATTENTION, SDPA, b"    left = None\n")
    extent = of_a_fix(catalogue, "attention", plain, wrong, everything=False)
    assert extent.rewritten == {"sdpa"} and "sdpa" in extent.close
    made = sample(scope_of(catalogue, plain, extent, level=PRACTICE))
    of_sdpa = [d for d in made.draws if d.component == "sdpa" and not d.call_variant]
    every = {r for c in catalogue.build("sdpa").checks if c.probe == "forward" for r in c.regimes}
    assert {d.regime for d in of_sdpa if d.probe == "forward"} == every
    assert len(of_sdpa) == len({(d.probe, d.regime) for d in of_sdpa})
    both = changed(_mended(plain), *OWN_CODE["generate"], b"    left = None\n")
    extent = of_a_fix(catalogue, "sdpa", plain, both, everything=False)
    assert extent.rewritten == {"generate"} <= extent.close and "block" in extent.remote
    made = sample(scope_of(catalogue, plain, extent, level=PRACTICE))
    assert ("kept", "normal") in {
        (d.probe, d.regime) for d in made.draws if d.component == "generate"
    }
    alone = of_a_fix(catalogue, "sdpa", plain, _mended(plain), everything=False)
    assert not alone.rewritten


def test_costly_probes_of_others_are_drawn_in_few_regimes(catalogue, plain):
    """In the usual one, and some by lot; those of what uses the broken part itself in all of them."""
    extent = of_a_fix(catalogue, "sdpa", plain, _mended(plain))
    extent = replace(extent, remote=frozenset())
    costly = {name: part.costly for name, part in catalogue.contract.components.items()}
    all_, some = (drawn(catalogue, plain, extent, "mini_gpt", costly=c) for c in ({}, costly))
    slow = [pair for pair in some if pair[0] in costly["mini_gpt"]]
    assert {probe for probe, _ in some} == {probe for probe, _ in all_}
    assert len(slow) == len({probe for probe, _ in slow}) + FAR_COSTLY
    assert {*all_} - {*some} <= {pair for pair in all_ if pair[0] in costly["mini_gpt"]}
    extent = replace(extent, direct=extent.direct | {"mini_gpt"})
    assert drawn(catalogue, plain, extent, "mini_gpt", costly=costly) == all_


@pytest.mark.parametrize(("put", "closely"), [(b"left", False), (b"Tensor.left", True)])
def test_what_writes_elsewhere_is_followed_closely(catalogue, plain, put, closely):
    """No name leads from `tensor` to the head; a class that the head writes into is another matter."""
    mended = changed(plain, HEAD, b"        logits", b"        " + put + b" = 1\n")
    extent = of_a_fix(catalogue, "lm_head", plain, mended)
    assert ("tensor" in extent.beside) == closely
    assert "tensor" not in extent.imported
