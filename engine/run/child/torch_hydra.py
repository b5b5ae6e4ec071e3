"""Stands for hydra and omegaconf: a configuration composed of the tree's YAML files, with small numbers."""

from __future__ import annotations

import copy
import dataclasses
import functools
import importlib
import json
import os
import re
import sys
import types

from engine.run.child.torch_stubs import Nothing, StubModule

FLOAT = re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$", re.I)
REFERENCE = re.compile(r"\$\{([^${}]+)\}")
DEEP = 8  # references to references


class Config(dict):
    """A configuration by attribute and by key."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        self[name] = value

    def __deepcopy__(self, memo):
        return Config({key: copy.deepcopy(value, memo) for key, value in self.items()})

    def copy(self):
        return copy.deepcopy(self)


def wrapped(value):
    """Dicts, dataclasses and lists as a configuration; texts that are numbers as numbers."""
    if dataclasses.is_dataclass(value):
        made = value() if isinstance(value, type) else value
        return wrapped({f.name: getattr(made, f.name) for f in dataclasses.fields(made)})
    if isinstance(value, dict):
        return Config({key: wrapped(one) for key, one in value.items()})
    if isinstance(value, (list, tuple)):
        return [wrapped(one) for one in value]
    if isinstance(value, str) and FLOAT.match(value):
        return float(value) if re.search(r"[.e]", value, re.I) else int(value)
    return value


def merged(first, *others):
    """Configurations, the later ones over the earlier."""
    found = wrapped(first) if first is not None else Config()
    for other in others:
        for key, value in (wrapped(other) or {}).items():
            both = isinstance(value, dict) and isinstance(found.get(key), dict)
            found[key] = merged(found[key], value) if both else value
    return found


def put(config, dotted, value):
    """Set what a name with dots means."""
    *folders, last = dotted.split(".")
    for name in folders:
        if not isinstance(config.get(name), dict):
            config[name] = Config()
        config = config[name]
    config[last] = wrapped(value)


def found_at(config, dotted):
    """What a name with dots means; None where it means nothing."""
    for name in dotted.lstrip(".").split("."):
        config = config.get(name) if isinstance(config, dict) else None
    return config


def resolved(value, root, depth=DEEP):
    """References to other entries replaced by what they mean."""
    if isinstance(value, dict):
        return Config({key: resolved(one, root, depth) for key, one in value.items()})
    if isinstance(value, list):
        return [resolved(one, root, depth) for one in value]
    whole = REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if whole and depth:
        return resolved(meant(whole[1], root), root, depth - 1)
    if isinstance(value, str) and "${" in value and depth:
        return resolved(REFERENCE.sub(lambda m: str(meant(m[1], root)), value), root, depth - 1)
    return value


def meant(text, root):
    """One reference: an entry, the default of a variable of the environment, else its own text."""
    if ":" not in text:
        return found_at(root, text)
    kind, _, rest = text.partition(":")
    return rest.partition(",")[2].strip("'\" ") if kind == "oc.env" and "," in rest else "."


class Composer:
    """compose(folder, name, overrides) of the tree's files."""

    def __init__(self, read, disk, stored):
        self._read, self._known, self._stored = read, disk.content, stored
        self._listed = disk.listed

    def __call__(self, folder, name, overrides=()):
        chosen, plain = {}, []
        for word in overrides:
            key, _, value = word.lstrip("+~").partition("=")
            if self._known(os.path.join(folder, key, value + ".yaml")):
                chosen[key] = value
            elif "=" in word and not key.startswith("hydra"):
                plain.append((key, value))
        config = self._file(folder, name, "", chosen)
        for key, value in plain:
            put(config, key, self._read(value))
        return resolved(config, config)

    def _file(self, folder, name, group, chosen):
        """One file with its defaults; what belongs to a group stands under its name."""
        path = os.path.join(folder, group, re.sub(r"\.ya?ml$", "", str(name)) + ".yaml")
        if not self._known(path):
            return wrapped(self._stored.get(str(name), self._stored.get((group, str(name)), {})))
        text = self._known(path).decode("utf-8", "replace")
        own = self._read(text) or {}
        defaults = own.pop("defaults", ["_self_"]) if isinstance(own, dict) else []
        config = Config()
        for entry in defaults if "_self_" in defaults else [*defaults, "_self_"]:
            if entry == "_self_":
                config = merged(config, own)
                continue
            key, value = next(iter(entry.items())) if isinstance(entry, dict) else ("", entry)
            key, _, package = key.removeprefix("override ").removeprefix("optional ").partition("@")
            key, value = key.strip(), chosen.get(key.strip(), value)
            if value == "???":  # which the command line must name
                value = self._first(os.path.join(folder, group, key))
            if value is None or key.startswith("hydra"):
                continue
            made = self._file(folder, value, os.path.join(group, key), chosen)
            target = package.replace("_global_", "") if package else key.replace("/", ".")
            made = (
                made
                if self._is_global(folder, group, key, value) or not target
                else nested(target, made)
            )
            config = merged(config, made)
        return config

    def _first(self, folder):
        """The first configuration of a group; None where it has none."""
        names = sorted(name for name in self._listed(folder) if re.search(r"\.ya?ml$", name))
        return names[0].rpartition(".")[0] if names else None

    def _is_global(self, folder, group, key, value):
        text = self._known(os.path.join(folder, group, key, str(value) + ".yaml")) or b""
        return b"@package _global_" in text[:200]


