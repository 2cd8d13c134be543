#!/usr/bin/env python3
"""Trains the scene model and writes it as ONNX, with its classes in the file's metadata.

    train.py --saccade build/saccade --work DIR --output models/scene_model.onnx

Needs the packages of packages.txt; a GPU, or much patience.  Everything that decides the result is a constant below, but
the order in which a GPU adds numbers, so that two trainings differ in the last digits of the weights.  Where a machine is
lent for minutes, --minutes ends a part of the training and --state keeps it for the next call.  Accuracy on seeds that no
training saw is measured by evaluate.py, see models/README.md.
"""
import argparse
import copy
import math
import os
import time

import torch

import scenes
from augment import augment, plain
from loss import loss
from network import Answers, Exported, SceneModel
from truth import SETTINGS

SEED = 1
TRAINING_SEEDS = range(1000, 2200)
CHECK_SEEDS = range(900_000, 900_020)
FRAMES = 20  # a clip
EPOCHS = 90
BATCH = 64
RATE = 2e-3
WEIGHT_DECAY = 0.02
WARM_UP = 500  # steps
WEIGHTS = {"scores": 1.0, "boxes": 2.0, "masks": 2.0, "depth": 1.0, "setting": 0.1}
AVERAGE = 0.9995  # of the exponential moving average that becomes the model
CHECK_EVERY = 4   # epochs


def rate_at(step, steps):
    if step < WARM_UP:
        return RATE * (step + 1) / WARM_UP
    return RATE * (0.01 + 0.99 * (1 + math.cos(math.pi * (step - WARM_UP) / (steps - WARM_UP))) / 2)


