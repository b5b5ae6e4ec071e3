"""The text of a script that builds somebody's GPT as it was judged, and shows what comes out beside what
came out of it before the break. It needs torch, and no engine.
"""

from __future__ import annotations

HEAD = '''"""{title}

Run it with `python repro.py`, or line by line with `python -m pdb repro.py`. It builds your model as the
check did, small and with {weights}, gives it the same tokens, and shows what comes out
beside what came out of your code before the break.{how}
"""

import os

os.environ.update(CUDA_VISIBLE_DEVICES="", TORCHDYNAMO_DISABLE="1")  # on the processor, as it was judged

import itertools
import math
import random
import sys
import zlib

import torch

sys.dont_write_bytecode = True
ROOT = {root!r}  # your code
sys.path[:0] = [os.path.join(ROOT, folder) for folder in {roots!r}]
VOCABULARY = {vocabulary}
'''

BUILD = '''

def build():
    """Your model, small."""
    seed(3)
{imports}
    return {make}


def seed(number):
    random.seed(number)
    torch.manual_seed(number)


def held(net):
    """{{name: tensor}} of what learns; of what has several names, or one memory, one of them."""
    found = {{}}
    for name, tensor in net.named_parameters(remove_duplicate=False):
        if tensor.requires_grad:
            found.setdefault(tensor.data_ptr(), (tensor, []))[1].append(RENAMED.get(name, name))
    return {{{first}: tensor for tensor, names in found.values()}}


RENAMED = {renamed}  # in your code -> before the break
net = build()
'''

WEIGH = """

with torch.no_grad():  # the same weights, whatever the order in which they are made
    for name, tensor in held(net).items():
        generator = torch.Generator().manual_seed(zlib.crc32(name.encode()) + {weights})
        noise = torch.randn(tensor.shape, generator=generator)
        base = round(float(tensor.mean())) if tensor.numel() else 0
        tensor.copy_({matrix} if tensor.dim() > 1 else {vector})
"""

TOKENS = """
generator = torch.Generator().manual_seed({tokens})
tokens = torch.randint(0, VOCABULARY, ({batch}, {length}), generator=generator)
targets = torch.randint(0, VOCABULARY, ({batch}, {length}), generator=generator)
"""

OUTPUTS = '''

def tensors(value):
    """The tensors in what a forward gives, outermost first."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [tensor for one in value for tensor in tensors(one)]
    inner = value.values() if isinstance(value, dict) else vars(value).values() if value is not None else ()
    return [tensor for one in inner for tensor in tensors(one)]


def results(output):
    """(logits, loss), each None where there is none."""
    found = [t for t in tensors(output) if t.is_floating_point()]
    logits = next((t for t in found if t.dim() > 1 and t.shape[-1] >= VOCABULARY), None)
    return logits, next((t for t in found if t.numel() == 1 and t is not logits), None)
'''

COMPARE = '''

def two(vector):
    """What is compared of a vector: its norm, and its product with a ramp."""
    flat = vector.detach().double().flatten()
    return [float(flat.norm()), float(flat @ torch.linspace(-1, 1, len(flat), dtype=torch.float64))]


def rows(name, output):
    """The same of the logits at each place, and the loss."""
    logits, loss = results(output)
    if logits is not None:
        for place in itertools.product(*map(range, logits.shape[:-1])):
            got[f"{name} {list(place)}"] = two(logits[place])
    if loss is not None:
        got[f"loss, {name}"] = [float(loss.detach()), 0.0]


def show(wanted, got, allowed, what):
    """What differs, beside what it was."""
    apart = [
        name for name, was in wanted.items()
        if name not in got or not math.dist(was, got[name]) <= allowed(name) * max(map(abs, [*was, 1e-9]))
    ]
    print(f"{len(apart)} of {len(wanted)} differ" + (f" ({what}):" if apart else "."))
    for name in apart[:30]:
        now = f"{got[name][0]:.6g}" if name in got else "not there"
        turned = "" if name not in got or f"{wanted[name][0]:.6g}" != now else ", of another direction"
        print(f"  {name}: DIFFERS: {wanted[name][0]:.6g} before the break, now {now}{turned}")
    if len(apart) > 30:
        print("  ...")


got = {}
'''

