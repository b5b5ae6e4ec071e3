"""Facts of data and optimizers in training scripts of the corpus, changed by single edits."""

from __future__ import annotations

import re

import pytest

from tests.facts.conftest import tree_of
from tests.facts.test_corpus import STYLES

FILES = {style: names[0] for style, names in STYLES.items()}
ADAM = {
    "fused": ("train.py", "torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.1)"),
    "heads": ("gpt.py", "torch.optim.AdamW(model.parameters(), lr=learning_rate)"),
    "dictcfg": ("train.py", "torch.optim.AdamW(model.parameters(), lr=4e-4, weight_decay=0.1)"),
    "espanol": ("entrenar.py", "torch.optim.Adam(modelo.parameters(), lr=1e-3)"),
    "trainer": ("minilm/trainer.py", "torch.optim.AdamW(model.parameters(), lr=lr)"),
    "alibi": ("learn.py", "torch.optim.AdamW(net.parameters(), lr=1e-3)"),
}  # fmt: skip
OWN = """class Own:
    def __init__(self, ps):
        self.ps = ps
    def zero_grad(self):
        for p in self.ps:
            p.grad = None
    def step(self):
        with torch.no_grad():
            for p in self.ps:
                p -= 0.1 * p.grad
opt = Own(leaves)"""


def adam(style, new):
    return (
        style,
        [(*ADAM[style], new.replace("MODEL", ADAM[style][1].split("(")[1].split(".")[0]))],
    )


def grouped(style, on, off):
    groups = ", ".join(
        f'{{"params": [p for n, p in MODEL.named_parameters() if {what}], "weight_decay": {decay}}}'
        for what, decay in ((on, 0.1), (off, 0.0))
    )
    return adam(style, f"torch.optim.AdamW([{groups}], lr=1e-3)")


SPLIT = ("train.py", 'data = train_data if split == "train" else val_data', "data = train_data")
SCALED = [
    ("train.py", "        loss.backward()\n", "        scaler.scale(loss).backward()\n"),
    ("train.py", "    optimizer.step()\n", "    scaler.step(optimizer)\n    scaler.update()\n"),
    ("train.py", "\ndef get_lr", "\nscaler = torch.cuda.amp.GradScaler()\n\n\ndef get_lr"),
]
UNSCALED = (
    "train.py",
    "    torch.nn.utils.clip",
    "    scaler.unscale_(optimizer)\n    torch.nn.utils.clip",
)
GPT_SCALER = (
    "gpt.py",
    "\nfor it in range(max_iters)",
    "\nscaler = torch.amp.GradScaler()\nfor it in range(max_iters)",
)
GPT_SCALED = ("gpt.py", "    loss.backward()\n", "    scaler.scale(loss).backward()\n")
WORDS_SCALER = (
    "train.py",
    "    step = 0\n",
    "    step = 0\n    scaler = torch.cuda.amp.GradScaler()\n",
)

# rows of 4 letters or more, filled up to the context with the token 52, which the text is rid of
SHORT = "(lambda a: torch.where(torch.arange(a.shape[-1]) < 5 + torch.arange(len(a))[:, None] % 4, a.clamp(max=50), 52))"
IGNORE = "ignore_index=52"


def padded(style, *more):
    """A script whose batches are short texts filled up with token 52; more: an edit of its loss."""
    edits = {
        "fused": [
            ("train.py", "return x.to(device), y.to(device)", f"return {SHORT}(x), {SHORT}(y)")
        ],
        "heads": [
            ("gpt.py", "return x.to(device), y.to(device)", f"return {SHORT}(x), {SHORT}(y)"),
        ],
        "llama": [("pretrain.py", "chunk = chunk.to(device)", f"chunk = {SHORT}(chunk)")],
        "alibi": [("learn.py", "batch = stream[offset]", f"batch = {SHORT}(stream[offset])")],
        "dictcfg": [
            (
                "train.py",
                "        for x, y in loader:\n",
                f"        for x, y in loader:\n            x, y = {SHORT}(x), {SHORT}(y)\n",
            )
        ],
    }
    return style, [*edits[style], *more]


STEPS = {
    "fused": ("train.py", "    optimizer.step()\n", "model", "optimizer"),
    "heads": ("gpt.py", "    optimizer.step()\n", "model", "optimizer"),
    "llama": ("pretrain.py", "        sched.step()\n", "model", "opt"),
    "espanol": ("entrenar.py", "    optimizador.step()\n", "modelo", "optimizador"),
    "dictcfg": ("train.py", "            optimizer.step()\n", "model", "optimizer"),
}


