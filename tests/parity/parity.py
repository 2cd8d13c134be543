#!/usr/bin/env python3
"""Compares saccade's raw outputs with ONNX Runtime's on one model, in drift.py's units.

    parity.py --binary build/saccade --shared ../shared --work DIR MODEL [--passes] [--device cuda [--precision fp16] [--no-graph]]

MODEL is a file below shared/models, as "real/yolov8n_640". Architectures get random weights in DIR first. --passes also
compares with every pass switched off and with each pass alone. In half precision a model may drift three times as far
as ONNX Runtime with equally rounded weights and inputs. If a TopK selects queries, both use those that ONNX Runtime
selects in float32: always in half precision, else where the drift exceeds the limit without that. Exit status 77:
skipped.
"""
import argparse
import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SKIPPED = 77


def skip(reason):
    print("SKIPPED:", reason)
    sys.exit(SKIPPED)


def limit_for(name):
    """The largest drift that passes, for fp32 files. int8 files use quantised_limit()."""
    return 5e-2 if name == "rfdetr_seg_nano_312" else 1e-3


def is_quantised(name):
    return "int8" in name or "qdq" in name


TYPES = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(int64)": "int64", "tensor(int32)": "int32",
         "tensor(uint8)": "uint8"}


def exact_sigmoid(path):
    """The model with every Sigmoid written as 1 / (1 + exp(-x)).

    ONNX Runtime's own Sigmoid is a rational approximation around 0.5 with an absolute error of 3e-8. That error
    dominates scores of absent classes (1e-5 and less): optimised and unoptimised runs drift by 2e-2 from each other
    there. Its Exp has a relative error of 1e-7, so this form can be the reference for them.
    """
    model = onnx.load(path)
    nodes = []
    for node in model.graph.node:
        if node.op_type != "Sigmoid":
            nodes.append(node)
            continue
        x, y = node.input[0], node.output[0]
        steps = [("Neg", [x]), ("Exp", [f"{y}/0"]), ("Add", [f"{y}/1", "exact_sigmoid/one"]), ("Reciprocal", [f"{y}/2"])]
        nodes += [onnx.helper.make_node(op, inputs, [y if i == 3 else f"{y}/{i}"]) for i, (op, inputs) in enumerate(steps)]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(1, np.float32), "exact_sigmoid/one"))
    return model.SerializeToString()


def rounding_limit(model, feeds, plain, precision):
    """Three times the drift from rounding weights and inputs alone, and at least 0.05."""
    feed = {name: rounded(x, precision) if x.dtype == np.float32 else x for name, x in feeds[0].items()}
    return max(0.05, 3 * plain.drift(session(with_rounded_weights(model, precision)).run(None, feed)))


def pinned(path, feed, folder):
    """The model's path, or that of a copy in FOLDER with the queries that ONNX Runtime selects for FEED.

    A TopK whose indices alone are read selects queries. Rounding swaps queries with nearly equal scores, and all
    further values then belong to another query.
    """
    model = onnx.load(path)
    read = {name for node in model.graph.node for name in node.input} | {output.name for output in model.graph.output}
    chosen = [node.output[1] for node in model.graph.node
              if node.op_type == "TopK" and node.output[1] in read and node.output[0] not in read]
    if not chosen:
        return path
    asked = onnx.ModelProto()
    asked.CopyFrom(model)
    asked.graph.output.extend(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, None) for name in chosen)
    indices = dict(zip(chosen, session(asked.SerializeToString()).run(chosen, feed)))
    kept = [node for node in model.graph.node if node.op_type != "TopK" or node.output[1] not in indices]
    del model.graph.node[:]
    model.graph.node.extend(kept)
    model.graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in indices.items())
    target = os.path.join(folder, os.path.basename(path))
    onnx.save(model, target)
    return target


class Reference:
    """ONNX Runtime's outputs for two photographs, and a third runtime's drift from them."""

    def __init__(self, model, feeds):
        run = session(model)
        self.want, self.other = (run.run(None, feed) for feed in feeds)

    def drift(self, outputs):
        return max(drift(x, w, o) for x, w, o in zip(outputs, self.want, self.other))


