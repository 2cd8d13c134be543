#!/usr/bin/env python3
"""Throughput of `saccade run` beside other work: two runs at once, and one run beside busy processes of equal nice.

    bench/beside_others.py MODEL... [--binaries build/saccade,other/saccade] [--busy 1,2] [--rounds 3] [--seconds 4]

Prints frames per second of one run alone, and the share of it that remains beside other work: medians over rounds. The
binaries take turns in every round.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys


def start(arguments, binary, model):
    command = [binary, "run", model, "--source", "synthetic:?size=640x480", "--json", "--no-save", "--quiet", "--device", "cpu",
               "--duration", str(arguments.seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def rate(process):
    return json.loads(process.communicate()[0])["frames_per_second"]


def beside_loops(arguments, binary, model, count):
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        return rate(start(arguments, binary, model))
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def one_round(arguments, binary, model):
    alone = rate(start(arguments, binary, model))
    pair = [start(arguments, binary, model) for _ in range(2)]
    slower = min(rate(process) for process in pair)
    return [alone, slower / alone] + [beside_loops(arguments, binary, model, count) / alone for count in arguments.busy]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--binaries", type=lambda text: text.split(","), default=["build/saccade"])
    parser.add_argument("--busy", type=lambda text: [int(word) for word in text.split(",")], default=[1])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4)
    arguments = parser.parse_args()
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


if __name__ == "__main__":
    main()
