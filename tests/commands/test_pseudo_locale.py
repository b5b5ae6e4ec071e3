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
    ANSWERS,
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

from engine.spec.catalogue import Catalogue
from engine.spec.texts import texts
from engine.words import LOCALE, VARIABLE

EMBEDDING = "src/minimodel/nn/embedding.py"
COMMANDS = (
    "break", "hint", "init", "list", "next", "notes", "observe", "reset", "repro", "show", "status",
    "submit-build", "submit-fix", "submit", "watch",
)  # fmt: skip
NAMES = {  # of programs, packages, people and formats
    "engine", "ada", "python", "sqlite", "git", "numpy", "typer", "rich", "pyyaml", "msgspec", "gitpython",
    "landlock", "seccomp", "pdb", "min", "h",
}  # fmt: skip


# ------------------------------------------------------------------------------------ the catalogue


def bracketed(message: str) -> str:
    """A message with each literal part in brackets; parameters as they were."""
    parts = []
    for literal, name, spec, how in string.Formatter().parse(message):
        if literal:
            braces = ("{" in message and name is not None) or "{{" in message or "}}" in message
            text = literal.replace("{", "{{").replace("}", "}}") if braces else literal
            parts.append(f"⟦{text}⟧")
        if name is not None:
            parts.append(
                "{" + name + (f"!{how}" if how else "") + (f":{spec}" if spec else "") + "}"
            )
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
    """What packs say, the longest first; hints without the names that are filled in."""
    catalogue = Catalogue.find("minimodel")
    found = {flat(one.title["en"]) for one in catalogue.summaries.values()}
    found |= {f"{one.phase_number} " for one in catalogue.entries.values()}
    specs = [
        catalogue.build("embedding"), catalogue.build("lm_head"), catalogue.break_(LOUD), catalogue.contract,
    ]  # fmt: skip
    for spec in specs:
        for _, text in texts(spec):
            found |= {flat(part) for part in re.split(r"\{\w+\}|\n", text.get("en", ""))}
            found.add(flat(text.get("en", "")))
    for spec in specs[:2]:
        found |= {flat(spec.signature), *(flat(link.text) for link in spec.references)}
    found |= {flat(link.text) for link in (*specs[2].anchors, *specs[2].sources)}
    found |= {
        flat(line)
        for line in (ROOT / "templates").rglob("breaks.en.md").__next__().read_text().split("\n")
    }
    found |= {flat(line) for line in ANSWERS.split("\n")}
    return tuple(sorted((one for one in found if len(one) > 3), key=len, reverse=True))


@cache
def code_lines() -> frozenset[str]:
    """The lines of the model and of the pack's own code, as diffs, tracebacks and `show` quote them."""
    files = [*(MODELS / "plain").rglob("*.py"), *(ROOT / "exercises").rglob("*.py")]
    lines = {line.strip() for file in files for line in file.read_text().split("\n")}
    return frozenset({*lines, BROKEN, HEALTHY} - {""})


@cache
def names() -> frozenset[str]:
    """Ids of exercises, components, roles, checks, regimes and recorded values."""
    catalogue = Catalogue.find("minimodel")
    found = {*NAMES, *catalogue.entries, *catalogue.contract.roles, *catalogue.contract.components}
    for id in ("embedding", "lm_head"):
        for check in catalogue.build(id).checks:
            found |= {check.id, check.probe, *check.regimes, *check.values}
    spec = catalogue.break_(LOUD)
    found |= {option.id for one in spec.predictions for option in one.options}
    found |= {one.id for one in spec.predictions}
    for one in spec.observe:
        found |= {one.curve, *one.orientation, one.regime}
    return frozenset(name.lower() for name in found)


def outside(text: str) -> Iterator[str]:
    """The words of an output that stand outside brackets and are none of what may."""
    kept = []
    for line in text.split("\n"):
        bare = re.sub(r"^[\s+-]*(?:\S+:\d+: )?", "", line).strip()
        if bare in code_lines() or re.match(r"(---|\+\+\+|@@) ", line.strip()):
            continue
        kept.append(re.sub(r"\b\w+(?:Error|Exception)\b: [^⟦⟧]*", " ", line))  # Python's own words
    rest = flat(re.sub(r"⟦[^⟦⟧]*⟧", " ", flat("\n".join(kept))))
    rest = re.sub(r"`[^`]*`", " ", rest)
    for known in exercise_texts():
        rest = rest.replace(known, " ")
    rest = re.sub(rf"\bengine (?:{'|'.join(COMMANDS)})\b", " ", rest)
    for word in rest.split():
        plain = word.strip(".,:;()[]{}|*#'\"<>$=!?")
        if re.search(r"[A-Za-z]", plain) and not is_code(plain):
            yield word


def is_code(word: str) -> bool:
    """A name, a path, a number with its unit, an option, or an expression."""
    if word.lower() in names():
        return True
    return bool(re.search(r"[/_=\\\d]|^--?\w|\w\.\w|\w\(", word))


def check(*shown: str) -> None:
    """Nothing unknown stands outside, and something stands inside."""
    found = {
        f"{word!r} in {line.strip()[:200]!r}"
        for text in shown
        for word in outside(text)
        for line in text.split("\n")
        if word in line
    }
    assert not found, "\n".join(sorted(found))


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
    walk += [both("init", "bad name", cwd=tmp_path, env=pseudo, code=2)]
    walk += [both("status", "--learner", "bob", cwd=tmp_path, env=pseudo, code=2)]
    walk += [both(*words, cwd=home, env=pseudo, code=0) for words in (
        ("list",), ("show", "embedding"), ("show", LOUD), ("status",), ("next",), ("doctor",),
    )]  # fmt: skip
    walk += [both(*words, cwd=home, env=pseudo) for words in (
        ("show", "embeding"), ("hint",), ("hint", "embedding"), ("hint", "--again", "embedding"), ("repro",),
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
        ("return self.weight[ids]", "print('here'); return None"),
    ):
        (home / EMBEDDING).write_text(own)
        edit(home, EMBEDDING, old, new)
        walk += [both("submit-build", "embedding", "--all", "-v", cwd=home, env=pseudo, code=1)]
    walk += [both("repro", cwd=home, env=pseudo, code=0)]
    (home / EMBEDDING).write_text("def half(:\n")
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
    edit(home / "practice" / LOUD, HEAD, BROKEN, "self.vocab_size_out = 300")
    walk += [both("submit-fix", cwd=home, env=pseudo, code=1)]
    walk += [both("observe", cwd=home, env=pseudo, code=0)]
    edit(home / "practice" / LOUD, HEAD, "self.vocab_size_out = 300", BROKEN)
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
