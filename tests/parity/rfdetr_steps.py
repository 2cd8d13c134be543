#!/usr/bin/env python3
"""Compares RF-DETR-seg's post-processing with NumPy and OpenCV, on queries and masks made from the scene's ground
truth.

    rfdetr_steps.py --binary build/saccade [--frames 12]

Boxes, classes, scores and masks of `saccade run` must be equal, except for pixels whose logit is within 1e-5 of zero. A
mask's area must be its number of pixels. Every third frame of a size is crowded: all queries are objects. The others
contain the edge cases: equal logits, a score at the threshold, boxes over the border, empty and full masks. Exit status
77: skipped.
"""
import argparse
import contextlib
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from pycocotools import mask as rle
    from pycocotools.coco import COCO
except ImportError as error:
    print(f"SKIPPED: {error}; script/bootstrap --peers installs it")
    sys.exit(77)

QUERIES, CATEGORIES, GRID, SIDE = 100, 12, 78, 312
# Category 0 and two others are unused. The rest are the scene's eight classes in another order.
REMAP = [-1, 3, 1, 2, 0, -1, 7, 6, 5, 4, -1, -1]
THRESHOLD = [0.5, 0.4, 0.5, 0.3, 0.5, 0.6, 0.5, 0.5]
LABELS = ["ball", "crate", "cone", "barrel", "tyre", "car", "person", "drone"]
f32 = np.float32


def exp32(x):
    """portable_exp(): every operation rounded to fp32."""
    x = x.astype(f32)
    n = np.rint(x * f32(1.44269504))
    r = x - n * f32(0.693359375)
    r = r - n * f32(-2.12194440e-4)
    p = np.full_like(x, f32(1.9875691500e-4))
    for term in (1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1):
        p = p * r + f32(term)
    p = p * (r * r) + r + f32(1)
    return np.ldexp(p, n.astype(np.int32)).astype(f32)


def oracle(boxes, logits, masks, width, height):
    """(box, class, score, mask logits) of every kept query, in order."""
    scores = f32(1) / (f32(1) + exp32(-logits))
    found = []
    for q in range(len(boxes)):
        c = int(scores[q].argmax())
        if REMAP[c] < 0 or not scores[q, c] > f32(THRESHOLD[REMAP[c]]):
            continue
        x, y, w, h = boxes[q]
        edges = np.array([x - w * f32(0.5), y - h * f32(0.5), x + w * f32(0.5), y + h * f32(0.5)], f32)
        frame = np.array([width, height, width, height], f32)
        box = np.rint(np.clip(edges * frame, f32(0), frame)).astype(np.int32)
        upsampled = cv2.resize(masks[q], (width, height), interpolation=cv2.INTER_LINEAR)
        found.append((box, REMAP[c], scores[q, c], upsampled))
    return found


def queries_of(annotations, width, height, rng, crowded):
    """The network's output tensors for the image's objects and for the edge cases. CROWDED: every query is an
    object."""
    boxes = rng.uniform(0.05, 0.95, (QUERIES, 4)).astype(f32)
    boxes[:, 2:] *= f32(0.5)
    logits = rng.normal(2 if crowded else -6, 1, (QUERIES, CATEGORIES)).astype(f32)
    masks = rng.normal(-1, 2, (QUERIES, GRID, GRID)).astype(f32)
    masks = np.stack([cv2.GaussianBlur(plane, (9, 9), 3) for plane in masks])
    places = rng.permutation(QUERIES)
    back = {label: category for category, label in enumerate(REMAP) if label >= 0}
    for place, annotation in zip(places, annotations[:QUERIES - 10]):
        x, y, w, h = annotation["bbox"]
        boxes[place] = [(x + w / 2) / width, (y + h / 2) / height, w / width, h / height]
        logits[place, back[annotation["category_id"]]] = rng.uniform(-1, 8)
        inside = cv2.resize(annotation["mask"].astype(f32), (GRID, GRID), interpolation=cv2.INTER_AREA)
        masks[place] = (inside - f32(0.5)) * f32(12) + rng.normal(0, 0.3, (GRID, GRID)).astype(f32)
    if crowded:
        logits[:, [category for category, label in enumerate(REMAP) if label < 0]] = -9
        return boxes, logits, masks
    hard = places[-10:]
    logits[hard] = -9
    logits[hard[0], [1, 2]] = 3  # two equal classes: the first wins
    logits[hard[1], [2, 3]] = 80  # both exactly 1
    logits[hard[2], 3] = 0  # class 2 exactly at its threshold of 0.5: rejected
    logits[hard[3], 3] = np.nextafter(f32(0), f32(1)) + f32(1e-6)  # just above it
    logits[hard[4], 0] = 9  # none
    logits[hard[5:], 4] = 5
    boxes[hard[5]] = [0.01, 0.99, 0.3, 0.4]  # over two borders
    boxes[hard[6]] = [0.5, 0.5, 2, 2]  # over all
    masks[hard[7]] = -1  # empty
    masks[hard[8]] = 1  # full
    boxes[hard[9]] = [0.5, 0.5, 0, 0]
    return boxes, logits, masks


