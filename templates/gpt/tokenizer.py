"""Characters as tokens: every character of the text gets a number."""


class CharTokenizer:
    def __init__(self, chars):
        self.chars = "".join(sorted(set(chars)))
        self.ids = {char: i for i, char in enumerate(self.chars)}

    def __len__(self):
        return len(self.chars)

    def encode(self, text):
        unknown = set(text) - set(self.chars)
        if unknown:
            raise ValueError(f"the model was never shown {sorted(unknown)}")
        return [self.ids[char] for char in text]

    def decode(self, ids):
        return "".join(self.chars[i] for i in ids)
