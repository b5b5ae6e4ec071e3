from .._core import cross_entropy, log_softmax
