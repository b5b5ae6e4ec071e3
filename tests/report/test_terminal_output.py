"""Real terminals and pipes: what the views themselves are held to is in test_views.py."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from rich.cells import cell_len
from workbench import (
    GRACE,
    HEAD,
    LOSS,
    LOUD,
    Terminal,
    command,
    engine,
    environment,
    kinds,
    session,
)  # fmt: skip

from engine.report.layout import aligned

ESCAPE = "\x1b"
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m")


def too_wide(text: str, columns: int) -> list[str]:
    """The lines that do not fit."""
    return [line for line in text.splitlines() if cell_len(line.rstrip()) > columns]


def test_a_break_can_be_answered_on_40_columns(home: Path) -> None:
    """A real terminal of 40 columns: questions, options, curves and tables fit."""
    with Terminal("break", LOUD, cwd=home, columns=40) as terminal:
        for given in ("4", "80", "32", "80", "two shapes", "80"):
            terminal.expect(": ")
            terminal.send(given)
        terminal.expect("engine hint")
        assert terminal.end() == 0
        after = terminal.text[terminal.text.index("practice copy") :]
    assert not too_wide(after, 40)
    assert kinds(home)[-1] == "observed"


@pytest.mark.parametrize("words", [["show", LOUD], ["list"]], ids=" ".join)
def test_a_terminal_gets_colours_unless_it_says_no(opened: Path, words: list[str]) -> None:
    """NO_COLOR on a terminal: no colour at all; TERM=dumb: no escape sequence at all."""
    with Terminal(*words, cwd=opened, env={"NO_COLOR": "1"}) as terminal:
        terminal.end()
        shown = terminal.raw.decode()
    assert shown.strip() and not COLOUR.search(shown)
    with Terminal(*words, cwd=opened, env={"TERM": "dumb"}) as terminal:
        terminal.end()
        assert ESCAPE not in terminal.raw.decode()
    with Terminal(*words, cwd=opened) as terminal:
        terminal.end()
        assert ESCAPE in terminal.raw.decode()  # so that the above can fail


@pytest.mark.parametrize("words", [["list"], ["show", LOUD], ["--help"],
                                   ["list", "--json"]], ids=" ".join)  # fmt: skip
def test_a_pipe_that_closes_early_is_no_error(opened: Path, words: list[str]) -> None:
    """`engine ... | head -1` and `| true` print what was asked for, and nothing on standard error."""
    line = " ".join(command(*words))
    for reader in ("head -1", "true"):
        done = subprocess.run(
            ["sh", "-c", f"{line} | {reader}"], cwd=opened, env=environment(), capture_output=True,
            text=True, timeout=GRACE, check=False,
        )  # fmt: skip
        assert done.returncode == 0 and done.stderr == "", done.stderr
        assert bool(done.stdout) is (reader == "head -1")


@pytest.mark.parametrize("words", [["list"], ["list", "--json"]], ids=" ".join)
def test_a_standard_output_that_is_closed_is_no_bug(home: Path, words: list[str]) -> None:
    """`engine list >&-` ends without a traceback and without calling itself a bug."""
    line = " ".join(command(*words))
    done = subprocess.run(
        ["sh", "-c", f"{line} >&-"], cwd=home, env=environment(), capture_output=True, text=True,
        timeout=GRACE, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr and "bug in the engine" not in done.stderr


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_an_output_that_cannot_show_every_character_shows_the_rest(
    opened: Path, encoding: str
) -> None:
    """On a terminal that is not UTF-8 the text comes with replacements, not with a crash."""
    for words in (["show", LOUD], ["show", LOUD, "--lang", "es"]):
        done = subprocess.run(
            command(*words), cwd=opened, env=environment({"PYTHONIOENCODING": encoding}),
            stdin=subprocess.DEVNULL, capture_output=True, timeout=GRACE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode(encoding, "replace")
        assert len(done.stdout) > 200


NASTY = r'"\x1b]0;owned\x07\x1b[2J\x9b31m\x1b[31mred\x08\x08\r\u202eevil\x00"'


def poison(home: Path) -> None:
    """A model whose errors, class names and prints would repaint the terminal."""
    loss = home / LOSS
    text = loss.read_text()
    old = 'raise ValueError(f"logits'
    assert old in text
    text = text.replace(old, f'raise ValueError({NASTY} f"logits')
    loss.write_text(text + f"\nprint({NASTY})\nimport sys\nsys.stderr.write({NASTY})\n")


def harmless(raw: bytes) -> None:
    """Nothing but our own colours and line ends steers the terminal."""
    shown = raw.decode("utf-8")
    rest = re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r\n", "\n")
    bad = [c for c in rest if not (c.isprintable() or c in "\n\t")]
    assert not bad, (bad, rest[-600:])
    assert "owned" not in rest or "\\x1b]0;owned" in rest


def test_control_characters_of_learner_code_never_reach_the_terminal(
    home: Path, answers: Path
) -> None:
    """In tracebacks, tables, verdicts, notes and messages they are shown as \\x1b, and do nothing."""
    poison(home)
    shown = b""
    for words in (["break", LOUD, "--answers", str(answers)], ["submit-fix"], ["notes"]):
        with Terminal(*words, cwd=home) as terminal:
            terminal.end()
            harmless(terminal.raw)
            shown += terminal.raw
    assert b"\\x1b" in shown and b"evil" in shown


def test_control_characters_in_an_error_are_shown_harmlessly(home: Path) -> None:
    """A source line, a file name, a class and a message with escape sequences in them."""
    head = home / HEAD
    good = head.read_text()
    head.write_text(
        good.replace(
            "class LMHead", f'raise type({NASTY[:-6]}", (Exception,), {{}})({NASTY})\nclass LMHead'
        )
    )
    for words in (["submit-build", "lm_head"], ["doctor"]):
        with Terminal(*words, cwd=home) as terminal:
            terminal.end()
            harmless(terminal.raw)
    head.write_text(good.replace("class LMHead", "x = '\x1b[2J\x1b]0;owned\x07' (\nclass LMHead"))
    (home / "src" / "minimodel" / "a\x1b[31mb.py").write_text("x = (\n")
    for words in (["submit-build", "lm_head"], ["doctor"]):
        with Terminal(*words, cwd=home) as terminal:
            terminal.end()
            harmless(terminal.raw)


def test_text_of_learner_code_that_is_no_unicode_is_no_bug(home: Path, answers: Path) -> None:
    """A lone surrogate in an exception's message ends up in the report and the notes, somehow."""
    loss = home / LOSS
    loss.write_text(
        loss.read_text().replace('raise ValueError(f"logits', r'raise ValueError("\udcff" f"logits')
    )
    done = engine("break", LOUD, "--answers", answers, cwd=home)
    assert "bug in the engine" not in done.stderr
    assert done.returncode == 0 and kinds(home)[-1] == "observed"
    assert "### Measured" in (home / "phase-13/notes/breaks.md").read_text()
    engine("observe", "--json", cwd=home, code=0)


