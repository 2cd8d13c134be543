"""Closed, full or broken standard streams, and limits of memory, files, threads and disk space."""
import os

from attempt import Attempt

RUN = ["run", "detector.onnx", "--no-save", "--source", "images"]
COMMANDS = [(RUN, {}), ([*RUN, "--json"], {}), ([*RUN, "--jsonl", "-"], {}), ([*RUN, "--csv", "-"], {}),
            ([
                *RUN, "--jsonl", "o.jsonl", "--video", "o.mp4", "--frames", "f", "--csv", "o.csv", "--coco", "o.json",
                "--yolo", "y"
            ], {"o.jsonl": "jsonl", "o.mp4": "video", "f": "folder", "o.csv": "csv", "o.json": "coco", "y": "folder"}),
            (["infer", "tensors.onnx", "--output", "o"], {"o": "folder"}), (["inspect", "detector.onnx"], {}),
            (["infer", "tensors.onnx", "--output", "o", "--json"], {"o": "folder"}),
            (["inspect", "detector.onnx", "--json"], {}), (["inspect", "detector.onnx", "--dump"], {}),
            (["check", "tests"], {}), (["check", "tests", "--json"], {}),
            (["compile", "detector.onnx", "-o", "n.plan", "--device", "cpu"], {"n.plan": "some"}),
            (["bench", "tensors.onnx", "--runs", "1", "--duration", "0", "--loads", "1", "--json"], {}),
            (["validate", "detector.onnx", "--data", "coco:data", "--json"], {}),
            (["validate", "detector.onnx", "--data", "coco:data", "--results", "-"], {}),
            (["limits", "detector.onnx", "--device-file", "ceilings.json", "--duration", "0.01"], {}), (["--help"], {}),
            (["run", "classifier.onnx", "--no-save", "--source", "images", "--device", "cpu"], {}),
            (["run", "--help"], {}), (["--version"], {}),
            (["demo", "--render", "1", "--source", "synthetic:?size=64x48", "--output", "scene"], {"scene": "folder"}),
            (["run", "none.onnx", "--source", "images"], {}), (["run", "--bogus"], {}), ]
# A report that could not be written is an error, unless nothing is written to that stream.
STREAMS = [{"stdout": "full"}, {"stdout": "broken"}, {"stdout": "closed"}, {"stderr": "full"}, {"stderr": "closed"},
           {"stderr": "broken"}, {"stdin": "closed"}, {"stdin": "closed", "stdout": "closed",
                                                       "stderr": "closed"}, {"stdout": "full", "stderr": "full"}]
RLIMITS = [("RLIMIT_AS", 40 << 20), ("RLIMIT_AS", 80 << 20), ("RLIMIT_AS", 150 << 20), ("RLIMIT_AS", 300 << 20),
           ("RLIMIT_AS", 600 << 20), ("RLIMIT_NOFILE", 6), ("RLIMIT_NOFILE", 9), ("RLIMIT_NOFILE", 12),
           ("RLIMIT_NOFILE", 20), ("RLIMIT_NPROC", 1), ("RLIMIT_STACK", 256 << 10), ("RLIMIT_FSIZE", 100),
           ("RLIMIT_FSIZE", 3000), ("RLIMIT_DATA", 20 << 20), ("RLIMIT_DATA", 30 << 20),
           ("RLIMIT_DATA", 60 << 20), ("RLIMIT_DATA", 100 << 20)]
# Limits that a sanitizer's runtime can't work with.
NOT_SANITIZED = ("RLIMIT_AS", "RLIMIT_DATA", "RLIMIT_STACK", "RLIMIT_NPROC", "RLIMIT_NOFILE")


def draw_streams(place, number):
    streams = STREAMS[number % len(STREAMS)]
    command, outputs = COMMANDS[(number // 3) % len(COMMANDS)]
    what = ", ".join(f"{name} {how}" for name, how in streams.items())
    attempt = Attempt(f"{what}: {' '.join(command)}", list(command), dict(outputs), streams=dict(streams))

    def check(at, done):
        if done.code == 0 and streams.get("stdout") in ("full", "broken", "closed") and prints(command):
            return [("wrong", "exit code 0, though the report was lost")]
        return []

    attempt.check = check
    return attempt


def prints(command):
    """Whether standard output has the requested report."""
    return any(flag in command for flag in ("--json", "-", "--dump", "--help", "--version")) or command[0] == "inspect"


def draw_rlimits(place, number):
    rows = [row for row in RLIMITS if place.scale == 1 or row[0] not in NOT_SANITIZED]
    name, value = rows[number % len(rows)]
    command, outputs = COMMANDS[(number // 2) % len(COMMANDS)]
    return Attempt(f"{name} {value}: {' '.join(command)}", list(command), dict(outputs), rlimits={name: value})


def draw_folders(place, number):
    """No folder for temporary files, a full disk for outputs, a removed working folder."""
    how = number % 4
    command, outputs = COMMANDS[place.rng.choice([4, 5, 12, 20])]
    attempt = Attempt(f"folders {how}: {command[0]}", list(command), dict(outputs))
    if how == 0:
        attempt.environment = {
            "TMPDIR": "/none/there", "HOME": "/none", "XDG_CACHE_HOME": "/dev/null", "SACCADE_CACHE": "/dev/full"
        }
    elif how == 1:
        os.chmod(place.folder, 0o555)
    elif how == 2:
        attempt.environment = {"TMPDIR": "/dev/full", "LC_ALL": "none", "LANG": "\x1b[31m", "TERM": "x" * 5000}
    else:
        attempt.environment = {"SACCADE_CACHE": "\x1b[31m/x"}
    return attempt


def draw(place, number):
    make = (draw_streams, draw_streams, draw_rlimits, draw_rlimits, draw_folders)[number % 5]
    attempt = make(place, number // 5 * 2 + number % 2)
    if attempt.command[0][:1] != "-" and "--help" not in attempt.command:
        attempt.command += ["--max-model-memory", "256M"]
    return attempt
