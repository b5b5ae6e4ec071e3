"""Random damage to shipped files: read, or refused with a place; never anything else."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from engine.errors import SpecError
from engine.spec import yaml
from engine.spec.load import convert
from engine.spec.packs import content_root
from engine.spec.types import Break, Build, Pack, Spec

FOLDER = content_root("exercises") / "minimodel"
FILES: dict[str, type[Spec]] = {
    "pack.yaml": Pack,
    "13-embeddings/embedding/build.yaml": Build,
    "13-embeddings/lm_head/tied-vocab-mismatch.yaml": Break,
}
TELLING = ["[", "]", "{", "}", ": ", "- ", "\t", "\n", "&a ", "*a", "!!int ", "'", '"', "|", ">", "#", "%", "---\n",
           "? ", "\0", "é", "1e999", "null", "~", "\\", "0x", "\u2028", "\x85", "\ufeff", ",", "...\n", "<<: "]  # fmt: skip


def read(source: bytes, kind: type[Spec]) -> None:
    """Read a spec; a SpecError must name a place that could be in the file."""
    try:
        convert(yaml.read(source, "file.yaml"), kind)
    except SpecError as error:
        what, where = error.what, error.where
    else:
        return
    found = re.fullmatch(r"file\.yaml:(\d+):(\d+)", where)
    assert found, where
    lines = len(re.split(r"\r\n|[\n\r\x85\u2028\u2029]", source.decode("utf-8", "replace")))
    assert 1 <= int(found[1]) <= lines + 1 and int(found[2]) >= 1
    assert what and what == what.strip()


def damaged(source: bytes, data: st.DataObject) -> bytes:
    """The source with a few pieces deleted, doubled, moved, replaced or put in."""
    text = bytearray(source)
    for _ in range(data.draw(st.integers(1, 4), label="edits")):
        start = data.draw(st.integers(0, len(text)), label="start")
        size = data.draw(st.sampled_from([0, 1, 2, 5, 20, 200, 3000]), label="size")
        piece = bytes(text[start : start + size])
        kind = data.draw(
            st.sampled_from(["delete", "double", "insert", "replace", "move", "bytes"]),
            label="kind",
        )
        if kind == "delete":
            del text[start : start + size]
        elif kind == "double":
            text[start:start] = piece
        elif kind == "insert":
            text[start:start] = data.draw(st.sampled_from(TELLING), label="text").encode()
        elif kind == "replace":
            text[start : start + size] = data.draw(st.text(max_size=5), label="text").encode()
        elif kind == "move":
            del text[start : start + size]
            target = data.draw(st.integers(0, len(text)), label="target")
            text[target:target] = piece
        else:
            text[start:start] = data.draw(st.binary(max_size=4), label="bytes")
    return bytes(text)


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_damage_to_a_shipped_file_is_a_spec_error_or_nothing(
    name: str, data: st.DataObject
) -> None:
    """Deleted, doubled, moved and inserted characters: nothing but SpecError is ever raised."""
    read(damaged((FOLDER / name).read_bytes(), data), FILES[name])


@given(st.binary(max_size=200), st.sampled_from([Pack, Build, Break]))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_read_or_refused(source: bytes, kind: type[Spec]) -> None:
    """Bytes that have nothing to do with YAML."""
    read(source, kind)


@given(
    st.text("abc:{}[],-|>&*!%@`'\"#?\n\t 019.~", max_size=80), st.sampled_from([Pack, Build, Break])
)
@settings(max_examples=150, deadline=None)
def test_any_text_in_the_letters_of_yaml_is_read_or_refused(text: str, kind: type[Spec]) -> None:
    """Texts that are nearly YAML."""
    read(text.encode(), kind)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(sorted(Break.__struct_fields__)) | st.text(max_size=5), VALUES, max_size=6
    )
)
@example({"...": None})
@settings(max_examples=100, deadline=None)
def test_any_values_under_right_keys_are_read_or_refused(found: dict[str, object]) -> None:
    """Right names over wrong things, written as JSON, which is YAML."""
    import json

    read(json.dumps(found).encode(), Break)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))
def test_much_damage_to_a_shipped_file_is_a_spec_error_or_nothing(
    name: str, data: st.DataObject
) -> None:
    """The same, for longer."""
    read(damaged((FOLDER / name).read_bytes(), data), FILES[name])
