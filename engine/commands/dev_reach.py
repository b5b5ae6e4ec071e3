"""`engine dev reach`: into how much of other people's code do the breaks go, and how."""

from engine.author.reach import reach as run

__all__ = ["run"]
