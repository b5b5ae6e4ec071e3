"""engine observe embedding-walkthrough: a sentence on its way through the learner's own model."""

from __future__ import annotations

import itertools
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from workbench import ROOT, contents, engine, engine_json

from engine import words
from engine.author import lint as slips
from engine.commands import dev_check, init, walkthrough
from engine.commands.session import Session
from engine.errors import LearnerCodeError, UsageError
from engine.flows import walkthrough as flow
from engine.observe.projection import nearest, pca
from engine.report.paper import console
from engine.report.walk import LABELS, picture, walk
from engine.spec import topics
from engine.spec.catalogue import Catalogue
from engine.spec.packs import packs

TOPIC = "embedding-walkthrough"
CORPUS = ROOT / "tests" / "corpus"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A learner with a whole model."""
    folder = tmp_path_factory.mktemp("walk")
    model = folder / "code"
    shutil.copytree(CORPUS / "einsum", model)
    return Path(init.run("ada", model=model, folder=folder).home)


@pytest.fixture(scope="module")
def report(whole: Path) -> flow.WalkReport:
    return walkthrough.run(Session.here(start=whole), TOPIC)


def value(report: flow.WalkReport, name: str) -> flow.Shown:
    """What a step shows under this name."""
    return next(one for step in report.steps for one in step.shown if one.name == name)


def number(report: flow.WalkReport, name: str) -> float:
    """The one number under this name."""
    return float(value(report, name).lines[0])


def test_the_shapes_of_the_lesson(report: flow.WalkReport) -> None:
    assert [line.split(":")[0] for line in value(report, "ids").lines] == ["I", "love", "dogs"]
    assert value(report, "shape").lines == ("(3, 16)",)
    assert value(report, "batch_shape").lines == ("(1, 3, 16)",)
    assert value(report, "logits_shape").lines == (f"(1, 3, {len(report.before)})",)
    words = [word for word, _ in value(report, "rows").rows]
    assert words == ["I", "love", "dogs"]


def test_rope_leaves_the_first_row_and_every_length(report: flow.WalkReport) -> None:
    rows = np.array([row for _, row in value(report, "rows").rows])
    turned = np.array([row for _, row in value(report, "positions").rows])
    np.testing.assert_allclose(turned[0], rows[0])
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(rows, axis=1))
    assert not np.allclose(turned[1:], rows[1:])


def test_training_brings_structure(report: flow.WalkReport) -> None:
    assert number(report, "first_loss") == pytest.approx(np.log(len(report.before)), abs=0.1)
    assert number(report, "last_loss") < 2
    dogs = next(line for line in value(report, "neighbours_after").lines if line.startswith("dogs"))
    near = {part.split()[0] for part in dogs.partition(": ")[2].split(", ")}
    assert near == {"cats", "birds", "horses"}


def test_one_row_has_two_hidden_states(report: flow.WalkReport) -> None:
    assert number(report, "rows_apart") == 0
    assert number(report, "hidden_apart") > 0.05
    assert -1 <= number(report, "hidden_cosine") < 0.9999


def test_a_sentence_of_ones_own_and_nothing_is_written(whole: Path) -> None:
    before = contents(whole)
    report = engine_json("observe", TOPIC, "--text", "The bank, keeps THE money!", cwd=whole)
    assert [row[0] for row in report["steps"][1]["shown"][1]["rows"]] == [
        "the",
        "bank",
        "keeps",
        "the",
        "money",
    ]
    assert contents(whole) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([TOPIC, "--text", "I love transformers"], "no word 'transformers'"),
        ([TOPIC, "--text", ""], "no word in it"),
        ([TOPIC, "--text", "I " * 17], "At most 16 words"),
        (["embeding-walkthrough"], "no walkthrough 'embeding-walkthrough'"),
        ([TOPIC, "--method", "umap"], "no method 'umap'"),
        ([TOPIC, "--save", "words.gif"], "neither a .png nor a .svg"),
        (["--text", "I love dogs"], "belong to a walkthrough"),
    ],
)
def test_what_does_not_fit_is_said(whole: Path, words: list[str], said: str) -> None:
    done = engine("observe", *words, cwd=whole, code=2)
    assert said in " ".join(done.stderr.split())


def test_a_model_that_is_not_built_yet_is_a_polite_no(tmp_path: Path) -> None:
    home = Path(init.run("ada", folder=tmp_path).home)
    with pytest.raises(LearnerCodeError, match="Your model raised") as caught:
        walkthrough.run(Session.here(start=home), TOPIC)
    assert "submit-build --all" in caught.value.next


def test_every_value_that_a_pack_shows_has_a_label() -> None:
    """By which it is told in the learner's language."""
    shown = {
        name
        for pack, folder in packs().items()
        for id in Catalogue(pack, folder).walkthroughs
        for part in topics.walkthrough(Catalogue(pack, folder), id).parts
        for name in part.show
    }
    assert shown == LABELS.keys()


