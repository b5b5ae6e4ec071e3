"""`engine dev check` on a copy of the pack: what it says of near misses."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from workbench import LOUD, ROOT, engine

from engine.author import prove
from engine.author.proof import Proof
from engine.author.prove import CheckReport
from engine.errors import SpecError
from engine.spec.catalogue import Catalogue

HEAD, NORM = (f"src/minimodel/nn/{name}.py" for name in ("lm_head", "norm"))
OUT = "self.vocab_size_out = "
NO_EPS = "layernorm-no-eps"

Spec = Callable[..., Path]


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    """A break in a copy of the pack, with these near misses instead of its own and its silencers."""

    def write(id: str, *misses: str) -> Path:
        pack = tmp_path / "minimodel"
        shutil.copytree(ROOT / "exercises" / "minimodel", pack)
        (file,) = pack.glob(f"*/*/{id}.yaml")
        kept, silencers, _ = file.read_text("utf-8").partition("\nsilencers:")
        assert silencers
        file.write_text("\n".join([kept, "near_misses:", *misses, ""]), "utf-8")
        return file

    return write


def miss(name: str, file: str, find: str, replace: str, on: str = "plain") -> str:
    """A near miss of one edit."""
    return f"  - {{name: {name}, on: {on}, edits: [{{file: {file}, find: {find!r}, replace: {replace!r}}}]}}"


def tried(report: CheckReport) -> dict[str, Proof]:
    """The proofs about near misses, by its name."""
    found = [proof for proof in report.proofs if "near miss" in proof.claim]
    return {proof.claim.split()[3]: proof for proof in found}


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("id", "edit"),
    [
        (LOUD, (HEAD, "embedding.vocab_size", "2 ** 8", "plain")),
        pytest.param(LOUD, (HEAD, f"{OUT}n_tokens", f"{OUT}256", "demo"), marks=pytest.mark.slow),
        (NO_EPS, (NORM, "(var + self.eps).sqrt()", "var ** 0.5", "plain")),
    ],
)
def test_a_near_miss_that_is_the_bug_is_reported_by_name(
    spec: Spec, id: str, edit: tuple[str, str, str, str]
) -> None:
    """However it is spelled; nothing else is wrong with the break."""
    report = prove.prove(spec(id, miss("in-disguise", *edit)))
    proof = tried(report)["in-disguise"]
    assert not report.passed and not report.problems
    assert [proof] == [proof for proof in report.proofs if not proof.held]
    assert (proof.exercise, proof.model) == (id, edit[3])
    assert "what the bug gives" in proof.detail


def test_each_near_miss_is_told_from_the_bug_or_reported(spec: Spec) -> None:
    """The right ones hold with what gave them away; faults of the author are no proof of anything."""
    file = spec(
        LOUD,
        miss("one-less", HEAD, f"{OUT}embedding.vocab_size", f"{OUT}255"),
        miss("moved", HEAD, "no such text", ""),
        miss("idle", HEAD, "embedding.vocab_size", "embedding.vocab_size"),
        miss("misspelled", HEAD, "class LMHead(Module)", "class LMHead(Modul)"),
        miss("not-python", HEAD, "return logits", "return ("),
    )
    report = prove.prove(file)
    proofs = tried(report)
    assert {name: proof.held for name, proof in proofs.items()} == {
        "one-less": True, "moved": False, "idle": False, "misspelled": False, "not-python": False,
    }  # fmt: skip
    assert not report.passed
    assert proofs["one-less"].detail == "lm_head.width (normal) gave 255 where the bug gives 256"
    assert "'no such text' is not in" in proofs["moved"].detail
    assert "change nothing" in proofs["idle"].detail
    assert "no probe runs" in proofs["misspelled"].detail and "Modul" in proofs["misspelled"].detail
    assert "is not Python" in proofs["not-python"].detail


def test_a_silencer_that_cannot_run_proves_nothing(spec: Spec) -> None:
    """It would be refused by any judge: for the slip of its author, not for what it hides."""
    file = spec(LOUD)
    calls = {"misspelled": "nowhere.sqrt(1.0)", "one-less": "embedding.vocab_size - 1"}
    text = file.read_text("utf-8").replace("\nnear_misses:", "\nsilencers:")
    slips = (miss(name, HEAD, "256", call) for name, call in calls.items())
    file.write_text("\n".join([text.rstrip(), *slips, ""]), "utf-8")
    proofs = {proof.claim: proof for proof in prove.prove(file).proofs}
    wrong, right = (proofs[f"the silencer {name} is refused"] for name in calls)
    assert (wrong.held, right.held) == (False, True)
    assert wrong.detail.startswith("it cannot run: NameError") and "nowhere" in wrong.detail


def test_a_near_miss_on_a_model_that_is_not_there_is_a_problem_of_the_spec(spec: Spec) -> None:
    """It would never be tried."""
    file = spec(LOUD, miss("nowhere", HEAD, "embedding.vocab_size", "255", on="plane"))
    report = prove.prove(file)
    (problem,) = report.problems
    assert problem.where == f"{file}:1:1"
    assert "nowhere" in problem.what and "'plane'" in problem.what
    assert not report.passed and not report.proofs


def test_the_command_line_names_the_near_miss_and_fails(spec: Spec, tmp_path: Path) -> None:
    """One line that says FAIL, and the exit code of an exercise at fault."""
    file = spec(LOUD, miss("in-disguise", HEAD, "embedding.vocab_size", "256"))
    shown = " ".join(engine("dev", "check", file, cwd=tmp_path, code=3).stdout.split())
    assert f"FAIL {LOUD} on plain: the near miss in-disguise is not taken for the bug" in shown
    assert shown.endswith("claims tried, 1 problems")


@pytest.mark.parametrize(
    ("find", "replace", "said"),
    [
        ("eval: [Embedding,", "eval: [Embeding,", "`modes` names 'Embeding', which is no role."),
        ("eval: [Embedding,", "late: [Embedding,", "`modes`: 'late' is the engine's own word."),
        ("[tables, init", "[table, init", "`costly` names embedding.table, which is no probe."),
        ("seldom: [whole]", "seldom: [hole]", "`seldom` names generate.hole, which is no probe."),
        (
            "layernorm: {settings: {forward",
            "layernorm: {settings: {ahead",
            "`settings` names layernorm.ahead, which is no probe.",
        ),
    ],
)
def test_a_slip_in_a_name_of_the_pack_is_reported(
    spec: Spec, find: str, replace: str, said: str
) -> None:
    """Else that mode would be tried on nothing, that probe take long, and nobody would know."""
    file = spec(NO_EPS, miss("at-the-end", NORM, "self.eps", "2 * self.eps"))
    pack = file.parents[2] / "pack.yaml"
    text = pack.read_text("utf-8")
    assert find in text
    pack.write_text(text.replace(find, replace), "utf-8")
    assert [problem.what for problem in prove.prove(file).problems] == [said]


def test_rounding_for_a_regime_that_nothing_draws_is_a_problem_of_the_spec(spec: Spec) -> None:
    """A slip in its name would leave right code refused."""
    file = spec(NO_EPS, miss("at-the-end", NORM, "self.eps", "2 * self.eps")).with_name(
        "build.yaml"
    )
    text = file.read_text("utf-8")
    there = "float32: {constant_rows: 10}\n"
    assert there in text
    more = "float32: {constant_rows: 10, spread_rows: 10, spred_rows: 10}\n"
    file.write_text(text.replace(there, more), "utf-8")
    said = "`rounding` names 'spred_rows', a regime that no check draws."
    assert [problem.what for problem in prove.prove(file).problems] == [said]


def test_a_sample_tries_only_so_many_near_misses(spec: Spec) -> None:
    """The rest of the proof is the same."""
    misses = [
        miss(f"to-{width}", HEAD, f"{OUT}embedding.vocab_size", f"{OUT}{width}")
        for width in (90, 91, 92)
    ]
    file = spec(LOUD, *misses)
    whole, some = prove.prove(file), prove.prove(file, sample=1)
    assert (len(tried(whole)), len(tried(some))) == (3, 1)
    others = [{p.claim for p in r.proofs if "near miss" not in p.claim} for r in (whole, some)]
    assert others[0] == others[1]


@pytest.mark.parametrize("file", ["call.py", "cases.py", "reference.py"])
def test_a_probe_that_one_of_its_three_files_lacks_is_reported(spec: Spec, file: str) -> None:
    """Else a probe that only `observe` names would fail in the learner's hands, not here."""
    path = spec(NO_EPS, miss("at-the-end", NORM, "self.eps", "2 * self.eps"))
    code = path.parent / file
    code.write_text(code.read_text("utf-8").replace("def spreads(", "def spread("), "utf-8")
    report = prove.prove(path)
    assert not report.passed and not report.proofs
    assert {p.what for p in report.problems} == {
        "layernorm.spreads is not a function of call.py, cases.py and reference.py."
    }


