"""One process stands for many: pools work in turn, a spawned worker is called, other programs end at once."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import subprocess
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

    def apply_async(self, function, args=(), kwds=None, *more):
        made = function(*args, **(kwds or {}))
        return types.SimpleNamespace(get=lambda *a: made, wait=lambda *a: None, ready=lambda: True)

    def close(self, *args):
        pass

    join = terminate = close


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


def install():
    """In a process that is thrown away."""
    for module in (multiprocessing, torch.multiprocessing):
        module.Pool = Pool
        module.cpu_count = lambda: 1
        module.set_start_method = lambda *args, **kwargs: None
    multiprocessing.get_context = torch.multiprocessing.get_context = lambda *args: multiprocessing
    torch.multiprocessing.spawn = spawn
    concurrent.futures.ProcessPoolExecutor = concurrent.futures.ThreadPoolExecutor = Executor
    subprocess.run = ended
    subprocess.call = subprocess.check_call = lambda *args, **kwargs: 0
    subprocess.check_output = lambda *args, **kwargs: ended(*args, **kwargs).stdout
    subprocess.getoutput = lambda *args: ""
