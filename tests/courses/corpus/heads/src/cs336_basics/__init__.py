from .attention import AttentionHead, MultiHeadAttention, Rope, attend, stable_softmax
from .blocks import FeedForward, Lookup, Norm, PreNormBlock, Projection, swish
from .bpe import BytePairTrainer, BytePairTokenizer
from .lm import LanguageModel
from .loop import Adam, batch, clip, learning_rate, nll, restore, store
