from collections import Counter

from .pretokenization import pretokenize, split_on_special_tokens


class BPETrainer:
    def __init__(self, vocab_size: int, special_tokens: list[str]):
        self.vocab_size = vocab_size
        self.special_tokens = special_tokens
        self.vocab: dict[int, bytes] = {}
        self.merges: list[tuple[bytes, bytes]] = []
        self.words: dict[tuple[bytes, ...], int] = {}
        self.pairs: Counter = Counter()

    def add_token(self, token: bytes):
        self.vocab[len(self.vocab)] = token

    def feed(self, text: str):
        counts = Counter()
        for piece in split_on_special_tokens(text, self.special_tokens):
            if piece not in self.special_tokens:
                counts.update(pretokenize(piece))
        for word, n in counts.items():
            key = tuple(word[i : i + 1] for i in range(len(word)))
            self.words[key] = self.words.get(key, 0) + n

    def count_pairs(self, word, n):
        for pair in zip(word[:-1], word[1:]):
            self.pairs[pair] += n

    def apply_merge(self, a: bytes, b: bytes):
        """Rewrite only the words that contain the pair, and update the pair counts."""
        affected = []
        for word in self.words:
            if a in word and any(x == a and y == b for x, y in zip(word, word[1:])):
                affected.append(word)
        for word in affected:
            n = self.words.pop(word)
            self.count_pairs(word, -n)
            merged = []
            for token in word:
                if merged and merged[-1] == a and token == b:
                    merged[-1] = a + b
                else:
                    merged.append(token)
            merged = tuple(merged)
            self.words[merged] = self.words.get(merged, 0) + n
            self.count_pairs(merged, n)

    def train(self):
        for token in self.special_tokens:
            self.add_token(token.encode("utf-8"))
        for byte in range(256):
            self.add_token(bytes([byte]))
        for word, n in self.words.items():
            self.count_pairs(word, n)
        while len(self.vocab) < self.vocab_size:
            if not self.pairs:
                break
            count, (a, b) = max((n, pair) for pair, n in self.pairs.items())
            if count <= 0:
                break
            self.merges.append((a, b))
            self.add_token(a + b)
            self.apply_merge(a, b)
        return self.vocab, self.merges


def train_bpe(input_path, vocab_size: int, special_tokens: list[str], **kwargs):
    trainer = BPETrainer(vocab_size, special_tokens)
    with open(input_path, encoding="utf-8") as f:
        trainer.feed(f.read())
    return trainer.train()
