"""A small language model in NumPy. All of it is in minimodel._core; the other
modules are only the addresses under which its parts are known."""
