"""How a training script is run that needs arguments, files of other scripts, or a library's loop."""

from __future__ import annotations

import pytest

from engine.facts import events, usage
from engine.facts.trace import Failure
from engine.flows import training
from tests.facts.conftest import tree_of

MODEL = {"model.py": tree_of("fused")["model.py"]}
LOOP = """
net = GPT(GPTConfig(vocab_size=53))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
for i in range(20):
    optimizer.zero_grad()
    _, loss = net(data[i : i + 8].view(1, 8), data[i + 1 : i + 9].view(1, 8))
    loss.backward()
    optimizer.step()
"""
HEAD = "import argparse, json, os, sys\nimport numpy as np\nimport torch\nfrom model import GPT, GPTConfig\n"
TEXT = "data = torch.tensor([ord(c) % 53 for c in text])\n"
ASKS = """
p = argparse.ArgumentParser()
p.add_argument("--corpus", required=True)
p.add_argument("--count", type=int, required=True)
p.add_argument("--config", required=True)
a = p.parse_args()
text = open(a.corpus).read()
assert a.count > 0
assert json.load(open(a.config))["width"] > 0
"""
FLAG = """
p = argparse.ArgumentParser()
p.add_argument("--train", action="store_true")
p.add_argument("--batch-size", type=int, default=1)
a = p.parse_args()
if not a.train:
    sys.exit()
assert a.batch_size < 64
text = open("any.txt").read()
"""
SUBCOMMAND = """
p = argparse.ArgumentParser()
s = p.add_subparsers(dest="what")
s.add_parser("big").add_argument("--size", choices=["l"], required=True)
text = open({"big": "any.txt"}[p.parse_args().what]).read()
"""
WORDS = """
if sys.argv[1] != "go":
    raise ValueError(sys.argv)
text = open("any.txt").read()
"""
MADE = """
known = json.load(open("data/table.json"))
text = "".join(known["rows"])
"""
MAKER = b"""
import json, os
os.makedirs("data", exist_ok=True)
with open("data/table.json", "w") as f:
    json.dump({"rows": [open("raw.txt").read()]}, f)
"""
SIZES = """
text = open("any.txt").read()
assert len(text) == 1115394
"""
ITSELF = """
import glob
os.makedirs("out", exist_ok=True)
if not os.path.exists("out/all.json"):
    with open("out/all.json", "w") as f:
        json.dump({"text": open("any.txt").read()}, f)
assert os.path.exists("out/all.json") and os.path.isdir("out")
assert os.path.getsize("out/all.json") > 100
assert glob.glob("out/*.json") == ["out/all.json"]
text = json.load(open("out/all.json"))["text"]
"""
MAPPED = """
count = os.path.getsize("tokens.dat") // (4 * 10)
rows = np.memmap("tokens.dat", dtype=np.int32, mode="r", shape=(count, 10))
kept = np.memmap("kept.bin", dtype=np.uint16, mode="w+", shape=(count * 10,))
kept[:] = rows.reshape(-1)
kept.flush()
text = "".join(chr(n + 48) for n in np.memmap("kept.bin", dtype=np.uint16, mode="r"))
"""
SHARDS = """
from pathlib import Path
names = sorted(Path("shards").glob("*_train_*.npy"))
text = "".join(chr(n + 48) for n in np.load(names[0]))
"""
TOKENS = """
import pickle
with open("meta.pkl", "rb") as f:
    meta = pickle.load(f)
text = "".join(meta["itos"][meta["stoi"][c]] for c in open("any.txt").read())
assert meta["vocab_size"] <= 53
"""
README = b"""# How to

1. Get a GPU.

```bash
$ CUDA_VISIBLE_DEVICES=0 python -u train.py %s   # as in the paper
```

Then `python sample.py --start "a"`.
"""
CASES = {
    "asked for": (ASKS, {"configs/base.json": b'{"width": 32}'}),
    "a flag": (FLAG, {"README.md": README % b"--train \\\n   --batch-size 4096"}),
    "a part": (SUBCOMMAND, {"run.sh": b"python3 ./train.py big --size l > log.txt\n"}),
    "words": (WORDS, {"Makefile": b"train:\n\tpython train.py go && echo done\n"}),
    "made before": (MADE, {"prepare.py": MAKER}),
    "other sizes": (SIZES, {}),
    "written itself": (ITSELF, {}),
    "mapped": (MAPPED, {}),
    "shards": (SHARDS, {}),
    "a vocabulary": (TOKENS, {}),
}


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("lines", "files"), CASES.values(), ids=CASES)
def test_a_script_makes_its_steps(lines, files, scripted):
    train = HEAD + lines + TEXT + LOOP
    facts = scripted({**MODEL, "train.py": train.encode(), **files}, "model.py")
    verdicts = {fact.id: (fact.verdict, fact.why) for fact in facts}
    assert verdicts["order"][0] == verdicts["shift"][0] == "PASS", verdicts["order"]


