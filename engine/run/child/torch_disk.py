"""The files that a training script finds: those of the tree, those that it wrote itself, synthetic ones.

Nothing is written to a disk; what is written is kept in memory and can be read again.
"""

from __future__ import annotations

import builtins
import fnmatch
import glob
import io
import json
import os
import pathlib
import pickle
import re
import shutil
import stat

from engine.run.child import torch_tables

SOUNDS = (".txt", ".bin", ".npy", ".dat", ".tokens", ".jsonl", ".parquet")  # is there, if asked for
SHARDS = ("train_000", "train_001", "val_000")  # files of a folder that is not there
VOCABULARY = re.compile(r"vocab|encoder|stoi|itos|char|token|meta|bpe", re.I)
WEIGHTS = re.compile(r"ckpt|checkpoint|model|optim|weights|best|last", re.I)
SETTINGS = (".yaml", ".yml", ".toml", ".ini", ".pt", ".pth", ".safetensors")  # are not made up
LIKELY = (".pkl", ".json", ".csv", ".vocab", ".merges", ".pt", ".pth")  # the same, if asked again
SHOWN = 40  # letters of a name
MOST = 64 << 20  # bytes that are kept of what a script writes


class Written(io.BytesIO):
    """A file that is being written; closed, it is on the disk."""

    def __init__(self, disk, name, before=b""):
        super().__init__()
        self._disk, self._name, self._null = disk, name, None
        self.write(before)

    def flush(self):
        super().flush()
        self._disk.keep(self._name, self.getvalue())

    def fileno(self):
        """Of a device that keeps nothing: for code that waits until a file is on the disk."""
        self._null = os.open(os.devnull, os.O_RDWR) if self._null is None else self._null
        return self._null

    def close(self):
        if not self.closed:
            self.flush()
            if self._null is not None:
                os.close(self._null)
        super().close()


