"""Learners and answers for these tests; see workbench.py beside the tests of commands."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "commands"))

from workbench import (  # noqa: F401
    answers,
    closed,
    closed_learner,
    healthy_learner,
    home,
    opened,
    opened_learner,
)
