"""Parameters, and the things that hold them.

A layer in this package is a small class whose constructor makes the
parameters and then a closure over them, kept as ``self.forward``.  Classes
with an ordinary ``forward`` method work just as well.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from types import CellType, FunctionType
from typing import Any, TypeVar

from .tensor import Tensor

M = TypeVar("M", bound="Module")


class Parameter(Tensor):
    """A leaf tensor to be trained.

    Parameters
    ----------
    data : array_like
        First values; copied, so training never writes to the caller's array.
    """

    def __init__(self, data: Any) -> None:
        super().__init__(data, requires_grad=True)
        self.data = self.data.copy()


def _walk(
    value: Any, path: tuple[str, ...], seen: set[int]
) -> Iterator[tuple[str, Any]]:
    """Yield (dotted name, module or parameter) below `value`, each once."""
    if not isinstance(value, (Parameter, Module, dict, list, tuple)):
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, (Parameter, Module)):
        yield ".".join(path), value
    children: Any = ()
    if isinstance(value, Module):
        children = vars(value).items()
    elif isinstance(value, dict):
        children = value.items()
    elif isinstance(value, (list, tuple)):
        children = enumerate(value)
    for key, child in children:
        yield from _walk(child, (*path, str(key)), seen)


def _clone(value: Any, memo: dict[int, Any]) -> Any:
    """Deep-copy `value`; a closure gets copies of what it closes over."""
    if not isinstance(value, FunctionType) or not value.__closure__:
        return copy.deepcopy(value, memo)
    if id(value) not in memo:
        cells = tuple(CellType() for _ in value.__closure__)
        memo[id(value)] = twin = FunctionType(
            value.__code__,
            value.__globals__,
            value.__name__,
            value.__defaults__,
            cells,
        )
        twin.__kwdefaults__ = value.__kwdefaults__
        for new, old in zip(cells, value.__closure__, strict=True):
            new.cell_contents = _clone(old.cell_contents, memo)
    return memo[id(value)]


class Module:
    """Base of all layers.

    Attributes
    ----------
    forward : callable
        What calling the module does.
    training : bool
        True until `eval` is called.
    """

    training: bool = True
    forward: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call ``self.forward``."""
        return self.forward(*args, **kwargs)

    def __deepcopy__(self: M, memo: dict[int, Any]) -> M:
        # copy.deepcopy leaves functions alone: the copy's forward would go
        # on using the parameters of the original.
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        for name, value in vars(self).items():
            twin.__dict__[name] = _clone(value, memo)
        return twin

    def named_parameters(self) -> list[tuple[str, Parameter]]:
        """List (dotted name, parameter), a shared one by its first name."""
        return [
            (name, found)
            for name, found in _walk(self, (), set())
            if isinstance(found, Parameter)
        ]

    def parameters(self) -> list[Parameter]:
        """List every parameter once."""
        return [parameter for _, parameter in self.named_parameters()]

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for parameter in self.parameters():
            parameter.grad = None

    def train(self: M, mode: bool = True) -> M:
        """Set `training` to `mode` here and in every module below."""
        for _, found in _walk(self, (), set()):
            if isinstance(found, Module):
                found.training = bool(mode)
        return self

    def eval(self: M) -> M:
        """Set `training` to False here and in every module below."""
        return self.train(False)
