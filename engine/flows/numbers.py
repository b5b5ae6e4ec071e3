"""Numbers as people write and read them: with a decimal comma in Spanish, with thousands apart, or as a
formula in the names that a question gives its numbers by.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engine.errors import Message, UsageError
from engine.words import COMMA_LANGUAGES

THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")  # 12,288,000, not 12,5
GROUPS = re.compile(r"\d{1,3}(?:[.,]\d{3}){2,}(?![\d.,])")  # no decimal number has two of them
SPACED = re.compile(r"(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d))")
DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
GIVEN = re.compile(  # "d_model = 64"; not "d_ff = 4 * 64" and not "d_model is 8²"
    r"\b([A-Za-z_]\w*) (?:=|is|es) (-?\d+(?:\.\d+)?)(?![\w²]|\.\d| ?[*/+-])"
)


def written(number: float, lang: str) -> str:
    """With thousands apart from 10,000 on; four digits where it is no whole number."""
    if number != int(number):
        return localized(f"{number:.4g}", lang)
    if abs(number) < 10_000:
        return f"{int(number)}"
    text = f"{int(number):,}"
    return text.replace(",", "\u00a0") if lang in COMMA_LANGUAGES else text


def localized(text: str, lang: str) -> str:
    """A number that is written with a decimal point, as the language writes it."""
    return text.replace(".", ",") if lang in COMMA_LANGUAGES else text


def plain(text: str, lang: str) -> str:
    """A number or a formula as Python writes it."""
    text = SPACED.sub("", text.strip()).replace("^", "**").replace("·", "*").replace("\u2212", "-")
    if lang in COMMA_LANGUAGES:
        text = GROUPS.sub(lambda found: re.sub(r"[.,]", "", found[0]), text)
        return DECIMAL_COMMA.sub(".", text)
    return THOUSANDS.sub("", text)


def number_in(text: str, names: Mapping[str, Any], where: str, lang: str = "en") -> float:
    """What a number, or a formula over `names`, comes to. Raises UsageError."""
    try:
        found = float(text)
    except ValueError:
        pass
    else:
        if found - found == 0:  # neither infinite nor nan
            return found
    from engine.observe.arithmetic import evaluate  # numpy: only where something is computed

    try:
        return evaluate(plain(text, lang), names)
    except ValueError as error:
        raise UsageError(
            Message("A number or a formula is needed here: {error}.", error=error.args[0]),
            where=where,
        ) from None


def names_in(texts: Mapping[str, str]) -> dict[str, float]:
    """The names that a question gives its numbers by, in any language: "d_model = 64" -> {"d_model": 64}."""
    return {
        name: float(number)
        for lang, text in texts.items()
        for name, number in GIVEN.findall(plain(text, lang))
    }
