"""One report of every kind, made by hand: what a person is shown needs no verdict to be looked at.

Texts are long, numbers wide, lists not empty, so that each part of a view is shown.
"""

from __future__ import annotations

from typing import Any

import msgspec

from engine.author.lint import Problem
from engine.author.proof import Proof
from engine.author.prove import CheckReport
from engine.flows.answers import Answer
from engine.flows.blind import BlindReport
from engine.flows.build_report import AllReport, BuildReport, Part
from engine.flows.comparison import Compared, ComparisonReport
from engine.flows.demo import Asked, Bug, Checked, Step
from engine.flows.diagnosis import DiagnosisReport
from engine.flows.fix_report import CauseResult, FixReport, Reveal
from engine.flows.listing import Listed, ListReport, NextReport, Stated, StatusReport
from engine.flows.observe import Observed, ObserveReport
from engine.flows.predictions import BreakReport, Opening
from engine.flows.questions import Answered
from engine.flows.reports import (
    DoctorReport,
    Finding,
    HintReport,
    InitReport,
    NotesReport,
    ReproReport,
    ResetReport,
    WatchReport,
)
from engine.flows.show import ShowReport
from engine.flows.walkthrough import Point, Shown, Walked, WalkReport
from engine.judge import findings as judge_findings
from engine.judge.compare import NOT_RUN, Difference
from engine.judge.result import Result, Verdict
from engine.observe.diagnostics import Observation, Row
from engine.observe.score import Bin, Scored
from engine.run.types import Sandbox
from engine.spec.types import Option, Prediction

LOUD = "tied-vocab-mismatch"
LONG = (
    "The head writes one logit for every row of its table, and the loss takes the number of classes"
    " from there: what does not fit is found two functions further on, where nobody put it.\n"
    "Whoever reads the traceback reads the name of a victim.\n\n"
    "- `self.vocab_size_out` is the width of the head, in rows;\n"
    "- `embedding.vocab_size` is the one that it should have.\n"
)
PATH = "/home/ada/courses/transformers/learners/ada/practice/tied-vocab-mismatch"
FILE = "src/minimodel/nn/language_modelling_head.py"
CODE = (
    "def forward(learner, x, targets, vocab_size, d_model, seed, shift, ignore_index=-100):\n"
    "    return learner.cross_entropy(learner.LMHead(learner.Embedding(vocab_size, d_model))(x), t)\n"
)
DIFF = (
    f"--- a/{FILE}\n+++ b/{FILE}\n@@ -12,3 +12,3 @@\n     def __init__(self, embedding):\n"
    "-        self.vocab_size_out = 256  # rows of the table, which the head and the lookup share\n"
    "+        self.vocab_size_out = embedding.vocab_size\n"
)
DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
SANDBOX = Sandbox((3, 11, 9), "2.1.0", 4, True)
BARE = Sandbox((3, 9, 1), "1.26.0", 0, False)

FAILED = Result(
    "shift-by-one", "cross_entropy", {"en": LONG.split("\n")[0], "es": "La pérdida."}, False, 24,
    regime="one_token",
    inputs="logits of shape (4, 7, 512), targets of shape (4, 7), ignore_index -100",
    difference=Difference(
        "value", "loss", "an array (4, 7) of float64, 6.2383246250395075", "6.931471805599453",
        (3, 6), 21, 28, (4, 7),
    ),
    pattern="Every second value is 8 times the expected one: a sum where a mean is wanted.",
    traceback=(
        f"{FILE}:41 in forward: return self.project(self.dropout(self.norm(hidden_states)), mask)",
        "src/minimodel/nn/loss.py:18 in cross_entropy: raise ValueError(f'logits {logits.shape}')",
    ),
)  # fmt: skip
HELD = Result("values", "lm_head", {"en": "The logits are x W^T.", "es": "x W^T."}, True, 72)
UNRUN = Result(
    "gradients", "lm_head", {"en": "Gradients."}, False, 0, regime="normal", inputs="x",
    difference=Difference("stopped", "", "an answer", NOT_RUN),
)  # fmt: skip
REFUSED = Verdict(False, (HELD, FAILED, UNRUN, FAILED, FAILED), 4521, "8273645182736451827", "", 3)
FOUND = judge_findings.findings((FAILED,))[0]
PASSED = Verdict(True, (HELD,), 4521, "8273645182736451827")

