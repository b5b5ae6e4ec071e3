from .._core import (
    EmbeddingLayer,
    LearnedPositional,
    rope,
    sinusoidal,
)
