"""Facts of one run of a model: `fact(parts) -> (value, call, why)`."""

from pack import attention_facts, ffn_facts, position_facts, stream_facts

RUN = {
    "scale": attention_facts.scale,
    "mask": attention_facts.mask,
    "rows": attention_facts.rows,
    "merge": attention_facts.merge,
    "split": attention_facts.split,
    "norm_kind": stream_facts.norm_kind,
    "norm_axis": stream_facts.norm_axis,
    "residual_attention": stream_facts.residual("attention"),
    "residual_ffn": stream_facts.residual("FFN"),
    "pre_norm": stream_facts.pre_norm,
    "final_norm": stream_facts.final_norm,
    "activation": ffn_facts.activation,
    "positions": position_facts.position,
}
