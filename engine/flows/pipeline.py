"""The source of the probe that a break names as its pipeline: the code that will be run."""

from __future__ import annotations

import ast

from engine.code.syntax import parse
from engine.spec.catalogue import Catalogue


def pipeline_source(catalogue: Catalogue, id: str) -> str:
    """The function of a `call.py` that a break names as its pipeline, "component.probe"; "" of a pack that
    learners do not write to.
    """
    pipeline = "" if catalogue.goes_by_facts(id) else catalogue.break_(id).pipeline
    component, _, probe = pipeline.partition(".")
    if not probe or component not in catalogue.folders:
        return ""
    text = catalogue.probes(component)
    lines = text.splitlines()
    for node in parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == probe:
            return "\n".join(lines[node.lineno - 1 : node.end_lineno])
    return ""
