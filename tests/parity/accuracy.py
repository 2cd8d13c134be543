#!/usr/bin/env python3
"""Compares the accuracy of `saccade run` with the oracle's (oracle.py) on the images of ../shared.

    accuracy.py --binary build/saccade --shared ../shared MODEL

Detectors: COCO AP within 0.1 at --conf 0.001 --iou 0.7 --max-det 300.  Classifiers: the same top-1.
Exit status 77: skipped.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

SKIPPED = 77


def run(args, folder, *flags):
    model = os.path.join(args.shared, "models", "real", args.model + ".onnx")
    command = [args.binary, "run", model, "--source", os.path.join(args.shared, *folder), *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    if done.returncode != 0:
        raise RuntimeError(f"saccade run exited with {done.returncode}: {done.stderr.strip()[-500:]}")


def detector(args):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "results.json")
        run(args, ("coco", "images"), "--coco", path, "--conf", "0.001", "--iou", "0.7", "--max-det", "300")
        with open(path, encoding="utf-8") as file:
            ours = oracle.score_coco(args.shared, json.load(file))
    theirs = oracle.coco_ap(args.shared, args.model)
    print(f"{args.model}: AP {ours:.3f}, the oracle's {theirs:.3f}; they may differ by 0.1")
    return abs(ours - theirs) <= 0.1


def classifier(args):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "results.jsonl")
        run(args, ("imagenet",), "--jsonl", path)
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
    predictions = {os.path.basename(line["name"]): line["classes"][0]["class_id"] for line in lines if "classes" in line}
    ours, expected = oracle.top1(args.shared, predictions), oracle.imagenet_predictions(args.shared, args.model)
    theirs = oracle.top1(args.shared, expected)
    same = sum(predictions.get(name) == label for name, label in expected.items())
    print(f"{args.model}: top-1 {ours:.1f}, the oracle's {theirs:.1f}; {same} of {len(expected)} predictions are equal")
    return ours == theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--shared", required=True)
    parser.add_argument("model")
    args = parser.parse_args()
    return int(not (detector if args.model in oracle.DETECTORS else classifier)(args))


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
