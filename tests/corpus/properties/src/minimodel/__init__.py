"""A small language model on NumPy: a tape, a table of operations, and a GPT on top."""

from .mini_gpt import MiniGPT, MiniGPTConfig
from .module import Module, Parameter
from .tensor import Tensor
