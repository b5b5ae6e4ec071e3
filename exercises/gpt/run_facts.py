"""Facts that take more than one run of a model: `fact(case) -> (value, call, why)`."""

import difflib
import re

import numpy as np
from pack import attention_facts, loss_facts, start_facts
from pack.graph import is_weight, reaches, up
from pack.results import missing

SAME = 1e-6  # relative; two runs of one computation may sum in another order


def unused_rotations(case, parts, done):
    """Whether the model holds a table cos(t w) whose numbers flow nowhere."""
    if not parts.heads or parts.head is None:
        return False
    size = parts.heads[0].q.shape[-1]
    goal = parts.linears[parts.head.i][0]
    from pack.graph import number

    arrays = case.recorded["arrays"]
    owned = [number(v, arrays) for v in done["owned"] if not v["learns"] and not v["used"]]
    if any(is_rotation(a, size) for a in owned if a is not None):
        return not any(is_rotation(v.array, size) for v in parts.graph.values)
    tables = [v for v in parts.graph.values if is_rotation(v.array, size)]
    return bool(tables) and not reaches(tables, goal)


def idle_tables(parts, done):
    """Whether the model owns a table with a vector for each position, which no call has met."""
    rows = [
        int(np.prod(v["shape"][:-1]))
        for v in done["owned"]
        if not v["used"] and len(v["shape"]) >= 2 and v["shape"][-1] == parts.width
    ]
    return any(count == parts.run["context"] for count in rows)


