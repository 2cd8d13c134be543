#!/usr/bin/env python3
"""Compares the metrics of `saccade validate` with pycocotools: every metric must agree to 1e-6.

    validate.py --binary build/saccade                      generated data sets
    validate.py --binary build/saccade --shared ../shared   real models on real images

In the generated data sets the images' pixels encode random boxes, masks and keypoints, and the model decodes them. The
ground truth has crowds, polygons, run lengths and objects without keypoints. Exit status 77: skipped.
"""
import argparse
import contextlib
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
    from pycocotools import mask as masks
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval
except ImportError as error:
    print(f"SKIPPED: {error}; script/bootstrap --peers installs it")
    sys.exit(77)

SIDE = 192  # of the generated images, and of their model's input
PREDICTIONS = (SIDE // 32)**2  # the cells of stride 32
CLASSES = 3
JOINTS = 17
PROTOTYPES = 4
FIGURES = {
    "bbox": ["ap", "ap50", "ap75", "ap_small", "ap_medium", "ap_large", "ar1", "ar10", "ar100", "ar_small", "ar_medium",
             "ar_large"],
    "keypoints": ["ap", "ap50", "ap75", "ap_medium", "ap_large", "ar20", "ar50", "ar75", "ar_medium", "ar_large"],
}
FIGURES["segm"] = FIGURES["bbox"]
SCORES = {"bbox": "box", "segm": "mask", "keypoints": "keypoints"}


def write_model(folder, decoder, rows, scale, shift, prototypes=None):
    """The image's first pixels, one number each, as [1, rows, PREDICTIONS], scaled and shifted."""
    initializers = [numpy_helper.from_array(np.array(v, np.int64), n) for n, v in
                    (("first", [0]), ("plane", [1]), ("axis", [1]), ("flat", [1, SIDE * SIDE]),
                     ("end", [rows * PREDICTIONS]), ("zero", [0]), ("shape", [1, rows, PREDICTIONS]))]
    initializers += [numpy_helper.from_array(np.float32(scale).reshape(1, rows, 1), "scale"),
                     numpy_helper.from_array(np.float32(shift).reshape(1, rows, 1), "shift")]
    nodes = [helper.make_node("Slice", ["image", "first", "plane", "axis"], ["red"]),
             helper.make_node("Reshape", ["red", "flat"], ["pixels"]),
             helper.make_node("Slice", ["pixels", "zero", "end", "axis"], ["numbers"]),
             helper.make_node("Reshape", ["numbers", "shape"], ["rows"]),
             helper.make_node("Mul", ["rows", "scale"], ["scaled"]),
             helper.make_node("Add", ["scaled", "shift"], ["predictions"])]
    outputs = [helper.make_tensor_value_info("predictions", TensorProto.FLOAT, [1, rows, PREDICTIONS])]
    if prototypes is not None:
        initializers.append(numpy_helper.from_array(prototypes, "constant"))
        nodes.append(helper.make_node("Identity", ["constant"], ["prototypes"]))
        outputs.append(helper.make_tensor_value_info("prototypes", TensorProto.FLOAT, prototypes.shape))
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIDE, SIDE])
    graph = helper.make_graph(nodes, "pixels", [image], outputs, initializers)
    path = os.path.join(folder, decoder + ".onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    names = '["predictions", "prototypes"]' if prototypes is not None else '"predictions"'
    labels = json.dumps([f"kind {i}" for i in range(1 if decoder == "yolov8-pose" else CLASSES)])
    with open(os.path.join(folder, decoder + ".toml"), "w", encoding="utf-8") as file:
        file.write(f'[input]\nresize = "stretch"\nscale = 1\nmean = 0\nstd = 1\n[output]\ndecoder = "{decoder}"\n'
                   f"name = {names}\nlabels = {labels}\n")
        if decoder == "yolov8-pose":
            file.write(f"keypoints = {JOINTS}\n")
    return path


def generated(rng, folder, kind, images):
    """Images whose pixels encode predictions, their ground truth, and the model that decodes them."""
    classes = 1 if kind == "keypoints" else CLASSES
    extra = {"bbox": 0, "segm": PROTOTYPES, "keypoints": 3 * JOINTS}[kind]
    rows = 4 + classes + extra
    scale, shift = np.ones(rows), np.zeros(rows)
    scale[4:4 + classes] = 1 / 256
    if kind == "segm":
        scale[4 + classes:], shift[4 + classes:] = 1 / 64, -1
    if kind == "keypoints":
        scale[4 + classes + 2::3] = 1 / 256
    prototypes = None
    if kind == "segm":
        prototypes = cv2.GaussianBlur(rng.normal(0, 3, (48, 48, PROTOTYPES)), (0, 0), 3).transpose(2, 0, 1)[None]
        prototypes = np.float32(4 * prototypes + 2)  # most of a box, with holes
    model = write_model(folder, {"bbox": "yolov8", "segm": "yolov8-seg", "keypoints": "yolov8-pose"}[kind], rows, scale,
                        shift, prototypes)
    truth = {"categories": [{"id": 10 + i, "name": f"kind {i}"} for i in range(classes)], "images": [], "annotations": []}
    for number in range(1, images + 1):
        numbers = rng.integers(0, SIDE, (rows, PREDICTIONS))
        numbers[2:4] = rng.integers(8, 90, (2, PREDICTIONS))
        numbers[4:4 + classes] = rng.integers(0, 256, (classes, PREDICTIONS)) * (rng.random((classes, PREDICTIONS)) < 0.6)
        if kind == "segm":
            numbers[4 + classes:] = rng.integers(0, 256, (extra, PREDICTIONS))
        add_truth(rng, truth, kind, number, numbers, classes)
        image = np.zeros((SIDE, SIDE, 3), np.uint8)
        image.reshape(-1, 3)[:numbers.size, 2] = numbers.reshape(-1)
        cv2.imwrite(os.path.join(folder, f"{number}.png"), image)
        truth["images"].append({"id": number, "file_name": f"{number}.png", "width": SIDE, "height": SIDE})
    name = "person_keypoints.json" if kind == "keypoints" else "instances.json"
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(truth, file)
    return model, {kind: os.path.join(folder, name), "bbox": os.path.join(folder, name)}


def add_truth(rng, truth, kind, number, numbers, classes):
    """Objects near some of an image's predictions."""
    for a in rng.choice(PREDICTIONS, int(rng.integers(0, 9)), replace=False):
        size = numbers[2:4, a] * rng.uniform(0.8, 1.25, 2)
        corner = numbers[:2, a] - size / 2 + rng.normal(0, 3, 2)
        box = [float(v) for v in (*corner, *size)]
        annotation = {"id": len(truth["annotations"]) + 1, "image_id": number, "bbox": box,
                      "category_id": 10 + int(np.argmax(numbers[4:4 + classes, a])),
                      "area": float(size.prod() * rng.uniform(0.4, 1)), "iscrowd": int(rng.random() < 0.2)}
        if kind == "segm":
            annotation["segmentation"] = silhouette(rng, box, annotation["iscrowd"])
        if kind == "keypoints":
            seen = rng.integers(0, 3, JOINTS) * (rng.random() < 0.8)
            joints = numbers[4 + classes:, a].reshape(JOINTS, 3)[:, :2] + rng.normal(0, 4, (JOINTS, 2))
            annotation["keypoints"] = [float(v) for joint, s in zip(joints, seen) for v in (*(joint * (s > 0)), int(s))]
            annotation["num_keypoints"] = int((seen > 0).sum())
        truth["annotations"].append(annotation)


def silhouette(rng, box, crowd):
    """Polygons, or run lengths, compressed or not."""
    x, y, width, height = box
    around = np.linspace(0, 2 * np.pi, int(rng.integers(3, 20)), endpoint=False)
    reach = rng.uniform(0.6, 1.1, around.size)
    corners = np.stack([x + width / 2 * (1 + reach * np.cos(around)), y + height / 2 * (1 + reach * np.sin(around))], 1)
    polygon = [float(v) for v in corners.round(2).reshape(-1)]
    if not crowd and rng.random() < 0.7:
        return [polygon, [x, y, x + width / 3, y, x, y + height / 3]] if rng.random() < 0.3 else [polygon]
    runs = masks.merge(masks.frPyObjects([polygon], SIDE, SIDE))
    if not crowd:
        return {"size": runs["size"], "counts": runs["counts"].decode()}
    flat = masks.decode(runs).reshape(-1, order="F")
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flat, [0]])))
    counts = np.diff(np.concatenate([[0], edges, [flat.size]])) if edges.size else [flat.size]
    return {"size": [SIDE, SIDE], "counts": [int(v) for v in counts]}


