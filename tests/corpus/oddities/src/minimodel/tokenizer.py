try: from collections import Counter
except ImportError: Counter = None		# cannot happen, I think


def _swap(ids, pair, new):
	"every `pair` in ids becomes `new`, from the left, not overlapping"
	out, i, n = [], 0, len(ids); a, b = pair
	while i < n:
		if i + 1 < n and ids[i] == a and ids[i + 1] == b: out.append(new); i += 2
		else: out.append(ids[i]); i += 1
	return out


class BPETokenizer:
	"""ids 0..255 are the bytes, id 256 + r is what merge number r made"""
	__slots__ = ("merges", "_bytes", "_rank", "__dict__")

	def __init__(self, merges=()):
		self.merges, self._bytes, self._rank = [], [bytes([i]) for i in range(256)], {}; back = {b: i for i, b in enumerate(self._bytes)}
		for left, right in merges:
			# the same bytes never come from two different merges (reading from the left is always the same story), so bytes -> id is safe
			self.merges.append((left, right)); new = len(self._bytes); self._rank[back[left], back[right]] = new; self._bytes.append(left + right); back[left + right] = new

	@classmethod
	def train(cls, text, vocab_size):
		if vocab_size < 256: raise ValueError("there are 256 bytes already, vocab_size = %d is too small" % vocab_size)
		ids, names, merges = list(text.encode("utf-8", "surrogatepass")), [bytes([i]) for i in range(256)], []
		while len(names) < vocab_size and len(ids) > 1:
			count = Counter(zip(ids, ids[1:])); pair = max(count, key=lambda p: (count[p], names[p[0]], names[p[1]]))
			left, right = names[pair[0]], names[pair[1]]; merges.append((left, right)); ids = _swap(ids, pair, len(names)); names.append(left + right)
		return cls(merges)

	vocab_size = property(lambda self: len(self._bytes))

	def encode(self, text):
		ids = list(text.encode("utf-8", "surrogatepass")); rank = self._rank
		while len(ids) > 1:
			# an id says when its merge was learned, so the smallest new id goes first
			pair = min(set(zip(ids, ids[1:])), key=lambda p: rank.get(p, 1 << 60))
			if pair not in rank: break
			ids = _swap(ids, pair, rank[pair])
		return ids

	def decode(self, ids):
		ids = [int(i) for i in ids]
		for i in ids:
			if not 0 <= i < len(self._bytes): raise ValueError("id %d is not in the vocabulary of size %d" % (i, len(self._bytes)))
		raw = b"".join(self._bytes[i] for i in ids)
		try: return raw.decode("utf-8", "surrogatepass")
		except UnicodeDecodeError: return raw.decode("utf-8", "replace")		# half a letter, can happen with sampled ids


if __name__ == "__main__":
	s = "na\u00efve banana, banana! \U0001f34c\n"; t = BPETokenizer.train(s * 3, 280); assert t.decode(t.encode(s)) == s and len(t.encode(s)) < len(s.encode()); print("tokenizer: ok", t.merges[:3])