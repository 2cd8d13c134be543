#!/usr/bin/env python3
"""The reference pipeline: ONNX Runtime, with preprocessing and post-processing in NumPy, OpenCV and, for models that
were trained with it, Pillow, on the images of ../shared.

    oracle.py --shared ../shared coco MODEL [--out RESULTS.json] [--multi-label]    COCO AP of ONNX Runtime
    oracle.py --shared ../shared imagenet MODEL                                     top-1 of ONNX Runtime
    oracle.py --shared ../shared score RESULTS.json                                 COCO AP of `saccade run --coco`

MODEL is a file's stem below shared/models/real.  Needs the packages of script/peers.txt.
"""
import argparse
import contextlib
import functools
import io
import json
import os

import cv2
import numpy as np
import onnxruntime as ort
from PIL import Image
from pycocotools import mask as rle
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

# Preprocessing and post-processing of each model's file.
DETECTORS = {"yolov8n_640": "yolov8", "yolov8n-seg_640": "yolov8-seg", "yolox_nano_416": "yolox",
             "face_yolo11n_qdq_640": "yolov8", "deimv2_atto_coco_320": "detr"}
CLASSIFIERS = {
    "mobilenetv2_v1_224": {"bgr": False, "scale": 1 / 255, "mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)},
    "squeezenet1.1_224": {"bgr": True, "scale": 1.0, "mean": (104, 117, 123), "std": (1, 1, 1), "opencv": True},
}
CLASSIFIERS["shufflenet-v2-12-int8_qlinear"] = CLASSIFIERS["mobilenetv2_v1_224"]
IMAGENET = set(CLASSIFIERS)
CLASSIFIERS["resnet20_cifar10"] = {"bgr": False, "scale": 1 / 255, "mean": (0.4914, 0.4822, 0.4465),
                                   "std": (0.2023, 0.1994, 0.2010), "crop": False}

# COCO's category of class 0..79.
CATEGORIES = [c for c in range(1, 91) if c not in (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)]


@functools.cache
def session(shared, model, plain=False):
    """PLAIN: without ONNX Runtime's optimisations."""
    options = ort.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")  # sums of bytes are exact also without VNNI
    if plain:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    options.intra_op_num_threads = 2
    path = os.path.join(shared, "models", "real", model + ".onnx")
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def letterbox(image, size, centred):
    """The image letterboxed to a square on grey, with scales and offsets from image pixels to the square's.

    Centred and rounded like Ultralytics, or in the corner and truncated like YOLOX.
    """
    height, width = image.shape[:2]
    ratio = min(size / height, size / width)
    new = [round(width * ratio), round(height * ratio)] if centred else [int(width * ratio), int(height * ratio)]
    left, top = [round((size - n) / 2 - 0.1) if centred else 0 for n in new]
    canvas = np.full((size, size, 3), 114, np.uint8)
    canvas[top:top + new[1], left:left + new[0]] = cv2.resize(image, new, interpolation=cv2.INTER_LINEAR)
    return canvas, (new[0] / width, new[1] / height), (left, top)


def decode_yolov8(output):
    """[1, 84, A] to boxes as corners and scores [A, 80]."""
    rows = output[0].T
    return corners(rows[:, :4]), rows[:, 4:]


def decode_yolox(output, size=416, strides=(8, 16, 32)):
    """[1, A, 85], a raw grid, to boxes as corners and scores [A, 80]."""
    rows = output[0].copy()
    grids, steps = [], []
    for stride in strides:
        n = size // stride
        y, x = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
        grids.append(np.stack([x, y], -1).reshape(-1, 2))
        steps.append(np.full((n * n, 1), stride))
    grid, step = np.concatenate(grids), np.concatenate(steps)
    rows[:, :2] = (rows[:, :2] + grid) * step
    rows[:, 2:4] = np.exp(rows[:, 2:4]) * step
    return corners(rows[:, :4]), rows[:, 4:5] * rows[:, 5:]


def corners(boxes):
    half = boxes[:, 2:] / 2
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], 1)


def overlaps(box, boxes):
    low, high = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:], boxes[:, 2:])
    common = np.prod(np.clip(high - low, 0, None), 1)
    return common / (np.prod(box[2:] - box[:2]) + np.prod(boxes[:, 2:] - boxes[:, :2], 1) - common + 1e-12)


def select(boxes, scores, conf, iou, max_det, multi_label):
    """Greedy non-maximum suppression by class: boxes, scores, classes and anchors kept, best first."""
    if multi_label:
        anchor, label = np.nonzero(scores > conf)
    else:
        label = scores.argmax(1)
        anchor = np.nonzero(scores[np.arange(len(label)), label] > conf)[0]
        label = label[anchor]
    score = scores[anchor, label]
    order = np.argsort(-score, kind="stable")[:30000]
    anchor = anchor[order]
    boxes, score, label = boxes[anchor], score[order], label[order]
    kept, alive = [], np.ones(len(score), bool)
    for i in range(len(score)):
        if not alive[i]:
            continue
        kept.append(i)
        if len(kept) == max_det:
            break
        alive &= ~((label == label[i]) & (overlaps(boxes[i], boxes) > iou))
    return boxes[kept], score[kept], label[kept], anchor[kept]


