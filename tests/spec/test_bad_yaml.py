"""Whatever an author writes, it is read or refused with the place and what to write instead."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml as pyyaml

from engine.errors import SPEC, SpecError
from engine.spec.load import load
from engine.spec.packs import content_root
from engine.spec.types import Break, Build, Pack, Spec
from engine.spec.yaml import read

BUILD = """\
title: {en: A title, es: Un título}
difficulty: 2
minutes: 45
objective:
  en: What it is for.
  es: Para qué sirve.
background:
  en: |
    Two lines: of text,
    with a colon.
  es: Dos líneas.
edit: src/model.py
signature: "def f(x): ..."
constraints:
  - en: One.
    es: Una.
pitfalls: []
checks:
  - id: value
    shows: {en: the value, es: el valor}
    probe: forward
    regimes: [normal, tiny]
  - id: shape
    shows:
      en: the shape
      es: la forma
    probe: forward
    regimes:
      - normal
      - deep
    aspects: [shape]
    draws: 5
hints:
  - {en: A hint., es: Una pista.}
references:
  - text: A book
    url: https://example.org
"""

PACK = """\
title: {en: A pack}
framework: numpy
languages: [en]
template: some
roots: [src, ""]
roles:
  Tensor: some.tensor:Tensor
components:
  embedding:
    where: src/embedding.py
  lm_head:
    uses: [embedding]
    where: src/lm_head.py
path: [embedding, lm_head]
"""


@pytest.fixture(params=["C", "Python"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both of PyYAML's parsers: an installation may lack the one in C."""
    if request.param == "Python":
        monkeypatch.delattr(pyyaml, "CSafeLoader", raising=False)
    elif not hasattr(pyyaml, "CSafeLoader"):
        pytest.skip("this PyYAML has no parser in C")
    return str(request.param)


def written(tmp_path: Path, source: str | bytes, name: str = "build.yaml") -> Path:
    """A spec file."""
    file = tmp_path / name
    file.write_bytes(source if isinstance(source, bytes) else source.encode())
    return file


def refused(file: Path, kind: type[Spec] = Build) -> SpecError:
    """The error that reading the file ends in, within a few seconds."""
    started = time.monotonic()
    with pytest.raises(SpecError) as caught:
        load(file, kind)
    assert time.monotonic() - started < 20
    assert caught.value.exit_code == SPEC
    assert caught.value.where.startswith(f"{file}:")
    return caught.value


def place(error: SpecError, file: Path) -> tuple[int, int]:
    """The line and the column that an error names."""
    line, column = error.where.removeprefix(f"{file}:").split(":")
    return int(line), int(column)


def line_of(source: str, text: str) -> int:
    """The line on which `text` stands, counted from 1."""
    return source[: source.index(text)].count("\n") + 1


def test_the_examples_of_this_file_are_good(tmp_path: Path, loader: str) -> None:
    """What is broken below was whole before."""
    spec = load(written(tmp_path, BUILD), Build)
    assert [check.id for check in spec.checks] == ["value", "shape"]
    assert spec.background["en"] == "Two lines: of text,\nwith a colon.\n"
    assert load(written(tmp_path, PACK), Pack).components["lm_head"].uses == ("embedding",)


ROOT = Path(__file__).parents[2]
SPECS = sorted([*ROOT.glob("exercises/**/*.yaml"), *ROOT.glob("tests/packs/**/*.yaml")])


def test_every_spec_is_read_alike_by_both_parsers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one in Python takes no "?" before a comma in a flow mapping, and half of the specs had it."""
    assert len(SPECS) > 50
    quick = [read(file.read_bytes(), file.name).data for file in SPECS]
    monkeypatch.delattr(pyyaml, "CSafeLoader", raising=False)
    assert [read(file.read_bytes(), file.name).data for file in SPECS] == quick


# ---------------------------------------------------------------- keys

TYPOS = {
    # what stands there, what is written instead, the key that was meant
    "at the top": ("difficulty: 2", "dificulty: 2", "difficulty"),
    "at the top, with a nested value": ("constraints:\n", "constraint:\n", "constraints"),
    "in a list": ("    probe: forward\n    regimes: [normal", "    prob: forward\n    regimes: [normal", "probe"),
    "in the second item of a list": ("    aspects: [shape]", "    aspcts: [shape]", "aspects"),
    "in the last list": ("    url: https", "    urls: https", "url"),
}  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "meant"), TYPOS.values(), ids=TYPOS.keys())
def test_a_typo_in_a_key_is_shown_with_the_key_that_was_meant(
    tmp_path: Path, loader: str, right: str, wrong: str, meant: str
) -> None:
    """The line and column of the key, and the nearest that can stand there."""
    source = BUILD.replace(right, wrong, 1)
    file = written(tmp_path, source)
    error = refused(file)
    typo = wrong.split(":")[0].strip()
    assert repr(typo) in error.what
    assert f"Did you mean {meant}" in error.what
    assert meant in error.next
    line = line_of(source, typo + ":")
    column = source.splitlines()[line - 1].index(typo) + 1
    assert place(error, file) == (line, column)


def test_a_typo_in_a_component_of_a_pack_is_shown_at_its_own_line(
    tmp_path: Path, loader: str
) -> None:
    """Also below keys that are names of the author's own."""
    source = PACK.replace("    uses: [", "    use: [")
    file = written(tmp_path, source)
    error = refused(file, Pack)
    assert "Did you mean uses" in error.what
    assert place(error, file) == (line_of(source, "use: ["), 5)


