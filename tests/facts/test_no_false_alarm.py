"""Sound designs, and bugs of another kind, that a fact once took for the bug that it names."""

from __future__ import annotations

import pytest

from tests.facts.conftest import tree_of

DEEP = {  # an MLP with a stream of its own: a matrix in, a layer with a residual, a matrix out
    "fused": ("model.py",
              ("self.act = nn.GELU()", "self.act, self.mid = nn.GELU(), nn.Linear(4 * config.n_embd, 4 * config.n_embd)"),
              ("return self.drop(self.down(self.act(self.up(x))))",
               "h = self.up(x)\n        return self.drop(self.down(h + self.act(self.mid(h))))")),
    "espanol": ("modelo.py",
                ("        self.salida = nn.Linear(4 * dim_modelo, dim_modelo)",
                 "        self.salida = nn.Linear(4 * dim_modelo, dim_modelo)\n"
                 "        self.medio = nn.Linear(4 * dim_modelo, 4 * dim_modelo)"),
                ("h = F.gelu(self.entrada(self.norma2(x)))",
                 "h = self.entrada(self.norma2(x))\n        h = h + F.gelu(self.medio(h))")),
    "trainer": ("minilm/model.py",
                ("self.fc1 = nn.Linear(hparams.d_model, hparams.d_ff)",
                 "self.fc1 = nn.Linear(hparams.d_model, hparams.d_ff)\n"
                 "        self.mid = nn.Linear(hparams.d_ff, hparams.d_ff)"),
                ("x = x + self.fc2(F.relu(self.fc1(self.n2(x))) ** 2)",
                 "h = self.fc1(self.n2(x))\n        x = x + self.fc2(h + F.relu(self.mid(h)))")),
    "llama": ("llama/layers.py",
              ("self.w2 = nn.Linear(hidden, dim, bias=False)",
               "self.w2, self.mid = nn.Linear(hidden, dim, bias=False), nn.Linear(hidden, hidden)"),
              ("return self.w2(torch.nn.functional.silu(self.w1(x)) * self.w3(x))",
               "h = self.w1(x) + self.w3(x)\n"
               "        return self.w2(h + torch.nn.functional.silu(self.mid(h)))")),
}  # fmt: skip


def facts_of(tree, measure, **asked):
    return {fact.id: fact for fact in measure(tree, **asked).facts}


def changed(style, file, *pairs):
    tree = tree_of(style)
    text = tree[file].decode()
    for old, new in pairs:
        assert old in text, "the corpus has changed"
        text = text.replace(old, new)
    return {**tree, file: text.encode()}


@pytest.mark.parametrize("style", DEEP)
def test_a_stream_inside_an_mlp_is_no_missing_activation(style, measure):
    facts = facts_of(changed(style, *DEEP[style]), measure)
    assert facts["activation"].verdict == facts["residual_ffn"].verdict == "PASS"
    assert [fact.id for fact in facts.values() if fact.verdict == "WRONG"] == []


def test_without_a_residual_around_it_such_an_mlp_is_still_wrong(measure):
    tree = changed("fused", *DEEP["fused"], ("x = x + self.mlp(", "x = self.mlp("))
    facts = facts_of(tree, measure)
    assert facts["residual_ffn"].value == "missing in 2 of 2"
    assert facts["activation"].verdict == "PASS"


@pytest.mark.parametrize("scaled", [True, False])
def test_a_wide_model_whose_rows_are_sharp_still_sees_itself(scaled, measure):
    tree = changed("fused", "model.py", *([] if scaled else [(" / math.sqrt(k.size(-1))", "")]))
    facts = facts_of(tree, measure, model="model.py:GPT(GPTConfig(n_layer=2))")
    assert facts["mask"].value == "up to itself"
    assert facts["scale"].value == ("1/sqrt(d_head)" if scaled else "none")


def test_a_dropout_that_evaluates_is_no_heads_put_together_wrongly(measure):
    """Numbers that change on the way to the projection say nothing of where tokens are."""
    tree = changed("fused", "model.py", ("y = att @ v", "y = F.dropout(att @ v, 0.1)"))
    facts = facts_of(tree, measure)
    assert facts["merge"].value is None and facts["eval_dropout"].verdict == "WRONG"


ROUTED = """class MLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate = nn.Linear(config.n_embd, 32)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(config.n_embd, 16), nn.GELU(), nn.Linear(16, config.n_embd))
            for _ in range(32)
        )

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        share, chosen = self.gate(flat).softmax(-1).max(-1)
        self.load = share.mean()
        out = torch.zeros_like(flat)
        for n, expert in enumerate(self.experts):
            rows = torch.where(chosen == n)[0]
            if len(rows):
                out = out.index_add(0, rows, expert(flat[rows]) * share[rows, None])
        return out.view_as(x)


class Block("""