def test_pack_code_that_is_not_python_is_a_problem_with_its_place(spec: Spec) -> None:
    """And no bug of the engine."""
    path = spec(NO_EPS, miss("at-the-end", NORM, "self.eps", "2 * self.eps"))
    code = path.parent / "call.py"
    code.write_text("x = 1\ndef (\n", "utf-8")
    (problem,) = prove.prove(path).problems
    assert problem.where.startswith(f"{code}:2:") and "not Python" in problem.what


def test_two_exercises_at_a_time_are_told_in_the_order_of_the_pack() -> None:
    """Whichever ends first; where one cannot be proved at all, none is begun after it."""
    begun: list[int] = []

    def proved(number: int, broken: int, servers: object) -> Iterator[Proof]:
        begun.append(number)
        if number == broken:
            raise SpecError("no")
        time.sleep(0.0 if number % 2 else 0.02)
        yield Proof(str(number), "plain", "a claim", True, "")

    catalogue = Catalogue.find("minimodel")
    work = [partial(proved, number, -1) for number in range(20)]
    told = [proof.exercise for proof in prove._two_at_a_time(catalogue, work)]
    assert told == [str(number) for number in range(20)]
    assert sorted(begun) == [*range(20)]
    begun.clear()
    with pytest.raises(SpecError):
        [*prove._two_at_a_time(catalogue, [partial(proved, number, 2) for number in range(20)])]
    assert len(begun) < 10


