"""Messages: an English text with named parameters, put into a language by a gettext catalogue alone."""

from __future__ import annotations

import ast
import json
import string
import struct
from pathlib import Path

import pytest

import engine
from engine.errors import Message, NotApplicable
from engine.report import words
from engine.report.out import emit_error

SPANISH = {
    "{exercise} is still open.": "{exercise} sigue abierto.",
    "Finish it with {command}.": "Termínalo con {command}.",
    "nobody": "nadie",
}


def catalogue(texts: dict[str, str]) -> bytes:
    """A .mo file, as `msgfmt` writes it."""
    pairs = sorted({"": "Content-Type: text/plain; charset=utf-8\n", **texts}.items())
    ids, translations = ([pair[i].encode() for pair in pairs] for i in (0, 1))
    at, tables = 28 + 16 * len(pairs), b""
    for part in (ids, translations):
        for text in part:
            tables += struct.pack("<2I", len(text), at)
            at += len(text) + 1
    body = b"".join(text + b"\0" for text in (*ids, *translations))
    ends = (28, 28 + 8 * len(pairs), 0, 28)
    return struct.pack("<7I", 0x950412DE, 0, len(pairs), *ends) + tables + body


@pytest.fixture
def spanish(tmp_path: Path):
    folder = tmp_path / "es" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "engine.mo").write_bytes(catalogue(SPANISH))
    words.speak("es", tmp_path)
    yield
    words.speak("en", tmp_path)


def error() -> NotApplicable:
    return NotApplicable(
        Message("{exercise} is still open.", exercise="sdpa{0}"),
        where="/home/{ada}",
        next=Message("Finish it with {command}.", command=Message("nobody")),
    )


def test_english_needs_no_catalogue() -> None:
    found = error()
    assert (found.what, found.where) == ("sdpa{0} is still open.", "/home/{ada}")
    assert found.next == "Finish it with nobody."
    assert str(found) == "sdpa{0} is still open.\n/home/{ada}\nFinish it with nobody."


def test_an_error_is_told_in_the_language_of_the_catalogue(spanish, capsys) -> None:
    """Parameters and plain texts stay as they are, braces and all; a message within one is said, too."""
    emit_error(error(), as_json=False)
    assert capsys.readouterr().err == (
        "engine: sdpa{0} sigue abierto.\n  /home/{ada}\n  Termínalo con nadie.\n"
    )


def test_json_stays_english(spanish, capsys) -> None:
    emit_error(error(), as_json=True)
    told = json.loads(capsys.readouterr().out)["error"]
    assert (told["what"], told["next"]) == ("sdpa{0} is still open.", "Finish it with nobody.")


def test_what_a_catalogue_lacks_is_english(spanish) -> None:
    assert words.words("No break is open.") == "No break is open."
    assert words.words("Brier {score:.2f}", score=0.256) == "Brier 0,26"


def test_a_language_without_a_catalogue_is_english(tmp_path: Path) -> None:
    words.speak("tlh", tmp_path)
    assert words.words("nobody") == "nobody"


def _messages() -> list[tuple[str, ast.Call]]:
    found = []
    for file in sorted(Path(engine.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            view = file.parent.name == "report" and file.name != "words.py"
            if named and node.func.id in ("Message", *(["words"] if view else [])):
                if file.name in ("words.py", "errors.py"):
                    continue
                found.append((f"{file.name}:{node.lineno}", node))
    return found


def test_every_message_can_be_extracted_and_filled() -> None:
    """Its id is a literal, and its placeholders are just its parameters."""
    messages = _messages()
    assert len(messages) > 100
    for where, call in messages:
        text = call.args[0]
        assert isinstance(text, ast.Constant) and isinstance(text.value, str), where
        given = {keyword.arg for keyword in call.keywords}
        if given:
            used = {name for _, name, _, _ in string.Formatter().parse(text.value) if name}
            assert used == given, where