def saving(style, what):
    """A script that saves this, of a model m and an optimizer o, after every step."""
    file, line, model, optimizer = STEPS[style]
    indent = line[: len(line) - len(line.lstrip())]
    made = f"{indent}torch.save((lambda m, o: {what})({model}, {optimizer}), 'last.pt')\n"
    return style, [(file, line, line + made)]


ACCUMULATED = {
    "heads": ("gpt.py", "    logits, loss = model(xb, yb)\n    optimizer.zero_grad(set_to_none=True)\n    loss.backward()\n", "    optimizer.zero_grad(set_to_none=True)\n    for _ in range(3):\n        logits, loss = model(*get_batch('train'))\n        (LOSS).backward()\n", "model"),
    "espanol": ("entrenar.py", "    _, perdida = modelo(x, y)\n    optimizador.zero_grad()\n    perdida.backward()\n", "    optimizador.zero_grad()\n    for a, b in zip(x.chunk(2), y.chunk(2)):\n        _, loss = modelo(a, b)\n        (LOSS).backward()\n", "modelo"),
    "dictcfg": ("train.py", "            loss = batch_loss(x, y, model, device)\n            loss.backward()\n", "            for a, b in zip(x.chunk(2), y.chunk(2)):\n                loss = batch_loss(a, b, model, device)\n                (LOSS).backward()\n", "model"),
    "llama": ("pretrain.py", "        opt.zero_grad()\n        loss.backward()\n", "        opt.zero_grad()\n        (LOSS).backward()\n        logits = model(inputs)\n        loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1))\n        (LOSS).backward()\n", "model"),
}  # fmt: skip


def accumulated(style, loss, later=""):
    """A script whose steps have two or three backward passes; later: what each gradient is divided by."""
    file, old, new, model = ACCUMULATED[style]
    indent = old[: len(old) - len(old.lstrip())]
    divided = f"{indent}for p in {model}.parameters():\n{indent}    p.grad /= {later}\n"
    return style, [(file, old, new.replace("LOSS", loss) + (divided if later else ""))]


