from ..bits import *


class LSTM(Module):
	"""one step. gates side by side in the order i f g o"""
	__slots__ = "w_x", "w_h", "b"
	d_in, d_hidden = nth("w_x.shape", 0), nth("w_h.shape", 0)

	def __init__(self, d_in, d_hidden, *, rng=None):
		rng = np.random.default_rng() if rng is None else rng; std = d_hidden ** -0.5
		self.w_x = gauss(rng, d_in, 4 * d_hidden, std=std); self.w_h = gauss(rng, d_hidden, 4 * d_hidden, std=std); self.b = Parameter(np.zeros(4 * d_hidden))

	@checked(x_t="d_in", h_prev="d_hidden", c_prev="d_hidden")
	def forward(self, x_t, h_prev, c_prev):
		z = ndot(x_t, self.w_x) + ndot(h_prev, self.w_h) + self.b; n = self.d_hidden
		i, f, g, o = [z[..., k * n:(k + 1) * n] for k in range(4)]
		c_t = f.sigmoid() * c_prev + i.sigmoid() * g.tanh(); h_t = o.sigmoid() * c_t.tanh()
		return h_t, c_t


if __name__ == "__main__":
	cell = LSTM(3, 5); h = c = Tensor(np.zeros((2, 5)))
	for t in range(7): h, c = cell(Tensor(np.ones((2, 3))), h, c)
	(h * h).sum().backward(); assert h.shape == (2, 5) and all(p.grad is not None and p.grad.any() for p in cell.parameters()); print("lstm: ok")
