"""Facts of the data that a training script draws: successive batches, and what evaluation draws from."""

from pack.batch_facts import flattened
from pack.results import missing, span
from pack.steps import forwards

TAIL = 3  # equal tokens at the end of a row that are taken for padding
SMALL = 0.2  # of an evaluation's text, that may lie inside the training text


def batches(steps):
    """Whether each step sees another batch; where not, whether the script means to draw one."""
    train, _ = forwards(steps)
    firsts = []
    for step in steps.steps:
        found = [e for e in step if e["kind"] == "F" and e in train]
        if found:
            firsts.append(found[0])
    if len(firsts) < 3:
        return missing("too few batches were seen")
    if any(e["x"] != firsts[0]["x"] for e in firsts):
        return "different", span(firsts[-1]), ""
    if len({token for e in firsts for row in e["x"] for token in row}) == 1:
        return missing("the text that was made up has become one token, over and over")
    cause = drawn_anew(steps.events, firsts)
    if cause is not None:
        return f"the same batch every step, {cause[0]}", span(cause[1]), ""
    return "the same batch every step", span(firsts[-1]), ""


def drawn_anew(events, firsts):
    """(why every draw is the same, its event), where a new batch is drawn at every step; else None."""
    if len({e["batch"] for e in firsts}) < len(firsts):
        return None
    places = [events.index(e) for e in firsts]
    between = [events[a:b] for a, b in zip(places, places[1:])]
    seeds = [{e["given"] for e in part if e["kind"] == "G" and e["at"]} for part in between]
    common = set.intersection(*seeds)
    if common:
        last = [e for e in between[-1] if e["kind"] == "G" and e["given"] in common]
        return "as the generator is seeded anew", last[-1]
    given = [[e for e in part if e["kind"] == "N"] for part in between]
    if all(given) and all(part[-1]["count"] > 1 for part in given):
        begun = [part[-1]["beginning"] for part in given]
        if len({part[-1]["loader"] for part in given}) == 1 and len(set(begun)) == len(begun):
            return "as the loader begins anew", given[-1][-1]
    return None


def validation(steps):
    """Whether what is evaluated on lies apart from what is trained on."""
    drawn = [e for e in steps.events if e["kind"] == "D"]
    train = [e for e in drawn if e["name"] == "train"]
    other = [e for e in drawn if e["name"] == "validation"]
    if train and other:
        return apart(train, other)
    return loaders(steps)


def apart(train, other):
    """How far each text of an evaluation lies inside one of training."""
    shares = []
    for event in other:
        start, end = event["memory"]
        inside = max(min(end, e["memory"][1]) - max(start, e["memory"][0]) for e in train)
        same = any(event["source"] == e["source"] for e in train)
        shares.append((1.0 if same else max(0, inside) / (end - start), event))
    share, event = max(shares, key=lambda one: one[0])
    if share == 1:
        return "the training split", span(event), ""
    if share > SMALL:
        return "partly the training split", span(event), ""
    return "another part of the data", span(event), ""


def loaders(steps):
    """The same for loaders: the data set that gave the batch of a forward."""
    train, other = forwards(steps)
    other = [e for e in other if not e["grad"]]
    given, latest = {}, None
    for event in steps.events:
        if event["kind"] == "N":
            latest = event
        elif event["kind"] == "F":
            given[id(event)] = latest
    fed = [given.get(id(e)) for e in train]
    read = [given.get(id(e)) for e in other]
    if not read or not all(fed) or not all(read):
        return missing("no batches of an evaluation were followed to their text")
    mine = {e["source"] for e in fed}
    if {e["loader"] for e in read} <= {e["loader"] for e in fed}:
        return missing("evaluation reads the loader that training reads, which may be meant")
    if any(e["source"] not in mine for e in read):
        return "another part of the data", span(read[-1]), ""
    return "the data set that is trained on", span(read[-1]), ""


def padding(steps):
    """Whether tokens that only fill up the rows of a batch are counted in the loss."""
    pairs, x = [], None
    for event in steps.events:
        if event["kind"] == "F":
            x = event["x"] if event["grad"] else None
        elif event["kind"] == "L" and x is not None and event["targets"] is not None:
            pairs.append((x, event))
    filler = filled(row for x, _ in pairs for row in x)
    losses = [e for x, e in pairs if filler is not None and e["name"] != "own"]
    if not losses:
        return missing("no padding was seen")
    if any(e["weighted"] for e in losses) or not all(e["value"] for e in losses):
        return missing("the losses of single tokens are weighed afterwards")
    for event in losses:
        counted = [n for n in flattened(event["targets"]) if n != event["ignored"]]
        if counted.count(filler) >= TAIL:
            return "counted", span(event), ""
    return "left out", span(losses[-1]), ""


def filled(rows):
    """The token that ends two rows or more TAIL times over and is nowhere before such an end; or None."""
    ends, before = [], set()
    for row in rows:
        size = next((n for n in range(len(row)) if row[-1 - n] != row[-1]), len(row))
        if size >= TAIL:
            ends.append((row[-1], size))
        before.update(row[: len(row) - size] if size >= TAIL else row)
    tokens = {token for token, _ in ends}
    if len(ends) < 2 or len(tokens) != 1 or len({size for _, size in ends}) < 2:
        return None
    token = tokens.pop()
    return None if token in before else token
