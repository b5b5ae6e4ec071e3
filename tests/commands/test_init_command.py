"""engine init: a learner from the template, or around code that is never written to."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from workbench import LOUD, ROOT, contents, engine, engine_json, lay_model, listing, session

from engine.commands import init
from engine.errors import UsageError

TEMPLATE = ROOT / "templates" / "minimodel" / "src"
FINISHED = ROOT / "exercises" / "minimodel" / "models" / "plain" / "src"


def own_code(folder: Path) -> Path:
    """A healthy model somewhere on the disk."""
    shutil.copytree(TEMPLATE, folder / "src")
    lay_model(folder)
    return folder


def test_init_from_the_template_gives_code_notes_and_settings(tmp_path: Path) -> None:
    """src/ is the template's, the notes have their headings, the private folder hides itself."""
    report = engine_json("init", "ada", cwd=tmp_path)
    home = tmp_path / "learners" / "ada"
    assert report["from_template"] and report["home"] == report["model"] == str(home)
    assert contents(home / "src") == {
        k: v for k, v in contents(TEMPLATE).items() if "__pycache__" not in k
    }
    settings = yaml.safe_load((home / "learner.yaml").read_text())
    assert settings == {"name": "ada", "pack": "minimodel", "model": ".", "lang": "en"}
    assert (home / "phase-13/notes/breaks.md").read_text().startswith("# ")
    assert (home / ".engine/.gitignore").read_text() == "*\n"
    assert [p.name for p in (tmp_path / "learners").iterdir()] == ["ada"]


def test_a_fresh_learner_is_told_what_to_build(tmp_path: Path) -> None:
    """What the template gives passes; the first stub fails with words, and the next command is named."""
    engine("init", "ada", cwd=tmp_path, code=0)
    home = tmp_path / "learners" / "ada"
    for given in ("tensor", "module"):
        assert engine_json("next", cwd=home)["command"] == f"engine submit-build {given}"
        engine("submit-build", given, cwd=home, code=0)
    assert engine_json("next", cwd=home)["command"] == "engine submit-build embedding"
    done = engine("submit-build", cwd=home)
    assert done.returncode in (1, 5)
    assert "NotImplementedError" in done.stdout + done.stderr
    assert "engine hint embedding" in done.stdout + done.stderr


def test_a_complete_learner_has_a_finished_model(tmp_path: Path) -> None:
    """The pack's healthy model is in place of every stub, and the report says so in both languages."""
    done = engine("init", "ada", "--complete", cwd=tmp_path, code=0)
    assert "finished model" in done.stdout and "stubs" not in done.stdout
    assert "type engine break --blind" in done.stdout
    home = tmp_path / "learners" / "ada"
    assert engine_json("next", cwd=home)["command"] == f"engine break {LOUD}"  # nothing to build
    expected = {k: v for k, v in contents(TEMPLATE).items() if "__pycache__" not in k}
    expected |= {k: v for k, v in contents(FINISHED).items() if "__pycache__" not in k}
    assert contents(home / "src") == expected
    engine("submit-build", "attention", cwd=home, code=0)
    told = engine("init", "eva", "--complete", "--lang", "es", cwd=tmp_path, code=0)
    assert "modelo terminado" in told.stdout
    assert engine_json("init", "bob", "--complete", cwd=tmp_path)["complete"]


def test_complete_is_refused_around_own_code(tmp_path: Path) -> None:
    """It would have to write into it; no learner is made."""
    code = own_code(tmp_path / "code")
    before = listing(code)
    done = engine("init", "ada", "--complete", "--model", code, cwd=tmp_path, code=2)
    assert "--complete" in done.stderr and "--model" in done.stderr
    assert listing(code) == before and not (tmp_path / "learners").exists()


def test_a_pack_without_a_finished_model_says_so(tmp_path: Path, monkeypatch) -> None:
    """`complete` of pack.yaml names the model; nothing is made without it."""
    pack = tmp_path / "packs" / "bare" / "pack.yaml"
    pack.parent.mkdir(parents=True)
    text = (ROOT / "exercises" / "minimodel" / "pack.yaml").read_text("utf-8")
    pack.write_text(text.replace("complete: models/plain\n", ""), "utf-8")
    monkeypatch.setenv("ENGINE_EXERCISES", str(pack.parent.parent))
    with pytest.raises(UsageError, match="no finished model"):
        init.run("ada", pack="bare", complete=True, folder=tmp_path)
    assert not (tmp_path / "learners").exists()


def test_the_template_of_the_gpt_pack_is_a_finished_model(tmp_path: Path) -> None:
    """Code, text and what it says of itself, with --complete or without."""
    for name, complete in (("ada", False), ("eva", True)):
        report = init.run(name, pack="gpt", complete=complete, folder=tmp_path)
        assert report.complete and report.from_template
        home = tmp_path / "learners" / name
        for file in ("model.py", "data.py", "tokenizer.py", "train.py", "generate.py", "text.txt"):
            assert (home / file).read_bytes() == (ROOT / "templates/gpt" / file).read_bytes()


