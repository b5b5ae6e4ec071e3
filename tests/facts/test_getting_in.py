"""What stands in the way in other people's trees, one kind each: the model is built all the same."""

from __future__ import annotations

import pytest

from engine.commands.interpreters import pack_folder
from engine.errors import NotApplicable
from engine.facts import candidates, experiments, pack
from engine.flows import check
from engine.run.child.torch_definitions import definitions
from engine.run.child.torch_names import MISSING, Names
from engine.run.child.torch_shrink import Small, shrunk
from engine.run.child.torch_told import Told
from engine.run.child.tree import Tree
from tests.facts.conftest import tree_of

PACK = pack.load(pack_folder())
RULES = experiments.rules(PACK)


def changed(*pairs: tuple[str, str]) -> dict[str, bytes]:
    """The fused model alone, with these texts in place of others."""
    text = tree_of("fused")["model.py"].decode()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return {"model.py": text.encode()}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("train.py", "net = Net(slope=0.25)\n"),
        ("train.py", "p.add_argument('--slope', type=float, default=0.25)\n"),
        ("conf.py", "HYPER = {'slope': 0.25}\n"),
        ("conf.py", "class Settings:\n    slope: float = 0.25\n"),
        ("conf.yaml", "model:\n  slope: 0.25  # of the ramp\n"),
        ("conf.json", '{"slope": 0.25,\n "other": 1}\n'),
    ],
)
def test_a_name_that_no_rule_knows_has_the_value_that_the_tree_gives_to_it(file, text):
    names = Names(RULES, Told({file: text.encode()}, "model.py"))
    assert names.guess("slope") is MISSING
    assert names.needed("slope") == 0.25


def test_the_value_nearest_to_the_model_is_taken():
    files = {"a/b/conf.yaml": b"rank: 3\n", "conf.yaml": b"rank: 7\n"}
    assert Told(files, "a/b/model.py")("rank") == 3
    assert Told(files, "model.py")("rank") == 7


def test_nothing_is_a_value_where_the_tree_gives_no_other():
    files = {"conf.py": b"rank = None\nslope = None\n", "train.py": b"net = Net(slope=3)\n"}
    told = Told(files, "model.py")
    assert (told("rank"), told("slope"), told("other")) == (None, 3, MISSING)


def test_sizes_inside_a_preset_are_small():
    source = "SIZES = {'base': dict(n_layer=12, n_embd=768), 'big': {'n_layer': 24}}\n"
    names = {}
    exec(compile(definitions(source, Names(RULES)), "a.py", "exec"), names)
    assert names["SIZES"] == {"base": {"n_layer": 2, "n_embd": 32}, "big": {"n_layer": 2}}


def test_a_class_with_an_unlikely_name_is_a_candidate_after_all_others():
    text = tree_of("fused")["model.py"].decode().replace("class GPT(", "class AttentionBlocks(")
    text = text.replace("self, idx, targets=None", "self, z")
    found = candidates.classes({"model.py": text.encode()}, PACK.find)
    assert found[0].cls == "AttentionBlocks"
    both = {"model.py": text.encode(), "net.py": tree_of("fused")["model.py"]}
    found = candidates.classes(both, PACK.find)
    assert [(one.cls, one.likely) for one in found[:2]] == [
        ("GPT", True),
        ("AttentionBlocks", False),
    ]


TRUNK = [
    ("        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)\n", ""),
    ("        self.wte.weight = self.lm_head.weight\n", ""),
    ("        logits = self.lm_head(self.ln_f(x))\n", "        return self.ln_f(x)\n"),
]
HEAD = """import torch.nn as nn
from model import GPT

class GPTForText(GPT):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.lm_head = nn.Linear(self.config.n_embd, self.config.vocab_size)

    def forward(self, idx):
        return self.lm_head(super().forward(idx))
"""


def test_a_head_that_inherits_its_trunk_from_another_file_is_taken(measure):
    report = measure({**changed(*TRUNK), "text.py": HEAD.encode()})
    assert (report.model.file, report.model.cls) == ("text.py", "GPTForText")
    assert (report.model.layers, report.model.width, report.model.heads) == (2, 32, 4)


