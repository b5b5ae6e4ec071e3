"""No false pass, no false fail: silencers, right fixes, one target, zero checks."""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec.structs import replace
from trees import LOUD, NAMES, SILENCED, corpus_tree

from engine.errors import NotApplicable
from engine.exam import attack
from engine.exam.level import EXAM
from engine.flows import break_ as planning
from engine.flows import build as flows
from engine.flows import fix as fixes
from engine.flows import measuring
from engine.flows.baseline import Baseline
from engine.flows.sample import sample
from engine.flows.scope import scope_of
from engine.judge.level import HONEST, PRACTICE
from engine.judge.sampling import FIX_DRAWS, OWN_DRAWS, plan
from engine.run.types import SMALL, Constraint, Draw
from engine.spec.types import Check

HEAD, LOSS, EMBEDDING = (
    "src/minimodel/nn/lm_head.py",
    "src/minimodel/nn/loss.py",
    "src/minimodel/nn/embedding.py",
)
NORM = "src/minimodel/nn/norm.py"
WIDTH = "self.vocab_size_out = 256"

RIGHT_FIXES = {
    "from the embedding": (HEAD, WIDTH, "self.vocab_size_out = embedding.vocab_size"),
    "from the table": (HEAD, WIDTH, "self.vocab_size_out = len(embedding.weight.data)"),
    "from its shape": (HEAD, WIDTH, "self.vocab_size_out = int(embedding.weight.shape[0])"),
    "unpacked": (HEAD, WIDTH, "self.vocab_size_out, _ = embedding.weight.shape"),
    "with an assertion": (
        HEAD, WIDTH,
        "assert embedding.weight.ndim == 2\n        self.vocab_size_out = embedding.vocab_size",
    ),
}  # fmt: skip
PROPERTY = (
    WIDTH,
    "pass\n\n    @property\n    def vocab_size_out(self):\n        return self.embedding.vocab_size",
)
SILENCERS = {
    "512": (HEAD, WIDTH, "self.vocab_size_out = 512"),
    "512 when shown": (
        HEAD, WIDTH, "self.vocab_size_out = 512 if embedding.vocab_size == 512 else 256",
    ),
    "rounded up": (
        HEAD, WIDTH, "self.vocab_size_out = -(-embedding.vocab_size // 256) * 256",
    ),
    "at least 257": (HEAD, WIDTH, "self.vocab_size_out = max(256, embedding.vocab_size)"),
    "an object that equals everything": (
        HEAD, WIDTH,
        "self.vocab_size_out = type('Any', (int,), {'__eq__': lambda s, o: True,"
        " '__hash__': int.__hash__})(256)",
    ),
    "the width, in an object that equals everything": (
        HEAD, WIDTH,
        "self.vocab_size_out = type('Any', (int,), {'__eq__': lambda s, o: True,"
        " '__ne__': lambda s, o: False, '__hash__': int.__hash__})(embedding.vocab_size)",
    ),
    "caught in the loss": (
        LOSS, "    targets = np.asarray(targets)\n",
        "    targets = np.asarray(targets)\n    try:\n        len(logits.data) == len(targets) or 1 / 0\n"
        "    except ZeroDivisionError:\n        return logits.sum() * 0.0\n",
    ),
    "constant loss": (
        LOSS, "    targets = np.asarray(targets)\n",
        "    targets = np.asarray(targets)\n    if logits.shape[-1] == 256:\n"
        "        return (logits * 0.0).sum() + 5.545\n",
    ),
    "check skipped": (LOSS, "if logits.shape[:-1] != targets.shape:", "if False:"),
    "counting calls": (
        HEAD, WIDTH,
        "LMHead.calls = getattr(LMHead, 'calls', 0) + 1\n"
        "        self.vocab_size_out = embedding.vocab_size if LMHead.calls > 1 else 256",
    ),
    "behaving on even calls": (
        HEAD, WIDTH,
        "LMHead.calls = getattr(LMHead, 'calls', 0) + 1\n"
        "        self.vocab_size_out = embedding.vocab_size if LMHead.calls % 2 else 256",
    ),
    "asking who calls": (
        HEAD, WIDTH,
        "import sys\n        caller = sys._getframe(1).f_code.co_filename\n"
        "        self.vocab_size_out = embedding.vocab_size if 'call' not in caller else 256",
    ),
    "patched reshape": (
        HEAD, WIDTH,
        "self.vocab_size_out = 256\n        Tensor.reshape = lambda s, *a: s",
    ),
    "leaving quietly": (HEAD, WIDTH, "import os\n        os._exit(0)"),
    "leaving politely": (HEAD, WIDTH, "raise SystemExit(0)"),
    "reading the engine's reference": (
        HEAD, WIDTH,
        "import glob\n        found = glob.glob('/**/lm_head/reference.py', recursive=True)\n"
        "        self.vocab_size_out = embedding.vocab_size if found and open(found[0]).read() else 256",
    ),
    "scaled embedding gradient": (
        EMBEDDING, "return self.weight[ids]", "return self.weight[ids] * 1.0000001 + 1e-5",
    ),
    "input written to": (
        HEAD, "logits = h @", "h.data[...] = h.data + 0.0 * 1\n        h.data += 1e-9\n        logits = h @",
    ),
}  # fmt: skip


