from .embedding import *; from .positional import *; from .lm_head import *
from .loss import *; from .norm import *; from .lstm import *
from .attention import *; from .ffn import *; from .block import *