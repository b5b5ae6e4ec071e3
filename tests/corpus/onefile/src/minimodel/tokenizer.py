from minimodel._core import BPETokenizer