def pycocotools_metrics(annotations, results, kind, known):
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        with open(annotations, encoding="utf-8") as file:
            coco.dataset = json.load(file)
        for number, annotation in enumerate(coco.dataset["annotations"], 1):  # it merges objects of the same id
            annotation["id"] = number
        coco.createIndex()
        for result in results:  # loadRes would use the box's area for the mask
            if kind != "bbox":
                result.pop("bbox", None)
            if kind != "segm":
                result.pop("segmentation", None)
            if kind != "keypoints":
                result.pop("keypoints", None)
        evaluator = COCOeval(coco, coco.loadRes(results), kind)
        evaluator.params.catIds = [c["id"] for c in coco.dataset["categories"] if c["name"] in known] if known else \
            evaluator.params.catIds
        evaluator.evaluate()
        evaluator.accumulate()
        evaluator.summarize()
    return evaluator.stats


def compare(args, what, model, data, annotations, *flags, known=None):
    """Whether every metric of `validate` equals pycocotools'."""
    with tempfile.TemporaryDirectory() as work:
        results = os.path.join(work, "results.json")
        command = [args.binary, "validate", model, "--data", "coco:" + data, "--results", results, "--json",
                   "--device", "cpu", *flags]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1500)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} exited with {done.returncode}: {done.stderr.strip()[-500:]}")
        scores = json.loads(done.stdout)["models"][0]["scores"]
        with open(results, encoding="utf-8") as file:
            text = file.read()
    right = True
    for kind, path in annotations.items():
        theirs = pycocotools_metrics(path, json.loads(text), kind, known)
        ours = [-1 if scores[SCORES[kind]][f] is None else scores[SCORES[kind]][f] for f in FIGURES[kind]]
        worst = max(abs(a - b) for a, b in zip(ours, theirs))
        print(f"{what}, {kind}: AP {100 * ours[0]:.3f}, pycocotools' {100 * theirs[0]:.3f}; "
              f"of {len(ours)} figures the largest difference is {worst:.1e}")
        right = right and worst < 1e-6
    return right


def compare_made_up(args):
    right = True
    for seed in range(args.seeds):
        for kind in ("bbox", "segm", "keypoints"):
            with tempfile.TemporaryDirectory() as folder:
                model, annotations = generated(np.random.default_rng([seed, len(kind)]), folder, kind, 12)
                right = compare(args, f"generated, seed {seed}", model, folder, annotations, "--iou", "1") and right
    return right


def compare_real(args):
    right = True
    coco = os.path.join(args.shared, "coco")
    for name in ("yolov8n_640", "yolov8n-seg_640"):
        annotations = {"bbox": os.path.join(coco, "instances.json")}
        if "seg" in name:
            annotations["segm"] = os.path.join(coco, "instances_masks.json")
        model = os.path.join(args.shared, "models", "real", name + ".onnx")
        right = compare(args, name, model, coco, annotations) and right
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared")
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    if args.shared and not os.path.isdir(os.path.join(args.shared, "coco")):
        print("SKIPPED: needs ../shared (models and images)")
        return 77
    return int(not (compare_real(args) if args.shared else compare_made_up(args)))


if __name__ == "__main__":
    sys.exit(main())
