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
