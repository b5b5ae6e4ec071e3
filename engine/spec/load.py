"""Where exercises lie, and how their files become structs.

A catalogue is built from file names alone, so that listing is fast; a spec is read when it is used.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec.structs import replace

from engine.errors import SpecError, UsageError
from engine.spec import yaml
from engine.spec.types import EVERY, Break, Build, Check, Pack, Recipe, Spec, Step, Walkthrough

S = TypeVar("S", bound=Spec)
PACKS_VARIABLE = "ENGINE_EXERCISES"  # more folders that hold packs, before the engine's own


def content_root(name: str) -> Path:
    """The folder `exercises` or `templates`: inside the installed package, else in the checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / name
    return inside if inside.is_dir() else package.parent / name


def pack_roots() -> list[Path]:
    """Folders that hold packs, the first found wins."""
    extra = os.environ.get(PACKS_VARIABLE, "")
    return [Path(part) for part in extra.split(os.pathsep) if part] + [content_root("exercises")]


def is_fact_pack(file: Path) -> bool:
    """Whether a pack.yaml is of a pack that measures by facts: `framework: torch`."""
    return re.search(rb"^framework: *torch\b", file.read_bytes(), re.M) is not None


class Entry(msgspec.Struct, frozen=True):
    """One exercise, before its file is read."""

    id: str
    kind: Literal["build", "break"]
    pack: str
    phase: str  # "13-embeddings"
    component: str
    file: str

    @property
    def phase_number(self) -> str:
        """ "13" of "13-embeddings"."""
        return self.phase.partition("-")[0]


FIGURE = re.compile(r"\{[a-z_][a-z0-9_]*\}")


