import torch
from torch.utils.data import DataLoader, Dataset

from lm import CONFIG, TextModel, generate_text


class Windows(Dataset):
    def __init__(self, text, tokenizer, length, stride):
        ids = tokenizer.encode(text)
        self.x, self.y = [], []
        for i in range(0, len(ids) - length, stride):
            self.x.append(torch.tensor(ids[i : i + length]))
            self.y.append(torch.tensor(ids[i + 1 : i + length + 1]))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def batch_loss(x, y, model, device):
    logits = model(x.to(device))
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), y.to(device).flatten())


def evaluate(model, loader, device):
    model.eval()
    with torch.no_grad():
        x, y = next(iter(loader))
        loss = batch_loss(x, y, model, device).item()
    model.train()
    return loss


def main():
    import tiktoken

    tokenizer = tiktoken.get_encoding("gpt2")
    with open("the-verdict.txt", encoding="utf-8") as f:
        text = f.read()
    torch.manual_seed(123)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = TextModel(CONFIG).to(device)
    length = CONFIG["context_length"]
    loader = DataLoader(Windows(text, tokenizer, length, length), batch_size=4, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-4, weight_decay=0.1)
    step = 0
    for epoch in range(10):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = batch_loss(x, y, model, device)
            loss.backward()
            optimizer.step()
            step += 1
            if step == 1:
                print(evaluate(model, loader, device))
    model.eval()
    print(generate_text(model, torch.tensor([tokenizer.encode("Every")]), 20, length))


if __name__ == "__main__":
    main()
