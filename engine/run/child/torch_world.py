"""The world that somebody's torch code finds here: one processor, no other device, float32, no compiler.

What code asks of another device happens on this one, low precision is computed as float32 (so that
relations between values are exact), `torch.compile` and processes of a cluster are as good as absent.
"""

from __future__ import annotations

import contextlib
import os
import re

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

ELSEWHERE = re.compile(r"^(cuda|mps|xpu|hip|hpu|npu|tpu|auto)(:\d+)?$")
DEVICES = ("cpu", "cuda", "mps", "xpu", "npu")
STAYS = ("cuda", "pin_memory", "mps", "xpu", "npu")  # methods that only move a tensor


def here(value):
    """A device that this machine lacks -> the processor."""
    if isinstance(value, torch.device) and value.type not in ("cpu", "meta"):
        return torch.device("cpu")
    if type(value) is str and ELSEWHERE.match(value):
        return "cpu"
    return value


def is_device(value):
    return isinstance(value, torch.device) or (
        type(value) is str and value.split(":")[0] in DEVICES
    )


def dense(tensor):
    """A tensor as it arrives on another device: a slice of a larger one comes as one by itself."""
    if tensor.layout != torch.strided:
        return tensor
    reach = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride())) + 1
    return tensor if tensor.numel() in (0, reach) else tensor.contiguous()


class OnProcessor(TorchFunctionMode):
    """Every torch call that names another device is made on the processor."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if name in STAYS and args and isinstance(args[0], torch.Tensor):
            return dense(args[0])
        moves = name == "to" and ("device" in kwargs or any(map(is_device, args)))
        if "device" in kwargs:
            kwargs["device"] = here(kwargs["device"])
        if name in ("to", "_parse_to"):
            args = tuple(here(value) for value in args)
        found = func(*args, **kwargs)
        return dense(found) if moves and isinstance(found, torch.Tensor) else found


class Idle:
    """A context that does nothing, also as a decorator: autocast and its like."""

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def __call__(self, function):
        return function


class Scaler:
    """A gradient scaler that is switched off. watch: is told what is asked of one that would be on."""

    watch = None

    def __init__(self, *args, enabled=True, **kwargs):
        self._wanted = bool(enabled)

    def _told(self, kind):
        watch = type(self).watch
        if self._wanted and watch is not None:
            watch(kind)

    def scale(self, loss):
        self._told("scale")
        return loss

    def step(self, optimizer, *args, **kwargs):
        self._told("stepped")
        return optimizer.step(*args, **kwargs)

    def unscale_(self, optimizer):
        self._told("unscale")

    def update(self, *args):
        self._told("update")

    def get_scale(self):
        return 1.0

    def is_enabled(self):
        return False

    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        return None


def plainly(function=None, *args, **kwargs):
    """`torch.compile` and the like: the function itself."""
    return function if function is not None else (lambda given: given)


def alone(module, *args, **kwargs):
    """A module wrapped for a cluster: itself, under the name `module`, too."""
    object.__setattr__(module, "module", module)
    object.__setattr__(module, "no_sync", contextlib.nullcontext)
    return module


class Generator(torch.Generator):
    """On the processor, whatever device it is asked for."""

    def __new__(cls, device="cpu"):
        return super().__new__(cls, "cpu")


def settle():
    """Change torch in this process, for good."""
    for name in ("bfloat16", "float16", "half"):
        setattr(torch, name, torch.float32)
    torch.Tensor.bfloat16 = torch.Tensor.half = torch.Tensor.float
    torch.nn.Module.bfloat16 = torch.nn.Module.half = torch.nn.Module.float
    torch.compile = torch.jit.script = plainly
    torch.autocast = torch.amp.autocast = torch.cuda.amp.autocast = Idle
    torch.amp.GradScaler = torch.cuda.amp.GradScaler = Scaler
    quiet = ("synchronize", "set_device", "empty_cache", "init", "reset_peak_memory_stats")
    for name in quiet:
        setattr(torch.cuda, name, lambda *args, **kwargs: None)
    for name in ("max_memory_allocated", "memory_allocated", "current_device", "device_count"):
        setattr(torch.cuda, name, lambda *args, **kwargs: 0)
    torch.cuda.get_device_name = lambda *args, **kwargs: "none"
    torch.nn.parallel.DistributedDataParallel = alone
    torch.nn.DataParallel = torch.nn.parallel.DataParallel = alone
    torch.set_default_device = lambda device: None
    torch.Generator = Generator
    _alone(torch.distributed)
    _versions()
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR"):
        os.environ.pop(name, None)


def _versions():
    """A package that is not installed, as the tree's own, has a version all the same."""
    from importlib import metadata

    real = metadata.version

    def version(name):
        try:
            return real(name)
        except metadata.PackageNotFoundError:
            return "0.0.0"

    metadata.version = version


def _alone(distributed):
    """A cluster of one process, which nobody has to start."""
    distributed.init_process_group = lambda *args, **kwargs: None
    distributed.destroy_process_group = distributed.barrier = lambda *args, **kwargs: None
    distributed.all_reduce = distributed.broadcast = lambda *args, **kwargs: None
    distributed.get_rank = lambda *args: 0
    distributed.get_world_size = lambda *args: 1
    distributed.is_initialized = lambda: False


def seed(number):
    """All generators that code may draw from."""
    import random
    import sys

    random.seed(number)
    torch.manual_seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number % (1 << 32))


class Median(TorchDispatchMode):
    """Every uniform number that torch draws is its median, and of two outcomes the likelier one comes: what
    drops less than a half drops nothing. median: of the numbers between 0 and 1, a bit off 0.5, as on which
    side of it a half itself falls depends on how code compares.
    """

    def __init__(self, median):
        super().__init__()
        self._median = median

    @classmethod
    def _should_skip_dynamo(cls):
        """Nothing is compiled here; to say so torch would import its compiler, which takes seconds."""
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name, made = func._opname, func(*args, **(kwargs or {}))
        if name in ("rand", "rand_like"):
            made.fill_(self._median)
        elif name == "uniform_":
            low, high = (*args[1:], *(0.0, 1.0)[len(args) - 1 :])
            made.fill_(low + (high - low) * self._median)
        elif name in ("bernoulli", "bernoulli_"):
            p = args[1] if len(args) > 1 else args[0] if name == "bernoulli" else 0.5
            made.copy_(torch.as_tensor(p) > self._median)
        return made
