"""An edit of a text of several lines keeps its line breaks: only the tokens that differ are new.

What is written in templates stands on one line. Somebody's own call over three lines would be pulled into
one, and a diff of it shows where the edit was made.
"""

from __future__ import annotations

import difflib
import io
import tokenize
from typing import NamedTuple

from engine.code.source import Edit, Source, Unencodable
from engine.code.syntax import parse, structure

SPACE = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)


class Token(NamedTuple):
    """gap: what stands before it, after the token before."""

    text: str
    gap: str


def with_layout(source: Source, edit: Edit) -> Edit:
    """The same edit in the layout of what it replaces; as it is where that has one line, or where the two
    would not mean the same.
    """
    old = source.text(edit.start, edit.end)
    if "\n" not in old or not edit.text.strip():
        return edit
    try:
        before, after = _tokens(old), _tokens(edit.text)
        text = edit.text.replace(
            edit.text.strip(), _merged(before, after)
        )  # with the space around it
        laid = Edit(edit.path, edit.start, edit.end, text)
        same = structure(parse(source.apply([laid]))) == structure(parse(source.apply([edit])))
    except (SyntaxError, ValueError, tokenize.TokenError, Unencodable):
        return edit
    return laid if same else edit


def _tokens(text: str) -> list[Token]:
    """Raises TokenError and SyntaxError."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found, end = [], 0
    for token in tokenize.generate_tokens(io.StringIO(f"({text}\n)").readline):
        (row, column), (last, stop) = token.start, token.end
        if token.type in SPACE or not token.string or row > len(lines):
            continue
        start = starts[row - 1] + column - (row == 1)
        if start < 0:  # the parenthesis that makes it an expression
            continue
        found.append(Token(token.string, text[end:start]))
        end = starts[last - 1] + stop - (last == 1)
    return found


def _merged(old: list[Token], new: list[Token]) -> str:
    """The new tokens; before those that are old, and before what replaces old ones, the old line breaks."""
    kept = _kept([one.text for one in old], [one.text for one in new])
    stay = set(kept.values())
    text = ""
    for j, token in enumerate(new):
        last = kept.get(j - 1, -2)
        ends = token.text in (")", "]", "}") and kept.get(j) == last + 2
        if ends and old[last + 1].text == ",":  # as it stands behind the last of several lines
            gap = "," + old[last + 2].gap
        elif kept.get(j) == last + 1:
            gap = old[last + 1].gap
        elif j in kept:
            gap = _break(old[kept[j]].gap) or token.gap
        elif last >= 0 and last + 1 < len(old) and last + 1 not in stay:
            gone = [old[n] for n in range(last + 1, len(old)) if n not in stay]
            place = next((one for one in gone if one.text == token.text), gone[0])
            gap = _break(place.gap) or token.gap
        else:
            gap = token.gap
        text += gap + token.text if j else token.text
    return text


def _kept(old: list[str], new: list[str]) -> dict[int, int]:
    """Which of the new tokens is which of the old ones: first those at both ends."""
    most = min(len(old), len(new))
    first = next((n for n in range(most) if old[n] != new[n]), most)
    last = next((n for n in range(most - first) if old[-1 - n] != new[-1 - n]), most - first)
    middle = old[first : len(old) - last], new[first : len(new) - last]
    kept = {n: n for n in range(first)}
    for a, b, size in difflib.SequenceMatcher(None, *middle, autojunk=False).get_matching_blocks():
        kept |= {first + b + n: first + a + n for n in range(size)}
    return kept | {len(new) - 1 - n: len(old) - 1 - n for n in range(last)}


def _break(gap: str) -> str:
    """The last line break of a gap with what stands behind it, without comments; "" where there is none."""
    return "\n" + gap.rpartition("\n")[2] if "\n" in gap else ""
