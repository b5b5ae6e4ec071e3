"""Judges fixes of the corpus on warm interpreters; what is known of a healthy tree is measured once."""

from __future__ import annotations

from engine.facts import pack as packs
from engine.flows import check, sampling, training
from engine.flows.fact_fix import Subject, grade_fix
from engine.flows.health import Target
from engine.flows.training import Invocation
from engine.judge.level import PRACTICE
from tests.facts.conftest import tree_of
from tests.facts.fixes import Fix

FUNCTIONAL = check.Asked("net.py:make(53, 32, 2, 11)", "forward(model, tokens, 4)")
SAMPLERS = {"llama": ("sampling.py", "sample"), "modern": ("gpt2x.py", "generate")}
SAMPLERS["dictcfg"] = ("lm.py", "generate_text")
SCRIPTS = {"fused": "train.py", "heads": "gpt.py", "llama": "pretrain.py"}
SCRIPTS["dictcfg"] = "train.py"


class Judge:
    """One judge for all; learner and facts: two interpreters, the second of which holds the pack."""

    def __init__(self, learner, facts, folder):
        self._learner, self._facts = learner, facts
        self._pack = packs.load(folder)
        self._held, self._known = "", {}

    def __call__(self, fix, observe="run", seed=1, changes=("scale",), tree=None):
        """The verdict on a fix. tree: before the break, where it is not that of the style."""
        healthy, name = tree or tree_of(fix.style), (fix.style, observe)
        before = self._bench(healthy, "model", "script")
        if tree or self._held != name:
            self._hold(before, observe)
            self._held = None if tree else name
        candidate = self._bench(mended(fix, healthy), "candidate", "candidate script")
        self._hold(candidate, observe)
        known = (not tree and self._known.get(name)) or self._subject(before, fix, observe)
        if not tree:
            self._known[name] = known
        subject = Subject(**{**known, "changes": changes})
        return grade_fix(before, candidate, subject, seed, PRACTICE)

    def _bench(self, tree, model, script):
        return check.Bench(self._learner, self._facts, self._pack, dict(tree), model, script)

    def _hold(self, bench, observe):
        self._learner.hold(bench.server, check.folder(bench.files))
        if observe == "script":
            self._learner.hold(bench.script_server, check.folder(bench.files), "optimizer")

    def _subject(self, bench, fix, observe):
        asked = FUNCTIONAL if fix.style == "functional" else check.Asked()
        found, _ = check.chosen(bench, asked, lambda _: None)
        path, sampler = SCRIPTS.get(fix.style), SAMPLERS.get(fix.style)
        script = None if path is None else Invocation(path, [])
        raws = check.raw_facts(bench.ask("measure", check.observed(bench, found)[1]))
        if observe == "script":
            recorded = training.one_script(bench, script).recorded
            raws += check.raw_facts(bench.ask("measure", recorded, "script_facts"))
        if observe == "sampling":
            raws += check.raw_facts(sampling.one_sampler(bench, found, sampler).facts)
        facts = {raw.id: None if raw.value is None else str(raw.value) for raw in raws}
        target = Target(found, script, sampler or ("", ""))
        return {"target": target, "observe": observe, "facts": facts}


def mended(fix: Fix, healthy=None):
    """The healthy tree with the fix in it."""
    tree = dict(healthy or tree_of(fix.style))
    text = tree[fix.file].decode()
    for old, new in ((fix.old, fix.new), *fix.more):
        assert old in text, "the corpus has changed"
        text = text.replace(old, new)
    tree[fix.file] = text.encode()
    if fix.gone:
        del tree[fix.file]
    return tree
