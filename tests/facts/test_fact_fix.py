"""A fix of a break in a GPT of anybody's is held against the tree before the break, and against nothing else."""

from __future__ import annotations

import pytest

from engine.commands.interpreters import pack_folder
from tests.facts import fixes
from tests.facts.conftest import tree_of
from tests.facts.judge import Judge
from tests.facts.test_cache import CACHED, NOT_ADVANCED, cached


def name(fix):
    return f"{fix.style}-{fix.name}"


def fix_named(table, style, what):
    return next(fix for fix in table if (fix.style, fix.name) == (style, what))


@pytest.fixture(scope="session")
def judge(forks):
    return Judge(*forks, pack_folder())


def failing(verdict):
    return [one.id for one in verdict.results if not one.passed]


@pytest.mark.sweep(10)
@pytest.mark.parametrize("fix", fixes.RIGHT, ids=name)
def test_a_right_fix_in_another_form_is_accepted(fix, judge):
    verdict = judge(fix)
    assert failing(verdict) == []
    assert verdict.passed and verdict.measurements >= 8


@pytest.mark.parametrize("seed", range(6))
def test_no_draw_refuses_another_form(seed, judge):
    """Where a softmax is saturated its gradient is rounding alone, which each form has in its own way."""
    assert failing(judge(fix_named(fixes.RIGHT, "fused", "sdpa"), seed=seed)) == []


@pytest.mark.parametrize(
    "what", ["right for heads of 8", "right for 4 heads of 8", "right for 2 layers"]
)
def test_what_is_right_for_one_size_is_refused(what, judge):
    verdict = judge(fix_named(fixes.WRONG, "fused", what))
    assert failing(verdict) in (["output"], ["parameters"])


@pytest.mark.sweep(14)
@pytest.mark.parametrize("fix", fixes.WRONG, ids=name)
def test_a_wrong_fix_is_refused(fix, judge):
    verdict = judge(fix)
    assert not verdict.passed
    assert verdict.failing.difference is not None


@pytest.mark.sweep(4)
@pytest.mark.parametrize("fix", fixes.RIGHT_SCRIPTS, ids=name)
def test_a_right_training_script_in_another_form_is_accepted(fix, judge):
    assert failing(judge(fix, "script", changes=())) == []


@pytest.mark.sweep(5)
@pytest.mark.parametrize("fix", fixes.WRONG_SCRIPTS, ids=name)
def test_a_wrong_training_script_is_refused(fix, judge):
    assert not judge(fix, "script", changes=()).passed


@pytest.mark.sweep(3)
@pytest.mark.parametrize("fix", fixes.RIGHT_SAMPLERS, ids=name)
def test_a_right_sampler_in_another_form_is_accepted(fix, judge):
    assert failing(judge(fix, "sampling", changes=())) == []


@pytest.mark.sweep(5)
@pytest.mark.parametrize("fix", fixes.WRONG_SAMPLERS, ids=name)
def test_a_wrong_sampler_is_refused(fix, judge):
    assert not judge(fix, "sampling", changes=()).passed


@pytest.mark.parametrize(
    ("style", "what", "kind"),
    [
        ("fused", "scale 1% off", "output"),
        ("fused", "residual detached", "gradient"),
        ("fused", "untied", "parameters"),
        ("fused", "a parameter more", "parameters"),
        ("fused", "loss smoothed", "loss"),
        ("fused", "fails on long texts", "raised"),
        ("fused", "no syntax", "raised"),
        ("fused", "a global that is not there", "raised"),
        ("fused", "nan", "finite"),
        ("fused", "dropout gone", "dropout"),
        ("fused", "dropout inside the FFN", "dropout"),
        ("fused", "dropout ignores eval", "evaluation"),
        ("fused", "another init", "first"),
        ("fused", "blocks that start alike", "first"),
    ],
)
def test_what_a_fix_got_wrong_is_named(style, what, kind, judge):
    verdict = judge(fix_named(fixes.WRONG, style, what))
    assert kind in failing(verdict)


