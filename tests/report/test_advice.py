"""What is only advice is told in a line of its own, and counts for nothing."""

from __future__ import annotations

import msgspec
import pytest

from engine.judge.compare import Difference
from engine.judge.result import Result, Verdict
from engine.report.verdicts import View
from engine.run.types import Frame

PLACE = Frame("model.py", 3, "forward", "return x")


def check(id, passed, advice, **more):
    found = Result(id, "part", {"en": id}, passed, 1, advice=advice, **more)
    differs = None if passed or "frames" in more else Difference("value", "y", "1", "2")
    return msgspec.structs.replace(found, difference=differs)


def shown(capsys, *results):
    passed = all(one.passed or one.advice for one in results)
    View("en", "", "part").verdict(Verdict(passed, results, len(results), "1"))
    return capsys.readouterr().out.splitlines()


def test_it_is_told_and_not_counted(capsys):
    lines = shown(
        capsys, check("needed", True, False), check("nice", False, True), check("fine", True, True)
    )
    assert [line for line in lines if line.startswith("advice nice: y is 2, should be 1.")]
    assert "ok: needed; fine" in lines
    assert lines[-1] == "1 of 1 pass"
    assert not any(line.startswith("FAIL") for line in lines)


@pytest.mark.parametrize("apart", [True, False])
def test_it_is_not_told_again_where_what_is_needed_stops_at_the_same_line(capsys, apart):
    error = Difference("raised", "error", "no error", "ValueError: x")
    places = (PLACE, msgspec.structs.replace(PLACE, line=9) if apart else PLACE)
    needed, nice = (
        msgspec.structs.replace(check(id, False, id == "nice", frames=(place,)), difference=error)
        for id, place in zip(("needed", "nice"), places, strict=True)
    )
    told = [line for line in shown(capsys, needed, nice) if line.startswith("advice")]
    assert len(told) == apart
