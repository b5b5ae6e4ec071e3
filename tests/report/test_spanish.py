"""The Spanish catalogue has every message, and the .mo beside it is what it compiles to."""

from __future__ import annotations

import ast
import io
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

import engine
from engine.words import LOCALE

ENGINE = Path(engine.__file__).parent
FILE = LOCALE / "es" / "LC_MESSAGES" / "engine.po"
ENGLISH_TOO = {  # code, numbers, and words that practitioners say in Spanish as well
    "--method {methods}", "{path} --help", "pip install 'breakfix-engine[plots]'",
    'engine observe embedding-walkthrough --text "I love dogs"',
    "predictions: {{{prediction}: {{answer: ..., confidence: 70}}}}",
    "questions: {{{question}: {{answer: ...}}}}",
    "diagnosis: {{{key}: {{answer: ..., confidence: 60}}}}", "log: {file}", "ok", "ok: {checks}", "{minutes} min",
    "{hours} h", "nats", "{batch} × {length} tokens, {weights}", "Autograd", "Embeddings", "ids", "losses",
}  # fmt: skip
ERRORS = {
    "EngineError", "UsageError", "NotApplicable", "Unhealthy", "Busy", "LearnerCodeError", "StorageError",
}  # fmt: skip
ENGLISH_ONLY = ("author", "commands/check.py", "flows/check.py", "facts")  # see engine/words.py


def modules() -> Iterator[tuple[Path, ast.AST]]:
    for file in sorted(ENGINE.rglob("*.py")):
        if "child" not in file.parts:
            yield file.relative_to(ENGINE), ast.parse(file.read_text("utf-8"))


def named(node: ast.AST) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def extracted() -> set[str]:
    """The messages that pybabel finds, as engine/README.md has it called."""
    found = extract_from_dir(
        ENGINE, [("**.py", "python")], keywords={"Message": None, "words": None}
    )
    return {message for _, _, message, _, _ in found}


@pytest.fixture(scope="module")
def spanish() -> Catalog:
    with FILE.open("rb") as file:
        return read_po(file, "es")


def fields(text: str) -> list[tuple[str, str, str]]:
    parts = string.Formatter().parse(text)
    return sorted((name, spec or "", how or "") for _, name, spec, how in parts if name is not None)


def test_extraction_finds_every_message() -> None:
    """One that stands inside an f-string would be passed over on Python 3.11."""
    there = {
        node.args[0].value
        for file, tree in modules()
        if str(file) not in ("errors.py", "words.py")
        for node in ast.walk(tree)
        if named(node) in ("Message", "words") and isinstance(node.args[0], ast.Constant)
    }
    assert len(there) > 400
    assert there == extracted()


def test_spanish_has_every_message_and_no_other(spanish: Catalog) -> None:
    there = {message.id: message for message in spanish if message.id}
    assert extracted() == set(there)
    assert not [id for id, message in there.items() if not message.string or message.fuzzy]
    assert not spanish.obsolete


def test_spanish_is_not_english(spanish: Catalog) -> None:
    """What is the same in both has no letters outside its placeholders, or is on a short list."""
    same = {message.id for message in spanish if message.id and message.id == message.string}
    for id in same - ENGLISH_TOO:
        plain = "".join(text for text, *_ in string.Formatter().parse(id))
        assert not any(c.isalpha() for c in plain), id


def test_placeholders_are_those_of_the_message(spanish: Catalog) -> None:
    for message in spanish:
        if message.id and "{" in message.id:
            assert {*fields(message.string)} == {*fields(message.id)}, message.id


def test_the_compiled_catalogue_is_what_the_text_compiles_to(spanish: Catalog) -> None:
    compiled = io.BytesIO()
    write_mo(compiled, spanish)
    assert FILE.with_suffix(".mo").read_bytes() == compiled.getvalue()


def test_what_a_learner_can_meet_is_raised_as_a_message() -> None:
    """No bare sentence, in an f-string or not; a command to be typed needs no translation."""
    bad = []
    for file, tree in modules():
        if file.as_posix().startswith(ENGLISH_ONLY):
            continue
        for node in ast.walk(tree):
            if named(node) not in ERRORS:
                continue
            for value in (*node.args, *(keyword.value for keyword in node.keywords)):
                if not is_code(written(value)):
                    bad.append(f"{file}:{node.lineno}: {ast.unparse(value)}")
    assert not bad, "\n".join(bad)


def written(node: ast.AST) -> str:
    """What stands literally in a text or an f-string, if the node is one."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(p.value) for p in parts if isinstance(p, ast.Constant))


def is_code(text: str) -> bool:
    return text.startswith(("engine ", "EDITOR=")) or not any(c.isalpha() for c in text)
