"""Where exercises lie.

A catalogue is built from file names alone, so that listing is fast; a spec is read when it is used.
"""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from engine.errors import Message, SpecError, UsageError
from engine.spec import index
from engine.spec.entry import Entry
from engine.spec.index import Course, Summary
from engine.spec.load import S, load, nearest, read_bytes, read_whole
from engine.spec.packs import content_root, is_fact_pack, lender, packs

if TYPE_CHECKING:  # lists and hints do without
    from collections.abc import Mapping

    from engine.spec.types import Assignment, Break, Build, FactBuild, FactPack, Pack, Proof, Story
    from engine.spec.types.pack import Area

PROOF = ".proof.yaml"
BUILDS = ("build.yaml", "facts.yaml")  # judged by probes, by facts


class Catalogue:
    """All exercises of one pack. Raises SpecError when the pack cannot be read.

    borrowing: with the breaks of the packs of facts that it takes some from, as a learner has them; an
    author has the pack's own.
    """

    def __init__(self, pack: str, folder: Path, *, borrowing: bool = False) -> None:
        self._borrowing = borrowing
        self.pack = pack
        self.folder = folder
        self._specs: dict[str, Any] = {}  # read once for each command
        self._builds: dict[str, Build] = {}
        self._roles: dict[str, set[str]] = {}
        self._users: dict[str, frozenset[str]] = {}

    @classmethod
    def find(cls, pack: str) -> Catalogue:
        """The pack of this name. Raises UsageError with the nearest names."""
        found = packs()
        if pack not in found:
            raise UsageError(
                Message("There is no pack {pack!r}.{hint}", pack=pack, hint=nearest(pack, found)),
                next=Message("Packs here: {packs}.", packs=", ".join(sorted(found)) or "-"),
            )
        return cls(pack, found[pack], borrowing=True)

    @cached_property
    def contract(self) -> Pack:
        """The own file of a pack that learners write to."""
        from engine.spec.types import Pack

        return load(self.folder / "pack.yaml", Pack)

    @cached_property
    def by_facts(self) -> bool:
        """Whether the pack knows anybody's code by facts, and has no contract."""
        return is_fact_pack(self.folder / "pack.yaml")

    @cached_property
    def factual(self) -> Catalogue | None:
        """The catalogue of the breaks by facts: this one, or the one that it takes them from."""
        if self.by_facts:
            return self
        name = lender(self.folder / "pack.yaml") if self._borrowing else ""
        return Catalogue.find(name) if name else None

    def goes_by_facts(self, id: str) -> bool:
        """Whether a break is put in, or a build judged, by facts."""
        entry = self.entry(id)
        return self.by_facts or entry.pack != self.pack or Path(entry.file).name == BUILDS[1]

    @cached_property
    def areas(self) -> Mapping[str, Area]:
        """What can go wrong in each part of the field: here, and in the pack that breaks come from."""
        name = lender(self.folder / "pack.yaml")
        found = dict(Catalogue.find(name).areas) if name else {}
        for id, own in self.syllabus.areas.items():
            found[id] = own if id not in found else own.beside(found[id])
        return found

    @cached_property
    def facts(self) -> FactPack:
        """The own file of a pack of facts."""
        from engine.spec.types import FactPack

        return load(self.folder / "pack.yaml", FactPack)

    @property
    def syllabus(self) -> FactPack | Pack:
        """What every pack says of its course."""
        return self.facts if self.by_facts else self.contract

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Exercises by id, in the order of the course."""
        found: dict[str, Entry] = {}
        for file in sorted(self.folder.glob("[0-9]*-*/*/*.yaml")):
            if file.name.endswith(PROOF):
                continue
            component = file.parent.name
            kind: Literal["build", "break"] = "build" if file.name in BUILDS else "break"
            id = component if kind == "build" else file.stem
            if id in found:
                raise SpecError(
                    f"The id {id!r} is used twice, by {found[id].file} too.", where=f"{file}:1:1"
                )
            found[id] = Entry(id, kind, self.pack, file.parent.parent.name, component, str(file))
        order = {id: i for i, id in enumerate(self._course.path)}
        own = dict(sorted(found.items(), key=lambda item: order.get(item[0], len(order))))
        lent = self.factual.entries if self.factual is not None and not self.by_facts else {}
        breaks = {id: one for id, one in lent.items() if one.kind == "break" and id not in own}
        return {**own, **breaks}

    @cached_property
    def _course(self) -> Course:
        """The order of the course, without reading the rest of the pack's own file."""
        file = str(self.folder / "pack.yaml")
        return index.read(
            {file: read_bytes(file)},
            lambda known: known.courses,
            lambda _: Course(self.syllabus.path),
        )[file]

    @cached_property
    def summaries(self) -> dict[str, Summary]:
        """What lists and hints say of each exercise. Raises SpecError for one that is at fault."""
        from engine.spec.summaries import summary

        ids = {entry.file: entry.id for entry in self.entries.values()}
        sources = {file: read_whole(file) for file in ids}
        found = index.read(
            sources, lambda known: known.summaries, lambda file: summary(self, ids[file])
        )
        return {ids[file]: summary for file, summary in found.items()}

    def entry(self, id: str) -> Entry:
        """The exercise called `id`, or "pack/id", or the only one that begins so. Raises UsageError with
        the nearest names.
        """
        name = id.removeprefix(self.pack + "/")
        begun = [one for one in self.entries if name and one.startswith(name)]
        if name not in self.entries and len(begun) > 1:
            raise UsageError(
                Message("{id} is the beginning of several exercises.", id=repr(id)),
                next=Message("They are: {begun}.", begun=", ".join(begun)),
            )
        if name not in self.entries and begun:
            return self.entries[begun[0]]
        if name not in self.entries:
            raise UsageError(
                Message(
                    "There is no exercise {id!r} in the pack {pack}.{hint}",
                    id=id,
                    pack=self.pack,
                    hint=nearest(name, self.entries),
                ),
                next=Message("`engine list` shows them all."),
            )
        return self.entries[name]

    def assignment(self, id: str) -> Assignment:
        """What a build tells and asks, whatever judges it."""
        return self.fact_build(id) if self.goes_by_facts(id) else self.build(id)

    def fact_build(self, id: str) -> FactBuild:
        """A build that facts judge."""
        from engine.spec.types import FactBuild

        return self._read(self.entry(id), FactBuild)

    def build(self, component: str) -> Build:
        """The build exercise of a component of the contract."""
        from msgspec.structs import replace

        from engine.spec.checks import spelled_out
        from engine.spec.types import Build

        if component not in self._builds:
            spec = self._read(self.entry(component), Build)
            checks = [
                replace(check, rounding=check.rounding or spec.rounding)
                for check in spelled_out(spec.checks, self.entry(component).file)
            ]
            self._builds[component] = replace(spec, checks=tuple(checks))
        return self._builds[component]

    def break_(self, id: str) -> Break:
        """A break exercise of a pack with a contract."""
        from engine.spec.types import Break

        return self._read(self.entry(id), Break)

    def story(self, id: str) -> Story:
        """What a break asks and tells, whatever the pack."""
        from engine.spec.types import Story

        return self._read(self.entry(id), Story) if self.goes_by_facts(id) else self.break_(id)

    def proof(self, id: str) -> Proof:
        """Where a break of a pack of facts goes, and what it must change."""
        from engine.spec.types import Proof

        file = Path(self.entry(id).file)
        return load(file.with_name(file.stem + PROOF), Proof)

    def _read(self, entry: Entry, kind: type[S]) -> S:
        if entry.id not in self._specs:
            self._specs[entry.id] = load(Path(entry.file), kind)
        found: S = self._specs[entry.id]
        return found

    @cached_property
    def folders(self) -> dict[str, Path]:
        """Component -> the folder with its cases, call and reference."""
        return {file.parent.name: file.parent for file in self.folder.glob("[0-9]*-*/*/call.py")}

    def probes(self, component: str) -> str:
        """The text of a component's call.py."""
        return (self.folders[component] / "call.py").read_text("utf-8")

    def code(self) -> dict[str, bytes]:
        """The pack's Python files as `pack/<component>/<file>` and `pack/<file>`."""
        files = {f"pack/{f.name}": f.read_bytes() for f in self.folder.glob("*.py")}
        for component, folder in self.folders.items():
            for file in folder.glob("*.py"):
                files[f"pack/{component}/{file.name}"] = file.read_bytes()
        return files

    def model_folders(self) -> list[Path]:
        """The pack's own models, on which exercises are proved."""
        return sorted((self.folder / "models").glob("*/"))

    @cached_property
    def walkthroughs(self) -> dict[str, Path]:
        """Walkthroughs by id: those of the pack of facts, and the pack's own before them."""
        return self._topics("walkthroughs")

    @cached_property
    def comparisons(self) -> dict[str, Path]:
        """Comparisons by id, in the same way."""
        return self._topics("comparisons")

    def _topics(self, folder: str) -> dict[str, Path]:
        of = self.factual if self.factual is not None and not self.by_facts else self
        files = [*of.folder.glob(f"{folder}/*.yaml"), *self.folder.glob(f"{folder}/*.yaml")]
        return {file.stem: file for file in files}

    @property
    def template(self) -> Path:
        """The folder that `engine init` lays down: the pack's own, else one of the engine's."""
        name = self.syllabus.template
        beside = self.folder.parent.parent / "templates" / name
        return beside if beside.is_dir() else content_root("templates") / name

    def roles_of(self, component: str) -> set[str]:
        """The roles that a component's call.py asks the learner's code for."""
        if component not in self.folders:
            return set()
        if component not in self._roles:
            asked = set(re.findall(r"\blearner\.([A-Za-z_]\w*)", self.probes(component)))
            self._roles[component] = asked & set(self.contract.roles)
        return set(self._roles[component])

    def prerequisites(self, id: str) -> tuple[str, ...]:
        """The builds that a build stands on: those its spec names, else what its component uses."""
        named = self.assignment(id).prerequisites or self.uses(id)
        return tuple(one for one in named if one in self.entries)

    def uses(self, id: str) -> tuple[str, ...]:
        """What the component of a build uses; of one that facts judge nothing is known."""
        known = self.contract.components.get(self.entry(id).component)
        return known.uses if known else ()

    def stands_on(self, component: str) -> set[str]:
        """The components that `component` uses, directly or not."""
        return {name for name in self.contract.components if component in self.users(name)}

    def users(self, component: str) -> set[str]:
        """The components that use `component`, directly or not."""
        if component not in self._users:
            from engine.spec.uses import users

            self._users[component] = users(self.contract.components, component)
        return set(self._users[component])
