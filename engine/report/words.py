"""The door of the views to `engine/words.py`, which puts messages into the learner's language."""

from __future__ import annotations

from engine.words import said, speak, words

__all__ = ["said", "speak", "words"]
