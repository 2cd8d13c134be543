#!/usr/bin/env python3
"""Exports a network of torchvision with random weights.

    export.py NAME FILE.onnx [--opset N] [--exporter torchscript|dynamo] [--dynamic-batch]
    export.py --list

Needs torch and torchvision (Debian's python3-torch and python3-torchvision serve; dynamo: torch 2.6 and onnxscript).
"""
import argparse
import sys
import warnings

# The networks, and the shape of one picture (or clip).
NETWORKS = {
    "alexnet": (3, 224, 224), "convnext_tiny": (3, 224, 224), "densenet121": (3, 224, 224),
    "efficientnet_b1": (3, 240, 240), "efficientnet_v2_s": (3, 224, 224), "googlenet": (3, 224, 224),
    "inception_v3": (3, 299, 299), "maxvit_t": (3, 224, 224), "mnasnet0_5": (3, 224, 224),
    "mobilenet_v3_small": (3, 224, 224), "regnet_x_400mf": (3, 224, 224), "regnet_y_400mf": (3, 224, 224),
    "resnet34": (3, 224, 224), "resnext50_32x4d": (3, 224, 224), "shufflenet_v2_x0_5": (3, 224, 224),
    "shufflenet_v2_x1_5": (3, 224, 224), "squeezenet1_0": (3, 224, 224), "swin_t": (3, 224, 224),
    "swin_v2_t": (3, 256, 256), "vgg11_bn": (3, 224, 224), "vit_b_32": (3, 224, 224), "wide_resnet50_2": (3, 224, 224),
    "segmentation.deeplabv3_mobilenet_v3_large": (3, 224, 224), "segmentation.fcn_resnet50": (3, 160, 160),
    "segmentation.lraspp_mobilenet_v3_large": (3, 224, 224), "video.mc3_18": (3, 8, 56, 56),
    "video.mvit_v1_b": (3, 16, 224, 224), "video.r2plus1d_18": (3, 8, 56, 56), "video.r3d_18": (3, 8, 56, 56),
    "video.s3d": (3, 16, 112, 112),
}


def make(name):
    """The network, untrained."""
    room = torchvision.models
    *rooms, last = name.split(".")
    for part in rooms:
        room = getattr(room, part)
    options = {"weights": None}
    if rooms == ["segmentation"]:
        options["weights_backbone"] = None
    if last in ("googlenet", "inception_v3"):
        options["init_weights"] = False
    return getattr(room, last)(**options)


def calibrate(network, pictures):
    """Lets every BatchNorm measure what it sees, so that its output has unit variance."""
    network.train()
    for module in network.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            module.reset_running_stats()
            module.momentum = None  # the mean of what is seen, not a moving one
        if isinstance(module, torch.nn.Dropout):
            module.p = 0
    with torch.no_grad():
        network(pictures)
    network.eval()


def export(args):
    torch.manual_seed(0)
    network = make(args.name)
    shape = NETWORKS[args.name]
    calibrate(network, torch.randn(2, *shape))
    # A batch of one is baked in by some exporters even where it is called dynamic.
    example = torch.randn(2 if args.dynamic_batch else 1, *shape)
    names = {"input_names": ["image"], "opset_version": args.opset}
    if args.exporter == "dynamo":
        dynamic = ({0: torch.export.Dim("batch")},) if args.dynamic_batch else None
        torch.onnx.export(network, (example,), args.file, dynamo=True, dynamic_shapes=dynamic, **names)
    else:
        old = {"dynamo": False} if "dynamo" in torch.onnx.export.__code__.co_varnames else {}
        dynamic = {"image": {0: "batch"}} if args.dynamic_batch else None
        torch.onnx.export(network, example, args.file, dynamic_axes=dynamic, **names, **old)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=NETWORKS)
    parser.add_argument("file")
    parser.add_argument("--opset", type=int, default=17)
    parser.add_argument("--exporter", choices=("torchscript", "dynamo"), default="torchscript")
    parser.add_argument("--dynamic-batch", action="store_true")
    export(parser.parse_args())


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print("\n".join(NETWORKS))
        sys.exit()
    import torch
    import torchvision

    warnings.filterwarnings("ignore")
    main()
