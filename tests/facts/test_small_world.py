"""Scripts find text wherever they look for it: tables, records, another tokenizer."""

from __future__ import annotations

import json

import pytest

from tests.facts.conftest import tree_of

torch = pytest.importorskip("torch", reason="torch is not installed")
torch_tables = pytest.importorskip("engine.run.child.torch_tables", reason="torch is not installed")
torch_world = pytest.importorskip("engine.run.child.torch_world", reason="torch is not installed")

OPENED = 'texto = open("quijote.txt", encoding="utf-8").read()'
TABLE = """
import pandas as pd
texto = pd.read_parquet("train.parquet")["relato"][0]
"""
RECORDS = """
import json
import sentencepiece as spm
sp = spm.SentencePieceProcessor()
sp.load("mi.model")
texto = ""
for linea in open("train.jsonl"):
    relato = json.loads(linea)
    texto += sp.decode_ids(sp.encode_as_ids(relato["instruction"] + relato["output"]))
"""


class Letters:
    n_vocab = 26

    def encode(self, text):
        return [ord(letter) - ord("a") for letter in text]

    def decode(self, ids):
        return "".join(chr(ord("a") + i) for i in ids)


@pytest.mark.parametrize("source", [TABLE, RECORDS], ids=["table", "records"])
def test_a_script_that_reads_no_plain_file_makes_its_steps(source, measure):
    tree = tree_of("espanol")
    text = tree["entrenar.py"].decode()
    assert OPENED in text, "the corpus has changed"
    tree["entrenar.py"] = text.replace(OPENED, source).encode()
    report = measure(tree, training=True)
    assert {f.id: f.verdict for f in report.facts}["shift"] == "PASS"


SYNCED = (
    """
import os
with open("start.txt", "w") as log:
    log.write("start")
    log.flush()
    os.fsync(log.fileno())
"""
    + OPENED
)
AT_HAND = """
with open("quijote.txt", "r+", encoding="utf-8") as libro:
    texto = libro.read()
"""
ELSEWHERE = (
    """
import os
os.chdir("the-repository-that-was-cloned")
"""
    + OPENED
)
STORED = """
import numpy as np
texto = [int(n) for n in np.load("textos.npy")]
tabla = torch.nn.Embedding(60, 2)(torch.from_numpy(np.load("textos.npy")))
"""


@pytest.mark.parametrize(
    "source", [SYNCED, STORED, AT_HAND, ELSEWHERE], ids=["synced", "stored", "at hand", "elsewhere"]
)
def test_a_script_that_asks_for_a_real_file_makes_its_steps(source, measure):
    """By its number, to read and write it, in another folder, or for tokens of the kind that was stored."""
    tree = tree_of("espanol")
    tree["entrenar.py"] = tree["entrenar.py"].replace(OPENED.encode(), source.encode())
    report = measure(tree, training=True)
    assert {f.id: f.verdict for f in report.facts}["shift"] == "PASS"


def test_a_script_in_a_package_of_its_own_name_finds_the_package(measure):
    tree = tree_of("espanol")
    script = tree["entrenar.py"].replace(b"from modelo", b"from entrenar.modelo")
    tree = {
        "entrenar/__init__.py": b"",
        "entrenar/entrenar.py": script,
        "entrenar/modelo.py": tree["modelo.py"],
    }
    report = measure(tree, training=True)
    assert {f.id: f.verdict for f in report.facts}["order"] == "PASS"


def test_the_methods_of_a_processor_go_by_both_spellings():
    processor = type("Processor", (torch_tables.Pieces,), {"encoder": Letters()})("a.model")
    assert processor.EncodeAsIds("abc") == processor.encode_as_ids("abc") == [0, 1, 2]
    assert processor.encode(["a", "b"], add_bos=True) == [[1, 0], [1, 1]]
    assert processor.decode([0, 1]) == "ab"
    assert processor.GetPieceSize() == processor.vocab_size() == len(processor) == 26
    with pytest.raises(AttributeError):
        processor.paint()


def test_a_table_has_every_column_and_records_have_the_usual_keys():
    letters = "".join(chr(ord("a") + n) for n in range(24))
    table = torch_tables.Table(torch_tables.parts(letters))
    assert "".join(table["any"]) == letters
    rows = [letters[n : n + 2] for n in range(0, 24, 2)]
    assert table.dropna()["text"].tolist() == table.iloc[:, 0].to_list() == rows
    first, *_ = torch_tables.records("x" * 300).splitlines()
    assert json.loads(first)["text"] == json.loads(first)["output"] == "x" * 120


LOGGED = """
import logging
import os
logging.basicConfig(filename="run.log", level=logging.INFO)
texto = open(os.path.join(os.getcwd(), "quijote.txt")).read()
"""


def test_what_is_made_up_is_said_alike_in_every_run(measure):
    tree = tree_of("espanol")
    tree["entrenar.py"] = tree["entrenar.py"].decode().replace(OPENED, LOGGED).encode()
    told = [measure(tree, training=True).made_up for _ in range(2)]
    assert told[0] == told[1]
    assert {"writing run.log went nowhere", "quijote.txt is synthetic"} <= {*told[0]}


def test_a_script_may_ask_a_library_s_tokenizer_for_the_tokens_as_texts(measure):
    source = """
from tokenizers import Tokenizer
texto = Tokenizer.from_file("piezas.json").encode(open("quijote.txt").read()).tokens
"""
    tree = tree_of("espanol")
    tree["entrenar.py"] = tree["entrenar.py"].replace(OPENED.encode(), source.encode())
    report = measure(tree, training=True)
    assert {f.id: f.verdict for f in report.facts}["shift"] == "PASS"


TIKTOKEN = """
import tiktoken
known = tiktoken.get_encoding("gpt2")
more = tiktoken.Encoding(
    name="more", pat_str=known._pat_str, mergeable_ranks=known._mergeable_ranks,
    special_tokens={**known._special_tokens, "PAD": 50257},
)
texto = more.decode(more.encode(open("quijote.txt", encoding="utf-8").read()))
assert more._special_tokens["PAD"] < more.n_vocab
"""


def test_an_encoding_may_have_more_special_tokens(measure):
    tree = tree_of("espanol")
    source = tree["entrenar.py"].decode()
    assert OPENED in source
    report = measure(
        {**tree, "entrenar.py": source.replace(OPENED, TIKTOKEN).encode()}, training=True
    )
    assert {f.id: f.verdict for f in report.facts}["order"] == "PASS"


def test_a_slice_that_is_moved_to_a_device_is_a_tensor_by_itself():
    rows = torch.arange(12).view(3, 4)
    with torch_world.OnProcessor():
        assert rows[:, 1:].to("cuda").is_contiguous()
        assert rows[:, 1:].cuda().is_contiguous()
        assert rows.T.to("cuda").stride() == rows.T.stride()
        assert rows.to("cpu") is rows
