"""Trains somebody's small model for a few steps on a text that can be learnt, and measures it before,
meanwhile and after.

Of the text's letters some come more often than others, and after each one only five may come: a model learns
that soon, and cannot know which of the five it is; only one that sees what comes next can.
"""

from __future__ import annotations

import random
import re

import torch

from engine.run.child import torch_build, torch_experiments, torch_trace, torch_world
from engine.run.child.torch_names import Names
from engine.run.child.torch_told import Told

ALPHABET = " abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:!?"
LETTERS, SKEW = 27, 0.7  # of the text, and how much some come more often
SHARES = (0.35, 0.25, 0.18, 0.13, 0.09)  # of those that may come after a letter
LEARNT, OTHER = 20_000, 4_000  # letters of the text that is learnt, and of the other one
ASKED = 352  # letters of the other text that a loss is measured on, about
BETAS, EPS, DECAY = (0.9, 0.95), 1e-8, 0.01
DRAWN, TRACED = 24, 8  # letters of a sample; samples of a trace
SAME = 1e-4


def observe(job, tree):
    """As three experiments on a model: with random weights, before and after the training; and what was seen
    of the training, "run".
    """
    notes = []
    with torch_world.OnProcessor():
        names = Names(job["rules"], Told(tree.files, job["path"]))
        built = torch_build.build(tree, job, names, notes)
        blobs, run = torch_trace.Blobs(), Run(built, job)
        other = run.batches(text(2, OTHER), run.chunks, 2)
        answers, few = [], tuple(one[:TRACED] for one in other[0])
        traced = run.tracer(tree, blobs, few, answers)

        initial = torch_experiments.snapshot(built.model)
        torch_experiments.randomise(built.model, 1, "normal")
        traced()
        shifted = run.is_shifted(*few) if job["shifted"] is None else job["shifted"]
        torch_experiments.restore(built.model, initial)
        traced()
        told = run.train(run.batches(text(1, LEARNT), job["steps"], 1), shifted)
        mode(built.model, False)
        with torch.no_grad():
            told.update(run.losses(other), sample=run.sample(other[0][0][:1]))
        traced()
    answer = torch_experiments.answer(built, notes, answers, blobs)
    return {**answer, "run": {**told, "shifted": shifted}}


def text(seed, length):
    """Letters as numbers; 0 is the blank."""
    language, drawn = random.Random(1), random.Random(seed)
    often = [(n + 1) ** -SKEW for n in range(LETTERS)]
    after = []
    for _ in range(LETTERS):
        found = []
        while len(found) < len(SHARES):
            letter = language.choices(range(LETTERS), often)[0]
            found += [letter] if letter not in found else []
        after.append(found)
    letters = [0]
    while len(letters) < length:
        letters += drawn.choices(after[letters[-1]], SHARES)
    return torch.tensor(letters)


def mode(model, training):
    if isinstance(model, torch.nn.Module):
        model.train(training)


def nll(logits, targets):
    return torch.nn.functional.cross_entropy(logits.flatten(0, -2).float(), targets.reshape(-1))


class Adam:
    """AdamW by its formula: torch's own would import the compiler first."""

    def __init__(self, owned, rate):
        self.owned, self.rate, self.steps = owned, rate, 0
        self.means = [torch.zeros_like(p) for p in owned]
        self.squares = [torch.zeros_like(p) for p in owned]

    def step(self):
        self.steps += 1
        first, second = (1 - beta**self.steps for beta in BETAS)
        with (
            torch.no_grad(),
            torch._C.DisableTorchFunction(),
        ):  # no modes: nothing here asks for a device
            for p, mean, square in zip(self.owned, self.means, self.squares):
                if p.grad is None:
                    continue
                p.mul_(1 - self.rate * DECAY)
                mean.lerp_(p.grad, 1 - BETAS[0])
                square.mul_(BETAS[1]).addcmul_(p.grad, p.grad, value=1 - BETAS[1])
                p.addcdiv_(mean, (square / second).sqrt().add_(EPS), value=-self.rate / first)

    def clear(self):
        with torch._C.DisableTorchFunction():
            for p in self.owned:
                p.grad = None


