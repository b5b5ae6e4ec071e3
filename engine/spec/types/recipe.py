"""`inject:` of a break: recipes, their steps, and the ways in which a step finds its place.

A step names its way by the field that it fills, which is the name of a proposer of `engine/inject`.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from engine.spec.types.base import Spec


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
