"""What a blind break by facts shows at once: what happens, and no number that names the bug, if that suffices."""

from __future__ import annotations

import pytest

from engine.flows.fact_observe import at_once
from engine.flows.observe import Observed
from engine.observe.diagnostics import Observation, Row

SAMPLE, NAMING = "sample", "candidates_top_k"


def observed(differing):
    rows = [
        Row(name, "1", "2" if name in differing else "1", name in differing)
        for name in (SAMPLE, NAMING)
    ]
    one = Observation("t", (), tuple(rows), (), (), (), "", (), "", "", (), "")
    return Observed((one,), (), None)


@pytest.mark.parametrize(
    ("differing", "shown"),
    [
        ({SAMPLE, NAMING}, [SAMPLE]),
        ({SAMPLE}, [SAMPLE]),
        ({NAMING}, [SAMPLE, NAMING]),  # nothing else would tell that anything is broken
    ],
)
def test_a_number_that_names_the_bug_is_kept_for_the_hints_where_something_else_differs(
    differing, shown
):
    found = at_once(observed(differing))
    assert [row.name for row in found.observations[0].numbers] == shown
