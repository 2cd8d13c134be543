#!/usr/bin/env python3
"""Trains the scene detector and writes it as ONNX, with its card in the file's metadata.

    train.py --saccade build/saccade --work DIR --output models/scene_detector.onnx

Needs torch, torchvision and onnx; a GPU, or much patience.  Everything that decides the result is a constant below, but
the order in which a GPU adds numbers, so that two trainings differ in the last digits of the weights.  Accuracy on seeds
that no training saw is measured by `saccade demo`, see models/README.md.
"""
import argparse
import copy
import math
import os
import time

import torch

import scenes
from loss import loss
from network import Detector, Exported

SEED = 1
TRAINING_SEEDS = range(1000, 2200)
CHECK_SEEDS = range(900_000, 900_020)
FRAMES = 20  # a clip
EPOCHS = 42
BATCH = 64
RATE = 2e-3
WEIGHT_DECAY = 0.02
WARM_UP = 500  # steps
BOX_WEIGHT = 2.0
AVERAGE = 0.9995  # of the exponential moving average that becomes the model


def rate_at(step, steps):
    if step < WARM_UP:
        return RATE * (step + 1) / WARM_UP
    return RATE * (0.01 + 0.99 * (1 + math.cos(math.pi * (step - WARM_UP) / (steps - WARM_UP))) / 2)


def groups(model):
    """Biases, norms and scales are not pulled towards zero."""
    decayed = [p for p in model.parameters() if p.ndim > 1]
    free = [p for p in model.parameters() if p.ndim <= 1]
    return [{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": free, "weight_decay": 0.0}]


@torch.no_grad()
def follow(average, model, step):
    keep = min(AVERAGE, (1 + step) / (10 + step))
    for ours, theirs in zip(average.state_dict().values(), model.state_dict().values()):
        if ours.dtype.is_floating_point:
            ours.mul_(keep).add_(theirs, alpha=1 - keep)
        else:
            ours.copy_(theirs)


def plain(pictures, boxes, kinds, counts):
    return pictures.float() / 255, boxes, kinds, counts


def cost(model, batch, fast):
    pictures, boxes, kinds, counts = batch
    with torch.autocast(pictures.device.type, torch.bfloat16):
        logits, found = fast(pictures.contiguous(memory_format=torch.channels_last))
    return loss(logits.float(), found.float(), boxes, kinds, counts, model.centres)


@torch.no_grad()
def check(model, data):
    model.eval()
    total = torch.zeros(2)
    batches = range(0, len(data[0]), BATCH)
    for start in batches:
        batch = plain(*(tensor[start:start + BATCH] for tensor in data))
        total += torch.stack(cost(model, batch, model)).cpu()
    return (total / len(batches)).tolist()


def train(model, data, unseen, epochs):
    device = data[0].device
    generator = torch.Generator(device).manual_seed(SEED)
    average = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(groups(model), lr=RATE, betas=(0.9, 0.99))
    fast = torch.compile(model) if device.type == "cuda" else model
    per_epoch = len(data[0]) // BATCH
    steps = epochs * per_epoch
    start = time.time()
    for step in range(steps):
        if step % per_epoch == 0:
            order = torch.randperm(len(data[0]), generator=generator, device=device)
            model.train()
        chosen = order[step % per_epoch * BATCH:][:BATCH]
        batch = scenes.augment(*(tensor[chosen] for tensor in data), generator)
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step, steps)
        scores, boxes = cost(model, batch, fast)
        optimizer.zero_grad(set_to_none=True)
        (scores + BOX_WEIGHT * boxes).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        optimizer.step()
        follow(average, model, step)
        if (step + 1) % per_epoch == 0:
            epoch = (step + 1) // per_epoch
            unseen_scores, unseen_boxes = check(average, unseen)
            print(f"epoch {epoch:3d}: loss {scores.item():.3f} + {boxes.item():.3f}, unseen seeds "
                  f"{unseen_scores:.3f} + {unseen_boxes:.3f}, {time.time() - start:.0f} s", flush=True)
    return average.eval()


def export(model, names, path):
    import onnx

    height, width = 480, 640
    torch.onnx.export(Exported(model).eval().cpu(), (torch.zeros(1, 3, height, width),), path, opset_version=17,
                      dynamo=False, input_names=["images"], output_names=["answers"])
    file = onnx.load(path)
    for key, value in (("names", str(dict(enumerate(names)))), ("task", "detect"), ("stride", "32"),
                       ("imgsz", f"[{height}, {width}]"), ("license", "Apache-2.0"),
                       ("description", "Objects of Saccade's synthetic scene")):
        entry = file.metadata_props.add()
        entry.key, entry.value = key, value
    onnx.save(file, path)
    print(f"{path}: {os.path.getsize(path)} bytes, {sum(p.numel() for p in model.parameters())} parameters")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--saccade", required=True, help="the program that renders the scene")
    parser.add_argument("--work", required=True, help="a folder for the rendered pictures")
    parser.add_argument("--output", required=True)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--clips", type=int, default=len(TRAINING_SEEDS))
    args = parser.parse_args()

    torch.manual_seed(SEED)
    torch.backends.cudnn.benchmark = True
    torch.set_float32_matmul_precision("high")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    start = time.time()
    clips = scenes.render(args.saccade, os.path.join(args.work, "train"), TRAINING_SEEDS[:args.clips], FRAMES)
    unseen_clips = scenes.render(args.saccade, os.path.join(args.work, "unseen"), CHECK_SEEDS, FRAMES)
    *data, names = scenes.read(clips, device)
    *unseen, _ = scenes.read(unseen_clips, device)
    print(f"{len(data[0])} pictures of {len(names)} classes, {len(unseen[0])} of unseen seeds, "
          f"ready in {time.time() - start:.0f} s", flush=True)
    model = Detector(len(names)).to(device, memory_format=torch.channels_last)
    export(train(model, data, unseen, args.epochs), names, args.output)


if __name__ == "__main__":
    main()
