"""Where the parts of a model stand in its source: part -> the calls that show it, each with its spans.

A bug is put in at such spans; what is said here is where to look, and never what is right.
"""

from pack.attention import projected
from pack.facts import Case
from pack.graph import SUMS, VIEWS, factor_of, reaches, up, weight_of
from pack.parts import positions
from pack.stream_facts import below, branches

SOFTMAX = {"softmax", "exp", "log_softmax", "_safe_softmax"}
TURNS = {"transpose", "permute", "swapaxes", "swapdims", "movedim", "moveaxis", "t", "T", "mT"}
DROPS = {"dropout", "dropout_", "bernoulli", "feature_dropout", "dropout1d"}


def of_model(recorded):
    """{part: [[span, ...] of each call, innermost first]}, each part's calls in the order of the run."""
    parts = Case(recorded).parts("first")
    if parts is None:
        return {}
    found = {name: calls(parts) for name, calls in PARTS.items()}
    return {name: spans(reachable(name, calls)) for name, calls in found.items()}


def reachable(name, calls):
    """Without what happens inside a layer of torch's own, which only its arguments reach."""
    return calls if name == "sdpa" else [c for c in calls if not getattr(c, "inside", False)]


def spans(calls):
    """The spans of calls, those with the same spans once."""
    told = []
    for call in calls:
        at = [[path, *numbers] for path, _, *numbers in call.at] if call is not None else []
        if at and at not in told:
            told.append(at)
    return told


def made_of(values, stop):
    """The calls that made some values, back to where `stop`, in the order of the run."""
    found = {}
    for value in values:
        for one in [value, *up(value, 24, stop)]:
            if one.call is not None and not stop(one):
                found[one.call.i] = one.call
    return [found[i] for i in sorted(found)]


def scaling(parts):
    """Calls that multiply scores, queries or keys by a number."""
    found = []
    for head in parts.heads:
        ends = [head.weights] if head.weights is not None else []
        made = made_of([*ends, head.q, head.k], projected)
        found += [call for call in made if factor_of(call)]
    return found


def weights(parts):
    """Calls from the scores to what is multiplied with the values."""
    found = []
    for head in parts.heads:
        if head.weights is not None:
            found += made_of([head.weights], lambda v, s=head.scores: v is s)
    return found


def softmax(parts):
    return [call for call in weights(parts) if call.name in SOFTMAX]


def masking(parts):
    """Calls that hide scores."""
    numbers = SOFTMAX | DROPS | VIEWS
    return [c for c in weights(parts) if c.name not in numbers and not factor_of(c)]


def merging(parts):
    """Calls that exchange axes between what the heads give and the projection below."""
    ends = {head.O.i for head in parts.heads}
    merged = [one for layer in parts.layers for *_, one in layer if one is not None]
    return [c for c in made_of(merged, lambda v: v.i in ends) if c.name in TURNS]


def splitting(parts):
    """Calls between a projection and the queries, keys and values."""
    values = [value for head in parts.heads for value in (head.q, head.k, head.v)]
    return [call for call in made_of(values, projected) if call.name in VIEWS]


def rotating(side):
    """Calls that turn queries, or keys, by their positions."""

    def calls(parts):
        values = [(head.q, head.k)[side] for head in parts.heads]
        return [c for c in reversed(made_of(values, projected)) if c.name not in VIEWS]

    return calls


def norms_of(parts):
    return [call for norm in parts.norms for call in (norm.call, norm.Y.call)]


def inside_norms(parts):
    """Calls inside norms that are written by hand."""
    found = []
    for norm in parts.norms:
        if norm.own:
            found += made_of([norm.Y], lambda v, x=norm.X: v is x)
    return found


def norms_before(kind):
    """The norms that attention, or the FFN, reads."""

    def calls(parts):
        found = []
        for read, _, call in branches(parts):
            ffn = any(call is up_ for f in parts.ffns for up_ in f.ups)
            what, norm = parts.reads(read)
            if what == "norm" and ffn == (kind == "FFN"):
                found += [norm.Y.call, norm.call]
        return found

    return calls


def final_norm(parts):
    """The norm that the head reads; not the last block's, where norms stand in the stream (post-norm)."""
    if parts.head is None or not parts.bypassed():
        return []
    what, norm = parts.reads(parts.linears[parts.head.i][0])
    return [norm.Y.call, norm.call] if what == "norm" else []


def residual(kind):
    """The sums where a branch joins the stream."""

    def calls(parts):
        found = []
        for unit, values in parts.units:
            if unit != kind:
                continue
            end = below(parts, values[0], kind)
            onward = [c for c in parts.graph.calls if end is not None and c.i > end.i]
            for call in onward:
                if call.name in SUMS and parts._is_stream(call):
                    if any(reaches(end.outs, v) for v in call.ins):
                        found.append(call)
                        break
        return found

    return calls


def activations(parts):
    """Calls between the matrices of FFNs."""
    made = [call.outs[0] for ffn in parts.ffns for call in ffn.ups]
    ends = [ffn.hidden for ffn in parts.ffns]
    stop = lambda v: v in made or (v.call is not None and weight_of(v.call) is not None)
    return [call for call in made_of(ends, stop) if call.name not in DROPS]


def embedding(parts):
    return [parts.tok.call] if parts.tok is not None else []


def positional(parts):
    """The call that makes the vectors of positions, and the sums that they go into."""
    found = positions(parts)
    if found is None:
        return []
    calls = [found[3].call, *found[3].uses]
    for call in calls:  # grows
        if call is not None and call.name in VIEWS and call is not found[3].call:
            calls += [one for out in call.outs for one in out.uses if one not in calls]
    return [call for call in calls if call is not None]


def dropping(parts):
    return [call for call in parts.graph.calls if call.name in DROPS]


PARTS = {
    "attention": lambda parts: [head.call for head in parts.heads],
    "sdpa": lambda parts: [head.call for head in parts.heads if head.kind == "sdpa"],
    "scaling": scaling,
    "masking": masking,
    "softmax": softmax,
    "merging": merging,
    "splitting": splitting,
    "rotating_q": rotating(0),
    "rotating_k": rotating(1),
    "norms": norms_of,
    "inside_norms": inside_norms,
    "attention_norm": norms_before("attention"),
    "ffn_norm": norms_before("FFN"),
    "final_norm": final_norm,
    "residual_attention": residual("attention"),
    "residual_ffn": residual("FFN"),
    "activation": activations,
    "head": lambda parts: [parts.head],
    "embedding": embedding,
    "positions": positional,
    "dropout": dropping,
    "loss": lambda parts: [parts.loss_call()],
}
KINDS = {
    "Z": "zero_grad", "B": "backward", "C": "clip", "S": "step", "R": "schedule", "L": "loss",
    "O": "optimizer", "V": "rate", "K": "save",
}  # fmt: skip


def of_script(recorded):
    """The same of a training script: part -> the spans of what happened; forwards by their mode."""
    found = {}
    for event in recorded["events"]:
        name = KINDS.get(event["kind"])
        if event["kind"] == "F":
            name = "forward" if event["grad"] and event["train"] else "evaluation"
        at = [[path, *numbers] for path, _, *numbers in event["at"]]
        if name and at and at not in found.setdefault(name, []):
            found[name].append(at)
    return found


def of_sampler(recorded):
    """The same of a sampler."""
    found = {}
    for run in recorded["runs"]:
        for name, (path, _, *numbers) in run["at"].items():
            at = [[path, *numbers]]
            if at not in found.setdefault(name, []):
                found[name].append(at)
    return found
