import argparse
import math

import numpy as np
import torch
import torch.nn.functional as F

from llama import ModelArgs, Transformer
from sampling import sample


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--dim", type=int, default=512)
    p.add_argument("--n_layers", type=int, default=8)
    p.add_argument("--batch_size", type=int, default=32)
    p.add_argument("--seq_len", type=int, default=256)
    p.add_argument("--steps", type=int, default=10000)
    p.add_argument("--lr", type=float, default=3e-4)
    p.add_argument("--warmup_steps", type=int, default=200)
    p.add_argument("--data", default="tokens.bin")
    return p.parse_args()


def main():
    args = parse()
    device = torch.device("cuda")
    tokens = np.memmap(args.data, dtype=np.uint16, mode="r")
    model = Transformer(ModelArgs(dim=args.dim, n_layers=args.n_layers, max_seq_len=args.seq_len))
    model = torch.compile(model.to(device))
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.95))
    sched = torch.optim.lr_scheduler.LambdaLR(
        opt, lambda s: min(1.0, (s + 1) / args.warmup_steps) * 0.5 * (1 + math.cos(math.pi * s / args.steps))
    )
    for step in range(args.steps):
        ix = np.random.randint(0, len(tokens) - args.seq_len - 1, args.batch_size)
        chunk = torch.stack([torch.from_numpy(tokens[i : i + args.seq_len + 1].astype(np.int64)) for i in ix])
        chunk = chunk.to(device)
        inputs, targets = chunk[:, :-1], chunk[:, 1:]
        with torch.autocast("cuda", dtype=torch.bfloat16):
            logits = model(inputs)
            loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1))
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
    print(sample(model, chunk[:1, :4], 20))


if __name__ == "__main__":
    main()
