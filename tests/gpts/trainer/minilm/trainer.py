import torch
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, model, train_set, valid_set, *, lr=3e-4, max_steps=2000, batch_size=16, clip=1.0, log_every=50):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model = model.to(self.device)
        self.loader = DataLoader(train_set, batch_size=batch_size, shuffle=True, num_workers=4, pin_memory=True)
        self.valid = DataLoader(valid_set, batch_size=batch_size)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        self.scheduler = CosineAnnealingLR(self.optimizer, T_max=max_steps)
        self.max_steps, self.clip, self.log_every = max_steps, clip, log_every

    def evaluate(self):
        self.model.eval()
        with torch.no_grad():
            ids = next(iter(self.valid)).to(self.device)
            loss = self.model(ids, labels=ids)["loss"].item()
        self.model.train()
        return loss

    def step(self, ids):
        loss = self.model(ids, labels=ids)["loss"]
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        self.scheduler.step()
        return loss.item()

    def fit(self):
        done = 0
        self.model.train()
        while done < self.max_steps:
            for ids in self.loader:
                loss = self.step(ids.to(self.device))
                if done % self.log_every == 0:
                    print(done, loss, self.evaluate())
                done += 1
                if done >= self.max_steps:
                    return
