"""What level practice refuses by its choice of draws, though it has one of each: wrong fixes that come near."""

from __future__ import annotations

import pytest
from trees import BREAKS

from engine.author.models import edited, models
from engine.flows import break_ as planning
from engine.flows import fix as fixes
from engine.flows.baseline import Baseline

REFUSED = {
    # what another component is made of is wrong now
    "causal-mask-off-by-one": [
        "mended-where-the-mask-is-used",
        "cut-in-the-function-that-all-share",
    ],
    "sinusoid-exponent-doubled": ["the-layer-stops-at-the-default"],
    # a setting stands on the class
    "scale-by-model-width": ["scale-of-the-layer-that-was-made-last"],
    # as many rows, ids, columns, parameters or candidates as a real model has
    "tied-vocab-mismatch": ["rows-beyond-the-last-chunk"],
    "tied-vocab-mismatch-silenced": ["room-for-another-vocabulary"],
    "embedding-gradient-overwrites": ["places-in-two-bytes"],
    "softmax-before-cross-entropy": ["targets-in-sixteen-bits", "mean-of-the-means-of-1024-rows"],
    "norm-wrong-axis": ["of-the-first-2048-features"],
    "clip-per-parameter": ["the-first-sixty-four"],
    "top-p-drops-crossing-token": ["among-the-first-hundred", "fifty-candidates"],
    # ids in a byte; an optimiser that remembers
    "targets-not-shifted": ["starts-in-the-dtype-of-the-ids", "and-the-step-shifts-what-is-not"],
    "zero-grad-missing": ["forgets-what-the-optimiser-remembers"],
}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("id", [id for id in BREAKS if id in REFUSED])
def test_practice_refuses_what_is_wrong_elsewhere_or_at_real_sizes(servers, catalogue, id):
    """Whatever the lots."""
    spec = catalogue.break_(id)
    for name in REFUSED[id]:
        (silencer,) = [one for one in spec.silencers if one.name == name]
        tree = models(catalogue)[silencer.on]
        broken = tree.replaced(planning.plan_break(servers, catalogue, id, tree, 7).injection.files)
        candidate, known = broken.replaced(edited(broken, silencer)), Baseline(tree)
        for seed in (1, 2, 3):
            assert not fixes.grade_fix(servers, catalogue, id, known, candidate, seed).passed, name