def save_model(path, boxes, logits, masks):
    outputs, nodes, constants = [], [], []
    for name, value in (("dets", boxes), ("labels", logits), ("masks", masks)):
        value = value[None]
        constants.append(numpy_helper.from_array(value, name + ".value"))
        nodes.append(helper.make_node("Identity", [name + ".value"], [name]))
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape))
    image_info = helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, SIDE, SIDE])
    graph = helper.make_graph(nodes, "queries", [image_info], outputs, constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def save_card(path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'[output]\ndecoder = "rfdetr-seg"\nremap = {REMAP}\nconf = {THRESHOLD}\nlabels = {json.dumps(LABELS)}\n')


def differences(expected, got, where):
    """The differences, and the number of differing pixels whose logit is close to zero."""
    if len(expected) != len(got):
        return [f"{where}: {len(got)} objects, not {len(expected)}"], 0
    complaints, near = [], 0
    for i, ((box, label, score, logits), result) in enumerate(zip(expected, got)):
        said = (result["box"], result["class_id"], f32(result["confidence"]))
        if said != (box.tolist(), label, score):
            complaints.append(f"{where}, object {i}: {said}, not {(box.tolist(), label, score)}")
        mask = rle.decode(result["mask"]).astype(bool)
        differ = mask != (logits > 0)
        near += int(differ.sum())
        if np.abs(logits[differ]).max(initial=0) > 1e-5:
            complaints.append(f"{where}, object {i}: {differ.sum()} pixels of its mask differ")
        if result["pixels"] != mask.sum():
            complaints.append(f"{where}, object {i}: its mask has {mask.sum()} pixels, not {result['pixels']}")
    return complaints, near


def results_of(binary, model, image, work):
    """The objects from the JSON lines, each with its mask's area from the CSV table."""
    table = os.path.join(work, "results.csv")
    lines = subprocess.run([binary, "run", model, "--source", image, "--jsonl", "-", "--csv", table, "--device",
                            "cpu"], check=True, timeout=600, capture_output=True, text=True).stdout
    found = json.loads(lines.splitlines()[0])["detections"]
    with open(table, newline="", encoding="utf-8") as file:
        areas = [int(row["pixels"]) for row in csv.DictReader(file)]
    return [result | {"pixels": area} for result, area in zip(found, areas, strict=True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--frames", type=int, default=12)
    args = parser.parse_args()
    rng = np.random.default_rng(1)
    complaints, objects, near, most = [], 0, 0, 0
    with tempfile.TemporaryDirectory() as work:
        for place, size in enumerate(("640x480", "1280x720", "321x243")):
            frames = os.path.join(work, size)
            subprocess.run([args.binary, "demo", "--render", str(-(-args.frames // 3)), "--output", frames, "--source",
                            f"synthetic:?seed={place + 5}&size={size}&objects=30&fps=0.5"],
                           check=True, timeout=600, stdout=subprocess.DEVNULL)
            with contextlib.redirect_stdout(io.StringIO()):
                truth = COCO(os.path.join(frames, "instances.json"))
            for number, image in enumerate(truth.dataset["images"]):
                annotations = truth.imgToAnns[image["id"]]
                for annotation in annotations:
                    annotation["mask"] = truth.annToMask(annotation)
                tensors = queries_of(annotations, image["width"], image["height"], rng, crowded=number % 3 == 2)
                model, card = os.path.join(work, "queries.onnx"), os.path.join(work, "queries.toml")
                save_model(model, *tensors)
                save_card(card)
                got = results_of(args.binary, model, os.path.join(frames, image["file_name"]), work)
                expected = oracle(*tensors, image["width"], image["height"])
                said, close = differences(expected, got, f"{size} {image['file_name']}")
                complaints += said
                near += close
                objects += len(expected)
                most = max(most, len(expected))
    if most != QUERIES:
        complaints.append(f"no frame has an object of each of the {QUERIES} queries, but {most} at most")
    print("\n".join(complaints))
    print(f"{objects} objects with masks in {args.frames} frames, {most} at most in one: {len(complaints)} differ; "
          f"{near} pixels with a logit within 1e-5 of zero fell on the other side")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
