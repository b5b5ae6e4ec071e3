"""Calls somebody's sampler with declared arguments, and records what it draws from."""

from __future__ import annotations

import inspect
import re
import sys

import torch

from engine.run.child import (
    runner,
    torch_build,
    torch_experiments,
    torch_load,
    torch_packages,
    torch_small,
    torch_trace,
    torch_world,
)
from engine.run.child.torch_names import Names, plain
from engine.run.child.torch_told import Told

DRAWS = 64  # that are recorded of one call


def observe(job, tree):
    """{"what", "runs", "blobs"}; each run: what was drawn from, what the model read, what came out."""
    notes = []
    with torch_world.OnProcessor():
        built = torch_build.build(
            tree, job, Names(job["rules"], Told(tree.files, job["path"])), notes
        )
        torch_experiments.randomise(built.model, 3, "normal")
        function, bound, what = sampler(built, job, tree)
        blobs = torch_trace.Blobs()
        runs = [one_run(built, function, bound, job, run, tree, blobs) for run in job["runs"]]
    return {"what": what, "takes": kinds(function, job), "runs": runs, "blobs": blobs.items}


def sampler(built, job, tree):
    """(function, whether it is a method, its name). Raises NotBuilt."""
    if not job["function"]:
        for name in dir(type(built.model)):
            if re.search(job["methods"], name) and not name.startswith("_"):
                found = getattr(built.model, name)
                if inspect.ismethod(found) and "tokens" in kinds(found, job):
                    return found, True, "%s.%s" % (type(built.model).__name__, name)
        raise torch_build.NotBuilt("the model has no method that generates")
    path, name = job["function"]
    module = built.module
    if getattr(module, "__file__", "") != tree.path(path):
        found = [m for m in torch_load.of_tree(tree) if m.__file__ == tree.path(path)]
        defined = next(f for f in sys.meta_path if getattr(f, "files", None) is not None)
        module = found[0] if found else torch_load.beside(built.module, defined, path)
    return getattr(module, name), False, "%s:%s" % (path, name)


def kinds(function, job):
    """parameter kind -> name, by the pack's patterns."""
    found = {}
    for parameter in inspect.signature(function).parameters.values():
        short = plain(parameter.name)
        kind = next((k for p, k in job["arguments"] if re.search(p, short)), None)
        if kind is not None and kind not in found:
            found[kind] = parameter.name
    return found


def spoken(parameter, job):
    """Whether a sampler takes its prompt as text, which it turns into tokens itself."""
    said = str(parameter.annotation)
    numbers = "ensor" in said or "int" in said
    return not numbers and re.search(job["text"], plain(parameter.name)) is not None


def world(vocabulary):
    """What a sampler turns text into tokens with, by kind: one token a letter."""
    encoder = torch_small.Encoder(vocabulary)
    letters = encoder.decode(range(vocabulary))
    return {
        "tokenizer": torch_packages.tokenizer(encoder),
        "encode": encoder.encode,
        "decode": encoder.decode,
        "numbers": {letter: i for i, letter in enumerate(letters)},
        "letters": dict(enumerate(letters)),
    }


def arguments(function, built, tokens, run, job):
    values = {
        **world(job["vocabulary"]),
        "model": built.model, "tokens": tokens, "count": run["count"], "top_k": run["top_k"],
        "top_p": run["top_p"], "temperature": run["temperature"], "sampled": True,
        "context": job["context"], "nothing": None, "processor": "cpu", "penalty": 1.0,
    }  # fmt: skip
    known = {name: kind for kind, name in kinds(function, job).items()}
    translated = {"tokenizer", "encode", "numbers"} & {*known.values()}
    given = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        kind = known.get(parameter.name)
        needed = parameter.default is inspect.Parameter.empty
        asked = kind == "sampled" or (kind == "context" and parameter.default is None)
        if kind in ("nothing", "processor", "context") and not needed and not asked:
            continue
        if kind in ("top_k", "top_p") and values[kind] is None and not needed:
            default = parameter.default  # one that truncates is switched off
            if type(default) in (int, float) and default > 0:
                given[parameter.name] = job["vocabulary"] if kind == "top_k" else 1.0
            continue
        if kind == "tokens" and translated and spoken(parameter, job):
            given[parameter.name] = values["decode"](tokens[0].tolist())
        elif kind is not None:
            given[parameter.name] = values[kind]
        elif needed:
            given[parameter.name] = None
    return given


