"""The spec language: what an author may write in `pack.yaml`, `build.yaml` and `<break>.yaml`.

Frozen structs; every field is documented in `exercises/README.md`, and `engine dev schema` prints
them as JSON Schema.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Text = dict[str, str]  # language -> text
Dtype = Annotated[str, Meta(pattern=r"^float(32|64)$")]
Rounding = dict[Dtype, dict[str, Annotated[float, Meta(ge=1, le=1000)]]]  # by dtype and regime
Id = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
Scalar = str | int | float | bool | None
BEFORE = "before"  # what a symptom is like where it is as it was in healthy code


class Spec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base of all specs: keyword only, no unknown keys."""


# ---------------------------------------------------------------- pack.yaml


class Component(Spec, frozen=True, kw_only=True):
    """A part of the model. `uses`: the components whose behaviour it depends on; `seldom`: the probes in
    which it does, where they are few: after a fix of one of those they are measured, with some others, in
    one regime; `costly`: the probes that take long, of which a fix gets fewer draws; `settings`: arguments
    of probes that may be those of any other regime, as an eps goes with any input.
    """

    uses: tuple[str, ...] = ()
    seldom: tuple[str, ...] = ()
    costly: tuple[str, ...] = ()
    settings: dict[str, tuple[str, ...]] = {}
    where: str = ""  # the file a learner edits, relative to their tree


class DtypeProbe(Spec, frozen=True, kw_only=True):
    """The probe that records the learner's `dtype`."""

    component: str
    probe: str


class Pack(Spec, frozen=True, kw_only=True):
    """A contract: roles -> import paths, components and what they use, the order of the course.

    `modes`: methods without arguments that change no value -> the roles whose instances have them.
    Judgements call them in some of the draws. `updates`: the role of an optimiser, made of parameters and
    an `lr`, whose `step()` moves them. `coarse`: dtype -> a variant of the references that is right and
    keeps fewer digits, or reads what is open in another way: an input near a number decides nothing where
    that is seen.
    """

    title: Text
    framework: Literal["numpy"]
    languages: tuple[str, ...]
    template: str
    roots: tuple[str, ...]
    roles: dict[str, str]
    components: dict[str, Component]
    path: tuple[str, ...]
    dtype: DtypeProbe | None = None
    modes: dict[str, tuple[str, ...]] = {}
    updates: str = ""
    coarse: dict[str, str] = {}


# ---------------------------------------------------------------- shared


class Link(Spec, frozen=True, kw_only=True):
    """A source: a paper, a bug report, a page."""

    text: str
    url: str = ""


EVERY = ("every",)  # regimes of a check: see there


class Check(Spec, frozen=True, kw_only=True):
    """One thing that is measured: a probe in some regimes, and which of its values count.

    `values`: recorded names to compare (all that the reference records, when empty). `regimes` may be
    [every]: each regime of the probe in which other checks of the build look at some values and none looks
    at all of them, but for those in `but`. `rounding`: in these regimes right code of this dtype may be
    further from the reference than elsewhere, so many times as far.
    """

    id: Id
    shows: Text
    probe: str
    regimes: tuple[str, ...]
    but: tuple[str, ...] = ()
    rounding: Rounding = {}
    values: tuple[str, ...] = ()
    aspects: tuple[Literal["shape", "dtype", "value", "raised", "inputs"], ...] = (
        "raised",
        "shape",
        "dtype",
        "value",
        "inputs",
    )
    draws: Annotated[int, Meta(ge=1, le=64)] = 3


# ---------------------------------------------------------------- build.yaml


class Build(Spec, frozen=True, kw_only=True):
    """A build exercise: text, checks in an order that teaches, hints.

    `rounding`: of all its checks that have none of their own.
    """

    title: Text
    difficulty: Annotated[int, Meta(ge=1, le=4)]
    minutes: Annotated[int, Meta(ge=1)]
    objective: Text
    background: Text
    edit: str  # the file to write, relative to the learner's tree
    signature: str
    constraints: tuple[Text, ...]
    pitfalls: tuple[Text, ...]
    checks: Annotated[tuple[Check, ...], Meta(min_length=1)]
    hints: Annotated[tuple[Text, ...], Meta(min_length=1)]
    references: Annotated[tuple[Link, ...], Meta(min_length=1)]
    prerequisites: tuple[str, ...] = ()
    insight: Text = {}
    integration: Text = {}
    use: Text = {}
    questions: tuple[Question, ...] = ()
    rounding: Rounding = {}
    figures: dict[str, Figure] = {}
    stated: tuple[str, ...] = ()  # numbers in the texts that are set, not measured