def detect(net, decoder, image, conf, iou, max_det, multi_label):
    """Boxes in image pixels, scores, classes, and masks (None if the model has none)."""
    if decoder == "detr":
        return detect_queries(net, image, conf)
    size = net.get_inputs()[0].shape[2]
    canvas, scale, offset = letterbox(image, size, centred=decoder != "yolox")
    pixels = canvas.astype(np.float32) if decoder == "yolox" else canvas[:, :, ::-1].astype(np.float32) / 255
    outputs = net.run(None, {net.get_inputs()[0].name: np.ascontiguousarray(pixels.transpose(2, 0, 1)[None])})
    output, coefficients = outputs[0], None
    if decoder == "yolov8-seg":
        coefficients = output[0, 84:].T
        output = output[:, :84]
    boxes, scores = decode_yolox(output, size) if decoder == "yolox" else decode_yolov8(output)
    boxes, scores, labels, anchors = select(boxes, scores, conf, iou, max_det, multi_label)
    boxes = (boxes - np.tile(offset, 2)) / np.tile(scale, 2)
    height, width = image.shape[:2]
    boxes = np.clip(boxes, 0, [width, height, width, height])
    masks = None
    if coefficients is not None:
        masks = [mask_of(c, outputs[1][0], box, size, scale, offset, width, height)
                 for c, box in zip(coefficients[anchors], boxes)]
    return boxes, scores, labels, masks


def detect_queries(net, image, conf):
    """DEIM with its post-processor, which takes the image's size as an input."""
    size = net.get_inputs()[0].shape[2]
    height, width = image.shape[:2]
    pixels = antialiased(image, size, size)[:, :, ::-1].astype(np.float32) / 255
    told = np.array([[width, height]], np.int64)
    outputs = dict(zip([o.name for o in net.get_outputs()],
                       net.run(None, {"images": np.ascontiguousarray(pixels.transpose(2, 0, 1)[None]),
                                      "orig_target_sizes": told})))
    scores = outputs["scores"][0]
    kept = scores > conf
    boxes = np.clip(outputs["boxes"][0], 0, [width, height, width, height])
    return boxes[kept], scores[kept], outputs["labels"][0][kept].astype(int), None


def bilinear(cells, model, scale, offset, pixels):
    """Rows of bilinear weights from CELLS, which cover MODEL pixels, to an axis of PIXELS."""
    at = ((np.arange(pixels) + 0.5) * scale + offset) * cells / model - 0.5
    at = np.clip(at, 0, cells - 1)
    low = np.minimum(np.floor(at).astype(int), cells - 2)
    weights = np.zeros((pixels, cells), np.float32)
    weights[np.arange(pixels), low] = 1 - (at - low)
    weights[np.arange(pixels), low + 1] = at - low
    return weights


def mask_of(coefficients, prototypes, box, size, scale, offset, width, height):
    """The image's pixels inside the box where the upsampled sum of prototypes is above 0."""
    logits = np.tensordot(coefficients, prototypes, 1)
    x1, y1, x2, y2 = np.ceil(box).astype(int)
    across = bilinear(logits.shape[1], size, scale[0], offset[0], width)[x1:x2]
    down = bilinear(logits.shape[0], size, scale[1], offset[1], height)[y1:y2]
    mask = np.zeros((height, width), np.uint8, order="F")  # as pycocotools takes it
    mask[y1:y2, x1:x2] = down @ logits @ across.T > 0
    return mask


def score_coco(shared, results, what="bbox"):
    """COCO's AP (0.50:0.95) of a list of results over the images of shared/coco, in percent."""
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(os.path.join(shared, "coco", "instances.json" if what == "bbox" else "instances_masks.json"))
        if not results:
            return 0.0
        evaluation = COCOeval(truth, truth.loadRes(results), what)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return 100 * evaluation.stats[0]


def detections(shared, model, plain=False):
    """File name and (boxes, scores, classes) of every image of shared/coco."""
    for name, found in detections_with_masks(shared, model, 0.25, 0.7, 300, False, plain):
        yield name, found[:3]


def detections_with_masks(shared, model, conf, iou, max_det, multi_label, plain=False):
    net = session(shared, model, plain)
    folder = os.path.join(shared, "coco", "images")
    for name in sorted(os.listdir(folder)):
        yield name, detect(net, DETECTORS[model], cv2.imread(os.path.join(folder, name)), conf, iou, max_det, multi_label)


def coco_results(shared, model, conf=0.001, iou=0.7, max_det=300, multi_label=False):
    """ONNX Runtime's predictions in COCO's results format."""
    results = []
    for name, (boxes, scores, labels, masks) in detections_with_masks(shared, model, conf, iou, max_det, multi_label):
        for i, ((x1, y1, x2, y2), score, label) in enumerate(zip(boxes.tolist(), scores.tolist(), labels.tolist())):
            result = {"image_id": int(os.path.splitext(name)[0]), "category_id": CATEGORIES[label],
                      "bbox": [x1, y1, x2 - x1, y2 - y1], "score": score}
            if masks is not None:
                encoded = rle.encode(np.asfortranarray(masks[i]))
                result["segmentation"] = {"size": encoded["size"], "counts": encoded["counts"].decode()}
            results.append(result)
    return results


