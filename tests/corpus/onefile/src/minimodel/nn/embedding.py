from minimodel._core import Embedding, embed
