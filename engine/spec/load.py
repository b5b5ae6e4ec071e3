"""A spec file -> a frozen struct, or a SpecError with file:line:column and the nearest right key."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from engine.errors import Message, Said, SpecError
from engine.spec import kept
from engine.spec.packs import packs
from engine.spec.texts import filled

if TYPE_CHECKING:
    from engine.spec import yaml  # brings PyYAML, which lists and hints do without

S = TypeVar("S", bound=msgspec.Struct)
SAME_AS = "same_as"
BLIND = "blind"  # the side of a break's story that is taken over key by key, too
BASE = re.compile(rb"^same_as: *([\w-]+)/([\w-]+) *$", re.M)
_CONVERTING = Lock()  # msgspec dies where two threads are the first to make one type


def load(file: Path, kind: type[S]) -> S:
    """Read one spec file. Raises SpecError with file:line:column and the nearest right key."""
    source = read_whole(str(file))
    with _CONVERTING:
        known = kept.read(source, kind)
    if known is not None:
        return known
    whole = document(file)
    spec = convert(whole._replace(data=filled(whole.data)), kind)
    kept.keep(source, spec)
    return spec


def document(file: Path) -> yaml.Document:
    """A spec file with what it takes from another, its figures still by name. Raises SpecError."""
    from engine.spec import yaml

    source = read_bytes(str(file))
    own = yaml.read(source, str(file))
    base = based_on(str(file), source)
    if not base:
        return own
    theirs = yaml.read(read_bytes(base), base).data
    said = {key: value for key, value in own.data.items() if key != SAME_AS}
    if BLIND in said and BLIND in theirs:
        said[BLIND] = {**theirs[BLIND], **said[BLIND]}
    return own._replace(data={**theirs, **said})


def read_bytes(file: str) -> bytes:
    """A file of a pack. Raises SpecError."""
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise SpecError(f"Cannot be read: {error.strerror}.", where=f"{file}:1:1") from None


def read_whole(file: str) -> bytes:
    """A file of a pack, with the one that it takes the rest from. Raises SpecError."""
    source = read_bytes(file)
    base = based_on(file, source)
    return source + read_bytes(base) if base else source


def based_on(file: str, source: bytes) -> str:
    """The file whose texts stand for all that this one does not say, `same_as: PACK/ID`; "" for none.

    A mechanism's story is written once, and each pack says beside it what is different there.
    Raises SpecError.
    """
    named = BASE.search(source)
    if named is None:
        return ""
    pack, id = named[1].decode(), named[2].decode()
    folder = packs().get(pack)
    found = [] if folder is None else [*folder.glob(f"[0-9]*-*/*/{id}.yaml")]
    found += [] if folder is None else [*folder.glob(f"[0-9]*-*/{id}/build.yaml")]
    found += [] if folder is None else [*folder.glob(f"walkthroughs/{id}.yaml")]
    if not found:
        raise SpecError(f"There is no exercise {pack}/{id}.", where=f"{file}:1:1")
    return str(found[0])


def convert(document: yaml.Document, kind: type[S]) -> S:
    """A document -> a spec. Raises SpecError."""
    try:
        with _CONVERTING:
            return msgspec.convert(document.data, kind, strict=True)
    except msgspec.ValidationError as error:
        message, _, at = str(error).partition(" - at `")
        path = _path(at.rstrip("`"))
        unknown = re.search(r"unknown field `(.*)`", message)
        if unknown:
            keys = _keys(kind, path)
            hint = nearest(unknown[1], keys)
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


def nearest(word: str, known: Iterable[str]) -> Said:
    """A question for the end of a message: which of the known words was meant; "" where none is like."""
    near = difflib.get_close_matches(word, list(known), n=3, cutoff=0.5)
    return Message(" Did you mean {words}?", words=" / ".join(near)) if near else ""
