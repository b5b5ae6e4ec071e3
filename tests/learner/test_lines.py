"""What `learner.yaml` says of a tree that is checked."""

from __future__ import annotations

import sys

import pytest

from engine.commands.check import Asked, with_lines
from engine.errors import SpecError, UsageError
from engine.learner.learner import load
from engine.learner.lines import Lines, lines

NET = 'model: "net.py:make(53, 2)"\ncall: "forward(model, tokens)"\n'


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "gpt"
    (folder / "src").mkdir(parents=True)
    for name in ("net.py", "train.py", "src/inner.py"):
        (folder / name).write_text("x = 1\n")

    def write(text, at=""):
        (folder / at / "learner.yaml").write_text(text)
        return folder

    return write


def test_without_the_file_nothing_is_said(tmp_path):
    assert lines(tmp_path) == Lines(tmp_path)


def test_all_four_keys_are_read(tree):
    folder = tree(NET + f'train: "train.py --data x"\npython: {sys.executable}\n')
    found = lines(folder)
    assert found.model == "net.py:make(53, 2)"
    assert found.call == "forward(model, tokens)"
    assert found.train == "train.py --data x"
    assert found.python == sys.executable


def test_a_parents_file_names_places_from_where_it_lies(tree):
    folder = tree('name: ada\nlang: es\nmodel: "src/inner.py:GPT"\n')
    found = lines(folder / "src")
    assert (found.root, found.model, found.lang) == (folder / "src", "inner.py:GPT", "es")


def test_a_module_may_be_named_in_place_of_a_file(tree):
    assert lines(tree('model: "src.inner:GPT()"\n')).model == "src/inner.py:GPT()"


def test_the_folder_of_a_learners_model_is_what_is_checked(tree):
    folder = tree("name: ada\nmodel: src\n")
    assert lines(folder).root == folder / "src"


def test_a_learners_folder_may_hold_the_keys(tree):
    assert load(tree("name: ada\n" + NET)).settings.call == "forward(model, tokens)"


def test_options_win_and_a_call_belongs_to_its_model(tree):
    told = lines(tree(NET + "train: train.py\n"))
    assert with_lines(Asked(), told) == Asked(told.model, told.call, "train.py")
    assert with_lines(Asked(model="a.py:B", train="b.py"), told) == Asked("a.py:B", "", "b.py")
    assert with_lines(Asked(call="model(tokens)"), told).call == "model(tokens)"


def test_a_call_without_a_model_is_refused(tmp_path):
    with pytest.raises(UsageError, match="--call"):
        with_lines(Asked(call="model(tokens)"), Lines(tmp_path))


@pytest.mark.parametrize(
    ("line", "key", "said", "write"),
    [
        ('model: "gone.py:GPT"', "model", "gone.py, which is no file", "file.py:Class"),
        ('model: "net.py:GPT(("', "model", "no Python expression", "file.py:Class"),
        ('model: "net.py:"', "model", "no Python expression", "file.py:Class"),
        ("model: nowhere", "model", "nowhere, which is not there", "file.py:Class"),
        ('call: "model tokens"', "call", "no Python expression", "model(tokens, 0)"),
        ("train: other.py", "train", "other.py, which is no file", "train.py --data"),
        ("train: ../outside.py", "train", "lies outside", "train.py --data"),
        ('train: "train.py \'"', "train", "a quote", "train.py --data"),
        ("python: nowhere", "python", "cannot be run", ".venv/bin/python"),
    ],
)
def test_a_wrong_value_names_the_file_the_key_and_what_to_write(line, key, said, write, tree):
    folder = tree("name: ada\n" + line + "\n")
    (folder.parent / "outside.py").write_text("x = 1\n")
    with pytest.raises(UsageError) as caught:
        lines(folder)
    error = caught.value
    assert said in error.what
    assert f"`{key}:`" in error.what
    assert error.where == f"{folder}/learner.yaml:2:1"
    assert write in error.next


@pytest.mark.parametrize(
    ("text", "said"), [("modl: x\n", "Did you mean model"), ("train: 5\n", "got `int`")]
)
def test_a_key_or_a_kind_that_is_unknown_is_told_with_its_place(text, said, tree):
    folder = tree(text)
    with pytest.raises(SpecError) as caught:
        lines(folder)
    assert said in caught.value.what
    assert caught.value.where.startswith(f"{folder}/learner.yaml:1:")