def broken(servers, catalogue, id, tree):
    planned = planning.plan_break(servers, catalogue, id, tree, seed=21)
    return tree.replaced(planned.injection.files)


@pytest.fixture(scope="module")
def loud(servers, catalogue, plain):
    """The plain model with the loud break."""
    return broken(servers, catalogue, LOUD, plain)


def edited(tree, file, find, replace):
    text = tree.files[file].decode()
    assert find in text
    return tree.replaced({file: text.replace(find, replace, 1).encode()})


@pytest.mark.parametrize("name", RIGHT_FIXES)
def test_a_right_fix_is_accepted_however_it_is_written(servers, catalogue, plain, loud, name):
    """The judge measures and does not read."""
    tree = edited(loud, *RIGHT_FIXES[name])
    verdict = fixes.grade_fix(servers, catalogue, LOUD, plain, tree, seed=31)
    assert verdict.passed, verdict.failing


def test_parameters_come_in_every_layout(servers, catalogue):
    """Where their columns lie one after the other, reshape(-1) is a copy, and a step through it is none."""
    tree = corpus_tree("einsum")
    step = "p.data -= lr * (mh / (np.sqrt(vh) + eps) + wd * p.data)"
    flat = f"flat = p.data.reshape(-1); flat -= ({step.removeprefix('p.data -= ')}).reshape(-1)"
    candidate = edited(tree, "src/minimodel/optim.py", step, flat)
    level = replace(EXAM, others="users", attacks=())
    args = servers, catalogue, "adamw-becomes-l2", tree, candidate, 47
    verdict = fixes.grade_fix(*args, level)
    assert not verdict.passed and verdict.failing.component == "adamw"
    assert "innermost in memory" in verdict.failing.inputs


@pytest.mark.parametrize(
    ("component", "find", "replace"),
    [
        ("adamw", "super().__init__(params, lr)\n        self.betas", "super().__init__(params, lr or 1e-3)\n        self.betas"),
        ("adamw", "lr, eps, wd, (b1, b2) = float(self.lr)", "lr, eps, wd, (b1, b2) = min(1.0, float(self.lr))"),
        ("adamw", "+ wd * p.data)", "+ min(wd, 1.0) * p.data)"),
        ("sgd", "lr, mu = float(self.lr)", "lr, mu = min(1.0, float(self.lr))"),
        ("cosine_lr", "    if step < warmup:", "    max_lr = min(max_lr, 1.0)\n    if step < warmup:"),
        ("cosine_lr", "    if step < warmup:", "    min_lr = min(min_lr, 1.0)\n    if step < warmup:"),
    ],
)  # fmt: skip
def test_settings_go_to_0_and_beyond_2(servers, catalogue, component, find, replace):
    """0, 1 and 2 stand in any code, so that none of them is a number that a change brings along."""
    tree = edited(corpus_tree("einsum"), "src/minimodel/optim.py", find, replace)
    verdict = flows.grade_build(servers, catalogue, component, tree, seed=6)
    assert not verdict.passed
    assert {verdict.failing.regime} <= {"still", "quick"}


