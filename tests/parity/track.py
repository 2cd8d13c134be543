#!/usr/bin/env python3
"""A tracker of one object against OpenCV's TrackerVit, which runs the same file: a network that searches the colour of
its target, on drawn frames and on a video of ../shared. OpenCV keeps boxes of whole pixels, which bounds the agreement.

    track.py --binary build/saccade --shared ../shared [NAME...]

Exit status 77: skipped.
"""
import json
import pathlib
import subprocess
import tempfile

from script import arguments, conclude, needs

with needs("--peers"):
    import cv2
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper

FRAMES = 40

# As OpenCV passes its images.
CARD = """[input]
color = "bgr"
scale = 0.00392156862745098
mean = 0
std = 1
"""


def write_tracker(path):
    """OpenCV's names and shapes: the mean distance to the colour of the template's centre, around each cell."""
    nodes = [
        helper.make_node("Slice", ["template", "first", "last", "axes"], ["centre"]),
        helper.make_node("ReduceMean", ["centre"], ["color"], axes=[2, 3], keepdims=1),
        helper.make_node("Sub", ["search", "color"], ["difference"]),
        helper.make_node("Mul", ["difference", "difference"], ["squares"]),
        helper.make_node("ReduceMean", ["squares"], ["distance"], axes=[1], keepdims=1),
        helper.make_node("Mul", ["distance", "falling"], ["exponent"]),
        helper.make_node("Exp", ["exponent"], ["alike"]),
        helper.make_node("AveragePool", ["alike"], ["output1"], kernel_shape=[64, 64], strides=[16, 16],
                         pads=[24, 24, 24, 24], count_include_pad=1),
        helper.make_node("Mul", ["output1", "nothing"], ["zeros"]),
        helper.make_node("Add", ["zeros", "quarters"], ["output2"]),
        helper.make_node("Add", ["zeros", "centres"], ["output3"])]
    constants = {"first": np.array([40, 40]), "last": np.array([88, 88]), "axes": np.array([2, 3]),
                 "falling": np.array([-8], np.float32), "nothing": np.array([0], np.float32),
                 "quarters": np.full((1, 2, 1, 1), 0.25, np.float32), "centres": np.full((1, 2, 1, 1), 0.5, np.float32)}
    floats = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes, "tracker",
        [helper.make_tensor_value_info("template", floats, [1, 3, 128, 128]),
         helper.make_tensor_value_info("search", floats, [1, 3, 256, 256])],
        [helper.make_tensor_value_info(f"output{i + 1}", floats, [1, 1 if i == 0 else 2, 16, 16]) for i in range(3)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def drawn(_shared):
    """A red disc before grey noise. It stays inside, where boxes are not cut: OpenCV does not cut them."""
    random = np.random.default_rng(1)
    noise = random.integers(90, 150, (480, 640, 1), np.uint8).repeat(3, 2)
    frames = []
    for i in range(FRAMES):
        frame = noise.copy()
        cv2.circle(frame, (200 + 9 * i, 240 + round(120 * np.sin(i / 6))), 40, (20, 20, 230), -1)
        frames.append(frame)
    return frames, (160, 200, 80, 80)


def street(shared):
    """A corner of a red bus that a walking camera follows."""
    video = cv2.VideoCapture(str(shared / "videos" / "opencvzoo_TestV4.mp4"))
    frames = []
    while len(frames) < FRAMES and (read := video.read())[0]:
        frames.append(read[1])
    return frames, (960, 250, 60, 110)


# The least overlap (IoU) with OpenCV's box in a frame, and on average. A cell is a quarter of the box: where two are
# nearly as good, boxes are a cell apart, with an overlap of 0.6.
SCENES = {"drawn": (drawn, 0.95, 0.99), "street": (street, 0.55, 0.9)}


def by_opencv(model, frames, box):
    parameters = cv2.TrackerVit.Params()
    parameters.net = str(model)
    # OpenCV takes the reciprocal of three numbers as that of a quaternion. Of three thirds it is 1, -1 and -1; the
    # network does not see the signs.
    parameters.meanvalue = (0, 0, 0)
    parameters.stdvalue = (1 / 3, 1 / 3, 1 / 3)
    tracker = cv2.TrackerVit.create(parameters)
    tracker.init(frames[0], box)
    found = [box]
    for frame in frames[1:]:
        is_found, box = tracker.update(frame)
        found.append(box if is_found else None)
    return found


def by_saccade(binary, model, frames, box, folder):
    images = folder / "images"
    images.mkdir()
    for i, frame in enumerate(frames):
        cv2.imwrite(str(images / f"{i:04}.png"), frame)
    done = subprocess.run([binary, "run", model, "--source", images, "--target", ",".join(map(str, box)), "--device",
                           "cpu", "--jsonl", "-", "--no-summary"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"saccade: exit status {done.returncode}: {done.stderr.strip()[-500:]}")
    found = []
    for line in done.stdout.splitlines():
        x1, y1, x2, y2 = (detections := json.loads(line)["detections"]) and detections[0]["box"] or [np.nan] * 4
        found.append((x1, y1, x2 - x1, y2 - y1) if detections else None)
    return found


def overlap(a, b):
    if a is None or b is None:
        return float(a is b)
    across = max(0, min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0]))
    down = max(0, min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1]))
    return across * down / (a[2] * a[3] + b[2] * b[3] - across * down)


def main():
    args = arguments(__doc__)
    complaints = []
    chosen = [name for name in SCENES if not args.name or name in args.name]
    for name in chosen:
        draw, least, mean = SCENES[name]
        frames, box = draw(args.shared)
        if not frames:
            print(f"{name}: SKIPPED: its video is not in {args.shared}")
            continue
        with tempfile.TemporaryDirectory() as text:
            write_tracker(model := (folder := pathlib.Path(text)) / "tracker.onnx")
            model.with_suffix(".toml").write_text(CARD)
            theirs = by_opencv(model, frames, box)
            ours = by_saccade(args.binary, model, frames, box, folder)
        overlaps = [overlap(a, b) for a, b in zip(theirs, ours, strict=True)]
        moved = max(np.hypot(a[0] - box[0], a[1] - box[1]) for a in theirs if a is not None)
        print(f"{name}: {len(frames)} frames, the box moves by {moved:.0f} pixels; overlap with OpenCV's: "
              f"least {min(overlaps):.3f}, mean {np.mean(overlaps):.3f}", flush=True)
        if min(overlaps) < least or np.mean(overlaps) < mean:
            complaints.append(f"{name}: frame {int(np.argmin(overlaps))}: OpenCV "
                              f"{theirs[int(np.argmin(overlaps))]}, ours {ours[int(np.argmin(overlaps))]}")
    conclude(complaints, len(chosen), "scenes")


main()