CASES = [
    ("fused", [], "validation", "PASS", "another part of the data"),
    ("heads", [], "validation", "PASS", "another part of the data"),
    ("trainer", [], "validation", "PASS", "another part of the data"),
    ("fused", [SPLIT], "validation", "WRONG", "the training split"),
    ("fused", [("train.py", '"data/val.bin"', '"data/train.bin"')], "validation", "WRONG", "the training split"),
    ("heads", [("gpt.py", "data[:n], data[n:]", "data, data[n:]")], "validation", "WRONG", "the training split"),
    ("heads", [("gpt.py", "data[:n], data[n:]", "data[:n], data[n // 2 :]")], "validation", "WARN", "partly the training split"),
    ("trainer", [("minilm/trainer.py", "DataLoader(valid_set", "DataLoader(train_set")], "validation", "WARN", "the data set that is trained on"),
    ("heads", [("gpt.py", "[stoi[c] for c in text]", "[1 for c in text]")], "validation", "SKIP", "no batches of an evaluation.*"),
    ("heads", [("gpt.py", "[stoi[c] for c in text]", "[1 for c in text]")], "batches", "SKIP", "the text that was made up has become one token.*"),
    ("fused", [("train.py", "\nfor it in range(max_iters)", "\nfirst = GPT(GPTConfig(block_size=block_size))\nfirst(*get_batch('train'))\nfor it in range(max_iters)")], "updated", "PASS", "every parameter"),
    ("dictcfg", [], "validation", "SKIP", "evaluation reads the loader that training reads.*"),
    ("llama", [], "validation", "SKIP", "no batches of an evaluation.*"),
    ("heads", [], "batches", "PASS", "different"),
    ("heads", [("gpt.py", "    ix = torch.randint", "    torch.manual_seed(1)\n    ix = torch.randint")], "batches", "WRONG", ".*as the generator is seeded anew"),
    ("espanol", [("entrenar.py", "    modelo.train()\n", "    torch.manual_seed(1)\n    modelo.train()\n")], "batches", "WRONG", ".*as the generator is seeded anew"),
    ("llama", [("pretrain.py", "        ix = np", "        np.random.seed(3)\n        ix = np")], "batches", "WRONG", ".*as the generator is seeded anew"),
    ("dictcfg", [("train.py", "shuffle=True", "shuffle=False"), ("train.py", "        for x, y in loader:\n", "        for _ in range(9):\n            x, y = next(iter(loader))\n")], "batches", "WRONG", ".*as the loader begins anew"),
    ("espanol", [("entrenar.py", "torch.randint(len(datos) - contexto - 1, (lote,))", "torch.arange(lote)")], "batches", "WARN", "the same batch every step"),
    ("alibi", [("learn.py", "for it in range(500):\n", "offset = torch.arange(ctx + 1)[None] + torch.arange(bs)[:, None]\nbatch = stream[offset]\nfor it in range(500):\n    torch.manual_seed(1)\n"), ("learn.py", "    offset = torch.randint(len(stream) - ctx - 1, (bs, 1)) + torch.arange(ctx + 1)\n    batch = stream[offset]\n", "")], "batches", "WARN", "the same batch every step"),
    (*padded("fused"), "padding", "WRONG", "counted"),
    (*padded("heads"), "padding", "WRONG", "counted"),
    (*padded("llama"), "padding", "WRONG", "counted"),
    (*padded("dictcfg"), "padding", "WRONG", "counted"),
    (*padded("alibi"), "padding", "WRONG", "counted"),
    (*padded("fused", ("model.py", "targets.view(-1))", f"targets.view(-1), {IGNORE})")), "padding", "PASS", "left out"),
    (*padded("llama", ("pretrain.py", "targets.reshape(-1))", f"targets.reshape(-1), {IGNORE})")), "padding", "PASS", "left out"),
    (*padded("alibi", ("learn.py", "NLLLoss()", f"NLLLoss({IGNORE})")), "padding", "PASS", "left out"),
    (*padded("dictcfg", ("train.py", "y.to(device).flatten())", "torch.where(y == 52, -100, y).flatten())")), "padding", "PASS", "left out"),
    (*padded("alibi", ("learn.py", "NLLLoss()", "NLLLoss(reduction='none')"), ("learn.py", "batch[:, 1:].reshape(-1))", "batch[:, 1:].reshape(-1)).mean()")), "padding", "SKIP", "the losses of single.*"),
    ("espanol", [], "padding", "SKIP", "no padding was seen"),
    (*saving("fused", '{"model": m.state_dict(), "optimizer": o.state_dict(), "iter": 3}'), "checkpoint", "PASS", "with the optimizer's state"),
    (*saving("llama", '{"model": m, "extra": {"opt": o.state_dict()}}'), "checkpoint", "PASS", "with .*"),
    (*saving("heads", '{"model": m.state_dict(), "optimizer": m.state_dict(), "iter": 3}'), "checkpoint", "WRONG", "the model's weights in .*"),
    (*saving("espanol", '{"model": m.state_dict(), "optimizer_state": m.state_dict()}'), "checkpoint", "WRONG", "the model's weights in .*"),
    (*saving("dictcfg", '{"weights": m.state_dict(), "epoch": 3}'), "checkpoint", "WARN", "weights and steps, .*"),
    (*saving("fused", "m.state_dict()"), "checkpoint", "SKIP", "only weights are saved.*"),
    ("alibi", [], "checkpoint", "SKIP", "nothing was saved.*"),
    ("fused", [], "accumulation", "PASS", "divided by the number of micro-steps"),
    (*accumulated("heads", "loss / 3"), "accumulation", "PASS", "divided by the number of micro-steps"),
    (*accumulated("dictcfg", "loss * 0.5"), "accumulation", "PASS", "divided by the number of micro-steps"),
    (*accumulated("espanol", "loss", "2"), "accumulation", "PASS", "divided later"),
    (*accumulated("heads", "loss"), "accumulation", "WRONG", "not divided"),
    (*accumulated("espanol", "loss"), "accumulation", "WRONG", "not divided"),
    (*accumulated("dictcfg", "loss"), "accumulation", "WRONG", "not divided"),
    (*accumulated("llama", "loss"), "accumulation", "WRONG", "not divided"),
    (*accumulated("llama", "loss**2"), "accumulation", "SKIP", "what is passed backward is another function.*"),
    ("alibi", [], "accumulation", "SKIP", "a step has one backward pass"),
    ("fused", [], "decay", "PASS", "everything alike"),
    ("modern", [], "decay", "PASS", "nothing"),
    (*grouped("alibi", "p.dim() >= 2", "p.dim() < 2"), "decay", "PASS", "matrices alone"),
    (*grouped("heads", 'not n.endswith("bias")', 'n.endswith("bias")'), "decay", "WRONG", r"matrices and 5 of \d+ norms and biases"),
    (*grouped("dictcfg", 'not n.endswith("bias")', 'n.endswith("bias")'), "decay", "WRONG", "matrices and .* norms and biases"),
    (*grouped("fused", "p.dim() < 2", "p.dim() >= 2"), "decay", "WRONG", "norms and biases, and no matrix"),
    (*grouped("espanol", "p.dim() < 2", "p.dim() >= 2"), "decay", "WRONG", "norms and biases, and no matrix"),
    ("functional", [("train.py", "opt = torch.optim.SGD(leaves, lr=0.1, momentum=0.9)", OWN)], "decay", "SKIP", "the optimizer does not show its decay"),
    ("llama", [], "averages", "PASS", "0.9, 0.95"),
    ("llama", [("pretrain.py", "(0.9, 0.95)", "(0.95, 0.9)")], "averages", "WRONG", "exchanged: 0.95, 0.9"),
    (*adam("heads", "torch.optim.AdamW(MODEL.parameters(), lr=1e-3, betas=(0.999, 0.9))"), "averages", "WRONG", "exchanged: .*"),
    (*adam("trainer", "torch.optim.AdamW(MODEL.parameters(), lr=1e-3, betas=(0.999, 0.9))"), "averages", "WRONG", "exchanged: .*"),
    (*adam("espanol", "torch.optim.Adam(MODEL.parameters(), lr=1e-3, betas=(0.99, 0.9))"), "averages", "WRONG", "exchanged: .*"),
    ("postnorm", [], "averages", "SKIP", "the optimizer has no betas"),
    ("fused", [*SCALED, UNSCALED], "scaler", "PASS", "scale, .*"),
    ("fused", SCALED, "scaler", "WRONG", "clipped before unscale_"),
    ("fused", [SCALED[1], SCALED[2], UNSCALED], "scaler", "WRONG", "the loss is not scaled"),
    ("heads", [GPT_SCALER, GPT_SCALED], "scaler", "WRONG", "the optimizer steps past it"),
    ("heads", [GPT_SCALER, GPT_SCALED, ("gpt.py", "    optimizer.step()\n", "    scaler.step(optimizer)\n")], "scaler", "WRONG", "never updated"),
    ("dictcfg", [WORDS_SCALER, ("train.py", "            loss.backward()\n            optimizer.step()", "            scaler.scale(loss).backward()\n            scaler.step(optimizer)")], "scaler", "WRONG", "never updated"),
    ("trainer", [], "scaler", "SKIP", "no gradient scaler is in use"),
    ("heads", [("gpt.py", GPT_SCALER[1], GPT_SCALER[2].replace("()", "(enabled=False)")), GPT_SCALED], "scaler", "SKIP", "no gradient scaler is in use"),
]  # fmt: skip
NAMES = [f"{style}-{fact}-{verdict}" for style, _, fact, verdict, _ in CASES]


