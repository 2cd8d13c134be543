"""Signals at any moment: files are readable up to then, and no temporary files remain."""
import os
import signal

import readers
from attempt import Attempt

STOPS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL", "SIGKILL", "SIGINT twice", "SIGTERM twice", "SIGHUP twice"]
SINKS = {"o.jsonl": "jsonl", "o.csv": "csv", "o.json": "coco", "y": "folder", "o.mp4": "video", "f": "folder"}
RUN = [
    "run", "detector.onnx", "--source", "synthetic:?size=96x64", "--jsonl", "o.jsonl", "--csv", "o.csv", "--coco",
    "o.json", "--yolo", "y", "--video", "o.mp4", "--frames", "f"
]
OTHERS = [([
    "validate", "detector.onnx", "--data", "coco:data", "--results", "r.json", "--condition",
    "night,blur,noise,jpeg,rain", "--against", "detector.plan", "--resamples", "99999"
], {"r.json": "coco"}),
          ([
              "profile", "detector.onnx", "--source", "images", "--jsonl", "o.jsonl", "--trace", "t.json", "--html",
              "h.html"
          ], {"o.jsonl": "jsonl", "t.json": "json", "h.html": "text"}), (["bench", "detector.onnx",
                                                                          "tensors.onnx"], {}),
          (["limits", "detector.onnx", "--output", "s.json"], {"s.json": "some"}),
          (["demo", "--source", "synthetic:?size=96x64", "--output", "scene"], {"scene": "folder"}),
          (["demo", "--render", "9999", "--source", "synthetic:?size=96x64", "--output", "scene", "--depth",
            "4"], {"scene": "folder"}),
          (["compile", "detector.onnx", "-o", "new.plan", "--device", "cpu"], {"new.plan": "some"}),
          (["infer", "tensors.onnx", "--output", "o"], {"o": "folder"}),
          (["run", "tensors.onnx", "--source", "fifo.mp4"], {}), ]
# A killed run's video may miss the frames of the last second.
UNTIL_READABLE = 1.5


def check_killed(after):
    """The lines, rows and frames of a killed run, under final or temporary names."""
    def check(place, done):
        if done.code != -signal.SIGKILL or after < UNTIL_READABLE:
            return []
        faults = []
        parts = sorted(place.folder.glob(".*.part"))
        for name in ("o.jsonl", "o.csv", "o.mp4"):
            own = place.folder / name
            found = [readers.read(SINKS[name], path, True) for path in ([own] if own.exists() else parts)
                     if path.stat().st_size]
            if not found:
                faults.append(("output", f"nothing of {name} {after:.1f} s after the start, at SIGKILL"))
            elif all(found):
                faults += [("output", f"{name}: {fault}") for fault in min(found, key=len)[:1]]
        return faults

    return check


def draw(place, number):
    rng = place.rng
    name = STOPS[number % len(STOPS)]
    stop = getattr(signal, name.split()[0])
    after = rng.choice([rng.uniform(0, 0.3), rng.uniform(0.2, 2.5)]) * place.scale
    command, outputs = (RUN, SINKS) if number // len(STOPS) % 2 == 0 else rng.choice(OTHERS)
    if name == "SIGKILL" and number % 2 == 0:
        command, outputs, after = RUN, SINKS, rng.uniform(UNTIL_READABLE, 4) * place.scale
    if "fifo.mp4" in command:
        os.mkfifo(place.folder / "fifo.mp4")
    stops = ((after, stop), ) + (((after + rng.uniform(0.01, 0.4), stop), ) if "twice" in name else ())
    attempt = Attempt(f"{name} after {after:.2f} s: {command[0]}", [*command, "--max-model-memory", "256M"],
                      dict(outputs), stop=stops)
    if command is RUN:
        attempt.check = check_killed(after / place.scale)
    attempt.is_bounded = False
    return attempt
