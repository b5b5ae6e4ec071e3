"""Facts of a training step: order, gradients, clipping, accumulation, rate, what moves."""

from pack.results import missing, span

WORDS = {"Z": "zero_grad", "B": "backward", "C": "clip", "S": "step"}

NEAR = 0.02  # relative


def order(steps):
    """The calls of one step, from the first thing that clears or fills gradients."""
    found, where = set(), None
    for step in steps.middle():
        letters = [e for e in step if e["kind"] in "ZBCS"]
        kinds = "".join(e["kind"] for e in letters)
        first = next(e for e in step if e["kind"] == "B")
        if (
            kinds.startswith("C")
            or "ZC" in kinds[: kinds.index("B")]
            or "CZ" in kinds[: kinds.index("B")]
        ):
            found.add("backward, step, clip")
            where = next(e for e in letters if e["kind"] == "C")
            continue
        text = ", ".join(WORDS[k] for k in collapsed(kinds))
        if "Z" not in kinds:
            if first["dirty"] == 0:
                text = "cleared by hand, " + text
            where = next(e for e in step if e["kind"] == "S")
        else:
            where = next((e for e in letters if e["kind"] == "Z"), None)
        found.add(text)
    if len(found) != 1:
        return missing("steps differ in their order")
    return found.pop(), span(where), ""


def collapsed(kinds):
    """ZZBBS -> ZBS."""
    return [k for i, k in enumerate(kinds) if i == 0 or kinds[i - 1] != k]


def clean_grad(steps):
    for step in steps.middle():
        first = next(e for e in step if e["kind"] == "B")
        last = next(e for e in reversed(step) if e["kind"] == "S")
        backward = [e for e in step if e["kind"] == "B"]
        if first["dirty"] > 0:
            return "not 0", span(first), ""
        if last["norm"] == 0 and any(e["norm"] > 0 for e in backward):
            zero = next((e for e in reversed(step) if e["kind"] == "Z"), last)
            return "cleared before the step", span(zero), ""
    return "0", None, ""


def clipped(steps):
    every = [e for step in steps.steps for e in step if e["kind"] == "C"]
    if not every:
        return missing("the script does not clip through torch")
    for step in steps.middle():
        clips = [e for e in step if e["kind"] == "C"]
        if not clips:
            return missing("not every step clips")
        backward = max(i for i, e in enumerate(step) if e["kind"] == "B")
        ended = next(e for e in reversed(step) if e["kind"] == "S")
        if all(step.index(e) < backward for e in clips):
            kinds = [e["kind"] for e in step]
            if kinds.index("C") < kinds.index("B"):
                return "after the step", span(clips[0]), ""
            return missing("clips come between backward passes")
        owned = ended["owned"]
        if (
            len(clips) > 1
            and owned > 1
            and all(e["count"] == 1 for e in clips)
            and len(clips) >= owned // 2
        ):
            return "each parameter by itself", span(clips[0]), ""
        if max(e["count"] for e in clips) < owned:
            return "only some of them together", span(clips[0]), ""
    return "all together, before the step", span(clips[-1]), ""


def accumulation(steps):
    values = set()
    where = None
    for step in steps.middle():
        backward = [e for e in step if e["kind"] == "B"]
        if len(backward) < 2:
            return missing("a step has one backward pass")
        ratios, loss = [], None
        for event in step:
            if event["kind"] == "L" and event.get("value"):
                loss = event["value"]
            elif event["kind"] == "B" and loss:
                ratios.append(event["value"] / loss)
        if len(ratios) != len(backward):
            return missing("the loss of a backward pass was not seen")
        mean, k = sum(ratios) / len(ratios), len(backward)
        ended = next(e for e in reversed(step) if e["kind"] == "S")
        where = backward[0]
        if abs(mean * k - 1) < NEAR:
            values.add("divided by the number of micro-steps")
        elif abs(mean - 1) < NEAR:
            last, clips = backward[-1]["norm"], [e for e in step if e["kind"] == "C"]
            reached = clips[0]["before"] if clips else ended["norm"]
            later = last > 0 and abs(reached * k / last - 1) < NEAR
            values.add("divided later" if later else "not divided")
        else:
            return missing("what is passed backward is another function of the loss")
    if len(values) != 1:
        return missing("steps differ")
    return values.pop(), span(where), ""


def rate(steps):
    ends = [[e for e in step if e["kind"] == "S"][-1] for step in steps.steps]
    rates = [tuple(e["rates"]) for e in ends]
    if not all(rates):
        return missing("the optimizer does not show its rate")
    if all(max(r, default=0) == 0 for r in rates):
        return "0 at every step", span(ends[-1]), ""
    first = next(i for i, e in enumerate(steps.events) if e["kind"] == "S")
    early = [e for e in steps.events[:first] if e["kind"] == "R"]
    late = [e for e in steps.events[first:] if e["kind"] == "R"]
    if early and late:
        return "scheduler before optimizer", span(early[0]), ""
    if len(set(rates)) > 1:
        return "set step by step", span(ends[-1]), ""
    unused = computed(steps, rates)
    if unused is not None:
        return "computed and not set", span(unused), ""
    if any(e["kind"] == "schedule" for e in steps.events) and not late:
        return "constant, a scheduler is not stepped in the first steps", span(ends[-1]), ""
    return "constant", span(ends[-1]), ""


def computed(steps, rates):
    """A call whose value changes from step to step and reaches no optimizer, or None."""
    used = {round(r, 12) for group in rates for r in group}
    by_name = {}
    for event in steps.events:
        if event["kind"] == "V":
            by_name.setdefault(event["name"], []).append(event)
    for calls in by_name.values():
        given = [e["given"] for e in calls]
        values = {round(e["value"], 12) for e in calls}
        steady = given == sorted(given) and len(set(given)) >= 3
        largest = max(values)
        near = any(abs(largest / r - 1) < 1.01 for r in used if r > 0)
        if steady and len(values) >= 3 and len(values - used) >= 2 and near and largest < 0.5:
            return calls[-1]
    return None


def updated(steps):
    ends = [e for step in steps.steps for e in step if e["kind"] == "S"]
    model = ends[-1]["model"]
    moving = [e for e in ends if e["norm"] > 0 and max(e["rates"], default=0) > 0]
    if moving and not any(e["moved"] for e in moving):
        return "nothing moves", span(ends[-1]), ""
    if not model:
        return missing("no forward of a whole model was seen")
    covered = {n for e in ends for n in e["covered"]}
    if not covered:
        return "none of the model's parameters", span(ends[-1]), ""
    if len(covered) < model and model <= 2000:
        return (
            f"{model - len(covered)} of {model} parameters are in no optimizer",
            span(ends[-1]),
            "",
        )
    return "every parameter", span(ends[-1]), ""
