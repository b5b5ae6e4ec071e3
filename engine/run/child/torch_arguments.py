"""Arguments on the command line of a training script: small numbers, and values for what must be given."""

from __future__ import annotations

import re

NUMBER = re.compile(r"^-?\d[\d_]*(\.\d*)?(e[+-]?\d+)?$", re.I)
SUFFIX = re.compile(r"\.(npy|bin|pt|jsonl?|txt|ya?ml|pkl|csv|parquet|model)\b")
FOLDER = re.compile(r"dir|folder|root|out", re.I)
FILE = re.compile(r"data|file|path|text|corpus|input|train|val|bin|tok|vocab|merge|src", re.I)
CONFIG = re.compile(r"conf|cfg|yaml|settings|hparam", re.I)
LIKELY = re.compile(r"train|gpt|base|default|small")
CONFIGS = (".yaml", ".yml", ".json", ".toml")


def small_words(words, small):
    """The words of a command line with small numbers, by the name before each."""
    found, name = [], ""
    for word in words:
        key, equals, value = word.partition("=")
        if equals:
            found.append(key + "=" + str(number(key, value, small)))
            continue
        found.append(str(number(name, word, small)) if name else word)
        name = word if word.startswith("-") and not NUMBER.match(word) else ""
    return found


def number(name, text, small):
    """The small value of a text that stands behind a name."""
    name = name.lstrip("-").rpartition(".")[2].replace("-", "_")
    if NUMBER.match(text):
        value = float(text) if re.search(r"[.e]", text, re.I) else int(text)
        new = small(name, value)
        return text if new == value else new
    return small(name, text) if not text.startswith("-") else text


def needed(name, kind, told, files):
    """A value for an argument that must be given: kind is the name of its type, told its help text."""
    if kind in ("int", "float", "bool"):
        return 1
    if CONFIG.search(name):
        fitting = [file for file in files if file.endswith(CONFIGS)]
        return min(fitting, key=likely) if fitting else name + ".yaml"
    suffix = SUFFIX.search(told)
    if suffix is None and FOLDER.search(name):
        return name
    if suffix is not None or FILE.search(name):
        return name + (suffix[0] if suffix else ".txt")
    return name


def likely(file):
    """Puts a configuration of a training first."""
    return not LIKELY.search(file), not CONFIG.search(file), file.count("/"), file
