"""A failed check of somebody's GPT as a script: the model as it was built, one draw, the healthy numbers."""

from __future__ import annotations

import pprint
import re
from typing import Any

import msgspec
import numpy as np

from engine.errors import Message, NotApplicable, Said
from engine.facts import compared, experiments
from engine.facts.compared import Drawn, Side
from engine.facts.trace import BadAnswer
from engine.flows import fact_compare, fact_runs, fact_script, fact_script_import, sampling
from engine.flows.check import LIMIT, Bench, why_not
from engine.flows.fact_numbers import IGNORED, Pairs, allowed, literal, pairs, scored
from engine.flows.fact_sides import WEIGHTS, answer, silent
from engine.flows.health import Target
from engine.judge import torch_parts, torch_runs
from engine.judge.findings import told_in_order
from engine.judge.result import FACT, Verdict
from engine.run.types import Draw
from engine.spec.types import Text

INVENTED = re.compile(r"(\w+) = (.*) was made up")
TAILS = {"first": "start", "parameters": "start", "evaluation": "eval", "dropout": "train"}
RUNS = {"eval": 3, "train": torch_parts.MANY}


class Recipe(msgspec.Struct, frozen=True):
    """How a model is built without the engine, as the child wrote it: texts of Python. why: there is
    none. acts: whether a file does more than define when it is imported.
    """

    why: str = ""
    make: str = ""
    modules: list[str] = []
    roots: list[str] = []
    small: dict[str, dict[str, str]] = {}
    left_out: dict[str, list[str]] = {}
    call: str = ""
    bare: str = ""
    sampler: str = ""
    notes: list[str] = []
    acts: bool = False


class Failed(msgspec.Struct, frozen=True):
    """What repeats a failed check. number: in the verdict, its name in a blind break; shows: what it is
    called in print.
    """

    check: str
    number: int
    draw: Draw | None
    shows: Text = {}


def repeatable(verdict: Verdict) -> list[dict[str, Any]]:
    """The failed checks, as plain data."""
    numbers = {one.id: number for number, one in enumerate(verdict.results, 1)}
    return [
        msgspec.to_builtins(Failed(one.id, numbers[one.id], one.draw, one.shows))
        for one in told_in_order(verdict.results)
    ]


def written(
    before: Bench, now: Bench, target: Target, failed: Failed, title: str, root: str
) -> str:
    """The script. root: where the code lies that was judged. Raises NotApplicable where there is none."""
    if failed.draw is None:
        raise unrepeatable(failed)
    script = Script(before, now, target, failed.draw)
    tail = "sampling" if failed.draw.probe == "sampling" else TAILS.get(failed.check, "run")
    return script.text(tail, title, root)


def unrepeatable(failed: Failed) -> NotApplicable:
    """Why a check has no script."""
    if failed.check.startswith(FACT):
        why = Message(
            "This check is no number of one draw: it is a relation between values inside your model."
        )
        return NotApplicable(
            why, next=Message("`engine check` on the folder of the code measures it.")
        )
    why = Message(
        "This check is of your training script, which runs in a small world of made-up files and text that"
        " only the engine has."
    )
    return NotApplicable(
        why, next=Message("`engine observe` shows its first steps, before and after.")
    )


