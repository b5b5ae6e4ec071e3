"""The catalogue: which exercises there are, in which order, and what stands on what."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from trees import BREAKS

from engine.errors import USAGE, SpecError, UsageError
from engine.flows.scope import checks_of_a_fix
from engine.spec.catalogue import PROOF, Catalogue
from engine.spec.load import load
from engine.spec.packs import content_root, is_fact_pack, packs
from engine.spec.texts import texts
from engine.spec.types import Break, Build, FactBuild, FactPack, Pack, Proof, Story

EXERCISES = content_root("exercises")
SHIPPED = sorted(EXERCISES.glob("*/[0-9]*-*/*/*.yaml"))

BUILD = """\
title: {en: T}
difficulty: 1
minutes: 5
objective: {en: O}
background: {en: B}
edit: src/x.py
signature: "def f(): ..."
constraints: []
pitfalls: []
checks: [{id: value, shows: {en: s}, probe: forward, regimes: [normal]}]
hints: [{en: h}]
references: [{text: r}]
"""


def pack(folder: Path, name: str, components: dict[str, list[str]], path: list[str]) -> Path:
    """A pack with a build exercise for each component; `components`: name -> what it uses."""
    base = folder / name
    lines = [f"  {part}: {{uses: [{', '.join(uses)}]}}" for part, uses in components.items()]
    base.mkdir(parents=True)
    (base / "pack.yaml").write_text(
        "title: {en: T}\nframework: numpy\nlanguages: [en]\ntemplate: t\nroots: [src]\n"
        "roles: {R: a.b:C}\ncomponents:\n" + "\n".join(lines) + f"\npath: [{', '.join(path)}]\n"
    )
    for i, part in enumerate(components):
        component = base / f"{i + 10}-phase" / part
        component.mkdir(parents=True)
        (component / "build.yaml").write_text(BUILD)
        (component / "call.py").write_text("")
    return base


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packs that the engine is told of."""
    folder = tmp_path / "packs"
    folder.mkdir()
    monkeypatch.setenv("ENGINE_EXERCISES", str(folder))
    return folder


def test_exercises_come_in_the_order_of_the_path(elsewhere: Path) -> None:
    """Not in that of folders; what the path leaves out comes last, in that of folders."""
    pack(elsewhere, "mine", {"a": [], "b": [], "c": [], "d": []}, ["c", "a"])
    assert list(Catalogue.find("mine").entries) == ["c", "a", "b", "d"]


def test_the_shipped_pack_follows_its_path() -> None:
    """Every exercise of the path is there, in that order."""
    catalogue = Catalogue.find("minimodel")
    path = list(catalogue.contract.path)
    assert [id for id in catalogue.entries if id in path] == path


def test_listing_reads_no_exercise(elsewhere: Path) -> None:
    """A broken exercise does not stand in the way of the others."""
    base = pack(elsewhere, "mine", {"a": [], "b": []}, ["a", "b"])
    (base / "10-phase/a/build.yaml").write_text("[[[")
    catalogue = Catalogue.find("mine")
    assert list(catalogue.entries) == ["a", "b"]
    assert catalogue.build("b").edit == "src/x.py"
    with pytest.raises(SpecError):
        catalogue.build("a")


def test_an_entry_knows_its_phase_component_and_kind(elsewhere: Path) -> None:
    """All of it from the file's name."""
    base = pack(elsewhere, "mine", {"a": []}, ["a"])
    (base / "10-phase/a/some-break.yaml").write_text("")
    build, broken = Catalogue.find("mine").entries.values()
    assert (build.id, build.kind, build.component, build.phase_number) == ("a", "build", "a", "10")
    assert (broken.id, broken.kind, broken.component) == ("some-break", "break", "a")


def test_an_id_that_is_used_twice_is_a_spec_error_that_names_both(elsewhere: Path) -> None:
    """Two files, one name."""
    base = pack(elsewhere, "mine", {"a": [], "b": []}, ["a"])
    (base / "11-phase/b/a.yaml").write_text("")
    with pytest.raises(SpecError, match="used twice") as caught:
        _ = Catalogue.find("mine").entries
    assert (
        "11-phase/b/a.yaml" in caught.value.where and "10-phase/a/build.yaml" in caught.value.what
    )


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("embeding", "embedding"),
        ("lm-head", "lm_head"),
        ("minimodel/embedin", "embedding"),
        ("tied-vocb-mismatc", "tied-vocab-mismatch"),
        ("Embedding", "embedding"),
    ],
)
def test_an_unknown_exercise_is_answered_with_the_nearest_names(asked: str, meant: str) -> None:
    """And with the command that lists them all."""
    with pytest.raises(UsageError) as caught:
        Catalogue.find("minimodel").entry(asked)
    assert caught.value.exit_code == USAGE
    assert repr(asked) in caught.value.what
    assert "Did you mean" in caught.value.what and meant in caught.value.what
    assert "engine list" in caught.value.next


