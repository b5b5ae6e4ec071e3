from .core.tensor import Tensor
from .core.embeddings import Embedding, PositionalEncoding, EmbeddingLayer
from .core.autograd import enable_autograd

enable_autograd()
