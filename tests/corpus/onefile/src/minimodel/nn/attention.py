from minimodel._core import *
