"""A pass holds for the code that passed: what counts as another code, and what status makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.commands import init, list_, next_, status
from engine.commands.session import Session
from engine.flows.fingerprint import fingerprint
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue

EMBEDDING = "src/minimodel/nn/embedding.py"
EDITS = {
    "a comment": (EMBEDDING, b"# mine\n", False),
    "a docstring": (EMBEDDING, None, False),
    "blank lines": (EMBEDDING, b"\n\n\n", False),
    "another part of the model": ("src/minimodel/nn/attention.py", b"\n\nspare = 1\n", False),
    "what it stands on": ("src/minimodel/tensor.py", b"\n\nTensor.spare = 1\n", True),
    "a line that cannot be parsed": (EMBEDDING, b"\n(\n", True),
}


def edited(tree: Tree, path: str, more: bytes | None) -> Tree:
    data = tree.files[path]
    if more is None:
        assert b'"""' in data
        return tree.replaced({path: data.replace(b'"""', b'"""Another text. ', 1)})
    return tree.replaced({path: data + more})


@pytest.mark.parametrize(("path", "more", "counts"), EDITS.values(), ids=EDITS.keys())
def test_only_what_a_component_computes_counts(
    catalogue: Catalogue, plain: Tree, path: str, more: bytes | None, counts: bool
) -> None:
    before = fingerprint(catalogue, "embedding", plain)
    after = fingerprint(catalogue, "embedding", edited(plain, path, more))
    assert (before["computes"] != after["computes"]) is counts


def test_a_changed_number_counts(catalogue: Catalogue, plain: Tree) -> None:
    data = plain.files[EMBEDDING]
    assert b"0.02" in data
    after = plain.replaced({EMBEDDING: data.replace(b"0.02", b"0.03")})
    found = [fingerprint(catalogue, "embedding", tree)["computes"] for tree in (plain, after)]
    assert found[0] != found[1]
    assert (
        len({fingerprint(catalogue, "rmsnorm", tree)["computes"] for tree in (plain, after)}) == 1
    )


@pytest.fixture
def passed(tmp_path: Path, catalogue: Catalogue, plain: Tree) -> Path:
    """A learner whose tensor, module and embedding have passed as they are."""
    init.run("ada", folder=tmp_path)
    home = tmp_path / "learners" / "ada"
    for path, data in plain.files.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(data)
    session = Session.here(start=home)
    for id in ("tensor", "module", "embedding"):
        code = fingerprint(catalogue, id, session.code[1])
        session.store.append(id, 1, "built", {"passed": True, "code": code})
    return home


def states(home: Path) -> dict[str, str]:
    return {one.id: one.state for one in status.run(Session.here(start=home)).exercises}


def test_a_pass_is_withdrawn_while_the_code_is_another(passed: Path) -> None:
    """status says so, list says so, next offers it again; back as it was, it has passed."""
    file = passed / EMBEDDING
    own = file.read_bytes()
    assert states(passed)["embedding"] == "passed"
    assert next_.run(Session.here(start=passed)).exercise == "lm_head"
    file.write_bytes(own.replace(b"0.02", b"0.03"))
    assert (states(passed)["embedding"], states(passed)["tensor"]) == ("changed", "passed")
    listed = {one.id: one.state for one in list_.run(Session.here(start=passed)).exercises}
    assert listed["embedding"] == "changed"
    offered = next_.run(Session.here(start=passed))
    assert (offered.exercise, offered.why) == ("embedding", "changed")
    file.write_bytes(own + b"\n# only a remark\n")
    assert states(passed)["embedding"] == "passed"


def test_code_that_is_gone_or_broken_has_not_passed(passed: Path) -> None:
    (passed / EMBEDDING).write_text("def half(:\n")
    assert states(passed)["embedding"] == "changed"
    (passed / EMBEDDING).unlink()
    assert states(passed)["embedding"] == "changed"


def test_a_failed_submission_withdraws_a_pass(passed: Path) -> None:
    session = Session.here(start=passed)
    session.store.append("embedding", 1, "built", {"passed": False})
    assert states(passed)["embedding"] == "failed"
    session.store.append("embedding", 1, "built", {"passed": True})
    assert states(passed)["embedding"] == "passed"


def test_a_pass_of_an_older_engine_stays(passed: Path) -> None:
    """It kept no fingerprint."""
    Session.here(start=passed).store.append("embedding", 1, "built", {"passed": True})
    (passed / EMBEDDING).write_text("x = 1\n")
    assert states(passed)["embedding"] == "passed"


def test_nothing_is_parsed_where_no_byte_has_changed(passed: Path) -> None:
    """`list` is typed all the time."""
    session = Session.here(start=passed)
    session.read_model = lambda: pytest.fail("the tree was read")  # type: ignore[method-assign]
    assert session.states()["embedding"] == "passed"
