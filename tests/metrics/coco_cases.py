#!/usr/bin/env python3
"""Writes coco_cases.txt: synthetic images and predictions with pycocotools' metrics, and polygon_cases.txt: polygons
with pycocotools' run lengths. detection_metric_test.cpp and polygon_test.cpp compare with them. Needs numpy and
pycocotools. Run it after adding a case.
"""

import contextlib
import io
import pathlib

import numpy as np
from pycocotools import mask as masks
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

WIDTH, HEIGHT = 90, 70  # of the images with masks
JOINTS = 17


def make(rng, images, classes, crowds, jitter, sizes):
    """Boxes."""
    truth, found = [], []
    for image in range(1, images + 1):
        for _ in range(rng.integers(0, 12)):
            width, height = np.exp(rng.uniform(*np.log(sizes), 2)).round(1)
            x, y = rng.uniform(0, 400, 2).round(1)
            box = [float(x), float(y), float(width), float(height)]
            kind = int(rng.integers(classes))
            crowd = int(rng.random() < crowds)
            area = round(float(width * height * rng.uniform(0.4, 1)), 2)
            truth.append({"id": len(truth) + 1, "image_id": image, "category_id": kind, "bbox": box, "area": area,
                          "iscrowd": crowd})
            for _ in range(rng.integers(0, 3)):
                moved = (np.array(box) + rng.normal(0, jitter, 4) * [width, height, width, height]).round(2)
                moved[2:] = np.maximum(moved[2:], 1)
                predicted = kind if rng.random() < 0.9 else int(rng.integers(classes))
                found.append({"image_id": image, "category_id": predicted, "bbox": [float(v) for v in moved],
                              "score": round(float(rng.random()), 2)})
        for _ in range(rng.integers(0, 4)):
            found.append({"image_id": image, "category_id": int(rng.integers(classes)),
                          "bbox": [float(v) for v in rng.uniform(5, 200, 4).round(1)],
                          "score": round(float(rng.random()), 2)})
    return truth, found


def ellipse(x, y, width, height):
    """An elliptic mask in pycocotools' encoding. It may cross the border or be empty."""
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    inside = ((columns - x) / width) ** 2 + ((rows - y) / height) ** 2 < 0.25
    return masks.encode(np.asfortranarray(inside.astype(np.uint8)))


def make_masks(rng, images, classes, crowds, jitter, sizes):
    truth, found = [], []
    for image in range(1, images + 1):
        for _ in range(rng.integers(0, 7)):
            place = np.array([*rng.uniform((0, 0), (WIDTH, HEIGHT)), *np.exp(rng.uniform(*np.log(sizes), 2))])
            kind = int(rng.integers(classes))
            mask = ellipse(*place)
            truth.append({"id": len(truth) + 1, "image_id": image, "category_id": kind, "segmentation": mask,
                          "bbox": [float(v) for v in masks.toBbox(mask)],
                          "area": round(float(masks.area(mask)) * float(rng.choice([1, 1, 40])), 2),
                          "iscrowd": int(rng.random() < crowds)})
            for _ in range(rng.integers(0, 3)):
                moved = place + rng.normal(0, jitter, 4) * place[[2, 3, 2, 3]]
                found.append({"image_id": image, "category_id": kind, "segmentation": ellipse(*moved),
                              "score": round(float(rng.random()), 2)})
        for _ in range(rng.integers(0, 3)):
            found.append({"image_id": image, "category_id": int(rng.integers(classes)),
                          "segmentation": ellipse(*rng.uniform(0, 60, 4)), "score": round(float(rng.random()), 2)})
    return truth, found


def make_keypoints(rng, images, classes, crowds, jitter, sizes):
    truth, found = [], []
    for image in range(1, images + 1):
        for _ in range(rng.integers(0, 6)):
            width, height = np.exp(rng.uniform(*np.log(sizes), 2)).round(1)
            x, y = rng.uniform(0, 300, 2).round(1)
            joints = (rng.uniform(0, 1, (JOINTS, 2)) * [width, height] + [x, y]).round(1)
            seen = rng.integers(0, 3, JOINTS) * (rng.random() < 0.8)
            points = [float(v) for joint, s in zip(joints, seen) for v in (*(joint * (s > 0)), int(s))]
            truth.append({"id": len(truth) + 1, "image_id": image, "category_id": int(rng.integers(classes)),
                          "bbox": [float(x), float(y), float(width), float(height)],
                          "area": round(float(width * height * rng.uniform(0.3, 0.9)), 2), "keypoints": points,
                          "num_keypoints": int((seen > 0).sum()), "iscrowd": int(rng.random() < crowds)})
            for _ in range(rng.integers(0, 3)):
                moved = (joints + rng.normal(0, jitter, (JOINTS, 2)) * [width, height]).round(1)
                found.append({"image_id": image, "category_id": truth[-1]["category_id"],
                              "keypoints": [float(v) for joint in moved for v in (*joint, 1)],
                              "score": round(float(rng.random()), 2)})
        for _ in range(rng.integers(0, 30)):
            stray = rng.uniform(0, 300, (JOINTS, 2)).round(1)
            found.append({"image_id": image, "category_id": int(rng.integers(classes)),
                          "keypoints": [float(v) for joint in stray for v in (*joint, 1)],
                          "score": round(float(rng.random()), 2)})
    return truth, found


