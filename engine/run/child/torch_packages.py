"""Data sets and tokenizers of libraries, as a small world has them: synthetic rows, one token a letter.

They stand for `datasets`, `tokenizers`, and for `transformers` where it is not installed.
"""

from __future__ import annotations

import importlib.util
import re
import sys

import torch

from engine.run.child.torch_stubs import StubModule

NUMBERS = re.compile(r"ids$|tokens?$|labels?$")  # columns of tokens
ROWS, LONG = 60, 100  # rows of a data set, letters of a row


class Row(dict):
    """A row; a column that it does not have is its text, or the text's tokens."""

    encoder = None  # the world's

    def __missing__(self, key):
        return self.encoder.encode(self["text"]) if NUMBERS.search(key) else self["text"]


class Rows:
    """A data set in memory; what only sets formats gives it back as it is."""

    def __init__(self, rows):
        self._rows = list(rows)

    def __len__(self):
        return len(self._rows)

    def __iter__(self):
        return iter(self._rows)

    def __getitem__(self, key):
        if isinstance(key, str):
            return [row[key] for row in self._rows]
        if isinstance(key, slice):
            return columns(self._rows[key])
        return self._rows[int(key)]

    @property
    def column_names(self):
        return list(self._rows[0]) if self._rows else []

    @property
    def num_rows(self):
        return len(self._rows)

    def map(self, function, batched=False, remove_columns=(), **kwargs):
        if batched:
            found = function(columns(self._rows))
            count = len(next(iter(found.values()), ()))
            made = [Row({k: v[i] for k, v in found.items()}) for i in range(count)]
            return Rows(made)
        gone = {remove_columns} if isinstance(remove_columns, str) else set(remove_columns or ())
        kept = [{k: v for k, v in row.items() if k not in gone} for row in self._rows]
        given = [function(row) for row in self._rows]
        return Rows(Row({**old, **(new or {})}) for old, new in zip(kept, given))

    def filter(self, function, **kwargs):
        return Rows(row for row in self._rows if function(row))

    def select(self, indices, **kwargs):
        return Rows(self._rows[i] for i in indices if i < len(self._rows))

    def take(self, count):
        return Rows(self._rows[:count])

    def train_test_split(self, *args, **kwargs):
        cut = len(self._rows) * 4 // 5
        return {"train": Rows(self._rows[:cut]), "test": Rows(self._rows[cut:])}

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self


class Splits(dict):
    """A data set by its splits; every split that is asked for is there."""

    def __missing__(self, key):
        return self["train"]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        of_each = {key: getattr(rows, name) for key, rows in self.items()}
        return lambda *a, **k: Splits({key: call(*a, **k) for key, call in of_each.items()})


def columns(rows):
    return Row({key: [row[key] for row in rows] for key in (rows[0] if rows else ())})


class Tokens(dict):
    """What a tokenizer of transformers gives: by key and by attribute."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)

    def to(self, *args, **kwargs):
        return self


class Tokenizer:
    """The world's encoder under the names of transformers and tokenizers."""

    encoder = None  # the world's
    padding_side = "right"
    is_fast = True
    pad_token = eos_token = bos_token = unk_token = " "
    pad_token_id = eos_token_id = bos_token_id = unk_token_id = 0

    def __init__(self, *args, **kwargs):
        self.vocab_size = self.model_max_length = self.encoder.n_vocab

    @classmethod
    def made(cls, *args, **kwargs):
        return cls()

    from_pretrained = from_file = made

    def __len__(self):
        return self.encoder.n_vocab

    def __call__(self, text, return_tensors=None, max_length=None, **kwargs):
        many = isinstance(text, (list, tuple))
        ids = [self.encoder.encode(one)[:max_length] for one in (text if many else [text])]
        if return_tensors == "pt":
            least = min(map(len, ids))
            found = torch.tensor([one[:least] for one in ids])
            return Tokens(input_ids=found, attention_mask=torch.ones_like(found))
        ids = ids if many else ids[0]
        return Tokens(input_ids=ids, attention_mask=[1] * len(ids))

    def encode(self, text, *args, return_tensors=None, **kwargs):
        if isinstance(text, (list, tuple)):
            return [self.encode(one) for one in text]
        ids = self.encoder.encode(text)
        return torch.tensor([ids]) if return_tensors == "pt" else ids

    def decode(self, ids, *args, **kwargs):
        return self.encoder.decode(ids)

    def batch_decode(self, many, *args, **kwargs):
        return [self.decode(ids) for ids in many]

    def get_vocab(self, *args, **kwargs):
        return {letter: i for i, letter in enumerate(self.encoder.decode(range(len(self))))}

    def convert_tokens_to_ids(self, tokens):
        many = isinstance(tokens, (list, tuple))
        return [0 for _ in tokens] if many else 0

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args, **kwargs: 0  # adds, trains, saves: nothing, or the number of a token


def tokenizer(encoder):
    """One that is handed over, not imported."""
    return type("Tokenizer", (Tokenizer,), {"encoder": encoder, "__module__": "engine"})()


class Encoded(list):
    """Tokens of `tokenizers`: the list is its `ids`; as texts, each letter is a token."""

    text = ""

    @property
    def ids(self):
        return list(self)

    @property
    def tokens(self):
        return list(self.text)


class Fast(Tokenizer):
    """tokenizers.Tokenizer."""

    def encode(self, text, *args, **kwargs):
        found = Encoded(self.encoder.encode(text))
        found.text = text
        return found

    def encode_batch(self, texts, *args, **kwargs):
        return [self.encode(text) for text in texts]

    def get_vocab_size(self, *args, **kwargs):
        return len(self)


def install(tree, encoder, text, note):
    """Put the stand-ins where imports find them; a package of the tree's own with the name stays."""
    Row.encoder = encoder
    parts = [file.removesuffix(".py").split("/") for file in tree.files if file.endswith(".py")]
    own = {part for names in parts for part in names}

    def data(*args, split=None, **kwargs):
        note("the data set %s is synthetic text" % (args[0] if args else ""))
        starts = range(0, ROWS * LONG, LONG)
        rows = Rows(Row(text=text[i % len(text) :][:LONG]) for i in starts)
        return rows if split is not None else Splits(train=rows, validation=rows, test=rows)

    kinds = {
        name: type(name, (kind,), {"encoder": encoder, "__module__": "engine"})
        for name, kind in [("Tokenizer", Tokenizer), ("Fast", Fast)]
    }
    modules = {
        "datasets": {
            "load_dataset": data,
            "load_from_disk": lambda *a, **k: data(),
            "Dataset": Rows,
        },
        "tokenizers": {"Tokenizer": kinds["Fast"], "ByteLevelBPETokenizer": kinds["Fast"]},
    }
    if importlib.util.find_spec("transformers") is None:
        named = ("AutoTokenizer", "GPT2Tokenizer", "GPT2TokenizerFast", "PreTrainedTokenizerFast",
                 "LlamaTokenizer", "BertTokenizer", "T5Tokenizer")  # fmt: skip
        modules["transformers"] = dict.fromkeys(named, kinds["Tokenizer"])
    for name, members in modules.items():
        if name not in own:
            module = StubModule(name)
            vars(module).update(members)
            sys.modules[name] = module
