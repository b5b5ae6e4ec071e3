"""Every word that a learner reads comes out of the catalogue, or is code, a name, or an exercise's text.

The walk is made with a catalogue of English in which each literal part of a message stands in ⟦brackets⟧;
parameters stand outside, unless they are messages themselves. Whatever is left outside must be known.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from workbench import (
    BROKEN,
    HEAD,
    HEALTHY,
    LOUD,
    MODELS,
    ROOT,
    Terminal,
    edit,
    engine,
    lay_model,
    mend,
)

from engine.report.out import reflowed
from engine.spec.catalogue import Catalogue
from engine.spec.texts import texts
from engine.spec.types import Build
from engine.words import LOCALE, VARIABLE

EMBEDDING = "src/minimodel/nn/embedding.py"
COMMANDS = (
    "break", "hint", "init", "list", "next", "notes", "observe", "reset", "repro", "show", "status",
    "submit-build", "submit-fix", "submit", "watch",
)  # fmt: skip
WIDER = "self.vocab_size_out = 300"
HALF = "def half(:"
NOTHING = "print('123'); return None"
FRAME = re.compile(r"^\s*\S+?(?:⟦:⟧|:)\d+(?:(?:⟦:⟧|:)\d+)?(?:⟦ in ⟧\w+)?(?:⟦: ⟧|: )")
MACHINE = re.compile(r"\s*(---|\+\+\+|@@|mkdir saved &&|<!--)( |$)")  # of diffs; a command; a mark
ERROR = re.compile(r"\b\w+(?:Error|Exception)\b: [^⟦⟧]*")  # Python's own words
NAMES = {  # of programs, packages, people and formats, and what a pipeline records
    "engine", "ada", "python", "sqlite", "git", "diff", "numpy", "typer", "rich", "pyyaml", "msgspec",
    "gitpython", "landlock", "seccomp", "pdb", "minimodel", "loss",
}  # fmt: skip


# ------------------------------------------------------------------------------------ the catalogue


def bracketed(message: str) -> str:
    """A message with each literal part in brackets; parameters as they were."""
    found = [*string.Formatter().parse(message)]
    if all(name is None for _, name, _, _ in found):
        return f"⟦{message}⟧"
    parts = []
    for literal, name, spec, how in found:
        if literal:
            parts.append("⟦" + literal.replace("{", "{{").replace("}", "}}") + "⟧")
        if name is not None:
            parts.append(f"{{{name}{f'!{how}' if how else ''}{f':{spec}' if spec else ''}}}")
    return "".join(parts)


@pytest.fixture(scope="session")
def pseudo(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variable that has the brackets shown instead of English."""
    folder = tmp_path_factory.mktemp("pseudo")
    file = folder / "en" / "LC_MESSAGES" / "engine.mo"
    file.parent.mkdir(parents=True)
    made = Catalog("en")
    with (LOCALE / "es" / "LC_MESSAGES" / "engine.po").open("rb") as source:
        for message in read_po(source, "es"):
            if message.id:
                made.add(message.id, bracketed(message.id))
    with file.open("wb") as out:
        write_mo(out, made)
    return {VARIABLE: str(folder)}


# -------------------------------------------------------------------------------- what may be outside


def flat(text: str) -> str:
    return " ".join(text.split())


@cache
def exercise_texts() -> tuple[str, ...]:
    """The lines of what packs say, as they stand there and as they are printed, the longest first; hints
    without the names that are filled in.
    """
    catalogue = Catalogue.find("minimodel")
    notes = next((ROOT / "templates").rglob("breaks.en.md")).read_text("utf-8")
    said = [
        notes,
        "two shapes that do not fit",
        "invalid syntax",
    ]  # typed by the test; Python's own
    for id, entry in catalogue.entries.items():
        spec = catalogue.build(id) if entry.kind == "build" else catalogue.break_(id)
        said += [text.get("en", "") for _, text in texts(spec)]
        links = spec.references if isinstance(spec, Build) else (*spec.anchors, *spec.sources)
        said += [link.text for link in links if isinstance(link.text, str)]
    said += [text.get("en", "") for _, text in texts(catalogue.contract)]
    lines = {
        flat(part)
        for text in said
        for line in (*text.split("\n"), *reflowed(text).split("\n"))
        for part in re.split(r"\{\w+\}", line)
    }
    return tuple(sorted((line for line in lines if len(line) > 3), key=len, reverse=True))


