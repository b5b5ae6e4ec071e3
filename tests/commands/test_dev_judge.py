"""engine dev judge: a verdict on each candidate, the one that a learner would get."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from workbench import HEAD, MODELS, ROOT, contents, engine

NORM = "src/minimodel/nn/norm.py"
KEYS = ["candidate", "verdict", "checks", "failing", "seed", "ms"]
WHY = ["check", "regime", "component", "index", "expected", "got", "explanation"]
CUT = "\nLayerNorm.forward = lambda self, x: x * self.gain + self.bias\n"


ANEW = {"ENGINE_SEED": ""}  # draws as a learner's, which no test foresees


def judge(
    *words: str | Path, cwd: Path, code: int = 0, env: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """The lines of `engine dev judge --json`."""
    told = engine("dev", "judge", *words, "--json", cwd=cwd, code=code, env=env).stdout
    lines = [json.loads(line) for line in told.splitlines()]
    for line in lines:
        assert list(line) == KEYS
        assert isinstance(line["checks"], int) and line["checks"] > 0 and line["ms"] >= 0
        assert line["seed"].isdecimal()
        assert (line["failing"] is None) == (line["verdict"] == "pass")
        assert line["failing"] is None or list(line["failing"]) == WHY
    return lines


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with a healthy model in `good`."""
    shutil.copytree(ROOT / "templates" / "minimodel", tmp_path / "good")
    shutil.copytree(MODELS / "plain", tmp_path / "good", dirs_exist_ok=True)
    return tmp_path


def variant(work: Path, name: str, file: str, more: str = "", *, text: str | None = None) -> Path:
    """A copy of the healthy model with something added to a file, or another text in it."""
    shutil.copytree(work / "good", work / name)
    path = work / name / file
    path.write_text(path.read_text() + more if text is None else text)
    return work / name


def test_builds_are_judged_one_line_each(work: Path) -> None:
    """In the order they were given, named as they were given; the failure says where and what."""
    variant(work, "raw", NORM, CUT)
    good, raw = judge(
        "--build", "layernorm", "--candidate", "good", "--candidate", "./raw", cwd=work
    )
    assert (good["candidate"], good["verdict"]) == ("good", "pass")
    assert (raw["candidate"], raw["verdict"]) == ("./raw", "fail")
    failing = raw["failing"]
    assert failing["component"] == "layernorm" and failing["check"] and failing["regime"]
    assert failing["index"] == [0] * len(failing["index"])
    assert float(failing["expected"]) != float(failing["got"])
    for part in (failing["check"], failing["regime"], failing["expected"], failing["got"]):
        assert part in failing["explanation"]


def test_a_seed_repeats_a_verdict_to_the_digit(work: Path) -> None:
    """And without one every build has a seed of its own."""
    raw = variant(work, "raw", NORM, CUT)
    words = ("--build", "layernorm", "--candidate", raw)
    first, other = judge(*words, "--candidate", raw, cwd=work, env=ANEW)
    assert first["seed"] != other["seed"]
    (again,) = judge(*words, "--seed", first["seed"], cwd=work)
    assert {**first, "ms": 0} == {**again, "ms": 0}


def test_fixes_are_judged_as_submit_fix_does(work: Path) -> None:
    """Restored, wrong, and broken elsewhere; nothing is written anywhere."""
    variant(work, "raw", NORM, CUT)
    variant(work, "elsewhere", HEAD, "\nLMHead.forward = lambda self, h: h\n")
    before = contents(work)
    words = ("--exercise", "layernorm-no-eps", "--healthy", "good")
    names = ["good", "raw", "elsewhere"]
    lines = judge(*words, *(w for n in names for w in ("--candidate", n)), cwd=work)
    assert [line["verdict"] for line in lines] == ["pass", "fail", "fail"]
    assert [line["failing"] and line["failing"]["component"] for line in lines] == [
        None, "layernorm", "lm_head",
    ]  # fmt: skip
    assert contents(work) == before


def test_fixes_of_one_call_share_a_seed_and_the_second_is_judged_as_it_is_alone(work: Path) -> None:
    """What the healthy code gave is not measured again, and changes no verdict; one that is given again
    is drawn anew.
    """
    variant(work, "raw", NORM, CUT)
    variant(work, "bad", NORM, text="class LayerNorm(:\n")
    words = ("--exercise", "layernorm-no-eps", "--healthy", "good")
    names = ["good", "raw", "bad", "bad"]
    lines = judge(*words, *(w for n in names for w in ("--candidate", n)), cwd=work, env=ANEW)
    seeds = [line["seed"] for line in lines]
    assert seeds[0] == seeds[1] == seeds[2] != seeds[3]
    (alone,) = judge(*words, "--candidate", "raw", "--seed", seeds[0], cwd=work)
    assert {**alone, "ms": 0} == {**lines[1], "ms": 0}


