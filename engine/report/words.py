"""The one place where messages become words of a language, by gettext catalogues.

A message's id is its English text with named parameters (`engine/errors.Message`; `words("...", name=value)`
in this room), so English is shown where a catalogue lacks a message. Extract them with
`pybabel extract -k Message -k words engine`; catalogues lie in `engine/locale/LANG/LC_MESSAGES/engine.mo`.
Programs get English always: JSON is written from `str(message)`.
"""

from __future__ import annotations

import gettext
from pathlib import Path

from engine.errors import Message, Said

DOMAIN = "engine"
LOCALE = Path(__file__).resolve().parent.parent / "locale"
_catalogue: gettext.NullTranslations = gettext.NullTranslations()


def speak(language: str, folder: Path = LOCALE) -> None:
    """From now on in this language; in English, where there is no catalogue of it."""
    global _catalogue
    _catalogue = gettext.translation(DOMAIN, folder, [language], fallback=True)


def said(message: Said) -> str:
    """A message in the language; a plain text as it is. Parameters that are messages are said, too."""
    if not isinstance(message, Message):
        return message
    params = {
        name: said(value) if isinstance(value, Message) else value
        for name, value in message.params.items()
    }
    text = _catalogue.gettext(message.id) if message.id else ""
    return Message.fill(text, params)


def words(id: str, /, **params: object) -> str:
    """A sentence of a view in the language, with its parameters."""
    return said(Message(id, **params))