class Option(Spec, frozen=True, kw_only=True):
    """A possible answer; `because` is said after it was chosen."""

    id: str
    text: Text
    because: Text = {}


class Figure(Spec, frozen=True, kw_only=True):
    """A number that texts state as `{name}`: what it says, and what it is when it is measured.

    `of`: arithmetic over what the probe records, `healthy.NAME` and `broken.NAME`, on the pack's
    model `on`, with the inputs that a learner is shown. Without a probe: arithmetic alone.
    """

    says: Annotated[str, Meta(pattern=r"^-?[0-9][0-9,]*(\.[0-9]+)?(e-?[0-9]+)?$")]
    of: str
    probe: str = ""  # component.probe
    regime: str = "shown"
    on: str = "plain"


class Range(Spec, frozen=True, kw_only=True):
    """Whole numbers from `low` to `high` in steps, of which one is drawn."""

    low: int
    high: int
    step: Annotated[int, Meta(ge=1)] = 1


class Question(Spec, frozen=True, kw_only=True):
    """What is asked after a build has passed.

    number: `given` is drawn anew each time, `answer` is arithmetic over it, and so may be what the
    learner answers; right within `within`, relative. choice: `right` is an option's id. words:
    answered in the notes, then `model_answer` is shown and the learner grades themself.
    """

    id: Id
    kind: Literal["number", "choice", "words"]
    ask: Text  # `{V}` is the number drawn for V
    given: dict[str, Range] = {}
    answer: str = ""
    within: Annotated[float, Meta(gt=0, lt=1)] = 0.005
    unit: str = ""
    because: Text = {}  # said after a number; `{answer}` is the right one
    options: tuple[Option, ...] = ()
    right: str = ""
    model_answer: Text = {}


# ---------------------------------------------------------------- <break>.yaml


class Need(Spec, frozen=True, kw_only=True):
    """A property this break stands on: it must be measured healthy before anything is broken."""

    probe: str  # component.probe
    regimes: tuple[str, ...]


class Symptom(Spec, frozen=True, kw_only=True):
    """What the broken code must measure: like the reference's `variant`, or like it was before.

    `like`: "before", or the name of a variant that the component's reference.py knows. `values`:
    the recorded names that count, all when empty.
    """

    probe: str  # component.probe
    regimes: tuple[str, ...]
    like: str
    values: tuple[str, ...] = ()


class Pattern(Spec, frozen=True, kw_only=True):
    """Code to look for, with `$NAME` metavariables, and what to write in its place.

    `inside`: the roles whose definitions are searched; all of the learner's files when empty.
    `every`: replace all places at once instead of trying one after the other. `where`: values that
    metavariables must have held while `probe` ran in `regime`; SELF is the whole expression. An empty
    `replace` takes an argument, or an item of a sequence, away.
    """

    find: str
    replace: str
    inside: tuple[str, ...] = ()
    every: bool = False
    where: dict[str, str] = {}
    probe: str = ""
    regime: str = ""


class RoleEdit(Spec, frozen=True, kw_only=True):
    """A value to look for while a probe runs, and what to write in place of the expression.

    `value`: a name that the reference records or names. In `replace`, `$SELF` is the expression, and
    `$name` in lower case the learner's own expression for another named value: a part of the one
    that is replaced, or a name that is known there. `every`: all places in one function at once.
    `named`: the new expression gets this name on a line before the first of its places, and the
    name stands in all of them; a name of the learner's own is bound anew instead.
    """

    value: str
    probe: str  # component.probe
    regime: str
    replace: str
    inside: tuple[str, ...] = ()
    every: bool = False
    named: str = ""


class Append(Spec, frozen=True, kw_only=True):
    """A statement to put at the end of a method of a role's class, or of the class itself."""

    role: str
    statement: str
    method: str = ""


class Rewrite(Spec, frozen=True, kw_only=True):
    """New statements for the end of a function, or of a method of a role's class.

    As few of its last statements as will do are replaced. `args`: names for its parameters, in
    order; `replace` writes them `$name`.
    """

    role: str
    method: str = ""
    args: tuple[str, ...] = ()
    replace: str


class Step(Spec, frozen=True, kw_only=True):
    """One edit, found in one way, or in `any` of several, in that order.

    `proves`: probes whose declared symptom this step must show by itself, before the next step of
    the recipe is tried on top of it. `optional`: the recipe is tried without this step first.
    """

    proves: tuple[str, ...] = ()
    optional: bool = False
    any: tuple[Step, ...] = ()

    pattern: Pattern | None = None
    role: RoleEdit | None = None
    graft: RoleEdit | None = None
    append: Append | None = None
    rewrite: Rewrite | None = None


