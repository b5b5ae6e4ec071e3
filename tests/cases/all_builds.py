"""Judge every build of every right package: those of tests/corpus and the pack's own models. All must pass.

python -m tests.cases.all_builds [--seed N] [--only COMPONENT ...]
"""

from __future__ import annotations

import argparse
import sys

from engine.author.models import models
from engine.flows.build import grade_build
from engine.flows.measuring import servers_for
from engine.spec.catalogue import Catalogue
from tests.trees import NAMES, corpus_tree


def main() -> int:
    """How many builds were refused; each is told with the first check that fails."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--only", nargs="*", default=[])
    given = asked.parse_args()
    catalogue = Catalogue.find("minimodel")
    components = given.only or list(catalogue.contract.components)
    trees = {**models(catalogue), **{name: corpus_tree(name) for name in NAMES}}
    refused = 0
    with servers_for(catalogue, None) as servers:
        for name, tree in trees.items():
            for component in components:
                failing = grade_build(servers, catalogue, component, tree, given.seed).failing
                if failing:
                    refused += 1
                    print(name, component, failing.id, failing.regime, failing.difference)
    print(f"{len(trees)} packages, {len(components)} builds each, {refused} refused")
    return refused


if __name__ == "__main__":
    sys.exit(bool(main()))