def test_a_key_that_resembles_none_is_shown_with_all_that_can_stand_there(
    tmp_path: Path, loader: str
) -> None:
    """No guess is better than a wrong one."""
    file = written(tmp_path, BUILD + "zzzzqqq: 1\n")
    error = refused(file)
    assert "Did you mean" not in error.what
    assert all(key in error.next for key in ("title", "checks", "hints"))
    assert place(error, file) == (BUILD.count("\n") + 1, 1)


def test_a_key_that_is_missing_is_named_with_the_place_where_it_should_be(
    tmp_path: Path, loader: str
) -> None:
    """At the top of the file, or at the item that lacks it."""
    file = written(tmp_path, BUILD.replace("difficulty: 2\n", ""))
    error = refused(file)
    assert "difficulty" in error.what and place(error, file) == (1, 1)
    source = BUILD.replace("    probe: forward\n    regimes:\n", "    regimes:\n", 1)
    file = written(tmp_path, source)
    error = refused(file)
    assert "probe" in error.what
    assert place(error, file) == (line_of(source, "id: shape"), 5)


@pytest.mark.parametrize(
    ("right", "wrong", "line", "column"),
    [
        ("minutes: 45\n", "minutes: 45\nminutes: 45\n", 4, 1),
        ("  es: Para qué sirve.\n", "  es: Para qué sirve.\n  en: Again.\n", 7, 3),
        ("title: {en: A title, es:", "title: {en: A title, en:", 1, 22),
        ("    draws: 5\n", "    draws: 5\n    'id': other\n", 33, 5),
    ],
    ids=["at the top", "in a block", "in one line", "in an item, quoted"],
)
def test_a_key_that_stands_twice_is_refused_at_its_second_place(
    tmp_path: Path, loader: str, right: str, wrong: str, line: int, column: int
) -> None:
    """YAML would take the last one without a word."""
    file = written(tmp_path, BUILD.replace(right, wrong, 1))
    error = refused(file)
    assert "twice" in error.what
    assert place(error, file) == (line, column)


# ---------------------------------------------------------------- values

TYPES = {
    # what stands there, what is written instead, the text whose place is named, words of the message
    "a word for a number": ("difficulty: 2", "difficulty: hard", "difficulty", ["int", "str"]),
    "a number for a text": ("edit: src/model.py", "edit: 7", "edit", ["str", "int"]),
    "a list for a mapping": ("title: {en: A title, es: Un título}", "title: [A title]", "title", ["object", "array"]),
    "a text for a list": ("pitfalls: []", "pitfalls: none", "pitfalls", ["array", "str"]),
    "nothing for a text": ("edit: src/model.py", "edit:", "edit", ["str", "null"]),
    "a number that is too large": ("difficulty: 2", "difficulty: 5", "difficulty", ["4"]),
    "a number that is enormous": ("difficulty: 2", "difficulty: " + "9" * 40, "difficulty", []),
    "a number of 5,000 digits": ("difficulty: 2", "difficulty: " + "9" * 5000, "difficulty", []),
    "a fraction": ("minutes: 45", "minutes: 4.5", "minutes", ["int", "float"]),
    "infinity": ("minutes: 45", "minutes: 1e999", "minutes", ["int"]),
    "a number in a deep list": ("regimes: [normal, tiny]", "regimes: [normal, 7]", "7]", ["str", "int"]),
    "a number in a deep list, by lines": ("      - deep\n", "      - 7\n", "7\n    aspects", ["str", "int"]),
    "a list in a deep list": ("      - deep\n", "      - [deep]\n", "[deep]", ["str", "array"]),
    "a word that is none of several": ("aspects: [shape]", "aspects: [form]", "form]", ["form"]),
    "a name with wrong letters": ("  - id: shape", "  - id: Shape One", "id: Shape", ["regex"]),
    "too many draws": ("    draws: 5", "    draws: 500", "draws", ["64"]),
    "a text for an item": ("  - {en: A hint., es: Una pista.}", "  - A hint.", "A hint.", ["object", "str"]),
    "no items": ("hints:\n  - {en: A hint., es: Una pista.}", "hints: []", "hints", ["length"]),
    "truth for a text": ("    probe: forward\n    regimes:\n", "    probe: true\n    regimes:\n", "probe: true", ["str", "bool"]),
}  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "at", "words"), TYPES.values(), ids=TYPES.keys())
def test_a_value_of_the_wrong_kind_is_refused_at_its_place(
    tmp_path: Path, loader: str, right: str, wrong: str, at: str, words: list[str]
) -> None:
    """However deep it lies: the line and column of the item, or of the key that holds it."""
    assert right in BUILD
    source = BUILD.replace(right, wrong, 1)
    file = written(tmp_path, source)
    error = refused(file)
    assert all(word in error.what for word in words), error.what
    line = line_of(source, at)
    column = source.splitlines()[line - 1].index(at.split("\n")[0]) + 1
    assert place(error, file) == (line, column), error.what


