"""The small world of a training script: synthetic text, no network, writes that go nowhere.

What was made up is noted in `made_up`. Files of the tree are read from memory.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import os
import pathlib
import sys
import types
import zlib

import torch

from engine.run.child import torch_packages, torch_tables
from engine.run.child.torch_stubs import Nothing

LETTERS = "abcdefghijklmnopqrstuvwxyz \n.,;:!?'ABCDEFGHIJKLMNOPQR"
SOUNDS = (".txt", ".bin", ".npy", ".dat", ".tokens")


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

    def __getattr__(self, name):
        return lambda *args, **kwargs: None


class World:
    """Install once, in a process that is thrown away."""

    def __init__(self, tree, job, small, folder):
        self._tree, self._folder, self._small = tree, folder, small
        self.made_up = []
        self.text = text_of(job["letters"], job["vocabulary"])
        self._encoder = Encoder(job["vocabulary"])
        self._open, self._exists = builtins.open, os.path.exists

    def _of(self, path):
        """The synthetic text of a file: each has its own, by its name."""
        seed = zlib.crc32(os.path.basename(str(path)).encode()) % (1 << 31)
        return text_of(len(self.text), self._encoder.n_vocab, seed)

    def note(self, what):
        if what not in self.made_up:
            self.made_up.append(what[:120])

    def install(self):
        builtins.open = io.open = self.open
        os.path.exists = os.path.isfile = self.exists
        pathlib.Path.exists = pathlib.Path.is_file = lambda path, **kwargs: self.exists(path)
        pathlib.Path.mkdir = lambda *args, **kwargs: None
        os.makedirs = os.mkdir = lambda *args, **kwargs: None
        listed = os.listdir
        os.listdir = lambda d=".": (
            listed(d) if self._exists(d) else ["train_000.bin", "train_001.npy", "val_000.npy"]
        )
        torch.save = lambda *args, **kwargs: self.note("torch.save wrote nothing")
        self._numpy()
        self._torch()
        self._network()
        self._packages()
        self._configurations()

    def _relative(self, path):
        """A path of the tree that a name means, or None."""
        try:
            name = os.fspath(path)
        except TypeError:
            return None
        if not isinstance(name, str):
            return None
        start, here = self._tree.root + "/", os.getcwd() + "/"
        name = name.removeprefix(here)  # made absolute from where the script runs
        inside = [name[len(start) :]] if name.startswith(start) else []
        for one in inside or [os.path.join(self._folder, name), name]:
            one = os.path.normpath(one)
            if one in self._tree.files:
                return one
        return None

    def open(self, file, mode="r", *args, **kwargs):
        if isinstance(file, int):
            return self._open(file, mode, *args, **kwargs)
        inside = self._relative(file)
        if inside is not None and not set(mode) & set("wax+"):
            content = self._tree.files[inside]
            return (
                io.BytesIO(content)
                if "b" in mode
                else io.StringIO(content.decode("utf-8", "replace"))
            )
        try:
            return self._open(file, mode, *args, **kwargs)
        except OSError:
            name = str(file)
            if set(mode) & set("wax"):
                self.note("writing %s went nowhere" % name[-40:])
                return io.BytesIO() if "b" in mode else io.StringIO()
            if name.endswith((".pkl", ".json", ".yaml", ".yml", ".pt", ".pth")):
                raise
            if name.endswith(".jsonl"):
                self.note("%s is synthetic records" % name[-40:])
                return io.StringIO(torch_tables.records(self.text))
            self.note("%s is synthetic text" % name[-40:])
            text = self._of(name)
            return io.BytesIO(text.encode()) if "b" in mode else io.StringIO(text)

    def exists(self, path):
        if self._relative(path) is not None or self._exists(path):
            return True
        return str(path).endswith(SOUNDS)

    def _tokens(self, path, dtype=None):
        import numpy

        return numpy.array(self._encoder.encode(self._of(path)), dtype=dtype or numpy.uint16)

    def _numpy(self):
        try:
            import numpy
        except ImportError:
            return

        def made(real, name):
            def read(path, *args, **kwargs):
                try:
                    return real(path, *args, **kwargs)
                except Exception:
                    self.note("%s is synthetic tokens" % str(path)[-40:])
                    kind = kwargs.get("dtype") or next(
                        (a for a in args if isinstance(a, type)), None
                    )
                    return self._tokens(path, kind)

            return read

        for name in ("fromfile", "load", "loadtxt", "genfromtxt"):
            setattr(numpy, name, made(getattr(numpy, name), name))
        world = self

        class Memmap(numpy.memmap):
            def __new__(cls, path, dtype=numpy.uint16, *args, **kwargs):
                world.note("%s is synthetic tokens" % str(path)[-40:])
                return world._tokens(path, dtype)

        numpy.memmap = Memmap

    def _torch(self):
        loaded = torch.load

        def load(path, *args, **kwargs):
            try:
                return loaded(path, *args, **kwargs)
            except OSError:
                if any(
                    word in str(path).lower() for word in ("ckpt", "checkpoint", "model", "optim")
                ):
                    raise
                self.note("%s is synthetic tokens" % str(path)[-40:])
                return torch.tensor(self._encoder.encode(self._of(path)))

        torch.load = load
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

        def page(*args, **kwargs):
            self.note("%s is synthetic text" % str(args[0])[-40:])
            return contextlib.closing(io.BytesIO(self.text.encode()))

        urllib.request.urlopen = page
        urllib.request.urlretrieve = lambda url, *args, **kwargs: self.note(
            "%s is not fetched" % url[-40:]
        )
        requests = types.ModuleType("requests")

        def get(url, *args, **kwargs):
            self.note("%s is synthetic text" % str(url)[-40:])
            return types.SimpleNamespace(
                text=self.text, content=self.text.encode(), status_code=200, headers={}, ok=True,
                raise_for_status=lambda: None, iter_content=lambda *a, **k: [self.text.encode()],
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
        encoders.Encoding = Encoder
        sys.modules["tiktoken"] = encoders
        torch_packages.install(self._tree, self._encoder, self.text, self.note)
        torch_tables.install(self._encoder, self.text, self.note)

    def _configurations(self):
        """Numbers in files of configuration shrink, too."""
        read = json.load
        json.load = lambda *args, **kwargs: self._small.configuration(read(*args, **kwargs))
        try:
            import yaml
        except ImportError:
            return
        for name in ("safe_load", "load", "full_load"):
            real = getattr(yaml, name)
            setattr(
                yaml, name, lambda *a, _real=real, **k: self._small.configuration(_real(*a, **k))
            )
