"""What belongs to a learner's model: what the roles import, and what that imports from there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from workbench import HEAD, LOUD, MODELS, ROOT, answer, right_cause, session

from engine.code.modules import role_files
from engine.commands import break_, init, submit_fix
from engine.errors import LearnerCodeError
from engine.learner import model

ROOTS = ("src", "")


def lay(root: Path, *paths: str, **texts: str) -> Path:
    """Empty files, and files with a text ("__" in a name stands for a slash, none for no suffix)."""
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")
    for name, text in texts.items():
        file = root / (name.replace("__", "/") + ".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def found(root: Path, *modules: str) -> list[str]:
    """The paths that are read for these modules."""
    return list(model.read(root, ROOTS, modules or ("minimodel.nn.loss",)))


def test_a_package_below_src_is_taken_whole(tmp_path: Path) -> None:
    """Every module of the package, at any depth, in order."""
    lay(tmp_path, "src/minimodel/__init__.py", "src/minimodel/b/c/d.py", "src/minimodel/a.py")
    assert found(tmp_path) == [
        "src/minimodel/__init__.py", "src/minimodel/a.py", "src/minimodel/b/c/d.py",
    ]  # fmt: skip


def test_a_package_beside_everything_else_is_found(tmp_path: Path) -> None:
    """Without src/, and without an __init__.py."""
    lay(tmp_path, "minimodel/nn/loss.py", "setup.py", "tests/test_it.py")
    assert found(tmp_path) == ["minimodel/nn/loss.py"]


def test_src_comes_before_the_root(tmp_path: Path) -> None:
    """An old copy at the root is not the one that is imported."""
    lay(tmp_path, "minimodel/__init__.py", "src/minimodel/__init__.py")
    assert found(tmp_path) == ["src/minimodel/__init__.py"]


def test_a_single_file_is_a_model(tmp_path: Path) -> None:
    """A flat module, with nothing of the folder around it."""
    lay(tmp_path, "mymodel.py", "train.py", "data.csv")
    assert found(tmp_path, "mymodel") == ["mymodel.py"]


def test_siblings_that_are_imported_come_along(tmp_path: Path) -> None:
    """Also through each other, inside functions, in rings, and from the other root."""
    lay(
        tmp_path, "unused.py", "src/tools/deep.py",
        src__minimodel="import helpers\n",
        src__helpers="def f():\n    from tools.deep import g\n    import settings as s\n",
        settings="import os, numpy, helpers, minimodel\n",
    )  # fmt: skip
    assert found(tmp_path, "minimodel") == [
        "settings.py", "src/helpers.py", "src/minimodel.py", "src/tools/deep.py",
    ]  # fmt: skip


def test_a_name_in_a_text_is_no_import(tmp_path: Path) -> None:
    """Nor is a file whose name is no name of Python's, or is not even text."""
    lay(
        tmp_path, "minimodel/__init__.py", "tools.py", "not-a-name.py", minimodel__a="# see tools\n"
    )
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.py")).write_text("")
    assert found(tmp_path) == ["minimodel/__init__.py", "minimodel/a.py"]


def test_a_module_is_found_however_its_letters_are_written(tmp_path: Path) -> None:
    """Python takes "\N{LATIN SMALL LIGATURE FI}" for "fi", and an accent of its own for that letter."""
    text = "import an\N{COMBINING TILDE}o, \N{LATIN SMALL LIGATURE FI}les\n"
    name = "a\N{LATIN SMALL LETTER N WITH TILDE}o"
    lay(tmp_path, "minimodel/__init__.py", f"{name}.py", "files.py", minimodel__a=text)
    assert found(tmp_path) == sorted(
        [f"{name}.py", "files.py", "minimodel/__init__.py", "minimodel/a.py"]
    )