def test_a_wrong_text_of_one_language_is_refused_near_its_place(
    tmp_path: Path, loader: str
) -> None:
    """The value of a key of the author's own: at that key, or at the one that holds it."""
    source = BUILD.replace("  es: Para qué sirve.\n", "  es: [Para, qué]\n")
    file = written(tmp_path, source)
    error = refused(file)
    assert "str" in error.what
    assert place(error, file) in [(4, 1), (6, 3)]


def test_a_wrong_value_in_a_component_is_refused_at_its_own_line(
    tmp_path: Path, loader: str
) -> None:
    """The second of two components is not told at the first."""
    source = PACK.replace("uses: [embedding]", "uses: [embedding, 7]")
    file = written(tmp_path, source)
    error = refused(file, Pack)
    assert "str" in error.what and "int" in error.what
    assert place(error, file)[0] == line_of(source, "uses:")


def test_a_wrong_value_in_a_mapping_of_a_component_is_refused_at_its_own_line(
    tmp_path: Path, loader: str
) -> None:
    """Two keys of the author's own lie on the way, and others of the same kind stand before it."""
    source = PACK.replace(
        "    where: src/lm_head.py\n",
        "    settings:\n      start: [eps]\n      forward: eps\n    where: src/lm_head.py\n",
    ).replace("    where: src/embedding.py\n", "    settings: {start: [base]}\n")
    file = written(tmp_path, source)
    error = refused(file, Pack)
    assert "array" in error.what and "str" in error.what
    assert place(error, file) == (line_of(source, "forward:"), 7)


@pytest.mark.parametrize(
    "source", ["- a\n- b\n", "just a word\n", "7\n", "true\n", "'quoted'\n", "[1, 2]\n"]
)
def test_a_document_that_is_no_mapping_is_refused(tmp_path: Path, loader: str, source: str) -> None:
    """A list, a word or a number is no exercise."""
    file = written(tmp_path, source)
    error = refused(file)
    assert place(error, file) == (1, 1)
    assert "object" in error.what or "This" in error.what


# ---------------------------------------------------------------- YAML itself