class Disk:
    """Files by name: `encoder` and `text_of(name)` make what is not there."""

    def __init__(self, tree, folder, encoder, text_of, note):
        self._tree, self._folder, self._encoder = tree, folder, encoder
        self._text_of, self._note = text_of, note
        self.written, self.made, self.absent = {}, set(), []
        self.lenient = False  # whether what is asked for is there
        self._open, self._stat = builtins.open, os.stat

    def install(self):
        builtins.open = io.open = self.open
        os.path.exists = os.path.isfile = self.exists
        os.path.isdir = self.isdir
        os.stat = self.stat
        os.path.getsize = lambda path: self.stat(path).st_size
        os.makedirs = os.mkdir = self.make
        os.rename = os.replace = os.remove = os.unlink = os.symlink = lambda *args, **kwargs: None
        shutil.rmtree = shutil.copy = shutil.copyfile = shutil.move = lambda *args, **kwargs: None
        os.chdir = lambda path: None  # the files are where they are
        os.listdir = self.listed
        os.fsync = os.fdatasync = lambda fd: None
        glob.glob = lambda pattern, **kwargs: self.matching(pattern)
        glob.iglob = lambda pattern, **kwargs: iter(self.matching(pattern))
        kind = pathlib.Path
        kind.exists = kind.is_file = lambda path, **kwargs: self.exists(path)
        kind.is_dir = lambda path, **kwargs: self.isdir(path)
        kind.mkdir = lambda path, *args, **kwargs: self.make(path)
        kind.unlink = kind.symlink_to = kind.touch = lambda *args, **kwargs: None
        kind.iterdir = lambda path: iter([path / name for name in self.listed(path)])
        kind.glob = lambda path, pattern: iter(
            [kind(one) for one in self.matching(os.path.join(path, pattern))]
        )
        kind.rglob = lambda path, pattern: kind.glob(path, "**/" + pattern)

    def _exists(self, path):
        """Whether it is on the machine's disk."""
        try:
            return self._stat(path) is not None
        except (OSError, ValueError):
            return False

    def keep(self, name, content):
        if sum(map(len, self.written.values())) + len(content) <= MOST:
            self.written[name] = content

    def name(self, path):
        """A name below where the script runs, however it is written; None where it is no name."""
        try:
            name = os.fspath(path)
        except TypeError:
            return None
        if not isinstance(name, str):
            return None
        for start in (self._tree.root + "/", os.getcwd() + "/"):
            name = name.removeprefix(start)
        return os.path.normpath(name)

    def shown(self, path):
        """The end of a name, the same in every run."""
        return str(self.name(path) or path)[-SHOWN:]

    def beside(self, path):
        """A folder that is named from where the script lies."""
        return os.path.normpath(os.path.join(self._folder, self.name(path)))

    def relative(self, path):
        """A path of the tree that a name means, or None."""
        name = self.name(path)
        for one in (os.path.join(self._folder, name), name) if name else ():
            if os.path.normpath(one) in self._tree.files:
                return os.path.normpath(one)
        return None

    def content(self, path):
        """What is in a file of the tree, or was written; None where it is neither."""
        name = self.name(path)
        kept = self.written.get(name)
        if kept or (kept is not None and not name.endswith((".bin", ".npy", ".dat"))):
            return kept  # tokens that stayed empty were not made
        inside = self.relative(path)
        return None if inside is None else self._tree.files[inside]

    def open(self, file, mode="r", *args, **kwargs):
        if isinstance(file, int):
            return self._open(file, mode, *args, **kwargs)
        binary, writes = "b" in mode, set(mode) & set("wax+")
        if writes and self.name(file) is not None and not self._special(file):
            return self._writing(file, mode)
        found = None if writes else self.content(file)
        if found is None:
            try:
                return self._open(file, mode, *args, **kwargs)
            except OSError:
                found = self.invented(file)
                if found is None:
                    raise
        return io.BytesIO(found) if binary else io.StringIO(found.decode("utf-8", "replace"))

    def _special(self, path):
        """Whether a path is a device, which may be written."""
        return str(path).startswith("/dev/")

    def _writing(self, file, mode):
        self._note("writing %s went nowhere" % self.shown(file))
        kept = (self.content(file) or b"") if set(mode) & set("a+") and "w" not in mode else b""
        if "r" in mode and not kept:
            kept = self.open(file, "rb").read()
        made = Written(self, self.name(file), kept)
        if "r" in mode:
            made.seek(0)
        return made if "b" in mode else io.TextIOWrapper(made, "utf-8", write_through=True)

    def invented(self, path):
        """The synthetic content of a file that is not there, by its name; None where there is none."""
        name, kind = str(path), os.path.splitext(str(path))[1]
        if name.startswith(("/proc/", "/sys/")):  # which are no data
            return None
        self.absent.append(os.path.basename(name))
        if kind in SETTINGS or (
            kind in (".json", ".pkl", ".pickle") and WEIGHTS.search(os.path.basename(name))
        ):
            return None
        self._note("%s is synthetic" % self.shown(path))
        text = self._text_of(name)
        if kind == ".jsonl":
            return torch_tables.records(text).encode()
        if kind == ".json":
            rows = [json.loads(row) for row in torch_tables.records(text).splitlines()]
            return json.dumps(self.vocabulary(name) if VOCABULARY.search(name) else rows).encode()
        if kind in (".pkl", ".pickle"):
            known = VOCABULARY.search(os.path.basename(name))
            return pickle.dumps(self.vocabulary(name) if known else self._encoder.encode(text))
        return text.encode()

    def vocabulary(self, path):
        """What is kept of a tokenizer: letters by number and the other way round, under the usual keys."""
        letters = self._encoder.decode(range(self._encoder.n_vocab))
        numbers = {letter: i for i, letter in enumerate(letters)}
        if re.search(r"vocab|encoder|stoi", os.path.basename(str(path)), re.I):
            return numbers
        back = dict(enumerate(letters))
        found = {"vocab_size": len(letters), "vocab": numbers, "merges": [], "special_tokens": {}}
        for name in ("stoi", "char_to_idx", "char2idx", "token_to_id", "encoder"):
            found[name] = numbers
        for name in ("itos", "idx_to_char", "idx2char", "id_to_token", "decoder"):
            found[name] = back
        return {**found, "chars": list(letters)}

    def exists(self, path):
        name = self.name(path)
        if name is None:
            return False
        if self.content(path) is not None or self._exists(path) or self.isdir(path):
            return True
        self.absent.append(os.path.basename(name))
        kinds = (*SOUNDS, *LIKELY) if self.lenient else SOUNDS
        return name.endswith(kinds) and not WEIGHTS.search(os.path.basename(name))

    def isdir(self, path):
        name = self.name(path)
        if name is None:
            return False
        start = "" if name == "." else name + "/"
        known = (*self._tree.files, *self.written)
        below = os.path.join(self._folder, start)
        return name in self.made or any(one.startswith((start, below)) for one in known) or (
            os.path.isabs(name) and self._exists(name) and stat.S_ISDIR(self._stat(name).st_mode)
        )  # fmt: skip

    def make(self, path, *args, **kwargs):
        self.made.add(self.name(path))

    def stat(self, path, *args, **kwargs):
        """As os.stat; a file that is only in memory has the size of its content, or of its tokens."""
        try:
            return self._stat(path, *args, **kwargs)
        except OSError:
            found = self.content(path)
            if found is None and not self.isdir(path) and not self.exists(path):
                raise
            size = 4 * len(self._text_of(path)) if found is None else len(found)
            mode = stat.S_IFDIR if self.isdir(path) else stat.S_IFREG
            return os.stat_result((mode | 0o644, 0, 0, 1, 0, 0, size, 0, 0, 0))

    def listed(self, path="."):
        """The names in a folder; shards where it is not there."""
        name = self.name(path)
        if name is not None and os.path.isabs(name) and self._exists(name):
            return [entry.name for entry in os.scandir(name)]
        starts = {os.path.join(self._folder, name), name} if name != "." else {"", self._folder}
        found = set()
        for one in (*self._tree.files, *self.written):
            for start in starts:
                if not start or one.startswith(start + "/"):
                    found.add(one[len(start) + bool(start) :].split("/")[0])
        return sorted(found) or [shard + ".bin" for shard in SHARDS]

    def matching(self, pattern):
        """What a pattern finds; shards that fit to it where it finds nothing."""
        name = self.name(pattern) or ""
        loose = name.replace("**/", "*")
        found = [
            one for one in (*self._tree.files, *self.written)
            if fnmatch.fnmatch(one, loose) or fnmatch.fnmatch(one, os.path.join(self._folder, loose))
        ]  # fmt: skip
        if found or WEIGHTS.search(name):
            return sorted(found)
        folder, last = os.path.split(name.replace("**/", ""))
        kind = os.path.splitext(last)[1].replace("*", "") or ".bin"
        if kind not in (*SOUNDS, ".json"):
            return []
        return [one for one in (os.path.join(folder, shard + kind) for shard in SHARDS)
                if fnmatch.fnmatch(os.path.basename(one), last)] or (
            [os.path.join(folder, last.replace("*", "000"))]
        )  # fmt: skip