@pytest.mark.parametrize(
    "asked", ["", "qqqqzzzz", "../embedding", "embedding/..", "\0", "a" * 10_000, "%s{}"]
)
def test_a_name_that_resembles_none_is_refused_without_a_guess(asked: str) -> None:
    """Whatever it is made of."""
    with pytest.raises(UsageError) as caught:
        Catalogue.find("minimodel").entry(asked)
    assert "engine list" in caught.value.next


def test_an_exercise_may_be_named_with_its_pack() -> None:
    """The long name is the short one."""
    catalogue = Catalogue.find("minimodel")
    assert catalogue.entry("minimodel/embedding") == catalogue.entry("embedding")


def test_an_unknown_pack_is_answered_with_the_nearest_and_with_all(elsewhere: Path) -> None:
    """Packs that were added are among them."""
    pack(elsewhere, "mine", {"a": []}, ["a"])
    with pytest.raises(UsageError, match="Did you mean minimodel") as caught:
        Catalogue.find("minimodle")
    assert "mine" in caught.value.next and "minimodel" in caught.value.next


# ---------------------------------------------------------------- what stands on what


@pytest.mark.parametrize("id", BREAKS)
def test_what_a_break_needs_healthy_is_drawn_again_for_its_fix(id: str) -> None:
    """Else a verdict could compare healthy code that has stopped to run with another that has."""
    catalogue = Catalogue.find("minimodel")
    needed = {
        (need.probe, regime) for need in catalogue.break_(id).needs for regime in need.regimes
    }
    drawn = {
        (f"{component}.{check.probe}", regime)
        for component, check in checks_of_a_fix(catalogue, id)
        for regime in check.regimes
    }
    assert len(needed & drawn) >= len(needed) / 2


def users(elsewhere: Path, components: dict[str, list[str]], of: str) -> set[str]:
    """The users of one component in a pack of these."""
    pack(elsewhere, "mine", components, [])
    return Catalogue.find("mine").users(of)


def test_users_are_found_through_others(elsewhere: Path) -> None:
    """What uses a user is a user, however long the chain; what is used is not."""
    chain = {"d": ["c"], "c": ["b"], "b": ["a"], "a": [], "e": ["a"], "f": []}
    assert users(elsewhere, chain, "a") == {"b", "c", "d", "e"}
    assert Catalogue.find("mine").users("c") == {"d"}
    assert Catalogue.find("mine").users("d") == set()
    assert Catalogue.find("mine").users("f") == set()


def test_users_that_meet_again_are_counted_once(elsewhere: Path) -> None:
    """A diamond."""
    assert users(elsewhere, {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}, "a") == {
        "b",
        "c",
        "d",
    }


def test_a_circle_of_users_ends(elsewhere: Path) -> None:
    """Nobody is a user of themselves."""
    assert users(elsewhere, {"a": ["c"], "b": ["a"], "c": ["b"], "d": ["d"]}, "a") == {"b", "c"}
    assert Catalogue.find("mine").users("d") == set()


def test_a_component_that_nobody_knows_has_no_users(elsewhere: Path) -> None:
    """Nor does it fail."""
    assert users(elsewhere, {"a": [], "b": ["a"]}, "zzz") == set()


# ---------------------------------------------------------------- more packs


def test_a_pack_from_elsewhere_is_added(elsewhere: Path) -> None:
    """ENGINE_EXERCISES names folders that hold packs; the engine's own stay."""
    assert "mine" not in packs()
    base = pack(elsewhere, "mine", {"a": []}, ["a"])
    assert packs()["mine"] == base
    assert packs()["minimodel"] == EXERCISES / "minimodel"
    assert Catalogue.find("mine").build("a").minutes == 5
    assert "def" not in Catalogue.find("mine").code()["pack/a/call.py"].decode()


def test_several_folders_of_packs_are_added_and_the_first_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pack of the same name before the engine's own takes its place."""
    one = pack(tmp_path / "one", "same", {"a": []}, ["a"])
    pack(tmp_path / "two", "same", {"b": []}, ["b"])
    other = pack(tmp_path / "two", "other", {"c": []}, ["c"])
    own = pack(tmp_path / "two", "minimodel", {"d": []}, ["d"])
    roots = os.pathsep.join(
        [str(tmp_path / "one"), "", str(tmp_path / "nowhere"), str(tmp_path / "two")]
    )
    monkeypatch.setenv("ENGINE_EXERCISES", roots)
    found = packs()
    assert (found["same"], found["other"], found["minimodel"]) == (one, other, own)