class Recipe(Spec, frozen=True, kw_only=True):
    """Edits that belong together: the first step's places are tried with the second's, and so on."""

    steps: Annotated[tuple[Step, ...], Meta(min_length=1, max_length=4)]


class Measured(Spec, frozen=True, kw_only=True):
    """Where the answer to a prediction is measured: a value recorded when the break is observed.

    `value` may be "raised", the type of the exception or "none", or "last", the name of the last
    value that was recorded before the probe stopped.
    """

    probe: str  # component.probe
    regime: str
    value: str


class Prediction(Spec, frozen=True, kw_only=True):
    """A question before anything is broken."""

    id: Id
    kind: Literal["number", "choice", "text"]
    ask: Text
    measured: Measured | None = None
    unit: str = ""
    tolerance: Annotated[float, Meta(gt=0)] | None = None  # absolute, in `unit`
    options: tuple[Option, ...] = ()


class Observe(Spec, frozen=True, kw_only=True):
    """A probe whose measurements are shown, healthy beside broken."""

    probe: str  # component.probe
    regime: str
    title: Text
    curve: str = ""  # a recorded 1-D array to draw
    orientation: dict[str, str] = {}  # label -> arithmetic, e.g. "np.log(256)": "log(256)"


class Cause(Spec, frozen=True, kw_only=True):
    """The question after a right fix: several mechanisms, one of them right."""

    ask: Text
    right: str
    options: Annotated[tuple[Option, ...], Meta(min_length=4, max_length=4)]


class TextEdit(Spec, frozen=True, kw_only=True):
    """Replace the first `find` in `file` by `replace`."""

    file: str
    find: str
    replace: str


class Silencer(Spec, frozen=True, kw_only=True):
    """A fix that hides the symptom and must be refused; or a near miss, which is not the bug.

    `on`: a folder below the pack's `models/`; the edits are made to its broken code, those of a near
    miss to its healthy code.
    """

    name: Id
    on: str
    edits: Annotated[tuple[TextEdit, ...], Meta(min_length=1)]


class Break(Spec, frozen=True, kw_only=True):
    """A break exercise."""

    title: Text
    difficulty: Annotated[int, Meta(ge=1, le=4)]
    minutes: Annotated[int, Meta(ge=1)]
    anchors: Annotated[tuple[Link, ...], Meta(min_length=1)]
    the_break: Text
    pipeline: str = ""  # component.probe of the call.py that the learner is shown
    predictions: Annotated[tuple[Prediction, ...], Meta(min_length=1)]
    needs: Annotated[tuple[Need, ...], Meta(min_length=1)]
    inject: Annotated[tuple[Recipe, ...], Meta(min_length=1)]
    fingerprint: Annotated[tuple[Symptom, ...], Meta(min_length=1)]
    also_changes: dict[str, str] = {}  # component.probe -> the reason why it may change
    acceptable: tuple[str, ...] = ()  # variants of the reference that a fix may agree with
    judged_by: tuple[Check, ...] = ()  # probes of this break that the fix must meet as well
    observe: Annotated[tuple[Observe, ...], Meta(min_length=1)]
    diagnostics: tuple[Text, ...]
    symptom: Text
    hidden_cause: Text
    cause: Cause
    hints: Annotated[tuple[Text, ...], Meta(min_length=3)]
    fix: Text
    why: Text
    next: Text
    sources: Annotated[tuple[Link, ...], Meta(min_length=1)]
    silencers: tuple[Silencer, ...] = ()
    near_misses: tuple[Silencer, ...] = ()  # edits to healthy code that are not this bug
    figures: dict[str, Figure] = {}
    stated: tuple[str, ...] = ()  # numbers in the texts that are set, not measured


# ---------------------------------------------------------------- walkthroughs/<id>.yaml


class SameWord(Spec, frozen=True, kw_only=True):
    """A word that stands in two sentences, with a meaning in each."""

    word: str
    one: str
    other: str


class Part(Spec, frozen=True, kw_only=True):
    """One step on the way: what is said, and the values that are shown."""

    title: Text
    say: Text
    show: tuple[str, ...]


class Walkthrough(Spec, frozen=True, kw_only=True):
    """A sentence on its way through the learner's own model, before and after a short training.

    The language is small: `grammar` with a word of each of its `groups` in turn.
    """

    title: Text
    probe: str  # component.probe
    steps_of_training: Annotated[int, Meta(ge=1)]
    text: str  # unless the learner gives another
    groups: dict[str, tuple[str, ...]]
    grammar: Annotated[tuple[str, ...], Meta(min_length=1)]
    same_word: SameWord
    parts: Annotated[tuple[Part, ...], Meta(min_length=1)]
