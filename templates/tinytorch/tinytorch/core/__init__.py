"""Tensor, autograd and the layers on top of them."""
