"""How far the judgement of a fix looks: what uses the broken part, what names lead to, what only imports."""

from __future__ import annotations

import pytest

from engine.commands.extent import of_a_fix

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


@pytest.mark.parametrize(("put", "closely"), [(b"left", False), (b"Tensor.left", True)])
def test_what_writes_elsewhere_is_followed_closely(catalogue, plain, put, closely):
    """No name leads from `tensor` to the head; a class that the head writes into is another matter."""
    mended = changed(plain, HEAD, b"        logits", b"        " + put + b" = 1\n")
    extent = of_a_fix(catalogue, "lm_head", plain, mended)
    assert ("tensor" in extent.beside) == closely
    assert "tensor" not in extent.imported