def routed(*pairs):
    """The fused model with many experts, whose router has a loss of its own beside the logits."""
    tree = changed("fused", "model.py",
                   ("def forward(self, idx, targets=None)", "def forward(self, idx)"),
                   ("        loss = None\n        if targets is not None:\n"
                    "            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))\n",
                    "        loss = sum(block.mlp.load for block in self.blocks)\n"), *pairs)  # fmt: skip
    head, _, rest = tree["model.py"].decode().partition("class MLP(nn.Module):")
    return {"model.py": (head + ROUTED + rest.partition("class Block(")[2]).encode()}


def test_experts_that_are_not_chosen_are_not_without_a_gradient(measure):
    facts = facts_of(routed(), measure)
    assert facts["gradients"].verdict == "PASS"


def test_a_number_beside_the_logits_is_no_loss_where_no_targets_are_given(measure):
    wide = ("nn.init.normal_(module.weight, std=0.02)", "nn.init.normal_(module.weight, std=2.0)")
    facts = facts_of(routed(wide), measure)
    assert facts["start_loss"].value.endswith("times log V")


WHOLE = (
    ("        self.attn = CausalSelfAttention(config)",
     "        self.attn = nn.MultiheadAttention(config.n_embd, config.n_head, batch_first=True)"),
    ("        x = x + self.attn(self.ln_1(x))",
     "        h, T = self.ln_1(x), x.size(1)\n        far = torch.triu(torch.ones(T, T), 1).bool()\n"
     "        x = x + self.attn(h, h, h, attn_mask=far, need_weights=False)[0]"),
)  # fmt: skip


def test_what_a_library_s_attention_lets_through_is_seen_from_outside(measure):
    facts = facts_of(changed("fused", "model.py", *WHOLE), measure)
    assert [facts[id].verdict for id in ("future", "positions", "distinct_blocks")] == ["PASS"] * 3
    assert facts["pre_norm"].why.startswith("attention is inside torch's own")
    unmasked = changed("fused", "model.py", *WHOLE, ("attn_mask=far, ", ""))
    assert facts_of(unmasked, measure)["future"].verdict == "WRONG"


MASKED = [
    (
        "def forward(self, idx, targets=None)",
        "def forward(self, idx, targets=None, attention_mask=None)",
    ),
    (
        "pos = torch.arange(T",
        "T = T if attention_mask is None else 1\n        pos = torch.arange(T",
    ),
]
HIDDEN = ('float("-inf"))', 'float("-inf")) if self.training else att')


@pytest.mark.parametrize(("changes", "verdict"), [(MASKED, "PASS"), ([*MASKED, HIDDEN], "SKIP")])
def test_a_mask_that_may_be_given_is_only_missed_where_later_tokens_show(changes, verdict, measure):
    facts = facts_of(changed("fused", "model.py", *changes), measure)
    assert facts["future"].verdict == verdict


GROWING = [
    ("        pos = torch.arange(T, device=idx.device)\n",
     "        if T > len(self.known):\n            self.known = torch.arange(T) * 1\n"
     "        pos = self.known[:T]\n"),
    ("        self.apply(self._init)\n",
     "        self.known = torch.arange(1)\n        self.apply(self._init)\n"),
    ("self.ln_1 = nn.LayerNorm(config.n_embd)", "self.ln_1 = Norm(config.n_embd)"),
    ("class Block(", """class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return self.gain * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class Block("""),
]  # fmt: skip


@pytest.mark.parametrize(("eps", "value"), [(" + 1e-6", "above 0"), ("", "0")])
def test_a_cache_that_the_first_run_fills_does_not_hide_the_norms(eps, value, measure):
    tree = changed("fused", "model.py", *GROWING, (" + 1e-6", eps))
    assert facts_of(tree, measure)["eps"].value == value


SAMPLERS = {
    "by its forward": ("fused", "model.py", ("logits, _ = self(cond)", "logits, _ = self.forward(cond)")),
    "context left out": ("dictcfg", "lm.py",
                         ("context_size):\n    for", "context_size=None):\n    for"),
                         ("idx[:, -context_size:]", "idx[:, -context_size:] if context_size else idx")),
    "with a penalty": ("fused", "model.py", ("top_k=None):", "top_k=None, repetition_penalty=1.2):"),
                       ("        logits = logits[:, -1, :] / temperature\n",
                        "        logits = logits[:, -1, :] / temperature\n"
                        "            logits[0, idx[0]] /= repetition_penalty\n")),
}  # fmt: skip


@pytest.mark.parametrize("way", SAMPLERS)
def test_a_sampler_is_told_what_it_needs_to_be_seen(way, measure):
    style, file, *pairs = SAMPLERS[way]
    facts = facts_of(changed(style, file, *pairs), measure, generation=True)
    assert facts["crop"].value == "the last tokens"
    assert facts["gen_position"].value == "of the last position"
