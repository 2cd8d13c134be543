#!/usr/bin/env python3
"""Compares the accuracy of `saccade run` with the reference pipeline (oracle.py: ONNX Runtime, NumPy, OpenCV and
Pillow) on the images of ../shared, model by model.

    .venv-peers/bin/python tests/parity/accuracy.py --binary build/saccade --shared ../shared MODEL
    ... --table docs/accuracy.md        all models, and their table

With labels, metrics may differ by 0.1: COCO AP of boxes and masks at --conf 0.001 --iou 0.7 --max-det 300, top-1.
Without labels, 99.9 % of the reference predictions must be equal: classes of pixels, depths within 1 % of the image's
range, classes of images. Boxes of the quantised face detector are matched one to one with the reference's. Recall and
precision must be at least those of ONNX Runtime without its optimisations, minus one box. Exit status 77: skipped.
"""
import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile

SKIPPED = 77


@dataclasses.dataclass
class Row:
    metric: str
    ours: float
    theirs: float
    bar: float  # the largest allowed difference
    is_least: bool = False  # a larger value than the reference's passes, too

    def good(self):
        less = self.theirs - self.ours
        return (less if self.is_least else abs(less)) <= self.bar + 1e-9


def run(args, model, folder, card, *flags):
    with tempfile.TemporaryDirectory() as work:
        command = [args.binary, "run", os.path.join(args.shared, "models", "real", model + ".onnx"),
                   "--source", os.path.join(args.shared, *folder), "--device", "cpu", *flags]
        if card:
            path = os.path.join(work, "card.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(card)
            command += ["--card", path]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    if done.returncode != 0:
        raise RuntimeError(f"saccade run exited with {done.returncode}: {done.stderr.strip()[-500:]}")


def lines_of(args, model, folder, card, *flags):
    """File name to its result in `--jsonl`."""
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "results.jsonl")
        run(args, model, folder, card, "--jsonl", path, *flags)
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
    return {os.path.basename(line["name"]): line for line in lines if "name" in line}


def detector(args, model, card):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "results.json")
        run(args, model, ("coco", "images"), card, "--coco", path, "--conf", "0.001", "--iou", "0.7", "--max-det", "300")
        with open(path, encoding="utf-8") as file:
            ours = json.load(file)
    theirs = oracle.coco_results(args.shared, model)
    rows = [Row("box AP", oracle.score_coco(args.shared, ours), oracle.score_coco(args.shared, theirs), 0.1)]
    if oracle.DETECTORS[model] == "yolov8-seg":
        rows.append(Row("mask AP", *(oracle.score_coco(args.shared, each, "segm") for each in (ours, theirs)), 0.1))
    return rows


def classifier(args, model, card):
    lines = lines_of(args, model, ("imagenet",), card)
    predictions = {name: line["classes"][0]["class_id"] for name, line in lines.items()}
    expected = oracle.imagenet_predictions(args.shared, model)
    same = 100 * sum(predictions.get(name) == label for name, label in expected.items()) / len(expected)
    if model not in oracle.IMAGENET:
        return [Row("same class, %", same, 100, 0.1)]
    return [Row("top-1", oracle.top1(args.shared, predictions), oracle.top1(args.shared, expected), 0.1)]


def pairs(some, others):
    """The number of matches between two sets of boxes: same class, IoU of at least 0.5, greedy in descending order of
    IoU, each box at most once."""
    count = 0
    for name, (boxes, _, labels) in some.items():
        there, _, kinds = others[name]
        near = [(-share, i, j) for i, (box, label) in enumerate(zip(boxes, labels))
                for j, share in enumerate(oracle.overlaps(box, there)) if share >= 0.5 and kinds[j] == label]
        left, right = set(), set()
        for _, i, j in sorted(near):
            if i not in left and j not in right:
                left.add(i)
                right.add(j)
        count += len(left)
    return count


def unlabelled_detector(args, model, card):
    """ONNX Runtime itself gives two results for a quantised model, with its optimisations and without."""
    ours = {}
    for name, line in lines_of(args, model, ("coco", "images"), card).items():
        found = line["detections"]
        ours[name] = (oracle.np.array([f["box"] for f in found], float).reshape(-1, 4), None,
                      oracle.np.array([f["class_id"] for f in found], int))
    expected = dict(oracle.detections(args.shared, model))
    plain = dict(oracle.detections(args.shared, model, True))
    there, got, own = (max(1, sum(len(boxes) for boxes, _, _ in each.values())) for each in (expected, ours, plain))
    same, same_plain = pairs(expected, ours), pairs(expected, plain)
    return [Row(f"recall of its {there} boxes, %", 100 * same / there, 100 * same_plain / there, 100 / there, True),
            Row(f"precision of our {got} boxes, %", 100 * same / got, 100 * same_plain / own, 100 / got, True)]


