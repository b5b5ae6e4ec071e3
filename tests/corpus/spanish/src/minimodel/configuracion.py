from dataclasses import dataclass, fields
from numbers import Integral


@dataclass(frozen=True)
class MiniGPTConfig:
    """Medidas del modelo. No se puede cambiar después, y si algo no cuadra se queja al crearla."""

    d_model: int = 64
    n_heads: int = 4
    n_layers: int = 2
    d_ff: int = 256
    vocab_size: int = 64
    context_len: int = 32

    def __post_init__(self):
        for campo in fields(self):
            valor = getattr(self, campo.name)
            if not isinstance(valor, Integral) or isinstance(valor, bool) or valor < 1:
                raise ValueError(f"{campo.name} debe ser un entero positivo, no {valor!r}")
        if self.d_model % self.n_heads:
            raise ValueError(
                f"d_model = {self.d_model} no se reparte entre n_heads = {self.n_heads}"
            )
        d_cabeza = self.d_model // self.n_heads
        if d_cabeza % 2:
            # RoPE gira parejas de columnas
            raise ValueError(f"d_model / n_heads = {d_cabeza} tiene que ser par")
