"""Facts of a training script, from what it did in order: `fact(steps) -> (value, span, why)`."""

from pack import batch_facts, data_facts, optimizer_facts, step_facts
from pack.results import missing
from pack.steps import Steps

TRAINING = {
    "order": step_facts.order,
    "clean_grad": step_facts.clean_grad,
    "clipped": step_facts.clipped,
    "accumulation": step_facts.accumulation,
    "rate": step_facts.rate,
    "shift": batch_facts.shift,
    "loss_input": batch_facts.loss_input,
    "train_mode": batch_facts.train_mode,
    "eval_mode": batch_facts.eval_mode,
    "updated": step_facts.updated,
    "batches": data_facts.batches,
    "validation": data_facts.validation,
    "padding": data_facts.padding,
    "decay": optimizer_facts.decay,
    "averages": optimizer_facts.averages,
    "scaler": optimizer_facts.scaler,
    "checkpoint": optimizer_facts.checkpoint,
}
LEAST = 3  # steps, below which nothing is said


def measure(recorded):
    """Every fact of a training script."""
    steps = Steps(recorded["events"])
    found = []
    for id, fact in TRAINING.items():
        if steps.count < LEAST:
            value, at, why = missing(f"{steps.count} steps were seen: {recorded['why']}")
        else:
            value, at, why = fact(steps)
        found.append({"id": id, "value": value, "at": at, "why": why})
    return found
