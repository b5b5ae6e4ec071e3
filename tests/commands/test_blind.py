"""Blind breaks: what a learner can reach before the reveal does not name the bug; what they think is kept and scored."""

from __future__ import annotations

import ast
import json
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from workbench import LOUD, Terminal, edit, engine, engine_json, events, kinds, session

from engine.code.symbols import symbols_of
from engine.commands import (
    blind,
    diagnose,
    hint,
    list_,
    next_,
    notes_,
    observe_,
    repro,
    reset,
    show,
    status,
    submit_fix,
    watch,
)
from engine.errors import NotApplicable, UsageError
from engine.flows.answers import Answer
from engine.flows.diagnosis import Diagnosis, Hypotheses, answered, hypotheses, names
from engine.flows.hints import filled, ladder
from engine.flows.lot import draw
from engine.report.formats import emit
from engine.spec import yaml
from engine.spec.catalogue import Catalogue
from engine.spec.index import Summary
from engine.spec.load import convert
from engine.spec.types import Blind, Break

MASK = "causal-mask-off-by-one"
ATTENTION = "src/minimodel/nn/attention.py"
PACK = Catalogue.find("minimodel")
BLIND = [id for id, summary in PACK.summaries.items() if summary.blind]
GUESS = Diagnosis("attention.py", 60, "mask-border", 70)


def say(where: str, what: str) -> Callable[[Hypotheses], tuple[Answer, ...]]:
    """Answers a diagnosis."""
    return lambda _: answered(Diagnosis(where, 60, what, 70))


@pytest.fixture
def opened_blind(home: Path) -> Path:
    """A learner's folder with the causal mask off by one, taken blind."""
    blind.run(session(home), [MASK])
    return home


def telling(spec: Break, id: str) -> list[str]:
    """What names the bug: its ID, its title, the cause, the fix, the right answers."""
    area = PACK.contract.areas[spec.area]
    right = [o.text for o in spec.cause.options if o.id == spec.cause.right]
    texts = [spec.title, spec.hidden_cause, spec.fix, spec.why, spec.symptom, *right]
    assert spec.mechanism in [one.id for one in area.mechanisms]
    return [id, spec.mechanism, *(text.strip() for one in texts for text in one.values())]


def reachable(home: Path) -> Iterator[tuple[str, str]]:
    """Every file below a learner's folder but their own code, by name; what is packed, unpacked."""
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home).as_posix()
        if not path.is_file() or name.startswith("src/"):
            continue
        data = path.read_bytes()
        if "/objects/" in name:
            data = zlib.decompress(data)
        yield name, data.decode("utf-8", "replace")


def flat(text: str) -> str:
    """A text whose lines may be broken elsewhere."""
    return re.sub(r"\s+", " ", text)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("id", BLIND)
