"""Why facts are not measured, in Spanish. Needs no torch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from engine import words
from engine.commands.interpreters import pack_folder
from engine.facts import events, pack
from engine.facts.report import Fact, HealthReport, Taken
from engine.facts.trace import Failure
from engine.flows import check, fact_break, training
from engine.flows.health import Health
from engine.flows.training import Invocation
from engine.report.check import text
from engine.run.forks import Answer

TEXTS = pack.texts(pack_folder(), "es")
REASONS = pack.reasons(pack_folder(), "es")


def none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def told(tree: ast.AST) -> Iterator[ast.expr]:
    """The expressions that say why: of `missing(...)`, of `None, None, ...`, and of `{"why": ...}`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "missing":
            yield node.args[0]
        elif isinstance(node, ast.Tuple) and len(node.elts) > 1 and all(map(none, node.elts[:-1])):
            yield node.elts[-1]
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "why":
                    yield value


def sentences(node: ast.expr) -> Iterator[str]:
    """The texts that an expression may be, with a number for each part that is computed."""
    if isinstance(node, ast.JoinedStr):
        parts = (one.value if isinstance(one, ast.Constant) else "3" for one in node.values)
        yield "".join(map(str, parts))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp | ast.BoolOp):
        inside = node.values if isinstance(node, ast.BoolOp) else (node.body, node.orelse)
        for one in inside:
            yield from sentences(one)


def written() -> dict[str, str]:
    """Reason -> the file of the pack that says it."""
    return {
        reason: file.name
        for file in sorted(pack_folder().glob("*.py"))
        for node in told(ast.parse(file.read_text("utf-8")))
        for reason in sentences(node)
        if reason
    }


def test_every_reason_of_the_pack_has_its_spanish():
    found = written()
    assert len(found) > 80
    assert {"no norm was found", "3 steps were seen: 3"} < found.keys()
    assert "no loss and no logits with the model's own first weights" in found
    missing = {
        reason: file
        for reason, file in found.items()
        if not any(re.fullmatch(pattern, reason) for pattern in REASONS)
    }
    assert not missing


def job(answer: Answer) -> str:
    """Why a script whose job gave this made no steps."""
    return str(training.script_told(Invocation("train.py", []), answer).recorded["why"])


def script(how: str, error: Failure | None = None) -> str:
    """How a script ended that ran."""
    return training.ended("train.py", events.Seen([], how, error, []))


AT = [("train.py", 3)]
WANDB = Failure("ModuleNotFoundError", "No module named 'wandb'", AT)
RAISED = Failure("ValueError", "not (this). Try: that\nnor this", AT)
ENDED = {
    job(Answer({}, "timeout")): "tardó más de 25 s",
    job(Answer({}, "output")): "imprimió más de un megabyte",
    job(Answer({}, "died")): "su proceso terminó (died)",
    job(Answer({"failed": 3})): "lo que respondió no se puede usar",
    script("time"): "train.py necesita más de 12 s",
    script("end"): "train.py terminó por sí solo",
    script("error", WANDB): "train.py necesita el paquete wandb, que no está instalado (train.py:3). Prueba con: python3",
    script("error", RAISED): "train.py terminó con ValueError: not (this). Try: that\nnor this (train.py:3). Prueba con: en",
    script("error", RAISED)[:30]: "train.py terminó con ValueErr",
}  # fmt: skip


@pytest.mark.parametrize(("why", "said"), ENDED.items())
def test_how_a_script_ended_is_told_in_spanish(why, said):
    assert pack.spoken(f"2 steps were seen: {why}", REASONS).startswith(
        f"se vieron 2 pasos: {said}"
    )


def test_every_pattern_fits_a_reason_and_uses_all_its_groups():
    reasons = [*written(), *ENDED]
    for pattern, said in REASONS.items():
        assert re.compile(pattern).groups == len(set(re.findall(r"\\(\d)", said))), pattern
        assert any(re.fullmatch(pattern, one, re.DOTALL) for one in reasons), pattern


def skipped(id: str, why: str) -> Fact:
    return Fact(id, id, "", "SKIP", None, "", None, why)


def test_a_report_tells_in_spanish_why_facts_were_not_measured():
    facts = (
        skipped("scale", "no attention was found"),
        skipped("rows", "no attention was found"),
        skipped("mask", "two draws disagree (up to itself; 2 ahead)"),
        skipped("used", "a reason that nobody knows"),
    )
    report = HealthReport(Taken("a.py", "A", "", 1, 8, 2, 9, "", ""), facts, (), 1.0)
    lines = text(report, TEXTS, REASONS).splitlines()
    titles = {fact.id: TEXTS[fact.id].title for fact in facts}
    for said in (
        f"  {titles['scale']}, {titles['rows']}: no se encontró ninguna atención",
        f"  {titles['mask']}: dos sorteos de pesos no coinciden (hasta sí mismo; 2 más adelante)",
        f"  {titles['used']}: a reason that nobody knows",
    ):
        assert said in lines
    assert "  scale, rows: no attention was found" in text(report, {}, {}).splitlines()


def test_a_bench_tells_why_in_its_language():
    bench = check.Bench(None, None, None, {}, lang="es", texts=TEXTS, reasons=REASONS)
    assert bench.why("the model has no dropout") == "el modelo no tiene dropout"
    assert bench.why("two draws disagree (train; eval)", "train_mode").endswith("(train; eval)")
    english = check.Bench(None, None, None, {})
    assert english.why("the model has no dropout", "scale") == "the model has no dropout"


@pytest.fixture
def spanish():
    """Whatever other tests have spoken, and will."""
    words.speak("es")
    yield
    words.speak("en")


def test_a_break_that_does_not_apply_says_why_in_the_language_of_the_bench(spanish):
    variant = SimpleNamespace(changes={"scale": ".*"}, healthy={})
    for why in ("no se encontró ninguna atención", ""):
        before = Health({"scale": skipped("scale", "no attention was found")}, {}, {"scale": why})
        refused = fact_break.unhealthy(before, variant)
        assert words.said(refused) == f"scale: {why or 'sin medir'}"


def test_a_language_that_the_pack_does_not_speak_has_no_reasons():
    assert pack.reasons(pack_folder(), "de") == {}
