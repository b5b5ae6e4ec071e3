"""What an interpreter says of itself when it has started, and what is said where it lacks something."""

from __future__ import annotations

import msgspec

from engine.errors import LearnerCodeError, Message
from engine.run.channel import Server
from engine.run.types import Sandbox
from engine.run.zygote import Zygote

START_LIMIT = 60.0  # seconds to import numpy
TORCH_LIMIT = 300.0  # seconds to import torch on a machine that is busy
INSTALL = 'python3 -m pip install "breakfix-engine[torch]"'


def greeting(zygote: Zygote, torch: bool = False) -> Sandbox:
    """What it says. torch: whether it is to have torch rather than numpy. Raises LearnerCodeError."""
    hello = Server(zygote.control).receive(TORCH_LIMIT if torch else START_LIMIT)
    if hello is None:
        raise LearnerCodeError(
            Message(
                "The interpreter {python} did not start. It must be Python 3.9 or newer.",
                python=zygote.python,
            ),
            next=Message("Put another under `python:` in learner.yaml, then try `engine doctor`."),
        )
    if torch and hello["torch"] is None:
        raise LearnerCodeError(
            Message("The interpreter {python} has no torch.", python=zygote.python),
            next=Message(
                "Set `python:` in learner.yaml to one that has, or: {command}", command=INSTALL
            ),
        )
    if not torch and hello["numpy"] is None:
        raise LearnerCodeError(
            Message("The interpreter {python} has no numpy.", python=zygote.python),
            next=Message("Install numpy there, or set `python:` in learner.yaml."),
        )
    return msgspec.convert({"numpy": None, "landlock": 0, "seccomp": False, **hello}, Sandbox)