def test_nothing_that_a_learner_can_reach_names_the_bug(
    id: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All that is printed, in both forms, every file of theirs, notes, git objects and events."""
    before, rows = list_.run(session(home)), status.run(session(home)).exercises
    opening = blind.run(session(home), [id])
    reports: list[object] = [opening]
    spec = PACK.break_(id)
    assert spec.blind is not None  # what only hints tell is measured, and not shown
    assert len(opening.observed.observations) == len(spec.blind.observe or spec.observe)
    assert list_.run(session(home)) == before  # every exercise is on it, and on the next
    stated = status.run(session(home))
    assert stated.exercises == rows
    reports.append(msgspec.structs.replace(stated, exercises=()))
    reports.append(hint.run(session(home)))
    reports += [
        next_.run(session(home)),
        notes_.run(session(home)),
        show.run(session(home), "blind-1"),
    ]
    asked = diagnose.questions(session(home), session(home).open_break())
    assert spec.mechanism in dict(asked.options)  # among others
    with pytest.raises(NotApplicable) as refused:
        blind.run(session(home), BLIND)
    reports.append(diagnose.run(session(home), say(asked.places[0][0], "own words")))
    if id in BLIND[::4]:  # a fix that is none, and the script that repeats its first failure
        file = next((home / "practice" / "blind-1" / "src").rglob("*.py"))
        file.write_bytes(file.read_bytes() + b"\n# tried\n")
        reports += [observe_.run(session(home)), submit_fix.run(session(home))]
        reports.append(repro.run(session(home)))
    reports.append(reset.run(session(home)))
    for report in reports:
        emit(report, as_json=False)
        emit(report, as_json=True)
    printed = capsys.readouterr().out + str(refused.value)
    for text in telling(spec, id):
        place = flat(printed).find(flat(text))
        assert place < 0, flat(printed)[place - 200 : place + 200]
        for name, content in reachable(home):
            assert flat(text) not in flat(content), name
            assert text not in name


def test_evidence_then_hypotheses_then_the_fix_then_the_reveal(opened_blind: Path) -> None:
    """Every version of a diagnosis stands in the notes; the last is scored, and answers the cause question."""
    home = opened_blind
    first = diagnose.run(session(home), say("nn/attention.py", "softmax-axis"))
    assert (first.exercise, first.version) == ("blind-1", 1)
    again = diagnose.questions(session(home), session(home).open_break())
    assert again.known == answered(Diagnosis("nn/attention.py", 60, "softmax-axis", 70))
    diagnose.run(session(home), say("MultiHeadAttention.forward", "mask-border"))
    hints, known = every_hint(home), session(home).open_break().injected
    assert hints == tuple(filled(text, known, "en") for text in PACK.summaries[MASK].blind)
    assert not any("{" in text for text in hints)
    practice = home / "practice" / "blind-1"
    wrong = (practice / ATTENTION).read_text()
    edit(practice, ATTENTION, "k=1, ", "k=2, ")
    refused = submit_fix.run(session(home))
    assert (refused.passed, refused.exercise, refused.component) == (False, "blind-1", "")
    (practice / ATTENTION).write_text(wrong.replace("k=1, ", ""))
    report = submit_fix.run(session(home), asked_for_a_cause)
    assert report.passed and report.exercise == MASK and report.reveal is not None
    assert [one.right for one in report.reveal.scored] == [True, True]
    assert report.reveal.was.startswith(MASK)
    told = (home / "blind" / "notes" / "breaks.md").read_text()
    for text in ("Diagnosis 1", "Diagnosis 2", "nn/attention.py", MASK, "2 of 2 right"):
        assert text in told
    assert "blind-1" not in (home / "phase-15" / "notes" / "breaks.md").read_text()
    row = next(one for one in list_.run(session(home)).exercises if one.id == MASK)
    assert (row.state, row.taken) == ("closed", ("blind",))
    assert status.run(session(home)).predictions == 2
    for name in ("blind-1", MASK):  # which may be said now
        assert hint.run(session(home), name, everything=True).hints == hints


def every_hint(home: Path) -> tuple[str, ...]:
    """All of them, taken one by one."""
    while not hint.run(session(home)).again:
        pass
    return hint.run(session(home), again=True).hints


def asked_for_a_cause(*_: object) -> None:
    """The last diagnosis has answered that."""
    raise AssertionError("the cause was asked for")


def test_a_verdict_on_a_blind_break_shows_what_differs_and_names_no_check(
    opened_blind: Path,
) -> None:
    """Neither on the terminal, nor as JSON, nor in the script that repeats it, nor in the event."""
    home = opened_blind
    edit(home / "practice" / "blind-1", ATTENTION, "k=1, ", "k=2, ")
    report = submit_fix.run(session(home))
    failing = report.verdict.failing
    assert failing is not None and failing.difference is not None
    assert (failing.component, failing.pattern, failing.draw) == ("", "", None)
    assert all(result.id.isdigit() for result in report.verdict.results)
    event = next(e for e in reversed(session(home).store.events()) if e.kind == "submitted")
    assert "attention" not in json.dumps(
        {k: v for k, v in event.data.items() if k != "diff" and k != "graded"}
    )
    numbers = [result.id for result in report.verdict.results if not result.passed]
    assert len(numbers) > 1 and numbers[-1] != str(len(numbers))  # others passed between them
    assert repro.run(session(home)).check in numbers
    made = repro.run(session(home), numbers[-1])  # as the verdict calls it
    assert (made.exercise, made.check) == ("blind-1", numbers[-1])


def test_a_break_that_was_cut_off_after_it_was_open_lacks_nothing(opened_blind: Path) -> None:
    """The event that opens it holds what hints tell; the story comes into the notes with the next entry."""
    home = opened_blind
    assert session(home).open_break().injected["values"]["mean_of_last_20"].keys() == {
        "healthy",
        "broken",
    }
    (home / "blind" / "notes" / "breaks.md").unlink()
    diagnose.run(session(home), say("attention.py", "mask-border"))
    diagnose.run(session(home), say("attention.py", "mask-late"))
    told = (home / "blind" / "notes" / "breaks.md").read_text()
    blind_side = PACK.break_(MASK).blind
    assert blind_side is not None
    assert flat(told).count(flat(blind_side.story["en"].strip())) == 1
    assert "Blind break 1" in told and "Diagnosis 2" in told


def test_the_hypotheses_come_in_an_order_by_lot(opened_blind: Path) -> None:
    """The right one has no place of its own; while a break is open its numbers stay what they are."""
    attempt = session(opened_blind).open_break()
    again = {diagnose.questions(session(opened_blind), attempt).options for _ in range(4)}
    assert len(again) == 1
    orders = {hypotheses(PACK, MASK, "blind-1", (), "en", (), str(n)).options for n in range(6)}
    assert len(orders) > 1 and len({frozenset(order) for order in orders}) == 1


def test_watching_a_blind_break_closes_nothing(opened_blind: Path) -> None:
    """Not even where the diagnosis has answered the question about the cause already."""
    diagnose.run(session(opened_blind), say("attention.py", "mask-border"))
    before = (kinds(opened_blind), (opened_blind / "blind/notes/breaks.md").read_bytes())
    edit(opened_blind / "practice" / "blind-1", ATTENTION, "k=1, ", "")
    found: list[object] = []
    watch.run(lambda: session(opened_blind), "blind-1", [None], found.append)
    assert getattr(found[-1], "right", False)
    assert (kinds(opened_blind), (opened_blind / "blind/notes/breaks.md").read_bytes()) == before


def test_a_blind_break_is_put_aside_and_taken_up_by_its_handle(opened_blind: Path) -> None:
    """The next one has another handle, and the exercise may come again."""
    home = opened_blind
    assert reset.run(session(home), "blind-1").exercise == "blind-1"
    assert reset.undo(session(home), "blind-1").back.endswith("blind-1")
    reset.run(session(home))
    assert blind.run(session(home), [MASK]).exercise == "blind-2"
    assert {(exercise, n) for exercise, n, _ in events(home)} == {("blind-1", 1), ("blind-2", 1)}


@pytest.mark.parametrize("words", [["hint", MASK], ["reset", MASK], ["watch", MASK]])
def test_naming_an_exercise_does_not_tell_whether_it_is_the_open_one(
    words: list[str], opened_blind: Path
) -> None:
    """The answer is the same as for any other break."""
    other = engine(words[0], LOUD, cwd=opened_blind)
    this = engine(*words, cwd=opened_blind)
    assert this.returncode == other.returncode != 0
    assert this.stderr == other.stderr.replace(LOUD, MASK)


def test_the_lot_takes_what_is_not_done_of_a_phase_or_an_area(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And says what there is where nothing fits."""
    monkeypatch.delenv("ENGINE_SEED", raising=False)
    attention = {id for id in BLIND if PACK.summaries[id].area == "attention"}
    assert set(draw(PACK, (), None, "attention")) == attention
    assert set(draw(PACK, attention - {MASK}, None, "attention")) == {MASK}
    assert set(draw(PACK, (), None, "Atención")) == attention  # as `list` and the questions call it
    phase = PACK.entry(MASK).phase_number
    assert MASK in draw(PACK, (), phase, None)
    assert all(PACK.entry(id).phase_number == phase for id in draw(PACK, (), phase, None))
    assert len({tuple(draw(PACK, (), None, None)) for _ in range(4)}) > 1
    for given in ((BLIND, None, None), ((), "99", None), ((), None, "cooking")):
        with pytest.raises(UsageError) as refused:
            draw(PACK, *given)
        assert refused.value.next


def test_what_does_not_go_in_is_passed_over(home: Path) -> None:
    """Where nothing goes in, it says so and names none."""
    edit(home, ATTENTION, "np.tri(T, dtype=bool)", "np.tri(T, k=1, dtype=bool)")  # not healthy
    report = blind.run(session(home), [MASK, LOUD])
    assert session(home).open_break().exercise == LOUD and report.exercise == "blind-1"
    reset.run(session(home))
    with pytest.raises(NotApplicable, match="None of 2") as refused:
        blind.run(session(home), [MASK, "scale-by-model-width"])
    assert MASK not in str(refused.value)


@pytest.mark.parametrize(
    ("answer", "means"),
    [
        ("src/minimodel/nn/attention.py", True), ("attention.py", True), ("nn.attention", True),
        ("attention", True), ("MultiHeadAttention", True), ("MultiHeadAttention.forward()", True),
        ("attention.py: MultiHeadAttention.forward", True), ("minimodel.nn.attention.MultiHeadAttention", True),
        ("MultiHeadAttention in attention.py", False), ("forward", False), ("nn", False), ("", False),
        ("norm.py", False), ("MultiHeadAttention.__init__", False), ("tention.py", False),
    ],
)  # fmt: skip
def test_a_place_is_meant_by_its_file_its_class_or_its_function(answer: str, means: bool) -> None:
    """A method's bare name is that of many."""
    assert names(answer, (ATTENTION, "MultiHeadAttention.forward")) is means


def test_a_file_that_is_a_package_goes_by_the_folder() -> None:
    """`nn/__init__.py` is `nn`."""
    assert names("minimodel.nn", ("src/minimodel/nn/__init__.py", ""))
    assert names("rope", ("src/minimodel/nn/positional.py", "rope"))


@pytest.mark.parametrize(
    ("answer", "means"),
    [("Block", True), ("Block.forward", True), ("Block.forward.backward", True), ("forward", False),
     ("backward", False), ("Block.backward", False)],
)  # fmt: skip
def test_a_function_in_a_method_is_in_what_the_method_is(answer: str, means: bool) -> None:
    """Who names the method that holds the bug is right."""
    text = b"class Block:\n    def forward(self):\n        def backward():\n            return 1\n"
    (place,) = symbols_of(ast.parse(text), text, text.replace(b"return 1", b"return 2"))
    assert place == "Block.forward.backward"
    assert names(answer, ("block.py", place)) is means


def test_a_hint_speaks_of_what_was_measured_and_of_how_the_bug_got_in() -> None:
    """In the learner's numbers; a decimal comma in Spanish."""
    summary = Summary(
        {"en": "t"},
        ({"en": "told"},),
        grafted={"1": {"en": "told, new code"}},
        blind=({"en": "seen"},),
    )
    assert ladder(summary, {"how": "role"}, blind=False) == ({"en": "told"},)
    assert ladder(summary, {"how": "graft"}, blind=False) == ({"en": "told, new code"},)
    assert ladder(summary, {"how": "graft"}, blind=True) == ({"en": "seen"},)
    known = {"file": "a.py", "values": {"last loss": {"healthy": "1.39", "broken": "0.005"}}}
    text = {"en": "{broken.last loss}, not {healthy.last loss}", "es": "{broken.last loss}"}
    assert filled(text, known, "en") == "0.005, not 1.39"
    assert filled(text, known, "es") == "0,005"


def test_an_author_numbers_the_hints_of_new_code() -> None:
    """`grafted: {2: ...}`, as YAML has it."""
    text = b"story: {en: s}\nhints: [{en: a}, {en: b}, {en: c}]\ngrafted: {2: {en: new}}\n"
    found = convert(yaml.read(text, "blind.yaml"), Blind)
    summary = Summary({}, blind=found.hints, blind_grafted=found.grafted)
    assert [one["en"] for one in ladder(summary, {"how": "graft"}, blind=True)] == ["a", "new", "c"]


def test_a_blind_break_at_a_terminal(home: Path) -> None:
    """The evidence, the questions, Enter keeps what was said, and own words are taken."""
    with Terminal("break", MASK, "--blind", cwd=home) as terminal:
        terminal.expect("practice/blind-1")
        terminal.expect("Where is the bug?")
        terminal.expect("Your answer:")
        terminal.send("nowhere.py")
        terminal.expect("no file, class or function")
        terminal.expect("Your answer:")
        terminal.send("attention.py")
        terminal.expect("How sure")
        terminal.send("50")
        terminal.expect("or your own words:")
        terminal.send("99")
        terminal.expect("none of the options")
        terminal.send("a row too many")
        terminal.expect("How sure")
        terminal.send("40")
        terminal.expect("Diagnosis 1 of blind-1")
        assert terminal.end() == 0
        assert MASK not in terminal.text.partition("--blind")[2]
    with Terminal("diagnose", cwd=home) as terminal:
        for _ in range(2):
            terminal.expect("[attention.py]" if _ == 0 else "[a row too many]")
            terminal.send("")
            terminal.expect("How sure")
            terminal.send("60")
        terminal.expect("Diagnosis 2 of blind-1")
        assert terminal.end() == 0


def test_a_diagnosis_can_wait(home: Path) -> None:
    """Enter leaves it for later, with what was said; nothing is a diagnosis before it is whole."""
    with Terminal("break", MASK, "--blind", cwd=home) as terminal:
        terminal.expect("Enter leaves it for later: `engine diagnose`")
        terminal.expect("Your answer: ")
        terminal.send("")
        terminal.expect("It is open")
        assert terminal.end() == 0
    assert kinds(home) == ["injected"]
    with Terminal("diagnose", cwd=home) as terminal:
        for asked, given in (("answer: ", "attention.py"), ("guess): ", "50"), ("words: ", "")):
            terminal.expect(asked)
            terminal.send(given)
        terminal.expect("It is open")
        assert terminal.end() == 0
    assert kinds(home) == ["injected", "drafted"]


def test_a_diagnosis_that_is_interrupted_keeps_what_was_said(opened_blind: Path) -> None:
    """What comes from a file since then takes its place."""
    home = opened_blind
    with Terminal("diagnose", cwd=home) as terminal:
        for question, given in (("answer: ", "attention.py"), ("guess): ", "50")):
            terminal.expect(question)
            terminal.send(given)
        terminal.expect("own words: ")
        terminal.press(b"\x03")
        terminal.expect("`engine diagnose` goes on")
        assert terminal.end() == 130
    asked = diagnose.questions(session(home), session(home).open_break())
    assert asked.known == (Answer("where", "attention.py", 50),)
    with Terminal("diagnose", cwd=home) as terminal:
        for offered, given in (
            ("[attention.py]: ", ""),
            ("[50]: ", ""),
            ("words: ", "a row"),
            ("): ", "40"),
        ):
            terminal.expect(offered)
            terminal.send(given)
        terminal.expect("Diagnosis 1 of blind-1")
        assert terminal.end() == 0
    diagnose.run(session(home), say("block.py", "mask-border"))
    asked = diagnose.questions(session(home), session(home).open_break())
    assert asked.known == answered(Diagnosis("block.py", 60, "mask-border", 70))


def test_a_diagnosis_from_a_file(home: Path, tmp_path: Path) -> None:
    """With the evidence as JSON, for whoever has no terminal."""
    report = engine_json("break", "--blind", "--area", "attention", cwd=home)
    assert report["exercise"] == "blind-1" and report["observed"]["observations"]
    file = tmp_path / "d.yaml"
    file.write_text("diagnosis: {where: {answer: attention.py, confidence: 60}}")
    refused = engine("diagnose", "--answers", file, cwd=home, code=2)
    assert "what" in refused.stderr
    file.write_text(
        "diagnosis: {where: {answer: attention.py, confidence: 60}, what: {answer: mask-late, confidence: 70}}"
    )
    assert engine_json("diagnose", "--answers", file, cwd=home)["version"] == 1
    assert "terminal" in engine("diagnose", cwd=home, code=2).stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["break"], "Which break"),
        (["break", LOUD, "--area", "attention"], "--blind"),
        (["break", "embedding", "--blind"], "cannot be taken blind"),
    ],
)
def test_what_does_not_fit_is_said(words: list[str], says: str, home: Path) -> None:
    """With what to type next."""
    assert says in engine(*words, cwd=home, code=2).stderr


def test_a_diagnosis_is_of_a_blind_break(opened: Path) -> None:
    """One that is told has predictions."""
    with pytest.raises(NotApplicable, match="No blind break is open"):
        diagnose.run(session(opened), say("attention.py", "mask-border"))


def test_every_break_can_be_taken_blind_in_both_languages() -> None:
    """Each with an area, a mechanism of it, and decoys beside it."""
    breaks = [entry.id for entry in PACK.entries.values() if entry.kind == "break"]
    assert sorted(BLIND) == sorted(breaks)
    for id in breaks:
        spec = PACK.break_(id)
        area = PACK.contract.areas[spec.area]
        assert spec.mechanism in [one.id for one in area.mechanisms]
        assert len(area.mechanisms) >= 5
        assert spec.blind is not None
        for text in (spec.blind.story, *spec.blind.hints):
            assert set(text) == {"en", "es"}
        for told in (spec.blind.story, *spec.blind.hints[:-1]):
            assert not {"{file}", "{symbol}"} & {*re.findall(r"\{\w+\}", told["en"])}
