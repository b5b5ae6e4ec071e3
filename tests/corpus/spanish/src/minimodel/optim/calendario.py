import math


def cosine_lr(step, *, max_lr, min_lr, warmup, total):
    """Sube en línea recta desde 0, baja en coseno y se queda en min_lr."""
    if not 0 <= warmup < total:
        raise ValueError(f"hace falta 0 <= warmup < total, y llegó warmup={warmup}, total={total}")
    if step < warmup:
        return float(max_lr * step / warmup)
    if step >= total:
        return float(min_lr)
    avance = (step - warmup) / (total - warmup)
    return float(min_lr + (max_lr - min_lr) * 0.5 * (1.0 + math.cos(math.pi * avance)))
