"""Builds that facts judge: the finished training loop and sampler pass, and each mistake is named at its line."""

from __future__ import annotations

import pytest

from engine.commands.interpreters import pack_folder
from engine.errors import NotApplicable
from engine.facts import files, pack
from engine.facts.experiments import Candidate
from engine.flows import check, fact_build
from engine.flows.health import Target
from engine.spec.catalogue import Catalogue

CS336 = Catalogue.find("cs336")
FINISHED = files.read(CS336.folder / "models" / "plain")
TARGET = Target(Candidate("cs336_basics/model.py", "TransformerLM"))
LOOP, SAMPLER = "cs336_basics/train.py", "cs336_basics/generation.py"
MISTAKES = [  # build, file, old, new, the fact that has to name it
    ("training_loop", LOOP, "        optimizer.zero_grad()\n", "", "order"),
    ("training_loop", LOOP, "        loss.backward()\n", "        loss.backward()\n        optimizer.zero_grad()\n", "order"),
    ("training_loop", LOOP, "AdamW(model.parameters()", "AdamW(model.lm_head.parameters()", "updated"),
    ("training_loop", LOOP, "cross_entropy(model(x), y)\n        loss", "cross_entropy(model(x), x)\n        loss", "shift"),
    ("training_loop", LOOP, 'group["lr"] = rate', "pass", "rate"),
    ("training_loop", LOOP, "x, y = get_batch(train, given.batch_size", "torch.manual_seed(0)\n        x, y = get_batch(train, given.batch_size", "batches"),
    ("generation", SAMPLER, "[:, -1]\n", "[:, 0]\n", "gen_position"),
    ("generation", SAMPLER, "logits / temperature", "logits * temperature", "temperature"),
    ("generation", SAMPLER, ".cumsum(dim=-1) - ordered", ".cumsum(dim=-1)", "top_p"),
    ("generation", SAMPLER, "ids[:, -context_length:]", "ids[:, :context_length]", "crop"),
]  # fmt: skip


@pytest.fixture(scope="module")
def graded(forks):
    """graded(build, file, text) -> the verdict on the finished model, with another text in a file."""
    learner, facts = forks
    declared = pack.load(pack_folder())

    def grade(build, file="", text=b""):
        tree = {**FINISHED, file: text} if file else FINISHED
        learner.hold("model", check.folder(tree))
        learner.hold("script", check.folder(tree), "optimizer")
        bench = check.Bench(learner, facts, declared, dict(tree))
        spec = CS336.fact_build(build)
        return fact_build.grade_build(bench, TARGET, spec, check.Asked(), lambda _: None)

    return grade


def edited(file, old, new):
    text = FINISHED[file].decode()
    assert text.count(old) == 1, (file, old)
    return text.replace(old, new).encode()


@pytest.mark.parametrize("build", ["training_loop", "generation"])
def test_the_finished_one_passes(build, graded):
    verdict = graded(build)
    assert verdict.passed
    seen = [one.id for one in verdict.results]
    needs = [f"fact {id}" for id in CS336.fact_build(build).needs]
    assert seen[: len(needs)] == needs
    assert len(seen) > len(needs)


@pytest.mark.parametrize(("build", "file", "old", "new", "fact"), MISTAKES)
def test_a_mistake_is_named_at_its_line(build, file, old, new, fact, graded):
    verdict = graded(build, file, edited(file, old, new))
    assert not verdict.passed
    assert verdict.failing.id == f"fact {fact}"
    assert verdict.failing.frames[0].path == file


def test_what_is_needed_and_not_offered_is_refused(graded):
    """A sampler without top-p, which the course asks for."""
    text = FINISHED[SAMPLER].decode()
    text = text.replace("    top_p: float = 1.0,\n", "").replace("nucleus(softmax(logits / temperature, dim=-1), top_p)", "softmax(logits / temperature, dim=-1)")  # fmt: skip
    failing = graded("generation", SAMPLER, text.encode()).failing
    assert failing.id == "fact top_p"
    assert "takes no top-p" in str(failing.difference.got)


def test_what_is_doubtful_is_told_and_decides_nothing(graded):
    """Betas, say, or here a validation text that is partly trained on: facts that are WARN."""
    verdict = graded("generation", SAMPLER, edited(SAMPLER, "logits / temperature", "logits + 0 * temperature"))  # fmt: skip
    assert verdict.passed
    assert [one.id for one in verdict.advice] == ["fact temperature"]


@pytest.mark.parametrize(
    ("build", "file", "old", "new"),
    [
        ("training_loop", LOOP, "    given = arguments()\n", "    raise RuntimeError('no such disk')\n"),
        ("generation", SAMPLER, "    model.eval()\n", "    raise RuntimeError('no such disk')\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_here_is_no_verdict(build, file, old, new, graded):
    with pytest.raises(NotApplicable, match="no such disk"):
        graded(build, file, edited(file, old, new))


@pytest.mark.parametrize(
    ("build", "file", "old", "new"),
    [
        ("training_loop", LOOP, "    given = arguments()\n", "    raise NotImplementedError\n"),
        ("generation", SAMPLER, "    model.eval()\n", "    raise NotImplementedError\n"),
    ],
)  # fmt: skip
def test_what_is_not_written_is_told_as_that(build, file, old, new, graded):
    failing = graded(build, file, edited(file, old, new)).failing
    assert str(failing.difference.got) == "Not written yet."


def test_nothing_there_is_refused_in_a_sentence(graded):
    failing = graded("generation", SAMPLER, b"").failing
    assert "could be called" in str(failing.difference.got)