def rows(reference):
    return [(i.name, [d if isinstance(d, int) and d > 0 else 1 for d in i.shape], np.dtype(TYPES[i.type]))
            for i in reference.get_inputs()]


def passes(args):
    listed = subprocess.run([args.binary, "inspect", "--list-passes"], capture_output=True, text=True, check=True)
    return listed.stdout.split()


def prepared(args):
    """The model's path, with weights."""
    source = os.path.join(args.shared, "models", args.model + ".onnx")
    if not args.model.startswith("architectures/"):
        return source
    os.makedirs(args.work, exist_ok=True)
    filled = os.path.join(args.work, os.path.basename(source))
    if not os.path.exists(filled):
        part = f"{filled}.{os.getpid()}.part"
        subprocess.run([sys.executable, os.path.join(args.shared, "tools", "fill_weights.py"), source, part], check=True,
                       stdout=subprocess.DEVNULL)
        shutil.move(part, filled)
    return filled


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--passes", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--no-graph", action="store_true")
    parser.add_argument("model")
    args = parser.parse_args()
    name = os.path.basename(args.model)
    model = prepared(args)
    probe = session(model)
    names = [o.name for o in probe.get_outputs()]
    feeds = [photo_feed(rows(probe), photo) for photo in ("bus", "zidane")]
    plain = Reference(model, feeds)
    limit = limit_for(name)
    exact = None
    if is_quantised(name):
        own = plain.drift(session(model, optimised=False).run(None, feeds[0]))
        limit = max(0.05, 2 * own)
        print(f"{name}: ONNX Runtime's own drift, optimised against unoptimised: {own:.2e}")
    # The folder is removed after a timeout, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    if args.precision in ("fp16", "bf16"):
        model = pinned(model, feeds[0], folder.name)
        limit = max(limit, rounding_limit(model, feeds, plain, args.precision))
    where = ["--device", args.device, "--precision", args.precision] + ["--no-graph"] * args.no_graph
    variants = {"all passes": []}
    if args.passes:
        variants = {"no pass": ["--passes", "none"]} | {f"{p} alone": ["--passes", p] for p in passes(args)}
        where += ["--threads", "1"]  # one core each: reading the model takes most of the time
    # The number of processors that CTest assumes for one of its tests.
    workers = ThreadPoolExecutor(2)
    atexit.register(workers.shutdown, cancel_futures=True)
    each = workers.map if args.passes else map
    results = each(lambda extra: ours(args.binary, model, feeds[0], names, where + extra), variants.values())
    worst = 0.0
    for label, got in zip(variants, results):
        value = plain.drift(got)
        note = ""
        if value > limit and (with_queries := pinned(model, feeds[0], folder.name)) != model:
            note = f" ({value:.2e} with its own queries)"
            got = ours(args.binary, with_queries, feeds[0], names, where + variants[label])
            value = plain.drift(got)
        if value > limit and not is_quantised(name):
            exact = exact or Reference(exact_sigmoid(model), feeds)
            note += f" ({value:.2e} with ONNX Runtime's own Sigmoid, which itself drifts {exact.drift(plain.want):.2e} from exact)"
            value = exact.drift(got)
        worst = max(worst, value)
        verdict = "" if value <= limit else "  FAILED"
        print(f"{name}: drift {value:.2e} of at most {limit:.0e} with {label}{note}{verdict}", flush=True)
    return int(not worst <= limit)


if __name__ == "__main__":
    if not any(a in ("-h", "--help") for a in sys.argv):
        shared = sys.argv[sys.argv.index("--shared") + 1] if "--shared" in sys.argv else ""
        if not os.path.isdir(os.path.join(shared, "models")):
            skip("needs ../shared (models and images)")
        try:
            import numpy as np
            import onnx
            from engines import ours, session
            from rounding import rounded, with_rounded_weights
            sys.path.insert(0, os.path.join(shared, "tools"))
            from drift import drift, photo_feed
        except ImportError as error:
            skip(f"needs the Python packages of script/bootstrap --peers ({error})")
    sys.exit(main())
