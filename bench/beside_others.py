#!/usr/bin/env python3
"""Throughput of `saccade run` beside other work: two runs at once, and one run beside a busy process of equal nice.

    bench/beside_others.py MODEL... [--binary build/saccade] [--spins default,5000] [--rounds 3] [--seconds 4]

Prints frames per second of one run alone, and the share of it that remains beside other work: medians over rounds.
--spins sets GOMP_SPINCOUNT, which is how long OpenMP's workers spin before they sleep. `own` leaves it to saccade,
`default` to libgomp.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys


def start(arguments, model, spin):
    environment = dict(os.environ)
    if spin == "default":
        environment["GOMP_SPINCOUNT"] = "300000"  # libgomp's default while there are no more threads than processors
    elif spin != "own":
        environment["GOMP_SPINCOUNT"] = spin
    command = [arguments.binary, "run", model, "--source", "synthetic:?size=640x480", "--json", "--no-save", "--quiet", "--device", "cpu",
               "--duration", str(arguments.seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)


def rate(process):
    return json.loads(process.communicate()[0])["frames_per_second"]


def one_round(arguments, model, spin):
    alone = rate(start(arguments, model, spin))
    pair = [start(arguments, model, spin) for _ in range(2)]
    both = [rate(process) / alone for process in pair]
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        beside = rate(start(arguments, model, spin)) / alone
    finally:
        busy.kill()
        busy.wait()
    return alone, min(both), beside


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--binary", default="build/saccade")
    parser.add_argument("--spins", default="default,own")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4)
    arguments = parser.parse_args()
    print(f"{'model':28} {'spin':>8} {'alone':>8} {'slower of two':>14} {'beside a loop':>14}")
    for model in arguments.models:
        spins = arguments.spins.split(",")
        samples = {spin: [] for spin in spins}
        for _ in range(arguments.rounds):
            for spin in spins:
                samples[spin].append(one_round(arguments, model, spin))
        for spin in spins:
            alone, both, beside = (statistics.median(column) for column in zip(*samples[spin]))
            print(f"{os.path.basename(model):28} {spin:>8} {alone:8.1f} {both:14.2f} {beside:14.2f}", flush=True)


if __name__ == "__main__":
    main()
