#!/usr/bin/env python3
"""What docs/zones.md says about counting the objects of a detector, measured on the synthetic scene.

    bench/zones.py [--binary build/saccade] [--model models/scene_model.onnx] [--track bytetrack] [--seeds 6]
                   [--frames 800] [--fps 15]

Lines at each eighth of the frame's width count what the model detects. The truth is counted from the scene's identities
by a second implementation of the rules, without the objects that are hidden or small (demo --render --layout mot).
"""
import argparse
import json
import os
import subprocess
import tempfile

WIDTH, HEIGHT = 640, 480
HOLD = 0.3  # seconds
LINES = [WIDTH * i // 8 for i in range(1, 8)]


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def side(x, line):
    return (x > line) - (x < line)


def crossings(path, line):
    """[direction] of a path [(time, x, y)]: a line over the whole height, upwards: left is "in"."""
    found, settled, last, since, through = [], 0, 0, None, False
    for time, x, _ in path:
        now = side(x, line)
        if now == 0:  # on neither side: a stay on the far side is broken
            since = None
            continue
        if settled == 0:
            settled = last = now
            continue
        if now == settled:
            since = None
        elif last != now or since is None:
            since = time
        if now != settled and since is not None and time - since >= HOLD - 1e-9:
            found.append("in" if now < 0 else "out")
            settled, since = now, None
        last = now
    return found


def truth_of(folder, fps):
    """{identity: [(time, x, y)]} of the objects that count, by the middle of their lower side."""
    paths = {}
    with open(os.path.join(folder, "gt/gt.txt")) as file:
        for text in file:
            n = text.split(",")
            if n[6] == "0":
                continue
            left, top, width, height = map(float, n[2:6])
            paths.setdefault(int(n[1]), []).append(((int(n[0]) - 1) / fps, left + width / 2, top + height))
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/saccade")
    parser.add_argument("--model", default="models/scene_model.onnx")
    parser.add_argument("--track", default="bytetrack")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--frames", type=int, default=800)
    parser.add_argument("--fps", type=int, default=15)
    arguments = parser.parse_args()
    wanted, counted = {"in": 0, "out": 0}, {"in": 0, "out": 0}
    with tempfile.TemporaryDirectory() as root:
        zones = os.path.join(root, "zones.toml")
        with open(zones, "w") as file:
            for line in LINES:
                file.write(f'[[line]]\nname = "x{line}"\nfrom = [{line}, {HEIGHT}]\nto = [{line}, 0]\nhold = {HOLD}\n')
        for seed in range(1, arguments.seeds + 1):
            scene = f"synthetic:?seed={seed}&fps={arguments.fps}&size={WIDTH}x{HEIGHT}&night=0&blur=0&noise=0"
            folder = os.path.join(root, str(seed))
            run([arguments.binary, "demo", "--render", str(arguments.frames), "--layout", "mot", "--format", "jpg", "--output",
                 folder, "--source", scene])
            for path in truth_of(folder, arguments.fps).values():
                for line in LINES:
                    for direction in crossings(path, line):
                        wanted[direction] += 1
            text = run([arguments.binary, "run", arguments.model, "--device", "cpu", "--precision", "fp32", "--source",
                        f"{scene}&frames={arguments.frames}", "--track", arguments.track, "--zones", zones, "--json", "--quiet",
                        "--no-save"])
            summary = [json.loads(each) for each in text.splitlines()][-1]
            for zone in summary["zones"]:
                for direction in counted:
                    counted[direction] += zone[direction]
            print(f"seed {seed}: truth so far {wanted}, counted {counted}", flush=True)
    total, found = sum(wanted.values()), sum(counted.values())
    print(f"{found} counted of {total} crossings: {100 * (found / total - 1):+.1f} %")


if __name__ == "__main__":
    main()
