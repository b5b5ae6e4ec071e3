"""A failed check of a PyTorch fix as a script: their own python runs it, without the engine, and sees what was judged."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from engine.commands.interpreters import pack_folder
from engine.errors import NotApplicable
from engine.flows import check, fact_repro
from engine.flows.fact_repro import Failed
from engine.run.types import Draw
from tests.facts import fixes
from tests.facts.conftest import tree_of
from tests.facts.judge import Judge, mended


@pytest.fixture(scope="session")
def judge(forks):
    return Judge(*forks, pack_folder())


def fix_named(table, style, name):
    return next(fix for fix in table if (fix.style, fix.name) == (style, name))


def ran(judge, fix, failed, observe, folder):
    """(the script, what it prints) for the tree that was judged last."""
    for path, data in mended(fix).items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    learner, facts, pack = judge._learner, judge._facts, judge._pack
    for server, tree in (("model", tree_of(fix.style)), ("candidate", mended(fix))):
        learner.hold(server, check.folder(tree))  # another style may have been judged there since
    before = check.Bench(learner, facts, pack, tree_of(fix.style), "model", "script")
    now = check.Bench(learner, facts, pack, mended(fix), "candidate", "candidate script")
    target = judge._known[fix.style, observe]["target"]
    text = fact_repro.written(before, now, target, failed, "blind-1: the check 3", str(folder))
    script = folder / "repro" / "repro.py"
    script.parent.mkdir()
    script.write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.modules['engine'] = None; exec(open({str(script)!r}).read())"],
        cwd=script.parent, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    return text, done.stdout + done.stderr


WRONG = [
    (fixes.WRONG, "fused", "still unscaled", "run", "logits"),
    (fixes.WRONG, "fused", "residual detached", "run", "gradient of"),
    (fixes.WRONG, "fused", "untied", "run", "wte.weight"),
    (fixes.WRONG, "fused", "dropout gone", "run", "in train mode"),
    (fixes.WRONG, "heads", "scaled by the width", "run", "logits"),
    (fixes.WRONG, "modern", "ignored targets in the mean", "run", "some targets -1"),
    (fixes.WRONG_SAMPLERS, "fused", "second last", "sampling", "draw 1"),
]


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("table", "style", "name", "observe", "shown"), WRONG)
def test_the_script_shows_what_was_refused(table, style, name, observe, shown, judge, tmp_path):
    """Of a file that trains when it is imported (heads), too."""
    fix = fix_named(table, style, name)
    verdict = judge(fix, observe, changes=())
    failed = [msgspec.convert(one, Failed) for one in fact_repro.repeatable(verdict)]
    first = next(one for one in failed if one.draw is not None)
    text, told = ran(judge, fix, first, observe, tmp_path)
    assert "import engine" not in text and "from engine" not in text
    assert any(shown in line and "DIFFERS" in line for line in told.splitlines()), told


@pytest.mark.parametrize(("style", "name"), [("fused", "sdpa"), ("heads", "sdpa")])
def test_the_script_agrees_with_code_that_is_right(style, name, judge, tmp_path):
    """Weights, tokens and sizes are those of the engine, or the numbers would not be the same."""
    fix = fix_named(fixes.RIGHT, style, name)
    assert judge(fix).passed
    failed = Failed("output", 3, Draw("", "run", "", 11, turn=3))
    assert "0 of " in ran(judge, fix, failed, "run", tmp_path)[1]


@pytest.mark.parametrize("check_id", ["fact scale", "losses"])
def test_what_no_script_repeats_is_said(check_id):
    with pytest.raises(NotApplicable):
        raise fact_repro.unrepeatable(Failed(check_id, 1, None))
