"""What a learner's code imports of Python's own is there before the next child is forked."""

from __future__ import annotations

from typing import Any

import pytest
from lab import Lab
from test_forgery import INSIDER

from engine.run.child import wire

IMPORTS = """
import sys

def main(name):
    had = name in sys.modules
    __import__(name)
    return {"had": had, "file": sys.modules[name].__file__ or ""}
"""


def test_the_second_child_finds_what_the_first_imported(lab: Lab) -> None:
    """An import is paid for once."""
    tree = lab.tree(IMPORTS)
    found = [lab.runs(tree, {"name": "colorsys"})[0].values["had"] for _ in range(3)]
    assert found == [False, True, True]
    first, *_ = lab.runs(tree, {"name": "numpy.polynomial"})
    again, *_ = lab.runs(tree, {"name": "numpy.polynomial"})
    assert (first.values["had"], again.values["had"]) == (False, True)


def test_a_learners_own_module_is_imported_anew_each_time(lab: Lab) -> None:
    """Nothing of theirs runs where a later child could find it."""
    tree = lab.tree({"src/mine.py": IMPORTS + "    import theirs", "src/theirs.py": ""})
    for _ in range(2):
        assert lab.runs(tree, {"name": "theirs"})[0].values["had"] is False


def test_a_learners_module_with_a_name_of_pythons_is_theirs(lab: Lab) -> None:
    """Also where an earlier tree had none, and imported Python's."""
    plain = lab.tree(IMPORTS)
    for _ in range(2):
        lab.runs(plain, {"name": "colorsys"})
    own = lab.tree({"src/mine.py": IMPORTS + "    import colorsys", "src/colorsys.py": ""})
    for _ in range(2):
        (outcome,) = lab.runs(own, {"name": "colorsys"})
        assert outcome.values["had"] is False
        assert outcome.values["file"].endswith("learner/src/colorsys.py")


@pytest.mark.parametrize(
    "imports",
    [
        ["this", "antigravity", "colorsys"],
        ["nowhere_at_all"],
        [5, None],
        "colorsys",
        {"a": 1},
        None,
        ["mine"],
    ],
    ids=str,
)
def test_who_forges_the_list_gains_nothing(lab: Lab, imports: Any) -> None:
    """What acts on import is not imported, what is none is not looked for; the run goes on."""
    asks = INSIDER.replace(
        "def main(x", "def loaded():\n    return sorted(sys.modules)\n\ndef main(x"
    )
    tree = lab.tree(asks.replace('return {"x": x}', 'return {"x": x, "modules": loaded()}'))
    forged = {"x": 1, "written": wire.encode({"imports": imports})}
    before = lab.runs(tree, {"x": 0})[0].values["modules"]["list"]
    for _ in range(2):  # a child marks its answers with number 0: of one job, so 1 is the list
        lab.runs(lab.tree(asks.replace('pack("<I", 0)', 'pack("<I", 1)')), forged)
    (outcome,) = lab.runs(tree, {"x": 2})
    assert outcome.values["x"] == 2
    fresh = set(outcome.values["modules"]["list"]) - set(before)
    assert not fresh & {"this", "antigravity", "nowhere_at_all"}
    assert ("colorsys" in fresh) == ("colorsys" in (imports or ()) and isinstance(imports, list))
