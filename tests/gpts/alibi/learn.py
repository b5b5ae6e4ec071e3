import torch
from alibi_gpt import AlibiLM

bs, ctx = 8, 64
net = AlibiLM(vocab_size=100, hidden_size=128, num_heads=8, num_layers=3)
adam = torch.optim.AdamW(net.parameters(), lr=1e-3)
nll = torch.nn.NLLLoss()
stream = torch.tensor([ord(c) % 50 for c in open("books.txt").read()])
for it in range(500):
    offset = torch.randint(len(stream) - ctx - 1, (bs, 1)) + torch.arange(ctx + 1)
    batch = stream[offset]
    logp = torch.log_softmax(net(batch[:, :-1]), dim=-1)
    loss = nll(logp.reshape(-1, logp.shape[-1]), batch[:, 1:].reshape(-1))
    for p in net.parameters():
        p.grad = None
    loss.backward()
    adam.step()
