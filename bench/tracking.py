#!/usr/bin/env python3
"""What docs/design/tracking.md says about trackers, measured on the synthetic scene. Needs ffmpeg, and the Python
packages numpy, supervision, trackers and trackeval.

    bench/tracking.py [--binary build/saccade] [--model models/scene_model.onnx] [--seeds 8] [--frames 300] [--fps 10]

The same detections are tracked by saccade and by Roboflow's trackers, with the same settings, on all frames and with a
third of them dropped; TrackEval evaluates both. The last lines compare `saccade validate --data mot:` with TrackEval.
"""
import argparse
import json
import os
import subprocess
import tempfile
import warnings

import numpy as np

for name in ("float", "int", "bool"):  # TrackEval uses names that NumPy has removed
    if not hasattr(np, name):
        setattr(np, name, {"float": float, "int": int, "bool": bool}[name])

import supervision as sv  # noqa: E402
from scipy.optimize import linear_sum_assignment  # noqa: E402
from trackers import ByteTrackTracker, OCSORTTracker, SORTTracker  # noqa: E402
from trackeval.metrics import CLEAR, HOTA, Identity  # noqa: E402

# Of saccade, and the least confidence of a detection that it uses.
TRACKERS = {
    "bytetrack": ("bytetrack:high=0.6,start=0.7", 0.1, ByteTrackTracker),
    "ocsort": ("ocsort:high=0.6,start=0.6", 0.25, OCSORTTracker),
    "sort": ("sort", 0.25, SORTTracker),
}
CONF = 0.25
COMPUTED = ("--device", "cpu", "--precision", "fp32")


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def results(arguments, video, *flags):
    """{frame of the scene: detections} of a run."""
    text = run([arguments.binary, "run", arguments.model, *COMPUTED, "--source", video, "--quiet", "--no-summary", "--jsonl", "-",
                *flags])
    lines = [json.loads(line) for line in text.splitlines()]
    return {round(line["timestamp_ns"] * arguments.fps / 1e9): line["detections"] for line in lines}


def by_reference(frames, tracker, least, fps):
    """The same detections with Roboflow's IDs."""
    tracked = {}
    for frame, detections in sorted(frames.items()):
        used = [each for each in detections if each["confidence"] > least]
        boxes = sv.Detections(xyxy=np.array([each["box"] for each in used], float).reshape(-1, 4),
                              confidence=np.array([each["confidence"] for each in used], float),
                              class_id=np.arange(len(used)))
        found = tracker.update(boxes, timestamp=frame / fps)
        tracked[frame] = [{**used[int(index)], "track_id": int(number) + 1}
                          for index, number in zip(found.class_id if len(found) else [], found.tracker_id) if number >= 0]
    return tracked


def truth_of(folder):
    """{frame: [(id, class, box, counts)]}, and the names of the classes."""
    truth = {}
    with open(os.path.join(folder, "gt/gt.txt")) as file:
        for line in file:
            n = line.split(",")
            left, top, width, height = map(float, n[2:6])
            truth.setdefault(int(n[0]) - 1, []).append(
                (int(n[1]), int(n[7]), [left, top, left + width, top + height], n[6] != "0"))
    with open(os.path.join(folder, "gt/labels.txt")) as file:
        return truth, file.read().split("\n")[:-1]