def test_every_exercise_of_a_pack_is_proved_in_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds, breaks and walkthroughs."""
    begun: list[str] = []

    def noted(catalogue: Catalogue, work: Sequence[partial[Iterator[Proof]]]) -> Iterator[Proof]:
        begun.extend(str(getattr(one.args[1], "id", one.args[1])) for one in work)
        yield Proof("all", "plain", "a claim", True, "")

    monkeypatch.setattr(prove, "_two_at_a_time", noted)
    catalogue = Catalogue.find("minimodel")
    assert prove.prove(ROOT / "exercises" / "minimodel").passed
    assert begun == [*catalogue.entries, *catalogue.walkthroughs] and len(begun) > 50


def test_a_curve_and_a_number_of_a_hint_that_nothing_records_are_told(tmp_path: Path) -> None:
    """A learner would see no picture, and the bare name in the hint."""
    pack = tmp_path / "minimodel"
    shutil.copytree(ROOT / "exercises" / "minimodel", pack)
    (file,) = pack.glob("*/*/causal-mask-off-by-one.yaml")
    text = file.read_text("utf-8")
    assert "curve: losses" in text and "{broken." in text
    slips = text.replace("curve: losses", "curve: lossses").replace("{broken.", "{broken.an_", 1)
    file.write_text(slips.partition("\nsilencers:")[0] + slips[slips.index("\nblind:") :], "utf-8")
    report = prove.prove(file, sample=1)
    (lost, blind) = [p for p in report.proofs if "hints tell" in p.claim]
    assert not lost.held and "'lossses'" in lost.detail
    assert not blind.held and "'lossses'" in blind.detail and "'an_" in blind.detail