@pytest.mark.parametrize("style", CACHED)
def test_what_is_wrong_with_the_cache_alone_is_refused(style, judge):
    tree, (file, old, new) = cached(style), NOT_ADVANCED[style]
    assert failing(judge(fixes.Fix(style, file, "same text", old, old), tree=tree)) == []
    assert failing(judge(fixes.Fix(style, file, "half a fix", old, new), tree=tree)) == ["drawn"]


LOADERS = """half = len(text) // 2
    part = Windows(text[:half], tokenizer, length, length)
    held = DataLoader(Windows(text[half:], tokenizer, length, length), batch_size=4, shuffle=True)
    loader = DataLoader(part, batch_size=4, shuffle=True)
"""
SUBSETS = """data = Windows(text, tokenizer, length, length)
    part, other = torch.utils.data.random_split(data, [0.8, 0.2])
    held = DataLoader(other, batch_size=4, shuffle=True)
    loader = DataLoader(part, batch_size=4, shuffle=True)
"""
DRAWN = """class Drawn:
        def __init__(self, ids):
            self.ids = torch.tensor(ids)

        def batch(self):
            i = torch.randint(len(self.ids) - length, (4, 1)) + torch.arange(length)
            return self.ids[i], self.ids[i + 1]

        def __iter__(self):
            return iter([self.batch() for _ in range(20)])

    ids = tokenizer.encode(text)
    loader, held = Drawn(ids[:4000]), Drawn(ids[4000:])
"""


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        (
            LOADERS,
            ("(text[:half]", "(text[half:]"),
            ("(part, batch_size=4, shuffle=True", "(part, 4, True"),
        ),
        (SUBSETS, ("(part,", "(other,"), ("(part, ", "(part, num_workers=0, ")),
        (DRAWN, ("Drawn(ids[:4000])", "Drawn(ids[4000:])"), ("(4, 1))", "(4,))[:, None].flip(0)")),
    ],
    ids=["loaders", "subsets", "drawn"],
)
def test_what_is_trained_on_the_split_for_validation_is_refused(text, wrong, right, judge):
    tree, line = tree_of("dictcfg"), "loader = DataLoader(Windows("
    script = tree["train.py"].decode()
    old = line + script.partition(line)[2].partition("\n")[0] + "\n"
    assert line in script and "print(evaluate(model, loader," in script, "the corpus has changed"
    script = script.replace(old, text).replace(
        "print(evaluate(model, loader,", "print(evaluate(model, held,"
    )
    tree["train.py"] = script.encode()

    def failed(old, new):
        fix = fixes.Fix("dictcfg", "train.py", "another text", old, new)
        return failing(judge(fix, "script", changes=(), tree=tree))

    assert failed(*right) == []
    assert failed(*wrong)[0] == "texts"


def test_two_micro_steps_are_not_mistaken_for_two_layers(judge):
    tree = tree_of("fused")
    tree["train.py"] = tree["train.py"].replace(
        b"accumulation_steps = 4", b"accumulation_steps = 2"
    )
    old, new = "loss / gradient_accumulation_steps", "loss / model.config.n_layer"
    fix = fixes.Fix("fused", "train.py", "by the layers", old, new)
    assert "norms" in failing(judge(fix, "script", changes=(), tree=tree))


def test_an_error_is_told_with_its_line(judge):
    failed = judge(fix_named(fixes.WRONG, "fused", "fails on long texts")).failing
    assert failed.difference.got.startswith("AssertionError")
    assert (failed.frames[-1].path, failed.frames[-1].text) == ("model.py", "assert T < 9")


def test_a_file_that_is_gone_is_named(judge):
    failed = judge(fixes.Fix("fused", "model.py", "deleted", "", "", gone=True)).failing
    assert failed.difference.got == "FileNotFoundError: there is no model.py"


def test_one_seed_gives_one_verdict(judge):
    fix = fix_named(fixes.WRONG, "llama", "eps * 10")
    first, second = judge(fix, seed=3), judge(fix, seed=3)
    assert first == second
    assert judge(fix, seed=4) != first


def test_the_same_text_agrees_for_every_seed(judge):
    fix = fix_named(fixes.RIGHT, "fused", "same text")
    assert [failing(judge(fix, seed=seed)) for seed in range(5)] == [[]] * 5