def test_an_empty_variable_adds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the current folder either."""
    monkeypatch.delenv("ENGINE_EXERCISES", raising=False)
    before = packs()
    monkeypatch.setenv("ENGINE_EXERCISES", "")
    assert packs() == before


def test_a_pack_whose_own_file_is_broken_is_a_spec_error_with_its_place(elsewhere: Path) -> None:
    """It is found, and says what is wrong when it is used."""
    base = pack(elsewhere, "mine", {"a": []}, ["a"])
    file = base / "pack.yaml"
    file.write_text(file.read_text().replace("framework: numpy", "framework: abacus"))
    assert "mine" in packs()
    with pytest.raises(SpecError) as caught:
        _ = Catalogue.find("mine").entries
    assert caught.value.where == f"{file}:2:1" and "abacus" in caught.value.what


# ---------------------------------------------------------------- what ships


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_shipped_exercise_can_be_read(file: Path) -> None:
    """Every build and every break, with text in each language of its pack."""
    if file.name.endswith(PROOF):
        assert load(file, Proof).variants
        return
    about = file.parents[2] / "pack.yaml"
    story: type[Story] = Story if is_fact_pack(about) else Break
    kinds = {"build.yaml": Build, "facts.yaml": FactBuild}
    spec = load(file, kinds.get(file.name, story))
    languages = load(about, FactPack if is_fact_pack(about) else Pack).languages
    for path, text in texts(spec):
        if text:
            assert set(languages) <= set(text), path
    assert spec.title[languages[0]]


def test_something_ships() -> None:
    """The sweep above is not over nothing."""
    names = {file.name for file in SHIPPED}
    assert "build.yaml" in names and len(names) > 1


def test_every_shipped_pack_can_be_read() -> None:
    """Its contract, its exercises, and the code of its components."""
    for name in packs():
        catalogue = Catalogue.find(name)
        assert set(catalogue.syllabus.path) <= set(catalogue.entries)
        for component in () if catalogue.by_facts else catalogue.contract.components:
            for file in ("call.py", "cases.py", "reference.py"):
                assert f"pack/{component}/{file}" in catalogue.code()
        for entry in catalogue.entries.values():
            read = catalogue.assignment if entry.kind == "build" else catalogue.story
            assert read(entry.id if entry.kind == "break" else entry.component).title
            if catalogue.by_facts:
                assert catalogue.proof(entry.id).variants


def checks_of(tmp_path: Path, *checks: str) -> tuple[tuple[str, ...], ...]:
    """The regimes of a build's checks, as a judge sees them."""
    folder = pack(tmp_path, "one", {"part": []}, ["part"])
    (file,) = folder.glob("*/part/build.yaml")
    listed = ", ".join(f"{{id: c{i}, shows: {{en: s}}, {check}}}" for i, check in enumerate(checks))
    lines = [
        f"checks: [{listed}]" if line.startswith("checks") else line for line in BUILD.splitlines()
    ]
    file.write_text("\n".join(lines) + "\n")
    return tuple(check.regimes for check in Catalogue("one", folder).build("part").checks)


def test_every_stands_for_the_regimes_that_others_look_at_in_part(tmp_path: Path) -> None:
    """Those that some check looks at as a whole need no more, those in `but` are left out."""
    assert checks_of(
        tmp_path,
        "probe: f, regimes: [normal, single, zeros], values: [y]",
        "probe: f, regimes: [every], values: [g]",
        "probe: f, regimes: [every], but: [zeros], values: [h]",
        "probe: f, regimes: [large, single]",
        "probe: other, regimes: [far], values: [y]",
    ) == (
        ("normal", "single", "zeros"), ("normal", "zeros"), ("normal",), ("large", "single"), ("far",),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("check", "told"),
    [
        ("probe: g, regimes: [every]", "has no regime"),
        ("probe: f, regimes: [normal], but: [zeros]", "`but` beside regimes by name"),
    ],
)
def test_every_without_others_and_but_without_every_are_errors(tmp_path, check, told) -> None:
    """A check that looks at nothing would always pass."""
    with pytest.raises(SpecError, match=told):
        checks_of(tmp_path, "probe: f, regimes: [normal], values: [y]", check)


AT_ONCE = """
import sys, threading
from engine.spec.catalogue import Catalogue
sys.setswitchinterval(1e-6)
pack = Catalogue.find("minimodel")
kinds = {entry.kind: entry.id for entry in pack.entries.values()}
reads = [lambda: pack.break_(kinds["break"]), lambda: pack.contract, lambda: pack.build(kinds["build"]),
         lambda: Catalogue.find("minimodel").break_(kinds["break"])]
threads = [threading.Thread(target=read) for read in reads]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_specs_may_be_read_by_several_threads_at_once(tmp_path: Path) -> None:
    """msgspec dies where two threads are the first to convert to one type, which is seen in two of six."""
    for attempt in range(5):
        env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / str(attempt))}
        done = subprocess.run([sys.executable, "-c", AT_ONCE], env=env, check=False)
        assert done.returncode == 0
