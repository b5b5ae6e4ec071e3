"""Getting in without a word: names, definition mode, candidates, files. Needs no torch."""

from __future__ import annotations

import ast
import json
import re

import pytest

from engine.commands.interpreters import pack_folder
from engine.facts import candidates, experiments, files, pack
from engine.run.child.torch_definitions import definitions
from engine.run.child.torch_names import MISSING, Names
from engine.run.child.torch_shrink import Small, shrunk

PACK = pack.load(pack_folder())
NAMES = Names(experiments.rules(PACK))


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("n_embd", 32),
        ("d_model", 32),
        ("hidden_size", 32),
        ("emb_dim", 32),
        ("num_heads", 4),
        ("n_kv_heads", 2),
        ("num_kv_groups", 2),
        ("n_layer", 2),
        ("num_hidden_layers", 2),
        ("vocab_size", 53),
        ("block_size", 11),
        ("max_seq_len", 11),
        ("context_length", 11),
        ("d_ff", 40),
        ("intermediate_size", 40),
        ("head_dim", 8),
    ],
)
def test_a_size_is_known_by_any_of_its_names(name, size):
    assert NAMES.guess(name, 1024) == NAMES.guess(name) == size


@pytest.mark.parametrize("name", ["learning_rate", "seed", "weight_decay", "text", "optimizer"])
def test_a_name_that_is_no_size_keeps_its_value(name):
    assert NAMES.guess(name, 7) == 7
    assert NAMES.guess(name) is MISSING


def test_a_default_in_the_code_comes_before_what_a_name_suggests():
    pytest.importorskip("torch", reason="torch is not installed")
    from engine.run.child.torch_config import Loose

    config = Loose(NAMES)
    assert config.get("weight_tying", False) is False
    assert config.get("n_layer", 12) == config["n_layer"] == 2
    assert config.get("rope_theta") == 10000.0


def test_definition_mode_starts_nothing():
    source = "import os\nn_layer = 12\nx = open('a').read()\nfor i in range(3): print(i)\ndef f(): pass\n"
    names = {}
    exec(compile(definitions(source, NAMES), "a.py", "exec"), names)
    assert names["n_layer"] == 2
    assert "x" not in names
    assert "i" not in names
    assert callable(names["f"])


def test_a_small_script_keeps_its_lines():
    job = {"small": PACK.scripts["small"]}
    source = "max_iters = 5000\nbatch_size = 64  # rows\nfor i in range(max_iters):\n    pass\n"
    tree = shrunk(source, Small(job, NAMES))
    names = {}
    exec(compile(tree, "a.py", "exec"), names)
    assert (names["max_iters"], names["batch_size"]) == (8, 6)
    assert [node.lineno for node in tree.body] == [node.lineno for node in ast.parse(source).body]


def test_the_whole_model_comes_before_its_parts():
    text = """
class Block(Module):
    def __init__(self, config): self.a = Linear(1, 1)
    def forward(self, x): return x
class Tower(Module):
    def __init__(self, config):
        self.embedding = Embedding(config.vocab_size, 1)
        self.blocks = ModuleList([Block(config)])
        self.head = Linear(1, 1)
    def forward(self, idx, targets=None): return idx
"""
    found = candidates.classes({"net.py": text.encode()}, PACK.find)
    assert [one.cls for one in found] == ["Tower"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from transformers import AutoModelForCausalLM as A\n", "AutoModelForCausalLM"),
        ("import torch\nimport tensorflow as tf\n", "tensorflow"),
        ("import torch\n", None),
        ("# as in jax\n", None),
    ],
)
def test_a_library_that_makes_the_model_is_named(text, name):
    found = candidates.library({"go.py": text.encode(), "go.md": b"import jax"}, PACK.find)
    assert found == (None if name is None else (name, "go.py"))


def test_a_notebook_is_read_cell_by_cell():
    cells = [
        {"cell_type": "code", "source": ["%pip install x\n", "a = 1\n"]},
        {"cell_type": "markdown", "source": ["text"]},
        {"cell_type": "code", "source": ["this is not, python ("]},
        {"cell_type": "code", "source": ["%%bash\nls"]},
        {"cell_type": "code", "source": ["b = a + 1"]},
    ]
    names = {}
    exec(files.notebook(json.dumps({"cells": cells})), names)
    assert names["b"] == 2
    lines = files.notebook(json.dumps({"cells": cells})).splitlines()
    assert files.cell(lines, lines.index("b = a + 1") + 1) == ("4", 1)
    assert files.cell(lines, lines.index("a = 1") + 1) == ("1", 2)


def test_magics_that_run_python_hide_no_cell():
    """A line that goes on with the operator % is no magic, either."""
    cells = [
        {"cell_type": "code", "source": ["%%time\n", "a = 7\n"]},
        {"cell_type": "code", "source": ["%%writefile x.py\n", "a = 8\n"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "b = (a\n", "     % 4)\n"]},
    ]
    names = {}
    exec(files.notebook(json.dumps({"cells": cells})), names)
    assert (names["a"], names["b"]) == (7, 3)


def test_a_text_that_is_named_as_settings_is_read_and_no_other(tmp_path):
    for name in ("config.txt", "my_hparams.txt", "input.txt", "train.txt"):
        (tmp_path / name).write_text("[train]\nlayers = 2\n")
    assert set(files.read(tmp_path)) == {"config.txt", "my_hparams.txt"}


def test_environments_and_hidden_folders_are_not_read(tmp_path):
    for name in ("model.py", ".git/x.py", "env/pyvenv.cfg", "env/lib/y.py", "data/big.bin"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a = 1\n")
    assert list(files.read(tmp_path)) == ["model.py"]


def test_every_declared_fact_is_measured_by_the_pack_and_no_other():
    text = "".join(file.decode() for file in pack.code(pack_folder()).values())
    for fact in PACK.facts:
        assert f'"{fact.id}":' in text
        assert fact.right
        assert fact.means.endswith(".")


def test_every_fact_has_its_spanish_texts():
    spanish = pack.texts(pack_folder(), "es")
    assert spanish.keys() == {fact.id for fact in PACK.facts}
    for fact in PACK.facts:
        assert spanish[fact.id].wrong.keys() == set(fact.wrong.values())


def test_what_is_measured_is_put_into_spanish_words():
    spanish = pack.texts(pack_folder(), "es")
    for fact in PACK.facts:
        for pattern, said in spanish[fact.id].values.items():
            assert re.compile(pattern).groups == len(set(re.findall(r"\\(\d)", said))), pattern
    assert spanish["mask"].value("2 ahead") == "2 más adelante"
    assert spanish["residual_ffn"].value("missing in 1 of 2") == "falta en 1 de 2"
    assert spanish["activation"].value("gelu (tanh)") == "gelu (tanh)"


def test_what_is_right_has_spanish_words_where_it_is_in_english_words():
    """Names that people write in code stay."""
    spanish = pack.texts(pack_folder(), "es")
    kept = r"[\d/]+|1/sqrt\(d_head\)|train|eval|logits|zero_grad, backward.*"
    for fact in PACK.facts:
        for right in fact.right:
            if re.fullmatch(r"[\w', -]+", right) and not re.fullmatch(kept, right):
                assert spanish[fact.id].value(right) != right, right


def test_a_language_that_the_pack_does_not_speak_has_no_texts():
    assert pack.texts(pack_folder(), "de") == {}
