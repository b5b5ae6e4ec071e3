"""Stands for libraries that run a training loop or parts of it: transformers' Trainer and accelerate."""

from __future__ import annotations

import contextlib
import math
import sys

import torch

from engine.run.child.torch_hydra import Config
from engine.run.child.torch_lightning import LOOP, DataModule, Fit, Module, batches, loss_of
from engine.run.child.torch_stubs import Nothing, StubModule


class Arguments(Config):
    """transformers' TrainingArguments."""

    def __init__(self, output_dir="out", **kwargs):
        super().__init__(output_dir=output_dir, **kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)


class HuggingTrainer:
    """transformers' Trainer: train alone does something."""

    note = staticmethod(lambda what: None)

    def __init__(self, model=None, args=None, data_collator=None, train_dataset=None,
                 eval_dataset=None, optimizers=(None, None), **kwargs):  # fmt: skip
        self.model, self.args = model, args or Arguments()
        self.train_dataset, self.eval_dataset = train_dataset, eval_dataset
        self.data_collator, (self.optimizer, self.lr_scheduler) = data_collator, optimizers
        self.state = Config(global_step=0, log_history=[], epoch=0)

    def get_train_dataloader(self):
        size = self.args.get("per_device_train_batch_size") or 2
        return torch.utils.data.DataLoader(
            self.train_dataset, batch_size=min(size, 2), collate_fn=self.data_collator
        )

    def create_optimizer(self):
        if self.optimizer is None:
            self.optimizer = torch.optim.AdamW(
                self.model.parameters(), lr=self.args.get("learning_rate") or 5e-5,
                weight_decay=self.args.get("weight_decay") or 0.0,
            )  # fmt: skip
        return self.optimizer

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        output = model(**inputs) if isinstance(inputs, dict) else model(*inputs)
        loss = output["loss"] if isinstance(output, dict) else loss_of(output)
        return (loss, output) if return_outputs else loss

    def train(self, *args, **kwargs):
        self.note(LOOP % "transformers")
        optimizer = self.create_optimizer()
        every = min(self.args.get("gradient_accumulation_steps") or 1, 2)
        self.model.train()
        for i, (_, batch) in enumerate(batches(self.get_train_dataloader(), 3)):
            (self.compute_loss(self.model, batch) / every).backward()
            if (i + 1) % every == 0:
                most = self.args.get("max_grad_norm")
                torch.nn.utils.clip_grad_norm_(
                    self.model.parameters(), 1.0 if most is None else most
                )
                optimizer.step()
                self.model.zero_grad()
        return Config(metrics=Config())

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: Config()


class Accelerator:
    """accelerate's: one process, nothing is moved or scaled."""

    is_main_process = is_local_main_process = sync_gradients = True
    num_processes, process_index, local_process_index = 1, 0, 0
    device, mixed_precision, state = torch.device("cpu"), "no", Nothing("state")

    def __init__(self, gradient_accumulation_steps=1, **kwargs):
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.trackers = []

    def prepare(self, *given, **kwargs):
        return given[0] if len(given) == 1 else given

    def backward(self, loss, **kwargs):
        loss.backward()

    def clip_grad_norm_(self, parameters, most, *args):
        return torch.nn.utils.clip_grad_norm_(parameters, most)

    def unwrap_model(self, model, **kwargs):
        return model

    gather = reduce = gather_for_metrics = pad_across_processes = unwrap_model

    def autocast(self, *args, **kwargs):
        return contextlib.nullcontext()

    accumulate = no_sync = main_process_first = autocast

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


class Parser:
    """transformers' HfArgumentParser: what its classes have by themselves."""

    def __init__(self, kinds, **kwargs):
        self._kinds = kinds if isinstance(kinds, (list, tuple)) else [kinds]

    def parse_args_into_dataclasses(self, *args, **kwargs):
        return tuple(kind() for kind in self._kinds)

    parse_json_file = parse_yaml_file = parse_dict = parse_args_into_dataclasses


def scheduled(optimizer, num_warmup_steps=0, num_training_steps=9, *args, **kwargs):
    """transformers' schedules: a ramp, then a cosine."""

    def rate(step):
        if step < num_warmup_steps:
            return step / max(1, num_warmup_steps)
        done = (step - num_warmup_steps) / max(1, num_training_steps - num_warmup_steps)
        return max(0.0, 0.5 * (1 + math.cos(math.pi * min(1.0, done))))

    return torch.optim.lr_scheduler.LambdaLR(optimizer, rate)


def install(own, note):
    """Put the stand-ins where imports find them; own: names of the tree's modules, which stay."""
    Fit.note = HuggingTrainer.note = staticmethod(note)
    members = {
        "LightningModule": Module, "LightningDataModule": DataModule, "Trainer": Fit,
        "seed_everything": lambda seed=0, *a, **k: torch.manual_seed(seed),
    }  # fmt: skip
    for name in ("lightning", "pytorch_lightning", "lightning.pytorch"):
        if name.partition(".")[0] not in own:
            module = StubModule(name)
            vars(module).update(members)
            sys.modules[name] = module
    if "lightning" not in own:
        sys.modules["lightning"].pytorch = sys.modules["lightning.pytorch"]
    if "accelerate" not in own:
        module = StubModule("accelerate")
        module.Accelerator = Accelerator
        sys.modules["accelerate"] = module
    hugging = sys.modules.get("transformers")
    if isinstance(hugging, StubModule):
        hugging.Trainer, hugging.TrainingArguments = HuggingTrainer, Arguments
        hugging.HfArgumentParser = Parser
        for name in ("get_cosine_schedule_with_warmup", "get_linear_schedule_with_warmup"):
            setattr(hugging, name, scheduled)
        hugging.set_seed = torch.manual_seed