@cache
def code_lines() -> frozenset[str]:
    """The lines of the model, of the template and of the pack's own code, which diffs, tracebacks and
    `show` quote.
    """
    catalogue = Catalogue.find("minimodel")
    folders = (MODELS / "plain", ROOT / "exercises", ROOT / "templates")
    found = [file.read_text("utf-8") for folder in folders for file in folder.rglob("*.py")]
    found += [catalogue.build("embedding").signature, BROKEN, HEALTHY, WIDER, HALF, NOTHING]
    return frozenset({line.strip() for text in found for line in text.split("\n")} - {""})


@cache
def names() -> frozenset[str]:
    """Ids of exercises, components, roles, checks, regimes and recorded values."""
    catalogue = Catalogue.find("minimodel")
    found = {*NAMES, *catalogue.entries, *catalogue.contract.roles, *catalogue.contract.components}
    for id in ("embedding", "lm_head"):
        for one in catalogue.build(id).checks:
            found |= {one.id, one.probe, *one.regimes, *one.values}
    spec = catalogue.break_(LOUD)
    found |= {option.id for one in spec.predictions for option in one.options}
    found |= {one.id for one in spec.predictions}
    for one in spec.observe:
        found |= {one.curve, *one.orientation, one.regime}
    return frozenset(name.lower() for name in found)


def outside(text: str) -> Iterator[str]:
    """The words of an output that stand outside brackets and are none of what may."""
    for line in text.split("\n"):
        if FRAME.sub("", line).strip(" +-") in code_lines() or MACHINE.match(line):
            continue
        rest = ERROR.sub(" ", flat(line))
        for known in exercise_texts():
            if known in rest:
                rest = re.sub(whole(known), " ", rest)
        rest = re.sub(r"⟦ in ⟧\w+|⟦[^⟦⟧]*⟧", " ", rest)
        rest = re.sub(
            r"\b\w+ (?:= \S+|\(\d[\d, ]*\))", " ", rest
        )  # an argument with its value, or shape
        rest = re.sub(rf"`[^`]*`|\bengine (?:{'|'.join(COMMANDS)})\b", " ", rest)
        for word in rest.split():
            plain = word.strip(".,:;()[]{}|*#'\"<>$=!?^`")
            if re.search(r"[A-Za-z]{2}", plain) and not is_code(plain):
                yield word


def whole(text: str) -> str:
    """A pattern of a text that is no part of a longer word or path."""
    before = r"(?<![\w/.])" if text[0].isalnum() else ""
    after = r"(?![\w/]|\.\w)" if text[-1].isalnum() else ""
    return before + re.escape(text) + after


def is_code(word: str) -> bool:
    """A name, a path, a number with its unit, an option, or an expression."""
    if word.lower() in names():
        return True
    return bool(re.search(r"[/_=\\\d]|^--?\w|\w\.\w|\w\(", word))


def check(*shown: str) -> None:
    """Nothing unknown stands outside, and something stands inside."""
    found = {
        word: line.strip()
        for text in shown
        for word in outside(text)
        for line in text.split("\n")
        if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", line)
    }
    assert not found, "\n".join(f"{word}: {line[:200]}" for word, line in found.items())


# ------------------------------------------------------------------------------------------- the walk


def both(*words: str | Path, cwd: Path, env: dict[str, str], code: int | None = None) -> str:
    """What a command prints, on both streams; it must speak in brackets at all."""
    done = engine(*words, cwd=cwd, env=env, code=code)
    assert "⟦" in done.stdout + done.stderr
    return f"{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("word", ["Passed", "Passed.", "not", "wrong:", "(Nothing)", "next"])
def test_an_english_word_outside_is_found(word: str) -> None:
    assert [*outside(f"⟦ok⟧ embedding 12 {word} ⟦more⟧")] == [word]


