"""A candidate: edits that may be the bug, what they make of the files, and how many lines that changes."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from engine.code.changes import changed
from engine.code.source import Edit, Unencodable, apply_all, overlap
from engine.inject.deadcode import removals
from engine.inject.learner_code import Code
from engine.inject.proposals import Proposals
from engine.spec.types import Step


class Candidate(msgspec.Struct, frozen=True):
    """Edits that belong together, and the proposer that found the last of them."""

    edits: tuple[Edit, ...]
    how: str

    @property
    def key(self) -> tuple[Edit, ...]:
        """The same for two that change the same."""
        return tuple(sorted(self.edits))


def extended(
    partial: Sequence[Candidate], step: Step, proposals: Proposals, shared: bool
) -> Iterator[tuple[Candidate, Candidate]]:
    """Each candidate with the edits of one more step, and the candidate that it extends."""
    for so_far in partial:
        for edits, how in proposals.edits(step, shared):
            together = (*so_far.edits, *edits)
            if together and not overlap(together):
                yield Candidate(tuple(sorted(set(together))), how), so_far


def applied(code: Code, candidate: Candidate) -> dict[str, bytes] | None:
    """The new files, or None when they do not parse, cannot be encoded or change nothing."""
    try:
        files = apply_all(code.sources, candidate.edits)
        for path, data in files.items():
            if changed(code.sources[path].data, data) == ():
                return None
    except (SyntaxError, ValueError, Unencodable):
        return None
    return files


def cleaned(
    code: Code, candidate: Candidate, files: Mapping[str, bytes]
) -> dict[str, bytes] | None:
    """The candidate without what it leaves unused, None when there is nothing of that kind."""
    extra = removals(code.sources, candidate.edits, files)
    kept = [
        e
        for e in candidate.edits
        if not any(x.start <= e.start and e.end <= x.end and x.path == e.path for x in extra)
    ]
    tidy = Candidate(tuple(sorted({*kept, *extra})), candidate.how)
    return applied(code, tidy) if extra and not overlap(tidy.edits) else None


def place_of(code: Code, candidate: Candidate) -> str:
    """path:line of the first edit."""
    edit = candidate.edits[0]
    line = code.sources[edit.path].data.count(b"\n", 0, edit.start) + 1
    return f"{edit.path}:{line}"


def changed_lines(code: Code, files: Mapping[str, bytes]) -> int:
    """The greater of lines removed and added, summed over hunks."""
    total = 0
    for path, data in files.items():
        old, new = _trimmed(code.sources[path].data.splitlines(), data.splitlines())
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag != "equal":
                total += max(b - a, d - c)
    return total


def _trimmed(old: list[bytes], new: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Two lists of lines without what they begin and end with alike."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return old[start : len(old) - end], new[start : len(new) - end]