def test_a_property_is_a_right_fix(servers, catalogue, plain, loud):
    """The width may be computed at every look."""
    tree = edited(loud, HEAD, *PROPERTY)
    assert fixes.grade_fix(servers, catalogue, LOUD, plain, tree, seed=31).passed


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", SILENCERS)
def test_a_silencer_is_refused(servers, catalogue, plain, loud, name):
    """What only makes the symptom go away differs from healthy code somewhere."""
    tree = edited(loud, *SILENCERS[name])
    verdict = fixes.refusal(servers, catalogue, LOUD, plain, tree, 41, EXAM)
    assert not verdict.passed
    assert verdict.failing.difference is not None


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    "other",
    [
        pytest.param(name, marks=pytest.mark.slow if name in ("scalar", "loops", "onefile") else [])
        for name in NAMES
    ],
)
def test_any_correct_implementation_is_a_right_fix_for_any_other(servers, catalogue, plain, other):
    """Another learner's healthy code agrees with the reference throughout."""
    theirs = corpus_tree(other)
    if other == "float32":
        pytest.skip("another dtype is another contract")
    verdict = fixes.grade_fix(servers, catalogue, LOUD, plain, theirs, seed=51)
    assert verdict.passed, verdict.failing


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(n, marks=pytest.mark.slow) for n in range(3, 20))]
)
def test_the_verdict_does_not_depend_on_the_seed(servers, catalogue, plain, loud, seed):
    """The same candidate gets the same verdict, draw after draw."""
    bad = edited(loud, *SILENCERS["rounded up"])
    assert not fixes.grade_fix(servers, catalogue, LOUD, plain, bad, seed=seed).passed
    assert fixes.grade_fix(servers, catalogue, LOUD, plain, plain, seed=seed).passed


def test_restored_code_is_measured_where_it_was_broken(servers, catalogue, plain):
    """The same code is the same for whoever uses it, whatever its comments say; a word more is not."""
    noted = edited(plain, HEAD, "class LMHead", "# As it was.\nclass LMHead")
    verdict = fixes.grade_fix(servers, catalogue, LOUD, plain, noted, seed=61)
    assert verdict.passed
    assert {result.component for result in verdict.results} == {"lm_head"}
    assert verdict.measurements == len(verdict.results)  # one draw shows that it still runs
    renamed = edited(plain, HEAD, "class LMHead", "LEFT = 1\n\n\nclass LMHead")
    verdict = fixes.grade_fix(servers, catalogue, LOUD, plain, renamed, seed=61)
    assert verdict.passed
    assert {result.component for result in verdict.results} >= {"lm_head", "mini_gpt"}


def changed_scope(servers, catalogue, plain, level, id=LOUD, path=HEAD):
    """The judgement of a change that changes nothing."""
    tree = plain.replaced({path: plain.files[path] + b"\nLEFT = None\n"})
    return scope_of(servers, catalogue, id, Baseline(plain), tree, 3, level)


def test_a_fix_is_judged_on_at_least_24_unseen_draws_a_probe(servers, catalogue, plain):
    """At level exam each probe that the break stands on is drawn that often, and never with a size that was
    shown; the component's others, and those of other components, a few times.
    """
    spec = catalogue.break_(LOUD)
    stood_on = {spec.needs[0].probe.removeprefix("lm_head."), "forward"}
    stood_on |= {check.probe for check in spec.judged_by}
    assert len(stood_on) > 1
    made = sample(changed_scope(servers, catalogue, plain, EXAM))
    counts = Counter((draw.component, draw.probe) for draw in made.draws)
    regimes = Counter(key[:2] for key in {(d.component, d.probe, d.regime) for d in made.draws})
    assert {component for component, _ in counts} > {"lm_head", "mini_gpt"}
    for (component, probe), count in counts.items():
        if component == "lm_head":
            assert count >= (FIX_DRAWS if probe in stood_on else OWN_DRAWS)
        else:
            assert count == regimes[component, probe]
    sizes = {
        case.inputs["weight"].shape[0]
        for case in servers.cases(made.draws, healthy=False)
        if case.draw.component == "lm_head" and "weight" in case.inputs
    }
    assert not sizes & {512, 256}
    assert len(sizes) > 50