OBSERVATION = Observation(
    "The loss of the first steps, and the gradients of both tables",
    (Row("logits", "(8, 32, 256) of float64", "(8, 32, 512) of float64", True),),
    (Row("loss", "5.545177444479562", "6.238324625039508", True), Row("steps", "40", "40", False)),
    (Row("grad_embedding", "0.08127", "nan", True),),
    tuple(5.5 - 0.02 * i for i in range(60)),
    (*(6.2 + 0.01 * i for i in range(40)), float("nan"), float("inf")),
    "losses",
    (("log(V)", 6.238), ("a coin toss among the rows of the table", 5.545)),
    f"ValueError: logits of shape (256, 512) and targets of shape (256,) in {FILE}",
    "",
    FAILED.traceback,
    "",
)
OBSERVED = Observed(
    (OBSERVATION,),
    (
        Scored("where", "Where does it stop?", "in the head's product", "in cross_entropy", 70, False),
        Scored("rows", "How many rows?", "32 rows", "32 rows", 80, True),
        Scored("message", "What will it say?", "two shapes that do not fit", LONG, 60, None),
    ),
    0.2652,
)  # fmt: skip
PREDICTIONS = (
    Prediction(
        id="where", kind="choice", ask={"en": "Where does the first forward pass stop?"},
        options=(Option(id="lookup", text={"en": "in the embedding lookup"}),
                 Option(id="logits", text={"en": LONG.split("\n")[0]})),
    ),
    Prediction(id="rows", kind="number", ask={"en": "How many rows?"}, unit="rows", tolerance=0.5),
)  # fmt: skip
OPENING = Opening(
    LOUD, "Two sizes for one table", LONG, CODE, PREDICTIONS, "en", f"{PATH}/notes.md"
)
REVEAL = Reveal(
    LONG, DIFF, LONG, LONG, "softmax-wrong-axis is next.",
    CauseResult("width", 90, True, "The head has a width of its own."),
)  # fmt: skip
REVEALED = msgspec.structs.replace(
    REVEAL, cause=None, was=f"{LOUD}, Two sizes for one table",
    scored=(
        Scored("where", "Where?", FILE, f"{FILE}: LMHead.__init__", 60, True),
        Scored("what", "What?", "Two parts disagree about a size.", "Another thing.", 70, False),
    ),
)  # fmt: skip


def _fix(passed: bool, sandbox: Sandbox = SANDBOX, reveal: Reveal = REVEAL) -> FixReport:
    return FixReport(
        LOUD, "Two sizes for one table", passed, DIFF, PASSED if passed else REFUSED,
        ((FILE, DIGEST),), sandbox, passed, () if passed else ("the number 256: does it fit?",),
        reveal if passed else None, f"{PATH}/notes/breaks.md", "en", f"practice/{LOUD}", "lm_head",
    )  # fmt: skip


def _build(passed: bool, sandbox: Sandbox = SANDBOX) -> BuildReport:
    asked = (Answered("n", LONG, "V * d", True, LONG), Answered("c", "Why?", "so", False, LONG))
    return BuildReport(
        "cross_entropy", "Cross-entropy: from logits to one number", passed,
        PASSED if passed else REFUSED, ((FILE, DIGEST),), sandbox,
        () if passed else ("embedding", "lm_head"), asked if passed else (), 2 if passed else 0,
        "engine next" if passed else "engine hint cross_entropy", "en", "",
    )  # fmt: skip


STATES = ("new", "predicted", "open", "failed", "passed", "closed", "reset")
EXERCISES = tuple(
    Listed(
        f"exercise-with-a-long-name-{i}", "break", "minimodel", "13", "lm_head", LONG[:70], state
    )
    for i, state in enumerate(STATES)
)
POINTS = tuple(Point(f"word{i}", 0.37 * i - 1, 0.11 * i * i) for i in range(12))