def maps_of(args, model, card, kind):
    """File name to the map that `--frames` saves beside the images."""
    with tempfile.TemporaryDirectory() as work:
        run(args, model, ("coco", "images"), card, "--frames", work)
        for number, name in enumerate(sorted(os.listdir(os.path.join(args.shared, "coco", "images")))):
            yield name, oracle.read_map(os.path.join(work, f"0-{number:06}"), kind)


def semantic(args, model, card):
    same, there = 0, 0
    for name, ours in maps_of(args, model, card, "classes"):
        theirs = oracle.class_map(args.shared, model, name)
        same += int((ours == theirs).sum())
        there += theirs.size
    return [Row("pixels of the same class, %", 100 * same / there, 100, 0.1)]


def depth(args, model, card):
    close, there = 0, 0
    for name, ours in maps_of(args, model, card, "depth"):
        theirs = oracle.depth_map(args.shared, model, name)
        close += int((abs(ours - theirs) <= 0.01 * (theirs.max() - theirs.min())).sum())
        there += theirs.size
    return [Row("pixels of the same depth, %", 100 * close / there, 100, 0.1)]


PLAIN = ""
VOC = '[input]\nscale = 0.00784313725\nmean = 1\nstd = 1\n'
CIFAR = ('[input]\nresize = "stretch"\nscale = 0.00392156863\nmean = [0.4914, 0.4822, 0.4465]\n'
         'std = [0.2023, 0.1994, 0.2010]\n')
CAFFE = '[input]\ncolor = "bgr"\ninterpolation = "bilinear"\nscale = 1\nmean = [104, 117, 123]\nstd = 1\n'
MODELS = {
    "yolov8n_640": ("detect", detector, PLAIN),
    "yolov8n-seg_640": ("segment", detector, PLAIN),
    "yolox_nano_416": ("detect", detector, PLAIN),
    "deimv2_atto_coco_320": ("detect", detector, PLAIN),
    "face_yolo11n_qdq_640": ("detect (faces)", unlabelled_detector, PLAIN),
    "mobilenetv2_v1_224": ("classify", classifier, PLAIN),
    "shufflenet-v2-12-int8_qlinear": ("classify", classifier, PLAIN),
    "squeezenet1.1_224": ("classify", classifier, CAFFE),
    "resnet20_cifar10": ("classify (CIFAR-10)", classifier, CIFAR),
    "deeplabv3_mnv2_dm05_257": ("semantic", semantic, VOC),
    "pydnetpp_448x640": ("depth", depth, PLAIN),
}


def evaluate(args, model):
    _, compare, card = MODELS[model]
    rows = compare(args, model, card)
    for row in rows:
        print(f"{model}: {row.metric} {row.ours:.3f}, the oracle's {row.theirs:.3f}; "
              f"{'ours may be less' if row.is_least else 'they may differ'} by {row.bar:.2f}", flush=True)
    return rows


def table(args):
    """Writes docs/accuracy.md."""
    text = ["# Accuracy of whole pipelines", "",
            "Every model of ../shared/models/real on the images beside it, from frames to predictions, on the CPU in fp32 (or the",
            "precision of its file), next to ONNX Runtime with pre- and post-processing in NumPy, OpenCV and Pillow",
            "([tests/parity/oracle.py](../tests/parity/oracle.py)). COCO AP is over 64 images, top-1 over 100: the figures show how close",
            "the two implementations are, not how good a model is. For data without labels the metric is the share of the reference's",
            "predictions that Saccade reproduces. For the quantised face detector it is also the share of Saccade's boxes that match the",
            "reference's, paired one to one, both compared with ONNX Runtime without its optimisations.",
            "", "`.venv-peers/bin/python tests/parity/accuracy.py --binary build/saccade --shared ../shared --table docs/accuracy.md`",
            "writes this page, in the environment that `script/bootstrap --peers` creates.",
            "", "| model | task | metric | Saccade | ONNX Runtime | difference | card lines |",
            "| --- | --- | --- | ---: | ---: | ---: | ---: |"]
    good = True
    for model, (task, _, card) in MODELS.items():
        for row in evaluate(args, model):
            good = good and row.good()
            text.append(f"| {model} | {task} | {row.metric} | {row.ours:.2f} | {row.theirs:.2f} | "
                        f"{abs(row.ours - row.theirs):.2f} | {len(card.splitlines())} |")
    with open(args.table, "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", required=True)
    parser.add_argument("--table")
    parser.add_argument("model", nargs="?", choices=MODELS)
    args = parser.parse_args()
    if bool(args.table) == bool(args.model):
        parser.error("a model or --table")
    good = table(args) if args.table else all(row.good() for row in evaluate(args, args.model))
    return int(not good)


if __name__ == "__main__":
    try:
        import oracle
    except ImportError as missing:
        print(f"SKIPPED: needs the Python packages of script/bootstrap --peers ({missing})")
        sys.exit(SKIPPED)
    if "--shared" in sys.argv and not os.path.isdir(os.path.join(sys.argv[sys.argv.index("--shared") + 1], "coco")):
        print("SKIPPED: needs ../shared (models and images)")
        sys.exit(SKIPPED)
    sys.exit(main())