def test_init_around_own_code_never_writes_to_it(tmp_path: Path) -> None:
    """The folder keeps its bytes, modes and times; the learner holds none of it."""
    code = own_code(tmp_path / "code")
    before = listing(code)
    report = engine_json("init", "ada", "--model", code, cwd=tmp_path)
    assert report["model"] == str(code) and not report["from_template"] and not report["warning"]
    assert report["next"] == "engine submit-build --all"
    assert listing(code) == before
    assert not (tmp_path / "learners" / "ada" / "src").exists()
    engine("submit-build", "embedding", cwd=tmp_path / "learners" / "ada", code=0)
    assert listing(code) == before


@pytest.mark.parametrize("typed", ["../here/code", "link", "~/code"])
def test_a_model_is_found_as_it_was_typed(tmp_path: Path, typed: str) -> None:
    """Relative, with dots, through a link or from the home folder: an absolute path is kept."""
    here = tmp_path / "here"
    code = own_code(here / "code")
    (here / "link").symlink_to(code)
    report = engine_json("init", "ada", "--model", typed, cwd=here, env={"HOME": str(here)})
    assert report["model"] == str(code)
    settings = yaml.safe_load((here / "learners/ada/learner.yaml").read_text())
    assert settings["model"] == str(code)


def test_a_folder_that_looks_odd_is_taken_with_a_warning(tmp_path: Path) -> None:
    """Code with other names is welcome; the warning says how to map them."""
    (tmp_path / "code").mkdir()
    done = engine("init", "ada", "--model", "code", cwd=tmp_path, code=0)
    assert "minimodel" in done.stdout and "roles:" in done.stdout
    assert "--pack gpt" in done.stdout  # for who has a model that imports torch nowhere


def test_where_no_model_is_found_the_next_command_is_the_one_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("import torch\n")
    report = init.run("ada", model=tmp_path / "code", folder=tmp_path)
    assert report.pack == "gpt" and report.warning
    assert report.next == "engine check"


@pytest.mark.parametrize("model", ["nowhere", "file.py"])
def test_a_model_that_is_no_folder_is_refused(tmp_path: Path, model: str) -> None:
    """A path that is wrong is named, and no learner is made."""
    (tmp_path / "file.py").touch()
    done = engine("init", "ada", "--model", model, cwd=tmp_path, code=2)
    assert str(tmp_path / model) in done.stderr
    assert not (tmp_path / "learners").exists()


def test_an_existing_learner_is_left_alone(home: Path) -> None:
    """A second init of the same name changes nothing and says how to go on."""
    before = listing(home.parents[1])
    done = engine("init", "ada", cwd=home.parents[1], code=2)
    assert str(home) in done.stderr and "nothing was changed" in done.stderr
    assert listing(home.parents[1]) == before


def test_a_folder_without_a_learner_is_not_called_one(home: Path) -> None:
    """Advice that names a learner whom no command finds leads nowhere."""
    (home / "learner.yaml").unlink()
    done = engine("init", "ada", cwd=home.parents[1], code=2)
    assert "without a learner.yaml" in done.stderr and "engine status" not in done.stderr


NAMES = ["", ".", "..", "../ada", "a/b", "/tmp/x", ".hidden", "-x", "a b", "ada\n", "a" * 65,
         "~", "a\x1b[31m", "a:b", "a*"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_bad_name_is_refused(tmp_path: Path, name: str) -> None:
    """What cannot be a folder's name everywhere is refused, and shown without its control codes."""
    with pytest.raises(UsageError, match="name"):
        init.run(name, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []
    if name == "a\x1b[31m":
        done = engine("init", "--", name, cwd=tmp_path, code=2)
        assert "name" in done.stderr and "\x1b" not in done.stderr


@pytest.mark.parametrize("name", ["0", "Ada.Lovelace-1815_x", "a" * 64])
def test_a_good_name_is_taken(tmp_path: Path, name: str) -> None:
    """Letters, digits, dots, dashes and underscores."""
    init.run(name, folder=tmp_path)
    assert (tmp_path / "learners" / name / "learner.yaml").is_file()


@pytest.mark.parametrize(("words", "named"), [
    (["--lang", "fr"], "en, es"), (["--pack", "minimodle"], "minimodel"),
])  # fmt: skip
def test_a_language_or_pack_that_does_not_exist_is_named(
    tmp_path: Path, words: list[str], named: str
) -> None:
    """What there is instead is part of the message."""
    done = engine("init", "ada", *words, cwd=tmp_path, code=2)
    assert named in done.stderr and not (tmp_path / "learners").exists()


def test_a_learner_called_yes_is_called_yes(tmp_path: Path) -> None:
    """A name that YAML would take for something else is written so that it is read back."""
    for name in ("yes", "null", "0x1F", "2026-11-21", "1.5", "1e3"):
        init.run(name, folder=tmp_path)
        assert session(tmp_path / "learners" / name).learner.settings.name == name
