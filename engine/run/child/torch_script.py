"""Runs a training script as `__main__` in a small world, and tells what happened, in order."""

from __future__ import annotations

import os
import re
import signal
import sys
import types

from engine.run.child import (
    runner,
    torch_arguments,
    torch_files,
    torch_load,
    torch_shrink,
    torch_stubs,
    torch_world,
)
from engine.run.child.torch_data import Data
from engine.run.child.torch_events import Events, Stop
from engine.run.child.torch_load import above, install, text_of
from engine.run.child.torch_names import Names
from engine.run.child.torch_saved import watch_saves
from engine.run.child.torch_small import World

RELATIVE = re.compile(rb"^from\s+\.", re.M)  # of a script that can only be run as a module


def observe(job, tree):
    """{"events", "ended", "failed", "made_up"}; ended: "enough", "finished", "time" or "failed"."""
    names = Names(job["rules"])
    small = torch_shrink.Small(job, names, tree.files)
    path = job["path"]

    def transform(relative, source):
        text = source.decode("utf-8", "replace").lstrip("\ufeff")
        return torch_shrink.shrunk(text, small, job["lenient"])

    program = tree.transformed(transform)
    program.roots = Roots(tree.root, above(path, tree.files))
    notes = []
    install(program, notes, names)
    folder = path.rpartition("/")[0]
    world, events = World(tree, job, small, folder), Events(tree, job["steps"], job["scales"])
    world.install()
    torch_files.install(program, world.disk, lambda text: torch_shrink.shrunk(text, small))
    set_up(program, job, world, small)
    events.install()
    data = Data(events, job, tree)
    data.install()
    watch_saves(events, job["progress"])
    given = job["arguments"]
    main = main_of(tree, path, torch_arguments.small_words(given, small) if job["told"] else given)
    ended, failed = "finished", None
    program.script = path
    signal.signal(signal.SIGPROF, late)  # processor time
    signal.setitimer(signal.ITIMER_PROF, job["seconds"])
    signal.signal(signal.SIGALRM, late)  # for a script that waits
    signal.alarm(8 * job["seconds"])
    torch_world.seed(job["seed"])
    sys.setprofile(lambda *told: (events.profile(*told), data.profile(*told)))
    try:
        code = program.code(path)
        with torch_world.OnProcessor():
            if main.__dict__.get("__package__"):
                __import__(main.__package__)
            exec(code, main.__dict__)
            if job["call"] and not events.steps:
                exec(job["call"], main.__dict__)
    except Stop as stop:
        ended = str(stop) or "enough"
    except BaseException as error:
        ended, failed = "failed", runner.failure(error, tree)
    finally:
        sys.setprofile(None)
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
    return {
        "events": events.found,
        "ended": ended,
        "error": failed,
        "made_up": sorted({*world.made_up, *notes})[:40],
        "absent": sorted(set(world.disk.absent))[:40],
    }


def set_up(program, job, world, small):
    """Run the scripts that make files, then forget what they asked for; be lenient where that is asked."""
    for maker, given in job["before"]:
        made_first(program, maker, torch_arguments.small_words(given, small), job["seconds"] / 3)
        world.note("%s was run first" % maker)
    world.disk.absent.clear()
    world.disk.lenient = job["lenient"]
    if job["lenient"]:
        os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1")  # as a launcher would


class Roots(list):
    """The folders to import from: those that the script puts first on sys.path, then those that are given."""

    def __init__(self, root, folders):
        super().__init__(folders)
        self._start, self._first = root + "/", sys.path[:1]

    def __iter__(self):
        for entry in sys.path:
            if [entry] == self._first:
                break
            if (str(entry) + "/").startswith(self._start):
                yield str(entry)[len(self._start) :].strip("/")
        yield from super().__iter__()


def main_of(tree, path, words):
    """The module `__main__` of a script that is started with these arguments. Raises FileNotFoundError."""
    main = types.ModuleType("__main__")
    main.__file__ = tree.path(path)
    folder = path.rpartition("/")[0]
    if RELATIVE.search(text_of(tree, path)) and folder:
        main.__package__ = folder.replace("/", ".")
    sys.modules["__main__"] = main
    sys.argv = [tree.path(path), *words]
    return main


def made_first(program, path, words, seconds):
    """Run a script that makes files, for a while; how it ends does not matter."""
    main = main_of(program, path, words)
    program.script = path
    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        with torch_world.OnProcessor():
            exec(program.code(path), main.__dict__)
    except BaseException:
        pass
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    torch_load.forget(program)


def late(*_):
    """Stop, once: a second signal must not end what the first one began."""
    signal.alarm(0)
    signal.setitimer(signal.ITIMER_PROF, 0)
    raise Stop("time")


__all__ = ["observe", "torch_stubs"]