def nested(dotted, value):
    """A configuration with this value at a name with dots."""
    made = Config()
    put(made, dotted, value)
    return made


def instantiate(config, *args, **kwargs):
    """Calls what `_target_` names with the other entries."""
    given = {
        key: made(value) for key, value in {**config, **kwargs}.items() if not key.startswith("_")
    }
    module, _, name = config["_target_"].rpartition(".")
    try:
        kind = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError:  # a name inside a class
        above, _, cls = module.rpartition(".")
        kind = getattr(getattr(importlib.import_module(above), cls), name)
    return (
        functools.partial(kind, *args, **given) if config.get("_partial_") else kind(*args, **given)
    )


def made(value):
    if isinstance(value, dict) and "_target_" in value:
        return instantiate(value)
    return [made(one) for one in value] if isinstance(value, list) else value


def install(disk, small, overrides, read):
    """Put the stand-ins where imports find them. read: text of YAML -> its value."""
    stored = {}
    compose = Composer(read, disk, stored)

    def main(version_base=None, config_path=None, config_name=None, **kwargs):
        def decorate(function):
            @functools.wraps(function)
            def run(cfg=None):
                if cfg is None:
                    folder = disk.beside(config_path or ".")
                    cfg = compose(folder, config_name or "config", overrides)
                    cfg = wrapped(small.configuration(cfg))
                return function(cfg)

            return run

        return decorate

    def keep(name="", node=None, group="", **kwargs):
        stored[(group, name) if group else name] = node

    def composed(config_name="config", overrides=(), **kwargs):
        return compose(disk.beside("."), config_name, overrides)

    store = types.SimpleNamespace(store=keep, instance=lambda: store)
    current = types.SimpleNamespace(
        runtime=types.SimpleNamespace(output_dir="outputs", cwd=".", choices={}),
        job=types.SimpleNamespace(name="train", num=0),
    )
    running = types.SimpleNamespace(get=lambda: current, initialized=lambda: False)
    utils = StubModule("hydra.utils")
    vars(utils).update(
        instantiate=instantiate, call=instantiate, get_original_cwd=lambda: ".",
        to_absolute_path=lambda path: path,
    )  # fmt: skip
    modules = {
        "hydra": {"main": main, "utils": utils, "compose": composed},
        "hydra.utils": vars(utils),
        "hydra.core.config_store": {"ConfigStore": store},
        "hydra.core.hydra_config": {"HydraConfig": running},
        "omegaconf": members(disk, small, read),
    }  # fmt: skip
    for name, names in modules.items():
        module = StubModule(name)
        vars(module).update({k: v for k, v in names.items() if not k.startswith("__")})
        sys.modules[name] = module
    sys.modules["hydra"].core = Nothing("hydra.core")


def members(disk, small, read):
    """What omegaconf has."""

    def load(path):
        with disk.open(path) as file:
            return wrapped(small.configuration(read(file.read())))

    def create(value=None):
        return wrapped(read(value) if isinstance(value, str) else value or {})

    def plain(value, **kwargs):
        if isinstance(value, dict):
            return {key: plain(one) for key, one in value.items()}
        return [plain(one) for one in value] if isinstance(value, list) else value

    class OmegaConf:
        register_new_resolver = set_struct = set_readonly = save = resolve = staticmethod(
            lambda *args, **kwargs: None
        )
        from_cli = staticmethod(lambda *args: Config())
        is_config = staticmethod(lambda value: isinstance(value, Config))
        select = staticmethod(lambda config, name, **kwargs: found_at(config, name))
        update = staticmethod(lambda config, name, value, **kwargs: put(config, name, value))
        to_yaml = staticmethod(lambda config, **kwargs: json.dumps(plain(config), default=str))

    for name, function in [("load", load), ("create", create), ("structured", wrapped),
                           ("merge", merged), ("to_container", plain), ("to_object", plain)]:  # fmt: skip
        setattr(OmegaConf, name, staticmethod(function))
    return {"OmegaConf": OmegaConf, "DictConfig": Config, "ListConfig": list, "MISSING": "???"}
