"""Pictures of characters: axes, decades, few points, streams that know little of Unicode."""

from __future__ import annotations

import io
import math
import sys
from pathlib import Path

import msgspec
import pytest
from frozen import OBSERVATION, REPORTS

from engine.commands.pictures import save_curves
from engine.errors import NotApplicable
from engine.report.plot import ASCII, UNICODE, glyphs, is_logarithmic, picture
from engine.report.text import show
from engine.words import speak

FALLS, RISES = [10 - i / 10 for i in range(60)], [4 + i / 10 for i in range(60)]


def drawn(*curves: list[float], width: int = 60, height: int = 9) -> list[str]:
    return picture(curves, width=width, height=height, drawn_with=ASCII, along=" step ")


def test_an_axis_has_the_decimal_comma_of_the_language() -> None:
    speak("es")
    try:
        assert drawn([1.5, 2.25])[0].strip().startswith("2,25 |")
    finally:
        speak("en")


def test_two_curves_share_one_picture_with_its_axes() -> None:
    lines = drawn(FALLS, RISES)
    assert len(lines) == 11 and max(map(len, lines)) <= 60
    assert lines[0].startswith("10 |o") and "4 |x" in lines[8]
    assert any("#" in line for line in lines)  # where they cross
    assert lines[-1].split() == ["0", "step", "59"]


def test_decades_are_drawn_on_a_logarithmic_axis() -> None:
    curve = [10.0**i for i in range(13)]
    assert (
        is_logarithmic([curve]) and not is_logarithmic([FALLS]) and not is_logarithmic([[0.0, 1e9]])
    )
    lines = drawn(curve, height=13)
    rows = [
        next(i for i, line in enumerate(lines) if "o" in line[8:][at : at + 3])
        for at in (0, 24, 48)
    ]
    assert rows == [12, 6, 0] and lines[0].strip().startswith("1.0e+12")


@pytest.mark.parametrize(
    "curve", [[math.nan] * 20, [1.0] * 20, [math.inf, *FALLS, -math.inf, math.nan], [0.0, 1.0]]
)
def test_what_is_no_number_is_left_out_and_what_is_infinite_stands_at_the_edge(
    curve: list[float],
) -> None:
    lines = drawn(curve)
    finite = any(map(math.isfinite, curve))
    assert bool(lines) is finite
    if math.inf in curve:
        assert "o" in lines[0] and "o" in lines[8]


@pytest.mark.parametrize(
    ("encoding", "kind"), [("utf-8", UNICODE), ("latin-1", ASCII), ("ascii", ASCII), (None, ASCII)]
)
def test_a_stream_gets_what_it_can_show(encoding: str | None, kind: object) -> None:
    assert glyphs(encoding) is kind


def told(name: str, encoding: str, monkeypatch: pytest.MonkeyPatch, **changed: object) -> str:
    one = msgspec.structs.replace(OBSERVATION, **changed)
    report = REPORTS[name]
    observed = msgspec.structs.replace(report.observed, observations=(one,))
    stream = io.TextIOWrapper(io.BytesIO(), encoding, errors="backslashreplace", write_through=True)
    monkeypatch.setattr(sys, "stdout", stream)
    show(msgspec.structs.replace(report, observed=observed))
    return stream.buffer.getvalue().decode(encoding)


def test_without_unicode_the_picture_is_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    text = told("observe", "ascii", monkeypatch)
    assert "\\u" not in text and "o healthy: from 5.5 to 4.32" in text and " |" in text


def test_a_few_points_are_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"healthy_curve": (1.0, 2.0), "broken_curve": (3.0, 4.5, 5.0), "curve": "row_norms"}
    text = told("observe", "utf-8", monkeypatch, **few)
    assert "row norms\n" in text and "│" not in text
    assert [line.split() for line in text.splitlines() if line.startswith(("  0 ", "  1 ", "  2 "))][:3] == [
        ["0", "1", "3"], ["1", "2", "4.5"], ["2", "5"],
    ]  # fmt: skip


def test_what_is_there_now_has_a_curve_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    text = told("observe", "utf-8", monkeypatch, now_curve=tuple(FALLS), edited=True)
    assert "+ now: from 10 to 4.1" in text


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_curves_of_a_break_are_saved(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / f"break{suffix}"
    save_curves(file, [OBSERVATION])
    assert file.read_bytes()[:5] in (b"\x89PNG\r", b"<?xml")


def test_a_break_without_a_curve_says_so(tmp_path: Path) -> None:
    bare = msgspec.structs.replace(OBSERVATION, healthy_curve=(), broken_curve=())
    with pytest.raises(NotApplicable, match="no curve"):
        save_curves(tmp_path / "x.png", [bare])