def test_labels_and_numbers_are_in_the_learners_language(
    report: flow.WalkReport, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "_spoken", ("es", None))
    walk(console(), report)
    told = capsys.readouterr().out
    last = str(value(report, "last_loss").lines[0]).replace(".", ",")
    assert f"media de las 10 últimas losses: {last}" in told
    assert "forma de la tabla: (32, 16)" in told


def test_the_text_for_a_person(whole: Path) -> None:
    out = engine("observe", TOPIC, cwd=whole, code=0).stdout
    assert "8. One row, two meanings" in out and "before the training" in out


@pytest.mark.skipif(not find_spec("matplotlib"), reason="the plots extra is not installed")
@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_picture_is_saved(whole: Path, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"words{suffix}"
    assert walkthrough.run(Session.here(start=whole), TOPIC, save=file).saved == str(file)
    assert file.read_bytes()[:5] in (b"\x89PNG\r", b"<?xml")


@pytest.mark.skipif(not find_spec("matplotlib"), reason="the plots extra is not installed")
def test_no_word_of_the_picture_lies_on_another(report: flow.WalkReport) -> None:
    crowded = [flow.Point(one.word, one.x / 50, one.y / 50) for one in report.after]
    far = [*crowded, flow.Point("far", 9.0, 9.0)]
    figure = walkthrough.drawn(report.before, far)
    figure.draw_without_rendering()
    for axes in figure.axes:
        boxes = [text.get_window_extent() for text in axes.texts]
        pairs = itertools.combinations(boxes, 2)
        assert len(boxes) > 20 and not any(one.overlaps(other) for one, other in pairs)


@pytest.mark.skipif(bool(find_spec("matplotlib")), reason="the plots extra is installed")
def test_without_the_extra_it_says_what_to_install(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="matplotlib") as caught:
        walkthrough.run(Session.here(start=whole), TOPIC, save=tmp_path / "words.png")
    assert "plots" in caught.value.next


def test_no_picture_takes_the_place_of_a_file(whole: Path, tmp_path: Path) -> None:
    """Found before anything is trained, whether the extra is there or not."""
    file = tmp_path / "words.PNG"
    file.write_text("mine")
    done = engine("observe", TOPIC, "--save", file, cwd=whole, code=2)
    assert "nothing is overwritten" in done.stderr
    assert file.read_text() == "mine"
    done = engine("observe", TOPIC, "--save", tmp_path / "none" / "w.svg", cwd=whole, code=2)
    assert "no such folder" in done.stderr


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (("optim.py", "wd, (b1, b2) = float(self.lr)", "wd, (b1, b2) = float('inf')"), "not finite"),
        (("nn/embedding.py", "token_ids: Any) -> Tensor:", "token_ids: Any) -> Tensor:\n        return 3"), "raised"),
    ],
)  # fmt: skip
def test_a_model_that_gives_nonsense_is_told_so(
    whole: Path, tmp_path: Path, edit: tuple[str, str, str], said: str
) -> None:
    shutil.copytree(CORPUS / "einsum", tmp_path / "code")
    file, find, replace = edit
    path = tmp_path / "code" / "src" / "minimodel" / file
    text = path.read_text()
    assert find in text
    path.write_text(text.replace(find, replace, 1))
    home = Path(init.run("ada", model=tmp_path / "code", folder=tmp_path).home)
    with pytest.raises(LearnerCodeError, match=said):
        walkthrough.run(Session.here(start=home), TOPIC)


