"""Builds a small instance of somebody's model, and calls it."""

from __future__ import annotations

import dataclasses
import dis
import inspect
import re

import torch

from engine.run.child import torch_config, torch_load, torch_world
from engine.run.child.torch_names import MISSING
from engine.run.child.torch_stubs import Nothing, StubUsed

GLOBALS = 16  # names of a script that are made up, at most


class NotBuilt(Exception):
    """No way to build it was found; says what was tried."""


class Construct:
    """Makes the model from a class and the arguments that a function gives."""

    def __init__(self, cls, arguments):
        self.cls, self.given, self._arguments = cls, {}, arguments

    def __call__(self):
        self.given = self._arguments()
        return self.cls(**self.given)


class Built:
    """A model, how it was made, and how it is called."""

    def __init__(self, model, how, module, words, call):
        self.model, self.how, self.module = model, how, module
        self._words, self._call = words, call
        self.scored = True  # whether it can be given targets
        self.cls, self.given = None, {}  # what was called to make it, and with what

    def takes(self, kind):
        """The forward's parameter of a kind of the pack's words, as "targets", by its name; or None."""
        if self._call is not None or (kind == "targets" and not self.scored):
            return None
        found = parameters_of(self.model)
        pattern = re.compile(self._words[kind], re.I)
        return next((p for p in found[1:] if pattern.search(p.name)), None)

    def __call__(self, tokens, targets=None):
        """What the model's forward gives. tokens, targets: (B, T), int64."""
        if self._call is not None:
            around = {"model": self.model, "tokens": tokens, "idx": tokens, "targets": targets}
            around["x"] = tokens
            return eval(self._call, {**vars(self.module), **around})
        named = {}
        wanted = self.takes("targets")
        for p in parameters_of(self.model)[1:]:
            if wanted is not None and p.name == wanted.name:
                if targets is not None or p.default is inspect.Parameter.empty:
                    named[p.name] = targets
            elif p.default is inspect.Parameter.empty:
                named[p.name] = eval(self.beside(p), {"torch": torch, "tokens": tokens})
        return self.model(tokens, **named)

    def beside(self, parameter):
        """The expression for what else a forward asks for: where it starts, the positions as a tensor, or how
        long each text is; "None" otherwise.
        """
        texts = {
            "lengths": "torch.full((len(tokens),), tokens.shape[1])",
            "places": "torch.arange(tokens.shape[1])[None]",
            "start": "torch.arange(tokens.shape[1])" if is_tensor(parameter) else "0",
        }
        named = {kind: getattr(self.takes(kind), "name", "") for kind in texts}
        return next((t for kind, t in texts.items() if named[kind] == parameter.name), "None")


def reads(model, name):
    """Whether the forward reads a parameter: a mask that others ask for may be there for them alone."""
    function = inspect.unwrap(model.forward if isinstance(model, torch.nn.Module) else model)
    code = getattr(function, "__code__", None)
    return code is None or any(
        one.argval == name or (type(one.argval) is tuple and name in one.argval)
        for one in dis.get_instructions(code)
        if one.opname.startswith(("LOAD_", "STORE_FAST_LOAD", "MAKE_CELL"))
    )


def is_tensor(parameter):
    """Whether a parameter is annotated as a tensor."""
    return "Tensor" in str(parameter.annotation)


def parameters_of(model):
    """What the forward takes, without self, * and **."""
    function = model.forward if isinstance(model, torch.nn.Module) else model
    found = inspect.signature(function).parameters.values()
    return [p for p in found if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]


def ways(tree, path, module, cls, names):
    """(description, function that constructs) for a class, likely ones first."""
    found = torch_config.constructor(cls)
    configs = [p for p in found if torch_config.is_config(p, names)]
    objects = [
        p.name for p in found if p not in configs and torch_config.is_object(tree, path, p, names)
    ]
    plain = [p for p in found if p not in configs and p.name not in objects]
    given, missing = torch_config.arguments(plain, names)
    for p in found:
        if p.name in objects:
            made = torch_config.part(module, p, names)
            given[p.name] = torch_config.Loose(names) if made is None else made
    if not configs:
        if missing:
            raise NotBuilt(
                "%s needs %s, and no value is known" % (cls.__name__, ", ".join(missing))
            )
        shown = ", ".join("%s=%r" % (k, v) for k, v in given.items() if type(v) is int)
        yield "%s(%s)" % (cls.__name__, shown), Construct(cls, lambda: given)
        return
    wanted = configs[0]
    needed = {p.name for p in found if p.default is inspect.Parameter.empty}
    beside = {name: value for name, value in given.items() if name in needed}
    options = list(torch_config.choices(tree, path, module, wanted, names))
    for presets in (False, True):
        default = torch_config.by_default(cls, names, presets)
        if default is not None:
            options.insert(0, ("its default configuration", default))
    for name, config in options:
        given = lambda config=config: {wanted.name: config(), **beside}  # noqa: E731
        yield "%s(%s)" % (cls.__name__, name), Construct(cls, given)


