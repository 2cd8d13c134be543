#!/usr/bin/env python3
"""Compares two builds of saccade on chains of 3x3 convolutions of many sizes.

    bench/convolution_chains.py OLD NEW [--sizes 64x64x40 ...] [--kernel 3] [--length 6] [--rounds 3] [--seconds 0.15]
                                        [--threads 2]

A size is CHANNELSxCHANNELSxPIXELS: the chain alternates between the two numbers of channels on an image of PIXELS x
PIXELS. Prints what two_builds.py prints. Needs the Python packages numpy and onnx (script/bootstrap --peers).
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

SIZES = ["8x8x160", "16x16x160", "16x32x160", "24x24x80", "32x32x80", "64x64x40", "64x64x80", "64x8x80", "128x128x20",
         "128x128x40", "256x64x40", "256x256x14", "256x256x20", "256x256x40", "512x512x7", "512x512x14"]


def chain(size, kernel, length):
    first, second, pixels = (int(number) for number in size.split("x"))
    rng = np.random.default_rng(0)
    nodes, weights, value = [], [], "x"
    for i in range(length):
        ins, outs = (first, second) if i % 2 == 0 else (second, first)
        scale = 1 / np.sqrt(kernel * kernel * ins)
        filters = (rng.standard_normal((outs, ins, kernel, kernel)) * scale).astype(np.float32)
        weights += [numpy_helper.from_array(filters, f"w{i}"), numpy_helper.from_array(np.zeros(outs, np.float32), f"b{i}")]
        nodes += [helper.make_node("Conv", [value, f"w{i}", f"b{i}"], [f"c{i}"], pads=[kernel // 2] * 4),
                  helper.make_node("Relu", [f"c{i}"], [f"y{i}"])]
        value = f"y{i}"
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, channels, pixels, pixels])
            for name, channels in (("x", first), (value, first if length % 2 == 0 else second))]
    graph = helper.make_graph(nodes, size, ends[:1], ends[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    parser.add_argument("--kernel", type=int, default=3)
    parser.add_argument("--length", type=int, default=6)
    for option, default in (("--rounds", "3"), ("--seconds", "0.15"), ("--threads", "2")):
        parser.add_argument(option, default=default)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = []
        for size in args.sizes:
            models.append(os.path.join(folder, size + ".onnx"))
            onnx.save(chain(size, args.kernel, args.length), models[-1])
        command = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "two_builds.py"), args.old,
                   args.new, *models, "--rounds", args.rounds, "--seconds", args.seconds, "--threads", args.threads]
        sys.exit(subprocess.run(command).returncode)


if __name__ == "__main__":
    main()
