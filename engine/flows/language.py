"""The little language of a walkthrough: its words, its sentences, and how a model takes them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from engine.errors import Message, UsageError
from engine.spec.types import Walkthrough

SEED = 0  # of the order of the sentences
END = "."
LONGEST = 16  # tokens of a sentence: the context of the walkthrough's model


def spoken(spec: Walkthrough) -> list[str]:
    """Every sentence of the little language."""
    found = []
    for template in spec.grammar:
        slots = re.findall(r"\{(\w+)\}", template)
        for choice in itertools.product(*(spec.groups[slot] for slot in slots)):
            sentence = template
            for slot, word in zip(slots, choice, strict=True):
                sentence = sentence.replace(f"{{{slot}}}", word, 1)
            found.append(sentence)
    return found


def vocabulary(spec: Walkthrough) -> dict[str, int]:
    """The words of the little language, and the end of a sentence, with their ids."""
    words = {word for sentence in spoken(spec) for word in sentence.split()}
    return {word: i for i, word in enumerate(sorted(words | {END}))}


def ids_of(number: Mapping[str, int], text: str) -> list[int]:
    """The words of a text as ids. Raises UsageError that lists the words there are."""
    given = re.findall(r"[^\s.,;!?]+", text)
    known = {word.lower(): i for word, i in number.items()}
    strange = [word for word in given if word.lower() not in known]
    if strange or not given:
        raise UsageError(
            Message("The little language has no word {word!r}.", word=strange[0])
            if strange
            else Message("There is no word in it."),
            where=repr(text),
            next=Message("Its words: {words}", words=", ".join(sorted(number))),
        )
    if len(given) > LONGEST:
        raise UsageError(
            Message("At most {longest} words, not {count}.", longest=LONGEST, count=len(given)),
            where=repr(text),
        )
    return [known[word.lower()] for word in given]


class Language(NamedTuple):
    """The little language as a model takes it: ids, and two sentences that share a word, at these places."""

    words: tuple[str, ...]
    stream: tuple[int, ...]
    one: tuple[int, ...]
    other: tuple[int, ...]
    at_one: int
    at_other: int


def language(spec: Walkthrough) -> Language:
    """All sentences in an order by lot, each with its end."""
    number, sentences, same = vocabulary(spec), spoken(spec), spec.same_word
    mixed = np.random.default_rng(SEED).permutation(len(sentences))
    stream = [number[word] for i in mixed for word in (*sentences[i].split(), END)]
    one, other = (sentence.split() for sentence in (same.one, same.other))
    return Language(
        tuple(number),
        tuple(stream),
        tuple(number[word] for word in one),
        tuple(number[word] for word in other),
        one.index(same.word),
        other.index(same.word),
    )