def test_the_diff_explains_and_never_decides(work: Path) -> None:
    """A try/except is suspicious where the fix is wrong, and nothing where it is right."""
    tried = "\ntry:\n    pass\nexcept ValueError:\n    pass\n"
    variant(work, "broken", NORM, CUT)
    variant(work, "wrong", NORM, CUT + tried)
    variant(work, "right", NORM, tried)
    words = ("--exercise", "layernorm-no-eps", "--healthy", "good", "--broken", "broken")
    wrong, right = judge(*words, "--candidate", "wrong", "--candidate", "right", cwd=work)
    assert "try/except" in wrong["failing"]["explanation"]
    assert right["verdict"] == "pass"


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "text",
    ["class LayerNorm(:\n", "raise SystemExit(0)\n", "import nothing_of_that_name\n", "\x00", ""],
    ids=["syntax", "exit", "import", "nul", "empty"],
)
def test_what_cannot_be_imported_fails(work: Path, text: str) -> None:
    """It is the candidate's fault, not the engine's."""
    variant(work, "bad", NORM, text=text)
    (line,) = judge("--build", "layernorm", "--candidate", "bad", cwd=work)
    assert line["verdict"] == "fail" and line["failing"]["explanation"]
    words = ("--exercise", "layernorm-no-eps", "--healthy", "good")
    (line,) = judge(*words, "--candidate", "bad", cwd=work)
    assert line["verdict"] == "fail" and line["failing"]["explanation"]


def test_a_folder_without_the_package_fails_and_a_missing_one_is_an_error(work: Path) -> None:
    """The others are judged all the same."""
    (work / "empty").mkdir()
    words = [w for name in ("empty", "gone", "good") for w in ("--candidate", name)]
    lines = judge("--build", "layernorm", *words, cwd=work, code=3)
    assert [line["verdict"] for line in lines] == ["fail", "error", "pass"]
    assert "gone" in lines[1]["failing"]["explanation"]


def test_healthy_code_that_is_not_healthy_is_an_error(work: Path) -> None:
    """Nothing can be judged against it, and the line says what is wrong with it."""
    variant(work, "raw", NORM, CUT)
    words = ("--exercise", "layernorm-no-eps", "--candidate", "good", "--healthy")
    for path in ("raw", "gone"):
        (line,) = judge(*words, path, cwd=work, code=3)
        assert line["verdict"] == "error"
        assert ("layernorm" if path == "raw" else "gone") in line["failing"]["explanation"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--exercise"),
        (("--build", "layernorm", "--exercise", "layernorm-no-eps"), "either"),
        (("--build", "layernorm-no-eps"), "not a build"),
        (("--exercise", "layernorm", "--healthy", "good"), "not a break"),
        (("--exercise", "layernorm-no-eps"), "--healthy"),
        (("--build", "layernorm", "--healthy", "good"), "--healthy"),
        (("--build", "layernorn"), "layernorm"),
        (("--build", "layernorm", "--seed", "-1"), "seed"),
    ],
)
def test_options_that_do_not_fit_are_a_usage_error(
    work: Path, words: tuple[str, ...], said: str
) -> None:
    """Before anything is judged."""
    done = engine("dev", "judge", "--candidate", "good", *words, cwd=work, code=2)
    assert said in done.stderr and not done.stdout


def test_without_json_a_line_is_for_people(work: Path) -> None:
    """Verdict, candidate, and why."""
    variant(work, "raw", NORM, CUT)
    words = ("--build", "layernorm", "--candidate", "good", "--candidate", "raw")
    first, second = engine("dev", "judge", *words, cwd=work, code=0).stdout.splitlines()
    assert first.startswith("pass  good") and second.startswith("fail  raw")
    assert "expected" in second


def test_verdicts_leave_as_junit_for_ci(work: Path) -> None:
    """The exit code is the same in every format."""
    words = ("dev", "judge", "--build", "layernorm", "--candidate", "gone", "--format", "junit")
    done = engine(*words, cwd=work, code=3)
    suite = ElementTree.fromstring(done.stdout)
    assert suite.attrib["errors"] == "1" and suite[0].attrib["name"] == "gone"
    assert "no such folder" in suite[0][0].attrib["message"]
    told = json.loads(engine(*words, "--json", cwd=work, code=3).stdout)  # --json stays as it is
    assert told["verdict"] == "error"
