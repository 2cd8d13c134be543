#!/usr/bin/env python3
"""Compares the torch modules that src/measure/peers/torch_peer makes of ONNX files with ONNX Runtime, in fp32 on the
CPU.

    torch_engine.py --source . --shared ../shared [MODEL...]

MODELs are stems of files below shared/models/real (default: all). A benchmarked engine must compute the same results.
Exit status 77: skipped.
"""
import argparse
import os
import sys

SKIPPED = 77
# Of ONNX Runtime's output, by L2 norms. Quantised values differ by a step where sums are rounded differently.
LIMIT, QUANTISED_LIMIT = 1e-4, 5e-2
TYPES = {"tensor(float)": "float32", "tensor(int64)": "int64", "tensor(int32)": "int32", "tensor(uint8)": "uint8"}


def skip(reason):
    print("SKIPPED:", reason)
    sys.exit(SKIPPED)


def draw(session):
    """Random images. Integer inputs hold an image's size."""
    rng, feed = np.random.default_rng(0), {}
    for value in session.get_inputs():
        shape, dtype = [d if isinstance(d, int) else 1 for d in value.shape], np.dtype(TYPES[value.type])
        feed[value.name] = rng.random(shape, dtype=np.float32) if dtype == np.float32 else np.full(shape, 200, dtype)
    return feed


def distance(got, want):
    if got.shape != want.shape:
        return float("inf")
    got, want = got.astype(np.float64), want.astype(np.float64)
    return float(np.linalg.norm(got - want) / max(np.linalg.norm(want), 1e-30))


def compare(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    name = os.path.basename(path)
    is_quantised = "int8" in name or "qdq" in name
    if is_quantised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feed = draw(session)
    engine = Torch("eager")
    engine.load({"model": path, "device": "cpu", "precision": "fp32", "threads": 2}, feed)
    engine.run()
    worst = max(distance(got, want) for got, want in zip(engine.outputs(), session.run(None, feed)))
    limit = QUANTISED_LIMIT if is_quantised else LIMIT
    print(f"{name}: {worst:.1e} of at most {limit:.0e}{'' if worst <= limit else '  FAILED'}", flush=True)
    return worst <= limit


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", required=True)
    parser.add_argument("--shared", required=True)
    parser.add_argument("models", nargs="*")
    args = parser.parse_args()
    folder = os.path.join(args.shared, "models", "real")
    names = args.models or sorted(n.removesuffix(".onnx") for n in os.listdir(folder) if n.endswith(".onnx"))
    return int(not all([compare(os.path.join(folder, name + ".onnx")) for name in names]))


if __name__ == "__main__":
    if "--shared" in sys.argv and not os.path.isdir(os.path.join(sys.argv[sys.argv.index("--shared") + 1], "models")):
        skip("needs ../shared (models)")
    try:
        import numpy as np
        import onnxruntime
        sys.path.insert(0, os.path.join(sys.argv[sys.argv.index("--source") + 1], "src", "measure", "peers"))
        from torch_peer.engine import Torch
    except ImportError as error:
        skip(f"needs the Python packages of script/bootstrap --exporters ({error})")
    sys.exit(main())
