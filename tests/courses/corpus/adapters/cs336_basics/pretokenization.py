import regex as re

PAT = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


def split_on_special_tokens(text: str, special_tokens: list[str]) -> list[str]:
    """Special tokens stay in the result, as elements of their own. Of two overlapping ones the longer wins."""
    pieces, start = [], 0
    by_length = sorted(special_tokens, key=len, reverse=True)
    if not by_length:
        return [text]
    for m in re.finditer("|".join(re.escape(t) for t in by_length), text):
        if m.start() > start:
            pieces.append(text[start : m.start()])
        pieces.append(m.group())
        start = m.end()
    if start < len(text):
        pieces.append(text[start:])
    return pieces


def pretokenize(text: str):
    for m in re.finditer(PAT, text):
        yield m.group().encode("utf-8")