KINDS = {"box": ("bbox", make), "mask": ("segm", make_masks), "keypoints": ("keypoints", make_keypoints)}


def stats(truth, found, images, classes, kind):
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = {"images": [{"id": i, "width": WIDTH, "height": HEIGHT} for i in range(1, images + 1)],
                        "annotations": truth, "categories": [{"id": i, "name": str(i)} for i in range(classes)]}
        coco.createIndex()
        evaluation = COCOeval(coco, coco.loadRes(found), KINDS[kind][0])
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation.stats


def more(annotation, kind):
    """The fields of an object or prediction besides its box."""
    if kind == "mask":
        return " " + annotation["segmentation"]["counts"].decode()
    return "".join(f" {v:g}" for v in annotation["keypoints"]) if kind == "keypoints" else ""


def write_cases(folder):
    lines = [f"# Written by coco_cases.py with pycocotools; masks are of {WIDTH}x{HEIGHT} pixels."]
    rng = np.random.default_rng(3)
    for kind, images, classes, crowds, jitter, sizes in (
            ("box", 1, 1, 0, 0.05, (20, 200)), ("box", 6, 3, 0, 0.1, (10, 300)), ("box", 12, 4, 0.2, 0.1, (8, 300)),
            ("box", 30, 2, 0.1, 0.02, (8, 80)), ("box", 10, 5, 0.5, 0.3, (90, 100)),
            ("mask", 8, 2, 0, 0.05, (5, 60)), ("mask", 20, 3, 0.3, 0.1, (10, 60)),
            ("keypoints", 6, 1, 0, 0.02, (30, 200)), ("keypoints", 10, 2, 0.2, 0.05, (20, 200))):
        truth, found = KINDS[kind][1](rng, images, classes, crowds, jitter, sizes)
        figures = stats([dict(a) for a in truth], [dict(a) for a in found], images, classes, kind)
        lines.append(f"case {kind} {images} {classes} {len(truth)} {len(found)} "
                     + " ".join(f"{v:.17g}" for v in figures))
        for a in truth:
            lines.append(f"{a['image_id']} {a['category_id']} {a['iscrowd']} {a['area']} "
                         + " ".join(map(str, a["bbox"])) + more(a, kind))
        for a in found:
            box = " ".join(map(str, a["bbox"])) if kind == "box" else "0 0 0 0"
            lines.append(f"{a['image_id']} {a['category_id']} {a['score']} {box}" + more(a, kind))
    (folder / "coco_cases.txt").write_text("\n".join(lines) + "\n")


def write_polygons(folder):
    """Lines: width, height, the number of coordinates, the coordinates; compressed run lengths."""
    lines = ["# Written by coco_cases.py with pycocotools."]
    rng = np.random.default_rng(5)
    special = [[10, 10, 20, 10, 20, 20, 10, 20], [0, 0, 40, 0, 40, 30, 0, 30], [-5, -5, 50, -5, 50, 40, -5, 40],
               [5, 5, 5, 5, 25, 5, 15, 25], [3.5, 3.5, 3.5, 20.5, 3.5, 12], [10.1, 3, 30.3, 3, 10.1, 3.2],
               [2, 2, 30, 28, 30, 2, 2, 28], [39.9, 29.9, 39.9, 0.1, 39.5, 15], [0.4, 0.4, 0.6, 0.4, 0.6, 0.6],
               [1, 1, 12, 1, 12, 9, 25, 9, 25, 1, 38, 1, 38, 28, 1, 28]]
    for corners in special:
        lines.append(polygon(corners, 40, 30))
    for _ in range(60):
        width, height = (int(v) for v in rng.integers(1, 120, 2))
        count = int(rng.integers(3, 24))
        reach = rng.uniform(1, 80)
        corners = rng.uniform(-0.2, 1.2, 2) * [width, height] + rng.normal(0, reach / 3, (count, 2))
        lines.append(polygon([float(v) for v in corners.round(int(rng.integers(0, 3))).reshape(-1)], width, height))
    (folder.parent / "vision" / "polygon_cases.txt").write_text("\n".join(lines) + "\n")


def polygon(corners, width, height):
    counts = masks.frPyObjects([corners], height, width)[0]["counts"].decode()
    return f"{width} {height} {len(corners)} " + " ".join(f"{v:g}" for v in corners) + " " + counts


if __name__ == "__main__":
    write_cases(pathlib.Path(__file__).parent)
    write_polygons(pathlib.Path(__file__).parent)