REPORTS: dict[str, Any] = {
    "hint": HintReport(LOUD, 2, 3, (LONG,)),
    "all hints": HintReport(LOUD, 3, 3, (LONG, LONG, LONG)),
    "watch": WatchReport(LOUD, PATH),
    "watch right": WatchReport(LOUD, PATH, "engine submit-fix"),
    "reset undone": ResetReport(LOUD, DIGEST[:40], "", PATH),
    "init": InitReport("ada", PATH, PATH, "minimodel", True),
    "init around code": InitReport("ada", PATH, PATH, "minimodel", False, LONG),
    "list": ListReport(EXERCISES),
    "next": NextReport(LOUD, "break", "Two sizes for one table", "new", f"engine break {LOUD}"),
    "nothing next": NextReport("", "", "", "done", "engine list"),
    "notes": NotesReport(f"{PATH}/phase-13/notes/breaks.md", "# Notes\n\nI had\tit.\n"),
    "reset": ResetReport(LOUD, DIGEST[:40], f"git --git-dir={PATH} archive {DIGEST[:40]} | tar x"),
    "status": StatusReport(
        "ada", PATH, PATH,
        tuple(Stated(one.id, one.kind, one.phase, one.state) for one in EXERCISES),
        (("embedding", 2),), LOUD, PATH, 2, (Bin(50, 59, 3, 1), Bin(90, 100, 5, 5)), 8, 0.214,
    ),
    "opening": OPENING,
    "break": BreakReport(
        LOUD, "Two sizes for one table", 1, PATH, f"{PATH}/notes/breaks.md",
        (Answer("where", "logits", 70),), OBSERVED, LONG,
    ),
    "blind": BlindReport("blind-3", "Blind break 3", LONG, OBSERVED, PATH, f"{PATH}/notes/breaks.md"),
    "diagnosis": DiagnosisReport("blind-3", f"{FILE}: Head.forward", LONG, 2, f"{PATH}/notes/breaks.md"),
    "observe": ObserveReport(LOUD, "Two sizes for one table", LONG, (LONG, LONG), OBSERVED, PATH),
    "build passed": _build(True),
    "all parts": AllReport(
        (Part("embedding", True, 14, 14, None), Part("cross_entropy", False, 3, 13, FOUND)), "en", "",
    ),
    "repro": ReproReport("cross_entropy", "value", "repro/cross_entropy-value", "python", ("logits",)),
    "build failed": _build(False, BARE),
    "fix mended": _fix(True),
    "fix refused": _fix(False),
    "blind fix mended": _fix(True, reveal=REVEALED),
    "walk": WalkReport(
        "A sentence on its way", "I love dogs",
        (
            Walked("Ids", LONG, (Shown("ids", ("I: 3", "love: 17")), Shown("shape", ("(3, 16)",)))),
            Walked("Rows", LONG, (Shown("rows", rows=(("dogs", (0.1234,) * 12),)),)),
            Walked("Training", LONG, (Shown("losses", curve=tuple(3 / (i + 1) for i in range(50))),)),
        ),
        POINTS, POINTS[::-1], f"{PATH}/words.png",
    ),
    "comparison": ComparisonReport(
        "tying", "One table or two", LONG, ("tied", "untied"), "untied", LONG[:90],
        (Compared("first_loss", "first loss", (17.64, 17.5, 17.8), (4.44, 4.41, 4.48), "higher", LONG),),
        (tuple(17 / (i + 1) for i in range(50)), tuple(4 / (i + 1) for i in range(50))),
        ((9.5, 1.2), (1.25, 0.6)), LONG[:120],
    ),
    "show": ShowReport(
        LOUD, "break", "Two sizes for one table",
        (("the_break", LONG), ("pipeline", CODE), ("predictions", LONG), ("start", "engine break")),
    ),
    "doctor": DoctorReport(False, (Finding("git", True, PATH), Finding("seccomp", False, LONG[:90]))),
    "asked": Asked(LONG, "in the head's product", 70),
    "check": CheckReport(
        False, (Problem(f"{PATH}/build.yaml:3:1", LONG[:90]),),
        (Proof(LOUD, "plain", "the bug bites", True, ""), Proof(LOUD, "demo", LONG[:90], False, PATH)),
    ),
    "step": Step("engine submit-fix", LONG),
    "intro": Step("", LONG),
    "checked": Checked((("embedding", 14), ("cross_entropy", 12), ("a_component_of_a_longer_name", 7))),
    "bug": Bug(DIFF),
}  # fmt: skip
