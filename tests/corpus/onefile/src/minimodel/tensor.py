from minimodel._core import Tensor
