import torch
from torch.utils.data import Dataset

from minilm.model import HParams, LanguageModel
from minilm.trainer import Trainer


class Text(Dataset):
    def __init__(self, path, hp, length=128):
        with open(path) as f:
            raw = f.read()
        self.ids = torch.tensor([ord(c) % hp.vocab_size for c in raw])
        self.length = length

    def __len__(self):
        return (len(self.ids) - 1) // self.length

    def __getitem__(self, i):
        return self.ids[i * self.length : (i + 1) * self.length]


if __name__ == "__main__":
    hp = HParams()
    trainer = Trainer(LanguageModel(hp), Text("train.txt", hp), Text("valid.txt", hp))
    trainer.fit()
