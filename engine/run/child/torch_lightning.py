"""Stands for lightning: modules, modules of data, and the loop of its Trainer.

The order of calls inside the loop is the stand-in's: what is measured is what the tree gives to it.
"""

from __future__ import annotations

import inspect
import sys

import torch

from engine.run.child.torch_hydra import Config
from engine.run.child.torch_stubs import Nothing

LOOP = "the loop of %s is played: its order of calls is not the tree's"


class Module(torch.nn.Module):
    """lightning's module."""

    trainer, global_step, current_epoch, logger = None, 0, 0, Nothing("logger")
    device = torch.device("cpu")

    def log(self, *args, **kwargs):
        pass

    log_dict = print = log

    def save_hyperparameters(self, *args, **kwargs):
        given = dict(sys._getframe(1).f_locals)
        given.pop("self", None)
        more = given.pop("kwargs", None)
        self.hparams = Config({**given, **(more if isinstance(more, dict) else {})})
        self.hparams.update({k: v for k, v in given.items() if not k.startswith("__")})

    def optimizers(self):
        return self.trainer.optimizers[0]

    def lr_schedulers(self):
        return next(iter(self.trainer.schedulers), None)

    def manual_backward(self, loss):
        loss.backward()

    def freeze(self):
        self.requires_grad_(False)

    @classmethod
    def load_from_checkpoint(cls, path, **kwargs):
        raise FileNotFoundError(path)


class DataModule:
    """lightning's module of data."""

    trainer = None

    def __init__(self, *args, **kwargs):
        pass

    save_hyperparameters = Module.save_hyperparameters

    def prepare_data(self):
        pass

    def setup(self, stage=None):
        pass

    def val_dataloader(self):
        return []


def hooked(owner, name, *args):
    """Calls a hook where there is one, with as many arguments as it takes."""
    hook = getattr(owner, name, None)
    if hook is None:
        return None
    try:
        most = sum(
            p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            for p in inspect.signature(hook).parameters.values()
        )
    except (TypeError, ValueError):
        return None
    return hook(*args[:most])


def loss_of(output):
    """The loss in what a step gave."""
    if isinstance(output, dict):
        return output["loss"]
    if isinstance(output, (tuple, list)):
        return output[0]
    return getattr(output, "loss", output)


def batches(loaders, epochs):
    """The batches of a loader, or of the first of several, again for each epoch."""
    if isinstance(loaders, dict):
        loaders = next(iter(loaders.values()))
    if isinstance(loaders, (list, tuple)):
        loaders = loaders[0]
    for epoch in range(epochs):
        for batch in loaders:
            yield epoch, batch


class Fit:
    """lightning's Trainer: fit alone does something."""

    note = staticmethod(lambda what: None)

    def __init__(self, max_epochs=None, max_steps=-1, accumulate_grad_batches=1,
                 gradient_clip_val=None, callbacks=None, **kwargs):  # fmt: skip
        self.max_epochs, self.max_steps = max_epochs or 3, max_steps
        self._every = accumulate_grad_batches if isinstance(accumulate_grad_batches, int) else 1
        self._clip, self.callbacks = gradient_clip_val, callbacks or []
        self.optimizers, self.schedulers, self.callback_metrics = [], [], {}
        self.global_step = self.current_epoch = self.global_rank = self.local_rank = 0
        self.world_size = self.num_devices = self.num_nodes = 1
        self.is_global_zero, self.logger, self.loggers = True, Nothing("logger"), []
        self.estimated_stepping_batches = self.num_training_batches = 9
        self.strategy = self.checkpoint_callback = Nothing("trainer")

    def fit(self, model, train_dataloaders=None, val_dataloaders=None, datamodule=None, **kwargs):
        self.note(LOOP % "lightning")
        data = datamodule or (
            train_dataloaders if hasattr(train_dataloaders, "train_dataloader") else None
        )
        model.trainer = self
        self.datamodule = data
        if data is not None:
            data.trainer = self
            hooked(data, "prepare_data")
            hooked(data, "setup", "fit")
            train_dataloaders, val_dataloaders = (
                data.train_dataloader(),
                hooked(data, "val_dataloader"),
            )
        elif train_dataloaders is None:
            train_dataloaders, val_dataloaders = (
                model.train_dataloader(),
                hooked(model, "val_dataloader"),
            )
        hooked(model, "setup", "fit")
        hooked(model, "configure_model")
        self._configured(model.configure_optimizers())
        hooked(model, "on_fit_start")
        hooked(model, "on_train_start")
        self._validate(model, val_dataloaders)
        model.train()
        for i, (epoch, batch) in enumerate(batches(train_dataloaders, self.max_epochs)):
            self.current_epoch = model.current_epoch = epoch
            self._step(model, batch, i)
            if 0 < self.max_steps <= self.global_step:
                break

    def _configured(self, made):
        if isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], (list, tuple)):
            optimizers, schedules = made
        elif isinstance(made, dict):
            optimizers, schedules = [made["optimizer"]], [made.get("lr_scheduler")]
        else:
            optimizers, schedules = made if isinstance(made, (list, tuple)) else [made], []
        self.optimizers = list(optimizers)
        found = [one["scheduler"] if isinstance(one, dict) else one for one in schedules or ()]
        self._epochs = [
            not (isinstance(one, dict) and one.get("interval") == "step") for one in schedules or ()
        ]
        self.schedulers = [one for one in found if one is not None]

    def _step(self, model, batch, i):
        hooked(model, "on_train_batch_start", batch, i)
        output = hooked(model, "training_step", batch, i)
        if getattr(model, "automatic_optimization", True) and output is not None:
            (loss_of(output) / self._every).backward()
            hooked(model, "on_after_backward")
            if (i + 1) % self._every == 0:
                hooked(model, "on_before_optimizer_step", self.optimizers[0])
                if self._clip:
                    torch.nn.utils.clip_grad_norm_(list(model.parameters()), self._clip)
                self.optimizers[0].step()
                self.optimizers[0].zero_grad()
                for schedule, epoch in zip(self.schedulers, self._epochs):
                    if not epoch:
                        schedule.step()
                self.global_step += 1
                model.global_step = self.global_step
        hooked(model, "on_train_batch_end", output, batch, i)

    def _validate(self, model, loaders):
        if not loaders:
            return
        model.eval()
        with torch.no_grad():
            for _, batch in batches(loaders, 1):
                hooked(model, "validation_step", batch, 0)
                break

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None