def is_rotation(array, size):
    """Rows cos(t w), t = 0, 1, 2 ...: cos 2a = 2 cos^2 a - 1; or exp(i t w)."""
    if array is None or array.ndim < 2 or array.shape[-1] not in (size, size // 2):
        return False
    rows = array.reshape(-1, array.shape[-1])
    if len(rows) < 3 or np.abs(rows[0] - 1).max() > 1e-6 or np.abs(rows[1] - 1).max() < 1e-3:
        return False
    doubled = rows[1] ** 2 if np.iscomplexobj(rows) else 2 * rows[1] ** 2 - 1
    return bool(np.abs(rows[2] - doubled).max() < 1e-4)


def eps(case):
    """Whether norms stay finite on vectors of zeros."""
    parts, zero = case.parts("first"), case.done.get("zero")
    if parts is None or not parts.norms:
        return missing("no norm was found")
    for norm in parts.norms:
        if not norm.own and norm.eps == 0:
            return "0", norm.call, ""
    own = [norm for norm in parts.norms if norm.own]
    if not own:
        return "above 0", parts.norms[0].call, ""
    graph = zero["graph"] if zero else None
    same = same_calls(parts.graph, graph) if graph else {}
    if not all(value.call and value.call.i in same for norm in own for value in (norm.X, norm.Y)):
        return missing("the model takes another way for vectors of zeros")
    seen = 0
    for norm in own:
        X, Y = (
            same[value.call.i].outs[value.call.outs.index(value)].array
            for value in (norm.X, norm.Y)
        )
        if X is None or Y is None or not np.isfinite(X).all():
            continue
        flat = X - X.mean(-1, keepdims=True) if norm.kind == "LayerNorm" else X
        if np.abs(flat).max() > 0:
            continue
        seen += 1
        if not np.isfinite(Y).all():
            return "0", norm.call, ""
    if seen < len(own):
        return missing("no vector of zeros reaches the norm")
    return "above 0", own[0].call, ""


def same_calls(graph, other):
    """The number of a call -> the same call of another run, by name and place, in order: one run may fill a
    cache that another finds filled.
    """
    keys = [[(call.name, str(call.at[:1])) for call in one.calls] for one in (graph, other)]
    blocks = difflib.SequenceMatcher(None, *keys, autojunk=False).get_matching_blocks()
    return {a + n: other.calls[b + n] for a, b, size in blocks for n in range(size)}


def loss(case):
    parts = case.parts("first")
    if parts is None:
        return missing("the model could not be traced")
    return loss_facts.loss(parts)


def learning(case):
    """Whether a gradient arrives at every parameter."""
    done = case.done.get("gradients")
    if not done or not done["gradients"]:
        return missing("no gradients could be taken")
    met = {v["name"] for v in done["owned"] if v["used"]}  # a router leaves some out in each run
    idle = sorted(name for name, norm in done["gradients"].items() if norm is None and name in met)
    if idle:
        shown = ", ".join(idle[:3]) + (" ..." if len(idle) > 3 else "")
        return f"none at {len(idle)} of {len(done['gradients'])}: {shown}", None, ""
    return "at every parameter", None, ""


def registered(case):
    """Whether everything that learns in a forward belongs to model.parameters()."""
    done = case.done.get("gradients")
    graph = done["graph"] if done else None
    if graph is None or not case.recorded["module"]:
        return missing("the model could not be traced with gradients")
    strange = [v for v in graph.values if v.leaf and v.learns and not v.name]
    if strange:
        call = next((call for call in graph.calls if strange[0] in call.ins), None)
        return f"{len(strange)} tensors are no parameters of the model", call, ""
    return "all of them", None, ""


def distinct(case):
    """Whether a list of blocks, or of parts of one block, holds one of them several times."""
    parts = case.parts("first")
    if parts is None or not (parts.layers or parts.whole):
        return missing("no attention was found")
    for shared in case.recorded["shared"]:
        if names := repeated(shared):
            inside = " inside a layer" if re.search(r"\.\d+\.", names[0]) else ""
            return f"one, {len(names)} times{inside} ({names[0]})", None, ""
    if len(parts.layers or parts.whole) < 2:
        return missing("there is only one layer")
    return "each its own", None, ""


def repeated(names):
    """The names of a module under which one list holds it, as h.0 and h.1; [] where none does so twice."""
    lists = {}
    for name in (name for name in names if name[-1].isdigit()):
        lists.setdefault(name.rstrip("0123456789"), []).append(name)
    return next((found for found in lists.values() if len(found) > 1), [])


def compared(case, name, place):
    """(logits before, logits after) of a changed run, (B, T, V) or (B, 1, V); None where they cannot be
    compared. With targets, else without.
    """
    pairs = [_compared(case.done.get(one), place) for one in (name, name + " bare")]
    pairs = [pair for pair in pairs if pair is not None]
    return max(pairs, key=lambda pair: pair[0].shape[1]) if pairs else None


def _compared(done, place):
    if not done or done["failed"] or len(done["runs"]) <= place:
        return None
    a, b = done["runs"][0]["logits"], done["runs"][place]["logits"]
    if a is None or b is None or a.shape != b.shape:
        return None
    B, T = done["runs"][0]["tokens"].shape
    if a.shape[:-1] == (B * T,):
        a, b = a.reshape(B, T, -1), b.reshape(B, T, -1)
    if a.shape[0] == B and a.ndim == 2:
        a, b = a[:, None], b[:, None]
    if a.ndim != 3 or a.shape[0] != B or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    return a, b


def moved(a, b):
    """Where two arrays of logits differ: (B, T) of bool."""
    return np.abs(a - b).max(-1) > SAME * max(1.0, float(np.abs(a).max()))


def future(case):
    """Whether logits change with a token that comes later."""
    pair = compared(case, "changed", 1)
    last = case.done["changed"]["runs"][0]["tokens"].shape[1] - 1 if pair else 0
    if pair is None or pair[0].shape[1] != last + 1:
        return missing("the model does not give logits for every token")
    parts = case.parts("first")
    if parts is None or not (parts.heads or parts.whole):
        return missing("no attention was found")
    where = moved(*pair)
    if where[0, :last].any() and case.recorded["mask"]:
        return missing("the forward takes a mask, and none was given")
    if where[0, :last].any():
        calls = [attention_facts.mask_call(head) for head in parts.heads]
        return "change with later tokens", calls[0] if calls else None, ""
    if not where[0, last]:
        return missing("the last token changes nothing")
    return "only of tokens so far", None, ""


def samples(case):
    """Whether the samples of a batch know of each other."""
    for name, place, sample in (("changed", 1, 0), ("changed", 2, 1), ("train", 1, 0)):
        pair = compared(case, name, place)
        if pair is None:
            if name == "train":
                break
            return missing("the model does not give logits for every sample")
        where = moved(*pair)
        others = np.delete(where, sample, 0)
        if others.any():
            mode = " in training" if name == "train" else ""
            return f"change with another sample{mode}", None, ""
    return "of one sample alone", None, ""


def repeatable(case):
    """Whether two evaluations of the same tokens agree, without dropout."""
    pair = compared(case, "changed", 3)
    if pair is None:
        return missing("the model does not give logits that can be compared")
    return ("differ" if moved(*pair).any() else "agree"), None, ""


def untouched(case):
    """What a forward writes into."""
    done = case.done.get("first")
    if not done:
        return missing("the model could not be traced")
    written = [name for name in done["written"] if name]
    if "the tokens" in written:
        return "writes into the tokens", None, ""
    if written:
        return "writes into " + ", ".join(written[:2]), None, ""
    return "nothing", None, ""


DROPS = {"dropout": (1, "p", 2, "training"), "alpha_dropout": (1, "p", 2, "training")}


def dropping(case):
    """Whether an evaluation drops anything, with a dropout above 0."""
    done = case.done.get("dropping")
    if not done or done["failed"] or not done["runs"]:
        return missing("the model could not be built with dropout")
    a, b = (run["logits"] for run in done["runs"][:2])
    if a is None or b is None or a.shape != b.shape:
        return missing("the model gives no logits that can be compared")
    trained = case.done.get("dropping-train")
    if np.array_equal(a, b, equal_nan=True):
        if trained and not trained["failed"] and len(trained["runs"]) > 1:
            c, d = (run["logits"] for run in trained["runs"][:2])
            if c is not None and d is not None and np.array_equal(c, d, equal_nan=True):
                return missing("the model has no dropout")
        return "nothing is dropped", None, ""
    return "drops in evaluation", dropped_at(done["graph"]), ""


def dropped_at(graph):
    """The call that drops."""
    for call in graph.calls if graph else ():
        if "dropout" in call.name:
            p, training = call.argument(1, "p", 0.5), call.argument(2, "training", True)
            if p and training is not False:
                return call
        if call.name == "scaled_dot_product_attention" and call.argument(4, "dropout_p", 0.0):
            return call
    return next((c for c in graph.calls if c.name in ("bernoulli", "rand", "rand_like")), None)


def idle(case):
    """What the model owns and no forward touches."""
    done = case.done.get("first")
    if not done or not done["owned"]:
        return missing("the model could not be traced")
    used = set()  # in any run: what a router chooses depends on the tokens
    for owned in (one["owned"] for one in case.done.values() if one["owned"]):
        held = {v["storage"] for v in owned if v["used"]}
        used |= {v["name"] for v in owned if v["storage"] in held}
    unused = [v["name"] for v in done["owned"] if v["learns"] and v["name"] not in used]
    if unused:
        shown = ", ".join(unused[:3]) + (" ..." if len(unused) > 3 else "")
        return f"{len(unused)} never used: {shown}", None, ""
    return "all used", None, ""


CASE = {
    "eps": eps,
    "loss": loss,
    "start_loss": start_facts.start,
    "tied": start_facts.tied,
    "registered": registered,
    "gradients": learning,
    "used": idle,
    "distinct_blocks": distinct,
    "future": future,
    "samples": samples,
    "repeatable": repeatable,
    "untouched": untouched,
    "eval_dropout": dropping,
}
__all__ = ["CASE", "is_weight", "unused_rotations", "up"]