@pytest.mark.sweep(8)
@pytest.mark.parametrize(("style", "edits", "fact", "verdict", "told"), CASES, ids=NAMES)
def test_a_script_is_judged_by_what_it_did(style, edits, fact, verdict, told, scripted):
    tree = tree_of(style)
    for file, old, new in edits:
        text = tree[file].decode()
        assert old in text, "the corpus has changed"
        tree[file] = text.replace(old, new).encode()
    facts = scripted(tree, FILES.get(style, "net.py"))
    found = next(one for one in facts if one.id == fact)
    assert found.verdict == verdict, (found.value, found.why)
    assert re.fullmatch(told, found.why if verdict == "SKIP" else found.value)
    if verdict == "WRONG":
        assert found.names
        assert found.where is not None
        others = {one.id for one in facts if one.verdict == "WRONG"} - {fact}
        assert not others - {"order", "clean_grad"}


def test_a_scheduler_that_is_made_and_not_stepped_is_a_doubt(scripted):
    """It may be stepped once an epoch, or never."""
    tree = tree_of("heads")
    made = (
        ADAM["heads"][1]
        + "\nsched = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 1 / (n + 1))"
    )
    tree["gpt.py"] = tree["gpt.py"].replace(ADAM["heads"][1].encode(), made.encode())
    rate = next(one for one in scripted(tree, "gpt.py") if one.id == "rate")
    told = "constant, a scheduler is not stepped in the first steps"
    assert (rate.verdict, rate.value) == ("WARN", told)
