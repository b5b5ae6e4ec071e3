"""The picture in README.md shows what the commands print."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import picture


def words(text: str) -> list[str]:
    """Without what differs from run to run: numbers are drawn anew."""
    return re.findall(r"[a-zA-Z_]{2,}", text)


def test_the_picture_shows_a_real_run() -> None:
    """Draw it anew with `python tests/bench/picture.py` where this fails."""
    lines = re.findall(r"<text[^>]*>(.*?)</text>", picture.FILE.read_text("utf-8"))
    kept = words(html.unescape("\n".join(lines)).replace("\u00a0", " "))
    for line in picture.shown().splitlines():
        if line.startswith("     "):  # what differs, of numbers that are drawn anew
            continue
        assert all(word in kept for word in words(line.partition(": ")[0])), line
    assert ".ci/terminal.svg" in (picture.ROOT / "README.md").read_text("utf-8")