REFUSED = {
    # source, line, column (None: any), words
    "nothing": ("", 1, 1, ["empty"]),
    "spaces and lines": ("  \n\n \n", 1, 1, ["empty"]),
    "comments only": ("# one\n# two\n", 1, 1, ["empty"]),
    "null": ("~\n", 1, 1, ["empty"]),
    "an empty document": ("---\n...\n", 1, 1, ["empty"]),
    "a mark only": (b"\xef\xbb\xbf", 1, 1, ["empty"]),
    "a tab as indentation": ("title:\n\ten: A title\n", 2, None, ["tab"]),
    "a tab in the middle": (
        BUILD.replace("    probe: forward\n", "\tprobe: forward\n", 1),
        21,
        None,
        ["tab"],
    ),
    "an anchor": ("title: &a {en: A}\n", 1, 8, ["Anchors"]),
    "an alias": ("title: *a\n", 1, 8, ["liases"]),
    "a merge of keys": ("title: {en: A}\n<<: *a\n", 2, 5, ["liases"]),
    "a tag": ("title: {en: A}\nminutes: !!int 3\n", 2, 10, ["ags"]),
    "a tag that builds objects": (
        "title: {en: A}\nedit: !!python/object/apply:os.system [true]\n",
        2,
        7,
        ["ags"],
    ),
    "a tag of one's own": ("title: {en: A}\nedit: !mine x\n", 2, 7, ["ags"]),
    "a tagged key": ("!!str title: {en: A}\n", 1, 1, ["ags"]),
    "a tagged mapping": ("!!map\ntitle: {en: A}\n", None, None, ["ags"]),
    "a set": ("title: {en: A}\nhints: !!set {a, b}\n", 2, 8, ["ags"]),
    "two documents": ("title: {en: A}\n---\ntitle: {en: B}\n", 2, 1, ["one document"]),
    "two documents after an end": (
        "title: {en: A}\n...\n---\ntitle: {en: B}\n",
        3,
        1,
        ["one document"],
    ),
    "a key that is a list": ("title: {en: A}\n? [a, b]\n: c\n", 2, 3, ["key"]),
    "a key that is a mapping": ("title: {en: A}\n? {a: b}\n: c\n", 2, 3, ["key"]),
    "an open bracket": ("title: {en: A}\nhints: [a,\n", None, None, ["Not valid YAML"]),
    "an open quote": ('title: {en: A}\nedit: "open\n', None, None, ["Not valid YAML"]),
    "a colon too many": ("title: {en: A}\nedit: a: b\n", 2, 8, ["Not valid YAML"]),
    "wrong indentation": ("title:\n  en: A\n es: B\n", 3, 2, ["Not valid YAML"]),
    "an unknown escape": ('title: {en: A}\nedit: "\\q"\n', 2, None, ["Not valid YAML"]),
    "a percent sign": ("title: {en: A}\nedit: %x\n", 2, 7, ["Not valid YAML"]),
    "an at sign": ("title: {en: A}\nedit: @x\n", 2, 7, ["Not valid YAML"]),
    "an unknown version": ("%YAML 9.9\n---\ntitle: {en: A}\n", None, None, []),
    "deep brackets": ("title: " + "[" * 30 + "]" * 30 + "\n", 1, None, ["deeper"]),
    "deep blocks": ("".join("  " * i + "a:\n" for i in range(40)), None, None, ["deeper"]),
    "deep lists in one line": ("- " * 40 + "a\n", 1, None, ["deeper"]),
    "not UTF-8": (b"title: {en: A}\nminutes: 3\nedit: caf\xe9\n", 3, None, ["UTF-8"]),
    "UTF-16": ("title: {en: A}\n".encode("utf-16"), 1, None, ["UTF-8"]),
    "cut in the middle of a letter": ("title: {en: é".encode()[:-1], 1, None, ["UTF-8"]),
    "an archive": (b"PK\x03\x04" + bytes(range(256)) * 4, None, None, ["UTF-8"]),
}


@pytest.mark.parametrize(
    ("source", "line", "column", "words"), REFUSED.values(), ids=REFUSED.keys()
)
def test_what_is_not_allowed_in_yaml_here_is_refused_at_its_place(
    tmp_path: Path,
    loader: str,
    source: str | bytes,
    line: int | None,
    column: int | None,
    words: list[str],
) -> None:
    """With a line and a column that are in the file, and a word on what is wrong."""
    file = written(tmp_path, source)
    error = refused(file)
    assert all(word in error.what for word in words), error.what
    got_line, got_column = place(error, file)
    lines = file.read_bytes().decode("utf-8", "replace").split("\n")
    assert 1 <= got_line <= len(lines) and got_column >= 1
    assert line in (None, got_line), error.where
    assert column in (None, got_column), error.where
    assert "\n" not in error.what.strip()


@pytest.mark.parametrize("character", ["\x07", "\0", "\x1b"])
def test_a_character_that_yaml_forbids_is_found_on_its_line(
    tmp_path: Path, loader: str, character: str
) -> None:
    """An invisible character can only be found by its place; the message is one line."""
    file = written(tmp_path, f"title: {{en: A}}\nminutes: 3\nedit: a{character}b\n")
    error = refused(file)
    assert "\n" not in error.what and character not in error.what
    assert place(error, file)[0] == 3


LEVELS = 40
BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}, *a{i - 1}]\n" for i in range(1, LEVELS)
)


def test_a_bomb_of_aliases_is_refused_at_once(tmp_path: Path, loader: str) -> None:
    """Forty levels of four aliases each would be more items than there are atoms in a person."""
    file = written(tmp_path, BOMB)
    error = refused(file)
    assert "liases" in error.what and place(error, file) == (1, 5)


