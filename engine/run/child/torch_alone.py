"""One process stands for many: pools work in turn, a spawned worker is called, other programs end at once."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import multiprocessing.process
import queue
import subprocess
import threading
import types

import torch


class Pool:
    """multiprocessing's pool."""

    def __init__(self, processes=None, initializer=None, initargs=(), *args, **kwargs):
        if initializer is not None:
            initializer(*initargs)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def imap(self, function, items, *args, **kwargs):
        return map(function, items)

    imap_unordered = imap

    def map(self, function, items, *args, **kwargs):
        return [function(one) for one in items]

    def starmap(self, function, items, *args, **kwargs):
        return [function(*one) for one in items]

    def apply(self, function, args=(), kwds=None):
        return function(*args, **(kwds or {}))

    def apply_async(self, function, args=(), kwds=None, callback=None, error_callback=None):
        return Done(lambda: self.apply(function, args, kwds), callback, error_callback)

    def map_async(self, function, items, chunksize=None, callback=None, error_callback=None):
        return Done(lambda: self.map(function, items), callback, error_callback)

    def starmap_async(self, function, items, chunksize=None, callback=None, error_callback=None):
        return Done(lambda: self.starmap(function, items), callback, error_callback)

    def close(self, *args):
        pass

    join = terminate = close


class Done:
    """A result that is there at once, or the error."""

    def __init__(self, work, callback, error_callback):
        self._error = self._made = None
        try:
            self._made = work()
        except Exception as error:
            self._error = error
        told = callback if self._error is None else error_callback
        if told is not None:
            told(self._made if self._error is None else self._error)

    def get(self, timeout=None):
        if self._error is not None:
            raise self._error
        return self._made

    def wait(self, timeout=None):
        pass

    def ready(self):
        return True

    def successful(self):
        return self._error is None


class Manager:
    """What processes share, where there is one: nothing has to be sent."""

    dict, list, Namespace = dict, list, types.SimpleNamespace
    Lock, RLock, Queue = threading.Lock, threading.RLock, queue.Queue

    def __init__(self, *args, **kwargs):
        pass

    def Value(self, kind, value):
        return types.SimpleNamespace(value=value)

    def start(self, *args):
        pass

    shutdown = start

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


class Executor(concurrent.futures.Executor):
    """concurrent's pools."""

    def __init__(self, *args, initializer=None, initargs=(), **kwargs):
        if initializer is not None:
            initializer(*initargs)

    def submit(self, function, /, *args, **kwargs):
        future = concurrent.futures.Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def spawn(function, args=(), nprocs=1, *more, **kwargs):
    """The first of the workers."""
    return function(0, *args)


def ended(command=(), *args, text=False, universal_newlines=False, encoding=None, **kwargs):
    """A program that was asked for and has said nothing."""
    said = "" if text or universal_newlines or encoding else b""
    return subprocess.CompletedProcess(command, 0, said, said)


def pools():
    """Pools work in turn, in a process that is thrown away, or that others are forked from."""
    for module in (multiprocessing, torch.multiprocessing):
        module.Pool = Pool
        module.cpu_count = lambda: 1
        module.set_start_method = lambda *args, **kwargs: None
    multiprocessing.get_context = torch.multiprocessing.get_context = lambda *args: multiprocessing
    torch.multiprocessing.spawn = spawn
    concurrent.futures.ProcessPoolExecutor = concurrent.futures.ThreadPoolExecutor = Executor


def processes():
    """A process that is started runs at once, here, and what processes share is here."""
    for module in (multiprocessing, torch.multiprocessing):
        module.Manager = Manager
    process = multiprocessing.process.BaseProcess
    process.start, process.exitcode = (lambda self: self.run()), 0
    process.join = lambda self, timeout=None: None
    process.is_alive = lambda self: False


def install():
    """In a process that is thrown away."""
    pools()
    subprocess.run = ended
    subprocess.call = subprocess.check_call = lambda *args, **kwargs: 0
    subprocess.check_output = lambda *args, **kwargs: ended(*args, **kwargs).stdout
    subprocess.getoutput = lambda *args: ""
