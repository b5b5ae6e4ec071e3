"""Runs the learner's get_batch, on NumPy arrays as the contract has it."""

import os
import random
import tempfile

import numpy as np
import torch


def batch(learner, dataset, batch_size, context_length, device="cpu"):
    return learner.run_get_batch(
        dataset=dataset, batch_size=batch_size, context_length=context_length, device=device
    )


def recorded(record, x, y, places, dataset):
    """Where x and y, of any dtype, were cut from. places: id -> its place in the dataset."""
    record(x_shape=list(x.shape), y_shape=list(y.shape))
    at_x, at_y = located(x, places), located(y, places)
    record(rows_of_x_that_are_no_piece=sum(not consecutive(row) for row in at_x))
    record(y_is_later_by=sorted({b - a for r, s in zip(at_x, at_y) for a, b in zip(r, s)}))
    record(rows_from_the_same_start=len(at_x) > 1 and len({row[0] for row in at_x}) == 1)


def located(rows, places):
    """Each id by its place in the dataset; -1 for what is no id of it."""
    return [[places.get(id, -1) for id in row] for row in rows.tolist()]


def consecutive(row):
    return row[0] >= 0 and row == list(range(row[0], row[0] + len(row)))


def pieces(learner, record, dataset, batch_size, context_length, kind):
    given = np.array(dataset.tolist(), kind)
    places = {id: i for i, id in enumerate(dataset.tolist())}
    x, y = batch(learner, given, batch_size, context_length)
    recorded(record, x, y, places, dataset)
    record(x_dtype=str(x.dtype), y_dtype=str(y.dtype))


def starts(learner, record, dataset, batch_size, context_length, calls, seed):
    """How often each start comes up, in many batches. seed: one draw gives one count, where a generator
    that can be seeded is used.
    """
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    given = np.array(dataset.tolist())
    places = {id: i for i, id in enumerate(dataset.tolist())}
    count = [0] * (len(given) - context_length)
    for _ in range(calls // 4):
        x, _ = batch(learner, given, batch_size, context_length)
        for row in located(x[:, :1], places):
            at = row[0]
            count += [0] * (at + 1 - len(count))
            count[at] += 1
    seen = [at for at, n in enumerate(count) if n]
    record(first_start=seen[0], last_start=seen[-1])
    record(rarest_start_comes_up=min(count), most_frequent_start_comes_up=max(count))


def one_start(learner, record, dataset, batch_size, context_length):
    given = np.array(dataset.tolist())
    places = {id: i for i, id in enumerate(dataset.tolist())}
    for _ in range(8):
        x, y = batch(learner, given, batch_size, context_length)
        recorded(record, x, y, places, dataset)


def device(learner, record, dataset, batch_size, context_length):
    """No machine has a hundred GPUs: who hands the device on cannot go there."""
    given = np.array(dataset.tolist())
    try:
        batch(learner, given, batch_size, context_length, "cuda:99")
    except (RuntimeError, AssertionError):
        record(cuda_99="refused by PyTorch")
    else:
        record(cuda_99="not used")
    x, y = batch(learner, given, batch_size, context_length, "cpu")
    record(device_of_x=x.device.type, device_of_y=y.device.type)


def file(learner, record, dataset, batch_size, context_length):
    """A dataset that stays on disk: `np.memmap`, opened for reading."""
    places = {id: i for i, id in enumerate(dataset.tolist())}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tokens.bin")
        np.array(dataset.tolist(), np.int64).tofile(path)
        given = np.memmap(path, np.int64, mode="r")
        x, y = batch(learner, given, batch_size, context_length)
        assert isinstance(x, torch.Tensor)
        recorded(record, x, y, places, dataset)


def seeded(seed):
    """Whatever generator code draws from."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def crashes(learner, record, dataset, batch_size, context_length, calls, seed):
    """How many of many calls end in an exception."""
    seeded(seed)
    given, raised = np.array(dataset.tolist()), 0
    for _ in range(calls):
        try:
            batch(learner, given, batch_size, context_length)
        except (ValueError, IndexError, RuntimeError):
            raised += 1
    record(calls_that_raise=raised, share=raised / calls)


def learn(learner, record, ids, batch_size, context_length, steps, lr, seed):
    """A table of logits (V, V), one row for each last token, trained on the batches with PyTorch alone.

    The loss that training reports, the loss on the text itself, and how the table goes on writing.
    """
    seeded(seed)
    tokens, V = np.array(ids.tolist()), int(ids.max()) + 1
    table, losses = torch.zeros(V, V, requires_grad=True), []
    nll = torch.nn.functional.cross_entropy
    for _ in range(steps):
        x, y = batch(learner, tokens, batch_size, context_length)
        loss = nll(table[x].flatten(0, 1), y.flatten())
        (grad,) = torch.autograd.grad(loss, table)
        table = (table - lr * grad).detach().requires_grad_()
        losses.append(float(loss))
        record(losses=losses)
    record(last_loss=sum(losses[-10:]) / len(losses[-10:]))
    record(losses_below_a_tenth=sum(loss < 0.1 for loss in losses))  # of all steps
    on_the_text = float(nll(table[ids[:-1]], ids[1:]))
    chance = float(np.log(V))
    than = "better" if on_the_text < 0.9 * chance else "worse"
    record(loss_on_the_text=on_the_text)
    record(loss_on_the_text_is="as_good" if abs(on_the_text / chance - 1) < 0.1 else than)
    record(writes=how_it_writes(table, ids.tolist()))


def how_it_writes(table, ids):
    """The table, from the first token on, always with the most likely one."""
    told = [ids[0]]
    for _ in range(12):
        told.append(int(table[told[-1]].argmax()))
    if len(set(told)) == 1:
        return "repeats"
    pairs = set(zip(ids[:-1], ids[1:]))
    return "as_the_text" if pairs >= set(zip(told, told[1:])) else "otherwise"
