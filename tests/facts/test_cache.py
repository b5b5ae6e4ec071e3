"""The fact `cache`: styles of the corpus that are given a cache of keys and values, right and wrong."""

from __future__ import annotations

import re

import pytest

from tests.facts.conftest import tree_of

JOIN = """if self.caching:
            if self.kept is not None:
                k, v = torch.cat([self.kept[0], k], {axis}), torch.cat([self.kept[1], v], {axis})
            self.kept = (k, v)
        {then}"""
FUSED = [
    ("model.py", "        self.attn_drop =", "        self.caching, self.kept = False, None\n        self.attn_drop ="),
    ("model.py", "att = (q @", JOIN.format(axis=2, then="P = k.size(2) - T\n        att = (q @")),
    ("model.py", "self.mask[:, :, :T, :T]", "self.mask[:, :, P : P + T, : P + T]"),
    ("model.py", "        self.config = config\n", "        self.config = config\n        self.seen = 0\n"),
    ("model.py", "torch.arange(T, device", "torch.arange(self.seen, self.seen + T, device"),
    ("model.py", "        for _ in range(max_new", "        for b in self.blocks:\n            b.attn.caching, b.attn.kept = True, None\n        for _ in range(max_new"),
    ("model.py", "            cond = idx[:, -self.config.block_size :]\n            logits, _ = self(cond)\n", "            cond = idx[:, self.seen :]\n            logits, _ = self(cond)\n            self.seen += cond.size(1)\n"),
    ("model.py", "            idx = torch.cat((idx, nxt), dim=1)\n", "            idx = torch.cat((idx, nxt), dim=1)\n        for b in self.blocks:\n            b.attn.caching = False\n        self.seen = 0\n"),
]  # fmt: skip
HEADS = [
    ("gpt.py", "        self.value = nn", "        self.caching, self.kept = False, None\n        self.value = nn"),
    ("gpt.py", "        wei = q @", "        v = self.value(x)\n        " + JOIN.format(axis=1, then="P = k.size(1) - T\n        wei = q @")),
    ("gpt.py", "self.tril[:T, :T]", "self.tril[P : P + T, : P + T]"),
    ("gpt.py", "wei @ self.value(x)", "wei @ v"),
    ("gpt.py", "        self.ln_f = nn", "        self.seen = 0\n        self.ln_f = nn"),
    ("gpt.py", "torch.arange(T, device=device)", "torch.arange(self.seen, self.seen + T, device=device)"),
    ("gpt.py", "        for _ in range(max_new", "        heads = [h for b in self.blocks for h in b.sa.heads]\n        for h in heads:\n            h.caching, h.kept = True, None\n        for _ in range(max_new"),
    ("gpt.py", "            idx_cond = idx[:, -block_size:]\n            logits, loss = self(idx_cond)\n", "            idx_cond = idx[:, self.seen:]\n            logits, loss = self(idx_cond)\n            self.seen += idx_cond.shape[1]\n"),
    ("gpt.py", "        return idx\n", "        for h in heads:\n            h.caching = False\n        self.seen = 0\n        return idx\n"),
]  # fmt: skip
LLAMA = [
    ("llama/layers.py", "        self.wq =", "        self.caching, self.kept = False, None\n        self.wq ="),
    ("llama/layers.py", "k, v = repeat_kv(k,", JOIN.format(axis=1, then="k, v = repeat_kv(k,")),
    ("llama/model.py", "        self.args = args\n", "        self.args = args\n        self.seen = 0\n"),
    ("llama/model.py", "torch.full((t, t)", "torch.full((t, self.seen + t)"),
    ("llama/model.py", "diagonal=1", "diagonal=self.seen + 1"),
    ("llama/model.py", "self.cos[:t], self.sin[:t]", "self.cos[self.seen : self.seen + t], self.sin[self.seen : self.seen + t]"),
    ("sampling.py", "    for _ in range", "    for layer in model.layers:\n        layer.attention.caching, layer.attention.kept = True, None\n    for _ in range"),
    ("sampling.py", "tokens if tokens.size(1) <= model.args.max_seq_len else tokens[:, -model.args.max_seq_len :]", "tokens[:, model.seen :]"),
    ("sampling.py", "        probs = torch.softmax", "        model.seen += window.size(1)\n        probs = torch.softmax"),
    ("sampling.py", "    return tokens", "    for layer in model.layers:\n        layer.attention.caching = False\n    model.seen = 0\n    return tokens"),
]  # fmt: skip
ESPANOL = [
    ("modelo.py", "        self.salida = nn.Linear(dim_modelo, dim_modelo)\n", "        self.salida = nn.Linear(dim_modelo, dim_modelo)\n        self.caching, self.kept = False, None\n"),
    ("modelo.py", "y = F.scaled", JOIN.format(axis=2, then="y = F.scaled")),
    ("modelo.py", "is_causal=True", "is_causal=q.shape[2] > 1"),
    ("modelo.py", "        self.contexto = contexto\n", "        self.contexto = contexto\n        self.visto = 0\n"),
    ("modelo.py", "self.posiciones[:, : entrada.shape[1]]", "self.posiciones[:, self.visto : self.visto + entrada.shape[1]]"),
    ("modelo.py", "        self.eval()\n", "        self.eval()\n        for b in self.bloques:\n            b.atencion.caching, b.atencion.kept = True, None\n"),
    ("modelo.py", "            logits = self(contexto[:, -self.contexto :])[:, -1]\n", "            nuevo = contexto[:, self.visto :]\n            logits = self(nuevo)[:, -1]\n            self.visto += nuevo.shape[1]\n"),
    ("modelo.py", "        return contexto\n", "        for b in self.bloques:\n            b.atencion.caching = False\n        self.visto = 0\n        return contexto\n"),
]  # fmt: skip
CACHED = {"fused": FUSED, "heads": HEADS, "llama": LLAMA, "espanol": ESPANOL}
NOT_ADVANCED = {
    "fused": ("model.py", "torch.arange(self.seen, self.seen + T,", "torch.arange(T,"),
    "heads": ("gpt.py", "torch.arange(self.seen, self.seen + T,", "torch.arange(T,"),
    "llama": ("llama/model.py", "self.cos[self.seen : self.seen + t]", "self.cos[:t]"),
    "espanol": ("modelo.py", "self.visto : self.visto + entrada", ": entrada"),
}
LOST = ("llama/layers.py", "torch.cat([self.kept[1], v]", "torch.cat([self.kept[1], 0 * v]")


