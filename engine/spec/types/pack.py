"""`pack.yaml`: the contract that learner code is written to, and the order of the course."""

from __future__ import annotations

from typing import Literal

from engine.spec.types.base import Dtype, Id, Option, Spec, Text


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


class Area(Spec, frozen=True, kw_only=True):
    """A part of the field, and what can go wrong in it: the hypotheses of a blind break."""

    title: Text
    mechanisms: tuple[Option, ...]

    def beside(self, other: Area) -> Area:
        """With what can go wrong in the same part of another pack."""
        return Area(title=self.title, mechanisms=(*other.mechanisms, *self.mechanisms))


class DtypeProbe(Spec, frozen=True, kw_only=True):
    """The probe that records the learner's `dtype`."""

    component: str
    probe: str


class Syllabus(Spec, frozen=True, kw_only=True):
    """What every pack says of its course: languages, the template of `engine init`, the order of exercises,
    and what can go wrong in each part of the field.
    """

    title: Text
    languages: tuple[str, ...]
    template: str
    path: tuple[str, ...]
    areas: dict[Id, Area] = {}


class Pack(Syllabus, frozen=True, kw_only=True):
    """A contract: roles -> import paths, components and what they use.

    `modes`: methods without arguments that change no value -> the roles whose instances have them.
    Judgements call them in some of the draws. `updates`: the role of an optimiser, made of parameters and
    an `lr`, whose `step()` moves them. `coarse`: dtype -> a variant of the references that is right and
    keeps fewer digits, or reads what is open in another way: an input near a number decides nothing where
    that is seen. `complete`: the folder of a finished model, which `engine init --complete` lays over the
    template. `dtype`: what the learner's arrays are in, or the probe that tells. `signatures`: functions with
    the names of their parameters, by which the module that has the roles is known, wherever it lies.
    `breaks_from`: a pack of facts, whose breaks this one's learners have beside its own. `moved`: module of
    a role -> where it lies in other versions of the code. `export`: how the package is made from what one
    writes, for who has not made it yet.
    """

    framework: Literal["numpy", "torch"]
    roots: tuple[str, ...]
    roles: dict[str, str]
    components: dict[str, Component]
    signatures: dict[str, tuple[str, ...]] = {}
    dtype: DtypeProbe | Dtype | None = None
    modes: dict[str, tuple[str, ...]] = {}
    updates: str = ""
    coarse: dict[str, str] = {}
    complete: str = ""
    breaks_from: str = ""
    moved: dict[str, str] = {}
    export: Text = {}
