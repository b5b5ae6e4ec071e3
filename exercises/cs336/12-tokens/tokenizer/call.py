"""Runs the learner's tokenizer, made from a vocabulary and merges that were handed in."""

from numbers import Integral

READ = 300_000  # characters that may be read before the first id comes
SHOWN, LINE = 24, 8  # words that are shown, and on one line


def ids_of(known):
    """token -> its id."""
    return {bytes.fromhex(token): id for id, token in enumerate(known)}


def made(learner, known, merges, special):
    """get_tokenizer with copies. known: the tokens in the order of their ids, in hex; merges: two tokens
    each, in hex with a blank between them.
    """
    vocab = {id: token for token, id in ids_of(known).items()}
    pairs = [tuple(bytes.fromhex(part) for part in pair.split(" ")) for pair in merges]
    special = None if special is None else list(special)
    return learner.get_tokenizer(vocab=vocab, merges=pairs, special_tokens=special)


def pieces(known, ids):
    """The tokens behind some ids, as Python writes bytes; the id where there is none."""
    tokens = {id: token for token, id in ids_of(known).items()}
    return [repr(tokens[id]) if id in tokens else f"the id {id!r}" for id in ids]


def encode(learner, record, known, merges, special, text):
    """`text` cut into tokens."""
    record(tokens=pieces(known, made(learner, known, merges, special).encode(text)))


def cost(learner, record, known, merges, special, text):
    """Into how many tokens a text is cut, and its first words with a dot at each cut."""
    tokenizer = made(learner, known, merges, special)
    found = tokenizer.encode(text)
    words = text.replace(" ", "\n ").split("\n")
    record(text_comes_back=tokenizer.decode(found) == text)
    record(letters=len(text), tokens=len(found))
    tokens = [[bytes.fromhex(known[id]) for id in tokenizer.encode(word)] for word in words]
    record(words_in_one_token=sum(len(one) == 1 for one in tokens))
    dotted = ["\u00b7".join(token.decode("latin-1") for token in one) for one in tokens]
    for first in range(0, SHOWN, LINE):
        some = "".join(dotted[first : first + LINE]).strip()
        record(**{f"words_{first + 1}_to_{first + LINE}": some})


def kinds(learner, record, known, merges, special, text):
    """What encode and decode return."""
    tokenizer = made(learner, known, merges, special)
    found = tokenizer.encode(text)
    record(encoded=type(found).__name__, of_integers=all(isinstance(id, Integral) for id in found))
    record(decoded=type(tokenizer.decode(found)).__name__)


def decode(learner, record, known, merges, special, text, ids):
    """The text of ids that are given."""
    record(text=repr(made(learner, known, merges, special).decode(list(ids))))


def round_trip(learner, record, known, merges, special, texts):
    """decode(encode(...)), as Python writes it, so that nothing on the way here can change it."""
    tokenizer = made(learner, known, merges, special)
    for i, text in enumerate(texts):
        record(**{f"text_{i}": repr(tokenizer.decode(tokenizer.encode(text)))})


def malformed(learner, record, known, merges, special, ids):
    """Bytes that are no text. How many U+FFFD stand for several of them is open."""
    told = made(learner, known, merges, special).decode(list(ids))
    while "\ufffd\ufffd" in told:
        told = told.replace("\ufffd\ufffd", "\ufffd")
    record(text=ascii(told))


def iterable(learner, record, known, merges, special, lines):
    """encode_iterable over several strings."""
    found = made(learner, known, merges, special).encode_iterable(iter(list(lines)))
    record(tokens=pieces(known, list(found)))


def lazy(learner, record, known, merges, special, lines):
    """How encode_iterable reads what never ends: whether an id comes before it has read too much."""
    read = 0

    def endless():
        nonlocal read
        while read < READ:
            for line in lines:
                read += len(line)
                yield line

    found = iter(made(learner, known, merges, special).encode_iterable(endless()))
    next(found)
    record(first_id_before_the_end=read < READ)


def again(learner, record, known, merges, special, text, other_known, other_merges, other):
    """Two tokenizers beside each other, and one that is used twice."""
    one = made(learner, known, merges, special)
    record(first=pieces(known, one.encode(text)))
    two = made(learner, other_known, other_merges, special)
    record(other=pieces(other_known, two.encode(other)))
    record(again=pieces(known, one.encode(text)))
