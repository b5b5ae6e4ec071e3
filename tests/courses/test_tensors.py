"""Probes of a contract in PyTorch: tensors there and back, seeds, a project that asks for its own version."""

from __future__ import annotations

import numpy as np
import pytest

from engine.inject.places import Recording
from engine.run.jobs import Job
from engine.run.servers import RunOptions, Servers
from engine.run.types import Tree

CALL = b"""
import torch

def back(learner, record, **given):
    record(**{name: learner.same(value) for name, value in given.items()})

def kinds(learner, record):
    made = learner.make()
    record(**made)

def noise(learner, record):
    record(noise=torch.randn(4))

def version(learner, record):
    record(version=learner.version())

def other(learner, record):
    learner.other()

def together(learner, record):
    record(**learner.together())

def sent(learner, record):
    record(**learner.sent())

def written(learner, record, x):
    learner.write(x)
"""
CODE = b"""
import concurrent.futures, importlib.metadata, multiprocessing, torch
from multiprocessing import Manager, Pipe, Pool, Process, Queue, Value

def same(x):
    return x

def make():
    whole = torch.arange(24.0).reshape(2, 3, 4)
    return {"turned": whole.mT, "half": whole.bfloat16(), "leaf": torch.ones(2, requires_grad=True),
            "nothing": torch.empty(0, 3), "complex": torch.zeros(2, dtype=torch.complex64),
            "nested": [torch.ones(1), 2]}

def version():
    return importlib.metadata.version("my-course")

def other():
    return importlib.metadata.version("nobody-has-this")

def put(key, value, found):
    found[key] = value

def double(n):
    return 2 * n

def together():
    with Manager() as manager:
        found = manager.dict()
        workers = [Process(target=put, args=(n, n * n, found)) for n in (1, 2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        shared = dict(found)
    with Pool(4) as pool:
        mapped = pool.map(double, [1, 2])
        late = pool.apply_async(double, (3,)).get()
    with concurrent.futures.ProcessPoolExecutor() as executor:
        other = list(executor.map(double, [4]))
    return {"shared": [shared[1], shared[2]], "mapped": mapped, "late": late, "other": other}

def doubled(tasks, results, seen):
    for n in iter(tasks.get, None):
        results.put(2 * n)
        with seen.get_lock():
            seen.value += 1

def answers(end):
    end.send(end.recv() + 1)

def sent():
    tasks, results, seen = Queue(), Queue(maxsize=1), Value("i", 0)
    workers = [Process(target=doubled, args=(tasks, results, seen)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for n in (1, 2, 3, None, None):
        tasks.put(n)
    found = sorted(results.get() for _ in range(3))
    for worker in workers:
        worker.join()
    near, far = Pipe()
    other = Process(target=answers, args=(far,), daemon=True)
    other.start()
    near.send(4)
    return {"found": found, "seen": seen.value, "alive": any(worker.is_alive() for worker in workers),
            "answered": near.recv()}

def write(x):
    x.mul_(2)
"""
ROLES = ("same", "make", "version", "other", "together", "sent", "write")
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")


@pytest.fixture(scope="module")
def run():
    pytest.importorskip("torch", reason="torch is not installed")
    files = {"code.py": b"", "mine/__init__.py": CODE, "pyproject.toml": b'name = "my-course"\n'}
    tree = Tree("/learner", ("",), files, {name: f"mine:{name}" for name in ROLES})
    with Servers({"pack/part/call.py": CALL}, torch=True) as servers:
        yield lambda *jobs: servers.outcomes(tree, [Job("part", *job) for job in jobs])


def test_arrays_of_every_dtype_come_back_as_they_went(run):
    rng = np.random.default_rng(0)
    given = {f"x_{name}": (10 * rng.random((3, 2))).astype(name) for name in DTYPES}
    given |= {"scalar": np.array(2.5, "float32"), "empty": np.zeros((0, 4), "float32")}
    found = run(("back", given))[0]
    assert found.raised is None
    for name, array in given.items():
        assert found.values[name].dtype == array.dtype
        assert np.array_equal(found.values[name], array)


def test_what_is_no_plain_array_is_told_or_laid_out(run):
    values = run(("kinds", {}))[0].values
    assert np.array_equal(values["turned"], np.arange(24.0).reshape(2, 3, 4).swapaxes(1, 2))
    assert values["half"] == {"odd": "a tensor of dtype bfloat16"}
    assert values["complex"] == {"odd": "a tensor of dtype complex64"}
    assert values["leaf"].tolist() == [1.0, 1.0]
    assert values["nothing"].shape == (0, 3)
    assert values["nested"]["list"][1] == 2


def test_one_seed_gives_one_noise(run):
    first, again, other = run(("noise", {}, 5), ("noise", {}, 5), ("noise", {}, 6))
    assert np.array_equal(first.values["noise"], again.values["noise"])
    assert not np.array_equal(first.values["noise"], other.values["noise"])


def test_a_project_may_ask_for_its_own_version_and_for_no_other(run):
    own, other = run(("version", {}), ("other", {}))
    assert own.values["version"] == "0"
    assert other.raised.type == "PackageNotFoundError"


def test_an_input_that_is_written_to_is_noticed(run):
    assert run(("written", {"x": np.ones(3, "float32")}))[0].changed == ("x",)


def test_pools_and_processes_work_in_the_child(run):
    """Which may start none, and may not wait for any."""
    values = run(("together", {}))[0].values
    assert [values[name] for name in ("shared", "mapped", "other")] == [
        {"list": [1, 4]}, {"list": [2, 4]}, {"list": [8]},
    ]  # fmt: skip
    assert values["late"] == 6


def test_tensors_are_traced_where_expressions_held_them():
    pytest.importorskip("torch", reason="torch is not installed")
    code = b"def half(x):\n    scale = 0.5\n    doubled = x + x\n    return doubled * scale\n"
    tree = Tree("/learner", ("",), {"mine.py": code}, {"half": "mine:half"})
    call = b"def half(learner, record, x):\n    record(y=learner.half(x))\n"
    x = np.arange(6, dtype="float32").reshape(2, 3)
    with Servers({"pack/part/call.py": call}, torch=True) as servers:
        options = RunOptions(trace={"sizes": [1, 6], "cap": 1 << 20})
        (found,) = servers.outcomes(tree, [Job("part", "half", {"x": x})], options=options)
    recording = Recording(found.trace, "float32")
    assert {site.line for site in recording.holding(2 * x)} == {3, 4}
    assert {site.line for site in recording.holding(np.array(0.5))} == {4}


def test_what_processes_send_each_other_arrives(run):
    """A queue that is filled after the workers' start, a shared number, a pipe."""
    values = run(("sent", {}))[0].values
    assert values["found"] == {"list": [2, 4, 6]}
    assert (values["seen"], values["alive"], values["answered"]) == (3, False, 5)
