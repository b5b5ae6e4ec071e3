"""What a person is shown of every kind of report: narrow terminals, colours, and text that would steer one."""

from __future__ import annotations

import io
import re
import sys
from typing import Any

import msgspec
import pytest
from frozen import LONG, REPORTS
from rich.cells import cell_len

from engine.errors import NotApplicable
from engine.facts.report import Fact, HealthReport, Taken, Where
from engine.flows.listing import Listed, ListReport
from engine.judge.result import Result, Verdict
from engine.report import check, verdicts
from engine.report.json_lines import to_json
from engine.report.layout import wrapped
from engine.report.out import emit_error, reflowed
from engine.report.text import SHOW, show

ESCAPE = "\x1b"
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m")
NASTY = "\x1b]0;owned\x07\x1b[2J\x9b31m\x1b[31mred\x08\x08\r\u202eevil\x00"
ALL = pytest.mark.parametrize("name", REPORTS)


class Stream(io.TextIOWrapper):
    """A standard output that may be a terminal."""

    def __init__(self, terminal: bool, encoding: str) -> None:
        super().__init__(io.BytesIO(), encoding, errors="backslashreplace", write_through=True)
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch):
    """Shows a report on so many columns; the text that came out."""

    def render(
        report: Any, columns: int = 80, terminal: bool = False, encoding: str = "utf-8", **env: str
    ) -> str:
        for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm", "COLUMNS": str(columns), **env}.items():
            monkeypatch.setenv(name, value)
        stream = Stream(terminal, encoding)
        monkeypatch.setattr(sys, "stdout", stream)
        show(report)
        return stream.buffer.getvalue().decode(encoding)

    return render


def test_every_kind_of_report_is_here() -> None:
    """A view that is added is looked at, as soon as it is in the table of views."""
    assert {type(report).__name__ for report in REPORTS.values()} == set(SHOW)


PICTURE = re.compile(r"^.*(│|└).*\n( +0 .*\n)?", re.M)


def plain_of(text: str) -> str:
    """Without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@ALL
@pytest.mark.parametrize("columns", [40, 63, 80, 100])
def test_lines_end_at_words_and_fit_the_terminal(shown, name: str, columns: int) -> None:
    """What is wider than the terminal is one word (a path), a row of a matrix or a learner's own line."""
    text = plain_of(shown(REPORTS[name], columns, terminal=True))
    wide = [line for line in text.splitlines() if cell_len(line.rstrip()) > columns]
    if name not in ("reset", "repro", "notes"):  # a command to copy, and the learner's own lines
        assert not [line for line in wide if len(line.split()) > 2]


@ALL
@pytest.mark.parametrize("columns", [40, 63, 80, 100])
def test_no_word_is_cut(shown, name: str, columns: int) -> None:
    """Every word of a narrow terminal is one of the widest, and none is lost."""
    if name == "walk":  # as many numbers of a row as fit
        return
    wide, narrow = (plain_of(shown(REPORTS[name], c, terminal=True)) for c in (600, columns))
    wide, narrow = (PICTURE.sub("", text) for text in (wide, narrow))
    assert not set(narrow.replace(",", " ").split()) - set(wide.replace(",", " ").split())
    letters = [sorted(c for c in text if c.isalnum()) for text in (wide, narrow)]
    assert letters[0] == letters[1]


@ALL
def test_without_a_terminal_nothing_is_wrapped_or_padded(shown, name: str) -> None:
    """However many columns somebody claims: the lines of a pipe are those of a very wide terminal."""
    piped = shown(REPORTS[name], 40)
    assert ESCAPE not in piped
    assert not [line for line in piped.splitlines() if line != line.rstrip()]
    if name not in ("walk", "observe", "break"):  # pictures
        wide = plain_of(shown(REPORTS[name], 2000, terminal=True))
        assert [" ".join(line.split()) for line in piped.splitlines()] == [
            " ".join(line.split()) for line in wide.splitlines()
        ]