def with_globals(tree, module, names, notes, function):
    """What the function gives; global names that definition mode left out are made up by name."""
    for _ in range(GLOBALS):
        try:
            return function()
        except NameError as error:
            name = getattr(error, "name", None)
            value = names.guess(name) if name else MISSING
            if value is MISSING:
                raise
            notes.append("%s = %r was made up" % (name, value))
            for one in {id(m): m for m in [module, *torch_load.of_tree(tree)]}.values():
                vars(one).setdefault(name, value)
    raise NotBuilt("more than %d global names are missing" % GLOBALS)


def sized(tree, module, names, notes):
    """Sizes that a stub gave, or that came out 0, as the length of a vocabulary that is not there, are made
    up by name.
    """
    for one in {id(m): m for m in [module, *torch_load.of_tree(tree)]}.values():
        for name, value in list(vars(one).items()):
            empty = isinstance(value, Nothing) or (type(value) is int and value == 0)
            if empty and names.is_size(name):
                vars(one)[name] = names.guess(name)
                notes.append("%s = %r was made up" % (name, vars(one)[name]))


def logits_of(output, vocabulary):
    """The first tensor whose last axis could hold the vocabulary, or None."""
    for tensor in tensors(output):
        if tensor.dim() >= 2 and tensor.is_floating_point() and tensor.shape[-1] >= vocabulary:
            return tensor
    return None


def loss_of(output, targets):
    """The first number that a forward gave for targets, or None: without targets, a number beside the logits
    is another term, as of a router.
    """
    found = tensors(output) if targets is not None else ()
    return next((t for t in found if t.numel() == 1 and t.is_floating_point()), None)


def tensors(value, depth=4):
    """The tensors in what a forward returned, outermost first."""
    if isinstance(value, torch.Tensor):
        return [value]
    if depth == 0:
        return []
    if isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, (tuple, list)):
        inner = value
    elif dataclasses.is_dataclass(value) or hasattr(value, "logits"):
        inner = vars(value).values()
    else:
        return []
    return [tensor for one in inner for tensor in tensors(one, depth - 1)]


def build(tree, job, names, notes):
    """A Built for a candidate {path, cls} or a line {expression, call}. Raises NotBuilt and others."""
    defined = torch_load.prepared(tree, names, notes, job["path"], bool(job.get("inner")))
    module = torch_load.loaded(defined, job["path"])
    sized(defined, module, names, notes)
    call = compile(job["call"], "call", "eval") if job.get("call") else None
    if job.get("expression"):
        made = compile(job["expression"], "model", "eval")
        options = [(job["expression"], lambda: eval(made, vars(module)))]
    else:
        options = ways(defined, job["path"], module, getattr(module, job["cls"]), names)
    tried = []
    for how, construct in options:
        try:
            torch_world.seed(job["seed"])
            model = with_globals(defined, module, names, notes, construct)
            built = Built(ready(model), how, module, job["words"], call)
            built.scored = not job.get("bare")
            if isinstance(construct, Construct):
                built.cls, built.given = construct.cls, construct.given
            probe(built, job, lambda f: with_globals(defined, module, names, notes, f))
            return built
        except (NotBuilt, StubUsed):
            raise
        except Exception as error:
            tried.append((how, error))
    if len(tried) == 1:
        raise tried[0][1]
    told = ("%s: %s: %s" % (h[:60], type(e).__name__, str(e)[:120]) for h, e in tried)
    raise NotBuilt("; ".join(told)) from tried[0][1]


def ready(model):
    """On the processor, in evaluation mode, with weights."""
    if isinstance(model, torch.nn.Module):
        if any(p.is_meta for p in model.parameters()):
            model = model.to_empty(device="cpu")
        model.eval()
    return model


def probe(built, job, run):
    """One forward, to see that it gives logits. Raises NotBuilt."""
    tokens = torch.randint(0, job["vocabulary"], (2, job["probe"]), generator=generator(1))
    with torch.no_grad():
        output = run(lambda: built(tokens, tokens if built.takes("targets") else None))
        if logits_of(output, job["vocabulary"]) is None and built.takes("targets"):
            output = run(lambda: built(tokens))
    logits = logits_of(output, job["vocabulary"])
    if logits is None or is_hidden(logits, built.model, job["vocabulary"]):
        raise NotBuilt("its forward gives no logits over the vocabulary")


def is_hidden(output, model, vocabulary):
    """Whether an output is as wide as the vectors of a table of tokens: a trunk without a head."""
    width = output.shape[-1]
    found = model.parameters() if width != vocabulary and hasattr(model, "parameters") else ()
    return any(p.dim() == 2 and p.shape[0] >= vocabulary and p.shape[1] == width for p in found)


def generator(seed):
    made = torch.Generator()
    made.manual_seed(seed)
    return made
