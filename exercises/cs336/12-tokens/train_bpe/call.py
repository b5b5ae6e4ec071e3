"""Runs the learner's run_train_bpe on a small file in the folder of this process."""

import concurrent.futures
import contextlib
import multiprocessing
import multiprocessing.managers
import multiprocessing.pool
import queue
import threading
import types
from pathlib import Path
from unittest import mock

FILE = "corpus.txt"
FEW = 5  # of a list that is told


class OneProcess:
    """What a pool of processes offers, in this one: a check may start no others, a small file needs none."""

    def __init__(self, processes=None, initializer=None, initargs=(), *more, **named):
        if initializer is not None:
            initializer(*initargs)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def apply(self, function, args=(), kwds=None):
        return function(*args, **kwds or {})

    def apply_async(self, function, args=(), kwds=None, callback=None, error_callback=None):
        return Done(lambda: function(*args, **kwds or {}), callback, error_callback)

    def map(self, function, items, chunksize=None):
        return [function(item) for item in items]

    def map_async(self, function, items, chunksize=None, callback=None, error_callback=None):
        return Done(lambda: self.map(function, items), callback, error_callback)

    def starmap(self, function, items, chunksize=None):
        return [function(*item) for item in items]

    def starmap_async(self, function, items, chunksize=None, callback=None, error_callback=None):
        return Done(lambda: self.starmap(function, items), callback, error_callback)

    def imap(self, function, items, chunksize=1):
        return iter(self.map(function, items))

    imap_unordered = imap

    def close(self):
        return None

    terminate = join = close


class Done:
    """A result that is there at once, or the error."""

    def __init__(self, run, callback, error_callback):
        self.error = self.value = None
        try:
            self.value = run()
        except Exception as error:
            self.error = error
        told = callback if self.error is None else error_callback
        if told is not None:
            told(self.value if self.error is None else self.error)

    def get(self, timeout=None):
        if self.error is not None:
            raise self.error
        return self.value

    def wait(self, timeout=None):
        return None

    def ready(self):
        return True

    def successful(self):
        return self.error is None


def started(executor, max_workers=None, mp_context=None, initializer=None, initargs=(), **named):
    if initializer is not None:
        initializer(*initargs)


def submitted(executor, function, /, *args, **named):
    future = concurrent.futures.Future()
    try:
        future.set_result(function(*args, **named))
    except Exception as error:
        future.set_exception(error)
    return future


def mapped(executor, function, *items, **named):
    return map(function, *items)


class OneManager:
    """What processes share, in one: nothing has to be sent."""

    dict, list, Namespace = dict, list, types.SimpleNamespace
    Lock, RLock, Queue = threading.Lock, threading.RLock, queue.Queue

    def __init__(self, *args, **named):
        pass

    def Value(self, kind, value):
        return types.SimpleNamespace(value=value)

    def start(self, *args):
        pass

    def shutdown(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


def in_one_process():
    """Within, pools of processes work in this one. Code may have imported their names before, so the classes
    are changed in place; `multiprocessing` looks its pool up in each call.
    """
    within = contextlib.ExitStack()
    within.enter_context(mock.patch.object(multiprocessing.pool, "Pool", OneProcess))
    within.enter_context(mock.patch.object(multiprocessing.managers, "SyncManager", OneManager))
    process = multiprocessing.process.BaseProcess
    within.enter_context(mock.patch.object(process, "start", lambda self: self.run()))
    within.enter_context(mock.patch.object(process, "join", return_value=None))
    executor = concurrent.futures.ProcessPoolExecutor
    parts = {"__init__": started, "submit": submitted, "map": mapped}
    for name, part in {**parts, "shutdown": lambda self, *a, **named: None}.items():
        within.enter_context(mock.patch.object(executor, name, part))
    return within


def trained(learner, text, vocab_size, special):
    """What run_train_bpe makes of a file with this text."""
    file = Path.cwd() / FILE
    file.write_bytes(text.encode("utf-8"))
    with in_one_process():
        return learner.run_train_bpe(
            input_path=file, vocab_size=vocab_size, special_tokens=list(special)
        )


def written(pairs):
    """Merges as text, as Python would write them: [(b"t", b"h")] -> ["b't' b'h'"]."""
    return [" ".join(repr(bytes(part)) for part in pair) for pair in pairs]


def merges(learner, record, text, vocab_size, special):
    """The merges alone, in their order."""
    _, found = trained(learner, text, vocab_size, special)
    record(merges=written(found))


def kinds(learner, record, text, vocab_size, special):
    """What the result is made of."""
    found = trained(learner, text, vocab_size, special)
    record(result=type(found).__name__, parts=len(found))
    vocab, pairs = found
    record(vocab=type(vocab).__name__, merges=type(pairs).__name__)
    record(ids_are_integers=all(type(id) is int for id in vocab))
    record(tokens_are_bytes=all(type(token) is bytes for token in vocab.values()))
    record(merges_are_pairs=all(type(pair) is tuple and len(pair) == 2 for pair in pairs))
    record(of_bytes=all(type(part) is bytes for pair in pairs for part in pair))


def vocab(learner, record, text, vocab_size, special):
    """What the vocabulary has to hold, apart from the ids: those are only to be 0, 1, 2 ..."""
    found, pairs = trained(learner, text, vocab_size, special)
    tokens = set(found.values())
    bytes_alone = [bytes([byte]) for byte in range(256)]
    named = [token.encode("utf-8") for token in special]
    products = [left + right for left, right in pairs]
    record(bytes_missing=few(t for t in bytes_alone if t not in tokens))
    record(special_missing=few(t for t in named if t not in tokens))
    record(merged_missing=few(t for t in products if t not in tokens))
    record(too_much=few(sorted(tokens - {*bytes_alone, *named, *products})))
    record(size=len(found), ids_from_0=sorted(found) == list(range(len(found))))


def few(tokens):
    """The first of some tokens, as text."""
    return ", ".join([repr(token) for token in tokens][:FEW]) or "none"
