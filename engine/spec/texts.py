"""The texts of specs: one language of them, all of them, and the figures that stand in them.

A number in a text is a figure: it stands once in the YAML, with the arithmetic that measures it, and
texts write `{name}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, get_type_hints

import msgspec

from engine.words import COMMA_LANGUAGES

FIGURE = re.compile(r"\{[a-z_][a-z0-9_]*\}")
FOUR_DIGITS = re.compile(r"^(-?\d),(?=\d{3}(?!,))")
TEXTS = (dict[str, str], str | dict[str, str])
PLAIN_MAPPINGS = (
    "also_changes",
    "coarse",
    "moved",
    "orientation",
    "roles",
    "where",
    "swap",
)  # no texts


def said(text: Mapping[str, str], lang: str) -> str:
    """A text in a language, else in the first one it has."""
    return text.get(lang) or next(iter(text.values()), "")


def texts(spec: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """Every text of a spec with its path, for checks of completeness."""
    if isinstance(spec, msgspec.Struct):
        hints = get_type_hints(type(spec))
        for name in spec.__struct_fields__:
            value = getattr(spec, name)
            if hints[name] == dict[str, str] and name in PLAIN_MAPPINGS:
                continue
            if hints[name] in TEXTS and isinstance(value, dict):
                yield name, value
            else:
                for path, text in texts(value):
                    yield f"{name}.{path}", text
    elif isinstance(spec, dict):
        for key, item in spec.items():
            if isinstance(item, dict) and all(isinstance(text, str) for text in item.values()):
                yield key, item
            elif isinstance(item, msgspec.Struct):
                for path, text in texts(item):
                    yield f"{key}.{path}", text
    elif isinstance(spec, tuple):
        for i, item in enumerate(spec):
            if isinstance(item, dict):
                yield str(i), item
            else:
                for path, text in texts(item):
                    yield f"{i}.{path}", text


def filled(data: Any) -> Any:
    """A spec's data with what its figures say in the place of `{name}`: 54,410.5, in Spanish 54 410,5."""
    figures = data.get("figures") if isinstance(data, dict) else None
    if not isinstance(figures, dict):
        return data
    says = {
        f"{{{name}}}": str(figure.get("says"))
        for name, figure in figures.items()
        if isinstance(figure, dict)
    }

    def inserted(part: Any, lang: str) -> Any:
        if isinstance(part, str):
            return FIGURE.sub(lambda found: _number(says.get(found[0], found[0]), lang), part)
        if isinstance(part, list):
            return [inserted(one, lang) for one in part]
        if isinstance(part, dict):
            return {key: inserted(one, str(key)) for key, one in part.items()}
        return part

    return {key: part if key == "figures" else inserted(part, "") for key, part in data.items()}


def _number(text: str, lang: str) -> str:
    """A number as a language writes it: 4,096 and 54,410.5 are 4096 and 54 410,5 in Spanish."""
    if lang not in COMMA_LANGUAGES:
        return text
    return FOUR_DIGITS.sub(r"\1", text).replace(",", "\u00a0").replace(".", ",")