class Catalogue:
    """All exercises of one pack. Raises SpecError when the pack cannot be read."""

    def __init__(self, pack: str, folder: Path) -> None:
        self.pack = pack
        self.folder = folder
        self._specs: dict[str, Any] = {}  # read once for each command
        self._builds: dict[str, Build] = {}
        self._roles: dict[str, set[str]] = {}

    @classmethod
    def find(cls, pack: str) -> Catalogue:
        """The pack of this name. Raises UsageError with the nearest names."""
        found = packs()
        if pack not in found:
            raise UsageError(
                f"There is no pack {pack!r}.{_nearest(pack, found)}",
                next=f"Packs here: {', '.join(sorted(found)) or 'none'}.",
            )
        return cls(pack, found[pack])

    @cached_property
    def contract(self) -> Pack:
        """The pack's own file."""
        return load(self.folder / "pack.yaml", Pack)

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Exercises by id, in the order of the course."""
        found: dict[str, Entry] = {}
        for file in sorted(self.folder.glob("[0-9]*-*/*/*.yaml")):
            component = file.parent.name
            kind: Literal["build", "break"] = "build" if file.name == "build.yaml" else "break"
            id = component if kind == "build" else file.stem
            if id in found:
                raise SpecError(
                    f"The id {id!r} is used twice, by {found[id].file} too.", where=f"{file}:1:1"
                )
            found[id] = Entry(id, kind, self.pack, file.parent.parent.name, component, str(file))
        order = {id: i for i, id in enumerate(self.contract.path)}
        return dict(sorted(found.items(), key=lambda item: order.get(item[0], len(order))))

    def entry(self, id: str) -> Entry:
        """The exercise called `id`, or "pack/id". Raises UsageError with the nearest names."""
        name = id.removeprefix(self.pack + "/")
        if name not in self.entries:
            raise UsageError(
                f"There is no exercise {id!r} in the pack {self.pack}."
                f"{_nearest(name, self.entries)}",
                next="`engine list` shows them all.",
            )
        return self.entries[name]

    def build(self, component: str) -> Build:
        """The build exercise of a component."""
        if component not in self._builds:
            spec = self._read(self.entry(component), Build)
            checks = [
                replace(check, rounding=check.rounding or spec.rounding)
                for check in spelled_out(spec.checks, self.entry(component).file)
            ]
            self._builds[component] = replace(spec, checks=tuple(checks))
        return self._builds[component]

    def break_(self, id: str) -> Break:
        """A break exercise."""
        return self._read(self.entry(id), Break)

    def _read(self, entry: Entry, kind: type[S]) -> S:
        if entry.id not in self._specs:
            self._specs[entry.id] = load(Path(entry.file), kind)
        found: S = self._specs[entry.id]
        return found

    @cached_property
    def folders(self) -> dict[str, Path]:
        """Component -> the folder with its cases, call and reference."""
        return {file.parent.name: file.parent for file in self.folder.glob("[0-9]*-*/*/call.py")}

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
        """Walkthroughs by id."""
        return {file.stem: file for file in sorted(self.folder.glob("walkthroughs/*.yaml"))}

    def walkthrough(self, id: str) -> Walkthrough:
        """The walkthrough called `id`. Raises UsageError with the nearest names."""
        if id not in self.walkthroughs:
            raise UsageError(
                f"There is no walkthrough {id!r} in the pack {self.pack}."
                f"{_nearest(id, list(self.walkthroughs))}",
                next=f"There are: {', '.join(self.walkthroughs) or 'none'}. Without a name,"
                " `engine observe` measures the break that is open.",
            )
        return load(self.walkthroughs[id], Walkthrough)

    @property
    def template(self) -> Path:
        """The folder that `engine init` lays down: the pack's own, else one of the engine's."""
        name = self.contract.template
        beside = self.folder.parent.parent / "templates" / name
        return beside if beside.is_dir() else content_root("templates") / name

    def roles_of(self, component: str) -> set[str]:
        """The roles that a component's call.py asks the learner's code for."""
        if component not in self.folders:
            return set()
        if component not in self._roles:
            text = (self.folders[component] / "call.py").read_text("utf-8")
            asked = set(re.findall(r"\blearner\.([A-Za-z_]\w*)", text))
            self._roles[component] = asked & set(self.contract.roles)
        return set(self._roles[component])

    def prerequisites(self, id: str) -> tuple[str, ...]:
        """The builds that a build stands on: those its spec names, else what its component uses."""
        named = self.build(id).prerequisites
        used = self.contract.components[self.entry(id).component].uses
        return tuple(one for one in named or used if one in self.entries)

    def stands_on(self, component: str) -> set[str]:
        """The components that `component` uses, directly or not."""
        return {name for name in self.contract.components if component in self.users(name)}

    def users(self, component: str) -> set[str]:
        """The components that use `component`, directly or not."""
        found: set[str] = set()
        grown = {component}
        while grown:
            grown = {
                name
                for name, part in self.contract.components.items()
                if set(part.uses) & (grown | found) and name not in found | {component}
            }
            found |= grown
        return found


def steps_of(recipes: Sequence[Recipe]) -> Iterator[Step]:
    """Every step of every recipe, and every way to do it."""
    waiting = [step for recipe in recipes for step in recipe.steps]
    while waiting:
        step = waiting.pop(0)
        yield step
        waiting = [*step.any, *waiting]


def roles_of_steps(spec: Break) -> set[str]:
    """The roles that the recipes of a break name."""
    found: set[str] = set()
    for step in steps_of(spec.inject):
        for way in (step.pattern, step.role, step.graft):
            found |= set(way.inside) if way else set()
        for named in (step.append, step.rewrite):
            found |= {named.role} if named else set()
    return found


def probes_of_steps(spec: Break) -> set[str]:
    """The probes that the recipes of a break name, as component.probe."""
    found: set[str] = set()
    for step in steps_of(spec.inject):
        found |= set(step.proves)
        for way in (step.role, step.graft):
            found |= {way.probe} if way else set()
        found |= {step.pattern.probe} if step.pattern and step.pattern.where else set()
    return found


def traced(recipe: Recipe) -> list[tuple[str, str]]:
    """The (probe, regime) whose values a recipe looks for."""
    found: dict[tuple[str, str], None] = {}
    for step in steps_of([recipe]):
        for way in (step.role, step.graft):
            if way:
                found[way.probe, way.regime] = None
        if step.pattern and step.pattern.where:
            found[step.pattern.probe, step.pattern.regime] = None
    return list(found)


def packs() -> dict[str, Path]:
    """Pack name -> folder."""
    found: dict[str, Path] = {}
    for root in pack_roots():
        for file in sorted(root.glob("*/pack.yaml")):
            if is_fact_pack(file):  # it has no exercises of its own
                continue
            found.setdefault(file.parent.name, file.parent)
    return found


def spelled_out(checks: Sequence[Check], file: str) -> tuple[Check, ...]:
    """Checks with each of their regimes by name. Raises SpecError where `every` stands for none."""
    some: dict[str, dict[str, None]] = {}
    whole: dict[str, set[str]] = {}
    for check in checks:
        if check.regimes != EVERY:
            some.setdefault(check.probe, {}).update(dict.fromkeys(check.regimes))
            if not check.values:
                whole.setdefault(check.probe, set()).update(check.regimes)

    def named(check: Check) -> tuple[str, ...]:
        left_out = whole.get(check.probe, set()) | set(check.but)
        return tuple(one for one in some.get(check.probe, ()) if one not in left_out)

    found = [replace(c, regimes=named(c)) if c.regimes == EVERY else c for c in checks]
    for before, after in zip(checks, found, strict=True):
        if not after.regimes or (before.but and before.regimes != EVERY):
            told = (
                f"The check {after.id!r} has no regime: no other check of {after.probe!r} names one that"
                " is not looked at as a whole."
                if not after.regimes
                else f"The check {after.id!r} has `but` beside regimes by name."
            )
            raise SpecError(told, where=f"{file}:1:1", next="Name the regimes of the check.")
    return tuple(found)


def load(file: Path, kind: type[S]) -> S:
    """Read one spec file. Raises SpecError with file:line:column and the nearest right key."""
    try:
        source = file.read_bytes()
    except OSError as error:
        raise SpecError(f"Cannot be read: {error.strerror}.", where=f"{file}:1:1") from None
    document = yaml.read(source, str(file))
    return convert(document._replace(data=filled(document.data)), kind)


def filled(data: Any) -> Any:
    """A spec's data with what its figures say in the place of `{name}`."""
    figures = data.get("figures") if isinstance(data, dict) else None
    if not isinstance(figures, dict):
        return data
    says = {
        f"{{{name}}}": str(figure.get("says"))
        for name, figure in figures.items()
        if isinstance(figure, dict)
    }

    def inserted(part: Any) -> Any:
        if isinstance(part, str):
            return FIGURE.sub(lambda found: says.get(found[0], found[0]), part)
        if isinstance(part, list):
            return [inserted(one) for one in part]
        if isinstance(part, dict):
            return {key: inserted(one) for key, one in part.items()}
        return part

    return {key: part if key == "figures" else inserted(part) for key, part in data.items()}


