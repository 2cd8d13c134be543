#!/usr/bin/env python3
"""Kills `run` by SIGKILL at ten moments, with every sink, and reads the files.

    killed_runs.py --binary build/saccade [--moments 10] [--longest 5] [--container mp4]

Every sink must hold all frames up to that moment, readable by its ordinary readers. The moment is known from the JSON
lines that were complete just before the signal. A video may miss its last second. Exit status 77: skipped.
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
try:
    import cv2
    import fixtures
    import readers
except ImportError as missing:
    print(f"SKIPPED: needs Python's {missing.name}: ./script/bootstrap --peers")
    sys.exit(SKIPPED)

FRAMES_A_SECOND = 30  # of the synthetic scene: a fragment of a video holds at most as many
SINKS = {"jsonl": "o.jsonl", "csv": "o.csv", "coco": "o.json", "yolo": "y", "frames": "f"}


def complete_lines(path):
    """The frames of the complete lines of a file that gets its name with its first frame."""
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines if b'"event"' not in line]


def killed(binary, folder, seconds, container):
    """Runs for SECONDS and returns the JSON lines that were complete just before the end."""
    video = f"o.{container}"
    command = [
        binary, "run", "detector.onnx", "--source", "synthetic:?size=160x128", "--device", "cpu", "--jsonl", "o.jsonl",
        "--csv", "o.csv", "--coco", "o.json", "--yolo", "y", "--frames", "f", "--video", video
    ]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, "SACCADE_CACHE": ""})
    time.sleep(seconds)
    seen = complete_lines(folder / "o.jsonl")
    process.send_signal(signal.SIGKILL)
    process.wait()
    if process.returncode != -signal.SIGKILL:
        return None, [f"ended by itself with {process.returncode}"]
    return seen, []


def frames_of(path):
    reader = cv2.VideoCapture(str(path))
    count = 0
    while reader.read()[0]:
        count += 1
    reader.release()
    return count


def counts(folder, video):
    """Frames in each sink; of CSV and COCO, rows of objects."""
    found = {}
    lines = complete_lines(folder / "o.jsonl")
    found["jsonl"] = len(lines)
    rows = (folder / "o.csv").read_text().splitlines()[1:] if (folder / "o.csv").exists() else []
    found["csv"] = len(rows)
    found["coco"] = len(json.loads((folder / "o.json").read_text())) if (folder / "o.json").exists() else 0
    found["yolo"] = len(list((folder / "y").rglob("*.txt")))
    found["frames"] = len(list((folder / "f").glob("*.jpg")))
    found["video"] = frames_of(folder / video) if (folder / video).exists() else 0
    return found


def check(folder, seen, found, video):
    faults = []
    for kind, name in SINKS.items():
        path = folder / name
        if path.exists():
            how = "folder" if path.is_dir() else kind
            faults += [f"{kind}: {fault}" for fault in readers.read(how, path, True)[:2]]
        elif seen:
            faults.append(f"{kind}: nothing is there after {len(seen)} frames")
    # The JSON line of a frame is written first: the other sinks may lack the last one.
    before = seen[:-1]
    objects = sum(len(line["detections"]) for line in before)
    least = {"jsonl": len(seen), "csv": objects, "coco": objects, "yolo": len(before), "frames": len(before),
             "video": len(before) - FRAMES_A_SECOND}
    return faults + [f"{kind}: {found[kind]}, at least {least[kind]} were through"
                     for kind in least if found[kind] < least[kind]]


def attempt(binary, base, seconds, container):
    folder = base / f"{seconds:.2f}"
    folder.mkdir()
    fixtures.make(folder, binary)
    seen, faults = killed(binary, folder, seconds, container)
    found = counts(folder, f"o.{container}")
    if seen is not None:
        faults += check(folder, seen, found, f"o.{container}")
    columns = "  ".join(f"{kind} {count}" for kind, count in found.items())
    print(f"killed after {seconds:.2f} s, {len(seen or [])} frames seen: {columns}", *faults, sep="\n  ", flush=True)
    return not faults, len(seen or [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--longest", type=float, default=5, help="seconds until the last moment")
    parser.add_argument("--container", default="mp4", choices=["mp4", "mov", "mkv", "avi"])
    flags = parser.parse_args()
    binary = str(pathlib.Path(flags.binary).resolve())
    with tempfile.TemporaryDirectory() as base:
        results = [attempt(binary, pathlib.Path(base), flags.longest * (i + 1) / flags.moments, flags.container)
                   for i in range(flags.moments)]
    good = sum(is_good for is_good, _ in results)
    if not any(frames for _, frames in results):
        print("no run came to its first frame: nothing was shown")
        good = 0
    print(f"{good} passed, {len(results) - good} failed")
    sys.exit(0 if good == len(results) else 1)


if __name__ == "__main__":
    main()
