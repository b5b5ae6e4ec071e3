"""Texts of specs, which come in several languages."""

from __future__ import annotations

from collections.abc import Mapping


def said(text: Mapping[str, str], lang: str) -> str:
    """A text in a language, else in the first one it has."""
    return text.get(lang) or next(iter(text.values()), "")
