"""Numbers in texts: each is measured anew by `engine dev check`, or named as set by the exercise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path

from engine.flows.observe import shown_draws
from engine.observe.arithmetic import evaluate
from engine.run.jobs import jobs_of
from engine.run.servers import Servers
from engine.run.types import Outcome, Tree
from engine.spec.load import convert, document
from engine.spec.texts import FIGURE, texts
from engine.spec.types import Break, Build, FactBuild, Figure
from engine.words import COMMA_LANGUAGES

# decimals, powers of ten, percentages, and whole numbers from 100 on: 3.16, 1e-5, 35%, 103,680
NUMBER = re.compile(r"(?<![\w.$-])\d+(?:,\d{3})+(?:\.\d+)?|(?<![\w.$])\d+(?:\.\d+)?(?:e-?\d+)?%?")
CODE = re.compile(r"`[^`]*`|https?://\S+|\(\d{4}\)")
GROUPS = re.compile(r"(?<=\d)[ \u00a0](?=\d{3}(?!\d))")  # 54 410, where a comma is decimal
DECIMALS = re.compile(r"(?<=\d),(?=\d)")
SETS = (  # parts that state what the exercise sets, or where others wrote it
    "constraints", "shows", "ask", "anchors", "references", "sources",
)  # fmt: skip
FROM = 100  # whole numbers below are counts that a reader can check


def untied(file: Path, kind: type[Build | FactBuild | Break]) -> Iterator[str]:
    """Numbers in a spec's texts that no figure states, and figures that no text states."""
    spec = convert(document(file), kind)
    stated = {number.replace(",", "") for number in spec.stated}
    used: set[str] = set()
    for path, text in texts(spec):
        setting = any(part in SETS for part in path.split("."))
        for language, words in text.items():
            used |= {found[1:-1] for found in FIGURE.findall(words)}
            for number in _numbers(words, language):
                plain = number.replace(",", "")
                small = plain.isdigit() and int(plain) < FROM
                if not small and not setting and plain not in stated:
                    yield (
                        f"{path} ({language}) states {number}: make it a figure, which is measured,"
                        " or list it under `stated` if the exercise sets it"
                    )
    for name in sorted(spec.figures.keys() - used):
        yield f"the figure {name!r} stands in no text"


def _numbers(words: str, language: str) -> list[str]:
    """The numbers of a text outside its code and its figures, as English writes them."""
    words = CODE.sub(" ", FIGURE.sub(" ", words))
    if language in COMMA_LANGUAGES:
        words = DECIMALS.sub(".", GROUPS.sub("", words))
    return NUMBER.findall(words)


def measured(
    servers: Servers,
    file: str,
    figures: Mapping[str, Figure],
    tree: Tree,
    broken: Tree,
    dtype: str,
) -> dict[str, tuple[bool, str]]:
    """Each figure: whether it is what it says, and both numbers."""
    wanted = sorted({(one.probe, one.regime) for one in figures.values() if one.probe})
    work = jobs_of(servers.cases(shown_draws(wanted, file, dtype), healthy=False))
    sides = [dict(zip(wanted, servers.outcomes(one, work), strict=True)) for one in (tree, broken)]
    found = {}
    for key, figure in figures.items():
        names: dict[str, object] = {}
        for side, outcomes in zip(("healthy", "broken"), sides, strict=True):
            outcome = outcomes.get((figure.probe, figure.regime), Outcome())
            names |= {f"{side}.{name}": value for name, value in outcome.values.items()}
        try:
            value = evaluate(figure.of, names)
        except ValueError as error:
            found[key] = (False, str(error))
            continue
        said = Decimal(figure.says.replace(",", ""))
        last = Decimal(1).scaleb(int(said.as_tuple().exponent))
        held = abs(Decimal(value) - said) <= last / 2 * Decimal("1.000001")
        found[key] = (held, f"says {figure.says}, measured {value:.10g}")
    return found
