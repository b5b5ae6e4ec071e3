"""Saves a model and its optimizer with the learner's code, and goes on with a new pair."""

import io
import pathlib
import tempfile

import torch


def net(x, y, width=5):
    """A model of two layers."""
    return torch.nn.Sequential(
        torch.nn.Linear(x.shape[1], width), torch.nn.Tanh(), torch.nn.Linear(width, y.shape[1])
    )


def optimizer_of(model, lr):
    return torch.optim.AdamW(model.parameters(), lr=lr, betas=(0.8, 0.9), weight_decay=0.1)


def train(model, optimizer, x, y, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()


def differing(one, other):
    """The names of what is not the same in two state dicts."""
    return [name for name, value in one.items() if not torch.equal(value, other[name])]


def moments(model, optimizer):
    """Parameter and name -> the optimizer's tensor."""
    return {
        f"{name}: {key}": value
        for name, p in model.named_parameters()
        for key, value in optimizer.state.get(p, {}).items()
        if isinstance(value, torch.Tensor)
    }


def save(learner, record, x, y, iteration, steps, lr):
    """Something is there after saving."""
    model = net(x, y)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "checkpoint.pt"
        learner.run_save_checkpoint(
            model=model, optimizer=optimizer_of(model, lr), iteration=iteration, out=path
        )
        record(something_is_written=path.exists() and path.stat().st_size > 0)


def resume(learner, record, x, y, iteration, steps, lr, place):
    """Trained, saved and loaded into a new pair; then both go one step further."""
    model = net(x, y)
    optimizer = optimizer_of(model, lr)
    train(model, optimizer, x, y, steps)
    optimizer.param_groups[0]["lr"] = 0.5 * lr  # as a schedule does
    again = net(x, y)
    second = optimizer_of(again, lr)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "checkpoint.pt"
        out = {"text": str(path), "bytes": io.BytesIO(), "open_file": None}.get(place, path)
        if place == "open_file":
            out = open(path, "w+b")
        learner.run_save_checkpoint(model=model, optimizer=optimizer, iteration=iteration, out=out)
        if place in ("bytes", "open_file"):
            out.seek(0)
        loaded = learner.run_load_checkpoint(src=out, model=again, optimizer=second)
        if place == "open_file":
            out.close()
    record(weights_not_restored=len(differing(model.state_dict(), again.state_dict())))
    compared(record, (model, optimizer), (again, second), lr)
    record(iteration=number(loaded))
    train(model, optimizer, x, y, 1)
    train(again, second, x, y, 1)
    record(weights_apart_after_a_step=len(differing(model.state_dict(), again.state_dict())))


def compared(record, old, new, lr):
    """The optimizer's state, its tensors and its learning rate, in units of what it had at first."""
    wanted, found = moments(*old), moments(*new)
    lost = [
        name for name in wanted if not (name in found and torch.equal(wanted[name], found[name]))
    ]
    record(optimizer_tensors_not_restored=len(lost))
    record(learning_rate_by_the_first=float(new[1].param_groups[0]["lr"]) / lr)


def number(loaded):
    """A whole number as such; whatever else as it is."""
    try:
        return int(loaded)
    except (TypeError, ValueError):
        return loaded


def buffers(learner, record, x, y, iteration, steps, lr):
    """A model whose state is more than its parameters: running averages."""
    models = [torch.nn.Sequential(net(x, y), torch.nn.BatchNorm1d(y.shape[1])) for _ in range(2)]
    optimizers = [optimizer_of(model, lr) for model in models]
    train(models[0], optimizers[0], x, y, steps)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "checkpoint.pt"
        learner.run_save_checkpoint(
            model=models[0], optimizer=optimizers[0], iteration=iteration, out=path
        )
        learner.run_load_checkpoint(src=path, model=models[1], optimizer=optimizers[1])
    record(state_not_restored=len(differing(models[0].state_dict(), models[1].state_dict())))


def goes_on(learner, record, x, y, steps, more, lr, seed):
    """Trained, saved, loaded into a new pair, and trained on; beside it the same without a stop. How far each
    first step after the stop moves the weights, by the last step before it.
    """
    torch.manual_seed(seed)
    model = net(x, y)
    optimizer = optimizer_of(model, lr)
    losses = followed(model, optimizer, x, y, steps)
    again = net(x, y)
    second = optimizer_of(again, lr)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "checkpoint.pt"
        learner.run_save_checkpoint(model=model, optimizer=optimizer, iteration=steps, out=path)
        at = learner.run_load_checkpoint(src=path, model=again, optimizer=second)
    held = sum(len(second.state.get(p, {})) for p in again.parameters())
    record(iteration=number(at), tensors_in_the_optimizer=held)
    record(same_loss=bool(loss_of(model, x, y) == loss_of(again, x, y)))
    one, other = (moved(*pair, x, y) for pair in ((model, optimizer), (again, second)))
    record(first_step_by_the_uninterrupted_one=other / one)
    losses += followed(again, second, x, y, more)
    straight = followed(model, optimizer, x, y, more)
    record(losses=losses, highest_after=max(losses[steps:]), highest_uninterrupted=max(straight))


def loss_of(model, x, y):
    return float((model(x) - y).square().mean())


def followed(model, optimizer, x, y, steps):
    """The loss before each of some steps."""
    losses = []
    for _ in range(steps):
        losses.append(loss_of(model, x, y))
        train(model, optimizer, x, y, 1)
    return losses


def moved(model, optimizer, x, y):
    """How far one step moves all weights together."""
    before = [p.detach().clone() for p in model.parameters()]
    train(model, optimizer, x, y, 1)
    return float(torch.stack([(p - q).norm() for p, q in zip(model.parameters(), before)]).norm())