def convert(document: yaml.Document, kind: type[S]) -> S:
    """A document -> a spec. Raises SpecError."""
    try:
        return msgspec.convert(document.data, kind, strict=True)
    except msgspec.ValidationError as error:
        message, _, at = str(error).partition(" - at `")
        path = _path(at.rstrip("`"))
        unknown = re.search(r"unknown field `(.*)`", message)
        if unknown:
            keys = _keys(kind, path)
            hint = _nearest(unknown[1], keys)
            raise SpecError(
                f"Unknown key {unknown[1]!r}.{hint}",
                where=document.where(_resolved(document.data, (*path, unknown[1]), "")),
                next=f"Keys that can stand here: {', '.join(keys)}.",
            ) from None
        told = message.replace("Object", "This") + "."
        where = document.where(_resolved(document.data, path, message))
        raise SpecError(told, where=where) from None


def _path(text: str) -> yaml.Path:
    parts: list[str | int] = []
    for name, index in re.findall(r"\.([A-Za-z_]\w*)|\[(\d+|\.\.\.)\]", text):
        parts.append(name if name else int(index) if index.isdigit() else index)
    return tuple(parts)


KINDS = {"int": int, "float": float, "str": str, "bool": bool, "array": list, "object": dict}


def _resolved(data: Any, path: yaml.Path, message: str) -> yaml.Path:
    """A path in which each "..." stands for some key of a mapping, with the keys that are at fault: the
    first that lead to a value of the kind that was got. As far as the first "..." where none do.
    """
    if "..." not in path:
        return path
    got = re.search(r"got `(\w+)`", message)
    wanted = KINDS.get(got[1]) if got else None
    fit = (at for at, found in _at(data, path) if wanted is None or type(found) is wanted)
    return next(fit, path[: path.index("...")])


def _at(data: Any, path: yaml.Path) -> Iterator[tuple[yaml.Path, Any]]:
    """Every place that a path may mean, with what stands there."""
    if not path:
        yield (), data
        return
    first, rest = path[0], path[1:]
    if first == "...":
        keys: Sequence[str | int] = [*data] if isinstance(data, dict) else ()
    else:
        keys = (first,)
    for key in keys:
        try:
            inner = data[key]
        except (KeyError, IndexError, TypeError):
            continue
        for at, found in _at(inner, rest):
            yield (key, *at), found


def _keys(kind: Any, path: yaml.Path) -> list[str]:
    """The keys of the struct that stands at `path`."""
    for part in path:
        inner = get_type_hints(kind)[part] if isinstance(part, str) and part != "..." else kind
        kind = _struct(inner)
    return sorted(get_type_hints(kind)) if kind else []


def _struct(hint: Any) -> Any:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return hint
    for part in get_args(hint) if get_origin(hint) else ():
        found = _struct(part)
        if found:
            return found
    return None


def _nearest(word: str, known: Mapping[str, Any] | list[str] | dict[str, Any]) -> str:
    near = difflib.get_close_matches(word, list(known), n=3, cutoff=0.5)
    return f" Did you mean {' or '.join(near)}?" if near else ""


PLAIN_MAPPINGS = ("also_changes", "orientation", "roles", "where", "swap")  # no texts


def texts(spec: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """Every text of a spec with its path, for checks of completeness."""
    if isinstance(spec, msgspec.Struct):
        hints = get_type_hints(type(spec))
        for name in spec.__struct_fields__:
            value = getattr(spec, name)
            if hints[name] == dict[str, str] and name in PLAIN_MAPPINGS:
                continue
            if hints[name] == dict[str, str]:
                yield name, value
            else:
                for path, text in texts(value):
                    yield f"{name}.{path}", text
    elif isinstance(spec, tuple):
        for i, item in enumerate(spec):
            if isinstance(item, dict):
                yield str(i), item
            else:
                for path, text in texts(item):
                    yield f"{i}.{path}", text
