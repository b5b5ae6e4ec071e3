"""Where a bug goes in this learner's code: the plan of a break, made and verified in memory.

Like the comparisons in `build`, this is a function of an exercise, a tree and a seed, and knows
nothing of terminals or of a learner's folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from engine.code.modules import role_files
from engine.code.symbols import symbols_of
from engine.errors import Message, SpecError
from engine.flows import expectations, oracle, refusal
from engine.flows.expectations import Begun
from engine.flows.measuring import Halted, Progress, quiet
from engine.flows.needs import check_outcomes
from engine.flows.siblings import Siblings
from engine.flows.tracing import Tracer
from engine.inject.candidates import changed_lines
from engine.inject.learner_code import Code
from engine.inject.lies import without_lies
from engine.inject.search import Injection, NotFound, inject
from engine.run.concurrent import run_both
from engine.run.jobs import jobs_of
from engine.run.servers import TRACED, RunOptions, Servers
from engine.run.types import Tree
from engine.spec.catalogue import Catalogue
from engine.spec.recipes import roles_of_steps, traced


class Planned(msgspec.Struct, frozen=True):
    """A verified injection, with what it took."""

    injection: Injection
    file: str
    symbol: str
    places: tuple[tuple[str, str], ...]  # what it changed: each file with each `Class.method`
    dtype: str  # of the tree's arrays

    @property
    def bug(self) -> dict[str, Any]:
        """Where it is and how it was put there, as plain data."""
        places = [list(place) for place in self.places]
        return {
            "file": self.file, "symbol": self.symbol, "how": self.injection.how, "places": places,
        }  # fmt: skip


def plan_break(
    servers: Servers,
    catalogue: Catalogue,
    id: str,
    tree: Tree,
    seed: int,
    *,
    only: Sequence[str] = (),
    siblings: Siblings | None = None,
) -> Planned:
    """Find and verify the injection of a break, in memory.

    only: proposers to use, all when empty. siblings: what earlier plans for this very tree have
    measured of it.

    Raises NotApplicable when the code is not healthy where this break needs it, or when no
    candidate bites.
    """
    dtype = siblings.dtype_if_known if siblings else ""
    begun = expectations.begin(servers, catalogue, id, tree, seed, dtype)
    return plan_begun(servers, catalogue, begun, only=only, siblings=siblings)


def plan_begun(
    servers: Servers,
    catalogue: Catalogue,
    begun: Begun,
    *,
    only: Sequence[str] = (),
    siblings: Siblings | None = None,
    progress: Progress = quiet,
) -> Planned:
    """The same, of what has been asked already."""
    id, tree, seed = begun.id, begun.tree, begun.seed
    entry, spec = catalogue.entry(id), catalogue.break_(id)
    unknown = roles_of_steps(spec) - catalogue.contract.roles.keys()
    if unknown:
        raise SpecError(
            Message(
                "A recipe names the role {role!r}, which pack.yaml has not.",
                role=sorted(unknown)[0],
            ),
            where=entry.file,
        )
    roles = role_files(tree.roles, tree.roots, tree.files)
    mine = {roles[role] for role in catalogue.roles_of(entry.component) if role in roles}
    known = siblings or Siblings(servers, catalogue, tree, seed, likely=mine)
    recipes = [traced(recipe) for recipe in spec.inject]
    servers.load_tree(tree, "learner", TRACED)
    try:
        dtype, asked = begun.answer()
    except Halted as error:
        raise refusal.halted(id, error) from None
    known.learn(dtype)
    trace = Tracer(servers, entry.file, tree, dtype, seed, recipes)
    wide = catalogue.contract.signatures  # then the code that does the work may stand in any file
    looked = RunOptions(covered=[p for p in tree.files if wide and p.endswith(".py")])
    own, _ = run_both(
        lambda: servers.outcomes(tree, jobs_of([*asked.needed, *asked.shown]), options=looked),
        lambda: trace.measure(recipes[0] if recipes else (), asked.followed),
    )
    split = len(asked.needed)
    check_outcomes(servers, catalogue, id, tree, asked.needs, asked.needed, own[:split])
    items = oracle.items_of(catalogue, asked.shown, asked.symptoms, own[split:])
    slowest = max(outcome.seconds for outcome in own)
    decides = oracle.built(servers, catalogue, id, items, known, progress, slowest)
    ran = [frozenset(outcome.ran or ()) for outcome in own]
    functions = frozenset().union(*ran) if looked.covered else None
    code = Code(tree, roles, functions, [*roles.values()] if wide else ())
    try:
        injection = inject(code, spec.inject, decides, trace, only=only)
    except NotFound as error:
        raise refusal.not_found(catalogue, id, code, trace, error) from None
    return _planned(code, injection, spec.lies, dtype)


def _planned(code: Code, injection: Injection, lies: Sequence[str], dtype: str) -> Planned:
    """Where the bug is, and its files without comments that lie beside it."""
    places, files = [], {}
    for path, data in injection.files.items():
        source = code.sources[path]
        files[path] = without_lies(path, source.data, data, lies)
        symbols = symbols_of(source.module, source.data, data)
        places += [(path, symbol) for symbol in symbols or [""]]
    file, symbol = places[0]  # with its line, where several have that name
    bare = tuple((path, name.partition(" ")[0]) for path, name in places)
    lines = changed_lines(code, files)
    quiet = msgspec.structs.replace(injection, files=files, changed_lines=lines)
    return Planned(quiet, file, symbol, bare, dtype)