def groups(model):
    """Biases, norms and scales are not pulled towards zero."""
    decayed = [p for p in model.parameters() if p.ndim > 1]
    free = [p for p in model.parameters() if p.ndim <= 1]
    return [{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": free, "weight_decay": 0.0}]


def cost(model, batch, fast, generator):
    with torch.autocast(batch.pictures.device.type, torch.bfloat16):
        answers = fast(batch.pictures.contiguous(memory_format=torch.channels_last))
    return loss(Answers(*answers), batch, model.centres, generator)


@torch.no_grad()
def check(model, unseen):
    model.eval()
    generator = torch.Generator(unseen.pictures.device).manual_seed(SEED)
    costs = [cost(model, plain(unseen.of(slice(start, start + BATCH))), model, generator)
             for start in range(0, len(unseen), BATCH)]
    return torch.stack(costs).mean(0)


def text(costs):
    return ", ".join(f"{name} {value:.3f}" for name, value in zip(WEIGHTS, costs.tolist()))


class Training:
    """The model on its way, on a device with all its pictures; what a part of the training hands to the next."""

    def __init__(self, model, data, epochs):
        device = model.centres.device
        self.model, self.average = model, copy.deepcopy(model)
        self.data, self.steps = data, epochs * (len(data) // BATCH)
        self.epochs, self.epoch = epochs, 0
        self.rate, self.keep = torch.zeros((), device=device), torch.zeros((), device=device)
        self.chosen = torch.zeros(BATCH, dtype=torch.long, device=device)
        self.weights = torch.tensor(list(WEIGHTS.values()), device=device)
        self.generator = torch.Generator(device)
        on_gpu = device.type == "cuda"
        self.optimizer = torch.optim.AdamW(groups(model), lr=self.rate, betas=(0.9, 0.99), fused=on_gpu,
                                           capturable=on_gpu)
        self.fast = torch.compile(model) if on_gpu else model
        self.graph, self.costs = None, None
        pairs = zip(self.average.state_dict().values(), model.state_dict().values())
        self.followers = [(ours, theirs) for ours, theirs in pairs if ours.dtype.is_floating_point]

    def save(self, path):
        state = {name: getattr(self, name).state_dict() for name in ("model", "average", "optimizer")}
        torch.save({**state, "epoch": self.epoch}, path + ".part")
        os.replace(path + ".part", path)

    def load(self, path):
        state = torch.load(path, map_location=self.model.centres.device, weights_only=True)
        for name in ("model", "average", "optimizer"):
            getattr(self, name).load_state_dict(state[name])
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate
        self.epoch = state["epoch"]

    @torch.no_grad()
    def follow(self):
        ours, theirs = zip(*self.followers)
        ways = torch._foreach_sub(theirs, ours)
        torch._foreach_mul_(ways, 1 - self.keep)
        torch._foreach_add_(ours, ways)

    def work(self):
        """One step on the chosen pictures, all of it on the device."""
        costs = cost(self.model, augment(self.data.of(self.chosen), self.generator), self.fast, self.generator)
        self.optimizer.zero_grad(set_to_none=True)
        (costs * self.weights).sum().backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 10.0)
        self.optimizer.step()
        self.follow()
        return costs.detach()

    def capture(self):
        """The step as a CUDA graph: its some thousand kernels take a third of the time that they take to launch."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.work()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        self.graph.register_generator_state(self.generator)
        with torch.cuda.graph(self.graph):
            self.costs = self.work()

    def step(self, chosen, number):
        self.chosen.copy_(chosen)
        self.rate.fill_(rate_at(number, self.steps))
        self.keep.fill_(min(AVERAGE, (1 + number) / (10 + number)))
        if not self.chosen.is_cuda:
            return self.work()
        if self.graph is None:
            self.capture()
        self.graph.replay()
        return self.costs

    def run_epoch(self):
        per_epoch = len(self.data) // BATCH
        self.generator.manual_seed(SEED + 1000 * self.epoch)
        order = torch.randperm(len(self.data), generator=self.generator, device=self.chosen.device)
        self.model.train()
        for place in range(per_epoch):
            costs = self.step(order[place * BATCH:][:BATCH], self.epoch * per_epoch + place)
        self.epoch += 1
        return costs


def train(training, unseen, args):
    """Until the last epoch, or until args.minutes are over."""
    start = time.time()
    while training.epoch < training.epochs and time.time() - args.start < 60 * args.minutes:
        line = f"epoch {training.epoch + 1:3d}: {text(training.run_epoch())}, {time.time() - start:.0f} s"
        if training.epoch % CHECK_EVERY == 0 or training.epoch == training.epochs:
            line += f"; unseen seeds: {text(check(training.average, unseen))}"
        print(line, flush=True)
        if args.state:
            training.save(args.state)


def export(model, names, path):
    import onnx

    height, width = 480, 640
    torch.onnx.export(Exported(model).eval().cpu(), (torch.zeros(1, 3, height, width),), path, opset_version=17,
                      dynamo=False, input_names=["images"], output_names=list(Exported.OUTPUTS))
    file = onnx.load(path)
    for key, value in (("names", str(dict(enumerate(names)))), ("task", "segment"), ("stride", "32"),
                       ("imgsz", f"[{height}, {width}]"), ("license", "Apache-2.0"),
                       ("description", "Objects, depth and kind of place of Saccade's synthetic scene")):
        entry = file.metadata_props.add()
        entry.key, entry.value = key, value
    onnx.save(file, path)
    print(f"{path}: {os.path.getsize(path)} bytes, {sum(p.numel() for p in model.parameters())} parameters")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--saccade", required=True, help="the program that renders the scene")
    parser.add_argument("--work", required=True, help="a folder for the rendered pictures")
    parser.add_argument("--output", required=True)
    parser.add_argument("--state", help="a file that the training goes on from, if it is there, and is kept in")
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which no epoch is begun")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--clips", type=int, default=len(TRAINING_SEEDS))
    args = parser.parse_args()
    args.start = time.time()

    torch.manual_seed(SEED)
    torch.backends.cudnn.benchmark = True
    torch.set_float32_matmul_precision("high")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data, names = scenes.load(args.saccade, os.path.join(args.work, "train"), TRAINING_SEEDS[:args.clips], FRAMES,
                              device)
    unseen, _ = scenes.load(args.saccade, os.path.join(args.work, "unseen"), CHECK_SEEDS, FRAMES, device)
    print(f"{len(data)} pictures of {len(names)} classes, {len(unseen)} of unseen seeds, "
          f"ready in {time.time() - args.start:.0f} s", flush=True)
    model = SceneModel(len(names), len(SETTINGS)).to(device, memory_format=torch.channels_last)
    training = Training(model, data, args.epochs)
    if args.state and os.path.exists(args.state):
        training.load(args.state)
    train(training, unseen, args)
    export(training.average, names, args.output)


if __name__ == "__main__":
    main()