@pytest.mark.parametrize(
    ("id", "path"),
    [
        (LOUD, HEAD),
        ("layernorm-no-eps", NORM),
        ("final-norm-missing", "src/minimodel/mini_gpt.py"),
        ("cross-entropy-no-max", LOSS),
    ],
)
def test_practice_looks_at_each_regime_once_and_at_24_draws_at_least(
    servers, catalogue, plain, id, path
):
    """Each quick probe of the broken component in every regime, the honest call variants, and one usual draw
    of each quick probe of what uses it itself; of what takes long the usual regime.
    """
    scope = changed_scope(servers, catalogue, plain, PRACTICE, id, path)
    made, component = sample(scope), catalogue.entry(id).component
    assert len(made.draws) >= FIX_DRAWS and len({*made.draws}) == len(made.draws)
    own = [draw for draw in made.draws if draw.component == component]
    stood_on = {check.probe for check in scope.spec.judged_by}
    slow = {*scope.slow[component]} - stood_on
    for _, check in scope.own:
        if check.probe not in slow:
            drawn = {draw.regime for draw in own if draw.probe == check.probe}
            assert drawn >= {*check.regimes}, check.id
    assert {draw.call_variant for draw in own} == {"", *PRACTICE.variants(catalogue.contract)}
    others = {draw.component for draw in made.draws} - {component}
    assert others == scope.impact.close
    beside = Counter((d.component, d.probe) for d in made.draws if d.component != component)
    assert {*beside.values()} <= {1}
    judged = {(planned.component, planned.check.id) for planned in made.checks}
    assert judged >= {(component, check.id) for _, check in scope.own}


def test_practice_tries_the_honest_call_variants_and_exam_all_of_them(catalogue):
    """With the modes of the pack among them."""
    assert PRACTICE.variants(catalogue.contract) == ("eval", *HONEST[1:])
    assert {*PRACTICE.variants(catalogue.contract)} < {*EXAM.variants(catalogue.contract)}
    assert not PRACTICE.attacks and EXAM.attacks


def test_what_was_made_for_another_dtype_is_made_anew():
    """A guess that was right is kept."""
    made = []

    def make(dtype):
        made.append(dtype)
        return f"drawn in {dtype}"

    assert measuring.guessed(lambda: "float32", make) == ("float32", "drawn in float32")
    assert made == ["float64", "float32"]
    assert measuring.guessed(lambda: "float64", make) == ("float64", "drawn in float64")
    assert made[2:] == ["float64"]


def test_draws_differ_from_one_judgement_to_the_next(servers):
    """Another seed, other inputs."""
    check = Check(id="c", shows={}, probe="forward", regimes=("normal",))
    first, second = (
        servers.cases(plan([("lm_head", check)], seed=s, dtype="float64").draws) for s in (1, 2)
    )
    assert not any(
        (a.inputs["h"].shape, a.inputs["h"].sum()) == (b.inputs["h"].shape, b.inputs["h"].sum())
        for a in first
        for b in second
    )


def test_a_mixture_of_two_targets_is_refused(servers, catalogue, plain):
    """Healthy in one regime and like the reference in another is like neither, when they differ."""
    # the learner's own code adds a constant to logits of single rows: a fault of theirs, kept
    own = edited(
        plain,
        HEAD,
        "        return logits",
        "        return logits + (1.0 if h.ndim == 1 else 0.0)",
    )
    fixed_like_reference = plain
    mixed = edited(
        plain,
        HEAD,
        "        return logits",
        "        return logits + (1.0 if h.ndim == 1 and h.shape[0] % 2 else 0.0)",
    )
    assert fixes.grade_fix(servers, catalogue, LOUD, own, own, seed=5).target == "before"
    assert (
        fixes.grade_fix(servers, catalogue, LOUD, own, fixed_like_reference, seed=5).target
        == "reference"
    )
    often = replace(EXAM, others="users", attacks=())  # a single row comes more than once
    assert not fixes.grade_fix(servers, catalogue, LOUD, own, mixed, 5, often).passed


