import torch
import torch.nn.functional as F

from net import forward, make

vocab_size, width, n_layers, context, n_heads = 64, 256, 4, 128, 8
p = make(vocab_size, width, n_layers, context)
leaves = [t for k, t in p.items() if k != "layers"]
for layer in p["layers"]:
    leaves += list(layer.values())
text = open("corpus.txt").read()
ids = torch.tensor([ord(c) % vocab_size for c in text])
opt = torch.optim.SGD(leaves, lr=0.1, momentum=0.9)
for step in range(1000):
    at = torch.randint(0, len(ids) - context - 1, (16,))
    x = torch.stack([ids[i : i + context] for i in at])
    y = torch.stack([ids[i + 1 : i + context + 1] for i in at])
    loss = F.cross_entropy(forward(p, x, n_heads).flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
