"""The module that has a contract's functions is known by what it defines, wherever it lies."""

from __future__ import annotations

import pytest

from engine.code.signatures import defined, module_of, roots_of

WANTED = {
    "run_linear": ("d_in", "weights"),
    "run_silu": ("x",),
    "get_cls": (),
    "run_lm": ("weights", "ids"),
}
ADAPTERS = b"""
def run_linear(d_in, d_out, weights, in_features): ...
def run_silu(x): ...
def get_cls(): ...
"""
OTHER_COURSE = b"""
def run_linear(layer, values): ...
def run_silu(values): ...
def get_cls(): ...
def run_lm(model): ...
"""


@pytest.mark.parametrize(
    "path", ["tests/adapters.py", "a/b/src/tests/adapters.py", "adapters.py", "x/y.py"]
)
def test_it_is_found_wherever_it_lies(path):
    assert module_of({"z.py": b"def run_silu(x): ...", path: ADAPTERS}, WANTED) == path


def test_the_path_alone_says_nothing():
    """Other courses have other functions of the same names there."""
    assert module_of({"tests/adapters.py": OTHER_COURSE}, WANTED) is None


def test_the_one_with_most_of_them_is_taken():
    whole = ADAPTERS + b"def run_lm(weights, ids): ...\n"
    assert module_of({"a.py": ADAPTERS, "deep/er/b.py": whole}, WANTED) == "deep/er/b.py"
    assert (
        module_of({"old/tests/adapters.py": ADAPTERS, "tests/a.py": ADAPTERS}, WANTED)
        == "tests/a.py"
    )


def test_what_cannot_be_parsed_defines_nothing():
    assert defined(b"def run_silu(x:", WANTED) == set()
    assert defined(ADAPTERS, WANTED) == {"run_linear", "run_silu", "get_cls"}


@pytest.mark.parametrize(
    ("path", "module", "roots"),
    [
        ("tests/adapters.py", "tests.adapters", ("", "src", "tests")),
        ("one/tests/adapters.py", "tests.adapters", ("one", "one/src", "one/tests")),
        ("adapters.py", "adapters", ("", "src")),
    ],
)
def test_where_such_a_tree_is_imported_from(path, module, roots):
    assert roots_of(path, ("", "src")) == (module, roots)
