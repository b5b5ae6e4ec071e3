"""The JSON Schema of what authors write: packs, both kinds of build, breaks and their proofs."""

from __future__ import annotations

import inspect
import json
from typing import Any

import msgspec

from engine.spec.types import Break, Build, FactBuild, Pack, Proof, Story


def schema_text() -> str:
    """One document, with a definition for each kind of file."""
    schemas, definitions = msgspec.json.schema_components(
        [Pack, Build, FactBuild, Break, Story, Proof], ref_template="#/$defs/{name}"
    )
    names = (
        "pack.yaml",
        "build.yaml",
        "facts.yaml",
        "<break>.yaml",
        "<story>.yaml",
        "<break>.proof.yaml",
    )
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "engine exercises",
        "files": dict(zip(names, schemas, strict=True)),
        "$defs": definitions,
    }
    return json.dumps(_cleaned(document), indent=1, ensure_ascii=False) + "\n"


def _cleaned(found: Any) -> Any:
    """With docstrings as one reads them: msgspec gives them so from 0.23 on, and indented before."""
    if isinstance(found, dict):
        return {
            key: inspect.cleandoc(inner)
            if key == "description" and isinstance(inner, str)
            else _cleaned(inner)
            for key, inner in found.items()
        }
    return [_cleaned(one) for one in found] if isinstance(found, list) else found