def cached(style, *more):
    tree = tree_of(style)
    for file, old, new in (*CACHED[style], *more):
        text = tree[file].decode()
        assert old in text, "the corpus has changed"
        tree[file] = text.replace(old, new).encode()
    return tree


def fact_of(tree, measure):
    report = measure(tree, generation=True)
    return next(one for one in report.facts if one.id == "cache")


@pytest.mark.parametrize("style", CACHED)
def test_a_cache_that_agrees_with_the_whole_text_passes(style, measure):
    fact = fact_of(cached(style), measure)
    assert (fact.verdict, fact.value) == ("PASS", "the logits of the whole text"), fact.why


@pytest.mark.parametrize("style", CACHED)
def test_a_position_that_is_not_advanced_is_named(style, measure):
    fact = fact_of(cached(style, NOT_ADVANCED[style]), measure)
    assert fact.verdict == "WRONG", (fact.value, fact.why)
    assert re.fullmatch(r"other logits from new token 2 on", fact.value)
    assert fact.where is not None


def test_values_that_are_lost_are_named(measure):
    fact = fact_of(cached("llama", LOST), measure)
    assert (fact.verdict, fact.value) == ("WRONG", "other logits from new token 2 on")


@pytest.mark.parametrize("style", ["fused", "heads", "espanol"])
def test_a_sampler_without_a_cache_is_skipped(style, measure):
    fact = fact_of(tree_of(style), measure)
    assert (fact.verdict, fact.why[:26]) == ("SKIP", "the sampler uses no cache:")


def test_a_model_that_keeps_a_state_is_skipped(measure):
    kept = ("model.py", "            b.attn.caching = False\n", "            pass\n")
    assert fact_of(cached("fused", kept), measure).verdict == "SKIP"
