from ._core import Module, Parameter
