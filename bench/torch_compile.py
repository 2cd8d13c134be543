#!/usr/bin/env python3
"""Networks of torchvision in eager PyTorch, compiled by Inductor, and by the backend saccade of torch.compile.

    bench/torch_compile.py [--models resnet50,vit_b_16,convnext_tiny,fasterrcnn_mobilenet_v3_large_320_fpn] [--device cpu|cuda]
                           [--batch 1] [--rounds 5] [--calls 5] [--package build/python] [--precision P]
                           [--threads 0] [--half] [--modes reduce-overhead,max-autotune] [--explain]

In each round the engines take turns with --calls calls each. Prints the median of a call in ms, the ratio to eager, the time
of the first call, and the largest difference of an output from eager's, relative to the largest number in it; of a detector,
of its scores. On a GPU Inductor runs in MODES, which capture CUDA graphs, and all engines may compute in TF32. With --half,
module and input are in float16. Weights are random.
"""
import argparse
import pathlib
import statistics
import sys
import time

import torch
import torchvision
from torch.utils import _pytree as pytree

ROOT = pathlib.Path(__file__).resolve().parents[1]
DEFAULT = "resnet50,vit_b_16,convnext_tiny,fasterrcnn_mobilenet_v3_large_320_fpn"


def network(name, arguments):
    """A module and its input; a detector takes a list of images."""
    torch.manual_seed(0)
    if hasattr(torchvision.models.detection, name):
        module = getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None)
        inputs = [torch.rand(3, 320, 320, device=arguments.device) for _ in range(arguments.batch)]
    else:
        module = getattr(torchvision.models, name)()
        inputs = torch.rand(arguments.batch, 3, 224, 224, device=arguments.device)
    for part in module.modules():
        if hasattr(part, "score_thresh"):
            part.score_thresh = 0.0  # random weights are sure of nothing
    for parameter in module.parameters():
        if not parameter.any():  # a head of zeros would hide differences
            torch.nn.init.normal_(parameter, 0, 0.02)
    module = module.eval().to(arguments.device)
    return (module.half(), pytree.tree_map(torch.Tensor.half, inputs)) if arguments.half else (module, inputs)


def engines(module, arguments):
    """Callables by name."""
    modes = arguments.modes.split(",") if arguments.device == "cuda" else [None]
    made = {"eager": module}
    for mode in modes:
        made["inductor" + (f" {mode}" if mode else "")] = torch.compile(module, mode=mode)
    precision = "tf32" if arguments.device == "cuda" and not arguments.half else "auto"
    options = {"precision": arguments.precision or precision, "threads": arguments.threads}
    return made | {"saccade": torch.compile(module, backend="saccade", options=options)}


def timed(call, inputs, device):
    start = time.perf_counter()
    outputs = call(inputs)
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start, outputs


def compared(outputs):
    """Of a detector the sorted scores: with random weights, rounding decides the order of boxes and which of them NMS keeps."""
    detections = isinstance(outputs, list)
    return [each["scores"] for each in outputs] if detections else pytree.tree_leaves(outputs)


def difference(outputs, expected):
    """The largest relative difference; None if shapes differ."""
    worst = 0.0
    for ours, theirs in zip(compared(outputs), compared(expected)):
        if ours.shape != theirs.shape:
            return None
        if theirs.numel():
            scale = theirs.abs().max().item() or 1
            worst = max(worst, (ours.double() - theirs.double()).abs().max().item() / scale)
    return worst


def measure(name, arguments):
    module, inputs = network(name, arguments)
    runs, first, outputs, failed = {}, {}, {}, {}
    for engine, call in engines(module, arguments).items():
        try:
            first[engine], _ = timed(call, inputs, arguments.device)
            timed(call, inputs, arguments.device)
            _, result = timed(call, inputs, arguments.device)
            outputs[engine] = pytree.tree_map(lambda tensor: tensor.clone(), result)
            runs[engine] = call
        except Exception as error:  # an engine may raise anything; the others are measured
            failed[engine] = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:100]}"
    samples = {engine: [] for engine in runs}
    for _ in range(arguments.rounds):
        for engine, call in runs.items():
            samples[engine] += [timed(call, inputs, arguments.device)[0] for _ in range(arguments.calls)]
    medians = {engine: 1000 * statistics.median(times) for engine, times in samples.items()}
    for engine, median in medians.items():
        other = difference(outputs[engine], outputs["eager"])
        print(f"{name[:30]:30} {engine:36} {median:9.2f} {median / medians['eager']:7.2f} {first[engine]:8.1f} "
              f"{'shapes' if other is None else f'{other:.1e}':>9}", flush=True)
    for engine, reason in failed.items():
        print(f"{name[:30]:30} {engine:36} failed: {reason}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=DEFAULT, type=lambda text: text.split(","))
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--package", default=str(ROOT / "build" / "python"))
    parser.add_argument("--precision", default="", help="of Saccade; by default tf32 on a GPU, fp16 with --half")
    parser.add_argument("--half", action="store_true")
    parser.add_argument("--modes", default="reduce-overhead,max-autotune")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--explain", action="store_true", help="print which operators stay in PyTorch")
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.package)
    import saccade.torch

    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    if arguments.device == "cuda":
        torch.set_float32_matmul_precision("high")
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, batch {arguments.batch}, {arguments.device}")
    print(f"{'network':30} {'engine':36} {'p50 ms':>9} {'/eager':>7} {'first s':>8} {'differs':>9}")
    known = 0
    with torch.no_grad():
        for name in arguments.models:
            measure(name, arguments)
            if arguments.explain:
                print(*saccade.torch.explain().graphs[known:], sep="\n")
                known = len(saccade.torch.explain().graphs)
            torch._dynamo.reset()


if __name__ == "__main__":
    main()
