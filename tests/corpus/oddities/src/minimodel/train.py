from .data import *
from .optim import *
from .nn.loss import *


def train_step(model, x, y, optimizer, max_norm=None):
	model.zero_grad(); optimizer.zero_grad()		# both: not every parameter of the model must be in the optimizer
	loss = cross_entropy(model(x), y); loss.backward()
	if max_norm is not None: clip_grad_norm(model.parameters(), max_norm)
	optimizer.step(); return float(loss.data)


def train(model, ids, *, steps, batch_size, seq_len, optimizer, rng, on_step=None):
	losses, source = [], batches(ids, batch_size, seq_len, rng=rng)
	for step in range(steps):
		x, y = next(source); losses.append(train_step(model, x, y, optimizer))
		if on_step is not None: on_step(step, losses[-1], model)
	return losses


if __name__ == "__main__":
	from .mini_gpt import *
	r = np.random.default_rng(0); m = MiniGPT(MiniGPTConfig(d_model=16, n_heads=2, n_layers=1, d_ff=32, vocab_size=8), rng=r)
	l = train(m, np.arange(200) % 7, steps=80, batch_size=8, seq_len=12, optimizer=AdamW(m.parameters(), lr=1e-2), rng=r, on_step=lambda s, loss, _: s % 20 or print("  step %3d  %.4f" % (s, loss)))
	assert l[-1] < 0.5 * l[0]; print("train: ok")
