"""The package: what `tito src export --all` makes in a checkout of TinyTorch, of the parts that embeddings need."""

from tinytorch.core.tensor import Tensor

__all__ = ["Tensor"]
