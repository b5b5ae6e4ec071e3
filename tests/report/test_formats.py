"""The formats of verdicts: text, JSON Lines, and the XML that CI systems read."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest

from engine.cli.author import Format
from engine.report.formats import FORMATS, verdicts

NASTY = '<a href="x">&amp; \x1b[31m\x00\udcff\ufffe\u202e ñ ]]>'
FAILING = {
    "check": "shift", "regime": "one_token", "component": "cross_entropy", "index": [3, 6],
    "expected": "6.238", "got": "6.931", "explanation": "A sum where a mean is wanted.",
}  # fmt: skip


def line(candidate: str, verdict: str, **failing: Any) -> dict[str, Any]:
    """A line of `engine dev judge`, its keys in their order."""
    why = None if verdict == "pass" else {**FAILING, **failing}
    return {"candidate": candidate, "verdict": verdict, "checks": 14, "failing": why, "seed": "7", "ms": 1250.5}  # fmt: skip


LINES = [
    line("good", "pass"),
    line("raw", "fail"),
    line("gone", "error", check="", regime="", component="", index=None, expected="", got=""),
]


def parsed(capsys: pytest.CaptureFixture[str]) -> ElementTree.Element:
    """What was printed, read as a CI system reads it."""
    text = capsys.readouterr().out
    assert text.startswith("<?xml version='1.0' encoding='us-ascii'?>\n") and text.isascii()
    return ElementTree.fromstring(text)


def test_the_command_line_knows_every_format() -> None:
    assert [one.value for one in Format] == list(FORMATS)


def test_junit_is_a_suite_with_a_case_for_each_candidate(capsys) -> None:
    verdicts("junit").judged(iter(LINES), "cross_entropy")
    suite = parsed(capsys)
    assert suite.tag == "testsuite" and "cross_entropy" in suite.attrib["name"]
    counts = {name: suite.attrib[name] for name in ("tests", "failures", "errors", "time")}
    assert counts == {"tests": "3", "failures": "1", "errors": "1", "time": "3.752"}
    assert [case.attrib["name"] for case in suite] == ["good", "raw", "gone"]
    assert {case.attrib["classname"] for case in suite} == {"cross_entropy"}
    assert [[part.tag for part in case] for case in suite] == [[], ["failure"], ["error"]]
    assert suite[0].attrib["time"] == "1.250"
    failure = suite[1][0]
    assert failure.attrib == {"type": "shift", "message": "A sum where a mean is wanted."}
    assert failure.text is not None
    assert failure.text.splitlines() == [
        "component: cross_entropy", "check: shift", "regime: one_token", "index: [3, 6]",
        "expected: 6.238", "got: 6.931", "seed: 7",
    ]  # fmt: skip
    assert suite[2][0].attrib["type"] == "error" and suite[2][0].text == "seed: 7"


def test_junit_takes_any_text(capsys) -> None:
    """Names of files and messages of learner code: escaped, or written as \\xNN where XML has no such."""
    verdicts("junit").judged([line(NASTY, "fail", got=NASTY, explanation=NASTY)], NASTY)
    case = parsed(capsys)[0]
    for text in (case.attrib["name"], case.attrib["classname"], case[0].attrib["message"]):
        assert text == '<a href="x">&amp; \\x1b[31m\\x00\\xdcff\\xfffe\\x202e ñ ]]>'
    assert "\\x1b[31m" in (case[0].text or "")


def test_junit_of_nobody_is_an_empty_suite(capsys) -> None:
    verdicts("junit").judged([], "embedding")
    suite = parsed(capsys)
    assert len(suite) == 0 and suite.attrib["tests"] == "0"


def test_json_is_a_line_for_each_as_it_comes(capsys) -> None:
    seen = []

    def lines():
        for one in LINES:
            yield one
            seen.append(capsys.readouterr().out)

    verdicts("json").judged(lines(), "cross_entropy")
    assert [json.loads(text) for text in seen] == LINES
    assert all(text.endswith("}\n") and text.count("\n") == 1 for text in seen)


def test_text_is_a_line_for_each(capsys) -> None:
    verdicts("text").judged(LINES, "cross_entropy")
    good, raw, gone = capsys.readouterr().out.splitlines()
    assert good == "pass  good: 14 checks (1250.5 ms)"
    assert raw == "fail  raw: A sum where a mean is wanted. (1250.5 ms)"
    assert gone.startswith("error gone: ")