class Draws:
    """What the sampler drew from, and what the model was called with."""

    def __init__(self, built, tree, blobs):
        self._built, self._tree, self._blobs = built, tree, blobs
        self.found, self.read, self.at = [], [], {}
        self._real = torch.multinomial, torch.Tensor.multinomial
        self._forward = None

    def __enter__(self):
        def draw(p, *args, **kwargs):
            self._place("multinomial")
            if len(self.found) < DRAWS:
                self.found.append(torch_experiments.described(p, self._blobs))
            return self._real[0](p, *args, **kwargs)

        torch.multinomial = torch.Tensor.multinomial = draw
        self._named = {}
        for name in ("topk", "cat", "sort"):
            self._watch(name)
        model = self._built.model
        if isinstance(model, torch.nn.Module):
            self._forward = model.forward
            model.forward = self._called  # whether it is called itself or by the module
        return self

    def _watch(self, name):
        real = getattr(torch, name)

        def seen(*args, **kwargs):
            self._place(name)
            return real(*args, **kwargs)

        self._named[name] = real
        setattr(torch, name, seen)

    def _place(self, name):
        spans = torch_trace.spans(self._tree, sys._getframe(2))
        if spans and name not in self.at:
            self.at[name] = list(spans[0])

    def _called(self, *args, **kwargs):
        tokens = [a for a in [*args, *kwargs.values()] if isinstance(a, torch.Tensor)]
        if tokens and len(self.read) < DRAWS and not tokens[0].is_floating_point():
            spans = torch_trace.spans(self._tree, sys._getframe(1))
            if spans:
                self.at.setdefault("forward", list(spans[0]))
                self.at["last"] = list(spans[0])
            self.read.append(torch_experiments.described(tokens[0], self._blobs))
        return self._forward(*args, **kwargs)

    def __exit__(self, *error):
        torch.multinomial, torch.Tensor.multinomial = self._real
        for name, real in self._named.items():
            setattr(torch, name, real)
        if self._forward is not None:
            del self._built.model.forward
        return False


def own_logits(built, tokens, job):
    """The model's logits for these tokens; None where it gives none, or an earlier call left a state in it
    that lets it fail.
    """
    try:
        output = built(tokens, tokens if built.takes("targets") else None)
        logits = torch_build.logits_of(output, job["vocabulary"])
        if logits is None:
            logits = torch_build.logits_of(built(tokens), job["vocabulary"])
    except Exception:
        return None
    return logits


def without_sampler(built, output, tokens, job, blobs):
    """The model's own logits for the whole text that came out, and for the prompt again."""
    told = {"whole": None, "again": None}
    if output is None or output.dim() != 2 or output.shape[1] > job["context"]:
        return told
    for name, given in (("again", tokens), ("whole", output[:, :-1])):
        told[name] = torch_experiments.described(own_logits(built, given.clone(), job), blobs)
    return told


def one_run(built, function, bound, job, run, tree, blobs):
    """One call of the sampler, and the model's own logits for the same tokens."""
    made = torch_build.generator(run["seed"])
    shape = run["rows"], run["length"]
    tokens = torch.randint(0, job["vocabulary"], shape, generator=made)
    answer = {"failed": None, "tokens": torch_experiments.described(tokens, blobs), "logits": None}
    if isinstance(built.model, torch.nn.Module):
        built.model.eval()
    with torch.no_grad():
        if run["length"] <= job["context"]:
            answer["logits"] = torch_experiments.described(own_logits(built, tokens, job), blobs)
        draws = Draws(built, tree, blobs)
        torch_world.seed(run["seed"])
        try:
            with draws:
                result = function(**arguments(function, built, tokens.clone(), run, job))
                if inspect.isgenerator(result):
                    result = list(result)
        except Exception as error:
            answer["failed"], result = runner.failure(error, tree), None
    whole = [t for t in torch_build.tensors(result) if not t.is_floating_point()]
    if whole:
        answer["output"] = torch_experiments.described(whole[0], blobs)
    elif isinstance(result, (list, tuple)) and all(type(n) is int for n in result[:64]):
        answer["output"] = torch_experiments.described(
            torch.tensor(list(result)[:64] or [0]), blobs
        )
    else:
        answer["output"] = None
    if run["whole"]:
        answer.update(without_sampler(built, whole[0] if whole else None, tokens, job, blobs))
    return {**answer, "drawn": draws.found, "read": draws.read, "at": draws.at}
