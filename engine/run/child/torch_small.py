"""The small world of a training script: synthetic text, no network, writes that go nowhere.

What was made up is noted in `made_up`. Files of the tree are read from memory.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import os
import sys
import types
import zlib

import torch

from engine.run.child import torch_alone, torch_hydra, torch_packages, torch_tables, torch_trainers
from engine.run.child.torch_arrays import Arrays
from engine.run.child.torch_disk import Disk
from engine.run.child.torch_stubs import Nothing

LETTERS = "abcdefghijklmnopqrstuvwxyz \n.,;:!?'ABCDEFGHIJKLMNOPQR"


def text_of(count, vocabulary, seed=12345):
    """Synthetic text of this many letters; no period shorter than a thousand."""
    letters = LETTERS[:vocabulary]
    state, made = seed, []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % (1 << 31)
        made.append(letters[(state >> 8) % len(letters)])
    return "".join(made)


class Encoder:
    """A tokenizer: one token a letter."""

    eot_token, name = 0, "letters"

    def __init__(self, vocabulary):
        self.n_vocab = self.vocab_size = vocabulary
        self.max_token_value = vocabulary - 1
        self._letters = LETTERS[:vocabulary]

    def encode(self, text, *args, **kwargs):
        return [max(0, self._letters.find(letter)) for letter in text]

    encode_ordinary = encode

    def encode_ordinary_batch(self, texts, *args, **kwargs):
        return [self.encode(text) for text in texts]

    def decode(self, ids, *args, **kwargs):
        return "".join(self._letters[int(i) % len(self._letters)] for i in ids)

    def encode_single_token(self, text):
        return 0


def encoding(vocabulary):
    """tiktoken.Encoding, which may be made of another one with more special tokens."""

    class Encoding(Encoder):
        _pat_str = "."

        def __init__(self, name="letters", *args, special_tokens=None, **kwargs):
            super().__init__(vocabulary)
            self._mergeable_ranks = {one.encode(): i for i, one in enumerate(self._letters)}
            special = special_tokens or {"<|endoftext|>": self.eot_token}
            self._special_tokens = {k: n if n < vocabulary else 0 for k, n in special.items()}
            self.special_tokens_set = set(special)

    return Encoding


class Bar:
    """tqdm, silent."""

    def __init__(self, items=None, *args, total=None, **kwargs):
        self.items, self.total, self.n = items, total, 0

    def __iter__(self):
        return iter(self.items if self.items is not None else ())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def __len__(self):
        return len(self.items)

    @staticmethod
    def write(*args, **kwargs):
        pass

    def __getattr__(self, name):
        return lambda *args, **kwargs: None


def answered(prompt=""):
    """What is typed at a question: the first of numbered choices, else yes."""
    return "1" if any(letter.isdigit() for letter in str(prompt)) else "y"


class World:
    """Install once, in a process that is thrown away."""

    def __init__(self, tree, job, small, folder):
        self._tree, self._job, self._small = tree, job, small
        self.made_up = []
        self.text = text_of(job["letters"], job["vocabulary"])
        self._encoder = encoding(job["vocabulary"])()
        self.disk = Disk(tree, folder, self._encoder, self._of, self.note)

    def _of(self, path):
        """The synthetic text of a file: each has its own, by its name."""
        seed = zlib.crc32(os.path.basename(str(path)).encode()) % (1 << 31)
        return text_of(len(self.text), self._encoder.n_vocab, seed)

    def note(self, what):
        if what not in self.made_up:
            self.made_up.append(what[:120])

    def install(self):
        self.disk.install()
        builtins.input = answered
        Arrays(self.disk, self._tokens, self.note).install()
        self._torch()
        torch_alone.install()
        self._network()
        self._packages()
        self._configurations()

    def _tokens(self, path):
        return self._encoder.encode(self._of(path))

    def _torch(self):
        loader = torch.utils.data.DataLoader
        first = loader.__init__

        def init(self, *args, **kwargs):
            for name in ("prefetch_factor", "persistent_workers", "multiprocessing_context"):
                kwargs.pop(name, None)
            kwargs.update(num_workers=0, pin_memory=False)
            first(self, *args[:5], **kwargs)

        loader.__init__ = init
        board = types.ModuleType("torch.utils.tensorboard")
        board.SummaryWriter = lambda *args, **kwargs: Nothing("SummaryWriter")
        board.__path__, board.writer = [], board
        sys.modules["torch.utils.tensorboard"] = board
        sys.modules["torch.utils.tensorboard.writer"] = board

    def _network(self):
        import urllib.request

        def said(url):
            """What an address gives: as the file of that name would be."""
            self.note("%s is synthetic" % str(url)[-40:])
            return self.disk.invented(str(url)) or self.text.encode()

        urllib.request.urlopen = lambda url, *args, **kwargs: contextlib.closing(
            io.BytesIO(said(getattr(url, "full_url", url)))
        )

        def retrieve(url, filename=None, *args, **kwargs):
            if filename is not None:
                self.disk.keep(self.disk.name(filename), said(url))
            return filename, None

        urllib.request.urlretrieve = retrieve
        requests = types.ModuleType("requests")

        def get(url, *args, **kwargs):
            content = said(url)
            return types.SimpleNamespace(
                text=content.decode("utf-8", "replace"), content=content, status_code=200, ok=True,
                headers={}, raise_for_status=lambda: None, iter_content=lambda *a, **k: [content],
                json=lambda: json.loads(content), encoding="utf-8",
            )  # fmt: skip

        requests.get = get
        sys.modules["requests"] = requests

    def _packages(self):
        """Packages that only show progress, or turn text into tokens."""
        bar = types.ModuleType("tqdm")
        bar.tqdm, bar.trange = Bar, lambda *args, **kwargs: Bar(range(*args))
        bar.auto = bar.std = bar.notebook = bar
        bar.__path__ = []
        for name in ("tqdm", "tqdm.auto", "tqdm.std", "tqdm.notebook"):
            sys.modules[name] = bar
        encoders = types.ModuleType("tiktoken")
        encoders.get_encoding = encoders.encoding_for_model = lambda *args, **kwargs: self._encoder
        encoders.Encoding = type(self._encoder)
        sys.modules["tiktoken"] = encoders
        torch_packages.install(self._tree, self._encoder, self.text, self.note)
        torch_tables.install(self._encoder, self.text, self.note)
        own = {part for file in self._tree.files for part in file.removesuffix(".py").split("/")}
        torch_trainers.install(own, self.note)

    def _configurations(self):
        """Numbers in files of configuration shrink, too."""
        read = json.load
        json.load = lambda *args, **kwargs: self._small.configuration(read(*args, **kwargs))
        try:
            import yaml
        except ImportError:
            return
        given = self._job["arguments"] if self._job["told"] else []
        torch_hydra.install(self.disk, self._small, given, yaml.safe_load)
        for name in ("safe_load", "load", "full_load"):
            real = getattr(yaml, name)
            setattr(
                yaml, name, lambda *a, _real=real, **k: self._small.configuration(_real(*a, **k))
            )