def overlaps(truth, tracks):
    if not truth or not tracks:
        return np.zeros((len(truth), len(tracks)))
    a, b = np.array(truth, float)[:, None], np.array(tracks, float)[None]
    sides = np.clip(np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2]), 0, None)
    common = sides.prod(-1)
    return common / ((a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - common)


def kept(objects, tracks):
    """The tracks that are not assigned to an object that does not count."""
    similarity = overlaps([each[2] for each in objects], [each["box"] for each in tracks])
    similarity[similarity < 0.5] = 0
    rows, columns = linear_sum_assignment(-similarity)
    removed = {column for row, column in zip(rows, columns) if similarity[row, column] > 0 and not objects[row][3]}
    return [each for i, each in enumerate(tracks) if i not in removed]


def sequence(truth, tracked, number, name):
    """TrackEval's input for the class NUMBER."""
    numbers = ({}, {})
    data = {"gt_ids": [], "tracker_ids": [], "similarity_scores": []}
    for frame in sorted(tracked):
        objects = [each for each in truth.get(frame, []) if each[1] == number]
        tracks = kept(objects, [each for each in tracked[frame] if each["class"] == name and each.get("track_id")])
        objects = [each for each in objects if each[3]]
        data["gt_ids"].append(np.array([numbers[0].setdefault(each[0], len(numbers[0])) for each in objects], int))
        data["tracker_ids"].append(np.array([numbers[1].setdefault(each["track_id"], len(numbers[1])) for each in tracks], int))
        data["similarity_scores"].append(overlaps([each[2] for each in objects], [each["box"] for each in tracks]))
    data["num_gt_ids"], data["num_tracker_ids"] = map(len, numbers)
    data["num_gt_dets"] = sum(map(len, data["gt_ids"]))
    data["num_tracker_dets"] = sum(map(len, data["tracker_ids"]))
    data["num_timesteps"] = len(data["gt_ids"])
    return data


def scores(sequences):
    """HOTA, IDF1, MOTA of all sequences together, in points."""
    values = []
    quiet = {"PRINT_CONFIG": False}
    for metric, pick in ((HOTA(), lambda r: float(np.mean(r["HOTA"]))), (Identity(quiet), lambda r: float(r["IDF1"])),
                         (CLEAR(quiet), lambda r: float(r["MOTA"]))):
        found = {str(i): metric.eval_sequence(data) for i, data in enumerate(sequences)}
        values.append(100 * pick(metric.combine_sequences(found)))
    return values


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/saccade")
    parser.add_argument("--model", default="models/scene_model.onnx")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--fps", type=int, default=10)
    arguments = parser.parse_args()
    rows = {(name, dropped): ([], []) for name in TRACKERS for dropped in (False, True)}
    with tempfile.TemporaryDirectory() as root:
        for seed in range(1, arguments.seeds + 1):
            folder = os.path.join(root, f"scene-{seed}")
            run([arguments.binary, "demo", "--render", str(arguments.frames), "--layout", "mot", "--output", folder, "--source",
                 f"synthetic:?seed={seed}&fps={arguments.fps}&night=0&blur=0&noise=0"])
            truth, names = truth_of(folder)
            for dropped in (False, True):
                video = os.path.join(root, f"{seed}-{int(dropped)}.mkv")
                select = ["-vf", f"select=eq(n\\,0)+gt(random({seed})\\,0.333)"] if dropped else []
                run(["ffmpeg", "-loglevel", "error", "-framerate", str(arguments.fps), "-i", f"{folder}/img1/%06d.png", *select,
                     "-vsync", "passthrough", "-c:v", "png", "-pix_fmt", "rgb24", video])
                detections = results(arguments, video, "--conf", "0.1")
                for name, (options, least, reference) in TRACKERS.items():
                    ours = results(arguments, video, "--conf", str(CONF), "--track", options)
                    theirs = by_reference(detections, reference(frame_rate=arguments.fps), least, arguments.fps)
                    for number, label in enumerate(names, 1):
                        rows[name, dropped][0].append(sequence(truth, ours, number, label))
                        rows[name, dropped][1].append(sequence(truth, theirs, number, label))
        print(f"{'tracker':10} {'frames':8} {'':9} {'HOTA':>6} {'IDF1':>6} {'MOTA':>6}")
        for (name, dropped), (ours, theirs) in rows.items():
            mine, other = scores(ours), scores(theirs)
            what = "2 of 3" if dropped else "all"
            for who, values in (("saccade", mine), ("trackers", other), ("less by", np.subtract(other, mine))):
                print(f"{name:10} {what:8} {who:9} " + " ".join(f"{value:6.2f}" for value in values))
            if dropped:
                continue
            found = json.loads(run([arguments.binary, "validate", arguments.model, *COMPUTED, "--data", f"mot:{root}", "--json",
                                    "--conf", str(CONF), "--track", TRACKERS[name][0]]))
            tracks = found["models"][0]["scores"]["tracks"]
            print(f"{name:10} {what:8} {'validate':9} " + " ".join(f"{100 * tracks[key]:6.2f}" for key in ("hota", "idf1", "mota")))


if __name__ == "__main__":
    main()