def test_a_module_beside_a_data_folder_of_its_name_comes_along(tmp_path: Path) -> None:
    """Python imports data.py although there is a folder data/ with text in it; so it is copied."""
    lay(
        tmp_path,
        "src/corpus/shakespeare.txt",
        src__minimodel="import corpus\n",
        src__corpus="x = 1\n",
    )
    assert found(tmp_path, "minimodel") == ["src/corpus.py", "src/minimodel.py"]


def test_a_module_below_src_wins_over_a_data_folder_at_the_root(tmp_path: Path) -> None:
    """A folder of data at the root does not hide, and is not hidden by, code of that name."""
    lay(tmp_path, "corpus/a.txt", src__minimodel="import corpus\n", src__corpus="")
    assert found(tmp_path, "minimodel") == ["src/corpus.py", "src/minimodel.py"]


def test_a_package_called_env_is_code_where_it_is_no_environment(tmp_path: Path) -> None:
    """A subpackage may be called env or practice; only a real environment is left behind."""
    lay(tmp_path, "minimodel/__init__.py", "minimodel/env/__init__.py", "minimodel/practice/a.py")
    lay(tmp_path, "minimodel/.venv/x.py", "minimodel/old/pyvenv.cfg", "minimodel/old/y.py")
    assert found(tmp_path) == [
        "minimodel/__init__.py", "minimodel/env/__init__.py", "minimodel/practice/a.py",
    ]  # fmt: skip


def test_a_syntax_error_elsewhere_is_no_hindrance_to_reading(tmp_path: Path) -> None:
    """A file that does not parse is read as it is; its imports are not followed."""
    lay(tmp_path, minimodel__a="def (:\n", minimodel__b="import other\n", other="")
    assert found(tmp_path) == ["minimodel/a.py", "minimodel/b.py", "other.py"]


@pytest.mark.parametrize("source", [b"x = 1\n", b"\xef\xbb\xbfx = 1\r\n", b"# coding: latin-1\nx = '\xf1'\n", b"", b"x = 1"])  # fmt: skip
def test_bytes_are_read_as_they_are(tmp_path: Path, source: bytes) -> None:
    """Encodings, byte order marks and line ends pass through, and are parsed without complaint."""
    (tmp_path / "minimodel.py").write_bytes(source)
    files = model.read(tmp_path, ROOTS, ["minimodel"])
    assert files == {"minimodel.py": source}
    model.check_syntax(files)


@pytest.mark.parametrize(
    "source",
    [b"x = (\n", b"\xff\xfe", b"x = '\xf1'\n", b"\0", b"f(" * 5000, b"def f():\n\tx\n        y\n"],
)
def test_what_cannot_be_parsed_is_named_with_its_place(source: bytes) -> None:
    """The file is named, and so is what to do; no warning and no crash of the parser comes through."""
    with pytest.raises(LearnerCodeError, match="parse") as caught:
        model.check_syntax({"a/fine.py": b"x = 1\n", "a/b.py": source})
    assert "a/b.py" in caught.value.where


def test_newer_syntax_is_refused_with_the_way_to_a_newer_python() -> None:
    """One sentence says how to install the engine on a newer Python."""
    with pytest.raises(LearnerCodeError) as caught:
        model.check_syntax({"a.py": b"type X[T: = int\n"})
    assert "pip install breakfix-engine" in caught.value.next


@pytest.mark.parametrize("inside", [True, False])
def test_links_are_followed_only_inside(tmp_path: Path, inside: bool) -> None:
    """A linked file counts where it leads to a place in the tree, and only there."""
    root = lay(tmp_path / "code", "minimodel/__init__.py", "lib/real.py")
    lay(tmp_path, "outside.py")
    target = root / "lib" / "real.py" if inside else tmp_path / "outside.py"
    (root / "minimodel" / "linked.py").symlink_to(target)
    assert ("minimodel/linked.py" in found(root)) is inside


def test_a_tree_whose_name_begins_like_the_model_is_outside(tmp_path: Path) -> None:
    """code-old is not inside code."""
    root = lay(tmp_path / "code", "minimodel/__init__.py")
    lay(tmp_path / "code-old", "secret.py")
    (root / "minimodel" / "linked.py").symlink_to(tmp_path / "code-old" / "secret.py")
    assert found(root) == ["minimodel/__init__.py"]


