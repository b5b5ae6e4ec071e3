import torch
import torch.nn as nn

from transformer import TransformerLM

ntokens, emsize, nhid, nlayers, nhead, bptt, batch_size = 2000, 200, 800, 2, 4, 35, 20
words = open("wiki.train.txt").read()
data = torch.tensor([ord(w) % 50 for w in words])
model = TransformerLM(ntokens, emsize, nhead, nhid, nlayers)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=5.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.95)


def train():
    model.train()
    for i in range(0, len(data) - batch_size * (bptt + 1), batch_size * bptt):
        chunk = data[i : i + batch_size * bptt + 1]
        x, y = chunk[:-1].view(batch_size, bptt), chunk[1:].view(batch_size, bptt)
        optimizer.zero_grad()
        output = model(x)
        loss = criterion(output.view(-1, output.size(-1)), y.reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()


for epoch in range(3):
    train()
    scheduler.step()
