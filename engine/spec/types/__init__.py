"""The spec language: what an author may write in `pack.yaml`, `build.yaml` and `<break>.yaml`.

Frozen structs; every field is documented in `exercises/README.md`, and `engine dev schema` prints
them as JSON Schema.
"""

from engine.spec.types.base import Figure, Id, Link, Option, Spec, Text
from engine.spec.types.break_ import BEFORE, Break, Need, Silencer, Symptom, TextEdit
from engine.spec.types.build import EVERY, Assignment, Build, Check, FactBuild, Question, Range
from engine.spec.types.comparison import Comparison, Row
from engine.spec.types.fact_pack import FactPack
from engine.spec.types.pack import Area, Component, DtypeProbe, Pack, Syllabus
from engine.spec.types.proof import Proof, SpanEdit, Variant, Way
from engine.spec.types.recipe import Append, Pattern, Recipe, Rewrite, RoleEdit, Step
from engine.spec.types.story import Blind, Cause, Measured, Observe, Prediction, Story
from engine.spec.types.walkthrough import Part, SameWord, Walkthrough

__all__ = [
    "BEFORE", "EVERY", "Append", "Area", "Assignment", "Blind", "Break", "Build", "Cause", "Check",
    "Comparison", "Component", "DtypeProbe", "FactBuild", "FactPack", "Figure", "Id", "Link",
    "Measured", "Need", "Observe", "Option", "Pack", "Part", "Pattern", "Prediction", "Proof",
    "Question", "Range", "Recipe", "Rewrite", "RoleEdit", "Row", "SameWord", "Silencer", "SpanEdit",
    "Spec", "Step", "Story", "Syllabus", "Symptom", "Text", "TextEdit", "Variant", "Walkthrough",
    "Way",
]  # fmt: skip