DRAW = """

net.eval()
torch.manual_seed({tokens})
output = {call}
rows("logits", output){bare}
logits, loss = results(output)
if loss is None or not loss.requires_grad:
    flat = logits.reshape(-1, logits.shape[-1])
    loss = torch.nn.functional.cross_entropy(flat, targets.reshape(-1)[: len(flat)])
loss.backward()
grads = {{n: torch.zeros_like(t) if t.grad is None else t.grad for n, t in held(net).items()}}
got.update((f"gradient of {{name}}", two(grad)) for name, grad in grads.items())
"""

BARE = """
with torch.no_grad():
    rows("logits without targets", {bare})"""

IGNORING = """
kept, targets = targets, targets.clone()
targets[:, ::3] = -1
try:
    with torch.no_grad():
        rows({name!r}, {call})
except Exception as error:
    print("With some targets -1:", error)
targets = kept
"""

STEP = """
with torch.no_grad():  # a step down the gradient
    size = math.sqrt(sum(float(grad.double().pow(2).sum()) for grad in grads.values()))
    for name, tensor in held(net).items():
        tensor -= grads[name] * (0.05 / max(size, 1e-12))
    rows("logits after a step", {call})
"""

SHOW_DRAW = """
show(wanted, got, lambda name: {close} if "gradient" in name else {closer}, "norms of vectors")
"""

START = """
for name, tensor in held(net).items():
    start = tensor.detach().double()
    got[name] = [float(start.std(unbiased=False)), float(start.mean())]
    got[name + ", shape"] = [float(tensor.numel()), *map(float, tensor.shape)]
"""

SHOW_START = """
show(wanted, got, lambda name: 0.0 if "shape" in name else 5 / math.sqrt(wanted[name + ", shape"][0]),
     "standard deviation at the start, number of weights")
for name in got.keys() - wanted.keys():
    print(f"  {name}: DIFFERS: not there before the break")
"""

REPEATED = """
found = []
for number in range({count}):
    net.{mode}()
    seed({tokens} + number)
    with torch.no_grad():
        found.append(next(one for one in results({call}) if one is not None).double())
got["spread of the outputs over {count} runs in {mode} mode"] = [float(torch.stack(found).std(0).mean())]
show(wanted, got, lambda name: 0.03, "the same tokens, other random numbers")
print("Whether the same parts are dropped is not compared here.")
"""

SAMPLER = '''
net.eval()
drawn, multinomial = [], torch.multinomial


def draw(p, *args, **kwargs):
    """Keeps what the sampler draws from."""
    drawn.append(p.reshape(-1, p.shape[-1])[0] / p.reshape(-1, p.shape[-1])[0].sum())
    return multinomial(p, *args, **kwargs)


torch.multinomial = torch.Tensor.multinomial = draw
seed({seed})
with torch.no_grad():
    text = {call}
wanted_text = {text}
text = next((t for t in tensors(text) if not t.is_floating_point()), text)
print("text before the break:", wanted_text)
print("text now:             ", text.flatten().tolist() if hasattr(text, "tolist") else text)
for number, p in enumerate(drawn):
    got[f"tokens that can come at draw {{number + 1}}"] = [float((p > 0).sum())]
    got[f"the likeliest at draw {{number + 1}}"] = [float(p.max())]
show(wanted, got, lambda name: 1e-4, "what is drawn from")
'''

MATRICES = {
    "normal": "noise * 0.25",
    "large": "noise * 1.6",
    "tiny": "noise * 0.002",
    "biased": "noise * 0.25",
    "alike": "((noise[..., :1] * 4 + noise * 0.01) if len(tensor) == VOCABULARY else noise) * 0.25",
}
VECTORS = {
    "tiny": "noise * 0.002 if base == 0 else base + noise * 0.15",
    "biased": "base + noise * 0.6",
}
