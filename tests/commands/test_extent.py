"""How far the judgement of a fix looks: what uses the broken part, what names lead to, what only imports."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.commands.extent import of_a_fix
from engine.commands.fixes import checks_of_a_fix, plan_of_a_fix

HEAD, TENSOR = "src/minimodel/nn/lm_head.py", "src/minimodel/tensor.py"


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


def test_who_seldom_uses_it_is_measured_less_unless_its_own_code_changed(catalogue, plain):
    """`generate` meets the model in one of its probes; the others draw from models of the pack's."""
    file, own = "src/minimodel/nn/attention.py", "src/minimodel/generate.py"
    mended = changed(plain, file, b"    probs = ", b"    left = None\n")
    extent = of_a_fix(catalogue, "sdpa", plain, mended)
    assert "generate" in extent.users and extent.seldom == {"generate"}
    both = changed(mended, own, b"    was_training", b"    left = None\n")
    assert not of_a_fix(catalogue, "sdpa", plain, both).seldom
    id = "attention-no-scale"
    checks, spec = checks_of_a_fix(catalogue, id), catalogue.break_(id)
    rest = {"seed": 3, "dtype": "float64", "manners": ("",), "sample": False}

    def drawn(extent):
        made = plan_of_a_fix(spec, checks, extent, **rest)
        return [(d.probe, d.regime) for d in made.draws if d.component == "generate"]

    few, all_ = drawn(extent), drawn(replace(extent, seldom=frozenset()))
    assert {probe for probe, _ in few} == {probe for probe, _ in all_}
    assert len(few) == len({probe for probe, _ in few}) < len(all_)


@pytest.mark.parametrize(("put", "closely"), [(b"left", False), (b"Tensor.left", True)])
def test_what_writes_elsewhere_is_followed_closely(catalogue, plain, put, closely):
    """No name leads from `tensor` to the head; a class that the head writes into is another matter."""
    mended = changed(plain, HEAD, b"        logits", b"        " + put + b" = 1\n")
    extent = of_a_fix(catalogue, "lm_head", plain, mended)
    assert ("tensor" in extent.beside) == closely
    assert "tensor" not in extent.imported
