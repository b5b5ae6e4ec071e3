"""The parent's side: start the zygote, ask it for servers, send work, believe only what returns.

    with Servers(pack, python=None) as servers:
        cases = servers.cases(draws, variants)
        outcomes = servers.outcomes(tree, jobs)

Nothing of a learner or a pack is imported here. A pack server holds a pack's files; a learner server
holds the texts of `call.py` and exactly one tree.
"""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from engine.errors import LearnerCodeError, SpecError
from engine.run.channel import Server
from engine.run.child import wire
from engine.run.concurrent import run_both, run_partitioned
from engine.run.decode import outcome_of, raised_of
from engine.run.jobs import Job
from engine.run.types import CALL_VARIANTS, LATE, Case, Draw, Frame, Outcome, Sandbox, Tree, Values
from engine.run.zygote import Zygote, taken, workdir

LIMIT = 10.0  # seconds of its own for one job, before anything is known of this code
HEALTHY_FACTOR = 20.0  # or this many times what the healthy code took
START_LIMIT = 60.0  # seconds for the interpreter to import numpy
LEAN_LIMIT = 3.0  # seconds for a draw that leans towards a number, which may make it large
MEMORY = 4 << 30  # bytes
PATIENCE = 600.0  # seconds in which a server that watches a limit tells that it was passed
RERUNS = 2  # how often the rest of a batch is taken up again after a child died
BESIDE = "+"  # ends the name of a second server, whose children are in `guise`
TRACED = "traced"  # the server that records what expressions give
END = -1  # in the place of a job's number
LATE_WORTH = 64  # as many ordinary jobs take as long as one in that call variant
SPLIT = 64  # jobs, from which on two children share them
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
Arrived = Callable[[int, Outcome], None]  # a job's position, and what it gave


class How(msgspec.Struct, frozen=True):
    """How a child works through its jobs: `limit`, seconds for each; `trace`: what the recorder of
    values keeps, None for none; `covered`: the files of which it is noted what functions run.
    """

    limit: float
    trace: Mapping[str, Any] | None = None
    covered: tuple[str, ...] = ()