@pytest.mark.parametrize(
    ("name", "value"),
    [("table_after", np.ones((3, 2))), ("logits_before", None), ("rows", "x"), ("positions", np.full((3, 2), np.nan))],
)  # fmt: skip
def test_what_a_models_process_says_is_checked(name: str, value: object) -> None:
    measured = {
        "table_before": np.ones((9, 2)), "table_after": np.ones((9, 2)), "rows": np.ones((3, 2)),
        "positions": np.ones((3, 2)), "logits_before": np.ones(9), "logits_after": np.ones(9),
    }  # fmt: skip
    flow.check_numbers(measured, 9, 3)
    with pytest.raises(LearnerCodeError, match=name.replace("_", " ")):
        flow.check_numbers({**measured, name: value}, 9, 3)


def test_pca_finds_the_directions_in_which_rows_differ_most() -> None:
    rng = np.random.default_rng(3)
    plane = rng.normal(size=(40, 2)) * [9.0, 3.0]
    basis, _ = np.linalg.qr(rng.normal(size=(7, 7)))
    found = pca(plane @ basis[:2] + 5)
    centred = plane - plane.mean(0)
    spread = np.linalg.svd(centred, compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), spread)
    np.testing.assert_allclose(found.T @ found, np.diag(spread**2), atol=1e-8)
    np.testing.assert_array_equal(pca(np.ones((3, 1))), np.zeros((3, 2)))


def test_neighbours_are_by_angle_not_by_length() -> None:
    rows = np.array([[1.0, 0.0], [50.0, 1.0], [1.0, 1.0], [0.0, 0.0], [-1.0, 0.0]])
    assert [i for i, _ in nearest(rows, 0, 2)] == [1, 2]
    assert nearest(rows, 0, 2)[1][1] == pytest.approx(1 / np.sqrt(2))


def test_no_word_covers_another_in_the_picture() -> None:
    points = [flow.Point(f"word{i}", 0.01 * i, 0.0) for i in range(4)]
    lines = picture(points, 30, 10)
    assert all(any(point.word in line for line in lines) for point in points)
    assert max(map(len, lines)) <= 30


@pytest.mark.parametrize(
    ("find", "replace", "said"),
    [
        ("text: I love dogs", "text: I love wolves", "no word 'wolves'"),
        ('"{who} {likes} {animals}"', '"{who} {hates} {animals}"', "names the group 'hates'"),
        ("word: bank", "word: river", "'river' is not in"),
        (
            "probe: walkthrough.sentence",
            "probe: walks.sentence",
            "walks.sentence is no function of the pack",
        ),
        (
            "probe: walkthrough.sentence",
            "probe: walkthrough.sentense",
            "walkthrough.sentense is no function of the pack",
        ),
        ("es: Una frase de camino por tu modelo", "", "title has no text in es"),
    ],
)
def test_slips_of_an_author_are_reported(
    tmp_path: Path, find: str, replace: str, said: str
) -> None:
    shutil.copytree(ROOT / "exercises" / "minimodel", tmp_path / "minimodel")
    file = tmp_path / "minimodel" / "walkthroughs" / f"{TOPIC}.yaml"
    text = file.read_text("utf-8")
    assert find in text
    file.write_text(text.replace(find, replace), "utf-8")
    catalogue = Catalogue("minimodel", tmp_path / "minimodel")
    assert any(said in problem.what for problem in slips.problems(catalogue, TOPIC))


def test_dev_check_proves_that_it_shows_what_it_names(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "exercises" / "minimodel", tmp_path / "minimodel")
    file = tmp_path / "minimodel" / "walkthroughs" / f"{TOPIC}.yaml"
    (proof,) = dev_check.run(file, sample=0).proofs
    assert proof.held
    file.write_text(
        file.read_text("utf-8").replace("show: [batch_shape]", "show: [bath_shape]"), "utf-8"
    )
    (proof,) = dev_check.run(file, sample=0).proofs
    assert not proof.held and "bath_shape" in proof.detail