def test_what_lies_in_a_package_hides_no_module_of_python():
    """`mine/tokenize` is mine.tokenize, wherever the file that imports `tokenize` lies."""
    files = {"mine/__init__.py": b"", "mine/tokenize.py": b"", "queue.py": b""}
    tree = Tree("/tree", ["mine", ""], files)
    assert tree.find_spec("tokenize") is None
    assert tree.find_spec("mine.tokenize", ["/tree/mine"]).origin == "/tree/mine/tokenize.py"
    assert tree.find_spec("queue").origin == "/tree/queue.py"


def test_a_trunk_without_a_head_is_no_language_model(measure):
    with pytest.raises(NotApplicable) as caught:
        measure(changed(*TRUNK))
    assert "gives no logits" in caught.value.where


def test_sizes_that_only_fit_each_other_stay_as_they_are(measure):
    fixed = (
        "self.n_head = config.n_head",
        "assert config.n_embd == 384\n        self.n_head = config.n_head",
    )
    report = measure(changed(fixed))
    assert (report.model.width, report.model.heads) == (384, 6)
    assert not report.wrong


def test_a_constructor_gets_what_the_tree_passes_to_it(measure):
    asks = ("def __init__(self, config):\n        super().__init__()\n        self.config = config",
            "def __init__(self, config, slope):\n        super().__init__()\n        self.config = config\n"
            "        self.slope = 1 / slope")  # fmt: skip
    tree = {**changed(asks), "run.py": b"model = GPT(GPTConfig(), slope=0.5)\n"}
    assert measure(tree).model.layers == 2


GATED_LAST = [
    ("self.down = nn.Linear(4 * config.n_embd, config.n_embd, bias=config.bias)",
     "self.gate = nn.Linear(4 * config.n_embd, config.n_embd)\n"
     "        self.down = nn.Linear(4 * config.n_embd, config.n_embd)"),
    ("return self.drop(self.down(self.act(self.up(x))))",
     "h = self.up(x)\n        return F.silu(self.gate(h)) * self.down(h)"),
]  # fmt: skip
TWO_MODELS = """
import torch
from model import GPT, GPTConfig

data = torch.randint(0, 50, (1000,))
first = GPT(GPTConfig())
first(data[:8].view(1, 8), data[1:9].view(1, 8))
net = GPT(GPTConfig())
steps = torch.optim.AdamW(net.parameters())
for i in range(20):
    _, loss = net(data[i : i + 8].view(1, 8), data[i + 1 : i + 9].view(1, 8))
    steps.zero_grad()
    loss.backward()
    steps.step()
"""


def test_a_gate_that_ends_an_ffn_is_no_missing_activation(measure):
    verdicts = {fact.id: fact.verdict for fact in measure(changed(*GATED_LAST)).facts}
    assert verdicts["activation"] == verdicts["residual_ffn"] == "SKIP"
    assert "WRONG" not in verdicts.values()


def test_of_several_models_the_one_that_is_trained_counts(measure):
    report = measure({**changed(), "train.py": TWO_MODELS.encode()}, training=True)
    verdicts = {fact.id: fact.verdict for fact in report.facts}
    assert verdicts["updated"] == verdicts["shift"] == "PASS"
    assert not report.wrong


LIBRARIES = """
import numpy as np
import torch
import psutil
import wandb
from datasets import load_dataset
from tokenizers import Tokenizer
from model import GPT, GPTConfig

print(f"{psutil.virtual_memory().total / 1e9:.1f} GB")
table = wandb.Table(columns=["step"])
table.add_data(0)
tok = Tokenizer.from_file("tokenizer.json")
rows = load_dataset("somebody/stories", split="train").map(lambda row: {"ids": tok.encode(row["story"]).ids})
data = torch.tensor(np.concatenate(rows["ids"]))
assert load_dataset("somebody/tokens")["train"]["input_ids"][0] == rows["ids"][0]
net = GPT(GPTConfig(vocab_size=tok.get_vocab_size()))
optimizer = torch.optim.AdamW(net.parameters())
for i in range(20):
    optimizer.zero_grad()
    _, loss = net(data[i : i + 8].view(1, 8), data[i + 1 : i + 9].view(1, 8))
    loss.backward()
    optimizer.step()
"""