def test_the_reference_is_asked_about_the_rest_only_where_it_is_nearer(
    servers, catalogue, plain, monkeypatch
):
    """Code that is wrong in some draws differs from the reference there too, and that is enough."""
    own, wrong = (
        edited(plain, HEAD, "        return logits", f"        return logits {end}")
        for end in ("* 1", "+ (1.0 if h.ndim == 1 else 0.0)")
    )
    asked, found = [], servers.cases

    def cases(draws, *variants, **options):
        if options.get("healthy", True):
            asked.append(len(draws))
        return found(draws, *variants, **options)

    monkeypatch.setattr(servers, "cases", cases)

    def judged(before, after):
        asked.clear()
        verdict = fixes.grade_fix(servers, catalogue, LOUD, before, after, seed=8)
        return verdict, asked[1:]  # the first are what errors have to name

    verdict, few = judged(own, wrong)
    assert not verdict.passed and verdict.target == "before"
    assert len(few) == 1 and 0 < few[0] < verdict.measurements / 4
    verdict, more = judged(wrong, own)
    assert verdict.passed and verdict.target == "reference"
    assert len(more) == 2 and more[0] == few[0] < more[1]


def test_breaking_another_component_is_refused(servers, catalogue, plain):
    """A fix may not mend the head and spoil the loss."""
    tree = edited(plain, LOSS, ".mean()", ".sum()")
    verdict = fixes.grade_fix(servers, catalogue, LOUD, plain, tree, seed=6)
    assert not verdict.passed


def test_what_a_sample_lets_through_is_judged_in_full(servers, catalogue, plain):
    """Two ids are right in all that practice draws; a wrong optimiser, which the broken component does not
    show, is seen at once, as its code changed.
    """
    args = servers, catalogue, LOUD, plain
    sgd = edited(plain, "src/minimodel/optim.py", "self.momentum * velocity", "velocity")
    verdict = fixes.grade_fix(*args, sgd, seed=6)
    assert not verdict.passed and verdict.failing.component == "sgd"
    two = edited(
        plain, HEAD, "return logits", "return logits * (1.5 if len(logits.data.T) == 2 else 1)"
    )
    assert fixes.grade_fix(*args, two, seed=6).passed
    assert fixes.refusal(*args, two, 6, PRACTICE).passed
    quick = replace(EXAM, draws=1, others="users", attacks=(attack.by("sizes"),))
    verdict = fixes.refusal(*args, two, 6, quick)
    assert not verdict.passed and "a size of 2" in verdict.failing.inputs


@pytest.mark.parametrize("name", ["only the number", "only the columns"])
def test_half_a_fix_of_the_silenced_form_is_refused(servers, catalogue, plain, name):
    """Both the width and the columns have to be mended."""
    tree = broken(servers, catalogue, SILENCED, plain)
    if name == "only the number":
        tree = edited(tree, HEAD, "[..., : self.vocab_size_out]", "[..., :256]")
        tree = edited(tree, HEAD, WIDTH, "self.vocab_size_out = embedding.vocab_size")
    else:
        tree = edited(tree, HEAD, "[..., : self.vocab_size_out]", "")
    assert not fixes.grade_fix(servers, catalogue, SILENCED, plain, tree, seed=7).passed


def asked(servers, known: Baseline, draws):
    """The cases and outcomes of a baseline, by draw."""
    cases = known.cases(servers, draws)
    return cases, known.outcomes(servers, [*cases.values()])


def test_what_is_known_of_the_healthy_code_is_not_measured_again(
    servers, plain, monkeypatch
) -> None:
    """Neither drawn nor run; another draw is."""
    known, told = Baseline(plain), []
    draws = [Draw("lm_head", "forward", "normal", seed) for seed in (3, 4, 5)]
    monkeypatch.setattr(servers, "progress", told.append)
    cases, outcomes = asked(servers, known, draws[:2])
    assert len(told) == 4 and all(outcome.values for outcome in outcomes.values())
    again, same = asked(servers, known, draws[1::-1])
    assert len(told) == 4 and same == outcomes and again == cases
    assert [*again] == draws[1::-1]
    assert [*asked(servers, known, draws)[0]] == draws and len(told) == 6


