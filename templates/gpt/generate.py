"""Lets the trained model write: `python generate.py --prompt "Alice "`."""

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F

from model import GPT, GPTConfig
from tokenizer import CharTokenizer

CHECKPOINT = Path(__file__).with_name("checkpoint.pt")


def keep_top_k(logits, k):
    """Only the k likeliest tokens can come."""
    likeliest, _ = torch.topk(logits, min(k, logits.size(-1)))
    return logits.masked_fill(logits < likeliest[:, -1:], float("-inf"))


def keep_top_p(logits, p):
    """Only the smallest set of tokens that together reach the probability p can come."""
    ordered, order = torch.sort(logits, descending=True)
    probs = F.softmax(ordered, dim=-1)
    likelier = torch.cumsum(probs, dim=-1) - probs
    ordered = ordered.masked_fill(likelier >= p, float("-inf"))
    return ordered.gather(-1, order.argsort(-1))


@torch.no_grad()
def generate(model, idx, max_new_tokens, temperature=1.0, top_k=None, top_p=None):
    """Append tokens to idx (B, T), each drawn from the prediction at the last position."""
    for _ in range(max_new_tokens):
        context = idx[:, -model.config.block_size :]
        logits, _ = model(context)
        logits = logits[:, -1, :] / temperature
        if top_k is not None:
            logits = keep_top_k(logits, top_k)
        if top_p is not None:
            logits = keep_top_p(logits, top_p)
        probs = F.softmax(logits, dim=-1)
        next_token = torch.multinomial(probs, num_samples=1)
        idx = torch.cat([idx, next_token], dim=1)
    return idx


def write(model, tokenizer, prompt, length, **options):
    """The prompt, and as many more characters as asked for."""
    idx = torch.tensor([tokenizer.encode(prompt)])
    model.eval()
    idx = generate(model, idx, length, **options)
    return tokenizer.decode(idx[0].tolist())


def load_model():
    """The model and the tokenizer of the checkpoint."""
    checkpoint = torch.load(CHECKPOINT)
    model = GPT(GPTConfig(**checkpoint["config"]))
    model.load_state_dict(checkpoint["model"])
    return model, CharTokenizer(checkpoint["chars"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompt", default="\n", help="how the text begins")
    parser.add_argument("--length", type=int, default=500, help="how many characters to add")
    parser.add_argument("--temperature", type=float, default=0.8, help="below 1: safer")
    parser.add_argument("--top-k", type=int, help="draw from the k likeliest characters only")
    parser.add_argument("--top-p", type=float, help="draw from the likeliest that reach p only")
    parser.add_argument("--seed", type=int, help="the same seed, the same text")
    options = parser.parse_args()
    if not CHECKPOINT.exists():
        parser.exit(1, "There is no checkpoint.pt yet: run `python train.py` first.\n")
    if options.seed is not None:
        torch.manual_seed(options.seed)
    model, tokenizer = load_model()
    drawn = {"temperature": options.temperature, "top_k": options.top_k, "top_p": options.top_p}
    print(write(model, tokenizer, options.prompt, options.length, **drawn))


if __name__ == "__main__":
    main()
