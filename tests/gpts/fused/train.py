import math

import numpy as np
import torch

from model import GPT, GPTConfig

batch_size = 32
block_size = 128
max_iters = 2000
eval_interval = 200
eval_iters = 20
learning_rate = 1e-3
min_lr = 1e-4
warmup_iters = 100
gradient_accumulation_steps = 4
grad_clip = 1.0
device = "cuda"

train_data = np.memmap("data/train.bin", dtype=np.uint16, mode="r")
val_data = np.memmap("data/val.bin", dtype=np.uint16, mode="r")


def get_batch(split):
    data = train_data if split == "train" else val_data
    ix = torch.randint(len(data) - block_size, (batch_size,))
    x = torch.stack([torch.from_numpy(data[i : i + block_size].astype(np.int64)) for i in ix])
    y = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + block_size].astype(np.int64)) for i in ix])
    return x.to(device), y.to(device)


model = GPT(GPTConfig(block_size=block_size)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.1)


def get_lr(it):
    if it < warmup_iters:
        return learning_rate * (it + 1) / warmup_iters
    ratio = (it - warmup_iters) / (max_iters - warmup_iters)
    return min_lr + 0.5 * (1 + math.cos(math.pi * ratio)) * (learning_rate - min_lr)


@torch.no_grad()
def estimate_loss():
    model.eval()
    losses = [model(*get_batch("val"))[1].item() for _ in range(eval_iters)]
    model.train()
    return sum(losses) / len(losses)


for it in range(max_iters):
    lr = get_lr(it)
    for group in optimizer.param_groups:
        group["lr"] = lr
    if it % eval_interval == 0:
        print(it, estimate_loss())
    optimizer.zero_grad(set_to_none=True)
    for micro in range(gradient_accumulation_steps):
        x, y = get_batch("train")
        logits, loss = model(x, y)
        loss = loss / gradient_accumulation_steps
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    optimizer.step()