class Servers:
    """Warm servers for one command; a context manager that leaves no process behind.

    pack: the pack's files, {"pack/<component>/call.py": text, ...}.
    python: the learner's interpreter, None for the engine's own.
    hidden: paths that learner code must never read.
    modes: methods -> the roles whose instances have them, for jobs in that call variant.
    updates: the role of the optimiser that moves parameters, for jobs in the call variant "stepped".
    """

    def __init__(
        self,
        pack: Mapping[str, bytes],
        *,
        python: str | None = None,
        hidden: Sequence[Path] = (),
        modes: Mapping[str, Sequence[str]] = {},
        updates: str = "",
    ) -> None:
        every = sorted({role for some in modes.values() for role in some})
        call_variants = {*CALL_VARIANTS, LATE} - {
            "nested",
            "outermost",
            "inside",
        }  # these add no frame of their own
        watched = dict.fromkeys(call_variants, every)
        self._made = {**watched, **modes}  # roles, by call variant
        self._updates = updates
        self._modes = ["", *modes]  # what follows on priming, by turns
        self._pack = dict(pack)
        self._calls = {path: text for path, text in pack.items() if path.endswith("/call.py")}
        self._python = python
        self._hidden = [str(path) for path in (*hidden, *own_paths())]
        self._zygotes: list[Zygote] = []
        self._servers: dict[str, Server] = {}
        self._held: dict[str, Tree] = {}
        self._prepared: defaultdict[str, set[str]] = defaultdict(set)  # components, by server
        self._workdir = ""
        self._starting = threading.Lock()  # two may ask for a server at the same time
        self.sandbox = Sandbox((0, 0, 0), None, 0, False)
        self.limit = LIMIT
        self.progress: Callable[[str], None] = lambda _: None  # told after each answer
        self._answered = 0

    def __enter__(self) -> Servers:
        own = taken()
        self._zygotes = [own] if own else []
        self._workdir = own.workdir if own else workdir()
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        while self._servers:  # after Ctrl-C a thread may still be starting one
            self._servers.popitem()[1].close()
        for zygote in self._zygotes:
            zygote.leave()
        for zygote in self._zygotes:
            zygote.end()
        self._zygotes.clear()
        shutil.rmtree(self._workdir, ignore_errors=True)

    def start(self) -> None:
        """Start the interpreter(s); a second zygote only where the learner has their own."""
        if not self._zygotes:
            self._zygotes.append(Zygote(sys.executable, self._workdir))
        if self._python and Path(self._python) != Path(sys.executable):
            self._zygotes.append(Zygote(self._python, self._workdir))
        self._greeted = False
        self._failed: LearnerCodeError | None = None

    def _greet(self) -> None:
        """Read what each zygote says of itself, once, when the first server is asked for."""
        if self._failed is not None:
            raise self._failed
        if self._greeted:
            return
        try:
            self._read_greetings()
        except LearnerCodeError as error:
            self._failed = error
            raise
        self._greeted = True

    def _read_greetings(self) -> None:
        for zygote in self._zygotes:
            python = zygote.python
            hello = Server(zygote.control).receive(START_LIMIT)
            if hello is None:
                raise LearnerCodeError(
                    f"The interpreter {python} did not start. It must be Python 3.9 or newer.",
                    next="Put another under `python:` in learner.yaml, then try `engine doctor`.",
                )
            if hello["numpy"] is None:
                raise LearnerCodeError(
                    f"The interpreter {python} has no numpy.",
                    next="Install numpy there, or set `python:` in learner.yaml.",
                )
            self.sandbox = msgspec.convert(hello, Sandbox)

    def _server(self, name: str) -> Server:
        with self._starting:
            return self._servers.get(name) or self._started(name)

    def _started(self, name: str) -> Server:
        self._greet()
        ours, theirs = socket.socketpair()
        learner = name not in ("pack", "pack" + BESIDE)
        zygote = self._zygotes[-1 if learner else 0]
        socket.send_fds(zygote.control, [b"f"], [theirs.fileno()])
        theirs.close()
        server = self._servers[name] = Server(ours)
        workdir = tempfile.mkdtemp(prefix=f"{len(self._servers)}-", dir=self._workdir)
        server.send(
            {
                "do": "hold",
                "root": "/engine",
                "texts": self._calls if learner else self._pack,
                "workdir": workdir,
                "memory": MEMORY,
                "home": os.path.expanduser("~") if learner and name.endswith(BESIDE) else "",
                "confined": learner,
                "hidden": self._hidden,
            }
        )
        return server

    def _drop(self, name: str) -> None:
        self._servers.pop(name).close()
        self._held.pop(name, None)
        self._prepared.pop(name, None)

    def cases(
        self,
        draws: Sequence[Draw],
        variants: Iterable[str] = (),
        *,
        given: Sequence[Values] = (),
        healthy: bool = True,
    ) -> list[Case]:
        """Draw the inputs and ask the reference, and its variants, for each.

        `given` replaces the drawn inputs (then `draw` only names the probe). healthy: whether the
        reference itself is wanted; without it and without variants only inputs are drawn.
        Raises SpecError when the pack's own code fails.
        """
        wanted = (*([""] if healthy else []), *(name for name in variants if name))
        return self._cases(draws, [wanted] * len(draws), given)

    def cases_together(self, *groups: tuple[Sequence[Draw], Iterable[str]]) -> list[list[Case]]:
        """Several lists of draws, each with the names that the reference is asked under ("" itself,
        else a variant), in one run. Raises SpecError.
        """
        draws: list[Draw] = []
        wanted: list[tuple[str, ...]] = []
        for group, names in groups:
            draws += group
            wanted += [tuple(names)] * len(group)
        made = iter(self._cases(draws, wanted))
        return [list(itertools.islice(made, len(group))) for group, _ in groups]

    def _cases(
        self,
        draws: Sequence[Draw],
        wanted: Sequence[Sequence[str]],
        given: Sequence[Values] = (),
    ) -> list[Case]:
        if not draws:
            return []
        half = self._beside("pack", len(draws))
        if not half:
            return self._cases_of("pack", draws, wanted, given)

        def part(name: str, places: Sequence[int]) -> list[Case]:
            names = [wanted[i] for i in places]
            inputs = [given[i] for i in places] if given else ()
            return self._cases_of(name, [draws[i] for i in places], names, inputs)

        return run_partitioned([1] * len(draws), partial(part, "pack"), partial(part, half))

    def _cases_of(
        self,
        server: str,
        draws: Sequence[Draw],
        wanted: Sequence[Sequence[str]],
        given: Sequence[Values],
    ) -> list[Case]:
        work = [
            {
                "kind": "case",
                "component": draw.component,
                "probe": draw.probe,
                "regime": draw.regime,
                "seed": draw.seed,
                "dtype": draw.dtype,
                "variants": list(wanted[i]),
                **({"inputs": given[i]} if given else {}),
                **(
                    {"constraint": msgspec.structs.asdict(draw.constraint)}
                    if draw.constraint
                    else {}
                ),
            }
            for i, draw in enumerate(draws)
        ]
        constraints = any(draw.constraint for draw in draws)
        answers, end = self._run(server, work, How(LEAN_LIMIT if constraints else START_LIMIT))
        cases = []
        for i, draw in enumerate(draws):
            where = f"{draw.component}/cases.py, reference.py: probe {draw.probe}, {draw.regime}"
            if i not in answers and draw.constraint:  # too large an input
                cases.append(Case(draw, {}, {}, declined=True))
                continue
            if i not in answers:
                raise SpecError(f"The pack's code gave no answer ({end['end']}).", where=where)
            answer = answers[i]
            if answer.get("wire"):
                raise SpecError(f"The pack's code recorded {answer['wire']}.", where=where)
            if answer["raised"] is not None:
                raised = raised_of(answer["raised"])
                assert raised is not None
                at = raised.frames[-1] if raised.frames else Frame("", 0, "", "")
                raise SpecError(
                    f"The pack's code raised {raised.type}: {raised.message}",
                    where=f"{where} ({at.path}:{at.line}: {at.text})",
                )
            expected = {
                name: Outcome(values=found["values"], raised=raised_of(found["raised"]))
                for name, found in answer["expected"].items()
            }
            declined = bool(answer.get("declined"))
            cases.append(Case(draw, answer["inputs"], expected, answer["named"], declined))
        return cases

    def outcomes(
        self,
        tree: Tree,
        jobs: Sequence[Job],
        *,
        server: str = "learner",
        trace: Mapping[str, Any] | None = None,
        covered: Iterable[str] = (),
        limit: float | None = None,
        skips: int = 0,
        arrived: Arrived | None = None,
    ) -> list[Outcome]:
        """Run probes on a tree: one Outcome a job, in order. `arrived` is told of each that ended by
        itself, with its position, as it comes. covered: files of which to note what functions ran.

        One child works through the jobs, or two, each through half of them; when it dies the
        rest is taken up by another, when it runs out of time the rest is "not run", but after the
        first `skips` times. Trees that must not know of each other are given `server` names of their
        own.
        """
        how = How(limit or self.limit, trace, tuple(sorted(covered)))
        half = self._beside(server, 0 if trace else len(jobs))
        if not half:
            return self._outcomes(tree, jobs, server, how, arrived, skips)

        def part(name: str, places: Sequence[int]) -> list[Outcome]:
            told = _placed(arrived, places)
            return self._outcomes(tree, [jobs[i] for i in places], name, how, told, skips)

        costs = [LATE_WORTH if job.call_variant == LATE else 1 for job in jobs]
        return run_partitioned(costs, partial(part, server), partial(part, half))

    def several(
        self, asked: Sequence[tuple[Tree, Sequence[Job], float]], *, server: str = "learner"
    ) -> list[list[Outcome]]:
        """`outcomes` of a tree or two, each with its jobs and their limit, at the same time.

        Two trees are held by two servers, however many processors there are.
        """
        if len(asked) == 1:
            ((tree, jobs, limit),) = asked
            return [self.outcomes(tree, jobs, server=server, limit=limit)]
        (one, first, wait), (two, second, other) = asked
        return [
            *run_both(
                lambda: self._outcomes(one, first, server, How(wait)),
                lambda: self._outcomes(two, second, server + BESIDE, How(other)),
            )
        ]

    def _outcomes(
        self,
        tree: Tree,
        jobs: Sequence[Job],
        server: str,
        how: How,
        arrived: Arrived | None = None,
        skips: int = 0,
    ) -> list[Outcome]:
        found: dict[int, Outcome] = {}

        def answered(position: int, answer: Any) -> None:
            found[rest[position]] = outcome_of(answer, how.limit)
            if arrived is not None:
                arrived(rest[position], found[rest[position]])

        for _ in range(max(RERUNS, skips) + 1):
            rest = [i for i in range(len(jobs)) if i not in found]
            if not rest:
                break
            self._hold(server, tree)
            work = [
                {
                    "kind": "probe",
                    "component": jobs[i].component,
                    "probe": jobs[i].probe,
                    "inputs": jobs[i].inputs,
                    "seed": jobs[i].seed,
                    "call_variant": jobs[i].call_variant,
                    "caller": jobs[i].caller,
                    "repeats": jobs[i].repeats,
                    "made": list(self._made.get(jobs[i].call_variant, ())),
                    "turn": jobs[i].turn,
                    "then": self._modes[jobs[i].turn % len(self._modes)],
                    "updates": self._updates,
                }
                for i in rest
            ]
            _, end = self._run(server, work, how, answered)
            missing = next((i for i in rest if i not in found), None)
            if missing is None:
                break
            stopped = end["end"] if end["end"] in ("timeout", "output") else "died"
            found[missing] = Outcome(stopped=stopped, status=end["status"], output=end["output"])
            if stopped != "died" and not skips:
                break
            skips = max(0, skips - (stopped != "died"))
        unrun = Outcome(stopped="not run")
        return [found.get(i, unrun) for i in range(len(jobs))]

    def _beside(self, name: str, jobs: int) -> str:
        """A second server for half of the jobs, where they are many; else ""."""
        return name + BESIDE if jobs >= SPLIT else ""

    def sandbox_of(self, name: str) -> Sandbox:
        """What the machine offers; starts a server where none was needed yet."""
        self._server(name)
        return self.sandbox

    def missing_roles(self, tree: Tree) -> dict[str, str]:
        """The names of the contract that the tree does not offer -> what went wrong."""
        self._hold("learner", tree)
        work = [{"kind": "roles", "roles": list(tree.roles)}]
        answers, end = self._run("learner", work, How(self.limit))
        values = answers[0].get("values") if isinstance(answers.get(0), dict) else None
        if not isinstance(values, dict):
            return {"(all)": f"importing the code ended the process ({end['end']})"}
        return {role: str(error) for role, error in values.items() if error is not None}

    def load_tree(self, tree: Tree, *names: str) -> None:
        """Give servers the tree that they will run, or trace, each with the one that works beside it;
        they compile it while something else goes on. Raises LearnerCodeError.
        """
        for name in names:
            self._hold(name, tree)
            if CORES > 1 and name != TRACED:
                self._hold(name + BESIDE, tree)

    def precompile(self, *components: str) -> None:
        """Have the pack's code for these components compiled while something else goes on, of many also by
        the server that works beside it. Raises LearnerCodeError.
        """
        for name in ("pack", "pack" + BESIDE) if len(components) > 1 and CORES > 1 else ("pack",):
            fresh = [one for one in components if one not in self._prepared[name]]
            if not fresh:
                continue
            try:
                self._server(name).send({"do": "warm", "components": fresh})
            except OSError:  # it died since it was last used: whoever needs it starts another
                self._drop(name)
            else:
                self._prepared[name].update(fresh)

    def _hold(self, name: str, tree: Tree) -> None:
        """Give a server the tree that it is to run, unless it has it already."""
        if self._held.get(name) is tree:
            return
        message = {
            "do": "tree",
            "root": tree.root,
            "roots": tree.roots,
            "files": tree.files,
            "roles": tree.roles,
            "eager": tree.eager,
            "trace": name == TRACED,
        }
        try:
            self._server(name).send(message)
        except OSError:  # it died since it was last used: another takes its place
            self._drop(name)
            self._server(name).send(message)
        self._held[name] = tree

    def _run(
        self,
        name: str,
        work: list[dict[str, Any]],
        how: How,
        each: Callable[[int, Any], None] = lambda *_: None,
    ) -> tuple[dict[int, Any], dict[str, Any]]:
        """What each job answered, by its number, and how the run ended. each: told as they come."""
        answers: dict[int, Any] = {}
        with closing(self._messages(name, work, how)) as messages:
            for number, message in messages:
                if number == END:
                    return answers, message
                answers[number] = message
                each(number, message)
                self._answered += 1
                self.progress(f"{self._answered} measurements")
        raise AssertionError("a run has an end")

    def _messages(
        self, name: str, work: list[dict[str, Any]], how: How
    ) -> Generator[tuple[int, Any], None, None]:
        """The answers as they come, each with its job, at last END with how the run ended.

        Only what the server does is taken for its failure; where the reader of these fails, the
        server is given up all the same, as it stands in the middle of its answers.
        """
        ended = False
        server = self._server(name)
        try:
            server.send({"do": "run", "jobs": work, **msgspec.structs.asdict(how)})
            while (message := server.receive(PATIENCE + how.limit)) is not None:
                if "end" in message:
                    ended = True
                    yield END, message
                    return
                try:  # what follows a child wrote
                    answer = server.receive(PATIENCE)
                except wire.WireError as error:
                    answer = {"wire": f"an answer that cannot be read ({error})"}
                if answer is None:
                    break
                yield message["answer"], answer
        except OSError:
            pass
        finally:
            if not ended:
                self._drop(name)
        yield END, {"end": "gone", "status": 0, "output": ""}


def _placed(arrived: Arrived | None, places: Sequence[int]) -> Arrived | None:
    """For jobs that stand at these places among others."""
    return (lambda i, outcome: arrived(places[i], outcome)) if arrived else None


def own_paths() -> list[Path]:
    """Where the engine itself lies on this machine: closed to learner code."""
    package = Path(__file__).resolve().parent.parent
    return [package, package.parent / "exercises", package.parent / "learners"]
