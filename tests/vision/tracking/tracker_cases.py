#!/usr/bin/env python3
"""Writes tracker_cases.txt: detections of synthetic scenes with the numbers that Roboflow's trackers give them.
tracker_cases_test.cpp compares with them. Needs numpy, supervision and trackers. Run it after adding a case.
"""

import pathlib
import warnings

import numpy as np
import supervision as sv
from trackers import ByteTrackTracker, OCSORTTracker, SORTTracker

RATE = 30
TRACKERS = {"sort": SORTTracker, "bytetrack": ByteTrackTracker, "ocsort": OCSORTTracker}


def scene(rng, frames, dropped):
    """Times and detections (x1, y1, x2, y2, confidence) of objects that cross, turn, hide and flicker."""
    objects, scene = [], []
    for frame in range(frames):
        if frame == 0 or (rng.random() < 0.15 and len(objects) < 12):
            objects.append([*rng.uniform((0, 0), (400, 300)), *rng.normal(0, 4, 2), *rng.uniform(20, 90, 2),
                            rng.integers(30, 120)])
        found = []
        for one in objects:
            one[0] += one[2]
            one[1] += one[3]
            one[6] -= 1
            if rng.random() < 0.05:
                one[2] += rng.normal(0, 2)
            if rng.random() < 0.15 and frame > 0:
                continue
            half = np.array(one[4:6]) / 2
            noise = rng.normal(0, 1.5, 4)
            box = np.concatenate([np.array(one[:2]) - half, np.array(one[:2]) + half]) + noise
            found.append([*box, np.clip(rng.normal(0.75, 0.2), 0.1, 0.99)])
        if rng.random() < 0.3:
            corner = rng.uniform(0, 350, 2)
            found.append([*corner, *(corner + rng.uniform(10, 60, 2)), rng.uniform(0.1, 0.8)])
        objects = [one for one in objects if one[6] > 0]
        if frame == 0 or rng.random() >= dropped:
            scene.append((frame / RATE, np.round(np.array(found).reshape(-1, 5), 2).astype(np.float32)))
    return scene


def numbers(tracker, detections, time):
    """By detection; 0: none."""
    boxes = sv.Detections(xyxy=detections[:, :4].astype(float), confidence=detections[:, 4].astype(float),
                          class_id=np.arange(len(detections)))
    tracked = tracker.update(boxes, timestamp=time)
    ids = [0] * len(detections)
    for index, number in zip(tracked.class_id if len(tracked) else [], tracked.tracker_id):
        ids[int(index)] = int(number) + 1
    return ids


def main():
    warnings.simplefilter("ignore")
    lines = ["# Written by tracker_cases.py with Roboflow's trackers."]
    for seed, dropped in ((1, 0), (2, 0), (3, 0.33), (4, 0.33)):
        frames = scene(np.random.default_rng(seed), 80, dropped)
        trackers = {name: make(frame_rate=RATE) for name, make in TRACKERS.items()}
        lines.append(f"scene {len(frames)} {1 if dropped else 0}")
        for time, detections in frames:
            lines.append(f"{round(time * 1e9)} {len(detections)}")
            ids = [numbers(tracker, detections, time) for tracker in trackers.values()]
            for i, detection in enumerate(detections):
                lines.append(" ".join(f"{value:g}" for value in detection) + " " + " ".join(str(each[i]) for each in ids))
    pathlib.Path(__file__).with_name("tracker_cases.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
