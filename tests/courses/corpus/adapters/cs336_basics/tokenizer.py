import functools
import pickle

from .pretokenization import pretokenize, split_on_special_tokens


class BPETokenizer:
    def __init__(self, vocab, merges, special_tokens=None):
        self.vocab = {**vocab}
        self.special_tokens = list(special_tokens or ())
        known = set(self.vocab.values())
        for token in self.special_tokens:
            if token.encode("utf-8") not in known:
                self.vocab[len(self.vocab)] = token.encode("utf-8")
        self.inverse = {token: idx for idx, token in self.vocab.items()}
        self.priority = {pair: i for i, pair in enumerate(merges)}
        self.encode_word = functools.lru_cache(maxsize=50_000)(self._encode_word)

    @classmethod
    def from_files(cls, vocab_filepath, merges_filepath, special_tokens=None):
        with open(vocab_filepath, "rb") as f:
            vocab = pickle.load(f)
        with open(merges_filepath, "rb") as f:
            merges = pickle.load(f)
        return cls(vocab, merges, special_tokens)

    def _encode_word(self, word: bytes) -> tuple[int, ...]:
        tokens = [bytes([b]) for b in word]
        while len(tokens) >= 2:
            ranked = [
                (self.priority[a, b], i) for i, (a, b) in enumerate(zip(tokens, tokens[1:])) if (a, b) in self.priority
            ]
            if not ranked:
                break
            _, i = min(ranked)
            tokens = tokens[:i] + [tokens[i] + tokens[i + 1]] + tokens[i + 2 :]
        return tuple(self.inverse[t] for t in tokens)

    def encode(self, text: str) -> list[int]:
        ids = []
        for piece in split_on_special_tokens(text, self.special_tokens):
            if piece in self.special_tokens:
                ids.append(self.inverse[piece.encode("utf-8")])
            else:
                for word in pretokenize(piece):
                    ids.extend(self.encode_word(word))
        return ids

    def encode_iterable(self, iterable):
        for text in iterable:
            yield from self.encode(text)

    def decode(self, ids) -> str:
        raw = bytearray()
        for i in ids:
            raw += self.vocab[i]
        return raw.decode("utf-8", errors="replace")