def test_what_only_reads(pseudo: dict[str, str], tmp_path: Path) -> None:
    walk = [both("init", "ada", cwd=tmp_path, env=pseudo, code=0)]
    home = tmp_path / "learners" / "ada"
    walk += [both("init", "ada", cwd=tmp_path, env=pseudo, code=2)]
    walk += [both("init", "bad/name", cwd=tmp_path, env=pseudo, code=2)]
    walk += [both("status", "--learner", "bob2", cwd=tmp_path, env=pseudo, code=2)]
    walk += [both(*words, cwd=home, env=pseudo, code=0) for words in (
        ("list",), ("show", "embedding"), ("show", LOUD), ("status",), ("next",), ("doctor",),
    )]  # fmt: skip
    walk += [both(*words, cwd=home, env=pseudo) for words in (
        ("show", "embedd1ng"), ("hint",), ("hint", "embedding"), ("hint", "--again", "embedding"), ("repro",),
        ("reset",), ("reset", "--undo"), ("observe",), ("submit-fix",), ("watch",), ("run", "--", "ls"),
        ("break", "embedding"), ("submit-build", LOUD),
    )]  # fmt: skip
    check(*walk)


def test_a_build(pseudo: dict[str, str], tmp_path: Path) -> None:
    """Untouched, wrong in two ways, and right."""
    engine("init", "ada", cwd=tmp_path, env=pseudo, code=0)
    home = tmp_path / "learners" / "ada"
    walk = [both("submit-build", "embedding", cwd=home, env=pseudo, code=1)]
    lay_model(home)
    own = (home / EMBEDDING).read_text()
    for old, new in (
        ("return self.weight[ids]", "return self.weight[ids] * 2.0"),
        ("return self.weight[ids]", NOTHING),
    ):
        (home / EMBEDDING).write_text(own)
        edit(home, EMBEDDING, old, new)
        walk += [both("submit-build", "embedding", "--all", "-v", cwd=home, env=pseudo, code=1)]
    walk += [both("repro", cwd=home, env=pseudo, code=0)]
    (home / EMBEDDING).write_text(HALF + "\n")
    walk += [both("submit-build", "embedding", cwd=home, env=pseudo, code=5)]
    (home / EMBEDDING).write_text(own)
    walk += [both("submit-build", "embedding", cwd=home, env=pseudo, code=0)]
    walk += [both(*words, cwd=home, env=pseudo, code=0) for words in (("status",), ("next",))]
    check(*walk)


def test_a_break(pseudo: dict[str, str], home: Path, answers: Path) -> None:
    """From the predictions to the cause, with a wrong fix, and put aside and taken up on the way."""
    with Terminal("break", LOUD, cwd=home, env=pseudo, columns=500) as terminal:
        for typed in ("1", "70", "32", "80", "two shapes that do not fit", "60"):
            terminal.expect("⟧:")
            terminal.send(typed)
        assert terminal.end() == 0
        walk = [terminal.text]
    walk += [both("break", LOUD, "--answers", answers, cwd=home, env=pseudo, code=4)]
    walk += [both(*words, cwd=home, env=pseudo, code=0) for words in (
        ("reset",), ("reset", "--undo"), ("observe",), ("status",), ("next",), ("show", LOUD), ("hint",), ("hint",),
        ("hint",), ("hint",),
    )]  # fmt: skip
    walk += [both("submit-fix", cwd=home, env=pseudo, code=1)]
    edit(home / "practice" / LOUD, HEAD, BROKEN, WIDER)
    walk += [both("submit-fix", cwd=home, env=pseudo, code=1)]
    walk += [both("observe", cwd=home, env=pseudo, code=0)]
    edit(home / "practice" / LOUD, HEAD, WIDER, BROKEN)
    with Terminal("watch", cwd=home, env=pseudo, columns=500) as terminal:
        terminal.expect("⟧")
        mend(home)
        terminal.expect("submit-fix")
        terminal.press(b"\x03")
        terminal.end()
        walk += [terminal.text]
    walk += [both("submit-fix", "--answers", answers, cwd=home, env=pseudo, code=0)]
    walk += [both(*words, cwd=home, env=pseudo, code=0) for words in (("notes",), ("show", LOUD))]
    check(*walk)
