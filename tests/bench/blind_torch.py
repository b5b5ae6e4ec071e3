"""Before the reveal nothing that a learner can read names a break of anybody's GPT: each in a tree of the corpus.

    python tests/bench/blind_torch.py [ID ...] [--texts FILE]

Looked through: everything printed, as text and as JSON, by break, observe, hint, list, status, notes, a refused
fix and its script; every file of the learner's; git objects unpacked; times and names of the files of the practice
copy. Looked for: the ID, the title, what the cause question and the fix say, the changed facts by their titles and
the names of their bugs. --texts writes what a learner reads of each, story, evidence and hints, without the answer.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from engine.commands import (
    blind,
    hint,
    init,
    interpreters,
    list_,
    notes_,
    observe_,
    repro,
    status,
    submit_fix,
)
from engine.commands.session import Session
from engine.errors import EngineError
from engine.facts import pack as packs
from engine.report.formats import emit
from engine.run.forks import FACTS, TORCH, Folder, Forks
from engine.run.pool import own_paths
from engine.run.pythons import own_python
from engine.spec.catalogue import Catalogue

GPTS = Path(__file__).parent.parent / "gpts"
STYLES = ("fused", "heads", "llama", "dictcfg", "trainer", "modern", "postnorm", "espanol", "alibi")
SUBMITTED = 8  # of so many breaks one fix is submitted, too: it takes longer
GPT = Catalogue.find("gpt")


@contextlib.contextmanager
def warm() -> Iterator[None]:
    """All commands in here share two interpreters."""
    folder = interpreters.pack_folder()
    hidden = [*own_paths(), folder]
    real = interpreters.opened
    with Forks(own_python(), TORCH, hidden) as learner, Forks(own_python(), FACTS, hidden) as facts:
        facts.hold("pack", Folder("/pack", ("",), packs.code(folder)))
        both = interpreters.Interpreters(learner, facts, folder)
        interpreters.opened = lambda *_, **__: contextlib.nullcontext(both)  # type: ignore[assignment]
        try:
            yield
        finally:
            interpreters.opened = real


def telling(id: str) -> list[str]:
    """What names a break."""
    story, proof = GPT.story(id), GPT.proof(id)
    pack, spanish = packs.load(GPT.folder), packs.texts(GPT.folder, "es")
    right = [o.text for o in story.cause.options if o.id == story.cause.right]
    texts = [story.title, story.hidden_cause, story.fix, story.why, story.symptom, *right]
    found = [id, *(text.strip() for one in texts for text in one.values())]
    for fact in {fact for variant in proof.variants for fact in variant.changes}:
        declared = pack.fact(fact)
        found += [declared.means, declared.see, *declared.wrong.values()]
        if fact in spanish:
            found += [spanish[fact].means, spanish[fact].see, *spanish[fact].wrong.values()]
    return [text for text in found if text]


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def reachable(home: Path) -> Iterator[tuple[str, str]]:
    """Every file below a learner's folder by name; what git has packed, unpacked. What was found in the tree
    names every break alike.
    """
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home).as_posix()
        if not path.is_file() or name == ".engine/found.json":
            continue
        data = path.read_bytes()
        if re.search(r"/objects/../", name):
            data = zlib.decompress(data)
        yield name, data.decode("utf-8", "replace")


def singled_out(practice: Path, model: Path) -> list[str]:
    """What sets the files with the bug apart, beside their text: the time, the rights, the history."""
    files = [p for p in practice.rglob("*") if p.is_file() and ".git" not in p.parts]
    changed = [p for p in files if p.read_bytes() != (model / p.relative_to(practice)).read_bytes()]
    told = []
    times = {p: (int(p.stat().st_mtime), oct(p.stat().st_mode)) for p in files}
    rest = {time for p, time in times.items() if p not in changed}
    if rest and any(times[p] not in rest for p in changed):
        told.append(f"times or rights: {[times[p] for p in changed]} beside {sorted(rest)}")
    log = subprocess.run(
        ["git", "log", "--stat", "--format=%an %s %b"], cwd=practice, capture_output=True, text=True, check=False
    ).stdout  # fmt: skip
    commits = [
        line for line in log.splitlines() if line and "|" not in line and "changed" not in line
    ]
    if len(commits) != 1:
        told.append(f"history: {commits}")
    return told


def looked_at(home: Path, id: str, number: int) -> tuple[list[str], dict[str, Any]]:
    """(what names the break or fails, what a learner reads of it)."""
    session = lambda: Session.here(start=home)  # noqa: E731
    before = list_.run(session())
    opening = blind.run(session(), [id])
    told = [] if list_.run(session()) == before else ["the list has changed"]
    try:
        more, read = found_out(session, opening, id, number)
    except EngineError as error:
        return [*told, f"{error} ({error.where})"], {}
    return told + more, read


def found_out(
    session: Callable[[], Session], opening: Any, id: str, number: int
) -> tuple[list[str], dict[str, Any]]:
    """The same of a break that is open."""
    home = session().learner.home
    given = [hint.run(session()) for _ in range(3)]
    reports: list[object] = [opening, *given]
    reports.append(msgspec.structs.replace(status.run(session()), exercises=()))
    reports.append(notes_.run(session()))
    practice = home / "practice" / opening.exercise
    told = singled_out(practice, session().learner.model)
    if number % SUBMITTED == 0:
        file = next(p for p in sorted(practice.rglob("*.py")) if p.stat().st_size > 400)
        file.write_bytes(file.read_bytes() + b"\n# tried\n")
        reports += [observe_.run(session()), submit_fix.run(session())]
        try:
            reports.append(repro.run(session()))
        except EngineError as error:
            told += (
                []
                if "no number of one draw" in str(error) or "small world" in str(error)
                else [str(error)]
            )
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        for report in reports:
            emit(report, as_json=False)
            emit(report, as_json=True)
    places = [("what is printed", out.getvalue()), *reachable(home)]
    for text in telling(id):
        told += [
            f"{text[:60]!r} in {name}" for name, content in places if flat(text) in flat(content)
        ]
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        emit(opening, as_json=False)
    return told, {"evidence": shown.getvalue(), "hints": [one.hints[-1] for one in given]}


def main(arguments: Sequence[str]) -> None:
    texts = arguments[arguments.index("--texts") + 1] if "--texts" in arguments else ""
    ids = [one for one in arguments if one in GPT.entries] or [*GPT.entries]
    read, named = {}, 0
    with warm(), tempfile.TemporaryDirectory() as folder:
        homes: dict[str, Path] = {}
        for number, id in enumerate(ids):
            started, why = time.monotonic(), ""
            for style in STYLES:
                if style not in homes:
                    model = Path(folder, "models", style)
                    shutil.copytree(GPTS / style, model)
                    here = Path(folder, style)
                    here.mkdir()
                    with contextlib.suppress(EngineError):
                        init.run("ada", pack="gpt", model=model, folder=here)
                    homes[style] = here / "learners" / "ada"
                if not (homes[style] / ".engine").is_dir():
                    continue
                home = Path(folder, f"{number}-{style}")
                shutil.copytree(homes[style], home)
                try:
                    told, read[id] = looked_at(home, id, number)
                except EngineError as error:
                    why = str(error)
                    continue
                break
            else:
                print(f"{id:36} does not go in: {why[:90]}", flush=True)
                continue
            named += bool(told)
            print(
                f"{id:36} {style:9} {time.monotonic() - started:5.1f} s  {told or 'not named'}",
                flush=True,
            )
    print(
        f"{len(read)} of {len(ids)} were broken blind, {named} of them are named before the reveal."
    )
    if texts:
        Path(texts).write_text(json.dumps(read, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1:])
