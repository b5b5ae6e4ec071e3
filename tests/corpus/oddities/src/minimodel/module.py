from minimodel.tensor import *


class Parameter(Tensor):
	# no __slots__ here, so that one may hang a name or so on a parameter
	def __init__(self, data): super().__init__(data, requires_grad=True)


def _slots_of(thing):
	"""names in __slots__, all the way up. vars() does not show them, which cost me the whole LMHead once"""
	for cls in type(thing).__mro__[::-1]:
		names = cls.__dict__.get("__slots__", ())
		for n in ((names,) if isinstance(names, str) else names):
			if not n.startswith("__") and hasattr(thing, n): yield n


class Module:
	training = True

	def __init__(self, *, rng=None): pass

	def __call__(self, *args, **kwargs): return self.forward(*args, **kwargs)

	def forward(self, *args, **kwargs): raise NotImplementedError(type(self).__name__ + " has no forward")

	def _things(self):
		for n in _slots_of(self): yield n, getattr(self, n)
		yield from list(vars(self).items())

	def _walk(self):
		"""(name, Module or Parameter), self first (name ''), each object once, in the order in which they were set"""
		seen, stack = {}, [("", self)]		# seen keeps the objects and not only the ids
		while stack:
			name, t = stack.pop()
			if isinstance(t, (Module, Parameter)):
				if id(t) in seen: continue
				seen[id(t)] = t; yield name, t
			if isinstance(t, Module): inside = t._things()
			elif isinstance(t, dict): inside = t.items()
			elif isinstance(t, (list, tuple)): inside = enumerate(t)
			else: continue
			if not isinstance(t, Module):
				if ("c", id(t)) in seen: continue
				seen["c", id(t)] = t
			stack.extend([((name + "." if name else "") + str(k), v) for k, v in inside][::-1])

	def named_parameters(self): return [(n, t) for n, t in self._walk() if isinstance(t, Parameter)]
	def parameters(self): return [p for _, p in self.named_parameters()]
	def modules(self): return [t for _, t in self._walk() if isinstance(t, Module)]

	def zero_grad(self):
		for p in self.parameters(): p.grad = None

	def train(self, mode=True):
		for m in self.modules(): m.training = bool(mode)
		return self

	def eval(self): return self.train(False)


if __name__ == "__main__":
	class A(Module):
		__slots__ = "w",
		def __init__(self): self.w = Parameter(np.zeros(3)); self.more = {"a": [Parameter(1.0)], "self": self}; self.again = self.w
	assert [n for n, _ in A().named_parameters()] == ["w", "more.a.0"] and not A().eval().training; print("module: ok")
