from minimodel._core import LayerNorm, RMSNorm, layer_norm, rms_norm