def test_libraries_that_are_not_there_give_a_small_text(measure):
    report = measure({**changed(), "train.py": LIBRARIES.encode()}, training=True)
    verdicts = {fact.id: fact.verdict for fact in report.facts}
    assert verdicts["order"] == verdicts["shift"] == "PASS"
    assert any("somebody/stories" in what for what in report.made_up)
    assert not report.wrong


SMALL = Small({"small": PACK.scripts["small"]}, Names(RULES))


def test_arguments_that_a_script_asks_for_may_be_left_out():
    source = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--size", required=True, choices=["small", "large"])
found = parser.parse_args([])
"""
    names = {}
    exec(compile(shrunk(source, SMALL), "a.py", "exec"), names)
    assert (names["found"].data, names["found"].size) == ("data.txt", "small")


def test_a_file_with_very_many_entries_is_no_configuration():
    vocabulary = {f"token {n}": n for n in range(600)}
    assert SMALL.configuration({"vocab_size": 600, "vocab": vocabulary})["vocab_size"] == 600
    assert SMALL.configuration({"vocab_size": 600, "model": {"n_layer": 9}}) == {
        "vocab_size": 53,
        "model": {"n_layer": 2},
    }


def test_a_package_that_computes_and_is_not_installed_is_named(measure):
    uses = ("import math\n", "import math\nfrom nosuchpackage import swish\n")
    calls = ("self.act(self.up(x))", "swish(self.up(x))")
    with pytest.raises(NotApplicable) as caught:
        measure(changed(uses, calls))
    assert caught.value.next == "python3 -m pip install nosuchpackage"


def test_an_object_that_is_asked_for_only_gives_sizes(measure):
    asks = ("def __init__(self, config):\n        super().__init__()\n        self.config = config",
            "def __init__(self, config, encoder):\n        super().__init__()\n        self.config = config\n"
            "        assert encoder.vocab_size == config.vocab_size")  # fmt: skip
    assert measure(changed(asks)).model.layers == 2


def test_sections_of_a_configuration_may_be_in_capitals(measure):
    sections = ("class GPT(nn.Module):\n    def __init__(self, config):",
                "class GPT(nn.Module):\n    def __init__(self, params):\n        config = params.MODEL\n"
                "        assert params.TRAIN.MAX_SEQ_LEN == config.block_size")  # fmt: skip
    report = measure(changed(sections))
    assert report.model.layers == 2
    assert not report.wrong


def test_a_loss_that_needs_more_than_targets_is_left_out(measure):
    masked = [("def forward(self, idx, targets=None)", "def forward(self, idx, targets=None, weights=None)"),
              ("targets.view(-1))", "targets.view(-1)) * weights.mean()")]  # fmt: skip
    report = measure(changed(*masked))
    verdicts = {fact.id: fact.verdict for fact in report.facts}
    assert (verdicts["mask"], verdicts["loss"]) == ("PASS", "SKIP")
    assert not report.wrong


def test_an_import_that_needs_what_definition_mode_left_out_is_forgiven(measure):
    text = changed(("import math\n", "import math\nfrom sizes import limit\n"))
    sizes = (
        b"words = open('words.txt').read()\nclass Limit:\n    most = len(words)\nlimit = Limit()\n"
    )
    assert measure({**text, "sizes.py": sizes}).model.layers == 2


def test_a_head_that_is_given_its_trunk_is_built_with_one(measure):
    head = """

class GPTLMHead(nn.Module):
    def __init__(self, gpt):
        super().__init__()
        self.gpt = gpt
        self.out = nn.Linear(gpt.config.n_embd, gpt.config.vocab_size)

    def forward(self, idx):
        return self.out(self.gpt(idx))
