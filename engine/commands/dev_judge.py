"""`engine dev judge`: verdicts on any number of candidates, by the code path of the submissions."""

from engine.author.judge import Question
from engine.author.judge import judge as run

__all__ = ["Question", "run"]
