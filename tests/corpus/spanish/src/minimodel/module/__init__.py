"""Parámetros y módulos."""

from .modulo import Module
from .parametro import Parameter

__all__ = ["Module", "Parameter"]