HYDRA = """
import hydra
import torch
from omegaconf import DictConfig, OmegaConf
from model import GPT, GPTConfig

@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig):
    assert OmegaConf.to_container(cfg)["model"]["n_layer"] == 2
    assert (cfg.model.name, cfg.optim.lr, cfg.run) == ("gpt", 6e-5, "gpt-big")
    data = torch.tensor([ord(c) % 53 for c in open(cfg.data.path).read()])
    net = GPT(GPTConfig(vocab_size=53, n_layer=cfg.model.n_layer, block_size=cfg.model.block_size))
    optimizer = hydra.utils.instantiate(cfg.optim, net.parameters())
    for i in range(20):
        optimizer.zero_grad()
        _, loss = net(data[i : i + 8].view(1, 8), data[i + 1 : i + 9].view(1, 8))
        loss.backward()
        optimizer.step()

if __name__ == "__main__":
    main()
"""
CONF = {
    "conf/config.yaml": b"defaults:\n  - model: big\n  - optim\n  - _self_\nrun: ${model.name}-big\ndata:\n  path: a.txt\n",
    "conf/model/big.yaml": b"name: gpt\nn_layer: 24\nblock_size: 1024\n",
    "conf/optim.yaml": b"# @package _global_\noptim:\n  _target_: torch.optim.AdamW\n  lr: 6e-5\n",
}


def test_a_configuration_is_composed_of_the_files_of_the_tree(scripted):
    facts = scripted({**MODEL, "train.py": HYDRA.encode(), **CONF}, "model.py")
    verdicts = {fact.id: (fact.verdict, fact.why) for fact in facts}
    assert verdicts["order"][0] == verdicts["shift"][0] == "PASS", verdicts["order"]


def test_a_part_that_the_command_line_must_name_is_the_first_one(scripted):
    conf = {
        **CONF,
        "conf/config.yaml": CONF["conf/config.yaml"].replace(b"model: big", b"model: ???"),
    }
    facts = scripted({**MODEL, "train.py": HYDRA.encode(), **conf}, "model.py")
    verdicts = {fact.id: (fact.verdict, fact.why) for fact in facts}
    assert verdicts["order"][0] == "PASS", verdicts["order"]


ROWS = """
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, i):
        return DATA[i : i + 8], DATA[i + 1 : i + 9]
"""
START = HEAD + 'text = open("a.txt").read()\n' + TEXT.replace("data", "DATA") + ROWS
LIGHTNING = """
import lightning as L

class Lit(L.LightningModule):
    def __init__(self, rate=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = GPT(GPTConfig(vocab_size=53))

    def training_step(self, batch, i):
        _, loss = self.net(*batch)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.net.parameters(), lr=self.hparams.rate)

if __name__ == "__main__":
    trainer = L.Trainer(max_epochs=1, callbacks=[L.pytorch.callbacks.ModelCheckpoint()])
    trainer.fit(Lit(), DataLoader(Rows(), batch_size=2))
"""
HUGGING = """
from transformers import Trainer, TrainingArguments

class Named(Rows):
    def __getitem__(self, i):
        return dict(zip(("idx", "targets"), super().__getitem__(i)))

if __name__ == "__main__":
    given = TrainingArguments(output_dir="out", per_device_train_batch_size=4, learning_rate=1e-3)
    class Own(Trainer):
        def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
            return model(**inputs)[1]
    Own(model=GPT(GPTConfig(vocab_size=53)), args=given, train_dataset=Named()).train()
"""
ACCELERATE = """
from accelerate import Accelerator

if __name__ == "__main__":
    accelerator = Accelerator(mixed_precision="bf16")
    net = GPT(GPTConfig(vocab_size=53))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    net, optimizer, rows = accelerator.prepare(net, optimizer, DataLoader(Rows(), batch_size=2))
    for x, y in rows:
        with accelerator.accumulate(net):
            _, loss = net(x, y)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
"""


@pytest.mark.parametrize(
    "script", [LIGHTNING, HUGGING, ACCELERATE], ids=["lightning", "transformers", "accelerate"]
)
def test_the_loop_of_a_library_is_played(script, scripted):
    facts = scripted({**MODEL, "train.py": (START + script).encode()}, "model.py")
    verdicts = {fact.id: (fact.verdict, fact.why) for fact in facts}
    assert verdicts["order"][0] == "PASS", verdicts["order"]
    seen = "SKIP" if script is HUGGING else "PASS"  # whose tokens are given by keyword
    assert verdicts["updated"][0] == verdicts["shift"][0] == seen, verdicts
    assert "WRONG" not in {verdict for verdict, _ in verdicts.values()}


def test_command_lines_are_found_in_texts():
    files = {
        "src/train.py": b'"""Usage: python src/train.py --lr 1e-3"""\n',
        "README.md": README % b"--ckpt $HOME/a --out <folder>",
        "docs/a.md": b"Run `uv run -m src.train --size small` or\n\n    torchrun --nproc 4 train.py --size large | tee log\n",
        "docs/b.md": b"python -m src.train --resume last.pt\npython other.py --x 1\n",
    }
    assert usage.arguments(files, "src/train.py") == [["--lr", "1e-3"], ["--size", "small"]]
    assert usage.arguments(files, "other.py") == [["--x", "1"]]


def test_what_makes_a_file_is_found_by_its_name():
    files = {"train.py": b"", "prepare.py": MAKER, "read.py": b"print(open('data/table.json'))\n"}
    assert usage.makers(files, "train.py", ["table.json"]) == ["prepare.py"]
    assert usage.makers(files, "train.py", []) == []


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (("ModuleNotFoundError", "No module named 'numpy'"), "Try: python3 -m pip install numpy"),
        (("ModuleNotFoundError", "No module named 'a.b'"), "Try: python3 -m pip install a"),
        (("KeyError", "'x'"), 'Try: engine check PATH --train "src/go.py ARGUMENTS"'),
    ],
)
def test_what_a_script_lacked_is_said_with_the_line_that_helps(error, said):
    seen = events.Seen([], "error", Failure(*error, [("src/go.py", 3)]), [])
    told = training.ended("src/go.py", seen)
    assert told.endswith(said)
    assert "src/go.py:3" in told
