#!/usr/bin/env python3
"""Measures the scene model on pictures that it has not seen, with nothing of Saccade's but the renderer: ONNX Runtime
runs it, pycocotools counts.

    evaluate.py --saccade build/saccade --work DIR [--model models/scene_model.onnx] [--seeds 4 5 6] [--frames 200]

Prints a line a seed: AP50 and AP of boxes and masks; the mean IoU of the masks of the objects whose boxes are found (best
answer of the class from 0.25 on, boxes' IoU from 0.5 on); of the depth, up to 80 metres, the mean relative error and the
share of pixels within a quarter of the truth; the share of pictures whose place is right.
"""
import argparse
import contextlib
import io
import json
import os
import subprocess
import sys

import cv2
import numpy
import onnxruntime
from pycocotools import mask as rle
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from truth import SETTINGS

CONFIDENCE, OVERLAP, MOST = 0.01, 0.7, 100
MASKS_FROM = 0.25  # confidence of the answers whose masks are compared one by one
DEPTH_UP_TO = 80.0


def kept(boxes, scores):
    """Class by class, without those that overlap a stronger one."""
    best, kinds = scores.max(0), scores.argmax(0)
    found = numpy.nonzero(best >= CONFIDENCE)[0]
    chosen = []
    for kind in numpy.unique(kinds[found]):
        some = found[kinds[found] == kind]
        x, y, width, height = boxes[:, some]
        rows = numpy.stack((x - width / 2, y - height / 2, width, height), 1)
        chosen += some[numpy.array(cv2.dnn.NMSBoxes(rows.tolist(), best[some].tolist(), 0, OVERLAP)).reshape(-1)
                       .astype(int)].tolist()
    return sorted(chosen, key=lambda cell: -best[cell])[:MOST], best, kinds


def silhouette(coefficients, prototypes, box, width, height):
    """The pixels of BOX (x1, y1, x2, y2) where the prototypes, mixed and enlarged, are above 0."""
    logits = cv2.resize(numpy.tensordot(coefficients, prototypes, 1), (width, height), interpolation=cv2.INTER_LINEAR)
    x = numpy.arange(width) + 0.5
    y = numpy.arange(height) + 0.5
    inside = ((x > box[0]) & (x < box[2]))[None] & ((y > box[1]) & (y < box[3]))[:, None]
    return (logits > 0) & inside


def answer(session, picture, classes):
    blob = cv2.cvtColor(picture, cv2.COLOR_BGR2RGB).transpose(2, 0, 1)[None].astype(numpy.float32) / 255
    answers, prototypes, depth, place = session.run(None, {"images": blob})
    boxes, scores, mixes = numpy.split(answers[0], (4, 4 + classes))
    cells, best, kinds = kept(boxes, scores)
    height, width = picture.shape[:2]
    found = []
    for cell in cells:
        x, y, w, h = boxes[:, cell].astype(float)
        box = [x - w / 2, y - h / 2, x + w / 2, y + h / 2]
        mask = silhouette(mixes[:, cell], prototypes[0], box, width, height)
        found.append({"category_id": int(kinds[cell]), "score": float(best[cell]), "bbox": [box[0], box[1], w, h],
                      "segmentation": rle.encode(numpy.asfortranarray(mask.astype(numpy.uint8)))})
    enlarged = cv2.resize(depth[0, 0], (width, height), interpolation=cv2.INTER_LINEAR)
    return found, enlarged, int(place[0].argmax())


def precision(coco, results, kind):
    """AP50 and AP."""
    with contextlib.redirect_stdout(io.StringIO()):
        judge = COCOeval(coco, coco.loadRes(results), kind)
        judge.evaluate()
        judge.accumulate()
        judge.summarize()
    return judge.stats[1], judge.stats[0]


def mask_overlaps(coco, image, found):
    """The IoU of each object's mask with that of the best answer for it."""
    strong = [each for each in found if each["score"] >= MASKS_FROM]
    overlaps = []
    for truth in coco.imgToAnns[image]:
        rivals = [each for each in strong if each["category_id"] == truth["category_id"]]
        if truth["iscrowd"] or not rivals:
            continue
        boxes = rle.iou([each["bbox"] for each in rivals], [truth["bbox"]], [0])[:, 0]
        if boxes.max() >= 0.5:
            overlaps.append(rle.iou([rivals[boxes.argmax()]["segmentation"]], [coco.annToRLE(truth)], [0])[0, 0])
    return overlaps


def depth_errors(depth, truth):
    """Sum of relative errors, pixels within a quarter, pixels."""
    known = truth <= DEPTH_UP_TO
    ratio = depth[known] / truth[known]
    return numpy.array([numpy.abs(ratio - 1).sum(), (numpy.maximum(ratio, 1 / ratio) < 1.25).sum(), known.sum()])


def judge(session, folder):
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO(os.path.join(folder, "instances.json"))
    results, overlaps, depths, right = [], [], [], []
    for image in coco.dataset["images"]:
        name = image["file_name"]
        found, depth, place = answer(session, cv2.imread(os.path.join(folder, name)), len(coco.dataset["categories"]))
        results += [{**each, "image_id": image["id"]} for each in found]
        overlaps += mask_overlaps(coco, image["id"], found)
        depths.append(depth_errors(depth, numpy.load(os.path.join(folder, "depth", os.path.splitext(name)[0] + ".npy"))))
        right.append(SETTINGS[place] == image["place"])
    relative, close, pixels = numpy.sum(depths, 0)
    box50, box = precision(coco, results, "bbox")
    mask50, mask = precision(coco, results, "segm")
    return {"box_ap50": box50, "box_ap": box, "mask_ap50": mask50, "mask_ap": mask, "mask_iou": numpy.mean(overlaps),
            "abs_rel": relative / pixels, "delta1": close / pixels, "place": numpy.mean(right)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--saccade", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--model", default=os.path.join(os.path.dirname(__file__), "..", "scene_model.onnx"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[4, 5, 6, 8, 9, 10])
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--options", default="fps=0.5", help="of the scene, but for the seed")
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    session = onnxruntime.InferenceSession(args.model, options, providers=["CPUExecutionProvider"])
    for seed in args.seeds:
        folder = os.path.join(args.work, str(seed))
        subprocess.run([args.saccade, "demo", "--render", str(args.frames), "--output", folder, "--depth", "1",
                        "--source", f"synthetic:?seed={seed}&{args.options}"], check=True, stdout=subprocess.DEVNULL)
        print(json.dumps({"seed": seed, **{name: round(float(value), 4)
                                           for name, value in judge(session, folder).items()}}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
