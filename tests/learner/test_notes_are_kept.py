"""The notes belong to the learner: the engine inserts, and never removes, moves or changes a byte."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workbench import HEALTHY, LOUD, NOTES, answer, events, kinds, mend, right_cause, session

from engine.commands import break_, reset, submit_fix
from engine.errors import StorageError
from engine.learner import notes

START, END = notes.start_mark("x", 1).encode(), notes.end_mark("x", 1).encode()
# What people, editors and other tools leave in a file: marks cut, doubled, foreign; any bytes.
FOUND = [
    START, END, START[:-3], END[3:], notes.end_mark("x", 2).encode(), b"<!-- engine:",
    b"\n", b"\n\n", b"\r\n", b"\r", b"  ", b"\t", b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"\xf1",
    b"## 2026-01-01", b"my own words", "señal".encode(), b"```diff\n-a\n+b\n```",
]  # fmt: skip
PIECES = st.sampled_from(FOUND) | st.binary(max_size=9)
BYTES = st.lists(PIECES, max_size=14).map(b"".join)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=1, max_size=40)
FEW = settings(
    database=None, deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow]
)


def shared(old: bytes, new: bytes) -> bytes:
    """What both begin with."""
    pairs = zip(old, new, strict=False)
    return old[: next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))]


def only_inserted(old: bytes, new: bytes) -> bool:
    """Whether `new` is `old` with one run of bytes put in at one place."""
    head = shared(old, new)
    return len(new) >= len(old) and new.endswith(old[len(head) :])


@FEW
@given(old=BYTES, text=TEXTS, head=st.just("") | TEXTS)
def test_an_insertion_keeps_every_byte_of_the_learner(old: bytes, text: str, head: str) -> None:
    """Whatever the notes hold, the new ones are the old ones with one run of bytes put in."""
    new = notes.insert(old, "x", 1, text, head=head)
    assert only_inserted(old, new)
    assert len(new) > len(old)


@FEW
@given(old=BYTES.filter(lambda old: END not in old), text=TEXTS)
def test_an_entry_without_its_end_mark_is_appended_anew(old: bytes, text: str) -> None:
    """Where the end mark is gone, a whole entry with both marks comes after the learner's text."""
    new = notes.insert(old, "x", 1, text)
    assert new.startswith(old)
    added = new[len(old) :]
    assert added.count(START) == added.count(END) == 1
    assert added.index(START) < added.index(END)


@FEW
@given(old=BYTES, first=TEXTS, second=TEXTS)
def test_what_is_added_later_stands_later_in_the_entry(old: bytes, first: str, second: str) -> None:
    """Two insertions stand in their order, and both before the entry's last end mark."""
    once = notes.insert(old, "x", 1, "A" + first)
    twice = notes.insert(once, "x", 1, "B" + second)
    assert only_inserted(once, twice)
    at = len(shared(once, twice))
    assert at <= twice.rindex(END)
    assert twice.rindex(END) + len(END) >= len(twice) - (len(once) - once.rindex(END))


@FEW
@given(old=BYTES.filter(lambda old: b"\r\n" in old), text=TEXTS)
def test_notes_with_crlf_get_crlf(old: bytes, text: str) -> None:
    """In a file with CRLF the engine's own lines end in CRLF as well."""
    new = notes.insert(old, "x", 1, text)
    at = len(shared(old, new))
    added = new[at : at + len(new) - len(old)]
    assert added.count(b"\n") == added.count(b"\r\n") or new[at - 1 : at] == b"\r"


def test_an_entry_goes_before_the_last_end_mark_when_it_was_duplicated() -> None:
    """A learner who copied an entry finds the addition in the last copy."""
    old = START + b"\n" + END + b"\n" + START + b"\nmine\n" + END + b"\n"
    new = notes.insert(old, "x", 1, "added")
    assert new == old[: -len(END) - 1] + b"added\n\n" + END + b"\n"


def test_the_entry_of_another_attempt_is_left_alone() -> None:
    """Attempt 11 is not mistaken for attempt 1."""
    old = notes.insert(b"", "x", 11, "eleven")
    new = notes.insert(old, "x", 1, "one")
    assert new.startswith(old)


def test_notes_behind_a_link_stay_behind_it(home: Path, tmp_path: Path) -> None:
    """Notes that are kept elsewhere are written where they are; the link stays a link."""
    file, real = home / NOTES, tmp_path / "vault" / "breaks.md"
    real.parent.mkdir()
    real.write_bytes(b"kept in my vault")
    file.unlink()
    file.symlink_to(real)
    break_.run(session(home), LOUD, answer)
    assert file.is_symlink() and os.readlink(file) == str(real)
    assert real.read_bytes().startswith(b"kept in my vault\n")
    assert notes.end_mark(LOUD, 1).encode() in real.read_bytes()


