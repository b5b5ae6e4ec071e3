"""Values that names suggest: sizes for configurations, and what else constructors ask for.

The rules are the pack's, as data: [pattern, value, when], first match wins; a name is compared in lower
case without underscores. when: "size" (no default, None or an integer), "missing" (no default), "none"
(no default, or None), "always".
"""

from __future__ import annotations

import re

MISSING = type("Missing", (), {"__repr__": lambda self: "MISSING"})()
WHEN = {
    "size": lambda default: default is MISSING or default is None or type(default) is int,
    "missing": lambda default: default is MISSING,
    "none": lambda default: default is MISSING or default is None,
    "number": lambda default: default is MISSING or type(default) in (int, float),
    "always": lambda default: True,
}


def plain(name):
    """`n_embd`, `nEmbd` and `n-embd` are one name."""
    return re.sub(r"[_\-.]", "", str(name)).lower()


class Names:
    """guess(name, default) -> a value, the default, or MISSING."""

    def __init__(self, rules, told=lambda name: MISSING):
        self._rules = [(re.compile(pattern), value, when) for pattern, value, when in rules]
        self._told = told

    def rule(self, name):
        """The value and the condition of the first rule for a name, or None."""
        short = plain(name)
        for pattern, value, when in self._rules:
            if pattern.search(short):
                return value, when
        return None

    def is_size(self, name):
        found = self.rule(name)
        return found is not None and found[1] == "size"

    def guess(self, name, default=MISSING):
        found = self.rule(name)
        if found is None or not WHEN[found[1]](default):
            return default
        return self.made(found[0])

    def needed(self, name, default=MISSING):
        """The same; for a name that no rule knows, what the tree itself gives to it, small."""
        value = self.guess(name, default)
        if value is MISSING and isinstance(name, str):
            value = self._told(name)
            return value if value is MISSING else self.shrunk(name, value)
        return value

    def sizes(self):
        """{name: value} of a configuration that the tree holds; {} where it holds none."""
        found = getattr(self._told, "sizes", None)
        return found(self) if found is not None else {}

    def made(self, value):
        """{"dtype": "float32"} stands for what only torch has."""
        if isinstance(value, dict) and "dtype" in value:
            import torch

            return getattr(torch, value["dtype"])
        return value

    def shrunk(self, name, default):
        """A number that stands in the code, by its name; never larger than it is there."""
        if type(default) not in (int, float):
            return default
        value = self.guess(name, default)
        if type(value) not in (int, float) or (type(default) is int and type(value) is not int):
            return default
        return value
