#!/usr/bin/env python3
"""Checks the ground truth of `saccade demo --render` with pycocotools: it loads, the annotated boxes and areas are
those of the masks, and the ground truth evaluated as predictions has an AP of 100 %.

    scene_truth.py --binary build/saccade

Exit status 77: skipped.
"""
import argparse
import os
import subprocess
import sys
import tempfile

try:
    import numpy
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval
except ImportError as error:
    print(f"Skipped: {error}; script/bootstrap --peers installs it")
    sys.exit(77)


def masks_fit(coco):
    for annotation in coco.dataset["annotations"]:
        rows, columns = numpy.nonzero(coco.annToMask(annotation))
        x, y = columns.min(), rows.min()
        box = [x, y, columns.max() - x + 1, rows.max() - y + 1]
        if annotation["bbox"] != box or annotation["area"] != len(rows):
            print(f"annotation {annotation['id']}: {annotation['bbox']}, {annotation['area']}; its mask: {box}, {len(rows)}")
            return False
    return True


def score(coco):
    predictions = [{"image_id": a["image_id"], "category_id": a["category_id"], "bbox": a["bbox"], "score": 0.9}
               for a in coco.dataset["annotations"] if not a["iscrowd"]]
    evaluation = COCOeval(coco, coco.loadRes(predictions), "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    return evaluation.stats[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([args.binary, "demo", "--render", "30", "--output", work, "--format", "jpg", "--source",
                        "synthetic:?seed=5&size=321x243&objects=30&fps=1"], check=True, timeout=600)
        coco = COCO(os.path.join(work, "instances.json"))
        return int(not (masks_fit(coco) and score(coco) > 0.999))


if __name__ == "__main__":
    sys.exit(main())
