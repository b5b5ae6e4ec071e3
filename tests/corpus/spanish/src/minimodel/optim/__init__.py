"""Optimizadores y lo que los rodea."""

from .adamw import AdamW
from .calendario import cosine_lr
from .recorte import clip_grad_norm
from .sgd import SGD

__all__ = ["SGD", "AdamW", "clip_grad_norm", "cosine_lr"]