def test_control_characters_in_the_notes_and_in_words_typed_are_shown_harmlessly(
    opened: Path,
) -> None:
    """What a learner pasted into the notes does nothing to the terminal; an unknown name neither."""
    with (opened / "phase-13/notes/breaks.md").open("ab") as file:
        file.write(b"\x1b[2J\x1b]0;owned\x07 mine \xff\n")
    for words in (["notes"], ["show", "\x1b[2Jx"], ["status", "--learner", "\x1b[31m"]):
        with Terminal(*words, cwd=opened) as terminal:
            terminal.end()
            harmless(terminal.raw)
    assert session(opened).open_break().exercise == LOUD


def test_what_is_piped_is_neither_wrapped_nor_padded(opened: Path, tmp_path: Path) -> None:
    """`engine init ada | cat` and others: no blank at an end of line, and commands can be copied."""
    new = tmp_path / ("a folder whose name is longer than a line of a terminal " * 2).strip()
    new.mkdir()
    made = engine("init", "ada", cwd=new, code=0).stdout
    assert f"cd {new / 'learners' / 'ada'}" in made
    shown = {
        words: engine(*words.split(), cwd=opened, code=0).stdout
        for words in ("status", "list", f"show {LOUD}", "show embedding", "hint")
    }
    for text in (made, *shown.values()):
        assert not [line for line in text.splitlines() if line != line.rstrip()]
    assert f"  {opened / 'practice' / LOUD}\n" in shown["status"]
    spec = session(opened).catalogue.break_(LOUD)
    assert " ".join(spec.symptom["en"].split()) in " ".join(shown[f"show {LOUD}"].split("\n"))


def test_a_cell_that_is_wider_than_its_column_does_not_touch_the_next() -> None:
    (_, parts), _ = aligned([("x" * 200, "wrong"), ("y", "right")], None)
    assert "".join(parts).endswith("x  wrong")