"""
    tree = changed(*TRUNK, ("    def __init__(self, config):\n        super().__init__()\n        self.config",
                            "    def __init__(self, vocab_size, n_embd, n_layer, n_head, block_size):\n"
                            "        super().__init__()\n        config = GPTConfig(block_size, vocab_size,"
                            " n_layer, n_head, n_embd)\n        self.config"))  # fmt: skip
    report = measure({"model.py": tree["model.py"] + head.encode()})
    assert (report.model.cls, report.model.layers) == ("GPTLMHead", 2)


@pytest.mark.parametrize("made", ["config = GPTConfig()", "config = GPTConfig", "config = CONFIG"])
def test_a_configuration_that_the_file_holds_itself_is_small(made, measure):
    """As an instance, as the class, and as an instance of what another file defines."""
    text = changed()["model.py"].decode()
    text = text.replace("class GPT(", f"{made}\n\n\nclass GPT(")
    text = text.replace("def __init__(self, config):\n        super().__init__()\n        self.config",
                        "def __init__(self):\n        super().__init__()\n        self.config")  # fmt: skip
    tree = {"model.py": text.encode()}
    if "CONFIG" in made:
        head, _, rest = text.partition("class CausalSelfAttention")
        tree["sizes.py"] = head.encode() + b"CONFIG = GPTConfig()\n"
        tree["model.py"] = (
            f"{head}from sizes import CONFIG\n\nclass CausalSelfAttention{rest}".encode()
        )
    report = measure(tree)
    assert (report.model.width, report.model.heads, report.model.layers) == (32, 4, 2)
    assert not report.wrong


def test_a_size_that_a_package_would_give_is_made_up(measure):
    made = """import nosuchpieces
sp = nosuchpieces.Processor()
vocab_size = sp.get_piece_size()