@pytest.mark.parametrize("bracket", ["[", "{", "[{", "- ", "? ", "{a: ", "!!x ", "&a ", "(", "'"])
def test_a_hundred_thousand_openings_are_refused_without_a_crash(
    tmp_path: Path, loader: str, bracket: str
) -> None:
    """Nesting does not exhaust the stack, nor the patience."""
    file = written(tmp_path, "title: {en: A}\nhints: " + bracket * 100_000)
    refused(file)


def test_a_hundred_thousand_brackets_that_are_closed_again_are_refused(
    tmp_path: Path, loader: str
) -> None:
    """Well formed, and still too deep; at the first line that says so."""
    file = written(tmp_path, "[" * 100_000 + "]" * 100_000)
    error = refused(file)
    assert "deeper" in error.what and place(error, file)[0] == 1


def test_a_file_that_is_too_large_is_refused_by_its_size(tmp_path: Path, loader: str) -> None:
    """Before anything of it is read as YAML."""
    file = written(tmp_path, BUILD + "# filler\n" * 200_000)
    error = refused(file)
    assert "larger" in error.what and place(error, file) == (1, 1)


def test_a_megabyte_of_items_is_read_or_refused_in_time(tmp_path: Path) -> None:
    """A large file that is well formed ends too."""
    file = written(
        tmp_path, BUILD.replace("pitfalls: []", "pitfalls:\n" + "  - {en: a}\n" * 20_000)
    )
    assert len(load(file, Build).pitfalls) == 20_000


def test_a_file_that_is_missing_is_a_spec_error(tmp_path: Path) -> None:
    """With its name, and not a traceback."""
    file = tmp_path / "nowhere.yaml"
    error = refused(file)
    assert "No such file" in error.what


def test_a_folder_in_the_place_of_a_file_is_a_spec_error(tmp_path: Path) -> None:
    """The same for a folder."""
    file = tmp_path / "build.yaml"
    file.mkdir()
    assert "Cannot be read" in refused(file).what


# ---------------------------------------------------------------- what is allowed


@pytest.mark.parametrize(
    "source",
    [
        "\ufeff" + BUILD,
        BUILD.replace("\n", "\r\n"),
        "# a comment\n---\n" + BUILD + "...\n",
        "%YAML 1.1\n---\n" + BUILD,
        BUILD.replace("edit: src/model.py", "edit: >-\n  src/model.py"),
        BUILD.replace("title:", '"title":'),
        BUILD.rstrip("\n"),
    ],
    ids=["mark", "CRLF", "one document, marked", "version", "folded", "quoted key", "no newline"],
)
def test_ordinary_yaml_in_any_dress_is_read(tmp_path: Path, loader: str, source: str) -> None:
    """Marks, line ends, comments and quotes change nothing."""
    spec = load(written(tmp_path, source), Build)
    assert (spec.edit, spec.minutes) == ("src/model.py", 45)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("yes", "yes"), ("on", "on"), ("off", "off"), ("NO", "NO"), ("True", "True"),
        ("1_000", "1_000"), ("0x10", "0x10"), ("1:30", "1:30"), ("2020-01-01", "2020-01-01"),
        ("1e", "1e"), (".", "."), ("-", None), ("+", "+"), (".inf", ".inf"), ("'7'", "7"), ('"true"', "true"),
        ("nan", "nan"), ("infinity", "infinity"), ("0o17", "0o17"), ("1.2.3", "1.2.3"),
    ],
)  # fmt: skip
def test_a_word_that_only_looks_like_something_else_stays_a_word(
    tmp_path: Path, loader: str, text: str, value: str | None
) -> None:
    """Norway is no truth value here, and a time no number."""
    file = written(tmp_path, BUILD.replace("edit: src/model.py", f"edit: {text}"))
    if value is None:
        refused(file)
    else:
        assert load(file, Build).edit == value


def test_a_break_needs_four_options_for_its_cause(tmp_path: Path) -> None:
    """Lengths that are fixed are told with the place of the list."""
    folder = content_root("exercises") / "minimodel"
    source = next(folder.glob("*/*/tied-vocab-mismatch.yaml")).read_text("utf-8")
    start = source.index("    - id: embedding\n", source.index("cause:\n"))
    cut = source[:start] + source[source.index("hints:\n") :]
    file = written(tmp_path, cut)
    error = refused(file, Break)
    line = line_of(cut, "cause:\n") + cut[cut.index("cause:\n") :].split("options:")[0].count("\n")
    assert "4" in error.what and place(error, file)[0] == line
