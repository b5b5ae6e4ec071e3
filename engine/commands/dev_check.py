"""`engine dev check`: every spec error with its place, then the proof of every exercise."""

from engine.author.prove import CheckReport
from engine.author.prove import prove as run

__all__ = ["CheckReport", "run"]
