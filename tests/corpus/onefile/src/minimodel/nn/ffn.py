from minimodel import _core

gelu, FFN = _core.gelu, _core.FFN
