#!/usr/bin/env python3
"""Speed beside other work: of `saccade run`, two at once and one beside busy processes of equal nice; and of inferences
next to other engines, alone and beside these processes.

    bench/beside_others.py MODEL... [--binaries build/saccade,other/saccade] [--busy 1,2] [--rounds 3] [--seconds 4]
                           [--against onnxruntime,openvino] [--peers-python PATH] [--precision NAME]

Prints frames per second of one run alone, and the share of it that remains beside other work: medians over rounds. The
binaries take turns in every round. --against then prints p50 and p99 of an inference of raw tensors by each engine
alone, and what they become beside the busy processes: engines in turn in one run of `saccade bench`.
"""
import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys


def start(arguments, binary, model):
    command = [binary, "run", model, "--source", "synthetic:?size=640x480", "--json", "--no-save", "--quiet", "--device", "cpu",
               "--precision", arguments.precision, "--duration", str(arguments.seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def rate(process):
    return json.loads(process.communicate()[0])["frames_per_second"]


@contextlib.contextmanager
def busy_processes(count):
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def beside_loops(arguments, binary, model, count):
    with busy_processes(count):
        return rate(start(arguments, binary, model))


def one_round(arguments, binary, model):
    alone = rate(start(arguments, binary, model))
    pair = [start(arguments, binary, model) for _ in range(2)]
    slower = min(rate(process) for process in pair)
    return [alone, slower / alone] + [beside_loops(arguments, binary, model, count) / alone for count in arguments.busy]


def compare_rates(arguments):
    print(f"{'model':24} {'binary':24} {'alone':>8} {'slower of two':>14}" +
          "".join(f"  beside {count} loop{'s' if count > 1 else ' '}" for count in arguments.busy))
    for model in arguments.models:
        samples = {binary: [] for binary in arguments.binaries}
        for _ in range(arguments.rounds):
            for binary in arguments.binaries:
                samples[binary].append(one_round(arguments, binary, model))
        for binary in arguments.binaries:
            alone, *shares = (statistics.median(column) for column in zip(*samples[binary]))
            print(f"{os.path.basename(model)[:24]:24} {binary[-24:]:24} {alone:8.1f} {shares[0]:14.2f}" +
                  "".join(f" {share:15.2f}" for share in shares[1:]), flush=True)


def latencies(arguments, model, count):
    """p50 and p99 in ms by engine, beside COUNT busy processes."""
    command = [arguments.binaries[0], "bench", model, "--tensors", "--device", "cpu", "--precision", arguments.precision,
               "--loads", "1", "--duration", str(arguments.seconds), "--json", "--against", ",".join(arguments.against)]
    command += ["--peers-python", arguments.peers_python] if arguments.peers_python else []
    with busy_processes(count):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    [row] = json.loads(done.stdout)["models"]
    rows = {"saccade": row} | {each["engine"]: each for each in row["against"]}
    return {name: (each["latency_ms"]["p50"], each["latency_ms"]["p99"]) for name, each in rows.items()
            if "latency_ms" in each}


def compare_engines(arguments):
    print(f"\n{'model':24} {'engine':16} {'alone p50':>10} {'p99':>8}" +
          "".join(f" {f'beside {count} p50':>14} {'p99':>8} {'slower':>7}" for count in arguments.busy))
    for model in arguments.models:
        alone = latencies(arguments, model, 0)
        beside = [latencies(arguments, model, count) for count in arguments.busy]
        for name, (p50, p99) in alone.items():
            print(f"{os.path.basename(model)[:24]:24} {name:16} {p50:10.2f} {p99:8.2f}" +
                  "".join(f" {each[name][0]:14.2f} {each[name][1]:8.2f} {each[name][0] / p50:7.2f}" for each in beside),
                  flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--binaries", type=lambda text: text.split(","), default=["build/saccade"])
    parser.add_argument("--busy", type=lambda text: [int(word) for word in text.split(",")], default=[1])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--against", type=lambda text: text.split(","), default=[])
    parser.add_argument("--peers-python")
    parser.add_argument("--precision", default="fp32")
    arguments = parser.parse_args()
    compare_rates(arguments)
    if arguments.against:
        compare_engines(arguments)


if __name__ == "__main__":
    main()