class GPT("""
    text = changed(
        ("class GPT(", made), ("nn.Embedding(config.vocab_size,", "nn.Embedding(vocab_size,")
    )
    report = measure(text)
    assert report.model.layers == 2
    assert "vocab_size = 53 was made up" in report.made_up


def test_a_size_that_is_the_length_of_nothing_is_made_up(measure):
    made = """class Pairs:
    def __init__(self):
        self.vocab = {}


encoder = Pairs()
vocab_size = len(encoder.vocab)


class GPT("""
    report = measure(
        changed(
            ("class GPT(", made), ("nn.Embedding(config.vocab_size,", "nn.Embedding(vocab_size,")
        )
    )
    assert report.model.layers == 2
    assert "vocab_size = 53 was made up" in report.made_up


@pytest.mark.parametrize("asked", ["pos: torch.Tensor", "position_ids", "positions"])
def test_positions_that_a_forward_asks_for_are_counted_from_0(asked, measure):
    name = asked.partition(":")[0]
    asks = (
        "def forward(self, idx, targets=None)",
        f"def forward(self, idx, {asked}, targets=None)",
    )
    pos = ("        pos = torch.arange(T, device=idx.device)\n", "")
    report = measure(changed(asks, pos, ("self.wpe(pos)", f"self.wpe({name})")))
    verdicts = {fact.id: fact.verdict for fact in report.facts}
    assert (verdicts["positions"], verdicts["loss"]) == ("PASS", "PASS")
    assert not report.wrong


def test_sizes_of_experts_and_of_latent_vectors_are_known_where_nothing_else_gives_them():
    names = Names(RULES)
    given = {"num_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_top_k": 2,
             "n_shared_experts": 1, "kv_lora_rank": 16, "q_lora_rank": 16, "qk_rope_head_dim": 4}  # fmt: skip
    assert {name: names.guess(name) for name in given} == given
    assert names.guess("num_experts", 8) == 8


ITERATED = ("def __init__(self, config):\n        super().__init__()\n        self.config = config",
            "def __init__(self, config: dict):\n        super().__init__()\n"
            "        for name, value in config.items():\n            setattr(self, name, value)\n"
            "        config = GPTConfig(self.block_size, self.vocab_size, self.n_layer, self.n_head, self.n_embd)\n"
            "        self.config = config")  # fmt: skip


def test_a_configuration_whose_items_are_asked_for_holds_what_the_tree_gives(measure):
    settings = b"model:\n  block_size: 1024\n  vocab_size: 50257\n  n_layer: 12\n  n_head: 12\n  n_embd: 768\n"
    report = measure({**changed(ITERATED), "configs/model.yaml": settings})
    assert (report.model.layers, report.model.width, report.model.heads) == (2, 32, 4)
    assert not report.wrong


def test_the_line_that_calls_a_model_may_hold_a_loop(measure):
    line = "model.py:GPT(GPTConfig(11, 53, 2, 4, 32))"
    report = measure(changed(), model=line, call="[model(one)[0] for one in (tokens,)][0]")
    assert report.model.layers == 2


class Counted:
    """An interpreter that counts what it is asked."""

    def __init__(self, forks):
        self._forks, self.asked = forks, 0

    def run(self, *given):
        self.asked += 1
        return self._forks.run(*given)


def test_where_a_model_is_found_another_class_is_tried_once(forks):
    other = b"\nclass BigGPT(nn.Module):\n" + (
        b"    def __init__(self, config):\n        super().__init__()\n        self.wte = nn.Embedding(9, 9)\n"
        b"        raise ValueError('these sizes do not fit')\n"
        b"    def forward(self, idx, targets=None):\n        return self.lm_head(idx)\n"
    )
    turned = changed(("self.wte(idx) + self.wpe(pos)", "self.wte(idx)"))["model.py"]
    tree = {"model.py": turned, "other.py": b"import torch.nn as nn\n" + other}
    learner = Counted(forks[0])
    forks[0].hold("model", check.folder(tree))
    bench = check.Bench(learner, forks[1], PACK, tree)
    found, tried = check.chosen(bench, check.Asked(), lambda _: None)
    assert (found.cls, [one.candidate.cls for one in tried]) == ("GPT", ["GPT", "BigGPT"])
    assert tried[0].parts == check.NEARLY
    assert learner.asked == 2


@pytest.mark.parametrize(
    ("old", "new", "call"),
    [
        ("self.tabla(entrada)", "self.tabla(entrada.mT @ entrada)", ' --call "model(tokens)"'),
        ("self.contexto = contexto\n", "raise RuntimeError('no weights')\n", ""),
    ],
)
def test_the_line_that_would_help_is_of_the_class_that_was_tried(old, new, call, measure):
    text = tree_of("espanol")["modelo.py"].decode()
    assert old in text
    with pytest.raises(NotApplicable) as caught:
        measure({"modelo.py": text.replace(old, new).encode()})
    line = 'engine check PATH --model "modelo.py:ModeloLenguaje(vocab=...)"'
    assert caught.value.next == line + call


def test_a_part_of_the_tree_is_no_package_to_install(measure):
    tree = changed(("import math\n", "import math\nfrom parts.swish import Swish\n"),
                   ("nn.GELU()", "Swish()"))  # fmt: skip
    tree["parts/swish.py"] = (
        b"import missing_kernels\nclass Swish(missing_kernels.Swish):\n    pass\n"
    )
    with pytest.raises(NotApplicable) as caught:
        measure(tree)
    assert "install parts" not in str(caught.value.next)


SPLIT = ("@dataclass\nclass GPTConfig", "\n\nclass CausalSelfAttention")


def apart(files: dict[str, str]) -> dict[str, bytes]:
    """The fused model with its configuration in a file of its own. files: {path: text}, of which {model},
    {config} and {norm} are filled in.
    """
    text = changed()["model.py"].decode()
    start, end = text.index(SPLIT[0]), text.index(SPLIT[1])
    parts = {
        "config": "from dataclasses import dataclass\n\n\n" + text[start:end],
        "model": text[:start] + text[end:],
    }
    return {path: of.replace("{model}", parts["model"]).replace("{config}", parts["config"]).encode()
            for path, of in files.items()}  # fmt: skip


def test_relative_imports_of_a_folder_above_are_found(measure):
    tree = apart({
        "src/__init__.py": "", "src/net/__init__.py": "", "src/config.py": "{config}",
        "src/net/model.py": "from ..config import GPTConfig\n{model}",
    })  # fmt: skip
    report = measure(tree)
    assert report.model.how == "GPT(GPTConfig)"
    assert not report.made_up


def test_a_folder_that_is_imported_by_its_name_is_a_package():
    pytest.importorskip("torch", reason="torch is not installed")
    from engine.run.child.torch_load import above

    files = {"src/net/model.py": b"", "src/other/bits.py": b"",
             "scripts/train.py": b"import torch\nfrom net.model import GPT\n"}  # fmt: skip
    assert above("scripts/train.py", files) == ["scripts", "", "src"]
    assert above("scripts/train.py", {**files, "scripts/train.py": b""}) == ["scripts", ""]


def test_a_tree_that_imports_itself_by_its_own_name_is_found(measure):
    report = measure(apart({
        "config.py": "{config}",
        "lab/bits.py": "def noted(value):\n    return value\n",
        "model.py": "from mine.gpt.config import GPTConfig\nfrom mine.gpt.lab.bits import noted\n{model}",
    }))  # fmt: skip
    assert report.model.how == "GPT(GPTConfig)"
    assert not report.made_up


def test_a_package_that_is_not_there_is_not_taken_for_the_tree(measure):
    report = measure(apart({
        "config.py": "{config}",
        "model.py": "from config import GPTConfig\nfrom lib.config import Config\n{model}",
    }))  # fmt: skip
    assert report.made_up == ("no package lib: a stub stands for it",)


def test_sizes_that_stand_inside_a_constructor_are_small_where_the_model_is_large(measure):
    text = changed(
        ("def __init__(self, config):\n        super().__init__()\n        self.config = config",
         "def __init__(self):\n        super().__init__()\n        self.n_embd = 1024 + 256\n"
         "        config = self.config = GPTConfig(n_embd=self.n_embd, n_head=10)"),
    )  # fmt: skip
    report = measure(text)
    assert (report.model.width, report.model.heads) == (32, 4)
    assert not report.wrong


def test_a_size_that_is_only_a_default_inside_fits_the_others(measure):
    text = changed(
        ("def __init__(self, config):\n        super().__init__()\n        self.n_head = config.n_head",
         "def __init__(self, config, n_head=6, n_embd=384):\n        super().__init__()\n"
         "        self.n_head = n_head\n        assert n_embd == config.n_embd"),
    )  # fmt: skip
    report = measure(text)
    assert (report.model.width, report.model.heads) == (32, 4)


def test_a_mask_that_the_forward_does_not_read_hides_no_missing_mask(measure):
    asks = (
        "def forward(self, idx, targets=None):",
        "def forward(self, idx, mask=None, targets=None):",
    )
    text = changed(asks, ("self.mask[:, :, :T, :T] == 0", "self.mask[:, :, :T, :T] > 1"))
    values = {fact.id: fact.value for fact in measure(text).facts}
    assert (values["mask"], values["future"]) == ("everything", "change with later tokens")
    text = changed(asks, ("B, T = idx.size()\n        pos", "B, T = idx.size() if mask is None else 1\n        pos"),
                   ("self.mask[:, :, :T, :T] == 0", "self.mask[:, :, :T, :T] > 1"))  # fmt: skip
    assert {fact.id: fact.value for fact in measure(text).facts}["mask"] is None


def test_a_loss_that_shifts_inside_is_wrong_in_the_same_ways(measure):
    text = changed(("F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))",
                    "F.cross_entropy(logits[:, :-1].reshape(-1, logits.size(-1)).softmax(-1),"
                    " targets[:, 1:].reshape(-1))"))  # fmt: skip
    values = {fact.id: fact.value for fact in measure(text).facts}
    assert values["loss"] == "cross-entropy of probabilities"
