"""What goes into a run and what comes out of it: plain frozen values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec

from engine.errors import Message, Said

Values = dict[str, Any]  # names -> ndarray, number, str, None, or {"odd": what it was}


class Tree(msgspec.Struct, frozen=True):
    """A model's code: files by POSIX path below `root`, importable from each of `roots`."""

    root: str
    roots: tuple[str, ...]
    files: Mapping[str, bytes]
    roles: Mapping[str, str]  # role -> "module:name"
    eager: tuple[str, ...] = ()  # modules that are imported before anything is measured

    def module(self, path: str) -> str:
        """The name that a file is imported by: "src/a/b.py" is a.b, below the root "src"."""
        roots = [root for root in self.roots if not root or path.startswith(f"{root}/")]
        stem = path.removeprefix(f"{max(roots, key=len, default='')}/").removesuffix(".py")
        return stem.removesuffix("/__init__").replace("/", ".")

    def replaced(self, files: Mapping[str, bytes]) -> Tree:
        """The same tree with some files' bytes replaced."""
        return msgspec.structs.replace(self, files={**self.files, **files})


UNRUN = "not run"  # why there is no answer of a job whose turn never came


class Frame(msgspec.Struct, frozen=True, array_like=True):
    """One traceback line in the learner's (or a pack's) files."""

    path: str
    line: int
    function: str
    text: str

    @property
    def told(self) -> Message:
        """As a traceback has it, in one line."""
        return Message(
            "{path}:{line} in {function}: {text}",
            path=self.path, line=self.line, function=self.function, text=self.text,
        )  # fmt: skip


class Raised(msgspec.Struct, frozen=True):
    """An exception, as data. `mentions`: what a reference wants its message to name."""

    type: str
    ancestors: tuple[str, ...] = ()
    message: str = ""
    frames: tuple[Frame, ...] = ()
    mentions: tuple[str, ...] = ()


class Outcome(msgspec.Struct, frozen=True):
    """What one probe did on one input.

    `stopped`: None, or why there is no answer: "timeout", "output", "died", "not run". `running`: the
    lines that were running when the time was over, outermost first. `output`: what was printed.
    `changed`: names of inputs that the call modified. `seconds`: of processor time, for the call alone.
    `ran`: the functions of the tree that ran, as "path:first line"; None where nobody looked.
    """

    values: Values = {}
    raised: Raised | None = None
    changed: tuple[str, ...] = ()
    seconds: float = 0.0
    stopped: str | None = None
    status: int = 0
    output: str = ""
    running: tuple[Frame, ...] = ()
    trace: tuple[Any, ...] = ()
    ran: frozenset[str] | None = None

    @property
    def unwritten(self) -> bool:
        """Whether the call came to a part that is not written yet."""
        return self.raised is not None and self.raised.type == "NotImplementedError"


CALL_VARIANTS = {
    "direct": Message("forward() called by itself"),
    "fortran": Message("arrays with their first axis innermost in memory"),
    "strided": Message("arrays that are every other number of a larger one"),
    "reused": Message("arrays that held other numbers a moment before"),
    "primed": Message(
        "called before and afterwards with other numbers in the parameters and arguments"
    ),
    "swapped": Message("called before with two numbers of a parameter or an argument exchanged"),
    "resized": Message("called before with more positions, then with one"),
    "stepped": Message("called before an optimiser's step that moved the parameters"),
    "doubled": Message(
        "called twice, and a quarter of one result added to three quarters of the other"
    ),
    "beside": Message("beside others of its kind, with other settings, that were made later"),
    "nested": Message("called from a script, sixty frames deep"),
    "outermost": Message("called from a line that nothing has called, as at a prompt"),
    "inside": Message("called from a module with a name of the package's"),
}
LATE = "late"  # hundreds of calls before the one that counts
# which no honest code meets: the child has them at the level exam alone
EXAM_VARIANTS = frozenset({"swapped", "nested", "outermost", "inside", LATE})
SMALL = "small"


class Constraint(msgspec.Struct, frozen=True):
    """What a drawn input has to meet: a number that something about it comes near, a "size" of it, the
    "entries" of an array, a "value" in it, or the "calls" before the one that counts; or the name of the
    module, and of the functions, that are the "caller"; or a "pattern" that its numbers follow; or
    "settings" that are those of another regime.

    name: of a caller; SMALL for a size as small as can be, which the change need not mention.
    which: of the sizes or values that there are. also: beside a size, a number that a value comes
    near; way: which value. settings: names of arguments, some of which come from the first of these
    regimes in which they are others.
    """

    kind: str
    number: float = 0.0
    which: int = 0
    name: str = ""
    also: float = 0.0
    way: int = 0
    settings: tuple[str, ...] = ()
    regimes: tuple[str, ...] = ()


class Draw(msgspec.Struct, frozen=True):
    """One input to be drawn: which probe of which component, in which regime, from which seed.

    `call_variant`: how it is given to the learner's code, which must not matter: a mode of the pack, or
    one of CALL_VARIANTS (child/call_variants.py). `turn`: how many draws of the component come in this
    call variant before.
    `repeats`: calls before the one that counts, in the call variant LATE; 0: as many as usual.
    """

    component: str
    probe: str
    regime: str
    seed: int
    dtype: str = "float64"
    call_variant: str = ""
    constraint: Constraint | None = None
    turn: int = 0
    repeats: int = 0


class Case(msgspec.Struct, frozen=True):
    """A drawn input with what the reference and its variants answer ("" is the reference).

    `declined`: there is none, as nothing about this input can meet the constraint.
    """

    draw: Draw
    inputs: Values
    expected: Mapping[str, Outcome]
    named: Values = {}
    declined: bool = False


class RunOptions(msgspec.Struct, frozen=True):
    """What else is wanted of a run.

    trace: what the recorder of values keeps, None for none. covered: the files of which it is noted what
    functions run. skips: how many jobs may run out of time before the rest is given up.
    """

    trace: Mapping[str, Any] | None = None
    covered: Collection[str] = ()
    skips: int = 0


PLAIN_RUN = RunOptions()


class Sandbox(msgspec.Struct, frozen=True):
    """What the machine offers the child that runs learner code."""

    python: tuple[int, int, int]
    numpy: str | None
    landlock: int  # version of its interface, 0 for none
    seccomp: bool
    torch: str | None = None

    @property
    def complete(self) -> bool:
        """Whether nothing of CONFINEMENTS is missing."""
        return all(one.found(self) for one in CONFINEMENTS.values())


class Confinement(msgspec.Struct, frozen=True):
    """A wall of the kernel's around learner code. found: what there is of it, "" where it is missing.
    lacking: what learner code could do then.
    """

    found: Callable[[Sandbox], Said]
    lacking: Said


CONFINEMENTS = {
    "Landlock": Confinement(
        lambda sandbox: (
            Message("version {number}", number=sandbox.landlock) if sandbox.landlock else ""
        ),
        Message("learner code could read other files"),
    ),
    "seccomp": Confinement(
        lambda sandbox: Message("filter in place") if sandbox.seccomp else "",
        Message("learner code could open sockets"),
    ),
}
