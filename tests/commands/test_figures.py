"""Numbers in texts: `engine dev check` measures them anew, and finds those that nothing measures."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from workbench import ROOT

from engine.author import lint as slips
from engine.author import stated_numbers as figures
from engine.commands import dev_check
from engine.spec.catalogue import Catalogue
from engine.spec.load import load
from engine.spec.types import Build

Written = Callable[[str], Path]
LATER = re.compile(r"\n(insight|integration|use|questions|figures|stated):")
BACKGROUND = "background:\n  en: |\n"


@pytest.fixture
def build(tmp_path: Path) -> Written:
    """The build of the embedding in a copy of the pack, with this at the end instead of questions."""

    def write(tail: str, sentence: str = "") -> Path:
        pack = tmp_path / "minimodel"
        shutil.copytree(ROOT / "exercises" / "minimodel", pack)
        file = pack / "13-embeddings" / "embedding" / "build.yaml"
        text = LATER.split(file.read_text("utf-8"))[0]
        assert BACKGROUND in text
        for lang, written in (("en", sentence), ("es", figures.NUMBER.sub(spanish, sentence))):
            text = text.replace(f"  {lang}: |\n", f"  {lang}: |\n    {written}\n", 1)
        file.write_text(f"{text}\n{tail}\n", "utf-8")
        return file

    return write


def spanish(number: re.Match[str]) -> str:
    """A number of an English sentence, as Spanish writes it."""
    return number[0].replace(",", " ").replace(".", ",")


def figure(says: str, of: str, **more: str) -> str:
    """One figure, as YAML."""
    rest = "".join(f", {key}: {value}" for key, value in more.items())
    return f"figures: {{size: {{says: {says!r}, of: {of!r}{rest}}}}}"


def problems(file: Path) -> list[str]:
    """What `dev check` finds without running anything."""
    catalogue = Catalogue("minimodel", next(p for p in file.parents if (p / "pack.yaml").is_file()))
    return [problem.what for problem in slips.problems(catalogue, file.parent.name)]


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("says", "of", "held"),
    [
        ("2,560,000", "10000 * 256", True),
        ("2,560,001", "10000 * 256", False),
        ("0.69", "log(2)", True),
        ("0.70", "log(2)", False),
        ("1e-5", "0.0000101", True),
    ],
)
def test_a_figure_is_measured_to_its_last_digit(
    build: Written, says: str, of: str, held: bool
) -> None:
    report = dev_check.run(build(figure(says, of), "It has {size} numbers."), sample=1)
    (proof,) = [proof for proof in report.proofs if "figure size" in proof.claim]
    assert proof.held is held, proof.detail


def test_a_figure_reads_what_a_probe_records(build: Written) -> None:
    probe = {"probe": "embedding.attributes", "regime": "normal"}
    report = dev_check.run(build(figure("2", "healthy.nothing", **probe), "{size}"), sample=1)
    (proof,) = [proof for proof in report.proofs if "figure size" in proof.claim]
    assert not proof.held and "healthy.nothing" in proof.detail


@pytest.mark.parametrize(
    ("english", "spanish"), [("2,560,000", "2\u00a0560\u00a0000"), ("4,096", "4096"), ("0.125", "0,125")]
)  # fmt: skip
def test_the_number_stands_in_the_text_of_every_language(
    build: Written, english: str, spanish: str
) -> None:
    """Spanish has a decimal comma, and groups from five digits on."""
    spec = load(build(figure(english, "1 + 1"), "It has {size} numbers."), Build)
    assert f"{english} numbers" in spec.background["en"]
    assert f"{spanish} numbers" in spec.background["es"]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("number", ["0.31", "3.16", "35%", "103,680", "512", "1e-5", "5%"])
def test_a_number_that_nothing_measures_is_a_problem(build: Written, number: str) -> None:
    file = build("", f"It is {number} here.")
    assert [what for what in problems(file) if f"states {number}:" in what]
    file.write_text(file.read_text() + f"stated: [{number!r}]\n", "utf-8")
    assert problems(file) == []


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "text", ["in 12 rows", "(2016)", "`eps=1e-5`", "https://x.org/1607.06450", "T = 8"]
)
def test_counts_code_and_years_need_no_measurement(build: Written, text: str) -> None:
    assert problems(build("", f"It is {text} here.")) == []


def test_a_figure_that_no_text_states_is_a_problem(build: Written) -> None:
    assert problems(build(figure("2", "1 + 1"))) == ["the figure 'size' stands in no text"]


def test_numbers_are_found_as_a_reader_sees_them() -> None:
    found = figures.NUMBER.findall(
        "from 0.31 to 0.70, 103,680 of them, -1.000 at 1e-5 (35%), x2 v1.2"
    )
    assert found == ["0.31", "0.70", "103,680", "1.000", "1e-5", "35%"]
