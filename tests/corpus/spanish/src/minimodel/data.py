import numpy as np


def batches(ids, batch_size, seq_len, *, rng):
    """Lotes (x, y) sin fin; y es x corrido un lugar.

    Las comprobaciones se hacen aquí, al llamar, y no en el primer next().
    """
    ids = np.asarray(ids)
    if ids.ndim != 1:
        raise ValueError(f"ids tiene que ser de un solo eje, no {ids.shape}")
    if batch_size < 1 or seq_len < 1:
        raise ValueError(f"batch_size={batch_size} y seq_len={seq_len} deben ser positivos")
    if len(ids) < seq_len + 1:
        raise ValueError(f"hacen falta al menos {seq_len + 1} ids y solo hay {len(ids)}")
    return _sacar_lotes(ids, batch_size, seq_len, rng)


def _sacar_lotes(ids, cuantos, largo, rng):
    ventana = np.arange(largo)
    while True:
        # último comienzo posible: len(ids) - largo - 1 (integers no incluye el extremo)
        comienzos = rng.integers(0, len(ids) - largo, size=cuantos)
        lugares = comienzos[:, None] + ventana
        yield ids[lugares], ids[lugares + 1]
