"""One process stands for many: pools work in turn, a spawned worker is called, other programs end at once.

A process that is started works when it is waited for, by its name or by what it has to send: so it finds what
was put into its queues after its start.
"""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
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


WAITING = collections.deque()  # processes that were started and have not worked yet


def work(process):
    """Let a process work, unless it has. One that waits for what never comes ends there."""
    if process in WAITING:
        WAITING.remove(process)
        with contextlib.suppress(queue.Empty):
            process.run()


def wait(ready):
    """Let processes work until something is ready, or none is left."""
    while WAITING and not ready():
        work(WAITING[0])


class Queue(queue.Queue):
    """multiprocessing's queues: whoever finds one empty lets the others work, and waits for nothing else."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def empty(self):
        wait(self._qsize)
        return not self._qsize()

    def qsize(self):
        wait(self._qsize)
        return self._qsize()

    def get(self, block=True, timeout=None):
        wait(self._qsize)
        return super().get(block=False)

    def join(self):
        wait(lambda: not self.unfinished_tasks)

    def close(self):
        pass

    join_thread = cancel_join_thread = close


class Connection:
    """An end of a pipe."""

    def __init__(self, sent, received):
        self._sent, self._received = sent, received

    def send(self, value):
        self._sent.put(value)

    def recv(self):
        try:
            return self._received.get()
        except queue.Empty:
            raise EOFError from None

    def poll(self, timeout=None):
        return not self._received.empty()

    def close(self):
        pass

    send_bytes, recv_bytes = send, recv


def pipe(duplex=True):
    """Two ends; what is sent into the second comes out of the first."""
    one, other = Queue(), Queue()
    return Connection(one, other), Connection(other, one)


class Value:
    """A number that processes share."""

    def __init__(self, kind, value=0, **kwargs):
        self.value, self._lock = value, threading.RLock()

    def get_lock(self):
        return self._lock


class Array(list):
    """Numbers that processes share: as many, or these."""

    def __init__(self, kind, given, **kwargs):
        super().__init__([0] * given if isinstance(given, int) else given)
        self._lock = threading.RLock()

    def get_lock(self):
        return self._lock

    def get_obj(self):
        return self


class Manager:
    """What processes share, where there is one: nothing has to be sent."""

    dict, list, Namespace = dict, list, types.SimpleNamespace
    Lock, RLock, Event = threading.Lock, threading.RLock, threading.Event
    Queue = JoinableQueue = Queue
    Value, Array = Value, Array

    def __init__(self, *args, **kwargs):
        pass

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
    """A process that is started works here, and what processes share is here."""
    here = {"Manager": Manager, "Pipe": pipe, "Value": Value, "RawValue": Value}
    here.update(Array=Array, RawArray=Array)
    here.update(dict.fromkeys(("Queue", "JoinableQueue", "SimpleQueue"), Queue))
    locks = ("Lock", "RLock", "Event", "Condition", "Semaphore", "BoundedSemaphore", "Barrier")
    here.update({name: getattr(threading, name) for name in locks})
    for module in (multiprocessing, torch.multiprocessing):
        vars(module).update(here)
    process = multiprocessing.process.BaseProcess
    process.start, process.exitcode = (lambda self: WAITING.append(self)), 0
    process.join = lambda self, timeout=None: work(self)
    process.is_alive = lambda self: bool(work(self))
    process.terminate = process.kill = process.close = forget


def forget(process):
    """A process that is ended before anybody waited for it."""
    if process in WAITING:
        WAITING.remove(process)


def install():
    """In a process that is thrown away."""
    pools()
    subprocess.run = ended
    subprocess.call = subprocess.check_call = lambda *args, **kwargs: 0
    subprocess.check_output = lambda *args, **kwargs: ended(*args, **kwargs).stdout
    subprocess.getoutput = lambda *args: ""
