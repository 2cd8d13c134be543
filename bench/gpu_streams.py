#!/usr/bin/env python3
"""What docs/design/batches.md says about many streams on GPUs, measured (needs NVDEC).

    bench/gpu_streams.py WHAT... --clips CLIP... [--binary build/saccade] [--model MODEL] [--streams 100] [--seconds 300]
                         [--batch 16] [--queue 4] [--devices cuda:0,cuda:1] [--rounds 3] [--frames 100] [--precision fp16]

    live      the clips as STREAMS cameras, each decoded by the GPU and tracked, with QUEUE frames waiting per camera: frames
              per second, drops, latency, use of the processors, the GPU and its decoders (nvidia-smi)
    boxes     FRAMES of each clip at a batch of 1 and of BATCH: how many boxes have one of their class at the other, IoU 0.99
    devices   the clips as STREAMS files, as fast as they are processed: frames per second on the first of DEVICES and on
              all of them, in turn, ROUNDS times

Clips are .h264 or .h265 files; a folder in memory (/dev/shm) excludes the disk.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(arguments, folder, seconds, *flags):
    """The summary and the telemetry of a run of all streams."""
    listed = os.path.join(folder, "sources.txt")
    with open(listed, "w") as file:
        for i in range(arguments.streams):
            file.write(os.path.abspath(arguments.clips[i % len(arguments.clips)]) + "\n")
    telemetry = os.path.join(folder, "telemetry.jsonl")
    done = subprocess.run([arguments.binary, "run", arguments.model, "--precision", arguments.precision, "--sources", listed, "--loop",
                           "--decode", "cuda", "--batch", str(arguments.batch), "--duration", str(seconds), "--no-save",
                           "--quiet", "--json", "--telemetry", telemetry, *flags], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    print(done.stderr, end="")
    with open(telemetry) as file:
        return json.loads(done.stdout), [json.loads(line) for line in file]


def sample_gpu(seconds):
    """Starts nvidia-smi, a line a second: use of the GPU and its decoders in per cent."""
    return subprocess.Popen(["nvidia-smi", "dmon", "-s", "u", "-c", str(seconds)], stdout=subprocess.PIPE, text=True)


def print_gpu_use(monitor):
    head, columns = None, []
    for line in monitor.communicate()[0].splitlines():
        if line.startswith("# gpu"):
            head = line[1:].split()
        elif not line.startswith("#"):
            columns.append(dict(zip(head, line.split())))
    for gpu in sorted({row["gpu"] for row in columns}):
        rows = [row for row in columns if row["gpu"] == gpu]
        means = {name: statistics.mean(float(row[name]) for row in rows if row[name].isdigit())
                 for name in ("sm", "dec") if any(row[name].isdigit() for row in rows)}
        print(f"GPU {gpu}: " + ", ".join(f"{name} {mean:.0f} %" for name, mean in means.items()))


def live(arguments, folder):
    monitor = sample_gpu(int(arguments.seconds))
    summary, telemetry = run(arguments, folder, arguments.seconds, "--realtime", "--track", "bytetrack", "--queue",
                             str(arguments.queue), *devices_of(arguments))
    print_gpu_use(monitor)
    ledger, total = summary["ledger"], summary["latency_ms"]["total"]
    worst = max(stream["latency_ms"]["total"]["p99"] for stream in summary["streams"])
    lost = sum(ledger["dropped"].values())
    reasons = ", ".join(f"{reason} {count}" for reason, count in ledger["dropped"].items() if count > 0) or "none"
    print(f"{arguments.streams} streams, {arguments.seconds:.0f} s: {summary['frames_per_second']:.0f} frames/s, "
          f"{summary.get('batch', 1):.1f} at once; dropped {lost} of {ledger['captured']} ({100 * lost / ledger['captured']:.3f} %: {reasons}), "
          f"unaccounted for {ledger['unaccounted']}")
    print(f"arrival to result: p50 {total['p50']:.2f}, p99 {total['p99']:.2f} ms, deviation "
          f"{1000 * total['std']:.0f} us; worst stream's p99 {worst:.2f} ms")
    print(f"processors in use: {statistics.median(line['process']['cpu'] for line in telemetry):.1f} of {os.cpu_count()}, "
          f"resident {max(line['process']['rss_bytes'] for line in telemetry) / 2**20:.0f} MiB")


def detections(arguments, folder, batch):
    """The boxes of each frame, by class: {(stream, frame): {class: [(x1, y1, x2, y2)]}}."""
    path = os.path.join(folder, f"boxes-{batch}.jsonl")
    done = subprocess.run([arguments.binary, "run", arguments.model, "--precision", arguments.precision, "--source",
                           *arguments.clips, "--decode", "cuda", "--batch", str(batch), "--max-frames", str(arguments.frames),
                           "--quiet", "--jsonl", path, "--no-summary", *devices_of(arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    frames = {}
    with open(path) as file:
        for line in map(json.loads, file):
            classes = frames.setdefault((line["source"], line["frame"]), {})
            for each in line["detections"]:
                classes.setdefault(each["class"], []).append(each["box"])
    return frames


def iou(a, b):
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    common = max(width, 0) * max(height, 0)
    return common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common)


def boxes(arguments, folder):
    one, several = detections(arguments, folder, 1), detections(arguments, folder, arguments.batch)
    if one.keys() != several.keys():
        raise SystemExit(f"{len(one)} frames with a batch of 1, {len(several)} with {arguments.batch}")
    found = total = 0
    for frame, classes in one.items():
        for name, expected in classes.items():
            others = several[frame].get(name, [])
            found += sum(any(iou(box, other) >= 0.99 for other in others) for box in expected)
            total += len(expected)
    if total == 0:
        raise SystemExit("nothing was detected")
    count = sum(len(each) for classes in several.values() for each in classes.values())
    print(f"boxes, {arguments.precision}, {len(one)} frames: {found} of {total} with a batch of 1 have an IoU of 0.99 with one of "
          f"{count} with a batch of {arguments.batch} ({100 * found / total:.2f} %)")


def devices_of(arguments):
    return ["--device", arguments.devices] if arguments.devices else []


def devices(arguments, folder):
    names = arguments.devices.split(",")
    rates = {names[0]: [], arguments.devices: []}
    for _ in range(arguments.rounds):
        for device, measured in rates.items():
            summary, telemetry = run(arguments, folder, arguments.seconds, "--device", device)
            # Without the start of the decoders.
            steady = [sum(stream["rate"] for stream in line["streams"]) for line in telemetry[2:]]
            measured.append(statistics.median(steady))
            print(f"{device}: {measured[-1]:.0f} frames/s, processors in use "
                  f"{statistics.median(line['process']['cpu'] for line in telemetry):.1f} of {os.cpu_count()}, "
                  f"unaccounted for {summary['ledger']['unaccounted']}")
    one, all_of_them = (statistics.median(measured) for measured in rates.values())
    print(f"{arguments.devices} over {names[0]}: {all_of_them / one:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=["live", "boxes", "devices"])
    parser.add_argument("--clips", nargs="+", required=True)
    parser.add_argument("--binary", default=os.path.join(ROOT, "build", "saccade"))
    parser.add_argument("--model", default=os.path.join(ROOT, "models", "scene_model.onnx"))
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--queue", type=int, default=4)
    parser.add_argument("--devices", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--precision", default="fp16")
    arguments = parser.parse_args()
    if "devices" in arguments.what and "," not in arguments.devices:
        parser.error("devices needs --devices, as cuda:0,cuda:1")
    with tempfile.TemporaryDirectory() as folder:
        for what in arguments.what:
            {"live": live, "boxes": boxes, "devices": devices}[what](arguments, folder)


if __name__ == "__main__":
    main()
