"""Verdicts as JUnit XML, which CI systems show: one suite, and a case for each candidate.

The form that Jenkins, GitLab and GitHub's actions read: `testsuite` with `tests`, `failures` and
`errors`, `testcase` with `classname`, `name` and `time` in seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from xml.etree import ElementTree

from engine.report.formats import Line
from engine.report.out import safe

TOLD = ("component", "check", "regime", "index", "expected", "got")


def judged(lines: Iterable[Line], about: str) -> None:
    """The whole document, when the last verdict has come."""
    text = ElementTree.tostring(suite(lines, about), "us-ascii", xml_declaration=True)
    sys.stdout.write(text.decode("ascii") + "\n")


def suite(lines: Iterable[Line], about: str) -> ElementTree.Element:
    """Verdicts -> a `testsuite`. Characters that XML 1.0 does not allow are written as \\xNN."""
    made = ElementTree.Element("testsuite", name=safe(f"engine dev judge {about}"))
    counts = dict.fromkeys(("tests", "failures", "errors"), 0)
    milliseconds = 0.0
    for line in lines:
        made.append(_case(line, about))
        counts["tests"] += 1
        counts["failures"] += line["verdict"] == "fail"
        counts["errors"] += line["verdict"] == "error"
        milliseconds += line["ms"]
    for name, count in counts.items():
        made.set(name, str(count))
    made.set("time", f"{milliseconds / 1000:.3f}")
    ElementTree.indent(made)
    return made


def _case(line: Line, about: str) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase", classname=safe(about), name=safe(line["candidate"]),
        time=f"{line['ms'] / 1000:.3f}",
    )  # fmt: skip
    failing = line["failing"]
    if failing is not None:
        kind = "error" if line["verdict"] == "error" else "failure"
        told = {name: failing[name] for name in TOLD if failing[name] not in ("", None)}
        told["seed"] = line["seed"]
        inner = ElementTree.SubElement(
            case, kind, type=safe(failing["check"]) or kind, message=safe(failing["explanation"])
        )
        inner.text = safe("\n".join(f"{name}: {value}" for name, value in told.items()))
    return case
