#!/usr/bin/env python3
"""What the Python package adds to a frame, and loops of other packages next to it.

    bench/python_overhead.py [MODEL] [--package build/python] [--calls 400] [--threads 2]

A frame is a BGR array of 1280x720. The overhead of a call is its time less the stages that the engine measures in it
(pre-processing, model, post-processing): a copy of the result, and Python. It is shown for the model of the demo and for
one that does nothing. With a YOLOv8 MODEL, the loops of ONNX Runtime (OpenCV for pre- and post-processing) and
Ultralytics follow in the same run, call by call in turn, where they are installed.
"""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[1]


def write_no_work(folder):
    """A detector whose predictions are constants; without the package onnx: None."""
    try:
        from onnx import TensorProto, helper, save
    except ImportError:
        return None
    rows = numpy.zeros((1, 84, 84), numpy.float32)  # of 8x8, 4x4 and 2x2 cells
    rows[0, :4, ::9] = numpy.arange(10) * 6 + 4
    rows[0, 4, ::9] = 0.9
    value = helper.make_tensor("rows", TensorProto.FLOAT, rows.shape, rows.ravel())
    zero = helper.make_tensor("zero", TensorProto.FLOAT, [1], [0.0])
    starts, ends = (helper.make_tensor(name, TensorProto.INT64, [2], at) for name, at in (("s", [0, 0]), ("e", [1, 1])))
    axes = helper.make_tensor("a", TensorProto.INT64, [2], [2, 3])
    nodes = [helper.make_node("Slice", ["images", "s", "e", "a"], ["corner"]),
             helper.make_node("ReduceMax", ["corner"], ["most"], keepdims=0),
             helper.make_node("Mul", ["most", "zero"], ["nothing"]),
             helper.make_node("Add", ["rows", "nothing"], ["output0"])]
    images = helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, 64, 64])
    output = helper.make_tensor_value_info("output0", TensorProto.FLOAT, list(rows.shape))
    graph = helper.make_graph(nodes, "nothing", [images], [output], [value, zero, starts, ends, axes])
    path = os.path.join(folder, "nothing.onnx")
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    with open(os.path.join(folder, "nothing.toml"), "w", encoding="utf-8") as card:
        card.write('[output]\ndecoder = "yolov8"\n')
    return path


def overhead(saccade, name, path, frame, flags):
    model = saccade.Model(path, device="cpu", threads=flags.threads)
    model(frame, color="bgr").boxes
    calls, stages = [], []
    for _ in range(flags.calls):
        start = time.perf_counter_ns()
        result = model(frame, color="bgr")
        result.boxes
        calls.append((time.perf_counter_ns() - start) / 1000)
        stages.append(1000 * sum(result.latency_ms[stage] for stage in ("pre", "model", "post")))
    added = [call - stage for call, stage in zip(calls, stages)]
    print(f"{name:24} {len(result):3} boxes: {statistics.median(calls):9.1f} us a call, of it outside of the engine "
          f"median {statistics.median(added):.1f} us, p90 {statistics.quantiles(added, n=10)[-1]:.1f} us", flush=True)


def onnxruntime_loop(path, flags):
    try:
        import cv2
        import onnxruntime
    except ImportError as error:
        print(f"no loop of ONNX Runtime: {error}")
        return None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = flags.threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    size = session.get_inputs()[0].shape[2]

    def run(frame):
        ratio = size / max(frame.shape[:2])
        resized = cv2.resize(frame, None, fx=ratio, fy=ratio)
        canvas = numpy.full((size, size, 3), 114, numpy.uint8)
        canvas[:resized.shape[0], :resized.shape[1]] = resized
        rows = session.run(None, {name: cv2.dnn.blobFromImage(canvas, 1 / 255, swapRB=True)})[0][0].T
        scores = rows[:, 4:84]
        best = scores.max(1)
        kept = best > 0.25
        boxes = rows[kept, :4]
        boxes[:, :2] -= boxes[:, 2:] / 2
        chosen = cv2.dnn.NMSBoxesBatched(boxes, best[kept], scores[kept].argmax(1), 0.25, 0.7)
        return boxes[chosen] / ratio

    return run


def ultralytics_loop(path, _flags):
    try:
        from ultralytics import YOLO
    except ImportError as error:
        print(f"no loop of Ultralytics: {error}")
        return None
    model = YOLO(path, task="detect")
    return lambda frame: model(frame, verbose=False)[0].boxes.xyxy


def loops(saccade, flags, frame):
    model = saccade.Model(flags.model, device="cpu", threads=flags.threads)
    contenders = {"saccade": lambda image: model(image, color="bgr").boxes,
                  "onnxruntime and OpenCV": onnxruntime_loop(flags.model, flags),
                  "ultralytics": ultralytics_loop(flags.model, flags)}
    contenders = {name: run for name, run in contenders.items() if run is not None}
    times = {name: [] for name in contenders}
    for turn in range(max(5, flags.calls // 10)):
        for name, run in contenders.items():
            start = time.perf_counter()
            run(frame)
            if turn > 1:
                times[name].append(1000 * (time.perf_counter() - start))
    own = statistics.median(times["saccade"])
    for name, values in times.items():
        print(f"{name:24} {statistics.median(values):8.2f} ms a frame, {statistics.median(values) / own:.2f} of ours")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?")
    parser.add_argument("--package", default=str(ROOT / "build" / "python"))
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--threads", type=int, default=2)
    flags = parser.parse_args()
    sys.path.insert(0, flags.package)
    import saccade
    frame = numpy.random.default_rng(1).integers(0, 256, (720, 1280, 3), numpy.uint8)
    overhead(saccade, "the demo's model", str(ROOT / "models" / "scene_model.onnx"), frame, flags)
    with tempfile.TemporaryDirectory() as folder:
        if (nothing := write_no_work(folder)) is not None:
            overhead(saccade, "a model of no work", nothing, frame, flags)
    if flags.model:
        loops(saccade, flags, frame)


if __name__ == "__main__":
    main()