def test_a_folder_without_the_package_is_refused_with_a_way_on(tmp_path: Path) -> None:
    """What was looked for, where, and which setting to change."""
    lay(tmp_path, "other/__init__.py")
    with pytest.raises(LearnerCodeError, match="minimodel") as caught:
        found(tmp_path)
    assert str(tmp_path / "src") in caught.value.where and "learner.yaml" in caught.value.next


def test_roles_lead_to_their_files() -> None:
    """The first root that has the module counts; a package is its __init__."""
    files = ["src/minimodel/nn/loss.py", "minimodel/nn/loss.py", "minimodel/tensor/__init__.py"]
    roles = {"f": "minimodel.nn.loss:f", "T": "minimodel.tensor:T", "gone": "nowhere:x"}
    assert role_files(roles, ROOTS, files) == {
        "f": "src/minimodel/nn/loss.py", "T": "minimodel/tensor/__init__.py",
    }  # fmt: skip


def one_file(folder: Path) -> Path:
    """The plain model as a single flat module, with names of its own for two roles."""
    template = ROOT / "templates" / "minimodel" / "src" / "minimodel"
    plain = MODELS / "plain" / "src" / "minimodel" / "nn"
    parts = [template / "tensor.py", template / "module.py"]
    parts += [plain / name for name in ("embedding.py", "lm_head.py", "loss.py")]
    lines = [line for part in parts for line in part.read_text().splitlines()]
    kept = [line for line in lines if not line.startswith(("from minimodel", "from __future__"))]
    text = "from __future__ import annotations\n" + "\n".join(kept) + "\n"
    folder.mkdir()
    (folder / "mymodel.py").write_text(text.replace("LMHead", "Head"))
    return folder


def test_a_flat_model_with_names_of_its_own_goes_the_whole_way(tmp_path: Path) -> None:
    """One file, mapped by roles in learner.yaml: broken, mended, accepted, never written to."""
    code = one_file(tmp_path / "code")
    own = (code / "mymodel.py").read_bytes()
    report = init.run("ada", folder=tmp_path, model=code)
    assert "roles:" in report.warning
    home = Path(report.home)
    roles = ["Tensor", "Parameter", "Module", "Embedding", "cross_entropy"]
    lines = [f"  {role}: mymodel:{role}" for role in roles] + ["  LMHead: mymodel:Head"]
    with (home / "learner.yaml").open("a") as file:
        file.write("roles:\n" + "\n".join(lines) + "\n")
    break_.run(session(home), LOUD, answer)
    practice = home / "practice" / LOUD
    assert sorted(p.name for p in practice.iterdir()) == [".git", "mymodel.py"]
    assert (practice / "mymodel.py").read_bytes() != own
    shutil.copy(code / "mymodel.py", practice)
    fixed = submit_fix.run(session(home), right_cause)
    assert fixed.passed and fixed.restored
    assert (code / "mymodel.py").read_bytes() == own


def test_a_model_that_uses_its_siblings_goes_the_whole_way(home: Path) -> None:
    """A helper module and a data.py beside the package come along into practice and judgement."""
    lay(home, "src/data/text.txt", src__sizes="def width(e):\n    return e.vocab_size\n",
        src__data="from sizes import width\n")  # fmt: skip
    head = home / HEAD
    text = head.read_text().replace("import numpy as np", "import numpy as np\n\nimport data\n", 1)
    head.write_text(text.replace("embedding.vocab_size", "data.width(embedding)"))
    break_.run(session(home), LOUD, answer)
    practice = home / "practice" / LOUD
    assert (practice / "src/sizes.py").is_file() and (practice / "src/data.py").is_file()
    shutil.copy(head, practice / HEAD)
    assert submit_fix.run(session(home), right_cause).passed
