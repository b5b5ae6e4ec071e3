"""Facts of the optimizers: what is decayed, their averages, the scaler of gradients, what is saved."""

from pack.results import missing, span


def last_steps(steps):
    """The last step of each optimizer, by the number of what it owns and its name."""
    ends = [e for step in steps.steps for e in step if e["kind"] == "S"]
    return list({(e["optimizer"], e["owned"]): e for e in ends}.values())


def made(steps, event):
    """Where an optimizer was made, if only one was; else where it steps."""
    found = [e for e in steps.events if e["kind"] == "O" and e["at"]]
    return found[0] if len(found) == 1 else event


def decay(steps):
    """What weight decay is applied to, and whether a script that sets norms and biases apart has them all."""
    ends = last_steps(steps)
    groups = [group for e in ends for group in e["groups"]]
    if not groups or any(group["decay"] is None for group in groups):
        return missing("the optimizer does not show its decay")
    if not any(group["decay"] > 0 for group in groups):
        return "nothing", None, ""
    for event in ends:
        on = [group for group in event["groups"] if group["decay"] > 0]
        off = [group for group in event["groups"] if group["decay"] == 0]
        count = {
            name: [sum(group[name] for group in part) for part in (on, off)]
            for name in ("matrices", "vectors")
        }
        (matrices, free), (vectors, spared) = count["matrices"], count["vectors"]
        at = span(made(steps, event))
        if vectors and free and not matrices and not spared:
            return "norms and biases, and no matrix", at, ""
        if vectors and spared:
            return f"matrices and {vectors} of {vectors + spared} norms and biases", at, ""
    vectors = sum(group["vectors"] for group in groups if group["decay"] > 0)
    return ("everything alike" if vectors else "matrices alone"), span(made(steps, ends[-1])), ""


def averages(steps):
    """The two betas of an optimizer: the gradient's average must be the shorter one."""
    for event in last_steps(steps):
        for group in event["groups"]:
            if len(group["betas"]) == 2 and group["betas"][0] > group["betas"][1]:
                first, second = group["betas"]
                return f"exchanged: {first:g}, {second:g}", span(made(steps, event)), ""
    pairs = [g["betas"] for e in last_steps(steps) for g in e["groups"] if len(g["betas"]) == 2]
    if not pairs:
        return missing("the optimizer has no betas")
    return f"{pairs[-1][0]:g}, {pairs[-1][1]:g}", None, ""


def scaler(steps):
    """Whether a scaler of gradients is used whole: scale, unscale_ before a clip, step, update."""
    kinds = {e["kind"] for e in steps.events}
    if not kinds & {"scale", "stepped"}:
        return missing("no gradient scaler is in use")
    for step in steps.middle():
        names = [e["kind"] for e in step]
        backward, stepped = names.index("B"), names.index("S")
        if "stepped" not in names:
            return "the optimizer steps past it", span(step[stepped]), ""
        if "scale" not in names[:backward]:
            return "the loss is not scaled", span(step[backward]), ""
        clips = [n for n, kind in enumerate(names) if kind == "C" and n > backward]
        if clips and "unscale" not in names[: clips[0]]:
            return "clipped before unscale_", span(step[clips[0]]), ""
    if "update" not in kinds:
        last = [e for e in steps.events if e["kind"] == "stepped"][-1]
        return "never updated", span(last), ""
    return "scale, unscale_ before a clip, step, update", None, ""


def checkpoint(steps):
    """Whether what is saved can be resumed: with the optimizer's state beside the weights."""
    saved = [e for e in steps.events if e["kind"] == "K" and "weights" in e["holds"]]
    if not saved:
        return missing("nothing was saved in the first steps")
    for event in saved:
        if "misplaced" in event["holds"]:
            return "the model's weights in the optimizer's place", span(event), ""
    if any(e["kind"] == "K" and "optimizer" in e["holds"] for e in steps.events):
        return "with the optimizer's state", span(saved[-1]), ""
    if not any("progress" in event["holds"] for event in saved):
        return missing("only weights are saved, which is enough where nothing is resumed")
    return "weights and steps, without the optimizer's state", span(saved[-1]), ""