class Script:
    """Asks the tree before the break how it was built, and what it gave. Raises NotApplicable."""

    def __init__(self, before: Bench, now: Bench, target: Target, draw: Draw) -> None:
        self._before, self._now, self._target, self._draw = before, now, target, draw
        self._found = msgspec.structs.replace(target.found, other=draw.probe == fact_compare.SIZES)
        self._sizes = experiments.sizes(before.pack, self._found)
        self._asked: dict[str, Any] | None = None
        if draw.probe == "sampling":
            runs = fact_runs.declared(draw.seed, self._sizes["context"], self._sizes["vocabulary"])
            self._asked = runs[draw.turn]
        draws = compared.drawn(draw.seed, draw.turn + 1, self._sizes["context"], self._found.full)
        self._drawn = draws[-1]

    def text(self, tail: str, title: str, root: str) -> str:
        """The whole script."""
        dropout = self._before.pack.dropout if tail in RUNS else 0.0
        recipe = self._recipe(dropout)
        healthy = self._side(dropout, RUNS.get(tail, 0))
        draw = self._drawn
        if tail in RUNS:
            draw = compared.dropping(draw, self._sizes["context"])
        parts = [self._head(recipe, title, root, draw, tail), self._built(recipe, healthy, tail)]
        if tail != "start":
            parts.append(self._weights(draw))
        parts.append(fact_script.OUTPUTS + fact_script.COMPARE)
        parts.append(getattr(self, "_" + tail)(recipe, healthy, draw))
        return "".join(parts)

    def _recipe(self, dropout: float) -> Recipe:
        pack = self._before.pack
        option = self._target.option
        job = {
            **experiments.job(pack, self._found, (), dropout), "kind": "recipe", "sampled": self._asked,
            "function": list(option) if option else None, "context": self._sizes["context"],
            "methods": pack.generation["methods"], "arguments": pack.generation["arguments"],
            "text": pack.generation["text"],
        }  # fmt: skip
        found = self._before.learner.run(self._before.server, [job], LIMIT)[0]
        why: Said = why_not(found)
        if not why:
            try:
                recipe = msgspec.convert(found.data, Recipe)
            except msgspec.ValidationError as error:
                why = str(error)
            else:
                why = recipe.why
                if not why:
                    return recipe
        raise NotApplicable(
            Message("Your model cannot be built by a short script of its own: {why}.", why=why),
            next=Message("`engine observe` shows it before and after."),
        )

    def _side(self, dropout: float, repeats: int, *, double: bool = False) -> Side:
        """What the tree before the break gives for the draw."""
        job = compared.job(
            self._before.pack, self._found, [self._drawn], dropout=dropout, double=double,
            repeats=repeats, whole=True,
        )  # fmt: skip
        found = answer(self._before, job)
        why = why_not(found)
        if why:
            raise silent(why)
        return compared.side(found.data)

    def _renamed(self, healthy: Side) -> dict[str, str]:
        """Names of parameters in the judged tree -> before the break; none where it is not built."""
        job = compared.job(self._now.pack, self._found, [self._drawn], dropout=0.0)
        found = answer(self._now, job)
        if why_not(found):
            return {}
        try:
            other = compared.side(found.data).parameters
        except BadAnswer:
            return {}
        return torch_parts.renamed(healthy.parameters, other) or {}

    def _head(self, recipe: Recipe, title: str, root: str, draw: Drawn, tail: str) -> str:
        weights = (
            "the weights that it starts with" if tail == "start" else str(WEIGHTS[draw.regime])
        )
        how = "".join(f"\n\nMade up: {note}." for note in recipe.notes[:5])
        text = fact_script.HEAD.format(
            title=title, weights=weights, how=how, root=root, roots=recipe.roots,
            vocabulary=self._sizes["vocabulary"],
        )  # fmt: skip
        invented = [found.groups() for note in recipe.notes if (found := INVENTED.match(note))]
        made_up = "{" + ", ".join(f"{name!r}: {value}" for name, value in invented) + "}"
        if recipe.small or recipe.left_out or recipe.notes or recipe.acts:
            text += fact_script_import.DEFINITIONS.format(
                small=pprint.pformat(recipe.small, width=100),
                left_out=pprint.pformat(recipe.left_out, width=100),
                made_up=made_up,
            )
        text += fact_script_import.VALUES if "Values(" in recipe.make else ""
        return text + (fact_script_import.CHANGED if "changed(" in recipe.make else "")

    def _built(self, recipe: Recipe, healthy: Side, tail: str) -> str:
        imports = "\n".join(f"    import {name}" for name in recipe.modules)
        return fact_script.BUILD.format(
            imports=imports, make=recipe.make, renamed=self._renamed(healthy),
            first="names[0]" if tail == "sampling" else "min(names)",
        )  # fmt: skip

    def _weights(self, draw: Drawn) -> str:
        run = self._asked
        regime = "normal" if run else draw.regime
        weigh = fact_script.WEIGH.format(
            weights=3 if run else draw.weights,
            matrix=fact_script.MATRICES[regime],
            vector=fact_script.VECTORS.get(regime, "base + noise * 0.15"),
        )
        tokens, batch = (run["seed"], run["rows"]) if run else (draw.tokens, draw.batch)
        length = run["length"] if run else draw.length
        return weigh + fact_script.TOKENS.format(tokens=tokens, batch=batch, length=length)

    def _start(self, recipe: Recipe, healthy: Side, draw: Drawn) -> str:
        """What parameters there are, and how they are spread before anything is learnt."""
        wanted: Pairs = {}
        for (names, shape), (mean, deviation, count) in zip(
            healthy.parameters, healthy.first, strict=True
        ):
            wanted[names[0]] = [deviation, mean]
            wanted[names[0] + ", shape"] = [count, *shape]
        return fact_script.START + literal(wanted) + fact_script.SHOW_START

    def _train(self, recipe: Recipe, healthy: Side, draw: Drawn) -> str:
        return self._repeated("train", recipe, healthy, draw)

    def _eval(self, recipe: Recipe, healthy: Side, draw: Drawn) -> str:
        return self._repeated("eval", recipe, healthy, draw)

    def _repeated(self, mode: str, recipe: Recipe, healthy: Side, draw: Drawn) -> str:
        """The spread of many runs in one mode."""
        count = RUNS[mode]
        spread = float(np.std(healthy.train, axis=0, ddof=1).mean()) if mode == "train" else 0.0
        wanted = {f"spread of the outputs over {count} runs in {mode} mode": [spread]}
        return literal(wanted) + fact_script.REPEATED.format(
            count=count, mode=mode, tokens=draw.tokens, call=recipe.call
        )

    def _run(self, recipe: Recipe, healthy: Side, draw: Drawn) -> str:
        """All that a draw gives."""
        given = healthy.draws[0]
        if given.failed is not None:
            raise silent(given.failed.message)
        exact = self._side(0.0, 0, double=True).draws[0]
        near = [
            allowed(given, exact, kinds) for kinds in (("gradient",), ("output", "loss", "update"))
        ]
        bare = fact_script.BARE.format(bare=recipe.bare) if draw.more and scored(given) else ""
        text = fact_script.DRAW.format(tokens=draw.tokens, call=recipe.call, bare=bare)
        if f"loss, {IGNORED}" in pairs(given):
            text += fact_script.IGNORING.format(name=IGNORED, call=recipe.call)
        text += fact_script.STEP.format(call=recipe.call) if draw.more else ""
        close, closer = (f"{one:.2g}" for one in near)
        return (
            text + literal(pairs(given)) + fact_script.SHOW_DRAW.format(close=close, closer=closer)
        )

    def _sampling(self, recipe: Recipe, healthy: Side, draw: Drawn) -> str:
        """What a sampler draws from, and the text."""
        assert self._asked is not None
        job = sampling.sampler_job(self._before, self._found, self._target.option, [self._asked])
        found = self._before.learner.run(self._before.server, [job], LIMIT)[0]
        called = fact_runs.called(found, {0: ""}, 0)
        if isinstance(called, str) or called[0].error:
            raise silent(called if isinstance(called, str) else called[0].error)
        wanted: Pairs = {}
        for number, p in enumerate(called[0].drawn, 1):
            row = torch_runs.normal(p)
            wanted[f"tokens that can come at draw {number}"] = [int((row > 0).sum())]
            wanted[f"the likeliest at draw {number}"] = [float(row.max())]
        output = called[0].output
        return literal(wanted) + fact_script.SAMPLER.format(
            seed=self._asked["seed"], call=recipe.sampler,
            text=None if output is None else [int(n) for n in output.reshape(-1)],
        )  # fmt: skip
