"""The JSON Schema: what is checked in is what the program prints, and it describes what is read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.spec.packs import content_root
from engine.spec.schema import schema_text
from engine.spec.types import Break, Build, Pack

FILE = content_root("exercises") / "schema.json"


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What `engine dev schema` prints."""
    done = subprocess.run(
        [sys.executable, "-m", "engine", "dev", "schema"],
        capture_output=True, encoding="utf-8", cwd=tmp_path_factory.mktemp("empty"), check=True,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout


def test_the_schema_that_is_checked_in_is_the_one_that_is_printed(printed: str) -> None:
    """`engine dev schema > exercises/schema.json` after every change of the types."""
    assert FILE.read_text("utf-8") == printed


def test_the_schema_is_printed_the_same_every_time(printed: str) -> None:
    """No order that changes from run to run."""
    assert schema_text() == printed


def test_every_reference_in_the_schema_leads_somewhere(printed: str) -> None:
    """The document stands on its own."""
    document = json.loads(printed)

    def references(part: Any) -> list[str]:
        if isinstance(part, dict):
            own = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
            return own + [r for value in part.values() for r in references(value)]
        return [r for value in part for r in references(value)] if isinstance(part, list) else []

    found = references(document)
    assert found
    assert {r.removeprefix("#/$defs/") for r in found} <= set(document["$defs"])


@pytest.mark.parametrize(
    ("file", "kind"), [("pack.yaml", Pack), ("build.yaml", Build), ("<break>.yaml", Break)]
)
def test_the_schema_has_every_field_and_no_other(
    printed: str, file: str, kind: type[msgspec.Struct]
) -> None:
    """An editor that knows the schema refuses what the engine refuses."""
    document = json.loads(printed)
    found = document["$defs"][document["files"][file]["$ref"].removeprefix("#/$defs/")]
    fields = msgspec.structs.fields(kind)
    assert set(found["properties"]) == {field.encode_name for field in fields}
    assert set(found["required"]) == {field.encode_name for field in fields if field.required}
    assert found["additionalProperties"] is False


def test_the_schema_is_read_from_the_place_that_ships() -> None:
    """Beside the packs."""
    assert Path(FILE).parent == content_root("exercises")