def test_notes_keep_their_permissions(opened: Path) -> None:
    """A file that only its owner can read stays so."""
    (opened / NOTES).chmod(0o600)
    reset.run(session(opened))
    assert stat.S_IMODE((opened / NOTES).stat().st_mode) == 0o600


def test_break_refuses_read_only_notes_before_anything_else(home: Path) -> None:
    """With mode 0444 nobody is asked, nothing is recorded and nothing is broken, for root too."""
    (home / NOTES).chmod(0o444)
    before = (home / NOTES).read_bytes()
    asked = []
    with pytest.raises(StorageError, match="read-only") as caught:
        break_.run(session(home), LOUD, lambda opening: asked.append(opening) or answer(opening))
    assert "chmod" in caught.value.next and NOTES in caught.value.where
    assert not asked and not events(home) and not (home / "practice").exists()
    assert (home / NOTES).read_bytes() == before


def test_submit_fix_refuses_read_only_notes_before_anything_else(opened: Path) -> None:
    """With mode 0444 nobody is asked for the cause and nothing is recorded; later it works."""
    mend(opened)
    before, had = (opened / NOTES).read_bytes(), kinds(opened)
    (opened / NOTES).chmod(0o444)
    asked = []
    with pytest.raises(StorageError, match="read-only"):
        submit_fix.run(session(opened), lambda q, o: asked.append(q) or right_cause(q, o))
    assert (opened / NOTES).read_bytes() == before
    (opened / NOTES).chmod(0o644)
    again = submit_fix.run(session(opened), right_cause)
    assert again.passed and kinds(opened)[-1] == "closed"
    assert not asked
    assert kinds(opened) == [*had, "submitted", "caused", "closed"]


def test_reset_refuses_read_only_notes_and_throws_nothing_away(opened: Path) -> None:
    """With mode 0444 the practice copy stays, and the exercise is still open."""
    (opened / NOTES).chmod(0o444)
    had = kinds(opened)
    with pytest.raises(StorageError, match="read-only"):
        reset.run(session(opened))
    assert kinds(opened) == had
    assert (opened / "practice" / LOUD / "src").is_dir()


DAMAGE = {
    "marks deleted": lambda old: b"\n".join(
        line for line in old.splitlines() if b"<!--" not in line
    ),
    "only the end mark deleted": lambda old: old.replace(notes.end_mark(LOUD, 1).encode(), b""),
    "entry duplicated": lambda old: old + old,
    "CRLF": lambda old: old.replace(b"\n", b"\r\n"),
    "no final newline": lambda old: old.rstrip() + b"\nmine",
    "mark inside a line": lambda old: old.replace(b"<!-- engine: end", b"mine <!-- engine: end"),
    "BOM and bytes that are no UTF-8": lambda old: b"\xef\xbb\xbf" + old + b"\xff\xfe\xf1 mine",
    "UTF-16": lambda old: old.decode().encode("utf-16"),
    "all but my words deleted": lambda old: b"mine",
    "emptied": lambda old: b"",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_command_keeps_notes_that_were_edited_freely(opened: Path, damage) -> None:
    """Whatever a learner did to the file, putting the break aside only inserts its line."""
    file = opened / NOTES
    file.write_bytes(damage(file.read_bytes()))
    edited = file.read_bytes()
    report = reset.run(session(opened))
    assert only_inserted(edited, file.read_bytes())
    assert report.snapshot[:12].encode() in file.read_bytes()


def test_notes_that_were_deleted_begin_anew(opened: Path) -> None:
    """A notes file that is gone is made again, with its head and an entry."""
    (opened / NOTES).unlink()
    reset.run(session(opened))
    text = (opened / NOTES).read_text()
    assert notes.start_mark(LOUD, 1) in text and notes.end_mark(LOUD, 1) in text


def test_closing_appends_an_entry_where_the_marks_are_gone(opened: Path) -> None:
    """Without marks the learner's text stays on top, and the fix stands in an entry below it."""
    mend(opened)
    file = opened / NOTES
    file.write_bytes(DAMAGE["marks deleted"](file.read_bytes()) + b"\nmy own last words")
    edited = file.read_bytes()
    assert submit_fix.run(session(opened), right_cause).passed
    assert file.read_bytes().startswith(edited)
    assert HEALTHY in file.read_text()[len(edited) :]


def test_a_finished_entry_holds_all_that_a_person_would_keep(closed: Path) -> None:
    """Heading with a date, questions with confidence, measurements, score, hints, fix, own words."""
    text = (closed / NOTES).read_text()
    entry = text[text.index("## 2") :]
    order = [
        "One table, two vocabularies", notes.start_mark(LOUD, 1), "### Predictions",
        "confidence 70%", "confidence 80%", "confidence 60%", "### Measured", "Brier score",
        "Hints taken: 0", "```diff", f"+        {HEALTHY}", "The cause:", "In my own words:",
        notes.end_mark(LOUD, 1),
    ]  # fmt: skip
    places = [entry.find(part) for part in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)
