"""Stand-ins for packages that read text or make tokens of it: sentencepiece; pandas, where it is missing."""

from __future__ import annotations

import importlib.util
import json
import sys
import types

from engine.run.child.torch_stubs import StubModule

ROWS = 12  # of a synthetic table
KEYS = ("text", "content", "instruction", "input", "output", "prompt", "response", "story", "sentence",
        "question", "answer", "completion")  # fmt: skip
RECORD = 120  # letters


class Pieces:
    """sentencepiece's processor: one token a letter. Its methods go by two spellings."""

    encoder = None

    def __init__(self, *args, **kwargs):
        size = self.encoder.n_vocab
        self._known = {
            "load": lambda *args, **kwargs: True,
            "encode": self._encode,
            "encodeasids": self._encode,
            "encodeaspieces": lambda text, **kwargs: list(text),
            "decode": self._decode,
            "decodeids": self._decode,
            "decodepieces": "".join,
            "bosid": lambda: 1,
            "eosid": lambda: 2,
            "padid": lambda: -1,
            "unkid": lambda: 0,
            "vocabsize": lambda: size,
            "getpiecesize": lambda: size,
            "piecesize": lambda: size,
            "piecetoid": lambda piece: self._encode(piece[:1] or "a")[0],
            "idtopiece": lambda i: self._decode([i]),
        }

    def __getattr__(self, name):
        plain = name.replace("_", "").lower()
        if name.startswith("__") or plain not in self.__dict__.get("_known", {}):
            raise AttributeError(name)
        return self._known[plain]

    def __len__(self):
        return self.encoder.n_vocab

    def _encode(self, text, out_type=int, add_bos=False, add_eos=False, **kwargs):
        if not isinstance(text, str):
            return [self._encode(one, out_type, add_bos, add_eos) for one in text]
        if out_type is str:
            return list(text)
        return [1] * add_bos + self.encoder.encode(text) + [2] * add_eos

    def _decode(self, ids, **kwargs):
        return self.encoder.decode(ids if isinstance(ids, (list, tuple)) else [ids])


class Same:
    """What a table or column has that is called or indexed, as .dropna() or .iloc[:, 0]: itself again."""

    def __init__(self, thing):
        self._thing = thing

    def __call__(self, *args, **kwargs):
        return self._thing

    def __getitem__(self, key):
        column = isinstance(key, tuple) and isinstance(self._thing, Table)
        return self._thing["text"] if column else self._thing


class Column(list):
    """A column of a table: texts."""

    @property
    def values(self):
        return self

    iloc = values

    def tolist(self):
        return list(self)

    to_list = tolist

    def apply(self, function, *args, **kwargs):
        return Column(function(one) for one in self)

    map = apply

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Same(self)


class Table:
    """A table of pandas that has every column, each of the same texts."""

    def __init__(self, texts):
        self._texts, self.columns = Column(texts), ["text"]

    def __getitem__(self, key):
        return self._texts if isinstance(key, str) else self

    def __len__(self):
        return len(self._texts)

    def iterrows(self):
        return ((n, Table([text] * ROWS)) for n, text in enumerate(self._texts))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Same(self)


def parts(text):
    """Text in rows."""
    size = max(1, len(text) // ROWS)
    return [text[n : n + size] for n in range(0, len(text), size)]


def records(text):
    """Text as lines of JSON, one record a line, under the keys that such files use."""
    rows = [text[n : n + RECORD] for n in range(0, len(text), RECORD)]
    return "".join(json.dumps(dict.fromkeys(KEYS, row)) + "\n" for row in rows)


def install(encoder, text, note):
    """Put the stand-ins where an import finds them."""
    pieces = StubModule("sentencepiece")
    pieces.SentencePieceProcessor = type("SentencePieceProcessor", (Pieces,), {"encoder": encoder})
    sys.modules["sentencepiece"] = pieces
    if importlib.util.find_spec("pandas") is not None:
        return
    tables = types.ModuleType("pandas")

    def read(path="", *args, **kwargs):
        name = path[-40:] if isinstance(path, str) else "what pandas reads"
        note("%s is a table of synthetic text" % name)
        return Table(parts(text))

    for name in ("read_csv", "read_parquet", "read_json", "read_table"):
        setattr(tables, name, read)
    sys.modules["pandas"] = tables
