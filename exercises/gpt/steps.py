"""What a training script did, cut into steps.

Kinds: Z zero_grad, B backward, C clip, S step, R a scheduler's step, F a forward, L a cross-entropy,
V what a function of the script makes of a whole number, G a generator is seeded, N a loader gives a batch,
D a function that is told a split gives a batch, O an optimizer is made, K something is saved; "scale",
"unscale", "stepped" and "update" of a gradient scaler.
"""


class Steps:
    """The events cut into steps: each from after one step of the optimizers to the next."""

    def __init__(self, events):
        self.events = events
        self.steps, current = [], []
        for event in events:
            backward = any(e["kind"] == "B" for e in current)
            stepped = any(e["kind"] == "S" for e in current)
            if stepped and event["kind"] in "BF" and backward:
                head, tail = cut(current)
                self.steps.append(head)
                current = tail
            current.append(event)
        if any(e["kind"] == "S" for e in current):
            self.steps.append(cut(current)[0])
        self.count = len(self.steps)

    def middle(self):
        """Steps after the first, in which everything has happened once."""
        return self.steps[1:]


def cut(events):
    """What belongs to a step, up to its last S, and what comes after."""
    last = max(i for i, e in enumerate(events) if e["kind"] == "S")
    return events[: last + 1], events[last + 1 :]


def forwards(steps):
    """(training forwards, the others): a training forward is the last one before a backward."""
    train, other, waiting = [], [], []
    for event in steps.events:
        if event["kind"] == "F":
            waiting.append(event)
        elif event["kind"] == "B" and waiting:
            train.append(waiting.pop())
            other += waiting
            waiting = []
    return train, other + waiting