class Run:
    """A model that was built, and how it is trained and asked."""

    def __init__(self, built, job):
        self.built, self.job = built, job
        self.batch, self.context = job["batch"], job["context"]
        self.chunks = max(1, ASKED // (self.batch * self.context))

    def batches(self, letters, count, seed):
        """[(x, y)], each (batch, context): y is the text one letter later."""
        made, found = torch_build.generator(seed), []
        for _ in range(count):
            last = len(letters) - self.context - 1
            starts = torch.randint(0, last, (self.batch,), generator=made).tolist()
            rows = torch.stack([letters[i : i + self.context + 1] for i in starts])
            found.append((rows[:, :-1].contiguous(), rows[:, 1:].contiguous()))
        return found

    def tracer(self, tree, blobs, few, answers):
        """A function that adds a traced run to `answers`. few: (tokens, targets), which are given where the
        model gives logits with them.
        """
        with torch.no_grad():
            scored = self.output(*few)[0] is not None
        experiment = {**self.job["experiment"], "targets": scored}

        def traced():
            done = torch_experiments.run(self.built, tree, self.job, experiment, blobs, few)
            answers.append(done)

        return traced

    def output(self, x, y=None):
        """(logits or None, the model's own loss or None)."""
        y = y if self.built.takes("targets") else None
        found = self.built(x, y)
        own = torch_build.loss_of(found, y)
        logits = torch_build.logits_of(found, self.job["vocabulary"])
        return logits, None if own is None else own.reshape(())

    def logits(self, x):
        """(B, T, V) of every token, with targets or without; None where the model gives none."""
        for y in (x, None):
            found, _ = self.output(x, y)
            if found is not None and found.numel() == x.numel() * found.shape[-1]:
                return found.reshape(*x.shape, -1)
        return None

    def next(self, x):
        """(B, V): the logits for what comes after x."""
        for y in (None, x):
            found, _ = self.output(x, y)
            if found is not None:
                return found.reshape(len(x), -1, found.shape[-1])[:, -1]
        return None

    def so_far(self, x, later, t):
        """(B, V): the logits for what comes after the letters 0 to t, which are all that is told of x."""
        if not self.job["full"]:
            return self.next(x[:, : t + 1])
        return self.logits(torch.cat([x[:, : t + 1], later[:, t + 1 :]], 1))[:, t]

    def is_shifted(self, x, y):
        """Whether the model's own loss takes the text itself as targets, and moves them by one."""
        with torch.no_grad():
            logits, (_, own) = self.logits(x), self.output(x, y)
        if own is None or logits is None:
            return False
        plain, moved = nll(logits, y), nll(logits[:, :-1], y[:, 1:])
        return bool((own - moved).abs() < SAME * moved < (own - plain).abs())

    def loss(self, x, y, shifted):
        logits, own = self.output(x, x if shifted else y)
        if own is not None and own.requires_grad:
            return own
        return nll(logits.reshape(*x.shape, -1), y)

    def train(self, batches, shifted, beside=()):
        """Losses, norms of the gradient, and what the first step shows. beside: parameters that learn with
        the model's own.
        """
        found = [*torch_experiments.parameters(self.built.model), *beside]
        owned = [p for _, p in found]
        optimizer, told = Adam(owned, self.job["rate"]), {"losses": [], "norms": []}
        mode(self.built.model, True)
        for n, (x, y) in enumerate(batches):
            torch_world.seed(n)
            optimizer.clear()
            loss = self.loss(x, y, shifted)
            loss.backward()
            told["losses"].append(float(loss.detach()))
            told["norms"].append(norm(owned))
            if n == 0:
                told["gradients"] = block_gradients(found)
                before = [p.detach().clone() for p in owned]
            optimizer.step()
            if n == 0:
                moved = sum(float((p.detach() - b).abs().sum()) for p, b in zip(owned, before))
                size = sum(float(b.abs().sum()) for b in before)
                told["update_ratio"] = moved / size if size else None
        optimizer.clear()
        return told

    def losses(self, other):
        """Of the other text: all at once, and each letter from the text up to it alone."""
        whole, letters, wide = [], [], 0
        for n, (x, y) in enumerate(other):
            logits = self.logits(x)
            if logits is None:
                return {"other_loss": None, "letter_loss": None, "log_v": None}
            whole.append(float(nll(logits, y)))
            later = other[n - 1][0]
            found = [self.so_far(x, later, t) for t in range(self.context)]
            letters.append(float(nll(torch.stack(found, 1), y)))
            wide = logits.shape[-1]
        log_v = float(torch.tensor(float(wide)).log())
        mean = [sum(one) / len(one) for one in (whole, letters)]
        return {"other_loss": mean[0], "letter_loss": mean[1], "log_v": log_v}

    def sample(self, tokens):
        """A text that goes on after (1, T) tokens, drawn letter by letter."""
        made, drawn = torch_build.generator(9), []
        while len(drawn) < DRAWN:
            logits = self.next(tokens[:, -self.context :])
            if logits is None or not bool(torch.isfinite(logits).all()):
                break
            token = torch.multinomial(logits.float().softmax(-1), 1, generator=made)
            drawn.append(int(token))
            tokens = torch.cat([tokens, token], 1)
        return "".join(ALPHABET[n] if n < len(ALPHABET) else "?" for n in drawn)


def norm(owned):
    """Of all gradients together."""
    return sum(float(p.grad.norm()) ** 2 for p in owned if p.grad is not None) ** 0.5


def block_gradients(found):
    """[norm of the first block's gradients, of the last block's]: a block's parameters hold its number in
    their names; None without numbers.
    """
    numbers = {}
    for name, tensor in found:
        index = re.search(r"(?:^|\.)(\d+)(?:\.|$)", name)
        if index is not None:
            numbers.setdefault(name[: index.start()], {}).setdefault(int(index[1]), []).append(
                tensor
            )
    most = max(map(len, numbers.values()), default=0)
    lists = [blocks for blocks in numbers.values() if len(blocks) == most]
    if not lists:
        return None
    places = [n for blocks in lists for n in blocks]
    ends = [[t for blocks in lists for t in blocks.get(end(places), ())] for end in (min, max)]
    return [norm(tensors) for tensors in ends]
