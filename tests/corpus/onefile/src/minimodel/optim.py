from ._core import SGD, AdamW, clip_grad_norm, cosine_lr
