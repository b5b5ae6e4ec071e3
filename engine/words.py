"""The one place where messages become words of a language, by gettext catalogues.

A message's id is its English text with named parameters (`engine/errors.Message`, or
`words("...", name=value)` where it is printed), so English is shown where a catalogue lacks a message.
Catalogues lie in `engine/locale/LANG/LC_MESSAGES/engine.mo`; ENGINE_LOCALE names a folder of the same form
that comes first, in which translators try theirs, and tests one that shows what goes through no catalogue.

It lies below all rooms but `errors`, as two of them need it that may not import each other: `report/`, which
prints, and `learner/`, which writes notes in the learner's language. Elsewhere a message is left as it is.

What only authors of packs meet is in English and in no catalogue: errors of YAML, of a pack's own code
(SpecError) and of `engine dev`. So are the usage errors of typer, and JSON, which is written from
`str(message)`.
"""

from __future__ import annotations

import gettext
import os
import string
from functools import cache
from pathlib import Path
from typing import Any

from engine.errors import Message, Said

DOMAIN = "engine"
LOCALE = Path(__file__).resolve().parent / "locale"
VARIABLE = "ENGINE_LOCALE"  # a folder of catalogues that come before the engine's own
COMMA_LANGUAGES = ("es",)  # 3,5 is three and a half
_spoken: tuple[str, Path | None] = ("en", None)  # language, and the only folder of catalogues


def speak(language: str, folder: Path | None = None) -> None:
    """From now on in this language; in English, where there is no catalogue of it. folder: of catalogues, the
    only one; the usual ones, when None.
    """
    global _spoken
    _spoken = language, folder


def said(message: Said, language: str = "") -> str:
    """A message in a language, in the one that is spoken where none is named; a plain text as it is.
    Parameters that are messages are said, too, and numbers written as the language writes them.
    """
    if not isinstance(message, Message):
        return message
    spoken, folder = _spoken
    found = _catalogue(language or spoken, folder, os.environ.get(VARIABLE, ""))
    text = found.gettext(message.id) if message.id else ""
    if not message.params:
        return text
    params = {
        name: said(value, language) if isinstance(value, Message) else value
        for name, value in message.params.items()
    }
    filler = WITH_COMMA if (language or spoken) in COMMA_LANGUAGES else WITH_POINT
    return filler.vformat(text, (), params)


def words(id: str, /, **params: object) -> str:
    """A sentence of a view in the language, with its parameters."""
    return said(Message(id, **params))


@cache
def _catalogue(language: str, folder: Path | None, first: str) -> gettext.NullTranslations:
    """The catalogues of a language, one behind the other; an empty one, where there is none."""
    places = [folder] if folder else [Path(first), LOCALE] if first else [LOCALE]
    files = [place / language / "LC_MESSAGES" / f"{DOMAIN}.mo" for place in places]
    found = gettext.NullTranslations()
    for file in reversed([file for file in files if file.is_file()]):
        with file.open("rb") as opened:
            one = gettext.GNUTranslations(opened)
        one.add_fallback(found)
        found = one
    return found


class _WithComma(string.Formatter):
    """Fills in parameters; a fraction is written with a decimal comma."""

    def format_field(self, value: Any, format_spec: str) -> str:
        text = str(super().format_field(value, format_spec))
        return text.replace(".", ",") if isinstance(value, float) else text


WITH_POINT, WITH_COMMA = string.Formatter(), _WithComma()