def test_what_leans_towards_a_number_of_one_candidate_is_not_kept(
    servers, plain, monkeypatch
) -> None:
    """It would fill the memory of whoever judges hundreds; patterns and small sizes come for each."""
    known, told = Baseline(plain), []
    monkeypatch.setattr(servers, "exam", True)
    monkeypatch.setattr(servers, "progress", told.append)
    monkeypatch.setattr(servers, "exam", True)
    for lean, again in (
        (Constraint("pattern", which=1), 0),
        (Constraint("size", 2, name=SMALL), 0),
        (Constraint("size", 7), 2),
    ):
        draws = [Draw("lm_head", "forward", "normal", 3, constraint=lean)]
        asked(servers, known, draws)
        told.clear()
        assert asked(servers, known, draws)[1][draws[0]].values
        assert len(told) == again, lean


def test_the_next_candidate_costs_no_measurement_of_the_healthy_code(
    servers, catalogue, plain, monkeypatch
) -> None:
    """With the same seed; where it brings no number along."""
    known, asked = Baseline(plain), []
    measure = servers.outcomes

    def noted(tree, jobs, *, server="learner", **more):
        asked.append((server, len(jobs)))
        return measure(tree, jobs, server=server, **more)

    monkeypatch.setattr(servers, "outcomes", noted)
    for text in (b"\nFIRST = None\n", b"\nSECOND = None\n"):
        asked.clear()
        candidate = plain.replaced({NORM: plain.files[NORM] + text})
        assert fixes.grade_fix(servers, catalogue, "layernorm-no-eps", known, candidate, 5).passed
    counts = {name: sum(n for s, n in asked if s == name) for name in ("before", "candidate")}
    assert counts["before"] == 0 < counts["candidate"]


def test_what_gave_no_answer_is_asked_again(servers, plain, monkeypatch) -> None:
    """It may have been the machine, which was slow once."""
    slow = plain.replaced({HEAD: plain.files[HEAD] + b"\nwhile True:\n    pass\n"})
    known = Baseline(slow)
    draw = Draw("lm_head", "forward", "normal", 3)
    monkeypatch.setattr(servers, "limit", 0.5)
    assert asked(servers, known, [draw])[1][draw].stopped == "timeout"
    monkeypatch.undo()
    known.tree = plain
    assert asked(servers, known, [draw])[1][draw].stopped is None


def test_code_that_does_not_run_any_more_is_no_target(servers, catalogue) -> None:
    """Nothing agrees with nothing: where the healthy code raises, no fix is right by raising too."""
    healthy = corpus_tree("einsum")
    lost = healthy.replaced({HEAD: healthy.files[HEAD] + b"\nimport a_package_that_is_gone\n"})
    with pytest.raises(NotApplicable, match="does not run any more: it raises ModuleNotFoundError"):
        fixes.grade_fix(servers, catalogue, LOUD, lost, lost, 1)


@pytest.mark.parametrize(
    ("component", "file", "old", "new"),
    [
        ("layernorm", NORM, "d_model: int, eps: float = 1e-5, *, ", "d_model: int, *, eps: float = 1e-5, "),
        ("rmsnorm", NORM, "d_model: int, eps: float = 1e-5, *, ", "d_model: int, *, eps: float = 1e-5, "),
        ("cross_entropy", LOSS, "ignore_index: int", "*, ignore_index: int"),
    ],
)  # fmt: skip
def test_a_setting_may_be_asked_for_by_its_name(
    servers, catalogue, plain, component, file, old, new
):
    """The contract writes it down without a star, and many put one before the generator and all else."""
    text = plain.files[file].decode()
    assert old in text
    tree = plain.replaced({file: text.replace(old, new).encode()})
    verdict = flows.grade_build(servers, catalogue, component, tree, 6)
    assert verdict.passed, verdict.failing