def coco_ap(shared, model, multi_label=False, out=None):
    """COCO AP of ONNX Runtime. The results are written to OUT."""
    results = coco_results(shared, model, multi_label=multi_label)
    if out:
        with open(out, "w", encoding="utf-8") as file:
            json.dump(results, file)
    return score_coco(shared, results)


def stretched(shared, net, name, scale, mean):
    """An image of shared/coco as (RGB * scale - mean), stretched to the input; and its width and height."""
    image = cv2.imread(os.path.join(shared, "coco", "images", name))
    height, width = net.get_inputs()[0].shape[2:]
    pixels = cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR)[:, :, ::-1].astype(np.float32)
    pixels = pixels * np.float32(scale) - np.float32(mean)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None]), image.shape[1], image.shape[0]


def class_map(shared, model, name):
    """The class of every pixel of the image, by nearest cell."""
    net = session(shared, model)
    pixels, width, height = stretched(shared, net, name, 1 / 127.5, 1)
    cells = net.run(None, {net.get_inputs()[0].name: pixels})[0][0].argmax(0)
    across = np.floor((np.arange(width) + 0.5) * (cells.shape[1] / width)).astype(int)
    down = np.floor((np.arange(height) + 0.5) * (cells.shape[0] / height)).astype(int)
    return cells[down][:, across]


def depth_map(shared, model, name):
    """The depth of every pixel of the image, bilinear between the cells' centres."""
    net = session(shared, model)
    pixels, width, height = stretched(shared, net, name, 1 / 255, 0)
    cells = net.run(None, {net.get_inputs()[0].name: pixels})[0].squeeze()
    return cv2.resize(cells, (width, height), interpolation=cv2.INTER_LINEAR)


def read_map(stem, kind):
    """A map that `saccade run --frames` saved: STEM.classes.png, STEM.depth.npy."""
    if kind == "classes":
        return cv2.imread(f"{stem}.classes.png", cv2.IMREAD_UNCHANGED)
    return np.load(f"{stem}.depth.npy")


def antialiased(image, width, height):
    """IMAGE resized as torchvision and timm do it."""
    return np.asarray(Image.fromarray(image).resize((width, height), Image.Resampling.BILINEAR))


def classify(net, image, bgr, scale, mean, std, crop=True, opencv=False):
    """The class scores of an image: short side resized to 256, centre crop of 224; or stretched. OPENCV: as Caffe
    resizes."""
    size = net.get_inputs()[0].shape[2]
    short = size * 256 // 224
    height, width = image.shape[:2]
    if not crop:
        new = (size, size)
    else:
        new = (short, short * height // width) if width <= height else (short * width // height, short)
    image = cv2.resize(image, new, interpolation=cv2.INTER_LINEAR) if opencv else antialiased(image, *new)
    left, top = round((new[0] - size) / 2), round((new[1] - size) / 2)
    image = image[top:top + size, left:left + size]
    pixels = (image if bgr else image[:, :, ::-1]).astype(np.float32)
    pixels = (pixels * np.float32(scale) - np.float32(mean)) / np.float32(std)
    return net.run(None, {net.get_inputs()[0].name: np.ascontiguousarray(pixels.transpose(2, 0, 1)[None])})[0].ravel()


def imagenet_classes(shared):
    """File name to class index, for the images that exist."""
    with open(os.path.join(shared, "imagenet", "class_order.txt"), encoding="utf-8") as file:
        order = [line.strip() for line in file]
    there = set(os.listdir(os.path.join(shared, "imagenet")))
    return {name: i for i, name in enumerate(order) if name in there}


def imagenet_predictions(shared, model):
    """File name to the class that ONNX Runtime predicts."""
    net = session(shared, model)
    return {name: int(classify(net, cv2.imread(os.path.join(shared, "imagenet", name)), **CLASSIFIERS[model]).argmax())
            for name in imagenet_classes(shared)}


def top1(shared, predictions):
    """The share of correct predictions, in percent."""
    truth = imagenet_classes(shared)
    return 100 * sum(predictions.get(name) == label for name, label in truth.items()) / len(truth)


def imagenet_top1(shared, model):
    return top1(shared, imagenet_predictions(shared, model))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", default="../shared")
    parser.add_argument("--out")
    parser.add_argument("--multi-label", action="store_true")
    parser.add_argument("what", choices=["coco", "imagenet", "score"])
    parser.add_argument("model")
    args = parser.parse_args()
    if args.what == "coco":
        value = coco_ap(args.shared, args.model, multi_label=args.multi_label, out=args.out)
        print(f"{args.model}: AP {value:.2f}")
    elif args.what == "imagenet":
        print(f"{args.model}: top-1 {imagenet_top1(args.shared, args.model):.1f}")
    else:
        with open(args.model, encoding="utf-8") as file:
            print(f"{args.model}: AP {score_coco(args.shared, json.load(file)):.2f}")


if __name__ == "__main__":
    main()
