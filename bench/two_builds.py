#!/usr/bin/env python3
"""Compares two builds of saccade on the same models: how much slower or faster the second is.

    bench/two_builds.py OLD NEW MODEL... [--rounds 6] [--seconds 1] [--threads 2]
                                         [--isa avx2] [--device cuda --precision fp16]

The builds run in alternating order, each run in a process of its own. Prints the medians in ms, the median of the
ratios of neighbouring processes with a 95 % interval (bootstrap over rounds), and the ratio of the least latencies of
all rounds. The least latencies depend least on other processes of the machine.
"""
import argparse
import json
import math
import os
import random
import statistics
import subprocess


def latency_ms(binary, model, flags):
    where = ["--tensors", "--threads", str(flags.threads)] if flags.device == "cpu" else ["--resident"]
    if flags.isa:
        where += ["--isa", flags.isa]
    # --seconds is the older name of --duration; every build takes it.
    command = [binary, "bench", model, *where, "--device", flags.device, "--precision", flags.precision, "--loads", "1",
               "--runs", "10", "--seconds", str(flags.seconds), "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return report["models"][0]["latency_ms"]


def interval(ratios, draws=2000):
    rng = random.Random(0)
    medians = sorted(statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(draws))
    return medians[draws * 25 // 1000], medians[draws * 975 // 1000]


def compare(model, flags):
    builds = (flags.old, flags.new)
    times = ([], [])
    for number in range(flags.rounds):
        for which in ((0, 1) if number % 2 == 0 else (1, 0)):
            times[which].append(latency_ms(builds[which], model, flags))
    old, new = ([time["p50"] for time in of_build] for of_build in times)
    ratios = [b / a for a, b in zip(old, new)]
    least_old, least_new = (min(time["min"] for time in of_build) for of_build in times)
    return (statistics.median(old), statistics.median(new), statistics.median(ratios), *interval(ratios),
            least_new / least_old)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu", help="a GPU runs the model alone, on tensors that stay there")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--isa")
    flags = parser.parse_args()
    print(f"{'model':44} {'old':>9} {'new':>9} {'new / old':>10}  95 % interval   least")
    ratios = []
    for model in flags.models:
        old, new, ratio, low, high, least = compare(model, flags)
        ratios.append(ratio)
        print(f"{os.path.basename(model):44} {old:9.3f} {new:9.3f} {ratio:10.3f}  [{low:.3f}, {high:.3f}]  {least:.3f}",
              flush=True)
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
    print(f"geometric mean of {len(ratios)}: {mean:.3f}, largest {max(ratios):.3f}")


if __name__ == "__main__":
    main()