@pytest.mark.parametrize("columns", [40, 80, 100])
def test_errors_are_wrapped_at_words(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On standard error too; without a terminal as they are."""
    error = NotApplicable(
        LONG.replace("\n", " "), where="src/loss.py:12:3", next=LONG.split("\n")[0]
    )
    shown = []
    for terminal in (True, False):
        stream = Stream(terminal, "utf-8")
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("COLUMNS", str(columns))
        emit_error(error, as_json=False)
        shown.append(stream.buffer.getvalue().decode())
    wrapped, piped = shown
    assert max(map(len, wrapped.splitlines())) <= columns and len(piped.splitlines()) == 3
    assert wrapped.split() == piped.split()


def test_a_command_in_backticks_stays_on_one_line() -> None:
    """Where it fits one, so that it can be copied; wide characters count as two."""
    lines = wrapped("Then type `engine submit-fix --level exam` and read on.", 36)
    assert lines == ["Then type", "`engine submit-fix --level exam` and", "read on."]
    assert wrapped("\u674e\u96f7 " * 4, 10) == ["\u674e\u96f7 \u674e\u96f7"] * 2


@ALL
def test_a_terminal_gets_colours_unless_it_says_no(shown, name: str) -> None:
    """NO_COLOR: no colour at all; TERM=dumb: no escape sequence at all."""
    plain = shown(REPORTS[name], terminal=True, NO_COLOR="1")
    assert plain.strip() and not COLOUR.search(plain)
    assert ESCAPE not in shown(REPORTS[name], terminal=True, TERM="dumb")


@pytest.mark.parametrize("name", ["list", "doctor", "fix refused", "build failed", "build passed"])
def test_a_terminal_that_can_gets_colours(shown, name: str) -> None:
    """The same without NO_COLOR, so that the test above can fail."""
    assert COLOUR.search(shown(REPORTS[name], terminal=True))


@ALL
@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_an_output_that_cannot_show_every_character_shows_the_rest(
    shown, name: str, encoding: str
) -> None:
    """With replacements, not with a crash."""
    assert shown(REPORTS[name], encoding=encoding).strip()


def poisoned(value: Any) -> Any:
    """The same report with what steers a terminal behind every text, ids and languages apart."""
    if isinstance(value, str):
        return value + NASTY
    if isinstance(value, tuple):
        return tuple(poisoned(one) for one in value)
    if isinstance(value, dict):
        return {key: poisoned(one) for key, one in value.items()}
    if isinstance(value, msgspec.Struct):
        changed = {n: poisoned(getattr(value, n)) for n in value.__struct_fields__ if n != "lang"}
        return msgspec.structs.replace(value, **changed)
    return value


@ALL
def test_text_of_learner_code_never_steers_the_terminal(shown, name: str) -> None:
    """Whatever text of a report it is in: shown as \\x1b, and harmless."""
    text = shown(poisoned(REPORTS[name]), terminal=True)
    rest = re.sub(r"\x1b\[[0-9;]*m", "", text)
    bad = [c for c in rest if not (c.isprintable() or c in "\n\t")]
    assert not bad, (bad, rest[-600:])
    assert "evil" in "".join(rest.split())


@ALL
def test_text_that_is_no_unicode_is_shown_and_encoded(shown, name: str) -> None:
    """A lone surrogate, as a name of a file may have."""

    def odd(value: Any) -> Any:
        return value.replace("e", "\udcff") if isinstance(value, str) else value

    report = msgspec.structs.replace(
        REPORTS[name],
        **{
            n: odd(getattr(REPORTS[name], n))
            for n in REPORTS[name].__struct_fields__
            if n != "lang"
        },
    )
    assert shown(report).strip()
    assert to_json(report).startswith("{")


def test_a_line_that_begins_with_a_figure_belongs_to_its_paragraph() -> None:
    """A measured number at the start of a line is no item of a list; `1. ` and `- ` are."""
    assert reflowed("a distance of 5,\n7.05 and 3\n\n1. one\n2) two\n- three") == (
        "a distance of 5, 7.05 and 3\n\n1. one\n2) two\n- three"
    )


def test_paragraphs_are_wrapped_anew_and_lists_stay(shown) -> None:
    text = shown(REPORTS["hint"], columns=200)
    assert "nobody put it. Whoever reads" in text and "\n  - `self.vocab_size_out`" in text
    assert LONG.count("\n- ") == text.count("\n  - ")


def test_phases_come_by_their_numbers_and_exercises_as_on_the_path(shown) -> None:
    path = [
        ("mask", "15", "Attention"),
        ("table", "13", "Embeddings"),
        ("scale", "15", "Attention"),
    ]
    exercises = [
        Listed(id, "break", "gpt", phase, "head", id, "new", name, 5) for id, phase, name in path
    ]
    text = shown(ListReport(tuple(exercises)))
    places = [
        text.index(word) for word in ("13 Embeddings", "table", "15 Attention", "mask", "scale")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize(("columns", "lines"), [(80, 2), (120, 1)])
def test_a_title_has_a_line_of_its_own_where_an_id_leaves_it_no_room(shown, columns, lines) -> None:
    id, title = "residual-around-attention-missing", "A messenger who retells everything"
    one = Listed(id, "break", "gpt", "17", "block", title, "unfit", "Blocks", 30, (), title)
    text = plain_of(shown(ListReport((one,)), columns, terminal=True))
    found = [line for line in text.splitlines() if id in line or title in line]
    assert len(found) == lines and "does not apply  break  30 min" in found[0]


WRONG = Fact(
    "order", "what comes after what in a step of training", "", "WRONG", "clip before backward",
    "zero_grad, backward, clip, step", Where("source/training/train.py", 98, 0, "clip()"), "",
)  # fmt: skip


@pytest.mark.parametrize("columns", [40, 80])
def test_a_fact_is_wrapped_on_a_terminal_and_one_line_in_a_pipe(monkeypatch, columns: int) -> None:
    report = HealthReport(Taken("a.py", "A", "", 1, 8, 2, 9, "", ""), (WRONG,), (), 1.0)
    monkeypatch.setenv("COLUMNS", str(columns))
    told = {}
    for terminal in (False, True):
        stream = Stream(terminal, "utf-8")
        monkeypatch.setattr(sys, "stdout", stream)
        check.show(report, {}, {})
        told[terminal] = plain_of(stream.buffer.getvalue().decode())
    row = "clip before backward (expected: zero_grad, backward, clip, step)  source/training/train.py:98"
    [line] = [one for one in told[False].splitlines() if one.startswith("WRONG  ")]
    assert WRONG.title in line and line.endswith(row)
    assert max(map(len, told[True].splitlines())) <= columns
    assert sorted(told[True].split()) == sorted(told[False].split())


def test_facts_that_passed_are_counted_unless_all_are_asked_for(capsys, monkeypatch) -> None:
    facts = [Result(f"fact {n}", "", {"en": f"title {n}"}, True, 1) for n in range(9)]
    verdict = Verdict(True, (Result("loss", "", {"en": "the loss"}, True, 24), *facts), 33, "1")
    verdicts.View("en", "model", "").verdict(verdict)
    told = capsys.readouterr().out
    assert "ok: the loss; 9 facts of `engine check`" in " ".join(told.split())
    monkeypatch.setattr(verdicts, "everything", lambda: True)
    verdicts.View("en", "model", "").verdict(verdict)
    assert "title 8" in capsys.readouterr().out
