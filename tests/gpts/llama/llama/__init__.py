from .model import Transformer
from .config import ModelArgs
