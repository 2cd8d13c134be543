#!/usr/bin/env python3
"""Writes coco_cases.txt: made-up pictures and answers with the twelve figures that pycocotools gives for them, which
detection_metric_test.cpp checks ours against. Needs numpy and pycocotools; run it after adding a case."""

import contextlib
import io
import pathlib

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval


def make(rng, pictures, classes, crowds, jitter, sizes):
    truth, found = [], []
    for picture in range(1, pictures + 1):
        for _ in range(rng.integers(0, 12)):
            width, height = np.exp(rng.uniform(*np.log(sizes), 2)).round(1)
            x, y = rng.uniform(0, 400, 2).round(1)
            box = [float(x), float(y), float(width), float(height)]
            kind = int(rng.integers(classes))
            crowd = int(rng.random() < crowds)
            area = round(float(width * height * rng.uniform(0.4, 1)), 2)
            truth.append({"id": len(truth) + 1, "image_id": picture, "category_id": kind, "bbox": box, "area": area,
                          "iscrowd": crowd})
            for _ in range(rng.integers(0, 3)):
                moved = (np.array(box) + rng.normal(0, jitter, 4) * [width, height, width, height]).round(2)
                moved[2:] = np.maximum(moved[2:], 1)
                answer = kind if rng.random() < 0.9 else int(rng.integers(classes))
                found.append({"image_id": picture, "category_id": answer, "bbox": [float(v) for v in moved],
                              "score": round(float(rng.random()), 2)})
        for _ in range(rng.integers(0, 4)):
            found.append({"image_id": picture, "category_id": int(rng.integers(classes)),
                          "bbox": [float(v) for v in rng.uniform(5, 200, 4).round(1)],
                          "score": round(float(rng.random()), 2)})
    return truth, found


def stats(truth, found, pictures, classes):
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = {"images": [{"id": i} for i in range(1, pictures + 1)], "annotations": truth,
                        "categories": [{"id": i, "name": str(i)} for i in range(classes)]}
        coco.createIndex()
        evaluation = COCOeval(coco, coco.loadRes(found), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation.stats


def main():
    lines = ["# Written by coco_cases.py with pycocotools."]
    rng = np.random.default_rng(3)
    for pictures, classes, crowds, jitter, sizes in (
            (1, 1, 0, 0.05, (20, 200)), (6, 3, 0, 0.1, (10, 300)), (12, 4, 0.2, 0.1, (8, 300)), (30, 2, 0.1, 0.02, (8, 80)),
            (10, 5, 0.5, 0.3, (90, 100))):
        truth, found = make(rng, pictures, classes, crowds, jitter, sizes)
        figures = stats(truth, found, pictures, classes)
        lines.append(f"case {pictures} {classes} {len(truth)} {len(found)} " + " ".join(f"{v:.17g}" for v in figures))
        for a in truth:
            lines.append(f"{a['image_id']} {a['category_id']} {a['iscrowd']} {a['area']} " + " ".join(map(str, a["bbox"])))
        for a in found:
            lines.append(f"{a['image_id']} {a['category_id']} {a['score']} " + " ".join(map(str, a["bbox"])))
    pathlib.Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
