from ._core import batches
