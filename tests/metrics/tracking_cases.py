#!/usr/bin/env python3
"""Writes tracking_cases.txt: synthetic sequences of objects and tracks with TrackEval's metrics. tracking_metric_test.cpp
compares with them. Needs numpy and trackeval. Run it after adding a case.
"""

import pathlib

import numpy as np

for name in ("float", "int", "bool"):  # TrackEval uses names that NumPy has removed
    if not hasattr(np, name):
        setattr(np, name, {"float": float, "int": int, "bool": bool}[name])

from trackeval.metrics import CLEAR, HOTA, Identity  # noqa: E402

# Sequences, their frames, objects, and shares: objects hidden, found, of other identity, with a false box; frames without
# tracks and without truth.
CASES = [
    (1, 30, 5, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
    (1, 40, 8, 0.1, 0.8, 0.02, 0.1, 0.0, 0.0),
    (1, 40, 8, 0.1, 0.8, 0.05, 0.3, 0.1, 0.1),
    (3, 30, 4, 0.1, 0.9, 0.03, 0.1, 0.05, 0.05),
    (1, 20, 1, 0.3, 0.5, 0.3, 0.5, 0.2, 0.2),
    (1, 10, 3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (1, 10, 3, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0),
]


def sequence(rng, frames, objects, hidden, found, switched, false, blind, empty):
    places, speeds = rng.uniform(0, 300, (objects, 2)), rng.normal(0, 3, (objects, 2))
    ids = list(range(1, objects + 1))
    truth, tracks = [], []
    for frame in range(frames):
        places += speeds
        true, seen = [], {}
        for i in range(objects):
            if rng.random() < hidden:
                continue
            box = [*places[i], places[i, 0] + 40, places[i, 1] + 60]
            true.append((i, np.round(box, 2)))
            if rng.random() < switched:
                ids[i] = int(rng.integers(1, 30))
            if rng.random() < found:
                seen.setdefault(ids[i], np.round(box + rng.normal(0, 5, 4), 2))
        if rng.random() < false:
            seen[1000 + frame] = np.round([0, 0, 50, rng.uniform(20, 90)], 2)
        truth.append([] if rng.random() < empty else true)
        tracks.append([] if rng.random() < blind else list(seen.items()))
    return truth, tracks


def overlaps(truth, tracks):
    if not truth or not tracks:
        return np.zeros((len(truth), len(tracks)))
    a, b = np.array([box for _, box in truth])[:, None], np.array([box for _, box in tracks])[None]
    sides = np.clip(np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2]), 0, None)
    common = sides.prod(-1)
    return common / ((a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - common)


def numbered(frames):
    known = sorted({i for frame in frames for i, _ in frame})
    return [np.array([known.index(i) for i, _ in frame], dtype=int) for frame in frames], len(known)


def data_of(truth, tracks):
    gt_ids, gt_count = numbered(truth)
    tracker_ids, tracker_count = numbered(tracks)
    return {"num_timesteps": len(truth), "gt_ids": gt_ids, "tracker_ids": tracker_ids, "num_gt_ids": gt_count,
            "num_tracker_ids": tracker_count, "num_gt_dets": sum(map(len, gt_ids)),
            "num_tracker_dets": sum(map(len, tracker_ids)),
            "similarity_scores": [overlaps(a, b) for a, b in zip(truth, tracks)]}


def scores(sequences):
    data = {str(i): data_of(*each) for i, each in enumerate(sequences)}
    values = {}
    for metric in (HOTA(), CLEAR({"PRINT_CONFIG": False}), Identity({"PRINT_CONFIG": False})):
        values.update(metric.combine_sequences({name: metric.eval_sequence(each) for name, each in data.items()}))
    means = [float(np.mean(values[name])) for name in ("HOTA", "DetA", "AssA")]
    return means + [float(values[name]) for name in ("IDF1", "MOTA", "IDSW", "CLR_FP", "CLR_FN")]


def main():
    rng = np.random.default_rng(7)
    lines = ["# Written by tracking_cases.py with TrackEval."]
    for count, *shape in CASES:
        sequences = [sequence(rng, *shape) for _ in range(count)]
        lines.append(f"case {count} " + " ".join(f"{value:.17g}" for value in scores(sequences)))
        for truth, tracks in sequences:
            lines.append(f"{len(truth)}")
            for frame in zip(truth, tracks):
                for objects in frame:
                    lines.append(" ".join([str(len(objects))] + [f"{i} " + " ".join(f"{side:g}" for side in box)
                                                                for i, box in objects]))
    pathlib.Path(__file__).with_name("tracking_cases.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
